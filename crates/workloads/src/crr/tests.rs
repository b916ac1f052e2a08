use super::*;

#[test]
fn datagrams_have_no_connections() {
    let options = CrrOptions {
        transport: crate::link::Transport::Udp,
        ..CrrOptions::default()
    };
    let refusal = options.validate().unwrap_err();
    assert!(refusal.operator_error && refusal.hint.is_some());
}

#[test]
fn options_survive_json_and_mean_one_request_per_connection() {
    let options = CrrOptions {
        threads: 4,
        rate: Some("500/s".parse().unwrap()),
        ..CrrOptions::default()
    };
    let read: CrrOptions = serde_json::from_str(&options.to_json()).unwrap();
    assert_eq!(read, options);
    let common = read.common();
    assert_eq!((common.window, common.threads), (1, 4));
    assert_eq!(common.connections_of(3), 1);
}

#[test]
fn a_trial_has_its_rate_and_its_time() {
    let options = CrrOptions {
        count: Some("5".parse().unwrap()),
        ..CrrOptions::default()
    };
    let trial = Crr
        .trial(&options.to_json(), Some(250.0), 1_000_000)
        .unwrap();
    let trial: CrrOptions = serde_json::from_str(&trial).unwrap();
    assert_eq!(
        trial.rate.map(|rate| rate.to_string()),
        Some("250/s".into())
    );
    assert_eq!(
        (trial.count, trial.common().duration_ns()),
        (None, 1_000_000)
    );
    assert!(Crr.trial("{", None, 1).unwrap_err().operator_error);
}
