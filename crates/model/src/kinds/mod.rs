//! Kinds of load: what each workload's numbers mean, in one file per workload.
//!
//! Analysis, report, page, pairs, policy, console and check read the [`Kind`] and name no workload. All
//! fields are required, so that a new workload defines everything that its readers need.

mod carried;
mod curve;
mod exchange;
mod files;
mod transfer;

pub mod bus;
pub mod crr;
pub mod datagram;
pub mod dbt1;
pub mod dbt2;
pub mod dbt3;
pub mod dns;
pub mod http;
pub mod jmx;
pub mod probe;
pub mod replicate;
pub mod rr;
pub mod sql;
pub mod sqlmix;
pub mod stream;
pub mod tpcb;

use crate::bounds::Bound;
use crate::metric::{Metric, Stat};
use crate::summary::{FlowResult, Summary};

pub use carried::{Carried, carried, fairness, is_mixed, totals};
pub use curve::CurveMetrics;
pub use exchange::{BadAnswers, BetweenHosts, Exchange, NamedParts, Noun, Part};
pub use files::FileCopy;
pub use transfer::Transfer;

/// Every kind, in the order in which people read the layers: small messages first.
pub const KINDS: &[&Kind] = &[
    &probe::KIND,
    &rr::KIND,
    &crr::KIND,
    &stream::KIND,
    &bus::KIND,
    &http::KIND,
    &jmx::KIND,
    &dns::KIND,
    &tpcb::KIND,
    &dbt1::KIND,
    &dbt2::KIND,
    &dbt3::KIND,
    &sqlmix::KIND,
    &datagram::KIND,
    &replicate::KIND,
];

/// The metrics of each source of workloads.
pub const SOURCES: &[&[Metric]] = &[
    datagram::METRICS,
    probe::METRICS,
    bus::METRICS,
    http::METRICS,
    dns::METRICS,
    rr::METRICS,
    crr::METRICS,
    stream::METRICS,
    replicate::METRICS,
    sql::METRICS,
    tpcb::METRICS,
    dbt1::METRICS,
    dbt2::METRICS,
    dbt3::METRICS,
    sqlmix::METRICS,
];

/// Describes a workload and its numbers.
#[derive(Debug)]
pub struct Kind {
    /// Registry name of the workload: subcommand, console word, name in plans and records.
    pub name: &'static str,
    /// The question that the workload answers, one line.
    pub question: &'static str,
    /// Form of its load, which decides what can be asked of its numbers.
    pub family: Family,
    /// Targets that its load reaches. An agent's policy grants [`Reach::Hosts`] alone by default.
    pub reach: &'static [Reach],
    /// Source of its series, and first part of its metrics' names; those of a kind that shares it may begin with
    /// the kind's own name.
    pub source: &'static str,
    /// Its metrics, in the order in which people read them.
    pub metrics: &'static [Metric],
    /// The threads of both ends.
    pub ends: Ends,
    /// Counts what got through; a flow without any is dead.
    pub done: Metric,
    /// The numbers of a latency-over-rate curve, which bounds are put on; `None` for a workload
    /// without such numbers.
    pub curve: Option<CurveMetrics>,
    /// Computes the volume that one flow carried, from its metrics.
    pub carried: fn(&Summary) -> Option<Carried>,
    /// Its series in the main charts of a report.
    pub charts: Charts,
    /// Its series on the live page.
    pub tracks: &'static [TrackSource],
    /// Bounds that a check of a group may put on it.
    pub expects: Expects,
    /// The numbers that describe a pair of hosts.
    pub pair_figures: &'static [PairFigure],
    /// Its line as a layer of a check; `None` for a workload without such a line.
    pub layer: Option<Layer>,
    /// Whether its results are shown by label and generator and not by flow between hosts.
    pub by_label: bool,
    /// Whether a test plan defines the requests: its flows are the labels of that plan.
    pub is_plan: bool,
    /// Whether its flows take turns: one that is silent for a part of the load waits for the others.
    pub takes_turns: bool,
    /// Long options of its command that advice may name, without the dashes.
    pub options: &'static [&'static str],
}

/// Kinds are constants: two with the same name are the same.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

