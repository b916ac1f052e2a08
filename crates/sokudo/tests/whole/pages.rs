//! Pages beside other commands, asked for without a browser.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use rustix::process::{Signal, kill_process};
use sokudo_testkit::program::Running;

use crate::group::{agent, at, has_members, own_address};
use crate::jmx::far::{far, get as get_of, plan, says};
use crate::replicate::{serve_directory, tree};
use crate::vocabulary::{BOUND, Place, pid, place};

/// Waits for the line that names a page: where it is, and the token in its address.
fn page_of(running: &mut Running) -> (String, Option<String>) {
    let url = running.wait_for(|line| {
        let (_, url) = line.split_once("http://")?;
        Some(url.trim_end().to_owned())
    });
    let (place, rest) = url.split_once('/').expect("a path");
    let token = rest.strip_prefix("?token=").map(str::to_owned);
    let port = place.rsplit(':').next().expect("a port");
    (format!("127.0.0.1:{port}"), token)
}

fn connect(to: &str) -> TcpStream {
    let stream = TcpStream::connect(to).expect("a page");
    stream.set_read_timeout(Some(BOUND)).expect("a bound");
    stream
}

/// The whole answer.
fn ask(to: &str, first: &str, rest: &str) -> String {
    let mut stream = connect(to);
    let request = format!("{first} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n{rest}");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(to: &str, path: &str) -> String {
    ask(to, &format!("GET {path}"), "\r\n")
}

/// Header that the page's own script sends with an order.
const OWN: &str = "X-Sokudo: 1\r\n";

/// The answer to the order to collect, with these headers.
fn order(to: &str, path: &str, headers: &str) -> String {
    let body = r#"{"order":"collect"}"#;
    let rest = format!(
        "{headers}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    ask(to, &format!("POST {path}"), &rest)
}

/// The page is there, and may load nothing from elsewhere.
#[track_caller]
fn is_strict(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.300}");
    let head = answer.to_ascii_lowercase();
    let policy = head
        .lines()
        .find_map(|line| line.strip_prefix("content-security-policy: "));
    let policy = policy.expect("a policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

/// A controller with its page, and its join token.
fn controller_with_page(place: &Place, address: &str, page: &str) -> (Running, String) {
    at(place, "home", &["group", "init", "lab"])
        .run()
        .expect_code(0);
    let (bind, web) = (format!("{address}:7412"), format!("--web={page}"));
    let words = ["controller", "lab", "--bind", &bind, &web];
    let mut running = at(place, "home", &words).start();
    let token = running.wait_for(|line| line.split_once("--join ").map(|(_, t)| t.to_owned()));
    (running, token)
}

/// An agent that stands still is named; those that answer are listed all the same.
#[test]
fn a_page_of_a_group_collects_who_answers_and_names_who_does_not() {
    let place = place();
    let (mut controller, token) = controller_with_page(&place, &own_address(50), "127.0.0.1:0");
    let (page, _) = page_of(&mut controller);
    is_strict(&get(&page, "/"));
    let _hosta = agent(&place, &token, "hosta");
    let hostb = agent(&place, &token, "hostb");
    has_members(&place, &["hosta", "hostb"]);
    kill_process(pid(&hostb), Signal::STOP).expect("stop it");
    let mut events = connect(&page);
    let listen = format!("GET /api/events HTTP/1.1\r\nHost: {page}\r\n\r\n");
    events.write_all(listen.as_bytes()).expect("sent");
    let foreign = order(&page, "/api/order", "");
    assert!(foreign.starts_with("HTTP/1.1 403"), "{foreign}");
    let own = order(&page, "/api/order", OWN);
    assert!(own.starts_with("HTTP/1.1 202"), "{own}");
    let mut heard = String::new();
    let deadline = Instant::now() + BOUND;
    let mut lines = BufReader::new(events).lines();
    while !heard.contains("hostb does not answer") || !heard.contains("\"name\":\"hosta\"") {
        let line = lines.next().expect("it goes on").expect("in time");
        heard.push_str(&line);
        assert!(Instant::now() < deadline, "{heard}");
    }
    assert!(!heard.contains("\"name\":\"hostb\""), "{heard}");
    kill_process(pid(&hostb), Signal::CONT).expect("let it go on");
}

#[test]
fn beyond_this_machine_a_page_wants_its_token() {
    let place = place();
    let (mut controller, _) = controller_with_page(&place, &own_address(51), "0.0.0.0:0");
    let (page, token) = page_of(&mut controller);
    let token = token.expect("a token in the address");
    assert!(get(&page, "/").starts_with("HTTP/1.1 401"));
    assert!(get(&page, "/?token=0123").starts_with("HTTP/1.1 401"));
    let entered = get(&page, &format!("/?token={token}"));
    assert!(entered.starts_with("HTTP/1.1 303"), "{entered}");
    let cookie = entered.lines().find_map(|line| {
        let cookie = line.to_ascii_lowercase();
        let cookie = cookie.strip_prefix("set-cookie: ")?;
        cookie.split(';').next().map(str::to_owned)
    });
    let cookie = cookie.expect("a cookie");
    is_strict(&ask(&page, "GET /", &format!("Cookie: {cookie}\r\n\r\n")));
}

/// A plan that is executed is seen while it goes on, and takes no orders but those about its load.
#[test]
fn a_plan_is_watched_while_it_is_executed() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(1, 1, &get_of(far.address, "/", "")));
    let words = "jmx run plan.jmx --users 1 --duration 600 --web=127.0.0.1:0";
    let mut running = place.sokudo(words).start();
    let (page, token) = page_of(&mut running);
    assert_eq!(token, None);
    is_strict(&get(&page, "/"));
    let refused = order(&page, "/api/order", OWN);
    assert!(refused.starts_with("HTTP/1.1 409"), "{refused}");
    place.wait_until_recorded("http");
    let stopped = order(&page, "/api/stop", OWN);
    assert!(stopped.starts_with("HTTP/1.1 202"), "{stopped}");
    let ended = running.finish();
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{ended}");
    assert_eq!(place.records().len(), 1, "what was measured is kept");
}

/// Listens to what the page is told until a line is the one that is waited for.
fn hears(page: &str, is_it: impl Fn(&str) -> bool) {
    let mut events = connect(page);
    let listen = format!("GET /api/events HTTP/1.1\r\nHost: {page}\r\n\r\n");
    events.write_all(listen.as_bytes()).expect("sent");
    let mut heard = BufReader::new(events).lines();
    let deadline = Instant::now() + BOUND;
    loop {
        let line = heard.next().expect("it goes on").expect("in time");
        if is_it(&line) {
            return;
        }
        assert!(Instant::now() < deadline, "{line}");
    }
}

/// Each kind of transaction has a row with its share, rate and latency; the settings of the database are told.
#[test]
fn a_load_on_a_database_is_watched_by_kind_with_the_settings_in_force() {
    let place = place();
    let mut running = place.sokudo("dbt2 -d 600s --web=127.0.0.1:0").start();
    let (page, _) = page_of(&mut running);
    hears(&page, |line| {
        let of_kind = line.split_once(r#""name":{"en":"New-Order","ja":"New-Order"},"share":0."#);
        let row = of_kind.and_then(|(_, rest)| rest.split_once('}'));
        row.is_some_and(|(row, _)| row.contains(r#""rate":"#) && row.contains(r#""p99":0."#))
            && line.contains(r#""name":"synchronous","value":"full","commits":"kept""#)
    });
    let stopped = order(&page, "/api/stop", OWN);
    assert!(stopped.starts_with("HTTP/1.1 202"), "{stopped}");
    let ended = running.finish();
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{ended}");
    let record = place.records().pop().expect("a record");
    place
        .run(&format!(
            "report {} --form markdown --lang en",
            record.display()
        ))
        .expect_stdout("Settings of the database in force");
}

/// Each specification has a row that says how it stands, and the page can end them all.
#[test]
fn specifications_are_watched_while_they_mirror() {
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::create_dir_all(&source).expect("a directory");
    fs::write(source.join("a"), "x").expect("a file");
    let server = serve_directory(&place, &target);
    let text = format!(
        "[spec.nightly]\nsource = \"{}\"\ntarget = \"{}:{}\"\nschedule = \"mirror\"\n",
        source.display(),
        server.address,
        target.display()
    );
    place.write("mirrors.toml", &text);
    let words = "replicate --specs mirrors.toml --web=127.0.0.1:0";
    let mut running = place.sokudo(words).start();
    let (page, _) = page_of(&mut running);
    is_strict(&get(&page, "/"));
    hears(&page, |line| {
        line.contains(r#""name":"nightly","light":"green","said":{"en":"follows"#)
            && line.contains("ja")
    });
    assert_eq!(tree(&source), tree(&target));
    let stopped = order(&page, "/api/stop", OWN);
    assert!(stopped.starts_with("HTTP/1.1 202"), "{stopped}");
    running.finish().expect_code(0);
}
