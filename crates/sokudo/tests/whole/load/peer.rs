//! Does a plan, unchanged, leave the same results behind as in the real JMeter?
//!
//! ```text
//! stress.jmx ─┬─► JMeter 5.6.3 ──────► far end with known delays ─► theirs.jtl ┐
//!             └─► sokudo compat jmeter ► the same far end ────────► ours.jtl   ┴─► compared
//! ours.jtl ─┬─► jmeter -g ──────► statistics.json ┐
//!           └─► sokudo jtl report ► statistics.json ┴─► compared
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use sokudo_testkit::jmeter::JMeter;
use sokudo_testkit::skip;

use super::far::{Does, Far, far};
use crate::vocabulary::{BOUND, Place, place};

const PLAN: &str = include_str!("stress.jmx");
/// Each fourth user of each group meets a failure of its own.
const USERS: &str = "anna,花 見,1\nberta,\"月\",2\ncarl,雪,3\ndora,星,4\n";
/// What the far end takes for a search and for everything else, milliseconds.
const SEARCH_MS: u64 = 100;
const OTHER_MS: u64 = 20;
/// Slack for cores that are busy with something else, milliseconds.
const SLACK_MS: u64 = 400;

/// Searches take their time, the third user's connection is broken off, the fourth is told to go.
fn application() -> Far {
    far(|_, request| {
        let after = |ms: u64, status: &str, headers: &str, body: &str| {
            let length = body.len();
            Does::Later(
                Duration::from_millis(ms),
                format!(
                    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
                )
                .into_bytes(),
            )
        };
        let line = request.lines().next().unwrap_or_default();
        let is = |number: u32| request.ends_with(&format!("n={number}"));
        match () {
            () if line.contains("/enter") => after(
                OTHER_MS,
                "200 OK",
                "Set-Cookie: session=1; Path=/\r\n",
                "in",
            ),
            () if is(3) => Does::Resets,
            () if line.contains("/search") && is(4) => after(SEARCH_MS, "503 Busy", "", "etime"),
            () if line.contains("/search") && is(2) => after(SEARCH_MS, "200 OK", "", "nothing"),
            () if line.contains("/search") => after(SEARCH_MS, "200 OK", "", "etime: 100"),
            () => after(OTHER_MS, "200 OK", "", "etime: 20"),
        }
    })
}

/// One row by the names of its columns.
type Row = BTreeMap<String, String>;

/// Rows of a file of results; no field of these plans holds a line end.
fn rows(text: &str) -> (String, Vec<Row>) {
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or_default().to_owned();
    let each = lines.map(|line| {
        let names = columns.split(',').map(str::to_owned);
        names.zip(fields(line)).collect::<Row>()
    });
    (columns.clone(), each.collect())
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match (character, fields.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => fields.push(String::new()),
            (other, Some(field)) => field.push(other),
            (_, None) => {}
        }
    }
    fields
}

fn number(row: &Row, column: &str) -> u64 {
    let text = row.get(column).map_or("", String::as_str);
    text.parse()
        .unwrap_or_else(|_| panic!("`{column}` is `{text}`: {row:?}"))
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Everything of a row but its times and counts.
fn meaning(row: &Row) -> Vec<String> {
    let lost = row["responseCode"].starts_with("Non HTTP");
    let kept = row.iter().filter(|(column, _)| match column.as_str() {
        "timeStamp" | "elapsed" | "Latency" | "Connect" | "grpThreads" | "allThreads" => false,
        // Who is the first to come without a cookie is chance.
        "threadName" | "sentBytes" => false,
        // JMeter counts the letters of a Java stack trace.
        "bytes" => !lost,
        _ => true,
    });
    kept.map(|(column, value)| format!("{column}={value}"))
        .collect()
}

fn by_label(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut labels: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        labels.entry(&row["label"]).or_default().push(row);
    }
    labels
}

/// Counts of the same thing in two runs of the same length: chance, and slack for busy cores.
#[track_caller]
fn alike(ours: usize, theirs: usize, what: &str) {
    let (least, most) = (ours.min(theirs) as f64, ours.max(theirs) as f64);
    let allowed = 5.0 * (least + most).sqrt() + 0.3 * most;
    assert!(
        most - least <= allowed,
        "{what}: {ours} here, {theirs} in JMeter"
    );
}

fn compare(ours: &str, theirs: &str) {
    let ((columns, ours), (their_columns, theirs)) = (rows(ours), rows(theirs));
    assert_eq!(columns, their_columns);
    let (own, their) = (by_label(&ours), by_label(&theirs));
    assert_eq!(
        own.keys().collect::<Vec<_>>(),
        their.keys().collect::<Vec<_>>()
    );
    for (label, own) in &own {
        let their = &their[label];
        alike(own.len(), their.len(), label);
        let meanings = |rows: &[&Row]| rows.iter().map(|row| meaning(row)).collect::<BTreeSet<_>>();
        assert_eq!(meanings(own), meanings(their), "{label}");
        let sent = |rows: &[&Row]| rows.iter().map(|row| number(row, "sentBytes")).max();
        assert_eq!(sent(own), sent(their), "{label}");
        let failed = |rows: &[&Row]| rows.iter().filter(|row| row["success"] == "false").count();
        alike(failed(own), failed(their), &format!("failures of {label}"));
        times_are_the_servers(label, own);
        times_are_the_servers(label, their);
    }
    let names = |rows: &[Row]| -> BTreeSet<String> {
        rows.iter().map(|row| row["threadName"].clone()).collect()
    };
    assert_eq!(names(&ours), names(&theirs));
    for column in ["grpThreads", "allThreads"] {
        let most = |rows: &[Row]| rows.iter().map(|row| number(row, column)).max();
        assert_eq!(most(&ours), most(&theirs), "{column}");
    }
}

