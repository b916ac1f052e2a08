//! Were datagrams lost because the receiving program did not empty its socket in time?
//!
//! A datagram that finds the socket's buffer full is dropped and counted on that socket. Two causes
//! look alike from outside and differ in what helps: the thread had no CPU time, or it had all of
//! a core and that was not enough.

use sokudo_model::{Finding, Severity, Text, Unit};

use super::Rule;
use crate::phase::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;
/// Loss below this is worth a word only.
const LITTLE_LOSS: f64 = 0.0001;
/// Loss from which a rate that was asked for counts as missed.
const GRAVE_LOSS: f64 = 0.01;
/// From this share of a core on, the thread has no time left.
const BUSY_THREAD: f64 = 0.9;
/// From this share of the time on, the thread was kept from running.
const KEPT_WAITING: f64 = 0.05;

/// See the module.
pub struct ReceiverBufferOverflow;

const LOST: &str = "datagram.lost_at_receiver_socket_packets";
const CPU: &str = "datagram.receiver_cpu_ratio";
const WAIT: &str = "datagram.receiver_wait_ratio";
const ASKED: &str = "datagram.receive_buffer_asked_bytes";
const GRANTED: &str = "datagram.receive_buffer_granted_bytes";

impl Rule for ReceiverBufferOverflow {
    fn name(&self) -> &'static str {
        "receiver_buffer_overflow"
    }

    fn question(&self) -> &'static str {
        "were datagrams lost because the receiving program did not empty its socket in time?"
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let (Some(lost), Some(missing), Some((host, there))) =
            (view.total(LOST), view.missing(), view.worst_receiver(LOST))
        else {
            return;
        };
        let share = lost / missing.max(1.0);
        if lost <= 0.0 || share < SHARE {
            return;
        }
        let loss = view.loss().unwrap_or(0.0);
        let severity = match view.asked_rate() {
            _ if loss < LITTLE_LOSS => Severity::Info,
            Some(_) if loss >= GRAVE_LOSS => Severity::Bad,
            _ => Severity::Caution,
        };
        let weight = if loss < LITTLE_LOSS {
            0.2
        } else {
            0.3 + 0.6 * share
        };
        let buffer = Buffer::of(view, host);
        let mut finding = view.finding(self.name(), severity, weight, says(share, host, &buffer));
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-lost-at-socket", LOST, host, there));
        for (key, metric) in [
            ("evidence-receiver-cpu", CPU),
            ("evidence-receiver-wait", WAIT),
        ] {
            let value = view.highest_at_receiver(host, metric);
            evidence.extend(value.map(|value| view.evidence(key, metric, host, value)));
        }
        if let Some(granted) = buffer.granted {
            evidence.push(view.evidence("evidence-buffer-granted", GRANTED, host, granted));
        }
        let errors = "host.udp_receive_buffer_errors";
        evidence.extend(view.grown("evidence-udp-receive-errors", errors, host));
        name_what_lacks(
            evidence,
            "datagram.receiver_cpu_ratio, host.udp_receive_buffer_errors",
        );
        finding.next = Some(next(view, host, &buffer));
        out.push(finding);
    }
}

/// The receive buffers of one host.
struct Buffer {
    asked: Option<f64>,
    granted: Option<f64>,
}

impl Buffer {
    fn of(view: &PhaseView<'_>, host: &str) -> Self {
        Self {
            asked: view.highest_at_receiver(host, ASKED),
            granted: view.highest_at_receiver(host, GRANTED),
        }
    }

    /// Asked and granted, when less was granted.
    fn short(&self) -> Option<(f64, f64)> {
        let (asked, granted) = (self.asked?, self.granted?);
        (granted < asked * 0.99).then_some((asked, granted))
    }
}

fn says(share: f64, host: &str, buffer: &Buffer) -> Text {
    let text = |key: &str| {
        Text::new(key)
            .number("share", share, Unit::Ratio)
            .word("host", host)
    };
    match buffer.short() {
        Some((asked, granted)) => text("rule-receiver-buffer-overflow-short-says")
            .number("granted", granted, Unit::Bytes)
            .number("asked", asked, Unit::Bytes),
        None => text("rule-receiver-buffer-overflow-says"),
    }
}

/// What helps depends on why the socket was not emptied.
fn next(view: &PhaseView<'_>, host: &str, buffer: &Buffer) -> Text {
    let over = |metric: &str, bound: f64| {
        let value = view.highest_at_receiver(host, metric);
        value.is_some_and(|value| value >= bound)
    };
    let key = if over(WAIT, KEPT_WAITING) {
        "rule-receiver-buffer-overflow-waiting-next"
    } else if over(CPU, BUSY_THREAD) && view.asked_rate().is_none() {
        "rule-receiver-buffer-overflow-search-next"
    } else if over(CPU, BUSY_THREAD) {
        "rule-receiver-buffer-overflow-busy-next"
    } else if let Some((asked, _)) = buffer.short() {
        return Text::new("rule-receiver-buffer-overflow-short-next")
            .word("host", host)
            .word("bytes", format!("{asked:.0}"));
    } else {
        "rule-receiver-buffer-overflow-next"
    };
    Text::new(key).word("host", host)
}
