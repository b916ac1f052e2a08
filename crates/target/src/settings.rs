//! Settings of the target: sizes of its queues, its database, its stress, its faults.
//!
//! A setting has a name of two words, `pool.max`, in the file, in `--set` and on the admin port. Almost
//! all of them are knobs: they may change while requests are carried out.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sokudo_model::Text;

/// Everything that can be set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Connections.
    pub listen: Listen,
    /// Threads that carry requests out, and the queue in front of them.
    pub workers: Workers,
    /// Connections to the database.
    pub pool: Pool,
    /// Defaults of `/stress/…` where the request does not say.
    pub stress: Stress,
    /// Faults that are made on purpose.
    pub fault: Fault,
    /// The port that tells and changes all this.
    pub admin: Admin,
}

/// Connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// Address of the server; port 0 takes any that is free.
    pub address: SocketAddr,
    /// Connections that the system completes before they are accepted.
    pub backlog: u32,
    /// Connections that are open at once.
    pub max_open: u32,
    /// Treatment of one more.
    pub on_full: OnFull,
    /// Longest time without a whole request on an open connection.
    pub open_timeout_s: f64,
    /// Longest time from the first byte of a request to its last.
    pub request_timeout_s: f64,
}

/// Treatment of a connection beyond `listen.max_open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFull {
    /// It is accepted and reset.
    Reset,
    /// The socket does not listen until another one ends: the system refuses it.
    Refuse,
    /// It is accepted and answered 503.
    #[serde(rename = "503")]
    Unavailable,
    /// It waits in the accept queue.
    PauseAccept,
}

/// Threads that carry requests out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workers {
    /// Threads that stay when there is nothing to do.
    pub core: u32,
    /// Threads at most.
    pub max: u32,
    /// More than `max` when all are busy.
    pub growable: bool,
    /// Requests that wait for a thread at most; one more is answered 503.
    pub queue_max: u32,
    /// Longest wait for a thread; then the answer is 503.
    pub queue_timeout_s: f64,
}

/// Connections to the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pool {
    /// `sqlite:` (a temporary file), `sqlite:PATH`, a server as `postgres://USER@HOST/DB` or `mysql://USER@HOST/DB`, or
    /// `sim:` whose connections are only counted.
    pub url: String,
    /// Connections that are opened at the start.
    pub min: u32,
    /// Connections at most.
    pub max: u32,
    /// Longest wait for one; then the answer is 503.
    pub timeout_s: f64,
    /// Order in which they are given out.
    pub order: Order,
}

/// Order in which those that wait get a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The longest wait first.
    Fifo,
    /// The last arrival first.
    Lifo,
}

/// Defaults of `/stress/…` where the request does not say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stress {
    /// Time that the search holds its connection (`searchTime`).
    pub search_ms: u64,
    /// Pause after each multiplication (`interval`).
    pub interval_ms: u64,
    /// Multiplications (`duration`).
    pub duration: u64,
    /// Bits of the two probable primes that are multiplied; 0: none (`bit`).
    pub bit: u64,
    /// Time that the update holds its connection (`updateTime`).
    pub update_ms: u64,
    /// CPU time that each request uses besides.
    pub spin_us: u64,
    /// Way in which a connection is held.
    pub hold: Hold,
    /// Has the two defects of the servlet that this models: parameters are shared by all requests, and
    /// `updateTime` is read as `updatTime`.
    pub seed_bugs: bool,
}

/// Way in which a connection of the pool is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// A statement is executed, then the rest of the time is waited.
    Statement,
    /// The time is waited.
    Sleep,
}

/// Faults that are made on purpose; 0 and false: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    /// Time that each request holds one lock that all share.
    pub lock_ms: f64,
    /// All workers stop every so often …
    pub pause_every_ms: f64,
    /// … for so long.
    pub pause_ms: f64,
    /// Every so manieth answer …
    pub slow_every: u64,
    /// … takes so much longer.
    pub slow_ms: f64,
    /// Requests beyond this rate are answered 429.
    pub status_rate_per_s: f64,
    /// Share of requests that are answered 503 at once.
    pub error_share: f64,
    /// The connection is closed after each answer.
    pub close: bool,
    /// Answers are sent in pieces of so many bytes …
    pub drip_bytes: u64,
    /// … with so much time between them.
    pub drip_ms: f64,
    /// File descriptors that are held open and never used.
    pub leak_fds: u64,
    /// Time that each statement takes longer.
    pub db_ms: f64,
    /// The database takes no connection and no statement.
    pub db_down: bool,
    /// Connections that the database takes at most.
    pub db_sessions: u64,
}

