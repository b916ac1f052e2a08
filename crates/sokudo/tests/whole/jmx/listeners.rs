//! Tests of the files that a plan's listeners write, against the real JMeter.
//!
//! ```text
//! listeners.jmx ─┬─► JMeter 5.6.3 ────────► results/*.csv *.xml ┐
//!                └─► sokudo compat jmeter ► results/*.csv *.xml ┴─► the same but for times and host
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use sokudo_testkit::jmeter::JMeter;
use sokudo_testkit::skip;

use super::far::{Does, Far, far};
use crate::vocabulary::{BOUND, Place, place};

const PLAN: &str = include_str!("listeners.jmx");
/// Attributes that hold times.
const TIMES: &[&str] = &[" t=\"", " it=\"", " lt=\"", " ct=\"", " ts=\""];
/// Files that the plan's listeners write.
const FILES: usize = 22;

/// Redirects, pages and failures by path.
fn site() -> Far {
    far(|_, request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let (status, kind, more, body) = match path {
            "/moved" => ("302 Found", "text/html", "Location: /ok?to=1\r\n", "moved"),
            "/page" => (
                "200 OK",
                "text/html",
                "",
                "<html><img src=\"/a.png\"><img src=\"/missing.png\"></html>",
            ),
            "/a.png" => ("200 OK", "image/png", "", "picture"),
            "/fail" | "/missing.png" => ("500 Broken", "text/plain", "", "it's broken"),
            _ => (
                "200 OK",
                "text/html; charset=utf-8",
                "",
                "fine <&> \"q\"\tあ\r\n",
            ),
        };
        let length = body.len();
        Does::Says(
            format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n{body}"
            )
            .into_bytes(),
        )
    })
}

/// Executes the plan in a place of its own; gives the files by name, without what differs from run to
/// run.
fn files(execute: impl FnOnce(&Place)) -> BTreeMap<String, String> {
    let place = place();
    place.write("listeners.jmx", PLAN);
    execute(&place);
    let entries = std::fs::read_dir(place.path().join("results")).expect("files were written");
    let each = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        (
            name(&path),
            meaning(&std::fs::read_to_string(&path).expect("text")),
        )
    });
    each.collect()
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// A file without times: of rows the first two and the last three columns, of elements attributes.
fn meaning(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let is_row = line.len() > 14 && line.bytes().take(13).all(|byte| byte.is_ascii_digit());
        match is_row {
            true => {
                let kept = line.splitn(3, ',').nth(2).unwrap_or_default();
                kept.rsplitn(4, ',').nth(3).unwrap_or_default().to_owned()
            }
            false => TIMES.iter().fold(line.to_owned(), without),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without(line: String, attribute: &&str) -> String {
    match line.split_once(attribute) {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}{attribute}{rest}")
        }
        None => line,
    }
}

#[test]
fn listeners_write_the_files_that_jmeter_writes() {
    let jmeter = match JMeter::find() {
        Ok(jmeter) => jmeter,
        Err(why) => return skip(why),
    };
    let far = site();
    let port = far.address.port();
    let options = format!("-n -t listeners.jmx -JPORT={port} -JWHERE=results -l all.jtl");
    let theirs = files(|place| {
        let call = jmeter.call(place.path(), options.split(' '));
        call.bound(BOUND).run().expect_code(0);
    });
    let ours = files(|place| {
        let call = place.run(&format!("compat jmeter {options}"));
        call.expect_code(0);
    });
    let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    assert_eq!(theirs.len(), FILES, "{:?}", names(&theirs));
    for (name, theirs) in &theirs {
        assert_eq!(ours[name], *theirs, "{name}");
    }
}
