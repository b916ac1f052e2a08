//! Tests of findings: a limit made for the test is found and named rightly.
//!
//! Each test makes one bottleneck for real, on a way of its own between two hosts inside this
//! machine, or by taking CPU time away, and reads what the program says limited it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, available_parallelism};
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::Value;
use sokudo_model::{Arg, Finding, Record};
use sokudo_testkit::hosts::{Hosts, Tbf};
use sokudo_testkit::program::{Ended, Running, Sokudo};
use sokudo_testkit::relay::Script;
use sokudo_testkit::skip;
use sokudo_testkit::way::Way;

use crate::exchange::under_way;
use crate::vocabulary::{Place, Server, no_panic, pid, place, serve, serve_with, summary};

/// Delay of a long way in each direction: a round trip takes twice as long.
const DELAY: Duration = Duration::from_millis(20);

/// Two hosts of one machine: the client stands on host 0, the server on host 1.
pub struct Pair<'a> {
    place: &'a Place,
    hosts: &'a Hosts,
    pub server: Server,
}

impl<'a> Pair<'a> {
    /// Serves on host 1 at this address.
    pub fn new(place: &'a Place, hosts: &'a Hosts, address: IpAddr) -> Self {
        let command = place.sokudo(&format!("serve --bind {address}:0 --open"));
        let server = hosts.run_in(1, move || serve_with(command));
        Self {
            place,
            hosts,
            server,
        }
    }

    /// Runs a workload from host 0 against the server and reads what limited it.
    pub fn run(&self, workload: &str, options: &str) -> Told {
        let line = format!("{workload} {} {options} --json", self.server.address);
        let command = self.place.sokudo(&line);
        let ended = self.hosts.run_in(0, move || command.run());
        Told::of(self.place, ended)
    }
}

/// Report of a run about its limit.
pub struct Told {
    pub ended: Ended,
    record: Record,
    pub json: Value,
}

impl Told {
    pub fn of(place: &Place, ended: Ended) -> Self {
        // A check that failed keeps nobody from naming the limit.
        assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
        no_panic(&ended);
        let json = summary(&ended).0;
        let record = place.load();
        Self {
            ended,
            record,
            json,
        }
    }

    /// The strongest conclusion about what limited the run.
    pub fn limit(&self) -> Option<Finding> {
        sokudo_analyze::limit(&self.record)
    }

    /// Fails unless the run was limited by this, told so in its summary, and rests on these
    /// observations, which were made in different ways.
    ///
    /// Where other programs really took the CPU from the test, that may be named first; `None`, and
    /// says so, where they took so much that nothing else limited it.
    #[track_caller]
    fn limited_by(&self, rule: &str, observations: [&str; 2]) -> Option<Finding> {
        let found = self.limit();
        if found.is_none() && self.disturbed() {
            skip("other programs use this machine's cores");
            return None;
        }
        let mut found = found.unwrap_or_else(|| panic!("no limit is named: {}", self.ended));
        assert_eq!(self.json["limit"]["cause"], found.rule);
        if found.rule != rule && self.disturbed() {
            let mut others = sokudo_analyze::findings(&self.record).into_iter();
            let Some(other) = others.find(|finding| finding.rule == rule) else {
                skip("other programs use this machine's cores");
                return None;
            };
            found = other;
        }
        assert_eq!(found.rule, rule, "{}", self.ended);
        let metrics: BTreeSet<&str> = found
            .evidence
            .iter()
            .filter_map(|e| e.metric.as_deref())
            .collect();
        for metric in observations {
            assert!(metrics.contains(metric), "no {metric} in {metrics:?}");
        }
        let sources: BTreeSet<&str> = found.evidence.iter().map(|e| e.source.as_str()).collect();
        assert!(sources.len() >= 2, "{found:#?}");
        assert!(found.next.is_some(), "{found:#?}");
        let verdict = self.json["verdict"].as_array().expect("sentences");
        assert!(verdict.len() >= 2, "{}", self.ended);
        Some(found)
    }

    /// True when the test had not the CPU time that it needs in order to be limited by anything else.
    pub fn disturbed(&self) -> bool {
        let is_short = |rule: &str| ["neighbour_interference", "host_busy"].contains(&rule);
        match self.limit() {
            Some(found) => is_short(&found.rule),
            // A thread that had no CPU for a part of the time computes too little to be the limit by itself.
            None => {
                let mut found = sokudo_analyze::findings(&self.record).into_iter();
                found.any(|finding| is_short(&finding.rule))
            }
        }
    }
}

