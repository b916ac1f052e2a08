//! Where does a row of CSV end, and what are its cells?
//!
//! Quoting as JMeter writes it: a cell with the delimiter, a quote or a line break is quoted, and
//! a quote inside is doubled. A pure function over bytes; whoever calls it brings more bytes.

use memchr::{memchr, memchr2};

use super::columns::{Cells, Place};

/// Cells of a row at most; more are counted, so that the row is known to be broken.
const MOST_CELLS: usize = 1024;

/// What the bytes at the beginning of a buffer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A row of so many bytes, line end included.
    Row(usize),
    /// The row does not end within the bytes.
    More,
}

/// Splits rows; keeps its buffers from row to row.
#[derive(Debug)]
pub struct Splitter {
    delimiter: u8,
    places: Vec<Place>,
    unquoted: Vec<u8>,
}

impl Splitter {
    /// For cells parted by this byte.
    pub fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            places: Vec::with_capacity(32),
            unquoted: Vec::new(),
        }
    }

    /// Finds the cells of the row at the beginning of `bytes`. With `last`, the end of the bytes
    /// ends the row as well, unless it lies inside quotes.
    #[inline]
    pub fn split(&mut self, bytes: &[u8], last: bool) -> Found {
        self.places.clear();
        self.unquoted.clear();
        let mut at = 0;
        loop {
            if bytes.get(at) == Some(&b'"') {
                match self.quoted(bytes, at + 1) {
                    Some(after) => at = after,
                    None => return Found::More,
                }
            } else {
                let end = memchr2(self.delimiter, b'\n', &bytes[at..]).map(|n| at + n);
                let Some(end) = end.or(last.then_some(bytes.len())) else {
                    return Found::More;
                };
                let line_ends = bytes.get(end) != Some(&self.delimiter);
                let without_return = line_ends && end > at && bytes[end - 1] == b'\r';
                self.cell(at, end - usize::from(without_return), false);
                at = end;
            }
            match bytes.get(at) {
                Some(byte) if *byte == self.delimiter => at += 1,
                Some(_) => return Found::Row(at + 1),
                None => return if last { Found::Row(at) } else { Found::More },
            }
        }
    }

    /// The cells that the last `split` of these bytes found.
    pub fn cells<'a>(&'a self, bytes: &'a [u8]) -> Cells<'a> {
        Cells::new(bytes, &self.unquoted, &self.places)
    }

    fn cell(&mut self, from: usize, to: usize, copied: bool) {
        if self.places.len() < MOST_CELLS {
            self.places.push(Place {
                from: from as u32,
                to: to as u32,
                copied,
            });
        }
    }

    /// A cell whose quote opened before `from`; gives where the delimiter or line end stands.
    /// What follows the closing quote and is neither is taken as part of the cell.
    fn quoted(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let start = self.unquoted.len();
        let mut at = from;
        loop {
            let quote = at + memchr(b'"', bytes.get(at..)?)?;
            match bytes.get(quote + 1) {
                Some(b'"') => {
                    self.unquoted.extend(&bytes[at..=quote]);
                    at = quote + 2;
                }
                _ => {
                    // The usual case: nothing doubled, so nothing to copy.
                    let plain = at == from && self.unquoted.len() == start;
                    let after = self.after_quote(bytes, quote);
                    if plain && after == quote + 1 {
                        self.cell(from, quote, false);
                        return Some(self.line_end(bytes, after));
                    }
                    self.unquoted.extend(&bytes[at..quote]);
                    self.unquoted
                        .extend(bytes.get(quote + 1..after).unwrap_or_default());
                    self.cell(start, self.unquoted.len(), true);
                    return Some(self.line_end(bytes, after));
                }
            }
        }
    }

    /// First byte after a closing quote that ends the cell; the end of the bytes when none does.
    fn after_quote(&self, bytes: &[u8], quote: usize) -> usize {
        let rest = &bytes[quote + 1..];
        match rest.first() {
            None => quote + 1,
            Some(b) if *b == self.delimiter || *b == b'\n' => quote + 1,
            Some(b'\r') if matches!(rest.get(1), None | Some(b'\n')) => quote + 1,
            Some(_) => {
                let n = memchr2(self.delimiter, b'\n', rest).unwrap_or(rest.len());
                let with_return =
                    rest.get(n) != Some(&self.delimiter) && n > 0 && rest[n - 1] == b'\r';
                quote + 1 + n - usize::from(with_return)
            }
        }
    }

    /// Steps over a carriage return before a line end.
    fn line_end(&self, bytes: &[u8], at: usize) -> usize {
        let is_return = bytes.get(at) == Some(&b'\r') && self.delimiter != b'\r';
        at + usize::from(is_return)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let mut splitter = Splitter::new(b',');
        assert_eq!(
            splitter.split(line.as_bytes(), true),
            Found::Row(line.len()),
            "{line:?}"
        );
        let cells: Vec<&[u8]> = expected.iter().map(|c| c.as_bytes()).collect();
        assert_eq!(splitter.cells(line.as_bytes()).all(), cells, "{line:?}");
    }

    #[test]
    fn cells_are_found() {
        check("a,b\n", &["a", "b"]);
        check("a,b\r\n", &["a", "b"]);
        check("a,b", &["a", "b"]);
        check("a,\n", &["a", ""]);
        check("\n", &[""]);
        check("\"a,b\",c\n", &["a,b", "c"]);
        check("\"a\"\"b\",\"c\"\r\n", &["a\"b", "c"]);
        check("\"a\nb\",c\n", &["a\nb", "c"]);
        check("\"\",\"\"\"\"\n", &["", "\""]);
        check("\"a\"b,c\n", &["ab", "c"]);
        check("a\"b,c\n", &["a\"b", "c"]);
    }

    #[test]
    fn a_row_that_does_not_end_wants_more() {
        let mut splitter = Splitter::new(b',');
        assert_eq!(splitter.split(b"a,b", false), Found::More);
        assert_eq!(splitter.split(b"a,\"b\n", false), Found::More);
        assert_eq!(splitter.split(b"a,\"b\n", true), Found::More);
    }

    fn quote(cell: &str) -> String {
        match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.into(),
        }
    }

    proptest! {
        #[test]
        fn what_was_quoted_comes_back(cells in prop::collection::vec("[a,\"\n\rあ ]{0,8}", 1..9), more in "[a,\"\n]{0,9}") {
            let quoted: Vec<String> = cells.iter().map(|c| quote(c)).collect();
            let line = quoted.join(",") + "\n";
            let text = line.clone() + &more;
            let mut splitter = Splitter::new(b',');
            prop_assert_eq!(splitter.split(text.as_bytes(), true), Found::Row(line.len()));
            let wanted: Vec<&[u8]> = cells.iter().map(|c| c.as_bytes()).collect();
            prop_assert_eq!(splitter.cells(text.as_bytes()).all(), wanted);
        }

        #[test]
        fn any_bytes_are_split_without_panic(bytes in prop::collection::vec(prop::sample::select(&b"a,\"\n\r;"[..]), 0..60), last: bool) {
            let mut splitter = Splitter::new(b',');
            if let Found::Row(n) = splitter.split(&bytes, last) {
                prop_assert!(n <= bytes.len() && (n > 0 || bytes.is_empty()));
                splitter.cells(&bytes).all();
            }
        }
    }
}
