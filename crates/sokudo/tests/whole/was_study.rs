//! The four experiments on the queues of an application server as one scenario, held against their closed form.
//!
//! With `N` users, a rate `X` and pauses of `Z`, `X·Z` users think; those that are neither thinking nor served wait.
//! A search and an update hold a connection for a second each, and users pause for 0.58 s (scaled 1/10).

use std::path::{Path, PathBuf};

use sokudo_model::{PhaseRecord, Record};

use crate::target_knobs::{app, told};
use crate::vocabulary::place;

const THINK_S: f64 = 0.583;
const HOLD_S: f64 = 2.0;
/// Between search and update, and the primes.
const BETWEEN_S: f64 = 0.1;
/// Time at the begin of a phase in which its users come.
const RAMP_NS: i64 = 3_000_000_000;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/was")
}

/// A phase of the study.
struct Experiment<'a> {
    record: &'a Record,
    phase: &'a PhaseRecord,
}

impl<'a> Experiment<'a> {
    fn of(record: &'a Record, name: &str) -> Self {
        let mut phases = record.manifest.phases.iter();
        let phase = phases.find(|phase| phase.name == name);
        Self {
            record,
            phase: phase.unwrap_or_else(|| panic!("no phase `{name}`")),
        }
    }

    /// A gauge while all users are there.
    fn gauge(&self, metric: &str) -> Vec<f64> {
        let inside = self.phase.t0_ns + RAMP_NS..=self.phase.t1_ns - RAMP_NS;
        let points = self
            .record
            .series_of(metric)
            .flat_map(|series| &series.points);
        let values = points.filter(|(t_ns, _)| inside.contains(t_ns));
        let values: Vec<f64> = values.map(|(_, value)| *value).collect();
        assert!(
            values.len() >= 5,
            "{}: {metric} has {values:?}",
            self.phase.name
        );
        values
    }

    fn mean(&self, metric: &str) -> f64 {
        let values = self.gauge(metric);
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn highest(&self, metric: &str) -> f64 {
        self.gauge(metric).into_iter().fold(0.0, f64::max)
    }

    fn total(&self, metric: &str) -> f64 {
        let summary = &self.phase.result.summary;
        *summary
            .get(metric)
            .unwrap_or_else(|| panic!("no {metric} in {summary:?}"))
    }
}

/// Users that wait when `served` requests are served at a time, and the load is full.
fn waiting(users: f64, served: f64, each_s: f64, elsewhere_s: f64) -> f64 {
    users - served - served / each_s * elsewhere_s
}

#[test]
fn the_four_experiments_come_out_as_their_closed_form_says() {
    let place = place();
    // The primes of a debug build take seconds of CPU.
    let app = app(&place, "pool.url=sim: stress.bit=16");
    let (_, port) = app.at.rsplit_once(':').expect("a port");
    let folder = examples();
    let typed = format!(
        "run {} --set folder={} --set port={port} --set admin={} --set seconds=8 --set levels=",
        folder.join("study.js").display(),
        folder.display(),
        app.admin,
    );
    let ended = told(&place, &typed).run();
    ended.expect_stdout("A: ");
    let record = place.load();
    let of = |name| Experiment::of(&record, name);

    let small = of("A, pool of 10");
    let expected = waiting(25.0, 10.0, HOLD_S, THINK_S + BETWEEN_S);
    let seen = small.mean("target.pool.waiting");
    assert!(
        (seen - expected).abs() < 4.0,
        "{seen} wait, {expected} should"
    );
    assert!(small.mean("target.pool.used") > 9.0);
    let large = of("A, pool of 50");
    assert_eq!(large.highest("target.pool.waiting"), 0.0);

    let front = of("C, 40 threads and connections");
    assert_eq!(front.highest("target.pool.waiting"), 0.0);
    let expected = waiting(60.0, 40.0, HOLD_S + BETWEEN_S, THINK_S);
    let seen = front.mean("target.workers.queued");
    assert!(
        (seen - expected).abs() < 6.0,
        "{seen} wait, {expected} should"
    );
    assert!(front.mean("target.workers.active") > 36.0);

    let reset = of("D, limit of 40 connections");
    let share = reset.total("http.error_ratio");
    // Of 20 users outside some come back at once, and find a place as often as one is left.
    let expected = 1.0 - 40.0 / (HOLD_S + BETWEEN_S) * THINK_S / 20.0;
    assert!(
        (share - expected).abs() < 0.2,
        "{share} fail, {expected} should"
    );
    assert!(reset.total("http.resets") > 0.0);
    let waits = of("D, accept queue of 4");
    assert!(waits.total("http.error_ratio") < 0.05);
    let flows = &waits.phase.result.flows;
    let connects = flows
        .iter()
        .filter_map(|flow| flow.histograms.get("http.connect_seconds"));
    let longest = connects.map(|times| times.max).fold(0.0, f64::max);
    assert!(
        longest > 0.9,
        "SYNs are sent again after a second: {longest} s"
    );

    let knobs = told(&place, "target set").run();
    knobs
        .expect_stdout("pool.max=10")
        .expect_stdout("listen.max_open=20000");
}
