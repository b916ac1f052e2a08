//! The text of a statement: where its quotes and comments are, where it ends, and the variables in it.
//!
//! A variable is `:name`. It is a parameter, except within quotes and where it continues a name (`t_:n`), where its
//! value is written into the text. In a comment, after another colon (`x::int`) and before a digit (`12:30`) a colon
//! is a colon.

use super::program::{Names, Piece, begins_name, in_name};

/// Point at which a text of SQL is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// At a semicolon.
    Semicolon,
    /// At a backslash: a command of scripts follows.
    Backslash,
    /// At the end of the text.
    End,
    /// At the end of the text, within quotes or a comment.
    Open,
}

/// A statement's text up to a cut.
pub(super) struct Scanned {
    pub(super) pieces: Vec<Piece>,
    pub(super) cut: Cut,
    /// Bytes up to the cut, and those of the cut itself not included.
    pub(super) length: usize,
    /// Bytes before the statement itself: blanks and comments.
    pub(super) lead: usize,
}

impl Scanned {
    /// True when there is nothing but blanks and comments.
    pub(super) fn is_empty(&self) -> bool {
        self.lead >= self.length
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Begin of the text that is not yet in a piece.
    from: usize,
    /// First byte outside of blanks and comments.
    lead: Option<usize>,
    pieces: Vec<Piece>,
    names: &'a mut Names,
}

/// Reads a statement up to its end; a backslash cuts it in scripts only.
pub(super) fn scan(text: &str, in_script: bool, names: &mut Names) -> Scanned {
    let mut scanner = Scanner {
        text,
        at: 0,
        from: 0,
        lead: None,
        pieces: Vec::new(),
        names,
    };
    let cut = scanner.run(in_script);
    let length = scanner.at;
    scanner.flush(length);
    Scanned {
        cut,
        length,
        lead: scanner.lead.unwrap_or(length),
        pieces: scanner.pieces,
    }
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn run(&mut self, in_script: bool) -> Cut {
        let mut parentheses = 0_u32;
        while let Some(c) = self.rest().chars().next() {
            if let Some(length) = comment(self.rest()) {
                match length {
                    Some(length) => self.at += length,
                    None => {
                        self.at = self.text.len();
                        return Cut::Open;
                    }
                }
                continue;
            }
            match c {
                // A rule of SQL may hold statements within parentheses.
                ';' if parentheses == 0 => return Cut::Semicolon,
                '\\' if in_script => return Cut::Backslash,
                '(' => parentheses += 1,
                ')' => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
            if !c.is_whitespace() {
                self.lead.get_or_insert(self.at);
            }
            match c {
                '\'' | '"' | '`' | '$' => {
                    if !self.quoted(c) {
                        return Cut::Open;
                    }
                }
                ':' => self.colon(false),
                _ => self.at += c.len_utf8(),
            }
        }
        Cut::End
    }

    /// Passes over quoted text; false when it does not end.
    fn quoted(&mut self, quote: char) -> bool {
        let end = match quote {
            '$' => match dollar_tag(self.rest(), self.before()) {
                Some(tag) => tag.to_owned(),
                None => {
                    self.at += 1;
                    return true;
                }
            },
            _ => quote.to_string(),
        };
        // `E'…'` has escapes by backslash.
        let escapes = quote == '\'' && self.before().is_some_and(|c| c == 'e' || c == 'E');
        self.at += end.len();
        while let Some(c) = self.rest().chars().next() {
            if self.rest().starts_with(&end) {
                self.at += end.len();
                return true;
            }
            match c {
                '\\' if escapes => {
                    let escaped = self.rest()[1..].chars().next();
                    self.at += 1 + escaped.map_or(0, char::len_utf8);
                }
                ':' if quote != '$' => self.colon(true),
                _ => self.at += c.len_utf8(),
            }
        }
        false
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    /// A colon, and the variable after it.
    fn colon(&mut self, in_quotes: bool) {
        let after = &self.rest()[1..];
        let colons = after.len() - after.trim_start_matches(':').len();
        let length = match after.chars().next() {
            Some(first) if begins_name(first) => after.find(|c| !in_name(c)).unwrap_or(after.len()),
            _ => 0,
        };
        if colons > 0 || length == 0 {
            self.at += 1 + colons;
            return;
        }
        let name = after[..length].to_owned();
        let is_glued = self.before().is_some_and(in_name);
        self.flush(self.at);
        let variable = self.names.place(&name);
        self.pieces.push(Piece::Variable {
            name,
            variable,
            is_parameter: !in_quotes && !is_glued,
        });
        self.at += 1 + length;
        self.from = self.at;
    }

    /// Puts the text up to here into a piece.
    fn flush(&mut self, until: usize) {
        if until > self.from {
            self.pieces
                .push(Piece::Text(self.text[self.from..until].to_owned()));
        }
        self.from = until;
    }
}

/// Length of the comment that begins here: nothing when none does, `None` inside when it does not end.
#[expect(
    clippy::option_option,
    reason = "no comment, one without an end, one with a length"
)]
fn comment(text: &str) -> Option<Option<usize>> {
    if text.starts_with("--") {
        return Some(Some(text.find('\n').unwrap_or(text.len())));
    }
    if !text.starts_with("/*") {
        return None;
    }
    // Comments may hold comments.
    let (mut depth, mut at) = (0_u32, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(Some(at));
        }
    }
    Some(None)
}

