//! Several kinds of load that start at the same moment.
//!
//! ```text
//! phase "together" ─┬─ part 0: rr,     flows 0, 1 ┐  prepared, armed, started, drained alike;
//!                   └─ part 1: stream, flow 2     ┘  their results become one
//! ```
//!
//! Different hosts may be given different work that begins together, which is what a group console's
//! `set` and `enter` are for. Each part sees only its own flows, numbered from 0, and knows nothing of
//! the others. A record keeps each part's result as a phase of its own. In the result of the whole, totals
//! of two parts of the same workload are left out where both would claim the same name: the flows keep
//! theirs.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sokudo_i18n::english;
use sokudo_model::spec::HostSpec;
use sokudo_model::{HostClock, PhaseResult, PhaseSpec, Refusal, Summary, Text};
use sokudo_stats::{Best, First, Outcome};
use sokudo_workload::contract::PathUse;
use sokudo_workload::limit::Limit;
use sokudo_workload::refusal::{failed, operator, read_options};
use sokudo_workload::told::{SENT, read_each};
use sokudo_workload::{Demand, Descriptor, Emit, Emitted, HostResult, Phase, Workload};

/// Several workloads at once.
pub struct Together;

/// Name of the workload.
pub const NAME: &str = "together";

/// Most parts of a phase.
const PARTS_MAX: usize = 256;

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "what do several kinds of load, started at the same moment, do to each other?",
};

/// One of the workloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TogetherPart {
    /// Its registry name.
    pub workload: String,
    /// Its options as JSON text.
    pub options: String,
    /// Its duration, nanoseconds; 0 when only a count bounds it.
    pub duration_ns: u64,
    /// Ids of its flows in the phase.
    pub flows: Vec<u32>,
}

/// Options of a phase of this workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TogetherOptions {
    /// The parts; every flow of the phase belongs to one of them.
    pub parts: Vec<TogetherPart>,
}

impl TogetherOptions {
    /// The options as JSON text, as they travel in a plan.
    pub fn to_json(&self) -> String {
        // Texts and numbers: there is nothing that JSON cannot hold.
        json!(self).to_string()
    }
}

/// One part as a phase of its own: its flows are numbered from 0.
fn part_of(spec: &PhaseSpec, part: &TogetherPart) -> PhaseSpec {
    let mut own = spec.clone();
    let wanted = |id: &&u32| spec.phase.flows.iter().any(|flow| flow.id == **id);
    let ids: Vec<u32> = part.flows.iter().filter(wanted).copied().collect();
    let flow = |id: u32| spec.phase.flows.iter().find(|flow| flow.id == id).cloned();
    let ticket = |id: &u32| spec.tickets.get(*id as usize).copied().unwrap_or_default();
    own.tickets = ids.iter().map(ticket).collect();
    own.phase.flows = ids.iter().filter_map(|id| flow(*id)).collect();
    for (flow, id) in own.phase.flows.iter_mut().zip(0..) {
        flow.id = id;
    }
    own.phase.workload = part.workload.clone();
    own.phase.options = part.options.clone();
    // A load that the operator ended early is as long as it was.
    own.phase.duration_ns = match (part.duration_ns, spec.phase.duration_ns) {
        (0, _) => 0,
        (planned_ns, 0) => planned_ns,
        (planned_ns, whole_ns) => planned_ns.min(whole_ns),
    };
    own
}

pub(crate) fn parts_of(
    spec: &PhaseSpec,
) -> Result<Vec<(&'static dyn Workload, PhaseSpec)>, Refusal> {
    let options: TogetherOptions = read_options(NAME, &spec.phase.options)?;
    if options.parts.len() > PARTS_MAX {
        return Err(operator(
            Text::new("error-together-many").with("loads", options.parts.len()),
            Text::new("error-together-many-hint").with("most", PARTS_MAX),
        ));
    }
    let part = |part: &TogetherPart| {
        let known = crate::find(&part.workload).filter(|_| part.workload != NAME);
        let workload = known.ok_or_else(|| {
            operator(
                Text::new("error-workload-unknown").with("workload", &part.workload),
                Text::new("error-hint-same-version"),
            )
        })?;
        Ok((workload, part_of(spec, part)))
    };
    options.parts.iter().map(part).collect()
}

