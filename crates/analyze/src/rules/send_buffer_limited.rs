//! The send buffer was too small to keep the path full.
//!
//! What has been sent stays in the send buffer until it is acknowledged. When the buffer is smaller
//! than what fits on the way, the program waits for room while the connection could carry more.
//!
//! ```text
//! the kernel's clock           the buffer was full, and nothing in it was unsent
//! readings of the connection   the program waits for room although everything it wrote is under way:
//!                              a window of the connection or a full link would leave something unsent
//! ```

use sokudo_model::kinds::Family;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use super::path_limited::queue_stands;
use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// Share of the time from which the buffer shapes the rate.
const SHAPES: f64 = 0.2;

/// Share of the readings at which all was under way, and of the time in which the program waited for room, from which
/// nothing but the buffer holds it back.
const ALL_SENT: f64 = 0.9;

/// The finding `send_buffer_limited`.
pub const RULE: Rule = Rule {
    name: "send_buffer_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("sndbuf")],
    bounds: &[
        ("shapes", SHAPES, Unit::Ratio),
        ("sent", ALL_SENT, Unit::Ratio),
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let limits = connection.limits()?;
    let by_readings = full_of_sent(load, flow, &connection).unwrap_or(0.0);
    let share = limits.send_buffer.max(by_readings);
    // A full buffer that nobody wants to write into, or that the reader keeps full, limits
    // nothing.
    let held = limits.by_send_buffer().max(by_readings);
    let shaped = held.min(load.between(flow)?);
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
    if share < SHAPES {
        evidence.extend(connection.receive_window_evidence());
    }
    evidence.extend(connection.not_sent_evidence());
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.buffer_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    evidence.extend(connection.round_trip_evidence());
    finding.next = Some(Text::new("rule-send-buffer-next").word("host", &flow.from));
    Some(finding)
}

/// Share of the time in which a program that writes waited for room although all that it had written was under way,
/// without a queue on the way that its bytes stood in; `None` where it was not so.
fn full_of_sent<'a>(
    load: &Load<'a>,
    flow: &'a FlowResult,
    connection: &Connection<'a>,
) -> Option<f64> {
    if !matches!(load.kind.family, Family::Bytes(_))
        || connection.round_trips().is_some_and(queue_stands)
    {
        return None;
    }
    let waited = load.blocked(flow, End::Sender)?;
    let sent = 1.0 - connection.not_sent()?;
    (waited >= ALL_SENT && sent >= ALL_SENT).then_some(waited.min(sent))
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

    #[test]
    fn a_buffer_whose_bytes_are_all_under_way_is_full_whatever_the_clock_says() {
        let reads = |tcp: Tcp, not_sent: fn(f64) -> f64| {
            let mut scene = between().tcp(tcp);
            scene.series("hosta", "tcp.not_sent_bytes", not_sent);
            scene
        };
        let finding = reads(SENDING, |_| 0.0).limited_by("send_buffer_limited");
        has_metric(&finding, "tcp.not_sent_bytes");
        // Something unsent waits for a window; the bytes stand in a queue on the way.
        reads(SENDING, |_| 9_000.0).without("send_buffer_limited");
        let queue = Tcp {
            round_trip: 0.075,
            ..SENDING
        };
        reads(queue, |_| 0.0).without("send_buffer_limited");
    }
}
