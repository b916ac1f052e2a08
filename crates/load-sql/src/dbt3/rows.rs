//! Destinations of rows of `dbt3`: a checksum and a database.

use sokudo_sql::RowWriter;

use super::data::Columns;
use crate::digest::Digest;

impl Columns for Digest {
    fn int(&mut self, value: i64) {
        self.put(&value.to_string());
    }
    fn text(&mut self, value: &str) {
        self.put(value);
    }
    fn end(&mut self) {
        self.end_row();
    }
}

impl Columns for RowWriter {
    fn int(&mut self, value: i64) {
        RowWriter::int(self, value);
    }
    fn text(&mut self, value: &str) {
        RowWriter::text(self, value);
    }
    fn end(&mut self) {
        RowWriter::end(self);
    }
}
