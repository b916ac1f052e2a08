//! Did the server's queue of connections overflow?
//!
//! A call that finds the queue of not yet accepted connections full is dropped without a word; the
//! caller's system calls again after 1 s, then 2 s and 4 s later (RFC 6298, Linux's
//! `TCP_TIMEOUT_INIT`). Connecting that took 1, 3 or 7 s is such a call; on the way between hosts
//! it may also have been lost.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use super::{Kind, Rule};
use crate::phase::PhaseView;

/// When a call that was dropped once, twice or three times is answered, seconds.
const STEPS_S: [std::ops::Range<f64>; 3] = [0.98..1.6, 2.98..3.8, 6.98..8.0];
/// Times the median from which such a connect stands out.
const STANDS_OUT: f64 = 10.0;

/// See the module.
pub struct DroppedCalls;

const CONNECT: &str = "http.connect_seconds";

impl Rule for DroppedCalls {
    fn name(&self) -> &'static str {
        "dropped_calls"
    }

    fn question(&self) -> &'static str {
        "did the server's queue of connections overflow?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let hit = view
            .flows()
            .iter()
            .filter_map(|flow| Some((flow, step(flow)?)));
        let Some((flow, seconds)) = hit.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return;
        };
        let says = Text::new("rule-dropped-calls-says")
            .word("to", &flow.to)
            .number("connect", seconds, Unit::Seconds);
        let mut finding = view.finding(self.name(), Severity::Caution, 0.6, says);
        let row = view.evidence("evidence-longest-connect", CONNECT, &flow.from, seconds);
        finding.evidence.push(row);
        finding.next = Some(Text::new("rule-dropped-calls-next"));
        out.push(finding);
    }
}

/// The longest connect of a flow, where it has the length of a call made again.
fn step(flow: &FlowResult) -> Option<f64> {
    let connect = flow.histograms.get(CONNECT)?;
    let is_step = STEPS_S.iter().any(|step| step.contains(&connect.max));
    (is_step && connect.max > STANDS_OUT * connect.p50).then_some(connect.max)
}
