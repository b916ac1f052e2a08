//! Faults that are switched on while the target runs.

use std::time::{Duration, Instant};

use crate::client::{body, get, lab};

#[test]
fn errors_rates_and_closed_connections() {
    let lab = lab(&[]);
    lab.set(&[("fault.error_share", "0.5")]);
    let statuses: Vec<u16> = (0..10).map(|_| lab.status("/")).collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 503).count(),
        5,
        "{statuses:?}"
    );
    lab.set(&[
        ("fault.error_share", "0"),
        ("fault.status_rate_per_s", "0.001"),
    ]);
    let statuses: Vec<u16> = (0..5).map(|_| lab.status("/")).collect();
    assert!(
        statuses[1..].iter().all(|status| *status == 429),
        "{statuses:?}"
    );
    lab.set(&[("fault.status_rate_per_s", "0"), ("fault.close", "true")]);
    let answer = lab.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
}

#[test]
fn one_lock_and_slow_answers_cost_time() {
    let lab = lab(&[]);
    lab.set(&[("fault.lock_ms", "40")]);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| assert_eq!(lab.status("/"), 200));
        }
    });
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "one after the other"
    );
    lab.set(&[
        ("fault.lock_ms", "0"),
        ("fault.slow_every", "1"),
        ("fault.slow_ms", "80"),
    ]);
    let begun = Instant::now();
    assert_eq!(lab.status("/"), 200);
    assert!(begun.elapsed() >= Duration::from_millis(80));
    lab.set(&[
        ("fault.slow_ms", "0"),
        ("fault.drip_bytes", "50"),
        ("fault.drip_ms", "20"),
    ]);
    let begun = Instant::now();
    assert_eq!(body(&lab.ask(&get("/?bytes=200"))).len(), 200);
    assert!(begun.elapsed() >= Duration::from_millis(100), "in pieces");
}

#[test]
fn a_database_that_is_down_or_slow_is_told() {
    let lab = lab(&["pool.url=sqlite:"]);
    let path = "/stress/x?searchTime=0&updateTime=0&bit=0&interval=0";
    assert_eq!(lab.status(path), 200);
    lab.set(&[("fault.db_down", "true")]);
    let answer = lab.ask(&get(path));
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && body(&answer).contains("down"),
        "{answer}"
    );
    assert_eq!(lab.number("/pool/errors_total"), 1.0);
    lab.set(&[("fault.db_down", "false"), ("fault.db_ms", "60")]);
    let begun = Instant::now();
    assert_eq!(lab.status(path), 200, "it is up again");
    assert!(
        begun.elapsed() >= Duration::from_millis(120),
        "two statements"
    );
}

#[test]
fn a_pool_that_gives_nothing_in_time_is_answered_503() {
    let lab = lab(&["pool.max=1", "pool.timeout_s=0.1"]);
    std::thread::scope(|scope| {
        scope.spawn(|| lab.status("/stress/x?searchTime=1500&bit=0&updateTime=0"));
        lab.until("/pool/used", |used| used == 1.0);
        assert_eq!(lab.status("/stress/x?bit=0"), 503);
    });
    assert_eq!(lab.number("/pool/timeouts_total"), 1.0);
}

/// The servlet that this models reads `updatTime`, and all its requests share their parameters.
#[test]
fn the_defects_of_the_servlet_can_be_had() {
    let lab = lab(&[
        "stress.bit=0",
        "stress.update_ms=1",
        "stress.seed_bugs=true",
    ]);
    let told = |path: &str| body(&lab.ask(&get(path))).to_owned();
    let first = told("/stress/x?searchTime=7&updateTime=50&duration=x");
    assert!(
        first.contains("searchTime: 7msec") && first.contains("updateTime: 1msec"),
        "{first}"
    );
    assert!(
        told("/stress/x").contains("searchTime: 7msec"),
        "what another request said"
    );
    lab.set(&[("stress.seed_bugs", "false")]);
    assert!(told("/stress/x?updateTime=2").contains("updateTime: 2msec"));
    assert!(told("/stress/x").contains("searchTime: 1msec"));
}
