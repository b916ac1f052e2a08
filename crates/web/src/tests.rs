//! Tests of the server over real connections: requests that the guard must refuse are refused.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sokudo_model::{Change, Refusal};

use crate::desk::{Mistake, refusal};
use crate::feed::{SentenceKind, Told, Words};
use crate::{Desk, Emit, Feed, Language, NotTaken, Order, Server, open};

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(20);

/// Remembers its orders and refuses the second one.
#[derive(Default)]
struct Remembering {
    orders: Mutex<Vec<Order>>,
    /// Scripts are read only while nobody holds this.
    reads: Mutex<()>,
    /// Scripts that came to be read.
    came: AtomicUsize,
}

impl Desk for Remembering {
    fn order(&self, order: Order) -> Result<(), NotTaken> {
        let mut orders = self.orders.lock().expect("unharmed");
        if !orders.is_empty() {
            return Err(NotTaken::at(
                "url",
                refusal("something is under way", "wait"),
            ));
        }
        orders.push(order);
        Ok(())
    }

    fn emit(&self, asked: &Emit) -> Result<String, Refusal> {
        Ok(format!("{} {}", asked.size, asked.times))
    }

    fn check(&self, _: Language, text: &str) -> Vec<Mistake> {
        self.came.fetch_add(1, Ordering::Relaxed);
        let _reads = self.reads.lock().expect("unharmed");
        let mistake = |(line, _)| Mistake {
            line,
            column: 1,
            says: Words::same("no such word"),
            hint: Words::same("write another"),
        };
        let lines = (1u32..).zip(text.lines());
        lines
            .filter(|(_, text)| *text == "nonsense")
            .map(mistake)
            .collect()
    }

    fn steer(&self, change: Change) -> Result<(), Refusal> {
        match change.is_sound() && !change.is_empty() {
            true => Ok(()),
            false => Err(refusal("no change", "say one")),
        }
    }

    fn stop(&self) -> bool {
        !self.orders.lock().expect("unharmed").is_empty()
    }
}

struct Page {
    server: Server,
    feed: Feed,
    desk: Arc<Remembering>,
    runs: tempfile::TempDir,
}

fn page(token: bool) -> Page {
    let runs = tempfile::tempdir().expect("a directory");
    let feed = Feed::new("lab", false).expect("a feed");
    let desk = Arc::new(Remembering::default());
    let at: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let both = (feed.clone(), Arc::clone(&desk) as Arc<dyn Desk>);
    let server = open(at, token, "labhost", both, runs.path().to_path_buf()).expect("served");
    Page {
        server,
        feed,
        desk,
        runs,
    }
}

impl Page {
    fn host(&self) -> String {
        self.server.at().to_string()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.at()).expect("connected");
        stream.set_read_timeout(Some(BOUND)).expect("set");
        stream
    }

    /// The whole answer to these bytes.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // A server that has heard enough may answer and close before everything is written.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let host = self.host();
        self.raw(
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
                .as_bytes(),
        )
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let (host, length) = (self.host(), body.len());
        self.raw(
            format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
                 Content-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    fn order(&self, path: &str, body: &str) -> String {
        self.post(path, ORDER, body)
    }
}

const ORDER: &str = "X-Sokudo: 1\r\nContent-Type: application/json\r\n";

