//! A connection, a request and a response each time (`crr`).

use super::exchange::between_hosts;
use super::{Expects, Family, Kind, Layer, LayerNumber, LayerPart, PairFigure, Reach};

const CONNECTS_EACH_TIME: bool = true;

#[rustfmt::skip]
between_hosts! {
    source: "crr";
    CONNECTIONS = counter("crr.connections", One, "connections that were made, asked one thing and answered, warm-up not counted").sum().column().named();
    CONNECTIONS_PER_SECOND = gauge("crr.connections_per_second", PerSecond, "those connections over the time of the load (group.load_seconds); in series: over the interval").sum().column().named();
}

/// The kind.
pub const KIND: Kind = Kind {
    name: "crr",
    question: "how long does it take to connect, ask once and be answered?",
    family: Family::Exchange(&EXCHANGE),
    reach: &[Reach::Hosts],
    source: "crr",
    metrics: METRICS,
    ends: ENDS,
    done: CONNECTIONS,
    curve: Some(CURVE),
    carried: |metrics| EXCHANGE.carried(metrics),
    charts: CHARTS,
    tracks: TRACKS,
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: false,
        errors: true,
    },
    pair_figures: &[PairFigure {
        metric: CONNECTIONS_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: Some(Layer {
        key: "layer-crr",
        part: LayerPart::Messages,
        numbers: &[LayerNumber {
            name: "rate",
            metric: CONNECTIONS_PER_SECOND,
            stat: None,
        }],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "find",
        "max-skew",
        "rate",
        "size",
        "threads",
        "transport",
        "wait",
    ],
};
