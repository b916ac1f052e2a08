//! Endpoints that answer, stay silent, break and talk nonsense; and any bytes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use proptest::prelude::*;

use super::*;
use crate::{Registered, parse as parse_spec};

/// Serves one connection after the other: what comes back for each, in order.
fn endpoint(answers: Vec<&'static str>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/metrics", listener.local_addr().expect("address"));
    let serve = move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a call");
            read_request(&mut stream);
            // A client that has given up does not take it.
            let _ = stream.write_all(answer.as_bytes());
        }
    };
    (url, std::thread::spawn(serve))
}

fn read_request(stream: &mut TcpStream) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request);
    assert!(
        request.starts_with("GET /metrics HTTP/1.1\r\n"),
        "{request}"
    );
}

fn open(words: &str) -> Box<dyn Sampler> {
    let spec = parse_spec(&format!("openmetrics:{words}"), Files::Readable).expect("options");
    let ctx = Context::host("hosta");
    OpenMetrics.open_with(&spec.options, &ctx).expect("opens")
}

fn last(batch: &Batch, metric: &str) -> Option<f64> {
    let series = batch.series.iter().rfind(|s| s.key.metric == metric)?;
    series.points.last().map(|point| point.1)
}

/// Result of a single answer: whether the endpoint is up, and the key of the reason if not.
fn outcome(answer: &'static str) -> (Option<f64>, Option<String>) {
    let (url, server) = endpoint(vec![answer]);
    let mut batch = Batch::default();
    open(&format!("url={url},timeout=20s")).sample(0, &mut batch);
    server.join().expect("the endpoint");
    let why = batch.events.first().map(|event| {
        assert_eq!(event.kind, "monitor-scrape-failed");
        match &event.says.args["why"] {
            sokudo_model::Arg::Text(why) => why.key.clone(),
            other => panic!("{other:?}"),
        }
    });
    (last(&batch, "openmetrics.up"), why)
}

#[test]
fn an_answer_becomes_series_and_counters_become_rates() {
    let first = "HTTP/1.1 200 OK\r\n\r\n# TYPE n counter\nn_total 5\ntemperature 20\n";
    let second = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n# TYPE n counter\nn_total \
        15\nt 2\r\n0\r\n\r\n";
    let (url, server) = endpoint(vec![first, second]);
    let mut sampler = open(&format!("url={url},timeout=20s"));
    let mut batch = Batch::default();
    sampler.sample(0, &mut batch);
    sampler.sample(2_000_000_000, &mut batch);
    server.join().expect("the endpoint");
    assert_eq!(batch.events, []);
    assert_eq!(last(&batch, "openmetrics.up"), Some(1.0));
    assert_eq!(last(&batch, "openmetrics.samples"), Some(2.0));
    assert_eq!(last(&batch, "scraped.temperature"), Some(20.0));
    assert_eq!(last(&batch, "scraped.n_per_second"), Some(5.0));
}

#[test]
fn failures_are_told_apart() {
    let failed = |key: &str| (Some(0.0), Some(format!("engine-scrape-{key}")));
    for (answer, key) in [
        (
            "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
            "redirect",
        ),
        ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "status"),
        ("220 mail.example ESMTP\r\n", "not-http"),
        ("", "not-http"),
        ("HTTP/1.1 200 OK\r\n\r\n<html></html>\n", "garbage"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n",
            "not-http",
        ),
    ] {
        assert_eq!(outcome(answer), failed(key), "{answer}");
    }
}

#[test]
fn an_endless_answer_ends_at_its_bound() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/metrics", listener.local_addr().expect("address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a call");
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let piece = "a 1\n".repeat(16 << 10);
        while stream.write_all(piece.as_bytes()).is_ok() {}
    });
    let mut batch = Batch::default();
    open(&format!("url={url},timeout=60s")).sample(0, &mut batch);
    server.join().expect("the endpoint");
    assert_eq!(last(&batch, "openmetrics.up"), Some(0.0));
    let why = format!("{:?}", batch.events[0].says);
    assert!(why.contains("engine-scrape-too-long"), "{why}");
}

