//! Phases of several hosts in one process, with a relay in between.
//!
//! ```text
//! Play::prepare ─► offers ─► (ports replaced by relays) ─► arm ─► start ─► sent ─► drain ─► join
//! ```

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sokudo_i18n::english;
use sokudo_load_network::datagram::{Datagram, DatagramOptions, flows};
use sokudo_model::{
    Batch, FlowResult, HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId, Summary,
};
use sokudo_net::clock::now_ns;
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::{Options, Relay, Script};
use sokudo_workload::{Emitted, HostResult, Options as _, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);

/// Time from making the threads to the start of load, nanoseconds.
pub const LEAD_NS: i64 = 50_000_000;

/// A phase with all its hosts in this process.
pub struct Play {
    pub specs: Vec<PhaseSpec>,
    pub phases: Vec<Option<Box<dyn Phase>>>,
    emitted: Vec<Receiver<Emitted>>,
    said: Vec<Option<String>>,
    pub batches: Vec<Batch>,
    local: Option<Arc<Hosts>>,
}

/// Options from JSON fields over the defaults; `idle_timeout` is long enough for a busy machine.
pub fn options(fields: &str) -> DatagramOptions {
    let text = format!(r#"{{"idle_timeout":"2s","interval":"50ms",{fields}}}"#);
    serde_json::from_str(&text).expect("options of a test")
}

/// Specification of a phase for each of the hosts with these addresses.
pub fn specs(options: &DatagramOptions, addresses: &[IpAddr]) -> Vec<PhaseSpec> {
    let hosts: Vec<HostSpec> = addresses
        .iter()
        .enumerate()
        .map(|(index, address)| HostSpec {
            name: format!("host{index}"),
            address: address.to_string(),
        })
        .collect();
    let flows = flows(hosts.len() as u32, options.streams, options.direction);
    let tickets = (0..flows.len() as u64)
        .map(|id| 0x7e57_0000_0000_0001 + id)
        .collect();
    let spec = PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "truth".into(),
            workload: "datagram".into(),
            options: options.to_json(),
            flows,
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
        hosts,
        me: 0,
        seed: 7,
        tickets,
    };
    let for_host = |me| PhaseSpec { me, ..spec.clone() };
    (0..addresses.len() as u32).map(for_host).collect()
}

/// `n` hosts that are all this machine, under different loopback addresses.
pub fn loopback(n: u8) -> Vec<IpAddr> {
    (1..=n)
        .map(|last| IpAddr::from([127, 0, 0, last]))
        .collect()
}

impl Play {
    /// Prepares all hosts at these addresses of this machine.
    pub fn prepare(options: &DatagramOptions, addresses: &[IpAddr]) -> Result<Self, Refusal> {
        Self::with(specs(options, addresses), None)
    }

    /// Prepares all hosts as local hosts of their own.
    pub fn on_hosts(options: &DatagramOptions, local: Arc<Hosts>) -> Result<Self, Refusal> {
        let addresses: Vec<IpAddr> = (0..2).map(|i| local.address(i)).collect();
        Self::with(specs(options, &addresses), Some(local))
    }

    fn with(specs: Vec<PhaseSpec>, local: Option<Arc<Hosts>>) -> Result<Self, Refusal> {
        let mut play = Self {
            phases: Vec::new(),
            emitted: Vec::new(),
            said: vec![None; specs.len()],
            batches: Vec::new(),
            local,
            specs: specs.clone(),
        };
        for (index, spec) in specs.into_iter().enumerate() {
            let (emit, emitted) = mpsc::channel();
            let prepare = move || {
                let emit = Arc::new(move |said| {
                    // The receiver goes when a test has seen enough.
                    let _ = emit.send(said);
                });
                Datagram.prepare(spec, emit)
            };
            let phase = on(play.local.as_deref(), index, prepare)?;
            play.phases.push(Some(phase));
            play.emitted.push(emitted);
        }
        Ok(play)
    }

