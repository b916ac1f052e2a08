//! Keeps the series about connections during a phase, and names the connections that stood still.
//!
//! Samples that tell of connections and of network interfaces are kept beside the record until their
//! phase is over. Then the rule that finds stalls in records reads them, so that who waits at a console
//! hears at once what the report will say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sokudo_controller::{Observer, Progress};
use sokudo_model::{Batch, Manifest, PhaseRecord, Record, Series, SeriesKey, Text};

/// Metrics that the rule reads.
const METRICS: [&str; 2] = ["tcp.", "host.nic_"];
/// Points that are kept of a phase at most; the record has all of them.
const POINTS_MAX: usize = 500_000;
/// Stalls of a phase that are told one by one.
const STALLS_MAX: usize = 8;
/// Name of the rule.
const RULE: &str = "stalled_flow";

/// Series received during the present phase. Clones share it.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    series: BTreeMap<SeriesKey, Vec<(i64, f64)>>,
    points: usize,
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, batch: &Batch) {
        let told = |series: &&Series| {
            METRICS
                .iter()
                .any(|begin| series.key.metric.starts_with(begin))
        };
        let mut kept = self.lock();
        for series in batch.series.iter().filter(told) {
            if kept.points + series.points.len() > POINTS_MAX {
                return;
            }
            kept.points += series.points.len();
            let own = kept.series.entry(series.key.clone()).or_default();
            own.extend(&series.points);
        }
    }

    /// The connections that stood still in a phase: a sentence each, and what both ends knew. The next
    /// phase begins with nothing.
    pub fn stalls(&self, manifest: &Manifest, phase: &PhaseRecord) -> Vec<Text> {
        let kept = std::mem::take(&mut *self.lock());
        let series = kept.series.into_iter();
        let manifest = Manifest {
            phases: vec![phase.clone()],
            ..manifest.clone()
        };
        let record = Record {
            manifest,
            environments: BTreeMap::new(),
            series: series.map(|(key, points)| Series { key, points }).collect(),
            histograms: Vec::new(),
            events: Vec::new(),
            findings: Vec::new(),
            checks: Vec::new(),
        };
        let findings = sokudo_analyze::diagnose(&record, phase).into_iter();
        let stalls = findings.filter(|finding| finding.rule == RULE);
        let told = stalls.take(STALLS_MAX).flat_map(|finding| {
            let evidence = finding.evidence.into_iter().map(|row| row.says);
            let knew = evidence.map(|says| Text::new("console-stall-evidence").text("says", says));
            std::iter::once(finding.says).chain(knew)
        });
        told.collect()
    }
}

/// An observer that also keeps the series about connections.
pub struct Witness {
    /// The observer that gets everything.
    pub inner: Box<dyn Observer>,
    /// Store of the series.
    pub heard: Heard,
}

impl Observer for Witness {
    fn note(&mut self, progress: &Progress<'_>) {
        if let Progress::Batch(batch) = progress {
            self.heard.keep(batch);
        }
        self.inner.note(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(metric: &str, points: usize) -> Batch {
        let key = SeriesKey {
            host: "hosta".into(),
            source: "tcp".into(),
            metric: metric.into(),
            labels: Default::default(),
        };
        Batch {
            series: vec![Series {
                key,
                points: vec![(0, 1.0); points],
            }],
            ..Batch::default()
        }
    }

    #[test]
    fn memory_is_bounded_and_other_samples_are_left_alone() {
        let heard = Heard::default();
        heard.keep(&batch("rr.transactions_per_second", 10));
        assert_eq!(heard.lock().points, 0);
        for _ in 0..20 {
            heard.keep(&batch("tcp.send_queue_bytes", POINTS_MAX / 10));
        }
        assert_eq!(heard.lock().points, POINTS_MAX);
        assert_eq!(heard.lock().series.len(), 1);
    }
}
