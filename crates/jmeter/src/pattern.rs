//! Compilation of the regular expressions of plans, within bounds.

use fancy_regex::{Regex, RegexBuilder};

/// Largest compiled pattern, and largest memory of its states while it is searched for, bytes. The time
/// per byte of text grows with the former.
const MOST_BYTES: usize = 1 << 20;
/// Most steps back of one search.
const MOST_STEPS: usize = 1_000_000;

/// A compiled pattern; `None`: it is not valid, or too large.
pub(crate) fn compile(text: &str) -> Option<Regex> {
    RegexBuilder::new(text)
        .delegate_size_limit(MOST_BYTES)
        .delegate_dfa_size_limit(MOST_BYTES)
        .backtrack_limit(MOST_STEPS)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_grow_beyond_the_bounds_are_refused() {
        for pattern in [
            "(?:a{1000}){1000}".to_owned(),
            "((a{100}){100}){100}".into(),
            r"\p{L}{1000}{1000}".into(),
            "(".repeat(100_000) + "a" + &")".repeat(100_000),
            "(?=".repeat(100_000) + "a" + &")".repeat(100_000),
            "[".repeat(100_000),
            "a|".repeat(1_000_000),
        ] {
            assert!(compile(&pattern).is_none(), "{:.40}", pattern);
        }
        for pattern in [
            r"(\w+)=(\d{1,5})",
            r"(?<=a)b",
            "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}",
            r"(.)\1",
        ] {
            assert!(compile(pattern).is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_search_that_goes_back_too_often_ends() {
        let regex = compile("(?=(a+)+b)c").expect("a pattern");
        assert!(!matches!(regex.find(&"a".repeat(50)), Ok(Some(_))));
    }
}
