//! Predicts from one user per group at how many users a plan asks too much of its server.
//!
//! ```text
//! one user per group ─► R: its mean response · Z: its mean pause ─► N* = (R + Z) / D
//! ```
//!
//! D, the time that one request keeps the busiest resource of the server busy, cannot be seen from
//! here: the operator gives it, or the whole response is taken for it, which gives the least N*.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use sokudo_jmeter::check::knee_users;
use sokudo_model::{Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_workload::refusal::failed;

use super::generator::{Finished, Generator, LoadObserver, UsersSeen};
use super::options::JmxOptions;
use super::read::{Prepared, read_plan};
use super::tally::Tallies;

/// Result of a test with one user.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

impl LoadObserver for Silent {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, _users: UsersSeen) {}
}

/// Sends what one user per group sends until `stop`, or in the time of `options`. Errors: the plan cannot
/// be executed, or nothing came back.
pub fn probe(
    options: JmxOptions,
    (demand_seconds, seed): (Option<f64>, u64),
    stop: &AtomicBool,
) -> Result<Probed, Refusal> {
    let options = JmxOptions {
        users: Some(1),
        threads: 1,
        insecure: true,
        ..options
    };
    let mut prepared = Prepared::new(read_plan(&options, seed)?, &options, seed)?;
    prepared.keep_listeners_quiet();
    let listener = Arc::new(Silent);
    let generator = Generator::start(&prepared, &options, (now_ns(), seed), listener, || {});
    let finished = generator.map_err(Refusal::from)?.finish_or(stop)?;
    let users = prepared.plan.groups.iter();
    let users = users.filter(|group| group.load.users().is_some()).count() as u64;
    of(&finished, users, demand_seconds)
}

/// Reads it from a finished test. Errors: no sample at all.
fn of(finished: &Finished, users: u64, demand_seconds: Option<f64>) -> Result<Probed, Refusal> {
    let all = || finished.seen.values().filter(|tally| !tally.is_transaction);
    let samples: u64 = all().map(|tally| tally.samples).sum();
    let spans = all().filter_map(|tally| tally.span_ns);
    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (Some((first_ns, last_ns)), true) = (span, samples > 0) else {
        return Err(failed(
            Text::new("error-probe-empty"),
            Some(Text::new("error-probe-empty-hint")),
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
