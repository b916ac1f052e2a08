//! The typed contract of a load, and its erasure behind [`Workload`].
//!
//! ```text
//! options (JSON) ──► Load::Options ─► Load::prepare ─► Phase<Numbers> ──► numbers (JSON)
//! numbers of all hosts (JSON) ──► Ends<Numbers> ─► Load::join ──► PhaseResult
//! ```
//!
//! A load sees its own types only. Text is read and written here, once for all loads: options that
//! cannot be read are refused with their field, numbers that cannot be read leave their host's flows
//! incomplete, with the reason.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sokudo_model::{
    Change, FlowPlan, FlowResult, HostClock, Kind, PhaseResult, PhaseSpec, Refusal, Summary, Text,
    kinds,
};
use sokudo_stats::{Best, First, Outcome};

use crate::checked::Checked;
use crate::contract::{Descriptor, Emit, HostResult, PathUse, Phase, Workload};
use crate::demand::Demand;
use crate::joined::outcome;
use crate::limit::Limit;
use crate::refusal::{operator, read_options};
use crate::reporting::as_text;

/// A kind of load with types of its own.
pub trait Load: Sync {
    /// Meaning of its numbers.
    const KIND: &'static Kind;

    /// Its options.
    type Options: Serialize + DeserializeOwned + Checked;

    /// Numbers that one host measured in a phase.
    type Numbers: Numbers;

    /// Binds this host's part of a phase. No traffic yet.
    fn prepare(
        options: Self::Options,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal>;

    /// Changes options to another load for so long: `rate_per_s` events per second, `None` = as fast
    /// as possible. For kinds that are searched.
    fn become_trial(_options: &mut Self::Options, _rate_per_s: Option<f64>, _duration_ns: u64) {}

    /// Demand of a phase with these options on this host: connections, time, and what goes both ways.
    fn demand(options: &Self::Options, spec: &PhaseSpec) -> Demand;

    /// Files and directories of this host that the phase reads or writes, as its options name them. The
    /// owner's policy lists those that it allows.
    fn paths(_options: &Self::Options, _spec: &PhaseSpec) -> Vec<PathUse> {
        Vec::new()
    }

    /// Outcome of a trial of a search; `None` when the result does not hold it.
    fn outcome(result: &PhaseResult) -> Option<Outcome> {
        let kinds::Family::Exchange(exchange) = Self::KIND.family else {
            return None;
        };
        outcome(Self::KIND.curve.as_ref()?, exchange.late_ratio, result)
    }

    /// First trial of a search for the highest rate.
    fn first() -> First {
        First::ClosedLoop
    }

    /// The answer of a search, beside the numbers of the phase that confirmed it.
    fn best(best: &Best, _confirmed: &PhaseResult) -> Summary {
        let curve = Self::KIND.curve.iter();
        curve
            .map(|curve| (curve.best.into(), best.delivered))
            .collect()
    }

    /// True when it compares times of two hosts; see [`Workload::compares_clocks`].
    fn compares_clocks() -> bool {
        false
    }

    /// Joins what the hosts measured into one result. A flow of which an end is not known is
    /// incomplete.
    fn join(options: &Self::Options, ends: Ends<'_, Self::Numbers>) -> PhaseResult;
}

/// Options of a load that this host is to carry out, as another host, or this one, wrote them.
///
/// Errors: name the field that cannot be read, or whose number is out of its range; what cannot be done.
fn checked<L: Load>(spec: &PhaseSpec) -> Result<L::Options, Refusal> {
    let text = &spec.phase.options;
    let options: L::Options = read_options(L::KIND.name, text)?;
    options.check(text)?;
    Ok(options)
}

/// Numbers that one host measured in a phase, as they travel.
pub trait Numbers: Serialize + DeserializeOwned + 'static {
    /// Drops what is said of flows that neither begin nor end at the host. Such numbers come from a
    /// host that lies, or from an error in it.
    fn keep_own(&mut self, own: &OwnFlows<'_>);
}

/// The flows of one host in a phase.
#[derive(Debug, Clone, Copy)]
pub struct OwnFlows<'a> {
    host: u32,
    flows: &'a [FlowPlan],
}

impl OwnFlows<'_> {
    /// True for a flow of the phase that begins at the host.
    pub fn begins(&self, flow: u32) -> bool {
        let plan = self.flows.get(flow as usize);
        plan.is_some_and(|plan| plan.from == self.host)
    }

    /// True for a flow of the phase that ends at the host.
    pub fn ends(&self, flow: u32) -> bool {
        let plan = self.flows.get(flow as usize);
        plan.is_some_and(|plan| plan.to == self.host)
    }
}

/// The numbers of all hosts of a phase, each about its own flows only.
pub struct Ends<'a, N> {
    /// The phase.
    pub spec: &'a PhaseSpec,
    /// By host; `None` for a host whose numbers are not known.
    pub hosts: Vec<Option<N>>,
}

