//! The mappings that come with the program, on the servers they are for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sokudo_model::Batch;
use sokudo_monitors::{Context, Files, Registered, Sampler, find, parse};
use sokudo_testkit::{maven, servers, skip};

/// Longest time until a server tells what it should.
const BOUND: Duration = Duration::from_secs(120);

fn open(words: &str) -> Box<dyn Sampler> {
    let spec = parse(&format!("target:{words}"), Files::Readable).expect("options");
    let monitor: &dyn Registered = find("target").expect("registered");
    monitor
        .open_with(&spec.options, &Context::host("hosta"))
        .expect("opens")
}

fn last(batch: &Batch, metric: &str) -> Option<f64> {
    let wanted = format!("target.{metric}");
    let series = batch.series.iter().find(|s| s.key.metric == wanted)?;
    series.points.last().map(|point| point.1)
}

/// Samples until every metric lies in its range, or the bound is over.
fn until(words: &str, wanted: &[(&str, RangeInclusive<f64>)]) {
    let mut sampler = open(words);
    let mut batch = Batch::default();
    let begun = Instant::now();
    let has = |batch: &Batch| {
        let mut all = wanted.iter();
        all.all(|(metric, range)| last(batch, metric).is_some_and(|value| range.contains(&value)))
    };
    for second in 0.. {
        sampler.sample(second * 1_000_000_000, &mut batch);
        if has(&batch) {
            return;
        }
        let told: Vec<_> = wanted.iter().map(|(m, _)| (*m, last(&batch, m))).collect();
        assert!(
            begun.elapsed() < BOUND,
            "{words}: {told:?} {:?}",
            batch.events
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn nginx_tells_its_connections() {
    let status = "; location /stub_status { stub_status; } server_name a";
    let Some(nginx) = servers::nginx(status, |_| String::new()) else {
        return;
    };
    // One that says nothing stays open, beside that of the scrape.
    let _idle = TcpStream::connect(("127.0.0.1", nginx.port)).expect("it listens");
    let words = format!("kind=nginx,url=http://127.0.0.1:{}", nginx.port);
    until(
        &words,
        &[
            ("up", 1.0..=1.0),
            ("connections.open", 2.0..=2.0),
            ("workers.active", 1.0..=1.0),
            ("connections.turned_away", 0.0..=0.0),
            ("workers.done_per_second", 1.0..=1.0),
        ],
    );
}

#[test]
fn haproxy_tells_what_waits_for_a_server() {
    let behind = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let to = behind.local_addr().expect("it is bound");
    let haproxy = servers::start("haproxy", |place, port| {
        let config = format!(
            "defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 60s\n timeout queue 60s\n\
             frontend f\n bind 127.0.0.1:{port}\n maxconn 50\n \
             http-request use-service prometheus-exporter if {{ path /metrics }}\n default_backend b\n\
             backend b\n server s {to} maxconn 2\n"
        );
        let file = place.join("haproxy.cfg");
        std::fs::write(&file, config).expect("a file");
        vec!["-db".into(), "-f".into(), file.display().to_string()]
    });
    let Some(haproxy) = haproxy else { return };
    // Nobody answers: two are carried out, and three wait.
    let _callers: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut caller = TcpStream::connect(("127.0.0.1", haproxy.port)).expect("it listens");
            let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
            caller.write_all(request).expect("sent");
            caller
        })
        .collect();
    until(
        &format!("kind=haproxy,url=http://127.0.0.1:{}", haproxy.port),
        &[
            ("workers.active", 2.0..=2.0),
            ("workers.max", 2.0..=2.0),
            ("workers.queued", 3.0..=3.0),
            ("connections.max", 50.0..=50.0),
            ("connections.open", 6.0..=6.0),
        ],
    );
}

/// A Java program that ends with the test.
struct Java(Child);

impl Drop for Java {
    fn drop(&mut self) {
        // It has no children.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Tomcat, Jetty and HikariCP in one process, and the port of Jolokia; `Err`: why they cannot run here.
fn java_servers() -> Result<(Java, u16, tempfile::TempDir), String> {
    maven::runs("java")?;
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    for (name, text) in [
        ("pom.xml", include_str!("pom.xml")),
        ("Queues.java", include_str!("Queues.java")),
    ] {
        std::fs::write(place.path().join(name), text).map_err(|error| error.to_string())?;
    }
    maven::fetch(
        place.path(),
        &["package"],
        "Tomcat, Jetty, HikariCP and Jolokia",
    )?;
    let port = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
        listener
            .local_addr()
            .map_err(|error| error.to_string())?
            .port()
    };
    let agent = format!(
        "-javaagent:lib/jolokia-agent-jvm-2.1.1-javaagent.jar=host=127.0.0.1,port={port},discoveryEnabled=false"
    );
    let child = Command::new("java")
        .current_dir(place.path())
        .args([
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            &agent,
            "-cp",
            "lib/*",
            "Queues.java",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut java = Java(child.map_err(|error| error.to_string())?);
    let out = java.0.stdout.take().ok_or("it has no output")?;
    let ready = BufReader::new(out)
        .lines()
        .map_while(Result::ok)
        .any(|line| line == "ready");
    assert!(ready, "the servers ended: {}", rest(&mut java));
    Ok((java, port, place))
}

fn rest(java: &mut Java) -> String {
    let mut text = String::new();
    if let Some(out) = &mut java.0.stdout {
        // What cannot be read is not shown.
        let _ = out.read_to_string(&mut text);
    }
    text
}

#[test]
fn tomcat_jetty_and_hikari_tell_their_pools_through_jolokia() {
    let (_java, port, _place) = match java_servers() {
        Ok(servers) => servers,
        Err(why) => return skip(why),
    };
    let at = |kind: &str| format!("kind={kind},url=http://127.0.0.1:{port},timeout=30s");
    until(
        &at("tomcat"),
        &[
            ("workers.active", 4.0..=4.0),
            ("workers.size", 7.0..=7.0),
            ("workers.max", 7.0..=7.0),
            ("connections.max", 77.0..=77.0),
        ],
    );
    // Nine threads of which two accept and select; one of the others may be kept in reserve.
    until(
        &at("jetty"),
        &[
            ("workers.active", 6.0..=7.0),
            ("workers.size", 7.0..=7.0),
            ("workers.max", 7.0..=7.0),
        ],
    );
    until(
        &at("hikari"),
        &[
            ("pool.used", 3.0..=3.0),
            ("pool.size", 3.0..=3.0),
            ("pool.max", 3.0..=3.0),
            ("pool.waiting", 2.0..=2.0),
        ],
    );
}
