//! Numbers that one host measured in a phase, as they travel to the joining side.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::datagram::on_the_wire;
use sokudo_net::counters::HostCounters;
use sokudo_stats::Histogram;
use sokudo_workload::load::{self, OwnFlows};
use sokudo_workload::load_time::LoadTime;

use super::super::client::ClientCounts;
use super::super::options::SizeRange;
use super::super::report::Collected;
use super::super::server::ServerDone;

/// Largest datagram, bytes.
const MOST_BYTES: u32 = 65_535;

/// Settings of a flow's sending end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SenderSettings {
    /// Sizes drawn from.
    pub size: SizeRange,
    /// MTU towards the peer.
    pub path_mtu: Option<u32>,
    /// Bytes of the IP and UDP headers of a datagram; `None` where a stream carries them.
    #[serde(default)]
    pub header_bytes: Option<u32>,
    /// Send buffer asked for.
    pub sndbuf_asked: Option<u64>,
    /// Send buffer granted.
    pub sndbuf_granted: Option<u64>,
    /// I/O mode achieved.
    pub mode: String,
    /// Reason for it; empty when it was asked for.
    pub mode_reason: String,
    /// Rate asked for, datagrams per second of this flow.
    pub asked_per_s: Option<f64>,
}

/// Settings of a receiving socket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SocketSettings {
    /// Receive buffer asked for.
    pub rcvbuf_asked: u64,
    /// Receive buffer granted.
    pub rcvbuf_granted: u64,
    /// Whether several datagrams may come as one buffer.
    pub gro: bool,
}

/// A flow as its sending end saw it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SenderNumbers {
    pub(super) flow: u32,
    pub(super) settings: Option<SenderSettings>,
    pub(super) counts: ClientCounts,
    pub(super) cpu_ns: Option<u64>,
    pub(super) wait_ns: Option<u64>,
    pub(super) elapsed_ns: i64,
    /// Datagrams that its thread sent, over all its flows.
    pub(super) thread_sent: u64,
    #[serde(with = "sokudo_workload::histogram_text")]
    pub(super) rtt: Histogram,
}

/// A receiving socket with its flows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SocketNumbers {
    pub(super) settings: Option<SocketSettings>,
    pub(super) done: ServerDone,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbers {
    pub(super) senders: Vec<SenderNumbers>,
    pub(super) sockets: Vec<SocketNumbers>,
    #[serde(with = "sokudo_workload::histogram_text")]
    pub(super) lateness: Histogram,
    pub(super) softnet_drops: Option<u64>,
    /// Agreed start of the load on this host's clock, nanoseconds.
    #[serde(default)]
    pub(super) start_ns: i64,
}

impl SenderSettings {
    /// Bytes of a datagram as frames of Ethernet, mean over the sizes; `None` where a stream carries them, or
    /// the MTU is not known.
    pub(super) fn wire_bytes(&self) -> Option<f64> {
        let (mtu, headers) = (u64::from(self.path_mtu?), u64::from(self.header_bytes?));
        let SizeRange { min, max } = self.size;
        let sizes = min..=max.max(min).min(min.saturating_add(MOST_BYTES));
        let count = sizes.clone().count() as f64;
        let frames = sizes.map(|size| on_the_wire(u64::from(size), mtu, headers).1 as f64);
        Some(frames.sum::<f64>() / count)
    }
}

impl SenderNumbers {
    /// The time of the load, which was planned to be so long; `None` when only a count was to end it.
    pub(super) fn load_time(&self, planned_ns: Option<i64>) -> LoadTime {
        let lasted_ns = planned_ns.unwrap_or(self.elapsed_ns);
        LoadTime::new(self.counts.reached_ns.unwrap_or(lasted_ns), None)
    }
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.senders.retain(|sender| own.begins(sender.flow));
        for socket in &mut self.sockets {
            socket.done.flows.retain(|flow| own.ends(flow.flow));
        }
    }
}

impl Numbers {
    /// Puts together what the threads of one host handed over.
    pub fn new(
        collected: Collected,
        settings: &BTreeMap<u32, SenderSettings>,
        sockets: &BTreeMap<u32, SocketSettings>,
        counters: HostCounters,
        start_ns: i64,
    ) -> Self {
        let Collected {
            clients,
            servers,
            lateness,
            mut rtt,
            unreachable,
            mut interarrival,
        } = collected;
        let mut senders = Vec::new();
        for client in clients {
            let thread_sent: u64 = client.flows.iter().map(|(_, counts)| counts.sent).sum();
            for (flow, mut counts) in client.flows {
                counts.unreachable += unreachable.get(&flow).copied().unwrap_or(0);
                senders.push(SenderNumbers {
                    flow,
                    settings: settings.get(&flow).cloned(),
                    counts,
                    cpu_ns: client.cpu_ns,
                    wait_ns: client.wait_ns,
                    elapsed_ns: client.elapsed_ns,
                    thread_sent,
                    rtt: rtt.remove(&flow).unwrap_or_default(),
                });
            }
        }
        let received = servers.into_iter().map(|mut done| {
            for flow in &mut done.flows {
                flow.interarrival = interarrival.remove(&flow.flow).unwrap_or_default();
            }
            SocketNumbers {
                settings: sockets.get(&done.stream).cloned(),
                done,
            }
        });
        Self {
            senders,
            sockets: received.collect(),
            lateness,
            softnet_drops: counters.softnet_drops,
            start_ns,
        }
    }
}
