//! Options of `sokudo dbt3`. The field docs are the manual.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sokudo_i18n::TextError;
use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_workload::choice::{self, Choice, Only, Subset};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::{loaders, numbered};
use sokudo_workload::refusal::operator;
use sokudo_workload::times::check_interval;
use sokudo_workload::values::{HowMany, Span};

use super::client::Role;
use crate::drive::BenchmarkOptions;
use crate::options::CommonOptions;
use crate::target_text::TargetText;

/// Longest time that a question may take.
const MOST_TIMEOUT_NS: u64 = 3_600_000_000_000;

/// Scale factor of a database, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale(u32);

impl Scale {
    /// Hundredths of the factor: each of them is a hundred suppliers.
    pub fn hundredths(self) -> u32 {
        self.0
    }
}

impl FromStr for Scale {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = || TextError(Text::new("error-value-scale"));
        let hundredths = text.parse::<f64>().map_err(|_| wrong())? * 100.0;
        let is_one = (1.0..=100_000.0).contains(&hundredths);
        match is_one && (hundredths - hundredths.round()).abs() < 1e-6 {
            true => Ok(Self(hundredths.round() as u32)),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 100.0)
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Selection of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Power, then throughput.
    Both,
    /// One stream.
    Power,
    /// Several streams at a time.
    Throughput,
}

impl Choice for Test {
    fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Power => "power",
            Self::Throughput => "throughput",
        }
    }
}

impl Serialize for Test {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The tests of this workload.
pub struct Tests;

impl Subset for Tests {
    type Choice = Test;
    const NAME: &'static str = "Test";
    const VALUES: &'static [(Test, &'static str)] = &[
        (Test::Both, "Power, then throughput, and both together"),
        (
            Test::Power,
            "One stream: a refresh, the 22 queries, a refresh",
        ),
        (
            Test::Throughput,
            "Several streams of 22 queries at a time, and one of refreshes",
        ),
    ];
}

/// Options of `sokudo dbt3`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dbt3Options {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`, with the tables that
    /// `sokudo db init` makes. Default: a SQLite file that is made for the run and removed after it.
    #[arg(long, value_name = "DSN")]
    #[schemars(with = "Option<String>")]
    pub target: Option<TargetText>,

    /// Scale factor of the database that is made for the run; a server's own database has its scale already.
    #[arg(short, long, value_name = "FACTOR", default_value = "0.01")]
    #[schemars(with = "String")]
    pub scale: Scale,

    /// What is measured.
    #[arg(long, value_parser = choice::parser::<Tests>(), default_value = "both")]
    #[serde(deserialize_with = "choice::read::<Tests, _>")]
    #[schemars(with = "Only<Tests>")]
    pub test: Test,

    /// Streams of queries that run at a time in the throughput test.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub streams: u32,

    /// Decides what the queries ask for: the same number asks the same.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub query_seed: u64,

    /// Further tries of a refresh that the server ended because of others.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub retries: u32,

    /// A query without an answer for this long has failed.
    #[arg(long, value_name = "TIME", default_value = "10m")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for Dbt3Options {
    fn default() -> Self {
        Self {
            target: None,
            scale: Scale(1),
            test: Test::Both,
            streams: 2,
            query_seed: 1,
            retries: 10,
            timeout: Span(600_000_000_000),
            interval: Span(250_000_000),
        }
    }
}

impl Dbt3Options {
    /// Roles of the clients, in the order of their numbers.
    pub(super) fn roles(&self) -> Vec<Role> {
        let streams = u64::from(self.streams);
        let power = std::iter::once(Role::Power);
        let throughput = (1..=streams)
            .map(Role::Queries)
            .chain([Role::Refreshes(streams)]);
        match self.test {
            Test::Both => power.chain(throughput).collect(),
            Test::Power => power.collect(),
            Test::Throughput => throughput.collect(),
        }
    }

    fn server_and_port(&self) -> Option<(&str, u16)> {
        self.target.as_ref()?.0.server()
    }
}

impl Options for Dbt3Options {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        check_interval(self.interval)?;
        match (1_000_000..=MOST_TIMEOUT_NS).contains(&self.timeout.0) {
            true => Ok(()),
            false => Err(operator(
                Text::new("error-dbt3-timeout"),
                Text::new("error-dbt3-timeout-hint"),
            )),
        }
    }

    /// A flow per stream. All of them are of one host, which knows when the power test has ended.
    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        let first = loaders(hosts).take(1).map(|host| (host, host));
        numbered(first, self.roles().len() as u32)
    }

    fn duration_ns(&self) -> u64 {
        0
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn server(&self) -> Option<&str> {
        Some(self.server_and_port()?.0)
    }

    fn server_port(&self) -> Option<u16> {
        Some(self.server_and_port()?.1)
    }

    fn database(&self) -> Option<&str> {
        Some(self.target.as_ref()?.0.secret_text())
    }

    fn fixed(&self) -> Option<&'static str> {
        None
    }
}

impl BenchmarkOptions for Dbt3Options {
    /// A session and a thread for each stream, until it has ended.
    fn common(&self) -> Cow<'_, CommonOptions> {
        let roles = self.roles();
        let streams = roles.len() as u32;
        let count = roles.iter().map(|role| role.steps()).sum();
        Cow::Owned(CommonOptions {
            target: self.target.clone(),
            clients: streams,
            threads: streams,
            count: Some(HowMany(count)),
            retries: self.retries,
            timeout: self.timeout,
            interval: self.interval,
            ..CommonOptions::default()
        })
    }

    fn count_of(&self, flow: &FlowPlan, _flows: u64) -> Option<u64> {
        let role = self.roles().get(flow.stream as usize).copied();
        role.map(Role::steps)
    }

    fn own_scale(&self) -> u32 {
        self.scale.hundredths()
    }

    fn writes(&self) -> bool {
        true
    }
}
