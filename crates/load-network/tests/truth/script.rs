//! Tests of a path that loses, repeats and reorders datagrams by script.
//!
//! The truth is worked out from the script alone, in the slow and obvious way, without the code
//! under test.

use std::collections::BTreeSet;
use std::time::Duration;

use sokudo_load_network::datagram::DatagramOptions;
use sokudo_model::{HistogramSummary, PhaseResult};
use sokudo_testkit::relay::{Fate, Script};

use crate::play::{Play, check, only_flow, options, play_script, undisturbed, value};

/// Expected findings of a receiver behind a script.
#[derive(Debug, Default)]
struct Truth {
    sent: u64,
    /// Distinct intact numbers in order of first arrival.
    arrivals: Vec<u64>,
    duplicates: u64,
    corrupted: u64,
}

impl Truth {
    /// Passes `sent` numbers through a script.
    fn of(script: &Script, sent: u64) -> Self {
        let mut order: Vec<(u64, bool)> = Vec::new();
        let mut held: Vec<(u64, u32)> = Vec::new();
        for number in 0..sent {
            let (times, intact) = match script.fate(number) {
                Fate::Pass => (1, true),
                Fate::Drop => continue,
                Fate::Duplicate(times) => (1 + times, true),
                Fate::Corrupt(_) => (1, false),
                Fate::Hold(overtaken_by) => {
                    held.push((number, overtaken_by));
                    continue;
                }
            };
            order.extend((0..times).map(|_| (number, intact)));
            for (_, left) in &mut held {
                *left -= 1;
            }
            let free = held.iter().filter(|(_, left)| *left == 0);
            order.extend(free.map(|(number, _)| (*number, true)));
            held.retain(|(_, left)| *left > 0);
        }
        order.extend(held.into_iter().map(|(number, _)| (number, true)));
        let mut truth = Self {
            sent,
            ..Self::default()
        };
        let mut seen = BTreeSet::new();
        for (number, intact) in order {
            if !intact {
                truth.corrupted += 1;
            } else if seen.insert(number) {
                truth.arrivals.push(number);
            } else {
                truth.duplicates += 1;
            }
        }
        truth
    }

    /// RFC 4737 section 4.2.2: for each late arrival, how far back the first higher number came.
    fn extents(&self) -> Vec<u64> {
        let of = |(at, number): (usize, &u64)| {
            let first_higher = self.arrivals.iter().position(|other| other > number)?;
            (first_higher < at).then(|| (at - first_higher) as u64)
        };
        self.arrivals.iter().enumerate().filter_map(of).collect()
    }

    /// Lengths of the runs of numbers that never arrived.
    fn loss_runs(&self) -> Vec<u64> {
        let arrived: BTreeSet<u64> = self.arrivals.iter().copied().collect();
        let missing: Vec<u64> = (0..self.sent).filter(|n| !arrived.contains(n)).collect();
        let runs = missing.chunk_by(|a, b| a + 1 == *b);
        runs.map(|run| run.len() as u64).collect()
    }

    /// Numbers jumped over at each forward jump, and those behind the last arrival.
    fn gaps(&self) -> Vec<u64> {
        let mut next = 0;
        let mut gaps = Vec::new();
        for number in &self.arrivals {
            if *number > next {
                gaps.push(number - next);
            }
            next = next.max(number + 1);
        }
        gaps.extend(self.sent.checked_sub(next).filter(|behind| *behind > 0));
        gaps
    }

