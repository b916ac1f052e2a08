//! Tests of result rows, against JMeter's, also where something fails.

use std::path::Path;

use sokudo_testkit::skip;

use crate::plan::{
    self, Request, assertion, element, json_assertion, property, request, size_assertion,
    transaction,
};
use crate::recorder::{Answer, Greeted, Recorder, Then, full_port, secure_port, silent_port};
use crate::{golden, play};

const GOLDEN: &str = "rows.txt";

fn answers() -> Vec<Answer> {
    let to = |path: &str, text: &str, then| Answer {
        when: format!("GET /{path}/"),
        text: text.into(),
        then,
    };
    let ok = "HTTP/1.1 200 OK\r\n";
    vec![
        to("reset", "", Then::Reset),
        to("closed", "", Then::Close),
        to(
            "cut",
            &format!("{ok}Content-Length: 100\r\n\r\nhello"),
            Then::Close,
        ),
        to("cut-head", "HTTP/1.1 200 OK\r\nContent-Le", Then::Close),
        to(
            "cut-between",
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n"),
            Then::Close,
        ),
        to(
            "reset-in-body",
            &format!("{ok}Content-Length: 100\r\n\r\nhello"),
            Then::Reset,
        ),
        to("garbage", "SSH-2.0-OpenSSH_9\r\n", Then::Close),
        to(
            "chunk-cut",
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhe"),
            Then::Close,
        ),
        to(
            "chunk-long",
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"),
            Then::Close,
        ),
        to(
            "chunk-none",
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n"),
            Then::Close,
        ),
        to(
            "trailers",
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nX: y\r\n\r\n"),
            Then::Stay,
        ),
        to(
            "informed",
            &format!(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n{ok}Content-Length: 2\r\n\r\nok"
            ),
            Then::Stay,
        ),
        to("empty", "HTTP/1.1 204 No Content\r\n\r\n", Then::Stay),
        to(
            "same",
            "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
            Then::Stay,
        ),
        to(
            "nameless",
            "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
            Then::Stay,
        ),
        to(
            "odd-header",
            &format!("{ok}nocolon\r\nContent-Length: 0\r\n\r\n"),
            Then::Close,
        ),
        to(
            "long-header",
            &format!(
                "{ok}X: {}\r\nContent-Length: 2\r\n\r\nok",
                "a".repeat(100_000)
            ),
            Then::Stay,
        ),
        to(
            "no-gzip",
            &format!("{ok}Content-Encoding: gzip\r\nContent-Length: 14\r\n\r\nhello, no gzip"),
            Then::Stay,
        ),
        to(
            "no-brotli",
            &format!("{ok}Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello"),
            Then::Stay,
        ),
        to(
            "plain-zstd",
            &format!("{ok}Content-Encoding: zstd\r\nContent-Length: 5\r\n\r\nhello"),
            Then::Stay,
        ),
        to("slow-head", "HTTP/1.1 200 O", Then::Hang),
        to(
            "slow-body",
            &format!("{ok}Content-Length: 100\r\n\r\nhello"),
            Then::Hang,
        ),
        to(
            "json",
            &format!(
                "{ok}Content-Type: application/json\r\nContent-Length: 25\r\n\r\n{{\"a\": {{\"b\": [1, \"two\"]}}}} "
            ),
            Then::Stay,
        ),
        to(
            "gone",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            Then::Stay,
        ),
    ]
}

/// Requests to servers that do not behave.
fn mishaps() -> Vec<Request> {
    let plain = [
        "reset",
        "closed",
        "cut",
        "cut-head",
        "cut-between",
        "reset-in-body",
        "garbage",
        "chunk-cut",
        "chunk-long",
        "chunk-none",
        "trailers",
        "informed",
        "empty",
        "same",
        "nameless",
        "odd-header",
        "long-header",
        "plain-zstd",
    ];
    let mut all: Vec<Request> = plain.iter().map(|name| request(name)).collect();
    // The body is looked at, so that it is decoded.
    let looks = |name: &str| request(name).below(&assertion("text", "response_data", 20, &["zzz"]));
    let tls = |name: &str, port: &str| {
        let port = format!("${{__P({port})}}");
        request(name).text("protocol", "https").text("port", &port)
    };
    all.extend(["no-gzip", "no-brotli"].map(looks));
    all.extend(
        ["slow-head", "slow-body"].map(|name| request(name).text("response_timeout", "200")),
    );
    all.extend([
        tls("tls-plain", "port"),
        tls("tls-closed", "tls_closed"),
        tls("tls-reset", "tls_reset"),
        tls("tls-alert", "tls_alert"),
        tls("tls-mute", "mute").text("connect_timeout", "300"),
        tls("tls-refused", "silent"),
        request("refused").text("port", "${__P(silent)}"),
        request("connect-timeout")
            .text("port", "${__P(full)}")
            .text("connect_timeout", "200"),
        request("read-timeout")
            .text("port", "${__P(mute)}")
            .text("response_timeout", "200"),
        request("unknown-host").text("domain", "nowhere.invalid"),
        request("no-host").text("domain", ""),
        request("ftp").text("protocol", "ftp"),
        request("odd-host").text("domain", "under_score.invalid"),
        request("file-missing")
            .post()
            .file("/no/such/file", "", "text/plain"),
        request("charset").post().text("contentEncoding", "no-such"),
    ]);
    all
}

