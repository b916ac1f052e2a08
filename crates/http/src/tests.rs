//! Tests of whole exchanges against scripted servers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sokudo_net::clock::now_ns;

use crate::*;

mod failures;
mod http2;
mod secure;

/// Longest wait of a test for anything.
const BOUND_NS: u64 = 20_000_000_000;
const MS: i64 = 1_000_000;

/// An exchange as a user saw it.
#[derive(Debug, Clone, Default)]
struct Seen {
    status: u16,
    body: String,
    failure: Option<Failure>,
    reused: bool,
    latency_ns: i64,
    service_ns: i64,
    /// Every stage after the one before.
    is_ordered: bool,
    head_bytes: u64,
    body_bytes: u64,
    sent_bytes: u64,
}

impl Seen {
    fn of(outcome: &Outcome<'_>) -> Self {
        let stamps = [
            outcome.start_ns,
            outcome.resolved_ns,
            outcome.connected_ns,
            outcome.secured_ns,
            outcome.sent_ns,
            outcome.first_byte_ns,
            outcome.end_ns,
        ];
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            status: outcome.status,
            body: text(outcome.body),
            failure: outcome.failure,
            reused: outcome.reused,
            latency_ns: outcome.latency_ns() as i64,
            service_ns: outcome.service_ns() as i64,
            is_ordered: stamps.is_sorted(),
            head_bytes: outcome.head_bytes,
            body_bytes: outcome.body_bytes,
            sent_bytes: outcome.sent_bytes,
        }
    }
}

/// A user that sends a request so many times.
struct Asker {
    exchange: Exchange,
    request: Vec<u8>,
    left: u32,
    /// Time between two intended starts; `None` = one after the other.
    every_ns: Option<i64>,
    next_ns: i64,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl User for Asker {
    fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        assert!(out.is_empty());
        if self.left == 0 {
            return UserStep::End;
        }
        let mut intended_ns = now_ns;
        if let Some(every_ns) = self.every_ns {
            if self.next_ns == 0 {
                self.next_ns = now_ns;
            }
            if self.next_ns > now_ns {
                return UserStep::Pause {
                    until_ns: self.next_ns,
                };
            }
            intended_ns = self.next_ns;
            self.next_ns += every_ns;
        }
        self.left -= 1;
        out.extend_from_slice(&self.request);
        UserStep::Send(Exchange {
            intended_ns,
            ..self.exchange
        })
    }

    fn ended(&mut self, outcome: &Outcome<'_>) {
        let mut seen = self.seen.lock().expect("no test panics with it");
        seen.push(Seen::of(outcome));
    }
}

/// A user against a target, to be changed by a test.
fn asker(targets: &Targets, scheme: Scheme, host: &str, port: u16, count: u32) -> Asker {
    Asker {
        exchange: Exchange {
            target: targets.intern(scheme, host, port),
            intended_ns: 0,
            close: false,
            fresh: false,
            connect_timeout_ns: BOUND_NS,
            response_timeout_ns: BOUND_NS,
            whole_timeout_ns: 0,
            keep: Keep::Body { at_most: 1 << 20 },
            method_is_head: false,
            switch: Switch::default(),
            names: None,
            lane: None,
        },
        request: b"GET / HTTP/1.1\r\nHost: test\r\n\r\n".to_vec(),
        left: count,
        every_ns: None,
        next_ns: 0,
        seen: Arc::default(),
    }
}

/// Runs one user and returns what it saw.
fn ask(config: &Config, targets: Targets, user: Asker) -> Vec<Seen> {
    let seen = Arc::clone(&user.seen);
    let users: Vec<(i64, Box<dyn User>)> = vec![(now_ns(), Box::new(user))];
    let audit = run(config, &Arc::new(targets), 1, users, &Stop::default());
    assert_eq!(audit.expect("the loops start").died, 0);
    let seen = seen.lock().expect("the loop has ended").clone();
    assert!(seen.iter().all(|seen| seen.is_ordered), "{seen:?}");
    seen
}

