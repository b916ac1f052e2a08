//! Choosing and following processes, over files made by the tests and over this process itself.

use std::fs;
use std::path::Path;

use super::*;
use crate::{Files, NO_OPTIONS, OpenError, Registered, parse as parse_spec};

const SECOND_NS: i64 = 1_000_000_000;

/// A process as `/proc` shows it, which has used so many ticks of CPU.
fn write_process(proc_root: &Path, pid: u32, name: &str, ticks: u64) {
    let directory = proc_root.join(pid.to_string());
    fs::create_dir_all(directory.join("task").join(pid.to_string())).expect("directory");
    fs::create_dir_all(directory.join("fd")).expect("directory");
    let zeros = "0 ".repeat(10);
    let stat = format!("{pid} ({name}) S {zeros}{ticks} {ticks} 0 0 20 0 1 0 {pid} 0 0");
    let status = format!(
        "Name:\t{name}\nVmRSS:\t8 kB\nThreads:\t1\nvoluntary_ctxt_switches:\t{ticks}\n\
         nonvoluntary_ctxt_switches:\t0\n"
    );
    let write = |file: &str, text: &str| fs::write(directory.join(file), text).expect("file");
    write("stat", &stat);
    write("status", &status);
    write(&format!("task/{pid}/status"), &status);
    write("comm", &format!("{name}\n"));
    write("cmdline", &format!("/usr/bin/{name}\0"));
    let io = format!("read_bytes: {}\nwrite_bytes: 0\n", ticks * 4096);
    write("io", &io);
}

/// A directory like `/proc` without processes.
fn proc_root() -> (tempfile::TempDir, Context) {
    let place = tempfile::tempdir().expect("a place");
    let proc_root = place.path().join("proc");
    fs::create_dir_all(proc_root.join("self")).expect("directory");
    fs::write(proc_root.join("self/stat"), "").expect("file");
    let ctx = Context {
        proc_root,
        ..Context::host("hosta")
    };
    (place, ctx)
}

fn open(words: &str, ctx: &Context) -> Box<dyn Sampler> {
    let spec = parse_spec(&format!("process:{words}"), Files::Refused).expect("options");
    Process.open_with(&spec.options, ctx).expect("opens")
}

fn kinds(batch: &Batch) -> Vec<&str> {
    batch
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect()
}

/// Value of the last point of a metric whose labels hold these.
fn value(batch: &Batch, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let has = |key: &SeriesKey| {
        let mut wanted = labels.iter();
        wanted.all(|(name, value)| key.labels.get(*name).is_some_and(|own| own == value))
    };
    let mut series = batch.series.iter();
    let series = series.rfind(|series| series.key.metric == metric && has(&series.key))?;
    series.points.last().map(|point| point.1)
}

#[test]
fn a_process_that_is_started_anew_is_followed() {
    let (_place, ctx) = proc_root();
    write_process(&ctx.proc_root, 100, "server", 10);
    write_process(&ctx.proc_root, 101, "client", 10);
    let mut sampler = open("name=server", &ctx);
    let mut first = Batch::default();
    sampler.sample(0, &mut first);
    assert_eq!(kinds(&first), [""; 0]);
    assert_eq!(
        value(&first, "process.matches", &[("by", "name=server")]),
        Some(1.0)
    );
    assert_eq!(
        value(&first, "process.resident_bytes", &[("pid", "100")]),
        Some(8192.0)
    );

    write_process(&ctx.proc_root, 100, "server", 60);
    let mut second = Batch::default();
    sampler.sample(SECOND_NS / 2, &mut second);
    let of_100 = |metric: &str, label| value(&second, metric, &[("pid", "100"), label]);
    assert_eq!(of_100("process.cpu_ratio", ("mode", "user")), Some(1.0));
    assert_eq!(of_100("process.cpu_ratio", ("mode", "system")), Some(1.0));
    assert_eq!(
        of_100("process.read_bytes_per_second", ("name", "server")),
        Some(409_600.0)
    );
    let switches = of_100("process.context_switches_per_second", ("kind", "voluntary"));
    assert_eq!(switches, Some(100.0));

    fs::remove_dir_all(ctx.proc_root.join("100")).expect("removed");
    let mut third = Batch::default();
    sampler.sample(SECOND_NS, &mut third);
    assert_eq!(kinds(&third), ["process-none"]);
    assert_eq!(value(&third, "process.matches", &[]), Some(0.0));

    write_process(&ctx.proc_root, 200, "server", 5);
    let mut fourth = Batch::default();
    sampler.sample(3 * SECOND_NS, &mut fourth);
    assert_eq!(kinds(&fourth), ["process-found"]);
    assert_eq!(
        value(&fourth, "process.threads", &[("pid", "200")]),
        Some(1.0)
    );
}

