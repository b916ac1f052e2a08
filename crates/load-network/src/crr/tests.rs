use sokudo_workload::contract::Workload;

use super::*;

/// Options from JSON fields over the defaults.
fn options(fields: &str) -> CrrOptions {
    serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test")
}

#[test]
fn what_cannot_be_is_refused() {
    for fields in [
        r#""transport":"udp""#,
        r#""size":"8""#,
        r#""size":"0""#,
        r#""count":"0""#,
    ] {
        let refusal = options(fields).validate().unwrap_err();
        assert!(refusal.operator_error && refusal.hint.is_some(), "{fields}");
    }
    assert!(options(r#""size":"24:1""#).validate().is_ok());
    assert!(serde_json::from_str::<CrrOptions>(r#"{"window":2}"#).is_err());
}

#[test]
fn options_survive_json_and_mean_one_request_per_connection() {
    let options = options(r#""threads":4,"rate":"500/s""#);
    let read: CrrOptions = serde_json::from_str(&options.to_json()).unwrap();
    assert_eq!(read, options);
    let exchange = read.as_rr();
    assert_eq!((exchange.window, exchange.common.threads), (1, 4));
    assert_eq!(exchange.connections_of(3), 1);
}

#[test]
fn a_trial_has_its_rate_and_its_time() {
    let options = options(r#""count":"5""#);
    let trial = Crr
        .trial(&options.to_json(), Some(250.0), 1_000_000)
        .unwrap();
    let trial: CrrOptions = serde_json::from_str(&trial).unwrap();
    let common = trial.common;
    assert_eq!(
        common.rate.map(|rate| rate.to_string()),
        Some("250/s".into())
    );
    assert_eq!((common.count, common.duration_ns()), (None, 1_000_000));
    assert!(Crr.trial("{", None, 1).unwrap_err().operator_error);
}
