//! Tests of redirects, authentication and embedded resources, against JMeter.

use std::path::Path;

use sokudo_testkit::skip;

use crate::cases::{Case, case, one};
use crate::plan::{Request, authorization, cache, cookies, headers, request};
use crate::recorder::{Answer, Recorder, Then};
use crate::{golden, play, requests};

const GOLDEN: &str = "pages.txt";

/// Everything that a page can name, and what only looks like it.
const TAGS: &str = r#"<!DOCTYPE html><html><head><link rel="stylesheet" href="1"><link rel="STYLESHEET" href="2"/>
<link rel="icon" href="3"><link rel="shortcut icon" href="4"><link rel="preload" href="5"><link rel="manifest" href="x">
<script src="6"></script><script>'<img src="x">'</script><style>@import "x"; b{background:url('x')}</style>
<!-- <img src="x"> --><!--[if IE]><img src="x"><![endif]--></head><body background="7">
<IMG SRC='8'><img src=9><img src="10?a=1&amp;b=2&x;&#65;"><img src=" 11 "><img src=""><img src="data:image/png;base64,A">
<img src="about:blank"><img src="javascript:x()"><img srcset="x 2x" data-src="x"><picture><source src="x"></picture>
<img src="12"><img src="12"><img src="12#part"><img src="a/../13"><img src="?14"><img src="//127.0.0.1:{port}/page-tags/15">
<img src="sp ace"><img src="日本"><img src="b{x}|"><img src="p%zz"><img src="p%20ok"><img src="16
17"><input type="image" src="18"><input type=text src="x"><iframe src="19"><img src="x"></iframe><frame src="20">
<embed src="21"><bgsound src="22"><object data="23"></object><object codebase="cb/" data="24"></object>
<applet code="25"></applet><applet codebase="cc" code="26"></applet><applet codebase="cc" archive="27" code="x"></applet>
<table background="28"><video src="x" poster="x"></video><div style="background:url('29')"></div><div style='b:URL("30")'></div>
<div style="background:url(x)"></div><a href="x"></a><textarea><img src="x"></textarea><noscript><img src="x"></noscript>
<base href="sub/"><img src="31"></img src="x"><img alt=">" src="32"><img/src="33"><img src = "34" src="x"><img src="x"#;

/// A page of this name.
fn page(name: &'static str, change: impl FnOnce(Request) -> Request) -> Case {
    one(name, |request| {
        change(
            request
                .flag("image_parser", true)
                .flag("follow_redirects", true),
        )
    })
    .beside(&headers(&[("User-Agent", "own")]))
}