/// The port that tells and changes the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// Its address; port 0 takes any that is free.
    pub address: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 9080).into(),
            backlog: 511,
            max_open: 20_000,
            on_full: OnFull::Reset,
            open_timeout_s: 60.0,
            request_timeout_s: 10.0,
        }
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            core: 50,
            max: 50,
            growable: false,
            queue_max: 20_000,
            queue_timeout_s: 60.0,
        }
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            url: "sqlite:".into(),
            min: 0,
            max: 10,
            timeout_s: 180.0,
            order: Order::Fifo,
        }
    }
}

impl Default for Stress {
    fn default() -> Self {
        Self {
            search_ms: 1,
            interval_ms: 1,
            duration: 1,
            bit: 1024,
            update_ms: 1,
            spin_us: 0,
            hold: Hold::Statement,
            seed_bugs: false,
        }
    }
}

impl Default for Admin {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 9081).into(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadSetting {
    /// The file is not TOML, or names a setting that does not exist.
    #[error("`{file}` cannot be used: {why}")]
    File {
        /// Its path.
        file: String,
        /// The parser's words.
        why: String,
    },
    /// Not `KEY=VALUE`.
    #[error("`{0}` is not KEY=VALUE")]
    NoPair(String),
    /// There is no such setting.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// The value is of another kind.
    #[error("`{key}` cannot be `{value}`: {why}")]
    Value {
        /// Setting.
        key: String,
        /// Value that was given.
        value: String,
        /// Reason.
        why: String,
    },
    /// The value is too small or too large.
    #[error("`{key}` is {value}, which is not between {least} and {most}")]
    Range {
        /// Setting.
        key: String,
        /// Value that was given.
        value: f64,
        /// Least value.
        least: f64,
        /// Largest value.
        most: f64,
    },
    /// Two settings contradict each other.
    #[error("`{smaller}` is larger than `{larger}`")]
    Order {
        /// The one that must not be larger.
        smaller: &'static str,
        /// The other one.
        larger: &'static str,
    },
    /// It is read at the start alone.
    #[error("`{0}` cannot change while the target runs")]
    Fixed(String),
    /// Somebody holds the knobs already.
    #[error("the knobs of the target are held by {by}")]
    Held {
        /// Holder.
        by: String,
    },
    /// The knobs are not held by who says so.
    #[error("the knobs are not held any more, and the target has put the old values back")]
    NotHeld,
    /// The database takes fewer connections.
    #[error("`pool.max` is {max}, and the database takes {limit} connections")]
    DatabaseLimit {
        /// Asked for.
        max: u64,
        /// Its own limit.
        limit: u64,
    },
}

impl BadSetting {
    /// Text of the error, for people.
    pub fn text(&self) -> Text {
        let text = |key: &str| Text::new(key);
        match self {
            Self::File { file, why } => text("error-target-file")
                .word("file", file)
                .word("why", why.trim_end()),
            Self::NoPair(pair) => text("error-target-no-pair").word("pair", pair),
            Self::Unknown(key) => text("error-target-unknown").word("key", key),
            Self::Value { key, value, why } => text("error-target-value")
                .word("key", key)
                .word("value", value)
                .word("why", why),
            Self::Range {
                key,
                value,
                least,
                most,
            } => text("error-target-range")
                .word("key", key)
                .word("value", value.to_string())
                .word("least", least.to_string())
                .word("most", most.to_string()),
            Self::Order { smaller, larger } => text("error-target-order")
                .word("smaller", *smaller)
                .word("larger", *larger),
            Self::Fixed(key) => text("error-target-fixed").word("key", key),
            Self::Held { by } => text("error-target-held").word("by", by),
            Self::NotHeld => text("error-target-not-held"),
            Self::DatabaseLimit { max, limit } => text("error-target-database-limit")
                .word("max", max.to_string())
                .word("limit", limit.to_string()),
        }
    }

    /// Hint for mending it.
    pub fn hint(&self) -> Text {
        Text::new(match self {
            Self::Fixed(_) => "error-target-fixed-hint",
            Self::Held { .. } | Self::NotHeld => "error-target-held-hint",
            Self::DatabaseLimit { .. } => "error-target-database-limit-hint",
            _ => "error-target-setting-hint",
        })
    }
}

/// Settings that are read at the start alone.
const FIXED: &[&str] = &["listen.address", "pool.url", "admin.address"];

const HOUR_MS: f64 = 3_600_000.0;
const DAY_S: f64 = 86_400.0;

/// Least and largest values.
#[rustfmt::skip]
const RANGES: &[(&str, f64, f64)] = &[
    ("listen.backlog", 1.0, 65_535.0),
    ("listen.max_open", 1.0, 1_000_000.0),
    ("listen.open_timeout_s", 0.001, DAY_S),
    ("listen.request_timeout_s", 0.001, DAY_S),
    ("workers.core", 1.0, 10_000.0),
    ("workers.max", 1.0, 10_000.0),
    ("workers.queue_max", 0.0, 1_000_000.0),
    ("workers.queue_timeout_s", 0.001, DAY_S),
    ("pool.min", 0.0, 10_000.0),
    ("pool.max", 1.0, 10_000.0),
    ("pool.timeout_s", 0.001, DAY_S),
    ("stress.search_ms", 0.0, HOUR_MS),
    ("stress.interval_ms", 0.0, HOUR_MS),
    ("stress.duration", 0.0, 1_000_000.0),
    ("stress.bit", 0.0, 8192.0),
    ("stress.update_ms", 0.0, HOUR_MS),
    ("stress.spin_us", 0.0, 60_000_000.0),
    ("fault.lock_ms", 0.0, HOUR_MS),
    ("fault.pause_every_ms", 0.0, HOUR_MS),
    ("fault.pause_ms", 0.0, HOUR_MS),
    ("fault.slow_every", 0.0, 1e12),
    ("fault.slow_ms", 0.0, HOUR_MS),
    ("fault.status_rate_per_s", 0.0, 1e9),
    ("fault.error_share", 0.0, 1.0),
    ("fault.drip_bytes", 0.0, 1e9),
    ("fault.drip_ms", 0.0, HOUR_MS),
    ("fault.leak_fds", 0.0, 1_000_000.0),
    ("fault.db_ms", 0.0, HOUR_MS),
    ("fault.db_sessions", 0.0, 1_000_000.0),
];

/// A mix of settings with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Short searches and updates, a little CPU, room everywhere.
    Calm,
    /// 10 s of search and 10 s of update, which makes the pool the limit.
    DbHeavy,
    /// 20 ms of search and of update, and two multiplications of large primes.
    CpuHeavy,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Calm, Self::DbHeavy, Self::CpuHeavy];

    /// As typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::DbHeavy => "db-heavy",
            Self::CpuHeavy => "cpu-heavy",
        }
    }

    /// Changes what it is about.
    pub fn apply(self, settings: &mut Settings) {
        let (search_ms, interval_ms, duration, bit, update_ms) = match self {
            Self::Calm => {
                settings.pool.max = settings.workers.max;
                (5, 0, 1, 256, 5)
            }
            Self::DbHeavy => (10_000, 100, 1, 1024, 10_000),
            Self::CpuHeavy => (20, 500, 2, 1024, 20),
        };
        settings.stress = Stress {
            search_ms,
            interval_ms,
            duration,
            bit,
            update_ms,
            ..settings.stress.clone()
        };
    }
}

