//! What does one host say that it measured?
//!
//! JSON that only the joining side reads: see [`super::join`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_net::counters::HostCounters;
use sokudo_stats::Histogram;
use sokudo_workload::histogram_text::HistogramText;

use super::super::options::SizeRange;
use super::super::report::Collected;
use super::super::server::ServerFlowDone;

/// How a flow's sending end was set up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SenderSettings {
    /// Sizes drawn from.
    pub size: SizeRange,
    /// MTU towards the peer.
    pub path_mtu: Option<u32>,
    /// Send buffer asked for.
    pub sndbuf_asked: Option<u64>,
    /// Send buffer granted.
    pub sndbuf_granted: Option<u64>,
    /// I/O mode achieved.
    pub mode: String,
    /// Why, when it was not asked for.
    pub mode_reason: String,
    /// Rate asked for, datagrams per second of this flow.
    pub asked_per_s: Option<f64>,
}

/// How a receiving socket was set up.
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
    pub(super) sent: u64,
    pub(super) bytes: u64,
    pub(super) calls: u64,
    pub(super) refused_calls: u64,
    pub(super) refused: u64,
    pub(super) unreachable: u64,
    pub(super) late: u64,
    pub(super) first_ns: Option<i64>,
    #[serde(default)]
    pub(super) start_late_ns: Option<i64>,
    pub(super) first_batch: u64,
    pub(super) last_ns: i64,
    pub(super) cpu_ns: Option<f64>,
    pub(super) wait_ns: Option<f64>,
    pub(super) elapsed_ns: i64,
    pub(super) thread_sent: u64,
    pub(super) rtt: HistogramText,
    pub(super) error: Option<String>,
}

/// A flow as its receiving end saw it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReceiverNumbers {
    pub(super) flow: u32,
    pub(super) first_batch: u64,
    pub(super) unique: u64,
    pub(super) bytes: u64,
    pub(super) missing: u64,
    pub(super) duplicates: u64,
    pub(super) out_of_order: u64,
    pub(super) stale: u64,
    pub(super) corrupted: u64,
    pub(super) extent_mean: Option<f64>,
    pub(super) offset_mean: Option<f64>,
    pub(super) gaps: u64,
    pub(super) gap_packets_mean: Option<f64>,
    pub(super) gap_packets_max: u64,
    pub(super) gap_ns_mean: Option<f64>,
    pub(super) gap_ns_max: i64,
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: i64,
    pub(super) jitter_ns: Option<f64>,
    pub(super) loss_runs: HistogramText,
    pub(super) extents: HistogramText,
    pub(super) interarrival: HistogramText,
}

/// A receiving socket with its flows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SocketNumbers {
    pub(super) settings: Option<SocketSettings>,
    pub(super) flows: Vec<ReceiverNumbers>,
    pub(super) drops: Option<u64>,
    pub(super) foreign: u64,
    pub(super) calls: u64,
    pub(super) buffers: u64,
    pub(super) datagrams: u64,
    pub(super) cpu_ns: Option<u64>,
    pub(super) wait_ns: Option<u64>,
    pub(super) elapsed_ns: i64,
    pub(super) error: Option<String>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbers {
    pub(super) senders: Vec<SenderNumbers>,
    pub(super) sockets: Vec<SocketNumbers>,
    pub(super) lateness: HistogramText,
    pub(super) softnet_drops: Option<u64>,
}

impl Numbers {
    /// Puts together what the threads of one host handed over.
    pub fn new(
        collected: Collected,
        senders: &BTreeMap<u32, SenderSettings>,
        sockets: &BTreeMap<u32, SocketSettings>,
        counters: HostCounters,
    ) -> Self {
        let Collected {
            clients,
            servers,
            lateness,
            rtt,
            unreachable,
            interarrival,
        } = collected;
        let text = |map: &BTreeMap<u32, Histogram>, flow: u32| {
            map.get(&flow).map(HistogramText::new).unwrap_or_default()
        };
        let mut sending = Vec::new();
        for client in clients {
            let thread_sent: u64 = client.flows.iter().map(|(_, counts)| counts.sent).sum();
            for (flow, counts) in client.flows {
                sending.push(SenderNumbers {
                    flow,
                    settings: senders.get(&flow).cloned(),
                    sent: counts.sent,
                    bytes: counts.bytes,
                    calls: counts.calls,
                    refused_calls: counts.refused_calls,
                    refused: counts.refused,
                    unreachable: counts.unreachable
                        + unreachable.get(&flow).copied().unwrap_or_default(),
                    late: counts.late,
                    first_ns: counts.first_ns,
                    start_late_ns: counts.start_late_ns,
                    first_batch: counts.first_batch,
                    last_ns: counts.last_ns,
                    cpu_ns: client.cpu_ns.map(|ns| ns as f64),
                    wait_ns: client.wait_ns.map(|ns| ns as f64),
                    elapsed_ns: client.elapsed_ns,
                    thread_sent,
                    rtt: text(&rtt, flow),
                    error: counts.error,
                });
            }
        }
        let receiving = servers
            .into_iter()
            .map(|server| SocketNumbers {
                settings: sockets.get(&server.stream).cloned(),
                flows: server
                    .flows
                    .into_iter()
                    .map(|flow| receiver_numbers(flow, |id| text(&interarrival, id)))
                    .collect(),
                drops: server.drops,
                foreign: server.foreign,
                calls: server.calls,
                buffers: server.buffers,
                datagrams: server.datagrams,
                cpu_ns: server.cpu_ns,
                wait_ns: server.wait_ns,
                elapsed_ns: server.elapsed_ns,
                error: server.error,
            })
            .collect();
        Self {
            senders: sending,
            sockets: receiving,
            lateness: HistogramText::new(&lateness),
            softnet_drops: counters.softnet_drops,
        }
    }
}

fn receiver_numbers(
    flow: ServerFlowDone,
    interarrival: impl Fn(u32) -> HistogramText,
) -> ReceiverNumbers {
    let account = flow.account;
    ReceiverNumbers {
        flow: flow.id,
        first_batch: flow.first_batch,
        unique: account.unique,
        bytes: flow.bytes,
        missing: account.missing,
        duplicates: account.duplicates,
        out_of_order: account.out_of_order,
        stale: account.stale,
        corrupted: flow.corrupted,
        extent_mean: account.extent_mean,
        offset_mean: account.offset_mean,
        gaps: account.gaps,
        gap_packets_mean: account.gap_packets_mean,
        gap_packets_max: account.gap_packets_max,
        gap_ns_mean: account.gap_ns_mean,
        gap_ns_max: account.gap_ns_max,
        first_ns: account.first_ns,
        last_ns: account.last_ns,
        jitter_ns: flow.jitter_ns,
        loss_runs: HistogramText::new(&account.loss_runs),
        extents: HistogramText::new(&account.extents),
        interarrival: interarrival(flow.id),
    }
}
