//! A probe between two hosts in one process, with a relay in between.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::probe::{Probe, ProbeOptions};
use sokudo_load_network::rr::flows;
use sokudo_model::{Batch, HostClock, HostSpec, PhasePlan, PhaseResult, PhaseSpec, RunId};
use sokudo_net::clock::now_ns;
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::{Options, Relay, Script};
use sokudo_workload::flows::Direction;
use sokudo_workload::{Emitted, HostResult, Options as _, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);
/// The flow's secret number.
const TICKET: u64 = 0x5eed_5eed_5eed_5eed;

/// Outcome of a phase.
pub struct Played {
    pub result: PhaseResult,
    pub batches: Vec<Batch>,
}

impl Played {
    /// A total of the phase, if it is there.
    pub fn find(&self, name: &str) -> Option<f64> {
        self.result.summary.get(&format!("probe.{name}")).copied()
    }

    /// A total of the phase.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        let value = self.find(name);
        value.unwrap_or_else(|| panic!("{name} is missing in {:?}", self.result.summary))
    }

    /// Points of a series.
    pub fn points(&self, name: &str) -> Vec<(i64, f64)> {
        let name = format!("probe.{name}");
        let series = self.batches.iter().flat_map(|batch| &batch.series);
        let of = series.filter(|series| series.key.metric == name);
        of.flat_map(|series| series.points.clone()).collect()
    }
}

/// A probe to be played, over loopback unless something else is said.
pub struct Plan {
    options: ProbeOptions,
    addresses: [IpAddr; 2],
    clocks: Option<[HostClock; 2]>,
}

/// Options of `probe` from JSON fields over the defaults.
pub fn probe(fields: &str) -> Plan {
    let options: ProbeOptions =
        serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test");
    Plan {
        options,
        addresses: [Ipv4Addr::LOCALHOST.into(); 2],
        // Both hosts are this process.
        clocks: Some([HostClock::default(); 2]),
    }
}

/// The two ends of a phase before it starts.
pub struct Ends {
    pub asking: Box<dyn Phase>,
    pub answering: Box<dyn Phase>,
    emitted: Receiver<Emitted>,
}

impl Plan {
    /// Pretends that the clocks were compared with this outcome, or not at all.
    pub fn clocks(mut self, clocks: Option<[HostClock; 2]>) -> Self {
        self.clocks = clocks;
        self
    }

    /// Uses these addresses of the hosts.
    pub fn between(mut self, addresses: [IpAddr; 2]) -> Self {
        self.addresses = addresses;
        self
    }

    fn spec(&self, me: u32) -> PhaseSpec {
        let host = |index: usize| HostSpec {
            name: format!("host{index}"),
            address: self.addresses[index].to_string(),
        };
        PhaseSpec {
            run: RunId("test".into()),
            phase: PhasePlan {
                name: "truth".into(),
                workload: "probe".into(),
                options: self.options.to_json(),
                flows: flows(2, 1, Direction::Up),
                duration_ns: self.options.duration_ns(),
                bound_ns: BOUND.as_nanos() as u64 / 2,
                labels: BTreeMap::new(),
            },
            hosts: vec![host(0), host(1)],
            me,
            seed: 7,
            tickets: vec![TICKET],
        }
    }

    fn prepare(&self, me: u32) -> (Box<dyn Phase>, Receiver<Emitted>) {
        prepare(self.spec(me))
    }

    /// Both ends bound, on loopback.
    pub fn ends(&self) -> Ends {
        let (asking, emitted) = self.prepare(0);
        let (answering, _) = self.prepare(1);
        Ends {
            asking,
            answering,
            emitted,
        }
    }

