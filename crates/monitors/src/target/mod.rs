//! `target`: queues of an application server, from what it tells itself.
//!
//! That is the admin port of `sokudo target app`, or what another server offers: metrics for Prometheus,
//! `stub_status`, or JMX through Jolokia. A mapping says which sample becomes which metric; those of common
//! servers come with the program. An endpoint that does not answer gives `target.up` 0 and an event with
//! the reason: many share the threads of the requests, and fall silent when all of them are busy.

mod mapping;
mod parse;

use std::net::SocketAddr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sokudo_model::metrics::target;
use sokudo_model::{Batch, On, SeriesKey, Text};

use self::mapping::{Mapping, ServerKind};
use self::parse::MappingReader;
use crate::contract::{Files, Monitor, Reach, Sampler};
use crate::emit::{Emit, key, names_of};
use crate::openmetrics::{Line, Url, mapping_file};
use crate::{Context, Time, Unavailable};

/// Variable that holds the key of a target that wants one.
pub const KEY_VARIABLE: &str = "SOKUDO_TARGET_KEY";
/// Name of the source of its series.
const SOURCE: &str = "target";
/// Longest wait for an answer that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);
/// Names that are told to be missing at most.
const MISSING_MAX: usize = 8;

const METRICS: &[&str] = &names_of::<{ target::METRICS.len() }>(target::METRICS);

/// Which server is observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetOptions {
    /// Admin port of a target of sokudo: ADDR:PORT.
    #[serde(default = "usual")]
    #[schemars(with = "String")]
    at: SocketAddr,
    /// What the server is: sokudo, liberty, tomcat, jetty, hikari, spring, nginx, haproxy.
    #[serde(default)]
    kind: ServerKind,
    /// Where another server tells its state: http://HOST:PORT[/PATH].
    #[serde(default)]
    url: Option<String>,
    /// File (TOML) that says which samples become which metrics, instead of that of the kind.
    #[serde(default)]
    mapping: Option<Mapping>,
    /// Longest wait for an answer, 100ms to 60s.
    #[serde(default = "usual_timeout")]
    timeout: Time,
}

fn usual() -> SocketAddr {
    ([127, 0, 0, 1], 9081).into()
}

fn usual_timeout() -> Time {
    Time::from_ms(5000)
}

impl TargetOptions {
    fn address(&self) -> Result<Url, Text> {
        match &self.url {
            Some(url) => Url::parse(url),
            None => Url::parse(&format!("http://{}", self.at)),
        }
    }

    fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.0.0)
    }
}

/// Monitor of a server's queues.
pub(crate) struct Target;

impl Monitor for Target {
    type Options = TargetOptions;

    fn name(&self) -> &'static str {
        "target"
    }

    fn help(&self) -> &'static str {
        "queues of an application server: connections, threads, pool"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn is_standing(&self) -> bool {
        false
    }

    fn may_block(&self) -> bool {
        true
    }

    fn observers(&self) -> On {
        On::First
    }

    fn word(&self, key: &str, word: &str, files: Files) -> Result<Value, Text> {
        let mapping = |text: &str| Mapping::parse(text).map_err(Text::words);
        match key {
            "mapping" => mapping_file(word, files, mapping),
            _ => Ok(word.into()),
        }
    }

    fn check(&self, options: &TargetOptions) -> Result<(), Text> {
        if options.kind != ServerKind::Sokudo && options.url.is_none() {
            return Err(Text::new("error-monitor-target-url"));
        }
        if options.mapping.is_some() && options.url.is_none() {
            return Err(Text::new("error-monitor-target-mapping"));
        }
        options.address()?;
        if !(Duration::from_millis(100)..=MAX_TIMEOUT).contains(&options.timeout()) {
            return Err(Text::new("error-monitor-timeout"));
        }
        let checked = options.mapping.as_ref().map_or(Ok(()), Mapping::check);
        checked.map_err(Text::words)
    }

    fn reaches(&self, options: &TargetOptions) -> Vec<Reach> {
        // Options whose address cannot be read are refused by `check` before.
        let url = options.address().into_iter();
        url.map(|url| Reach::Address {
            host: url.host,
            port: url.port,
        })
        .collect()
    }

    fn open(&self, options: TargetOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        let url = options.address();
        let url = url.map_err(Unavailable::System)?;
        let timeout = options.timeout();
        // A key is shown to targets of sokudo, and to nobody else.
        let is_own = options.kind == ServerKind::Sokudo && options.mapping.is_none();
        let shown = std::env::var(KEY_VARIABLE).ok();
        let shown = shown.filter(|key| !key.is_empty() && is_own);
        let is_strict = options.mapping.is_some();
        let mapping = match options.mapping {
            Some(mapping) => mapping,
            None => options
                .kind
                .mapping()
                .map_err(|why| Unavailable::System(Text::words(why)))?,
        };
        let url = url.or_path(&mapping.path);
        let endpoint = url.endpoint();
        let key_of = |metric| key(&ctx.host, SOURCE, metric, &[("endpoint", &endpoint)]);
        let metrics = mapping.value.iter().filter_map(|value| value.metric());
        Ok(Box::new(TargetSampler {
            host: ctx.host.clone(),
            up: key_of(target::UP.name),
            keys: metrics.map(|metric| key_of(metric.name)).collect(),
            line: Line::new(&ctx.host, SOURCE, (url, mapping.body()), timeout, shown),
            reader: MappingReader::new(mapping),
            is_strict,
        }))
    }
}

struct TargetSampler {
    host: String,
    line: Line,
    up: SeriesKey,
    /// Keys of the mapping's values, in their order.
    keys: Vec<SeriesKey>,
    reader: MappingReader,
    /// Whether every name of the mapping must be told.
    is_strict: bool,
}

impl Sampler for TargetSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let (read, _) = self.line.scrape(t_ns, &mut out.events);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        emit.put(&self.up, f64::from(u8::from(read.is_some())));
        let Some(read) = read else { return };
        let values = self.reader.take(t_ns, &read);
        for (key, value) in self.keys.iter().zip(values) {
            if let Some(value) = value {
                emit.put(key, value);
            }
        }
        let missing = self.reader.missing(&read, self.is_strict);
        if !missing.is_empty() {
            let names = missing.iter().take(MISSING_MAX).copied();
            let says = Text::new("engine-mapping-missing")
                .word("names", names.collect::<Vec<_>>().join(", "));
            self.line
                .tell(t_ns, "monitor-mapping-missing", says, &mut out.events);
        }
    }
}

#[cfg(test)]
mod tests;
