//! Tests of delays and stalls of a server, in open and closed load models.
//!
//! ```text
//! closed: one user   ──●──●──●───────────────●──●──►   one sample is late
//! open: arrivals     ──●──●──●─┴─┴─┴─┴─┴─┴─┴─●──●──►   all who come in the stall are late
//!                            └──── stall ────┘
//! ```

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::far::{Does, Far, far, get, plan};
use super::rows::{Row, number, read, rows};
use crate::vocabulary::{Place, Summary, place, summary};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// The request at which the server begins to stand still.
const STALLS_AT: usize = 100;
const STALL: Duration = Duration::from_millis(2_000);
/// Arrivals of the open model, and how long they come.
const RATE_PER_S: f64 = 50.0;
const SECONDS: u32 = 6;
const ARRIVALS: f64 = 300.0;

/// A server that stands still once: requests that arrive meanwhile wait until it is over.
fn stalling() -> Far {
    let goes_on: Mutex<Option<Instant>> = Mutex::new(None);
    far(move |number, _| {
        let mut goes_on = goes_on.lock().expect("no holder panics");
        if number == STALLS_AT {
            *goes_on = Some(Instant::now() + STALL);
        }
        let left = goes_on.map(|at| at.saturating_duration_since(Instant::now()));
        Does::Later(left.unwrap_or_default(), OK.to_vec())
    })
}

/// Runs a plan of one request against this server.
#[track_caller]
fn load(place: &Place, far: &Far, loops: i64, options: &str) -> Summary {
    place.write("plan.jmx", &plan(1, loops, &get(far.address, "/a", "")));
    let ended = place.run(&format!("jmx run plan.jmx --threads 1 --json {options}"));
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    summary(&ended)
}

/// Requests that are due after the stall's begin and must wait for at least `longer_s`, when they come
/// evenly: those that are due that long before its end. One may fall on either edge.
fn must_wait(longer_s: f64) -> f64 {
    RATE_PER_S * (STALL.as_secs_f64() - longer_s) - 1.0
}

/// Number of samples that took at least so long from their intended start.
fn waited(rows: &[Row], longer_s: f64) -> f64 {
    let stamp = |row: &Row, column: &str| -> f64 {
        let text = &row[column];
        text.parse()
            .unwrap_or_else(|_| panic!("`{column}` is `{text}`"))
    };
    let latency_ms = |row: &Row| {
        let begun_late = stamp(row, "timeStamp") - stamp(row, "intended");
        // Milliseconds are cut off twice.
        begun_late + number(row, "elapsed") as f64 + 2.0
    };
    let long = |row: &&Row| latency_ms(row) >= longer_s * 1e3;
    rows.iter().filter(long).count() as f64
}

#[test]
fn a_stall_delays_everybody_who_comes_meanwhile() {
    let place = place();
    let options =
        format!("--model open:{RATE_PER_S}/s --duration {SECONDS} -l all.jtl --own-columns");
    let said = load(&place, &stalling(), 1, &options);
    assert_eq!(said.number("http.requests"), ARRIVALS);
    assert_eq!(said.number("http.unstarted_requests"), 0.0);
    let (_, rows) = rows(&read(&place, "all.jtl"));
    for longer_s in [1.5, 1.0, 0.5] {
        let late = waited(&rows, longer_s);
        // A generator without CPU can only add to them: later starts are later ends.
        assert!(
            late >= must_wait(longer_s),
            "{late} of {longer_s} s and more"
        );
        // A fifth of all may be the machine's own doing.
        assert!(
            late <= must_wait(longer_s) + ARRIVALS / 5.0,
            "{late} of {longer_s} s and more"
        );
    }
    // 30 of 300 lie above the 90th percentile, and 49 had to wait for a second or longer.
    assert!(said.number("http.latency_seconds.p90") >= 0.999);
}

#[test]
fn a_stall_delays_one_sample_of_one_waiting_user_and_is_told_as_hidden() {
    let place = place();
    let said = load(&place, &stalling(), 1_000, "-l all.jtl --own-columns");
    assert_eq!(said.number("http.requests"), 1_000.0);
    let (_, rows) = rows(&read(&place, "all.jtl"));
    let stalled_s = STALL.as_secs_f64();
    assert_eq!(waited(&rows, stalled_s), 1.0);
    assert!(said.number("http.latency_seconds.p99") < stalled_s / 5.0);
    let found = said.0["findings"].as_array().expect("findings").iter();
    let hidden: Vec<&Value> = found.filter(|one| one["rule"] == "hidden_stall").collect();
    assert_eq!(hidden.len(), 1, "{:#}", said.0["findings"]);
    let values: Vec<f64> = hidden[0]["evidence"]
        .as_array()
        .expect("evidence")
        .iter()
        .filter_map(|row| row["value"].as_f64())
        .collect();
    let [longest_s, p99_s] = values[..] else {
        panic!("{:#}", hidden[0]);
    };
    assert!(
        longest_s >= stalled_s && p99_s < stalled_s / 5.0,
        "{values:?}"
    );
    let says = hidden[0]["says"].as_str().unwrap_or_default();
    assert!(
        says.contains("stood still for 2") && says.contains("percentile"),
        "{says}"
    );
}

#[test]
fn who_finds_no_place_in_a_stall_is_counted_and_not_begun() {
    let place = place();
    let most = 10.0;
    let options = format!("--model open:{RATE_PER_S}/s --duration {SECONDS} --max-inflight {most}");
    let said = load(&place, &stalling(), 1, &options);
    let unstarted = said.number("http.unstarted_requests");
    assert_eq!(said.number("http.requests") + unstarted, ARRIVALS);
    // Of those who are due in the stall, so many find a place, and the one that began it has one.
    assert!(unstarted >= must_wait(0.0) - most, "{unstarted}");
    let ratio = said.number("http.error_ratio");
    assert!((ratio - unstarted / ARRIVALS).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_fixed_delay_is_told_in_both_models() {
    const DELAY_S: f64 = 0.1;
    for (model, requests) in [("", 20.0), ("--model open:20/s --duration 1", 20.0)] {
        let place = place();
        let far = far(|_, _| Does::Later(Duration::from_secs_f64(DELAY_S), OK.to_vec()));
        let loops = if model.is_empty() { 20 } else { 1 };
        let said = load(&place, &far, loops, model);
        assert_eq!(said.number("http.requests"), requests, "{model}");
        for metric in ["http.latency_seconds", "http.service_seconds"] {
            let least = said.number(&format!("{metric}.min"));
            let median = said.number(&format!("{metric}.p50"));
            // Three digits of a histogram, cut off.
            assert!(least >= DELAY_S * 0.999, "{metric} {model}: {least}");
            // Half of them are not delayed by anything else, also on a busy machine.
            assert!(median < 4.0 * DELAY_S, "{metric} {model}: {median}");
        }
    }
}
