//! `target`: queues of a server that `sokudo target app` started, from its admin port.
//!
//! The admin port has a thread of its own, so that it answers when all workers are busy. One that does
//! not answer all the same gives `target.up` 0 and an event with the reason.

mod parse;

use std::net::SocketAddr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::metrics::target;
use sokudo_model::{Batch, On, SeriesKey};

use self::parse::{Reader, VALUES};
use crate::contract::{Monitor, Reach, Sampler};
use crate::emit::{Emit, key};
use crate::openmetrics::{Line, Url};
use crate::{Context, Unavailable};

/// Variable that holds the key of a target that wants one.
pub const KEY_VARIABLE: &str = "SOKUDO_TARGET_KEY";
/// Name of the source of its series.
const SOURCE: &str = "target";
/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

const METRICS: &[&str] = &{
    let mut names = [target::UP.name; VALUES.len() + 1];
    let mut at = 0;
    while at < VALUES.len() {
        names[at + 1] = VALUES[at].0.name;
        at += 1;
    }
    names
};

/// Which target is observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetOptions {
    /// Admin port of the target: ADDR:PORT.
    #[serde(default = "usual")]
    #[schemars(with = "String")]
    at: SocketAddr,
}

fn usual() -> SocketAddr {
    ([127, 0, 0, 1], 9081).into()
}

/// Monitor of a target's queues.
pub(crate) struct Target;

impl Monitor for Target {
    type Options = TargetOptions;

    fn name(&self) -> &'static str {
        "target"
    }

    fn help(&self) -> &'static str {
        "queues of a server that `sokudo target app` started: accept queue, threads, pool"
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

    fn reaches(&self, options: &TargetOptions) -> Vec<Reach> {
        vec![Reach::Address {
            host: options.at.ip().to_string(),
            port: options.at.port(),
        }]
    }

    fn open(&self, options: TargetOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        let endpoint = options.at.to_string();
        let url = Url::parse(&format!("http://{endpoint}/metrics")).map_err(Unavailable::System)?;
        let shown = std::env::var(KEY_VARIABLE)
            .ok()
            .filter(|key| !key.is_empty());
        let key_of = |metric| key(&ctx.host, SOURCE, metric, &[("endpoint", &endpoint)]);
        Ok(Box::new(TargetSampler {
            host: ctx.host.clone(),
            line: Line::new(&ctx.host, SOURCE, url, TIMEOUT, shown),
            keys: std::array::from_fn(|at| key_of(METRICS[at])),
            reader: Reader::default(),
        }))
    }
}

struct TargetSampler {
    host: String,
    line: Line,
    /// Keys of [`METRICS`].
    keys: [SeriesKey; VALUES.len() + 1],
    reader: Reader,
}

impl Sampler for TargetSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let (read, _) = self.line.scrape(t_ns, &mut out.events);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        emit.put(&self.keys[0], f64::from(u8::from(read.is_some())));
        let Some(read) = read else { return };
        let values = self.reader.take(t_ns, &read);
        for (key, value) in self.keys[1..].iter().zip(values) {
            if let Some(value) = value {
                emit.put(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
