//! Datagrams that may be lost, repeated and reordered (`datagram`).

use crate::metric::metrics;

use super::{
    Carried, Charts, CurveMetrics, End, Ends, Expects, Family, Kind, PairFigure, Reach, Track,
    TrackSource,
};

#[rustfmt::skip]
metrics! {
    // Columns of the table of flows, in this order.
    SENT_PACKETS = counter("datagram.sent_packets", Packets, "datagrams that the kernel accepted from the sender").sum().column().named();
    RECEIVED_PACKETS = counter("datagram.received_packets", Packets, "distinct datagrams that reached the receiving program, intact").sum().column().named();
    DELIVERED_BITS_PER_SECOND = gauge("datagram.delivered_bits_per_second", BitsPerSecond, "delivered_bytes_per_second in bits; in series: over the interval").sum().column().named();
    LOSS_RATIO = gauge("datagram.loss_ratio", Ratio, "missing over sent; in series: over the interval, from the sequence numbers seen").column().named();
    LOST_AT_SENDER_PACKETS = counter("datagram.lost_at_sender_packets", Packets, "refused by the sender's kernel (ENOBUFS, EAGAIN), not counted as sent").sum().column().named();
    LOST_ON_PATH_PACKETS = counter("datagram.lost_on_path_packets", Packets, "missing datagrams that no counter of either host explains").sum().column().named();
    LOST_AT_RECEIVER_HOST_PACKETS = counter("datagram.lost_at_receiver_host_packets", Packets, "missing datagrams explained by drops elsewhere in the receiving host (softnet backlog, UDP errors without a socket drop)").sum().column().named();
    LOST_AT_RECEIVER_SOCKET_PACKETS = counter("datagram.lost_at_receiver_socket_packets", Packets, "missing datagrams explained by drops at the receiving socket").sum().column().named();
    OUT_OF_ORDER_PACKETS = counter("datagram.out_of_order_packets", Packets, "arrivals with a sequence number below one that arrived earlier (RFC 4737 type-P-reordered)").sum().column().named();
    DUPLICATE_PACKETS = counter("datagram.duplicate_packets", Packets, "arrivals of a sequence number that had arrived before").sum().column().named();
    JITTER_SECONDS = gauge("datagram.jitter_seconds", Seconds, "interarrival jitter as in RFC 3550 section 6.4.1, at the end of the run").max().column().named();
    SENDER_CPU_RATIO = gauge("datagram.sender_cpu_ratio", Ratio, "CPU time of the sending thread over elapsed time").max().column().named();
    RECEIVER_CPU_RATIO = gauge("datagram.receiver_cpu_ratio", Ratio, "CPU time of the receiving thread over elapsed time").max().column().named();
    // The rest.
    SENT_BYTES = counter("datagram.sent_bytes", Bytes, "bytes of sent datagrams without IP and UDP headers").sum();
    RECEIVED_BYTES = counter("datagram.received_bytes", Bytes, "bytes of received datagrams without IP and UDP headers").sum();
    MISSING_PACKETS = counter("datagram.missing_packets", Packets, "sent and never received; head and tail of the run included").sum().named();
    CORRUPTED_PACKETS = counter("datagram.corrupted_packets", Packets, "arrivals whose header check or verified bytes were wrong").sum();
    FOREIGN_PACKETS = counter("datagram.foreign_packets", Packets, "arrivals on the test's port that belong to no flow of it");
    SUCCESS_RATIO = gauge("datagram.success_ratio", Ratio, "received_packets / sent_packets");
    SENT_PACKETS_PER_SECOND = gauge("datagram.sent_packets_per_second", PacketsPerSecond, "sent datagrams over the time of the load (group.load_seconds)").sum().named();
    SENT_BYTES_PER_SECOND = gauge("datagram.sent_bytes_per_second", BytesPerSecond, "bytes of sent datagrams, IP and UDP headers not counted, over the same time").sum().named();
    DELIVERED_PACKETS_PER_SECOND = gauge("datagram.delivered_packets_per_second", PacketsPerSecond, "received datagrams over the time of the load (group.load_seconds)").sum().named();
    DELIVERED_BYTES_PER_SECOND = gauge("datagram.delivered_bytes_per_second", BytesPerSecond, "bytes of received datagrams, IP and UDP headers not counted, over the same time").sum().named();
    GOODPUT_BYTES_PER_SECOND = gauge("datagram.goodput_bytes_per_second", BytesPerSecond, "payload bytes of received datagrams (see --payload) over the same time").sum();
    SENT_WIRE_BITS_PER_SECOND = gauge("datagram.sent_wire_bits_per_second", BitsPerSecond, "sent datagrams as frames of Ethernet, over the same time: each fragment with its Ethernet, IP and UDP headers, 14 B of Ethernet included, preamble, checksum and gap not; UDP only").sum();
    DELIVERED_WIRE_BITS_PER_SECOND = gauge("datagram.delivered_wire_bits_per_second", BitsPerSecond, "the same of received datagrams").sum();
    ASKED_PACKETS_PER_SECOND = gauge("datagram.asked_packets_per_second", PacketsPerSecond, "rate that was asked for; absent when unlimited").sum();
    BEST_RATE_BYTES_PER_SECOND = gauge("datagram.best_rate_bytes_per_second", BytesPerSecond, "highest delivered rate that kept loss within the bound, confirmed by a fresh run");
    BEST_RATE_PACKETS_PER_SECOND = gauge("datagram.best_rate_packets_per_second", PacketsPerSecond, "the same in datagrams");
    BEST_RATE_LOSS_RATIO = gauge("datagram.best_rate_loss_ratio", Ratio, "loss in the run that confirmed the best rate");
    REFUSED_SENDS = counter("datagram.refused_sends", One, "send calls that the kernel refused with ENOBUFS or EAGAIN").sum();
    UNREACHABLE_ERRORS = counter("datagram.unreachable_errors", One, "port-unreachable or host-unreachable errors that came back to the sender").sum();
    MEAN_SEND_BATCH_PACKETS = gauge("datagram.mean_send_batch_packets", Packets, "datagrams per send call").mean_by(&SENT_PACKETS);
    MEAN_RECEIVE_BATCH_PACKETS = gauge("datagram.mean_receive_batch_packets", Packets, "datagrams per receive call that returned any").mean_by(&RECEIVED_PACKETS);
    REORDERING_EXTENT_MEAN_PACKETS = gauge("datagram.reordering_extent_mean_packets", Packets, "mean RFC 4737 reordering extent of the out-of-order arrivals").mean_by(&OUT_OF_ORDER_PACKETS);
    VENDOR_MEAN_OFFSET_PACKETS = gauge("datagram.vendor_mean_offset_packets", Packets, "mean distance between arrival position and sequence position of out-of-order arrivals, as the datagram test prints it").mean_by(&OUT_OF_ORDER_PACKETS);
    GAPS = gauge("datagram.gaps", One, "runs of numbers that were jumped over, those before the first and behind the last arrival included").sum();
    GAP_MEAN_PACKETS = gauge("datagram.gap_mean_packets", Packets, "numbers per gap, mean").mean_by(&GAPS);
    GAP_MAX_PACKETS = gauge("datagram.gap_max_packets", Packets, "numbers in the largest gap").max();
    GAP_MEAN_SECONDS = gauge("datagram.gap_mean_seconds", Seconds, "time between the arrivals on both sides of a gap, mean; absent where no gap lies between two arrivals").mean_by(&GAPS);
    GAP_MAX_SECONDS = gauge("datagram.gap_max_seconds", Seconds, "the same, largest").max();
    SENDER_CPU_SECONDS_PER_PACKET = gauge("datagram.sender_cpu_seconds_per_packet", Seconds, "CPU time of the sending thread per sent datagram").mean_by(&SENT_PACKETS).named();
    RECEIVER_CPU_SECONDS_PER_PACKET = gauge("datagram.receiver_cpu_seconds_per_packet", Seconds, "CPU time of the receiving thread per received datagram").mean_by(&RECEIVED_PACKETS).named();
    SENDER_WAIT_RATIO = gauge("datagram.sender_wait_ratio", Ratio, "time that the sending thread was runnable but had no CPU, over elapsed time").max();
    RECEIVER_WAIT_RATIO = gauge("datagram.receiver_wait_ratio", Ratio, "time that the receiving thread was runnable but had no CPU, over elapsed time").max();
    LATE_RATIO = gauge("datagram.late_ratio", Ratio, "datagrams sent more than 1 ms after their intended time, over those sent; absent when unlimited").max();
    RECEIVE_BUFFER_ASKED_BYTES = gauge("datagram.receive_buffer_asked_bytes", Bytes, "receive buffer asked for").max();
    RECEIVE_BUFFER_GRANTED_BYTES = gauge("datagram.receive_buffer_granted_bytes", Bytes, "receive buffer that the kernel granted (Linux reports twice the usable size; halved here)").min();
    SEND_BUFFER_ASKED_BYTES = gauge("datagram.send_buffer_asked_bytes", Bytes, "send buffer asked for").max();
    SEND_BUFFER_GRANTED_BYTES = gauge("datagram.send_buffer_granted_bytes", Bytes, "send buffer that the kernel granted (halved on Linux as above)").min();
    SIZE_BYTES = gauge("datagram.size_bytes", Bytes, "mean datagram size without IP and UDP headers").mean_by(&SENT_PACKETS);
    PATH_MTU_BYTES = gauge("datagram.path_mtu_bytes", Bytes, "MTU of the interface towards the peer, or of the path where the kernel knows it").min();
    PROCESSED_BYTES = gauge("datagram.processed_bytes", Bytes, "bytes of each datagram that the receiver verified");
    ELAPSED_SECONDS = gauge("datagram.elapsed_seconds", Seconds, "receiver's time from the first to the last arrival").max();
    INTERARRIVAL_SECONDS = histogram("datagram.interarrival_seconds", Seconds, "time between receive calls that returned datagrams").named().helped();
    ACK_RTT_SECONDS = histogram("datagram.ack_rtt_seconds", Seconds, "round trip of sampled datagrams, the peer's holding time taken off").named().helped();
    LATENESS_SECONDS = histogram("datagram.lateness_seconds", Seconds, "real minus intended send time of paced datagrams").named().helped();
    REORDERING_EXTENT_PACKETS = histogram("datagram.reordering_extent_packets", Packets, "RFC 4737 reordering extent of each out-of-order arrival").named().helped();
    LOSS_RUN_PACKETS = histogram("datagram.loss_run_packets", Packets, "length of each run of consecutive missing sequence numbers").named().helped();
    SENT_BITS_PER_SECOND = gauge("datagram.sent_bits_per_second", BitsPerSecond, "sent_bytes_per_second in bits; in series: over the interval").sum();
}

