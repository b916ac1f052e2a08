//! Bulk bytes over connections (`stream`).

use crate::metric::metrics;

use super::{
    Carried, Charts, CurveMetrics, End, Ends, Expects, Family, Kind, Layer, LayerNumber, LayerPart,
    PairFigure, Reach, Track, TrackSource, Transfer,
};

#[rustfmt::skip]
metrics! {
    // Columns of the table of flows, in this order.
    GOODPUT_BITS_PER_SECOND = gauge("stream.goodput_bits_per_second", BitsPerSecond, "payload that reached the receiving program, over the time of the load (group.load_seconds); in series: over the bin").sum().column().named();
    RECEIVED_BYTES = counter("stream.received_bytes", Bytes, "payload that reached the receiving program, warm-up included").sum().column().named();
    MISSING_BYTES = counter("stream.missing_bytes", Bytes, "sent_bytes minus received_bytes; anything but 0 has its reason in the flow's label error").sum().column().named();
    RETRANSMITTED_SEGMENTS = counter("stream.retransmitted_segments", One, "TCP segments with payload that were retransmitted while it counted").sum().column().named();
    SMOOTHED_RTT_SECONDS = gauge("stream.smoothed_rtt_seconds", Seconds, "round-trip time as the sender's kernel smooths it, at the end").of_one().column().named();
    WRITE_BLOCKED_RATIO = gauge("stream.write_blocked_ratio", Ratio, "share of time that the sending thread slept in a write because the connection took nothing").max().column().named();
    READ_IDLE_RATIO = gauge("stream.read_idle_ratio", Ratio, "share of time that the receiving thread slept because nothing had arrived").max().column().named();
    RECEIVE_WINDOW_LIMITED_RATIO = gauge("stream.receive_window_limited_ratio", Ratio, "share of time in which the receiver's window was full (TCP)").max().column().named();
    SEND_BUFFER_LIMITED_RATIO = gauge("stream.send_buffer_limited_ratio", Ratio, "share of time in which the send buffer was too small for the way (TCP)").max().column().named();
    SENDER_CPU_RATIO = gauge("stream.sender_cpu_ratio", Ratio, "CPU time of the busiest sending thread over elapsed time, 1 = one core; in series: of the flow's thread").max().column().named();
    RECEIVER_CPU_RATIO = gauge("stream.receiver_cpu_ratio", Ratio, "CPU time of the busiest receiving thread over elapsed time, 1 = one core; in series: of the flow's thread").max().column().named();
    // The rest.
    SENT_BITS_PER_SECOND = gauge("stream.sent_bits_per_second", BitsPerSecond, "payload that the sender's system took, over the time of the load (group.load_seconds); in series: over the bin").sum().named();
    SENT_BYTES = counter("stream.sent_bytes", Bytes, "payload that the sender's system took, warm-up included").sum();
    ELAPSED_SECONDS = gauge("stream.elapsed_seconds", Seconds, "from the start of the load to the end of the stream at the receiver").max();
    ASKED_BITS_PER_SECOND = gauge("stream.asked_bits_per_second", BitsPerSecond, "rate that was asked for; absent when unlimited").sum();
    BEST_RATE_PER_SECOND = gauge("stream.best_rate_per_second", PerSecond, "writes per second at the highest rate that kept the bounds of --find, confirmed by a fresh run; goodput is that of the confirming run");
    LATE_RATIO = gauge("stream.late_ratio", Ratio, "share of writes that began more than 1 ms after their intended time although the write before was done; absent when unlimited").max();
    WRITE_SIZE_BYTES = gauge("stream.write_size_bytes", Bytes, "bytes offered per write").max();
    MEAN_WRITE_BYTES = gauge("stream.mean_write_bytes", Bytes, "bytes that a write took, mean");
    MEAN_READ_BYTES = gauge("stream.mean_read_bytes", Bytes, "bytes that a read gave, mean");
    FAIRNESS_INDEX = gauge("stream.fairness_index", One, "Jain's index of the flows' goodput: 1 = all alike, 1/n = one has everything; absent for one flow");
    ZEROCOPY_COPIED_RATIO = gauge("stream.zerocopy_copied_ratio", Ratio, "share of the zero-copy writes that the kernel copied after all").max();
    SENDER_WAIT_RATIO = gauge("stream.sender_wait_ratio", Ratio, "share of time that the sending thread was ready to run but had no CPU").max();
    RECEIVER_WAIT_RATIO = gauge("stream.receiver_wait_ratio", Ratio, "share of time that the receiving thread was ready to run but had no CPU").max();
    SENDER_CPU_SECONDS_PER_GIGABYTE = gauge("stream.sender_cpu_seconds_per_gigabyte", Seconds, "CPU time of the sending thread per 10⁹ bytes").mean_by(&SENT_BYTES);
    RECEIVER_CPU_SECONDS_PER_GIGABYTE = gauge("stream.receiver_cpu_seconds_per_gigabyte", Seconds, "CPU time of the receiving thread per 10⁹ bytes").mean_by(&RECEIVED_BYTES);
    SENT_SEGMENTS = counter("stream.sent_segments", One, "TCP segments with payload that left while it counted, retransmitted ones included").sum();
    RETRANSMITTED_RATIO = gauge("stream.retransmitted_ratio", Ratio, "retransmitted_segments / sent_segments");
    BUSY_RATIO = gauge("stream.busy_ratio", Ratio, "share of time with data to send or under way (TCP)").max();
    MIN_RTT_SECONDS = gauge("stream.min_rtt_seconds", Seconds, "lowest round-trip time that the sender's kernel saw lately, at the end").of_one();
    CONGESTION_WINDOW_SEGMENTS = gauge("stream.congestion_window_segments", One, "congestion window at the end").of_one();
    SEGMENT_BYTES = gauge("stream.segment_bytes", Bytes, "payload of a full segment").of_one();
    SEND_BUFFER_ASKED_BYTES = gauge("stream.send_buffer_asked_bytes", Bytes, "send buffer asked for; absent when the system tunes it").of_one();
    SEND_BUFFER_GRANTED_BYTES = gauge("stream.send_buffer_granted_bytes", Bytes, "send buffer at the end (halved on Linux, which reports twice the usable size)").of_one();
    RECEIVE_BUFFER_ASKED_BYTES = gauge("stream.receive_buffer_asked_bytes", Bytes, "receive buffer asked for; absent when the system tunes it").of_one();
    RECEIVE_BUFFER_GRANTED_BYTES = gauge("stream.receive_buffer_granted_bytes", Bytes, "receive buffer at the end (halved as above)").of_one();
}