fn status(answer: &str) -> u32 {
    let word = answer.split(' ').nth(1).unwrap_or_default();
    word.parse().unwrap_or(0)
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = answer.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[test]
fn every_answer_is_bounded_by_a_policy() {
    let page = page(false);
    for path in ["/", "/ui/web.js", "/ui/web.css", "/api/records", "/nowhere"] {
        let answer = page.get(path, "");
        let policy = header(&answer, "content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {answer}");
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(header(&answer, "x-content-type-options"), Some("nosniff"));
        assert_eq!(header(&answer, "x-frame-options"), Some("DENY"));
        assert_eq!(header(&answer, "referrer-policy"), Some("no-referrer"));
        assert_eq!(header(&answer, "access-control-allow-origin"), None);
    }
    assert_eq!(status(&page.get("/", "")), 200);
    assert_eq!(status(&page.get("/nowhere", "")), 404);
}

#[test]
fn the_document_has_no_script_or_style_of_its_own() {
    let document = crate::page::document();
    assert_eq!(document.matches("<script").count(), 2);
    assert!(document.contains("<script src=\"/ui/web.js\" defer></script>"));
    assert!(document.contains("<script type=\"application/json\""));
    for inline in ["<style", " style=", " onclick=", "javascript:"] {
        assert!(!document.contains(inline), "{inline}");
    }
    assert!(!document.contains("{words}") && document.contains("do-collect"));
    assert!(!document.contains("[web-"), "a message is missing");
}

#[test]
fn other_names_and_other_sites_are_turned_away() {
    let page = page(false);
    let host = page.host();
    let foreign = page.raw(b"GET /api/records HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(status(&foreign), 421);
    let none = page.raw(b"GET / HTTP/1.0\r\n\r\n");
    assert_eq!(status(&none), 421);
    assert_eq!(
        status(&page.get("/api/records", "Origin: http://evil.example\r\n")),
        403
    );
    let cross = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert_eq!(status(&page.get("/api/events", cross)), 403);
    let own = format!("Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(status(&page.get("/api/records", &own)), 200);
    let body = r#"{"order":"collect"}"#;
    let json = "Content-Type: application/json\r\n";
    assert_eq!(
        status(&page.post("/api/order", json, body)),
        403,
        "no header"
    );
    let null = format!("{ORDER}Origin: null\r\n");
    assert_eq!(
        status(&page.post("/api/order", &null, body)),
        403,
        "a sandboxed report"
    );
    assert!(page.desk.orders.lock().expect("unharmed").is_empty());
}

#[test]
fn a_script_that_takes_long_to_read_holds_nobody_up() {
    let page = page(false);
    let reads = page.desk.reads.lock().expect("unharmed");
    std::thread::scope(|scope| {
        let script = r#"{"language":"lines","text":"nonsense"}"#;
        let checks = [(); 3].map(|()| scope.spawn(|| page.order("/api/check", script)));
        let by = Instant::now() + BOUND;
        while page.desk.came.load(Ordering::Relaxed) == 0 && Instant::now() < by {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(status(&page.order("/api/stop", "{}")), 409);
        assert_eq!(page.desk.came.load(Ordering::Relaxed), 1, "one at a time");
        drop(reads);
        for check in checks {
            let answer = check.join().expect("no panic");
            assert!(answer.contains("\"line\":1"), "{answer}");
        }
    });
}

#[test]
fn orders_are_taken_on_or_refused_with_a_hint() {
    let page = page(false);
    assert_eq!(status(&page.order("/api/stop", "{}")), 409);
    let run = r#"{"order":"run","language":"lines","text":"syncTime"}"#;
    assert_eq!(status(&page.order("/api/order", run)), 202);
    let again = page.order("/api/order", r#"{"order":"collect"}"#);
    assert_eq!(status(&again), 409);
    for part in [r#""hint":{"en":"wait","ja":"wait"}"#, r#""field":"url""#] {
        assert!(again.contains(part), "{again}");
    }
    assert_eq!(status(&page.order("/api/stop", "{}")), 202);
    let change = r#"{"users":7,"rate_per_s":null}"#;
    assert_eq!(status(&page.order("/api/steer", change)), 202);
    let change = r#"{"users":null,"rate_per_s":-1}"#;
    assert_eq!(status(&page.order("/api/steer", change)), 409);
    let asked = r#"{"language":"lines","pairs":null,"size":"1MB","times":7,"duplex":false}"#;
    assert!(
        page.order("/api/script", asked)
            .contains("\"text\":\"1MB 7\"")
    );
    let script = r#"{"language":"lines","text":"hosts\nnonsense"}"#;
    assert!(page.order("/api/check", script).contains("\"line\":2"));
    let text = "syncTime".to_owned();
    let language = Language::Lines;
    let taken = page.desk.orders.lock().expect("unharmed");
    assert_eq!(*taken, [Order::Run { language, text }]);
}

#[test]
fn garbage_is_refused_and_too_much_is_not_read() {
    let page = page(false);
    for body in [
        "",
        "{",
        "[]",
        r#"{"order":"format"}"#,
        r#"{"order":"line"}"#,
        "\u{0}",
    ] {
        assert_eq!(status(&page.order("/api/order", body)), 400, "{body:?}");
    }
    let many = "[".repeat(100_000);
    assert_eq!(status(&page.order("/api/order", &many)), 400);
    let form = "X-Sokudo: 1\r\nContent-Type: text/plain\r\n";
    assert_eq!(status(&page.post("/api/order", form, "{}")), 415);
    let host = page.host();
    let huge = format!(
        "POST /api/order HTTP/1.1\r\nHost: {host}\r\n{ORDER}Content-Length: 99999999999\r\n\r\n"
    );
    assert_eq!(status(&page.raw(huge.as_bytes())), 413);
    assert_eq!(status(&page.get("/api/order", "")), 405);
    let long = format!("/{}", "a".repeat(100_000));
    assert!(matches!(status(&page.get(&long, "")), 400..=499 | 0));
    let many = "X: y\r\n".repeat(1000);
    assert!(matches!(status(&page.get("/", &many)), 400..=499 | 0));
    for path in [
        "/records/../../etc/passwd/report",
        "/records/%2e%2e%2fx/report",
        "/api/records/%00/tracks",
    ] {
        assert_eq!(status(&page.get(path, "")), 404, "{path}");
    }
    assert_eq!(status(&page.get("/", "")), 200, "and it still serves");
}

#[test]
fn a_token_opens_the_page_and_leaves_the_address() {
    let page = page(true);
    let url = page.server.url("labhost");
    let (_, token) = url.split_once("token=").expect("a token in the address");
    for path in ["/", "/ui/web.js", "/api/records", "/?token=", "/?token=00"] {
        assert_eq!(status(&page.get(path, "")), 401, "{path}");
    }
    let entered = page.get(&format!("/?token={token}"), "");
    assert_eq!(status(&entered), 303);
    assert_eq!(header(&entered, "location"), Some("/"));
    let cookie = header(&entered, "set-cookie").expect("a cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let (pair, _) = cookie.split_once(';').expect("attributes");
    let shown = format!("Cookie: {pair}\r\n");
    assert_eq!(status(&page.get("/", &shown)), 200);
    assert_eq!(status(&page.get("/api/records", &shown)), 200);
    let order = page.post("/api/order", ORDER, r#"{"order":"collect"}"#);
    assert_eq!(status(&order), 401);
}

#[test]
fn a_page_hears_what_is_told() {
    let page = page(false);
    let mut stream = page.connect();
    let host = page.host();
    let ask = format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("asked");
    let mut heard = String::new();
    let mut wait_for = |stream: &mut TcpStream, what: &str| {
        let mut bytes = [0; 4096];
        while !heard.contains(what) {
            let n = stream.read(&mut bytes).expect("in time");
            assert!(n > 0, "ended before `{what}`: {heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
    };
    wait_for(&mut stream, "event: snapshot");
    page.feed
        .tell(Told::Words(SentenceKind::Answer, "three hosts".into()));
    wait_for(&mut stream, "three hosts");
}

#[test]
fn a_report_is_shown_where_it_can_do_nothing() {
    let page = page(false);
    let record = page.runs.path().join("one");
    std::fs::create_dir(&record).expect("made");
    std::fs::write(record.join("run.json"), "{}").expect("written");
    std::fs::write(record.join("report.html"), "<h1>of one</h1>").expect("written");
    let answer = page.get("/records/one/report", "");
    assert_eq!(status(&answer), 200);
    assert!(answer.ends_with("<h1>of one</h1>"));
    let policy = header(&answer, "content-security-policy").unwrap_or_default();
    assert!(
        policy.starts_with("sandbox ") && !policy.contains("allow-same-origin"),
        "{policy}"
    );
    assert_eq!(status(&page.get("/records/two/report", "")), 404);
    let broken = page.get("/api/records/one/tracks", "");
    assert_eq!(status(&broken), 500, "a record that cannot be read says so");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_arrives_the_server_goes_on(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let page = page(false);
        let mut stream = page.connect();
        let _ = stream.write_all(&bytes);
        drop(stream);
        prop_assert_eq!(status(&page.get("/", "")), 200);
    }
}

/// A caller that only holds connections, without a token or with half a request, keeps nobody out.
#[test]
fn connections_that_ask_nothing_lock_nobody_out() {
    let page = page(false);
    let mut waiting = Vec::new();
    for number in 0..300 {
        let mut stream = page.connect();
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
        }
        waiting.push(stream);
    }
    let answer = page.order("/api/stop", "{}");
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    assert_eq!(status(&page.get("/", "")), 200);
    drop(waiting);
}

/// Orders whose bodies do not come, as many as there are places: they are let in, and answered if they ever come.
#[test]
fn orders_that_do_not_come_to_their_end_lock_nobody_out() {
    let page = page(false);
    let head = format!("POST /api/check HTTP/1.1\r\nHost: {}\r\n", page.host());
    let begun = format!("{head}{ORDER}Content-Length: 100\r\n\r\n{{");
    let waiting = (0..200).map(|_| {
        let mut stream = page.connect();
        // Who came first may have had to leave by now.
        let _ = stream.write_all(begun.as_bytes());
        stream
    });
    let waiting: Vec<TcpStream> = waiting.collect();
    assert_eq!(status(&page.order("/api/stop", "{}")), 409);
    assert_eq!(status(&page.get("/", "")), 200);
    drop(waiting);
}

/// Work that takes long, asked for as often as there are places: few wait for it, the others hear so at once.
#[test]
fn few_wait_for_a_script_to_be_read() {
    let page = page(false);
    let reads = page.desk.reads.lock().expect("unharmed");
    let script = r#"{"language":"lines","text":"nonsense"}"#;
    let waiting = (0..100).map(|_| {
        let mut stream = page.connect();
        let asked = format!(
            "POST /api/check HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{ORDER}Content-Length: {}\r\n\r\n{script}",
            page.host(),
            script.len(),
        );
        stream.write_all(asked.as_bytes()).expect("it reads");
        stream
    });
    let waiting: Vec<TcpStream> = waiting.collect();
    assert_eq!(status(&page.order("/api/stop", "{}")), 409);
    drop(reads);
    let answers = waiting.into_iter().map(|mut stream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        status(&answer)
    });
    let answers: Vec<u32> = answers.collect();
    let count = |wanted| answers.iter().filter(|is| **is == wanted).count();
    // Some may have come when others had been read.
    assert!(count(503) > 0, "{answers:?}");
    assert_eq!(count(200) + count(503), 100, "{answers:?}");
}

/// Bodies that begin and do not end: their bytes are held only for a few of them at a time.
#[test]
fn long_orders_are_read_a_few_at_a_time_and_do_not_hold_up_the_others() {
    let page = page(false);
    let head = format!(
        "POST /api/check HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{ORDER}",
        page.host()
    );
    let begin = |length: &str| {
        let mut stream = page.connect();
        let begun = format!("{head}{length}\r\n");
        stream.write_all(begun.as_bytes()).expect("it reads");
        stream
    };
    let mut refused = 0;
    let waiting: Vec<TcpStream> = (0..40)
        .map(|number| match number % 2 {
            0 => begin("Content-Length: 10000000\r\n"),
            _ => begin("Transfer-Encoding: chunked\r\n"),
        })
        .collect();
    for mut stream in &waiting {
        let short = Duration::from_millis(200);
        stream.set_read_timeout(Some(short)).expect("set");
        let mut answer = [0; 12];
        if stream.read_exact(&mut answer).is_ok() {
            assert_eq!(&answer, b"HTTP/1.1 503");
            refused += 1;
        }
    }
    assert_eq!(refused, 37, "of 40 from one address, three are read");
    // What is short goes on as ever.
    assert_eq!(status(&page.order("/api/stop", "{}")), 409);
    let answer = page.order("/api/check", r#"{"language":"lines","text":"nonsense"}"#);
    assert_eq!(status(&answer), 200, "{answer}");
    drop(waiting);
}

#[test]
fn who_may_not_ask_is_hung_up_on() {
    let page = page(true);
    let mut stream = page.connect();
    let head = format!(
        "GET /api/records HTTP/1.1\r\nHost: {}\r\n\r\n",
        page.server.at()
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    // The end comes although this request asked to go on.
    stream
        .read_to_string(&mut answer)
        .expect("an answer and its end");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}
