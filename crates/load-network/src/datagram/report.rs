//! The reporting thread of the datagram test: turns the threads' counters into series.
//!
//! One reporting thread per phase takes what the measuring threads hand over and turns it into
//! batches. Counters arrive cumulative; rates are made here, between two of them.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use serde_json::json;
use sokudo_model::kinds::datagram as numbers;
use sokudo_model::{Batch, Metric, SeriesKey};
use sokudo_net::clock::now_ns;
use sokudo_stats::Histogram;
use sokudo_workload::contract::Emit;
use sokudo_workload::handover::{Lent, Reusable};
pub use sokudo_workload::reporting::Names;
use sokudo_workload::reporting::Output;

use super::NAME;
use super::client::ClientDone;
use super::server::ServerDone;

/// Message of a measuring thread to the reporting thread.
#[derive(Debug)]
pub enum Report {
    /// A sending thread's interval.
    Client(Lent<ClientInterval>),
    /// Round trips of one flow.
    Acks(Lent<AckInterval>),
    /// A receiving thread's interval.
    Server(Lent<ServerInterval>),
    /// A sending thread has ended.
    ClientDone(ClientDone),
    /// A receiving thread has ended.
    ServerDone(ServerDone),
}

/// A sending thread's interval.
#[derive(Debug, Default)]
pub struct ClientInterval {
    /// End of the interval, monotonic nanoseconds.
    pub t_ns: i64,
    /// Flow, datagrams and bytes sent so far; none in a rest that is too short for a rate.
    pub flows: Vec<(u32, u64, u64)>,
    /// Lateness since the last report, nanoseconds.
    pub lateness: Histogram,
}

impl Reusable for ClientInterval {
    fn clear(&mut self) {
        self.flows.clear();
        self.lateness.clear();
    }
}

/// Round trips of one flow since the last report.
#[derive(Debug, Default)]
pub struct AckInterval {
    /// End of the interval, monotonic nanoseconds.
    pub t_ns: i64,
    /// Number in the phase.
    pub flow: u32,
    /// Round trips, nanoseconds.
    pub rtt: Histogram,
    /// Unreachable errors that the sending thread did not see.
    pub unreachable: u64,
}

impl Reusable for AckInterval {
    fn clear(&mut self) {
        self.rtt.clear();
        self.unreachable = 0;
    }
}

/// A receiving thread's interval.
#[derive(Debug, Default)]
pub struct ServerInterval {
    /// End of the interval, monotonic nanoseconds; `None` for a rest that is too short for a rate.
    pub t_ns: Option<i64>,
    /// Each flow.
    pub flows: Vec<ServerFlowReport>,
}

impl Reusable for ServerInterval {
    fn clear(&mut self) {
        for flow in &mut self.flows {
            flow.interarrival.clear();
        }
    }
}

/// A flow's receiving end at the end of an interval; counters cumulative.
#[derive(Debug, Default)]
pub struct ServerFlowReport {
    /// Number in the phase.
    pub id: u32,
    /// Distinct datagrams.
    pub unique: u64,
    /// Numbers up to the highest seen.
    pub span: u64,
    /// Bytes of distinct datagrams.
    pub bytes: u64,
    /// Out-of-order arrivals.
    pub out_of_order: u64,
    /// Duplicates.
    pub duplicates: u64,
    /// Times between receive calls since the last report.
    pub interarrival: Histogram,
}

/// Everything that was handed over, when all threads have ended.
#[derive(Debug, Default)]
pub struct Collected {
    /// Sending threads.
    pub clients: Vec<ClientDone>,
    /// Receiving threads.
    pub servers: Vec<ServerDone>,
    /// Lateness over the whole phase.
    pub lateness: Histogram,
    /// Flow → round trips over the whole phase.
    pub rtt: BTreeMap<u32, Histogram>,
    /// Flow → unreachable errors that its sending thread did not see.
    pub unreachable: BTreeMap<u32, u64>,
    /// Flow → times between receive calls over the whole phase.
    pub interarrival: BTreeMap<u32, Histogram>,
}

#[derive(Default)]
struct Last {
    t_ns: i64,
    packets: u64,
    bytes: u64,
    span: u64,
}

/// The reporting thread.
pub struct Reporter {
    output: Output,
    last: BTreeMap<(bool, u32), Last>,
    collected: Collected,
}

const INTERARRIVAL: Metric = numbers::INTERARRIVAL_SECONDS;
const RTT: Metric = numbers::ACK_RTT_SECONDS;
const LATENESS: Metric = numbers::LATENESS_SECONDS;

impl Reporter {
    /// Reports for a phase with this many sending threads.
    pub fn new(names: Names, emit: Emit, clients: usize) -> Self {
        Self {
            output: Output::new(names, NAME, emit, clients),
            last: BTreeMap::new(),
            collected: Collected::default(),
        }
    }

