//! Parsers of the texts that describe the environment.

use std::collections::BTreeSet;

use crate::BadText;

/// Highest core number that counts as valid.
const MAX_CPU: u32 = 65_535;

/// Keys of the kernel's command line that bear on performance and hold no secret.
const HARMLESS_KEYS: &[&str] = &[
    "amd_iommu",
    "amd_pstate",
    "cgroup_no_v1",
    "clocksource",
    "cpuidle.off",
    "cpuidle_haltpoll.force",
    "default_hugepagesz",
    "haltpoll.guest_halt_poll_ns",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "iommu.passthrough",
    "irqaffinity",
    "isolcpus",
    "lockdown",
    "maxcpus",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nosmt",
    "nospectre_v2",
    "nr_cpus",
    "nowatchdog",
    "numa_balancing",
    "page_poison",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "psi",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "skew_tick",
    "slub_debug",
    "spec_store_bypass_disable",
    "spectre_v2",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
];

/// The harmless part of the kernel's command line, and how many other words it has.
///
/// Arguments for the first program, after `--`, are not looked at.
pub(super) fn harmless_cmdline(text: &str) -> (String, usize) {
    let words = text.split_ascii_whitespace().take_while(|w| *w != "--");
    let (kept, dropped): (Vec<&str>, Vec<&str>) = words.partition(|word| {
        let key = word.split('=').next().unwrap_or(word);
        HARMLESS_KEYS.contains(&key)
    });
    (kept.join(" "), dropped.len())
}

/// Entry of `/proc/cpuinfo` about the first core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CpuInfo {
    /// Name that its maker gave it; on ARM the numbers of maker and part.
    pub(super) model: Option<String>,
    /// The flag `hypervisor` is set; `None` where there are no flags to look at (ARM).
    pub(super) is_guest: Option<bool>,
}

/// Reads the first core of `/proc/cpuinfo`. Errors: nothing in it says a model.
pub(super) fn cpuinfo(text: &str) -> Result<CpuInfo, BadText> {
    let field = |wanted: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim() == wanted)
            .map(|(_, value)| value.trim())
    };
    let arm = || {
        let (maker, part) = field("CPU implementer").zip(field("CPU part"))?;
        Some(format!("ARM implementer {maker} part {part}"))
    };
    let model = ["model name", "cpu model", "cpu"]
        .iter()
        .find_map(|name| field(name))
        .map(str::to_owned)
        .or_else(arm);
    let model = model.ok_or(BadText::new("/proc/cpuinfo", "no model of a processor"))?;
    Ok(CpuInfo {
        model: Some(model),
        is_guest: field("flags").map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
    })
}

/// Reads a list such as `0-3,8`. Errors: not such a list.
pub(super) fn cpu_list(text: &str) -> Result<BTreeSet<u32>, BadText> {
    let bad = BadText::new("list of cores", "expected a list such as `0-3,8`");
    let mut cores = BTreeSet::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && last <= MAX_CPU => cores.extend(first..=last),
            _ => return Err(bad),
        }
    }
    Ok(cores)
}

/// Soft and hard limit of one row of `/proc/self/limits`, `unlimited` or a number, as text.
pub(super) fn limit<'a>(text: &'a str, row: &str) -> Option<(&'a str, &'a str)> {
    let rest = text.lines().find_map(|line| line.strip_prefix(row))?;
    let mut columns = rest.split_ascii_whitespace();
    columns.next().zip(columns.next())
}

/// Place of the limits of this process's control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Group<'a> {
    /// Version 2: one tree for all controllers.
    V2(&'a str),
    /// Version 1: the tree of this controller.
    V1(&'a str),
}

/// Path of the process in the tree that has `controller`, from `/proc/self/cgroup`.
///
/// Version 1 goes first: a controller that is bound to it does not exist in version 2, also on
/// machines that have both (hybrid).
pub(super) fn group<'a>(text: &'a str, controller: &str) -> Option<Group<'a>> {
    let mut v2 = None;
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if controllers.is_empty() {
            v2 = Some(Group::V2(path));
        } else if controllers.split(',').any(|c| c == controller) {
            return Some(Group::V1(path));
        }
    }
    v2
}

