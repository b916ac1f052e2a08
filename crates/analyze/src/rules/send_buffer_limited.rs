//! The send buffer was too small to keep the path full.
//!
//! What has been sent stays in the send buffer until it is acknowledged. When the buffer is smaller
//! than what fits on the way, the program waits for room while the connection could carry more.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// Share of the time from which the buffer shapes the rate.
const SHAPES: f64 = 0.2;

/// The finding `send_buffer_limited`.
pub const RULE: Rule = Rule {
    name: "send_buffer_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("sndbuf")],
    bounds: &[("shapes", SHAPES, Unit::Ratio)],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
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
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.send_buffer_evidence());
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.buffer_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    evidence.extend(connection.round_trip_evidence());
    finding.next = Some(Text::new("rule-send-buffer-next").word("host", &flow.from));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_small_send_buffer_is_named() {
        let tcp = Tcp {
            send_buffer: 0.85,
            ..SENDING
        };
        let scene = between().tcp(tcp);
        let finding = scene.limited_by("send_buffer_limited");
        has_metric(&finding, "stream.write_blocked_ratio");
        scene
            .without("receive_window_limited")
            .without("loss_limited");
    }
}
