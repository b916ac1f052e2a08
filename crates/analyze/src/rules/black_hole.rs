//! Full segments vanish on the way while small ones pass: the path MTU is smaller than both ends believe.
//!
//! ```text
//! handshake, small messages   ──────────────────────────►   pass
//! full segments               ─────────►│ too large         no word comes back (RFC 2923)
//! ```
//!
//! A router that cannot forward a packet says so by ICMP, and the sender makes smaller ones. Where that message is
//! lost or filtered, the connection stands and carries nothing: its first full segment is sent again and again until
//! the load ends. A link that is merely slow acknowledges some of them.

use sokudo_model::metrics::{host, tcp};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::End;
use crate::quantities::tcp::{Connection, Stall};
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Shortest silence that counts, seconds: by then a segment has been sent again three times.
const SHORTEST_S: f64 = 1.0;
/// Segments sent again from which loss of single segments does not explain them.
const AGAIN: f64 = 3.0;
/// Readings of the connection after the silence up to which it lasts until the end.
const LAST: usize = 3;

/// The finding `black_hole`.
pub const RULE: Rule = Rule {
    name: "black_hole",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("shortest", SHORTEST_S, Unit::Seconds),
        ("again", AGAIN, Unit::One),
    ],
    look: Look::Phase(look),
};

/// A connection none of whose full segments came through.
struct Hole<'a> {
    flow: &'a FlowResult,
    connection: Connection<'a>,
    stall: Stall,
    segment_bytes: f64,
    waiting_bytes: f64,
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let all = holes(view);
    let longest = all
        .into_iter()
        .max_by(|a, b| a.stall.seconds.total_cmp(&b.stall.seconds))?;
    let Hole {
        flow,
        connection,
        stall,
        ..
    } = &longest;
    let far = connection.far_end(flow);
    let says = Text::new("rule-black-hole-says")
        .word("near", connection.host())
        .word("far", far.host())
        .number("segment", longest.segment_bytes, Unit::Bytes)
        .number("seconds", stall.seconds, Unit::Seconds)
        .number("again", stall.again, Unit::One);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.95, says);
    let evidence = &mut finding.evidence;
    let again = tcp::RETRANSMITTED_SEGMENTS;
    evidence.push(connection.evidence("evidence-stall-again", again, stall.again));
    let (key, queue) = ("evidence-stall-send-queue", tcp::SEND_QUEUE_BYTES);
    evidence.push(connection.evidence(key, queue, longest.waiting_bytes));
    let (key, segment) = ("evidence-segment-bytes", tcp::SEGMENT_BYTES);
    evidence.push(connection.evidence(key, segment, longest.segment_bytes));
    // Round trips are measured on what passed: the handshake and the messages with which the ends prove themselves.
    evidence.extend(connection.round_trip_evidence());
    let done = view.kind()?.done;
    evidence.push(view.evidence("evidence-none-through", done, far.host(), 0.0));
    let (key, metric) = ("evidence-host-retransmits", host::TCP_RETRANSMITS);
    evidence.extend(view.grown(key, metric, connection.host()));
    let next = Text::new("rule-black-hole-next");
    finding.next = Some(next.word("near", connection.host()).word("far", far.host()));
    Some(finding)
}

/// True for a flow whose silence is that of its full segments.
pub fn swallows(view: &PhaseView<'_>, flow: &FlowResult) -> bool {
    holes(view).iter().any(|hole| hole.flow.id == flow.id)
}

fn holes<'a>(view: &PhaseView<'a>) -> Vec<Hole<'a>> {
    let Some(kind) = view.kind() else {
        return Vec::new();
    };
    // Whatever came through, the segments that carried it did; without the far end's count it is not known.
    let is_dead = |flow: &&FlowResult| kind.done.of(&flow.metrics) == Some(0.0);
    let dead = view.flows().iter().filter(is_dead);
    let ends = dead.flat_map(|flow| [(flow, End::Sender), (flow, End::Receiver)]);
    ends.filter_map(|(flow, end)| hole(*view, flow, end))
        .collect()
}

