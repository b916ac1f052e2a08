//! Tests of options, and of the requests that are sent. Phases against servers are in `tests/http`.

use sokudo_i18n::english;
use sokudo_workload::contract::Options;

use super::options::{HeaderLine, HostText, HttpOptions, Method};

fn options(json: &str) -> HttpOptions {
    serde_json::from_str(&format!("{{{json}}}")).expect(json)
}

#[test]
fn options_travel_as_text() {
    let options = options(
        r#""url":"https://a:8443/x","rate":"500/s","header":["X: y"],"method":"post","body":"{}""#,
    );
    let back: HttpOptions = serde_json::from_str(&options.to_json()).expect("it is JSON");
    assert_eq!(back, options);
    assert!(options.validate().is_ok());
}

#[test]
fn a_request_is_whole() {
    let text = |options: HttpOptions| String::from_utf8(options.request()).expect("text");
    let plain = text(options(r#""url":"http://a:81/b?c""#));
    assert!(plain.starts_with("GET /b?c HTTP/1.1\r\nHost: a:81\r\n"));
    assert!(plain.ends_with("\r\n\r\n"));
    let posted = text(options(
        r#""url":"a","method":"POST","body":"hello","no_keepalive":true,"header":["host:  x ","A: b"]"#,
    ));
    assert!(posted.ends_with("\r\n\r\nhello"));
    for line in ["Content-Length: 5", "Connection: close", "host: x", "A: b"] {
        assert!(posted.contains(&format!("{line}\r\n")), "{posted}");
    }
    assert!(!posted.contains("Host: a"));
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |json: &str, what: &str| {
        let refusal = options(json).validate().expect_err(json);
        assert!(
            english(&refusal.says).contains(what),
            "{}",
            english(&refusal.says)
        );
        assert!(refusal.operator_error && refusal.hint.is_some());
    };
    check(r#""count":"0""#, "asks nothing");
    check(r#""arrival":"poisson""#, "without --rate");
    check(r#""rate":"1Mb/s""#, "not a number of requests");
    check(r#""rate":"1e9/s""#, "cannot be paced");
    check(r#""threads":4,"connections":2"#, "share");
    check(r#""timeout":"60s""#, "--timeout");
    check(r#""connect_timeout":"0s""#, "--connect-timeout");
    check(r#""interval":"1ms""#, "--interval");
    for wrong in ["X", ": y", "X: a\r\nb", "a b: c"] {
        assert!(wrong.parse::<HeaderLine>().is_err(), "{wrong}");
    }
    assert!("G T".parse::<Method>().is_err());
    assert!("a b".parse::<HostText>().is_err());
}