/// Bytes of an Ethernet header, as the counters and queues of Linux hold it.
const ETHERNET_HEADER_BYTES: u64 = 14;
/// Bytes of a UDP header.
const UDP_HEADER_BYTES: u64 = 8;
/// Bytes of IPv4 and UDP headers; those of IPv6 are more, and each of its fragments has another header.
const IPV4_UDP_HEADER_BYTES: u64 = 28;
/// Bytes of the header of an IPv6 fragment (RFC 8200 section 4.5).
const IPV6_FRAGMENT_HEADER_BYTES: u64 = 8;

/// Packets that a datagram of so many bytes becomes on its way, and their bytes as frames of Ethernet.
///
/// `header_bytes`: IP and UDP headers of a whole datagram, 28 or 48. The data of each fragment but the last is a
/// multiple of eight bytes (RFC 791 section 2.3, RFC 8200 section 4.5), and only the first has the UDP header.
pub fn on_the_wire(size_bytes: u64, mtu_bytes: u64, header_bytes: u64) -> (u64, u64) {
    let ip_bytes = header_bytes.saturating_sub(UDP_HEADER_BYTES);
    let data = size_bytes.saturating_add(UDP_HEADER_BYTES);
    let frames = |packets: u64, ip_bytes: u64| {
        data.saturating_add(packets.saturating_mul(ip_bytes + ETHERNET_HEADER_BYTES))
    };
    let fits = data.saturating_add(ip_bytes) <= mtu_bytes;
    let ip_bytes = match header_bytes > IPV4_UDP_HEADER_BYTES && !fits {
        true => ip_bytes + IPV6_FRAGMENT_HEADER_BYTES,
        false => ip_bytes,
    };
    let room = mtu_bytes.saturating_sub(ip_bytes);
    let each = room / 8 * 8;
    if fits || each == 0 {
        return (1, frames(1, ip_bytes));
    }
    let packets = 1 + data.saturating_sub(room).div_ceil(each);
    (packets, frames(packets, ip_bytes))
}

