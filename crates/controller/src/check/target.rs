//! The layer of an application server: how many requests per second it answers, and in which of its queues they
//! wait.
//!
//! The second host runs sokudo's own target for the time of the layer: worker threads take a connection of a
//! pool to a database inside the program, and compute. More connections than threads ask, so that requests
//! wait where a server lets them wait.

use std::net::SocketAddr;

use sokudo_load_http::http::HttpOptions;
use sokudo_load_http::http::url::Url;
use sokudo_model::Summary;
use sokudo_model::metrics::target as numbers;
use sokudo_target::{Preset, Settings, Stats, TargetError};
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::{Amount, CheckConfig, Layer, TURNS};
use crate::error::ControlError;
use crate::run::Run;

/// The host that answers, by its number.
const ANSWERING: usize = 1;
/// Worker threads of the server.
const WORKERS: u32 = 16;
/// Connections of its pool.
const POOL: u32 = 8;
/// Requests at once.
const CONNECTIONS: u32 = 32;

/// Runs the layer inside one machine.
pub fn inside(layer: &Layer, run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let folder = tempfile::tempdir().map_err(|error| cannot_start(TargetError::System(error)))?;
    let place = folder.path().to_owned();
    let target = run
        .hosts()
        .on_host(ANSWERING, move |address| {
            let at = SocketAddr::new(address, 0);
            sokudo_target::start(settings(at), &place)
        })?
        .map_err(cannot_start)?;
    let amount = Amount {
        duration_ns: config.length_ns(),
        packets_per_s: 0.0,
    };
    let options = options(&amount, target.at());
    let turns = (1..=TURNS).map(|number| {
        let mut turn = layer.turn(number, &amount);
        turn.options.clone_from(&options);
        turn
    });
    let mut before = target.stats();
    let after = |summary: &mut Summary| {
        let now = target.stats();
        summary.extend(between(&before, &now));
        before = now;
    };
    // The numbers of requests are those of the layer `http`, which asks a server without queues.
    let is_of_run = |name: &str| numbers::METRICS.iter().any(|metric| metric.name == name);
    run.turns(turns.collect(), after, is_of_run)
}

fn cannot_start(error: TargetError) -> ControlError {
    ControlError::Operator {
        says: error.text(),
        hint: Some(error.hint()),
    }
}

/// A server whose requests take what their statements and a little computing take.
fn settings(at: SocketAddr) -> Settings {
    let mut settings = Settings::default();
    Preset::Calm.apply(&mut settings);
    settings.listen.address = at;
    settings.admin.address = SocketAddr::new(at.ip(), 0);
    (settings.workers.core, settings.workers.max) = (WORKERS, WORKERS);
    settings.pool.max = POOL;
    (settings.stress.search_ms, settings.stress.update_ms) = (0, 0);
    settings
}

fn options(amount: &Amount, at: SocketAddr) -> String {
    let usual = HttpOptions::default();
    let options = HttpOptions {
        url: Url {
            host: at.ip().to_string(),
            port: at.port(),
            path: "/stress/check".into(),
            ..usual.url
        },
        connections: CONNECTIONS,
        duration: Some(Span(amount.duration_ns)),
        ..usual
    };
    options.to_json()
}

/// Numbers of the server's queues between two moments.
fn between(before: &Stats, now: &Stats) -> Summary {
    let (workers, pool) = ((&before.workers, &now.workers), (&before.pool, &now.pool));
    let means = [
        (
            numbers::WORKERS_WAIT_SECONDS_MEAN,
            [&workers.0.wait, &workers.1.wait],
        ),
        (
            numbers::WORKERS_SERVICE_SECONDS_MEAN,
            [&workers.0.service, &workers.1.service],
        ),
        (
            numbers::POOL_WAIT_SECONDS_MEAN,
            [&pool.0.wait, &pool.1.wait],
        ),
        (
            numbers::POOL_HOLD_SECONDS_MEAN,
            [&pool.0.hold, &pool.1.hold],
        ),
    ];
    let known = means.into_iter().filter_map(|(metric, [before, now])| {
        let count = now
            .count
            .checked_sub(before.count)
            .filter(|count| *count > 0)?;
        let mean = (now.seconds_total - before.seconds_total) / count as f64;
        Some((metric.name.to_owned(), mean))
    });
    let done = (now.workers.service.count - before.workers.service.count) as f64;
    let per_s = done / (now.uptime_seconds - before.uptime_seconds).max(1e-9);
    known
        .chain([(numbers::WORKERS_DONE_PER_SECOND.name.to_owned(), per_s)])
        .collect()
}
