//! Verdicts about web servers with a known fault, each at two strengths, and about healthy ones.
//!
//! What is asserted is that the cause is found and that no other server fault is named. On a machine that is
//! busy with other things the neighbours may be named first: that is then true as well.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::vocabulary::{Summary, place, summary};

/// Limits that a machine which is short of CPU may name first.
const OF_THE_MACHINE: [&str; 3] = ["neighbour_interference", "host_busy", "generator_limited"];

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server with a fault.
#[derive(Clone, Copy)]
enum Fault {
    /// Every answer takes so long, as many at a time as come.
    Slow { ms: u64 },
    /// One at a time.
    Lock { ms: u64 },
    /// Every `of`th connection is slow.
    SlowConnections { of: u64, ms: u64 },
    /// Every `of`th request is slow, on whatever connection.
    SlowRequests { of: u64, ms: u64 },
    /// All stand still for so long, again and again.
    Stalls { every_ms: u64, ms: u64 },
    /// So many at a time; the others are answered at once with this status line.
    TurnsAway {
        most: u64,
        ms: u64,
        status: &'static str,
    },
    /// The body comes in pieces with pauses between.
    SlowBody { pieces: u64, ms: u64 },
    /// Accepts so many connections and no more.
    Accepts { most: u64 },
}

/// State that the connections of a server share.
struct Shared {
    fault: Fault,
    lock: Mutex<()>,
    began: Instant,
    requests: AtomicU64,
    under_way: AtomicU64,
}

fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

impl Shared {
    /// Answers one request on the connection of this number.
    fn answer(&self, stream: &mut TcpStream, connection: u64) -> std::io::Result<()> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::Slow { ms } => pause(ms),
            Fault::Lock { ms } => {
                let _own = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
                pause(ms);
            }
            Fault::SlowConnections { of, ms } => {
                pause(if connection.is_multiple_of(of) { ms } else { 4 });
            }
            Fault::SlowRequests { of, ms } => {
                pause(if number.is_multiple_of(of) { ms } else { 4 });
            }
            Fault::Stalls { every_ms, ms } => {
                pause(4);
                // The end of each period is the stall.
                let at_ms = self.began.elapsed().as_millis() as u64 % every_ms;
                pause((every_ms - at_ms) * u64::from(at_ms >= every_ms - ms));
            }
            Fault::TurnsAway { most, ms, status } => {
                let before = self.under_way.fetch_add(1, Ordering::SeqCst);
                if before < most {
                    pause(ms);
                }
                self.under_way.fetch_sub(1, Ordering::SeqCst);
                if before >= most {
                    // Even an answer that says no takes a moment.
                    pause(1);
                    let says = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                    return stream.write_all(says.as_bytes());
                }
            }
            Fault::SlowBody { pieces, ms } => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                    pieces * 1000
                );
                stream.write_all(head.as_bytes())?;
                for _ in 0..pieces {
                    pause(ms);
                    stream.write_all(&[b'x'; 1000])?;
                }
                return Ok(());
            }
            Fault::Accepts { .. } => pause(2),
        }
        stream.write_all(OK.as_bytes())
    }
}

