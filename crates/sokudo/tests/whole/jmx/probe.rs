//! Tests of the prediction from one user alone.

use std::time::Duration;

use serde_json::Value;

use super::far::{Does, far, get, plan};
use crate::vocabulary::place;

#[test]
fn one_user_tells_at_how_many_it_is_too_much() {
    let place = place();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let far = far(move |_, _| Does::Later(Duration::from_millis(50), answer.to_vec()));
    let pause = r#"<ConstantTimer testname="T"><stringProp name="ConstantTimer.delay">50</stringProp></ConstantTimer><hashTree/>"#;
    place.write(
        "plan.jmx",
        &plan(40, -1, &(get(far.address, "/a", "") + pause)),
    );
    let ended = place.run("jmx probe plan.jmx --duration 2 --demand 10 --json");
    ended.expect_code(0);
    let said: Value = serde_json::from_str(&ended.stdout).expect("one object");
    let probe = &said["probe"];
    let number = |name: &str| {
        probe[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {probe}"))
    };
    assert_eq!(number("users"), 1.0);
    assert!(number("samples") > 1.0 && number("failed") == 0.0);
    assert!(number("response_seconds") >= 0.050, "{probe}");
    // The last pause of a user is not seen whole; busy cores only lengthen both.
    assert!(number("pause_seconds") >= 0.020, "{probe}");
    let cycle = number("response_seconds") + number("pause_seconds");
    assert!(
        (number("knee_users") - cycle / 0.010).abs() < 0.01,
        "{probe}"
    );
    place
        .run("jmx probe plan.jmx --duration 1")
        .expect_code(0)
        .expect_stdout("N* is at least");
}
