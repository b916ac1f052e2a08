//! A distribution of times as lines of text.

use sokudo_model::units::human;
use sokudo_model::{Metric, Record, Unit};
use sokudo_stats::{Bucket, Histogram};

/// Width of the longest bar.
const BAR: f64 = 40.0;

/// A line for each doubling of the values of `metric`, which are times; empty without any value.
pub fn distribution(record: &Record, metric: Metric) -> String {
    let mut all = Histogram::new();
    let intervals = record.histograms.iter();
    for interval in intervals.filter(|h| h.key.metric == metric.name) {
        if let Ok(histogram) = Histogram::from_v2(&interval.hdr_v2) {
            all.merge(&histogram);
        }
    }
    match all.is_empty() {
        true => String::new(),
        false => lines(&all.buckets().collect::<Vec<_>>(), all.len()),
    }
}

/// Upper edge, values, share and cumulative share of each doubling that holds any value.
fn lines(buckets: &[Bucket], count: u64) -> String {
    let mut doublings: Vec<(u64, u64)> = Vec::new();
    for bucket in buckets {
        let edge = bucket.high.max(1).next_power_of_two();
        match doublings.last_mut().filter(|(last, _)| *last == edge) {
            Some((_, n)) => *n += bucket.count,
            None => doublings.push((edge, bucket.count)),
        }
    }
    let most = doublings.iter().map(|(_, n)| *n).max().unwrap_or(1);
    let mut out = String::new();
    let mut below = 0;
    for (edge_ns, n) in doublings {
        below += n;
        let edge = human(edge_ns as f64 * 1e-9, Unit::Seconds);
        let share = n as f64 * 100.0 / count as f64;
        let cumulative = below as f64 * 100.0 / count as f64;
        let bar = "#".repeat((n as f64 * BAR / most as f64).ceil() as usize);
        out.push_str(&format!(
            "  ≤ {edge:>9} {n:>10} {share:>6.2} % {cumulative:>7.3} %  {bar}\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doublings_are_summed_up() {
        let mut all = Histogram::new();
        all.record_n(1000, 3);
        all.record_n(900, 1);
        all.record_n(5000, 4);
        let text = lines(&all.buckets().collect::<Vec<_>>(), all.len());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("50.00 %") && lines[1].contains("100.000 %"));
    }
}
