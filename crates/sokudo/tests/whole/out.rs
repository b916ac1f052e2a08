//! `--out`: samples for other systems while a run goes on. What arrives is read as those systems read it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::vocabulary::{BOUND, place, serve};

/// A request that a server of the test received.
#[derive(Debug, Clone)]
struct Post {
    path: String,
    head: String,
    body: Vec<u8>,
}

/// Takes every request, and remembers it.
fn receiver() -> (SocketAddr, Arc<Mutex<Vec<Post>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let posts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&posts);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            kept.lock().expect("a lock").extend(take(stream));
        }
    });
    (address, posts)
}

fn take(mut stream: TcpStream) -> Option<Post> {
    let mut bytes = Vec::new();
    let mut some = [0; 4096];
    let head_end = loop {
        let n = stream.read(&mut some).ok().filter(|n| *n > 0)?;
        bytes.extend(&some[..n]);
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let length: usize = length?.parse().ok()?;
    while bytes.len() < head_end + length {
        let n = stream.read(&mut some).ok().filter(|n| *n > 0)?;
        bytes.extend(&some[..n]);
    }
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    Some(Post {
        path: head.split(' ').nth(1)?.to_owned(),
        body: bytes[head_end..].to_vec(),
        head,
    })
}

fn of(posts: &Mutex<Vec<Post>>, path: &str) -> Vec<Post> {
    let posts = posts.lock().expect("a lock");
    let own = posts.iter().filter(|post| post.path == path).cloned();
    own.collect()
}

/// `(nanoseconds, value)` of lines of a measurement.
fn influx(text: &str, measurement: &str) -> Vec<(i64, f64)> {
    let lines = text
        .lines()
        .filter(|line| line.starts_with(&format!("{measurement},")));
    let point = |line: &str| {
        // Blanks of a tag are escaped.
        let line = line.replace("\\ ", "_");
        let mut words = line.split(' ');
        let tags = words.next().expect("tags");
        assert!(tags.contains(",host=") && tags.contains(",run="), "{line}");
        let value = words.next().and_then(|field| field.strip_prefix("value="));
        let value = value.and_then(|value| value.parse().ok());
        let at = words.next().and_then(|at| at.parse().ok());
        assert_eq!(words.next(), None, "{line}");
        (at.expect("a time"), value.expect("a number"))
    };
    lines.map(point).collect()
}

/// Fields of a message of protocol buffers: number and bytes, those of a varint as eight.
fn fields(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        value
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => varint(&mut bytes).to_le_bytes().to_vec(),
            1 | 2 => {
                let length = if tag & 7 == 1 {
                    8
                } else {
                    varint(&mut bytes) as usize
                };
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                value.to_vec()
            }
            other => panic!("wire type {other}"),
        };
        out.push(((tag >> 3) as u8, value));
    }
    out
}

/// Samples of a metric in a request of remote write, which must be sorted as the protocol asks for.
fn remote(body: &[u8], metric: &str) -> Vec<(i64, f64)> {
    let message = snap::raw::Decoder::new().decompress_vec(body);
    let mut out = Vec::new();
    for (number, series) in fields(&message.expect("snappy")) {
        assert_eq!(number, 1);
        let mut labels = Vec::new();
        let mut samples = Vec::new();
        for (number, value) in fields(&series) {
            let parts: BTreeMap<u8, Vec<u8>> = fields(&value).into_iter().collect();
            match number {
                1 => labels.push((parts[&1].clone(), parts[&2].clone())),
                _ => {
                    let number = |at: u8| <[u8; 8]>::try_from(&parts[&at][..]).expect("8 bytes");
                    let value = f64::from_le_bytes(number(1));
                    samples.push((i64::from_le_bytes(number(2)), value));
                }
            }
        }
        assert!(labels.is_sorted(), "{labels:?}");
        assert!(samples.is_sorted_by_key(|(ms, _)| *ms));
        let name = labels.iter().find(|(name, _)| name == b"__name__");
        if name.is_some_and(|(_, name)| name == metric.as_bytes()) {
            out.extend(samples);
        }
    }
    out
}

