//! What is a metric or a phase called where people read it?

use sokudo_model::{Text, metric};

use crate::block::Phrase;

/// Metrics with a short name of their own in `locales/*/report.ftl`, key `report-metric-<name>`.
const NAMED: &[&str] = &[
    "crr.client_cpu_ratio",
    "crr.connect_seconds",
    "crr.connections",
    "crr.connections_per_second",
    "crr.errors",
    "crr.handshake_seconds",
    "crr.late_ratio",
    "crr.latency_sd_seconds",
    "crr.latency_seconds",
    "crr.server_cpu_ratio",
    "crr.service_seconds",
    "crr.window_full_ratio",
    "datagram.ack_rtt_seconds",
    "datagram.delivered_bits_per_second",
    "datagram.delivered_bytes_per_second",
    "datagram.delivered_packets_per_second",
    "datagram.duplicate_packets",
    "datagram.interarrival_seconds",
    "datagram.jitter_seconds",
    "datagram.lateness_seconds",
    "datagram.loss_ratio",
    "datagram.loss_run_packets",
    "datagram.lost_at_receiver_host_packets",
    "datagram.lost_at_receiver_socket_packets",
    "datagram.lost_at_sender_packets",
    "datagram.lost_on_path_packets",
    "datagram.missing_packets",
    "datagram.out_of_order_packets",
    "datagram.received_packets",
    "datagram.receiver_cpu_ratio",
    "datagram.receiver_cpu_seconds_per_packet",
    "datagram.reordering_extent_packets",
    "datagram.sender_cpu_ratio",
    "datagram.sender_cpu_seconds_per_packet",
    "datagram.sent_bytes_per_second",
    "datagram.sent_packets",
    "datagram.sent_packets_per_second",
    "group.start_late_seconds",
    "http.client_cpu_ratio",
    "http.connect_seconds",
    "http.errors",
    "http.handshake_seconds",
    "http.late_ratio",
    "http.latency_seconds",
    "http.read_seconds",
    "http.requests",
    "http.requests_per_second",
    "http.service_seconds",
    "http.wait_seconds",
    "http.window_full_ratio",
    "probe.answered_packets",
    "probe.clock_error_seconds",
    "probe.ipdv_down_seconds",
    "probe.ipdv_seconds",
    "probe.ipdv_up_seconds",
    "probe.jitter_down_seconds",
    "probe.jitter_up_seconds",
    "probe.late_packets",
    "probe.loss_down_ratio",
    "probe.loss_run_down_packets",
    "probe.loss_run_up_packets",
    "probe.loss_up_ratio",
    "probe.owd_down_seconds",
    "probe.owd_seconds",
    "probe.owd_up_seconds",
    "probe.rtt_seconds",
    "probe.send_call_seconds",
    "probe.sender_cpu_ratio",
    "probe.sent_packets",
    "probe.server_cpu_ratio",
    "probe.timer_error_seconds",
    "probe.turnaround_seconds",
    "probe.unsent_packets",
    "rr.client_cpu_ratio",
    "rr.errors",
    "rr.late_ratio",
    "rr.latency_sd_seconds",
    "rr.latency_seconds",
    "rr.server_cpu_ratio",
    "rr.service_seconds",
    "rr.transactions",
    "rr.transactions_per_second",
    "rr.window_full_ratio",
    "stream.goodput_bits_per_second",
    "stream.missing_bytes",
    "stream.read_idle_ratio",
    "stream.receive_window_limited_ratio",
    "stream.received_bytes",
    "stream.receiver_cpu_ratio",
    "stream.retransmitted_segments",
    "stream.send_buffer_limited_ratio",
    "stream.sender_cpu_ratio",
    "stream.sent_bits_per_second",
    "stream.smoothed_rtt_seconds",
    "stream.write_blocked_ratio",
];

/// Short name of a metric; its catalogue line, or the code name, where it has none.
pub fn metric(name: &str) -> Phrase {
    if NAMED.contains(&name) {
        return Text::new(format!("report-metric-{}", name.replace(['.', '_'], "-"))).into();
    }
    metric::find(name).map_or(name, |m| m.help).into()
}

/// What exactly a distribution holds.
pub fn metric_help(name: &str) -> Phrase {
    const HELPED: &[&str] = &[
        "datagram.ack_rtt_seconds",
        "datagram.interarrival_seconds",
        "datagram.lateness_seconds",
        "datagram.loss_run_packets",
        "datagram.reordering_extent_packets",
    ];
    if HELPED.contains(&name) {
        return Text::new(format!("report-help-{}", name.replace(['.', '_'], "-"))).into();
    }
    // The catalogue tells whoever reads files what the numbers are called there.
    let help = metric::find(name).map_or(name, |m| m.help);
    let what = help
        .split_once("; in the summary with")
        .map_or(help, |(what, _)| what);
    what.into()
}

/// What a well-known phase does, after its name; `None` for names that people made up.
pub fn phase_help(name: &str) -> Option<Phrase> {
    const KNOWN: &[&str] = &["best", "both-ways", "mesh", "p2p", "selftest"];
    KNOWN
        .contains(&name)
        .then(|| Text::new(format!("report-phase-{name}")).into())
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};

    use super::*;

    #[test]
    fn every_named_metric_exists_and_has_a_message() {
        let i18n = I18n::new(Lang::En);
        for name in NAMED {
            assert!(metric::find(name).is_some(), "{name} is in no catalogue");
            let Phrase::Text(text) = metric(name) else {
                panic!("{name} has no message");
            };
            assert!(i18n.has(&text.key), "{} is missing", text.key);
        }
    }
}
