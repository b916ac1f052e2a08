//! Was the sender's socket buffer too small to keep the way full?
//!
//! What has been sent stays in the send buffer until it is acknowledged. When the buffer is smaller
//! than what fits on the way, the program waits for room while the connection could carry more.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// Share of the time from which the buffer shapes the rate.
const SHAPES: f64 = 0.2;

/// See the module.
pub struct SendBufferLimited;

impl Rule for SendBufferLimited {
    fn name(&self) -> &'static str {
        "send_buffer_limited"
    }

    fn question(&self) -> &'static str {
        "was the sender's socket buffer too small to keep the way full?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let load = Load::of(*view);
        out.extend(load.and_then(|load| load.strongest(|flow| self.conclude(&load, flow))));
    }
}

impl SendBufferLimited {
    fn conclude<'a>(&self, load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
        let connection = Connection::of(load.view, flow, End::Sender);
        let share = connection.limits()?.send_buffer;
        // A full buffer that nobody wants to write into, or that the reader keeps full, limits
        // nothing.
        let shaped = share.min(load.between(flow)?);
        if shaped < SHAPES {
            return None;
        }
        let says = Text::new("rule-send-buffer-says")
            .word("host", &flow.from)
            .word("to", &flow.to)
            .number("share", share, Unit::Ratio);
        let weight = 0.3 + 0.6 * shaped;
        let view = load.view;
        let mut finding = view.finding(self.name(), Severity::Info, weight, says);
        let evidence = &mut finding.evidence;
        evidence.extend(connection.send_buffer_evidence());
        evidence.extend(load.held_evidence(flow, End::Sender));
        let granted = "send_buffer_granted_bytes";
        evidence.extend(load.number(flow, End::Sender, "evidence-buffer-granted", granted));
        evidence.extend(load.held_evidence(flow, End::Receiver));
        evidence.extend(connection.round_trip_evidence());
        finding.next = Some(Text::new("rule-send-buffer-next").word("host", &flow.from));
        Some(finding)
    }
}