    /// Takes reports until all measuring threads have ended.
    pub fn run(mut self, reports: &Receiver<Report>) -> Collected {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            self.take(report);
        }
        self.output.finish();
        self.collected
    }

    fn take(&mut self, report: Report) {
        let mut batch = Batch::default();
        match report {
            Report::Client(interval) => {
                let t_ns = interval.t_ns;
                for (id, packets, bytes) in &interval.flows {
                    self.client_rates(t_ns, *id, *packets, *bytes, &mut batch);
                }
                self.collected.lateness.merge(&interval.lateness);
                self.output.add(LATENESS, "", t_ns, &interval.lateness);
                self.output.store(t_ns, &mut batch);
            }
            Report::Acks(interval) => {
                let AckInterval { t_ns, flow, .. } = *interval;
                let rtt = &interval.rtt;
                self.collected.rtt.entry(flow).or_default().merge(rtt);
                *self.collected.unreachable.entry(flow).or_default() += interval.unreachable;
                let label = self.label(flow);
                self.output.add(RTT, &label, t_ns, rtt);
                self.output.store(t_ns, &mut batch);
            }
            Report::Server(interval) => {
                for flow in &interval.flows {
                    self.interarrival(flow, interval.t_ns.unwrap_or_else(now_ns));
                    if let Some(t_ns) = interval.t_ns {
                        self.server_rates(t_ns, flow, &mut batch);
                    }
                }
                if let Some(t_ns) = interval.t_ns {
                    self.output.store(t_ns, &mut batch);
                }
            }
            Report::ClientDone(done) => {
                self.collected.clients.push(done);
                self.output.sender_ended();
                self.say_when_over();
            }
            Report::ServerDone(done) => self.collected.servers.push(done),
        }
        self.output.emit(batch);
    }

    /// Says how much each flow sent: what the receiving ends wait for.
    fn say_when_over(&self) {
        self.output.say_when_sent(|| {
            let clients = self.collected.clients.iter();
            let counts = clients.flat_map(|client| &client.flows);
            let sent: BTreeMap<u32, u64> = counts.map(|(id, counts)| (*id, counts.sent)).collect();
            // Numbers: there is nothing that JSON cannot hold.
            json!(sent).to_string()
        });
    }

    fn label(&self, flow: u32) -> String {
        self.output.names.label(flow)
    }

    fn key(&self, metric: Metric, flow: &str) -> SeriesKey {
        self.output.key(metric, flow)
    }

    fn client_rates(&mut self, t_ns: i64, id: u32, packets: u64, bytes: u64, batch: &mut Batch) {
        let last = self.last.insert(
            (true, id),
            Last {
                t_ns,
                packets,
                bytes,
                span: 0,
            },
        );
        let Some((seconds, last)) = self.since(t_ns, last) else {
            return;
        };
        let (label, at) = (self.label(id), t_ns - self.output.names.t0_ns);
        let bits = 8.0 * (bytes - last.bytes) as f64 / seconds;
        let rate = (packets - last.packets) as f64 / seconds;
        batch.push(&self.key(numbers::SENT_BITS_PER_SECOND, &label), at, bits);
        batch.push(
            &self.key(numbers::SENT_PACKETS_PER_SECOND, &label),
            at,
            rate,
        );
    }

    fn interarrival(&mut self, flow: &ServerFlowReport, t_ns: i64) {
        let times = &flow.interarrival;
        let whole = self.collected.interarrival.entry(flow.id).or_default();
        whole.merge(times);
        let label = self.label(flow.id);
        self.output.add(INTERARRIVAL, &label, t_ns, times);
    }

    fn server_rates(&mut self, t_ns: i64, flow: &ServerFlowReport, batch: &mut Batch) {
        let ServerFlowReport {
            id,
            unique,
            span,
            bytes,
            ..
        } = *flow;
        let label = self.label(id);
        let last = self.last.insert(
            (false, id),
            Last {
                t_ns,
                packets: unique,
                bytes,
                span,
            },
        );
        let Some((seconds, last)) = self.since(t_ns, last) else {
            return;
        };
        let at = t_ns - self.output.names.t0_ns;
        let bits = 8.0 * (bytes - last.bytes) as f64 / seconds;
        let rate = (unique - last.packets) as f64 / seconds;
        batch.push(
            &self.key(numbers::DELIVERED_BITS_PER_SECOND, &label),
            at,
            bits,
        );
        batch.push(
            &self.key(numbers::DELIVERED_PACKETS_PER_SECOND, &label),
            at,
            rate,
        );
        if span > last.span {
            let loss = 1.0 - (unique - last.packets) as f64 / (span - last.span) as f64;
            batch.push(&self.key(numbers::LOSS_RATIO, &label), at, loss.max(0.0));
        }
        if flow.out_of_order > 0 {
            let key = self.key(numbers::OUT_OF_ORDER_PACKETS, &label);
            batch.push(&key, at, flow.out_of_order as f64);
        }
        if flow.duplicates > 0 {
            let key = self.key(numbers::DUPLICATE_PACKETS, &label);
            batch.push(&key, at, flow.duplicates as f64);
        }
    }

    /// Seconds since the last report, or since the start of load for the first one; `None` before.
    fn since(&self, t_ns: i64, last: Option<Last>) -> Option<(f64, Last)> {
        let last = last.unwrap_or_default();
        let since_ns = last.t_ns.max(self.output.names.start_ns);
        let seconds = (t_ns - since_ns) as f64 / 1e9;
        (seconds > 0.0).then_some((seconds, last))
    }
}
