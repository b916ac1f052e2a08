//! Delays that a server chooses, and whether results tell them.
//!
//! ```text
//! head: 20, 220 or 520 ms after the request, by turns that are shuffled with a seed
//! body: a fixed time after the head          the reason phrase names the delay: `D220`
//! ```
//!
//! Which delay a row met stands in the row itself, and the delays lie so far apart that nothing but
//! a lost time slice of 200 ms moves a row from one to the next. A distribution of such rows is told
//! by the part of them in each class; that holds on a slow machine as on a quick one.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::far::Does;
use super::rows::{Row, number};

/// Times until the head, milliseconds, with how many of ten requests meet them. No quantile that is
/// compared lies nearer than a fifth of all rows to the edge of its class.
const DELAYS_MS: [(u64, usize); 3] = [(20, 3), (220, 4), (520, 3)];
/// Part of all rows that may lie in another class than the one that the server meant.
const MISPLACED: f64 = 0.2;
/// Both clocks count whole milliseconds, and cut off.
const CUT_MS: u64 = 1;

/// Next turn of requests of each kind.
#[derive(Default)]
pub struct Turns(Mutex<BTreeMap<&'static str, usize>>);

impl Turns {
    /// Time until the head of the next answer of this kind, milliseconds.
    pub fn next_ms(&self, kind: &'static str) -> u64 {
        let mut turns = self.0.lock().expect("no holder panics");
        let turn = turns.entry(kind).or_default();
        *turn += 1;
        delay_ms(*turn - 1)
    }
}

/// Ten turns hold each delay as often as it is due, in an order of their own.
fn delay_ms(turn: usize) -> u64 {
    let due = DELAYS_MS
        .iter()
        .flat_map(|(ms, times)| std::iter::repeat_n(*ms, *times));
    let mut ten: Vec<u64> = due.collect();
    // Knuth's 64-bit generator is more than enough to shuffle ten.
    let mut state = (turn / ten.len()) as u64 + 1;
    for last in (1..ten.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ten.swap(last, (state >> 33) as usize % (last + 1));
    }
    ten[turn % ten.len()]
}

/// An answer whose head comes after `head_ms`, and its body `body_ms` later.
pub fn after(head_ms: u64, body_ms: u64, status: u16, headers: &str, body: &str) -> Does {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} D{head_ms:03}\r\nContent-Type: text/html; charset=utf-8\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    Does::Slowly(vec![
        (Duration::from_millis(head_ms), head.into_bytes()),
        (Duration::from_millis(body_ms), body.as_bytes().to_vec()),
    ])
}

/// The delay that a row says it met; `None`: nobody answered.
pub fn meant_ms(row: &Row) -> Option<u64> {
    row["responseMessage"].strip_prefix('D')?.parse().ok()
}

/// Class in which a time lies, of those that begin `more_ms` later than the delays.
fn class(ms: u64, more_ms: u64) -> Option<usize> {
    DELAYS_MS
        .iter()
        .rposition(|(from, _)| ms + CUT_MS >= from + more_ms)
}

/// Rows that were answered, and that the program measured when it had come to its speed.
///
/// A Java machine loads most of its classes during the first requests of each user.
fn settled<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    const SETTLES_MS: u64 = 1_500;
    let begun = rows.iter().map(|row| number(row, "timeStamp")).min();
    let settled = |row: &&&Row| number(row, "timeStamp") >= begun.unwrap_or(0) + SETTLES_MS;
    let answered = rows.iter().filter(|row| meant_ms(row).is_some());
    answered.filter(settled).copied().collect()
}

/// The part of all times up to each class.
fn distribution(rows: &[&Row], time_ms: impl Fn(&Row) -> u64, more_ms: u64) -> [f64; 3] {
    let mut up_to = [0.0; DELAYS_MS.len()];
    for row in rows {
        let at = class(time_ms(row), more_ms).unwrap_or_else(|| panic!("too early: {row:?}"));
        for part in &mut up_to[at..] {
            *part += 1.0 / rows.len() as f64;
        }
    }
    up_to
}

/// The largest distance of two distributions, as Kolmogorov and Smirnov measure it.
fn apart(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter()
        .zip(other)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// The class in which a quantile lies.
fn class_of_quantile(up_to: [f64; 3], quantile: f64) -> usize {
    up_to
        .iter()
        .position(|part| *part >= quantile)
        .unwrap_or(up_to.len() - 1)
}

/// Fails unless the times of both files of one label are distributed as the server meant it, and
/// therefore alike. The body comes `body_ms` after the head.
#[track_caller]
pub fn distributed_alike(label: &str, ours: &[&Row], theirs: &[&Row], body_ms: u64) {
    for rows in [ours, theirs] {
        never_before_the_server(rows, body_ms);
    }
    let (ours, theirs) = (settled(ours), settled(theirs));
    let least = 30;
    assert!(
        ours.len().min(theirs.len()) >= least,
        "{label}: too few rows to compare"
    );
    for (column, more_ms) in [("Latency", 0), ("elapsed", body_ms)] {
        let times = |row: &Row| number(row, column);
        let own = distribution(&ours, times, more_ms);
        let their = distribution(&theirs, times, more_ms);
        let told = format!("{column} of {label}: {own:.2?} here, {their:.2?} in JMeter");
        assert!(apart(own, their) <= MISPLACED, "{told}");
        for (rows, measured) in [(&ours, own), (&theirs, their)] {
            let meant = distribution(rows, |row| meant_ms(row).unwrap_or(0), 0);
            assert!(
                apart(measured, meant) <= MISPLACED,
                "{told}, meant {meant:.2?}"
            );
        }
        for quantile in [0.1, 0.5, 0.9] {
            let classes = [own, their].map(|up_to| class_of_quantile(up_to, quantile));
            assert_eq!(classes[0], classes[1], "p{} of {told}", quantile * 100.0);
        }
    }
}

/// Fails when an answer is there before the server gave it.
#[track_caller]
pub fn never_before_the_server(rows: &[&Row], body_ms: u64) {
    for row in rows {
        let Some(head_ms) = meant_ms(row) else {
            continue;
        };
        let (elapsed, latency) = (number(row, "elapsed"), number(row, "Latency"));
        assert!(latency + CUT_MS >= head_ms, "{row:?}");
        assert!(elapsed + CUT_MS >= head_ms + body_ms, "{row:?}");
        assert!(
            latency <= elapsed && number(row, "Connect") <= latency,
            "{row:?}"
        );
    }
}
