//! Requests and responses over connections that stay (`rr`).

use crate::metric::Stat;

use super::exchange::between_hosts;
use super::{Expects, Family, Kind, Layer, LayerNumber, LayerPart, PairFigure, Reach};

const CONNECTS_EACH_TIME: bool = false;

#[rustfmt::skip]
between_hosts! {
    source: "rr";
    TRANSACTIONS = counter("rr.transactions", One, "requests that were answered, warm-up not counted").sum().column().named();
    TRANSACTIONS_PER_SECOND = gauge("rr.transactions_per_second", PerSecond, "answered requests over the time of the load (group.load_seconds); in series: over the interval").sum().column().named();
}

/// The kind.
pub const KIND: Kind = Kind {
    name: "rr",
    question: "how long does an answer take, and how many requests per second get one?",
    family: Family::Exchange(&EXCHANGE),
    reach: &[Reach::Hosts],
    source: "rr",
    metrics: METRICS,
    ends: ENDS,
    done: TRANSACTIONS,
    curve: Some(CURVE),
    carried: |metrics| EXCHANGE.carried(metrics),
    charts: CHARTS,
    tracks: TRACKS,
    expects: Expects {
        line_rate: None,
        latency: true,
        loss: false,
        errors: true,
    },
    pair_figures: &[
        PairFigure {
            metric: LATENCY_SECONDS,
            stat: Some(Stat::P50),
            more_is_better: false,
        },
        PairFigure {
            metric: LATENCY_SECONDS,
            stat: Some(Stat::P99),
            more_is_better: false,
        },
    ],
    layer: Some(Layer {
        key: "layer-rr",
        part: LayerPart::Messages,
        numbers: &[
            LayerNumber {
                name: "p50",
                metric: LATENCY_SECONDS,
                stat: Some(Stat::P50),
            },
            LayerNumber {
                name: "p99",
                metric: LATENCY_SECONDS,
                stat: Some(Stat::P99),
            },
        ],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "connections",
        "find",
        "max-skew",
        "nagle",
        "rate",
        "size",
        "threads",
        "transport",
        "wait",
        "window",
    ],
};
