//! Monitors of a session: those that wait for their source delay no other, and no end of a watch.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sokudo_bus::{Bus, Member, MemberId, in_proc};
use sokudo_i18n::english;
use sokudo_model::{Batch, MonitorSpec};
use sokudo_monitors::{Files, parse};
use sokudo_net::clock::now_ns;
use sokudo_wire::{Ask, Note, Reply, WatchScope};

/// Longest that anything may take here; generous, because the cores may be busy.
const BOUND: Duration = Duration::from_secs(120);
const INTERVAL_NS: u64 = 50_000_000;
const SECOND_NS: i64 = 1_000_000_000;
/// A number that the host's monitors give in every sample.
const OF_THE_HOST: &str = "host.memory_available_bytes";

/// An agent inside this process.
struct Agent {
    bus: Bus,
    id: MemberId,
    t0_ns: i64,
}

impl Agent {
    fn new() -> Self {
        let factory = sokudo_agent::factory("hosta");
        let link = in_proc::link("hosta", || Ok(()), move |c, n| factory(c, n)).expect("a link");
        let bus = Bus::new();
        let member = Member {
            name: "hosta".into(),
            address: String::new(),
        };
        let id = bus.add(member, Box::new(link));
        let t0_ns = now_ns();
        Self { bus, id, t0_ns }
    }

    fn ask(&self, ask: Ask) -> Reply {
        self.bus.ask(self.id, ask, BOUND).expect("an answer")
    }

    fn watch(&self, monitors: Vec<MonitorSpec>) -> Reply {
        self.ask(Ask::Watch {
            host: "hosta".into(),
            t0_ns: self.t0_ns,
            interval_ns: INTERVAL_NS,
            scope: WatchScope::Host,
            monitors,
        })
    }

    /// The next batch.
    fn batch(&self) -> Batch {
        loop {
            let (_, note) = self.bus.notes().recv_timeout(BOUND).expect("a note");
            if let Note::Batch(batch) = note {
                return batch;
            }
        }
    }
}

fn spec(text: &str) -> MonitorSpec {
    parse(text, Files::Refused).expect("a monitor")
}

/// Time of the sample of the host that a batch holds.
fn of_the_host(batch: &Batch) -> Option<i64> {
    let series = batch.series.iter().find(|s| s.key.metric == OF_THE_HOST)?;
    series.points.last().map(|point| point.0)
}

fn has(batch: &Batch, metric: &str) -> bool {
    batch.series.iter().any(|s| s.key.metric == metric)
}

/// An endpoint that takes calls and answers none: who called is handed over.
fn held_endpoint() -> (String, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/metrics", listener.local_addr().expect("address"));
    let (called, calls) = channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            if called.send(stream).is_err() {
                return;
            }
        }
    });
    (url, calls)
}

/// True where the system offers the figures that the tests need.
fn can_observe() -> bool {
    cfg!(target_os = "linux")
}

#[test]
fn a_source_that_is_held_for_ten_seconds_leaves_no_gap_in_the_series_of_the_host() {
    if !can_observe() {
        return;
    }
    let (url, calls) = held_endpoint();
    let agent = Agent::new();
    let reply = agent.watch(vec![spec(&format!("openmetrics:url={url},timeout=60s"))]);
    assert_eq!(reply, Reply::Done);
    let mut held = calls.recv_timeout(BOUND).expect("a call");
    let since_ns = now_ns() - agent.t0_ns;
    // Held until the host's own samples say that ten seconds are over.
    let mut times_ns = Vec::new();
    while times_ns
        .last()
        .is_none_or(|t_ns| t_ns - since_ns < 10 * SECOND_NS)
    {
        let batch = agent.batch();
        assert!(!has(&batch, "openmetrics.up"), "nobody has answered yet");
        times_ns.extend(of_the_host(&batch).filter(|t_ns| *t_ns >= since_ns));
    }
    // A sample per 50 ms is 200 of them; where the cores are busy, fewer, and none is missing for long.
    assert!(times_ns.len() >= 20, "{} samples", times_ns.len());
    let gaps = times_ns.windows(2).map(|pair| pair[1] - pair[0]);
    let longest_ns = gaps.max().unwrap_or(i64::MAX);
    assert!(longest_ns < 5 * SECOND_NS, "a gap of {longest_ns} ns");

    let _ = held.read(&mut [0; 4096]);
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n";
    held.write_all(answer).expect("the scrape waits");
    let scraped = std::iter::repeat_with(|| agent.batch()).find(|b| has(b, "openmetrics.up"));
    assert!(scraped.is_some_and(|batch| has(&batch, "scraped.a")));
}