/// Trees of control groups that exist, from `/proc/self/mountinfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GroupMounts<'a> {
    /// Mount point of version 2.
    pub(super) v2: Option<&'a str>,
    /// Mount points of the trees of version 1: options that name the controllers, place.
    pub(super) v1: Vec<(&'a str, &'a str)>,
}

impl<'a> GroupMounts<'a> {
    /// Place of the tree of version 1 that has `controller`.
    pub(super) fn v1_of(&self, controller: &str) -> Option<&'a str> {
        let has = |options: &str| options.split(',').any(|option| option == controller);
        self.v1
            .iter()
            .find(|(options, _)| has(options))
            .map(|m| m.1)
    }

    /// `v1`, `v2` or both.
    pub(super) fn version(&self) -> Option<&'static str> {
        match (self.v2.is_some(), self.v1.is_empty()) {
            (true, true) => Some("v2"),
            (true, false) => Some("hybrid: v1 and v2"),
            (false, false) => Some("v1"),
            (false, true) => None,
        }
    }
}

/// Reads the mounts of control groups from `/proc/self/mountinfo`.
pub(super) fn group_mounts(text: &str) -> GroupMounts<'_> {
    let mut mounts = GroupMounts::default();
    for line in text.lines() {
        let Some((left, right)) = line.split_once(" - ") else {
            continue;
        };
        let mut right = right.split_ascii_whitespace();
        let place = left.split_ascii_whitespace().nth(4);
        match (right.next(), place) {
            (Some("cgroup2"), Some(place)) => mounts.v2 = mounts.v2.or(Some(place)),
            (Some("cgroup"), Some(place)) => {
                mounts.v1.push((right.nth(1).unwrap_or(""), place));
            }
            _ => {}
        }
    }
    mounts
}

/// Cores that `cpu.max` of version 2 grants (`200000 100000` is two); `None` for `max`.
pub(super) fn cpu_max(text: &str) -> Option<f64> {
    let mut fields = text.split_ascii_whitespace();
    quota(fields.next()?, fields.next()?)
}

/// Cores that a quota and a period, both in microseconds, grant; `None` without a limit.
pub(super) fn quota(quota_us: &str, period_us: &str) -> Option<f64> {
    let quota_us: f64 = quota_us.trim().parse().ok()?;
    let period_us: f64 = period_us.trim().parse().ok()?;
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

/// Bytes that a memory limit grants; `None` for `max` and for the huge number of version 1.
pub(super) fn memory_max(text: &str) -> Option<u64> {
    let bytes: u64 = text.trim().parse().ok()?;
    (bytes < 1 << 62).then_some(bytes)
}

/// The word in brackets of `always [madvise] never`, or the whole text.
pub(super) fn chosen(text: &str) -> &str {
    let bracketed = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text.trim(), |(word, _)| word)
}

/// Numbers of the interrupts whose action mentions one of `names`, from `/proc/interrupts`.
pub(super) fn interrupts_of(text: &str, names: &[&str]) -> Vec<u32> {
    let mentions = |line: &str| {
        let words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        words
            .rev()
            .take(4)
            .any(|word| names.iter().any(|name| is_of(word, name)))
    };
    text.lines()
        .filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            mentions(rest).then(|| number.trim().parse().ok())?
        })
        .collect()
}