fn server(fault: Fault) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let shared = Arc::new(Shared {
        fault,
        lock: Mutex::default(),
        began: Instant::now(),
        requests: AtomicU64::new(1),
        under_way: AtomicU64::new(0),
    });
    thread::spawn(move || {
        for connection in 0.. {
            if matches!(fault, Fault::Accepts { most } if connection >= most) {
                // The system goes on to accept as long as the socket is there.
                thread::park();
            }
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let mut portion = [0; 4096];
                // A request fits into one portion, and none follows before its answer.
                while let Ok(1..) = stream.read(&mut portion) {
                    if shared.answer(&mut stream, connection).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn measured(fault: Fault, options: &str) -> Summary {
    let place = place();
    let address = server(fault);
    let ended = place.run(&format!("http {address}/ {options} --json"));
    summary(&ended)
}

/// The findings by rule, each with what it says.
fn found(said: &Summary) -> Vec<(String, String)> {
    let findings = said.0["findings"].as_array().expect("findings").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| (text(&finding["rule"]), text(&finding["says"])))
        .collect()
}

/// The rule concludes, and says this; the limit is that rule, or the machine.
#[track_caller]
fn names(fault: Fault, options: &str, rule: &str, says: &str) {
    let said = measured(fault, options);
    let all = found(&said);
    let own = all.iter().find(|(known, _)| known == rule);
    let own = own.unwrap_or_else(|| panic!("no {rule}: {all:#?}\n{:#}", said.0["metrics"]));
    assert!(own.1.contains(says), "{}", own.1);
    let limit = said.0["limit"]["cause"].as_str().unwrap_or_default();
    let is_right = limit == rule || OF_THE_MACHINE.contains(&limit);
    assert!(is_right, "{limit} instead of {rule}: {all:#?}");
}

#[test]
fn a_lock_is_told_from_time_that_each_request_takes() {
    for ms in [10, 40] {
        let load = "-c 16 --duration 2s";
        names(
            Fault::Lock { ms },
            load,
            "request_stage",
            "wait for one another in",
        );
        names(
            Fault::Slow { ms },
            load,
            "request_stage",
            "more connections show whether",
        );
    }
}

#[test]
fn a_slow_worker_is_told_by_its_connections() {
    for (of, ms) in [(4, 100), (8, 40)] {
        let fault = Fault::SlowConnections { of, ms };
        names(
            fault,
            "-c 16 --duration 2s",
            "uneven_service",
            "connections are slow",
        );
    }
}

#[test]
fn slow_requests_on_any_connection_are_told_as_a_part_of_the_server() {
    for (of, ms) in [(10, 80), (25, 250)] {
        let fault = Fault::SlowRequests { of, ms };
        names(
            fault,
            "-c 16 --duration 3s",
            "uneven_service",
            "of the requests take",
        );
    }
}

#[test]
fn stalls_of_all_requests_are_told_with_their_period() {
    for (every_ms, ms) in [(500, 150), (1_000, 400)] {
        let fault = Fault::Stalls { every_ms, ms };
        names(fault, "-c 8 --duration 5s", "server_stalls", "stood still");
    }
}

#[test]
fn answers_that_turn_away_are_no_speed() {
    for (status, says) in [
        ("429 Too Many Requests", "limits the rate"),
        ("503 Service Unavailable", "turns requests away"),
    ] {
        for (most, ms) in [(2, 20), (6, 10)] {
            let fault = Fault::TurnsAway { most, ms, status };
            names(fault, "-c 16 --duration 1s", "turned_away", says);
        }
    }
}

#[test]
fn a_body_that_is_sent_slowly_is_told_from_a_late_answer() {
    for (pieces, ms) in [(5, 20), (40, 5)] {
        let fault = Fault::SlowBody { pieces, ms };
        names(
            fault,
            "-c 8 --duration 2s",
            "request_stage",
            "bodies slowly",
        );
    }
}

#[test]
fn connections_that_the_program_does_not_accept_are_told() {
    for most in [4, 12] {
        let fault = Fault::Accepts { most };
        let load = "-c 16 --duration 1s --timeout 1500ms";
        names(
            fault,
            load,
            "unserved_connections",
            "accepted by its system",
        );
    }
}

#[test]
fn healthy_servers_are_not_blamed() {
    let faults = [
        "server_stalls",
        "uneven_service",
        "turned_away",
        "unserved_connections",
        "server_cpu_limited",
        "request_path",
        "dropped_calls",
    ];
    for (ms, options) in [
        (2, "-c 8 --duration 2s"),
        (2, "-c 8 --duration 2s --rate 200/s"),
        (20, "-c 16 --duration 2s --rate 100/s"),
    ] {
        let said = measured(Fault::Slow { ms }, options);
        let all = found(&said);
        let blamed = all.iter().find(|(rule, _)| faults.contains(&rule.as_str()));
        assert_eq!(blamed, None, "{options}: {all:#?}");
    }
}
