//! Datagrams were dropped because the receiving program did not empty its socket in time.
//!
//! A datagram that finds the socket's buffer full is dropped and counted on that socket. Two causes
//! look alike from outside and differ in what helps: the thread had no CPU time, or it had all of
//! a core and that was not enough.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::datagrams::{LostAt, lost};
use crate::quantities::exchange::Exchange;
use crate::rule::{Look, Purpose, Rule, Suspect};
use crate::view::{KEPT_WAITING, PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;
/// Share of the failed requests from which full sockets explain them.
const REQUESTS: f64 = 0.3;
/// From this share of a core on, the thread has no time left.
const BUSY_THREAD: f64 = 0.9;

const LOST: Metric = datagram::LOST_AT_RECEIVER_SOCKET_PACKETS;
const CPU: Metric = datagram::RECEIVER_CPU_RATIO;
const WAIT: Metric = datagram::RECEIVER_WAIT_RATIO;
const ASKED: Metric = datagram::RECEIVE_BUFFER_ASKED_BYTES;
const GRANTED: Metric = datagram::RECEIVE_BUFFER_GRANTED_BYTES;

/// The kernel's reasons for what finds no room at a socket (`enum skb_drop_reason`).
const REASONS_OF_BUFFERS: &[&str] = &["SOCKET_RCVBUFF", "SOCKET_BACKLOG", "PROTO_MEM"];

/// The finding `receiver_buffer_overflow`.
pub const RULE: Rule = Rule {
    name: "receiver_buffer_overflow",
    purpose: Purpose::Loss,
    suspects: &[Suspect::raise("rcvbuf"), Suspect::tighten("rate")],
    bounds: &[
        ("share", SHARE, Unit::Ratio),
        ("requests", REQUESTS, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    datagrams(view).or_else(|| requests(view))
}

/// Requests, or their answers, that found a full socket: without a connection nobody sends them again.
fn requests(view: &PhaseView<'_>) -> Option<Finding> {
    let exchange = Exchange::of(*view)?;
    let failed = exchange
        .total(exchange.numbers.errors)
        .filter(|n| *n > 0.0)?;
    let worst = view.hosts().into_iter().filter_map(|host| {
        let full = view.increase(host, host::UDP_RECEIVE_BUFFER_ERRORS)?;
        Some((host, full))
    });
    let (host, full) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = (full / failed).min(1.0);
    if share < REQUESTS {
        return None;
    }
    let says = Text::new("rule-receiver-buffer-overflow-requests-says")
        .word("host", host)
        .number("count", full, Unit::Packets)
        .number("failed", failed, Unit::One);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.35 + 0.6 * share, says);
    let errors = host::UDP_RECEIVE_BUFFER_ERRORS;
    finding
        .evidence
        .extend(view.grown("evidence-udp-receive-errors", errors, host));
    let flow = view.flows().first()?;
    let metric = exchange.numbers.errors;
    let row = view.evidence("evidence-failed-requests", metric, &flow.from, failed);
    finding.evidence.push(row);
    finding
        .evidence
        .extend(view.kernel_drops(host, REASONS_OF_BUFFERS));
    let next = Text::new("rule-receiver-buffer-overflow-requests-next");
    finding.next = Some(next.word("host", host));
    Some(finding)
}

fn datagrams(view: &PhaseView<'_>) -> Option<Finding> {
    let LostAt { host, there, share } = view.lost_at_receiver(LOST, SHARE)?;
    let (severity, weight) = view.weigh_loss(share);
    let buffer = Buffer::of(view, host);
    let says = says(view, share, host, &buffer);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-lost-at-socket", LOST, host, there));
    evidence.extend(view.missing_evidence(host));
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
    let errors = host::UDP_RECEIVE_BUFFER_ERRORS;
    evidence.extend(view.grown("evidence-udp-receive-errors", errors, host));
    evidence.extend(view.kernel_drops(host, REASONS_OF_BUFFERS));
    name_what_lacks(
        evidence,
        &[
            datagram::RECEIVER_CPU_RATIO,
            host::UDP_RECEIVE_BUFFER_ERRORS,
        ],
    );
    finding.next = Some(view.loss_next(remedy(view, host, &buffer)));
    Some(finding)
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

fn says(view: &PhaseView<'_>, share: f64, host: &str, buffer: &Buffer) -> Text {
    let text = |key: &str| {
        Text::new(key)
            .text("lost", lost(share))
            .number("share", share, Unit::Ratio)
            .word("host", host)
    };
    match (view.receivers_with(LOST), buffer.short()) {
        (hosts @ 2.., _) => {
            let says = text("rule-receiver-buffer-overflow-many-says");
            says.number("hosts", hosts as f64, Unit::One)
        }
        (_, Some((asked, granted))) => text("rule-receiver-buffer-overflow-short-says")
            .number("granted", granted, Unit::Bytes)
            .number("asked", asked, Unit::Bytes),
        (_, None) => text("rule-receiver-buffer-overflow-says"),
    }
}

/// Remedy, which depends on the reason why the socket was not emptied.
fn remedy(view: &PhaseView<'_>, host: &str, buffer: &Buffer) -> Text {
    let over = |metric: Metric, bound: f64| {
        let value = view.highest_at_receiver(host, metric);
        value.is_some_and(|value| value >= bound)
    };
    let key = if over(WAIT, KEPT_WAITING) {
        "remedy-receiver-waiting"
    } else if over(CPU, BUSY_THREAD) {
        "remedy-receiver-busy"
    } else if let Some((asked, _)) = buffer.short() {
        return Text::new("remedy-receiver-buffer-short")
            .word("host", host)
            .word("bytes", format!("{asked:.0}"));
    } else {
        "remedy-receiver-buffer"
    };
    Text::new(key).word("host", host)
}

#[cfg(test)]
mod tests {
    use crate::tests::*;

    #[test]
    fn receiver_overflow_names_the_host_and_the_buffer() {
        let mut record = with_flow(&losing(
            5e4,
            &[
                ("lost_at_receiver_socket_packets", 4e4),
                ("lost_on_path_packets", 1e4),
                ("receive_buffer_granted_bytes", 212_992.0),
                ("receiver_cpu_ratio", 0.97),
            ],
        ));
        add_series(
            &mut record,
            "hostb",
            "host.udp_receive_buffer_errors",
            &[],
            3.0,
            40_003.0,
        );
        let finding = one(&record, "receiver_buffer_overflow");
        assert_eq!(finding.severity, Severity::Info, "no rate was asked for");
        assert_eq!(finding.says.key, "rule-receiver-buffer-overflow-short-says");
        assert_eq!(
            finding.says.args["share"],
            Arg::Number(0.8, sokudo_model::Unit::Ratio)
        );
        assert_eq!(
            remedy_keys(&finding),
            ("next-unpaced", "remedy-receiver-busy")
        );
        has_metric(&finding, "datagram.receiver_cpu_ratio");
        let errors = finding
            .evidence
            .iter()
            .find(|e| e.source == "/proc/net/snmp")
            .unwrap();
        assert_eq!(
            (errors.value, errors.host.as_deref()),
            (Some(40_000.0), Some("hostb"))
        );
    }

    #[test]
    fn receiver_overflow_is_bad_when_a_rate_was_asked_for() {
        let loss = losing(
            5e4,
            &[
                ("lost_at_receiver_socket_packets", 5e4),
                ("asked_packets_per_second", 1e5),
            ],
        );
        let finding = one(&with_flow(&loss), "receiver_buffer_overflow");
        assert_eq!(finding.severity, Severity::Bad);
        none(
            &with_flow(&losing(5e4, &[("lost_on_path_packets", 5e4)])),
            "receiver_buffer_overflow",
        );
    }

    #[test]
    fn a_probe_is_meant_to_lose() {
        let mut record = with_flow(&losing(
            5e4,
            &[
                ("lost_at_receiver_socket_packets", 5e4),
                ("asked_packets_per_second", 1e5),
            ],
        ));
        record.manifest.phases[0]
            .labels
            .insert("role".into(), "probe".into());
        let finding = one(&record, "receiver_buffer_overflow");
        assert_eq!(finding.severity, Severity::Info);
        assert!(finding.weight < 0.3);
    }

    #[test]
    fn a_kept_waiting_receiver_gets_other_advice() {
        let record = with_flow(&losing(
            5e4,
            &[
                ("lost_at_receiver_socket_packets", 5e4),
                ("receiver_wait_ratio", 0.3),
            ],
        ));
        let finding = one(&record, "receiver_buffer_overflow");
        assert_eq!(
            remedy_keys(&finding),
            ("next-unpaced", "remedy-receiver-waiting")
        );
        one(&record, "host_busy");
    }

    #[test]
    fn requests_that_found_a_full_socket_are_not_lost_on_the_path() {
        let mut scene = scene::Scene::of("rr")
            .sender([0.4, 0.001, 0.0])
            .receiver([0.5, 0.001, 0.0])
            .total("transactions_per_second", 5e3)
            .total("errors", 900.0);
        let errors = "host.udp_receive_buffer_errors";
        add_series(&mut scene.record, "hostb", errors, &[], 0.0, 880.0);
        let finding = scene.limited_by("receiver_buffer_overflow");
        check_texts(&finding);
        scene.record.series.clear();
        scene.without("receiver_buffer_overflow");
    }
}
