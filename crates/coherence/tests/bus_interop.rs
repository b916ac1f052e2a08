//! Tests against the processes of the vendor's own message bus test.
//!
//! Without the vendor's archive, or Java, the tests skip and say so.

mod coherence_process;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use sokudo_coherence::bus::values::BusAddress;
use sokudo_coherence::bus::{
    Block, CoherenceBusOptions, CoherenceBusSummary, Count, Event, Mode, watch,
};

use coherence_process::{CoherenceProcess, PATIENCE, free_port};

/// More than may be under way at any moment: what the system buffers on both sides, and queues.
const UNDER_WAY_BYTES: f64 = 256e6;

/// A test of ours on its own thread.
struct Ours {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<CoherenceBusSummary>,
    /// Its address.
    on: String,
}

impl Ours {
    fn start(options: CoherenceBusOptions) -> Self {
        let (to, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut observe = |event| {
                let _ = to.send(event);
            };
            watch(&options, &mut observe, &mut |_| false, &flag).expect("loopback can be bound")
        });
        let mut ours = Self {
            events,
            stop,
            thread,
            on: String::new(),
        };
        ours.on = ours.until(|event| match event {
            Event::Open { on } => Some(on.clone()),
            _ => None,
        });
        ours
    }

    fn until<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).expect("the event in time");
            if let Some(picked) = pick(&event) {
                return picked;
            }
        }
    }

    fn life(&self, holds: impl Fn(&Block) -> bool) -> Block {
        self.until(|event| match event {
            Event::Report(report) if holds(&report.life) => Some(report.life.clone()),
            _ => None,
        })
    }

    fn disconnected(&self) -> String {
        self.until(|event| match event {
            Event::Disconnect { why, .. } => Some(why.clone()),
            _ => None,
        })
    }

    fn end(self) -> CoherenceBusSummary {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic")
    }
}

fn loopback(port: u16) -> BusAddress {
    BusAddress {
        host: "127.0.0.1".into(),
        port,
        sub_port: None,
    }
}

fn options(peers: &[u16]) -> CoherenceBusOptions {
    CoherenceBusOptions {
        bind: vec![loopback(0)],
        peers: peers.iter().map(|port| loopback(*port)).collect(),
        report_ns: 200_000_000,
        patience_ns: PATIENCE.as_nanos() as u64,
        ..CoherenceBusOptions::default()
    }
}

/// Starts the vendor's test at a port, and waits until it listens.
fn coherence_test(port: u16, more: &[&str]) -> Option<CoherenceProcess> {
    let class = "com.oracle.coherence.common.net.exabus.util.MessageBusTest";
    let bind = format!("tmb://127.0.0.1:{port}");
    let mut arguments = vec!["-bind", &bind, "-reportInterval", "500ms"];
    arguments.extend(more);
    CoherenceProcess::start(class, &arguments, "OPEN event")
}

/// Sends a signal to one process.
fn signal(process: &CoherenceProcess, name: &str) {
    let pid = process.child.id().to_string();
    let done = Command::new("kill").args([name, &pid]).status();
    assert!(done.expect("kill runs").success());
}

fn total(summary: &CoherenceBusSummary, count: Count) -> u64 {
    summary.peers.values().map(|it| it.totals.get(count)).sum()
}

/// A number of the vendor's line, between two words.
fn between<'a>(line: &'a str, before: &str, after: &str) -> &'a str {
    let rest = line.split_once(before).map(|(_, rest)| rest);
    let found = rest.and_then(|rest| rest.split_once(after));
    found
        .unwrap_or_else(|| panic!("no {before:?} in {line:?}"))
        .0
}

/// `3.48MB` in bytes.
fn memory(text: &str) -> f64 {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "B" => 1.0,
        "KB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        other => panic!("unit {other:?} in {text:?}"),
    };
    digits.parse::<f64>().unwrap() * factor
}

/// Waits for a report of the vendor's that begins like this and holds.
fn report(process: &CoherenceProcess, begins: &str, holds: impl Fn(&str) -> bool) -> String {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let line = process.until(begins).pop().unwrap();
        if line.starts_with(begins) && holds(&line) {
            return line;
        }
    }
    panic!("no report came that holds");
}

/// The bytes for which the vendor has no receipt.
fn backlog(line: &str) -> f64 {
    let out = between(line, "backlog(out ", ",");
    memory(out.rsplit(' ').next().unwrap())
}

#[test]
fn its_stream_arrives_and_gets_receipts() {
    for rx_threads in [0, 1] {
        let ours = Ours::start(CoherenceBusOptions {
            rx_threads,
            ..options(&[])
        });
        let Some(process) = coherence_test(free_port(), &["-peer", &ours.on]) else {
            ours.end();
            return;
        };
        let life = ours.life(|life| life.totals.get(Count::InMessages) > 20_000);
        assert!(life.totals.get(Count::OutMessages) > 100, "responses");
        // Without receipts its backlog would be all that it has sent.
        let line = report(&process, "life:", |line| !line.contains("receipt n/a"));
        assert!(backlog(&line) < UNDER_WAY_BYTES, "{line}");
        assert!(line.contains("errors 0"), "{line}");
        drop(process);
        ours.disconnected();
        let summary = ours.end();
        assert_eq!(summary.problems, Vec::<String>::new());
        assert_eq!(summary.life.unwrap().totals.get(Count::Errors), 0);
    }
}

