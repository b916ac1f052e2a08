//! The contract of a monitor, and the erasure of its typed options.
//!
//! ```text
//!  CLI, script, page ── key=value ─► Registered::spec ─► MonitorSpec (JSON) ── wire ─►
//!  agent ─► Registered::reaches ─► policy ─► Registered::open ─► Sampler
//! ```

use std::fmt::Display;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sokudo_model::units::UnitError;
use sokudo_model::{Batch, MonitorSpec, Nanos, On, Text};

use crate::options::{self, BadOption};
use crate::{Context, Unavailable};

/// Options that every monitor has.
pub const COMMON_OPTIONS: &[(&str, &str)] = &[
    (
        "interval",
        "time between two samples, such as `500ms`; without it the run's interval, or what the monitor needs",
    ),
    (
        "on",
        "host of the run that observes: its name, `*` for every host, or `first` for the first one",
    ),
];

/// Shortest interval: below it the observation would be the load.
pub const MIN_INTERVAL: Duration = Duration::from_millis(50);

/// A kind of observation that an agent can make.
pub trait Monitor: Sync {
    /// Its options; [`crate::NoOptions`] where there are none.
    type Options: Serialize + DeserializeOwned + JsonSchema;

    /// Name of its folder, as in `sokudo monitors` and the policy file.
    fn name(&self) -> &'static str;

    /// Its subject, in one line.
    fn help(&self) -> &'static str;

    /// Catalogue names that it can emit.
    fn metrics(&self) -> &'static [&'static str];

    /// True when every run has it; otherwise it observes only where it is asked for.
    fn is_standing(&self) -> bool {
        true
    }

    /// True when a sample may wait for something other than the kernel's own tables: it then has a
    /// thread and a schedule of its own.
    fn may_block(&self) -> bool {
        false
    }

    /// Time between two samples of a run that samples every `interval`, where no option says otherwise.
    fn cadence(&self, interval: Duration) -> Duration {
        interval
    }

    /// Hosts that observe where no option says otherwise.
    fn observers(&self) -> On {
        On::All
    }

    /// The JSON value of a typed word, for values that are more than the word itself. Files are read
    /// only through `files`.
    ///
    /// Errors: what is wrong with the word.
    fn word(&self, _key: &str, word: &str, _files: Files) -> Result<Value, Text> {
        Ok(word.into())
    }

    /// Whether the options fit together. Errors: what is wrong with them.
    fn check(&self, _options: &Self::Options) -> Result<(), Text> {
        Ok(())
    }

    /// Everything beyond the host's own tables that a monitor with these options touches: the policy
    /// of the host must name it.
    fn reaches(&self, _options: &Self::Options) -> Vec<Reach> {
        Vec::new()
    }

    /// Opens its sources.
    ///
    /// Errors: what the system lacks, or that the monitor does not belong to `ctx.scope`.
    fn open(&self, options: Self::Options, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable>;
}

/// A monitor that has its sources open.
pub trait Sampler: Send {
    /// Adds the values at `t_ns` (nanoseconds since the run's start) to `out`.
    ///
    /// The first call sets the baseline of counters and rates and emits only gauges that need
    /// no interval. A source that cannot be read this time emits nothing: a gap, not a zero.
    fn sample(&mut self, t_ns: i64, out: &mut Batch);
}

/// Something beyond the host's own tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A connection to this address.
    Address {
        /// Name or IP address, without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// A socket of this host on which a server listens.
    Socket,
}

/// Whether a word may name a file of the host on which it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// The words come from the owner's command line.
    Readable,
    /// The words come from a page or a console.
    Refused,
}

/// Description of a monitor without its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// See [`Monitor::name`].
    pub name: &'static str,
    /// See [`Monitor::help`].
    pub help: &'static str,
    /// See [`Monitor::metrics`].
    pub metrics: &'static [&'static str],
    /// See [`Monitor::is_standing`].
    pub is_standing: bool,
    /// See [`Monitor::may_block`].
    pub may_block: bool,
}

/// A monitor whose options are JSON text: what the registry holds.
pub trait Registered: Sync {
    /// Its description without its options.
    fn info(&self) -> Info;

    /// JSON schema of its options.
    fn schema(&self) -> Value;

    /// Reads options from `key=value` pairs.
    ///
    /// Errors: an option that cannot be read, with its key.
    fn spec(&self, pairs: Vec<(String, String)>, files: Files) -> Result<MonitorSpec, BadOption>;

    /// Time between two samples of a run that samples every `interval`.
    fn cadence_for(&self, asked_ns: Option<u64>, interval: Duration) -> Duration;

