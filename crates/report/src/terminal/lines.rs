//! Wraps text at a number of columns, in scripts with and without spaces between words.

use crate::unbroken::holds;

/// Columns that a text takes: East Asian wide characters take two.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if wide(c) { 2 } else { 1 }).sum()
}

fn wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

/// So many spaces. `fmt` panics at widths beyond 65535, and names of a record may be longer.
pub(super) fn spaces(count: usize) -> String {
    " ".repeat(count)
}

pub(super) fn pad_right(text: &str, width: usize) -> String {
    text.to_owned() + &spaces(width.saturating_sub(columns(text)))
}

pub(super) fn pad_left(text: &str, width: usize) -> String {
    spaces(width.saturating_sub(columns(text))) + text
}

/// Joins parts with ` · ` into lines of at most `width` columns; a part is broken only
/// where a line cannot hold it.
pub(super) fn wrap_parts(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if columns(line) + 3 + columns(part) <= width => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.extend(wrap(part, width)),
        }
    }
    lines
}

/// Breaks text into lines of at most `width` columns: at spaces, and between wide characters
/// except before closing punctuation. A longer word stays whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let at = lines.len() - 1;
        let line = &mut lines[at];
        if !line.is_empty() && columns(line) + columns(piece.trim_end()) > width {
            lines.push(piece.to_string());
        } else {
            line.push_str(piece);
        }
    }
    lines.iter().map(|l| l.trim_end().to_string()).collect()
}

/// Columns of the longest part of a text that cannot be broken.
pub(super) fn longest_piece(text: &str) -> usize {
    let pieces = pieces(text).into_iter();
    pieces.map(|it| columns(it.trim_end())).max().unwrap_or(0)
}

/// Columns that a broken title keeps at least: one kanji below the other cannot be read.
pub(super) fn least(title: &str) -> usize {
    const THREE_KANJI: usize = 6;
    match title.chars().any(wide) {
        true => THREE_KANJI,
        false => 0,
    }
}

/// Titles of columns, each in lines, as lines of cells; short ones stand at the bottom, next to their
/// numbers.
pub(super) fn stacked(titles: &[Vec<String>]) -> Vec<Vec<String>> {
    let height = titles.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |lines: &Vec<String>, at: usize| {
        let at = (at + lines.len()).checked_sub(height);
        at.and_then(|at| lines.get(at)).cloned().unwrap_or_default()
    };
    let row = |at: usize| titles.iter().map(|lines| cell(lines, at)).collect();
    (0..height).map(row).collect()
}

/// The smallest parts that a line may be broken between: a number keeps its unit.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (i, c) in text.char_indices() {
        let closes = "、。，．」』）】・％！？：；ー,.)".contains(c);
        let opens = before.is_some_and(|b| "「『（【(".contains(b));
        let between = before == Some(' ') && c != ' ' && !holds(text, i - 1)
            || before.is_some_and(|b| wide(b) || wide(c)) && !closes && !opens && c != ' ';
        if i > start && between {
            out.push(&text[start..i]);
            start = i;
        }
        before = Some(c);
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_any_length_are_padded() {
        assert_eq!(pad_right("a", 100_000).len(), 100_000);
        assert_eq!(pad_left("a", 100_000).len(), 100_000);
        assert_eq!(pad_left("名前", 5), " 名前");
        assert_eq!(pad_right("long", 2), "long");
    }

    #[test]
    fn lines_break_at_spaces_and_between_kanji() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two three", 12), ["one two", "three"]);
        assert_eq!(wrap("one two three", 13), ["one two three"]);
        assert_eq!(
            wrap("受信側が限界です。", 8),
            ["受信側が", "限界で", "す。"]
        );
    }

    #[test]
    fn closing_marks_do_not_start_a_line() {
        assert_eq!(wrap("限界です。次", 8), ["限界で", "す。次"]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(words in prop::collection::vec("[a-z]{1,9}", 1..30), width in 9usize..90) {
            let lines = wrap(&words.join(" "), width);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
        }

        #[test]
        fn wrapping_loses_nothing_but_spaces(text in "\\PC{0,200}", width in 1usize..100) {
            let strip = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(strip(&wrap(&text, width).concat()), strip(&text));
        }
    }
}
