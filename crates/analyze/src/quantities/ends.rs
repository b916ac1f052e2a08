//! What do the two ends of a flow do with their time?
//!
//! ```text
//!              on a CPU │ ready, without a CPU │ held back by the other │ away: sleeping, pacing
//!   sender    ██████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░
//! ```
//!
//! Who never waits for the other is the limit; when both wait, it lies between them. Rates alone
//! cannot tell these cases apart.

use std::collections::BTreeSet;

use sokudo_model::{Evidence, Finding, FlowResult, Unit};

use crate::view::PhaseView;

/// Workloads whose flows go over connections.
const SOURCES: [&str; 4] = ["stream", "bus", "rr", "crr"];

/// Waiting for room in the workload's own window, without the workload's name.
pub const WINDOW: &str = "backlog_ratio";

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

    /// Message about the CPU time of the thread at this end.
    pub fn cpu_key(self, workload: &str) -> &'static str {
        match (is_exchange(workload), self) {
            (true, End::Sender) => "evidence-client-cpu",
            (true, End::Receiver) => "evidence-server-cpu",
            (false, End::Sender) => "evidence-sender-cpu",
            (false, End::Receiver) => "evidence-receiver-cpu",
        }
    }

    /// Message about the time that this thread was ready to run and had no CPU.
    pub fn wait_key(self, workload: &str) -> &'static str {
        match (is_exchange(workload), self) {
            (true, End::Sender) => "evidence-client-wait",
            (true, End::Receiver) => "evidence-server-wait",
            (false, End::Sender) => "evidence-sender-wait",
            (false, End::Receiver) => "evidence-receiver-wait",
        }
    }
}

/// True for the workloads of requests and responses.
fn is_exchange(workload: &str) -> bool {
    matches!(workload, "rr" | "crr" | "http" | "jmx")
}

/// Beginning of the names of a workload's metrics: those of a test plan are those of HTTP requests.
pub fn source_of(workload: &str) -> &str {
    match workload {
        "jmx" => "http",
        own => own,
    }
}

/// Catalogue name of what the busiest thread of one end did: `cpu` or `wait`.
pub fn thread_metric(workload: &str, end: End, what: &str) -> String {
    let end = match (is_exchange(workload), end) {
        (true, End::Sender) => "client",
        (true, End::Receiver) => "server",
        (false, _) => end.label(),
    };
    format!("{}.{end}_{what}_ratio", source_of(workload))
}

/// A phase whose flows go over connections.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// The phase.
    pub view: PhaseView<'a>,
    /// Name of the workload.
    pub source: &'static str,
}

/// How one end spent the time of the phase: shares that add up to 1 when all are known.
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
    /// The phase as one of this kind; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let known = |source: &&str| view.phase.workload == **source;
        let source = SOURCES.into_iter().find(|source| known(source))?;
        Some(Self { view, source })
    }

    /// Catalogue name of one of its metrics.
    pub fn name(&self, what: &str) -> String {
        format!("{}.{what}", self.source)
    }

    /// True for requests and responses.
    pub fn is_exchange(&self) -> bool {
        is_exchange(self.source)
    }

    /// True when threads wait without sleeping, so that their CPU time is no sign of work.
    pub fn spins(&self, flow: &FlowResult) -> bool {
        let wait = flow.labels.get("wait");
        wait.is_some_and(|wait| wait.starts_with("spin"))
    }

    /// The strongest of what `conclude` says about the flows, when two things that were observed in
    /// different ways support it: one number alone is no proof.
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

    fn value(&self, flow: &FlowResult, metric: &str) -> Option<f64> {
        let value = flow.metrics.get(metric).copied();
        value.filter(|v| v.is_finite()).map(|v| v.clamp(0.0, 1.0))
    }

    /// How one end of `flow` spent its time.
    ///
    /// A blocked call is timed from outside and may include the wait for a CPU at its end, so what
    /// the kernel counts about the thread comes first.
    pub fn times(&self, flow: &FlowResult, end: End) -> Times {
        let of = |what| self.value(flow, &thread_metric(self.source, end, what));
        let (cpu, ready) = (of("cpu"), of("wait"));
        let left = (1.0 - cpu.unwrap_or(0.0) - ready.unwrap_or(0.0)).max(0.0);
        let held = self.value(flow, &self.held_metric(end));
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
        self.value(flow, &self.name(WINDOW))
    }

    /// Catalogue name of the time in which an end waited for the other.
    pub fn held_metric(&self, end: End) -> String {
        self.name(match end {
            End::Sender => "write_blocked_ratio",
            End::Receiver => "read_idle_ratio",
        })
    }

    /// Share of the time in which each end waited for the other: what holds both back lies between
    /// them. `None` when one of them did not tell.
    pub fn between(&self, flow: &FlowResult) -> Option<f64> {
        let held = |end| self.times(flow, end).held;
        Some(held(End::Sender)?.min(held(End::Receiver)?))
    }

    /// What the kernel counted about the thread of one end: its time on a CPU and its wait for one.
    pub fn thread_evidence(&self, flow: &FlowResult, end: End) -> Vec<Evidence> {
        let times = self.times(flow, end);
        let keys = [end.cpu_key(self.source), end.wait_key(self.source)];
        let values = [("cpu", times.cpu), ("wait", times.ready)];
        let rows = keys.into_iter().zip(values);
        rows.filter_map(|(key, (what, value))| {
            let metric = thread_metric(self.source, end, what);
            Some(self.view.evidence(key, &metric, end.host(flow), value?))
        })
        .collect()
    }

    /// How long one end waited for the other, by its own clock.
    pub fn held_evidence(&self, flow: &FlowResult, end: End) -> Option<Evidence> {
        let held = self.times(flow, end).held?;
        let key = match end {
            End::Sender => "evidence-write-blocked",
            End::Receiver => "evidence-read-idle",
        };
        let metric = self.held_metric(end);
        Some(self.view.evidence(key, &metric, end.host(flow), held))
    }

    /// Evidence that is one number of the flow under any name of this workload.
    pub fn number(&self, flow: &FlowResult, end: End, key: &str, what: &str) -> Option<Evidence> {
        let metric = self.name(what);
        let value = flow
            .metrics
            .get(&metric)
            .copied()
            .filter(|v| v.is_finite())?;
        Some(self.view.evidence(key, &metric, end.host(flow), value))
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
