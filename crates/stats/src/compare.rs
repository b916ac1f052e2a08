//! The difference between two groups of runs, and how sure it is.
//!
//! The difference is the median of all differences between a run of one group and a run of the other; its
//! interval lies between two of them, by the distribution of the number of pairs in which the later one is
//! larger (Hodges and Lehmann; Hollander and Wolfe, "Nonparametric Statistical Methods", section 4). Nothing
//! is assumed of the shape of the distributions but that the runs are independent.

use crate::interval::{Interval, LEVEL, of_median};
use crate::versus::median;

/// Runs of a group at most: the exact distribution takes the cube of them to compute.
pub const MAX_RUNS: usize = 50;
/// Runs of each group from which an interval can reach [`LEVEL`].
pub const ENOUGH_RUNS: usize = 4;
/// The same of rounds, where both groups were measured in turns.
pub const ENOUGH_ROUNDS: usize = 6;

/// Scale of a difference between two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// As a factor, less 1: rates and times.
    Relative,
    /// As a difference: shares, which may be 0.
    Absolute,
}

/// A difference between two groups, in the unit of its [`Scale`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The difference: above 0 when the second group is larger.
    pub change: f64,
    /// Its interval; `None` for one run each.
    pub interval: Option<Interval>,
}

/// Conclusion about a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The second group is better.
    Better,
    /// It is worse.
    Worse,
    /// The runs show no difference; there may be one all the same.
    NotShown,
}

impl Verdict {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotShown => "no difference shown",
        }
    }
}

impl Scale {
    fn change(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Relative => other / one - 1.0,
            Self::Absolute => other - one,
        }
    }

    fn is_usable(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Absolute || value > 0.0)
    }
}

/// The difference between two groups that were measured in turns: the median of the differences within each
/// round. What changes from round to round, such as the machine, is in both and cancels.
///
/// `None` without a round in which both have a value.
pub fn difference_in_turns(before: &[f64], after: &[f64], scale: Scale) -> Option<Difference> {
    let rounds = before.iter().zip(after).take(MAX_RUNS);
    let usable = rounds.filter(|(one, other)| scale.is_usable(**one) && scale.is_usable(**other));
    let changes: Vec<f64> = usable
        .map(|(one, other)| scale.change(*one, *other))
        .collect();
    (!changes.is_empty()).then(|| Difference {
        change: median(&changes),
        interval: of_median(&changes),
    })
}

/// The difference between two groups of runs, of [`MAX_RUNS`] at most; `None` when one has no value, or
/// one that has no factor.
pub fn difference(before: &[f64], after: &[f64], scale: Scale) -> Option<Difference> {
    let usable = |value: &&f64| scale.is_usable(**value);
    let pick = |values: &[f64]| -> Vec<f64> {
        let usable = values.iter().filter(usable).take(MAX_RUNS);
        usable.copied().collect()
    };
    let (before, after) = (pick(before), pick(after));
    let pairs = before.iter();
    let mut all: Vec<f64> = pairs
        .flat_map(|one| after.iter().map(move |other| scale.change(*one, *other)))
        .collect();
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    let change = match all.len() {
        0 => return None,
        n if n % 2 == 1 => all[middle],
        _ => (all[middle - 1] + all[middle]) / 2.0,
    };
    let interval = ends(before.len(), after.len()).map(|(rank, confidence)| Interval {
        low: all[rank - 1],
        high: all[all.len() - rank],
        confidence,
    });
    Some(Difference { change, interval })
}

/// Rank of the interval's lower end, from 1, and the confidence of the interval; `None` for one run each.
fn ends(n: usize, m: usize) -> Option<(usize, f64)> {
    if n * m < 2 {
        return None;
    }
    let chances = chances(n, m);
    let mut below = chances[0];
    let mut rank = 1;
    while below + chances[rank] <= (1.0 - LEVEL) / 2.0 {
        below += chances[rank];
        rank += 1;
    }
    Some((rank, 1.0 - 2.0 * below))
}