impl Settings {
    /// Settings of a TOML file; what it does not say keeps its default.
    ///
    /// Errors: not TOML, an unknown name, a value out of its range.
    pub fn parse(text: &str, file: &str) -> Result<Self, BadSetting> {
        let settings: Self = toml::from_str(text).map_err(|error| BadSetting::File {
            file: file.to_owned(),
            why: error.to_string(),
        })?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings as a TOML file.
    pub fn to_toml(&self) -> String {
        // A struct of numbers and words can be written.
        toml::to_string(self).unwrap_or_default()
    }

    /// Every setting as `key` and value, by name.
    pub fn all(&self) -> Vec<(String, Value)> {
        let tree = self.tree();
        let sections = tree.as_object().into_iter().flatten();
        let of = |(section, values): (&String, &Value)| {
            let values = values.as_object().into_iter().flatten();
            let pairs = values.map(|(name, value)| (format!("{section}.{name}"), value.clone()));
            pairs.collect::<Vec<_>>()
        };
        sections.flat_map(of).collect()
    }

    /// Value of one setting. Errors: there is no such setting.
    pub fn get(&self, key: &str) -> Result<Value, BadSetting> {
        let found = self.all().into_iter().find(|(name, _)| name == key);
        let found = found.map(|(_, value)| value);
        found.ok_or_else(|| BadSetting::Unknown(key.to_owned()))
    }

    /// The settings with one of them changed; what depends on several is not checked yet.
    ///
    /// Errors: there is no such setting, or it cannot have this value.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, BadSetting> {
        let cannot = |why: String| BadSetting::Value {
            key: key.to_owned(),
            value: value.to_owned(),
            why,
        };
        let typed = match self.get(key)? {
            Value::Bool(_) => value
                .parse()
                .map(Value::Bool)
                .map_err(|_| "write true or false"),
            Value::Number(_) => number(value),
            _ => Ok(Value::String(value.to_owned())),
        };
        let typed = typed.map_err(|why| cannot(why.to_owned()))?;
        let mut tree = self.tree();
        if let Some(place) = key.split_once('.').and_then(|(section, name)| {
            let section = tree.get_mut(section)?;
            section.get_mut(name)
        }) {
            *place = typed;
        }
        let settings: Self = serde_json::from_value(tree).map_err(|why| cannot(why.to_string()))?;
        settings.check_ranges()?;
        Ok(settings)
    }

