//! Tests against the processes of the vendor's own datagram test.
//!
//! Without the vendor's archive, or Java, the tests skip and say so.

mod coherence_process;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use sokudo_coherence::datagram::options::HostPort;
use sokudo_coherence::datagram::protocol::Width;
use sokudo_coherence::datagram::{
    CoherenceDatagramOptions, CoherenceDatagramSummary, Event, Provider, ReportInterval, RxSummary,
    watch,
};

use coherence_process::{CoherenceProcess, PATIENCE, free_port};

/// Silence that ends a publisher: longer than any pause of a busy machine.
const QUIET_MS: u64 = 3000;
/// Starts the vendor's test with its own arguments, and waits until it listens.
fn coherence_test(port: u16, more: &[&str]) -> Option<CoherenceProcess> {
    let local = format!("127.0.0.1:{port}");
    let quiet = QUIET_MS.to_string();
    let mut arguments = vec!["-local", &local, "-packetSize", "1468"];
    arguments.extend(["-rxBufferSize", "100", "-rxTimeoutMs", &quiet]);
    arguments.extend(more);
    // The last line of the listener's banner; the socket is bound before it.
    CoherenceProcess::start("com.tangosol.net.DatagramTest", &arguments, "log on:")
}

/// The last report, written when its publishers have stopped.
fn last_report(process: &CoherenceProcess) -> Block {
    process.until("Clients have stopped.");
    process.until("Rx from publisher:");
    Block(process.until("completed:"))
}

/// One publisher's lines in the vendor's report.
struct Block(Vec<String>);

impl Block {
    /// Text behind the label.
    fn get(&self, label: &str) -> &str {
        let value = |line: &'_ String| {
            let (name, _) = line.split_once(':')?;
            (name.trim() == label).then_some(line.len() - line.split_once(':')?.1.len())
        };
        let found = self.0.iter().find_map(|line| Some((line, value(line)?)));
        let (line, from) = found.unwrap_or_else(|| panic!("no {label:?} in {:#?}", self.0));
        line[from..].trim()
    }

    fn number(&self, label: &str) -> f64 {
        let text = self.get(label).split_whitespace().next().unwrap();
        text.trim_end_matches("ms;").parse().unwrap()
    }

    /// "X of Y".
    fn received(&self) -> (u64, u64) {
        let (received, of) = self.get("received").split_once(" of ").unwrap();
        (received.parse().unwrap(), of.parse().unwrap())
    }
}

/// A test of ours on its own thread.
struct Ours {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<CoherenceDatagramSummary>,
}

impl Ours {
    fn start(options: CoherenceDatagramOptions) -> Self {
        let (to, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut observe = |event| {
                let _ = to.send(event);
            };
            watch(&options, &mut observe, &flag).expect("loopback can be bound")
        });
        Self {
            events,
            stop,
            thread,
        }
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

    fn listening(&self) -> SocketAddr {
        self.until(|event| match event {
            Event::Listening(start) => Some(start.at),
            _ => None,
        })
    }

    fn stopped(&self) {
        self.until(|event| matches!(event, Event::Stopped(_)).then_some(()));
    }

    fn end(self) -> CoherenceDatagramSummary {
        self.stop.store(true, Ordering::Relaxed);
        self.finished()
    }

    fn finished(self) -> CoherenceDatagramSummary {
        self.thread.join().expect("no panic")
    }
}

fn options(peers: &[u16]) -> CoherenceDatagramOptions {
    let at = |port| HostPort {
        host: "127.0.0.1".into(),
        port,
    };
    CoherenceDatagramOptions {
        local: vec![at(0)],
        packet_size: Some(1468),
        peers: peers.iter().map(|port| at(*port)).collect(),
        rx_timeout_ms: QUIET_MS,
        report_interval: ReportInterval::Off,
        // About 700 packets per second: nothing is lost on a busy machine either.
        tx_rate_mib_per_s: Some(1.0),
        ..CoherenceDatagramOptions::default()
    }
}

fn only(summary: &CoherenceDatagramSummary) -> &RxSummary {
    assert_eq!(summary.listeners[0].publishers.len(), 1);
    &summary.listeners[0].publishers[0]
}

const ROUNDS: u64 = 500;

/// Our publisher's summary and the vendor listener's last report.
fn to_coherence(
    width: Width,
    provider: Provider,
    more: &[&str],
) -> Option<(CoherenceDatagramSummary, Block)> {
    let port = free_port();
    let process = coherence_test(port, more)?;
    let sent = Ours::start(CoherenceDatagramOptions {
        width,
        provider,
        tx_iterations: Some(ROUNDS),
        ..options(&[port])
    })
    .finished();
    assert_eq!(sent.problems(), Vec::<String>::new());
    assert_eq!(sent.publishers[0].peers[0].sent, ROUNDS);
    Some((sent, last_report(&process)))
}

