//! Predicts from one user per group at how many users a plan asks too much of its server.
//!
//! ```text
//! one user per group ─► R: its mean response · Z: its mean pause ─► N* = (R + Z) / D
//! ```
//!
//! D, the time that one request keeps the busiest resource of the server busy, cannot be seen from
//! here: the operator gives it, or the whole response is taken for it, which gives the least N*.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::check::knee_users;
use sokudo_load_http::jmx::{
    Finished, Generator, Listener, JmxOptions, NotStarted, Prepared, Tallies, read_plan,
};
use sokudo_model::{Refusal, units};
use sokudo_net::clock::now_ns;

use super::{Failure, properties::PropertyArgs};
use crate::cli::stop_flag;

/// Time between two looks at whether the probe is over.
const LOOK: Duration = Duration::from_millis(20);

/// What one user alone saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Probed {
    /// Users: one per main group.
    pub users: u64,
    /// Samples, transactions left out.
    pub samples: u64,
    /// Of which failed.
    pub failed: u64,
    /// Mean response, seconds.
    pub response_seconds: f64,
    /// Mean pause between a response and the next request, seconds.
    pub pause_seconds: f64,
    /// Time of the busiest resource per request, as the operator said.
    pub demand_seconds: Option<f64>,
    /// Users at which that resource has nothing left; without a demand, the least that it can be.
    pub knee_users: Option<f64>,
}

struct Silent;

impl Listener for Silent {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, _active: u32) {}
}

/// Sends what one user per group sends in this time. Errors: the plan cannot be executed, or
/// nothing came back.
pub fn probe(
    plan: &std::path::Path,
    properties: &PropertyArgs,
    (seconds, demand_seconds, seed): (u64, Option<f64>, u64),
) -> Result<Probed, Failure> {
    let layers = properties.layers()?;
    let options = JmxOptions {
        plan: plan.to_owned(),
        properties: layers
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        users: Some(1),
        duration_s: Some(seconds),
        threads: 1,
        insecure: true,
        ..JmxOptions::default()
    };
    let mut prepared = Prepared::new(read_plan(&options, seed)?, &options, seed)?;
    prepared.keep_listeners_quiet();
    let stop = stop_flag()?;
    let started = Generator::start(
        &prepared,
        &options,
        (now_ns(), seed),
        Arc::new(Silent),
        || {},
    );
    let generator = started.map_err(|why: NotStarted| Refusal::from(why))?;
    while !generator.is_over() {
        std::thread::sleep(LOOK);
        if stop.load(Ordering::Relaxed) {
            generator.stop();
        }
    }
    let users = prepared.plan.groups.iter();
    let users = users.filter(|group| group.load.users().is_some()).count() as u64;
    of(&generator.finish()?, users, demand_seconds)
}

/// What came of it. Errors: no sample at all.
fn of(finished: &Finished, users: u64, demand_seconds: Option<f64>) -> Result<Probed, Failure> {
    let all = || finished.seen.values().filter(|tally| !tally.is_transaction);
    let samples: u64 = all().map(|tally| tally.samples).sum();
    let spans = all().filter_map(|tally| tally.span_ns);
    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (Some((first_ns, last_ns)), true) = (span, samples > 0) else {
        return Err(Failure::run(
            "the probe got no result: the plan sent nothing within its time",
            String::from("give it longer, `--duration 30`, or look at the plan's first pauses"),
        ));
    };
    let service_s: f64 = all().map(|tally| tally.elapsed_ms.0 as f64 / 1e3).sum();
    let response_seconds = service_s / samples as f64;
    let cycle_seconds = (last_ns - first_ns) as f64 / 1e9 * users.max(1) as f64 / samples as f64;
    let pause_seconds = (cycle_seconds - response_seconds).max(0.0);
    let demand = demand_seconds.unwrap_or(response_seconds);
    Ok(Probed {
        users,
        samples,
        failed: all().map(|tally| tally.failed).sum(),
        response_seconds,
        pause_seconds,
        demand_seconds,
        knee_users: knee_users(response_seconds, pause_seconds, demand),
    })
}

impl Probed {
    /// For a program.
    pub fn json(&self) -> Value {
        json!({
            "users": self.users,
            "samples": self.samples,
            "failed": self.failed,
            "response_seconds": self.response_seconds,
            "pause_seconds": self.pause_seconds,
            "demand_seconds": self.demand_seconds,
            "knee_users": self.knee_users,
        })
    }

    /// For people.
    pub fn text(&self, lang: Lang) -> String {
        let i18n = I18n::new(lang);
        let count = |n: u64| units::grouped(n);
        let mut out = i18n.message(
            "jmx-probe-saw",
            &[
                ("users", &count(self.users)),
                ("samples", &count(self.samples)),
                ("failed", &count(self.failed)),
                ("response", &units::duration(self.response_seconds)),
                ("pause", &units::duration(self.pause_seconds)),
            ],
        );
        let Some(knee) = self.knee_users else {
            return format!("  {out}\n");
        };
        let knee = format!("{knee:.1}");
        let said = match self.demand_seconds {
            Some(demand) => i18n.message(
                "jmx-probe-knee",
                &[("users", &knee), ("demand", &units::duration(demand))],
            ),
            None => i18n.message("jmx-probe-least", &[("users", &knee)]),
        };
        out = format!("  {out}\n  {said}\n");
        out
    }
}
