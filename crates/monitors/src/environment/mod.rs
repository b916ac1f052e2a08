//! The environment of this host: hardware, kernel, settings, interfaces.
//!
//! [`capture`] reads them once. What is never read: environment variables, addresses of any kind,
//! serial numbers, names of hosts, and of the kernel's command line all but known harmless keys.
//! No program is started. What a system does not tell is recorded with the reason.

mod facts;
mod hardware;
mod interfaces;
mod parse;

use std::path::{Path, PathBuf};

use sokudo_model::{Environment, Unit};

use self::facts::Facts;
use crate::Context;
use crate::reread::read_bounded;

pub(crate) use self::hardware::governors;

/// Settings of the kernel that bear on networks; some of them belong to a network namespace, and
/// then it is the calling thread's value.
const SYSCTLS: &[&str] = &[
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.optmem_max",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.dev_weight",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.somaxconn",
    "net.core.default_qdisc",
    "net.core.rps_sock_flow_entries",
    "net.core.bpf_jit_enable",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_low_thresh",
    "net.ipv4.ipfrag_time",
    "net.ipv6.ip6frag_high_thresh",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_conntrack_count",
    "kernel.sched_rt_runtime_us",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.io_uring_disabled",
    "vm.swappiness",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "fs.file-max",
];

/// Reads the environment of the machine, and of the calling thread's network namespace.
///
/// Takes some milliseconds; call it outside of measured phases. Never fails: a fact that cannot be
/// read has no value and says why.
pub fn capture(host: &str, ctx: &Context) -> Environment {
    let mut facts = Vec::new();
    hardware::hardware(ctx, &mut Facts::new(&mut facts, "hardware"));
    kernel(ctx, &mut Facts::new(&mut facts, "kernel"));
    interfaces::network(ctx, &mut Facts::new(&mut facts, "network"));
    let mut sysctl = Facts::new(&mut facts, "sysctl");
    for name in SYSCTLS {
        sysctl.file_as(name, &sysctl_path(ctx, name), |text| {
            Some(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
        });
    }
    limits(ctx, &mut Facts::new(&mut facts, "limits"));
    versions(ctx, &mut Facts::new(&mut facts, "version"));
    Environment {
        host: host.to_owned(),
        facts,
    }
}

/// File of a setting: dots become slashes.
pub(crate) fn sysctl_path(ctx: &Context, name: &str) -> std::path::PathBuf {
    ctx.proc_path("sys").join(name.replace('.', "/"))
}

/// Versions of control groups that are mounted: `v1`, `v2` or both.
pub(crate) fn cgroup_version(ctx: &Context) -> Option<&'static str> {
    let mounts = read_bounded(&ctx.proc_path("self/mountinfo"), 1 << 20).ok()?;
    parse::group_mounts(&mounts).version()
}

/// Directories of the control groups that bind this process's CPU time; none where they cannot be found.
pub(crate) fn cpu_groups(ctx: &Context) -> Vec<PathBuf> {
    let found = Groups::read(ctx).dirs("cpu");
    found.map_or_else(|_| Vec::new(), |(_, dirs)| dirs)
}

fn kernel(ctx: &Context, facts: &mut Facts<'_>) {
    facts.file("kernel release", &ctx.proc_path("sys/kernel/osrelease"));
    facts.file("kernel version", &ctx.proc_path("sys/kernel/version"));
    facts.file_as("kernel command line", &ctx.proc_path("cmdline"), |text| {
        let (kept, dropped) = parse::harmless_cmdline(text);
        Some(match dropped {
            0 => kept,
            _ => format!("{kept} (and {dropped} words not recorded)"),
        })
    });
    let clock = "devices/system/clocksource/clocksource0";
    for (name, file) in [
        ("clocksource", "current_clocksource"),
        ("clocksources available", "available_clocksource"),
    ] {
        facts.file(name, &ctx.sys_path(clock).join(file));
    }
    let huge = ctx.sys_path("kernel/mm/transparent_hugepage/enabled");
    facts.file_as("transparent hugepages", &huge, |text| {
        Some(parse::chosen(text).to_owned())
    });
    let isolated = ctx.sys_path("devices/system/cpu/isolated");
    facts.file_as("cores isolated", &isolated, |text| {
        Some(if text.is_empty() { "none" } else { text }.to_owned())
    });
    facts.file("lsm", &ctx.sys_path("kernel/security/lsm"));
}

