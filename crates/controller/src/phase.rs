//! Carries out one phase: prepare, arm, start together, measure, drain, join.

use std::collections::BTreeSet;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use sokudo_bus::{BusError, MemberId, Patience};
use sokudo_i18n::english;
use sokudo_model::manifest::TOGETHER;
use sokudo_model::skew::{self, MAX_SKEW};
use sokudo_model::spec::needed_by;
use sokudo_model::{
    ClockReading, HostClock, PhasePlan, PhaseRecord, PhaseResult, PhaseSpec, Refusal, RunStatus,
    Text, Unit,
};
use sokudo_net::clock::now_ns;
use sokudo_wire::{Ask, Note, Reply};
use sokudo_workload::{HostResult, Workload};

use crate::error::ControlError;
use crate::hosts::ASK_BOUND;
use crate::run::{Progress, Run};
use crate::together::lead_ns;

/// Longest wait for a host to bind or connect.
const READY_BOUND: Duration = Duration::from_secs(20);
/// Longest wait for a host to complete its counts after the senders have finished.
const DRAIN_BOUND: Duration = Duration::from_secs(30);
/// Longest wait for the senders to stop when they are told to.
const HALT_BOUND: Duration = Duration::from_secs(5);
/// Longest wait for the answers to what ends a phase, or a run, whose load did not begin: a host may be at
/// what was given up.
const UNBEGUN_BOUND: Duration = Duration::from_millis(300);
/// Longest time of a phase beyond its load, in any case.
pub const SLACK_NS: u64 = 30_000_000_000;
/// Most attempts at a phase until its flows begin together.
const ATTEMPTS: u32 = 3;
/// Time between two progress reports to the observer.
const TICK: Duration = Duration::from_millis(100);

/// Result of a phase.
struct Carried {
    /// The phase as it was planned.
    whole: PhaseRecord,
    /// Each of its loads, when it mixed several.
    loads: Vec<PhaseRecord>,
}

/// Status of a phase that the operator halted after `halted_ns`, or did not.
fn ended(result: &PhaseResult, halted_ns: Option<i64>) -> RunStatus {
    let whole = halted_ns.is_none() && result.flows.iter().all(|flow| flow.complete);
    let nothing = result.flows.iter().all(|flow| flow.metrics.is_empty());
    match (whole, nothing) {
        (true, _) => RunStatus::Ok,
        (false, true) => RunStatus::Failed,
        (false, false) => RunStatus::Partial,
    }
}

/// Name of one load of a mixed phase, different from those of the others.
fn load_name(plan: &PhasePlan, workload: &str, names: &mut BTreeSet<String>) -> String {
    let first = format!("{}/{workload}", plan.name);
    let more = (2u32..).map(|number| format!("{first}-{number}"));
    let name = std::iter::once(first.clone())
        .chain(more)
        .find(|name| !names.contains(name))
        .unwrap_or(first);
    names.insert(name.clone());
    name
}

impl Run {
    /// Runs one phase and adds it to the manifest: one that mixes several loads as a phase per load.
    ///
    /// A host that is lost on the way makes the phase partial; its numbers are missing, the others'
    /// are kept. An error means that nothing was measured. A phase whose flows begin too far apart (see
    /// [`Run::repeat_above_skew`]) is repeated, and only the last time is kept.
    pub fn run_phase(&mut self, mut plan: PhasePlan) -> Result<PhaseRecord, ControlError> {
        if self.interrupted() {
            return Err(ControlError::Interrupted);
        }
        let workload =
            sokudo_workloads::find(&plan.workload).ok_or_else(|| ControlError::Operator {
                says: Text::new("error-workload-unknown").word("workload", &plan.workload),
                hint: None,
            })?;
        if let Some(max_ns) = self.max_skew_ns {
            plan.labels.insert(MAX_SKEW.into(), format!("{max_ns}ns"));
        }
        self.manifest.plan.phases.push(plan.clone());
        self.look_at_clocks();
        let mut attempt = 1;
        loop {
            let tickets = self.tickets(plan.flows.len())?;
            let outcome = self.carry_out(workload, &plan, &tickets);
            self.end_bound = match &outcome {
                Err(ControlError::Interrupted) => UNBEGUN_BOUND,
                _ => ASK_BOUND,
            };
            // The record says so, wherever the run ended.
            self.interrupted();
            self.stop_phase();
            let Carried { whole, loads } = outcome?;
            if attempt < ATTEMPTS && self.begins_apart(&whole) && !self.interrupted() {
                attempt += 1;
                continue;
            }
            self.add_phases(match loads.is_empty() {
                true => vec![whole.clone()],
                false => loads,
            })?;
            return Ok(whole);
        }
    }

