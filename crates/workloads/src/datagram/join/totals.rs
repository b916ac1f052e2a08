//! What do the flows of a phase come to together?

use sokudo_model::{FlowResult, Summary};

use super::super::options::DatagramOptions;
use crate::joined::{put, ratio};

/// Totals over the flows of a phase.
pub(super) fn totals(flows: &[FlowResult], options: &DatagramOptions) -> Summary {
    const SUMS: &[&str] = &[
        "datagram.sent_packets",
        "datagram.sent_bytes",
        "datagram.received_packets",
        "datagram.received_bytes",
        "datagram.missing_packets",
        "datagram.duplicate_packets",
        "datagram.out_of_order_packets",
        "datagram.corrupted_packets",
        "datagram.lost_at_sender_packets",
        "datagram.lost_at_receiver_socket_packets",
        "datagram.lost_at_receiver_host_packets",
        "datagram.lost_on_path_packets",
        "datagram.refused_sends",
        "datagram.unreachable_errors",
        "datagram.gaps",
        "datagram.sent_packets_per_second",
        "datagram.sent_bytes_per_second",
        "datagram.sent_bits_per_second",
        "datagram.delivered_packets_per_second",
        "datagram.delivered_bytes_per_second",
        "datagram.delivered_bits_per_second",
        "datagram.goodput_bytes_per_second",
        "datagram.asked_packets_per_second",
    ];
    const MAXIMA: &[&str] = &[
        "datagram.gap_max_packets",
        "datagram.gap_max_seconds",
        "datagram.jitter_seconds",
        "datagram.sender_cpu_ratio",
        "datagram.receiver_cpu_ratio",
        "datagram.sender_wait_ratio",
        "datagram.receiver_wait_ratio",
        "datagram.late_ratio",
        "datagram.elapsed_seconds",
        "datagram.receive_buffer_asked_bytes",
        "datagram.send_buffer_asked_bytes",
    ];
    const MINIMA: &[&str] = &[
        "datagram.receive_buffer_granted_bytes",
        "datagram.send_buffer_granted_bytes",
        "datagram.path_mtu_bytes",
    ];
    const WEIGHTED_BY_RECEIVED: &[&str] = &[
        "datagram.receiver_cpu_seconds_per_packet",
        "datagram.mean_receive_batch_packets",
    ];
    const WEIGHTED_BY_SENT: &[&str] = &[
        "datagram.sender_cpu_seconds_per_packet",
        "datagram.mean_send_batch_packets",
        "datagram.size_bytes",
    ];
    let mut summary = Summary::new();
    let values = |name: &'static str| {
        flows
            .iter()
            .filter_map(move |flow| flow.metrics.get(name).copied())
    };
    for name in SUMS {
        if values(name).next().is_some() {
            put(&mut summary, name, values(name).sum::<f64>());
        }
    }
    for name in MAXIMA {
        put(&mut summary, name, values(name).reduce(f64::max));
    }
    for name in MINIMA {
        put(&mut summary, name, values(name).reduce(f64::min));
    }
    for (names, weight) in [
        (WEIGHTED_BY_RECEIVED, "datagram.received_packets"),
        (WEIGHTED_BY_SENT, "datagram.sent_packets"),
    ] {
        for name in names {
            put(&mut summary, name, weighted(flows, name, weight));
        }
    }
    put(
        &mut summary,
        "datagram.reordering_extent_mean_packets",
        weighted(
            flows,
            "datagram.reordering_extent_mean_packets",
            "datagram.out_of_order_packets",
        ),
    );
    put(
        &mut summary,
        "datagram.vendor_mean_offset_packets",
        weighted(
            flows,
            "datagram.vendor_mean_offset_packets",
            "datagram.out_of_order_packets",
        ),
    );
    put(
        &mut summary,
        "datagram.gap_mean_packets",
        weighted(flows, "datagram.gap_mean_packets", "datagram.gaps"),
    );
    put(
        &mut summary,
        "datagram.gap_mean_seconds",
        weighted(flows, "datagram.gap_mean_seconds", "datagram.gaps"),
    );
    let (received, missing) = received_and_missing(flows);
    let expected = received + missing;
    put(
        &mut summary,
        "datagram.success_ratio",
        ratio(received, expected),
    );
    put(
        &mut summary,
        "datagram.loss_ratio",
        ratio(missing, expected),
    );
    put(
        &mut summary,
        "datagram.processed_bytes",
        options.verify.map(|bytes| bytes.0 as f64),
    );
    summary
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

fn weighted(flows: &[FlowResult], name: &str, weight: &str) -> Option<f64> {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for flow in flows {
        if let Some((value, weight)) = flow.metrics.get(name).zip(flow.metrics.get(weight)) {
            sum += value * weight;
            weights += weight;
        }
    }
    ratio(sum, weights)
}
