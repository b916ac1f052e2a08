//! Checks `sokudo dns` as a command against a name server in common use.

use sokudo_testkit::servers::{Daemon, unbound};

use crate::vocabulary::{place, refused, summary};

/// Numbers that every load on a name server tells in its object.
const PROMISED: [&str; 8] = [
    "dns.answers_per_second",
    "dns.latency_seconds.p50",
    "dns.latency_seconds.p99",
    "dns.service_seconds.p99",
    "dns.error_ratio",
    "dns.no_error",
    "dns.sent_bytes",
    "dns.received_bytes",
];

fn server() -> Option<Daemon> {
    unbound(&[
        "www.example. 300 IN A 192.0.2.1",
        "mail.example. 300 IN MX 10 www.example.",
    ])
}

#[test]
fn a_name_server_is_loaded_and_told_in_one_object() {
    let Some(server) = server() else { return };
    let place = place();
    let lines = "; as dnsperf takes it\nwww.example A\nmail.example MX\nnone.example A\n";
    place.write("queries.txt", lines);
    let file = place.path().join("queries.txt");
    for transport in ["udp", "tcp"] {
        let ended = place.run(&format!(
            "dns 127.0.0.1:{} -Q @{} -n 300 --transport {transport} --slo errors<1% --json",
            server.port,
            file.display()
        ));
        ended.expect_code(0);
        let told = summary(&ended);
        told.promises("dns", &PROMISED);
        assert_eq!(told.number("dns.answers"), 300.0, "{ended}");
        assert_eq!(told.number("dns.no_such_name"), 100.0, "{ended}");
        assert_eq!(told.number("dns.no_error"), 200.0, "{ended}");
        assert_eq!(told.number("dns.errors"), 0.0, "{ended}");
    }
}

#[test]
fn what_the_server_refuses_is_told_in_both_languages() {
    let Some(server) = server() else { return };
    let place = place();
    let line = format!("dns 127.0.0.1:{} -q www.closed -n 200", server.port);
    for (lang, sentence) in [
        ("en", "answered with an error code"),
        ("ja", "エラーコードで応答"),
    ] {
        let ended = place.run(&format!("{line} --lang {lang}"));
        ended.expect_stdout("REFUSED 200");
        // Lines are broken where they end.
        let whole = |text: &str| text.split_whitespace().collect::<String>();
        assert!(whole(&ended.stdout).contains(&whole(sentence)), "{ended}");
    }
}

#[test]
fn mistakes_are_told_before_anything_is_sent() {
    let place = place();
    for (line, says, hint) in [
        ("dns 127.0.0.1", "nothing to ask", "--name example.org"),
        ("dns 127.0.0.1 -q a..example", "not a valid name", "--help"),
        (
            "dns 127.0.0.1 -q a.example --type B",
            "not a valid record type",
            "--help",
        ),
        (
            "dns 127.0.0.1:0 -q a.example",
            "not a valid name server",
            "--help",
        ),
        (
            "dns 127.0.0.1 -Q @/nowhere/queries.txt",
            "cannot be read",
            "a query per line",
        ),
        (
            "dns 127.0.0.1 -q a.example --rate 5Mb/s",
            "not one of bits or bytes",
            "20k/s",
        ),
    ] {
        refused(&place.run(line), says, hint);
    }
}
