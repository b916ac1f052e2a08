//! The part of the record that the few numbers describe, and the health of the generator in it.

use std::collections::{BTreeMap, HashSet};

use sokudo_analyze::profiles::Profiles;
use sokudo_analyze::ranges::Ranges;
use sokudo_model::kinds::{datagram, sql};
use sokudo_model::manifest::moments;
use sokudo_model::pairs::{self, Pair};
use sokudo_model::settings::Setting;
use sokudo_model::{
    Check, FlowResult, Fold, Metric, PhaseRecord, Record, RunStatus, Severity, Summary, Text,
};
use sokudo_stats::repeats::{self, Repeats, repeats_of, turns_of};
use sokudo_stats::{capacity, versus};

use crate::compare;

/// Purpose of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The self-test of the generators, without a network.
    SelfTest,
    /// One trial of a search; it is supposed to lose.
    Probe,
    /// The fresh run that confirms the best rate of a search.
    Confirm,
    /// One run of a search for the knee.
    Level,
    /// One step of a sweep.
    Sweep,
    /// One run of a repeated measurement or of one with and without a change, or a turn of a check's layer.
    Repeat,
    /// Pairs of a group that meet.
    Round,
    /// A measurement in its own right.
    Main,
}

/// Health of the load generator: how far the numbers can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// It had room left: the numbers describe what was measured.
    Valid,
    /// It was itself the limit.
    Limit,
    /// Something on its host took its time away.
    Disturbed,
    /// It is unknown.
    Unknown,
}

/// A record and what the sections need to know about it as a whole.
#[derive(Debug)]
pub struct View<'a> {
    /// The record.
    pub record: &'a Record,
    /// Sentences that a person acts on.
    pub verdict: Vec<Text>,
    /// Pairs of a check of a group; empty for other runs.
    pub pairs: Vec<Pair>,
    /// Medians of repeated runs.
    pub repeats: Option<Repeats>,
    /// Medians of the turns of each layer of a check, with its name.
    pub turns: Vec<(&'a str, Repeats)>,
    /// Settings of a server that were measured in turns.
    pub profiles: Option<Profiles<'a>>,
    /// Ranges of the few numbers.
    pub ranges: Ranges,
    /// Host name → place in the host table, for colours.
    hosts: BTreeMap<&'a str, usize>,
}

impl<'a> View<'a> {
    /// The view of a record whose findings are filled in.
    pub fn new(record: &'a Record) -> Self {
        Self::with_verdict(record, sokudo_analyze::verdict(record))
    }

    /// The view of a record whose verdict was computed elsewhere.
    pub fn with_verdict(record: &'a Record, verdict: Vec<Text>) -> Self {
        let hosts = record.manifest.hosts.iter().enumerate();
        let mut view = Self {
            record,
            verdict,
            pairs: sokudo_analyze::pairs::of(record),
            repeats: repeats_of(&record.manifest.phases),
            turns: turns_of(&record.manifest.phases),
            profiles: Profiles::of(record),
            ranges: Ranges::new(),
            hosts: hosts.map(|(i, h)| (h.name.as_str(), i)).collect(),
        };
        // What was compared comes before the numbers of one of its phases.
        if let Some(found) = &view.profiles {
            let compared = compare::conclusions(record, found);
            view.verdict.splice(0..0, compared);
        }
        if let Some(phase) = view.subject() {
            view.ranges = sokudo_analyze::ranges::of(record, phase);
        }
        view
    }

    /// Palette index of a host; unknown hosts come after the known ones.
    pub fn colour(&self, host: &str) -> usize {
        self.hosts.get(host).copied().unwrap_or(self.hosts.len())
    }

