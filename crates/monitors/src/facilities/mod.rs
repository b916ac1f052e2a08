//! Facilities of this system that sokudo uses, and what is missing.
//!
//! Each facility is tried, not guessed: being root, or a kernel's version, predicts little.
//! Segmentation and coalescing of UDP (GSO, GRO) are tried by crate `net`.

mod system;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Context;
use crate::environment::{governors, sysctl_path};
use crate::reread::{Reread, read_trimmed};

/// Socket buffer that a test on a fast link asks for, bytes.
const WANTED_BUFFER_BYTES: u64 = 2 << 20;

/// Free space below which a record of a long run may not fit, bytes.
const WANTED_SPACE_BYTES: u64 = 1 << 30;

/// One thing that sokudo can use, if the system has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facility {
    /// Name as an operator knows it: `network namespaces`, `net.core.rmem_max`.
    pub name: String,
    /// It works here, or is set well.
    pub available: bool,
    /// The finding, or the error of the system.
    pub why: String,
    /// Remedy for the operator; `None` when nothing needs doing or can be done.
    pub change: Option<String>,
}

/// Tries each facility; `runs_dir` is where records shall be written.
///
/// Starts no program, sends no traffic, changes nothing: a namespace and a file that it makes for
/// trying are gone when it returns.
pub fn probe(runs_dir: &Path) -> Vec<Facility> {
    match cfg!(target_os = "linux") {
        true => probe_in(&Context::host(""), runs_dir),
        false => probe_elsewhere(runs_dir),
    }
}

/// Facilities to try on systems other than Linux.
fn probe_elsewhere(runs_dir: &Path) -> Vec<Facility> {
    let why = "not available on this system: sokudo asks only Linux for it";
    let mut found: Vec<Facility> = ["network namespaces", "kernel counters and settings"]
        .map(|name| no(name, why, None))
        .into();
    found.push(writable(runs_dir));
    found
}

fn probe_in(ctx: &Context, runs_dir: &Path) -> Vec<Facility> {
    let mut found = vec![network_namespaces(), ip_program()];
    found.extend(kernel_files(ctx));
    found.extend([steal(ctx), perf_events(ctx), io_uring(ctx), tracefs(ctx)]);
    found.extend([cgroup(ctx), clock(ctx), governor(ctx)]);
    found.extend(["net.core.rmem_max", "net.core.wmem_max"].map(|name| buffer(ctx, name)));
    found.extend([writable(runs_dir), free_space(runs_dir)]);
    found
}

fn yes(name: &str, why: impl Into<String>) -> Facility {
    Facility {
        name: name.to_owned(),
        available: true,
        why: why.into(),
        change: None,
    }
}

fn no(name: &str, why: impl Into<String>, change: impl Into<Option<String>>) -> Facility {
    Facility {
        name: name.to_owned(),
        available: false,
        why: why.into(),
        change: change.into(),
    }
}

fn network_namespaces() -> Facility {
    let name = "network namespaces";
    match system::enter_network_namespace() {
        Ok(()) => yes(name, "one was made and left"),
        Err(why) => no(
            name,
            why,
            Some(
                "run as root, or with CAP_SYS_ADMIN, to try several hosts on one machine"
                    .to_owned(),
            ),
        ),
    }
}

fn ip_program() -> Facility {
    let name = "program ip";
    match find_program("ip", std::env::var_os("PATH").as_deref()) {
        Some(path) => yes(name, path.display().to_string()),
        None => no(
            name,
            "not found on the PATH; several hosts inside one machine need it",
            Some("install the package iproute2".to_owned()),
        ),
    }
}

fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    // Service managers and plain users often have no sbin on their PATH.
    let usual = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from);
    let dirs = path.into_iter().flat_map(std::env::split_paths);
    dirs.chain(usual)
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}

/// Files that monitors read, and what their absence hides.
fn kernel_files(ctx: &Context) -> Vec<Facility> {
    let psi = "boot with psi=1, on a kernel built with CONFIG_PSI";
    let schedstat = "use a kernel built with CONFIG_SCHED_INFO";
    [
        ("pressure (PSI)", "pressure/cpu", Some(psi)),
        ("schedstat", "self/schedstat", Some(schedstat)),
        ("softnet counters", "thread-self/net/softnet_stat", None),
    ]
    .into_iter()
    .map(|(name, file, change)| {
        let path = ctx.proc_path(file);
        match Reread::open_readable(&path) {
            Ok(_) => yes(name, format!("`{}` was read", path.display())),
            Err(error) => no(name, error.to_string(), change.map(str::to_owned)),
        }
    })
    .collect()
}

