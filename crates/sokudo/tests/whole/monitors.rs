//! Monitors that are asked for: their series are in the record, mistakes are told, hosts may refuse.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};

use sokudo_model::Record;

use crate::vocabulary::{place, refused, serve};

/// An endpoint that tells metrics for as long as the tests run: each answer has counted ten more.
fn endpoint() -> SocketAddr {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                request.push(byte[0]);
            }
            let requests = REQUESTS.fetch_add(10, Ordering::Relaxed);
            let body = format!(
                "# TYPE app_requests counter\napp_requests_total{{path=\"/\"}} {requests}\n\
                 # TYPE app_heap_bytes gauge\napp_heap_bytes 4096\n# EOF\n"
            );
            let length = body.len();
            // A caller that has left does not take it.
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            );
        }
    });
    address
}

fn values(record: &Record, metric: &str) -> Vec<f64> {
    let series = record.series.iter().filter(|s| s.key.metric == metric);
    series.flat_map(|s| s.points.iter().map(|p| p.1)).collect()
}

fn notes(record: &Record) -> String {
    format!("{:?}", record.manifest.notes)
}

#[test]
fn a_run_observes_processes_and_endpoints_that_it_is_asked_to() {
    let place = place();
    let server = serve(&place);
    let metrics = endpoint();
    let ended = place.run(&format!(
        "rr {0} --duration 4s --interval 200ms --monitor process:port={1},interval=200ms \
         --monitor openmetrics:url=http://{metrics}/metrics,interval=300ms --json",
        server.address,
        server.address.port()
    ));
    ended.expect_code(0);
    let record = place.load();
    let asked: Vec<&str> = record
        .manifest
        .plan
        .monitors
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(asked, ["process", "openmetrics"]);
    let pid = server.running.id().to_string();
    let of_server = |key: &sokudo_model::SeriesKey| key.labels.get("pid") == Some(&pid);
    for metric in [
        "process.cpu_ratio",
        "process.resident_bytes",
        "process.threads",
    ] {
        let mut series = record.series.iter().filter(|s| s.key.metric == metric);
        assert!(
            series.any(|s| of_server(&s.key)),
            "{metric} of process {pid}"
        );
    }
    assert!(values(&record, "openmetrics.up").contains(&1.0));
    assert!(values(&record, "scraped.app_heap_bytes").contains(&4096.0));
    assert!(
        values(&record, "scraped.app_requests_per_second")
            .iter()
            .any(|rate| *rate > 0.0)
    );

    place.run("export latest --to csv -o out").expect_code(0);
    let series = std::fs::read_to_string(place.path().join("out/series.csv")).expect("series");
    for metric in [
        "process.cpu_ratio",
        "openmetrics.up",
        "scraped.app_heap_bytes",
    ] {
        assert!(series.contains(metric), "{metric} is not exported");
    }
    let shown = place.run("show latest --json");
    shown.expect_code(0);
}

#[test]
fn a_monitor_that_finds_nothing_is_a_note_of_the_record() {
    let place = place();
    let server = serve(&place);
    let nobody = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = nobody.local_addr().expect("address");
    drop(nobody);
    let ended = place.run(&format!(
        "rr {} --duration 2s --monitor process:name=no-such-program,on=first \
         --monitor openmetrics:url=http://{address}/metrics",
        server.address
    ));
    ended.expect_code(0);
    let record = place.load();
    assert!(values(&record, "process.matches").contains(&0.0));
    assert!(values(&record, "openmetrics.up").contains(&0.0));
    let notes = notes(&record);
    assert!(notes.contains("engine-process-none"), "{notes}");
    assert!(notes.contains("engine-scrape-failed"), "{notes}");
}

