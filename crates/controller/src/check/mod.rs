//! Check of a machine, or of the network between hosts, layer by layer.
//!
//! `sokudo check` runs a list of layers; each layer runs phases and adds its numbers to the
//! summary. A new layer is one file here and one line in [`LAYERS`].

mod bus;
mod crr;
mod datagram;
pub mod group;
mod http;
mod probe;
mod replicate;
mod rr;
mod stream;
mod target;
pub mod tournament;
mod tpcb;

use std::net::{IpAddr, Ipv4Addr};

use sokudo_model::kinds::Reach;
use sokudo_model::manifest::LAYER;
use sokudo_model::{FlowPlan, Kind, Labels, PhasePlan, Text, kinds, metrics};
use sokudo_net::netns::LocalHosts;
use sokudo_stats::repeats::TURN;

use crate::error::ControlError;
use crate::hosts::{Agents, Hosts};
use crate::phase::SLACK_NS;
use crate::run::Run;

/// Times that each layer without a search is measured: one run alone says nothing of how far runs differ.
const TURNS: u32 = 3;
/// Hosts of the check.
pub const HOSTS: usize = 4;

/// Limits and expectations of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckConfig {
    /// Largest loss that still counts as holding, 0 to 1.
    pub max_loss: f64,
    /// Shorter phases.
    pub quick: bool,
}

impl CheckConfig {
    /// Duration of one turn of a layer without a search, nanoseconds.
    fn length_ns(&self) -> u64 {
        const SECOND_NS: u64 = 1_000_000_000;
        match self.quick {
            true => SECOND_NS / 2,
            false => 4 * SECOND_NS / u64::from(TURNS),
        }
    }
}

/// Amount of load that a layer makes between one pair of hosts.
#[derive(Debug, Clone, Copy)]
struct Amount {
    /// Duration, nanoseconds.
    duration_ns: u64,
    /// Datagrams per second of the layers that are given a rate.
    packets_per_s: f64,
}

/// Checks a layer inside one machine.
type Inside = fn(&Layer, &mut Run, &CheckConfig) -> Result<(), ControlError>;

/// One layer of the check.
pub struct Layer {
    /// The workload that it runs.
    pub kind: &'static Kind,
    /// Its name where that is not the workload's.
    own_name: Option<&'static str>,
    /// The question that it answers.
    pub question: &'static str,
    /// Options of the workload between two hosts, as JSON text.
    options: fn(&Amount) -> String,
    /// Whether the two ways between a pair of hosts are taken one after the other: what fills a path
    /// one way is not to be slowed down by the other way.
    in_turn: bool,
    /// Whether all hosts of a group also carry it out at once, each towards every other one.
    mesh: bool,
    /// Whether one host carries it out by itself: a group, whose paths are checked, is spared it.
    alone: bool,
    /// Whether it needs a connection: where one could not be made, it is not tried again.
    connects: bool,
    /// Check of the layer inside one machine, where one phase between two hosts is not enough.
    inside: Option<Inside>,
}

impl Layer {
    /// Name as typed after `sokudo check`.
    pub fn name(&self) -> &'static str {
        self.own_name.unwrap_or(self.kind.name)
    }

    fn reaches_files(&self) -> bool {
        self.kind.reach.contains(&Reach::Files)
    }

    fn run(&self, run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
        match self.inside {
            Some(inside) => inside(self, run, config),
            None => self.in_turns(run, config),
        }
    }

    /// Several turns of one phase, between the first two hosts or on the first one. The totals of the turn in the middle become
    /// the run's.
    fn in_turns(&self, run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
        let amount = Amount {
            duration_ns: config.length_ns(),
            packets_per_s: 0.0,
        };
        let turns = (1..=TURNS).map(|number| self.turn(number, &amount));
        run.turns(turns.collect(), |_| (), |_| true)
    }

    /// One turn, between the first two hosts or on the first one.
    fn turn(&self, number: u32, amount: &Amount) -> PhasePlan {
        let name = match number {
            1 => self.name().to_owned(),
            later => format!("{}-{later}", self.name()),
        };
        let own_name = self.own_name.map(|name| (LAYER, name.to_owned()));
        let labels = [(TURN, number.to_string())].into_iter().chain(own_name);
        let labels = labels.map(|(label, value)| (label.to_owned(), value));
        let flows = flows_of(&[(0, u32::from(!self.alone))]);
        self.phase(name, flows, amount, labels.collect())
    }

    fn phase(
        &self,
        name: String,
        flows: Vec<FlowPlan>,
        amount: &Amount,
        labels: Labels,
    ) -> PhasePlan {
        // Files are all there are of them, however long they take.
        let duration_ns = match self.reaches_files() {
            true => 0,
            false => amount.duration_ns,
        };
        PhasePlan {
            name,
            workload: self.kind.name.into(),
            options: (self.options)(amount),
            flows,
            duration_ns,
            bound_ns: amount.duration_ns + SLACK_NS,
            labels,
        }
    }
}