/// A long way between two hosts, or `None` where there cannot be one.
fn long_way(hosts: &Hosts) -> Option<Way> {
    let delay = || Script::new().delay(DELAY);
    Way::open(hosts, delay(), delay())
}

#[test]
fn a_small_receive_buffer_on_a_long_way() {
    let Some(hosts) = Hosts::new(2) else { return };
    let Some(_way) = long_way(&hosts) else { return };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("stream", "--rcvbuf 64KiB --duration 3s");
    let found = told.limited_by(
        "receive_window_limited",
        [
            "tcp.receive_window_limited_seconds",
            "stream.read_idle_ratio",
        ],
    );
    if let Some(found) = found {
        let next = found.next.expect("something to try");
        assert_eq!(next.key, "rule-receive-window-next");
    }
}

#[test]
fn a_small_send_buffer_on_a_long_way() {
    let Some(hosts) = Hosts::new(2) else { return };
    let Some(_way) = long_way(&hosts) else { return };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("stream", "--sndbuf 64KiB --duration 3s");
    told.limited_by(
        "send_buffer_limited",
        [
            "tcp.send_buffer_limited_seconds",
            "stream.write_blocked_ratio",
        ],
    );
}

#[test]
fn a_narrow_link() {
    let Some(hosts) = Hosts::new(2) else { return };
    let narrow = Tbf {
        rate_bits_per_s: 20_000_000,
        burst_bytes: 16_000,
        limit_bytes: 150_000,
    };
    if let Err(reason) = hosts.limit_path_to(1, narrow) {
        return skip(reason);
    }
    let place = place();
    let pair = Pair::new(&place, &hosts, hosts.address(1));
    let told = pair.run("stream", "--cc cubic --duration 4s");
    told.limited_by(
        "path_limited",
        ["tcp.smoothed_rtt_seconds", "stream.write_blocked_ratio"],
    );
}

/// The asking host's own device carries this much, and its queue holds that much.
#[track_caller]
fn behind_its_own_device(workload: &str, options: &str, limit_bytes: u32) {
    let Some(hosts) = Hosts::new(2) else { return };
    let shaper = Tbf {
        rate_bits_per_s: 20_000_000,
        burst_bytes: 16_000,
        limit_bytes,
    };
    if let Err(reason) = hosts.limit_sending(0, shaper) {
        return skip(reason);
    }
    let place = place();
    let pair = Pair::new(&place, &hosts, hosts.address(1));
    let told = pair.run(workload, options);
    let found = told.limited_by(
        "device_queue",
        ["host.qdisc_overlimits", "host.nic_send_bytes_per_second"],
    );
    if let Some(found) = found {
        let device = Arg::Word("eth0".into());
        assert_eq!(found.says.args["device"], device, "{found:#?}");
    }
}

#[test]
fn a_shaper_of_the_senders_own_device() {
    behind_its_own_device("stream", "--cc cubic --duration 4s", 150_000);
}

#[test]
fn datagrams_behind_a_shaper_of_the_senders_own_device() {
    behind_its_own_device("datagram", "--rate 40Mb/s --duration 3s", 150_000);
}

#[test]
fn a_short_queue_of_the_senders_own_device() {
    behind_its_own_device("datagram", "--rate 40Mb/s --duration 3s", 17_000);
}

#[test]
fn requests_behind_a_shaper_of_the_askers_own_device() {
    let large = "--size 32KiB:64 --window 8 --duration 3s";
    behind_its_own_device("rr", large, 150_000);
}

#[test]
fn loss_on_a_long_way() {
    let Some(hosts) = Hosts::new(2) else { return };
    let lossy = Script::new().delay(DELAY).drop_every(60);
    let Some(way) = Way::open(&hosts, lossy, Script::new().delay(DELAY)) else {
        return;
    };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("stream", "--cc cubic --duration 4s");
    assert!(way.counts().dropped > 0);
    told.limited_by(
        "loss_limited",
        ["tcp.retransmitted_segments", "stream.read_idle_ratio"],
    );
}

