//! Tests of the bus that need no second host: options, flows, joining.

use sokudo_model::{PhaseResult, Rate};
use sokudo_workload::contract::{Options, Workload};
use sokudo_workload::flows::Direction;

use super::options::BusOptions;
use super::{Bus, flows};

#[test]
fn a_chain_leads_from_each_host_to_the_next() {
    let options = BusOptions {
        relay: true,
        tx_threads: 2,
        ..BusOptions::default()
    };
    let pairs: Vec<_> = flows(3, &options)
        .into_iter()
        .map(|flow| (flow.from, flow.to, flow.stream))
        .collect();
    assert_eq!(pairs, [(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)]);
}

#[test]
fn directions_say_who_sends() {
    let pairs = |direction| -> Vec<(u32, u32)> {
        let options = BusOptions {
            direction,
            ..BusOptions::default()
        };
        let flows = flows(3, &options).into_iter();
        flows.map(|flow| (flow.from, flow.to)).collect()
    };
    assert_eq!(pairs(Direction::Up), [(0, 1), (0, 2)]);
    assert_eq!(pairs(Direction::Down), [(1, 0), (2, 0)]);
    assert_eq!(pairs(Direction::Both).len(), 4);
    assert_eq!(pairs(Direction::Mesh).len(), 6);
}

#[test]
fn a_trial_has_its_own_rate_and_length() {
    let options = BusOptions {
        count: Some("5".parse().unwrap()),
        ..BusOptions::default()
    };
    let text = Bus.trial(&options.to_json(), Some(500.0), 7).unwrap();
    let trial: BusOptions = serde_json::from_str(&text).unwrap();
    assert_eq!(trial.rate.map(|rate| rate.0), Some(Rate::Events(500.0)));
    assert_eq!((trial.count, trial.duration_ns()), (None, 7));
}

#[test]
fn an_outcome_tells_a_slow_generator_from_a_slow_far_end() {
    let result = |late: f64| PhaseResult {
        summary: [
            ("bus.messages_per_second", 500.0),
            ("bus.asked_per_second", 1000.0),
            ("bus.late_ratio", late),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        ..PhaseResult::default()
    };
    assert!(Bus.outcome(&result(0.9)).unwrap().generator_limited);
    assert!(!Bus.outcome(&result(0.0)).unwrap().generator_limited);
    assert!(Bus.outcome(&PhaseResult::default()).is_none());
}