    /// True when the flows of a phase began too far apart; the record keeps that it is repeated.
    fn begins_apart(&mut self, record: &PhaseRecord) -> bool {
        let spread = skew::of(std::slice::from_ref(record));
        let both = spread.zip(skew::most(record));
        let Some((spread_s, max_s)) = both.filter(|(spread, max)| spread > max) else {
            return false;
        };
        let note = Text::new("engine-skew-repeated")
            .word("phase", &record.name)
            .number("spread", spread_s, Unit::Seconds)
            .number("max", max_s, Unit::Seconds);
        self.manifest.notes.push(note);
        true
    }

    fn tickets(&self, count: usize) -> Result<Vec<u64>, ControlError> {
        let random = SystemRandom::new();
        (0..count)
            .map(|_| {
                let mut bytes = [0u8; 8];
                random
                    .fill(&mut bytes)
                    .map_err(|_| ControlError::Operator {
                        says: Text::new("error-no-randomness"),
                        hint: None,
                    })?;
                Ok(u64::from_be_bytes(bytes))
            })
            .collect()
    }

    /// Host indices that a plan gives something to do.
    fn taking_part(&self, plan: &PhasePlan) -> Vec<usize> {
        (0..self.hosts.list().len())
            .filter(|index| {
                let index = *index as u32;
                plan.flows
                    .iter()
                    .any(|flow| flow.from == index || flow.to == index)
            })
            .collect()
    }

    fn carry_out(
        &mut self,
        workload: &dyn Workload,
        plan: &PhasePlan,
        tickets: &[u64],
    ) -> Result<Carried, ControlError> {
        let parts = self.taking_part(plan);
        let offers = self.prepare(plan, &parts, tickets)?;
        self.ask_parts(&parts, |index| Ask::Arm {
            offers: told_to(index, plan, &offers),
        })?;
        let before = match workload.compares_clocks() {
            true => Some(self.read_clocks(&parts)),
            false => None,
        };
        let at_ns = self.start(plan, &parts)?;
        self.observer.note(&Progress::PhaseBegins(plan));
        let (sent, halted_ns) = self.measure(plan, &parts, at_ns);
        self.hosts.bus.wake();
        if let Some(before) = before {
            self.tell_clocks(plan, &parts, &before);
        }
        let drained = self.drain(plan, &parts, &sent);
        let spec = PhaseSpec {
            run: self.manifest.id.clone(),
            phase: as_carried_out(plan, halted_ns),
            hosts: self.hosts.seen_by(0, &vec![true; self.hosts.list().len()]),
            me: 0,
            seed: self.manifest.seed,
            tickets: tickets.to_vec(),
        };
        let unreadable = |refusal: Refusal| ControlError::Operator {
            says: refusal.says,
            hint: refusal.hint,
        };
        let result = workload.join(&spec, &drained.results);
        let result = result.map_err(unreadable)?;
        let nothing = result.flows.iter().all(|flow| flow.metrics.is_empty());
        match drained.refused {
            // The options ask for something impossible, which only the operator can mend.
            Some(refused) if nothing => return Err(refused),
            _ => self.note_silent(&drained.silent, &plan.name),
        }
        let span_ns = (at_ns - self.t0_ns, self.elapsed_ns());
        let record = |plan: &PhasePlan, result: PhaseResult| PhaseRecord {
            options: plan.options.clone(),
            labels: plan.labels.clone(),
            status: ended(&result, halted_ns),
            ..PhaseRecord::plain(&plan.name, &plan.workload, span_ns, result)
        };
        let loads = sokudo_workloads::join_each(&spec, &drained.results);
        let loads = loads.map_err(unreadable)?.into_iter();
        let mut names = BTreeSet::new();
        let loads = loads.map(|(own, result)| {
            let name = load_name(plan, &own.phase.workload, &mut names);
            let mut load = PhaseRecord {
                name,
                ..record(&own.phase, result)
            };
            load.labels.insert(TOGETHER.into(), plan.name.clone());
            load
        });
        Ok(Carried {
            loads: loads.collect(),
            whole: record(plan, result),
        })
    }

