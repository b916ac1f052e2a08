//! What do the flows of a phase come to together?

use sokudo_model::{FlowResult, Summary};
use sokudo_workload::joined::{Totals, ratio};

use super::super::NAME;
use super::super::options::DatagramOptions;

const SUMS: &[&str] = &[
    "sent_packets",
    "sent_bytes",
    "received_packets",
    "received_bytes",
    "missing_packets",
    "duplicate_packets",
    "out_of_order_packets",
    "corrupted_packets",
    "lost_at_sender_packets",
    "lost_at_receiver_socket_packets",
    "lost_at_receiver_host_packets",
    "lost_on_path_packets",
    "refused_sends",
    "unreachable_errors",
    "gaps",
    "sent_packets_per_second",
    "sent_bytes_per_second",
    "sent_bits_per_second",
    "delivered_packets_per_second",
    "delivered_bytes_per_second",
    "delivered_bits_per_second",
    "goodput_bytes_per_second",
    "asked_packets_per_second",
];
const MAXIMA: &[&str] = &[
    "gap_max_packets",
    "gap_max_seconds",
    "jitter_seconds",
    "sender_cpu_ratio",
    "receiver_cpu_ratio",
    "sender_wait_ratio",
    "receiver_wait_ratio",
    "late_ratio",
    "elapsed_seconds",
    "receive_buffer_asked_bytes",
    "send_buffer_asked_bytes",
];
const MINIMA: &[&str] = &[
    "receive_buffer_granted_bytes",
    "send_buffer_granted_bytes",
    "path_mtu_bytes",
];
const WEIGHED_BY_RECEIVED: &[&str] = &[
    "receiver_cpu_seconds_per_packet",
    "mean_receive_batch_packets",
];
const WEIGHED_BY_OUT_OF_ORDER: &[&str] = &[
    "reordering_extent_mean_packets",
    "vendor_mean_offset_packets",
];
const WEIGHED_BY_GAPS: &[&str] = &["gap_mean_packets", "gap_mean_seconds"];
const WEIGHED_BY_SENT: &[&str] = &[
    "sender_cpu_seconds_per_packet",
    "mean_send_batch_packets",
    "size_bytes",
];

/// Totals over the flows of a phase.
pub(super) fn totals(flows: &[FlowResult], options: &DatagramOptions) -> Summary {
    let mut totals = Totals::of(NAME, flows);
    totals.sum(SUMS);
    totals.highest(MAXIMA);
    totals.lowest(MINIMA);
    totals.weighed(WEIGHED_BY_RECEIVED, "received_packets");
    totals.weighed(WEIGHED_BY_SENT, "sent_packets");
    totals.weighed(WEIGHED_BY_OUT_OF_ORDER, "out_of_order_packets");
    totals.weighed(WEIGHED_BY_GAPS, "gaps");
    let (received, missing) = received_and_missing(flows);
    let expected = received + missing;
    totals.put("success_ratio", ratio(received, expected));
    totals.put("loss_ratio", ratio(missing, expected));
    let processed = options.verify.map(|bytes| bytes.0 as f64);
    totals.put("processed_bytes", processed);
    totals.summary
}

/// Sums over the flows whose receiving end said what it got: the others say nothing about loss.
fn received_and_missing(flows: &[FlowResult]) -> (f64, f64) {
    let both = |flow: &FlowResult| {
        let of = |name: &str| flow.metrics.get(name).copied();
        Some((
            of("datagram.received_packets")?,
            of("datagram.missing_packets")?,
        ))
    };
    let pairs = flows.iter().filter_map(both);
    pairs.fold((0.0, 0.0), |(r, m), (received, missing)| {
        (r + received, m + missing)
    })
}
