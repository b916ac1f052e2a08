use sokudo_workload::Options as _;

use super::*;

#[test]
fn options_survive_json_and_what_does_not_fit_is_refused() {
    let options = TpcbOptions {
        target: Some("postgres://u:geheim@h/d".parse().expect("a target")),
        clients: 4,
        threads: 2,
        rate: Some("500/s".parse().expect("a rate")),
        ..TpcbOptions::default()
    };
    let read: TpcbOptions = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert!(options.validate().is_ok());
    assert_eq!(
        (options.server(), options.server_port()),
        (Some("h"), Some(5432))
    );
    for wrong in [
        TpcbOptions {
            threads: 9,
            ..options.clone()
        },
        TpcbOptions {
            rate: Some("5Mb/s".parse().expect("a rate")),
            ..options.clone()
        },
        TpcbOptions {
            count: Some("0".parse().expect("a count")),
            ..options.clone()
        },
    ] {
        assert!(wrong.validate().is_err(), "{wrong:?}");
    }
    assert!(!format!("{options:?}").contains("geheim"));
}

#[test]
fn several_hosts_have_as_much_load_each() {
    let all = TpcbOptions {
        clients: 4,
        ..TpcbOptions::default()
    }
    .of_hosts(3);
    assert_eq!(all.clients, 12);
}
