//! Parser of `/proc/meminfo`.

use crate::BadText;

/// One reading of `/proc/meminfo`. Unit: bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meminfo {
    /// Memory of the machine, without what the kernel keeps for itself.
    pub(crate) total_bytes: u64,
    /// Memory that can be used without swapping; absent before Linux 3.14.
    pub(crate) available_bytes: Option<u64>,
    /// Swap in use; absent where the kernel has no swap.
    pub(crate) swap_used_bytes: Option<u64>,
}

/// Reads `/proc/meminfo`. Errors: no total.
pub(crate) fn meminfo(text: &str) -> Result<Meminfo, BadText> {
    let [mut total, mut available, mut swap_total, mut swap_free] = [None; 4];
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let slot = match name {
            "MemTotal" => &mut total,
            "MemAvailable" => &mut available,
            "SwapTotal" => &mut swap_total,
            "SwapFree" => &mut swap_free,
            _ => continue,
        };
        *slot = kib(rest);
    }
    Ok(Meminfo {
        total_bytes: total.ok_or(BadText::new("/proc/meminfo", "no `MemTotal`"))?,
        available_bytes: available,
        swap_used_bytes: swap_total
            .zip(swap_free)
            .map(|(total, free)| total.saturating_sub(free)),
    })
}

/// `   24684092 kB`: the kernel writes kB and means KiB.
fn kib(text: &str) -> Option<u64> {
    let kib: u64 = text.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn meminfo_of_linux_6_18() {
        let text = "MemTotal:       24684092 kB\nMemFree:  23250044 kB\nMemAvailable:   24227172 kB\n\
                    SwapTotal:          1000 kB\nSwapFree:            900 kB\n";
        assert_eq!(
            meminfo(text),
            Ok(Meminfo {
                total_bytes: 24_684_092 * 1024,
                available_bytes: Some(24_227_172 * 1024),
                swap_used_bytes: Some(100 * 1024),
            })
        );
    }

    #[test]
    fn what_an_old_kernel_does_not_say_is_absent() {
        let read = meminfo("MemTotal: 4 kB\nMemFree: 2 kB\n").expect("parses");
        assert_eq!((read.available_bytes, read.swap_used_bytes), (None, None));
        assert!(meminfo("MemFree: 2 kB\n").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "((MemTotal|SwapFree|SwapTotal|[a-z]{0,4}):? {0,3}[0-9]{0,22}( kB)?\n?){0,20}") {
            let _ = meminfo(&text);
        }
    }
}
