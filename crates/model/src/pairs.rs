//! Which pairs of hosts get on with each other, and which do not?
//!
//! A check of a group lets every host meet every other one, layer by layer: its phases carry the label
//! [`ROUND`]. Folded by pair, they answer the question.

use std::collections::BTreeMap;

use crate::expect::Expectation;
use crate::load::names_of;
use crate::manifest::PhaseRecord;
use crate::summary::{FlowResult, PhaseResult};

/// Label of the phases in which pairs meet: number of the round.
pub const ROUND: &str = "round";
/// Label of what is expected of every pair.
pub const EXPECT: &str = "expect";
/// Label of a pair that met once more, while all others were quiet.
pub const ALONE: &str = "alone";

/// Label of phases in which all hosts of a group load each other at once.
pub const MESH: &str = "mesh";

/// What a connection's payload is expected to reach, as it is named beside `p99` or `loss`.
pub const PAYLOAD: &str = "payload";

/// One number that tells of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Layer that measures it.
    pub layer: &'static str,
    /// Catalogue name, for distributions with the percentile: `rr.latency_seconds.p99`.
    pub name: &'static str,
    /// Whether more of it is better.
    pub more_is_better: bool,
}

const fn figure(layer: &'static str, name: &'static str, more_is_better: bool) -> Figure {
    Figure {
        layer,
        name,
        more_is_better,
    }
}

/// The numbers that tell of a pair, in the order of the layers.
pub const FIGURES: &[Figure] = &[
    figure("probe", "probe.rtt_seconds.p50", false),
    figure("probe", "probe.loss_ratio", false),
    figure("rr", "rr.latency_seconds.p50", false),
    figure("rr", "rr.latency_seconds.p99", false),
    figure("crr", "crr.connections_per_second", true),
    figure("stream", "stream.goodput_bits_per_second", true),
    figure("bus", "bus.messages_per_second", true),
    figure("http", "http.requests_per_second", true),
    figure("datagram", "datagram.loss_ratio", false),
];

/// Something that was expected and not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// Layer that measured it.
    pub layer: String,
    /// What was expected: [`PAYLOAD`], or the word of a bound.
    pub what: &'static str,
    /// What was measured; `None` when it could not be.
    pub measured: Option<f64>,
    /// The least payload, bits per second, or the most of a bound: seconds or a share.
    pub limit: f64,
    /// What the pair reached when it met once more and all others were quiet.
    pub alone: Option<f64>,
}

/// One host towards another, over all layers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pair {
    /// The host that sends or asks.
    pub from: String,
    /// The host that receives or answers.
    pub to: String,
    /// Names of [`FIGURES`] → value.
    pub figures: BTreeMap<&'static str, f64>,
    /// Layers in which nothing came through, with the reason where one is known.
    pub dead: BTreeMap<String, Option<String>>,
    /// What was expected and not kept.
    pub broken: Vec<Broken>,
}

impl Pair {
    /// True when every layer came through and everything expected was kept.
    pub fn holds(&self) -> bool {
        self.dead.is_empty() && self.broken.is_empty()
    }
}

/// True for a phase in which pairs of a group meet.
pub fn is_round(phase: &PhaseRecord) -> bool {
    phase.labels.contains_key(ROUND)
}

/// True for a phase in which all hosts of a group load each other at once.
pub fn is_mesh(phase: &PhaseRecord) -> bool {
    phase.labels.contains_key(MESH)
}

/// True when nothing came through although it was tried, or the ends gave no numbers.
pub fn is_dead(workload: &str, flow: &FlowResult) -> bool {
    let came = match workload {
        "probe" => "probe.answered_packets",
        "datagram" => "datagram.received_packets",
        "rr" => "rr.transactions",
        "crr" => "crr.connections",
        "stream" => "stream.received_bytes",
        "http" => "http.requests",
        _ => "bus.messages",
    };
    flow.metrics.get(came).is_none_or(|count| *count <= 0.0)
}

/// What one flow of a layer did not keep of what was expected.
///
/// A line rate is asked of `stream`, latency of the layers that send little (`probe`, `rr`), loss of
/// those that can lose (`probe`, `datagram`), errors of those that are answered.
pub fn broken(expected: &Expectation, workload: &str, flow: &FlowResult) -> Vec<Broken> {
    let mut out = Vec::new();
    let missed = |what, measured: Option<f64>, limit| Broken {
        layer: workload.to_owned(),
        what,
        measured,
        limit,
        alone: None,
    };
    if let Some(least) = expected
        .payload_bits_per_s()
        .filter(|_| workload == "stream")
    {
        let carried = flow.metrics.get("stream.goodput_bits_per_second").copied();
        if carried.is_none_or(|bits| bits < least) {
            out.push(missed(PAYLOAD, carried, least));
        }
    }
    let Some(names) = names_of(workload) else {
        return out;
    };
    let result = as_result(flow);
    for bound in expected.bounds() {
        let asked = match bound.what {
            "loss" => ["probe", "datagram"].contains(&workload),
            "errors" => ["rr", "crr", "bus", "http"].contains(&workload),
            _ => ["probe", "rr"].contains(&workload),
        };
        if asked && bound.used(names, &result) > 1.0 {
            out.push(missed(
                bound.what,
                bound.measured(names, &result),
                bound.most,
            ));
        }
    }
    out
}

