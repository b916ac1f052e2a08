//! Estimates the offset between two hosts' clocks, and its error.
//!
//! The other host reads its clock at some moment between request and answer, so half of the round trip
//! bounds the error (Cristian's method). Of many requests the one with the shortest round trip counts.

use std::collections::VecDeque;

use sokudo_model::ClockReading;

/// One reading of the other clock by request and answer.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Own clock when the request was sent.
    pub asked_ns: i64,
    /// The other clock's reading.
    pub answer_ns: i64,
    /// Own clock when the answer arrived.
    pub received_ns: i64,
}

/// Difference of two clocks and its bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offset {
    /// Other clock minus own, nanoseconds.
    pub offset_ns: i64,
    /// The offset is right within this, nanoseconds.
    pub error_ns: u64,
}

/// Readings of one host's clock that are kept: enough for a line, however long a run is.
const READINGS_MAX: usize = 64;
/// Faster than this no sound clock drifts against another, seconds per second: crystals stay within a
/// tenth of it.
const DRIFT_MAX: f64 = 500e-6;

/// Tracks the clock of one host against the controller's.
#[derive(Debug, Clone, Default)]
pub struct ClockTrack {
    /// Readings since the last step, by time.
    readings: VecDeque<ClockReading>,
    /// The widest step so far, nanoseconds.
    widest_step_ns: u64,
}

/// Drift of a clock, and its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Seconds that the other clock gains per second.
    pub per_second: f64,
    /// The drift is right within this.
    pub error_per_second: f64,
}

impl ClockTrack {
    /// Adds a reading, later than all before; returns by how much the clock was stepped since the last
    /// one, nanoseconds, when no drift and no error of the readings explains the change.
    ///
    /// After a step the track begins anew.
    pub fn add(&mut self, reading: ClockReading) -> Option<i64> {
        let stepped = self.readings.back().and_then(|last| {
            let elapsed_ns = reading.at_ns.saturating_sub(last.at_ns).max(0) as f64;
            let moved_ns = reading.offset_ns.saturating_sub(last.offset_ns);
            let explained_ns =
                elapsed_ns * DRIFT_MAX + (reading.error_ns.saturating_add(last.error_ns)) as f64;
            (moved_ns.unsigned_abs() as f64 > explained_ns).then_some(moved_ns)
        });
        if let Some(by_ns) = stepped {
            self.widest_step_ns = self.widest_step_ns.max(by_ns.unsigned_abs());
            self.readings.clear();
        }
        if self.readings.len() == READINGS_MAX {
            // The oldest one stays: the longer the line, the smaller the error of the drift.
            self.readings.remove(1);
        }
        self.readings.push_back(reading);
        stepped
    }

    /// Largest step of the clock, nanoseconds: when exactly it was made is not known, so that what
    /// the host said around that moment is off by up to this.
    pub fn widest_step_ns(&self) -> u64 {
        self.widest_step_ns
    }

    /// Time of the last reading, on the controller's clock; `None` before the first.
    pub fn last_ns(&self) -> Option<i64> {
        self.readings.back().map(|reading| reading.at_ns)
    }

    /// The least-squares line through the readings; `None` for less than two moments.
    ///
    /// The bound is the steepest that the errors of the first and the last reading allow.
    pub fn drift(&self) -> Option<Drift> {
        let (first, last) = (self.readings.front()?, self.readings.back()?);
        let span_ns = (last.at_ns - first.at_ns) as f64;
        if span_ns <= 0.0 {
            return None;
        }
        let n = self.readings.len() as f64;
        let points = || {
            let each = self.readings.iter();
            each.map(|r| {
                (
                    (r.at_ns - first.at_ns) as f64,
                    (r.offset_ns - first.offset_ns) as f64,
                )
            })
        };
        let (sum_t, sum_o) = points().fold((0.0, 0.0), |(t, o), p| (t + p.0, o + p.1));
        let (mean_t, mean_o) = (sum_t / n, sum_o / n);
        let (above, below) = points().fold((0.0, 0.0), |(above, below), (t, o)| {
            let dt = t - mean_t;
            (above + dt * (o - mean_o), below + dt * dt)
        });
        Some(Drift {
            per_second: above / below,
            error_per_second: (first.error_ns + last.error_ns) as f64 / span_ns,
        })
    }
}