/// Response of a server with a body of this type.
fn says(status: &str, head: &str, content_type: &str, body: &str) -> String {
    let length = body.replace("{port}", "12345").len();
    format!(
        "HTTP/1.1 {status}\r\n{head}Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn html(body: &str) -> String {
    says("200 OK", "", "text/html; charset=UTF-8", body)
}

fn pages() -> Vec<Case> {
    let pictures = |name: &str| -> String {
        (1..=8)
            .map(|number| format!("<img src=\"/{name}/{number}\">"))
            .collect()
    };
    vec![
        page("page-tags", |r| r).answer("GET /page-tags/x ", &html(TAGS)),
        page("page-none", |r| r).answer("GET /page-none/x ", &html("<p>nothing</p>")),
        page("page-frames", |r| r)
            .answer("GET /page-frames/x ", &html("<iframe src=f></iframe><img src=3><link rel=stylesheet href=s.css>"))
            .answer("GET /page-frames/f ", &html("<img src=1><img src=2>"))
            .answer("GET /page-frames/s.css ", &says("200 OK", "", "text/css", "@import 'sub/t.css'; @import url(4); a{b:url(x)}"))
            .answer("GET /page-frames/sub/t.css ", &says("200 OK", "", "text/css", "@import '5';")),
        page("page-deep", |r| r).answer("GET /page-deep/", &html("<iframe src=\"?\"></iframe>")),
        page("page-failing", |r| r)
            .answer("GET /page-failing/x ", &html("<img src=gone><iframe src=f></iframe><img src=2>"))
            .answer("GET /page-failing/f ", &html("<img src=gone><img src=1>"))
            .answer("GET /page-failing/gone ", &says("404 Not Found", "", "text/html", "<img src=x>")),
        page("page-refused", |r| r)
            .answer("GET /page-refused/x ", &says("500 Oh", "", "text/html", "<img src=x>")),
        page("page-types", |r| r)
            .answer("GET /page-types/x ", &says("200 OK", "", "Application/XHTML+xml", "<img src='1'/><iframe src=p></iframe><iframe src=w></iframe>"))
            .answer("GET /page-types/p ", &says("200 OK", "", "text/plain", "<img src='x'/>"))
            .answer("GET /page-types/w ", &says("200 OK", "", "text/vnd.wap.wml", "<img src='2'/>")),
        page("page-allowed", |r| r.text("embedded_url_re", ".*[13]"))
            .answer("GET /page-allowed/x ", &html(&pictures("page-allowed"))),
        page("page-allowed-part", |r| r.text("embedded_url_re", "page"))
            .answer("GET /page-allowed-part/x ", &html(&pictures("page-allowed-part"))),
        page("page-excluded", |r| r.text("embedded_url_re", "[").text("embedded_url_exclude_re", ".*[1-6]"))
            .answer("GET /page-excluded/x ", &html(&pictures("page-excluded"))),
        page("page-at-once", |r| r.flag("concurrentDwn", true).text("concurrentPool", "3"))
            .answer("GET /page-at-once/x ", &html(&pictures("page-at-once")))
            .answer("GET /page-at-once/5 ", &says("404 Not Found", "", "text/plain", "no")),
        page("page-closing", |r| r.flag("use_keepalive", false))
            .answer("GET /page-closing/x ", &says("200 OK", "Connection: close\r\n", "text/html", "<img src=1>")),
        page("page-digest", |r| r.flag("md5", true))
            .answer("GET /page-digest/x ", &html(&pictures("page-digest"))),
        page("page-posted", |r| r.post().argument("a", "1"))
            .answer("POST /page-posted/x ", &html("<img src=1>")),
        page("page-moved", |r| r)
            .answer("GET /page-moved/x ", &says("302 Found", "Location: /page-moved/y/\r\n", "text/html", "<img src=x>"))
            .answer("GET /page-moved/y/ ", &html("<img src=1><img src=moved>"))
            .answer("GET /page-moved/y/moved ", "HTTP/1.1 301 Moved\r\nLocation: there\r\nContent-Length: 0\r\n\r\n"),
        page("page-moved-auto", |r| r.flag("follow_redirects", false).flag("auto_redirects", true))
            .answer("GET /page-moved-auto/x ", "HTTP/1.1 302 Found\r\nLocation: /page-moved-auto/y\r\nContent-Length: 0\r\n\r\n")
            .answer("GET /page-moved-auto/y ", &html("<img src=1>")),
        page("page-cookies", |r| r).beside(&cookies("standard", &[]))
            .answer("GET /page-cookies/x ", &says("200 OK", "Set-Cookie: a=1; Path=/\r\n", "text/html", "<img src=1><img src=2>"))
            .answer("GET /page-cookies/1 ", &says("200 OK", "Set-Cookie: b=2; Path=/\r\n", "image/png", "x")),
        case("page-cached", &[
            request("page-cached").flag("image_parser", true),
            request("page-cached").flag("image_parser", true),
        ])
            .beside(&headers(&[("User-Agent", "own")]))
            .beside(&cache(true))
            .answer("GET /page-cached/x ", &html("<img src=1><img src=2>"))
            .answer("GET /page-cached/1 ", "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 0\r\n\r\n"),
        page("moved", |r| r.flag("image_parser", false))
            .answer("GET /moved/x ", "HTTP/1.1 302 Found\r\nLocation: /moved/y\r\nContent-Length: 0\r\n\r\n")
            .answer("GET /moved/y ", "HTTP/1.1 303 Other\r\nLocation: z\r\nContent-Length: 0\r\n\r\n"),
    ]
}

/// Requests to a server that asks who it is in this way, with an entry of this mechanism.
fn proof(
    name: &'static str,
    mechanism: &str,
    asks: &[&str],
    change: impl FnOnce(Request) -> Request,
) -> Case {
    let url = format!("http://127.0.0.1:${{__P(port)}}/{name}");
    let entry = authorization(&[[url.as_str(), "us\"er", "pässword", mechanism]]);
    let asks: String = asks
        .iter()
        .map(|ask| format!("WWW-Authenticate: {ask}\r\n"))
        .collect();
    one(name, |request| {
        change(request.flag("follow_redirects", true))
    })
    .beside(&headers(&[("User-Agent", "own")]))
    .beside(&entry)
    // What is not answered above comes here.
    .answer(
        &format!("uri=\"/{name}/"),
        &says("200 OK", "", "text/plain", "fine"),
    )
    .answer(
        &format!("/{name}/"),
        &says("401 Unauthorized", &asks, "text/plain", "who?"),
    )
}

fn proofs() -> Vec<Case> {
    const DIGEST: &str = "Digest realm=\"r\", nonce=\"n0nce\"";
    let with = |rest: &str| format!("{DIGEST}, {rest}");
    let same = |request: Request| request;
    let mut stale = proof("proof-stale", "DIGEST", &[&with("qop=\"auth\"")], same);
    stale.answers.insert(
        0,
        Answer {
            when: "nonce=\"n0nce\", uri=\"/proof-stale/".into(),
            text: says(
                "401 Unauthorized",
                &format!(
                    "WWW-Authenticate: {}\r\n",
                    with("qop=auth, stale=true").replace("n0nce", "new")
                ),
                "text/plain",
                "old",
            ),
            then: Then::Stay,
        },
    );
    let mut wrong = proof("proof-wrong", "DIGEST", &[DIGEST], same);
    wrong.answers.remove(0);
    vec![
        proof("proof-old", "DIGEST", &[DIGEST], same),
        proof(
            "proof-auth",
            "DIGEST",
            &[&with("qop=\"auth,auth-int\", opaque=\"o\"")],
            same,
        ),
        proof(
            "proof-sha",
            "DIGEST",
            &[&with("qop=\"auth\", algorithm=SHA-256")],
            same,
        ),
        proof(
            "proof-session",
            "DIGEST",
            &[&with("qop=\"auth\", algorithm=MD5-sess")],
            same,
        ),
        proof(
            "proof-unknown",
            "DIGEST",
            &[&with("qop=\"auth\", algorithm=SHA-512-256")],
            same,
        ),
        proof("proof-body", "DIGEST", &[&with("qop=\"auth\"")], |r| {
            r.post()
                .argument("a", "1")
                .text("path", "/proof-body/x?b=%20c")
        }),
        proof(
            "proof-shown",
            "BASIC_DIGEST",
            &[&with("qop=\"auth\"")],
            same,
        ),
        proof("proof-basic", "BASIC", &["Basic realm=\"b\"", DIGEST], same),
        proof("proof-both", "DIGEST", &["Basic realm=\"b\"", DIGEST], same),
        proof("proof-page", "DIGEST", &[DIGEST], |r| {
            r.flag("image_parser", true)
        })
        .first("uri=\"/proof-page/x\"", &html("<img src=1>")),
        stale,
        wrong,
    ]
}

/// Executes all pages and tells what was sent and written.
fn record(execute: impl FnOnce(&Path, &str, &[(&str, String)]) -> String) -> String {
    let mut pages = pages();
    pages.extend(proofs());
    let recorder = Recorder::start(requests::answers(&pages));
    let directory = tempfile::tempdir().expect("make a temporary directory");
    let rows = execute(
        directory.path(),
        &requests::whole_plan(&pages),
        &[("port", recorder.port.to_string())],
    );
    let names: Vec<&str> = pages.iter().map(|page| page.name).collect();
    golden::told_with_parts(&names, &recorder.take(), &rows, recorder.port)
}

#[test]
fn every_part_is_asked_for_and_told_as_jmeter_does() {
    let golden = std::fs::read_to_string(golden::path(GOLDEN)).unwrap_or_default();
    golden::assert_same(&record(play::sokudo), &golden);
}

#[test]
fn the_pages_are_what_jmeter_makes_of_them_today() {
    if let Err(why) = sokudo_testkit::jmeter::JMeter::find() {
        return skip(why);
    }
    let today = record(|directory, plan, properties| {
        play::jmeter(directory, plan, properties).unwrap_or_else(|why| panic!("{why}"))
    });
    golden::compare_or_bless(GOLDEN, &today);
}