    /// See [`Monitor::reaches`]. Errors: the options cannot be read.
    fn reaches_with(&self, options: &str) -> Result<Vec<Reach>, BadOption>;

    /// See [`Monitor::open`]. Errors: the options cannot be read, or the system lacks something.
    fn open_with(&self, options: &str, ctx: &Context) -> Result<Box<dyn Sampler>, OpenError>;
}

/// Reason why a monitor with options does not observe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// The options cannot be used.
    #[error(transparent)]
    Option(#[from] BadOption),
    /// The system lacks something.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl OpenError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::Option(bad) => bad.text(),
            Self::Unavailable(lack) => lack.text(),
        }
    }
}

impl<M: Monitor> Registered for M {
    fn info(&self) -> Info {
        Info {
            name: self.name(),
            help: self.help(),
            metrics: self.metrics(),
            is_standing: self.is_standing(),
            may_block: self.may_block(),
        }
    }

    fn schema(&self) -> Value {
        schemars::schema_for!(M::Options).to_value()
    }

    fn spec(&self, pairs: Vec<(String, String)>, files: Files) -> Result<MonitorSpec, BadOption> {
        let mut spec = MonitorSpec {
            name: self.name().into(),
            on: self.observers(),
            interval_ns: None,
            options: String::new(),
        };
        let mut object = Map::new();
        for (key, value) in pairs {
            let bad = |problem| wrong(self.name(), &key, problem);
            match key.as_str() {
                "interval" => spec.interval_ns = Some(interval(&value).map_err(bad)?),
                "on" => spec.on = observers(value),
                _ => {
                    let value = self.word(&key, &value, files).map_err(bad)?;
                    if object.insert(key.clone(), value).is_some() {
                        return Err(bad(Text::new("error-monitor-twice")));
                    }
                }
            }
        }
        let options = checked(self, object)?;
        spec.options = json_of(self.name(), &options)?;
        Ok(spec)
    }

    fn cadence_for(&self, asked_ns: Option<u64>, interval: Duration) -> Duration {
        let asked = asked_ns.map(Duration::from_nanos);
        asked
            .unwrap_or_else(|| self.cadence(interval))
            .max(MIN_INTERVAL)
    }

    fn reaches_with(&self, options: &str) -> Result<Vec<Reach>, BadOption> {
        Ok(self.reaches(&from_json(self, options)?))
    }

    fn open_with(&self, options: &str, ctx: &Context) -> Result<Box<dyn Sampler>, OpenError> {
        Ok(self.open(from_json(self, options)?, ctx)?)
    }
}

/// Longest interval: a monitor that looks more rarely than this observes no run.
const MAX_INTERVAL_NS: u64 = 3_600_000_000_000;

fn interval(word: &str) -> Result<u64, Text> {
    let asked: Nanos = word.parse().map_err(|e: UnitError| e.text())?;
    let least = MIN_INTERVAL.as_nanos() as u64;
    match (least..=MAX_INTERVAL_NS).contains(&asked.0) {
        true => Ok(asked.0),
        false => Err(Text::new("error-monitor-interval").word("text", word)),
    }
}

/// An option `most` outside of its bounds.
pub(crate) fn most_wrong(found: impl Display, most: impl Display) -> Text {
    Text::new("error-monitor-most")
        .with("found", found)
        .with("most", most)
}

fn observers(word: String) -> On {
    match word.as_str() {
        "*" => On::All,
        "first" => On::First,
        _ => On::Host(word),
    }
}

fn wrong(monitor: &str, key: &str, problem: Text) -> BadOption {
    BadOption::Option {
        monitor: monitor.into(),
        key: key.into(),
        problem,
    }
}

fn checked<M: Monitor>(monitor: &M, object: Map<String, Value>) -> Result<M::Options, BadOption> {
    let together = |problem| BadOption::Together {
        monitor: monitor.name().into(),
        problem,
    };
    let options = options::read::<M::Options>(monitor.name(), object)?;
    monitor.check(&options).map_err(together)?;
    Ok(options)
}

fn from_json<M: Monitor>(monitor: &M, text: &str) -> Result<M::Options, BadOption> {
    let object = serde_json::from_str(text).map_err(|error| BadOption::Together {
        monitor: monitor.name().into(),
        problem: Text::new("error-monitor-json").with("error", error),
    })?;
    checked(monitor, object)
}

fn json_of<O: Serialize>(monitor: &str, options: &O) -> Result<String, BadOption> {
    serde_json::to_string(options).map_err(|error| BadOption::Together {
        monitor: monitor.into(),
        problem: Text::words(error.to_string()),
    })
}