/// `virtio2-input.0` and `virtio2` are of `virtio2`, `virtio20-config` is not.
fn is_of(word: &str, name: &str) -> bool {
    word.strip_prefix(name)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Version of the GNU C library, from the text that it carries: `… stable release version 2.36.`
pub(super) fn glibc_version(library: &[u8]) -> Option<String> {
    const MARK: &[u8] = b"release version ";
    let at = library.windows(MARK.len()).position(|w| w == MARK)? + MARK.len();
    let rest = library.get(at..(at + 16).min(library.len()))?;
    let version: String = rest
        .iter()
        .map(|&byte| char::from(byte))
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let version = version.trim_end_matches('.');
    (!version.is_empty()).then(|| version.to_owned())
}

/// Path of the C library, from `/proc/self/maps`.
pub(super) fn libc_path(maps: &str) -> Option<&str> {
    maps.lines().find_map(|line| {
        let path = line.get(line.find('/')?..)?;
        let name = path.rsplit('/').next()?;
        let is_libc = name.starts_with("libc.so") || name.starts_with("libc-2");
        (is_libc || name.starts_with("ld-musl")).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_command_line_keeps_only_harmless_keys() {
        let text =
            "isolcpus=2,3 root=/dev/sda password=geheim quiet nosmt -- --token abc nohz=on\n";
        assert_eq!(harmless_cmdline(text), ("isolcpus=2,3 nosmt".to_owned(), 3));
    }

    #[test]
    fn cpuinfo_of_x86_and_arm() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n";
        let read = cpuinfo(x86).expect("parses");
        assert_eq!(read.model.as_deref(), Some("AMD EPYC"));
        assert_eq!(read.is_guest, Some(true));
        let arm = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n";
        let read = cpuinfo(arm).expect("parses");
        assert_eq!(
            read.model.as_deref(),
            Some("ARM implementer 0x41 part 0xd0c")
        );
        assert_eq!(read.is_guest, None);
        assert!(cpuinfo("").is_err());
    }

    #[test]
    fn lists_of_cores() {
        let cores = cpu_list("0-2,8\n").expect("parses");
        assert_eq!(cores.into_iter().collect::<Vec<_>>(), [0, 1, 2, 8]);
        for bad in ["3-1", "a", "0-4000000000"] {
            assert!(cpu_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_by_row() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                    Max open files            20000                unlimited            files\n";
        assert_eq!(limit(text, "Max open files"), Some(("20000", "unlimited")));
        assert_eq!(limit(text, "Max locked memory"), None);
    }

    #[test]
    fn a_hybrid_machine_keeps_its_limits_in_version_1() {
        let hybrid = "4:memory:/box/a\n1:cpu,cpuacct:/box\n0::/other\n";
        assert_eq!(group(hybrid, "memory"), Some(Group::V1("/box/a")));
        assert_eq!(group(hybrid, "cpu"), Some(Group::V1("/box")));
        assert_eq!(group("0::/a:b\n", "cpu"), Some(Group::V2("/a:b")));
        assert_eq!(group("", "cpu"), None);
        let mounts = group_mounts(
            "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n",
        );
        assert_eq!(mounts.version(), Some("hybrid: v1 and v2"));
        assert_eq!(mounts.v1_of("cpu"), Some("/sys/fs/cgroup/cpu"));
        assert_eq!(mounts.v1_of("memory"), None);
        assert_eq!(mounts.v2, Some("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn limits_of_control_groups() {
        assert_eq!(cpu_max("200000 100000\n"), Some(2.0));
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(quota("-1\n", "100000\n"), None);
        assert_eq!(memory_max("1048576\n"), Some(1 << 20));
        assert_eq!(memory_max("max\n"), None);
        assert_eq!(memory_max("9223372036854771712\n"), None);
    }

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n"), "madvise");
        assert_eq!(chosen("powersave\n"), "powersave");
    }

    #[test]
    fn interrupts_of_a_device_and_of_no_other() {
        let text = "           CPU0       CPU1\n \
             37:          0          0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n \
             38:          0       6916 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n \
             40:          0          0 PCI-MSIX-0000:00:04.0   0-edge      virtio20-config\n\
             NMI:          0          0   Non-maskable interrupts\n";
        assert_eq!(interrupts_of(text, &["virtio2", "eth0"]), [37, 38]);
    }

    #[test]
    fn the_c_library_says_its_version() {
        let text = b"\0GNU C Library (Debian) stable release version 2.36.\nCopyright";
        assert_eq!(glibc_version(text), Some("2.36".to_owned()));
        assert_eq!(glibc_version(b"release version "), None);
        let maps = "7f00-7f01 r-xp 0 08:01 5  /usr/lib/x86_64-linux-gnu/libc.so.6\n";
        assert_eq!(libc_path(maps), Some("/usr/lib/x86_64-linux-gnu/libc.so.6"));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "([ -~\n]{0,4}|[0-9]{0,22}|:|,|-|/|é| - cgroup2? |Max open files){0,40}") {
            let _ = harmless_cmdline(&text);
            let _ = cpuinfo(&text);
            let _ = cpu_list(&text);
            let _ = limit(&text, "Max open files");
            let _ = (group(&text, "cpu"), group_mounts(&text).v1_of("cpu"));
            let _ = (cpu_max(&text), memory_max(&text), chosen(&text));
            let _ = interrupts_of(&text, &["eth0"]);
            let _ = (libc_path(&text), glibc_version(text.as_bytes()));
        }
    }
}
