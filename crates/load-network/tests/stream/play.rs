//! A stream phase of two hosts, run in one process.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::stream::{NAME, Stream, StreamOptions, flows};
use sokudo_model::{
    Batch, FlowResult, HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId,
};
use sokudo_net::clock::now_ns;
use sokudo_testkit::hosts::Hosts;
use sokudo_workload::{Emitted, HostResult, Options, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);

/// A plan and where it is played.
pub struct Plan {
    options: StreamOptions,
    hosts: Option<Arc<Hosts>>,
}

/// Options from JSON fields over the defaults, played over loopback.
pub fn stream(fields: &str) -> Plan {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    Plan {
        options: serde_json::from_str(&text).expect("options of a test"),
        hosts: None,
    }
}

/// Outcome of a phase.
pub struct Played {
    pub result: PhaseResult,
    pub batches: Vec<Batch>,
}

impl Played {
    /// A total of the phase, without the name of the workload.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        let value = self.result.summary.get(&format!("{NAME}.{name}")).copied();
        value.unwrap_or_else(|| panic!("{name} is missing in {:?}", self.result))
    }

    /// The only flow.
    pub fn flow(&self) -> &FlowResult {
        &self.result.flows[0]
    }

    /// Error of the only flow; empty when there is none.
    pub fn error(&self) -> &str {
        self.flow().labels.get("error").map_or("", String::as_str)
    }

    /// Points of a series, all flows together.
    pub fn points(&self, metric: &str) -> Vec<(i64, f64)> {
        let series = self.batches.iter().flat_map(|batch| &batch.series);
        let of = series.filter(|series| series.key.metric == metric);
        of.flat_map(|series| series.points.clone()).collect()
    }

    /// Every flow is whole and every byte has arrived; returns how many.
    #[track_caller]
    pub fn expect_whole(&self) -> f64 {
        assert!(
            self.result.flows.iter().all(|flow| flow.complete),
            "{:?}",
            self.result.flows
        );
        assert_eq!(self.get("missing_bytes"), 0.0);
        assert_eq!(self.get("sent_bytes"), self.get("received_bytes"));
        self.get("received_bytes")
    }
}

/// Changes what one host says of where it is called.
pub type Redirect<'a> = &'a dyn Fn(u16) -> u16;

impl Plan {
    /// Plays it on local hosts of their own.
    pub fn on(mut self, hosts: Arc<Hosts>) -> Self {
        self.hosts = Some(hosts);
        self
    }

    fn address(&self, host: usize) -> IpAddr {
        match &self.hosts {
            Some(hosts) => hosts.address(host),
            None => Ipv4Addr::LOCALHOST.into(),
        }
    }

    fn spec(&self, me: u32) -> PhaseSpec {
        let host = |index: usize| HostSpec {
            name: format!("host{index}"),
            address: self.address(index).to_string(),
        };
        let flows = flows(2, self.options.streams, self.options.direction);
        PhaseSpec {
            run: RunId("test".into()),
            hosts: vec![host(0), host(1)],
            me,
            seed: 7,
            tickets: (1..=flows.len() as u64).collect(),
            phase: PhasePlan {
                name: "truth".into(),
                workload: NAME.into(),
                options: self.options.to_json(),
                flows,
                duration_ns: self.options.duration_ns(),
                bound_ns: BOUND.as_nanos() as u64 / 2,
                labels: BTreeMap::new(),
            },
        }
    }

    /// Does something where the host is.
    fn at<T: Send + 'static>(&self, host: usize, what: impl FnOnce() -> T + Send + 'static) -> T {
        match &self.hosts {
            Some(hosts) => hosts.run_in(host, what),
            None => what(),
        }
    }

    fn prepare(&self, me: u32) -> Result<(Box<dyn Phase>, Receiver<Emitted>), Refusal> {
        let (emit, emitted) = mpsc::channel();
        let spec = self.spec(me);
        let prepare = move || {
            let emit = Arc::new(move |said| {
                // The receiver goes when a test has seen enough.
                let _ = emit.send(said);
            });
            Stream.prepare(spec, emit)
        };
        Ok((self.at(me as usize, prepare)?, emitted))
    }

    /// Plays it to its end.
    pub fn play(&self) -> Played {
        self.play_through(&|port| port)
    }

    /// The same; calls to host 1 go through what listens at the port that `redirect` gives.
    pub fn play_through(&self, redirect: Redirect<'_>) -> Played {
        self.try_play(redirect)
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)))
    }

    /// The same; a refusal of any step is an error.
    pub fn try_play(&self, redirect: Redirect<'_>) -> Result<Played, Refusal> {
        let (mut near, near_said) = self.prepare(0)?;
        let (mut far, far_said) = self.prepare(1)?;
        let offers = [Some(near.offer()), Some(redirected(&far.offer(), redirect))];
        let at_ns = now_ns() + 50_000_000;
        let (theirs, at) = (offers.clone(), at_ns);
        let mut far = self.at(1, move || far.arm(&theirs).map(|()| far))?;
        let (mut near, far) = (
            self.at(0, move || near.arm(&offers).map(|()| near))?,
            self.at(1, move || far.start(at, at).map(|()| far))?,
        );
        let near = self.at(0, move || near.start(at_ns, at_ns).map(|()| near))?;
        let mut batches = Vec::new();
        let sent = [&near_said, &far_said].map(|said| until_sent(said, &mut batches));
        // Both at once, as the controller asks them: each may wait for the other.
        let results: Vec<HostResult> = std::thread::scope(|scope| {
            let drains = [near, far].map(|mut phase| {
                let sent = &sent;
                scope.spawn(move || phase.drain(sent).map_err(|refusal| english(&refusal.says)))
            });
            let joined = drains.map(|drain| drain.join().expect("no panic"));
            joined.into_iter().collect()
        });
        for said in [near_said, far_said] {
            batches.extend(said.try_iter().filter_map(|said| match said {
                Emitted::Batch(batch) => Some(batch),
                _ => None,
            }));
        }
        Ok(Played {
            result: Stream.join(&self.spec(0), &results).expect("options"),
            batches,
        })
    }
}

/// An offer with other ports.
fn redirected(offer: &str, redirect: Redirect<'_>) -> String {
    let mut out = String::new();
    let mut rest = offer;
    while let Some((before, after)) = rest.split_once(r#""Port":"#) {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let port = after[..digits].parse().expect("a port");
        out += &format!(r#"{before}"Port":{}"#, redirect(port));
        rest = &after[digits..];
    }
    out + rest
}

/// Last word of a host that has written everything; what it says before is added to `batches`.
fn until_sent(said: &Receiver<Emitted>, batches: &mut Vec<Batch>) -> Option<String> {
    loop {
        match said.recv_timeout(BOUND).expect("it ends within the bound") {
            Emitted::Batch(batch) => batches.push(batch),
            Emitted::Sent(text) => return Some(text),
            other => panic!("{other:?}"),
        }
    }
}
