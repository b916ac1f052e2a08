//! Options of `sokudo replicate`. The field docs are the manual.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_i18n::TextError;
use sokudo_model::{Bytes, FlowPlan, Refusal, Text};
use sokudo_net::tcp::TcpOptions;
use sokudo_replicate::codec::MAX_LEVEL;
use sokudo_replicate::dataset::{Class, Content, DataSet};
use sokudo_replicate::filter::Filter;
use sokudo_workload::choice::{self, Choice, Only, Subset};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::{down, numbered, up};
use sokudo_workload::json_as_text;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::times::check_interval;
use sokudo_workload::values::{ByteSize, HowMany, Span};

use super::timetable::Timetable;

use super::trial::Trial;

/// Begin of a source that is made and not read.
const MADE: &str = "dataset:";
/// A target that drops everything.
const NULL: &str = "null";
/// Shortest time between two looks at everything, nanoseconds.
const RESYNC_NS: u64 = 100_000_000;
/// Most files and bytes of a data set.
const MAX_FILES: u64 = 50_000_000;
const MAX_BYTES: u64 = 1 << 50;

/// Carriers of content.
pub struct Transports;

impl Subset for Transports {
    type Choice = Transport;
    const NAME: &'static str = "Transport";
    const VALUES: &'static [(Transport, &'static str)] = &[
        (
            Transport::Tls,
            "TLS 1.3 over TCP; the receiver's key is pinned",
        ),
        (
            Transport::Tcp,
            "TCP without encryption, after both ends have proven themselves",
        ),
    ];
}

/// When content is on the device.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Durable {
    /// When the system likes.
    None,
    /// Many files at a time, before they are published: a power cut leaves old or new files.
    Batch,
    /// Each file and its directory before the next.
    File,
}

/// What files have besides their content.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Property {
    /// Permission bits.
    Mode,
    /// Time of the last change.
    Times,
    /// Owner and group, where the receiver may set them.
    Owner,
    /// Extended attributes and access control lists.
    Attributes,
}

impl Property {
    const ALL: [Self; 4] = [Self::Mode, Self::Times, Self::Owner, Self::Attributes];
}

/// Compression: `auto`, `none`, or a level of zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelChoice {
    /// Chosen while data flows.
    Auto,
    /// A fixed level; 0 is none.
    Fixed(i32),
}

impl FromStr for LevelChoice {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" | "0" => Ok(Self::Fixed(0)),
            _ => {
                let level = text.parse().ok();
                let level = level.filter(|level| (1..=MAX_LEVEL).contains(level));
                level.map(Self::Fixed).ok_or_else(|| {
                    TextError(
                        Text::new("error-value-level")
                            .word("text", text)
                            .with("most", MAX_LEVEL),
                    )
                })
            }
        }
    }
}

impl fmt::Display for LevelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(0) => f.write_str("none"),
            Self::Fixed(level) => write!(f, "{level}"),
        }
    }
}

json_as_text!(LevelChoice);

/// Content of the files of a data set: `text`, `random`, or `mixed:N` with N percent random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds(pub Content);

impl FromStr for Holds {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        match text.split_once(':') {
            None if text == "text" => Ok(Self(Content::Text)),
            None if text == "random" => Ok(Self(Content::Random)),
            Some(("mixed", percent)) => {
                let percent = percent.parse().ok().filter(|percent| *percent <= 100);
                let random_percent =
                    percent.ok_or_else(|| TextError::value("error-value-content", text))?;
                Ok(Self(Content::Mixed { random_percent }))
            }
            _ => Err(TextError::value("error-value-content", text)),
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Content::Text => f.write_str("text"),
            Content::Random => f.write_str("random"),
            Content::Mixed { random_percent } => write!(f, "mixed:{random_percent}"),
        }
    }
}

json_as_text!(Holds);