/// Runs one user with `change` against a plain server.
fn ask_with(server: SocketAddr, count: u32, change: impl FnOnce(&mut Asker)) -> Vec<Seen> {
    let targets = Targets::new();
    let mut user = asker(
        &targets,
        Scheme::Http,
        &server.ip().to_string(),
        server.port(),
        count,
    );
    change(&mut user);
    ask(&Config::default(), targets, user)
}

/// A server that hands each connection, with its number, to `serve` on a thread of its own. It ends
/// with the process.
fn server(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                serve(stream, number);
            });
        }
    });
    address
}

/// Reads one request without a body; false when the client has closed.
fn read_request(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// A server that answers every request with these bytes.
fn answering(answer: &'static str) -> SocketAddr {
    server(
        move |mut stream, _| {
            while read_request(&mut stream) && stream.write_all(answer.as_bytes()).is_ok() {}
        },
    )
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_connection_is_used_again() {
    let seen = ask_with(answering(OK), 3, |_| {});
    assert_eq!(seen.len(), 3);
    for (index, seen) in seen.iter().enumerate() {
        assert_eq!((seen.status, seen.body.as_str()), (200, "ok"));
        assert_eq!(seen.failure, None);
        assert_eq!(seen.reused, index > 0);
        assert_eq!((seen.head_bytes, seen.body_bytes), (38, 2));
        assert_eq!(seen.sent_bytes, 30);
    }
}

#[test]
fn a_fresh_connection_for_each() {
    for change in [
        (|user: &mut Asker| user.exchange.close = true) as fn(&mut Asker),
        |user| user.exchange.fresh = true,
    ] {
        let seen = ask_with(answering(OK), 3, change);
        assert!(seen.iter().all(|seen| seen.status == 200 && !seen.reused));
    }
}

#[test]
fn a_server_that_closes_is_called_again() {
    let closing = answering("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    let seen = ask_with(closing, 3, |_| {});
    assert!(seen.iter().all(|seen| seen.status == 200 && !seen.reused));
}

#[test]
fn a_server_that_closes_while_nothing_is_asked_is_called_again() {
    let address = server(|mut stream, _| {
        read_request(&mut stream);
        let _ = stream.write_all(OK.as_bytes());
    });
    // The pause lets the end of the connection arrive before it would be used again.
    let seen = ask_with(address, 3, |user| user.every_ns = Some(100 * MS));
    assert!(
        seen.iter()
            .all(|seen| seen.failure.is_none() && !seen.reused),
        "{seen:?}"
    );
}

#[test]
fn chunks_and_bodies_without_a_length() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nT: u\r\n\r\n";
    let seen = ask_with(answering(chunked), 2, |_| {});
    assert!(seen[1].reused && seen.iter().all(|seen| seen.body == "abc"));
    let address = server(|mut stream, _| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nto the end");
    });
    let seen = ask_with(address, 2, |_| {});
    assert!(
        seen.iter()
            .all(|seen| seen.body == "to the end" && !seen.reused)
    );
}

#[test]
fn large_requests_and_responses() {
    const LENGTH: usize = 3 << 20;
    let address = server(|mut stream, _| {
        let mut request = vec![0; LENGTH];
        while stream.read_exact(&mut request).is_ok() {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&request);
        }
    });
    let seen = ask_with(address, 2, |user| user.request = vec![b'x'; LENGTH]);
    for seen in &seen {
        assert_eq!(seen.failure, None);
        assert_eq!((seen.body_bytes, seen.body.len()), (LENGTH as u64, 1 << 20));
        assert_eq!(seen.sent_bytes, LENGTH as u64);
    }
}

#[test]
fn a_head_request_and_an_informational_response() {
    let address = answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    let seen = ask_with(address, 2, |user| user.exchange.method_is_head = true);
    assert!(seen[1].reused && seen.iter().all(|seen| seen.body_bytes == 0));
    let early = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    let seen = ask_with(answering(early), 1, |_| {});
    assert_eq!(seen[0].status, 201);
}