#[test]
fn every_sample_reaches_every_system() {
    let place = place();
    let server = serve(&place);
    let (address, posts) = receiver();
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("loopback has ports");
    let by_udp = datagrams.local_addr().expect("it is bound");
    datagrams
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a bound");
    let ended = place.run(&format!(
        "rr {} --rate 200/s --duration 2s --out influx=http://{address}/write?db=x \
         --out prometheus=http://{address} --out otlp=http://{address} --out influx=udp://{by_udp}",
        server.address
    ));
    ended.expect_code(0);
    let record = place.load();
    let metric = "rr.transactions_per_second";
    let recorded: Vec<f64> = record
        .series_of(metric)
        .flat_map(|series| series.points.iter().map(|(_, value)| *value))
        .collect();
    assert!(recorded.len() >= 4, "{recorded:?}");
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let recorded = sorted(recorded);
    let begin_ns = record.manifest.started_unix_ns;

    let name = "sokudo_rr_transactions_per_second";
    let lines: String = of(&posts, "/write?db=x")
        .iter()
        .map(|post| String::from_utf8_lossy(&post.body).into_owned())
        .collect();
    let points = influx(&lines, name);
    assert_eq!(
        sorted(points.iter().map(|(_, value)| *value).collect()),
        recorded
    );
    let near = |ns: i64| (0..120_000_000_000).contains(&(ns - begin_ns));
    assert!(points.iter().all(|(ns, _)| near(*ns)), "{points:?}");

    let pushed = of(&posts, "/api/v1/write");
    assert!(
        pushed[0].head.contains("Content-Encoding: snappy"),
        "{:?}",
        pushed[0].head
    );
    let points: Vec<_> = pushed
        .iter()
        .flat_map(|post| remote(&post.body, name))
        .collect();
    assert_eq!(
        sorted(points.iter().map(|(_, value)| *value).collect()),
        recorded
    );
    assert!(
        points.iter().all(|(ms, _)| near(ms * 1_000_000)),
        "{points:?}"
    );

    let mut values = Vec::new();
    for post in of(&posts, "/v1/metrics") {
        let request: Value = serde_json::from_slice(&post.body).expect("JSON");
        let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        for one in metrics.as_array().into_iter().flatten() {
            if one["name"] == format!("sokudo.{metric}") {
                let points = one["gauge"]["dataPoints"].as_array().into_iter().flatten();
                values.extend(points.filter_map(|point| point["asDouble"].as_f64()));
            }
        }
    }
    // The reader of this test rounds the last digit of decimal numbers.
    let values = sorted(values);
    assert_eq!(values.len(), recorded.len());
    let pairs = values.iter().zip(&recorded);
    let differs = |(a, b): &(&f64, &f64)| (*a - *b).abs() > b.abs() * 1e-15;
    assert_eq!(pairs.clone().find(differs), None);

    let mut by_udp = String::new();
    let mut packet = [0; 2048];
    while let Ok(n) = datagrams.recv(&mut packet) {
        by_udp.push_str(&String::from_utf8_lossy(&packet[..n]));
    }
    // The socket's buffer holds fewer than all of them; those that came are whole.
    assert!(
        !influx(&by_udp, name).is_empty() || by_udp.lines().count() > 100,
        "{by_udp}"
    );
}

#[test]
fn a_sink_that_is_down_is_told_once_and_noted() {
    let place = place();
    let server = serve(&place);
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let closed = closed.expect("a port that nobody listens on any more");
    let ended = place.run(&format!(
        "rr {} --rate 100/s --duration 2s --json --out influx=http://{closed}",
        server.address
    ));
    ended.expect_code(0);
    assert_eq!(
        ended.stderr.matches("takes no samples").count(),
        1,
        "{ended}"
    );
    let said: Value = serde_json::from_str(&ended.stdout).expect("one object");
    assert_eq!(
        said["summary"]["rr.transactions"], 200.0,
        "the load did not wait"
    );
    let notes = place.load().manifest.notes;
    assert!(notes.iter().any(|note| note.key == "out-lost"), "{notes:?}");
}

#[test]
fn a_scraper_gets_the_newest_values_while_it_goes_on() {
    let place = place();
    let server = serve(&place);
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let at = free.expect("loopback has ports");
    let line = format!(
        "rr {} --rate 100/s --duration 6s --out openmetrics={at}",
        server.address
    );
    let mut running = place.sokudo(&line).start();
    let page = loop {
        running.must_run();
        let mut page = String::new();
        if let Ok(mut stream) = TcpStream::connect(at) {
            let asked = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
            asked
                .and_then(|()| stream.read_to_string(&mut page))
                .unwrap_or_default();
        }
        if page.contains("\nsokudo_rr_transactions_per_second{") {
            break page;
        }
        thread::sleep(Duration::from_millis(50));
    };
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("Content-Type: application/openmetrics-text; version=1.0.0"));
    assert!(page.ends_with("# EOF\n"), "{page}");
    let declared = page.matches("# TYPE sokudo_rr_transactions_per_second gauge\n");
    assert_eq!(declared.count(), 1);
    running.finish().expect_code(0);
}

