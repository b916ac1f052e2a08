//! Statements, parameters and words of SQL texts, outside of quotes and comments.

/// Marks outside of quotes and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// `?`, a parameter.
    Parameter,
    /// `;`, the end of a statement.
    End,
}

/// Differences between engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `$tag$ … $tag$`, `E'…'`, comments within comments, `??` for `?`.
    Postgres,
    /// A backslash escapes within quotes; `#` begins a comment.
    MySql,
}

/// The marks of a text with their places.
fn marks(sql: &str, dialect: Dialect) -> Vec<(usize, Mark)> {
    let bytes = sql.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at..];
        at += match byte {
            b'?' if dialect == Dialect::Postgres && rest.get(1) == Some(&b'?') => 2,
            b'?' => {
                found.push((at, Mark::Parameter));
                1
            }
            b';' => {
                found.push((at, Mark::End));
                1
            }
            b'\'' | b'"' | b'`' => {
                let is_escaped = match dialect {
                    Dialect::MySql => *byte != b'`',
                    Dialect::Postgres => *byte == b'\'' && begins_escaped(&bytes[..at]),
                };
                quoted(rest, is_escaped)
            }
            b'-' if rest.get(1) == Some(&b'-') => until(rest, b"\n"),
            b'#' if dialect == Dialect::MySql => until(rest, b"\n"),
            b'/' if rest.get(1) == Some(&b'*') => comment(rest, dialect),
            b'$' if dialect == Dialect::Postgres => dollar_quoted(&bytes[..at], rest),
            _ => 1,
        };
    }
    found
}

/// True behind `E` or `e` that is a word of its own.
fn begins_escaped(before: &[u8]) -> bool {
    let [front @ .., b'E' | b'e'] = before else {
        return false;
    };
    !front.last().is_some_and(is_word)
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Length of a text in quotes.
fn quoted(text: &[u8], is_escaped: bool) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'\\' if is_escaped => 2,
            byte if *byte == text[0] => return at + 1,
            _ => 1,
        };
    }
    text.len()
}

/// Length until behind the end, or of the whole text.
fn until(text: &[u8], end: &[u8]) -> usize {
    let found = text.windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |at| at + end.len())
}

fn comment(text: &[u8], dialect: Dialect) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let two = text.get(at..at + 2).unwrap_or_default();
        at += match two {
            b"/*" if depth == 0 || dialect == Dialect::Postgres => {
                depth += 1;
                2
            }
            b"*/" => {
                depth -= 1;
                if depth == 0 {
                    return at + 2;
                }
                2
            }
            _ => 1,
        };
    }
    text.len()
}

/// Length of `$tag$ … $tag$`; 1 where none begins.
fn dollar_quoted(before: &[u8], text: &[u8]) -> usize {
    if before.last().is_some_and(is_word) {
        return 1;
    }
    let tag = text[1..]
        .iter()
        .take_while(|byte| is_word(byte) && **byte != b'$');
    let length = tag.count() + 2;
    let starts_with_digit = text.get(1).is_some_and(u8::is_ascii_digit);
    if text.get(length - 1) != Some(&b'$') || starts_with_digit {
        return 1;
    }
    let (tag, rest) = text.split_at(length);
    length + until(rest, tag)
}

/// The statements of a text without those that are blank; the text as it is where it has one.
pub(super) fn statements(sql: &str, dialect: Dialect) -> Vec<&str> {
    let mut from = 0;
    let mut found = Vec::new();
    for (at, mark) in marks(sql, dialect) {
        if mark == Mark::End {
            found.push(&sql[from..at]);
            from = at + 1;
        }
    }
    found.push(&sql[from..]);
    found.retain(|one| !one.trim().is_empty());
    found
}

/// The text with its parameters written by `write`, and their number.
pub(super) fn with_parameters(
    sql: &str,
    dialect: Dialect,
    mut write: impl FnMut(usize, &mut String),
) -> (String, usize) {
    let (mut out, mut from, mut count) = (String::with_capacity(sql.len()), 0, 0);
    for (at, mark) in marks(sql, dialect) {
        if mark == Mark::Parameter {
            out.push_str(&sql[from..at]);
            write(count, &mut out);
            (from, count) = (at + 1, count + 1);
        }
    }
    out.push_str(&sql[from..]);
    match dialect {
        Dialect::Postgres => (out.replace("??", "?"), count),
        Dialect::MySql => (out, count),
    }
}

/// The call in `{call …}`; `None`: the text is none.
pub(super) fn called(sql: &str) -> Option<&str> {
    let inner = sql.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (word, rest) = inner.split_at_checked(4)?;
    (word.eq_ignore_ascii_case("call") && rest.starts_with(char::is_whitespace))
        .then(|| rest.trim())
}

/// The first word of a statement, in lower case.
pub(super) fn first_word(sql: &str) -> String {
    let mut rest = sql.trim_start();
    loop {
        let skipped = match rest.as_bytes() {
            [b'-', b'-', ..] => until(rest.as_bytes(), b"\n"),
            [b'/', b'*', ..] => until(rest.as_bytes(), b"*/"),
            [b'(', ..] => 1,
            _ => break,
        };
        rest = rest[skipped..].trim_start();
    }
    let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    rest[..word].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_ends_are_found_outside_of_quotes_and_comments() {
        let numbered = |sql: &str, dialect| {
            with_parameters(sql, dialect, |index, out| {
                out.push('$');
                out.push_str(&(index + 1).to_string());
            })
        };
        use Dialect::{MySql, Postgres};
        for (sql, dialect, expected, count) in [
            (
                "a = ? and b = '?' and c=?",
                Postgres,
                "a = $1 and b = '?' and c=$2",
                2,
            ),
            ("a ?? b", Postgres, "a ? b", 0),
            ("E'\\'?' || ?", Postgres, "E'\\'?' || $1", 1),
            ("'\\' || ?", Postgres, "'\\' || $1", 1),
            ("'\\'?' , ?", MySql, "'\\'?' , $1", 1),
            ("$x$?$y$?$x$ ?", Postgres, "$x$?$y$?$x$ $1", 1),
            ("/* /* ? */ ? */ ?", Postgres, "/* /* ? */ ? */ $1", 1),
            ("-- ?\n?", Postgres, "-- ?\n$1", 1),
            ("# ?\n?", MySql, "# ?\n$1", 1),
            ("'open ?", Postgres, "'open ?", 0),
            ("a$1 ?", Postgres, "a$1 $1", 1),
            ("é'é?'?", Postgres, "é'é?'$1", 1),
        ] {
            assert_eq!(
                numbered(sql, dialect),
                (expected.to_owned(), count),
                "{sql}"
            );
        }
        assert_eq!(
            statements("a; b ';' ;\n;c $$;$$", Dialect::Postgres),
            ["a", " b ';' ", "c $$;$$"]
        );
        assert_eq!(called(" { Call f(?) } "), Some("f(?)"));
        assert_eq!(called("select 1"), None);
        assert_eq!(first_word(" /* x */ -- y\n (SELECT 1)"), "select");
    }
}