#[test]
fn names_are_looked_up() {
    let address = answering(OK);
    let targets = Targets::new();
    let user = asker(&targets, Scheme::Http, "localhost", address.port(), 2);
    let seen = ask(&Config::default(), targets, user);
    assert!(seen.iter().all(|seen| seen.status == 200), "{seen:?}");
}

/// A server that answers after a delay, except that it stalls once.
fn slow(delay: Duration, stall_at: usize, stall: Duration) -> SocketAddr {
    server(move |mut stream, _| {
        for number in 0.. {
            if !read_request(&mut stream) {
                return;
            }
            let wait = if number == stall_at { stall } else { delay };
            // What a test's server does is part of the truth that is measured.
            thread::sleep(wait);
            if stream.write_all(OK.as_bytes()).is_err() {
                return;
            }
        }
    })
}

#[test]
fn a_fixed_delay_is_seen() {
    let delay = Duration::from_millis(200);
    let seen = ask_with(slow(delay, usize::MAX, delay), 5, |_| {});
    let mut spans: Vec<i64> = seen.iter().map(|seen| seen.service_ns).collect();
    spans.sort_unstable();
    assert!(spans[0] >= 200 * MS, "{spans:?}");
    // The quickest of five shows the delay itself; the others what the machine adds.
    assert!(spans[0] < 300 * MS, "{spans:?}");
}

#[test]
fn a_stall_is_hidden_in_a_closed_loop_and_seen_in_an_open_one() {
    let slowed = |seen: &[Seen], of: fn(&Seen) -> i64| {
        seen.iter().filter(|seen| of(seen) >= 100 * MS).count()
    };
    let stall = Duration::from_millis(500);
    let closed = ask_with(slow(Duration::ZERO, 5, stall), 50, |_| {});
    assert!(closed.iter().any(|seen| seen.service_ns >= 500 * MS));
    let open = ask_with(slow(Duration::ZERO, 5, stall), 80, |user| {
        user.every_ns = Some(10 * MS);
    });
    // 500 ms at one request per 10 ms: 50 were meant to leave meanwhile, 40 of them 100 ms late.
    let seen = slowed(&open, |seen| seen.latency_ns);
    assert!(seen >= 38, "{seen}");
    let worst = open.iter().map(|seen| seen.latency_ns).max();
    assert!(worst >= Some(500 * MS));
    assert!(slowed(&closed, |seen| seen.latency_ns) < seen / 2);
}

#[test]
fn users_join_while_it_runs_and_a_stop_ends_what_is_under_way() {
    // It reads and never answers.
    let address = server(|mut stream, _| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let quick = answering(OK);
    let targets = Targets::new();
    let first = asker(&targets, Scheme::Http, "127.0.0.1", quick.port(), 1);
    let stuck = asker(&targets, Scheme::Http, "127.0.0.1", address.port(), 1);
    let (seen_first, seen_stuck) = (Arc::clone(&first.seen), Arc::clone(&stuck.seen));
    let stop = Stop::default();
    let crews = vec![Strangers::default()];
    let config = Config::default();
    let engine = Engine::start(&config, &Arc::new(targets), crews, &stop).expect("it starts");
    engine.add(now_ns(), Box::new(stuck));
    engine.add(now_ns(), Box::new(first));
    let deadline_ns = now_ns() + BOUND_NS as i64;
    while seen_first.lock().expect("fine").is_empty() {
        assert!(now_ns() < deadline_ns, "the second user was never served");
        thread::yield_now();
    }
    stop.soon();
    stop.now();
    engine.finish();
    let stuck = seen_stuck.lock().expect("the loop has ended")[0].clone();
    assert_eq!(
        stuck.failure,
        Some(Failure::new(Phase::Wait, FailureKind::Stopped))
    );
}
