//! Options of the execution of a plan.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sokudo_jmeter::jtl::JtlFormat;
use sokudo_jmeter::properties::{Origin, Properties};
use sokudo_jmeter::proxy::Proxy;
use sokudo_jmeter::settings::Unsupported;
use sokudo_model::Refusal;
use sokudo_workload::checked::Checked;

/// Options of the execution of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JmxOptions {
    /// The plan.
    pub plan: PathBuf,
    /// Properties, the later of a name wins.
    pub properties: Vec<(String, String)>,
    /// File of results; `None`: none is written.
    pub results: Option<PathBuf>,
    /// Log of what scripts say; `None`: none is written, nor where several generators execute the plan.
    pub script_log: Option<PathBuf>,
    /// Own columns behind those of JMeter.
    pub own_columns: bool,
    /// Treatment of elements that cannot be executed.
    #[serde(with = "unsupported_word")]
    pub unsupported: Unsupported,
    /// Arrivals per second over all groups, instead of the plan's users; each does one iteration.
    pub open_per_s: Option<f64>,
    /// Arrivals at random moments instead of evenly.
    pub poisson: bool,
    /// A schedule of arrivals over all groups, in the words of the open model's thread group; empty:
    /// none. See [`sokudo_jmeter::plan::schedule`].
    pub schedule: String,
    /// Length of the load instead of the plan's, seconds.
    pub duration_s: Option<u64>,
    /// Users of each group instead of the plan's.
    pub users: Option<u64>,
    /// Time until all of them have begun instead of the plan's, seconds.
    pub ramp_s: Option<u64>,
    /// Most users at a time in an open model; further arrivals are counted and not begun.
    pub max_inflight: Option<u64>,
    /// The proxy for all requests; its password is given to [`super::know_proxy_password`].
    pub proxy: Option<Proxy>,
    /// File of the certificates that users may show, and their keys; `None`: they show none. Its
    /// password is given to [`super::know_key_store_password`].
    pub key_store: Option<PathBuf>,
    /// Event loops; 0: one per core.
    pub threads: u32,
    /// Certificates are not checked.
    pub insecure: bool,
    /// The plan may read and write everywhere, as in the tool that it comes from.
    pub trusted: bool,
    /// The plan may use its own folder alone: somebody else handed it over.
    pub confined: bool,
    /// Files and folders that it may use beside its own folder and the current one.
    pub with: Vec<String>,
    /// Division among several generators; `None`: this host alone executes the plan.
    pub together: Option<Together>,
}

impl Checked for JmxOptions {
    /// The plan says how much load there is; what it may cost is bounded where it is executed.
    fn check(&self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Division of one plan among several generators. The host that gives the command reads the plan
/// and its files and sends nothing itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Together {
    /// Every generator has all users of the plan, as the tool has it; otherwise they are divided.
    pub replicate: bool,
    /// Every generator has its own rows of data files; otherwise all have all of them.
    pub split_data: bool,
    /// Rows come back to the host that gives the command.
    pub rows: bool,
    /// The run's start, nanoseconds since 1970: rows of all generators are on this clock.
    pub start_unix_ns: i64,
}

/// The word of the command line stands in JSON.
mod unsupported_word {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use sokudo_jmeter::settings::Unsupported;

    pub fn serialize<S: Serializer>(value: &Unsupported, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.word())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Unsupported, D::Error> {
        String::deserialize(from)?.parse().map_err(Error::custom)
    }
}

impl JmxOptions {
    /// As they travel in a plan of a run.
    pub fn to_json(&self) -> String {
        // Plain data cannot fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The properties with the built-in ones behind them.
    pub fn all_properties(&self) -> Properties {
        let mut all = Properties::default();
        if self.together.is_some() {
            // Who wrote a row of several generators must be seen.
            all.set(
                "jmeter.save.saveservice.hostname",
                "true",
                Origin::CommandLine,
            );
        }
        for (name, value) in &self.properties {
            all.set(name, value, Origin::CommandLine);
        }
        all
    }

    /// The proxy for all requests, with the password that this process was given.
    pub fn proxy(&self) -> Option<Proxy> {
        let mut proxy = self.proxy.clone()?;
        if let Some(password) = super::phase::proxy_password() {
            proxy.password = password.into();
        }
        Some(proxy)
    }

    /// Format of rows, by the properties.
    pub(super) fn row_format(&self, host: &str) -> JtlFormat {
        let zone = jiff::tz::TimeZone::system();
        JtlFormat::new(&self.all_properties(), zone, host, self.own_columns)
    }

    /// Event loops.
    pub fn loops(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.threads {
            0 => cores(),
            threads => threads as usize,
        }
    }
}