/// One flow for each pair of hosts, from the first to the second.
fn flows_of(pairs: &[(u32, u32)]) -> Vec<FlowPlan> {
    let numbered = pairs.iter().zip(0..);
    numbered
        .map(|((from, to), id)| FlowPlan {
            id,
            from: *from,
            to: *to,
            stream: 0,
        })
        .collect()
}

/// All layers, in the order they are run.
pub const LAYERS: &[Layer] = &[
    Layer {
        own_name: None,
        kind: &kinds::probe::KIND,
        question: "how long is the way there and back, how steady is it, and does it lose anything?",
        options: probe::options,
        in_turn: false,
        mesh: false,
        alone: false,
        connects: false,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::rr::KIND,
        question: "how long does an answer take between two hosts?",
        options: rr::options,
        in_turn: false,
        mesh: false,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::crr::KIND,
        question: "how many connections per second can be made, and how long does each take?",
        options: crr::options,
        in_turn: false,
        mesh: false,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::stream::KIND,
        question: "how many bytes per second does one connection carry between two hosts?",
        options: stream::options,
        in_turn: true,
        mesh: true,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::bus::KIND,
        question: "how many messages per second cross between two hosts, and how long do they take?",
        options: bus::options,
        in_turn: true,
        mesh: false,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::http::KIND,
        question: "how many web requests per second does one host answer another, and how long does each take?",
        options: http::options,
        in_turn: false,
        mesh: false,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: Some(metrics::target::LAYER),
        kind: &kinds::http::KIND,
        question: "how many requests per second does an application server answer, and in which of its queues do they wait?",
        options: http::options,
        in_turn: false,
        mesh: false,
        alone: true,
        connects: false,
        inside: Some(target::inside),
    },
    Layer {
        own_name: None,
        kind: &kinds::replicate::KIND,
        question: "how fast do trees of files cross between two hosts, disks left out?",
        options: replicate::options,
        in_turn: false,
        mesh: false,
        alone: false,
        connects: true,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::tpcb::KIND,
        question: "how many transfers per second does a database inside the program commit?",
        options: tpcb::options,
        in_turn: false,
        mesh: false,
        alone: true,
        connects: false,
        inside: None,
    },
    Layer {
        own_name: None,
        kind: &kinds::datagram::KIND,
        question: "how many datagrams per second can the hosts exchange without loss?",
        options: datagram::options,
        in_turn: false,
        mesh: true,
        alone: false,
        connects: false,
        inside: Some(datagram::inside),
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
                .text("why", error.what)
                .text("hint", error.hint);
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
    among(names, |_| true)
}

/// The same for the check of a group.
fn known_of_group(names: &[String]) -> Result<(), ControlError> {
    among(names, |layer| !layer.alone)
}

fn among(names: &[String], is_there: fn(&Layer) -> bool) -> Result<(), ControlError> {
    let known = LAYERS.iter().filter(|layer| is_there(layer));
    let known: Vec<&str> = known.map(Layer::name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(ControlError::Operator {
            says: Text::new("error-check-layer-unknown").word("layer", unknown),
            hint: Some(
                Text::new("error-check-layer-unknown-hint").word("layers", known.join(", ")),
            ),
        });
    }
    Ok(())
}

/// Runs the layers with these names, all when none is named.
pub fn run(run: &mut Run, names: &[String], config: &CheckConfig) -> Result<(), ControlError> {
    known(names)?;
    for layer in chosen(names) {
        if run.interrupted() {
            break;
        }
        layer.run(run, config)?;
    }
    Ok(())
}

/// The same for hosts of others, whose paths are checked: a layer that needs their owners' leave is run when it is named.
fn chosen_of_group(names: &[String]) -> impl Iterator<Item = &'static Layer> {
    let asked = |layer: &&Layer| !names.is_empty() || !layer.reaches_files();
    chosen(names).filter(asked).filter(|layer| !layer.alone)
}

/// The layers with these names, all when none is named.
fn chosen(names: &[String]) -> impl Iterator<Item = &'static Layer> {
    let named = |layer: &&Layer| names.is_empty() || names.iter().any(|name| name == layer.name());
    LAYERS.iter().filter(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_spared_what_one_host_does_by_itself() {
        let named = |name: &str| [name.to_owned()];
        assert!(known(&named("tpcb")).is_ok());
        assert!(known_of_group(&named("tpcb")).is_err());
        assert!(known_of_group(&named("rr")).is_ok());
        assert!(known(&named("nothing")).is_err());
        assert!(chosen_of_group(&[]).all(|layer| !layer.alone));
    }
}