fn hole<'a>(view: PhaseView<'a>, flow: &'a FlowResult, end: End) -> Option<Hole<'a>> {
    let connection = Connection::of(view, flow, end);
    let stall = connection.longest_stall()?;
    if stall.seconds < SHORTEST_S || stall.again < AGAIN || connection.readings_after(stall) > LAST
    {
        return None;
    }
    let segment_bytes = connection.last_in(tcp::SEGMENT_BYTES, stall)?;
    let waiting_bytes = connection.last_in(tcp::SEND_QUEUE_BYTES, stall)?;
    // The peer's program or its window would be the reason.
    let positive = |value: Option<f64>| value.is_some_and(|bytes| bytes > 0.0);
    let unread = connection
        .far_end(flow)
        .last_in(tcp::RECEIVE_QUEUE_BYTES, stall);
    let window = connection.last_in(tcp::PEER_WINDOW_BYTES, stall);
    let is_open = window.is_none_or(|bytes| bytes >= segment_bytes);
    let is_full = waiting_bytes >= segment_bytes && segment_bytes > 0.0;
    // The round trip was measured: what is small had passed.
    let passed = positive(connection.mean(tcp::SMOOTHED_RTT_SECONDS));
    (is_full && is_open && passed && !positive(unread)).then_some(Hole {
        flow,
        connection,
        stall,
        segment_bytes,
        waiting_bytes,
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A stream of 10 s whose sender has 64 KiB to send in segments of 1448 bytes: segments sent in all and
    /// again by each second of the load, bytes unread before the receiver, and bytes that arrived in all.
    fn sending(
        sent: impl Fn(f64) -> f64,
        again: impl Fn(f64) -> f64,
        unread: f64,
        arrived: f64,
    ) -> Scene {
        let mut scene = Scene::of("stream").metric("received_bytes", arrived);
        let since = |s: f64| (s - 10.0).clamp(0.0, 10.0);
        scene.series("hosta", "tcp.sent_segments", |s| sent(since(s)));
        scene.series("hosta", "tcp.retransmitted_segments", |s| again(since(s)));
        scene.series("hosta", "tcp.send_queue_bytes", |_| 65_536.0);
        scene.series("hosta", "tcp.segment_bytes", |_| 1_448.0);
        scene.series("hosta", "tcp.peer_window_bytes", |_| 65_536.0);
        scene.series("hosta", "tcp.smoothed_rtt_seconds", |_| 0.001);
        scene.series("hostb", "tcp.smoothed_rtt_seconds", |_| 0.001);
        scene.series("hostb", "tcp.receive_queue_bytes", |_| unread);
        scene
    }

    /// Timeouts of 0.2 s, each twice as long as the one before.
    fn timeouts(s: f64) -> f64 {
        (1.0 + s / 0.2).log2().floor()
    }

    #[test]
    fn full_segments_that_never_come_through_are_a_black_hole() {
        let vanish = sending(|s| 10.0 + timeouts(s), timeouts, 0.0, 0.0);
        let finding = vanish.limited_by("black_hole");
        has_metric(&finding, "tcp.retransmitted_segments");
        has_metric(&finding, "stream.received_bytes");
        vanish.without("stalled_flow");
    }

    #[test]
    fn a_slow_link_acknowledges_some_of_them() {
        // 1.86 Mb/s are 160 segments per second; its queue makes them late, so some are sent twice.
        let repeated = |s: f64| (s * 20.0).floor();
        let slow = sending(|s| 10.0 + s * 160.0 + repeated(s), repeated, 0.0, 2.3e6);
        slow.without("black_hole");
        // The first ones stood in a queue for 1.5 s, during which nothing was counted, and then went on.
        let late = |s: f64| if s < 1.5 { timeouts(s) } else { 3.0 };
        let sent = move |s: f64| 10.0 + late(s) + (s - 1.5).max(0.0) * 160.0;
        sending(sent, late, 0.0, 0.0).without("black_hole");
    }

    #[test]
    fn a_way_that_died_and_a_peer_that_does_not_read_are_none() {
        let dies = |s: f64| if s < 3.0 { 0.0 } else { timeouts(s - 3.0) };
        let died = sending(|s| s.min(3.0) * 100.0 + dies(s), dies, 0.0, 4e5);
        died.without("black_hole");
        assert!(!of_rule(&died.record, "stalled_flow").is_empty());
        let mut unknown = sending(|s| 10.0 + timeouts(s), timeouts, 0.0, 0.0);
        unknown.flow().metrics.clear();
        unknown.without("black_hole");
        let unread = sending(|s| 10.0 + timeouts(s), timeouts, 6e4, 0.0);
        unread.without("black_hole");
        assert!(!of_rule(&unread.record, "stalled_flow").is_empty());
    }
}
