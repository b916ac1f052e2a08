//! Follows the clocks of a run's hosts while the run goes on.
//!
//! Every comparison is kept: as a line of `clock/<host>.csv`, and as series beside what was measured. No
//! clock is ever set.

use sokudo_model::metrics::{clock, group};
use sokudo_model::{Batch, ClockReading, Event, SeriesKey, Stat, Summary, Text, Unit};
use sokudo_net::clock::now_ns;

use crate::run::Run;

/// Comparisons are this far apart at least, nanoseconds: phases may be short.
const EVERY_NS: i64 = 5_000_000_000;
/// Source of the series.
const SOURCE: &str = "clock";

impl Run {
    /// Compares the clocks of hosts whose last comparison is old, so that the next start uses fresh
    /// offsets.
    pub(crate) fn look_at_clocks(&mut self) {
        for index in 0..self.lost.len() {
            let last_ns = self.clocks[index].last_ns().unwrap_or(i64::MIN);
            let one_clock = self.hosts.list()[index].one_clock;
            if self.lost[index] || one_clock || now_ns().saturating_sub(last_ns) < EVERY_NS {
                continue;
            }
            // A host that does not answer is noted as lost where it is needed.
            if let Ok(reading) = self.hosts.sync_clock(index) {
                self.keep_clock(index, reading);
            }
        }
    }

    /// Records a comparison; reports a clock that was stepped.
    pub(crate) fn keep_clock(&mut self, index: usize, reading: ClockReading) {
        let host = self.hosts.list()[index].name.clone();
        let t_ns = reading.at_ns - self.t0_ns;
        // The store counts what it could not record, and reports it.
        let _ = self
            .writer
            .append_clock(&host, t_ns, reading.offset_ns, reading.error_ns);
        let stepped = self.clocks[index].add(reading);
        if stepped.is_some() {
            // The next start must not use the offset from before the step.
            self.hosts.go_by(index, reading);
        }
        let mut batch = Batch::default();
        let mut push = |metric: &str, value: f64| {
            let key = SeriesKey {
                host: host.clone(),
                source: SOURCE.into(),
                metric: metric.into(),
                labels: Default::default(),
            };
            batch.push(&key, t_ns, value);
        };
        push(clock::OFFSET_SECONDS.name, reading.offset_ns as f64 * 1e-9);
        push(clock::ERROR_SECONDS.name, reading.error_ns as f64 * 1e-9);
        if let Some(drift) = self.clocks[index].drift() {
            push(clock::DRIFT_RATIO.name, drift.per_second);
            push(clock::DRIFT_ERROR_RATIO.name, drift.error_per_second);
        }
        if let Some(by_ns) = stepped {
            let says = Text::new("engine-clock-step").word("host", &host).number(
                "by",
                by_ns as f64 * 1e-9,
                Unit::Seconds,
            );
            self.manifest.notes.push(says.clone());
            batch.events.push(Event {
                t_ns,
                host,
                source: SOURCE.into(),
                kind: "clock-step".into(),
                says,
            });
        }
        let _ = self.writer.append(&batch);
    }

    /// The fastest drift among the hosts and its error; nothing when all read one clock, or none
    /// was compared twice.
    pub(crate) fn drift_numbers(&self) -> Summary {
        let drifts = self.clocks.iter().filter_map(|track| track.drift());
        let worst = drifts.max_by(|a, b| a.per_second.abs().total_cmp(&b.per_second.abs()));
        let numbers = worst.map(|drift| {
            [
                (
                    group::CLOCK_DRIFT_RATIO.stat(Stat::Max),
                    drift.per_second.abs(),
                ),
                (
                    group::CLOCK_DRIFT_ERROR_RATIO.into(),
                    drift.error_per_second,
                ),
            ]
        });
        numbers.into_iter().flatten().collect()
    }
}
