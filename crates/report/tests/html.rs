//! Tests of the HTML page: it is one file, complete, and safe against foreign text.

mod synthetic;

use sokudo_i18n::{I18n, Lang};

fn body(page: &str) -> &str {
    let end = page.find("<script>").expect("the page has its script");
    &page[page.find("<body>").expect("the page has a body")..end]
}

fn data(page: &str) -> serde_json::Value {
    let start = "id=\"data\">";
    let from = page.find(start).expect("the page carries data") + start.len();
    let to = from + page[from..].find("</script>").expect("the data end");
    serde_json::from_str(&page[from..to]).expect("the data are JSON")
}

/// Walks all tags: every element that needs it is closed in order. Returns tags with attributes.
fn tags(html: &str) -> Vec<String> {
    const VOID: &[&str] = &["meta", "br", "img"];
    let mut open: Vec<String> = Vec::new();
    let mut out = Vec::new();
    for part in html.split('<').skip(1) {
        let (tag, _) = part
            .split_once('>')
            .unwrap_or_else(|| panic!("`<{part}` has no end"));
        let quotes = tag.matches('"').count();
        assert_eq!(quotes % 2, 0, "quotes in `<{tag}>`");
        let name = tag
            .split([' ', '/'])
            .find(|s| !s.is_empty())
            .unwrap_or_default()
            .to_string();
        if tag.starts_with('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name.as_str()),
                "`</{name}>` closes nothing"
            );
        } else {
            out.push(tag.to_string());
            if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert_eq!(open, ["body"], "elements left open");
    out
}

#[test]
fn elements_nest() {
    for record in [
        synthetic::datagram(),
        synthetic::check(1, 2),
        synthetic::hostile(),
        synthetic::empty("check", &["hosta"]),
        synthetic::empty("check", &[]),
    ] {
        tags(&format!(
            "{}<script type=\"x\"></script>",
            body_without_data(&sokudo_report::html(&record, Lang::En))
        ));
    }
}

fn body_without_data(page: &str) -> String {
    let body = body(page);
    body[..body.find("<script type=").unwrap()].to_string()
}

#[test]
fn both_languages_are_in_the_page_and_one_is_chosen() {
    let record = synthetic::check(1, 2);
    let page = sokudo_report::html(&record, Lang::Ja);
    assert!(page.contains("<html lang=\"ja\">"));
    let verdict = sokudo_analyze::verdict(&record);
    assert!(!verdict.is_empty());
    // Numbers keep their units when a line is broken.
    assert!(page.contains("15.6\u{202f}Gb/s"));
    let page = page.replace('\u{202f}', " ");
    for lang in Lang::ALL {
        let i18n = I18n::new(lang);
        for sentence in &verdict {
            let said = i18n
                .text(sentence)
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('\'', "&#39;");
            assert!(page.contains(&said), "`{said}` is not in the page");
        }
    }
    assert!(
        page.contains("namespaces on one machine"),
        "notes must be seen"
    );
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    let page = sokudo_report::html(&synthetic::check(1, 2), Lang::En);
    // The only addresses allowed are names of XML namespaces, which are never fetched.
    let bare = page.replace("http://www.w3.org/2000/svg", "");
    for sign in [
        "http://", "https://", "src=", "@import", "url(", "<link", "<iframe", "<object",
    ] {
        assert!(!body(&bare).contains(sign), "`{sign}` in the body");
    }
    for sign in [
        "http://",
        "https://",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
    ] {
        assert!(!bare.contains(sign), "`{sign}` in the page");
    }
    assert!(page.contains("default-src 'none'"));
    for tag in tags(&format!("{}<x></x>", body_without_data(&page))) {
        let link = tag.split("href=\"").nth(1);
        assert!(
            link.is_none_or(|l| l.starts_with('#')),
            "`<{tag}>` leads outside"
        );
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = sokudo_report::html(&synthetic::hostile(), Lang::En);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    assert_eq!(
        page.matches("</script>").count(),
        2,
        "the data and the script, nothing else"
    );
    assert_eq!(page.matches("<script").count(), 2);
    for tag in tags(&format!("{}<x></x>", body_without_data(&page))) {
        assert!(!tag.contains("onerror"), "`<{tag}>`");
    }
    let json = data(&page).to_string();
    assert!(
        json.contains("alert(1)"),
        "the script still gets the name as it is"
    );

    let text = sokudo_report::markdown(&synthetic::hostile(), Lang::En);
    let fenced: String = text.split("```").step_by(2).collect();
    assert!(!fenced.contains("<script>") && !fenced.contains("<img"));
    let shown = sokudo_report::terminal(&synthetic::hostile(), Lang::En, false, 80);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
}

#[test]
fn ten_minutes_on_four_hosts_fit_a_megabyte() {
    let record = synthetic::large();
    let length = record.manifest.phases.last().unwrap().t1_ns / 1_000_000_000;
    assert!(length >= 600, "{length} s");
    let page = sokudo_report::html(&record, Lang::En);
    assert!(page.len() <= 1_000_000, "{} bytes", page.len());
    for chart in data(&page)["charts"].as_array().unwrap() {
        for line in chart["lines"].as_array().unwrap() {
            assert!(line["v"].as_array().unwrap().len() <= 2000);
        }
    }
}

#[test]
fn missing_data_is_a_gap() {
    let page = sokudo_report::html(&synthetic::check(1, 2), Lang::En);
    let charts = data(&page)["charts"].clone();
    let threads = charts
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["id"] == "threads-cpu")
        .unwrap()
        .clone();
    let values = threads["lines"][0]["v"].as_array().unwrap();
    assert!(values.iter().any(|v| v.is_null()), "the pause is gone");
}

#[test]
fn a_check_shows_its_knee_and_a_mesh_its_matrix() {
    let page = sokudo_report::html(&synthetic::check(1, 2), Lang::En);
    assert!(page.contains("class=\"chart knee\""));
    assert!(page.contains("Who reached whom how fast?"));
    assert!(page.contains("Self-test"));
    let page = sokudo_report::html(&synthetic::datagram(), Lang::En);
    assert!(!page.contains("class=\"chart knee\""), "no search, no knee");
}

#[test]
fn the_same_record_gives_the_same_page() {
    let (a, b) = (synthetic::datagram(), synthetic::datagram());
    assert_eq!(
        sokudo_report::html(&a, Lang::En),
        sokudo_report::html(&b, Lang::En)
    );
}

#[test]
fn numbers_that_are_none_break_nothing() {
    let mut record = synthetic::check(1, 2);
    for series in &mut record.series {
        for (i, point) in series.points.iter_mut().enumerate() {
            point.1 = [f64::NAN, f64::INFINITY, -1.0, f64::MAX, 0.0][i % 5];
        }
    }
    for phase in &mut record.manifest.phases {
        phase.t1_ns = phase.t0_ns;
        for value in phase.result.summary.values_mut() {
            *value = f64::NAN;
        }
        for flow in &mut phase.result.flows {
            flow.metrics.values_mut().for_each(|v| *v = f64::INFINITY);
        }
    }
    record
        .histograms
        .iter_mut()
        .for_each(|h| h.hdr_v2.truncate(7));
    let page = sokudo_report::html(&record, Lang::En);
    data(&page);
    for lang in Lang::ALL {
        sokudo_report::markdown(&record, lang);
        sokudo_report::terminal(&record, lang, true, 0);
    }
    sokudo_report::summary_json(&record, "x").to_string();
}
