//! Framed messages, answered or acknowledged (`bus`).

use crate::metric::metrics;

use super::{
    Carried, Charts, CurveMetrics, End, Ends, Expects, Family, Kind, Layer, LayerNumber, LayerPart,
    PairFigure, Reach, Track, TrackSource, Transfer,
};

#[rustfmt::skip]
metrics! {
    MESSAGES = counter("bus.messages", One, "messages that arrived where they were to go, warm-up not counted").sum();
    MESSAGES_PER_SECOND = gauge("bus.messages_per_second", PerSecond, "those messages over the time of the load (group.load_seconds); in series: over the interval").sum();
    BYTES_PER_SECOND = gauge("bus.bytes_per_second", BytesPerSecond, "their bytes, headers of the messages included").sum();
    BITS_PER_SECOND = gauge("bus.bits_per_second", BitsPerSecond, "bytes_per_second in bits").sum();
    SENT_MESSAGES = counter("bus.sent_messages", One, "messages handed over for sending, warm-up not counted").sum();
    SENT_BYTES = counter("bus.sent_bytes", Bytes, "their bytes, headers of the messages included").sum();
    SENT_PER_SECOND = gauge("bus.sent_per_second", PerSecond, "messages handed over for sending, over the interval");
    SENT_BYTES_PER_SECOND = gauge("bus.sent_bytes_per_second", BytesPerSecond, "their bytes, over the interval");
    ASKED_PER_SECOND = gauge("bus.asked_per_second", PerSecond, "rate that was asked for; absent without --rate").sum();
    BEST_RATE_PER_SECOND = gauge("bus.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
    ANSWERS = counter("bus.answers", One, "answers that came back").sum();
    ANSWERS_PER_SECOND = gauge("bus.answers_per_second", PerSecond, "answers that came back, over the interval");
    MISSING_MESSAGES = counter("bus.missing_messages", One, "messages sent that did not arrive, warm-up included: their connection broke");
    UNACKNOWLEDGED_MESSAGES = counter("bus.unacknowledged_messages", One, "messages sent whose arrival was not acknowledged").sum();
    UNANSWERED_MESSAGES = counter("bus.unanswered_messages", One, "messages that asked for an answer and got none").sum();
    UNSTARTED_MESSAGES = counter("bus.unstarted_messages", One, "messages whose time came and that were never sent; without a rate, those that could not be tried after the connection had broken, by the pace until then").sum();
    RELAYED_MESSAGES = counter("bus.relayed_messages", One, "messages that a host of a chain handed on, warm-up included");
    ERRORS = counter("bus.errors", One, "messages that failed without being meant to, and connections that failed before any message").sum();
    ERROR_RATIO = gauge("bus.error_ratio", Ratio, "errors over all messages that were due");
    CONNECTIONS = counter("bus.connections", One, "connections that were used").sum();
    CLOSED_CONNECTIONS = counter("bus.closed_connections", One, "connections that the far end closed before the test was over").sum();
    RESET_CONNECTIONS = counter("bus.reset_connections", One, "connections that were reset").sum();
    SILENT_CONNECTIONS = counter("bus.silent_connections", One, "connections on which nothing came back for longer than --timeout").sum();
    UNDRAINED_CONNECTIONS = counter("bus.undrained_connections", One, "connections whose backlog did not drain at the end").sum();
    FOREIGN_CONNECTIONS = counter("bus.foreign_connections", One, "connections that brought something else than messages of this test").sum();
    OTHER_ERRORS = counter("bus.other_errors", One, "connections that ended for another reason").sum();
    RESPONSE_LATENCY_SECONDS = histogram("bus.response_latency_seconds", Seconds, "from the intended time of a measured message to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max");
    RESPONSE_P50_SECONDS = gauge("bus.response_p50_seconds", Seconds, "median of the response latency over the interval");
    RESPONSE_P99_SECONDS = gauge("bus.response_p99_seconds", Seconds, "99th percentile of the response latency over the interval");
    RESPONSE_MIN_SECONDS = gauge("bus.response_min_seconds", Seconds, "smallest response latency of the interval");
    RESPONSE_MEAN_SECONDS = gauge("bus.response_mean_seconds", Seconds, "mean response latency of the interval");
    RESPONSE_MAX_SECONDS = gauge("bus.response_max_seconds", Seconds, "largest response latency of the interval");
    SERVICE_SECONDS = histogram("bus.service_seconds", Seconds, "from the moment that a measured message was composed to its answer; equals the response latency without --rate");
    RECEIPT_LATENCY_SECONDS = histogram("bus.receipt_latency_seconds", Seconds, "from the moment that a measured message was composed to the receipt that covers it");
    RECEIPT_MEAN_SECONDS = gauge("bus.receipt_mean_seconds", Seconds, "mean receipt latency of the interval");
    RELAY_DELAY_SECONDS = histogram("bus.relay_delay_seconds", Seconds, "how long a host of a chain kept a message: from its last byte's arrival until the next connection had taken it");
    BACKLOG_BYTES = gauge("bus.backlog_bytes", Bytes, "bytes under way without a receipt");
    BACKLOG_PEAK_BYTES = gauge("bus.backlog_peak_bytes", Bytes, "most bytes that were under way without a receipt, all flows together").sum();
    BACKLOG_PEAK_MESSAGES = gauge("bus.backlog_peak_messages", One, "most messages that were under way on one connection").max();
    BACKLOG_RATIO = gauge("bus.backlog_ratio", Ratio, "share of time in which a sender waited for room in its window").max();
    BACKLOG_EVENTS = counter("bus.backlog_events", One, "how often a sender had to wait for room in its window").sum();
    BACKLOG_EVENTS_PER_SECOND = gauge("bus.backlog_events_per_second", PerSecond, "how often a sender had to wait for room in its window, over the interval");
    QUEUE_BYTES = gauge("bus.queue_bytes", Bytes, "bytes read that waited for a handling thread");
    QUEUE_PEAK_BYTES = gauge("bus.queue_peak_bytes", Bytes, "most bytes that waited for handling threads, all flows together").sum();
    QUEUE_FULL_RATIO = gauge("bus.queue_full_ratio", Ratio, "share of time in which a receiver stopped reading because too much waited to be handled").max();
    QUEUE_FULL_EVENTS_PER_SECOND = gauge("bus.queue_full_events_per_second", PerSecond, "how often a receiver stopped reading for that, over the interval");
    LATE_RATIO = gauge("bus.late_ratio", Ratio, "share of messages that left more than 1 ms after their intended time although there was room for them").max();
    WINDOW_FULL_RATIO = gauge("bus.window_full_ratio", Ratio, "share of messages that had to wait for room in the window").max();
    WRITE_BLOCKED_RATIO = gauge("bus.write_blocked_ratio", Ratio, "share of time in which the sender could not go on, its connection or its window being full").max();
    READ_IDLE_RATIO = gauge("bus.read_idle_ratio", Ratio, "share of time in which the receiving thread waited for data").max();
    SENDER_CPU_RATIO = gauge("bus.sender_cpu_ratio", Ratio, "CPU time of the busiest sending thread over elapsed time, 1 = one core").max();
    SENDER_WAIT_RATIO = gauge("bus.sender_wait_ratio", Ratio, "share of time that a sending thread was ready to run but had no CPU").max();
    RECEIVER_CPU_RATIO = gauge("bus.receiver_cpu_ratio", Ratio, "CPU time of the busiest receiving thread over elapsed time, 1 = one core").max();
    RECEIVER_WAIT_RATIO = gauge("bus.receiver_wait_ratio", Ratio, "share of time that a receiving thread was ready to run but had no CPU").max();
}

/// The numbers that it shares with every transfer.
pub const TRANSFER: Transfer = Transfer {
    rate: MESSAGES_PER_SECOND,
    asked: ASKED_PER_SECOND,
    missing: MISSING_MESSAGES,
    latency: Some(RESPONSE_LATENCY_SECONDS),
    write_blocked: WRITE_BLOCKED_RATIO,
    read_idle: READ_IDLE_RATIO,
    window_waited: Some(BACKLOG_RATIO),
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "bus",
    question: "how many messages per second does a bus carry, and how long do they take?",
    family: Family::Messages(&TRANSFER),
    reach: &[Reach::Hosts],
    source: "bus",
    metrics: METRICS,
    ends: Ends {
        near: End {
            name: "sender",
            cpu: SENDER_CPU_RATIO,
            wait: Some(SENDER_WAIT_RATIO),
            buffer: None,
        },
        far: Some(End {
            name: "receiver",
            cpu: RECEIVER_CPU_RATIO,
            wait: Some(RECEIVER_WAIT_RATIO),
            buffer: None,
        }),
    },
    done: MESSAGES,
    curve: Some(CurveMetrics {
        offered: ASKED_PER_SECOND,
        delivered: MESSAGES_PER_SECOND,
        latency: Some(RESPONSE_LATENCY_SECONDS),
        shares: &[("errors", ERROR_RATIO), ("loss", ERROR_RATIO)],
        best: BEST_RATE_PER_SECOND,
    }),
    carried: |metrics| {
        let seconds = MESSAGES.of(metrics)? / MESSAGES_PER_SECOND.of(metrics)?;
        let speed = BYTES_PER_SECOND.of(metrics)?;
        Some(Carried::at(speed * seconds, speed))
    },
    charts: Charts {
        arrived: Some(BITS_PER_SECOND),
        sent: None,
        per_second: Some(MESSAGES_PER_SECOND),
        latency: Some([RESPONSE_P50_SECONDS, RESPONSE_P99_SECONDS]),
    },
    tracks: &[
        TrackSource {
            track: Track::Throughput,
            metric: BITS_PER_SECOND,
            suffix: "",
        },
        TrackSource {
            track: Track::Answers,
            metric: MESSAGES_PER_SECOND,
            suffix: "",
        },
        TrackSource {
            track: Track::Latency,
            metric: RESPONSE_P50_SECONDS,
            suffix: "p50",
        },
        TrackSource {
            track: Track::Latency,
            metric: RESPONSE_P99_SECONDS,
            suffix: "p99",
        },
    ],
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: false,
        errors: true,
    },
    pair_figures: &[PairFigure {
        metric: MESSAGES_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: Some(Layer {
        key: "layer-bus",
        part: LayerPart::Messages,
        numbers: &[LayerNumber {
            name: "rate",
            metric: MESSAGES_PER_SECOND,
            stat: None,
        }],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "batch",
        "consume-rate",
        "find",
        "inflight",
        "max-skew",
        "rate",
        "rx",
        "rx-threads",
        "size",
        "transport",
        "tx-threads",
        "wait",
        "window",
    ],
};