#[test]
fn a_silent_endpoint_is_given_up_and_its_return_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/metrics", listener.local_addr().expect("address"));
    let mut sampler = open(&format!("url={url},timeout=100ms"));
    let mut batch = Batch::default();
    // The kernel accepts the connections, and no process answers.
    sampler.sample(0, &mut batch);
    sampler.sample(1_000_000_000, &mut batch);
    assert_eq!(last(&batch, "openmetrics.up"), Some(0.0));
    assert_eq!(batch.events.len(), 1, "the same reason is told once");
    assert!(format!("{:?}", batch.events[0].says).contains("engine-scrape-silent"));
    drop(listener);
    sampler.sample(2_000_000_000, &mut batch);
    assert!(format!("{:?}", batch.events[1].says).contains("engine-scrape-unconnected"));
}

#[test]
fn an_endpoint_that_comes_back_is_told() {
    let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n";
    let (url, server) = endpoint(vec!["", good]);
    let mut sampler = open(&format!("url={url},timeout=20s"));
    let mut batch = Batch::default();
    sampler.sample(0, &mut batch);
    sampler.sample(1_000_000_000, &mut batch);
    server.join().expect("the endpoint");
    let kinds: Vec<&str> = batch.events.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["monitor-scrape-failed", "scrape-answers"]);
    assert_eq!(last(&batch, "openmetrics.up"), Some(1.0));
}

#[test]
fn options_that_cannot_be_used_are_refused_with_their_key() {
    let place = tempfile::tempdir().expect("a place");
    let file = place.path().join("mapping.toml");
    std::fs::write(&file, "[[series]]\nmetric = 7\n").expect("file");
    let mapping = format!("url=http://h/,mapping={}", file.display());
    for (words, says) in [
        ("", "the option `url` is missing"),
        ("url=https://hosta/", "TLS"),
        ("url=hosta", "http://"),
        ("url=http://h/,timeout=1h", "timeout"),
        ("url=http://h/,timeout=soon", "option `timeout`"),
        ("url=http://h/,most=0", "most=0"),
        ("url=http://h/,interval=1ms", "option `interval`"),
        ("url=http://h/,mapping=/nowhere/at/all", "option `mapping`"),
        (&mapping, "line 2"),
    ] {
        let text = format!("openmetrics:{words}");
        let bad = parse_spec(&text, Files::Readable).expect_err("refused");
        assert!(bad.to_string().contains(says), "{words}: {bad}");
    }
    let bad = parse_spec(&format!("openmetrics:{mapping}"), Files::Refused).expect_err("refused");
    assert!(bad.to_string().contains("command line only"), "{bad}");
}

#[test]
fn a_mapping_travels_with_the_options() {
    let place = tempfile::tempdir().expect("a place");
    let file = place.path().join("mapping.toml");
    std::fs::write(&file, "[[series]]\nmetric = \"a\"\nname = \"b\"\n").expect("file");
    let words = format!(
        "openmetrics:url=http://h/,mapping={},interval=2s,on=hostb",
        file.display()
    );
    let spec = parse_spec(&words, Files::Readable).expect("options");
    assert_eq!(spec.on, On::Host("hostb".into()));
    assert_eq!(spec.interval_ns, Some(2_000_000_000));
    assert!(spec.options.contains("\"name\":\"b\""), "{}", spec.options);
    drop(place);
    let opened = OpenMetrics.open_with(&spec.options, &Context::host("hosta"));
    assert!(opened.is_ok(), "the file is not needed where it observes");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        any_bytes(&bytes);
    }

    #[test]
    fn pieces_of_metrics_are_read_or_refused(
        text in "((HTTP/1\\.1 200 OK|Transfer-Encoding: chunked|Content-Length: [0-9]{1,3}|[0-9a-f]{1,3})\r\n|\r\n|\
                 # TYPE a (counter|gauge|summary|histogram)\n|a(_total|_sum|_bucket)?\\{b=\"[^\"]{0,4}\"\\} [0-9+.eINaNf-]{1,6}\n){0,12}"
    ) {
        any_bytes(text.as_bytes());
    }
}
