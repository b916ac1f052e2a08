//! Parsers of `net/dev`, `net/snmp`, `net/snmp6`, `net/netstat` and `net/softnet_stat`.

use crate::BadText;

/// More interfaces than this are not read.
pub(crate) const MAX_INTERFACES: usize = 256;

/// Counters of one interface, since it came into being.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface<'a> {
    /// Name as in `ip link`.
    pub(crate) name: &'a str,
    /// Bytes received, link headers included as the driver counts them.
    pub(crate) receive_bytes: u64,
    /// Packets received; a merged (GRO) packet counts as what arrived or as one, by driver.
    pub(crate) receive_packets: u64,
    /// Receive errors.
    pub(crate) receive_errors: u64,
    /// Packets dropped on receive: no room in the ring, or no receiver for them.
    pub(crate) receive_drops: u64,
    /// Bytes sent.
    pub(crate) send_bytes: u64,
    /// Packets sent; a packet that the device cuts (TSO) counts by driver.
    pub(crate) send_packets: u64,
    /// Send errors.
    pub(crate) send_errors: u64,
    /// Packets dropped on send.
    pub(crate) send_drops: u64,
}

/// Reads `net/dev`. Lines of another shape, such as the two header lines, are left out.
pub(crate) fn interfaces(text: &str) -> impl Iterator<Item = Interface<'_>> {
    text.lines().filter_map(interface).take(MAX_INTERFACES)
}

fn interface(line: &str) -> Option<Interface<'_>> {
    // Wide counters leave no space after the colon: `eth0:1234 …`.
    let (name, rest) = line.split_once(':')?;
    let mut numbers = [0u64; 12];
    let mut columns = rest.split_ascii_whitespace();
    for slot in &mut numbers {
        *slot = columns.next()?.parse().ok()?;
    }
    Some(Interface {
        name: name.trim(),
        receive_bytes: numbers[0],
        receive_packets: numbers[1],
        receive_errors: numbers[2],
        receive_drops: numbers[3],
        send_bytes: numbers[8],
        send_packets: numbers[9],
        send_errors: numbers[10],
        send_drops: numbers[11],
    })
}

/// Picks fields by table and name from `net/snmp` or `net/netstat`, whose columns vary by kernel:
/// `Udp: InDatagrams NoPorts …` above `Udp: 47 0 …`.
///
/// Shape: one value per wanted field, `None` where the kernel has no such field.
/// Errors: no pair of lines at all.
pub(crate) fn pick<const N: usize>(
    text: &str,
    wanted: [(&str, &str); N],
) -> Result<[Option<u64>; N], BadText> {
    let mut found = [None; N];
    let mut pairs = 0;
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let Some(((table, names), (same_table, values))) =
            names.split_once(':').zip(values.split_once(':'))
        else {
            break;
        };
        if table != same_table {
            break;
        }
        pairs += 1;
        if !wanted.iter().any(|(wanted, _)| *wanted == table) {
            continue;
        }
        let fields = names.split_ascii_whitespace();
        for (name, value) in fields.zip(values.split_ascii_whitespace()) {
            if let Some(at) = wanted.iter().position(|field| *field == (table, name)) {
                found[at] = value.parse().ok();
            }
        }
    }
    if pairs == 0 {
        return Err(BadText::new("net/snmp", "no pair of name and value lines"));
    }
    Ok(found)
}

/// Picks fields by name from `net/snmp6`, one `name value` a line.
pub(crate) fn pick6<const N: usize>(text: &str, wanted: [&str; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    for line in text.lines() {
        let mut columns = line.split_ascii_whitespace();
        if let (Some(name), Some(value)) = (columns.next(), columns.next())
            && let Some(at) = wanted.iter().position(|field| *field == name)
        {
            found[at] = value.parse().ok();
        }
    }
    found
}

/// Counters of the kernel's connection tracking, all cores together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conntrack {
    /// Connections that it knows.
    pub(crate) entries: u64,
    /// Packets whose connection could not be added: another one had the same addresses and ports.
    pub(crate) insert_failed: u64,
    /// Packets dropped because the table was full, or for want of memory.
    pub(crate) drop: u64,
    /// Connections that were forgotten to make room.
    pub(crate) early_drop: u64,
}

/// Reads `net/stat/nf_conntrack`: a line of names, and a line of hexadecimal numbers per core. `None` for
/// another shape. Each line has the same number of entries, which is that of the namespace.
pub(crate) fn conntrack(text: &str) -> Option<Conntrack> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    let rows: Option<Vec<Vec<u64>>> = lines.map(hexadecimal).collect();
    let rows = rows.filter(|rows| !rows.is_empty())?;
    let column = |wanted: &str| names.iter().position(|name| *name == wanted);
    let sum = |wanted: &str| {
        let at = column(wanted)?;
        let values = rows.iter().map(|row| row.get(at).copied());
        values.sum::<Option<u64>>()
    };
    Some(Conntrack {
        entries: *rows[0].get(column("entries")?)?,
        insert_failed: sum("insert_failed")?,
        drop: sum("drop")?,
        early_drop: sum("early_drop")?,
    })
}

/// The kernel keeps these numbers in 32 bits.
fn hexadecimal(line: &str) -> Option<Vec<u64>> {
    let fields = line.split_ascii_whitespace();
    fields
        .map(|field| u32::from_str_radix(field, 16).ok().map(u64::from))
        .collect()
}

/// One core's line of `net/softnet_stat`. The kernel keeps 32 bits of each and wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Softnet {
    /// Core number where the kernel says it (Linux 5.10), else the line's place among cores online.
    pub(crate) core: u32,
    /// Packets dropped because the backlog queue was full.
    pub(crate) drops: u32,
    /// Times that the receive loop ran out of budget or time with work left.
    pub(crate) time_squeezes: u32,
}

