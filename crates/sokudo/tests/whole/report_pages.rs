//! Reports of loads on servers, and of two of them, in a real browser: nothing is clipped, titles stand once,
//! a short run fits on four pages of paper, and nobody is kept out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::browser::{Browser, browser};
use crate::jmx::far::{get, plan};
use crate::vocabulary::{Place, place};
use crate::web_jmx::application;

/// Pages of paper that the report of a short run may take.
const PAGES_MAX: usize = 4;
/// Titles that are seen more than once. The language that is not shown has no boxes.
const TITLES_TWICE: &str = "(() => { \
    const seen = [...document.querySelectorAll('h2, h3, .caption, figcaption .name')] \
      .filter((one) => one.offsetParent !== null).map((one) => (one.querySelector('b, .title') ?? one).innerText.trim()); \
    return seen.filter((one, at) => one !== '' && seen.indexOf(one) !== at); })()";
/// Texts that are wider than the box that shows them, where no scrolling helps.
const CLIPPED: &str = "[...document.querySelectorAll('main *, header *')] \
    .filter((one) => one.offsetParent !== null && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && \
      getComputedStyle(one).overflowX === 'hidden' && !one.closest('svg, .hidden, .u-wrap, .spark, .plot, h1')) \
    .map((one) => one.tagName + '.' + one.className + ': ' + one.innerText.slice(0, 60))";

fn is_empty(browser: &mut Browser, expression: &str, about: &str) {
    let found = browser.value(expression);
    let none = found.as_array().is_some_and(Vec::is_empty);
    assert!(none, "{about}: {found}");
}

/// The accessibility checker of the interface's development packages; none where they are not installed.
fn checker() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("ui/node_modules/axe-core/axe.min.js")).ok()
}

/// Accessibility violations of the page, by rule and place.
fn barriers(browser: &mut Browser, checker: &str) -> Value {
    browser.value(&format!("{checker}; 0"));
    browser.value(
        "axe.run(document, { resultTypes: ['violations'] }).then((found) => \
           found.violations.map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')))",
    )
}

fn pages(browser: &mut Browser) -> usize {
    let printed = browser.call("Page.printToPDF", json!({ "preferCSSPageSize": true }));
    let data = printed["data"].as_str().expect("a document");
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data);
    let text = String::from_utf8_lossy(&bytes.expect("base64")).into_owned();
    let starts = text
        .match_indices("/Type /Page")
        .map(|(at, name)| at + name.len());
    starts.filter(|at| !text[*at..].starts_with('s')).count()
}

/// The report of a plan with failures and a ramp, that of a URL, and the two runs of the plan beside each other.
fn reports(place: &Place) -> Vec<(&'static str, PathBuf)> {
    let far = application();
    let steps = [
        get(far.address, "/search", ""),
        get(far.address, "/buy", ""),
    ]
    .concat();
    place.write("shop.jmx", &plan(2, -1, &steps));
    let run = "jmx run shop.jmx --ramp 2 --duration 4 --slo p95<2s,err<1%";
    place.run(run).expect_code(1);
    place.run(&format!("{run} --users 4")).expect_code(1);
    let url = format!(
        "http http://{}/ -c 4 --ramp 1s -d 3s --slo p95<2s",
        far.address
    );
    place.run(&url).expect_code(1);
    // Names begin with the time: they are in the order of the runs.
    let mut records = place.records();
    records.sort();
    let name = |at: usize| records[at].file_name().expect("a name").to_string_lossy();
    let compare = format!("compare {} {} --output beside.html", name(0), name(1));
    let ended = place.run(&compare);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    vec![
        ("plan", records[1].join("report.html")),
        ("url", records[2].join("report.html")),
        ("beside", place.path().join("beside.html")),
    ]
}

#[test]
fn reports_of_loads_on_servers_are_readable_on_screens_and_on_paper() {
    let Some(mut browser) = browser(1280, 1000) else {
        return;
    };
    let place = place();
    let checker = checker();
    for (name, file) in reports(&place) {
        let file = std::fs::canonicalize(file).expect("a report");
        browser.size(1280, 1000);
        browser.go(&format!("file://{}", file.display()));
        for (width, lang) in [(1280, "en"), (390, "ja"), (390, "en"), (1280, "ja")] {
            browser.size(width, 1000);
            browser.press(&format!("[data-lang={lang}]"));
            let about = format!("{name} at {width} px in {lang}");
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{about}: {wide} px");
            is_empty(&mut browser, TITLES_TWICE, &about);
            is_empty(&mut browser, CLIPPED, &about);
            browser.shot(&format!("report-{name}-{width}-{lang}"));
        }
        let text = browser.value("document.querySelector('main').innerText");
        let text = text.as_str().unwrap_or_default().to_owned();
        let shown: &[&str] = match name {
            "plan" => &["p95", "/search", "/buy", "503 Busy"],
            "url" => &["p95", "503 Service Unavailable"],
            _ => &["99"],
        };
        for part in shown {
            assert!(text.contains(part), "{name}: no `{part}` in {text}");
        }
        let pages = pages(&mut browser);
        assert!((1..=PAGES_MAX).contains(&pages), "{name}: {pages} pages");
        for look in ["light", "dark"] {
            let Some(checker) = &checker else {
                continue;
            };
            browser.value(&format!(
                "document.documentElement.dataset.theme = '{look}'"
            ));
            let found = barriers(&mut browser, checker);
            assert_eq!(found, json!([]), "{name}, {look}");
        }
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
    }
    if checker.is_none() {
        sokudo_testkit::skip("axe-core is not installed: run `npm ci` in ui");
    }
}