/// The numbers that it shares with every transfer.
pub const TRANSFER: Transfer = Transfer {
    rate: GOODPUT_BITS_PER_SECOND,
    asked: ASKED_BITS_PER_SECOND,
    missing: MISSING_BYTES,
    latency: None,
    write_blocked: WRITE_BLOCKED_RATIO,
    read_idle: READ_IDLE_RATIO,
    window_waited: None,
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "stream",
    question: "how many bytes per second does a connection carry, and what holds it back?",
    family: Family::Bytes(&TRANSFER),
    reach: &[Reach::Hosts],
    source: "stream",
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
    done: RECEIVED_BYTES,
    curve: Some(CurveMetrics {
        offered: ASKED_BITS_PER_SECOND,
        delivered: GOODPUT_BITS_PER_SECOND,
        latency: None,
        shares: &[("loss", RETRANSMITTED_RATIO)],
        best: BEST_RATE_PER_SECOND,
    }),
    carried: |metrics| {
        let speed = GOODPUT_BITS_PER_SECOND.of(metrics)? / 8.0;
        Some(Carried::at(RECEIVED_BYTES.of(metrics)?, speed))
    },
    charts: Charts {
        arrived: Some(GOODPUT_BITS_PER_SECOND),
        sent: Some(SENT_BITS_PER_SECOND),
        per_second: None,
        latency: None,
    },
    tracks: &[TrackSource {
        track: Track::Throughput,
        metric: GOODPUT_BITS_PER_SECOND,
        suffix: "",
    }],
    expects: Expects {
        line_rate: Some(GOODPUT_BITS_PER_SECOND),
        latency: false,
        loss: false,
        errors: false,
    },
    pair_figures: &[PairFigure {
        metric: GOODPUT_BITS_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: Some(Layer {
        key: "layer-stream",
        part: LayerPart::Way,
        numbers: &[LayerNumber {
            name: "bits",
            metric: GOODPUT_BITS_PER_SECOND,
            stat: None,
        }],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "cc",
        "find",
        "io",
        "max-skew",
        "nagle",
        "pacing",
        "rate",
        "rcvbuf",
        "read-rate",
        "size",
        "sndbuf",
        "streams",
        "threads",
        "transport",
        "window-clamp",
    ],
};