/// Whether this host sends (`true`), or does anything at all, in a part.
fn takes_part(spec: &PhaseSpec, sends: bool) -> bool {
    let me = spec.me;
    let mut flows = spec.phase.flows.iter();
    flows.any(|flow| flow.from == me || (!sends && flow.to == me))
}

/// Texts that the senders of the parts have emitted so far.
struct Sent {
    told: Vec<Option<String>>,
    /// Parts in which this host sends and has not finished.
    open: Vec<bool>,
    emitted: bool,
}

impl Sent {
    /// Keeps what one part said; the text for all of them once every sender has finished.
    fn take(&mut self, index: usize, text: String) -> Option<String> {
        self.told[index] = Some(text);
        self.open[index] = false;
        let complete = !self.open.contains(&true) && !self.emitted;
        self.emitted |= complete;
        complete.then(|| listed(self.told.clone()))
    }
}

/// Passes on a part's output; [`Emitted::Sent`] leaves once, for all parts together.
fn emit_of(index: usize, sent: &Arc<Mutex<Sent>>, emit: &Emit) -> Emit {
    let (sent, emit) = (Arc::clone(sent), Arc::clone(emit));
    Arc::new(move |emitted| match emitted {
        Emitted::Sent(text) => {
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(all) = sent.take(index, text) {
                emit(Emitted::Sent(all));
            }
        }
        other => emit(other),
    })
}

/// The parts' texts as one text.
fn listed(told: Vec<Option<String>>) -> String {
    Value::from(told).to_string()
}

struct TogetherPhase {
    hosts: Vec<HostSpec>,
    /// `None` for a part in which this host has nothing to do.
    parts: Vec<Option<Box<dyn Phase>>>,
}

/// The hosts' texts, as one list of parts per host.
type Lists = Vec<Option<Vec<Option<String>>>>;

/// One part's share of it.
fn share(lists: &Lists, index: usize) -> Vec<Option<String>> {
    let part = |list: &Option<Vec<Option<String>>>| list.as_ref()?.get(index)?.clone();
    lists.iter().map(part).collect()
}

impl TogetherPhase {
    fn each(&mut self) -> impl Iterator<Item = (usize, &mut Box<dyn Phase>)> {
        let parts = self.parts.iter_mut().enumerate();
        parts.filter_map(|(index, part)| Some((index, part.as_mut()?)))
    }
}

impl Phase for TogetherPhase {
    fn offer(&self) -> String {
        let offers = self.parts.iter();
        let offers: Vec<Option<String>> = offers
            .map(|part| part.as_ref().map(|p| p.offer()))
            .collect();
        listed(offers)
    }

    /// What was granted is the sum of the parts: they take from one limit.
    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.each().for_each(|(_, part)| part.hold_to(limit));
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let offers: Lists = read_each(&self.hosts, "offer", offers)?;
        self.each()
            .try_for_each(|(index, part)| part.arm(&share(&offers, index)))
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.each()
            .try_for_each(|(_, part)| part.start(at_ns, t0_ns))
    }

    fn halt(&mut self) {
        self.each().for_each(|(_, part)| part.halt());
    }

    fn clocks(&mut self, clocks: &[Option<HostClock>]) {
        self.each().for_each(|(_, part)| part.clocks(clocks));
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<String, Refusal> {
        let sent: Lists = read_each(&self.hosts, SENT, sent)?;
        let mut results: Vec<Option<HostResult>> = vec![None; self.parts.len()];
        for (index, part) in self.each() {
            let drained = part.drain(&share(&sent, index));
            results[index] = Some(drained.map_err(|refusal| english(&refusal.says)));
        }
        if let Some(why) = only_reason(&results) {
            return Err(failed(why, None));
        }
        serde_json::to_string(&results).map_err(|error| failed(error.to_string(), None))
    }
}

