//! The way of somebody who has just installed the program: load the demo server by hand and by a plan, look
//! at its queues, and open the report.

use serde_json::json;
use sokudo_testkit::program::Running;

use crate::browser::browser;
use crate::vocabulary::{Place, place};

/// A demo server, and its URL.
fn demo(place: &Place) -> (Running, String) {
    let home = place.path().join("home");
    let line = place.sokudo("demo --port 0 --plan demo.jmx");
    let mut running = line
        .env("SOKUDO_CONFIG", &home.display().to_string())
        .start();
    let url = running.wait_for(|line| {
        let mut words = line.split_whitespace();
        let url = words.find(|word| word.starts_with("http://"))?;
        Some(url.to_owned())
    });
    (running, url)
}

#[test]
fn the_demo_server_is_loaded_by_hand_and_by_its_plan() {
    let place = place();
    let (server, url) = demo(&place);
    let port = url.rsplit(':').next().expect("a port");
    let ended = place.run(&format!(
        "http {url}/stress/demo -c 4 -d 1s --slo errors<0.1%"
    ));
    ended.expect_code(0).expect_stdout("requests/s");
    let report = std::fs::canonicalize(place.record().join("report.html")).expect("a report");
    let plan = format!("jmx run demo.jmx -J port={port} -J users=3 -J seconds=2 --interval 1s");
    let ended = place.run(&plan);
    ended.expect_code(0).expect_stdout("2 kinds of requests");
    for line in ["0.0-1.0 s ", "1.0-2.0 s ", " 3 users"] {
        ended.expect_stderr(line);
    }
    // Its timers keep the users from asking more, and not the server.
    let why = place.run("why latest");
    why.expect_code(0).expect_stdout("of their time in pauses");
    let home = place.path().join("home");
    let stat = place.sokudo("target stat");
    let stat = stat.env("SOKUDO_CONFIG", &home.display().to_string());
    stat.run().expect_code(0).expect_stdout("pool");
    server.interrupt();
    server.finish().expect_code(0);
    // Last, because it may be skipped.
    let Some(mut browser) = browser(390, 900) else {
        return;
    };
    // A window is never narrower than 500 px.
    let phone = json!({ "width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    browser.go(&format!("file://{}", report.display()));
    let heading = browser.value("document.querySelector('h1, header').innerText");
    assert!(
        heading.as_str().is_some_and(|text| text.contains("http")),
        "{heading}"
    );
    let wide = browser.value("document.documentElement.scrollWidth");
    assert!(
        wide.as_f64().is_some_and(|wide| wide <= 390.0),
        "{wide} px at 390"
    );
    assert!(
        browser.complaints().is_empty(),
        "{:?}",
        browser.complaints()
    );
}