/// The kind.
pub const KIND: Kind = Kind {
    name: "datagram",
    question: "how many datagrams per second get from here to there, and where are the others lost?",
    family: Family::Datagram,
    reach: &[Reach::Hosts],
    source: "datagram",
    metrics: METRICS,
    ends: Ends {
        near: End {
            name: "sender",
            cpu: SENDER_CPU_RATIO,
            wait: Some(SENDER_WAIT_RATIO),
            buffer: Some(SEND_BUFFER_GRANTED_BYTES),
        },
        far: Some(End {
            name: "receiver",
            cpu: RECEIVER_CPU_RATIO,
            wait: Some(RECEIVER_WAIT_RATIO),
            buffer: Some(RECEIVE_BUFFER_GRANTED_BYTES),
        }),
    },
    done: RECEIVED_PACKETS,
    curve: Some(CurveMetrics {
        offered: SENT_BITS_PER_SECOND,
        delivered: DELIVERED_BITS_PER_SECOND,
        latency: Some(ACK_RTT_SECONDS),
        shares: &[("loss", LOSS_RATIO)],
        best: BEST_RATE_PACKETS_PER_SECOND,
    }),
    carried: |metrics| {
        let speed = DELIVERED_BYTES_PER_SECOND.of(metrics)?;
        Some(Carried::at(RECEIVED_BYTES.of(metrics)?, speed))
    },
    charts: Charts {
        arrived: Some(DELIVERED_BITS_PER_SECOND),
        sent: Some(SENT_BITS_PER_SECOND),
        per_second: None,
        latency: None,
    },
    tracks: &[
        TrackSource {
            track: Track::Throughput,
            metric: DELIVERED_BITS_PER_SECOND,
            suffix: "",
        },
        TrackSource {
            track: Track::Loss,
            metric: LOSS_RATIO,
            suffix: "",
        },
    ],
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: true,
        errors: false,
    },
    pair_figures: &[PairFigure {
        metric: LOSS_RATIO,
        stat: None,
        more_is_better: false,
    }],
    // The layer of datagrams has many phases, and is what the verdict is about.
    layer: None,
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "find",
        "io",
        "max-skew",
        "rate",
        "rcvbuf",
        "size",
        "sndbuf",
        "streams",
        "transport",
    ],
};

