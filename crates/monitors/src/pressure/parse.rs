//! Parser of the files in `/proc/pressure`.

use crate::BadText;

/// Time that tasks stalled on one resource since boot. Unit: microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// At least one task waited.
    pub(crate) some_us: u64,
    /// All tasks waited; absent for the CPU before Linux 5.13.
    pub(crate) full_us: Option<u64>,
}

/// Reads `/proc/pressure/{cpu,memory,io}`. Errors: no line `some` with a total.
pub(crate) fn pressure(text: &str) -> Result<Pressure, BadText> {
    let total = |kind: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
        line.split_ascii_whitespace()
            .find_map(|field| field.strip_prefix("total="))?
            .parse()
            .ok()
    };
    Ok(Pressure {
        some_us: total("some ").ok_or(BadText::new("/proc/pressure", "no total for `some`"))?,
        full_us: total("full "),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_lines_or_only_the_first() {
        let new = "some avg10=0.43 avg60=0.50 avg300=0.32 total=4910411\n\
                   full avg10=0.43 avg60=0.48 avg300=0.30 total=4691811\n";
        let read = pressure(new).expect("parses");
        assert_eq!((read.some_us, read.full_us), (4_910_411, Some(4_691_811)));
        let old = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure(old).expect("parses").full_us, None);
        assert!(pressure("").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "((some|full)? ?(avg10|total)?=?[0-9.]{0,22}\n?){0,12}") {
            let _ = pressure(&text);
        }
    }
}