/// The tag of a text quoted by dollars, `$$` or `$name$`; `None` for a dollar within a name and one before a digit.
fn dollar_tag(text: &str, before: Option<char>) -> Option<&str> {
    if before.is_some_and(in_name) {
        return None;
    }
    let inner = text[1..].find('$')?;
    let name = &text[1..=inner];
    let is_tag = name.is_empty() || (name.starts_with(begins_name) && name.chars().all(in_name));
    is_tag.then(|| &text[..inner + 2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces as text: parameters as `<name>`, written ones as `[name]`.
    fn shown(sql: &str) -> (String, Cut, usize) {
        let mut names = Names::default();
        let scanned = scan(sql, true, &mut names);
        let pieces = scanned.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Variable {
                name,
                is_parameter: true,
                ..
            } => format!("<{name}>"),
            Piece::Variable { name, .. } => format!("[{name}]"),
        });
        (pieces.collect(), scanned.cut, scanned.length)
    }

    #[test]
    fn variables_are_found_where_they_are_meant() {
        for (sql, expected, cut) in [
            ("select :a + :b_1;", "select <a> + <b_1>", Cut::Semicolon),
            (
                "select :a::int, '12:30:45'",
                "select <a>::int, '12:30:45'",
                Cut::End,
            ),
            ("select x::int; select", "select x::int", Cut::Semicolon),
            ("select ':a;' || t_:n", "select '[a];' || t_[n]", Cut::End),
            ("select \":a\"", "select \"[a]\"", Cut::End),
            ("-- :a;\nselect 1", "-- :a;\nselect 1", Cut::End),
            (
                "/* :a /* ; */ ; */ select :a",
                "/* :a /* ; */ ; */ select <a>",
                Cut::End,
            ),
            (
                "select $$ :a; $$ \\gset",
                "select $$ :a; $$ ",
                Cut::Backslash,
            ),
            (
                "select $x$ $$ ; $x$, $1",
                "select $x$ $$ ; $x$, $1",
                Cut::End,
            ),
            ("select E'\\';' ;", "select E'\\';' ", Cut::Semicolon),
            ("select 'it''s;' ;", "select 'it''s;' ", Cut::Semicolon),
            (
                "create rule r as (a; b);",
                "create rule r as (a; b)",
                Cut::Semicolon,
            ),
            ("select 'open", "select 'open", Cut::Open),
            ("/* open", "/* open", Cut::Open),
            ("select a[1:2]", "select a[1:2]", Cut::End),
        ] {
            let (pieces, found, _) = shown(sql);
            assert_eq!((pieces.as_str(), found), (expected, cut), "{sql}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost(sql in "[a-z:;'\"$(){}*/\\-\\\\ \n1é]{0,60}") {
            let (pieces, _, length) = shown(&sql);
            let again: String = pieces.replace(['<', '['], ":").replace(['>', ']'], "");
            prop_assert_eq!(again, &sql[..length]);
        }
    }
}
