//! Checks the numbers of `dns` against name servers whose behaviour is scripted.
//!
//! Whole phases over loopback, driven through the workload's contract.

mod far_end;
mod faults;
mod responses;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_load_network::dns::{Dns, DnsOptions};
use sokudo_model::{HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId};
use sokudo_net::clock::now_ns;
use sokudo_workload::{Emitted, Options as _, Phase, Workload as _};

use far_end::Place;

/// Nothing that a test waits for takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// A phase of one host with these JSON fields over the defaults, its connections made.
fn armed(server: SocketAddr, fields: &str) -> Result<Playing, Refusal> {
    let text = format!(r#"{{"server":"{server}","interval":"50ms",{fields}}}"#);
    let options: DnsOptions = serde_json::from_str(&text).expect("options of a test");
    let flows = options.flows(1);
    let spec = PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "truth".into(),
            workload: "dns".into(),
            options: options.to_json(),
            flows: flows.clone(),
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
        hosts: vec![HostSpec {
            name: "hosta".into(),
            address: "127.0.0.1".into(),
        }],
        me: 0,
        seed: 7,
        tickets: vec![0; flows.len()],
    };
    let (emit, emitted) = mpsc::channel();
    let emit = Arc::new(move |said| {
        // The receiver goes when a test has seen enough.
        let _ = emit.send(said);
    });
    let mut phase = Dns.prepare(spec.clone(), emit)?;
    phase.arm(&[None])?;
    Ok(Playing {
        spec,
        phase,
        emitted,
    })
}

/// One host's part of a phase.
struct Playing {
    spec: PhaseSpec,
    phase: Box<dyn Phase>,
    emitted: Receiver<Emitted>,
}

/// Plays a phase with these JSON fields over the defaults.
fn play(place: &Place, fields: &str) -> PhaseResult {
    let armed = armed(place.address, fields).expect("the server can be reached");
    let Playing {
        spec,
        mut phase,
        emitted,
    } = armed;
    let at_ns = now_ns() + 20_000_000;
    phase.start(at_ns, at_ns).expect("it starts");
    while !matches!(
        emitted.recv_timeout(BOUND).expect("the load ends"),
        Emitted::Sent(_)
    ) {}
    let numbers = phase.drain(&[None]).expect("it has numbers");
    Dns.join(&spec, &[Ok(numbers)]).expect("options")
}

/// A number of the result; counts that are zero may be left out.
fn get(result: &PhaseResult, name: &str) -> f64 {
    result
        .summary
        .get(&format!("dns.{name}"))
        .copied()
        .unwrap_or(0.0)
}

/// First error; empty when there is none.
fn error(result: &PhaseResult) -> &str {
    let labels = &result.flows[0].labels;
    labels.get("error").map_or("", String::as_str)
}
