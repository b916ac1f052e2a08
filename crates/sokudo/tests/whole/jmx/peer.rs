//! Tests of plans that leave the same results as the real JMeter.
//!
//! ```text
//! stress.jmx ─┬─► JMeter 5.6.3 ──────► far end with known delays ─► theirs.jtl ┐
//!             └─► sokudo compat jmeter ► the same far end ────────► ours.jtl   ┴─► compared
//! ours.jtl ─┬─► jmeter -g ──────► statistics.json ┐
//!           └─► sokudo jtl report ► statistics.json ┴─► compared
//! ```

use std::collections::BTreeSet;

use serde_json::Value;
use sokudo_testkit::jmeter::JMeter;
use sokudo_testkit::skip;

use super::delays::{Turns, after, distributed_alike, never_before_the_server};
use super::far::{Does, Far, far, plan};
use super::rows::{Row, by_label, number, read, rows};
use crate::vocabulary::{BOUND, place};

const PLAN: &str = include_str!("stress.jmx");
/// Each fourth user of each group meets a failure of its own.
const USERS: &str = "anna,花 見,1\nberta,\"月\",2\ncarl,雪,3\ndora,星,4\n";
/// Time that the far end takes to let somebody enter, milliseconds.
const ENTER_MS: u64 = 20;
/// Between the head and the body of a search, milliseconds.
const BODY_MS: u64 = 120;

/// Searches take their time, the third user's connection is broken off, the fourth is told to go.
fn application() -> Far {
    let turns = Turns::default();
    far(move |_, request| {
        let line = request.lines().next().unwrap_or_default();
        let is = |number: u32| request.ends_with(&format!("n={number}"));
        if line.contains("/enter") {
            return after(ENTER_MS, 0, 200, "Set-Cookie: session=1; Path=/\r\n", "in");
        }
        if is(3) {
            return Does::Resets;
        }
        if !line.contains("/search") {
            return after(turns.next_ms("cpu"), 0, 200, "", "etime: 20");
        }
        let head_ms = turns.next_ms("search");
        match () {
            () if is(4) => after(head_ms, BODY_MS, 503, "", "etime"),
            () if is(2) => after(head_ms, BODY_MS, 200, "", "nothing"),
            () => after(head_ms, BODY_MS, 200, "", "etime: 100"),
        }
    })
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
        // It names the delay.
        "responseMessage" => lost,
        _ => true,
    });
    kept.map(|(column, value)| format!("{column}={value}"))
        .collect()
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
        match *label {
            "リクエスト" => distributed_alike(label, own, their, BODY_MS),
            "リクエスト, CPU" => distributed_alike(label, own, their, 0),
            _ => {
                never_before_the_server(own, 0);
                never_before_the_server(their, 0);
            }
        }
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
        "-n -t stress.jmx -JTHREAD_NUMBER=12 -JSUSTAIN=5 -JPORT={}",
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

/// Elements with the same script, which means the same in both languages.
fn scripts(language: &str) -> String {
    let element = |class: &str, name: &str, script: &str| {
        format!(
            r#"<{class} guiclass="TestBeanGUI" testclass="{class}" testname="{name}"><stringProp name="scriptLanguage">{language}</stringProp><stringProp name="parameters"></stringProp><stringProp name="filename"></stringProp><stringProp name="cacheKey">false</stringProp><stringProp name="script">{script}</stringProp></{class}><hashTree/>"#
        )
    };
    let said = "log.info('plain'); log.info('with {} and {}', 'a', 2); log.warn('日本語'); \
                log.error('failed'); log.debug('hidden'); log.info('two\\nlines')";
    let below = element("JSR223PreProcessor", "My Script", said)
        + &element("JSR223PreProcessor", "with.dots in it", "log.info('said')")
        + &element("JSR223Timer", "timer", "log.info('timed'); 0")
        + &element(
            "JSR223PostProcessor",
            "post",
            "vars.put('b', 'one,two'); log.info('post ' + vars.get('x'))",
        )
        + &element("JSR223Assertion", "assertion", "log.info('asserted')")
        + &element("JSR223Assertion", "broken", "nothing.here()")
        + &element("JSR223Listener", "listener", "log.info('heard')")
        + &element("JSR223PostProcessor", "damaged", "nothing.here()");
    let calls = "${__log(first)}${__logn(second,WARN)}${__log(third,ERROR,,a comment)}";
    let debug = |name: &str, below: &str| {
        format!(
            r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}"><boolProp name="displayJMeterVariables">true</boolProp></DebugSampler><hashTree>{below}</hashTree>"#
        )
    };
    plan(1, 1, &(debug("said", &below) + &debug(calls, "")))
}

/// The lines of a log that say what scripts said, without their times, and where scripts failed.
fn told(log: &str) -> Vec<String> {
    let (mut told, mut is_own) = (Vec::new(), false);
    for line in log.lines() {
        let begins = line.get(..5).is_some_and(|year| {
            let digits = year.bytes().take(4).all(|byte| byte.is_ascii_digit());
            digits && year.ends_with('-')
        });
        if begins {
            assert_eq!(line.as_bytes()[19], b',', "{line}");
            assert_eq!(line.as_bytes()[23], b' ', "{line}");
            let scripted = |logger: &str| line[24..].contains(logger);
            is_own = scripted(".J.") || scripted(".JSR223") || scripted(".LogFunction");
        }
        // Below a failure stands what its language says of it.
        if is_own && (begins || !line.contains("Exception") && !line.starts_with(['\t', ' '])) {
            told.push(
                line.get(if begins { 24.. } else { 0.. })
                    .unwrap_or(line)
                    .to_owned(),
            );
        }
    }
    told
}

#[test]
fn scripts_log_the_same_lines_as_in_jmeter() {
    let jmeter = match JMeter::find() {
        Ok(jmeter) => jmeter,
        Err(why) => return skip(why),
    };
    let place = place();
    place.write("theirs.jmx", &scripts("groovy"));
    place.write("ours.jmx", &scripts("javascript"));
    let shows = "-Jsample_variables=b,missing";
    let words = ["-n", "-t", "theirs.jmx", "-l", "theirs.jtl", shows];
    let call = jmeter.call(place.path(), words);
    call.bound(BOUND).run().expect_code(0);
    let call = format!("compat jmeter -n -t ours.jmx -j ours.log -l ours.jtl {shows}");
    place.run(&call).expect_code(0);
    let (ours, theirs) = (read(&place, "ours.log"), read(&place, "jmeter.log"));
    assert_eq!(told(&ours), told(&theirs));
    assert_eq!(told(&ours).len(), 16, "{ours}");
    let shown = |file: &str| {
        let (columns, rows) = rows(&read(&place, file));
        let of = |row: &Row| [row["\"b\""].clone(), row["\"missing\""].clone()];
        (columns, rows.iter().map(of).collect::<Vec<_>>())
    };
    assert_eq!(shown("ours.jtl"), shown("theirs.jtl"));
    let own = ["one,two", "null"].map(str::to_owned);
    assert_eq!(shown("ours.jtl").1, [own.clone(), own]);
    for line in [
        "INFO o.a.j.JMeter: Running test (",
        "INFO o.a.j.e.StandardJMeterEngine: Notifying test listeners of end of test",
        "INFO o.a.j.r.Summariser: summary =      2 in ",
    ] {
        assert!(theirs.contains(line), "{line} in JMeter: {theirs}");
        assert!(ours.contains(line), "{line}: {ours}");
    }
}
