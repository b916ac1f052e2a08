//! Phases of several hosts, run in one process.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::bus::{Bus, BusOptions, flows};
use sokudo_model::{FlowPlan, HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId};
use sokudo_net::clock::now_ns;
use sokudo_workload::{Emitted, HostResult, Options, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);

/// A plan of some hosts.
pub struct Plan {
    hosts: u32,
    options: BusOptions,
    flows: Vec<FlowPlan>,
}

/// Options from JSON fields over the defaults, for two hosts.
pub fn bus(fields: &str) -> Plan {
    among(2, fields)
}

/// The same for more hosts.
pub fn among(hosts: u32, fields: &str) -> Plan {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    let options: BusOptions = serde_json::from_str(&text).expect("options of a test");
    Plan {
        hosts,
        flows: flows(hosts, &options),
        options,
    }
}

/// Outcome of a phase.
pub struct Played {
    pub result: PhaseResult,
    /// From before the start until everything was collected.
    pub elapsed: Duration,
}

impl Played {
    /// A total of the phase.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        let value = self.result.summary.get(name).copied();
        value.unwrap_or_else(|| panic!("{name} is missing in {:?}", self.result.summary))
    }

    /// Error of the first flow; empty when there is none.
    pub fn error(&self) -> &str {
        let error = self.result.flows[0].labels.get("error");
        error.map_or("", String::as_str)
    }

    /// True when every flow is whole.
    pub fn is_whole(&self) -> bool {
        self.result.flows.iter().all(|flow| flow.complete)
    }
}

impl Plan {
    fn spec(&self, me: u32) -> PhaseSpec {
        let host = |index: u32| HostSpec {
            name: format!("host{index}"),
            address: "127.0.0.1".into(),
        };
        let duration_ns = self.options.duration_ns();
        PhaseSpec {
            run: RunId("test".into()),
            phase: PhasePlan {
                name: "truth".into(),
                workload: "bus".into(),
                options: self.options.to_json(),
                flows: self.flows.clone(),
                duration_ns,
                bound_ns: BOUND.as_nanos() as u64 / 2,
                labels: BTreeMap::new(),
            },
            hosts: (0..self.hosts).map(host).collect(),
            me,
            seed: 7,
            tickets: (1..=self.flows.len() as u64).collect(),
        }
    }

    fn prepare(&self, me: u32) -> Result<(Box<dyn Phase>, Receiver<Emitted>), Refusal> {
        let (emit, emitted) = mpsc::channel();
        let emit = Arc::new(move |said| {
            // The receiver goes when a test has seen enough.
            let _ = emit.send(said);
        });
        Ok((Bus.prepare(self.spec(me), emit)?, emitted))
    }

    /// Plays it between hosts of our own.
    #[track_caller]
    pub fn play(&self) -> Played {
        self.try_play()
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)))
    }

    /// The same; a refusal of any step is an error.
    pub fn try_play(&self) -> Result<Played, Refusal> {
        self.try_play_beside(|_| ())
    }

    /// The same while something goes on that knows what the last host offers.
    pub fn try_play_beside<T>(&self, begin: impl FnOnce(&str) -> T) -> Result<Played, Refusal> {
        let hosts: Result<Vec<_>, Refusal> = (0..self.hosts).map(|me| self.prepare(me)).collect();
        let mut hosts = hosts?;
        let offers: Vec<_> = hosts.iter().map(|(host, _)| Some(host.offer())).collect();
        let last = offers.last().and_then(Option::as_deref);
        let _beside = last.map(begin);
        for (host, _) in &mut hosts {
            host.arm(&offers)?;
        }
        let begun_ns = now_ns();
        let at_ns = begun_ns + 20_000_000;
        for (host, _) in &mut hosts {
            host.start(at_ns, at_ns)?;
        }
        for (_, emitted) in &hosts {
            until_sent(emitted);
        }
        let sent = vec![Some("{}".to_owned()); hosts.len()];
        let results: Result<Vec<String>, Refusal> = hosts
            .iter_mut()
            .map(|(host, _)| host.drain(&sent))
            .collect();
        let results: Vec<HostResult> = results?.into_iter().map(Ok).collect();
        Ok(Played {
            result: Bus.join(&self.spec(0), &results).expect("options"),
            elapsed: since(begun_ns),
        })
    }

    /// The offer of a far end of the test.
    fn offer_of(&self, far_end: SocketAddr) -> Option<String> {
        let port = far_end.port();
        let places: Vec<String> = (0..self.flows.len())
            .map(|flow| format!(r#""{flow}":{{"Port":{port}}}"#))
            .collect();
        Some(format!(
            r#"{{"places":{{{}}},"tls_key":null}}"#,
            places.join(",")
        ))
    }

    /// The refusal to load a far end of the test.
    pub fn refused_by(&self, far_end: SocketAddr) -> Refusal {
        let (mut sending, _) = self.prepare(0).expect("a host that can send");
        let armed = sending.arm(&[None, self.offer_of(far_end)]);
        armed.expect_err("it did not agree")
    }

    /// Plays it against a far end of the test.
    pub fn play_against(&self, far_end: SocketAddr) -> Played {
        let (mut sending, emitted) = self.prepare(0).expect("a host that can send");
        sending
            .arm(&[None, self.offer_of(far_end)])
            .expect("a far end that can be called");
        let begun_ns = now_ns();
        let at_ns = begun_ns + 20_000_000;
        sending.start(at_ns, at_ns).expect("threads");
        until_sent(&emitted);
        let sent = sending.drain(&[None, None]).expect("numbers");
        let results = vec![Ok(sent), Err("not ours".into())];
        Played {
            result: Bus.join(&self.spec(0), &results).expect("options"),
            elapsed: since(begun_ns),
        }
    }
}

fn since(begun_ns: i64) -> Duration {
    Duration::from_nanos((now_ns() - begun_ns) as u64)
}

/// Waits until everything has been sent.
fn until_sent(emitted: &Receiver<Emitted>) {
    loop {
        match emitted
            .recv_timeout(BOUND)
            .expect("the sending ends within the bound")
        {
            Emitted::Batch(_) => {}
            Emitted::Sent(_) => return,
            other => panic!("{other:?}"),
        }
    }
}
