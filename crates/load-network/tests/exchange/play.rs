//! A phase of two hosts, run in one process.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::crr::{Crr, CrrOptions};
use sokudo_load_network::rr::{Rr, RrOptions, flows};
use sokudo_model::{Batch, FlowPlan, HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId};
use sokudo_net::clock::now_ns;
use sokudo_net::tls::PublicKey;
use sokudo_workload::{Emitted, HostResult, Options, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);

/// A plan with its workload.
pub struct Plan {
    workload: &'static dyn Workload,
    options: String,
    flows: Vec<FlowPlan>,
    duration_ns: u64,
}

/// Options of `rr` from JSON fields over the defaults.
pub fn rr(fields: &str) -> Plan {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    let options: RrOptions = serde_json::from_str(&text).expect("options of a test");
    Plan {
        workload: &Rr,
        options: options.to_json(),
        flows: flows(2, options.common.threads, options.common.direction),
        duration_ns: options.common.duration_ns(),
    }
}

/// Options of `crr` from JSON fields over the defaults.
pub fn crr(fields: &str) -> Plan {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    let options: CrrOptions = serde_json::from_str(&text).expect("options of a test");
    Plan {
        workload: &Crr,
        options: options.to_json(),
        flows: flows(2, options.common.threads, options.common.direction),
        duration_ns: options.common.duration_ns(),
    }
}

/// Outcome of a phase.
pub struct Played {
    pub result: PhaseResult,
    pub batches: Vec<Batch>,
}

impl Played {
    /// A total of the phase.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        let value = self.result.summary.get(name).copied();
        value.unwrap_or_else(|| panic!("{name} is missing in {:?}", self.result.summary))
    }

    /// First error of the only flow; empty when there is none.
    pub fn error(&self) -> &str {
        let error = self.result.flows[0].labels.get("error");
        error.map_or("", String::as_str)
    }

    /// Points of a series, all flows together.
    pub fn points(&self, metric: &str) -> Vec<(i64, f64)> {
        let series = self.batches.iter().flat_map(|batch| &batch.series);
        let of = series.filter(|series| series.key.metric == metric);
        of.flat_map(|series| series.points.clone()).collect()
    }
}

impl Plan {
    /// Name of the workload.
    pub fn name(&self) -> &'static str {
        self.workload.descriptor().name
    }

    fn spec(&self, me: u32) -> PhaseSpec {
        let host = |index: u32| HostSpec {
            name: format!("host{index}"),
            address: "127.0.0.1".into(),
        };
        PhaseSpec {
            run: RunId("test".into()),
            phase: PhasePlan {
                name: "truth".into(),
                workload: self.workload.descriptor().name.into(),
                options: self.options.clone(),
                flows: self.flows.clone(),
                duration_ns: self.duration_ns,
                bound_ns: BOUND.as_nanos() as u64 / 2,
                labels: BTreeMap::new(),
            },
            hosts: vec![host(0), host(1)],
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
        Ok((self.workload.prepare(self.spec(me), emit)?, emitted))
    }

    /// Plays it between two hosts of our own.
    pub fn play(&self) -> Played {
        self.try_play()
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)))
    }

    /// The same; a refusal of any step is an error.
    pub fn try_play(&self) -> Result<Played, Refusal> {
        self.try_play_beside(|_| ())
    }

    /// The same while something goes on that knows what the answering host offers.
    pub fn try_play_beside<T>(&self, begin: impl FnOnce(&str) -> T) -> Result<Played, Refusal> {
        let (mut asking, emitted) = self.prepare(0)?;
        let (mut answering, _said) = self.prepare(1)?;
        let offers = [Some(asking.offer()), Some(answering.offer())];
        let _beside = begin(&answering.offer());
        answering.arm(&offers)?;
        asking.arm(&offers)?;
        let at_ns = now_ns() + 20_000_000;
        answering.start(at_ns, at_ns)?;
        asking.start(at_ns, at_ns)?;
        let batches = until_sent(&emitted);
        let sent = [Some("{}".into()), None];
        let asked = asking.drain(&sent)?;
        let answered = answering.drain(&sent)?;
        Ok(self.joined(vec![Ok(asked), Ok(answered)], batches, &emitted))
    }

    /// Plays it against a far end of the test.
    pub fn play_against(&self, far_end: SocketAddr) -> Played {
        self.try_against(far_end, None)
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)))
    }

    /// The same; `key` is what the far end is said to show, and a refusal of any step is an error.
    pub fn try_against(
        &self,
        far_end: SocketAddr,
        key: Option<&PublicKey>,
    ) -> Result<Played, Refusal> {
        let (mut asking, emitted) = self.prepare(0)?;
        let port = far_end.port();
        let places: Vec<String> = (0..self.flows.len())
            .map(|flow| format!(r#""{flow}":{{"Port":{port}}}"#))
            .collect();
        let key = key.map_or("null".into(), |key| format!("{:?}", key.spki()));
        let offer = format!(r#"{{"places":{{{}}},"tls_key":{key}}}"#, places.join(","));
        asking.arm(&[None, Some(offer)])?;
        let at_ns = now_ns() + 20_000_000;
        asking.start(at_ns, at_ns)?;
        let batches = until_sent(&emitted);
        let asked = asking.drain(&[None, None])?;
        let results = vec![Ok(asked), Err("not ours".into())];
        Ok(self.joined(results, batches, &emitted))
    }

    fn joined(
        &self,
        results: Vec<HostResult>,
        mut batches: Vec<Batch>,
        rest: &Receiver<Emitted>,
    ) -> Played {
        batches.extend(rest.try_iter().filter_map(|said| match said {
            Emitted::Batch(batch) => Some(batch),
            _ => None,
        }));
        Played {
            result: self
                .workload
                .join(&self.spec(0), &results)
                .expect("options"),
            batches,
        }
    }
}

/// Batches until all requests have been asked.
fn until_sent(emitted: &Receiver<Emitted>) -> Vec<Batch> {
    let mut batches = Vec::new();
    loop {
        match emitted
            .recv_timeout(BOUND)
            .expect("the asking ends within the bound")
        {
            Emitted::Batch(batch) => batches.push(batch),
            Emitted::Sent(_) => return batches,
            other => panic!("{other:?}"),
        }
    }
}
