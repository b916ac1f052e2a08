use std::collections::BTreeMap;

use proptest::prelude::*;
use sokudo_model::{HostSpec, PhasePlan, RunId};
use sokudo_workload::contract::{HostResult, Options, Workload};

use super::*;

fn spec(options: &RrOptions) -> PhaseSpec {
    let host = |index: u32| HostSpec {
        name: format!("host{index}"),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "rr".into(),
            workload: NAME.into(),
            options: options.to_json(),
            flows: flows(2, options.common.threads, options.common.direction),
            duration_ns: 1_000_000_000,
            bound_ns: 1_000_000_000,
            labels: BTreeMap::new(),
        },
        hosts: vec![host(0), host(1)],
        me: 0,
        seed: 1,
        tickets: vec![1, 2, 3, 4],
    }
}

/// Numbers of a host that asked for one second and was answered in the first tenth of it.
fn asked(flow: u32, transactions: u64, errors: u64) -> String {
    format!(
        r#"{{"asked":[{{"asked":{{"flow":{flow},"counts":{{"transactions":{transactions},
        "timed":{transactions},"errors":{errors},"unstarted":0,"late":0,"window_full":0,
        "connections_lost":0,"first_ns":0,"last_ns":100000000,"sum_s":0.0,"sum_squares_s":0.0,
        "error":null}},"cpu_ns":null,"wait_ns":null,"elapsed_ns":1000000000}},"recorded":{{"latency":"",
        "service":"","start_delay":"","details":null}},"asked_per_s":null,"connections":1,"start_late_ns":null}}],
        "answered":[]}}"#
    )
}

/// Numbers of a host that answered.
fn answered(flow: u32, answered: u64) -> String {
    format!(
        r#"{{"asked":[],"answered":[{{"flow":{flow},"answered":{answered},"strangers":0,
        "cpu_ns":null,"wait_ns":null,"elapsed_ns":1000000000,"error":null}}]}}"#
    )
}

fn joined(options: &RrOptions, results: &[HostResult]) -> PhaseResult {
    Rr.join(&spec(options), results).expect("options")
}

#[test]
fn up_asks_each_peer_and_mesh_asks_everybody() {
    let pairs = |direction| -> Vec<(u32, u32)> {
        let flows = flows(3, 1, direction);
        flows.iter().map(|flow| (flow.from, flow.to)).collect()
    };
    assert_eq!(pairs(Direction::Up), [(0, 1), (0, 2)]);
    assert_eq!(pairs(Direction::Mesh).len(), 6);
    let several = flows(2, 3, Direction::Up);
    assert!(
        several
            .iter()
            .zip(0..)
            .all(|(flow, n)| flow.id == n && flow.stream == n)
    );
}

#[test]
fn a_host_speaks_for_its_own_flows_only() {
    let options = RrOptions::default();
    let own = joined(&options, &[Ok(asked(0, 5, 0)), Err("gone".into())]);
    assert_eq!(own.summary["rr.transactions"], 5.0);
    assert_eq!(own.summary["rr.transactions_per_second"], 5.0);
    assert!(!own.flows[0].complete, "one end is missing");
    let both = joined(&options, &[Ok(asked(0, 5, 0)), Ok(answered(0, 5))]);
    assert!(both.flows[0].complete);
    let foreign = joined(&options, &[Err("gone".into()), Ok(asked(0, 5, 0))]);
    assert!(!foreign.flows[0].complete && foreign.summary.is_empty());
    let unknown = joined(&options, &[Ok(asked(7, 5, 0))]);
    assert!(unknown.flows[0].metrics.is_empty());
}

#[test]
fn requests_without_an_answer_are_the_loss_of_a_trial() {
    let options = RrOptions::default();
    let outcome = |transactions, errors| {
        let result = joined(&options, &[Ok(asked(0, transactions, errors))]);
        Rr.outcome(&result).unwrap()
    };
    assert_eq!(outcome(5, 0).loss, 0.0);
    assert_eq!(outcome(0, 5).loss, 1.0);
    assert!(Rr.outcome(&PhaseResult::default()).is_none());
}

proptest! {
    #[test]
    fn whatever_hosts_say_is_joined_without_harm(one in "\\PC{0,80}", flow in any::<u32>()) {
        let options = RrOptions::default();
        let _ = joined(&options, &[Ok(one), Ok(asked(flow, 0, 5))]);
    }
}