/// The best estimate that these probes allow; `None` without probes.
pub fn estimate(probes: &[Probe]) -> Option<Offset> {
    let best = probes
        .iter()
        .filter(|probe| probe.received_ns >= probe.asked_ns)
        .min_by_key(|probe| probe.received_ns - probe.asked_ns)?;
    let round_trip_ns = best.received_ns - best.asked_ns;
    Some(Offset {
        offset_ns: best.answer_ns - (best.asked_ns + round_trip_ns / 2),
        error_ns: (round_trip_ns / 2) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_answer_counts_and_bounds_the_error() {
        let probe = |asked_ns, out_ns, back_ns| Probe {
            asked_ns,
            answer_ns: asked_ns + out_ns + 5_000_000,
            received_ns: asked_ns + out_ns + back_ns,
        };
        // Asymmetric and slow first, quick later; the true offset is 5 ms.
        let probes = [probe(0, 900_000, 100_000), probe(2_000_000, 30_000, 20_000)];
        let offset = estimate(&probes).unwrap();
        assert_eq!(offset.error_ns, 25_000);
        assert!(offset.offset_ns.abs_diff(5_000_000) <= offset.error_ns);
        assert_eq!(estimate(&[]), None);
    }

    /// A clock that gains `drift` per second and was stepped by `step_ns` after 30 s, read every 5 s
    /// with the given error.
    fn scripted(drift: f64, step_ns: i64, error_ns: u64) -> impl Iterator<Item = ClockReading> {
        (0..12).map(move |n| {
            let at_ns = n * 5_000_000_000;
            // The errors alternate, within their bound.
            let wrong_ns = if n % 2 == 0 { 1 } else { -1 } * error_ns as i64 / 2;
            let step_ns = if n > 6 { step_ns } else { 0 };
            ClockReading {
                at_ns,
                offset_ns: 7_000_000 + (at_ns as f64 * drift) as i64 + wrong_ns + step_ns,
                error_ns,
            }
        })
    }

    #[test]
    fn drift_is_found_within_its_bound_and_is_no_step() {
        for drift in [-30e-6, 0.0, 30e-6, 200e-6] {
            let mut track = ClockTrack::default();
            for reading in scripted(drift, 0, 20_000) {
                assert_eq!(track.add(reading), None, "{drift}");
            }
            let found = track.drift().expect("a line");
            assert!((found.per_second - drift).abs() <= found.error_per_second);
            assert!(found.error_per_second < 1e-6);
        }
    }

    #[test]
    fn a_step_is_told_once_and_the_line_begins_anew() {
        let mut track = ClockTrack::default();
        let steps = scripted(30e-6, -5_000_000, 20_000).map(|reading| track.add(reading));
        let steps: Vec<i64> = steps.flatten().collect();
        assert_eq!(steps.len(), 1);
        assert!(steps[0].abs_diff(-5_000_000) < 200_000, "{steps:?}");
        assert_eq!(track.widest_step_ns(), steps[0].unsigned_abs());
        let drift = track.drift().expect("a line");
        assert!((drift.per_second - 30e-6).abs() <= drift.error_per_second);
    }

    #[test]
    fn memory_is_bounded_and_one_reading_is_no_line() {
        let mut track = ClockTrack::default();
        track.add(ClockReading::default());
        assert_eq!(track.drift(), None);
        for n in 1..1000 {
            track.add(ClockReading {
                at_ns: n * 1_000_000,
                offset_ns: n * 100,
                error_ns: 10,
            });
        }
        assert!(track.readings.len() <= READINGS_MAX);
        let drift = track.drift().expect("a line");
        assert!((drift.per_second - 1e-4).abs() < 1e-9);
    }
}
