//! Turns the samples of one answer after the other into points of series.

use std::collections::BTreeMap;

use sokudo_model::{Labels, SeriesKey};

use super::SOURCE;
use super::mapping::{Mapped, Mapping, mapped};
use super::parse::Exposition;
use crate::emit::{Emit, key};

/// Label that tells the series of two endpoints apart.
const ENDPOINT: &str = "endpoint";

/// The series of one endpoint.
pub(super) struct Book {
    host: String,
    endpoint: String,
    mapping: Option<Mapping>,
    most: usize,
    /// Series of the last answer. A counter's value and its time are what its rate is counted from.
    known: BTreeMap<(String, Labels), Known>,
}

struct Known {
    key: SeriesKey,
    counted: Option<(i64, f64)>,
    /// Number of the answer that had it last.
    seen: u64,
}

impl Book {
    /// At most `most` series of an endpoint.
    pub(super) fn new(host: &str, endpoint: &str, mapping: Option<Mapping>, most: usize) -> Self {
        Self {
            host: host.to_owned(),
            endpoint: endpoint.to_owned(),
            mapping,
            most,
            known: BTreeMap::new(),
        }
    }

    /// Key of one of the monitor's own series.
    pub(super) fn own_key(&self, metric: &str) -> SeriesKey {
        key(&self.host, SOURCE, metric, &[(ENDPOINT, &self.endpoint)])
    }

    /// Takes an answer, and returns how many of its samples found no room. `number` grows with each.
    pub(super) fn take(
        &mut self,
        t_ns: i64,
        number: u64,
        read: &Exposition,
        emit: &mut Emit<'_>,
    ) -> u64 {
        let mut left_out = 0;
        // Series that are gone make room before new ones come.
        let all = mapped(self.mapping.as_ref(), read);
        for mapped in &all {
            if let Some(known) = self.known.get_mut(&place(mapped)) {
                known.seen = number;
            }
        }
        self.known.retain(|_, known| known.seen == number);
        for mapped in all {
            let at = place(&mapped);
            if !self.known.contains_key(&at) {
                if self.known.len() >= self.most {
                    left_out += 1;
                    continue;
                }
                let key = self.key_of(&mapped);
                let (counted, seen) = (None, number);
                let known = Known { key, counted, seen };
                self.known.insert(at.clone(), known);
            }
            if let Some(known) = self.known.get_mut(&at) {
                known.put(t_ns, &mapped, emit);
            }
        }
        left_out
    }

    fn key_of(&self, mapped: &Mapped) -> SeriesKey {
        let mut labels = Labels::from([(ENDPOINT.to_owned(), self.endpoint.clone())]);
        for (name, value) in &mapped.labels {
            let name = match name.as_str() {
                ENDPOINT => "exported_endpoint",
                name => name,
            };
            labels.insert(name.to_owned(), value.clone());
        }
        SeriesKey {
            host: self.host.clone(),
            source: SOURCE.into(),
            metric: mapped.metric.clone(),
            labels,
        }
    }
}

fn place(mapped: &Mapped) -> (String, Labels) {
    (mapped.metric.clone(), mapped.labels.clone())
}

impl Known {
    fn put(&mut self, t_ns: i64, mapped: &Mapped, emit: &mut Emit<'_>) {
        if !mapped.is_counter {
            return emit.put(&self.key, mapped.value);
        }
        let before = self.counted.replace((t_ns, mapped.value));
        let Some((before_ns, before)) = before else {
            return;
        };
        let elapsed_s = (t_ns - before_ns) as f64 / 1e9;
        let growth = mapped.value - before;
        // A counter that went down was begun anew: what it counted meanwhile is not known.
        if elapsed_s > 0.0 && growth >= 0.0 {
            emit.put(&self.key, growth / elapsed_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::Batch;

    use super::super::parse::exposition;
    use super::*;

    fn values(batch: &Batch, metric: &str) -> Vec<f64> {
        let series = batch.series.iter().filter(|s| s.key.metric == metric);
        series.flat_map(|s| s.points.iter().map(|p| p.1)).collect()
    }

    #[test]
    fn counters_become_rates_and_a_restart_is_a_gap() {
        let mut book = Book::new("hosta", "hostb:80", None, 10);
        let mut batch = Batch::default();
        for (second, value) in [(0, 100), (1, 110), (3, 150), (4, 5), (5, 6)] {
            let text = format!("# TYPE n counter\nn_total {value}\nup {second}\n");
            let read = exposition(&text).expect("metrics");
            let mut emit = Emit::new(&mut batch, second * 1_000_000_000, "hosta", &[]);
            assert_eq!(
                book.take(second * 1_000_000_000, second as u64, &read, &mut emit),
                0
            );
        }
        assert_eq!(values(&batch, "scraped.n_per_second"), [10.0, 20.0, 1.0]);
        assert_eq!(values(&batch, "scraped.up"), [0.0, 1.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_finds_no_room_is_counted_and_what_is_gone_makes_room() {
        let mut book = Book::new("hosta", "hostb:80", None, 2);
        let mut batch = Batch::default();
        let mut take = |number, text: &str| {
            let read = exposition(text).expect("metrics");
            let mut emit = Emit::new(&mut batch, number as i64, "hosta", &[]);
            book.take(number as i64, number, &read, &mut emit)
        };
        assert_eq!(take(1, "a 1\nb 1\nc 1\n"), 1);
        assert_eq!(take(2, "b 1\nc 1\n"), 0);
        assert_eq!(values(&batch, "scraped.c").len(), 1);
        let labels = &batch.series[0].key.labels;
        assert_eq!(labels["endpoint"], "hostb:80");
    }
}
