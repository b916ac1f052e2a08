use sokudo_workload::Options as _;

use super::*;
use crate::options::CommonOptions;

fn paced(pace: f64, rate: Option<&str>) -> Dbt2Options {
    Dbt2Options {
        pace: Some(pace),
        common: CommonOptions {
            rate: rate.map(|rate| rate.parse().expect("a rate")),
            ..CommonOptions::default()
        },
        ..Dbt2Options::default()
    }
}

#[test]
fn options_survive_json_and_what_does_not_fit_is_refused() {
    let options = paced(0.5, None);
    let read: Dbt2Options = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert!(options.validate().is_ok());
    for wrong in [
        paced(0.0, None),
        paced(-1.0, None),
        paced(f64::NAN, None),
        paced(1000.0, None),
        paced(1.0, Some("5/s")),
    ] {
        assert!(wrong.validate().is_err(), "{wrong:?}");
    }
}

#[test]
fn new_orders_per_minute_are_counted_over_the_time_of_all_transactions() {
    let mut summary = Summary::new();
    assert_eq!(per_minute(&summary), None);
    put(&mut summary, numbers::NEW_ORDERS, 45.0);
    put(&mut summary, sql::TRANSACTIONS, 100.0);
    put(&mut summary, sql::TRANSACTIONS_PER_SECOND, 10.0);
    // 100 transactions in 10 s, 45 of them new orders: 45 in 10 s.
    assert_eq!(per_minute(&summary), Some(270.0));
}
