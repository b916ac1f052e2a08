//! Cores on which the threads of a load ran: a condition of the run that the system chooses anew each
//! time, unless threads are pinned.

use std::collections::BTreeMap;

use sokudo_model::metrics::own;
use sokudo_model::{PhaseRecord, Record};

use crate::view::PhaseView;

/// CPU time over elapsed time from which a thread counts as one of the load, and not of its
/// recording.
const BUSY: f64 = 0.02;

/// One thread of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Its host.
    pub host: String,
    /// Its name, as the system shows it.
    pub thread: String,
    /// Cores on which it was seen, the most frequent first, each with its share of the samples.
    pub cores: Vec<(u32, f64)>,
}

/// The busy threads of a phase whose core was observed, by host and name.
pub fn of(record: &Record, phase: &PhaseRecord) -> Vec<Placed> {
    let view = PhaseView::new(record, phase);
    let placed = view.series(None, own::CORE, &[]).filter_map(|series| {
        let (host, thread) = (&series.key.host, series.key.labels.get("thread")?);
        let labels = [("thread", thread.as_str())];
        let (_, cpu) = view.highest_mean(Some(host), own::CPU_RATIO, &labels)?;
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for core in view.inside(series) {
            *counts.entry(core as u32).or_default() += 1;
        }
        let all = counts.values().sum::<usize>() as f64;
        let mut cores: Vec<(u32, f64)> = counts
            .into_iter()
            .map(|(core, n)| (core, n as f64 / all))
            .collect();
        cores.sort_by(|a, b| b.1.total_cmp(&a.1));
        (cpu >= BUSY && !cores.is_empty()).then(|| Placed {
            host: host.clone(),
            thread: thread.clone(),
            cores,
        })
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use sokudo_model::{Labels, Metric, PhaseResult, Series, SeriesKey};

    use super::*;
    use crate::tests::empty;

    fn series(metric: Metric, thread: &str, values: &[f64]) -> Series {
        let key = SeriesKey {
            host: "hosta".into(),
            source: "self".into(),
            metric: metric.into(),
            labels: Labels::from([("thread".to_owned(), thread.to_owned())]),
        };
        let points = (1..).zip(values).map(|(t, value)| (t, *value)).collect();
        Series { key, points }
    }

    #[test]
    fn busy_threads_have_their_cores_by_frequency() {
        let mut record = empty();
        record.series = vec![
            series(own::CPU_RATIO, "ask", &[0.5; 4]),
            series(own::CORE, "ask", &[1.0, 3.0, 3.0, 3.0]),
            series(own::CPU_RATIO, "report", &[0.001; 4]),
            series(own::CORE, "report", &[0.0; 4]),
        ];
        let phase = PhaseRecord::plain("measure", "rr", (0, 4), PhaseResult::default());
        let placed = of(&record, &phase);
        assert_eq!(placed.len(), 1);
        assert_eq!(placed[0].thread, "ask");
        assert_eq!(placed[0].cores, [(3, 0.75), (1, 0.25)]);
        let later = PhaseRecord::plain("later", "rr", (10, 20), PhaseResult::default());
        assert_eq!(of(&record, &later), []);
    }
}
