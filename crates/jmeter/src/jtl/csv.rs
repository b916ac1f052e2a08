//! Splitter of CSV rows into cells.
//!
//! `csv-core` reads the cells. JMeter ends a row with a line feed, which may have a carriage return
//! before it; a carriage return in another place belongs to its cell. A pure function over bytes:
//! the caller supplies more bytes if a row is not complete.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::columns::Cells;

/// Most cells of a row that are kept; a row with more has this many, which are too many for any file.
const MOST_CELLS: usize = 1024;
/// Bytes of cells for which there is room at first; a longer row makes more room.
const FIRST_ROOM_BYTES: usize = 4 << 10;

/// Content of the beginning of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSplit {
    /// A row of this many bytes, line end included.
    Row(usize),
    /// The row is not complete within the bytes.
    More,
}

/// Splits rows; keeps its buffers from row to row.
#[derive(Debug)]
pub struct Splitter {
    reader: Reader,
    /// The concatenated unquoted cells of the last row.
    text: Vec<u8>,
    /// The end of each of them.
    ends: Vec<usize>,
    /// Number of cells.
    count: usize,
}

impl Splitter {
    /// A splitter for cells separated by this byte.
    pub fn new(delimiter: u8) -> Self {
        let mut reader = ReaderBuilder::new();
        reader.delimiter(delimiter);
        reader.terminator(Terminator::Any(b'\n'));
        Self {
            reader: reader.build(),
            text: vec![0; FIRST_ROOM_BYTES],
            ends: vec![0; MOST_CELLS],
            count: 0,
        }
    }

    /// Finds the cells of the row at the beginning of `bytes`. With `last`, the end of the bytes
    /// ends the row as well, unless it is inside quotes.
    pub fn split(&mut self, bytes: &[u8], last: bool) -> RowSplit {
        self.count = 0;
        // The reader would skip an empty line, but lines are counted.
        if bytes.first() == Some(&b'\n') {
            self.count = 1;
            self.ends[0] = 0;
            return RowSplit::Row(1);
        }
        self.reader.reset();
        let (mut read, mut written) = (0, 0);
        loop {
            let input = match bytes.get(read..) {
                // Ends the row outside quotes, but not inside.
                Some([]) if last => b"\n",
                Some(rest) => rest,
                None => return RowSplit::More,
            };
            let (text, ends) = (&mut self.text[written..], &mut self.ends[self.count..]);
            let (state, taken, put, ended) = self.reader.read_record(input, text, ends);
            read += taken;
            written += put;
            self.count += ended;
            match state {
                ReadRecordResult::Record => return RowSplit::Row(self.finish(bytes, read)),
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.count -= 1,
                ReadRecordResult::InputEmpty if last => {}
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return RowSplit::More,
            }
        }
    }

    /// Length of a row of which `read` bytes were read. Removes a carriage return that belongs to
    /// the line end from the last cell.
    fn finish(&mut self, bytes: &[u8], read: usize) -> usize {
        let length = read.min(bytes.len());
        let row = &bytes[..length];
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let begin = self.count.checked_sub(2).map_or(0, |at| self.ends[at]);
        if let Some(end) = self.ends[..self.count].last_mut()
            && row.ends_with(b"\r")
            && *end > begin
        {
            *end -= 1;
        }
        length
    }

    /// The cells of the last `split`.
    pub fn cells(&self) -> Cells<'_> {
        Cells::new(&self.text, &self.ends[..self.count])
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
            RowSplit::Row(line.len()),
            "{line:?}"
        );
        let cells: Vec<&[u8]> = expected.iter().map(|c| c.as_bytes()).collect();
        assert_eq!(splitter.cells().all(), cells, "{line:?}");
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
        assert_eq!(splitter.split(b"a,b", false), RowSplit::More);
        assert_eq!(splitter.split(b"a,\"b\n", false), RowSplit::More);
        assert_eq!(splitter.split(b"a,\"b\n", true), RowSplit::More);
    }

    #[test]
    fn a_long_row_and_one_of_too_many_cells_are_read_to_their_ends() {
        let (long, doubled) = (
            "x".repeat(FIRST_ROOM_BYTES),
            "\"\"".repeat(FIRST_ROOM_BYTES),
        );
        let row = format!("{long},\"{doubled}\",{long}\r\n");
        let quotes = "\"".repeat(FIRST_ROOM_BYTES);
        check(&row, &[&long, &quotes, &long]);
        let wide = ",".repeat(3 * MOST_CELLS) + "\n";
        let mut splitter = Splitter::new(b',');
        assert_eq!(
            splitter.split(wide.as_bytes(), false),
            RowSplit::Row(wide.len())
        );
        assert_eq!(splitter.cells().len(), MOST_CELLS);
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
            prop_assert_eq!(splitter.split(text.as_bytes(), true), RowSplit::Row(line.len()));
            let wanted: Vec<&[u8]> = cells.iter().map(|c| c.as_bytes()).collect();
            prop_assert_eq!(splitter.cells().all(), wanted);
        }

        #[test]
        fn any_bytes_are_split_without_panic(bytes in prop::collection::vec(prop::sample::select(&b"a,\"\n\r;"[..]), 0..60), last: bool) {
            let mut splitter = Splitter::new(b',');
            if let RowSplit::Row(n) = splitter.split(&bytes, last) {
                prop_assert!(n <= bytes.len() && (n > 0 || bytes.is_empty()));
                splitter.cells().all();
            }
        }
    }
}
