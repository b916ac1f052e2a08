//! An executor for tests that only records what it was asked.

use sokudo_model::kinds::rr;
use sokudo_model::{FlowResult, PhaseRecord, PhaseResult, RunStatus, Text};

use crate::execute::{Executor, Failed, HostInfo, LoadWord, NamedSettings, OrderedLoad, Phase};

/// Remembers phases; flows towards `dead` have no result.
#[derive(Default)]
pub(crate) struct Remembering {
    pub count: u32,
    pub dead: Option<u32>,
    pub phases: Vec<Phase>,
    pub said: Vec<Text>,
    pub missing: Vec<Text>,
    pub observed: Vec<String>,
    pub knobs: Vec<String>,
    /// Settings that can be applied, and what was done with them.
    pub profiles: Vec<NamedSettings>,
    pub applied: Vec<String>,
    pub paused_ns: u64,
    pub clock_error_seconds: f64,
}

impl Executor for Remembering {
    fn hosts(&self) -> Vec<HostInfo> {
        let host = |number: u32| HostInfo {
            number,
            name: format!("host{number}"),
            address: format!("192.0.2.{number}"),
            os: "linux".into(),
            cores: 1,
            clock_offset_seconds: 0.0,
            clock_error_seconds: self.clock_error_seconds,
        };
        (1..=self.count).map(host).collect()
    }

    fn words(&self) -> Vec<LoadWord> {
        let word = |name, takes_url| LoadWord { name, takes_url };
        vec![
            word("crr", false),
            word("http", true),
            word("rr", false),
            word("stream", false),
        ]
    }

    fn read(&self, word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed> {
        let Some(known) = self.words().into_iter().find(|known| known.name == word) else {
            return Err(Failed::new(format!("no word `{word}`"), "say another"));
        };
        if known.takes_url {
            return Ok(OrderedLoad {
                workload: word.into(),
                options: arguments.join(" "),
                duration_ns: 0,
                flows: vec![(0, 0, 0)],
                peers: Vec::new(),
            });
        }
        let (options, peers): (Vec<_>, Vec<_>) =
            arguments.iter().cloned().partition(|a| a.starts_with("--"));
        Ok(OrderedLoad {
            workload: word.into(),
            options: options.join(" "),
            duration_ns: 0,
            flows: (1..=peers.len().max(1) as u32).map(|p| (0, p, 0)).collect(),
            peers,
        })
    }

    fn carry_out(&mut self, phase: &Phase) -> Result<PhaseRecord, Failed> {
        self.phases.push(phase.clone());
        let flows = phase.parts.iter().flat_map(|part| &part.flows);
        let result = |(from, to, _): &(u32, u32, u32)| FlowResult {
            from: format!("host{from}"),
            to: format!("host{to}"),
            metrics: [(rr::TRANSACTIONS.name.to_owned(), 1.0)].into(),
            complete: self.dead != Some(*to),
            ..FlowResult::default()
        };
        Ok(PhaseRecord {
            name: phase.name.clone(),
            workload: "rr".into(),
            options: String::new(),
            labels: Default::default(),
            t0_ns: 0,
            t1_ns: 1,
            status: RunStatus::Ok,
            result: PhaseResult {
                flows: flows.map(result).collect(),
                ..PhaseResult::default()
            },
        })
    }

    fn stalls(&mut self, _: &PhaseRecord) -> Vec<Text> {
        self.dead
            .map(|_| Text::new("rule-stalled-says"))
            .into_iter()
            .collect()
    }

    fn pause(&mut self, ns: u64) -> Result<(), Failed> {
        self.paused_ns += ns;
        Ok(())
    }

    fn sync_time(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn monitor(&mut self, _: u64) -> Result<(), Failed> {
        Ok(())
    }

    fn observe(&mut self, monitor: &str) -> Result<(), Failed> {
        self.observed.push(monitor.to_owned());
        Ok(())
    }

    fn set_knobs(&mut self, pairs: &[(String, String)]) -> Result<(), Failed> {
        let pairs = pairs.iter().map(|(key, value)| format!("{key}={value}"));
        self.knobs.extend(pairs);
        Ok(())
    }

    fn put_knobs_back(&mut self) {
        self.knobs.clear();
    }

    fn hold_settings(&mut self, target: &str, profiles: &[NamedSettings]) -> Result<(), Failed> {
        self.applied.push(format!("hold {target}"));
        self.profiles = profiles.to_vec();
        Ok(())
    }

    fn apply_settings(&mut self, place: usize) -> Result<(), Failed> {
        self.applied.push(self.profiles[place].name.clone());
        Ok(())
    }

    fn release_settings(&mut self) -> Result<(), Failed> {
        self.applied.push("release".into());
        Ok(())
    }

    fn note(&mut self, what: Text) {
        self.said.push(what);
    }

    fn say(&mut self, what: &Text) {
        self.said.push(what.clone());
    }

    fn missing(&mut self, what: Text) {
        self.missing.push(what);
    }
}