#[test]
fn a_small_window_of_messages_on_a_long_way() {
    let Some(hosts) = Hosts::new(2) else { return };
    let Some(_way) = long_way(&hosts) else { return };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("bus", "--inflight 16 --duration 3s");
    told.limited_by("window_full", ["bus.backlog_ratio", "bus.read_idle_ratio"]);
}

#[test]
fn a_slow_consumer_of_messages() {
    let place = place();
    let server = serve(&place);
    let line = format!(
        "bus {} --rx queue --consume-rate 500/s --duration 3s --json",
        server.address
    );
    let told = Told::of(&place, place.run(&line));
    let found = told.limited_by(
        "application_limited",
        ["bus.read_idle_ratio", "tcp.receive_queue_bytes"],
    );
    if let Some(found) = found {
        assert_eq!(found.says.key, "rule-application-reader-says");
    }
}

#[test]
fn a_slow_reader() {
    let place = place();
    let server = serve(&place);
    let line = format!(
        "stream {} --read-rate 20Mb/s --duration 3s --json",
        server.address
    );
    let told = Told::of(&place, place.run(&line));
    let found = told.limited_by(
        "application_limited",
        [
            "stream.read_idle_ratio",
            "tcp.receive_window_limited_seconds",
        ],
    );
    if let Some(found) = found {
        assert_eq!(found.says.key, "rule-application-reader-says");
    }
}

#[test]
fn a_rate_that_was_asked_for() {
    let place = place();
    let server = serve(&place);
    let line = format!(
        "stream {} --rate 20Mb/s --duration 3s --json",
        server.address
    );
    let told = Told::of(&place, place.run(&line));
    let found = told.limited_by(
        "application_limited",
        ["stream.received_bytes", "stream.write_blocked_ratio"],
    );
    if let Some(found) = found {
        assert_eq!(found.says.key, "rule-application-asked-says");
    }
}

#[test]
fn a_sender_that_computes() {
    let place = place();
    let server = serve(&place);
    // A system call for each 64 bytes: the receiver takes what comes in large pieces.
    let line = format!("stream {} --size 64 --duration 3s --json", server.address);
    let told = Told::of(&place, place.run(&line));
    told.limited_by(
        "sender_cpu_limited",
        ["stream.sender_cpu_ratio", "stream.write_blocked_ratio"],
    );
}

#[test]
fn an_encrypted_stream_computes_too() {
    let place = place();
    let server = serve(&place);
    let line = format!(
        "stream {} --transport tls --duration 3s --json",
        server.address
    );
    let told = Told::of(&place, place.run(&line));
    if told.disturbed() {
        return skip("other programs use this machine's cores");
    }
    // Both ends encrypt as much as they can; which of them has less time left is the machine's.
    let found = told.limit().unwrap_or_else(|| panic!("{}", told.ended));
    assert!(found.rule.ends_with("_cpu_limited"), "{}", told.ended);
    let next = found.next.expect("something to try");
    assert_eq!(next.key, "rule-cpu-encrypted-next");
}

/// Threads of this test that use one core for as long as this lives.
struct Hog {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Hog {
    fn on(core: usize, threads: usize) -> Self {
        let stop: Arc<AtomicBool> = Arc::default();
        let spin = |_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                pin(core);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..threads).map(spin).collect();
        Self { stop, threads }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("spinning cannot fail");
        }
    }
}

/// Keeps the calling thread, and processes that it starts, on one core.
fn pin(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).expect("a core of this machine");
}

/// Starts a command that stays on one core.
fn on_core<T: Send + 'static>(
    core: usize,
    command: Sokudo,
    start: impl FnOnce(Sokudo) -> T + Send + 'static,
) -> T {
    let pinned = std::thread::spawn(move || {
        pin(core);
        start(command)
    });
    pinned.join().expect("the program keeps its bound")
}

/// A stream whose sender or receiver shares its core with three hogs.
fn beside_hogs(end: &str) -> Option<Told> {
    if available_parallelism().map_or(1, usize::from) < 2 {
        skip("one core is not enough for a program and its neighbours");
        return None;
    }
    let place = place();
    let own = || place.sokudo("serve --bind 127.0.0.1:0");
    let server = match end {
        "receiver" => on_core(0, own(), serve_with),
        _ => serve(&place),
    };
    let line = format!("stream {} --size 4KiB --duration 3s --json", server.address);
    let hog = Hog::on(0, 3);
    let ended = match end {
        "sender" => on_core(0, place.sokudo(&line), Sokudo::run),
        _ => place.run(&line),
    };
    drop(hog);
    Some(Told::of(&place, ended))
}

