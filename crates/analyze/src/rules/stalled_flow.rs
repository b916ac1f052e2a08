//! Did a connection stand still although there was something to send, and at which end did it lie?
//!
//! The kernel's counters of both ends tell: the end that stood still had bytes in its send queue and sent
//! nothing new. When it sent the old again and again, nothing came through; when the other end had bytes
//! that nobody read, its program was the one that stood still.

use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::End;
use crate::quantities::tcp::{Connection, Stall};
use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Shortest silence that counts, seconds: TCP's first retransmissions are over by then.
const SHORTEST_S: f64 = 1.0;

/// See the module.
pub struct StalledFlow;

impl Rule for StalledFlow {
    fn name(&self) -> &'static str {
        "stalled_flow"
    }

    fn question(&self) -> &'static str {
        "did a connection stand still although there was something to send, and at which end did it lie?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let flows = view.flows().iter();
        out.extend(flows.filter_map(|flow| self.conclude(*view, flow)));
    }
}

impl StalledFlow {
    fn conclude(&self, view: PhaseView<'_>, flow: &FlowResult) -> Option<Finding> {
        let of = |end| {
            let connection = Connection::of(view, flow, end);
            let stall = connection.longest_stall()?;
            (stall.seconds >= SHORTEST_S).then_some((connection, stall))
        };
        let both = [of(End::Sender), of(End::Receiver)].into_iter().flatten();
        let (still, stall) = both.max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))?;
        let far = still.far_end(flow);
        let unread = far
            .last_in("tcp.receive_queue_bytes", stall)
            .filter(|bytes| *bytes > 0.0);
        let key = match (unread, stall.again > 0.0) {
            (Some(_), _) => "rule-stalled-unread",
            (None, true) => "rule-stalled-unacknowledged",
            (None, false) => "rule-stalled-says",
        };
        let length_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
        let says = Text::new(key)
            .word("from", &flow.from)
            .word("to", &flow.to)
            .word("near", still.host())
            .word("far", far.host())
            .number("seconds", stall.seconds, Unit::Seconds)
            .number("begin", stall.begin_s, Unit::Seconds)
            .number("again", stall.again, Unit::One);
        let severity = match flow.complete {
            true => Severity::Caution,
            false => Severity::Bad,
        };
        let weight = 0.3 + 0.65 * (stall.seconds / length_s.max(1e-9)).min(1.0);
        let mut finding = view.finding(self.name(), severity, weight, says);
        finding.evidence = evidence(view, &still, &far, stall);
        name_what_lacks(&mut finding.evidence, "tcp.receive_queue_bytes");
        let next = match unread {
            Some(_) => "rule-stalled-next-program",
            None => "rule-stalled-next-path",
        };
        finding.next = Some(
            Text::new(next)
                .word("near", still.host())
                .word("far", far.host()),
        );
        Some(finding)
    }
}

/// What both ends, and the network interfaces of both hosts, say about the silence.
fn evidence(
    view: PhaseView<'_>,
    still: &Connection<'_>,
    far: &Connection<'_>,
    stall: Stall,
) -> Vec<Evidence> {
    let mut out = Vec::new();
    let at_end = |connection: &Connection<'_>, key: &str, metric: &str| {
        let value = connection.last_in(metric, stall)?;
        Some(connection.evidence(key, metric, value))
    };
    out.extend(at_end(
        still,
        "evidence-stall-send-queue",
        "tcp.send_queue_bytes",
    ));
    let again = "tcp.retransmitted_segments";
    out.push(still.evidence("evidence-stall-again", again, stall.again));
    out.extend(at_end(
        still,
        "evidence-stall-window",
        "tcp.peer_window_bytes",
    ));
    out.extend(at_end(
        far,
        "evidence-stall-receive-queue",
        "tcp.receive_queue_bytes",
    ));
    out.extend(at_end(
        far,
        "evidence-stall-far-queue",
        "tcp.send_queue_bytes",
    ));
    for host in [still.host(), far.host()] {
        for (key, metric) in [
            ("evidence-stall-nic-received", "host.nic_receive_drops"),
            ("evidence-stall-nic-sent", "host.nic_send_drops"),
            ("evidence-stall-nic-broken", "host.nic_errors"),
        ] {
            out.extend(view.grown(key, metric, host));
        }
    }
    out
}
