//! Tests of the connection times in rows, against the real JMeter.
//!
//! A handshake that takes long shows in `Connect` of the row that made the connection, and in no
//! other one.

use std::time::Duration;

use sokudo_testkit::jmeter::JMeter;
use sokudo_testkit::skip;

use super::far::{get, plan, says, secure_far};
use super::rows::{number, read, rows};
use crate::vocabulary::{BOUND, place};

const HANDSHAKE_MS: u64 = 150;

/// Label of each row with whether a connection was made for it.
#[track_caller]
fn made(text: &str) -> Vec<(String, bool)> {
    let (_, rows) = rows(text);
    let each = rows.iter().map(|row| {
        assert_eq!(row["success"], "true", "{row:?}");
        let connect_ms = number(row, "Connect");
        // Whole milliseconds, cut off; without a connection there is no time at all.
        let made = connect_ms + 1 >= HANDSHAKE_MS;
        assert!(made || connect_ms == 0, "{row:?}");
        assert!(connect_ms <= number(row, "Latency"), "{row:?}");
        (row["label"].clone(), made)
    });
    each.collect()
}

#[test]
fn connections_are_made_for_the_same_rows_as_in_jmeter() {
    let jmeter = match JMeter::find() {
        Ok(jmeter) => jmeter,
        Err(why) => return skip(why),
    };
    let place = place();
    let far = secure_far(Duration::from_millis(HANDSHAKE_MS), |_, _| says(200, "ok"));
    let ask = |path: &str, keeps: bool| {
        let secure = "<stringProp name=\"HTTPSampler.protocol\">https</stringProp><boolProp";
        let one = get(far.address, path, "").replace("<boolProp", secure);
        one.replace("use_keepalive\">true", &format!("use_keepalive\">{keeps}"))
    };
    // The third closes what the second used, the fifth what it made itself.
    let content: String = [
        ("/first", true),
        ("/second", true),
        ("/closes", false),
        ("/again", true),
        ("/closes-too", false),
        ("/alone", false),
    ]
    .map(|(path, keeps)| ask(path, keeps))
    .concat();
    place.write("plan.jmx", &plan(1, 3, &content));
    let options = "-n -t plan.jmx -l";
    let theirs = jmeter.call(place.path(), format!("{options} theirs.jtl").split(' '));
    theirs.bound(BOUND).run().expect_code(0);
    place
        .run(&format!("compat jmeter {options} ours.jtl"))
        .expect_code(0);
    let ours = made(&read(&place, "ours.jtl"));
    assert_eq!(ours, made(&read(&place, "theirs.jtl")));
    let news = ours.iter().filter(|(_, made)| *made).count();
    assert!(0 < news && news < ours.len(), "{ours:?}");
}
