use sokudo_workload::Options as _;

use super::*;
use crate::options::CommonOptions;

fn thinking(think: &str, rate: Option<&str>) -> Dbt1Options {
    Dbt1Options {
        think: Some(think.parse().expect("a time")),
        common: CommonOptions {
            rate: rate.map(|rate| rate.parse().expect("a rate")),
            ..CommonOptions::default()
        },
        ..Dbt1Options::default()
    }
}

#[test]
fn options_survive_json_and_what_does_not_fit_is_refused() {
    let options = thinking("7s", None);
    let read: Dbt1Options = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert!(options.validate().is_ok());
    for wrong in [
        thinking("0s", None),
        thinking("2m", None),
        thinking("7s", Some("5/s")),
    ] {
        assert!(wrong.validate().is_err(), "{wrong:?}");
    }
}

#[test]
fn the_mix_is_off_by_the_share_that_is_furthest_from_its_own() {
    let options = Dbt1Options::default();
    let mut summary = Summary::new();
    assert_eq!(mix_off(&options, &summary), None);
    put(&mut summary, sql::TRANSACTIONS, 10_000.0);
    for (count, share) in numbers::COUNTS.into_iter().zip(shares(options.mix)) {
        put(&mut summary, count, share as f64);
    }
    assert!(mix_off(&options, &summary).is_some_and(|off| off < 1e-12));
    put(&mut summary, numbers::COUNTS[0], 1700.0);
    assert!(mix_off(&options, &summary).is_some_and(|off| (off - 0.01).abs() < 1e-9));
}
