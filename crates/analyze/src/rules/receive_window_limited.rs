//! The receive window kept the sender waiting although the receiver read at once.
//!
//! TCP lets a sender have no more under way than the receiver's buffer takes. When the window is
//! smaller than what fits on the way, the sender stands still for a part of each round trip. A
//! window that is full because its reader is slow is another thing: then the reader never waits.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::tcp;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// Share of the time from which the window shapes the rate.
const SHAPES: f64 = 0.2;

/// The finding `receive_window_limited`.
pub const RULE: Rule = Rule {
    name: "receive_window_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("rcvbuf")],
    bounds: &[("shapes", SHAPES, Unit::Ratio)],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let limits = connection.limits()?;
    let share = limits.receive_window;
    let idle = load.times(flow, End::Receiver).held?;
    // While the window is full and the reader has something to read, the reader is the limit.
    let shaped = limits.by_receive_window().min(idle);
    if shaped < SHAPES {
        return None;
    }
    let says = Text::new("rule-receive-window-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("share", share, Unit::Ratio);
    let weight = 0.3 + 0.6 * shaped;
    let view = load.view;
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.receive_window_evidence());
    if share < SHAPES {
        evidence.extend(connection.send_buffer_evidence());
    }
    evidence.extend(load.held_evidence(flow, End::Receiver));
    let window = tcp::PEER_WINDOW_BYTES;
    let offered = connection.highest(window);
    evidence.extend(offered.map(|b| connection.evidence("evidence-tcp-window", window, b)));
    evidence.extend(load.buffer_evidence(flow, End::Receiver));
    evidence.extend(receive_queue(load, flow));
    evidence.extend(connection.round_trip_evidence());
    finding.next = Some(Text::new("rule-receive-window-next").word("host", &flow.to));
    Some(finding)
}

/// Bytes that waited for the reading program, on average.
pub fn receive_queue<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Evidence> {
    const QUEUE: Metric = tcp::RECEIVE_QUEUE_BYTES;
    let connection = Connection::of(load.view, flow, End::Receiver);
    let mean = connection.mean(QUEUE)?;
    Some(connection.evidence("evidence-tcp-receive-queue", QUEUE, mean))
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_full_window_before_an_idle_reader_is_the_windows_limit() {
        let tcp = Tcp {
            receive_window: 0.9,
            ..SENDING
        };
        let scene = between().tcp(tcp);
        let finding = scene.limited_by("receive_window_limited");
        has_metric(&finding, "tcp.receive_window_limited_seconds");
        has_metric(&finding, "stream.read_idle_ratio");
        scene.without("path_limited").without("application_limited");
    }

    #[test]
    fn two_windows_of_a_connection_hold_it_back_together() {
        let tcp = Tcp {
            receive_window: 0.18,
            send_buffer: 0.11,
            ..SENDING
        };
        let finding = between().tcp(tcp).limited_by("receive_window_limited");
        has_metric(&finding, "tcp.receive_window_limited_seconds");
        has_metric(&finding, "tcp.send_buffer_limited_seconds");
        let neither = Tcp {
            receive_window: 0.1,
            send_buffer: 0.08,
            ..SENDING
        };
        between().tcp(neither).without("receive_window_limited");
    }

    #[test]
    fn shares_that_overlap_do_not_add_up_to_more_than_the_time() {
        // A blocked read that is timed from outside holds the wait for a CPU at its end.
        let tcp = Tcp {
            receive_window: 0.9,
            ..SENDING
        };
        let scene = Scene::of("stream")
            .sender([0.3, 0.0, 0.7])
            .receiver([0.5, 0.45, 0.5])
            .tcp(tcp);
        scene.without("receive_window_limited");
    }
}