/// Fails unless neighbours are named, with who used the core.
#[track_caller]
fn disturbed_by_neighbours(told: &Told, waited: &str) {
    let found = told.limited_by("neighbour_interference", [waited, "host.pressure_ratio"]);
    // Where the whole machine is busy, that is told, and the test is skipped.
    let Some(found) = found else { return };
    let mut rows = found.evidence.iter();
    let others = rows.any(|row| row.says.key == "evidence-others-cpu");
    assert!(others, "{found:#?}");
}

#[test]
fn neighbours_on_the_core_of_the_sender() {
    if let Some(told) = beside_hogs("sender") {
        disturbed_by_neighbours(&told, "stream.sender_wait_ratio");
    }
}

#[test]
fn neighbours_on_the_core_of_the_receiver() {
    if let Some(told) = beside_hogs("receiver") {
        disturbed_by_neighbours(&told, "stream.receiver_wait_ratio");
    }
}

#[test]
fn requests_that_come_faster_than_answers() {
    let Some(hosts) = Hosts::new(2) else { return };
    let Some(_way) = long_way(&hosts) else { return };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    // One at a time takes 40 ms each: 25 per second, not 200.
    let told = pair.run("rr", "--rate 200/s --duration 2s");
    told.limited_by(
        "window_full",
        ["rr.window_full_ratio", "rr.service_seconds.p99"],
    );
}

/// Time for which a process is kept from running.
const STALL: Duration = Duration::from_millis(500);

fn stop(process: &Running) {
    kill_process(pid(process), Signal::STOP).expect("it runs");
}

fn go_on(process: &Running) {
    kill_process(pid(process), Signal::CONT).expect("it is stopped");
}

/// Fails unless the asking end is named as the one that was late, or that stood still.
#[track_caller]
fn asking_end_was_late(told: &Told) {
    let asking = Arg::Word(told.record.manifest.hosts[0].name.clone());
    let late = told.record.findings.iter().find(|f| {
        let so = f.says.args.get("so");
        let stood_still = f.says.key == "rule-interrupted-program-says";
        let is_asking = f.says.args.get("host") == Some(&asking);
        f.rule == "generator_limited" || so.is_some() || (stood_still && is_asking)
    });
    let late = late.unwrap_or_else(|| panic!("{}", told.ended));
    assert!(late.evidence.len() >= 2, "{late:#?}");
    let mut findings = told.record.findings.iter();
    assert!(findings.all(|f| f.rule != "window_full"), "{}", told.ended);
}

#[test]
fn an_asking_end_that_stood_still_is_late() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "rr --duration 8s");
    // Most likely between two requests; the next test has one under way for certain.
    stop(&client);
    std::thread::sleep(STALL);
    go_on(&client);
    asking_end_was_late(&Told::of(&place, client.finish()));
}

#[test]
fn an_asking_end_that_stood_still_with_an_answer_unread_is_late() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "rr --duration 8s");
    stop(&server.running);
    // Ten requests are due meanwhile: one is under way.
    std::thread::sleep(Duration::from_millis(20));
    stop(&client);
    go_on(&server.running);
    std::thread::sleep(STALL);
    go_on(&client);
    asking_end_was_late(&Told::of(&place, client.finish()));
}

#[test]
fn a_thread_that_spins_says_so() {
    let place = place();
    let server = serve(&place);
    let line = format!("rr {} --wait spin --duration 2s --json", server.address);
    let told = Told::of(&place, place.run(&line));
    if told.json["summary"]["rr.client_cpu_ratio"]
        .as_f64()
        .unwrap_or(0.0)
        < 0.8
    {
        return skip("other programs use this machine's cores");
    }
    let spins = told.record.findings.iter().find(|f| f.rule == "spinning");
    let spins = spins.unwrap_or_else(|| panic!("{}", told.ended));
    assert!(spins.evidence.len() >= 2, "{spins:#?}");
}