    /// The phases that were measured for their own sake or as confirmation, in order.
    pub fn measured(&self) -> impl Iterator<Item = &'a PhaseRecord> {
        self.record
            .manifest
            .phases
            .iter()
            .filter(|p| matches!(role(p), Role::Main | Role::Confirm))
    }

    /// The phase that the few numbers describe: the knee of a search or of a sweep, else the run in the middle of
    /// repeated ones, else the confirmation of a
    /// search, else the point of an experiment that carried most, else the last one that was measured
    /// for its own sake and has numbers.
    pub fn subject(&self) -> Option<&'a PhaseRecord> {
        if let Some((_, subject)) = sokudo_analyze::capacity::of(self.record) {
            return Some(subject);
        }
        if let Some((_, subject)) = sokudo_analyze::sweep::of(self.record) {
            return Some(subject);
        }
        if let Some((_, subject)) = sokudo_analyze::versus::of(self.record) {
            return Some(subject);
        }
        if let Some(repeats) = &self.repeats {
            let mut phases = self.record.manifest.phases.iter();
            return phases.rfind(|phase| phase.name == repeats.subject());
        }
        let usable = |p: &&PhaseRecord| !p.result.summary.is_empty() || !p.result.flows.is_empty();
        let confirmed = self
            .measured()
            .filter(|p| role(p) == Role::Confirm)
            .filter(usable)
            .last();
        let most = || sokudo_analyze::experiment::of(self.record).map(|all| all.most);
        confirmed
            .or_else(most)
            .or_else(|| self.measured().filter(usable).last())
    }

    /// The subject phase and the loads that ran at the same moment: their numbers do not add up.
    pub fn subjects(&self) -> &'a [PhaseRecord] {
        let subject = self.subject();
        subject.map_or(&[], |phase| self.record.manifest.beside(phase))
    }

    /// True for a run in which several loads ran at the same moment: their series do not add up.
    pub fn is_mixed(&self) -> bool {
        moments(&self.record.manifest.phases).any(|loads| loads.len() > 1)
    }

    /// The subject phase where no other load ran at the same moment.
    pub fn lone_subject(&self) -> Option<&'a PhaseRecord> {
        self.subject().filter(|_| self.subjects().len() == 1)
    }

    /// Health of the generator during `phase`, from what is concluded about it and the thread's CPU
    /// time.
    pub fn generator(&self, phase: &PhaseRecord) -> Generator {
        let findings = sokudo_analyze::diagnose(self.record, phase);
        let about = |rule: &str, least: Severity| {
            findings
                .iter()
                .any(|f| f.rule == rule && f.severity >= least)
        };
        if about("generator_limited", Severity::Info) {
            Generator::Limit
        } else if about("host_busy", Severity::Caution)
            || about("neighbour_interference", Severity::Caution)
        {
            Generator::Disturbed
        } else if generator_cpu(phase).is_some() {
            Generator::Valid
        } else {
            Generator::Unknown
        }
    }

    /// The settings of the loaded databases, by [`Setting::rank`]; one that was changed meanwhile stands with each
    /// value.
    pub fn settings(&self) -> Vec<Setting> {
        let series = self.record.series_of(sql::SETTING);
        let mut all: Vec<Setting> = Vec::new();
        for setting in series.filter_map(|it| Setting::of(&it.key)) {
            if !all.contains(&setting) {
                all.push(setting);
            }
        }
        all.sort_by(|a, b| (a.rank(), &a.name).cmp(&(b.rank(), &b.name)));
        all
    }

    /// The worst clock error among the hosts, seconds; `None` when there is only one clock.
    pub fn clock_error_s(&self) -> Option<f64> {
        let hosts = &self.record.manifest.hosts;
        let worst = hosts.iter().map(|h| h.clock_error_ns).max()?;
        // Agents of one process read the same clock: there is no error to tell of.
        (worst > 0).then_some(worst as f64 / 1e9)
    }

    /// Time from the run's start to the end of the last phase or sample, nanoseconds.
    pub fn end_ns(&self) -> i64 {
        let phases = self.record.manifest.phases.iter().map(|p| p.t1_ns);
        let series = self.record.series.iter().filter_map(|s| s.points.last());
        phases.chain(series.map(|(t, _)| *t)).max().unwrap_or(0)
    }

    /// Hosts that load anything or are loaded, in the order of the host table; all of them where no flow
    /// names one. The host that only gives the commands takes no part.
    pub fn hosts_that_met(&self) -> Vec<&'a str> {
        let manifest = &self.record.manifest;
        let all = manifest.hosts.iter().map(|host| host.name.as_str());
        let flows = || manifest.phases.iter().flat_map(|phase| &phase.result.flows);
        let takes_part = |name: &&str| flows().any(|flow| flow.from == *name || flow.to == *name);
        let some: Vec<&str> = all.clone().filter(takes_part).collect();
        if some.is_empty() { all.collect() } else { some }
    }

    /// Failed checks that have no line among the demands, and that the verdict does not quote.
    pub fn unasked_failures(&self) -> impl Iterator<Item = &'a Check> {
        let failed = self.record.checks.iter().filter(|check| !check.passed);
        let unasked = failed.filter(|check| check.demand.is_none());
        unasked.filter(|check| !self.verdict.contains(&check.says))
    }

    /// Status of a run that did not end well.
    pub fn unwell(&self) -> Option<RunStatus> {
        let status = self.record.manifest.status;
        (status != RunStatus::Ok).then_some(status)
    }
}

