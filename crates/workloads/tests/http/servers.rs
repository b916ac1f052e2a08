//! HTTP/2 with servers that people use: nginx and nghttpd, in clear and over TLS.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use sokudo_testkit::skip;

use super::*;

/// Tries to find a port that nobody takes before the server does.
const TRIES: usize = 5;

/// A server that ends with the test.
struct Daemon {
    child: Child,
    port: u16,
    _place: tempfile::TempDir,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One process each: nothing stays behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is free at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    listener.local_addr().expect("it is bound").port()
}

/// Starts a server: `words` says how, given its place and port. `None`: it is not installed.
fn start(program: &str, words: impl Fn(&Path, u16) -> Vec<String>) -> Option<Daemon> {
    let path = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        .map(|folder| Path::new(folder).join(program))
        .into_iter()
        .find(|path| path.is_file());
    let Some(path) = path else {
        skip(format!("{program} is not installed"));
        return None;
    };
    for _ in 0..TRIES {
        let place = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        let child = Command::new(&path)
            .args(words(place.path(), port))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be started");
        let mut daemon = Daemon {
            child,
            port,
            _place: place,
        };
        if listens(&mut daemon) {
            return Some(daemon);
        }
    }
    panic!("{program} does not listen");
}

/// Waits until somebody can connect; false when the server has ended.
fn listens(daemon: &mut Daemon) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < BOUND {
        if daemon.child.try_wait().expect("it is ours").is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", daemon.port)).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// A file with 100 bytes, a key and a certificate for `localhost`: paths of folder, key, certificate.
fn files(place: &Path) -> [String; 3] {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let folder = place.join("www");
    std::fs::create_dir(&folder).expect("a folder");
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    write("www/index.html", &"x".repeat(100));
    [
        folder.display().to_string(),
        write("key.pem", &made.signing_key.serialize_pem()),
        write("certificate.pem", &made.cert.pem()),
    ]
}

/// nginx that renews a connection after 50 requests and wants 4 streams at a time.
fn nginx(over_tls: bool) -> Option<Daemon> {
    start("nginx", |place, port| {
        let [folder, key, certificate] = files(place);
        let place = place.display();
        let kind = if over_tls { "ssl http2" } else { "http2" };
        let config = format!(
            "daemon off; master_process off; pid {place}/pid; error_log stderr;
             events {{ worker_connections 512; }}
             http {{
               access_log off; keepalive_requests 50; http2_max_concurrent_streams 4;
               client_body_temp_path {place}/a; proxy_temp_path {place}/b;
               fastcgi_temp_path {place}/c; uwsgi_temp_path {place}/d; scgi_temp_path {place}/e;
               ssl_certificate {certificate}; ssl_certificate_key {key};
               server {{ listen 127.0.0.1:{port} {kind}; root {folder}; }}
             }}"
        );
        let file = format!("{place}/nginx.conf");
        std::fs::write(&file, config).expect("a file");
        vec!["-c".into(), file, "-p".into(), place.to_string()]
    })
}

fn nghttpd(over_tls: bool) -> Option<Daemon> {
    start("nghttpd", |place, port| {
        let [folder, key, certificate] = files(place);
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
    Http.join(&spec, &[Ok(numbers)])
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
        refused.says.ends_with("speaks no HTTP/2"),
        "{}",
        refused.says
    );
    assert!(refused.operator_error && refused.hint.is_some());
}
