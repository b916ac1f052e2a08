//! Tests of answers, and of the ends of connections.

use std::io::Write as _;
use std::time::Instant;

use serde_json::Value;

use crate::client::{body, connect, get, lab, read_all, status};

#[test]
fn requests_are_answered_by_path_and_method() {
    let lab = lab(&[]);
    assert_eq!(body(&lab.ask(&get("/"))), "sokudo target app\n");
    assert_eq!(body(&lab.ask(&get("/?bytes=70000"))).len(), 70_000);
    assert_eq!(lab.status("/?bytes=x"), 400);
    assert_eq!(lab.status("/nothing"), 404);
    assert_eq!(lab.status("/stress"), 200);
    let head = lab.ask("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert!(
        head.contains("Content-Length: 18\r\n") && body(&head).is_empty(),
        "{head}"
    );
    let odd = lab.ask("DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&odd), 405);
    let bad = lab.ask("what is this\r\n\r\n");
    assert_eq!(status(&bad), 400);
    lab.until("/connections/open", |open| open == 0.0);
    assert_eq!(lab.number("/connections/bad_requests_total"), 1.0);
}

#[test]
fn the_stress_endpoint_takes_the_parameters_of_the_plan() {
    let lab = lab(&["pool.max=1"]);
    let form = "searchTime=30&updateTime=20&interval=10&duration=2&bit=64";
    let post = format!(
        "POST /stress/hoge HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAccept: application/json\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let answer = lab.ask(&post);
    let told: Value = serde_json::from_str(body(&answer)).expect("JSON");
    let number = |name: &str| told[name].as_f64().expect(name);
    assert_eq!(
        (number("searchTime"), number("duration"), number("bit")),
        (30.0, 2.0, 64.0)
    );
    assert!(number("hold_ms") >= 50.0, "{told}");
    assert!(number("work_ms") >= 20.0, "{told}");
    assert!(number("elapsed_ms") >= 70.0, "{told}");
    assert!(answer.contains("\r\nServer-Timing: queue;dur="), "{answer}");
    assert_eq!(lab.number("/pool/wait/count"), 2.0);
    assert!(lab.number("/pool/hold/seconds_total") >= 0.05);

    let html = lab.ask(&get("/stress/x?searchTime=2&updateTime=3&bit=8"));
    assert!(
        body(&html).starts_with("<pre>\nsearchTime: 2msec\n"),
        "{html}"
    );
    assert_eq!(lab.status("/stress/x?bit=99999999"), 400);
    assert_eq!(lab.status("/stress/x?duration=many"), 400);
}

#[test]
fn connections_stay_and_requests_may_follow_at_once() {
    let lab = lab(&[]);
    let mut stream = connect(lab.at()).expect("a connection");
    let keep = "GET /?bytes=3 HTTP/1.1\r\nHost: h\r\n\r\n";
    let three = format!("{keep}{keep}{}", get("/?bytes=4"));
    for piece in three.as_bytes().chunks(7) {
        stream.write_all(piece).expect("sent");
    }
    let answers = read_all(&mut stream).expect("answers");
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    assert!(answers.ends_with("\r\n\r\nxxxx"));
    lab.until("/connections/open", |open| open == 0.0);
    assert_eq!(lab.number("/connections/accepted_total"), 1.0);
}

#[test]
fn a_real_database_is_read_and_written() {
    let lab = lab(&["pool.url=sqlite:", "pool.max=4"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(lab.status("/stress/x?bit=0&interval=0"), 200));
        }
    });
    assert_eq!(lab.number("/pool/errors_total"), 0.0);
    assert_eq!(lab.number("/pool/hold/count"), 16.0);
    assert!(lab.number("/pool/size") <= 4.0);
}

#[test]
fn who_sends_too_slowly_is_let_go() {
    let lab = lab(&["listen.request_timeout_s=0.2", "listen.open_timeout_s=0.4"]);
    let mut slow = connect(lab.at()).expect("a connection");
    slow.write_all(b"GET / HTTP/1.1\r\nHost:").expect("sent");
    let mut idle = connect(lab.at()).expect("a connection");
    let begun = Instant::now();
    assert_eq!(status(&read_all(&mut slow).expect("an answer")), 408);
    assert_eq!(read_all(&mut idle).expect("the end"), "");
    assert!(begun.elapsed().as_millis() >= 400);
    drop(slow);
    lab.until("/connections/open", |open| open == 0.0);
    assert_eq!(lab.number("/connections/timeouts_total"), 2.0);
}

/// Callers that send most of a large body and stop: what they make the server keep is bounded, and small requests are
/// answered.
#[test]
fn unfinished_bodies_cost_a_bounded_memory() {
    let lab = lab(&[]);
    let body = "x".repeat(900_000);
    let head = "POST /stress/x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n";
    let held: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = connect(lab.at()).expect("a connection");
            stream.write_all(head.as_bytes()).expect("sent");
            // It may have been refused before all was sent.
            let _ = stream.write_all(body.as_bytes());
            stream
        })
        .collect();
    lab.until("/connections/turned_away_total", |away| away > 0.0);
    assert_eq!(lab.status("/"), 200);
    drop(held);
    lab.until("/connections/open", |open| open == 0.0);
    // Nobody holds anything any more: a large body is taken.
    let whole = format!("{head}{body}{}", "x".repeat(100_000));
    assert_eq!(
        status(&lab.ask(&whole.replace("Host", "Connection: close\r\nHost"))),
        200
    );
}

#[test]
fn a_full_dispatch_queue_and_a_long_wait_are_answered_503() {
    let lab = lab(&[
        "workers.core=1",
        "workers.max=1",
        "workers.queue_max=1",
        "workers.queue_timeout_s=0.3",
    ]);
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| lab.status("/stress/x?searchTime=2000&bit=0"));
        lab.until("/workers/active", |active| active == 1.0);
        let waits = scope.spawn(|| lab.status("/"));
        lab.until("/workers/queued", |queued| queued == 1.0);
        assert_eq!(lab.status("/"), 503, "the queue is full");
        assert_eq!(waits.join().expect("no panic"), 503, "it waited too long");
        assert_eq!(busy.join().expect("no panic"), 200);
    });
    assert_eq!(lab.number("/workers/rejected_total"), 1.0);
    assert_eq!(lab.number("/workers/timeouts_total"), 1.0);
}

#[test]
fn threads_come_with_the_requests_and_may_be_more_than_their_limit() {
    let lab = lab(&["workers.core=1", "workers.max=2", "workers.growable=true"]);
    assert_eq!(lab.until("/workers/size", |size| size > 0.0), 1.0);
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| assert_eq!(lab.status("/stress/x?searchTime=500&bit=0"), 200));
        }
        lab.until("/workers/active", |active| active == 5.0);
    });
    lab.set(&[("workers.growable", "false")]);
    lab.until("/workers/size", |size| size <= 2.0);
}

/// A request that waits in the pool when the target ends is let go.
#[test]
fn the_end_waits_for_nobody() {
    let lab = lab(&["pool.max=1"]);
    let at = lab.at();
    let ask = move || {
        let path = "/stress/x?searchTime=60000&bit=0";
        crate::client::exchange(at, &get(path)).map(|answer| status(&answer))
    };
    let callers: Vec<_> = (0..3).map(|_| std::thread::spawn(ask)).collect();
    lab.until("/pool/waiting", |waiting| waiting == 2.0);
    let begun = Instant::now();
    drop(lab);
    assert!(begun.elapsed().as_secs() < 20);
    for caller in callers {
        // An answer or a closed connection, and no endless wait.
        let _ = caller.join().expect("no panic");
    }
}