fn steal(ctx: &Context) -> Facility {
    let name = "steal time";
    let stat = read_trimmed(&ctx.proc_path("stat"));
    let ticks = stat.as_deref().and_then(crate::cpu::steal_ticks);
    match ticks {
        None => no(
            name,
            "not available on this system: `/proc/stat` does not say",
            None,
        ),
        Some(0) => no(
            name,
            "0 since boot: nothing was stolen, or the hypervisor does not report it",
            None,
        ),
        Some(ticks) => yes(
            name,
            format!("{ticks} ticks since boot: the hypervisor reports it"),
        ),
    }
}

/// Value of a kernel setting that is a whole number.
fn setting(ctx: &Context, name: &str) -> Option<i64> {
    read_trimmed(&sysctl_path(ctx, name))?.parse().ok()
}

fn perf_events(ctx: &Context) -> Facility {
    let name = "kernel.perf_event_paranoid";
    match setting(ctx, name) {
        None => no(
            name,
            "not available on this system: the kernel has no perf events",
            None,
        ),
        Some(level @ ..=1) => yes(
            name,
            format!("{level}: kernel and user code can be sampled"),
        ),
        Some(level) => no(
            name,
            format!("{level}: without privilege only own user code can be sampled"),
            Some(format!("sysctl -w {name}=1, or run with CAP_PERFMON")),
        ),
    }
}

fn io_uring(ctx: &Context) -> Facility {
    let name = "kernel.io_uring_disabled";
    let change = Some(format!("sysctl -w {name}=0"));
    match setting(ctx, name) {
        None => no(
            name,
            "not available on this system: Linux before 6.6, or no io_uring",
            None,
        ),
        Some(0) => yes(name, "0: every process may use io_uring"),
        Some(1) => no(
            name,
            "1: only privileged processes may use io_uring",
            change,
        ),
        Some(level) => no(name, format!("{level}: io_uring is off"), change),
    }
}

fn tracefs(ctx: &Context) -> Facility {
    let name = "tracefs";
    let places = ["kernel/tracing", "kernel/debug/tracing"].map(|place| ctx.sys_path(place));
    let readable = places
        .iter()
        .find(|place| Reread::open_readable(&place.join("events/sched/sched_switch/id")).is_ok());
    match readable {
        Some(place) => yes(name, format!("`{}` was read", place.display())),
        None => no(
            name,
            "no scheduler event could be read below `/sys/kernel/tracing`",
            Some("mount -t tracefs tracefs /sys/kernel/tracing, and run as root".to_owned()),
        ),
    }
}

fn cgroup(ctx: &Context) -> Facility {
    let name = "cgroup version";
    match crate::environment::cgroup_version(ctx) {
        Some(version) => yes(name, version),
        None => no(
            name,
            "not available on this system: no cgroup is mounted",
            None,
        ),
    }
}

fn clock(ctx: &Context) -> Facility {
    let name = "clocksource";
    let root = ctx.sys_path("devices/system/clocksource/clocksource0");
    let Some(current) = read_trimmed(&root.join("current_clocksource")) else {
        return no(
            name,
            "not available on this system: the kernel does not name it",
            None,
        );
    };
    if [
        "tsc",
        "arch_sys_counter",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
    ]
    .contains(&current.as_str())
    {
        return yes(name, format!("{current}: read without a system call"));
    }
    let available = read_trimmed(&root.join("available_clocksource")).unwrap_or_default();
    let has_tsc = available.split(' ').any(|source| source == "tsc");
    let file = root.join("current_clocksource");
    no(
        name,
        format!("{current}: each time stamp costs a system call or more"),
        has_tsc.then(|| format!("echo tsc > {}", file.display())),
    )
}

fn governor(ctx: &Context) -> Facility {
    let name = "cpu governor";
    let governors: Vec<String> = governors(ctx).into_iter().collect();
    match governors.as_slice() {
        [] => yes(name, "the kernel does not set the clock of the cores"),
        [only] if only == "performance" => yes(name, "performance"),
        several => no(
            name,
            format!("{}: clocks change while a test runs", several.join(", ")),
            Some("cpupower frequency-set -g performance".to_owned()),
        ),
    }
}

fn buffer(ctx: &Context, name: &str) -> Facility {
    match setting(ctx, name).and_then(|bytes| u64::try_from(bytes).ok()) {
        None => no(
            name,
            "not available on this system: the setting cannot be read",
            None,
        ),
        Some(bytes) if bytes >= WANTED_BUFFER_BYTES => yes(
            name,
            format!("{bytes} B: sockets get the 2 MiB that fast links need"),
        ),
        Some(bytes) => no(
            name,
            format!("{bytes} B: sockets get less than the 2 MiB that fast links need"),
            Some(format!("sysctl -w {name}={WANTED_BUFFER_BYTES}")),
        ),
    }
}

