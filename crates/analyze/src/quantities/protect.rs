//! Limits in front of the knee: what they cost, and where the users beyond the knee wait.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::target;
use sokudo_model::{Record, Text, Unit};
use sokudo_stats::capacity::protect::{Arm, Outcome, Protected, protected_of};

use super::capacity;
use crate::view::PhaseView;

/// Requests that wait on average, from which a queue holds the surplus.
const WAITING: f64 = 0.5;

/// Requests at each place, on average over the runs; `None`: not observed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Places {
    /// Completed connections that are not accepted yet.
    pub accept_queue: Option<f64>,
    /// Requests that wait for a thread.
    pub workers_queued: Option<f64>,
    /// Requests that wait for a connection to the database.
    pub pool_waiting: Option<f64>,
    /// Time of a thread for a request, seconds.
    pub service_s: Option<f64>,
}

/// The place where the surplus waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surplus {
    /// In front of the threads, where the limits want it.
    Threads,
    /// In the accept queue.
    Accept,
    /// Behind the threads, for a connection to the database.
    Pool,
    /// In no queue: users pause, or the server computes.
    Nowhere,
    /// The queues were not observed.
    Unknown,
}

/// Limits that were checked, with the places of the requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The runs.
    pub protected: Protected,
    /// Without the limits.
    pub before: Places,
    /// With them.
    pub after: Places,
}

/// The check of a record; `None` without one that gave numbers.
pub fn of(record: &Record) -> Option<Checked> {
    let (found, _) = capacity::of(record)?;
    let protected = protected_of(&record.manifest.phases, &found)?;
    let before = protected.before.as_ref().map(|arm| places(record, arm));
    Some(Checked {
        before: before.unwrap_or_default(),
        after: places(record, &protected.after),
        protected,
    })
}

fn places(record: &Record, arm: &Arm) -> Places {
    let phases = record.manifest.phases.iter();
    let of_arm = phases.filter(|phase| arm.phases.contains(&phase.name));
    let views: Vec<PhaseView<'_>> = of_arm.map(|phase| PhaseView::new(record, phase)).collect();
    let mean = |metric: Metric| {
        let each = views.iter();
        let each = each.filter_map(|view| Some(view.highest_mean(None, metric, &[])?.1));
        let (sum, n) = each.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    };
    Places {
        accept_queue: mean(target::ACCEPT_QUEUE_DEPTH),
        workers_queued: mean(target::WORKERS_QUEUED),
        pool_waiting: mean(target::POOL_WAITING),
        service_s: mean(target::WORKERS_SERVICE_SECONDS_MEAN),
    }
}

impl Places {
    /// Place of the surplus: the fullest queue.
    pub fn surplus(&self) -> Surplus {
        let queues = [
            (self.workers_queued, Surplus::Threads),
            (self.accept_queue, Surplus::Accept),
            (self.pool_waiting, Surplus::Pool),
        ];
        let known = queues
            .iter()
            .filter_map(|(n, place)| Some((*n.as_ref()?, *place)));
        match known.max_by(|a, b| a.0.total_cmp(&b.0)) {
            None => Surplus::Unknown,
            Some((waiting, place)) if waiting >= WAITING => place,
            Some(_) => Surplus::Nowhere,
        }
    }
}

/// Cost of the limits, place where the surplus waits, and the result without them.
pub fn says(checked: &Checked) -> Vec<Text> {
    let Checked {
        protected,
        before,
        after,
    } = checked;
    let level = &protected.after.level;
    let cause = match protected.outcome() {
        Outcome::Kept => cause(after),
        Outcome::Throughput => Text::new("protect-throughput"),
        Outcome::Errors => {
            Text::new("protect-errors").number("errors", protected.after.errors, Unit::Ratio)
        }
        Outcome::Response => {
            Text::new("protect-response").number("expected", protected.expected_s, Unit::Seconds)
        }
    };
    let limits = protected.limits;
    let first = Text::new("verdict-protect")
        .number("rate", level.per_second(), Unit::PerSecond)
        .number("kept", protected.kept(), Unit::Ratio)
        .number("users", protected.users, Unit::One)
        .word("workers", limits.workers.to_string())
        .word("open", limits.open.to_string())
        .number("response", level.response_s(), Unit::Seconds)
        .number("expected", protected.expected_s, Unit::Seconds)
        .text("cause", cause);
    let mut out = vec![first];
    out.extend(without(protected.before.as_ref(), before, after));
    out
}

/// The sentence about the place where the surplus waits.
fn cause(places: &Places) -> Text {
    let key = match places.surplus() {
        Surplus::Threads => "protect-threads",
        Surplus::Accept => "protect-accept",
        Surplus::Pool => "protect-pool",
        Surplus::Nowhere => "protect-nowhere",
        Surplus::Unknown => "protect-unknown",
    };
    Text::new(key)
        .number("queued", places.workers_queued.unwrap_or(0.0), Unit::One)
        .number("accept", places.accept_queue.unwrap_or(0.0), Unit::One)
        .number("pool", places.pool_waiting.unwrap_or(0.0), Unit::One)
}

/// The runs without the limits, beside those with them.
fn without(arm: Option<&Arm>, before: &Places, after: &Places) -> Option<Text> {
    let level = &arm?.level;
    let (before_s, after_s) = (before.service_s?, after.service_s?);
    Some(
        Text::new("verdict-protect-without")
            .number("rate", level.per_second(), Unit::PerSecond)
            .number("response", level.response_s(), Unit::Seconds)
            .number("before", before_s, Unit::Seconds)
            .number("after", after_s, Unit::Seconds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_queue_holds_the_surplus() {
        let places = |accept, queued, pool| Places {
            accept_queue: accept,
            workers_queued: queued,
            pool_waiting: pool,
            service_s: None,
        };
        for (places, surplus) in [
            (places(Some(0.0), Some(19.0), Some(0.0)), Surplus::Threads),
            (places(Some(9.0), Some(2.0), Some(0.0)), Surplus::Accept),
            (places(None, Some(2.0), Some(8.0)), Surplus::Pool),
            (places(None, Some(0.1), Some(0.2)), Surplus::Nowhere),
            (places(None, None, None), Surplus::Unknown),
        ] {
            assert_eq!(places.surplus(), surplus, "{places:?}");
        }
    }
}
