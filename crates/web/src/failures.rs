//! The failed requests of a run by flow, code and message, as the page's table shows them.

use serde::Serialize;
use sokudo_model::metrics::group;
use sokudo_model::{Batch, SeriesKey, secrets};

/// Series that are kept; further ones are left out.
const KEPT_MAX: usize = 500;
/// Rows that a page gets: the most frequent ones.
const ROWS_MAX: usize = 50;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The flow or the plan's label; empty for failures that are counted together.
    pub flow: String,
    /// Status or name of an error; may be empty.
    pub code: String,
    /// Message of the server or the assertion.
    pub message: String,
    /// Number so far.
    pub count: u64,
}

/// The failures that a batch tells of: series and count so far.
pub fn pick(batch: &Batch) -> Vec<(SeriesKey, f64)> {
    let told = batch
        .series
        .iter()
        .filter(|series| series.key.metric == group::FAILURES.name);
    told.filter_map(|series| Some((series.key.clone(), series.points.last()?.1)))
        .collect()
}

/// Failures of a run so far.
#[derive(Debug, Default)]
pub struct Failures(Vec<(SeriesKey, u64)>);

impl Failures {
    /// Takes the count so far of one series.
    pub fn take(&mut self, key: &SeriesKey, count: f64) {
        let count = count as u64;
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == key) {
            *known = count;
        } else if self.0.len() < KEPT_MAX {
            self.0.push((key.clone(), count));
        }
    }

    /// The most frequent ones, all hosts together.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (key, count) in &self.0 {
            let label = |name: &str| {
                let text = key.labels.get(name).map(String::as_str);
                secrets::hidden(text.unwrap_or_default()).into_owned()
            };
            let row = Row {
                flow: label("flow"),
                code: label("code"),
                message: label("message"),
                count: *count,
            };
            let is_same = |other: &&mut Row| {
                (&other.flow, &other.code, &other.message) == (&row.flow, &row.code, &row.message)
            };
            match rows.iter_mut().find(is_same) {
                Some(known) => known.count += count,
                None => rows.push(row),
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows.truncate(ROWS_MAX);
        rows
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::Labels;

    use super::*;

    #[test]
    fn counts_of_hosts_are_added_and_the_most_frequent_come_first() {
        let key = |host: &str, message: &str| SeriesKey {
            host: host.into(),
            source: "http".into(),
            metric: group::FAILURES.into(),
            labels: Labels::from([
                ("flow".into(), "login".into()),
                ("message".into(), message.into()),
            ]),
        };
        let mut batch = Batch::default();
        batch.push(&key("hosta", "refused"), 1, 1.0);
        batch.push(&key("hosta", "refused"), 2, 4.0);
        batch.push(&key("hostb", "refused"), 2, 3.0);
        batch.push(&key("hosta", "http://me:sesame@h/"), 2, 9.0);
        let mut failures = Failures::default();
        for (key, count) in pick(&batch) {
            failures.take(&key, count);
        }
        let rows = failures.rows();
        assert_eq!(rows.iter().map(|row| row.count).collect::<Vec<_>>(), [9, 7]);
        assert_eq!(
            (rows[1].flow.as_str(), rows[1].code.as_str()),
            ("login", "")
        );
        assert!(!rows[0].message.contains("sesame"), "{rows:?}");
    }
}