    fn check(&self, result: &PhaseResult) {
        let flow = only_flow(result);
        assert!(flow.complete);
        let (sent, received) = (self.sent as f64, self.arrivals.len() as f64);
        let (extents, gaps) = (self.extents(), self.gaps());
        let expected = [
            ("sent_packets", sent),
            ("received_packets", received),
            ("missing_packets", sent - received),
            ("duplicate_packets", self.duplicates as f64),
            ("out_of_order_packets", extents.len() as f64),
            ("corrupted_packets", self.corrupted as f64),
            ("success_ratio", received / sent),
            ("loss_ratio", (sent - received) / sent),
            ("gaps", gaps.len() as f64),
            ("refused_sends", 0.0),
        ];
        check(&flow.metrics, &expected);
        check(&result.summary, &expected);
        check(&result.summary, &[("foreign_packets", 0.0)]);
        if !extents.is_empty() {
            check(
                &flow.metrics,
                &[("reordering_extent_mean_packets", mean(&extents))],
            );
        }
        if let Some(largest) = gaps.iter().max() {
            let expected = [
                ("gap_max_packets", *largest as f64),
                ("gap_mean_packets", mean(&gaps)),
            ];
            check(&flow.metrics, &expected);
        }
        let histogram = |name: &str| flow.histograms.get(name);
        same(histogram("datagram.loss_run_packets"), &self.loss_runs());
        same(histogram("datagram.reordering_extent_packets"), &extents);
        check_attribution(result);
    }
}

/// Everything missing has a place, and none of it is this host's socket. The backlog drops of a
/// core are a counter of the whole machine, which others use, too.
fn check_attribution(result: &PhaseResult) {
    let of = |name| value(&result.summary, name);
    let at_host = result
        .summary
        .get("datagram.lost_at_receiver_host_packets")
        .copied()
        .unwrap_or(0.0);
    let on_path = of("lost_on_path_packets");
    assert_eq!(of("lost_at_receiver_socket_packets"), 0.0);
    assert!((on_path + at_host - of("missing_packets")).abs() < 1e-6);
    if at_host == 0.0 {
        check(
            &result.summary,
            &[("lost_on_path_packets", of("missing_packets"))],
        );
    }
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

/// Compares a distribution with its values; small whole numbers are kept exactly.
#[track_caller]
fn same(found: Option<&HistogramSummary>, values: &[u64]) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
        assert_eq!(found, None);
        return;
    };
    let rank = |q: f64| {
        let rank = (q * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1] as f64
    };
    let found = found.expect("a distribution");
    assert_eq!(
        (found.n, found.min, found.max),
        (sorted.len() as u64, *min as f64, *max as f64)
    );
    assert!((found.mean - mean(values)).abs() < 1e-9);
    assert_eq!(
        (found.p50, found.p90, found.p99),
        (rank(0.5), rank(0.9), rank(0.99))
    );
}

const SENT: u64 = 1500;