#[test]
fn mistakes_in_monitors_are_told_before_anything_is_measured() {
    let place = place();
    let server = serve(&place);
    let check = |monitor: &str, says: &str, hint: &str| {
        let address = server.address.to_string();
        let words = ["rr", &address, "--duration", "1s", "--monitor", monitor];
        refused(&place.words(words).run(), says, hint);
    };
    check("gpu", "no monitor `gpu`", "openmetrics");
    check(
        "process",
        "one of pid, name, port and peers",
        "sokudo monitors process",
    );
    check(
        "process:port=http",
        "option `port`",
        "sokudo monitors process",
    );
    check(
        "process:colour=red",
        "option `colour`",
        "sokudo monitors process",
    );
    check(
        "process:port",
        "`port` is not KEY=VALUE",
        "sokudo monitors process",
    );
    check(
        "cpu:interval=1ns",
        "option `interval`",
        "sokudo monitors cpu",
    );
    check(
        "openmetrics:url=https://127.0.0.1/",
        "TLS",
        "sokudo monitors openmetrics",
    );
    check(
        "openmetrics:url=http://h/,mapping=nowhere",
        "`nowhere` cannot be read",
        "sokudo monitors",
    );
    check(
        "cpu:on=hostz",
        "no host of the run is called `hostz`",
        "hosts of the run",
    );
    assert!(place.records().is_empty(), "nothing was measured");
}

#[test]
fn a_host_that_serves_connects_nowhere_for_a_monitor() {
    let place = place();
    let server = serve(&place);
    let metrics = endpoint();
    let ended = place.run(&format!(
        "rr {} --duration 1s --monitor openmetrics:url=http://{metrics}/metrics,on=*",
        server.address
    ));
    refused(
        &ended,
        "`openmetrics` only where that is named under `monitors`",
        "policy",
    );
    assert!(place.records().is_empty(), "nothing was measured");
}

#[test]
fn a_script_asks_for_monitors_and_a_mapping_names_their_series() {
    let place = place();
    let hosts = [serve(&place), serve(&place)].map(|server| (server.address.to_string(), server));
    let metrics = endpoint();
    place.write(
        "mapping.toml",
        "[[series]]\nmetric = \"app_heap_bytes\"\nname = \"heap\"\nunit = \"bytes\"\n",
    );
    let own = std::process::id();
    let script = format!(
        "monitor(\"process:pid={own}\");\nphase(\"echo\", [rr(1, 2, {{ duration: \"3s\" }})]);\n"
    );
    place.write("echo.js", &script);
    let monitor =
        format!("openmetrics:url=http://{metrics}/metrics,mapping=mapping.toml,interval=200ms");
    let words = [
        "run",
        "echo.js",
        &hosts[0].0,
        &hosts[1].0,
        "--monitor",
        &monitor,
    ];
    let ended = place.words(words).run();
    ended.expect_code(0);
    let record = place.load();
    assert!(values(&record, "scraped.heap_bytes").contains(&4096.0));
    assert!(values(&record, "scraped.app_requests_per_second").is_empty());
    assert!(!values(&record, "process.threads").is_empty());
    assert_eq!(record.manifest.plan.monitors.len(), 2);
}

#[test]
fn every_monitor_is_listed_with_its_options() {
    let place = place();
    let ended = place.run("monitors --json");
    ended.expect_code(0);
    let listed: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object per line"))
        .collect();
    let registry = sokudo_monitors::REGISTRY.iter().map(|m| m.info().name);
    let names: Vec<&str> = listed.iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, registry.collect::<Vec<_>>());
    for monitor in &listed {
        let options = monitor["options"]["properties"].as_object();
        for (name, option) in options.into_iter().flatten() {
            assert!(
                option["description"].is_string(),
                "{}: {name}",
                monitor["name"]
            );
        }
    }
    place
        .run("monitors process")
        .expect_code(0)
        .expect_stdout("most");
    place
        .run("monitors process --lang ja")
        .expect_code(0)
        .expect_stdout("既定値: 16");
    refused(
        &place.run("monitors gpu"),
        "no monitor `gpu`",
        "openmetrics",
    );
}