impl<N> Ends<'_, N> {
    /// The flows of the phase.
    pub fn plans(&self) -> &[FlowPlan] {
        &self.spec.phase.flows
    }

    /// A host's numbers.
    pub fn of(&self, host: u32) -> Option<&N> {
        self.hosts.get(host as usize)?.as_ref()
    }

    /// A flow between its hosts, without any number yet.
    pub fn flow(&self, plan: &FlowPlan) -> FlowResult {
        FlowResult {
            id: plan.id,
            from: host_name(self.spec, plan.from),
            to: host_name(self.spec, plan.to),
            ..FlowResult::default()
        }
    }
}

/// Name of a host, for people; empty for one that the phase does not have.
fn host_name(spec: &PhaseSpec, host: u32) -> String {
    let host = spec.hosts.get(host as usize);
    host.map_or(String::new(), |host| host.name.clone())
}

/// A phase whose numbers are written as text.
struct Written<N>(Box<dyn Phase<N>>);

impl<N: Serialize> Phase for Written<N> {
    fn offer(&self) -> String {
        self.0.offer()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.0.hold_to(limit);
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        self.0.arm(offers)
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.0.start(at_ns, t0_ns)
    }

    fn halt(&mut self) {
        self.0.halt();
    }

    fn steer(&mut self, change: &Change) -> Result<(), Refusal> {
        self.0.steer(change)
    }

    fn clocks(&mut self, clocks: &[Option<HostClock>]) {
        self.0.clocks(clocks);
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<String, Refusal> {
        as_text(&self.0.drain(sent)?)
    }
}

impl<L: Load> Workload for L {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: L::KIND.name,
            question: L::KIND.question,
        }
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options = checked::<L>(&spec)?;
        Ok(Box::new(Written(L::prepare(options, spec, emit)?)))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        if !L::KIND.is_searched() {
            return Err(operator(
                Text::new("error-search-no-rate").with("workload", L::KIND.name),
                Text::new("error-search-no-rate-hint"),
            ));
        }
        let mut options = read_options(L::KIND.name, options)?;
        L::become_trial(&mut options, rate_per_s, duration_ns);
        as_text(&options)
    }

    fn demand(&self, spec: &PhaseSpec) -> Result<Demand, Refusal> {
        let options = checked::<L>(spec)?;
        Ok(L::demand(&options, spec))
    }

    fn paths(&self, spec: &PhaseSpec) -> Result<Vec<PathUse>, Refusal> {
        let options = checked::<L>(spec)?;
        Ok(L::paths(&options, spec))
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        L::outcome(result)
    }

    fn first(&self) -> First {
        L::first()
    }

    fn best(&self, best: &Best, confirmed: &PhaseResult) -> Summary {
        L::best(best, confirmed)
    }

    fn compares_clocks(&self) -> bool {
        L::compares_clocks()
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> Result<PhaseResult, Refusal> {
        let options = read_options(L::KIND.name, &spec.phase.options)?;
        let told = (0..).zip(&spec.hosts);
        let told: Vec<Result<L::Numbers, String>> = told
            .map(|(host, _)| read_numbers(spec, host, results))
            .collect();
        let reasons: Vec<Option<String>> =
            told.iter().map(|one| one.as_ref().err().cloned()).collect();
        let hosts = told.into_iter().map(Result::ok).collect();
        let mut result = L::join(&options, Ends { spec, hosts });
        for (host, reason) in (0..).zip(reasons) {
            if let Some(reason) = reason {
                explain(&mut result, &host_name(spec, host), &reason);
            }
        }
        Ok(result)
    }
}

/// Reads a host's numbers about its own flows, or the reason why there are none.
fn read_numbers<N: Numbers>(
    spec: &PhaseSpec,
    host: u32,
    results: &[HostResult],
) -> Result<N, String> {
    let name = host_name(spec, host);
    let text = match results.get(host as usize) {
        Some(Ok(text)) => text,
        Some(Err(why)) => return Err(format!("{name} gave no numbers: {why}")),
        None => return Err(format!("{name} gave no numbers")),
    };
    let mut numbers: N = crate::json::read(text)
        .map_err(|error| format!("the numbers of {name} cannot be read: {error}"))?;
    numbers.keep_own(&OwnFlows {
        host,
        flows: &spec.phase.flows,
    });
    Ok(numbers)
}

/// Says of the incomplete flows of a host why its numbers are missing.
fn explain(result: &mut PhaseResult, host: &str, reason: &str) {
    let of_host = |flow: &&mut FlowResult| flow.from == host || flow.to == host;
    let flows = result.flows.iter_mut().filter(|flow| !flow.complete);
    for flow in flows.filter(of_host) {
        let error = flow.labels.entry("error".into());
        error.or_insert_with(|| reason.to_owned());
    }
}