/// Requests that are looked at.
fn assertions() -> Vec<Request> {
    let json = |path: &str, expected: &str, is_pattern, inverted| {
        request("json").below(&json_assertion(path, expected, is_pattern, inverted))
    };
    let mut all: Vec<Request> = [
        ("response_network_size", 1, 5),
        ("response_data", 3, 77),
        ("response_headers", 4, 5),
        ("response_code", 2, 3),
        ("response_message", 5, 1),
        ("response_data", 6, 1),
    ]
    .iter()
    .map(|(field, operator, bytes)| {
        request("size").below(&size_assertion(field, *operator, *bytes))
    })
    .collect();
    all.extend([
        json("$.a.b[1]", "two", false, false),
        json("$.a.b[1]", "three", false, false),
        json("$.a.b[*]", "[1,\"three\"]", false, false),
        json("$.a.b[1]", "t.", true, false),
        json("$.nothing", "", false, false),
        json("$.a.b[0]", "1", true, true),
        request("text").below(&element("XMLAssertion", "xml", "", "")),
    ]);
    for field in [
        "response_data",
        "response_code",
        "response_message",
        "response_headers",
        "request_headers",
        "request_data",
        "sample_label",
    ] {
        all.push(request("field").below(&assertion("field", field, 2, &["a,b\n\"c\""])));
    }
    let assume = assertion("404 is fine", "response_code", 8, &["404"])
        .replace("assume_success\">false", "assume_success\">true");
    let own = assertion("own", "response_code", 8, &["404"]).replace(
        "</collectionProp>",
        &format!(
            "</collectionProp>{}",
            property(
                "stringProp",
                "Assertion.custom_message",
                "not, \"what\" I want"
            )
        ),
    );
    all.extend([
        request("closed").below(&assertion("text", "response_data", 16, &["wanted"])),
        request("closed").below(&assertion("no text", "response_data", 20, &["unwanted"])),
        request("gone"),
        request("gone").below(&assume),
        request("own-words").below(&own),
    ]);
    all
}

fn whole_plan() -> String {
    let each = |requests: &[Request]| requests.iter().map(Request::xml).collect::<String>();
    let two = [request("one"), request("gone")];
    let transactions = transaction("beside", false, &each(&two))
        + &transaction("instead", true, &each(&two))
        + &transaction("good, \"quoted\"", true, &each(&two[..1]))
        + &transaction(
            "outer",
            false,
            &transaction("inner", false, &each(&two[..1])),
        )
        + &transaction("whole", true, &transaction("part", true, &each(&two)));
    let names = [
        request("comma, \"quotes\" and\nlines"),
        request("日本語; ラベル"),
        request(" blanks "),
        request("named ${__threadNum}"),
    ];
    plan::plan(
        &[
            plan::group("mishaps", 1, &each(&mishaps())),
            plan::group("assertions", 1, &each(&assertions())),
            plan::group("transactions", 1, &transactions),
            plan::group("グループ 4", 1, &each(&names)),
        ]
        .concat(),
    )
}

/// Executes the plan and tells the rows.
fn record(execute: impl FnOnce(&Path, &str, &[(&str, String)]) -> String) -> String {
    let recorder = Recorder::start(answers());
    let (full, _held) = full_port();
    // Its connections stand, and nobody ever reads from them.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let mute_port = mute.local_addr().expect("it is bound").port();
    let ports = [
        (recorder.port, "port"),
        (silent_port(), "silent"),
        (full, "full"),
        (mute_port, "mute"),
        (secure_port(Greeted::Close), "tls_closed"),
        (secure_port(Greeted::Reset), "tls_reset"),
        (secure_port(Greeted::Alert), "tls_alert"),
    ];
    let properties = ports.map(|(port, name)| (name, port.to_string()));
    let directory = tempfile::tempdir().expect("make a temporary directory");
    let rows = execute(directory.path(), &whole_plan(), &properties);
    let mut rows = golden::rows_of(&rows).into_iter();
    let columns = rows.next().unwrap_or_default();
    let rows = rows.map(|row| golden::comparable(&row, 0, !row.contains(",Non HTTP")));
    let mut rows: Vec<String> = rows.collect();
    // A transaction's row may stand before or behind those of its samples.
    rows.sort();
    let told = format!("{columns}\n=== {}\n", rows.join("\n=== "));
    golden::without_ports(told, &ports)
}

#[test]
fn every_row_is_what_jmeter_writes() {
    let golden = std::fs::read_to_string(golden::path(GOLDEN)).unwrap_or_default();
    golden::assert_same(&record(play::sokudo), &golden);
}

#[test]
fn the_rows_are_what_jmeter_writes_today() {
    if let Err(why) = sokudo_testkit::jmeter::JMeter::find() {
        return skip(why);
    }
    let today = record(|directory, plan, properties| {
        play::jmeter(directory, plan, properties).unwrap_or_else(|why| panic!("{why}"))
    });
    golden::compare_or_bless(GOLDEN, &today);
}
