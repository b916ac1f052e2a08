//! Connections that stand still.

use super::*;

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
