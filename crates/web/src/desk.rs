//! Orders from the page, and the interface of the code that carries them out.

use serde::{Deserialize, Serialize};
use sokudo_model::{Change, Refusal, Text};

use crate::feed::Words;

/// A host as the page lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostRow {
    /// Number from 1, as console lines use it; 0 for the host that gives the commands.
    pub number: u32,
    /// Name, unique within the run.
    pub name: String,
    /// Address that the others reach it by; empty inside one process.
    pub address: String,
    /// Operating system.
    pub os: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Its clock minus this host's, seconds.
    pub clock_offset_seconds: f64,
    /// The offset is right within this, seconds.
    pub clock_error_seconds: f64,
    /// Health of its connection: `ready`, `suspect`, `lost`.
    pub health: &'static str,
}

/// Language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Console lines, `.sks`.
    Lines,
    /// A program, `.js`.
    Javascript,
}

/// An order that takes time; its progress goes to the feed. A record keeps the order that it came of, so
/// that it can be given again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    /// Reach all hosts and learn who they are.
    Collect {},
    /// Carry out a script, from a fresh record to its report.
    Run {
        /// Language of the text.
        language: Language,
        /// The script.
        text: String,
    },
    /// Carry out one console line; the first one opens a record that stays open.
    Line {
        /// The line.
        text: String,
    },
    /// Close the record that console lines have opened.
    Close {},
    /// Load a web server from this host.
    Http(WebLoad),
    /// Execute a JMeter plan from this host.
    Plan(PlanLoad),
}

/// Load on one URL, in words as typed; an empty word leaves its option out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebLoad {
    /// The URL to load.
    pub url: String,
    /// Users: connections, and thereby requests under way at a time.
    pub users: String,
    /// Time over which they come: `10s`.
    pub ramp: String,
    /// Duration: `10s`.
    pub duration: String,
    /// Requests per second: `500/s`; as fast as answers come when empty.
    pub rate: String,
    /// Bounds that must be kept: `p95<2s,err<0.1%`.
    pub slo: String,
    /// Monitors beside the usual ones: `process:port=80`.
    pub monitors: Vec<String>,
}

/// The users of a JMeter plan, in words as typed; an empty word leaves what the plan says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanLoad {
    /// The plan, and the data files that it reads.
    pub files: Vec<PlanFile>,
    /// Users of each main group.
    pub users: String,
    /// Time until all of them have begun: `30s`.
    pub ramp: String,
    /// Length of the main groups: `5min`.
    pub duration: String,
    /// Bounds that must be kept: `p95<2s,err<0.1%`.
    pub slo: String,
    /// Properties of the plan: `THREADS=40`.
    pub properties: Vec<String>,
    /// Monitors beside the usual ones: `process:port=80`.
    pub monitors: Vec<String>,
}

/// A file that the page hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Its name, without a directory.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Order to write a script.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emit {
    /// Language of the script.
    pub language: Language,
    /// Number of pairs; all that there are when absent.
    pub pairs: Option<u32>,
    /// Bytes each way, as typed: `1MB`.
    pub size: String,
    /// Number of exchanges.
    pub times: u64,
    /// Both ways at once.
    pub duplex: bool,
}

/// Something wrong in a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Line from 1; 0 when it is not known.
    pub line: u32,
    /// Column in characters from 1; 0 when it is not known.
    pub column: u32,
    /// The mistake.
    pub says: Words,
    /// Remedy for the operator.
    pub hint: Words,
}

/// Reason why an order was not taken on.
#[derive(Debug, Clone)]
pub struct NotTaken {
    /// The field of the page that was wrong, by its name in the order; empty: none alone.
    pub field: &'static str,
    /// The reason.
    pub why: Box<Refusal>,
    /// Every mistake in the text of that field, with its place.
    pub mistakes: Vec<Mistake>,
}

impl From<Refusal> for NotTaken {
    fn from(why: Refusal) -> Self {
        Self::at("", why)
    }
}

impl NotTaken {
    /// The content of this field was wrong.
    pub fn at(field: &'static str, why: Refusal) -> Self {
        Self {
            field,
            why: Box::new(why),
            mistakes: Vec::new(),
        }
    }
}

/// Carries out the orders of the page.
pub trait Desk: Send + Sync {
    /// Takes an order on, and returns before it is carried out.
    ///
    /// Errors: another one is under way, this page only watches, or a field holds what cannot be read.
    fn order(&self, order: Order) -> Result<(), NotTaken>;

    /// Writes a script for the hosts that are known.
    ///
    /// Errors: hosts are not known, or too few for what is asked.
    fn emit(&self, asked: &Emit) -> Result<String, Refusal>;

    /// Mistakes of a script that can be found without running it.
    fn check(&self, language: Language, text: &str) -> Vec<Mistake>;

    /// Changes the running load.
    ///
    /// Errors: nothing runs, or the change is not valid.
    fn steer(&self, change: Change) -> Result<(), Refusal>;

    /// Stops the running order: load stops, what was measured is kept. False when none is running.
    fn stop(&self) -> bool;
}

/// A refusal that the operator can mend.
pub fn refusal(says: impl Into<Text>, hint: impl Into<Text>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}