    /// Plays it through a relay with a script for each direction.
    pub fn play_through(&self, forward: Script, backward: Script) -> Played {
        let mut ends = self.ends();
        let target = SocketAddr::new(self.addresses[1], port(&ends.answering.offer()));
        let relay = Relay::with(Options {
            local: Ipv4Addr::LOCALHOST.into(),
            target,
            forward,
            backward,
        });
        let relay = relay.expect("a relay");
        let offer = offer(relay.address().port());
        ends.asking.arm(&[None, Some(offer)]).expect("a far end");
        let played = self.carry_out(ends);
        for counts in [relay.counts(), relay.counts_backward()] {
            assert_eq!(counts.refused, 0, "the relay itself lost datagrams");
            assert_eq!(counts.overflowed.unwrap_or(0), 0, "the relay was too slow");
        }
        played
    }

    /// Plays it between hosts 0 and 1 of the testkit.
    pub fn play_on(&self, hosts: &Hosts) -> Played {
        let (near, far) = (self.spec(0), self.spec(1));
        let (mut asking, emitted) = hosts.run_in(0, || prepare(near));
        let answering = hosts.run_in(1, || prepare(far).0);
        let offers = [Some(asking.offer()), Some(answering.offer())];
        // Sockets live where they are made.
        let asking = hosts.run_in(0, move || {
            asking.arm(&offers).expect("a far end");
            asking
        });
        self.carry_out(Ends {
            asking,
            answering,
            emitted,
        })
    }

    /// Plays the rest of a phase whose asking end is armed.
    pub fn carry_out(&self, ends: Ends) -> Played {
        let (numbers, batches) = self.measure(ends);
        Played {
            result: self.join(&numbers.map(Ok)),
            batches,
        }
    }

    /// The numbers of both ends, and what was said on the way.
    pub fn measure(&self, ends: Ends) -> ([String; 2], Vec<Batch>) {
        let Ends {
            mut asking,
            mut answering,
            emitted,
        } = ends;
        answering.arm(&[None, None]).expect("nothing to connect");
        let at_ns = now_ns() + 20_000_000;
        answering.start(at_ns, at_ns).expect("threads");
        asking.start(at_ns, at_ns).expect("threads");
        let mut batches = until_sent(&emitted);
        if let Some([near, far]) = self.clocks {
            let clocks = [Some(near), Some(far)];
            asking.clocks(&clocks);
            answering.clocks(&clocks);
        }
        let asked = asking.drain(&[None, None]).expect("numbers");
        let answered = answering.drain(&[None, None]).expect("numbers");
        batches.extend(emitted.try_iter().filter_map(batch));
        ([asked, answered], batches)
    }

    /// Joins results of this plan.
    pub fn join(&self, results: &[HostResult]) -> PhaseResult {
        Probe.join(&self.spec(0), results).expect("options")
    }
}

fn prepare(spec: PhaseSpec) -> (Box<dyn Phase>, Receiver<Emitted>) {
    let (emit, emitted) = mpsc::channel();
    let emit = Arc::new(move |said| {
        // The receiver goes when a test has seen enough.
        let _ = emit.send(said);
    });
    let phase = Probe
        .prepare(spec, emit)
        .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)));
    (phase, emitted)
}

/// Port of the only flow in an offer.
pub fn port(offer: &str) -> u16 {
    let offer: serde_json::Value = serde_json::from_str(offer).expect("an offer");
    let port = offer["places"]["0"]["Port"].as_u64();
    port.and_then(|port| u16::try_from(port).ok())
        .expect("a port")
}

fn offer(port: u16) -> String {
    format!(r#"{{"places":{{"0":{{"Port":{port}}}}},"tls_key":null}}"#)
}

fn batch(said: Emitted) -> Option<Batch> {
    match said {
        Emitted::Batch(batch) => Some(batch),
        _ => None,
    }
}

/// Batches until all probes have been answered or given up.
fn until_sent(emitted: &Receiver<Emitted>) -> Vec<Batch> {
    let mut batches = Vec::new();
    loop {
        let said = emitted.recv_timeout(BOUND);
        match said.expect("probes end within the bound") {
            Emitted::Batch(batch) => batches.push(batch),
            Emitted::Sent(_) => return batches,
            other => panic!("{other:?}"),
        }
    }
}
