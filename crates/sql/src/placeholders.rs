//! Placeholders `$1`, `$2`, … as other engines write them.

/// A statement with its placeholders as `?`, and which parameter each of them takes, from 0.
pub(crate) struct Positional {
    pub(crate) sql: String,
    pub(crate) order: Vec<usize>,
}

/// Finds placeholders outside of quotes and comments and gives each its text.
pub(crate) fn replaced(sql: &str, mut write: impl FnMut(&mut String, usize)) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['$', '\'', '"', '`', '-', '/']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = match quoted(from) {
            Some(length) => length,
            None => {
                let digits = from[1..].bytes().take_while(u8::is_ascii_digit).count();
                let number = from[1..=digits].parse::<usize>().ok();
                match number.filter(|n| from.starts_with('$') && *n > 0) {
                    Some(number) => {
                        write(&mut out, number - 1);
                        rest = &from[1 + digits..];
                        continue;
                    }
                    None => 1,
                }
            }
        };
        out.push_str(&from[..length]);
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

/// Length of the quoted text or comment that begins here; `None` where none begins.
fn quoted(text: &str) -> Option<usize> {
    let until = |end: &str, from: usize| {
        let found = text[from..].find(end);
        Some(found.map_or(text.len(), |at| from + at + end.len()))
    };
    match text.as_bytes() {
        [b'\'', ..] => until("'", 1),
        [b'"', ..] => until("\"", 1),
        [b'`', ..] => until("`", 1),
        [b'-', b'-', ..] => until("\n", 2),
        [b'/', b'*', ..] => until("*/", 2),
        _ => None,
    }
}

/// Parameters of a statement: the highest number of its placeholders `$1`, `$2`, …
pub fn parameters_of(sql: &str) -> usize {
    let mut most = 0;
    replaced(sql, |_, index| most = most.max(index + 1));
    most
}

/// For engines whose placeholders have no numbers.
pub(crate) fn positional(sql: &str) -> Positional {
    let mut order = Vec::new();
    let sql = replaced(sql, |out, index| {
        out.push('?');
        order.push(index);
    });
    Positional { sql, order }
}

/// For SQLite: `?1`, `?2`.
pub(crate) fn numbered(sql: &str) -> String {
    use std::fmt::Write as _;
    replaced(sql, |out, index| {
        // Writing to a string cannot fail.
        let _ = write!(out, "?{}", index + 1);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_outside_of_quotes_and_comments() {
        let found = positional("update t set a = a + $2 where b = '$1' and c = $1 -- $3\nand d-$1");
        assert_eq!(
            found.sql,
            "update t set a = a + ? where b = '$1' and c = ? -- $3\nand d-?"
        );
        assert_eq!(found.order, [1, 0, 0]);
        assert_eq!((parameters_of("$2 '$3' $1"), parameters_of("'$1'")), (2, 0));
        assert_eq!(numbered("$1/$12 /* $2 */ '$"), "?1/?12 /* $2 */ '$");
        assert_eq!(numbered("$0 $x $"), "$0 $x $");
        assert_eq!(numbered("é'é$1'$2"), "é'é$1'?2");
    }
}
