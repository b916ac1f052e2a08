//! Shares of the time at both ends of a flow.
//!
//! ```text
//!              on a CPU │ ready, without a CPU │ held back by the other │ away: sleeping, pacing
//!   sender    ██████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░
//! ```
//!
//! An end that never waits for the other is the limit; when both wait, the limit lies between them.
//! Rates alone cannot tell these cases apart.

use std::collections::BTreeSet;

use sokudo_model::kinds::{self, Family, Kind, Noun};
use sokudo_model::metric::Metric;
use sokudo_model::{Evidence, Finding, FlowResult, Unit};

use crate::view::PhaseView;

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Sends, or asks.
    Sender,
    /// Receives, or answers.
    Receiver,
}

impl End {
    /// The end across from this one.
    pub fn other(self) -> Self {
        match self {
            End::Sender => End::Receiver,
            End::Receiver => End::Sender,
        }
    }

    /// The host at this end.
    pub fn host(self, flow: &FlowResult) -> &str {
        match self {
            End::Sender => &flow.from,
            End::Receiver => &flow.to,
        }
    }

    /// Label of the series of this end.
    pub fn label(self) -> &'static str {
        match self {
            End::Sender => "sender",
            End::Receiver => "receiver",
        }
    }

    /// The metrics of the threads at this end; `None` for an end that is not sokudo's.
    pub fn threads(self, kind: &Kind) -> Option<kinds::End> {
        match self {
            End::Sender => Some(kind.ends.near),
            End::Receiver => kind.ends.far,
        }
    }

    /// The metric of the time that a thread at this end was ready to run and had no CPU.
    pub fn wait(self, kind: &Kind) -> Option<Metric> {
        self.threads(kind)?.wait
    }

    /// Message about the CPU time of the thread at this end.
    pub fn cpu_key(self, kind: &Kind) -> &'static str {
        match (is_exchange(kind), self) {
            (true, End::Sender) => "evidence-client-cpu",
            (true, End::Receiver) => "evidence-server-cpu",
            (false, End::Sender) => "evidence-sender-cpu",
            (false, End::Receiver) => "evidence-receiver-cpu",
        }
    }

    /// Message about the time that this thread was ready to run and had no CPU.
    pub fn wait_key(self, kind: &Kind) -> &'static str {
        match (is_exchange(kind), self) {
            (true, End::Sender) => "evidence-client-wait",
            (true, End::Receiver) => "evidence-server-wait",
            (false, End::Sender) => "evidence-sender-wait",
            (false, End::Receiver) => "evidence-receiver-wait",
        }
    }
}

fn is_exchange(kind: &Kind) -> bool {
    matches!(kind.family, Family::Exchange(_))
}

/// A phase whose flows go over connections.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// The phase.
    pub view: PhaseView<'a>,
    /// Meaning of its numbers.
    pub kind: &'static Kind,
}

/// Shares of the phase's time at one end; they add up to 1 when all are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// On a CPU.
    pub cpu: Option<f64>,
    /// Ready to run, without a CPU.
    pub ready: Option<f64>,
    /// Waiting for the other end: for room to write into, or for something to read.
    pub held: Option<f64>,
}