/// Reason of the first part, when no part has a result.
fn only_reason(results: &[Option<HostResult>]) -> Option<String> {
    let reasons = results.iter().flatten();
    let reasons: Result<Vec<&String>, ()> = reasons
        .map(|result| result.as_ref().err().ok_or(()))
        .collect();
    reasons.ok()?.first().map(|why| (*why).clone())
}

impl Workload for Together {
    fn descriptor(&self) -> Descriptor {
        DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let parts = parts_of(&spec)?;
        let sent = Arc::new(Mutex::new(Sent {
            told: vec![None; parts.len()],
            open: parts.iter().map(|(_, own)| takes_part(own, true)).collect(),
            emitted: false,
        }));
        let mut prepared = Vec::new();
        for (index, (workload, own)) in parts.into_iter().enumerate() {
            prepared.push(match takes_part(&own, false) {
                true => Some(workload.prepare(own, emit_of(index, &sent, &emit))?),
                false => None,
            });
        }
        Ok(Box::new(TogetherPhase {
            hosts: spec.hosts,
            parts: prepared,
        }))
    }

    fn trial(&self, _: &str, _: Option<f64>, _: u64) -> Result<String, Refusal> {
        Err(operator(
            Text::new("error-together-no-rate"),
            Text::new("error-together-no-rate-hint"),
        ))
    }

    /// Each part has a rate of its own.
    fn demand(&self, spec: &PhaseSpec) -> Result<Demand, Refusal> {
        let parts = parts_of(spec)?.into_iter();
        parts.map(|(workload, part)| workload.demand(&part)).sum()
    }

