//! Do the vendor's own processes and ours understand each other?
//!
//! The vendor's archive is fetched once by `mvn` into the ordinary local repository. Without `mvn`,
//! `java` or a registry the tests skip and say so.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sokudo_workloads::datagram::vendor::options::HostPort;
use sokudo_workloads::datagram::vendor::protocol::Width;
use sokudo_workloads::datagram::vendor::{
    Event, Interval, Provider, RxSummary, VendorOptions, VendorSummary, watch,
};

const VERSION: &str = "24.09";
const ARTIFACT: &str = "com.oracle.coherence.ce:coherence";
/// No line takes this long, not even on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(120);
/// Silence that ends a publisher: longer than any pause of a busy machine.
const QUIET_MS: u64 = 3000;
/// How long fetching may take.
const FETCH: Duration = Duration::from_secs(300);

/// The vendor's archive, or why there is none.
fn jar() -> Result<PathBuf, String> {
    static JAR: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    JAR.get_or_init(|| {
        runs("java")?;
        let home = std::env::var_os("HOME").ok_or("no home folder")?;
        let path = PathBuf::from(home).join(format!(
            ".m2/repository/com/oracle/coherence/ce/coherence/{VERSION}/coherence-{VERSION}.jar"
        ));
        if !path.exists() {
            runs("mvn")?;
            fetch()?;
        }
        path.exists()
            .then_some(path)
            .ok_or_else(|| "mvn fetched no archive".into())
    })
    .clone()
}

fn runs(program: &str) -> Result<(), String> {
    let status = Command::new(program)
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("`{program}` does not run here")),
    }
}

fn fetch() -> Result<(), String> {
    let mut child = Command::new("mvn")
        .args(["-q", "-B", "dependency:get", "-Dtransitive=false"])
        .arg(format!("-Dartifact={ARTIFACT}:{VERSION}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("`mvn` does not start: {error}"))?;
    let deadline = Instant::now() + FETCH;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err("mvn cannot fetch the archive".into()),
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("mvn took too long to fetch the archive".into());
            }
        }
    }
}

/// A process of the vendor's; ended when dropped.
struct Vendor {
    child: Child,
    lines: Receiver<String>,
}

impl Vendor {
    /// Starts one with the vendor's own arguments, and waits until it listens.
    fn start(port: u16, more: &[&str]) -> Option<Self> {
        let jar = match jar() {
            Ok(jar) => jar,
            Err(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
        };
        let mut child = Command::new("java")
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(jar)
            .arg("com.tangosol.net.DatagramTest")
            .args(["-local", &format!("127.0.0.1:{port}")])
            .args(["-packetSize", "1468", "-rxBufferSize", "100"])
            .args(["-rxTimeoutMs", &QUIET_MS.to_string()])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("java was seen to run");
        let (to, lines) = channel();
        // Banners and reports go to standard error, and so does what the libraries say.
        forward(child.stdout.take().expect("stdout is piped"), to.clone());
        forward(child.stderr.take().expect("stderr is piped"), to);
        let vendor = Self { child, lines };
        // The last line of the listener's banner; the socket is bound before it.
        vendor.until("log on:");
        Some(vendor)
    }

    /// Waits for a line that contains `part`; returns all lines up to and including it.
    fn until(&self, part: &str) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("no line with {part:?} came after {seen:#?}")
                }
            }
            if seen.last().is_some_and(|line| line.contains(part)) {
                return seen;
            }
        }
    }

    /// The last report, written when its publishers have stopped.
    fn last_report(&self) -> Block {
        self.until("Clients have stopped.");
        self.until("Rx from publisher:");
        Block(self.until("completed:"))
    }
}

fn forward(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
}

impl Drop for Vendor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One publisher's lines in the vendor's report.
struct Block(Vec<String>);

impl Block {
    /// What stands behind the label.
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
    thread: JoinHandle<VendorSummary>,
}

impl Ours {
    fn start(options: VendorOptions) -> Self {
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

    fn end(self) -> VendorSummary {
        self.stop.store(true, Ordering::Relaxed);
        self.finished()
    }

    fn finished(self) -> VendorSummary {
        self.thread.join().expect("no panic")
    }
}

fn options(peers: &[u16]) -> VendorOptions {
    let at = |port| HostPort {
        host: "127.0.0.1".into(),
        port,
    };
    VendorOptions {
        local: vec![at(0)],
        packet_size: Some(1468),
        peers: peers.iter().map(|port| at(*port)).collect(),
        rx_timeout_ms: QUIET_MS,
        report_interval: Interval::Off,
        // About 700 packets per second: nothing is lost on a busy machine either.
        tx_rate_mib_per_s: Some(1.0),
        ..VendorOptions::default()
    }
}

fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

fn only(summary: &VendorSummary) -> &RxSummary {
    assert_eq!(summary.listeners[0].publishers.len(), 1);
    &summary.listeners[0].publishers[0]
}

const ROUNDS: u64 = 500;

/// Our publisher's summary and the vendor listener's last report.
fn to_vendor(width: Width, provider: Provider, more: &[&str]) -> Option<(VendorSummary, Block)> {
    let port = free_port();
    let vendor = Vendor::start(port, more)?;
    let sent = Ours::start(VendorOptions {
        width,
        provider,
        tx_iterations: Some(ROUNDS),
        ..options(&[port])
    })
    .finished();
    assert_eq!(sent.problems(), Vec::<String>::new());
    assert_eq!(sent.publishers[0].peers[0].sent, ROUNDS);
    Some((sent, vendor.last_report()))
}

#[test]
fn its_listener_counts_our_wide_numbers_right() {
    let Some((_, block)) = to_vendor(Width::Bits64, Provider::System, &[]) else {
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
    let Some((_, block)) = to_vendor(Width::Bits32, Provider::System, &[]) else {
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
    let Some((_, block)) = to_vendor(Width::Bits64, Provider::Tcp, &["-provider", "tcp"]) else {
        return;
    };
    assert_eq!(block.received(), (ROUNDS, ROUNDS));
}

/// The vendor's publisher towards a listener of ours; it sends one round less than asked for.
fn from_vendor(provider: Provider, more: &[&str]) -> Option<(VendorSummary, u16)> {
    let ours = Ours::start(VendorOptions {
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
    let Some(vendor) = Vendor::start(port, &line) else {
        ours.end();
        return None;
    };
    vendor.until("iteration limit reached");
    ours.stopped();
    Some((ours.end(), port))
}

#[test]
fn our_listener_reads_its_publisher() {
    for (provider, name) in [(Provider::System, "system"), (Provider::Tcp, "tcp")] {
        let Some((heard, port)) = from_vendor(provider, &["-provider", name]) else {
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
    let ours = Ours::start(VendorOptions {
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
    let Some(vendor) = Vendor::start(its_port, &["-txRate", "1", &peer]) else {
        ours.end();
        return;
    };
    // The vendor sends without end: its listener's report comes when our rounds are over.
    let block = vendor.last_report();
    drop(vendor);
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