    fn prepare(
        &mut self,
        plan: &PhasePlan,
        parts: &[usize],
        tickets: &[u64],
    ) -> Result<Vec<Option<String>>, ControlError> {
        let (hosts, run, seed) = (&self.hosts, &self.manifest.id, self.manifest.seed);
        let ask = |me: usize| {
            let needed = needed_by(me as u32, &plan.flows, hosts.list().len());
            Ask::Prepare(Box::new(PhaseSpec {
                run: run.clone(),
                phase: plan.clone(),
                hosts: hosts.seen_by(me, &needed),
                me: me as u32,
                seed,
                tickets: tickets.to_vec(),
            }))
        };
        let answers = self.ask_hosts(parts, ask, self.hosts.patience(READY_BOUND));
        let mut offers = vec![None; self.hosts.list().len()];
        for (index, answer) in parts.iter().zip(answers) {
            offers[*index] = match answer? {
                Reply::Offer(offer) => Some(offer),
                other => {
                    self.done(*index, other)?;
                    None
                }
            };
        }
        Ok(offers)
    }

    /// Asks all hosts of the phase the same thing and expects that they do it.
    fn ask_parts(
        &self,
        parts: &[usize],
        ask: impl Fn(usize) -> Ask + Sync,
    ) -> Result<(), ControlError> {
        let answers = self.ask_hosts(parts, ask, self.hosts.patience(READY_BOUND));
        for (index, answer) in parts.iter().zip(answers) {
            self.done(*index, answer?)?;
        }
        Ok(())
    }

