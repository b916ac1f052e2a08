//! Compilation of the regular expressions of plans, within bounds.

use fancy_regex::{Regex, RegexBuilder};

mod oro;

/// Largest compiled pattern, and largest memory of its states while it is searched for, bytes. The time
/// per byte of text grows with the former.
const MOST_BYTES: usize = 1 << 20;
/// Most steps back of one search.
const MOST_STEPS: usize = 1_000_000;

/// A compiled pattern of extractors and assertions, in the syntax of JMeter's engine. `begins`: it is
/// searched for at the beginning of texts alone. Fails with the message of that engine, or says that the pattern is too large.
pub(crate) fn extracting(text: &str, begins: bool) -> Result<Regex, String> {
    let mut pattern = oro::translated(text)?;
    if begins {
        pattern = format!("\\A(?:{pattern})");
    }
    compile(&pattern).ok_or_else(|| "Invalid expression, or too large".to_owned())
}

/// True if a pattern that begins at the beginning matches a whole text. As in JMeter's engine, the first
/// way in which it matches decides, though another one may be longer.
pub(crate) fn is_whole(regex: &Regex, text: &str) -> bool {
    matches!(regex.find(text), Ok(Some(found)) if found.end() == text.len())
}

/// JMeter's message of a pattern that is not valid.
pub(crate) fn refusal(text: &str) -> String {
    let why = extracting(text, false).err().unwrap_or_default();
    format!("Invalid expression: {text}\n{why}")
}

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
    fn extractors_know_the_syntax_of_jmeters_engine() {
        let found = |pattern: &str, text: &str| {
            let regex = extracting(pattern, false)?;
            let found = regex.find(text).expect("few steps");
            Ok::<_, String>(found.map(|found| found.as_str().to_owned()))
        };
        for (pattern, text, expected) in [
            ("[^[]+", "ab[c", "ab"),
            ("[[]1[]]", "x[1]", "[1]"),
            (
                r#"\<a href=\"(.+?)\"\>"#,
                "<a href=\"x\">",
                "<a href=\"x\">",
            ),
            ("line$", "a line\n", "line"),
            ("(?m)a$", "a\nb", "a"),
            ("{\"a\":{1}", "{\"a\":", "{\"a\":"),
            (r"\y\u004c", "yu004c", "yu004c"),
            (r"\x41\0?\cA?", "A", "A"),
            ("[[:digit:]&&]+", "1&2", "1&2"),
            ("[]a-]+", "-]a", "-]a"),
            ("a(?#c)b", "ab", "ab"),
        ] {
            assert_eq!(found(pattern, text), Ok(Some(expected.into())), "{pattern}");
        }
        for (pattern, says) in [
            ("(?<=a)b", "Sequence (?<...) not recognized"),
            ("(?<n>a)", "Sequence (?<...) not recognized"),
            ("(?i:a)", "Sequence (?:...) not recognized"),
            ("a++", NESTED),
            ("*a", "?+* follows nothing in expression"),
            ("(", "Unmatched parentheses."),
            ("[a", "Unmatched [] in expression."),
            ("a\\", "Trailing \\ in expression."),
        ] {
            assert_eq!(found(pattern, "a"), Err(says.into()), "{pattern}");
        }
    }

    #[test]
    fn the_first_way_to_match_decides_about_whole_texts() {
        for (pattern, text, expected) in [
            ("20|2024", "2024", false),
            ("2024|20", "2024", true),
            (".*?", "a", false),
            ("(?s).*", "a\nb", true),
            ("2024$", "2024\n", false),
        ] {
            let regex = extracting(pattern, true).expect("a pattern");
            assert_eq!(is_whole(&regex, text), expected, "{pattern}");
        }
    }

    const NESTED: &str = "Nested repetitions *?+ in expression";

    #[test]
    fn a_search_that_goes_back_too_often_ends() {
        let regex = compile("(?=(a+)+b)c").expect("a pattern");
        assert!(!matches!(regex.find(&"a".repeat(50)), Ok(Some(_))));
    }
}