/// Options of `sokudo replicate`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReplicateOptions {
    /// Source on the sending host: a directory, or a data set that is made: `dataset:10000x10KB`,
    /// several with `,`, or `dataset:mixed[:SCALE]`.
    #[arg(long, value_name = "PATH", hide = true, default_value = "")]
    pub source: String,

    /// Target on the receiving host: a directory, or `null`, which drops everything.
    #[arg(long, value_name = "PATH", hide = true, default_value = "")]
    pub target: String,

    /// The other host sends and this one receives.
    #[arg(long, hide = true)]
    pub pull: bool,

    /// What carries the content.
    #[arg(long, value_parser = choice::parser::<Transports>(), default_value = "tls")]
    #[serde(deserialize_with = "choice::read::<Transports, _>")]
    #[schemars(with = "Only<Transports>")]
    pub transport: Transport,

    /// Connections for content. More help where one has a window or a loss that bounds it.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub connections: u32,

    /// Compression: `none`, a level of zstd from 1 to 19, or `auto`, which chooses among none, 1, 2 and
    /// 3 by the rates of link and compressor. What looks compressed is sent as it is.
    #[arg(long, value_name = "LEVEL", default_value = "auto")]
    #[schemars(with = "String")]
    pub level: LevelChoice,

    /// Bytes of small files in one frame, at most 1 MiB; `0B`: each file in a frame of its own.
    #[arg(long, value_name = "BYTES", default_value = "1MiB")]
    #[schemars(with = "String")]
    pub batch: ByteSize,

    /// Bytes of a large file in one frame, 64 KiB to 1 MiB.
    #[arg(long, value_name = "BYTES", default_value = "1MiB")]
    #[schemars(with = "String")]
    pub chunk: ByteSize,

    /// Send and receive buffers of each connection. Setting them turns the system's own tuning off.
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub buffer: Option<ByteSize>,

    /// Congestion control: `cubic`, `bbr`, … as this system calls it.
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,

    /// Bytes that the sender writes, all connections to a target together: `20Mb/s`, or by the sending host's time of
    /// day: `Mon-Fri 09:00-18:00 20Mb/s, none`; the first entry that applies counts.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub limit: Option<Timetable>,

    /// When content is on the receiver's device.
    #[arg(long, value_enum, default_value = "batch")]
    pub durability: Durable,

    /// Remove what the source does not have.
    #[arg(long)]
    pub delete: bool,

    /// With --delete: remove nothing when more names than this would go.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub max_delete: Option<HowMany>,

    /// Compare contents (BLAKE3) even where size and time are equal.
    #[arg(long)]
    pub checksum: bool,

    /// Compare contents, change nothing; a difference fails the run.
    #[arg(long, conflicts_with_all = ["delete", "checksum", "dry_run"])]
    pub verify: bool,

    /// Change nothing; count what would be done.
    #[arg(long)]
    pub dry_run: bool,

    /// Go on for so long after the replication and send what changes at the source: `8h`. Ctrl-C ends it
    /// earlier.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["verify", "dry_run"])]
    #[schemars(with = "Option<String>")]
    pub mirror: Option<Span>,

    /// With --mirror: look at the whole source so often, too, whatever the system tells of changes: `6h`.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub resync: Option<Span>,

    /// Pass on from host to host: each, this one included, sends to so many others, so that a tree of
    /// hosts grows, and each begins when it has all. A host that is lost takes those behind it along.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with_all = ["mirror", "verify", "dry_run"])]
    pub relay: Option<u32>,

    /// Send changed files whole, also where the target has most of their blocks.
    #[arg(long)]
    pub whole_file: bool,

    /// Only files that fit the glob, below the source: `*.rs`, `docs/**`. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Neither sent nor removed: `*.tmp`, `cache/**`. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// What is replicated besides content.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Property::ALL)]
    pub keep: Vec<Property>,

    /// What the files of a data set hold: `text`, `random`, `mixed:60` (percent random).
    #[arg(long, value_name = "CONTENT", default_value = "text")]
    #[schemars(with = "String")]
    pub content: Holds,

    /// The elapsed time that was predicted before the start.
    #[arg(skip)]
    pub predicted_s: Option<f64>,

    /// What only a trial has.
    #[arg(skip)]
    pub trial: Option<Trial>,

    /// Time between two samples.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mode => "mode",
            Self::Times => "times",
            Self::Owner => "owner",
            Self::Attributes => "attributes",
        })
    }
}