impl<'a> Load<'a> {
    /// The phase as one over connections whose state is read all the time: those between hosts of the run, and
    /// sessions on a database. `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let kind = view.kind()?;
        let has_connections = match kind.family {
            Family::Exchange(numbers) => {
                numbers.between.is_some() || numbers.noun == Noun::Transactions
            }
            Family::Bytes(_) | Family::Messages(_) | Family::Files(_) => true,
            Family::Datagram | Family::Probe => false,
        };
        has_connections.then_some(Self { view, kind })
    }

    /// True for requests and responses.
    pub fn is_exchange(&self) -> bool {
        is_exchange(self.kind)
    }

    /// True when threads wait without sleeping, so that their CPU time does not indicate work.
    pub fn spins(&self, flow: &FlowResult) -> bool {
        let wait = flow.labels.get("wait");
        wait.is_some_and(|wait| wait.starts_with("spin"))
    }

    /// The strongest of what `conclude` says about the flows, when two things that were observed in
    /// different ways support it: one number alone proves nothing.
    pub fn strongest(
        &self,
        conclude: impl Fn(&'a FlowResult) -> Option<Finding>,
    ) -> Option<Finding> {
        let all = self.view.flows().iter().filter_map(conclude);
        let proven = |finding: &Finding| {
            let sources = finding.evidence.iter().map(|row| row.source.as_str());
            sources.collect::<BTreeSet<&str>>().len() >= 2
        };
        let all = all.filter(proven);
        all.max_by(|a, b| a.weight.total_cmp(&b.weight))
    }

    fn share(&self, flow: &FlowResult, metric: Option<Metric>) -> Option<f64> {
        let value = metric?.of(&flow.metrics);
        value.map(|v| v.clamp(0.0, 1.0))
    }

    /// Share of the time that calls of one end were blocked, as it measured it: what every reader is
    /// shown.
    pub fn blocked(&self, flow: &FlowResult, end: End) -> Option<f64> {
        self.share(flow, self.held_metric(end))
    }

    /// Shares of the time at one end of `flow`.
    ///
    /// A blocked call is timed from outside and may include the wait for a CPU at its end, so what
    /// the kernel counts about the thread comes first.
    pub fn times(&self, flow: &FlowResult, end: End) -> Times {
        let threads = end.threads(self.kind);
        let cpu = self.share(flow, threads.map(|threads| threads.cpu));
        let ready = self.share(flow, end.wait(self.kind));
        let left = (1.0 - cpu.unwrap_or(0.0) - ready.unwrap_or(0.0)).max(0.0);
        let held = self.blocked(flow, end);
        // Waiting for room in the own window is waiting for the other end, too.
        let held = match end {
            End::Sender => held
                .into_iter()
                .chain(self.window(flow))
                .max_by(f64::total_cmp),
            End::Receiver => held,
        };
        Times {
            cpu,
            ready,
            held: held.map(|held| held.min(left)),
        }
    }

    /// Share of the time in which the sender waited for receipts because as much as its own window
    /// allows was under way; `None` for a workload without such a window.
    pub fn window(&self, flow: &FlowResult) -> Option<f64> {
        self.share(flow, self.window_metric())
    }

    /// The metric of that share.
    pub fn window_metric(&self) -> Option<Metric> {
        match self.kind.family {
            Family::Bytes(numbers) | Family::Messages(numbers) => numbers.window_waited,
            Family::Exchange(_) | Family::Datagram | Family::Probe | Family::Files(_) => None,
        }
    }

    /// The metric of the time in which an end waited for the other.
    fn held_metric(&self, end: End) -> Option<Metric> {
        match (self.kind.family, end) {
            (Family::Bytes(numbers) | Family::Messages(numbers), End::Sender) => {
                Some(numbers.write_blocked)
            }
            (Family::Bytes(numbers) | Family::Messages(numbers), End::Receiver) => {
                Some(numbers.read_idle)
            }
            (Family::Files(numbers), End::Sender) => Some(numbers.write_blocked),
            (Family::Files(numbers), End::Receiver) => Some(numbers.read_idle),
            (Family::Exchange(_) | Family::Datagram | Family::Probe, _) => None,
        }
    }

    /// Share of the time in which each end waited for the other: what holds both back lies between
    /// them. `None` when one of them did not tell.
    pub fn between(&self, flow: &FlowResult) -> Option<f64> {
        let held = |end| self.times(flow, end).held;
        Some(held(End::Sender)?.min(held(End::Receiver)?))
    }

    /// The kernel's counters of the thread of one end: its time on a CPU and its wait for one.
    pub fn thread_evidence(&self, flow: &FlowResult, end: End) -> Vec<Evidence> {
        let times = self.times(flow, end);
        let rows = [
            (
                end.cpu_key(self.kind),
                end.threads(self.kind).map(|threads| threads.cpu),
                times.cpu,
            ),
            (end.wait_key(self.kind), end.wait(self.kind), times.ready),
        ];
        let known = rows.into_iter().filter_map(|(key, metric, value)| {
            Some(self.view.evidence(key, metric?, end.host(flow), value?))
        });
        known.collect()
    }

    /// Time that one end waited for the other, by its own clock.
    pub fn held_evidence(&self, flow: &FlowResult, end: End) -> Option<Evidence> {
        let held = self.blocked(flow, end)?;
        let key = match end {
            End::Sender => "evidence-write-blocked",
            End::Receiver => "evidence-read-idle",
        };
        let metric = self.held_metric(end)?;
        Some(self.view.evidence(key, metric, end.host(flow), held))
    }

    /// The socket buffer that one end was granted, where the workload reads it.
    pub fn buffer_evidence(&self, flow: &FlowResult, end: End) -> Option<Evidence> {
        let metric = end.threads(self.kind)?.buffer?;
        let value = metric.of(&flow.metrics)?;
        let key = "evidence-buffer-granted";
        Some(self.view.evidence(key, metric, end.host(flow), value))
    }
}

impl Times {
    /// Time that is none of the others: the program slept by its own choice.
    pub fn away(&self) -> Option<f64> {
        let used = self.cpu? + self.ready.unwrap_or(0.0) + self.held?;
        Some((1.0 - used).max(0.0))
    }
}

/// A share of the time as evidence, whatever unit the metric behind it has.
pub fn as_share(mut evidence: Evidence, share: f64) -> Evidence {
    evidence.says = evidence.says.number("value", share, Unit::Ratio);
    evidence.value = Some(share);
    evidence.unit = Some(Unit::Ratio);
    evidence
}
