//! Finds the spaces at which a line must not break, because a number would be parted from its unit.
//!
//! Sentences are written with plain spaces, because programs read them and people search them. Code that
//! breaks lines, or leaves that to a browser, replaces the spaces inside quantities first: `99 %`,
//! `410 k`, `75.3 Gb/s`, `1 234 567`.

use std::borrow::Cow;

/// A blank that no line is broken at, as narrow as the gap between a number and its unit
/// (U+202F, NARROW NO-BREAK SPACE).
pub const GAP: char = '\u{202f}';

/// The text with non-breaking spaces inside quantities.
pub fn unbroken(text: &str) -> Cow<'_, str> {
    if !text.match_indices(' ').any(|(at, _)| holds(text, at)) {
        return Cow::Borrowed(text);
    }
    let each = text.char_indices().map(|(at, c)| match c {
        ' ' if holds(text, at) => GAP,
        c => c,
    });
    Cow::Owned(each.collect())
}

/// True when the blank at this byte stands between a number and its unit, or between two groups of
/// digits of one number.
pub fn holds(text: &str, at: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    if !before.ends_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || "/µ%".contains(c)));
    let word = &after[..end.unwrap_or(after.len())];
    is_unit(word) || is_group(word)
}

/// Three digits, and no more.
fn is_group(word: &str) -> bool {
    word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_unit(word: &str) -> bool {
    const WHOLE: &[&str] = &[
        "%", "s", "ms", "µs", "ns", "min", "h", "d", "k", "M", "G", "T",
    ];
    const PREFIXED: &[&str] = &["b", "B", "b/s", "B/s", "/s", "Hz"];
    if WHOLE.contains(&word) {
        return true;
    }
    let prefixes = ["Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T", ""];
    prefixes.iter().any(|prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|unit| PREFIXED.contains(&unit))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_stay_together_and_sentences_do_not() {
        for (text, expected) in [
            (
                "99 % up to 105 ms, the slowest",
                "99_% up to 105_ms, the slowest",
            ),
            (
                "410 k messages/s (75.3 Gb/s)",
                "410_k messages/s (75.3_Gb/s)",
            ),
            (
                "1 234 567 datagrams of 64 KiB",
                "1_234_567 datagrams of 64_KiB",
            ),
            (
                "99 % が 88.3 ms 以内、1.96 コア",
                "99_% が 88.3_ms 以内、1.96 コア",
            ),
            (
                "2 hosts, 3 small ones, port 8080 of a",
                "2 hosts, 3 small ones, port 8080 of a",
            ),
            ("at 1 000, 5 MB and 20 /s", "at 1_000, 5_MB and 20_/s"),
        ] {
            assert_eq!(unbroken(text).replace(GAP, "_"), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_changes(text in "\\PC{0,80}") {
            prop_assert_eq!(unbroken(&text).replace(GAP, " "), text.replace(GAP, " "));
        }
    }
}