    /// Does the same on all hosts that are left at the same time, as agents do.
    fn each<T: Send + 'static>(
        &mut self,
        what: impl Fn(&mut dyn Phase) -> T + Send + Sync + Clone + 'static,
    ) -> Vec<Option<T>> {
        let local = self.local.as_deref();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .phases
                .iter_mut()
                .enumerate()
                .map(|(index, slot)| {
                    let what = what.clone();
                    scope.spawn(move || {
                        let mut phase = slot.take()?;
                        let (phase, done) = on(local, index, move || {
                            let done = what(phase.as_mut());
                            (phase, done)
                        });
                        *slot = Some(phase);
                        Some(done)
                    })
                })
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, Option<T>>| {
                thread.join().expect("a host's part does not panic")
            };
            threads.into_iter().map(join).collect()
        })
    }

    pub fn offers(&self) -> Vec<Option<String>> {
        let offer = |phase: &Option<Box<dyn Phase>>| phase.as_ref().map(|phase| phase.offer());
        self.phases.iter().map(offer).collect()
    }

    /// Puts a relay in front of host `to`, for its first stream.
    pub fn relay(&self, offers: &mut [Option<String>], to: usize, script: Script) -> Relay {
        self.relay_both_ways(offers, to, script, Script::new())
    }

    /// As [`Play::relay`], with a script for the acknowledgements, too.
    pub fn relay_both_ways(
        &self,
        offers: &mut [Option<String>],
        to: usize,
        forward: Script,
        backward: Script,
    ) -> Relay {
        let text = offers[to].take().expect("the host has made an offer");
        let mut offer: serde_json::Value = serde_json::from_str(&text).expect("offers are JSON");
        let port = offer["ports"]["0"].as_u64().expect("a port") as u16;
        let local: IpAddr = self.specs[0].hosts[to].address.parse().expect("an address");
        let relay = Relay::with(Options {
            local,
            target: SocketAddr::new(local, port),
            forward,
            backward,
        })
        .expect("start the relay");
        offer["ports"]["0"] = relay.address().port().into();
        offers[to] = Some(offer.to_string());
        relay
    }

    pub fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let offers = offers.to_vec();
        let armed = self.each(move |phase| phase.arm(&offers));
        armed.into_iter().flatten().collect()
    }

    pub fn start(&mut self) {
        let t0_ns = now_ns();
        let started = self.each(move |phase| phase.start(t0_ns + LEAD_NS, t0_ns));
        for result in started.into_iter().flatten() {
            result.expect("start");
        }
    }

    /// Waits until every host that is left has said what it sent.
    pub fn sent(&mut self) -> Vec<Option<String>> {
        let until = Instant::now() + BOUND;
        for index in 0..self.phases.len() {
            while self.phases[index].is_some() && self.said[index].is_none() {
                self.listen(index, until);
            }
        }
        self.said.clone()
    }

    /// Waits until host `index` has shown in its series that datagrams are on their way.
    pub fn first_rate(&mut self, index: usize) {
        let until = Instant::now() + BOUND;
        let host = self.specs[0].hosts[index].name.clone();
        let moves = |batch: &Batch| {
            batch.series.iter().any(|series| {
                let rate = series.key.metric.ends_with("_packets_per_second");
                rate && series.key.host == host && series.points.iter().any(|point| point.1 > 0.0)
            })
        };
        while !self.batches.iter().any(moves) {
            self.listen(index, until);
        }
    }

    /// Waits for the next thing that host `index` says.
    fn listen(&mut self, index: usize, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        match self.emitted[index].recv_timeout(left) {
            Ok(Emitted::Sent(text)) => self.said[index] = Some(text),
            Ok(Emitted::Batch(batch)) => self.batches.push(batch),
            other => panic!("host {index}: {other:?}"),
        }
    }

    /// Drains all hosts and joins what they measured; hosts that are gone have nothing.
    pub fn drain(&mut self, sent: Vec<Option<String>>) -> PhaseResult {
        let results: Vec<HostResult> = self
            .each(move |phase| phase.drain(&sent))
            .into_iter()
            .map(|done| match done {
                Some(Ok(text)) => Ok(text),
                Some(Err(refusal)) => Err(english(&refusal.says)),
                None => Err("lost".into()),
            })
            .collect();
        for emitted in &self.emitted {
            let batches = emitted.try_iter().filter_map(|said| match said {
                Emitted::Batch(batch) => Some(batch),
                _ => None,
            });
            self.batches.extend(batches);
        }
        Datagram.join(&self.specs[0], &results).expect("options")
    }

    /// Everything after the offers.
    pub fn finish(&mut self, offers: &[Option<String>]) -> PhaseResult {
        self.arm(offers).expect("arm");
        self.start();
        let sent = self.sent();
        self.drain(sent)
    }
}

/// Runs `f` on local host `index`, or here when there is none.
fn on<T: Send + 'static>(
    local: Option<&Hosts>,
    index: usize,
    f: impl FnOnce() -> T + Send + 'static,
) -> T {
    match local {
        Some(hosts) => hosts.run_in(index, f),
        None => f(),
    }
}

/// Plays a phase between `hosts` loopback addresses.
pub fn play(options: &DatagramOptions, hosts: u8) -> PhaseResult {
    let mut play = Play::prepare(options, &loopback(hosts)).expect("prepare");
    let offers = play.offers();
    play.finish(&offers)
}

/// Plays until the machine itself lost nothing, three times at most: on a busy machine a receiver
/// may come too late for its buffer, which is measured rightly but is not in the script.
pub fn undisturbed(mut play: impl FnMut() -> (PhaseResult, bool)) -> PhaseResult {
    for attempt in 1.. {
        let (result, own_loss) = play();
        let dropped = result
            .summary
            .get("datagram.lost_at_receiver_socket_packets");
        let undisturbed = !own_loss && dropped.is_none_or(|dropped| *dropped == 0.0);
        if undisturbed || attempt == 3 {
            return result;
        }
    }
    unreachable!("the loop ends at its third turn")
}

/// Plays with a relay in front of host 1 that follows a script.
pub fn play_script(options: &DatagramOptions, script: impl Fn() -> Script) -> PhaseResult {
    undisturbed(|| {
        let mut play = Play::prepare(options, &[[127, 0, 0, 1].into(); 2]).expect("prepare");
        let mut offers = play.offers();
        let relay = play.relay(&mut offers, 1, script());
        let result = play.finish(&offers);
        let counts = relay.counts();
        assert_eq!(counts.refused, 0, "the relay could not pass everything on");
        (result, counts.overflowed.is_some_and(|n| n > 0))
    })
}

/// A number of a summary or flow.
#[track_caller]
pub fn value(metrics: &Summary, name: &str) -> f64 {
    let full = format!("datagram.{name}");
    *metrics
        .get(&full)
        .unwrap_or_else(|| panic!("{full} is missing in {metrics:?}"))
}

/// The only flow.
#[track_caller]
pub fn only_flow(result: &PhaseResult) -> &FlowResult {
    let [flow] = result.flows.as_slice() else {
        panic!("{} flows", result.flows.len())
    };
    flow
}

/// Checks numbers by their names without the prefix.
#[track_caller]
pub fn check(metrics: &Summary, expected: &[(&str, f64)]) {
    for (name, expected) in expected {
        let found = value(metrics, name);
        let close = (found - expected).abs() <= 1e-9 * expected.abs();
        assert!(close, "{name} is {found}, not {expected}\n{metrics:#?}");
    }
}

/// Tests that load both cores or measure rates take turns.
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
