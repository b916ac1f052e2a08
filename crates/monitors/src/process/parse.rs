//! Reads the files of one process under `/proc/PID`, and the kernel's tables of sockets.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::BadText;

/// CPU time and begin of a process. Unit: ticks of 1/100 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    /// CPU time outside of the kernel, all threads, those that ended included.
    pub(super) user_ticks: u64,
    /// CPU time inside the kernel.
    pub(super) system_ticks: u64,
    /// CPU time of its children that have ended and were waited for, and of theirs.
    pub(super) ended_children_ticks: u64,
    /// The process that made it, or has taken its place.
    pub(super) parent: u32,
    /// Begin of the process, since the machine's start: tells it from a later one with the same
    /// number.
    pub(super) began_ticks: u64,
    /// It is stopped: by a signal (T), or by a debugger (t).
    pub(super) is_stopped: bool,
}

/// Reads `/proc/PID/stat`. The name in brackets may hold blanks and brackets itself.
///
/// Errors: fields are missing or are not numbers.
pub(super) fn stat(text: &str) -> Result<Stat, BadText> {
    let bad = BadText::new("/proc/PID/stat", "fewer than 22 fields");
    let (_, rest) = text.rsplit_once(')').ok_or(bad.clone())?;
    // The first field after the name is the third one of proc(5).
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |field: usize| {
        let text = fields.get(field - 3).ok_or(bad.clone())?;
        text.parse::<u64>().map_err(|_| bad.clone())
    };
    Ok(Stat {
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        ended_children_ticks: number(16)?.saturating_add(number(17)?),
        parent: u32::try_from(number(4)?).unwrap_or_default(),
        began_ticks: number(22)?,
        is_stopped: matches!(fields.first(), Some(&("T" | "t"))),
    })
}

/// Name of the process in its `/proc/PID/stat`; empty where it has none.
pub(super) fn name(text: &str) -> &str {
    let begin = text.split_once('(').map_or("", |(_, rest)| rest);
    begin.rsplit_once(')').map_or("", |(name, _)| name)
}

/// Content of `/proc/PID/status` of a process, or `/proc/PID/task/TID/status` of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Status<'a> {
    /// Name, cut by the kernel after 15 bytes.
    pub(super) name: &'a str,
    /// Resident memory, bytes; absent for a kernel thread and a process that has ended.
    pub(super) resident_bytes: Option<u64>,
    /// Threads.
    pub(super) threads: Option<u64>,
    /// CPUs that it may run on.
    pub(super) cores: Option<u64>,
    /// Context switches because the thread waited; of the thread alone.
    pub(super) voluntary: Option<u64>,
    /// Context switches because its time was over; of the thread alone.
    pub(super) involuntary: Option<u64>,
}

/// Reads a `status`. What is missing or is not a number is absent.
pub(super) fn status(text: &str) -> Status<'_> {
    let mut status = Status::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        let number = || value.parse().ok();
        match name {
            "Name" => status.name = value,
            "VmRSS" => {
                let kib = value.strip_suffix("kB").map(str::trim);
                let kib: Option<u64> = kib.and_then(|kib| kib.parse().ok());
                status.resident_bytes = kib.and_then(|kib| kib.checked_mul(1024));
            }
            "Threads" => status.threads = number(),
            "Cpus_allowed_list" => status.cores = listed(value),
            "voluntary_ctxt_switches" => status.voluntary = number(),
            "nonvoluntary_ctxt_switches" => status.involuntary = number(),
            _ => {}
        }
    }
    status
}

/// Number of CPUs in a list: `0-3,7`; `None` for one that cannot be read.
fn listed(list: &str) -> Option<u64> {
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let mut ranges = list.split(',').map(of_range);
    ranges.try_fold(0u64, |sum, range| sum.checked_add(range?))
}

/// Bytes that a process has had read from and written to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Io {
    /// Read: `read_bytes`.
    pub(super) read_bytes: u64,
    /// Written: `write_bytes`, less what was cancelled before it reached the device.
    pub(super) written_bytes: u64,
}

