//! Metrics of a measurement with and without one change. Everything else in the summary is that of the
//! run in the middle without the change.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    EFFECT = gauge("versus.effect", One, "what was carried with the change over what was carried without it, of the medians");
    EFFECT_LOW = gauge("versus.effect.low", One, "the lowest run with the change over the highest without it");
    EFFECT_HIGH = gauge("versus.effect.high", One, "the highest run with the change over the lowest without it");
}
