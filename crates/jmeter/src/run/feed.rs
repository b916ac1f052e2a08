//! Rows of CSV data sets, and positions in them.
//!
//! A file is read once and shared; each feed has its own position in it. Empty rows are left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::share::GeneratorShare;

/// Largest data file, bytes.
pub(super) const MOST_BYTES: u64 = 512 << 20;

/// The rows of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DataRows {
    /// Names from the first row, if the element states none.
    pub names: Vec<String>,
    /// All cells.
    cells: Vec<Box<str>>,
    /// Index of the first cell of each row, and the end.
    begins: Vec<usize>,
}

impl DataRows {
    /// Parses a text.
    pub fn parse(text: &str, delimiter: char, quoted: bool, first: FirstRow) -> Self {
        let mut rows = Self {
            begins: vec![0],
            ..Self::default()
        };
        let mut left = first;
        let mut rest = text.trim_start_matches('\u{feff}');
        while !rest.is_empty() {
            let begin = rows.cells.len();
            // The first row is a line, whatever is quoted in it.
            let (first, others) = match left {
                FirstRow::IsData => (rest, None),
                _ => rest
                    .split_once('\n')
                    .map_or((rest, Some("")), |(line, others)| (line, Some(others))),
            };
            let behind = row(first, delimiter, quoted, &mut rows.cells);
            rest = others.unwrap_or(behind);
            match std::mem::replace(&mut left, FirstRow::IsData) {
                FirstRow::IsData => rows.begins.push(rows.cells.len()),
                FirstRow::IsSkipped => rows.cells.truncate(begin),
                FirstRow::Names => {
                    let names = rows.cells.drain(begin..);
                    rows.names = names.map(|name| name.trim().to_owned()).collect();
                }
            }
        }
        rows
    }

    /// The rows of one of several generators.
    pub fn part(self, part: GeneratorShare) -> Self {
        if part == GeneratorShare::WHOLE {
            return self;
        }
        let mut own = Self {
            names: self.names,
            cells: Vec::new(),
            begins: vec![0],
        };
        let mut cells = self.cells.into_iter();
        for (number, place) in (0..).zip(self.begins.windows(2)) {
            let row = cells.by_ref().take(place[1] - place[0]);
            match part.has(number) {
                true => {
                    own.cells.extend(row);
                    own.begins.push(own.cells.len());
                }
                false => row.for_each(drop),
            }
        }
        own
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.begins.len().saturating_sub(1)
    }

    /// The cells of a row.
    pub fn row(&self, index: usize) -> &[Box<str>] {
        match (self.begins.get(index), self.begins.get(index + 1)) {
            (Some(from), Some(to)) => &self.cells[*from..*to],
            _ => &[],
        }
    }
}

/// The meaning of the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstRow {
    /// A data row.
    IsData,
    /// Skipped.
    IsSkipped,
    /// The names of the variables.
    Names,
}

/// Parses one row and gives the text after it. An empty line has no cells: it stands for the end.
fn row<'t>(text: &'t str, delimiter: char, quoted: bool, cells: &mut Vec<Box<str>>) -> &'t str {
    let line_end = text.find('\n').map_or(text.len(), |at| at + 1);
    let line = text[..line_end].trim_end_matches(['\n', '\r']);
    if line.is_empty() {
        // With quoted data it is one empty cell.
        cells.extend(quoted.then(Box::default));
        return &text[line_end..];
    }
    if !quoted || !line.contains('"') {
        cells.extend(line.split(delimiter).map(Box::from));
        return &text[line_end..];
    }
    let begin = cells.len();
    match quoted_row(text, delimiter, cells) {
        Ok(rest) => rest,
        // A quote in the wrong place: JMeter takes it for the end of the file, and goes on behind it.
        Err(rest) => {
            cells.truncate(begin);
            rest
        }
    }
}

