//! A server that is not there.

use sokudo_model::Batch;

use crate::contract::Files;
use crate::{Context, Reach, find, parse};

const SECOND: i64 = 1_000_000_000;

#[test]
fn a_server_that_is_not_there_gives_zero_and_an_event_without_the_password() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = socket.local_addr().expect("it is bound").port();
    drop(socket);
    for (monitor, scheme) in [("postgres", "postgres"), ("mariadb", "mysql")] {
        let words = format!("{monitor}:dsn={scheme}://u:geheim@127.0.0.1:{port}/d");
        let spec = parse(&words, Files::Refused).expect("options");
        let opened = find(monitor)
            .expect("it is known")
            .open_with(&spec.options, &Context::host("hosta"));
        let mut sampler = opened.expect("it connects later");
        let mut batch = Batch::default();
        for tenth in 0..=20 {
            sampler.sample(tenth * SECOND / 10, &mut batch);
        }
        assert_eq!(batch.series.len(), 1, "{:?}", batch.series);
        let up = &batch.series[0];
        assert_eq!(up.key.metric, format!("{monitor}.up"));
        // Tried once a second, not ten times.
        let values: Vec<f64> = up.points.iter().map(|point| point.1).collect();
        assert_eq!(values, [0.0; 3]);
        let told = format!("{batch:?}");
        assert_eq!(batch.events.len(), 1, "{told}");
        assert_eq!(batch.events[0].kind, "monitor-scrape-failed");
        assert!(!told.contains("geheim"), "{told}");
    }
}

#[test]
fn the_database_must_be_one_of_the_monitors_kind() {
    for wrong in [
        "postgres:dsn=mysql://u@h/d",
        "mariadb:dsn=postgres://u@h/d",
        "postgres:dsn=sqlite:/tmp/x",
        "postgres:dsn=oracle://u:geheim@h/d",
        "postgres:dsn=postgres://u@h/d,timeout=1ms",
        "postgres",
    ] {
        let refused = parse(wrong, Files::Refused).expect_err(wrong).to_string();
        assert!(!refused.contains("geheim"), "{refused}");
    }
}

#[test]
fn the_policy_is_told_which_server_is_reached() {
    let reaches = |words: &str| {
        let spec = parse(words, Files::Refused).expect(words);
        find(&spec.name).and_then(|monitor| monitor.reaches_with(&spec.options))
    };
    let host = |host: &str, port| {
        let host = host.to_owned();
        Ok(vec![Reach::Address { host, port }])
    };
    assert_eq!(reaches("postgres:dsn=postgres://u@h/d"), host("h", 5432));
    assert_eq!(reaches("mariadb:dsn=mysql://u@h:3307/d"), host("h", 3307));
    let socket = reaches("postgres:dsn=postgres://u@%2Frun%2Fpostgresql/d");
    assert_eq!(socket, Ok(vec![Reach::Socket]));
}
