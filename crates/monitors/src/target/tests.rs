//! Answers of an admin port, one after the other.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::*;
use crate::contract::Files;
use crate::{Registered, parse as parse_spec};

fn last(batch: &Batch, metric: &str) -> Option<f64> {
    let series = batch.series.iter().find(|s| s.key.metric == metric)?;
    series.points.last().map(|point| point.1)
}

fn observe(answers: &[String]) -> Batch {
    observe_with(|at| format!("at={at}"), answers)
}

/// Serves the answers in order, and gives the samples at whole seconds.
fn observe_with(words: impl Fn(SocketAddr) -> String, answers: &[String]) -> Batch {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let at = listener.local_addr().expect("address");
    let spec = parse_spec(&format!("target:{}", words(at)), Files::Readable).expect("options");
    let ctx = Context::host("hosta");
    let mut sampler = Target.open_with(&spec.options, &ctx).expect("opens");
    let mut batch = Batch::default();
    for (answer, second) in answers.iter().zip(0..) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().expect("a call");
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0)
                {
                    request.push(byte[0]);
                }
                assert!(request.starts_with(b"GET /metrics HTTP/1.1\r\n"));
                stream.write_all(answer.as_bytes()).expect("sent");
            });
            sampler.sample(second * 1_000_000_000, &mut batch);
        });
    }
    batch
}

fn answer(waiting: u64, waits: u64, sum: f64, timeouts: u64) -> String {
    format!(
        "HTTP/1.1 200 OK\r\n\r\ntarget_pool_waiting {waiting}\ntarget_pool_wait_seconds_count {waits}\n\
         target_pool_wait_seconds_sum {sum}\ntarget_pool_timeouts_total {timeouts}\n\
         target_workers_service_seconds_count {waits}\n"
    )
}

#[test]
fn depths_means_and_rates_come_from_the_admin_port() {
    let batch = observe(&[answer(0, 10, 1.0, 5), answer(14, 14, 11.0, 7)]);
    assert_eq!(last(&batch, target::UP.name), Some(1.0));
    assert_eq!(last(&batch, target::POOL_WAITING.name), Some(14.0));
    assert_eq!(last(&batch, target::POOL_WAIT_SECONDS_MEAN.name), Some(2.5));
    assert_eq!(
        last(&batch, target::WORKERS_DONE_PER_SECOND.name),
        Some(4.0)
    );
    assert_eq!(last(&batch, target::POOL_TIMEOUTS.name), Some(2.0));
    assert_eq!(last(&batch, target::POOL_USED.name), None);
    assert_eq!(batch.events, []);
}

#[test]
fn a_target_that_was_started_again_gives_no_negative_growth() {
    let batch = observe(&[
        answer(0, 10, 1.0, 5),
        answer(0, 20, 2.0, 6),
        answer(1, 2, 0.5, 0),
    ]);
    let points = |metric: &str| {
        let series = batch.series.iter().find(|s| s.key.metric == metric);
        series.map(|s| s.points.iter().map(|p| p.1).collect::<Vec<_>>())
    };
    assert_eq!(
        points(target::POOL_TIMEOUTS.name),
        Some(vec![0.0, 1.0, 0.0])
    );
    assert_eq!(points(target::POOL_WAIT_SECONDS_MEAN.name), Some(vec![0.1]));
}

#[test]
fn silence_is_data() {
    let refused = "HTTP/1.1 401 Unauthorized\r\n\r\n".to_owned();
    let batch = observe(&[answer(0, 0, 0.0, 0), refused, answer(0, 0, 0.0, 0)]);
    let up = batch
        .series
        .iter()
        .find(|s| s.key.metric == target::UP.name);
    let up: Vec<f64> = up.expect("a series").points.iter().map(|p| p.1).collect();
    assert_eq!(up, [1.0, 0.0, 1.0]);
    let kinds: Vec<_> = batch
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect();
    assert_eq!(kinds, ["monitor-scrape-failed", "scrape-answers"]);
}

fn liberty(active: u64, managed: u64, free: u64, waited_s: f64, uses: u64) -> String {
    format!(
        "HTTP/1.1 200 OK\r\n\r\nthreadpool_activeThreads{{pool=\"main\"}} {active}\n\
         threadpool_size{{pool=\"main\"}} 50\nconnectionpool_managedConnections{{datasource=\"a\"}} {managed}\n\
         connectionpool_freeConnections{{datasource=\"a\"}} {free}\n\
         connectionpool_waitTime_total_seconds{{datasource=\"a\"}} {waited_s}\n\
         connectionpool_usedConnections_total{{datasource=\"a\"}} {uses}\n"
    )
}

#[test]
fn another_server_fills_the_same_metrics() {
    let answers = [liberty(20, 10, 1, 5.0, 10), liberty(25, 10, 0, 19.0, 17)];
    let batch = observe_with(|at| format!("kind=liberty,url=http://{at}"), &answers);
    assert_eq!(last(&batch, target::WORKERS_ACTIVE.name), Some(25.0));
    assert_eq!(last(&batch, target::POOL_USED.name), Some(10.0));
    // 14 s of waiting were booked within a second: 14 waited.
    assert_eq!(last(&batch, target::POOL_WAITING.name), Some(14.0));
    assert_eq!(last(&batch, target::POOL_WAIT_SECONDS_MEAN.name), Some(2.0));
    assert_eq!(batch.events, []);
}

#[test]
fn names_that_nobody_tells_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.toml");
    let text = "[[value]]\nmetric = \"target.pool.used\"\nis = \"now\"\nof = [\"target_pool_waiting\"]\n\
                [[value]]\nmetric = \"target.pool.max\"\nis = \"now\"\nof = [\"no_such_name\"]\n";
    std::fs::write(&file, text).expect("a file");
    let answers: Vec<String> = (0..5).map(|n| answer(n, 1, 1.0, 1)).collect();
    let words = |at| format!("url=http://{at}/metrics,mapping={}", file.display());
    let batch = observe_with(words, &answers);
    assert_eq!(last(&batch, target::POOL_USED.name), Some(4.0));
    let said: Vec<_> = batch
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect();
    assert_eq!(said, ["monitor-mapping-missing"], "once");
    assert!(format!("{:?}", batch.events[0].says).contains("no_such_name"));
    // A server of another kind tells nothing that the mapping names.
    let batch = observe_with(|at| format!("kind=haproxy,url=http://{at}"), &answers);
    assert_eq!(batch.events.len(), 1, "{:?}", batch.events);
}

#[test]
fn a_server_of_another_kind_needs_its_address() {
    for words in [
        "target:kind=nginx",
        "target:kind=apache",
        "target:url=ftp://a",
        "target:timeout=1ms",
    ] {
        assert!(parse_spec(words, Files::Refused).is_err(), "{words}");
    }
}
