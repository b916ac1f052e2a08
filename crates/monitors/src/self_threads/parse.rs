//! Parsers of `schedstat`, `stat` and `status` of a process.

use crate::BadText;

/// Time of one thread since it began. Unit: nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchedStat {
    /// On a core.
    pub(crate) run_ns: u64,
    /// Runnable, without a core.
    pub(crate) wait_ns: u64,
}

/// Reads `/proc/self/task/*/schedstat`. Errors: fewer than two numbers.
pub(crate) fn schedstat(text: &str) -> Result<SchedStat, BadText> {
    let mut fields = text.split_ascii_whitespace().map(str::parse);
    match (fields.next(), fields.next()) {
        (Some(Ok(run_ns)), Some(Ok(wait_ns))) => Ok(SchedStat { run_ns, wait_ns }),
        _ => Err(BadText::new("schedstat", "fewer than two numbers")),
    }
}

/// Periods of a quota of CPU time since the group began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Periods {
    /// Those in which a thread of the group ran.
    pub(crate) all: u64,
    /// Those in which the quota was used up.
    pub(crate) throttled: u64,
}

/// Reads `cpu.stat` of a control group; `None` without a quota's counters.
pub(crate) fn periods(text: &str) -> Option<Periods> {
    let number = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines
            .find(|(known, _)| *known == name)?
            .1
            .trim()
            .parse()
            .ok()
    };
    Some(Periods {
        all: number("nr_periods")?,
        throttled: number("nr_throttled")?,
    })
}

/// Reads the core that a thread ran on last from `/proc/self/task/*/stat`: field 39, proc(5). Errors:
/// fewer fields.
pub(crate) fn core(text: &str) -> Result<u32, BadText> {
    // The name of a thread may hold spaces and parentheses; the third field comes behind it.
    const BEHIND_NAME: usize = 39 - 3;
    let behind = text.rsplit_once(')').map(|(_, behind)| behind);
    let mut fields = behind.unwrap_or_default().split_ascii_whitespace();
    let core = fields.nth(BEHIND_NAME).and_then(|field| field.parse().ok());
    core.ok_or(BadText::new("stat", "fewer than 39 fields"))
}

/// Reads `VmRSS` of `/proc/self/status`: resident memory, bytes.
pub(crate) fn resident_bytes(text: &str) -> Result<u64, BadText> {
    text.lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
        .and_then(|kib| kib.checked_mul(1024))
        .ok_or(BadText::new("/proc/self/status", "no `VmRSS`"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn periods_of_a_quota_are_read() {
        let text = "usage_usec 7\nnr_periods 40\nnr_throttled 12\nthrottled_usec 9\n";
        let read = Periods {
            all: 40,
            throttled: 12,
        };
        assert_eq!(periods(text), Some(read));
        assert_eq!(periods("usage_usec 7\n"), None);
        assert_eq!(periods("nr_periods x\nnr_throttled 1\n"), None);
    }

    #[test]
    fn run_and_wait_come_first() {
        let read = schedstat("123456789 987 42\n").expect("parses");
        assert_eq!((read.run_ns, read.wait_ns), (123_456_789, 987));
        assert!(schedstat("1\n").is_err());
        assert!(schedstat("1 -2 3\n").is_err());
    }

    #[test]
    fn the_core_is_field_39_whatever_the_name_is() {
        let rest: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let text = |name: &str| format!("17 ({name}) S {}", rest.join(" "));
        assert_eq!(core(&text("ask vm")), Ok(39));
        assert_eq!(core(&text("a) R 1 2 (b")), Ok(39));
        assert!(core("17 (ask) S 4 5").is_err());
    }

    #[test]
    fn resident_memory_is_in_kib() {
        let text = "Name:\tsokudo\nVmPeak:\t  9 kB\nVmRSS:\t    5120 kB\n";
        assert_eq!(resident_bytes(text), Ok(5120 * 1024));
        assert!(resident_bytes("Name:\tsokudo\n").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "(VmRSS:)?[\t ]{0,2}([0-9]{0,22} ){0,4}(kB)?\n?") {
            let _ = schedstat(&text);
            let _ = core(&text);
            let _ = resident_bytes(&text);
        }
    }
}