/// Form of a kind's load, which decides what can be asked of its numbers.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    /// Requests and their answers.
    Exchange(&'static Exchange),
    /// Bytes that one end sends and the other receives.
    Bytes(&'static Transfer),
    /// Messages that one end sends and the other receives, and may answer.
    Messages(&'static Transfer),
    /// Datagrams that may be lost, repeated and reordered.
    Datagram,
    /// Single small datagrams there and back.
    Probe,
    /// Trees of files that one end sends and the other writes.
    Files(&'static FileCopy),
}

/// Target that a load reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Hosts of the run, which agreed: each flow has a ticket.
    Hosts,
    /// Servers that take no part in the run and did not agree.
    Strangers,
    /// Files of the host that carries out the load.
    Files,
    /// Block devices of the host that carries out the load.
    Device,
}

impl Reach {
    /// Every reach, the least dangerous one first.
    pub const ALL: [Self; 4] = [Self::Hosts, Self::Strangers, Self::Files, Self::Device];

    /// Name in a policy file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Strangers => "strangers",
            Self::Files => "files",
            Self::Device => "device",
        }
    }

    /// The reach of that name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reach| reach.name() == name)
    }
}

/// The threads of a flow's two ends.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// The end that makes the load.
    pub near: End,
    /// The end that receives or answers; `None` when it is not sokudo's.
    pub far: Option<End>,
}

/// The threads of one end.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Name of the end: `sender`, `client`.
    pub name: &'static str,
    /// CPU time of its busiest thread over elapsed time.
    pub cpu: Metric,
    /// Share of time that such a thread was ready to run but had no CPU, where it is counted.
    pub wait: Option<Metric>,
    /// Socket buffer that the system granted this end, where it is read.
    pub buffer: Option<Metric>,
}

/// Series of a workload in the main charts of a report.
#[derive(Debug, Clone, Copy)]
pub struct Charts {
    /// Payload that arrived, bits per second.
    pub arrived: Option<Metric>,
    /// Payload that was sent, bits per second.
    pub sent: Option<Metric>,
    /// Whole things done per second: answers, messages.
    pub per_second: Option<Metric>,
    /// Median and 99th percentile of a time per interval.
    pub latency: Option<[Metric; 2]>,
}

impl Charts {
    /// Every metric that they show.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> + use<> {
        let single = [self.arrived, self.sent, self.per_second];
        single
            .into_iter()
            .chain(self.latency.into_iter().flatten().map(Some))
            .flatten()
    }
}

/// A chart of the live page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Track {
    /// Payload that arrived.
    Throughput,
    /// Whole things done per second.
    Answers,
    /// Simulated users.
    Users,
    /// Times until an answer.
    Latency,
    /// Losses and errors.
    Loss,
}

/// A series that feeds a chart of the live page.
#[derive(Debug, Clone, Copy)]
pub struct TrackSource {
    /// The chart.
    pub track: Track,
    /// The metric of the series.
    pub metric: Metric,
    /// Name of its line after the host; empty for the only line of a host.
    pub suffix: &'static str,
}

/// Bounds that a check of a group may put on a kind.
#[derive(Debug, Clone, Copy)]
pub struct Expects {
    /// Payload of one connection, compared with the line's rate.
    pub line_rate: Option<Metric>,
    /// Bounds on the latency: only of what sends little, so that its own queues do not count.
    pub latency: bool,
    /// A bound on loss.
    pub loss: bool,
    /// A bound on errors.
    pub errors: bool,
}

impl Expects {
    /// True when this bound may be put on the kind.
    pub fn asks(&self, bound: &Bound) -> bool {
        match bound.what {
            "loss" => self.loss,
            "errors" => self.errors,
            _ => bound.is_time() && self.latency,
        }
    }
}

/// One number that describes a pair of hosts.
#[derive(Debug, Clone, Copy)]
pub struct PairFigure {
    /// The metric.
    pub metric: Metric,
    /// Statistic of a distribution; `None` for a metric that is a single number.
    pub stat: Option<Stat>,
    /// Whether more of it is better.
    pub more_is_better: bool,
}