impl Default for ReplicateOptions {
    fn default() -> Self {
        Self {
            source: String::new(),
            target: String::new(),
            pull: false,
            transport: Transport::Tls,
            connections: 2,
            level: LevelChoice::Auto,
            batch: ByteSize(1 << 20),
            chunk: ByteSize(1 << 20),
            buffer: None,
            cc: None,
            limit: None,
            durability: Durable::Batch,
            delete: false,
            max_delete: None,
            checksum: false,
            verify: false,
            dry_run: false,
            mirror: None,
            resync: None,
            relay: None,
            whole_file: false,
            include: Vec::new(),
            exclude: Vec::new(),
            keep: Property::ALL.to_vec(),
            content: Holds(Content::Text),
            predicted_s: None,
            trial: None,
            interval: Span(250_000_000),
        }
    }
}

impl Options for ReplicateOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        if self.source.is_empty() || self.target.is_empty() {
            return Err(operator(
                Text::new("error-replicate-paths"),
                Text::new("error-replicate-paths-hint"),
            ));
        }
        self.classes(0)?;
        if self
            .limit
            .as_ref()
            .is_some_and(|limit| !limit.is_of_bytes())
        {
            return Err(operator(
                Text::new("error-replicate-limit"),
                Text::new("error-stream-rate-hint"),
            ));
        }
        if !(64 << 10..=1 << 20).contains(&self.chunk.0) || self.batch.0 > 1 << 20 {
            return Err(operator(
                Text::new("error-replicate-sizes"),
                Text::new("error-replicate-sizes-hint"),
            ));
        }
        if self.max_delete.is_some() && !self.delete {
            return Err(operator(
                Text::new("error-replicate-max-delete"),
                Text::new("error-replicate-max-delete-hint"),
            ));
        }
        if self.mirror.is_some() && (self.only_looks() || self.source.starts_with(MADE)) {
            return Err(operator(
                Text::new("error-replicate-mirror"),
                Text::new("error-replicate-mirror-hint"),
            ));
        }
        let passes_on = self.relay.is_some();
        if passes_on
            && (self.pull || self.mirror.is_some() || self.only_looks() || self.target == NULL)
        {
            return Err(operator(
                Text::new("error-replicate-relay"),
                Text::new("error-replicate-relay-hint"),
            ));
        }
        if self
            .resync
            .is_some_and(|every| self.mirror.is_none() || every.0 < RESYNC_NS)
        {
            return Err(operator(
                Text::new("error-replicate-resync"),
                Text::new("error-replicate-resync-hint"),
            ));
        }
        self.filter()?;
        if self.trial.as_ref().is_some_and(|trial| !trial.is_valid()) {
            return Err(failed(Text::new("error-replicate-no-part"), None));
        }
        check_interval(self.interval)
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        match (self.pull, self.relay) {
            (true, _) => numbered(down(hosts), 1),
            (false, None) => numbered(up(hosts), 1),
            (false, Some(each)) => numbered((1..hosts).map(|host| ((host - 1) / each, host)), 1),
        }
    }

    fn duration_ns(&self) -> u64 {
        0
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        Some("source")
    }
}

#[cfg_attr(not(unix), allow(dead_code, reason = "the phase is absent there"))]
impl ReplicateOptions {
    /// Connections of a session: for content, and two for lists and answers.
    pub(super) fn links(&self) -> u32 {
        self.connections + 2
    }

    /// The limit, where it is the same at all times.
    pub(super) fn limit_bytes_per_s(&self) -> Option<f64> {
        self.limit.as_ref()?.fixed()
    }