/// A child of a process, which has used so many ticks and whose own children have left as many.
fn write_child(proc_root: &Path, pid: u32, parent: u32, ticks: u64, left: u64) {
    let directory = proc_root.join(pid.to_string());
    fs::create_dir_all(&directory).expect("directory");
    let stat = format!(
        "{pid} (server) S {parent} 0 0 0 0 0 0 0 0 0 {ticks} {ticks} {left} 0 20 0 1 0 {pid} 0 0"
    );
    fs::write(directory.join("stat"), stat).expect("file");
}

#[test]
fn children_are_added_up_those_that_have_ended_too() {
    let (_place, ctx) = proc_root();
    let root = ctx.proc_root.as_path();
    write_process(root, 100, "server", 10);
    write_child(root, 101, 100, 50, 0);
    write_child(root, 102, 101, 0, 0);
    // Of another family, and of another program.
    write_child(root, 200, 1, 5_000, 0);
    write_process(root, 103, "client", 0);
    let other = "103 (client) S 100 0 0 0 0 0 0 0 0 0 TICKS 0 0 0 20 0 1 0 103 0 0";
    let client = |ticks: &str| fs::write(root.join("103/stat"), other.replace("TICKS", ticks));
    client("5").expect("file");
    let used = |batch: &Batch| {
        value(
            batch,
            "process.children_cpu_ratio",
            &[("by", "name=server")],
        )
    };
    let mut sampler = open("name=server", &ctx);
    let mut first = Batch::default();
    sampler.sample(0, &mut first);
    assert_eq!(used(&first), None);

    write_child(root, 101, 100, 75, 0);
    write_child(root, 102, 101, 25, 0);
    write_child(root, 200, 1, 9_000, 0);
    client("500").expect("file");
    let mut second = Batch::default();
    sampler.sample(SECOND_NS, &mut second);
    assert_eq!(used(&second), Some(1.0));

    // The grandchild has ended: its time is with its parent now, and with it 10 ticks that nobody saw.
    fs::remove_dir_all(root.join("102")).expect("removed");
    write_child(root, 101, 100, 75, 60);
    let mut third = Batch::default();
    sampler.sample(2 * SECOND_NS, &mut third);
    assert_eq!(used(&third), Some(0.1));
}

#[test]
fn a_process_without_children_has_no_series_of_them() {
    let (_place, ctx) = proc_root();
    write_process(&ctx.proc_root, 100, "server", 10);
    let mut sampler = open("name=server", &ctx);
    let mut batch = Batch::default();
    for second in 0..3 {
        sampler.sample(second * SECOND_NS, &mut batch);
    }
    assert_eq!(value(&batch, "process.children_cpu_ratio", &[]), None);
}

#[test]
fn a_process_that_ends_between_two_looks_is_told_and_replaced() {
    let (_place, ctx) = proc_root();
    write_process(&ctx.proc_root, 100, "server", 10);
    let mut sampler = open("name=server", &ctx);
    sampler.sample(0, &mut Batch::default());
    fs::remove_dir_all(ctx.proc_root.join("100")).expect("removed");
    write_process(&ctx.proc_root, 200, "server", 5);
    let mut batch = Batch::default();
    sampler.sample(SECOND_NS / 4, &mut batch);
    assert_eq!(kinds(&batch), ["process-ended", "process-found"]);
}

