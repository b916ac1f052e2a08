//! Tests of plans with very many users.

use std::time::Duration;

use sokudo_testkit::program::{Sokudo, sokudo_bin};
use sokudo_testkit::servers;

use super::far::{Does, far, get, plan};
use crate::vocabulary::{place, summary};

#[test]
fn more_users_than_the_usual_limit_of_open_files_are_all_answered() {
    const USERS: u32 = 150;
    let place = place();
    // All of them wait at the same time.
    let answer = b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok";
    let far = far(move |_, _| Does::Later(Duration::from_millis(300), answer.to_vec()));
    place.write("plan.jmx", &plan(USERS, 2, &get(far.address, "/a", "")));
    let script = format!(
        "ulimit -S -n 100 && exec {} jmx run plan.jmx --json",
        sokudo_bin().display()
    );
    let ended = Sokudo::of("sh".as_ref(), ["-c", &script])
        .dir(place.path())
        .env("SOKUDO_RUNS", "runs")
        .env("SOKUDO_LANG", "en")
        .run();
    let said = summary(&ended);
    assert_eq!(said.number("http.status_2xx"), f64::from(2 * USERS));
    assert_eq!(said.number("http.errors"), 0.0);
}

/// Largest memory of a run of so many users that stay connected, bytes.
fn peak_bytes(port: u16, users: u32) -> f64 {
    let place = place();
    let address = ([127, 0, 0, 1], port).into();
    let pause = r#"<ConstantTimer testname="think"><stringProp name="ConstantTimer.delay">200</stringProp></ConstantTimer><hashTree/>"#;
    place.write(
        "plan.jmx",
        &plan(users, 5, &get(address, "/index.html", pause)),
    );
    let ended = place.run("jmx run plan.jmx -l rows.jtl --json");
    let said = summary(&ended);
    assert_eq!(said.number("http.status_2xx"), f64::from(5 * users));
    let record = place.load();
    let points = record.series_of("self.resident_bytes");
    let points = points.flat_map(|series| &series.points);
    points.map(|(_, value)| *value).fold(0.0, f64::max)
}

#[test]
fn a_connected_user_takes_at_most_8_kib() {
    let server = servers::nginx("", |place| {
        std::fs::write(place.join("www/index.html"), "x".repeat(100)).expect("a file");
        "keepalive_requests 1000;".into()
    });
    let Some(server) = server else {
        return;
    };
    let (few, many) = (peak_bytes(server.port, 100), peak_bytes(server.port, 1_100));
    if few == 0.0 {
        sokudo_testkit::skip("this system does not say how much memory a process has");
        return;
    }
    let each = (many - few) / 1_000.0;
    assert!(each <= 8192.0, "{each:.0} bytes each");
}