#[cfg(test)]
mod tests {
    use super::on_the_wire;

    #[test]
    fn a_datagram_that_fits_is_one_frame() {
        assert_eq!(on_the_wire(1472, 1500, 28), (1, 1514));
        assert_eq!(on_the_wire(1452, 1500, 48), (1, 1514));
        assert_eq!(on_the_wire(64, 65_536, 28), (1, 106));
    }

    #[test]
    fn each_fragment_has_its_own_headers() {
        // One byte more than fits: 1480 and 1 bytes of data.
        assert_eq!(on_the_wire(1473, 1500, 28), (2, 1514 + 35));
        // 8008 bytes of data: five times 1480, and 608.
        assert_eq!(on_the_wire(8000, 1500, 28), (6, 5 * 1514 + 642));
        // Of 1380 bytes of room 1376 are used, but by the last all 1380.
        assert_eq!(on_the_wire(2748, 1400, 28), (2, 2748 + 8 + 2 * 34));
        assert_eq!(on_the_wire(2749, 1400, 28), (3, 2749 + 8 + 3 * 34));
        // IPv6: another header of 8 bytes in each fragment, 1448 bytes of data.
        assert_eq!(on_the_wire(1453, 1500, 48), (2, 1461 + 2 * 62));
        assert_eq!(on_the_wire(8000, 1500, 48), (6, 8008 + 6 * 62));
    }

    #[test]
    fn impossible_sizes_are_survived() {
        assert_eq!(on_the_wire(100, 0, 28).0, 1);
        assert_eq!(on_the_wire(u64::MAX, 1500, 28).1, u64::MAX);
        assert_eq!(on_the_wire(0, 0, 0).0, 1);
    }
}