fn limits(ctx: &Context, facts: &mut Facts<'_>) {
    let path = ctx.proc_path("self/limits");
    for (name, row) in [
        ("RLIMIT_NOFILE", "Max open files"),
        ("RLIMIT_MEMLOCK", "Max locked memory"),
        ("RLIMIT_NPROC", "Max processes"),
        ("RLIMIT_RTPRIO", "Max realtime priority"),
    ] {
        facts.file_as(name, &path, |text| {
            let (soft, hard) = parse::limit(text, row)?;
            Some(format!("{soft} (at most {hard})"))
        });
    }
    let groups = Groups::read(ctx);
    let version = cgroup_version(ctx);
    facts.known_or(
        "cgroup version",
        version,
        "/proc/self/mountinfo",
        "no cgroup is mounted",
    );
    let source = "/proc/self/cgroup";
    match groups.limit("cpu", parse::cpu_max, "cpu.max", |dir| {
        let period = read_bounded(&dir.join("cpu.cfs_period_us"), 64).ok()?;
        parse::quota(
            &read_bounded(&dir.join("cpu.cfs_quota_us"), 64).ok()?,
            &period,
        )
    }) {
        Ok(Some(cores)) => facts.number("cgroup cpu limit", cores, Unit::One, source),
        Ok(None) => facts.text("cgroup cpu limit", "none", source),
        Err(why) => facts.missing("cgroup cpu limit", why),
    }
    let bytes = |text: &str| parse::memory_max(text).map(|bytes| bytes as f64);
    match groups.limit("memory", bytes, "memory.max", |dir| {
        bytes(&read_bounded(&dir.join("memory.limit_in_bytes"), 64).ok()?)
    }) {
        Ok(Some(limit)) => facts.number("cgroup memory limit", limit, Unit::Bytes, source),
        Ok(None) => facts.text("cgroup memory limit", "none", source),
        Err(why) => facts.missing("cgroup memory limit", why),
    }
}

/// Texts that say where the limits of this process's control groups are.
struct Groups {
    groups: String,
    mounts: String,
}

impl Groups {
    fn read(ctx: &Context) -> Self {
        let text = |path| read_bounded(&ctx.proc_path(path), 1 << 20).unwrap_or_default();
        Self {
            groups: text("self/cgroup"),
            mounts: text("self/mountinfo"),
        }
    }

    /// Directories of the groups from the process's own up to the root, and whether they are of version 2.
    ///
    /// Errors: why the groups cannot be found.
    fn dirs(&self, controller: &str) -> Result<(bool, Vec<PathBuf>), &'static str> {
        let mounts = parse::group_mounts(&self.mounts);
        let group = parse::group(&self.groups, controller);
        let (mount, path) = match group.ok_or("the process is in no cgroup")? {
            parse::Group::V2(path) => (mounts.v2, path),
            parse::Group::V1(path) => (mounts.v1_of(controller), path),
        };
        let mount = Path::new(mount.ok_or("the cgroup's tree is not mounted")?);
        // Inside a container the path may not exist below the mount; then the mount is the group.
        let inside = mount.join(path.trim_start_matches('/'));
        let dirs = inside.ancestors().take_while(|dir| dir.starts_with(mount));
        let dirs = dirs.map(Path::to_path_buf).collect();
        Ok((mounts.v2 == mount.to_str(), dirs))
    }

    /// The lowest limit of `controller` on the way from the process's group up to the root, since
    /// each of them binds; `None` when none of them limits.
    ///
    /// Errors: why the groups cannot be found.
    fn limit(
        &self,
        controller: &str,
        read_v2: impl Fn(&str) -> Option<f64>,
        file_v2: &str,
        read_v1: impl Fn(&Path) -> Option<f64>,
    ) -> Result<Option<f64>, &'static str> {
        let (is_v2, dirs) = self.dirs(controller)?;
        let mut lowest: Option<f64> = None;
        for dir in &dirs {
            let limit = match is_v2 {
                true => read_bounded(&dir.join(file_v2), 64)
                    .ok()
                    .and_then(|text| read_v2(&text)),
                false => read_v1(dir),
            };
            lowest = match (lowest, limit) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        Ok(lowest)
    }
}

fn versions(ctx: &Context, facts: &mut Facts<'_>) {
    facts.text("sokudo", env!("CARGO_PKG_VERSION"), "built in");
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    facts.text("built for", &platform, "built in");
    let os_release = ctx.proc_root.with_file_name("etc").join("os-release");
    facts.file_as("operating system", &os_release, |text| {
        let line = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim_matches('"').to_owned())
    });
    let maps = read_bounded(&ctx.proc_path("self/maps"), 4 << 20).unwrap_or_default();
    let path = parse::libc_path(&maps);
    let version = path.and_then(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.starts_with("ld-musl") {
            true => Some("musl".to_owned()),
            false => glibc_version(Path::new(path)).map(|version| format!("glibc {version}")),
        }
    });
    facts.known_or(
        "libc",
        version.as_deref(),
        path.unwrap_or_default(),
        "the process loads no C library that says its version",
    );
}

fn glibc_version(library: &Path) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(library).ok()?;
    file.take(8 << 20).read_to_end(&mut bytes).ok()?;
    parse::glibc_version(&bytes)
}

#[cfg(test)]
mod tests;
