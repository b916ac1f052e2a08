//! The part of a load in which something got through, where it is shorter than the load.
//!
//! Rates are counted over the whole load. Where nothing got through for a good part of it, they are below the
//! rate while things went well, and the reader is told when that was.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::group;
use sokudo_model::{FlowResult, Text, Unit, kinds};

use crate::view::PhaseView;

/// Share of the load for which nothing got through from which it is told: rates over the load and over the
/// rest of it differ by as much.
const TOLD: f64 = 0.05;
/// Usual distances between two things that got through from which a silence is not one of them.
const USUAL: f64 = 5.0;

/// The flow of a phase that was silent for longest at the begin or the end of its load.
#[derive(Debug, Clone, Copy)]
pub struct Stopped<'a> {
    flow: &'a FlowResult,
    /// Seconds at the begin and at the end of the load without anything.
    head: f64,
    tail: f64,
    load: f64,
    /// Flows that were silent, and all.
    count: (usize, usize),
}

impl<'a> Stopped<'a> {
    /// The silence of the flows; `None` when each carried something all the time, or nothing at all.
    pub fn of(view: &PhaseView<'a>) -> Option<Self> {
        let flows = || view.flows().iter().filter(|flow| stands_alone(view, flow));
        let silent = || flows().filter_map(|flow| Self::of_flow(view, flow));
        let longest = silent().max_by(|a, b| a.silence().total_cmp(&b.silence()))?;
        let count = (silent().count(), flows().count());
        if count.0 < count.1 {
            return Some(Self { count, ..longest });
        }
        // What holds of all flows together.
        let least = |of: fn(&Self) -> f64| silent().map(|one| of(&one)).fold(f64::MAX, f64::min);
        let (head, tail) = (least(|one| one.head), least(|one| one.tail));
        match head + tail > 0.0 {
            true => Some(Self {
                head,
                tail,
                count: (1, 1),
                ..longest
            }),
            false => Some(Self { count, ..longest }),
        }
    }

    fn of_flow(view: &PhaseView<'_>, flow: &'a FlowResult) -> Option<Self> {
        let of = |metric: Metric| metric.of(&flow.metrics);
        let (first, last) = (
            of(group::FIRST_THROUGH_SECONDS)?,
            of(group::LAST_THROUGH_SECONDS)?,
        );
        let load = of(group::LOAD_SECONDS)?;
        let kind = kinds::of_metrics(&flow.metrics).or(view.kind())?;
        let done = of(kind.done).or_else(|| view.total(kind.done))?;
        let usual = (done > 1.0).then(|| (last - first) / (done - 1.0))?;
        let least = (load * TOLD).max(usual * USUAL);
        let told = |silence: f64| if silence > least { silence } else { 0.0 };
        let (head, tail) = (told(first), told(load - last));
        (head + tail > 0.0).then_some(Self {
            flow,
            head,
            tail,
            load,
            count: (1, 1),
        })
    }

    fn silence(&self) -> f64 {
        self.head + self.tail
    }

    /// Sentence that says when it was.
    pub fn says(&self) -> Text {
        let key = match (self.count, self.head > 0.0, self.tail > 0.0) {
            ((_, 2..), _, _) => "verdict-stopped-flows",
            (_, true, true) => "verdict-stopped-both",
            (_, true, false) => "verdict-stopped-head",
            (_, false, _) => "verdict-stopped-tail",
        };
        Text::new(key)
            .word("from", &self.flow.from)
            .word("to", &self.flow.to)
            .number("count", self.count.0 as f64, Unit::One)
            .number("flows", self.count.1 as f64, Unit::One)
            .number("first", self.head, Unit::Seconds)
            .number("last", self.load - self.tail, Unit::Seconds)
            .number("load", self.load, Unit::Seconds)
    }
}

/// True for a flow whose silence is one of the load. The requests of one label of a test plan may belong to a
/// part of the test: there the generators tell. Flows that take turns wait for each other.
fn stands_alone(view: &PhaseView<'_>, flow: &FlowResult) -> bool {
    if view.kind().is_some_and(|kind| kind.takes_turns) {
        return false;
    }
    let is_plan = view.kind().is_some_and(|kind| kind.is_plan);
    !is_plan
        || flow
            .labels
            .get("kind")
            .is_some_and(|kind| kind == "generator")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    /// A flow of 1000 datagrams of which the first and the last arrived then, in a load of 5 s.
    fn arrived(first: f64, last: f64) -> FlowResult {
        let mut one = flow(&[("received_packets", 1000.0)]);
        for (metric, seconds) in [
            (group::LOAD_SECONDS, 5.0),
            (group::FIRST_THROUGH_SECONDS, first),
            (group::LAST_THROUGH_SECONDS, last),
        ] {
            one.metrics.insert(metric.into(), seconds);
        }
        one
    }

    fn says(flows: Vec<FlowResult>) -> Option<Text> {
        let mut record = empty();
        record.manifest.phases.push(phase("p2p", flows));
        let view = PhaseView::new(&record, &record.manifest.phases[0]);
        Stopped::of(&view).map(|stopped| stopped.says())
    }

    #[track_caller]
    fn check(flows: Vec<FlowResult>, key: &str, numbers: &[(&str, f64)]) {
        let says = says(flows).expect("it is told");
        assert_eq!(says.key, key);
        for (name, seconds) in numbers {
            assert_eq!(
                says.args[*name],
                Arg::Number(*seconds, Unit::Seconds),
                "{name}"
            );
        }
    }

    #[test]
    fn a_load_that_stopped_part_way_is_told_with_the_moment() {
        check(
            vec![arrived(0.0, 1.0)],
            "verdict-stopped-tail",
            &[("last", 1.0), ("load", 5.0)],
        );
        check(
            vec![arrived(2.0, 5.0)],
            "verdict-stopped-head",
            &[("first", 2.0)],
        );
        check(
            vec![arrived(2.0, 3.0)],
            "verdict-stopped-both",
            &[("first", 2.0), ("last", 3.0)],
        );
        let some = vec![arrived(0.0, 5.0), arrived(0.0, 1.0)];
        check(some, "verdict-stopped-flows", &[("last", 1.0)]);
        // What holds of both.
        let all = vec![arrived(0.0, 2.0), arrived(0.0, 1.0)];
        check(all, "verdict-stopped-tail", &[("last", 2.0)]);
    }

    #[test]
    fn the_usual_distance_between_two_answers_is_no_silence() {
        assert_eq!(says(vec![arrived(0.1, 4.9)]), None);
        let mut seldom = arrived(0.0, 4.0);
        let name = String::from(sokudo_model::kinds::datagram::RECEIVED_PACKETS);
        seldom.metrics.insert(name, 5.0);
        assert_eq!(says(vec![seldom]), None);
    }
}