#[test]
fn a_watch_ends_while_a_source_is_held_and_says_so() {
    let (url, calls) = held_endpoint();
    let agent = Agent::new();
    agent.watch(vec![spec(&format!("openmetrics:url={url},timeout=60s"))]);
    let held = calls.recv_timeout(BOUND).expect("a call");
    assert_eq!(agent.ask(Ask::Unwatch), Reply::Done);
    let kinds: Vec<String> = agent
        .bus
        .notes()
        .try_iter()
        .flat_map(|(_, note)| match note {
            Note::Batch(batch) => batch.events,
            _ => Vec::new(),
        })
        .map(|event| event.kind)
        .collect();
    assert!(
        kinds.contains(&"monitor-unanswered".to_owned()),
        "{kinds:?}"
    );
    // The result of the scrape after that is dropped: requests are answered after it.
    drop(held);
    drop(calls);
    agent.ask(Ask::Clock);
    assert!(agent.bus.notes().try_recv().is_err());
}

#[test]
fn monitors_that_come_later_do_not_interrupt_the_others() {
    if !can_observe() {
        return;
    }
    let agent = Agent::new();
    agent.watch(Vec::new());
    let mut whole = std::iter::repeat_with(|| agent.batch());
    assert!(whole.any(|batch| has(&batch, "host.cpu_ratio")));
    let own = std::process::id();
    assert_eq!(
        agent.watch(vec![spec(&format!("process:pid={own}"))]),
        Reply::Done
    );
    // A monitor that begins anew gives no rates in its first sample.
    let mut seen = (0, 0);
    let mut before_ns = i64::MAX;
    while seen.0 < 5 || seen.1 < 2 {
        let batch = agent.batch();
        if let Some(t_ns) = of_the_host(&batch) {
            // The kernel counts CPU time in ticks of 10 ms: two readings within one have no ratio.
            let is_apart = t_ns.saturating_sub(before_ns) > 50_000_000;
            assert!(
                has(&batch, "host.cpu_ratio") || !is_apart,
                "the host's monitors began anew"
            );
            before_ns = t_ns;
            seen.0 += 1;
        }
        seen.1 += i32::from(has(&batch, "process.threads"));
    }
    // And they go when they are not asked for any more.
    assert_eq!(agent.watch(Vec::new()), Reply::Done);
    agent.bus.notes().try_iter().for_each(drop);
    for _ in 0..5 {
        assert!(!has(&agent.batch(), "process.threads"));
    }
}

#[test]
fn a_monitor_that_cannot_observe_says_why() {
    let agent = Agent::new();
    let pid = u32::MAX;
    agent.watch(vec![spec(&format!("process:pid={pid}"))]);
    let mut events = std::iter::repeat_with(|| agent.batch()).flat_map(|batch| batch.events);
    let wanted = ["monitor-process-none", "monitor-missing"];
    assert!(events.any(|event| wanted.contains(&event.kind.as_str())));
}

#[test]
fn options_that_cannot_be_read_are_refused_with_their_monitor_and_key() {
    let agent = Agent::new();
    let with = |name: &str, options: &str| {
        let spec = MonitorSpec {
            name: name.into(),
            options: options.into(),
            ..spec("cpu")
        };
        match agent.watch(vec![spec]) {
            Reply::Refused(refusal) => {
                assert!(refusal.operator_error && refusal.hint.is_some());
                english(&refusal.says)
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(with("gpu", "{}").contains("no monitor `gpu`"));
    assert!(with("cpu", "{\"port\":1}").contains("monitor `cpu`: option `port`"));
    assert!(with("process", "{\"port\":\"x\"}").contains("monitor `process`: option `port`"));
    assert!(with("process", "[]").contains("monitor `process`"));
    let many = vec![spec("cpu"); MonitorSpec::MOST + 1];
    assert!(matches!(agent.watch(many), Reply::Refused(_)));
}