#[test]
fn our_stream_arrives_and_is_counted_alike() {
    const COUNT: u64 = 30_000;
    let port = free_port();
    let Some(process) = coherence_test(port, &["-verbose"]) else {
        return;
    };
    let ours = Ours::start(CoherenceBusOptions {
        count: Some(COUNT),
        ..options(&[port])
    });
    ours.life(|life| {
        life.totals.get(Count::Receipts) == COUNT
            && life.totals.get(Count::Responses) == COUNT / 100
    });
    let counted = format!("msgs(in={COUNT}, ");
    process.until(&counted);
    let summary = ours.end();
    assert_eq!(total(&summary, Count::OutMessages), COUNT);
    let life = summary.life.unwrap();
    assert_eq!(life.book.response.len(), COUNT / 100);
    assert_eq!(life.totals.get(Count::Errors), 0);
}

#[test]
fn its_messages_are_counted_alike() {
    let ours = Ours::start(options(&[]));
    let more = ["-peer", &ours.on, "-verbose", "-txRate", "5"];
    let Some(process) = coherence_test(free_port(), &more) else {
        ours.end();
        return;
    };
    let life = ours.life(|life| life.totals.get(Count::InMessages) > 2000);
    let before = life.totals.get(Count::InMessages);
    // Its line says: msgs(in=…, out=RECEIPTED/SENT).
    let counts = |line: &str| -> [u64; 2] {
        let (_, counts) = between(line, "msgs(in=", ")").split_once("out=").unwrap();
        let (receipted, sent) = counts.split_once('/').unwrap();
        [receipted, sent].map(|it| it.parse().unwrap())
    };
    let line = report(&process, "\tpeer=", |line| counts(line)[0] >= before);
    let [receipted, sent] = counts(&line);
    // Every receipt that it has is for a message that is counted here.
    let at_end = total(&ours.end(), Count::InMessages);
    assert!(
        receipted <= at_end,
        "{receipted} have receipts, {at_end} have arrived"
    );
    // At 5 MB/s, what is under way is a moment's worth.
    assert!(sent - receipted < 5000, "{receipted} of {sent}");
}

#[test]
fn blocking_works_in_both_directions() {
    let ours = Ours::start(options(&[]));
    let more = ["-peer", &ours.on, "-block", "-latencyFreq", "1"];
    let Some(its) = coherence_test(free_port(), &more) else {
        ours.end();
        return;
    };
    ours.life(|life| life.totals.get(Count::OutMessages) > 500);
    let line = report(&its, "life:", |line| line.contains("response(avg"));
    assert!(line.contains("errors 0"), "{line}");
    drop(its);
    ours.end();

    let port = free_port();
    let its = coherence_test(port, &["-rxThreads", "1"]).expect("it ran before");
    let asking = Ours::start(CoherenceBusOptions {
        mode: Mode::Block { spin_ns: 0 },
        latency_every: 1,
        flush_every: 4,
        ..options(&[port])
    });
    asking.life(|life| life.totals.get(Count::Responses) > 500);
    // While it goes on, who asks is woken before its answer is counted, and both counts are read one
    // after the other: they belong together at the end.
    let summary = asking.end();
    let asked = total(&summary, Count::OutMessages);
    let answered = total(&summary, Count::Responses);
    assert!(asked.saturating_sub(answered) <= 4, "{answered} of {asked}");
    assert_eq!(summary.problems, Vec::<String>::new());
    drop(its);
}

#[test]
fn a_process_that_is_killed_is_named_and_the_other_goes_on() {
    let ports = [free_port(), free_port()];
    let Some(doomed) = coherence_test(ports[0], &[]) else {
        return;
    };
    let other = Ours::start(CoherenceBusOptions {
        bind: vec![loopback(ports[1])],
        ..options(&[])
    });
    let ours = Ours::start(options(&ports));
    ours.life(|life| life.totals.get(Count::InMessages) > 100);
    signal(&doomed, "-KILL");
    ours.disconnected();
    let so_far = ours.life(|_| true).totals.get(Count::OutMessages);
    ours.life(|life| life.totals.get(Count::OutMessages) > so_far + 1000);
    let summary = ours.end();
    assert_eq!(summary.problems.len(), 1);
    assert!(
        summary.problems[0].contains(&ports[0].to_string()),
        "{:?}",
        summary.problems
    );
    other.end();
}

#[test]
fn a_process_that_stands_still_is_waited_for_and_then_given_up() {
    let port = free_port();
    let Some(process) = coherence_test(port, &[]) else {
        return;
    };
    let patient = Ours::start(options(&[port]));
    patient.life(|life| life.totals.get(Count::InMessages) > 10);
    signal(&process, "-STOP");
    // It takes nothing more: everything waits.
    let mut last = 0;
    patient.until(|event| match event {
        Event::Report(report) => {
            let out = report.life.totals.get(Count::OutMessages);
            (std::mem::replace(&mut last, out) == out).then_some(())
        }
        _ => None,
    });
    signal(&process, "-CONT");
    patient.life(|life| life.totals.get(Count::OutMessages) > last + 1000);
    assert_eq!(patient.end().problems, Vec::<String>::new());

    let asking = Ours::start(CoherenceBusOptions {
        mode: Mode::Block { spin_ns: 0 },
        patience_ns: 2_000_000_000,
        ..options(&[port])
    });
    asking.life(|life| life.totals.get(Count::Responses) > 10);
    signal(&process, "-STOP");
    let why = asking.disconnected();
    assert!(why.contains("gave no answer"), "{why}");
    let summary = asking.end();
    assert!(summary.problems[0].contains("gave no answer"));
    signal(&process, "-CONT");
}