/// Reads `/proc/PID/io`. Errors: a line is missing.
pub(super) fn io(text: &str) -> Result<Io, BadText> {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(key, _)| *key == name);
        let number = found.and_then(|(_, value)| value.trim().parse::<u64>().ok());
        number.ok_or(BadText::new("/proc/PID/io", "a line is missing"))
    };
    Ok(Io {
        read_bytes: value("read_bytes")?,
        written_bytes: value("write_bytes")?,
    })
}

/// The soft limit of open files in `/proc/PID/limits`; `None` for none.
pub(super) fn open_files_limit(text: &str) -> Option<u64> {
    let lines = text.lines();
    let mut own = lines.filter_map(|line| line.strip_prefix("Max open files"));
    own.next()?.split_ascii_whitespace().next()?.parse().ok()
}

/// CPU time of a thread and its time without a CPU although it was ready, nanoseconds, of
/// `/proc/PID/task/TID/schedstat`.
pub(super) fn ran_and_waited_ns(text: &str) -> Option<[u64; 2]> {
    let mut numbers = text.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    Some([next()?, next()?])
}

/// Path of the control group that bounds a process's CPU time, of `/proc/PID/cgroup`, and the folder that it is below:
/// that of the controller in the older hierarchy, none in the unified one.
pub(super) fn control_group(text: &str) -> Option<(&'static str, &str)> {
    let mut lines = text.lines().map(|line| line.splitn(3, ':'));
    let older = lines.find_map(|mut line| {
        let (_, controllers, path) = (line.next()?, line.next()?, line.next()?);
        let mut controllers = controllers.split(',');
        controllers.any(|name| name == "cpu").then_some(path)
    });
    let older = older.and_then(|path| Some(("cpu", path.strip_prefix('/')?)));
    let unified = || text.lines().find_map(|line| line.strip_prefix("0::/"));
    older.or_else(|| Some(("", unified()?)))
}

/// Time for which a quota kept a control group from running, microseconds, of its `cpu.stat`; `None` without a
/// quota.
pub(super) fn throttled_us(text: &str) -> Option<u64> {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = lines.find(|(key, _)| *key == name)?;
        value.trim().parse::<u64>().ok()
    };
    // Without a quota there are no periods of it.
    value("nr_periods").filter(|periods| *periods > 0)?;
    // Nanoseconds in the older hierarchy.
    value("throttled_usec").or_else(|| Some(value("throttled_time")? / 1000))
}

/// Whether a process goes by `wanted`: its name (which the kernel cuts after 15 bytes), the first word
/// of its command line, or the last part of that word's path.
pub(super) fn goes_by(wanted: &str, comm: &str, command_line: &str) -> bool {
    const KERNEL_CUT: usize = 15;
    let cut = wanted.len() > KERNEL_CUT && wanted.as_bytes()[..KERNEL_CUT] == *comm.as_bytes();
    let program = command_line.split('\0').next().unwrap_or_default();
    let file = program.rsplit('/').next().unwrap_or_default();
    // A cut name alone would take any process whose name begins alike.
    let by_command = program == wanted || file == wanted;
    comm == wanted || by_command || cut && program.is_empty()
}

/// Kinds of sockets in the tables of the kernel, by which states of theirs wait for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// `/proc/net/tcp`, `/proc/net/tcp6`.
    Tcp,
    /// `/proc/net/udp`, `/proc/net/udp6`.
    Udp,
}

/// Inodes of the sockets that wait for others on a local port.
pub(super) fn listening_inodes(text: &str, table: Table, port: u16) -> Vec<u64> {
    let wanted = match table {
        Table::Tcp => "0A",
        Table::Udp => "07",
    };
    let of_line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (_, own) = fields.nth(1)?.rsplit_once(':')?;
        let (_, other) = fields.next()?.rsplit_once(':')?;
        let is_waiting = fields.next()? == wanted && u16::from_str_radix(other, 16) == Ok(0);
        let is_own = u16::from_str_radix(own, 16) == Ok(port);
        let inode: u64 = fields.nth(5)?.parse().ok()?;
        (is_waiting && is_own && inode != 0).then_some(inode)
    };
    text.lines().skip(1).filter_map(of_line).collect()
}

