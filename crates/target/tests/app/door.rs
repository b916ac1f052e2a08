//! The limit of open connections, and the queue in front of it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::{connect, get, is_reset, lab, read_all, status};

/// Connections that are open when the target allows two.
fn two(lab: &crate::client::Lab) -> [TcpStream; 2] {
    let both = [(); 2].map(|()| connect(lab.at()).expect("a connection"));
    lab.until("/connections/open", |open| open == 2.0);
    both
}

#[test]
fn one_too_many_is_reset() {
    let lab = lab(&["listen.max_open=2"]);
    let held = two(&lab);
    let error = connect(lab.at())
        .and_then(|mut third| third.read(&mut [0]))
        .expect_err("it is accepted and reset");
    assert!(is_reset(&error), "{error}");
    assert_eq!(lab.number("/connections/turned_away_total"), 1.0);
    drop(held);
    lab.until("/connections/open", |open| open == 0.0);
    assert_eq!(lab.status("/"), 200);
}

#[test]
fn one_too_many_is_answered_503() {
    let lab = lab(&["listen.max_open=2", "listen.on_full=503"]);
    let _held = two(&lab);
    let mut third = connect(lab.at()).expect("it is accepted");
    third.write_all(get("/").as_bytes()).expect("sent");
    assert_eq!(status(&read_all(&mut third).expect("an answer")), 503);
}

#[test]
fn one_too_many_is_refused() {
    let lab = lab(&["listen.max_open=2", "listen.on_full=refuse"]);
    let held = two(&lab);
    let mut error = None;
    for _ in 0..200 {
        // Between the second connection and the closed door there is a moment.
        match TcpStream::connect(lab.at()) {
            Ok(_) => std::thread::sleep(Duration::from_millis(10)),
            Err(why) => error = Some(why),
        }
    }
    let kind = error.map(|error| error.kind());
    assert_eq!(kind, Some(ErrorKind::ConnectionRefused));
    drop(held);
    lab.until("/connections/open", |open| open == 0.0);
    let again = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(lab.at()).is_ok()
    });
    assert!(again, "somebody listens again");
}

/// A short accept queue drops what finds it full: callers wait, and nobody is reset.
#[cfg(target_os = "linux")]
#[test]
fn one_too_many_waits_in_the_accept_queue_or_is_dropped() {
    let lab = lab(&[
        "listen.max_open=2",
        "listen.on_full=pause_accept",
        "listen.backlog=2",
    ]);
    let overflows = listen_overflows();
    let held = two(&lab);
    // The kernel lets one more in than it is asked for.
    let queued = [(); 3].map(|()| connect(lab.at()).expect("the queue has room"));
    lab.until("/accept_queue/depth", |depth| depth == 3.0);
    assert_eq!(lab.number("/accept_queue/limit"), 2.0);
    assert_eq!(lab.number("/connections/open"), 2.0);
    for _ in 0..3 {
        let late = TcpStream::connect_timeout(&lab.at(), Duration::from_millis(300));
        let kind = late.map_err(|error| error.kind()).map(drop);
        assert_eq!(kind, Err(ErrorKind::TimedOut), "its SYN is dropped");
    }
    assert!(listen_overflows() >= overflows + 3);
    drop(held);
    for mut stream in queued {
        stream.write_all(get("/").as_bytes()).expect("sent");
        assert_eq!(status(&read_all(&mut stream).expect("an answer")), 200);
    }
    assert_eq!(lab.number("/connections/turned_away_total"), 0.0);
    lab.set(&[("listen.backlog", "9")]);
    lab.until("/accept_queue/limit", |limit| limit == 9.0);
}

/// `TcpExtListenOverflows` of this network namespace.
#[cfg(target_os = "linux")]
fn listen_overflows() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/netstat").expect("the kernel tells");
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let names = lines.next().expect("names").split(' ');
    let values = lines.next().expect("values").split(' ');
    let found = names
        .zip(values)
        .find(|(name, _)| *name == "ListenOverflows");
    found
        .and_then(|(_, value)| value.parse().ok())
        .expect("a number")
}