/// Purpose of a phase: its label `role`, else what its numbers and its name say.
pub fn role(phase: &PhaseRecord) -> Role {
    match phase.labels.get("role").map(String::as_str) {
        Some("probe" | repeats::AGAIN) => return Role::Probe,
        Some("confirm") => return Role::Confirm,
        Some("sweep") => return Role::Sweep,
        Some(capacity::record::LABEL | capacity::protect::LABEL) => return Role::Level,
        Some(repeats::LABEL | repeats::TURN | versus::LABEL) => return Role::Repeat,
        _ => {}
    }
    if pairs::is_round(phase) || pairs::is_mesh(phase) {
        return Role::Round;
    }
    let selftest = |s: &Summary| s.keys().any(|k| k.starts_with("selftest."));
    if phase.name == "selftest"
        || selftest(&phase.result.summary)
        || phase.result.flows.iter().any(|f| selftest(&f.metrics))
    {
        Role::SelfTest
    } else if phase.name.starts_with("search-") {
        Role::Probe
    } else {
        Role::Main
    }
}

/// A total of a phase; where the phase has none, the sum over its flows that have one.
pub fn sum(phase: &PhaseRecord, metric: Metric) -> Option<f64> {
    metric.of(&phase.result.summary).or_else(|| {
        let values: Vec<f64> = flow_values(phase, metric).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    })
}

/// A total of a phase; where the phase has none, the mean over its flows that have one.
pub fn mean_over_flows(phase: &PhaseRecord, metric: Metric) -> Option<f64> {
    metric.of(&phase.result.summary).or_else(|| {
        let values: Vec<f64> = flow_values(phase, metric).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    })
}

fn flow_values(phase: &PhaseRecord, metric: Metric) -> impl Iterator<Item = f64> {
    let flows = phase.result.flows.iter();
    flows.filter_map(move |f| metric.of(&f.metrics))
}

/// Cores that the load's own threads kept busy.
pub fn generator_cpu(phase: &PhaseRecord) -> Option<f64> {
    mean_over_flows(phase, phase.kind()?.ends.near.cpu)
}

/// Bits per second that arrived as datagrams.
pub fn delivered_bits(summary: &Summary) -> Option<f64> {
    let bytes = || datagram::DELIVERED_BYTES_PER_SECOND.of(summary);
    let bits = datagram::DELIVERED_BITS_PER_SECOND.of(summary);
    bits.or_else(|| Some(8.0 * bytes()?))
}

/// Bits per second that were sent as datagrams.
pub fn sent_bits(summary: &Summary) -> Option<f64> {
    let bytes = || datagram::SENT_BYTES_PER_SECOND.of(summary);
    let bits = datagram::SENT_BITS_PER_SECOND.of(summary);
    bits.or_else(|| Some(8.0 * bytes()?))
}

/// Missing over sent datagrams.
pub fn loss(summary: &Summary) -> Option<f64> {
    let ratio = datagram::LOSS_RATIO.of(summary);
    let success = || Some(1.0 - datagram::SUCCESS_RATIO.of(summary)?);
    ratio.or_else(success).or_else(|| {
        let sent = datagram::SENT_PACKETS.of(summary).filter(|n| *n > 0.0)?;
        Some(datagram::MISSING_PACKETS.of(summary)? / sent)
    })
}

/// Summary of a phase with totals that only its flows know added up, for records of partial runs.
pub fn effective(phase: &PhaseRecord) -> Summary {
    let mut summary = phase.result.summary.clone();
    let own = phase.kind().map_or(&[][..], |kind| kind.metrics);
    for metric in own.iter().filter(|metric| metric.fold == Fold::Sum) {
        if let Some(value) = sum(phase, *metric) {
            summary.entry(metric.name.into()).or_insert(value);
        }
    }
    summary
}

/// `hosta → hostb`.
pub fn flow_name(flow: &FlowResult) -> String {
    format!("{} → {}", flow.from, flow.to)
}

/// Every host that asks in a phase, in order of appearance.
pub fn hosts_that_ask(phase: &PhaseRecord) -> Vec<&str> {
    each_once(phase.result.flows.iter().map(|flow| flow.from.as_str()))
}

/// Every host that sends or receives in a phase, in order of appearance.
pub fn hosts_of(phase: &PhaseRecord) -> Vec<&str> {
    let names = phase.result.flows.iter().flat_map(|f| [&f.from, &f.to]);
    each_once(names.map(String::as_str))
}

/// Names in order of appearance: a record from elsewhere may hold any number of them.
fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    names.filter(|name| known.insert(*name)).collect()
}
