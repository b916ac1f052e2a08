//! The list of hosts in a real browser: how each is heard, and how far its clock may be wrong.

use std::sync::Arc;

use sokudo_model::{Change, Refusal};
use sokudo_web::desk::{Mistake, refusal};
use sokudo_web::feed::Told;
use sokudo_web::{Desk, Emit, Feed, HostRow, Language, NotTaken, Order};

use crate::browser::browser;
use crate::vocabulary::place;

/// A desk at which nothing can be had.
struct Closed;

impl Desk for Closed {
    fn order(&self, _: Order) -> Result<(), NotTaken> {
        Err(refusal("closed", "").into())
    }

    fn emit(&self, _: &Emit) -> Result<String, Refusal> {
        Err(refusal("closed", ""))
    }

    fn check(&self, _: Language, _: &str) -> Vec<Mistake> {
        Vec::new()
    }

    fn steer(&self, _: Change) -> Result<(), Refusal> {
        Err(refusal("closed", ""))
    }

    fn stop(&self) -> bool {
        false
    }
}

fn host(number: u32, name: &str, offset_seconds: f64, error_seconds: f64) -> HostRow {
    HostRow {
        number,
        name: name.into(),
        address: format!("192.0.2.{number}"),
        os: "linux".into(),
        cores: 4,
        clock_offset_seconds: offset_seconds,
        clock_error_seconds: error_seconds,
        health: "ready",
    }
}

#[test]
fn health_and_clock_error_of_each_host_are_shown() {
    let Some(mut browser) = browser(1400, 900) else {
        return;
    };
    let place = place();
    let feed = Feed::new("lab", false).expect("a feed");
    let both = (feed.clone(), Arc::new(Closed) as Arc<dyn Desk>);
    let here = "127.0.0.1:0".parse().expect("an address");
    let server = sokudo_web::open(here, false, "here", both, place.path().into());
    let server = server.expect("a page");
    feed.tell(Told::Hosts(vec![
        host(1, "hosta", 0.0, 0.0),
        host(2, "hostb", 0.001_25, 0.000_04),
        host(3, "hostc", -0.2, 0.003),
    ]));
    feed.tell(Told::Health("hostb".into(), "suspect"));
    feed.tell(Told::Health("hostc".into(), "lost"));
    browser.go(&server.url("here"));
    browser.wait("document.querySelectorAll('.host').length === 3");
    browser.wait("document.querySelector('[data-host=hostc] .health.bad')");
    for (name, sign, health, clock) in [
        ("hosta", "●", "ready", "same clock"),
        ("hostb", "◐", "suspect", "clock +1.25 ms ± 40 µs"),
        ("hostc", "▲", "lost", "clock −200 ms ± 3 ms"),
    ] {
        let text = browser.value(&format!(
            "document.querySelector('[data-host={name}]').innerText.replace(/\\s+/g, ' ')"
        ));
        let text = text.as_str().unwrap_or_default();
        for part in [&format!("{sign} {health}"), clock] {
            assert!(text.contains(part), "`{part}` in `{text}`");
        }
    }
    browser.shots("hosts", 1400, 900);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}