#[test]
fn its_listener_counts_our_wide_numbers_right() {
    let Some((_, block)) = to_coherence(Width::Bits64, Provider::System, &[]) else {
        return;
    };
    assert_eq!(block.received(), (ROUNDS, ROUNDS));
    assert_eq!(block.number("missing"), 0.0);
    assert_eq!(block.number("success rate"), 1.0);
    assert_eq!(block.number("gaps"), 0.0);
    assert_eq!(block.number("packet size"), 1468.0);
}

#[test]
fn its_listener_shows_its_defect_with_narrow_numbers() {
    let Some((_, block)) = to_coherence(Width::Bits32, Provider::System, &[]) else {
        return;
    };
    let (received, of) = block.received();
    assert_eq!(received, ROUNDS);
    // It reads each number with the word behind it as the lower half.
    assert_eq!(of, ((ROUNDS - 1) << 32) + 1);
    assert_eq!(((of - 1) >> 32) + 1, ROUNDS, "what was sent is recoverable");
    let true_success = block.number("success rate") * f64::from(u32::MAX);
    assert!((true_success - 1.0).abs() < 0.01, "{true_success}");
    assert_eq!(block.number("out of order"), 0.0);
}

#[test]
fn its_listener_takes_our_tcp_framing() {
    let Some((_, block)) = to_coherence(Width::Bits64, Provider::Tcp, &["-provider", "tcp"]) else {
        return;
    };
    assert_eq!(block.received(), (ROUNDS, ROUNDS));
}

/// The vendor's publisher towards a listener of ours; it sends one round less than asked for.
fn from_coherence(provider: Provider, more: &[&str]) -> Option<(CoherenceDatagramSummary, u16)> {
    let ours = Ours::start(CoherenceDatagramOptions {
        provider,
        ..options(&[])
    });
    let at = ours.listening();
    let port = free_port();
    let rounds = (ROUNDS + 1).to_string();
    let peer = at.to_string();
    let mut line = vec!["-txIterations", &rounds, "-txRate", "1"];
    line.extend(more);
    line.push(&peer);
    let Some(process) = coherence_test(port, &line) else {
        ours.end();
        return None;
    };
    process.until("iteration limit reached");
    ours.stopped();
    Some((ours.end(), port))
}

#[test]
fn our_listener_reads_its_publisher() {
    for (provider, name) in [(Provider::System, "system"), (Provider::Tcp, "tcp")] {
        let Some((heard, port)) = from_coherence(provider, &["-provider", name]) else {
            return;
        };
        let got = only(&heard);
        assert_eq!(got.publisher, SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!((got.width, got.lowest), (Some(Width::Bits32), 1));
        let counts = &got.counts;
        assert_eq!((counts.received, counts.of), (ROUNDS, ROUNDS), "{name}");
        assert_eq!(counts.bytes, ROUNDS * 1468);
        assert_eq!((counts.gaps, counts.duplicates), (0, 0));
        assert_eq!(heard.listeners[0].foreign, 0);
    }
}

#[test]
fn both_at_once_give_each_other_ack_times() {
    let [our_port, its_port] = [free_port(), free_port()];
    let ours = Ours::start(CoherenceDatagramOptions {
        local: vec![HostPort {
            host: "127.0.0.1".into(),
            port: our_port,
        }],
        width: Width::Bits64,
        polite: true,
        tx_iterations: Some(ROUNDS),
        ..options(&[its_port])
    });
    ours.listening();
    let peer = format!("127.0.0.1:{our_port}");
    let Some(process) = coherence_test(its_port, &["-txRate", "1", &peer]) else {
        ours.end();
        return;
    };
    // The vendor sends without end: its listener's report comes when our rounds are over.
    let block = last_report(&process);
    drop(process);
    let summary = ours.finished();
    assert_eq!(summary.problems(), Vec::<String>::new());
    assert_eq!(summary.publishers[0].peers[0].sent, ROUNDS);
    assert_eq!(block.received(), (ROUNDS, ROUNDS));
    let ack_ms = block.number("avg ack time");
    assert!(ack_ms > 0.0 && ack_ms < 60_000.0, "{ack_ms}");
    let got = &summary.listeners[0].publishers[0];
    assert_eq!(got.publisher.port(), its_port);
    assert_eq!(got.counts.missing(), 0);
    assert_eq!(got.counts.acks, got.ack_rtt.as_ref().map_or(0, |rtt| rtt.n));
    assert!(got.counts.acks > 0);
}
