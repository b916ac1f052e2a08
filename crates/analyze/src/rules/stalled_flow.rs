//! A connection carried nothing new for a while although one end had data to send.
//!
//! The kernel's counters of both ends tell: the end that stood still had bytes in its send queue and sent
//! nothing new. When it sent the old again and again, nothing came through; when the other end had bytes
//! that were not read, the receiving program was the one that stood still.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, tcp};
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use super::black_hole;
use crate::quantities::ends::End;
use crate::quantities::tcp::{Connection, Stall};
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::{PhaseView, name_what_lacks};

/// Shortest silence that counts, seconds: TCP's first retransmissions are over by then.
const SHORTEST_S: f64 = 1.0;

/// The finding `stalled_flow`.
pub const RULE: Rule = Rule {
    name: "stalled_flow",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("shortest", SHORTEST_S, Unit::Seconds)],
    look: Look::Each(look),
};

fn look(view: &PhaseView<'_>) -> Vec<Finding> {
    // A connection that never carried a full segment did not stop.
    let flows = view.flows().iter();
    let stopped = flows.filter(|flow| !black_hole::swallows(view, flow));
    stopped.filter_map(|flow| conclude(*view, flow)).collect()
}

fn conclude(view: PhaseView<'_>, flow: &FlowResult) -> Option<Finding> {
    let of = |end| {
        let connection = Connection::of(view, flow, end);
        let stall = connection.longest_stall()?;
        (stall.seconds >= SHORTEST_S).then_some((connection, stall))
    };
    let both = [of(End::Sender), of(End::Receiver)].into_iter().flatten();
    let (still, stall) = both.max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))?;
    let far = still.far_end(flow);
    let unread = far
        .last_in(tcp::RECEIVE_QUEUE_BYTES, stall)
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
    let mut finding = view.finding(RULE.name, severity, weight, says);
    finding.evidence = evidence(view, &still, &far, stall);
    name_what_lacks(&mut finding.evidence, &[tcp::RECEIVE_QUEUE_BYTES]);
    let problems = &view.record.manifest.problems;
    let is_lost = problems.iter().any(|problem| problem.host == far.host());
    let next = match unread {
        _ if is_lost => "rule-stalled-next-lost",
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

/// Evidence of both ends, and of the network interfaces of both hosts, about the silence.
fn evidence(
    view: PhaseView<'_>,
    still: &Connection<'_>,
    far: &Connection<'_>,
    stall: Stall,
) -> Vec<Evidence> {
    let mut out = Vec::new();
    let at_end = |connection: &Connection<'_>, key: &str, metric: Metric| {
        let value = connection.last_in(metric, stall)?;
        Some(connection.evidence(key, metric, value))
    };
    out.extend(at_end(
        still,
        "evidence-stall-send-queue",
        tcp::SEND_QUEUE_BYTES,
    ));
    let again = tcp::RETRANSMITTED_SEGMENTS;
    out.push(still.evidence("evidence-stall-again", again, stall.again));
    out.extend(at_end(
        still,
        "evidence-stall-window",
        tcp::PEER_WINDOW_BYTES,
    ));
    out.extend(at_end(
        far,
        "evidence-stall-receive-queue",
        tcp::RECEIVE_QUEUE_BYTES,
    ));
    out.extend(at_end(
        far,
        "evidence-stall-far-queue",
        tcp::SEND_QUEUE_BYTES,
    ));
    for host in [still.host(), far.host()] {
        for (key, metric) in [
            ("evidence-stall-nic-received", host::NIC_RECEIVE_DROPS),
            ("evidence-stall-nic-sent", host::NIC_SEND_DROPS),
            ("evidence-stall-nic-broken", host::NIC_ERRORS),
        ] {
            out.extend(view.grown(key, metric, host));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::tests::*;

    /// A phase from 10 s to 20 s of one flow whose sender has sent everything new by `until_s`; meanwhile
    /// `again` segments per second are sent again, and `unread` bytes lie before the reader.
    fn standing(until_s: f64, again: f64, unread: f64) -> Record {
        let mut record = with_flow(&[]);
        let since = move |s: f64| (s - until_s).max(0.0);
        let sent = move |s: f64| 100.0 * s.min(until_s) + again * since(s);
        let resent = move |s: f64| again * since(s);
        let waiting = move |s: f64| if s < until_s { 0.0 } else { 5e4 };
        let mut add = |host: &str, end: &str, metric: &str, value: &dyn Fn(f64) -> f64| {
            let points = (180..=420).map(|n| {
                let s = f64::from(n) * 0.05;
                ((s * 1e9) as i64, value(s))
            });
            let labels = [("flow", "hosta→hostb"), ("end", end)];
            let key = SeriesKey {
                host: host.into(),
                source: "stream".into(),
                metric: metric.into(),
                labels: labels.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
            };
            let points = points.collect();
            record.series.push(Series { key, points });
        };
        add("hosta", "sender", "tcp.sent_segments", &sent);
        add("hosta", "sender", "tcp.retransmitted_segments", &resent);
        add("hosta", "sender", "tcp.send_queue_bytes", &waiting);
        add("hosta", "sender", "tcp.smoothed_rtt_seconds", &|_| 0.001);
        add("hostb", "receiver", "tcp.smoothed_rtt_seconds", &|_| 0.001);
        add("hostb", "receiver", "tcp.receive_queue_bytes", &|_| unread);
        record
    }

    #[test]
    fn what_is_sent_again_and_again_did_not_come_through() {
        let finding = one(&standing(14.0, 3.0, 0.0), "stalled_flow");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-stalled-unacknowledged");
        has_metric(&finding, "tcp.send_queue_bytes");
        has_metric(&finding, "tcp.retransmitted_segments");
        let Some(Arg::Number(seconds, _)) = finding.says.args.get("seconds") else {
            panic!("{finding:?}");
        };
        assert!((5.5..=6.1).contains(seconds), "{seconds}");
    }

    #[test]
    fn bytes_that_nobody_reads_lie_at_the_far_end() {
        let finding = one(&standing(12.0, 0.0, 6e4), "stalled_flow");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-stalled-unread");
        let next = finding.next.as_ref().map(|next| next.key.as_str());
        assert_eq!(next, Some("rule-stalled-next-program"));
        let finding = one(&standing(12.0, 0.0, 0.0), "stalled_flow");
        assert_eq!(finding.says.key, "rule-stalled-says");
    }

    #[test]
    fn a_short_silence_and_a_connection_without_work_are_none() {
        none(&standing(19.5, 3.0, 0.0), "stalled_flow");
        none(&standing(30.0, 0.0, 0.0), "stalled_flow");
    }
}
