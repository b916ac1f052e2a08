//! A run as scenarios see it: carries out their phases, pauses and words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sokudo_controller::{ControlError, Hosts, Knobs, Run};
use sokudo_model::{FlowPlan, MonitorSpec, PhasePlan, PhaseRecord, Refusal, Text};
use sokudo_monitors::Files;
use sokudo_scenario::{
    Executor, Failed, HostInfo, LoadWord, NamedSettings, OrderedLoad, Part, Phase,
};
use sokudo_workloads::together::{self, TogetherOptions, TogetherPart};

use crate::loaded::LoadedServer;
use crate::settings::ServerSettings;
use crate::witness::Heard;
use crate::{WATCH_NS, bound_ns, words};

/// Time between two looks of a pause at the operator's wish to end.
const LOOK: Duration = Duration::from_millis(50);

/// Receiver of the lines' output.
pub type Voice = Box<dyn FnMut(&Text)>;

/// Gives access to the knobs of the target that runs. Errors: there is none.
pub type FindKnobs = Box<dyn FnOnce() -> Result<Box<dyn Knobs>, Refusal> + Send>;

/// A run that goes on, as scenarios see it.
pub struct Lab {
    /// The run.
    pub run: Run,
    /// Index of host number 1: the host that gives the commands has no number.
    pub first: usize,
    /// Told what the lines say.
    pub voice: Voice,
    /// Set when the operator wants the run to end.
    pub stop: Arc<AtomicBool>,
    /// Seed of the run.
    pub seed: u64,
    /// Series about connections in the present phase.
    pub heard: Heard,
    /// Whether loads may name files of this host.
    pub files: Files,
    /// Asked for when the first knob is changed; `None` then, and where none may be.
    pub find_knobs: Option<FindKnobs>,
    /// Servers whose monitors were begun, or could not be.
    pub loaded: Vec<LoadedServer>,
    /// The monitors that were begun for them.
    pub attached: Vec<MonitorSpec>,
    /// Settings of database servers; `None` where they must not be changed.
    pub settings: Option<ServerSettings>,
}

impl Lab {
    /// Index of a host in the run's table.
    fn index(&self, number: u32) -> u32 {
        number - 1 + self.first as u32
    }

    /// Number of hosts that were not lost.
    fn there(&self) -> usize {
        let all = 0..self.run.hosts().list().len();
        all.filter(|index| !self.run.is_lost(*index)).count()
    }

    /// Flows between hosts that are still there, by index; those that are not are told.
    fn flows(&mut self, part: &Part) -> Vec<(u32, u32, u32)> {
        let by_index = part.flows.iter();
        let by_index: Vec<_> = by_index
            .map(|(from, to, stream)| (self.index(*from), self.index(*to), *stream))
            .collect();
        let (alive, dead): (Vec<_>, Vec<_>) = by_index.into_iter().partition(|(from, to, _)| {
            !self.run.is_lost(*from as usize) && !self.run.is_lost(*to as usize)
        });
        for (from, to, _) in dead {
            let name = |index: u32| self.run.hosts().list()[index as usize].name.clone();
            let says = Text::new("console-flow-lost")
                .word("from", name(from))
                .word("to", name(to));
            self.run.note_problem(says);
        }
        alive
    }

    /// Begins to observe the servers that this host loads in a phase, where that was not done before. Other hosts
    /// that load may not, and need not, ask them about themselves.
    fn observe_loaded(&mut self, phase: &Phase) {
        let own = |part: &&Part| part.flows.iter().all(|(from, ..)| self.index(*from) == 0);
        let servers = phase.parts.iter().filter(own);
        let servers = servers.filter_map(|it| words::loaded_server(&it.workload, &it.options));
        for server in servers.collect::<Vec<_>>() {
            if self.loaded.contains(&server) {
                continue;
            }
            let attached = self.attach(&server);
            self.loaded.push(server);
            match attached {
                Ok(Some(says)) => {
                    self.say(&says);
                    self.note(says);
                }
                Ok(None) => {}
                // The load itself can go on without.
                Err(failed) => self.missing(failed.says),
            }
        }
    }

    /// Begins the monitors of a loaded server; gives the remark about them.
    fn attach(&mut self, server: &LoadedServer) -> Result<Option<Text>, Failed> {
        let known = &self.run.manifest().plan.monitors;
        let is_asked = |spec: &&MonitorSpec| !self.attached.contains(spec);
        let asked: Vec<MonitorSpec> = known.iter().filter(is_asked).cloned().collect();
        let attached = server.monitors(&asked);
        let mut attached = attached.map_err(|bad| Failed::new(bad.text(), bad.hint()))?;
        attached.specs.retain(|spec| !known.contains(spec));
        if !attached.specs.is_empty() {
            self.run.observe(attached.specs.clone()).map_err(failed)?;
            self.attached.extend(attached.specs);
        }
        Ok(attached.says)
    }

    fn plan(&mut self, phase: &Phase) -> PhasePlan {
        let mut flows: Vec<FlowPlan> = Vec::new();
        let mut parts = Vec::new();
        for part in &phase.parts {
            let begin = flows.len() as u32;
            let own = self.flows(part).into_iter().zip(begin..);
            flows.extend(own.map(|((from, to, stream), id)| FlowPlan {
                id,
                from,
                to,
                stream,
            }));
            let loading: BTreeSet<u32> = part.flows.iter().map(|(from, ..)| *from).collect();
            parts.push(TogetherPart {
                workload: part.workload.clone(),
                options: words::of_hosts(&part.workload, &part.options, loading.len() as u32),
                duration_ns: part.duration_ns,
                flows: (begin..flows.len() as u32).collect(),
            });
        }
        parts.retain(|part| !part.flows.is_empty());
        // Work that only a count bounds may outlast the others.
        let counted = parts.iter().any(|part| part.duration_ns == 0);
        let longest_ns = parts.iter().map(|part| part.duration_ns).max();
        let duration_ns = longest_ns.filter(|_| !counted).unwrap_or(0);
        let (workload, options) = match parts.as_slice() {
            [part] => (part.workload.clone(), part.options.clone()),
            _ => {
                let options = TogetherOptions { parts };
                (together::NAME.to_owned(), options.to_json())
            }
        };
        let longest_ns = bound_ns(duration_ns, phase.parts.iter().map(|part| &*part.workload));
        PhasePlan {
            name: phase.name.clone(),
            workload,
            options,
            flows,
            duration_ns,
            bound_ns: phase.bound_ns.unwrap_or(longest_ns),
            labels: phase.labels.iter().cloned().collect(),
        }
    }
}

