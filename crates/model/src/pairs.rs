//! Results of a check of a group by pair of hosts.
//!
//! A check of a group lets every host meet every other one, layer by layer: its phases carry the label
//! [`ROUND`]. Here they are folded by pair.

use std::collections::{BTreeMap, BTreeSet};

use crate::expect::Expectation;
use crate::kinds::{KINDS, Kind, PairFigure};
use crate::manifest::PhaseRecord;
use crate::metric::Unit;
use crate::summary::{FlowResult, PhaseResult};

/// Label of the phases in which pairs meet: number of the round.
pub const ROUND: &str = "round";
/// Label of the number of hosts of the group, whether they met or not.
pub const HOSTS: &str = "hosts";
/// Label of what is expected of every pair.
pub const EXPECT: &str = "expect";
/// Label of a pair that met once more, while all others were quiet.
pub const ALONE: &str = "alone";

/// Label of phases in which all hosts of a group load each other at once.
pub const MESH: &str = "mesh";

/// Name of the expected payload of a connection, beside `p99` or `loss`.
pub const PAYLOAD: &str = "payload";

/// The numbers that describe a pair, in the order of the layers.
pub fn figures() -> impl Iterator<Item = &'static PairFigure> {
    KINDS.iter().flat_map(|kind| kind.pair_figures)
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// Layer that measured it.
    pub layer: String,
    /// Expected quantity: [`PAYLOAD`], or the word of a bound.
    pub what: &'static str,
    /// Measured value; `None` when it could not be measured.
    pub measured: Option<f64>,
    /// The least payload, bits per second, or the most of a bound: seconds or a share.
    pub limit: f64,
    /// Value of the pair in a second measurement, while all others were quiet.
    pub alone: Option<f64>,
}

/// One host towards another, over all layers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pair {
    /// The host that sends or asks.
    pub from: String,
    /// The host that receives or answers.
    pub to: String,
    /// Names of [`figures`] → value.
    pub figures: BTreeMap<String, f64>,
    /// Layers in which it met, dead or alive.
    pub layers: BTreeSet<String>,
    /// Layers in which nothing arrived, with the reason where one is known.
    pub dead: BTreeMap<String, Option<String>>,
    /// Expectations that were not met.
    pub broken: Vec<Broken>,
}

impl Pair {
    /// True when data arrived in every layer and every expectation was met.
    pub fn holds(&self) -> bool {
        self.dead.is_empty() && self.broken.is_empty()
    }
}

/// True for a phase in which pairs of a group meet.
pub fn is_round(phase: &PhaseRecord) -> bool {
    phase.labels.contains_key(ROUND)
}

/// Number of hosts of the group that is checked, whether all of them met or not; `None` for other runs.
pub fn hosts(phases: &[PhaseRecord]) -> Option<usize> {
    let mut told = phases.iter().filter_map(|phase| phase.labels.get(HOSTS));
    told.next()?.parse().ok()
}

/// True for a phase in which all hosts of a group load each other at once.
pub fn is_mesh(phase: &PhaseRecord) -> bool {
    phase.labels.contains_key(MESH)
}

/// The expectations that one flow of a layer did not meet.
///
/// A line rate is expected of workloads that fill a path, a latency of those that send little, loss where
/// data can be lost, errors where requests are answered: see [`Kind::expects`].
pub fn broken(expected: &Expectation, kind: &Kind, flow: &FlowResult) -> Vec<Broken> {
    let mut out = Vec::new();
    let missed = |what, measured: Option<f64>, limit| Broken {
        layer: kind.name.to_owned(),
        what,
        measured,
        limit,
        alone: None,
    };
    let line = expected.payload_bits_per_s().zip(kind.expects.line_rate);
    if let Some((least, payload)) = line {
        let carried = payload.of(&flow.metrics);
        if carried.is_none_or(|bits| bits < least) {
            out.push(missed(PAYLOAD, carried, least));
        }
    }
    let Some(curve) = &kind.curve else {
        return out;
    };
    let result = as_result(flow);
    for bound in expected.bounds() {
        if kind.expects.asks(bound) && bound.used(curve, &result) > 1.0 {
            out.push(missed(
                bound.what,
                bound.measured(curve, &result),
                bound.limit,
            ));
        }
    }
    out
}

/// One part of what is expected of every pair, and how all of them did.
#[derive(Debug, Clone, PartialEq)]
pub struct PairExpectation {
    /// As it is typed: `1Gb/s`, `p99<1ms`.
    pub typed: String,
    /// Unit of the measured values.
    pub unit: Unit,
    /// The worst measured value and its pair, `hosta → hostb`; `None` when no pair has one.
    pub worst: Option<(f64, String)>,
    /// Pairs that had to keep it.
    pub pairs: usize,
    /// Those that did not, or of which it could not be measured.
    pub missed: usize,
}