#[test]
fn what_is_no_sink_is_refused_before_the_load() {
    let place = place();
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let taken_at = taken.local_addr().expect("it is bound");
    for (out, says) in [
        ("graphite=http://h".to_owned(), "names no place for samples"),
        ("influx=https://h".to_owned(), "names no place for samples"),
        (format!("openmetrics={taken_at}"), "cannot be served"),
    ] {
        let ended = place.run(&format!("rr 127.0.0.1:9 --out {out}"));
        ended
            .expect_code(2)
            .expect_stderr(says)
            .expect_stderr("hint: ");
    }
}

#[test]
fn the_dashboard_of_the_examples_shows_metrics_that_exist() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/grafana/sokudo.json"
    );
    let text = std::fs::read_to_string(path).expect("the dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let known: Vec<String> = sokudo_model::metric::catalogue()
        .map(|metric| metric.name.replace('.', "_"))
        .collect();
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let mut shown = 0;
    for target in targets {
        let expression = target["expr"].as_str().expect("an expression");
        for part in expression.split("sokudo_").skip(1) {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name: String = part.chars().take_while(|c| is_name(*c)).collect();
            assert!(known.contains(&name), "{name} is not a metric");
            shown += 1;
        }
    }
    assert!(shown >= 10, "{shown}");
}

#[test]
fn checks_and_scripts_hand_their_samples_on_as_loads_do() {
    let script = "node 1 set rr 2 --duration 600ms\nall enter\nwaitallresults 1 60s\n";
    let (address, posts) = receiver();
    for (command, database) in [
        ("check rr --quick", "check"),
        ("run few.sks --local 2", "script"),
    ] {
        let place = place();
        place.write("few.sks", script);
        let ended = place.run(&format!(
            "{command} --out influx=http://{address}/write?db={database} --json"
        ));
        assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
        let posts = of(&posts, &format!("/write?db={database}"));
        let texts = posts
            .iter()
            .map(|post| String::from_utf8_lossy(&post.body).into_owned());
        let all: String = texts.collect();
        let rates = influx(&all, "sokudo_rr_transactions_per_second");
        assert!(!rates.is_empty(), "{command}: {all}");
        let notes = place.load().manifest.notes;
        let is_lacking = |note: &sokudo_model::Text| note.key.starts_with("out-");
        assert!(!notes.iter().any(is_lacking), "{notes:?}");
    }
}

/// Runs that a page orders, one after the other, reach the same system.
#[test]
fn a_page_hands_the_samples_of_its_runs_on() {
    let (address, posts) = receiver();
    let place = place();
    let out = format!("influx=http://{address}/write?db=page");
    let words = [
        "web",
        "--local",
        "2",
        "--listen",
        "127.0.0.1:0",
        "--out",
        &out,
    ];
    let mut page = place.words(words).start();
    let at = page.wait_for(|line| {
        let (_, rest) = line.split_once("http://")?;
        Some(rest.split('/').next()?.to_owned())
    });
    let script = "node 1 set rr 2 --duration 600ms\nall enter\nwaitallresults 1 60s\n";
    let order = serde_json::json!({"order": "run", "language": "lines", "text": script});
    for runs in 1..=2 {
        // The page takes the next order once it is done with the one before.
        let until = Instant::now() + BOUND;
        while !ordered(&at, &order.to_string()) {
            assert!(Instant::now() < until, "order {runs} is not taken");
            thread::sleep(Duration::from_millis(50));
        }
        let arrived = || {
            let posts = of(&posts, "/write?db=page");
            let texts = posts.iter().map(|post| String::from_utf8_lossy(&post.body));
            let all: String = texts.collect();
            let names = all
                .split([',', ' '])
                .filter(|word| word.starts_with("run="));
            let rates = influx(&all, "sokudo_rr_transactions_per_second");
            !rates.is_empty() && names.collect::<BTreeSet<&str>>().len() == runs
        };
        while !arrived() {
            assert!(Instant::now() < until, "run {runs} has not arrived");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Orders something of a page; false: it is busy.
fn ordered(at: &str, order: &str) -> bool {
    let mut stream = TcpStream::connect(at).expect("a page");
    let request = format!(
        "POST /api/order HTTP/1.1\r\nHost: {at}\r\nX-Sokudo: 1\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let is_busy = answer.starts_with("HTTP/1.1 409");
    assert!(is_busy || answer.starts_with("HTTP/1.1 202"), "{answer}");
    !is_busy
}
