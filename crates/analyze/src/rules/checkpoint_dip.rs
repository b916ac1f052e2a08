//! Fewer transactions per second while a checkpoint of the database was under way.
//!
//! The seconds of the phase are put in two heaps, with and without a checkpoint, and the generator's rate in one
//! is compared with that in the other.

use sokudo_model::metrics::postgres;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::database::Database;
use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Share of the looks within a second from which it is one with a checkpoint.
const UNDER_WAY: f64 = 0.5;
/// Rate with a checkpoint over the rate without, from which it is not a dip.
const DIP: f64 = 0.8;
/// Seconds that each heap must have.
const LEAST: usize = 3;
/// Standard errors that the difference must exceed.
const ERRORS: f64 = 3.0;

/// The finding `checkpoint_dip`.
pub const RULE: Rule = Rule {
    name: "checkpoint_dip",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[
        ("dip", DIP, Unit::Ratio),
        ("least", LEAST as f64, Unit::One),
    ],
    look: Look::Phase(look),
};

/// Rates of the seconds of one heap.
#[derive(Default)]
struct Heap(Vec<f64>);

impl Heap {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// Square of the standard error of the mean.
    fn doubt(&self) -> f64 {
        let (n, mean) = (self.0.len() as f64, self.mean());
        let squares = self.0.iter().map(|rate| (rate - mean).powi(2));
        squares.sum::<f64>() / (n - 1.0) / n
    }
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    let (with, without) = heaps(view, &database)?;
    if with.0.len() < LEAST || without.0.len() < LEAST {
        return None;
    }
    let (low, usual) = (with.mean(), without.mean());
    let doubt = (with.doubt() + without.doubt()).sqrt();
    if !(low <= usual * DIP && usual - low > ERRORS * doubt) {
        return None;
    }
    let share = with.0.len() as f64 / (with.0.len() + without.0.len()) as f64;
    let says = Text::new("rule-checkpoint-dip-says")
        .word("server", database.server)
        .number("low", low, Unit::PerSecond)
        .number("usual", usual, Unit::PerSecond)
        .number("share", share, Unit::Ratio);
    let lost = (1.0 - low / usual) * share;
    let mut finding = view.finding(RULE.name, Severity::Caution, lost.max(0.3), says);
    let metric = database.exchange.numbers.per_second;
    let host = view.flows().first()?.from.as_str();
    let mut rate = view.evidence("evidence-checkpoint-rate", metric, host, low);
    rate.says = rate.says.number("usual", usual, Unit::PerSecond);
    let requested = postgres::CHECKPOINTS_REQUESTED;
    let requested_n = database
        .series(requested)
        .find_map(|series| view.growth(series));
    finding.evidence = [
        database.row("evidence-checkpointing", postgres::CHECKPOINTING_RATIO),
        Some(rate),
        requested_n.map(|n| database.row_of("evidence-checkpoints-requested", requested, n)),
        database.row("evidence-full-pages", postgres::WAL_FULL_PAGES_PER_SECOND),
    ]
    .into_iter()
    .flatten()
    .collect();
    finding.next = Some(Text::new("rule-checkpoint-dip-next"));
    Some(finding)
}

/// The generator's rate in each second with a checkpoint, and in each one without.
fn heaps(view: &PhaseView<'_>, database: &Database<'_>) -> Option<(Heap, Heap)> {
    let (t0_ns, t1_ns) = (view.phase.t0_ns, view.phase.t1_ns);
    let checkpointing = database.series(postgres::CHECKPOINTING_RATIO).next()?;
    let (mut with, mut without) = (Heap::default(), Heap::default());
    for pair in checkpointing.points.windows(2) {
        let [(from_ns, _), (to_ns, share)] = [pair[0], pair[1]];
        // The first and the last second are not whole.
        if from_ns < t0_ns || to_ns > t1_ns {
            continue;
        }
        let Some(rate) = rate_between(view, database, from_ns, to_ns) else {
            continue;
        };
        match share >= UNDER_WAY {
            true => with.0.push(rate),
            false => without.0.push(rate),
        }
    }
    Some((with, without))
}

/// Transactions per second of all flows between two moments; `None` where there is no sample.
fn rate_between(
    view: &PhaseView<'_>,
    database: &Database<'_>,
    from_ns: i64,
    to_ns: i64,
) -> Option<f64> {
    let flows = view.series(None, database.exchange.numbers.per_second, &[]);
    let means = flows.filter_map(|series| {
        let points = series.points.iter();
        let within = points.filter(|(t_ns, _)| from_ns < *t_ns && *t_ns <= to_ns);
        let (n, sum) = within.fold((0.0, 0.0), |(n, sum), (_, rate)| (n + 1.0, sum + rate));
        (n > 0.0).then_some(sum / n)
    });
    means.reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    /// A checkpoint from 14 s to 17 s, with this rate in it and 1000/s around it.
    fn dipping(rate: f64) -> Transactions {
        let during = |second: i64| (15..=17).contains(&second);
        on_postgres(&[("CPU", 4.0)])
            .over_time("postgres.checkpointing_ratio", move |second| {
                f64::from(u8::from(during(second)))
            })
            .over_time("sql.transactions_per_second", move |second| {
                let wobble = (second % 2) as f64 * 20.0;
                wobble + if during(second) { rate } else { 1000.0 }
            })
    }

    #[test]
    fn a_rate_that_falls_with_the_checkpoint_is_told_and_noise_is_not() {
        told(
            &dipping(500.0).record,
            "checkpoint_dip",
            "rule-checkpoint-dip-says",
        );
        assert!(is_quiet(&dipping(950.0).record, "checkpoint_dip"));
    }
}