    /// The same for `KEY=VALUE`.
    pub fn with_pair(&self, pair: &str) -> Result<Self, BadSetting> {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| BadSetting::NoPair(pair.to_owned()))?;
        self.with(key.trim(), value.trim())
    }

    /// Whether this setting may change while the target runs. Errors: not.
    pub fn check_knob(key: &str) -> Result<(), BadSetting> {
        match FIXED.contains(&key) {
            true => Err(BadSetting::Fixed(key.to_owned())),
            false => Ok(()),
        }
    }

    /// Whether all values fit. Errors: the first that does not.
    pub fn check(&self) -> Result<(), BadSetting> {
        self.check_ranges()?;
        let orders = [
            (
                self.workers.core,
                self.workers.max,
                "workers.core",
                "workers.max",
            ),
            (self.pool.min, self.pool.max, "pool.min", "pool.max"),
        ];
        for (small, large, smaller, larger) in orders {
            if small > large {
                return Err(BadSetting::Order { smaller, larger });
            }
        }
        if self.fault.pause_ms > 0.0 && self.fault.pause_ms >= self.fault.pause_every_ms {
            return Err(BadSetting::Order {
                smaller: "fault.pause_ms",
                larger: "fault.pause_every_ms",
            });
        }
        let (max, limit) = (self.pool.max.into(), self.fault.db_sessions);
        match limit > 0 && max > limit {
            true => Err(BadSetting::DatabaseLimit { max, limit }),
            false => Ok(()),
        }
    }

    fn check_ranges(&self) -> Result<(), BadSetting> {
        for (key, value) in self.all() {
            let range = RANGES.iter().find(|(name, ..)| *name == key);
            if let (Some((_, least, most)), Some(value)) = (range, value.as_f64())
                && !(*least..=*most).contains(&value)
            {
                return Err(BadSetting::Range {
                    key,
                    value,
                    least: *least,
                    most: *most,
                });
            }
        }
        Ok(())
    }

    fn tree(&self) -> Value {
        // A struct of numbers and words can be written.
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn number(text: &str) -> Result<Value, &'static str> {
    if let Ok(whole) = text.parse::<u64>() {
        return Ok(whole.into());
    }
    let fraction = text.parse::<f64>().ok().filter(|value| value.is_finite());
    fraction.map(Value::from).ok_or("write a number")
}

/// A number of milliseconds as a time.
pub(crate) fn ms(value: f64) -> Duration {
    Duration::from_secs_f64((value / 1e3).clamp(0.0, DAY_S))
}

/// A number of seconds as a time.
pub(crate) fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value.clamp(0.0, DAY_S))
}
