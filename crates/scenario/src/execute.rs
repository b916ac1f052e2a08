//! The interface of the executor that carries the phases of a scenario out.

use sokudo_model::{PhaseRecord, Refusal, Text};

/// A host as scenarios see it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct HostInfo {
    /// Number, from 1: what `node` and `connectnode` take.
    pub number: u32,
    /// Name, unique within the run.
    pub name: String,
    /// Address that the others reach it by.
    pub address: String,
    /// Operating system.
    pub os: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Its clock minus this host's, seconds.
    pub clock_offset_seconds: f64,
    /// The offset is right within this, seconds.
    pub clock_error_seconds: f64,
}

/// A load as one line or one call asks for it, before its hosts are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedLoad {
    /// Registry name of the workload.
    pub workload: String,
    /// Its options as JSON text.
    pub options: String,
    /// Duration, nanoseconds; 0 when only a count bounds it.
    pub duration_ns: u64,
    /// Peers as they were typed: numbers or names.
    pub peers: Vec<String>,
    /// Directed flows among the loading host (position 0) and its peers (from position 1), with
    /// the number of the parallel stream.
    pub flows: Vec<(u32, u32, u32)>,
}

impl OrderedLoad {
    /// True when it goes to another host of the run, and not to a server that is named by its options.
    pub fn needs_a_peer(&self) -> bool {
        self.flows.iter().any(|(from, to, _)| from != to)
    }
}

/// A word that loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadWord {
    /// The word.
    pub name: &'static str,
    /// True when it is followed by the server's address, and not by other hosts.
    pub takes_url: bool,
}

impl LoadWord {
    /// Key of the message with the question that the workload answers.
    pub fn question_key(&self) -> String {
        format!("console-asks-{}", self.name)
    }
}

/// One kind of load in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Registry name of the workload.
    pub workload: String,
    /// Its options as JSON text.
    pub options: String,
    /// Duration, nanoseconds; 0 when only a count bounds it.
    pub duration_ns: u64,
    /// Sender and receiver of each flow, by host number, with the number of the parallel stream.
    pub flows: Vec<(u32, u32, u32)>,
}

/// Settings of a server under a name.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct NamedSettings {
    /// The name.
    pub name: String,
    /// Each setting with its value.
    pub settings: Vec<(String, String)>,
}

/// Loads that start together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Phase {
    /// Name, unique within the run.
    pub name: String,
    /// Its loads.
    pub parts: Vec<Part>,
    /// The phase ends after this in any case, nanoseconds.
    pub bound_ns: Option<u64>,
    /// Labels that distinguish this phase from similar ones.
    pub labels: Vec<(String, String)>,
}

/// The reason why something was not carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", sokudo_i18n::english(says))]
pub struct Failed {
    /// The failure.
    pub says: Text,
    /// Remedy for the operator.
    pub hint: Option<Text>,
    /// True when the operator wants the run to end.
    pub interrupted: bool,
}

impl Failed {
    /// Something that the operator can mend.
    pub fn new(says: impl Into<Text>, hint: impl Into<Text>) -> Self {
        Self {
            says: says.into(),
            hint: Some(hint.into()),
            interrupted: false,
        }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self {
            says: refusal.says,
            hint: refusal.hint,
            interrupted: false,
        }
    }
}

/// Carries out what a scenario asks for.
pub trait Executor {
    /// The hosts, by number from 1 without gaps.
    fn hosts(&self) -> Vec<HostInfo>;

    /// Words that load.
    fn words(&self) -> Vec<LoadWord>;

    /// Reads what follows a workload's word as its own command does.
    ///
    /// Errors: no such word, or options that cannot be understood or do not fit together.
    fn read(&self, word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed>;

    /// Loads, and waits until all is over or the phase's bound has passed.
    ///
    /// Errors: nothing was measured.
    fn carry_out(&mut self, phase: &Phase) -> Result<PhaseRecord, Failed>;

    /// State, at both ends, of the connections that stalled in the last phase, in sentences.
    fn stalls(&mut self, record: &PhaseRecord) -> Vec<Text>;

    /// Does nothing for so long, or until the operator wants the run to end.
    fn pause(&mut self, ns: u64) -> Result<(), Failed>;

    /// Compares the clocks again; [`Executor::hosts`] then returns the new offsets.
    fn sync_time(&mut self) -> Result<(), Failed>;

    /// Takes samples of all monitors so often from now on, nanoseconds.
    fn monitor(&mut self, every_ns: u64) -> Result<(), Failed>;

    /// Observes with this monitor, too, from now on: `process:port=8080`.
    ///
    /// Errors: no such monitor, an option that cannot be used, or a host that does not allow it.
    fn observe(&mut self, monitor: &str) -> Result<(), Failed>;

    /// Changes knobs of the loaded target until they are put back or the scenario ends.
    ///
    /// Errors: no target runs, or a knob cannot have this value.
    fn set_knobs(&mut self, pairs: &[(String, String)]) -> Result<(), Failed>;

    /// Puts all knobs back that were changed.
    fn put_knobs_back(&mut self);

    /// Takes settings of the database server at this address under names, to be applied by their places.
    ///
    /// Errors: the server does not answer, or does not let one of the settings be changed while it runs; a crash
    /// may lose commits with them, and that is not allowed.
    fn hold_settings(&mut self, target: &str, profiles: &[NamedSettings]) -> Result<(), Failed>;

    /// Gives the server the settings of this place, and those that they do not name as they were before.
    fn apply_settings(&mut self, place: usize) -> Result<(), Failed>;

    /// Puts all settings of the server back.
    fn release_settings(&mut self) -> Result<(), Failed>;

    /// Puts a sentence into the report.
    fn note(&mut self, what: Text);

    /// Shows a sentence to the operator.
    fn say(&mut self, what: &Text);

    /// Records that something is missing, and shows it to the operator.
    fn missing(&mut self, what: Text);
}