fn gentle() -> DatagramOptions {
    options(r#""count":"1500","rate":"4k/s","size":"64","verify":"64","io":"plain""#)
}

#[track_caller]
fn found(options: &DatagramOptions, script: impl Fn() -> Script) {
    Truth::of(&script(), SENT).check(&play_script(options, &script));
}

#[test]
fn a_clean_path_loses_nothing() {
    found(&gentle(), Script::new);
}

#[test]
fn single_losses_at_head_middle_and_tail_are_found() {
    found(&gentle(), || {
        Script::new().drop_exactly([0, 1, 700, 702, SENT - 1])
    });
}

#[test]
fn a_run_lost_at_the_tail_is_found() {
    found(&gentle(), || Script::new().drop_exactly(SENT - 100..SENT));
}

#[test]
fn every_nth_loss_is_found() {
    found(&gentle(), || Script::new().drop_every(10));
}

#[test]
fn runs_of_losses_keep_their_length() {
    found(&gentle(), || Script::new().drop_runs(50, 7));
}

#[test]
fn random_losses_are_found_to_the_last_one() {
    let share = || {
        let which = sokudo_testkit::relay::Which::Share(0.05);
        Script::new().seed(11).rule(which, Fate::Drop)
    };
    found(&gentle(), share);
}

#[test]
fn duplicates_are_not_taken_for_late_ones() {
    found(&gentle(), || {
        Script::new().duplicate([0, 3, 4, 5, 999, SENT - 1])
    });
}

#[test]
fn reordering_has_the_extent_of_the_script() {
    found(&gentle(), || {
        Script::new()
            .hold([0, 400], 1)
            .hold([100], 5)
            .hold([200, 201], 30)
    });
}

#[test]
fn what_is_late_at_the_very_end_still_counts() {
    found(&gentle(), || Script::new().hold([SENT - 2], 50));
}

#[test]
fn damage_in_header_and_verified_bytes_is_found() {
    found(&gentle(), || {
        Script::new()
            .corrupt([10, 20, 30], 12)
            .corrupt([40, 50], 63)
    });
}

#[test]
fn all_faults_together_are_told_apart() {
    found(&gentle(), || {
        Script::new()
            .drop_exactly([0, 500, 501, 502, SENT - 1])
            .duplicate([90, 600])
            .hold([100, 300], 12)
            .corrupt([700], 40)
            .drop_every(97)
    });
}

#[test]
fn batches_of_every_mode_are_numbered_right() {
    for io in ["mmsg", "gso"] {
        if io == "gso" && !crate::modes::gso_works() {
            continue;
        }
        let fields = format!(r#""count":"300","size":"64","io":"{io}""#);
        let script = || {
            Script::new()
                .drop_exactly([0, 63, 64, 65, 299])
                .hold([127], 3)
                .duplicate([200])
        };
        let result = play_script(&options(&fields), script);
        Truth::of(&script(), 300).check(&result);
        assert_eq!(only_flow(&result).labels["io"], io);
    }
}

#[test]
fn damage_to_the_secret_number_makes_a_datagram_foreign() {
    let result = play_script(&gentle(), || Script::new().corrupt([5, 6], 3));
    let expected = [
        ("foreign_packets", 2.0),
        ("corrupted_packets", 0.0),
        ("missing_packets", 2.0),
    ];
    check(&result.summary, &expected);
}

#[test]
fn a_delay_is_found_in_every_round_trip() {
    const DELAY: Duration = Duration::from_millis(15);
    let options = options(r#""count":"1000","rate":"2k/s","size":"64","io":"plain""#);
    let result = undisturbed(|| {
        let mut play = Play::prepare(&options, &[[127, 0, 0, 1].into(); 2]).expect("prepare");
        let mut offers = play.offers();
        let (there, back) = (Script::new().delay(DELAY), Script::new().delay(DELAY));
        let relay = play.relay_both_ways(&mut offers, 1, there, back);
        let result = play.finish(&offers);
        (result, relay.counts().overflowed.is_some_and(|n| n > 0))
    });
    check(&result.summary, &[("missing_packets", 0.0)]);
    let rtt = &result.histograms["datagram.ack_rtt_seconds"];
    let both_ways = 2.0 * DELAY.as_secs_f64();
    // The distribution keeps three digits.
    assert!(rtt.min >= both_ways * 0.999, "{rtt:?}");
    // No holding time or clock difference is mixed in: that would be far more.
    assert!(rtt.p50 < both_ways + 0.2, "{rtt:?}");
    assert!(
        rtt.n >= 10,
        "one acknowledgement per 5 ms is asked for: {rtt:?}"
    );
}

#[test]
fn a_path_that_dies_carried_what_arrived_over_the_whole_load() {
    let options = options(r#""duration":"1s","rate":"1k/s","size":"64","io":"plain""#);
    let result = play_script(&options, || Script::new().drop_exactly(200..2000));
    let flow = only_flow(&result);
    let (sent, received) = (value(&flow.metrics, "sent_packets"), 200.0);
    check(
        &flow.metrics,
        &[
            ("received_packets", received),
            ("delivered_packets_per_second", received),
            ("delivered_bits_per_second", received * 64.0 * 8.0),
            ("sent_packets_per_second", sent),
            // The losses at the tail are one run.
            ("gaps", 1.0),
            ("gap_max_packets", sent - received),
        ],
    );
    let of = |name: &str| flow.metrics[name];
    assert_eq!(of("group.load_seconds"), 1.0);
    assert!(of("group.last_through_seconds") < 0.9);
    assert_eq!(
        flow.histograms["datagram.loss_run_packets"].max,
        sent - received
    );
    assert!(!flow.metrics.contains_key("datagram.gap_max_seconds"));
}