/// No answer is there before the server gave it, and half of them come soon afterwards.
fn times_are_the_servers(label: &str, rows: &[&Row]) {
    let delay_ms = match label {
        "リクエスト" => SEARCH_MS,
        _ => OTHER_MS,
    };
    let answered = || {
        rows.iter()
            .filter(|row| !row["responseCode"].starts_with("Non HTTP"))
    };
    for row in answered() {
        let (elapsed, latency) = (number(row, "elapsed"), number(row, "Latency"));
        // Both clocks count whole milliseconds.
        assert!(
            elapsed + 1 >= delay_ms && latency + 1 >= delay_ms,
            "{row:?}"
        );
        assert!(
            latency <= elapsed && number(row, "Connect") <= latency,
            "{row:?}"
        );
    }
    for column in ["elapsed", "Latency"] {
        let half = median(answered().map(|row| number(row, column)).collect());
        assert!(half < delay_ms + SLACK_MS, "{column} of {label}: {half} ms");
    }
}

/// Both statistics of one file, label by label.
fn compare_statistics(ours: &Value, theirs: &Value, rows: &[Row]) {
    let labels = |of: &Value| -> BTreeSet<String> {
        of.as_object()
            .expect("an object of labels")
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(labels(ours), labels(theirs));
    for label in labels(ours) {
        let (own, their) = (&ours[&label], &theirs[&label]);
        assert_eq!(labels(own), labels(their), "{label}");
        for (key, value) in their.as_object().expect("an object of figures") {
            let Some(theirs) = value.as_f64() else {
                assert_eq!(own[key], *value, "{label}: {key}");
                continue;
            };
            let ours = own[key].as_f64().expect("a number");
            if let Some(quantile) = quantile(key) {
                let (least, most) = around(&elapsed(rows, &label), quantile);
                let fits = |value: f64| (least - 1.0..=most + 1.0).contains(&value);
                assert!(
                    fits(ours) && fits(theirs),
                    "{label}: {key} is {ours}, in JMeter {theirs}"
                );
                continue;
            }
            // Whole milliseconds, and figures with as many digits as a float of 32 bits has.
            let allowed = theirs.abs() * 1e-4 + if key.contains("Time") { 1.0 } else { 1e-6 };
            assert!(
                (ours - theirs).abs() <= allowed,
                "{label}: {key} is {ours}, in JMeter {theirs}"
            );
        }
    }
}

/// The part of all rows below a figure.
fn quantile(key: &str) -> Option<f64> {
    match key {
        "medianResTime" => Some(0.5),
        "pct1ResTime" => Some(0.9),
        "pct2ResTime" => Some(0.95),
        "pct3ResTime" => Some(0.99),
        _ => None,
    }
}

fn elapsed(rows: &[Row], label: &str) -> Vec<u64> {
    let own = rows
        .iter()
        .filter(|row| label == "Total" || row["label"] == label);
    let mut all: Vec<u64> = own.map(|row| number(row, "elapsed")).collect();
    all.sort_unstable();
    all
}

/// The rows between which a percentile lies, however it is interpolated.
fn around(sorted: &[u64], quantile: f64) -> (f64, f64) {
    let rank = (quantile * (sorted.len() + 1) as f64) as usize;
    let at = |rank: usize| sorted[rank.min(sorted.len() - 1)] as f64;
    (at(rank.saturating_sub(2)), at(rank + 1))
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[test]
fn a_plan_leaves_the_same_results_as_in_jmeter() {
    let jmeter = match JMeter::find() {
        Ok(jmeter) => jmeter,
        Err(why) => return skip(why),
    };
    let place = place();
    let far = application();
    place.write("stress.jmx", PLAN);
    place.write("users.csv", USERS);
    let options = format!(
        "-n -t stress.jmx -JTHREAD_NUMBER=4 -JSUSTAIN=4 -JPORT={}",
        far.address.port()
    );
    let theirs = jmeter.call(place.path(), format!("{options} -l theirs.jtl").split(' '));
    theirs.bound(BOUND).run().expect_code(0);
    place
        .run(&format!("compat jmeter {options} -l ours.jtl"))
        .expect_code(0);
    compare(&read(&place, "ours.jtl"), &read(&place, "theirs.jtl"));

    let report = jmeter.call(place.path(), ["-g", "ours.jtl", "-o", "theirs"]);
    report.bound(BOUND).run().expect_code(0);
    place.run("jtl report ours.jtl -o ours").expect_code(0);
    let figures =
        |name: &str| -> Value { serde_json::from_str(&read(&place, name)).expect("a JSON object") };
    let (_, rows) = rows(&read(&place, "ours.jtl"));
    compare_statistics(
        &figures("ours/statistics.json"),
        &figures("theirs/statistics.json"),
        &rows,
    );
}