/// The directory that exists: `runs_dir`, or the nearest one above it.
fn existing(runs_dir: &Path) -> PathBuf {
    let absolute = std::path::absolute(runs_dir).unwrap_or_else(|_| runs_dir.to_owned());
    let found = absolute.ancestors().find(|dir| dir.is_dir());
    found.unwrap_or(&absolute).to_owned()
}

fn writable(runs_dir: &Path) -> Facility {
    let name = "runs directory";
    let dir = existing(runs_dir);
    let path = dir.join(format!(".sokudo-doctor-{}", std::process::id()));
    let tried = std::fs::write(&path, b"x").and_then(|()| std::fs::remove_file(&path));
    match tried {
        Ok(()) => yes(
            name,
            format!("a file was written to and removed from `{}`", dir.display()),
        ),
        Err(error) => no(
            name,
            format!("`{}` cannot be written to: {error}", dir.display()),
            Some("choose another directory for records, or change its owner".to_owned()),
        ),
    }
}

fn free_space(runs_dir: &Path) -> Facility {
    let name = "free disk space";
    match system::free_bytes(&existing(runs_dir)) {
        Ok(bytes) if bytes >= WANTED_SPACE_BYTES => {
            yes(name, format!("{} MiB free for records", bytes >> 20))
        }
        Ok(bytes) => no(
            name,
            format!(
                "{} MiB free for records; a long run may not fit",
                bytes >> 20
            ),
            Some("make room, or choose another directory for records".to_owned()),
        ),
        Err(why) => no(name, why, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Context) {
        let dir = tempfile::tempdir().expect("temporary directory");
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("has a parent")).expect("directory");
            std::fs::write(path, text).expect("file");
        }
        let ctx = Context {
            proc_root: dir.path().join("proc"),
            ..Context::host("")
        };
        (dir, ctx)
    }

    #[test]
    fn a_small_buffer_says_what_to_change() {
        let (_dir, ctx) = machine(&[
            ("proc/sys/net/core/rmem_max", "212992\n"),
            ("proc/sys/net/core/wmem_max", "4194304\n"),
        ]);
        let small = buffer(&ctx, "net.core.rmem_max");
        assert!(!small.available);
        let change = small.change.as_deref();
        assert_eq!(change, Some("sysctl -w net.core.rmem_max=2097152"));
        assert!(buffer(&ctx, "net.core.wmem_max").available);
    }

    #[test]
    fn a_slow_clock_names_the_fast_one_only_where_there_is_one() {
        let root = "sys/devices/system/clocksource/clocksource0";
        let current = format!("{root}/current_clocksource");
        let available = format!("{root}/available_clocksource");
        let (_dir, ctx) = machine(&[(&current, "hpet\n"), (&available, "tsc hpet acpi_pm\n")]);
        let slow = clock(&ctx);
        assert!(!slow.available && slow.change.is_some_and(|c| c.starts_with("echo tsc")));
        let (_dir, ctx) = machine(&[(&current, "xen\n"), (&available, "xen\n")]);
        assert_eq!(clock(&ctx).change, None);
    }

    #[test]
    fn governors_other_than_performance_are_told() {
        let governor_of = |n| format!("sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor");
        let online = ("sys/devices/system/cpu/online", "0-1\n");
        let (a, b) = (governor_of(0), governor_of(1));
        let (_dir, ctx) = machine(&[online, (&a, "powersave\n"), (&b, "performance\n")]);
        let mixed = governor(&ctx);
        assert!(!mixed.available && mixed.why.starts_with("performance, powersave"));
        let (_dir, ctx) = machine(&[online, (&a, "performance\n"), (&b, "performance\n")]);
        assert!(governor(&ctx).available);
    }

    #[test]
    fn a_machine_that_tells_nothing_gives_reasons() {
        let (dir, ctx) = machine(&[]);
        for facility in probe_in(&ctx, dir.path()) {
            assert!(!facility.why.is_empty(), "{facility:?}");
        }
    }

    #[test]
    fn live_probe_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let runs = dir.path().join("runs/deep");
        let found = probe(&runs);
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0);
        let names: std::collections::BTreeSet<_> = found.iter().map(|f| &f.name).collect();
        assert_eq!(names.len(), found.len());
        let writable = found.iter().find(|f| f.name == "runs directory");
        assert!(writable.is_some_and(|f| f.available), "{writable:?}");
    }

    #[test]
    fn programs_are_found_on_the_path() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let program = dir.path().join("sokudo-no-such-program");
        let name = "sokudo-no-such-program";
        assert_eq!(find_program(name, Some(dir.path().as_os_str())), None);
        std::fs::write(&program, "").expect("write");
        let found = find_program(name, Some(dir.path().as_os_str()));
        assert_eq!(found, Some(program));
    }
}
