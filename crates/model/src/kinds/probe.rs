//! Single small datagrams there and back (`probe`).

use crate::metric::{Stat, metrics};

use super::{
    Charts, CurveMetrics, End, Ends, Expects, Family, Kind, Layer, LayerNumber, LayerPart,
    PairFigure, Reach, Track, TrackSource,
};

#[rustfmt::skip]
metrics! {
    // Columns of the table of flows, in this order.
    SENT_PACKETS = counter("probe.sent_packets", Packets, "probes that the kernel accepted").sum().column().named();
    ANSWERED_PACKETS = counter("probe.answered_packets", Packets, "probes whose answer came within the timeout").sum().column().named();
    LOSS_UP_RATIO = gauge("probe.loss_up_ratio", Ratio, "lost on the way up over sent").column().named();
    LOSS_DOWN_RATIO = gauge("probe.loss_down_ratio", Ratio, "lost on the way down over answers sent").column().named();
    LATE_PACKETS = counter("probe.late_packets", Packets, "probes whose answer came after the timeout: not lost, and not in any distribution").sum().column().named();
    UNSENT_PACKETS = counter("probe.unsent_packets", Packets, "probes left out because the sending thread woke up after the next one was due").sum().column().named();
    JITTER_UP_SECONDS = gauge("probe.jitter_up_seconds", Seconds, "jitter of the way up as in RFC 3550 section 6.4.1; needs no common clock").max().column().named();
    JITTER_DOWN_SECONDS = gauge("probe.jitter_down_seconds", Seconds, "jitter of the way down as in RFC 3550 section 6.4.1; needs no common clock").max().column().named();
    CLOCK_ERROR_SECONDS = gauge("probe.clock_error_seconds", Seconds, "the difference of the two hosts' clocks is known within this; 0 = one clock; one-way delays below it are not shown").max().column().named();
    SENDER_CPU_RATIO = gauge("probe.sender_cpu_ratio", Ratio, "CPU time of the sending thread over elapsed time").max().column().named();
    SERVER_CPU_RATIO = gauge("probe.server_cpu_ratio", Ratio, "CPU time of the answering thread over elapsed time").column().named();
    // The rest.
    LOST_PACKETS = counter("probe.lost_packets", Packets, "probes without an answer").sum();
    LOST_UP_PACKETS = counter("probe.lost_up_packets", Packets, "probes that never reached the far end").sum();
    LOST_DOWN_PACKETS = counter("probe.lost_down_packets", Packets, "answers that never came back").sum();
    ANSWERS_SENT_PACKETS = counter("probe.answers_sent_packets", Packets, "answers that the far end sent, one per arrival of a probe").sum();
    ANSWER_REFUSED_PACKETS = counter("probe.answer_refused_packets", Packets, "answers that the far end's kernel did not take").sum();
    REFUSED_PACKETS = counter("probe.refused_packets", Packets, "probes that the kernel did not take").sum();
    DUPLICATE_UP_PACKETS = counter("probe.duplicate_up_packets", Packets, "arrivals at the far end of a probe that had arrived before").sum();
    DUPLICATE_DOWN_PACKETS = counter("probe.duplicate_down_packets", Packets, "arrivals of an answer that had arrived before").sum();
    OUT_OF_ORDER_UP_PACKETS = counter("probe.out_of_order_up_packets", Packets, "arrivals at the far end behind a later probe").sum();
    OUT_OF_ORDER_DOWN_PACKETS = counter("probe.out_of_order_down_packets", Packets, "arrivals of an answer behind a later one").sum();
    FOREIGN_PACKETS = counter("probe.foreign_packets", Packets, "arrivals on either end that are not a probe or answer of the flow").sum();
    LOSS_RATIO = gauge("probe.loss_ratio", Ratio, "lost over sent; in series: of the probes that left in the interval, without an answer in time");
    ASKED_PACKETS_PER_SECOND = gauge("probe.asked_packets_per_second", PacketsPerSecond, "probes per second asked for").sum();
    ANSWERED_PACKETS_PER_SECOND = gauge("probe.answered_packets_per_second", PacketsPerSecond, "answered probes over the time of the load (group.load_seconds)").sum();
    BEST_RATE_PACKETS_PER_SECOND = gauge("probe.best_rate_packets_per_second", PacketsPerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
    JITTER_SECONDS = gauge("probe.jitter_seconds", Seconds, "jitter of the round trips as in RFC 3550 section 6.4.1, at the end of the run; of several flows the largest").max();
    CLOCK_DRIFT_RATIO = gauge("probe.clock_drift_ratio", Ratio, "change of that difference per time, between before and after the load");
    SENDER_WAIT_RATIO = gauge("probe.sender_wait_ratio", Ratio, "time that the sending thread was runnable but had no CPU, over elapsed time").max();
    RTT_P50_SECONDS = gauge("probe.rtt_p50_seconds", Seconds, "median round trip of each interval");
    RTT_P99_SECONDS = gauge("probe.rtt_p99_seconds", Seconds, "99th percentile of the round trips of each interval");
    EACH_RTT_SECONDS = gauge("probe.each_rtt_seconds", Seconds, "round trips one by one, at the moment of departure (see --keep)");
    EACH_OWD_UP_SECONDS = gauge("probe.each_owd_up_seconds", Seconds, "delays up one by one; absent when half of them are below the clock error");
    EACH_OWD_DOWN_SECONDS = gauge("probe.each_owd_down_seconds", Seconds, "delays down one by one; absent when half of them are below the clock error");
    RTT_SECONDS = histogram("probe.rtt_seconds", Seconds, "round trip, the far end's turn-around taken off").named();
    OWD_SECONDS = histogram("probe.owd_seconds", Seconds, "one-way delay, both ways together; numbers below the clock error are left out").named();
    OWD_UP_SECONDS = histogram("probe.owd_up_seconds", Seconds, "one-way delay of the probes; numbers below the clock error are left out").named();
    OWD_DOWN_SECONDS = histogram("probe.owd_down_seconds", Seconds, "one-way delay of the answers; numbers below the clock error are left out").named();
    IPDV_SECONDS = histogram("probe.ipdv_seconds", Seconds, "difference of the round trips of consecutive probes, without sign (RFC 3393)").named();
    IPDV_UP_SECONDS = histogram("probe.ipdv_up_seconds", Seconds, "difference of the delays up of consecutive probes, without sign; needs no common clock").named();
    IPDV_DOWN_SECONDS = histogram("probe.ipdv_down_seconds", Seconds, "difference of the delays down of consecutive answers, without sign; needs no common clock").named();
    TURNAROUND_SECONDS = histogram("probe.turnaround_seconds", Seconds, "time between a probe's arrival at the far end and its answer's departure").named();
    TIMER_ERROR_SECONDS = histogram("probe.timer_error_seconds", Seconds, "departure of each probe behind its moment in the schedule").named();
    SEND_CALL_SECONDS = histogram("probe.send_call_seconds", Seconds, "length of the send call").named();
    LOSS_RUN_UP_PACKETS = histogram("probe.loss_run_up_packets", Packets, "length of each run of consecutive probes lost on the way up").named();
    LOSS_RUN_DOWN_PACKETS = histogram("probe.loss_run_down_packets", Packets, "length of each run of consecutive answers lost on the way down").named();
}

/// The kind.
pub const KIND: Kind = Kind {
    name: "probe",
    question: "how long does a datagram take, each way, and how evenly?",
    family: Family::Probe,
    reach: &[Reach::Hosts],
    source: "probe",
    metrics: METRICS,
    ends: Ends {
        near: End {
            name: "sender",
            cpu: SENDER_CPU_RATIO,
            wait: Some(SENDER_WAIT_RATIO),
            buffer: None,
        },
        far: Some(End {
            name: "server",
            cpu: SERVER_CPU_RATIO,
            wait: None,
            buffer: None,
        }),
    },
    done: ANSWERED_PACKETS,
    curve: Some(CurveMetrics {
        offered: ASKED_PACKETS_PER_SECOND,
        delivered: ANSWERED_PACKETS_PER_SECOND,
        latency: Some(RTT_SECONDS),
        shares: &[("loss", LOSS_RATIO)],
        best: BEST_RATE_PACKETS_PER_SECOND,
    }),
    // Probes are counted, not weighed.
    carried: |_| None,
    charts: Charts {
        arrived: None,
        sent: None,
        per_second: None,
        latency: Some([RTT_P50_SECONDS, RTT_P99_SECONDS]),
    },
    tracks: &[
        TrackSource {
            track: Track::Latency,
            metric: RTT_P50_SECONDS,
            suffix: "p50",
        },
        TrackSource {
            track: Track::Latency,
            metric: RTT_P99_SECONDS,
            suffix: "p99",
        },
        TrackSource {
            track: Track::Loss,
            metric: LOSS_RATIO,
            suffix: "",
        },
    ],
    expects: Expects {
        line_rate: None,
        latency: true,
        loss: true,
        errors: false,
    },
    pair_figures: &[
        PairFigure {
            metric: RTT_SECONDS,
            stat: Some(Stat::P50),
            more_is_better: false,
        },
        PairFigure {
            metric: LOSS_RATIO,
            stat: None,
            more_is_better: false,
        },
    ],
    layer: Some(Layer {
        key: "layer-probe",
        part: LayerPart::Way,
        numbers: &[
            LayerNumber {
                name: "p50",
                metric: RTT_SECONDS,
                stat: Some(Stat::P50),
            },
            LayerNumber {
                name: "loss",
                metric: LOSS_RATIO,
                stat: None,
            },
        ],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &["every", "find", "max-skew", "size"],
};