/// Each part of what is expected of the pairs; nothing where nothing is.
pub fn asked(phases: &[PhaseRecord]) -> Vec<PairExpectation> {
    let met = |phase: &&PhaseRecord| is_round(phase) && !phase.labels.contains_key(ALONE);
    let rounds: Vec<&PhaseRecord> = phases.iter().filter(met).collect();
    let mut texts = rounds.iter().filter_map(|phase| phase.labels.get(EXPECT));
    let expected = texts.next().and_then(|text| text.parse().ok());
    let expected: Expectation = expected.unwrap_or_default();
    let least = expected.payload_bits_per_s();
    let line = expected.line_typed().zip(least).map(|(typed, least)| {
        over(&rounds, typed, Unit::BitsPerSecond, |kind, flow| {
            let bits = kind.expects.line_rate?.of(&flow.metrics);
            Some((bits, bits.map_or(f64::MAX, |bits| least / bits)))
        })
    });
    let bounds = expected.bounds().map(|bound| {
        over(&rounds, bound.to_string(), bound.unit(), |kind, flow| {
            let curve = kind.curve.filter(|_| kind.expects.asks(bound))?;
            let result = as_result(flow);
            Some((bound.measured(&curve, &result), bound.used(&curve, &result)))
        })
    });
    line.into_iter().chain(bounds).collect()
}

