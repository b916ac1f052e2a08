//! The reporting thread of the stream test: turns the threads' accounts into series.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sokudo_model::kinds::stream as numbers;
use sokudo_model::{Batch, Metric};
use sokudo_net::tcp::TcpGranted;
use sokudo_net::tcp::bulk::SendPath;
use sokudo_workload::contract::Emit;
use sokudo_workload::handover::Lent;
use sokudo_workload::reporting::{Names, Output};

use super::NAME;
use super::account::{End, Interval, Moved};

/// Message of a measuring thread to the reporting thread.
#[derive(Debug)]
pub(crate) enum Report {
    /// An interval has passed.
    Interval(Lent<Interval>),
    /// One connection has been written to for the last time.
    Written(Written),
    /// One end of a flow is done.
    Ended(Box<Ended>),
}

/// Amount written to one connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub(crate) flow: u32,
    pub(crate) bytes: u64,
    /// False when the connection broke before.
    pub(crate) whole: bool,
}

/// Result of one end of one flow.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) moved: Moved,
    /// Options of the connection as granted by the system.
    pub(crate) granted: Option<TcpGranted>,
    /// Writes per second as asked for.
    pub(crate) asked_per_s: Option<f64>,
    /// Writes that had a time, and those of them that began late although there was room.
    pub(crate) events: u64,
    pub(crate) late: u64,
    /// Time at which it was ready to write its first byte, minus the agreed start, nanoseconds.
    pub(crate) start_late_ns: Option<i64>,
    /// Way in which bytes were handed to the kernel.
    pub(crate) path: Option<SendPath>,
    /// All bytes that were asked for have been written.
    pub(crate) is_reached: bool,
    /// Share of the zero-copy writes that were copied after all.
    pub(crate) copied_ratio: Option<f64>,
    /// The sender said that this was all, and the receiver hung up after it.
    pub(crate) whole: bool,
    pub(crate) error: Option<String>,
}

/// Message of the senders of one host to the receivers when they have finished: flow → whether its
/// connection still stood.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) flows: BTreeMap<u32, SentFlow>,
}

/// Message of one sender to its receiver.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SentFlow {
    pub(crate) bytes: u64,
    pub(crate) whole: bool,
}

/// The reporting thread.
pub(crate) struct Reporter {
    output: Output,
    bin_ns: i64,
    sent: Sent,
    ended: Vec<Ended>,
}

impl Reporter {
    /// Reports for a host that sends this many flows.
    pub(crate) fn new(names: Names, emit: Emit, bin_ns: i64, sending: usize) -> Self {
        Self {
            output: Output::new(names, NAME, emit, sending),
            bin_ns: bin_ns.max(1),
            sent: Sent::default(),
            ended: Vec::new(),
        }
    }

    /// Takes reports until all measuring threads have ended.
    pub(crate) fn run(mut self, reports: &Receiver<Report>) -> Vec<Ended> {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            match report {
                Report::Interval(interval) => self.interval(&interval),
                Report::Written(written) => self.written(written),
                Report::Ended(ended) => self.ended.push(*ended),
            }
        }
        self.ended
    }

    fn written(&mut self, written: Written) {
        let Written { flow, bytes, whole } = written;
        self.sent.flows.insert(flow, SentFlow { bytes, whole });
        self.output.sender_ended();
        self.say_when_over();
    }

    fn say_when_over(&self) {
        self.output
            // Numbers: there is nothing that JSON cannot hold.
            .say_when_sent(|| json!(self.sent).to_string());
    }

    fn interval(&self, interval: &Interval) {
        let (rate, own) = match interval.end {
            End::Sender => (numbers::SENT_BITS_PER_SECOND, SENDER),
            End::Receiver => (numbers::GOODPUT_BITS_PER_SECOND, RECEIVER),
        };
        let mut batch = Batch::default();
        let bits_per_bin = 8e9 / self.bin_ns as f64;
        let shares = interval.shares;
        for (flow, bins) in &interval.bins {
            let label = self.output.names.label(*flow);
            let key = self.output.key(rate, &label);
            for (t_ns, bytes) in bins {
                let at_ns = t_ns - self.output.names.t0_ns;
                batch.push(&key, at_ns, *bytes as f64 * bits_per_bin);
            }
            let values = [shares.cpu, shares.wait, shares.socket];
            for (metric, value) in own.into_iter().zip(values) {
                let key = self.output.key(metric, &label);
                if let Some(value) = value {
                    batch.push(&key, interval.t_ns - self.output.names.t0_ns, value);
                }
            }
        }
        self.output.emit(batch);
    }
}

/// Shares of a thread's time: on a CPU, ready without one, waiting for the socket.
pub(super) const SENDER: [Metric; 3] = [
    numbers::SENDER_CPU_RATIO,
    numbers::SENDER_WAIT_RATIO,
    numbers::WRITE_BLOCKED_RATIO,
];
/// The same of a receiving thread.
pub(super) const RECEIVER: [Metric; 3] = [
    numbers::RECEIVER_CPU_RATIO,
    numbers::RECEIVER_WAIT_RATIO,
    numbers::READ_IDLE_RATIO,
];
