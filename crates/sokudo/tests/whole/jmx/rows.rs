//! A file of results, read by the names of its columns.

use std::collections::BTreeMap;

use crate::vocabulary::Place;

/// One row by the names of its columns.
pub type Row = BTreeMap<String, String>;

/// The line of columns, and all rows; no field of the tests' plans holds a line end.
pub fn rows(text: &str) -> (String, Vec<Row>) {
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or_default().to_owned();
    let each = lines.map(|line| {
        let names = columns.split(',').map(str::to_owned);
        names.zip(fields(line)).collect::<Row>()
    });
    (columns.clone(), each.collect())
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match (character, fields.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => fields.push(String::new()),
            (other, Some(field)) => field.push(other),
            (_, None) => {}
        }
    }
    fields
}

/// A number of a row.
#[track_caller]
pub fn number(row: &Row, column: &str) -> u64 {
    let text = row.get(column).map_or("", String::as_str);
    text.parse()
        .unwrap_or_else(|_| panic!("`{column}` is `{text}`: {row:?}"))
}

/// Rows of each label, in the order of the file.
pub fn by_label(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut labels: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        labels.entry(&row["label"]).or_default().push(row);
    }
    labels
}

/// A file of this place.
#[track_caller]
pub fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}
