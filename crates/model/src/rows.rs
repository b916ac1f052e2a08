//! Encodes rows about single requests for the way from a generator to the file that keeps them.

use serde::{Deserialize, Serialize};

/// Rows of a file of results, as text, with when each request ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Rows that this host had handed over before these: a gap shows what was lost on the way.
    pub before: u64,
    /// End of each row's request, nanoseconds since the run's start.
    pub ends_ns: Vec<i64>,
    /// Length of each row, bytes, in the same order.
    pub lengths: Vec<u32>,
    /// The concatenated rows.
    pub text: String,
}

impl Rows {
    /// Adds a row.
    pub fn push(&mut self, end_ns: i64, row: &str) {
        let begin = self.text.len();
        self.text.push_str(row);
        self.close(begin, end_ns);
    }

    /// Ends a row that consists of the text from `begin` on; adds none when that text is empty.
    pub fn close(&mut self, begin: usize, end_ns: i64) {
        let length = self.text.len().saturating_sub(begin);
        if length > 0 {
            self.ends_ns.push(end_ns);
            self.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends_ns.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.ends_ns.is_empty()
    }

    /// Memory that it takes, bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends_ns.len() * (size_of::<i64>() + size_of::<u32>())
    }

    /// Each row with its end; those that the lengths do not describe are left out.
    pub fn each(&self) -> impl Iterator<Item = (i64, &str)> {
        let mut begin = 0usize;
        let both = self.ends_ns.iter().zip(&self.lengths);
        both.map_while(move |(end_ns, length)| {
            let end = begin.checked_add(*length as usize)?;
            let row = self.text.get(begin..end)?;
            begin = end;
            Some((*end_ns, row))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let mut rows = Rows::default();
        rows.push(2, "a,b\n");
        rows.push(1, "日本\n");
        let all: Vec<_> = rows.each().collect();
        assert_eq!(all, [(2, "a,b\n"), (1, "日本\n")]);
        assert_eq!((rows.len(), rows.text.len()), (2, 11));
    }

    #[test]
    fn lengths_that_lie_end_the_rows() {
        for lengths in [vec![1], vec![u32::MAX], vec![4]] {
            let rows = Rows {
                ends_ns: vec![0],
                lengths,
                text: "日".into(),
                before: 0,
            };
            assert_eq!(rows.each().count(), 0);
        }
    }
}