/// Probability of each number of pairs in which the run of the second group is larger, when the groups do
/// not differ.
fn chances(n: usize, m: usize) -> Vec<f64> {
    // The largest run of all is one of the first group or one of the second, which is above all `i`
    // others.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let mut own = vec![0.0; i * j + 1];
            let (first, second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            for (u, chance) in rows[j].iter().enumerate() {
                own[u] += first * chance;
            }
            for (u, chance) in next[j - 1].iter().enumerate() {
                own[u + i] += second * chance;
            }
            next.push(own);
        }
        rows = next;
    }
    rows.swap_remove(m)
}

impl Difference {
    /// The conclusion: a difference of at least `least` whose interval has 0 outside, with the confidence
    /// that is aimed at.
    pub fn verdict(&self, more_is_better: bool, least: f64) -> Verdict {
        let sure = self.interval.filter(|it| it.confidence >= LEVEL);
        let apart = sure.is_some_and(|it| it.low > 0.0 || it.high < 0.0);
        match apart && self.change.abs() >= least {
            true if (self.change > 0.0) == more_is_better => Verdict::Better,
            true => Verdict::Worse,
            false => Verdict::NotShown,
        }
    }
}

/// The least difference that counts where the same thing was measured twice: at least `asked`, and as large as the
/// difference between those two may be. Without their interval nothing smaller than any difference counts.
pub fn least_beside(same: Option<&Difference>, asked: f64) -> f64 {
    let interval = same.and_then(|same| same.interval);
    let widest = interval.map_or(f64::INFINITY, |it| it.low.abs().max(it.high.abs()));
    widest.max(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_follows_from_the_number_of_runs() {
        assert_eq!(ends(1, 1), None);
        let cases = [
            (3, 3, 1, 0.9),
            (4, 4, 1, 1.0 - 2.0 / 70.0),
            (5, 5, 3, 0.968),
        ];
        for (n, m, rank, confidence) in cases {
            let (found, sure) = ends(n, m).expect("an interval");
            assert_eq!(found, rank, "{n} and {m}");
            assert!((sure - confidence).abs() < 1e-3, "{n} and {m}: {sure}");
        }
        for (n, m) in [(1, 2), (2, 9), (7, 4), (20, 20)] {
            let sum: f64 = chances(n, m).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
        assert!(ends(ENOUGH_RUNS, ENOUGH_RUNS).is_some_and(|(_, sure)| sure >= LEVEL));
    }

    #[test]
    fn a_difference_is_worse_better_or_not_shown() {
        let before = [100.0, 101.0, 99.0, 100.5, 99.5];
        let slower: Vec<f64> = before.iter().map(|v| v * 0.8).collect();
        let found = difference(&before, &slower, Scale::Relative).expect("a difference");
        assert!((found.change + 0.2).abs() < 0.01, "{found:?}");
        assert_eq!(found.verdict(true, 0.05), Verdict::Worse);
        assert_eq!(found.verdict(false, 0.05), Verdict::Better);
        assert_eq!(
            found.verdict(true, 0.3),
            Verdict::NotShown,
            "below the least effect"
        );
        let same = difference(&before, &before, Scale::Relative).expect("a difference");
        assert_eq!(same.verdict(true, 0.0), Verdict::NotShown);
        let few = difference(&before[..2], &slower[..2], Scale::Relative).expect("a difference");
        assert_eq!(
            few.verdict(true, 0.05),
            Verdict::NotShown,
            "too few runs to be sure"
        );
        let one = difference(&[1.0], &[2.0], Scale::Relative).expect("a difference");
        assert_eq!((one.change, one.interval), (1.0, None));
    }

    #[test]
    fn shares_differ_by_their_difference() {
        let found = difference(&[0.0; 5], &[0.02; 5], Scale::Absolute).expect("a difference");
        assert_eq!(
            (found.change, found.verdict(false, 0.001)),
            (0.02, Verdict::Worse)
        );
        assert_eq!(difference(&[0.0; 5], &[0.02; 5], Scale::Relative), None);
        assert_eq!(difference(&[f64::NAN], &[1.0], Scale::Absolute), None);
    }

    /// Two groups of the same distribution count as different in at most one case of twenty.
    #[test]
    fn groups_that_do_not_differ_are_seldom_told_apart() {
        let mut state = 7u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            1.0 + (state >> 40) as f64 / f64::from(1u32 << 24)
        };
        let mut told = 0;
        for _ in 0..2000 {
            let [a, b] = [0, 1].map(|_| [0; 6].map(|_| draw()));
            let found = difference(&a, &b, Scale::Relative).expect("a difference");
            told += u32::from(found.verdict(true, 0.0) != Verdict::NotShown);
        }
        assert!(told <= 2000 / 20, "{told}");
    }

    /// Transactions per second of a database on a machine that others shared, one run each: the default settings,
    /// four others, and the default again, which gave 27 % less than before.
    const ONE_AFTER_THE_OTHER: [(&str, f64); 5] = [
        ("default", 1904.0),
        ("synchronous_commit=off", 3966.0),
        ("max_wal_size, wal_compression, commit_delay", 1863.0),
        ("shared_buffers", 1244.0),
        ("default again", 1387.0),
    ];

    /// The same settings in turns, in an order that is drawn for each round, while the machine drifts by as much.
    #[test]
    fn of_settings_on_a_machine_that_drifts_only_the_real_difference_stands_out() {
        const ROUNDS: usize = 6;
        let mut state = 11u64;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) as usize) % below
        };
        let drift = 1387.0 / 1904.0;
        // What each of them does when nothing else changes: of those differences one is real.
        let truth = [1904.0, 3966.0, 1904.0, 1904.0, 1904.0];
        let mut runs = [const { Vec::new() }; 5];
        let mut slot = 0;
        for _ in 0..ROUNDS {
            let mut order = [0, 1, 2, 3, 4];
            for at in (1..order.len()).rev() {
                order.swap(at, draw(at + 1));
            }
            for side in order {
                // The machine becomes slower and faster again over the whole measurement.
                let phase = slot as f64 / (5 * ROUNDS) as f64 * std::f64::consts::TAU;
                let speed = drift + (1.0 - drift) * f64::midpoint(phase.cos(), 1.0);
                runs[side].push(truth[side] * speed * (0.98 + draw(5) as f64 * 0.01));
                slot += 1;
            }
        }
        let against = |side: usize| difference_in_turns(&runs[0], &runs[side], Scale::Relative);
        let same = against(4).expect("a difference");
        assert_eq!(same.verdict(true, 0.05), Verdict::NotShown, "{same:?}");
        let least = least_beside(Some(&same), 0.05);
        let told: Vec<&str> = (1..4)
            .filter(|side| {
                let found = against(*side).expect("a difference");
                found.verdict(true, least) != Verdict::NotShown
            })
            .map(|side| ONE_AFTER_THE_OTHER[side].0)
            .collect();
        assert_eq!(told, ["synchronous_commit=off"]);
        let enough = ENOUGH_ROUNDS;
        let few = difference_in_turns(&runs[0][1..], &runs[1][1..], Scale::Relative);
        assert_eq!(runs[0].len(), enough);
        let few = few.expect("a difference").verdict(true, 0.05);
        assert_eq!(few, Verdict::NotShown, "less rounds than {enough}");
    }

    #[test]
    fn one_run_of_each_tells_nothing_however_far_apart() {
        let of = |side: usize| [ONE_AFTER_THE_OTHER[side].1];
        let same = difference_in_turns(&of(0), &of(4), Scale::Relative);
        let least = least_beside(same.as_ref(), 0.05);
        for side in 1..4 {
            let found =
                difference_in_turns(&of(0), &of(side), Scale::Relative).expect("a difference");
            assert_eq!(found.verdict(true, least), Verdict::NotShown);
        }
        let drift = same.expect("a difference").change;
        assert!((drift + 0.27).abs() < 0.005, "{drift}");
    }
}