    /// The highest limit of all times; `None` where there is none at some time.
    pub(super) fn most_bytes_per_s(&self) -> Option<f64> {
        self.limit.as_ref()?.most()
    }

    /// The options as a host of the run has them: one that passes on sends what it got.
    pub(super) fn on_host(&self, me: u32) -> Self {
        let mut own = self.clone();
        if self.relay.is_some() && me > 0 {
            own.source.clone_from(&self.target);
        }
        own
    }

    /// True when nothing is changed at the target.
    pub fn only_looks(&self) -> bool {
        self.dry_run || self.verify
    }

    pub(super) fn source_path(&self) -> Option<PathBuf> {
        (!self.source.starts_with(MADE)).then(|| PathBuf::from(&self.source))
    }

    /// The target's directory; `None` for one that drops everything.
    pub fn target_path(&self) -> Option<PathBuf> {
        (self.target != NULL).then(|| PathBuf::from(&self.target))
    }

    pub(super) fn filter(&self) -> Result<Filter, Refusal> {
        let share = self.trial.as_ref().map_or(1.0, |trial| trial.share);
        let filter = Filter::new(&self.include, &self.exclude);
        filter.map(|all| all.sampled(share)).map_err(|error| {
            operator(
                Text::new("error-replicate-pattern")
                    .with("pattern", &error.pattern)
                    .with("why", &error.why),
                Text::new("error-replicate-pattern-hint"),
            )
        })
    }

    pub(super) fn keeps(&self, property: Property) -> bool {
        self.keep.contains(&property)
    }

    pub(super) fn tcp(&self) -> TcpOptions {
        let bytes = self.buffer.map(|buffer| buffer.0);
        TcpOptions {
            cc: self.cc.clone(),
            sndbuf_bytes: bytes,
            rcvbuf_bytes: bytes,
            ..TcpOptions::default()
        }
    }

    /// The data set of the source, when it is one.
    pub(super) fn data_set(&self, seed: u64) -> Result<Option<DataSet>, Refusal> {
        let classes = self.classes(seed)?;
        Ok(classes.map(|classes| DataSet::new(classes, self.content.0, seed)))
    }

    fn classes(&self, seed: u64) -> Result<Option<Vec<Class>>, Refusal> {
        let Some(text) = self.source.strip_prefix(MADE) else {
            return Ok(None);
        };
        let wrong = || {
            operator(
                Text::new("error-replicate-dataset").word("dataset", text),
                Text::new("error-replicate-dataset-hint"),
            )
        };
        let classes = match text.strip_prefix("mixed") {
            Some("") => DataSet::mixed(1.0, seed),
            Some(scale) => {
                let scale = scale.strip_prefix(':').and_then(|scale| scale.parse().ok());
                let scale = scale.filter(|scale| (0.001..=10_000.0).contains(scale));
                DataSet::mixed(scale.ok_or_else(wrong)?, seed)
            }
            None => {
                let each = text.split(',').map(|one| class(one).ok_or_else(wrong));
                each.collect::<Result<Vec<Class>, Refusal>>()?
            }
        };
        let files = classes.iter().map(|class| class.files);
        let files = files.fold(0_u64, u64::saturating_add);
        let bytes = classes
            .iter()
            .map(|class| class.files.saturating_mul(class.bytes));
        let bytes = bytes.fold(0_u64, u64::saturating_add);
        match (1..=MAX_FILES).contains(&files) && bytes <= MAX_BYTES {
            true => Ok(Some(classes)),
            false => Err(wrong()),
        }
    }
}

/// Reads `10000x10KB`.
fn class(text: &str) -> Option<Class> {
    let (files, bytes) = text.trim().split_once('x')?;
    let files = files.parse::<sokudo_model::Count>().ok()?.0;
    let bytes = bytes.parse::<Bytes>().ok()?.0;
    Some(Class { files, bytes })
}

impl Choice for Durable {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Batch => "batch",
            Self::File => "file",
        }
    }
}
