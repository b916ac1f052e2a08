//! Is this machine, and the network between these hosts, fit for work?
//!
//! `sokudo check` runs a list of layers; each layer runs phases and adds its numbers to the
//! summary. A new layer is one file here and one line in [`LAYERS`].

mod bus;
mod crr;
mod datagram;
mod probe;
mod rr;
mod stream;

use std::net::{IpAddr, Ipv4Addr};

use sokudo_model::{FlowPlan, Labels, PhasePlan, Text};
use sokudo_net::netns::LocalHosts;

use crate::error::ControlError;
use crate::hosts::{Agents, Hosts};
use crate::phase::SLACK_NS;
use crate::run::Run;

/// Hosts of the check.
pub const HOSTS: usize = 4;

/// What a check may take and must find.
#[derive(Debug, Clone, Copy)]
pub struct CheckConfig {
    /// Largest loss that still counts as holding, 0 to 1.
    pub max_loss: f64,
    /// Shorter phases.
    pub quick: bool,
}

impl CheckConfig {
    /// How long a layer without a search measures, nanoseconds.
    fn length_ns(&self) -> u64 {
        const SECOND_NS: u64 = 1_000_000_000;
        match self.quick {
            true => SECOND_NS,
            false => 4 * SECOND_NS,
        }
    }
}

/// What a layer without a search runs: one phase, named as its workload, whose totals become the
/// run's.
struct OnePhase {
    workload: &'static str,
    /// As JSON text.
    options: String,
    flows: Vec<FlowPlan>,
    duration_ns: u64,
}

impl OnePhase {
    fn run(self, run: &mut Run) -> Result<(), ControlError> {
        let record = run.run_phase(PhasePlan {
            name: self.workload.into(),
            workload: self.workload.into(),
            options: self.options,
            flows: self.flows,
            duration_ns: self.duration_ns,
            bound_ns: self.duration_ns + SLACK_NS,
            labels: Labels::new(),
        })?;
        run.manifest_mut().summary.extend(record.result.summary);
        Ok(())
    }
}

/// One layer of the check.
pub struct Layer {
    /// Name as typed after `sokudo check`.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    run: fn(&mut Run, &CheckConfig) -> Result<(), ControlError>,
}

/// All layers, in the order they are run.
pub const LAYERS: &[Layer] = &[
    Layer {
        name: "probe",
        question: "how long is the way there and back, how steady is it, and does it lose anything?",
        run: probe::run,
    },
    Layer {
        name: "rr",
        question: "how long does an answer take between two hosts?",
        run: rr::run,
    },
    Layer {
        name: "crr",
        question: "how many connections per second can be made, and how long does each take?",
        run: crr::run,
    },
    Layer {
        name: "stream",
        question: "how many bytes per second does one connection carry between two hosts?",
        run: stream::run,
    },
    Layer {
        name: "bus",
        question: "how many messages per second cross between two hosts, and how long do they take?",
        run: bus::run,
    },
    Layer {
        name: "datagram",
        question: "how many datagrams per second can the hosts exchange without loss?",
        run: datagram::run,
    },
];

/// So many hosts on this machine: network namespaces where the system allows them, else loopback
/// addresses. The text says which, and why.
pub fn local_hosts(agents: Agents, count: usize) -> Result<(Hosts, Text), ControlError> {
    match LocalHosts::new(count, None) {
        Ok(namespaces) => {
            let note = Text::new("engine-check-namespaces").word("n", count.to_string());
            Ok((Hosts::in_namespaces(agents, namespaces)?, note))
        }
        Err(error) => {
            let note = Text::new("engine-check-loopback")
                .word("n", count.to_string())
                .word("why", error.what)
                .word("hint", error.hint);
            let addresses = loopback_addresses(count);
            Ok((Hosts::on_addresses(agents, &addresses)?, note))
        }
    }
}

/// Loopback addresses, or one of them as often where the system has only one.
fn loopback_addresses(count: usize) -> Vec<IpAddr> {
    let wanted = (1..=u8::MAX)
        .take(count)
        .map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
    let usable = |ip: &IpAddr| std::net::UdpSocket::bind((*ip, 0)).is_ok();
    wanted
        .map(|ip| {
            if usable(&ip) {
                ip
            } else {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            }
        })
        .collect()
}

/// Expects that there is a layer of each of these names; to be called before hosts are made.
pub fn known(names: &[String]) -> Result<(), ControlError> {
    if let Some(unknown) = names
        .iter()
        .find(|name| LAYERS.iter().all(|layer| layer.name != **name))
    {
        let known: Vec<_> = LAYERS.iter().map(|layer| layer.name).collect();
        return Err(ControlError::Operator {
            says: format!("there is no layer `{unknown}`"),
            hint: Some(format!("layers: {}", known.join(", "))),
        });
    }
    Ok(())
}

/// Runs the layers with these names, all when none is named.
pub fn run(run: &mut Run, names: &[String], config: &CheckConfig) -> Result<(), ControlError> {
    known(names)?;
    let chosen = |layer: &&Layer| names.is_empty() || names.iter().any(|name| name == layer.name);
    for layer in LAYERS.iter().filter(chosen) {
        if run.interrupted() {
            break;
        }
        (layer.run)(run, config)?;
    }
    Ok(())
}