#[test]
fn that_nothing_matches_is_said_at_once() {
    let (_place, ctx) = proc_root();
    for words in ["name=server", "pid=100", "port=80"] {
        let mut batch = Batch::default();
        let mut sampler = open(words, &ctx);
        sampler.sample(0, &mut batch);
        sampler.sample(5 * SECOND_NS, &mut batch);
        assert_eq!(kinds(&batch), ["monitor-process-none"], "{words}");
        assert_eq!(
            value(&batch, "process.matches", &[("by", words)]),
            Some(0.0)
        );
    }
}

#[test]
fn the_number_of_processes_is_bounded() {
    let (_place, ctx) = proc_root();
    for pid in 100..110 {
        write_process(&ctx.proc_root, pid, "worker", 0);
    }
    let mut batch = Batch::default();
    let mut sampler = open("name=worker,most=3", &ctx);
    sampler.sample(0, &mut batch);
    sampler.sample(2 * SECOND_NS, &mut batch);
    assert_eq!(kinds(&batch), ["process-cut"]);
    assert_eq!(value(&batch, "process.matches", &[]), Some(10.0));
    let observed = batch
        .series
        .iter()
        .filter(|s| s.key.metric == "process.threads");
    assert_eq!(observed.count(), 3);
}

#[test]
fn options_that_say_nothing_or_too_much_are_refused() {
    for (words, says) in [
        ("", "one of pid, name, port and peers"),
        ("pid=1,port=2", "one of pid, name, port and peers"),
        ("port=2,peers=true", "one of pid, name, port and peers"),
        ("name=", "the name is empty"),
        ("pid=1,most=0", "most=0"),
        ("pid=x", "option `pid`"),
        ("ports=1", "option `ports`"),
        ("pid=1,pid=2", "given twice"),
    ] {
        let bad = parse_spec(&format!("process:{words}"), Files::Refused).expect_err("refused");
        assert!(bad.to_string().contains(says), "{words}: {bad}");
        assert!(sokudo_i18n::english(&bad.hint()).contains("sokudo monitors process"));
    }
    let opened = Process.open_with(NO_OPTIONS, &Context::host("hosta"));
    assert!(matches!(opened.err(), Some(OpenError::Option(_))));
}

#[test]
fn the_server_of_a_connection_is_found_when_there_is_one() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    let ctx = Context::host("hosta");
    let select = Selector::Peers;
    let mut peers = BTreeSet::new();
    let own = std::process::id();
    let _asks = std::net::TcpStream::connect(address).expect("a connection");
    let found = select.find(&ctx, &mut peers).expect("a search");
    assert!(
        found.contains(&own) && peers.contains(&address),
        "{found:?}"
    );
}

#[test]
fn the_process_that_listens_on_a_port_is_found_and_measured() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    let mut sampler = open(&format!("port={port}"), &Context::host("hosta"));
    let mut batch = Batch::default();
    sampler.sample(0, &mut batch);
    sampler.sample(SECOND_NS, &mut batch);
    let own = std::process::id().to_string();
    let pid = [("pid", own.as_str())];
    for metric in METRICS {
        let labels = match *metric {
            "process.matches" => &[][..],
            _ => &pid,
        };
        // Storage cannot be counted where the kernel does not keep account of it, without a quota nothing is
        // throttled, and this process may have no children.
        let rare = ["process.throttled_ratio", "process.children_cpu_ratio"];
        let optional = metric.ends_with("_bytes_per_second") || rare.contains(metric);
        assert!(
            value(&batch, metric, labels).is_some() || optional,
            "{metric}"
        );
    }
    assert_eq!(value(&batch, "process.matches", &[]), Some(1.0));
}
