//! Conversion of readings into points of series.
//!
//! [`Interval`] knows how long ago the last reading was, [`Total`] turns a kernel counter into
//! its growth, [`Emit`] puts points into a batch without looking every series up.

use sokudo_model::{Batch, Metric, Series, SeriesKey};

/// Name of the source of everything that describes the machine.
pub(crate) const SOURCE_HOST: &str = "host";

/// Builds the key of one series of this host.
pub(crate) fn key(host: &str, source: &str, metric: &str, labels: &[(&str, &str)]) -> SeriesKey {
    SeriesKey {
        host: host.to_owned(),
        source: source.to_owned(),
        metric: metric.to_owned(),
        labels: labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

/// Names of the metrics of a source; `N` is their number.
pub(crate) const fn names_of<const N: usize>(metrics: &[Metric]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = metrics[at].name;
        at += 1;
    }
    names
}

/// Time between one sample and the next.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    previous_ns: Option<i64>,
}

impl Interval {
    /// Seconds since the previous sample; `None` for the first one and when time did not advance.
    pub(crate) fn step(&mut self, t_ns: i64) -> Option<f64> {
        let previous_ns = self.previous_ns.replace(t_ns)?;
        let elapsed_ns = t_ns.checked_sub(previous_ns)?;
        (elapsed_ns > 0).then(|| elapsed_ns as f64 / 1e9)
    }
}

/// One kernel counter: its growth since the first reading.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Total {
    previous: Option<u64>,
    since_start: u64,
}

impl Total {
    /// True before the first reading.
    pub(crate) fn is_new(&self) -> bool {
        self.previous.is_none()
    }

    /// Takes a reading and returns the growth since the previous one.
    ///
    /// `None` for the first reading, and for a counter that went down (a device that came anew):
    /// what it counted between the two readings is unknown, so the total stays.
    pub(crate) fn step(&mut self, now: u64) -> Option<u64> {
        let growth = now.checked_sub(self.previous.replace(now)?)?;
        self.since_start = self.since_start.saturating_add(growth);
        Some(growth)
    }

    /// The same for a counter that the kernel keeps in 32 bits, which wraps to zero.
    pub(crate) fn step_wrapping_32(&mut self, now: u32) -> Option<u64> {
        let previous = self.previous.replace(u64::from(now))?;
        let growth = u64::from(now.wrapping_sub(previous as u32));
        self.since_start = self.since_start.saturating_add(growth);
        Some(growth)
    }

    /// The next reading is that of another counter, which begins where it is.
    pub(crate) fn begin_anew(&mut self) {
        self.previous = None;
    }

    /// Growth since the first reading.
    pub(crate) fn since_start(&self) -> u64 {
        self.since_start
    }
}

/// Adds points of one monitor to a batch.
///
/// A machine with many cores has a thousand series; looking each one up would cost more than
/// reading the kernel's files. Points arrive in the same order each time, so the next series is
/// almost always the one after the last; and a batch that holds none of this monitor's series
/// needs no look-up at all.
pub(crate) struct Emit<'a> {
    out: &'a mut Batch,
    t_ns: i64,
    cursor: usize,
    fresh: bool,
}

impl<'a> Emit<'a> {
    /// Starts adding points at `t_ns` for the monitor that alone emits `metrics` of `host`.
    pub(crate) fn new(out: &'a mut Batch, t_ns: i64, host: &str, metrics: &[&str]) -> Self {
        let first = out
            .series
            .iter()
            .position(|s| metrics.contains(&s.key.metric.as_str()) && s.key.host == host);
        Self {
            cursor: first.unwrap_or(out.series.len()),
            fresh: first.is_none(),
            out,
            t_ns,
        }
    }

    /// Adds one point; what is not a finite number is left out.
    pub(crate) fn put(&mut self, key: &SeriesKey, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.fresh {
            self.out.series.push(Series {
                key: key.clone(),
                points: vec![(self.t_ns, value)],
            });
            return;
        }
        match self.out.series.get_mut(self.cursor) {
            Some(series) if series.key == *key => {
                series.points.push((self.t_ns, value));
                self.cursor += 1;
            }
            _ => self.put_searching(key, value),
        }
    }

    fn put_searching(&mut self, key: &SeriesKey, value: f64) {
        match self.out.series.iter().position(|s| s.key == *key) {
            Some(at) => {
                self.out.series[at].points.push((self.t_ns, value));
                self.cursor = at + 1;
            }
            None => self.out.series.push(Series {
                key: key.clone(),
                points: vec![(self.t_ns, value)],
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_starts_at_the_first_reading_and_ignores_a_restart() {
        let mut total = Total::default();
        assert_eq!(total.step(100), None);
        assert_eq!(total.step(130), Some(30));
        assert_eq!(total.step(5), None);
        assert_eq!(total.step(6), Some(1));
        assert_eq!(total.since_start(), 31);
    }

    #[test]
    fn total_of_32_bits_survives_one_wrap() {
        let mut total = Total::default();
        assert_eq!(total.step_wrapping_32(u32::MAX), None);
        assert_eq!(total.step_wrapping_32(4), Some(5));
        assert_eq!(total.since_start(), 5);
    }

    #[test]
    fn interval_needs_time_to_advance() {
        let mut interval = Interval::default();
        assert_eq!(interval.step(i64::MIN), None);
        assert_eq!(interval.step(i64::MAX), None);
        assert_eq!(interval.step(i64::MAX), None);
        let mut interval = Interval::default();
        interval.step(0);
        assert_eq!(interval.step(500_000_000), Some(0.5));
    }

    #[test]
    fn points_land_in_their_series_whatever_the_order() {
        let keys: Vec<_> = ["a", "b", "c"]
            .iter()
            .map(|core| key("h", SOURCE_HOST, "host.cpu_ratio", &[("core", core)]))
            .collect();
        let mut batch = Batch::default();
        batch.push(&key("h", "x", "x.y", &[]), 0, 1.0);
        for (t_ns, order) in [(1, vec![0]), (2, vec![2, 0, 1]), (3, vec![0, 1, 2])] {
            let mut emit = Emit::new(&mut batch, t_ns, "h", &["host.cpu_ratio"]);
            for at in order {
                emit.put(&keys[at], at as f64);
            }
        }
        assert_eq!(batch.series.len(), 4);
        for (at, wanted) in [(0, 3), (1, 2), (2, 2)] {
            let series = batch.series.iter().find(|s| s.key == keys[at]);
            assert_eq!(series.map(|s| s.points.len()), Some(wanted));
        }
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let mut batch = Batch::default();
        let mut emit = Emit::new(&mut batch, 0, "h", &[]);
        emit.put(&key("h", SOURCE_HOST, "host.load_1min", &[]), f64::NAN);
        assert!(batch.is_empty());
    }
}
