//! Removes characters from foreign text that must not reach a terminal or a page.
//!
//! Names of hosts, labels, causes and sentences come from other machines, from plans and from records that
//! somebody sent. On a terminal an escape sequence in them could clear the screen, change the window's title
//! or inject input; a mark that changes the direction of writing makes a name look like another one. All of
//! them are replaced.

use std::borrow::Cow;

/// Marks the end of a text that was cut.
pub(crate) const CUT: char = '…';

/// True for an invisible character that changes how the text around it is shown: a control character, a
/// mark of the direction of writing, or a separator of lines or paragraphs.
pub fn steers(c: char) -> bool {
    c.is_control() || turns(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// True for a mark of the direction of writing (Unicode's `Bidi_Control`).
pub fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text as one harmless line: a space replaces each control character, U+FFFD each mark of
/// direction.
pub fn harmless(text: &str) -> Cow<'_, str> {
    match text.contains(steers) {
        true => Cow::Owned(text.chars().map(shown).collect()),
        false => Cow::Borrowed(text),
    }
}

/// The same for a text of our own making that may have several lines.
pub fn harmless_lines(text: &str) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t');
    match text.contains(|c| steers(c) && !stays(c)) {
        true => Cow::Owned(
            text.chars()
                .map(|c| if stays(c) { c } else { shown(c) })
                .collect(),
        ),
        false => Cow::Borrowed(text),
    }
}

/// At most `most` characters of a text; one that is longer ends in `…`.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let kept = text.chars().take(most.saturating_sub(1));
            Cow::Owned(kept.chain([CUT]).collect())
        }
    }
}

fn shown(c: char) -> char {
    match c {
        c if turns(c) => '\u{fffd}',
        c if steers(c) => ' ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_is_taken_out() {
        assert_eq!(harmless("host-1 ホスト"), "host-1 ホスト");
        assert_eq!(harmless("a\u{1b}[2Jb\r\nc"), "a [2Jb  c");
        assert_eq!(harmless("a\u{9b}31mb\u{7f}"), "a 31mb ");
        assert_eq!(harmless("a\u{202e}b\u{200f}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(harmless_lines("a\n\tb\u{1b}c"), "a\n\tb c");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("ホスト", 3), "ホスト");
        assert_eq!(cut("ホスト名", 3), "ホス…");
        assert_eq!(cut("ab", 0), "…");
        assert_eq!(cut("", 0), "");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>(), most in 1usize..50) {
            prop_assert!(!harmless(&text).contains(steers));
            prop_assert!(harmless_lines(&text).lines().all(|line| !line.replace('\t', "").contains(steers)));
            prop_assert!(cut(&text, most).chars().count() <= most);
        }
    }
}