fn as_result(flow: &FlowResult) -> PhaseResult {
    PhaseResult {
        summary: flow.metrics.clone(),
        histograms: flow.histograms.clone(),
        flows: Vec::new(),
    }
}

/// One number of a flow: a metric, or a percentile of a distribution.
fn value(flow: &FlowResult, name: &str) -> Option<f64> {
    let percentile = || {
        let (distribution, which) = name.rsplit_once('.')?;
        let all = flow.histograms.get(distribution)?;
        match which {
            "p50" => Some(all.p50),
            "p99" => Some(all.p99),
            _ => None,
        }
    };
    let own = flow.metrics.get(name).copied();
    own.or_else(percentile).filter(|value| value.is_finite())
}

/// All pairs of the phases that are rounds, by sender and receiver; empty for other runs.
pub fn pairs(phases: &[PhaseRecord]) -> Vec<Pair> {
    let mut found: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for phase in phases.iter().filter(|phase| is_round(phase)) {
        let expected = phase.labels.get(EXPECT).and_then(|text| text.parse().ok());
        for flow in &phase.result.flows {
            let pair = found.entry((&flow.from, &flow.to)).or_insert_with(|| Pair {
                from: flow.from.clone(),
                to: flow.to.clone(),
                ..Pair::default()
            });
            match phase.labels.contains_key(ALONE) {
                true => again(pair, &phase.workload, flow),
                false => meet(pair, &phase.workload, flow, expected.as_ref()),
            }
        }
    }
    found.into_values().collect()
}

fn meet(pair: &mut Pair, layer: &str, flow: &FlowResult, expected: Option<&Expectation>) {
    if is_dead(layer, flow) {
        let why = ["error", "server_error"].map(|name| flow.labels.get(name).cloned());
        pair.dead
            .insert(layer.into(), why.into_iter().flatten().next());
        return;
    }
    let own = FIGURES.iter().filter(|figure| figure.layer == layer);
    let values = own.filter_map(|figure| Some((figure.name, value(flow, figure.name)?)));
    pair.figures.extend(values);
    pair.broken.extend(
        expected
            .into_iter()
            .flat_map(|expected| broken(expected, layer, flow)),
    );
}

/// What a pair reached alone stands beside what it did not keep in company.
fn again(pair: &mut Pair, layer: &str, flow: &FlowResult) {
    let names = names_of(layer);
    let result = as_result(flow);
    for broken in pair
        .broken
        .iter_mut()
        .filter(|broken| broken.layer == layer)
    {
        broken.alone = match broken.what {
            PAYLOAD => flow.metrics.get("stream.goodput_bits_per_second").copied(),
            what => names.and_then(|names| {
                names
                    .share(&result, what)
                    .or_else(|| names.latency_s(&result, what))
            }),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::find;
    use crate::summary::HistogramSummary;

    fn stream(from: &str, to: &str, bits: Option<f64>) -> FlowResult {
        FlowResult {
            from: from.into(),
            to: to.into(),
            metrics: match bits {
                Some(bits) => [
                    ("stream.received_bytes".to_owned(), 1.0),
                    ("stream.goodput_bits_per_second".to_owned(), bits),
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
                ("rr.error_ratio".to_owned(), 0.5),
                ("datagram.loss_ratio".to_owned(), 0.2),
            ]
            .into(),
            histograms: [("rr.latency_seconds".to_owned(), p99(0.002))].into(),
            ..FlowResult::default()
        };
        let whats = |layer| -> Vec<&str> {
            broken(&expected, layer, &flow)
                .iter()
                .map(|b| b.what)
                .collect()
        };
        assert_eq!(whats("rr"), ["p99", "errors"]);
        assert_eq!(whats("datagram"), ["loss"]);
        assert!(whats("stream").is_empty());
        assert_eq!(value(&flow, "rr.latency_seconds.p99"), Some(0.002));
    }

    #[test]
    fn figures_are_in_the_catalogue() {
        for figure in FIGURES {
            let distribution = figure.name.rsplit_once('.').map(|(name, _)| name);
            let known = find(figure.name).or_else(|| find(distribution?));
            assert!(known.is_some(), "{}", figure.name);
        }
    }

    #[test]
    fn other_runs_have_no_pairs() {
        assert!(pairs(&[phase("stream", &[], vec![stream("a", "b", Some(1.0))])]).is_empty());
    }
}