/// Parses a row in which a quoted cell may contain delimiters and line ends; a doubled quote is one quote.
/// Gives the text after it. Fails with the text behind a quote that is neither at the begin nor at the end of
/// its cell.
fn quoted_row<'t>(
    text: &'t str,
    delimiter: char,
    cells: &mut Vec<Box<str>>,
) -> Result<&'t str, &'t str> {
    let mut cell = String::new();
    let mut state = CellState::Begin;
    for (at, c) in text.char_indices() {
        let behind = &text[at + c.len_utf8()..];
        let is_end = c == delimiter || matches!(c, '\n' | '\r');
        match (state, c) {
            (CellState::Begin, '"') | (CellState::BehindQuote, '"') => {
                if state == CellState::BehindQuote {
                    cell.push('"');
                }
                state = CellState::Quoted;
            }
            (CellState::Plain, '"') => return Err(behind),
            (CellState::Quoted, '"') => state = CellState::BehindQuote,
            (CellState::Quoted, other) => cell.push(other),
            (_, c) if is_end => {
                cells.push(std::mem::take(&mut cell).into());
                state = CellState::Begin;
                match c {
                    '\r' => return Ok(behind.strip_prefix('\n').unwrap_or(behind)),
                    '\n' => return Ok(behind),
                    _ => {}
                }
            }
            (CellState::BehindQuote, _) => return Err(behind),
            (_, other) => {
                cell.push(other);
                state = CellState::Plain;
            }
        }
    }
    match state {
        CellState::Quoted => Err(""),
        _ => {
            cells.push(cell.into());
            Ok("")
        }
    }
}

/// Position of the parser in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellState {
    Begin,
    Plain,
    Quoted,
    /// Behind a quote in a quoted cell.
    BehindQuote,
}

/// A position in a file, shared by several users.
#[derive(Debug)]
pub(super) struct Feed {
    /// The rows of the file.
    pub rows: Arc<DataRows>,
    next: AtomicUsize,
}

impl Feed {
    /// A position before the first row.
    pub fn new(rows: Arc<DataRows>) -> Self {
        Self {
            rows,
            next: AtomicUsize::new(0),
        }
    }

    /// The next row; `None` after the last unless it starts over.
    pub fn take(&self, recycles: bool) -> Option<&[Box<str>]> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match self.rows.len() {
            0 => None,
            count if recycles => Some(self.rows.row(number % count)),
            count => (number < count).then(|| self.rows.row(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, quoted: bool, expected: &[&[&str]]) {
        let rows = DataRows::parse(text, ',', quoted, FirstRow::IsData);
        let found: Vec<Vec<&str>> = (0..rows.len())
            .map(|i| rows.row(i).iter().map(|cell| &**cell).collect())
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn rows_are_taken_apart() {
        check("a,b\nc,d", false, &[&["a", "b"], &["c", "d"]]);
        check(
            "\u{feff}a,\r\n\r\n,d\r\n",
            false,
            &[&["a", ""], &[], &["", "d"]],
        );
        check(
            "\"a,1\",\"b\"\"x\"\nc,d\n",
            true,
            &[&["a,1", "b\"x"], &["c", "d"]],
        );
        check(
            "\"two\nlines\",x\ny,z",
            true,
            &[&["two\nlines", "x"], &["y", "z"]],
        );
        check("\"a\",b", false, &[&["\"a\"", "b"]]);
    }

    #[test]
    fn the_first_row_may_be_names_or_nothing() {
        let names = DataRows::parse("user, pass\nann,1", ',', false, FirstRow::Names);
        assert_eq!(
            (names.names.as_slice(), names.len()),
            (["user".to_owned(), "pass".into()].as_slice(), 1)
        );
        assert_eq!(
            DataRows::parse("x\na\nb", ',', false, FirstRow::IsSkipped).len(),
            2
        );
    }

    #[test]
    fn several_generators_share_rows_out() {
        let text = "a,1\nb\nc,3\nd\ne";
        let part = |index| {
            let rows = DataRows::parse(text, ',', false, FirstRow::IsData);
            let part = rows.part(GeneratorShare::new(index, 3).expect("there is one"));
            let row = |i| part.row(i).iter().map(|cell| cell.to_string()).collect();
            (0..part.len()).map(row).collect::<Vec<Vec<String>>>()
        };
        assert_eq!(part(0), [vec!["a", "1"], vec!["d"]]);
        assert_eq!(part(1), [vec!["b"], vec!["e"]]);
        assert_eq!(part(2), [vec!["c", "3"]]);
    }

    #[test]
    fn rows_end_or_begin_again() {
        let feed = |recycles| {
            let feed = Feed::new(Arc::new(DataRows::parse(
                "a\nb",
                ',',
                false,
                FirstRow::IsData,
            )));
            (0..3)
                .map(|_| feed.take(recycles).map(|row| row[0].to_string()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            feed(true),
            [Some("a".into()), Some("b".into()), Some("a".into())]
        );
        assert_eq!(feed(false), [Some("a".into()), Some("b".into()), None]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a\"\\r\\n,é]{0,40}", quoted: bool) {
            let rows = DataRows::parse(&text, ',', quoted, FirstRow::Names);
            (0..=rows.len()).for_each(|i| { rows.row(i); });
        }
    }
}