fn failed(error: ControlError) -> Failed {
    Failed {
        says: error.says(),
        hint: error.hint(),
        interrupted: matches!(error, ControlError::Interrupted),
    }
}

/// Hosts as scenarios see them; `first` is the index of number 1.
pub fn infos(hosts: &Hosts, first: usize) -> Vec<HostInfo> {
    let hosts = hosts.list().iter().skip(first);
    let hosts = hosts.zip(1u32..).map(|(host, number)| HostInfo {
        number,
        name: host.name.clone(),
        address: host.address.clone().unwrap_or_default(),
        os: host.description.os.clone(),
        cores: host.description.cores,
        clock_offset_seconds: host.clock.offset_ns as f64 * 1e-9,
        clock_error_seconds: host.clock.error_ns as f64 * 1e-9,
    });
    hosts.collect()
}

impl Executor for Lab {
    fn hosts(&self) -> Vec<HostInfo> {
        infos(self.run.hosts(), self.first)
    }

    fn words(&self) -> Vec<LoadWord> {
        words::with_files(self.files)
    }

    fn read(&self, word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed> {
        words::read_with_files(word, arguments, self.files)
    }

    fn carry_out(&mut self, phase: &Phase) -> Result<PhaseRecord, Failed> {
        self.observe_loaded(phase);
        loop {
            self.run.attend();
            let there = self.there();
            let plan = self.plan(phase);
            if plan.flows.is_empty() {
                return Err(Failed::new(
                    Text::new("error-scenario-nobody-left").word("phase", &phase.name),
                    Text::new("error-scenario-nobody-left-hint"),
                ));
            }
            let carried_out = self.run.run_phase(plan);
            self.run.attend();
            match carried_out {
                // Nothing was measured yet: the others begin anew without the one that vanished.
                Err(error) if error.is_loss() && self.there() < there => {
                    self.run.manifest_mut().plan.phases.pop();
                }
                carried_out => return carried_out.map_err(failed),
            }
        }
    }

    fn stalls(&mut self, record: &PhaseRecord) -> Vec<Text> {
        self.heard.stalls(self.run.manifest(), record)
    }

    fn pause(&mut self, ns: u64) -> Result<(), Failed> {
        let mut left = Duration::from_nanos(ns);
        while !left.is_zero() {
            if self.run.interrupted() {
                return Err(failed(ControlError::Interrupted));
            }
            let step = left.min(LOOK);
            std::thread::sleep(step);
            left -= step;
        }
        Ok(())
    }

    fn sync_time(&mut self) -> Result<(), Failed> {
        self.run.sync_clocks().map_err(failed)
    }

    fn monitor(&mut self, every_ns: u64) -> Result<(), Failed> {
        self.run.watch_every(every_ns.max(WATCH_NS)).map_err(failed)
    }

    fn observe(&mut self, monitor: &str) -> Result<(), Failed> {
        // Lines also come from a page: they must not name files of this host.
        let spec = sokudo_monitors::parse(monitor, Files::Refused);
        let spec = spec.map_err(|bad| Failed::new(bad.text(), bad.hint()))?;
        self.run.observe(vec![spec]).map_err(failed)
    }

    fn set_knobs(&mut self, pairs: &[(String, String)]) -> Result<(), Failed> {
        if let Some(find) = self.find_knobs.take() {
            let knobs = find().map_err(Failed::from)?;
            self.run.take_knobs(knobs);
        }
        self.run.set_knobs(pairs).map_err(failed)
    }

    fn put_knobs_back(&mut self) {
        // Before the first change there is nothing to put back.
        if self.find_knobs.is_none() {
            self.run.put_knobs_back();
        }
    }

    fn hold_settings(&mut self, target: &str, profiles: &[NamedSettings]) -> Result<(), Failed> {
        let settings = self.settings.as_mut().ok_or_else(|| {
            Failed::new(
                Text::new("error-scenario-settings"),
                Text::new("error-scenario-settings-hint"),
            )
        })?;
        settings.hold(target, profiles).map_err(Failed::from)
    }

    fn apply_settings(&mut self, place: usize) -> Result<(), Failed> {
        let applied = self.settings.as_mut().map(|it| it.apply(place));
        if let Some(says) = applied.transpose().map_err(Failed::from)?.flatten() {
            self.say(&says);
            self.note(says);
        }
        Ok(())
    }

    fn release_settings(&mut self) -> Result<(), Failed> {
        let released = self.settings.as_mut().map(ServerSettings::release);
        if released.transpose().map_err(Failed::from)? == Some(true) {
            self.say(&Text::new("compare-profiles-back"));
        }
        Ok(())
    }

    fn note(&mut self, what: Text) {
        self.run.manifest_mut().notes.push(what);
    }

    fn say(&mut self, what: &Text) {
        (self.voice)(what);
    }

    fn missing(&mut self, what: Text) {
        self.run.note_problem(what);
    }
}
