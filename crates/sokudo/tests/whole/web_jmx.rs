//! A plan under way, watched and changed in a real browser: numbers, one cursor, an earlier run.

use std::time::Duration;

use crate::browser::{Browser, browser};
use crate::jmx::far::{Does, Far, far, get, plan};
use crate::vocabulary::{Place, place};
use crate::web::{fill_in, page};

/// A server that takes its time, and refuses each fourth request.
pub fn application() -> Far {
    far(|number, _| {
        let status = if number % 4 == 0 {
            "503 Busy"
        } else {
            "200 OK"
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
        Does::Later(Duration::from_millis(20), answer.into_bytes())
    })
}

/// The number at the head of what a selector names; 0 when there is none.
fn number_of(selector: &str) -> String {
    format!("Number(document.querySelector('{selector}')?.textContent.match(/[0-9.]+/)?.[0] ?? 0)")
}

/// The big number of this name.
fn figure(name: &str) -> String {
    format!(
        "Number([...document.querySelectorAll('#figures .number')].find((one) => \
           one.querySelector('dt').textContent === '{name}')?.querySelector('dd').textContent.match(/[0-9.]+/)?.[0] ?? 0)"
    )
}

/// Starts a plan of waiting users with a page, and opens that page.
fn watched(place: &Place, far: &Far, browser: &mut Browser) -> sokudo_testkit::program::Running {
    place.write("plan.jmx", &plan(2, -1, &get(far.address, "/a", "")));
    let command = "jmx run plan.jmx --threads 1 --duration 600 --web=127.0.0.1:0";
    let mut running = place.sokudo(command).start();
    let url = running.wait_for(|line| line.split_once("page on ").map(|(_, url)| url.to_owned()));
    browser.go(&url);
    running
}

#[test]
fn a_plan_is_watched_and_its_users_are_changed() {
    let Some(mut browser) = browser(1400, 900) else {
        return;
    };
    let (place, far) = (place(), application());
    let running = watched(&place, &far, &mut browser);
    browser.wait(&format!("{} === 2", figure("users")));
    for shown in [
        "answers",
        "latency, median",
        "latency, 99th percentile",
        "lost or failed",
    ] {
        browser.wait(&format!("{} > 0", figure(shown)));
    }
    browser.wait("document.querySelector('.steer')?.hidden === false");
    // Who makes the load is listed, with its clock.
    let host = browser.value("document.querySelector('.host').textContent");
    let host = host.as_str().unwrap_or_default();
    assert!(
        host.contains("ready") && host.contains("same clock"),
        "{host}"
    );
    // Some time with two users, so that the cursor finds it later.
    let points = "document.querySelector('[data-track=users] .plot canvas') && \
                  Number(document.querySelector('#verdict .more').textContent.match(/([0-9.]+) s/)?.[1] ?? 0) > 3";
    browser.wait(points);
    browser.type_into("#users", "6");
    browser.press(".steer button");
    browser.wait(&format!("{} === 6", figure("users")));

    // One cursor for all: what each chart says of the moment at which there were two.
    browser.wait(&format!(
        "{} === 6",
        number_of("[data-track=users] .readout")
    ));
    browser.point_at("[data-track=answers] .u-over", 0.1);
    browser.wait(&format!(
        "{} === 2",
        number_of("[data-track=users] .readout")
    ));
    browser.wait("document.querySelector('.moment').hidden === false");
    for track in ["answers", "latency", "loss"] {
        browser.wait(&format!(
            "{} > 0",
            number_of(&format!("[data-track={track}] .readout"))
        ));
    }
    let places = browser.value(
        "[...new Set([...document.querySelectorAll('.drawn:not([hidden]) .u-cursor-x')]\
           .map((line) => line.getBoundingClientRect().left.toFixed(0)))].length",
    );
    assert_eq!(places, 1, "the cursor stands at one moment in all charts");
    browser.shots("jmx", 1400, 900);

    browser.press("#do-stop");
    let ended = running.finish();
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{ended}");
    let complaints = browser.complaints();
    assert!(
        complaints.iter().all(|one| one.contains("ERR_")),
        "{complaints:#?}"
    );
    let events = place.load().events;
    let steered = events.iter().filter(|event| event.kind == "steered");
    assert_eq!(steered.count(), 1, "the record tells of the change");
}

#[test]
fn an_earlier_run_lies_dashed_under_the_next_one() {
    let Some(mut browser) = browser(1400, 900) else {
        return;
    };
    let (place, far) = (place(), application());
    let (running, url) = page(&place, "2");
    browser.go(&url);
    // What charts are drawn with, as the page asks the browser for it.
    browser.value(
        "{ window.dashes = new Set(); const set = CanvasRenderingContext2D.prototype.setLineDash; \
           CanvasRenderingContext2D.prototype.setLineDash = function (dash) { \
             window.dashes.add(dash.join() + ' at ' + this.globalAlpha.toFixed(2)); return set.call(this, dash); }; }",
    );
    browser.press("#do-collect");
    browser.wait("document.querySelectorAll('.host .health.good').length === 2");
    // Who is heard, and how far its clock may be wrong.
    let hosts = browser.value(
        "[...document.querySelectorAll('.host')].map((host) => host.textContent).join('\\n')",
    );
    let hosts = hosts.as_str().unwrap_or_default();
    assert_eq!(hosts.matches("ready").count(), 2, "{hosts}");
    assert!(
        hosts.contains("±") || hosts.contains("same clock"),
        "{hosts}"
    );

    let load = |browser: &mut Browser, records: usize| {
        let url = format!("http://{}/", far.address);
        let fields = [("url", &*url), ("duration", "3s"), ("users", "2")];
        fill_in(browser, &fields);
        browser.press("#do-load");
        browser.wait(&format!(
            "document.querySelectorAll('.record').length === {records}"
        ));
    };
    load(&mut browser, 1);
    assert_eq!(browser.value("window.dashes.has('2,3 at 0.65')"), false);
    browser.press(".record .under");
    browser.wait("window.dashes.has('2,3 at 0.65')");
    load(&mut browser, 2);
    browser.wait("document.querySelector('.record[data-record] .under[aria-pressed=true]')");
    browser.point_at("[data-track=answers] .u-over", 0.3);
    for track in ["answers", "latency"] {
        browser.wait(&format!(
            "document.querySelector('[data-track={track}] .readout .earlier')?.textContent.includes('(earlier)')"
        ));
        let own =
            format!("document.querySelector('[data-track={track}] .readout span:not(.earlier)')");
        browser.wait(&own);
    }
    browser.shots("earlier", 1400, 900);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    running.interrupt();
    running.finish().expect_code(0);
}