    /// Answers of these hosts to a question, by their indices.
    fn ask_hosts<'a>(
        &self,
        indices: &[usize],
        ask: impl Fn(usize) -> Ask + Sync,
        bound: impl Into<Patience<'a>>,
    ) -> Vec<Result<Reply, BusError>> {
        let hosts = self.hosts.list();
        let members: Vec<MemberId> = indices.iter().map(|index| hosts[*index].member).collect();
        let make = |at: usize| ask(indices[at]);
        self.hosts.bus.ask_each(&members, make, bound)
    }

    /// Orders the start at one moment of the shared clock; returns it on the controller's clock.
    fn start(&mut self, plan: &PhasePlan, parts: &[usize]) -> Result<i64, ControlError> {
        let errors_ns = self.hosts.list().iter().map(|host| host.clock.error_ns);
        let error_ns = errors_ns.max().unwrap_or(0);
        let error_ns = i64::try_from(error_ns).unwrap_or(i64::MAX);
        let lead_ns = lead_ns(self.tell_all_ns(parts), error_ns);
        self.start_lead_ns = self.start_lead_ns.max(lead_ns);
        let at_ns = now_ns() + lead_ns;
        let t0_ns = self.t0_ns;
        let offsets: Vec<i64> = self
            .hosts
            .list()
            .iter()
            .map(|host| host.clock.offset_ns)
            .collect();
        self.ask_parts(parts, |index| Ask::Start {
            at_ns: at_ns + offsets[index],
            t0_ns: t0_ns + offsets[index],
        })?;
        if self.quiet_phases {
            // The duration of a count is unknown: its senders report when they have finished.
            let load_ns = match plan.duration_ns {
                0 => plan.bound_ns,
                duration_ns => duration_ns,
            };
            let until_ns = u64::try_from(lead_ns).unwrap_or(0).saturating_add(load_ns);
            self.hosts.bus.hush(Duration::from_nanos(until_ns));
        }
        Ok(at_ns)
    }

    /// Time of a short command to these hosts until the last one has answered, nanoseconds.
    fn tell_all_ns(&self, parts: &[usize]) -> i64 {
        let begun_ns = now_ns();
        // A host that does not answer this does not answer the order to start either, and that is
        // reported.
        let _ = self.ask_hosts(&self.alive(parts), |_| Ask::Clock, ASK_BOUND);
        now_ns() - begun_ns
    }

    /// The clocks of the hosts of a phase, now, by host index; `None` for one that cannot say. The
    /// record keeps them.
    fn read_clocks(&mut self, parts: &[usize]) -> Vec<Option<ClockReading>> {
        let mut readings = vec![None; self.hosts.list().len()];
        let alive = parts.iter().copied().filter(|index| !self.lost[*index]);
        for index in alive.collect::<Vec<_>>() {
            // Whether a silent host is lost shows when it is asked for its numbers.
            let Ok(reading) = self.hosts.read_clock(index) else {
                continue;
            };
            readings[index] = Some(reading);
            self.keep_clock(index, reading);
        }
        readings
    }

    /// Reads the clocks again and sends the readings to all hosts of the phase.
    fn tell_clocks(&mut self, plan: &PhasePlan, parts: &[usize], before: &[Option<ClockReading>]) {
        let after = self.read_clocks(parts);
        let both = |(before, after): (&Option<ClockReading>, Option<ClockReading>)| {
            Some(HostClock {
                before: (*before)?,
                after: after?,
            })
        };
        let clocks: Vec<_> = before.iter().zip(after).map(both).collect();
        let ask = |index| Ask::Clocks {
            clocks: told_to(index, plan, &clocks),
        };
        // A host that does not receive them leaves out the numbers that need them, and says so.
        let _ = self.ask_hosts(&self.alive(parts), ask, ASK_BOUND);
    }

    /// Takes notes until every sending host has finished or is lost, or the time is over.
    ///
    /// When the operator interrupts, the senders are ordered to stop, and the rest goes on as usual: what
    /// was measured until then is a result like any other. The second value is the time since the start at which
    /// that happened, nanoseconds.
    fn measure(
        &mut self,
        plan: &PhasePlan,
        parts: &[usize],
        at_ns: i64,
    ) -> (Vec<Option<String>>, Option<i64>) {
        let mut sent: Vec<Option<String>> = vec![None; self.hosts.list().len()];
        let mut give_up_ns = at_ns + plan.bound_ns as i64;
        let mut halted_ns = None;
        while self.somebody_sends(plan, parts, &sent) {
            if self.interrupted() && halted_ns.is_none() {
                halted_ns = Some(now_ns() - at_ns);
                give_up_ns = now_ns() + HALT_BOUND.as_nanos() as i64;
                self.halt(parts);
            }
            self.steer(parts, &plan.name);
            if now_ns() > give_up_ns {
                let says = Text::new("engine-phase-bound").number(
                    "bound",
                    plan.bound_ns as f64 / 1e9,
                    Unit::Seconds,
                );
                self.problem("", &plan.name, says, None);
                break;
            }
            match self.hosts.bus.notes().recv_timeout(TICK) {
                Ok((member, note)) => {
                    if let Some(index) = self.hosts.index_of(member)
                        && let Some(Note::Sent(text)) = self.take_note(index, note, &plan.name)
                    {
                        sent[index] = Some(text);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let elapsed_ns = (now_ns() - at_ns).max(0) as u64;
            self.observer.note(&Progress::Elapsed {
                elapsed_ns,
                begin_ns: at_ns - self.t0_ns,
            });
        }
        (sent, halted_ns)
    }

    /// True while a living host still sends to a living one.
    fn somebody_sends(&self, plan: &PhasePlan, parts: &[usize], sent: &[Option<String>]) -> bool {
        parts.iter().any(|index| {
            let to_anybody = plan
                .flows
                .iter()
                .any(|flow| flow.from as usize == *index && !self.lost[flow.to as usize]);
            to_anybody && sent[*index].is_none() && !self.lost[*index]
        })
    }

    fn halt(&mut self, parts: &[usize]) {
        // A host that does not answer is given up when the bound is over.
        let _ = self.ask_hosts(&self.alive(parts), |_| Ask::Halt, HALT_BOUND);
    }

    /// All hosts that are not lost, by index.
    pub(crate) fn all_alive(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.lost.len()).collect();
        self.alive(&all)
    }

    /// Those of these hosts that are not lost.
    fn alive(&self, indices: &[usize]) -> Vec<usize> {
        let alive = indices.iter().filter(|index| !self.lost[**index]);
        alive.copied().collect()
    }

    /// Collects what every host measured.
    fn drain(&mut self, plan: &PhasePlan, parts: &[usize], sent: &[Option<String>]) -> Drained {
        let mut drained = Drained {
            results: vec![Err("took no part".into()); self.hosts.list().len()],
            silent: Vec::new(),
            refused: None,
        };
        let alive = self.alive(parts);
        // Senders whose peer is gone may still be sending.
        self.halt(parts);
        let ask = |index| Ask::Drain {
            sent: told_to(index, plan, sent),
        };
        let answers = self.ask_hosts(&alive, ask, DRAIN_BOUND);
        for (index, answer) in alive.into_iter().zip(answers) {
            let why = match answer {
                Ok(Reply::Result(text)) => {
                    drained.results[index] = Ok(text);
                    continue;
                }
                Err(BusError::Lost { why, .. }) => {
                    drained.results[index] = Err(english(&why));
                    self.lose(index, why, &plan.name);
                    continue;
                }
                Ok(Reply::Refused(refusal)) => {
                    let why = refusal.says.clone();
                    if refusal.operator_error {
                        let host = self.hosts.list()[index].name.clone();
                        drained.refused = Some(ControlError::refused(host, refusal));
                    }
                    why
                }
                Ok(_) => Text::new("error-answered-out-of-order"),
                Err(error) => error.says(),
            };
            drained.results[index] = Err(english(&why));
            drained.silent.push((index, why));
        }
        drained
    }

    /// Keeps in the record which hosts gave no result, and why.
    fn note_silent(&mut self, silent: &[(usize, Text)], phase: &str) {
        for (index, why) in silent {
            let host = self.hosts.list()[*index].name.clone();
            let says = Text::new("engine-no-result")
                .word("host", &host)
                .text("why", why.clone());
            let missing = Text::new("engine-host-lost-missing").word("host", &host);
            self.problem(&host, phase, says, Some(missing));
        }
    }

    /// Stops all load of the phase, also after errors.
    fn stop_phase(&mut self) {
        let all: Vec<usize> = (0..self.lost.len()).collect();
        // A host that does not answer stops by itself when its lease ends.
        let _ = self.ask_hosts(&self.alive(&all), |_| Ask::Stop, self.end_bound);
        self.attend();
    }
}

/// The plan with the real length of a load that the operator ended `halted_ns` after its start: what the
/// rates are counted over. Before the start nothing was carried out.
fn as_carried_out(plan: &PhasePlan, halted_ns: Option<i64>) -> PhasePlan {
    let mut plan = plan.clone();
    if let Some(halted_ns) = halted_ns {
        let real_ns = u64::try_from(halted_ns).unwrap_or(0).max(1);
        plan.duration_ns = match plan.duration_ns {
            0 => real_ns,
            planned_ns => planned_ns.min(real_ns),
        };
    }
    plan
}

/// Results that were collected from the hosts of a phase.
struct Drained {
    /// By host.
    results: Vec<HostResult>,
    /// Hosts that are there and gave no result, and why.
    silent: Vec<(usize, Text)>,
    /// One of them met something that the operator can mend.
    refused: Option<ControlError>,
}

/// The answers of other hosts that host `index` is sent: of those that it has a flow with.
fn told_to<T: Clone>(index: usize, plan: &PhasePlan, said: &[Option<T>]) -> Vec<Option<T>> {
    let needed = needed_by(index as u32, &plan.flows, said.len());
    let told = said.iter().zip(needed);
    let one = |(said, needed): (&Option<T>, bool)| said.as_ref().filter(|_| needed).cloned();
    told.map(one).collect()
}