/// The host's own IPv4 addresses in `/proc/net/fib_trie`.
pub(super) fn local_addresses(text: &str) -> Vec<Ipv4Addr> {
    let mut address: Option<Ipv4Addr> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(leaf) = line.strip_prefix("|-- ") {
            address = leaf.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(address);
        }
    }
    found
}

/// The IPv6 addresses in `/proc/net/if_inet6`.
pub(super) fn interface_addresses(text: &str) -> Vec<Ipv6Addr> {
    let of_line = |line: &str| {
        let digits = line.split_ascii_whitespace().next()?;
        let is_whole = digits.len() == 32;
        is_whole.then(|| u128::from_str_radix(digits, 16).ok())?
    };
    text.lines()
        .filter_map(of_line)
        .map(Ipv6Addr::from)
        .collect()
}

/// The inode of a link under `/proc/PID/fd`, when it is a socket: `socket:[4711]`.
pub(super) fn socket_inode(link: &str) -> Option<u64> {
    let inode = link.strip_prefix("socket:[")?.strip_suffix(']')?;
    inode.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAT: &str = "32108 (a) b (c) R 32080 32080 13822 0 -1 4194304 103 0 0 0 7 5 4 3 20 0 1 0 \
        85792 3133440 418 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 1 2 3 4 5 6 7 0";
    const STATUS: &str = include_str!("../../testdata/pid-status-6.18.txt");
    const TCP: &str = include_str!("../../testdata/net-tcp-6.18.txt");
    const UDP6: &str = include_str!("../../testdata/net-udp6-6.18.txt");

    #[test]
    fn limits_quotas_and_times_of_threads_are_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            64                   4096                 files\n";
        assert_eq!(open_files_limit(limits), Some(64));
        assert_eq!(
            open_files_limit("Max open files unlimited unlimited files\n"),
            None
        );
        assert_eq!(ran_and_waited_ns("7000 300 12\n"), Some([7000, 300]));
        assert_eq!(ran_and_waited_ns("7000"), None);
        assert_eq!(
            control_group("12:pids:/x\n0::/a.slice/b\n"),
            Some(("", "a.slice/b"))
        );
        assert_eq!(
            control_group("4:cpu,cpuacct:/x/y\n0::/\n"),
            Some(("cpu", "x/y"))
        );
        let stat = "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 90000\n";
        assert_eq!(throttled_us(stat), Some(90_000));
        assert_eq!(
            throttled_us("nr_periods 10\nnr_throttled 4\nthrottled_time 90000000\n"),
            Some(90_000)
        );
        assert_eq!(
            throttled_us("nr_periods 0\nthrottled_usec 0\n"),
            None,
            "no quota"
        );
        let stopped = STAT.replacen(") R ", ") T ", 1);
        assert!(super::stat(&stopped).is_ok_and(|stat| stat.is_stopped));
    }

    #[test]
    fn a_name_with_brackets_and_blanks_hides_no_field() {
        let expected = Stat {
            user_ticks: 7,
            system_ticks: 5,
            ended_children_ticks: 4 + 3,
            parent: 32080,
            began_ticks: 85792,
            is_stopped: false,
        };
        assert_eq!(stat(STAT), Ok(expected));
        assert_eq!(name(STAT), "a) b (c");
        assert!(stat("1 (x) R 1 2").is_err());
        assert!(stat("").is_err());
    }

    #[test]
    fn status_tells_memory_threads_and_switches() {
        let read = status(STATUS);
        assert_eq!(read.name, "nginx");
        assert_eq!(read.resident_bytes, Some(1772 * 1024));
        assert_eq!(read.threads, Some(3));
        assert_eq!((read.voluntary, read.involuntary), (Some(150), Some(7)));
        // What a kernel thread lacks is absent.
        assert_eq!(
            status("Name:\tkthreadd\nThreads:\t1\n").resident_bytes,
            None
        );
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        for (list, cores) in [
            ("0-1", Some(2)),
            ("1", Some(1)),
            ("0-3,7,9-10", Some(7)),
            ("", None),
            ("3-1", None),
            ("0-18446744073709551615", None),
        ] {
            assert_eq!(
                status(&format!("Cpus_allowed_list:\t{list}\n")).cores,
                cores,
                "{list}"
            );
        }
    }

    #[test]
    fn addresses_of_a_namespace_are_read() {
        let trie = "Main:\n  +-- 0.0.0.0/1 2 0 2\n     |-- 10.77.0.0\n        /16 link UNICAST\n     \
            |-- 10.77.0.2\n        /32 host LOCAL\n     |-- 10.77.255.255\n        /32 link BROADCAST\n";
        assert_eq!(local_addresses(trie), [Ipv4Addr::new(10, 77, 0, 2)]);
        let inet6 = "fe80000000000000c8a5f3fffe1b0102 02 40 20 80     eth0\nshort 01\n";
        let expected: Ipv6Addr = "fe80::c8a5:f3ff:fe1b:102".parse().expect("an address");
        assert_eq!(interface_addresses(inet6), [expected]);
    }

    #[test]
    fn io_is_what_reached_storage() {
        let text = "rchar: 6976\nwchar: 9\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\n\
            cancelled_write_bytes: 0\n";
        let expected = Io {
            read_bytes: 4096,
            written_bytes: 8192,
        };
        assert_eq!(io(text), Ok(expected));
        assert!(io("rchar: 1\n").is_err());
    }

    #[test]
    fn a_process_goes_by_its_name_its_program_or_its_file() {
        for (wanted, comm, line) in [
            ("nginx", "nginx", "nginx: worker process\0"),
            (
                "redis-server",
                "redis-server",
                "/usr/bin/redis-server *:6379\0",
            ),
            (
                "postgres",
                "whatever",
                "/usr/lib/postgresql/15/bin/postgres\0-D\0x\0",
            ),
            ("/opt/app", "app", "/opt/app\0"),
            ("a-name-that-is-long", "a-name-that-is-", ""),
        ] {
            assert!(goes_by(wanted, comm, line), "{wanted}");
        }
        assert!(!goes_by("nginx", "nginx2", "/bin/nginx2\0"));
        assert!(!goes_by(
            "a-name-that-is-long",
            "a-name-that-is-",
            "/bin/a-name-that-is-short\0"
        ));
    }

    #[test]
    fn only_sockets_that_wait_for_others_count() {
        assert_eq!(listening_inodes(TCP, Table::Tcp, 2024), [103]);
        // A connection of the same local port, and a port without a listener.
        assert_eq!(listening_inodes(TCP, Table::Tcp, 40000), Vec::<u64>::new());
        assert_eq!(listening_inodes(UDP6, Table::Udp, 5353), [7001]);
    }

    #[test]
    fn links_of_sockets_hold_their_inode() {
        assert_eq!(socket_inode("socket:[4711]"), Some(4711));
        for other in ["pipe:[4711]", "/dev/null", "socket:[]", "socket:[1"] {
            assert_eq!(socket_inode(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "([0-9A-F:() ]|sl|socket:\\[|VmRSS:|kB|\n){0,200}", port: u16) {
            let _ = stat(&text);
            let _ = status(&text);
            let _ = io(&text);
            let _ = listening_inodes(&text, Table::Tcp, port);
            let _ = listening_inodes(&text, Table::Udp, port);
            let _ = socket_inode(&text);
            let _ = local_addresses(&text);
            let _ = interface_addresses(&text);
            let _ = goes_by(&text, &text, &text);
        }
    }
}