impl PairFigure {
    /// Name in a summary, for distributions with the number: `rr.latency_seconds.p50`.
    pub fn name(&self) -> String {
        name_of(&self.metric, self.stat)
    }

    /// Its value of one flow.
    pub fn of(&self, flow: &FlowResult) -> Option<f64> {
        let Some(stat) = self.stat else {
            return self.metric.of(&flow.metrics);
        };
        let own = flow.metrics.get(&self.metric.stat(stat)).copied();
        let all = || {
            flow.histograms
                .get(self.metric.name)
                .map(|all| stat.of(all))
        };
        own.or_else(all).filter(|value| value.is_finite())
    }
}

/// The line of a kind as a layer of a check: a message and its numbers.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    /// Key of the message.
    pub key: &'static str,
    /// Part of the system whose sentence has it.
    pub part: LayerPart,
    /// Its variables.
    pub numbers: &'static [LayerNumber],
}

/// Part of a system that a check tells in one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerPart {
    /// The way between two hosts.
    Way,
    /// Messages and connections of programs.
    Messages,
    /// Servers and files.
    Services,
}

impl LayerPart {
    /// Every part, in the order in which people read them.
    pub const ALL: [Self; 3] = [Self::Way, Self::Messages, Self::Services];
}

/// One variable of a layer's message.
#[derive(Debug, Clone, Copy)]
pub struct LayerNumber {
    /// Name of the variable.
    pub name: &'static str,
    /// The metric.
    pub metric: Metric,
    /// Statistic of a distribution; `None` for a metric that is a single number.
    pub stat: Option<Stat>,
}

impl LayerNumber {
    /// Its value in a phase's totals.
    pub fn of(&self, summary: &Summary) -> Option<f64> {
        let value = summary.get(&name_of(&self.metric, self.stat)).copied();
        value.filter(|value| value.is_finite())
    }
}

fn name_of(metric: &Metric, stat: Option<Stat>) -> String {
    stat.map_or_else(|| metric.name.to_owned(), |stat| metric.stat(stat))
}

impl Kind {
    /// Name for its requests.
    pub fn noun(&self) -> Noun {
        match self.family {
            Family::Exchange(exchange) => exchange.noun,
            _ => Noun::Requests,
        }
    }

    /// True for a workload whose rate can be searched: what a plan asks for is fixed.
    pub fn is_searched(&self) -> bool {
        self.curve.is_some() && !self.is_plan
    }

    /// True when nothing arrived although it was sent, or the ends gave no numbers.
    pub fn is_dead(&self, flow: &FlowResult) -> bool {
        self.done.of(&flow.metrics).is_none_or(|count| count <= 0.0)
    }

    /// The metric of this kind with that name after the source's.
    pub fn metric(&self, own: &str) -> Option<&'static Metric> {
        let is_own = |metric: &&Metric| {
            let rest = metric.name.strip_prefix(self.source);
            rest.and_then(|rest| rest.strip_prefix('.')) == Some(own)
        };
        self.metrics.iter().find(is_own)
    }
}

/// Longest load of a workload that only an amount bounds, nanoseconds: an hour, and of trees of files,
/// which take days over a thin line, 30 days.
pub fn longest_counted_ns(workload: &str) -> u64 {
    const HOUR_NS: u64 = 3_600_000_000_000;
    match find(workload).map(|kind| kind.family) {
        Some(Family::Files(_)) => 30 * 24 * HOUR_NS,
        _ => HOUR_NS,
    }
}

/// The kind of the workload with this registry name; `None` for a name that no kind has.
pub fn find(workload: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == workload)
}

/// The numbers of a workload's latency-over-rate curve; `None` for one without such numbers.
pub fn curve_metrics(workload: &str) -> Option<&'static CurveMetrics> {
    find(workload)?.curve.as_ref()
}

/// The kind whose numbers a flow carries. Phases in which several workloads run together have flows
/// of several kinds.
pub fn of_metrics(metrics: &Summary) -> Option<&'static Kind> {
    let kinds = KINDS.iter().copied();
    let mut found = kinds.filter(|kind| metrics.contains_key(kind.done.name));
    found.next()
}

#[cfg(test)]
mod tests;
