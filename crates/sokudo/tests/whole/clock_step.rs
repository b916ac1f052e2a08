//! Tests of a run in which a host's clock is stepped.
//!
//! No clock is ever set here: an agent of this process tells another time than it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use serde_json::json;
use sokudo_bus::{Handler, in_proc};
use sokudo_controller::{Hosts, Observer, Progress, Run, RunConfig};
use sokudo_model::{FlowPlan, PhasePlan, RunStatus};
use sokudo_wire::{Ask, Reply};

use crate::vocabulary::{Place, place};

/// Far enough back that a wait computed from the old time is noticed.
const STEP_NS: i64 = -20_000_000_000;
/// Longest that a phase without that mistake takes, on cores however busy.
const SHORT_NS: i64 = 15_000_000_000;

/// An ordinary agent whose clock is stepped in the middle of its first load.
struct Stepped {
    inner: Box<dyn Handler>,
    /// Offset that it adds to its clock, nanoseconds.
    ahead_ns: Arc<AtomicI64>,
}

impl Handler for Stepped {
    fn handle(&mut self, ask: Ask) -> Reply {
        let ahead_ns = self.ahead_ns.load(Ordering::Relaxed);
        let ask = match ask {
            Ask::Watch {
                host,
                t0_ns,
                interval_ns,
                scope,
                monitors,
            } => Ask::Watch {
                host,
                t0_ns: t0_ns - ahead_ns,
                interval_ns,
                scope,
                monitors,
            },
            Ask::Start { at_ns, t0_ns } => {
                self.ahead_ns.store(STEP_NS, Ordering::Relaxed);
                Ask::Start {
                    at_ns: at_ns - ahead_ns,
                    t0_ns: t0_ns - ahead_ns,
                }
            }
            other => other,
        };
        match self.inner.handle(ask) {
            Reply::Clock(now_ns) => Reply::Clock(now_ns + ahead_ns),
            Reply::Description(mut description) => {
                description.clock = Some("a clock of its own".into());
                Reply::Description(description)
            }
            other => other,
        }
    }
}

struct Silent;

impl Observer for Silent {
    fn note(&mut self, _: &Progress<'_>) {}
}

/// Host 1 and host 2, of which the second one's clock will be stepped.
fn run_of_two(place: &Place) -> Run {
    let agent = |name: &'static str, stepped: bool| {
        let link = in_proc::link(
            name,
            || Ok(()),
            move |client, notes| {
                let inner = sokudo_agent::factory(name)(client, notes);
                let ahead_ns = Arc::default();
                match stepped {
                    true => Box::new(Stepped { inner, ahead_ns }),
                    false => inner,
                }
            },
        );
        link.expect("an agent")
    };
    let mut hosts = Hosts::own(sokudo_agent::factory).expect("an agent of its own");
    for (name, stepped) in [("steady", false), ("stepped", true)] {
        let link = agent(name, stepped);
        let admitted = hosts.admit(Box::new(link), "127.0.0.1".into());
        admitted.expect("it answers");
    }
    let config = RunConfig {
        workload: "run".into(),
        command: Vec::new(),
        root: place.path().join("runs"),
        seed: 1,
        interval_ns: 250_000_000,
        monitors: Vec::new(),
        stop: Arc::new(AtomicBool::new(false)),
    };
    Run::begin(hosts, config, Box::new(Silent)).expect("a run")
}

fn phase(
    name: &str,
    workload: &str,
    (from, to): (u32, u32),
    options: serde_json::Value,
) -> PhasePlan {
    PhasePlan {
        name: name.into(),
        workload: workload.into(),
        options: options.to_string(),
        flows: vec![FlowPlan {
            id: 0,
            from,
            to,
            stream: 0,
        }],
        duration_ns: 0,
        bound_ns: 60_000_000_000,
        labels: Default::default(),
    }
}

/// The step is told, the doubt grows by it, and what follows begins when it should.
#[test]
fn a_clock_that_is_stepped_is_told_doubted_and_followed() {
    let place = place();
    let mut run = run_of_two(&place);
    let probes = json!({ "count": "30", "every": "10ms" });
    let probed = run
        .run_phase(phase("probe", "probe", (2, 1), probes))
        .expect("a phase");
    assert_eq!(probed.status, RunStatus::Ok);
    let flow = &probed.result.flows[0];
    assert_eq!(flow.metrics["probe.lost_packets"], 0.0);
    let step_s = STEP_NS.abs() as f64 * 1e-9;
    assert!(flow.metrics["probe.clock_error_seconds"] > 0.9 * step_s);
    assert!(
        !flow.histograms.contains_key("probe.owd_seconds"),
        "no delay is known as well"
    );
    let asked = phase("rr", "rr", (2, 1), json!({ "count": "20" }));
    let asked = run.run_phase(asked).expect("a phase");
    assert_eq!(asked.status, RunStatus::Ok);
    assert_eq!(asked.result.summary["rr.transactions"], 20.0);
    let took_ns = asked.t1_ns - asked.t0_ns;
    assert!(took_ns < SHORT_NS, "it began by the old time: {took_ns} ns");
    run.group_numbers();
    run.finish().expect("a record");
    let record = place.load();
    let steps = |kind: &&str| *kind == "clock-step";
    let kinds = record.events.iter().map(|event| event.kind.as_str());
    assert_eq!(kinds.filter(|kind| steps(kind)).count(), 1);
    let notes = &record.manifest.notes;
    assert!(
        notes.iter().any(|note| note.key == "engine-clock-step"),
        "{notes:?}"
    );
    let error_s = record.manifest.summary["group.clock_error_seconds.max"];
    assert!(error_s > 0.9 * step_s, "{error_s}");
}
