//! Parsers of `schedstat` and `status` of a process.

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
    fn run_and_wait_come_first() {
        let read = schedstat("123456789 987 42\n").expect("parses");
        assert_eq!((read.run_ns, read.wait_ns), (123_456_789, 987));
        assert!(schedstat("1\n").is_err());
        assert!(schedstat("1 -2 3\n").is_err());
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
            let _ = resident_bytes(&text);
        }
    }
}