/// Reads `net/softnet_stat`: hexadecimal, 9 to 15 columns by kernel.
///
/// Errors: a line without the first three columns.
pub(crate) fn softnet(text: &str) -> Result<Vec<Softnet>, BadText> {
    text.lines()
        .take(crate::cpu::MAX_CORES)
        .zip(0..)
        .map(|(line, place)| {
            softnet_line(line, place).ok_or(BadText::new(
                "net/softnet_stat",
                "a line without three hexadecimal columns",
            ))
        })
        .collect()
}

fn softnet_line(line: &str, place: u32) -> Option<Softnet> {
    let hex = |column: &str| u32::from_str_radix(column, 16).ok();
    let mut columns = line.split_ascii_whitespace();
    columns.next().and_then(hex)?;
    let drops = columns.next().and_then(hex)?;
    let time_squeezes = columns.next().and_then(hex)?;
    // Column 13 (counting from 1) is the core since Linux 5.10.
    let core = columns.nth(9).and_then(hex).unwrap_or(place);
    Some(Softnet {
        core,
        drops,
        time_squeezes,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn interfaces_of_linux_6_18() {
        let text = include_str!("../../testdata/net-dev-6.18.txt");
        let all: Vec<_> = interfaces(text).collect();
        let names: Vec<_> = all.iter().map(|i| i.name).collect();
        assert_eq!(names, ["lo", "ifb0", "ifb1", "eth0"]);
        assert!(all[3].receive_bytes > all[3].receive_packets);
        assert!(all[3].receive_packets > 0);
    }

    #[test]
    fn an_old_kernel_writes_no_space_after_the_colon() {
        let line = "  eth0:123456789012 7 1 2 0 0 0 0 99 8 3 4 0 0 0 0";
        let read = interfaces(line).next().expect("parses");
        assert_eq!((read.name, read.receive_bytes), ("eth0", 123_456_789_012));
        assert_eq!((read.receive_errors, read.receive_drops), (1, 2));
        assert_eq!((read.send_bytes, read.send_packets), (99, 8));
        assert_eq!((read.send_errors, read.send_drops), (3, 4));
    }

    #[test]
    fn fields_are_found_by_name_whatever_the_kernel() {
        let udp = [("Udp", "InDatagrams"), ("Udp", "MemErrors")];
        let new = include_str!("../../testdata/net-snmp-6.18.txt");
        let read = pick(new, udp).expect("parses");
        assert!(read[0].is_some() && read[1].is_some());
        let old = "Tcp: MaxConn InSegs\nTcp: -1 9\nUdp: NoPorts InDatagrams\nUdp: 3 4\n";
        assert_eq!(pick(old, udp), Ok([Some(4), None]));
        let tcp = [("Tcp", "InSegs"), ("Tcp", "MaxConn")];
        assert_eq!(pick(old, tcp), Ok([Some(9), None]));
        assert!(pick("", tcp).is_err());
    }

    #[test]
    fn listen_overflows_of_linux_6_18() {
        let text = include_str!("../../testdata/net-netstat-6.18.txt");
        let read = pick(text, [("TcpExt", "ListenOverflows"), ("IpExt", "InOctets")]);
        let read = read.expect("parses");
        assert_eq!(read[0], Some(0));
        assert!(read[1].is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn ipv6_counters_by_name() {
        let text = include_str!("../../testdata/net-snmp6-6.18.txt");
        let read = pick6(text, ["Udp6RcvbufErrors", "Udp6InDatagrams", "NoSuchThing"]);
        assert!(read[0].is_some() && read[1].is_some());
        assert_eq!(read[2], None);
    }

    #[test]
    fn softnet_of_nine_eleven_and_fifteen_columns() {
        let nine =
            "0000272d 0000000a 00000001 0 0 0 0 0 0\n000034d9 00000000 00000002 0 0 0 0 0 0\n";
        let read = softnet(nine).expect("parses");
        assert_eq!(
            (read[0].core, read[0].drops, read[0].time_squeezes),
            (0, 10, 1)
        );
        assert_eq!((read[1].core, read[1].time_squeezes), (1, 2));
        let fifteen = "0000000b 00000000 0000000f 0 0 0 0 0 0 0 0 0 00000007 0 0\n";
        let read = softnet(fifteen).expect("parses");
        assert_eq!((read[0].core, read[0].time_squeezes), (7, 15));
        assert!(softnet("12 34\n").is_err());
        assert_eq!(softnet(""), Ok(Vec::new()));
    }

    #[test]
    fn connection_tracking_is_summed_over_the_cores() {
        let text = "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error\n\
                    0000000b  00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000002 000000ff 00000001 00000000\n\
                    0000000b  00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000001 00000001 00000000 00000000\n";
        let wanted = Conntrack {
            entries: 11,
            insert_failed: 3,
            drop: 256,
            early_drop: 1,
        };
        assert_eq!(conntrack(text), Some(wanted));
        assert_eq!(conntrack("entries searched\n0 0\n"), None);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "((Udp|Tcp|eth0)?:? ?[ -~]{0,5}([0-9]{0,22} ){0,14}[0-9a-f]{0,9}\n?){0,30}") {
            let _ = interfaces(&text).count();
            let _ = pick(&text, [("Udp", "NoPorts"), ("Tcp", "InSegs")]);
            let _ = pick6(&text, ["Udp6NoPorts"]);
            let _ = conntrack(&text);
            let _ = softnet(&text);
        }
    }
}