/// One part over all flows of the rounds. `of` gives the measured value of a flow and its share of
/// what is allowed, above 1 when the part is missed; `None` for a layer that does not measure it.
fn over(
    rounds: &[&PhaseRecord],
    typed: String,
    unit: Unit,
    of: impl Fn(&Kind, &FlowResult) -> Option<(Option<f64>, f64)>,
) -> PairExpectation {
    let mut worst: Option<(f64, f64, &FlowResult)> = None;
    let (mut pairs, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for phase in rounds {
        let Some(kind) = phase.kind() else { continue };
        for flow in &phase.result.flows {
            let Some((measured, used)) = of(kind, flow) else {
                continue;
            };
            pairs.insert((&flow.from, &flow.to));
            let known = measured.filter(|_| !kind.is_dead(flow));
            if known.is_none() || used > 1.0 {
                missed.insert((&flow.from, &flow.to));
            }
            let is_worse = worst.is_none_or(|(most, ..)| used > most);
            if let Some(value) = known.filter(|_| is_worse) {
                worst = Some((used, value, flow));
            }
        }
    }
    PairExpectation {
        typed,
        unit,
        worst: worst.map(|(_, value, flow)| (value, format!("{} → {}", flow.from, flow.to))),
        pairs: pairs.len(),
        missed: missed.len(),
    }
}

fn as_result(flow: &FlowResult) -> PhaseResult {
    PhaseResult {
        summary: flow.metrics.clone(),
        histograms: flow.histograms.clone(),
        flows: Vec::new(),
    }
}

/// All pairs of the phases that are rounds, by sender and receiver; empty for other runs.
pub fn pairs(phases: &[PhaseRecord]) -> Vec<Pair> {
    let mut found: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for phase in phases.iter().filter(|phase| is_round(phase)) {
        // A workload without a kind has no numbers that could be compared.
        let Some(kind) = phase.kind() else { continue };
        let expected = phase.labels.get(EXPECT).and_then(|text| text.parse().ok());
        for flow in &phase.result.flows {
            let pair = found.entry((&flow.from, &flow.to)).or_insert_with(|| Pair {
                from: flow.from.clone(),
                to: flow.to.clone(),
                ..Pair::default()
            });
            pair.layers.insert(kind.name.into());
            match phase.labels.contains_key(ALONE) {
                true => again(pair, kind, flow),
                false => meet(pair, kind, flow, expected.as_ref()),
            }
        }
    }
    found.into_values().collect()
}

fn meet(pair: &mut Pair, kind: &Kind, flow: &FlowResult, expected: Option<&Expectation>) {
    if kind.is_dead(flow) {
        let why = ["error", "server_error"].map(|name| flow.labels.get(name).cloned());
        pair.dead
            .insert(kind.name.into(), why.into_iter().flatten().next());
        return;
    }
    let own = kind.pair_figures.iter();
    let values = own.filter_map(|figure| Some((figure.name(), figure.of(flow)?)));
    pair.figures.extend(values);
    pair.broken.extend(
        expected
            .into_iter()
            .flat_map(|expected| broken(expected, kind, flow)),
    );
}

/// Adds what a pair reached alone to the expectations that it missed while others were active.
fn again(pair: &mut Pair, kind: &Kind, flow: &FlowResult) {
    let result = as_result(flow);
    for broken in pair
        .broken
        .iter_mut()
        .filter(|broken| broken.layer == kind.name)
    {
        broken.alone = match broken.what {
            PAYLOAD => kind.expects.line_rate.and_then(|m| m.of(&flow.metrics)),
            what => kind.curve.and_then(|curve| {
                let share = curve.share(&result, what);
                share.or_else(|| curve.latency_s(&result, what))
            }),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{self, datagram, rr, stream as bulk};
    use crate::metric::Stat;
    use crate::summary::HistogramSummary;

    fn stream(from: &str, to: &str, bits: Option<f64>) -> FlowResult {
        FlowResult {
            from: from.into(),
            to: to.into(),
            metrics: match bits {
                Some(bits) => [
                    (bulk::RECEIVED_BYTES.into(), 1.0),
                    (bulk::GOODPUT_BITS_PER_SECOND.into(), bits),
                ]
                .into(),
                None => Default::default(),
            },
            complete: bits.is_some(),
            ..FlowResult::default()
        }
    }

    fn phase(workload: &str, labels: &[(&str, &str)], flows: Vec<FlowResult>) -> PhaseRecord {
        let owned = labels.iter().map(|(k, v)| ((*k).into(), (*v).into()));
        let result = PhaseResult {
            flows,
            ..PhaseResult::default()
        };
        PhaseRecord {
            labels: owned.collect(),
            ..PhaseRecord::plain("p", workload, (0, 1), result)
        }
    }

    #[test]
    fn a_slow_pair_breaks_a_line_rate_and_is_told_what_it_can_do_alone() {
        let labels = [(ROUND, "1"), (EXPECT, "1Gb/s")];
        let alone = [(ROUND, "1"), (EXPECT, "1Gb/s"), (ALONE, "yes")];
        let phases = [
            phase(
                "stream",
                &labels,
                vec![stream("a", "b", Some(9.4e8)), stream("c", "d", Some(4e8))],
            ),
            phase("stream", &alone, vec![stream("c", "d", Some(9.3e8))]),
        ];
        let pairs = pairs(&phases);
        assert!(pairs[0].holds());
        let broken = &pairs[1].broken[0];
        assert_eq!((broken.what, broken.measured), (PAYLOAD, Some(4e8)));
        assert_eq!((broken.limit, broken.alone), (9e8, Some(9.3e8)));
    }

    #[test]
    fn nothing_that_came_through_is_dead_and_not_slow() {
        let mut flow = stream("a", "b", None);
        flow.labels.insert("error".into(), "refused".into());
        let labels = [(ROUND, "1"), (EXPECT, "1Gb/s")];
        let pairs = pairs(&[phase("stream", &labels, vec![flow])]);
        assert_eq!(pairs[0].dead["stream"].as_deref(), Some("refused"));
        assert!(pairs[0].broken.is_empty() && !pairs[0].holds());
    }

    #[test]
    fn bounds_are_asked_of_the_layers_that_can_tell() {
        let expected: Expectation = "p99<1ms,loss<0.1%,errors<1%".parse().unwrap();
        let p99 = |seconds| HistogramSummary {
            p99: seconds,
            ..HistogramSummary::default()
        };
        let flow = FlowResult {
            metrics: [
                (rr::ERROR_RATIO.into(), 0.5),
                (datagram::LOSS_RATIO.into(), 0.2),
            ]
            .into(),
            histograms: [(rr::LATENCY_SECONDS.into(), p99(0.002))].into(),
            ..FlowResult::default()
        };
        let whats = |layer| -> Vec<&str> {
            broken(&expected, kinds::find(layer).expect("a kind"), &flow)
                .iter()
                .map(|b| b.what)
                .collect()
        };
        assert_eq!(whats("rr"), ["p99", "errors"]);
        assert_eq!(whats("datagram"), ["loss"]);
        assert!(whats("stream").is_empty());
        let p99 = figures().find(|figure| figure.name() == rr::LATENCY_SECONDS.stat(Stat::P99));
        assert_eq!(p99.and_then(|figure| figure.of(&flow)), Some(0.002));
    }

    #[test]
    fn each_part_of_an_expectation_has_its_worst_pair() {
        let labels = [(ROUND, "1"), (EXPECT, "1Gb/s,p99<1ms")];
        let flows = vec![
            stream("a", "b", Some(9.4e8)),
            stream("b", "a", Some(4e8)),
            stream("b", "c", None),
        ];
        let parts = asked(&[phase("stream", &labels, flows)]);
        let line = &parts[0];
        assert_eq!(
            (line.typed.as_str(), line.pairs, line.missed),
            ("1Gb/s", 3, 2)
        );
        assert_eq!(line.worst, Some((4e8, "b → a".to_owned())));
        // No layer measured a latency: nothing says that it was kept.
        assert_eq!((parts[1].pairs, parts[1].worst.clone()), (0, None));
        assert!(asked(&[phase("stream", &[(ROUND, "1")], Vec::new())]).is_empty());
    }

    #[test]
    fn other_runs_have_no_pairs() {
        assert!(pairs(&[phase("stream", &[], vec![stream("a", "b", Some(1.0))])]).is_empty());
    }
}
