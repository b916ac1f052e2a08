//! HTTP/2 with servers that people use: nginx and nghttpd, in clear and over TLS.

use std::path::Path;

use sokudo_i18n::english;
use sokudo_testkit::servers::{self, Daemon, start};

use super::*;

/// A file with 100 bytes in the folder `www`, a key and a certificate for `localhost`: paths of both.
fn files(place: &Path) -> [String; 2] {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    write("www/index.html", &"x".repeat(100));
    [
        write("key.pem", &made.signing_key.serialize_pem()),
        write("certificate.pem", &made.cert.pem()),
    ]
}

/// nginx that renews a connection after 50 requests and wants 4 streams at a time.
fn nginx(over_tls: bool) -> Option<Daemon> {
    let listen = if over_tls { "ssl http2" } else { "http2" };
    servers::nginx(listen, |place| {
        let [key, certificate] = files(place);
        format!(
            "keepalive_requests 50; http2_max_concurrent_streams 4;
             ssl_certificate {certificate}; ssl_certificate_key {key};"
        )
    })
}

fn nghttpd(over_tls: bool) -> Option<Daemon> {
    start("nghttpd", |place, port| {
        let folder = place.join("www");
        std::fs::create_dir(&folder).expect("a folder");
        let [key, certificate] = files(place);
        let folder = folder.display().to_string();
        let mut words = vec!["-a".into(), "127.0.0.1".into(), "-d".into(), folder];
        words.extend([
            "--trailer".into(),
            "after: all".into(),
            "--echo-upload".into(),
        ]);
        let tls = match over_tls {
            true => vec![port.to_string(), key, certificate],
            false => vec!["--no-tls".into(), port.to_string()],
        };
        words.extend(tls);
        words
    })
}

fn play_http2(daemon: &Daemon, scheme: &str, fields: &str) -> PhaseResult {
    let text = format!(
        r#"{{"url":"{scheme}://127.0.0.1:{}/index.html","interval":"50ms","http2":true,"insecure":true,{fields}}}"#,
        daemon.port
    );
    let options: HttpOptions = serde_json::from_str(&text).expect("options of a test");
    options.validate().expect("they can be together");
    let spec = spec(&options, 1);
    let numbers = Playing::start(spec.clone(), now_ns() + 20_000_000).end();
    Http.join(&spec, &[Ok(numbers)]).expect("options")
}

/// Every request was answered, with the whole file.
#[track_caller]
fn check_all(result: &PhaseResult, requests: f64) {
    for (name, expected) in [
        ("requests", requests),
        ("status_2xx", requests),
        ("errors", 0.0),
        ("body_bytes", 100.0 * requests),
    ] {
        assert_eq!(get(result, &format!("http.{name}")), expected, "{name}");
    }
}

#[test]
fn nginx_renews_connections_and_no_request_is_lost() {
    for (scheme, over_tls) in [("http", false), ("https", true)] {
        let Some(server) = nginx(over_tls) else {
            return;
        };
        let fields = r#""count":"1000","connections":2,"streams":10"#;
        let result = play_http2(&server, scheme, fields);
        check_all(&result, 1000.0);
        // At most 50 requests on each.
        assert!(get(&result, "http.made_connections") >= 20.0);
        if over_tls {
            assert!(get(&result, "http.mean_tls_seconds") > 0.0);
        }
    }
}

#[test]
fn nginx_answers_heads_and_before_it_has_read_everything() {
    let Some(server) = nginx(false) else {
        return;
    };
    let head = play_http2(
        &server,
        "http",
        r#""count":"20","connections":1,"method":"HEAD""#,
    );
    assert_eq!(get(&head, "http.status_2xx"), 20.0);
    assert_eq!(get(&head, "http.body_bytes"), 0.0);
    // Files cannot be posted to, which is known from the head.
    let result = play_http2(&server, "http", &posting(20));
    assert_eq!(get(&result, "http.status_4xx"), 20.0);
}

/// Options that post 300,000 bytes so many times.
fn posting(count: u32) -> String {
    let body = "b".repeat(300_000);
    format!(
        r#""count":"{count}","connections":2,"streams":4,"method":"POST","body":"{body}","header":["X-Some: thing"]"#
    )
}

#[test]
fn nghttpd_gets_whole_bodies() {
    let Some(server) = nghttpd(false) else {
        return;
    };
    let result = play_http2(&server, "http", &posting(20));
    // It sends back what it got.
    assert_eq!(get(&result, "http.status_2xx"), 20.0);
    assert_eq!(get(&result, "http.body_bytes"), 20.0 * 300_000.0);
    assert!(get(&result, "http.sent_bytes") > 20.0 * 300_000.0);
}

#[test]
fn nghttpd_counts_as_we_do() {
    for (scheme, over_tls) in [("http", false), ("https", true)] {
        let Some(server) = nghttpd(over_tls) else {
            return;
        };
        let fields = r#""count":"2000","connections":3,"streams":20,"threads":2"#;
        let result = play_http2(&server, scheme, fields);
        check_all(&result, 2000.0);
        assert_eq!(get(&result, "http.made_connections"), 3.0);
        let open = r#""rate":"500/s","duration":"400ms","connections":2,"streams":5"#;
        check_all(&play_http2(&server, scheme, open), 200.0);
        let closing = r#""count":"20","connections":2,"no_keepalive":true"#;
        let result = play_http2(&server, scheme, closing);
        check_all(&result, 20.0);
        assert_eq!(get(&result, "http.made_connections"), 20.0);
    }
}

#[test]
fn a_server_without_http2_ends_the_run() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    let options = options(address, r#""http2":true,"duration":"30s","connections":2"#);
    let mut playing = Playing::start(spec(&options, 1), now_ns());
    while !matches!(
        playing.emitted.recv_timeout(BOUND).expect("the load ends"),
        Emitted::Sent(_)
    ) {}
    let refused = playing
        .phase
        .drain(&[None])
        .expect_err("it speaks no HTTP/2");
    assert!(
        english(&refused.says).ends_with("speaks no HTTP/2"),
        "{}",
        english(&refused.says)
    );
    assert!(refused.operator_error && refused.hint.is_some());
}