    fn paths(&self, spec: &PhaseSpec) -> Result<Vec<PathUse>, Refusal> {
        let parts = parts_of(spec)?.into_iter();
        let paths = parts.map(|(workload, part)| workload.paths(&part));
        Ok(paths.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn outcome(&self, _: &PhaseResult) -> Option<Outcome> {
        None
    }

    fn first(&self) -> First {
        First::ClosedLoop
    }

    fn best(&self, _: &Best, _: &PhaseResult) -> Summary {
        Summary::new()
    }

    fn compares_clocks(&self) -> bool {
        // Any of the parts may; reading the clocks costs the others nothing while they load.
        true
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> Result<PhaseResult, Refusal> {
        let mut whole = PhaseResult::default();
        let mut claimed_twice = Vec::new();
        for (_, joined) in join_each(spec, results)? {
            whole.flows.extend(joined.flows);
            merge(&mut whole.summary, joined.summary, &mut claimed_twice);
            for (name, numbers) in joined.histograms {
                if whole.histograms.insert(name.clone(), numbers).is_some() {
                    claimed_twice.push(name);
                }
            }
        }
        for name in claimed_twice {
            whole.summary.remove(&name);
            whole.histograms.remove(&name);
        }
        whole.flows.sort_by_key(|flow| flow.id);
        Ok(whole)
    }
}

/// The result of each part, beside the part as a phase of its own; its flows keep the numbers that
/// they have in the whole phase.
pub(crate) fn join_each(
    spec: &PhaseSpec,
    results: &[HostResult],
) -> Result<Vec<(PhaseSpec, PhaseResult)>, Refusal> {
    let options: TogetherOptions = read_options(NAME, &spec.phase.options)?;
    let parts = parts_of(spec)?.into_iter().zip(options.parts).enumerate();
    let join = |(index, ((workload, own), part)): (usize, ((&dyn Workload, PhaseSpec), _))| {
        let TogetherPart { flows: ids, .. } = part;
        let of_host = |result: &HostResult| match result {
            Ok(text) => serde_json::from_str::<Vec<Option<HostResult>>>(text)
                .ok()
                .and_then(|list| list.into_iter().nth(index)?)
                .unwrap_or_else(|| Err("its numbers cannot be read, or it took no part".into())),
            Err(why) => Err(why.clone()),
        };
        let own_results: Vec<HostResult> = results.iter().map(of_host).collect();
        let mut joined = workload.join(&own, &own_results)?;
        for flow in &mut joined.flows {
            flow.id = ids.get(flow.id as usize).copied().unwrap_or(flow.id);
        }
        Ok((own, joined))
    };
    parts.map(join).collect()
}

fn merge(whole: &mut Summary, part: Summary, twice: &mut Vec<String>) {
    for (name, value) in part {
        if whole.insert(name.clone(), value).is_some() {
            twice.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sokudo_model::{FlowPlan, HostSpec, PhasePlan, RunId};

    use super::*;

    fn spec(me: u32) -> PhaseSpec {
        let part = |workload: &str, flows: &[u32]| TogetherPart {
            workload: workload.into(),
            options: "{}".into(),
            duration_ns: 0,
            flows: flows.to_vec(),
        };
        let options = TogetherOptions {
            parts: vec![part("rr", &[0, 2]), part("stream", &[1])],
        };
        let flow = |id, from, to| FlowPlan {
            id,
            from,
            to,
            stream: 0,
        };
        PhaseSpec {
            run: RunId("r".into()),
            phase: PhasePlan {
                name: "p".into(),
                workload: NAME.into(),
                options: options.to_json(),
                flows: vec![flow(0, 0, 1), flow(1, 1, 2), flow(2, 2, 0)],
                duration_ns: 0,
                bound_ns: 1,
                labels: BTreeMap::new(),
            },
            hosts: vec![
                HostSpec {
                    name: "h".into(),
                    address: "127.0.0.1".into()
                };
                3
            ],
            me,
            seed: 1,
            tickets: vec![10, 11, 12],
        }
    }

    #[test]
    fn each_part_sees_its_own_flows_numbered_from_0() {
        let Ok(parts) = parts_of(&spec(0)) else {
            panic!("parts");
        };
        let senders = |own: &PhaseSpec| {
            let flows = own.phase.flows.iter();
            flows.map(|f| (f.id, f.from)).collect::<Vec<_>>()
        };
        assert_eq!(parts[0].1.tickets, [10, 12]);
        assert_eq!(senders(&parts[0].1), [(0, 0), (1, 2)]);
        assert_eq!(parts[1].1.tickets, [11]);
        assert_eq!(senders(&parts[1].1), [(0, 1)]);
        assert!(!takes_part(&parts[1].1, false), "host 0 has no stream");
    }

    #[test]
    fn senders_have_finished_when_all_parts_have() {
        let mut sent = Sent {
            told: vec![None; 3],
            open: vec![true, false, true],
            emitted: false,
        };
        assert_eq!(sent.take(0, "a".into()), None);
        let all = sent.take(2, "c".into()).expect("all have finished");
        let lists = read_each(&spec(0).hosts, SENT, &[Some(all)]).expect("lists");
        assert_eq!(share(&lists, 2), [Some("c".to_owned())]);
        assert_eq!(sent.take(1, "b".into()), None, "only once");
    }

    #[test]
    fn results_of_hosts_that_say_nothing_readable_are_missing_flows() {
        let told = [Ok("[".into()), Err("gone".into()), Ok("3".into())];
        let joined = Together.join(&spec(0), &told).expect("options");
        let ids: Vec<u32> = joined.flows.iter().map(|flow| flow.id).collect();
        assert_eq!(ids, [0, 1, 2]);
        assert!(joined.flows.iter().all(|flow| !flow.complete));
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let mut inside = spec(0);
        inside.phase.options = inside.phase.options.replace("\"rr\"", "\"together\"");
        assert!(parts_of(&inside).is_err());
    }
}
