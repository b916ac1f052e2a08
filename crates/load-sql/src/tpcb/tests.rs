use sokudo_workload::Options as _;

use super::*;
use crate::options::CommonOptions;

#[test]
fn options_survive_json_and_what_does_not_fit_is_refused() {
    let common = CommonOptions {
        target: Some("postgres://u:geheim@h/d".parse().expect("a target")),
        clients: 4,
        threads: 2,
        rate: Some("500/s".parse().expect("a rate")),
        ..CommonOptions::default()
    };
    let with = |common: CommonOptions| TpcbOptions {
        common,
        ..TpcbOptions::default()
    };
    let options = with(common.clone());
    let read: TpcbOptions = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert!(options.validate().is_ok());
    assert_eq!(
        (options.server(), options.server_port()),
        (Some("h"), Some(5432))
    );
    for wrong in [
        CommonOptions {
            threads: 9,
            ..common.clone()
        },
        CommonOptions {
            rate: Some("5Mb/s".parse().expect("a rate")),
            ..common.clone()
        },
        CommonOptions {
            count: Some("0".parse().expect("a count")),
            ..common.clone()
        },
    ] {
        assert!(with(wrong.clone()).validate().is_err(), "{wrong:?}");
    }
    assert!(!format!("{options:?}").contains("geheim"));
}

#[test]
fn an_option_that_is_not_known_is_refused() {
    for unknown in [r#"{"scales":2}"#, r#"{"clients":2,"client":2}"#] {
        assert!(
            serde_json::from_str::<TpcbOptions>(unknown).is_err(),
            "{unknown}"
        );
    }
}

#[test]
fn several_hosts_have_as_much_load_each() {
    let mut each = TpcbOptions::default();
    each.common.clients = 4;
    assert_eq!(each.of_hosts(3).common.clients, 12);
}
