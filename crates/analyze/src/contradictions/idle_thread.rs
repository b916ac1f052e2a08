//! The thread that is named as the limit had time left.

use sokudo_model::kinds::Kind;
use sokudo_model::metric::Metric;
use sokudo_model::{Evidence, Finding, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::quantities::ends::End;
use crate::quantities::silence;
use crate::view::{KEPT_WAITING, PhaseView, word};

/// Share of the time on a CPU, or ready for one, below which a thread cannot be the limit.
const IDLE: f64 = 0.5;
/// Share of the phase in which nothing of the host ran, from which its idle time has another reason.
const STOOD_STILL: f64 = 0.01;

/// Conclusions that do not say that a thread had no time left.
const OTHER_LIMITS: [&str; 3] = [
    "rule-generator-limited-ports-says",
    "rule-generator-limited-silent-says",
    "rule-generator-limited-stood-says",
];

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "idle_thread",
    about: &[
        "generator_limited",
        "receiver_cpu_limited",
        "sender_cpu_limited",
    ],
    bounds: &[
        ("idle", IDLE, Unit::Ratio),
        ("waiting", KEPT_WAITING, Unit::Ratio),
        ("still", STOOD_STILL, Unit::Ratio),
    ],
    look,
};

fn look(view: &PhaseView<'_>, finding: &Finding) -> Option<Objection> {
    // Searches judge the schedule of their trials by themselves.
    let searches = view.is_trial() || view.is_confirm();
    if searches || OTHER_LIMITS.contains(&finding.says.key.as_str()) {
        return None;
    }
    let (kind, host) = (view.kind()?, word(&finding.says, "host")?);
    let end = match finding.rule.as_str() {
        "receiver_cpu_limited" => End::Receiver,
        _ => End::Sender,
    };
    let (cpu, ready) = busiest(view, kind, end, host)?;
    let is_kept_waiting = ready >= KEPT_WAITING;
    if cpu + ready >= IDLE || is_kept_waiting || stood_still(view, host) {
        return None;
    }
    Some(Objection {
        evidence: thread_evidence(view, kind, end, (host, cpu))?,
        force: Force::Acquits,
    })
}

/// Shares of the time of the busiest thread at one end: on a CPU, and ready without one.
fn busiest(view: &PhaseView<'_>, kind: &Kind, end: End, host: &str) -> Option<(f64, f64)> {
    let most = |metric: Metric| match end {
        End::Sender => view.highest_at_sender(host, metric),
        End::Receiver => view.highest_at_receiver(host, metric),
    };
    let cpu = most(end.threads(kind)?.cpu)?;
    let ready = end.wait(kind).and_then(most).unwrap_or(0.0);
    Some((cpu.min(1.0), ready.min(1.0)))
}

/// True for a host on which nothing ran for a part of the phase: a stopped process is late and idle.
fn stood_still(view: &PhaseView<'_>, host: &str) -> bool {
    let length_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
    silence::longest(view, host).is_some_and(|silent| silent >= length_s * STOOD_STILL)
}

fn thread_evidence(
    view: &PhaseView<'_>,
    kind: &Kind,
    end: End,
    (host, cpu): (&str, f64),
) -> Option<Evidence> {
    let metric = end.threads(kind)?.cpu;
    Some(view.evidence(end.cpu_key(kind), metric, host, cpu))
}
