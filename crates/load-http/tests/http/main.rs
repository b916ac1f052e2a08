//! Tests of the numbers of `http`, against servers with known behaviour.
//!
//! Whole phases over loopback, driven through the workload's contract, against web servers whose
//! behaviour is scripted.

mod servers;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_http::http::{Http, HttpOptions, flows};
use sokudo_model::{Change, HostSpec, PhasePlan, PhaseResult, PhaseSpec, RunId};
use sokudo_net::clock::now_ns;
use sokudo_workload::{Emitted, Options, Phase, Workload};

/// Nothing that a test waits for takes longer.
const BOUND: Duration = Duration::from_secs(60);
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn spec(options: &HttpOptions, hosts: u32) -> PhaseSpec {
    let flows = flows(hosts, options.threads);
    let host = |number: u32| HostSpec {
        name: format!("host{number}"),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "truth".into(),
            workload: "http".into(),
            options: options.to_json(),
            flows: flows.clone(),
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
        hosts: (0..hosts).map(host).collect(),
        me: 0,
        seed: 7,
        tickets: vec![0; flows.len()],
    }
}

fn options(server: SocketAddr, fields: &str) -> HttpOptions {
    let text = format!(r#"{{"url":"http://{server}/","interval":"50ms",{fields}}}"#);
    serde_json::from_str(&text).expect("options of a test")
}

/// One host's part of a phase, under way.
struct Playing {
    phase: Box<dyn Phase>,
    emitted: Receiver<Emitted>,
}

impl Playing {
    fn start(spec: PhaseSpec, at_ns: i64) -> Self {
        let (emit, emitted) = mpsc::channel();
        let emit = Arc::new(move |said| {
            // The receiver goes when a test has seen enough.
            let _ = emit.send(said);
        });
        let mut phase = Http.prepare(spec, emit).expect("it can be prepared");
        phase.arm(&[None]).expect("an address resolves");
        phase.start(at_ns, at_ns).expect("it starts");
        Self { phase, emitted }
    }

    /// Waits until all has been sent, and gives the numbers.
    fn end(mut self) -> String {
        while !matches!(
            self.emitted.recv_timeout(BOUND).expect("the load ends"),
            Emitted::Sent(_)
        ) {}
        self.phase.drain(&[None]).expect("it has numbers")
    }
}

/// Plays a phase with these JSON fields over the defaults.
fn play(server: SocketAddr, fields: &str) -> PhaseResult {
    let spec = spec(&options(server, fields), 1);
    let numbers = Playing::start(spec.clone(), now_ns() + 20_000_000).end();
    Http.join(&spec, &[Ok(numbers)]).expect("options")
}

#[track_caller]
fn get(result: &PhaseResult, name: &str) -> f64 {
    let value = result.summary.get(name).copied();
    value.unwrap_or_else(|| panic!("{name} is missing in {:?}", result.summary))
}

/// A web server whose `serve` gets the number of a request over all connections, and says what to
/// answer; `None` closes the connection.
fn server(serve: impl Fn(usize) -> Option<&'static str> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let (serve, count) = (Arc::new(serve), Arc::new(AtomicUsize::new(0)));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (serve, count) = (Arc::clone(&serve), Arc::clone(&count));
            thread::spawn(move || {
                while read_request(&mut stream) {
                    let answer = serve(count.fetch_add(1, Ordering::Relaxed));
                    let sent = answer.map(|answer| stream.write_all(answer.as_bytes()));
                    if !matches!(sent, Some(Ok(()))) {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn read_request(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    let mut portion = [0; 4096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut portion) {
            Ok(count @ 1..) => request.extend_from_slice(&portion[..count]),
            _ => return false,
        }
    }
    true
}

#[test]
fn exactly_so_many_are_asked_over_all_threads() {
    let address = server(|_| Some(OK));
    let result = play(address, r#""count":"1001","connections":8,"threads":2"#);
    assert_eq!(get(&result, "http.requests"), 1001.0);
    assert_eq!(get(&result, "http.status_2xx"), 1001.0);
    assert_eq!(get(&result, "http.body_bytes"), 2002.0);
    assert_eq!(get(&result, "http.made_connections"), 8.0);
    assert_eq!(get(&result, "http.error_ratio"), 0.0);
    assert_eq!(result.flows.len(), 2);
    assert!(result.flows.iter().all(|flow| flow.complete));
    for name in [
        "latency_seconds.p95",
        "service_seconds.p99",
        "wait_seconds.p50",
    ] {
        assert!(get(&result, &format!("http.{name}")) > 0.0, "{name}");
    }
}

#[test]
fn a_connection_for_each_request() {
    let address = server(|_| Some(OK));
    let result = play(
        address,
        r#""count":"50","connections":4,"no_keepalive":true"#,
    );
    assert_eq!(get(&result, "http.made_connections"), 50.0);
    assert!(get(&result, "http.mean_connect_seconds") > 0.0);
}

#[test]
fn a_fixed_delay_is_where_the_time_goes() {
    const DELAY: Duration = Duration::from_millis(100);
    let address = server(|_| {
        // What a test's server does is part of the truth that is measured.
        thread::sleep(DELAY);
        Some(OK)
    });
    let result = play(address, r#""count":"20","connections":2"#);
    let least = get(&result, "http.latency_seconds.min");
    // Three digits: the histogram's own resolution, and what the machine adds.
    assert!((0.0999..0.15).contains(&least), "{least}");
    assert!(
        get(&result, "http.mean_wait_seconds") > 0.9 * get(&result, "http.latency_seconds.mean")
    );
}

#[test]
fn a_stall_is_hidden_in_a_closed_loop_and_seen_in_an_open_one() {
    let stalling = || {
        server(|number| {
            if number == 20 {
                thread::sleep(Duration::from_millis(500));
            }
            Some(OK)
        })
    };
    let closed = play(stalling(), r#""count":"200","connections":1"#);
    assert!(get(&closed, "http.latency_seconds.max") >= 0.499);
    assert!(get(&closed, "http.latency_seconds.p90") < 0.25);
    let open = play(
        stalling(),
        r#""rate":"100/s","duration":"2s","connections":1"#,
    );
    // 50 of 200 were meant to leave within the stall: a quarter saw it, on average half of it.
    assert_eq!(get(&open, "http.requests"), 200.0);
    assert!(get(&open, "http.latency_seconds.p90") >= 0.25);
    assert!(get(&open, "http.service_seconds.p90") < 0.25);
    assert!(get(&open, "http.window_full_ratio") >= 0.2);
}

#[test]
fn what_nobody_could_send_is_counted() {
    let address = server(|_| {
        thread::sleep(Duration::from_millis(200));
        Some(OK)
    });
    let result = play(address, r#""rate":"100/s","duration":"1s","connections":1"#);
    let sent = get(&result, "http.requests") + get(&result, "http.errors");
    assert_eq!(sent + get(&result, "http.unstarted_requests"), 100.0);
    assert!(get(&result, "http.unstarted_requests") > 50.0);
    assert!(get(&result, "http.error_ratio") > 0.5);
}

#[test]
fn failures_and_bad_statuses_are_told_apart() {
    let address = server(|number| match number % 4 {
        0 => None,
        1 => Some("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
        2 => Some("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        _ => Some(OK),
    });
    let result = play(address, r#""count":"100","connections":1"#);
    assert_eq!(get(&result, "http.requests"), 75.0);
    for (name, count) in [
        ("errors", 25.0),
        ("closed_early", 25.0),
        ("failed_wait", 25.0),
        ("status_5xx", 25.0),
        ("status_4xx", 25.0),
        ("error_ratio", 0.75),
    ] {
        assert_eq!(get(&result, &format!("http.{name}")), count, "{name}");
    }
    let error = result.flows[0].labels.get("error").map(String::as_str);
    assert_eq!(error, Some("wait: closed-early ×25"));
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let result = play(address, r#""count":"10","connections":2"#);
    assert_eq!(get(&result, "http.refused"), 10.0);
    assert_eq!(get(&result, "http.failed_connect"), 10.0);
    assert_eq!(get(&result, "http.error_ratio"), 1.0);
    assert_eq!(get(&result, "http.requests_per_second"), 0.0);
}

#[test]
fn two_hosts_share_connections_requests_and_rate() {
    let address = server(|_| Some(OK));
    let options = options(
        address,
        r#""count":"101","connections":5,"rate":"500/s","threads":2"#,
    );
    let at_ns = now_ns() + 20_000_000;
    let whole = spec(&options, 3);
    let playing: Vec<Playing> = [1, 2]
        .map(|me| {
            Playing::start(
                PhaseSpec {
                    me,
                    ..whole.clone()
                },
                at_ns,
            )
        })
        .into_iter()
        .collect();
    let mut results = vec![Err("the controller loads nothing".to_owned())];
    results.extend(playing.into_iter().map(|one| Ok(one.end())));
    let result = Http.join(&whole, &results).expect("options");
    assert_eq!(get(&result, "http.requests"), 101.0);
    assert_eq!(get(&result, "http.open_connections"), 5.0);
    assert_eq!(get(&result, "http.asked_per_second"), 500.0);
    let loops: Vec<(&str, f64)> = result
        .flows
        .iter()
        .map(|flow| (flow.from.as_str(), flow.metrics["http.requests"]))
        .collect();
    assert_eq!(
        loops,
        [
            ("host1", 26.0),
            ("host1", 25.0),
            ("host2", 25.0),
            ("host2", 25.0)
        ]
    );
    results.pop();
    let partial = Http.join(&whole, &results).expect("options");
    assert_eq!(get(&partial, "http.requests"), 51.0);
    assert!(partial.flows[1].complete && !partial.flows[2].complete);
}

/// Number of connections that a server has open at present.
#[derive(Default)]
struct Open(Mutex<usize>, Condvar);

impl Open {
    fn change(&self, by: isize) {
        let mut open = self.0.lock().expect("no holder panics");
        *open = open.saturating_add_signed(by);
        self.1.notify_all();
    }

    #[track_caller]
    fn becomes(&self, wanted: usize) {
        let open = self.0.lock().expect("no holder panics");
        let waited = self
            .1
            .wait_timeout_while(open, BOUND, |open| *open != wanted);
        let (open, _) = waited.expect("no holder panics");
        assert_eq!(*open, wanted);
    }
}

#[test]
fn connections_come_and_go_while_it_runs() {
    let open = Arc::new(Open::default());
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let counted = Arc::clone(&open);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let open = Arc::clone(&counted);
            thread::spawn(move || {
                open.change(1);
                while read_request(&mut stream) && stream.write_all(OK.as_bytes()).is_ok() {}
                open.change(-1);
            });
        }
    });
    let options = options(address, r#""duration":"30s","connections":4"#);
    let mut playing = Playing::start(spec(&options, 1), now_ns());
    let users = |users| Change {
        users: Some(users),
        rate_per_s: None,
    };
    open.becomes(4);
    for wanted in [2, 7, 3, 3, 4] {
        playing.phase.steer(&users(wanted)).expect("it can change");
        open.becomes(wanted as usize);
    }
    let rate = Change {
        users: None,
        rate_per_s: Some(10.0),
    };
    let refused = playing.phase.steer(&rate).expect_err("a closed loop");
    assert!(
        english(&refused.says).contains("closed loop"),
        "{}",
        english(&refused.says)
    );
    assert!(playing.phase.steer(&users(0)).is_err());
    playing.phase.halt();
    playing.end();
    open.becomes(0);
}

#[test]
fn the_rate_changes_while_it_runs() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let address = server(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Some(OK)
    });
    let options = options(address, r#""duration":"20s","connections":4,"rate":"1/s""#);
    let whole = spec(&options, 1);
    let mut playing = Playing::start(whole.clone(), now_ns());
    let rate = Change {
        users: None,
        rate_per_s: Some(200.0),
    };
    playing.phase.steer(&rate).expect("an open loop has a rate");
    // As many as the first rate would bring in a minute.
    let begun = std::time::Instant::now();
    while asked.load(Ordering::Relaxed) < 60 {
        assert!(begun.elapsed() < BOUND, "the rate stays as it was");
        thread::yield_now();
    }
    playing.phase.halt();
    let result = Http.join(&whole, &[Ok(playing.end())]).expect("options");
    assert!(get(&result, "http.asked_per_second") > 1.0);
}

/// Once the server is dead, connections to it end without a byte; over the whole load that is most of the time.
#[test]
fn a_server_that_dies_answered_over_the_whole_load() {
    for more in ["", r#","rate":"200/s""#, r#","threads":2"#] {
        let address = server(|number| (number < 50).then_some(OK));
        let fields = format!(r#""duration":"1s","connections":2{more}"#);
        let result = play(address, &fields);
        let answered = get(&result, "http.requests");
        assert_eq!(answered, 50.0, "{more}");
        let rate = get(&result, "http.requests_per_second");
        assert!((rate - answered).abs() < 1e-9, "{more}: {rate}");
        let flows = result.flows.iter().map(|flow| &flow.metrics);
        for flow in flows.clone() {
            assert_eq!(flow["group.load_seconds"], 1.0, "{more}");
        }
        let last = flows.filter_map(|flow| flow.get("group.last_through_seconds"));
        let last = last.copied().fold(0.0, f64::max);
        assert!(last < 1.0, "{more}: {last}");
        let errors = get(&result, "http.error_ratio");
        assert!(
            errors >= (1.0 - last) * 0.95 || more.contains("rate"),
            "{more}: {errors}"
        );
        assert!(errors > 0.5, "{more}: {errors}");
    }
}

#[test]
fn an_amount_of_requests_ends_the_load_when_it_is_reached() {
    let address = server(|_| Some(OK));
    let result = play(address, r#""count":"60","connections":2"#);
    let of = |name: &str| result.flows[0].metrics[name];
    let rate = 60.0 / of("group.load_seconds");
    assert!((get(&result, "http.requests_per_second") - rate).abs() < rate * 1e-9);
    assert!(of("group.load_seconds") < 30.0);
}
