//! A quota of CPU time that stops sokudo itself, as far as others are judged by it.

use sokudo_model::metrics::own;

use crate::view::PhaseView;

/// Share of the periods in which a quota stopped sokudo, from which the waits that it measures are those of the
/// quota: stalls have its period, and a full machine tells nothing of a server.
pub const STOPPED: f64 = 0.5;

/// True where a quota stopped sokudo so often on one of the hosts.
pub fn stops_sokudo(view: &PhaseView<'_>) -> bool {
    let stopped = view.highest_mean(None, own::THROTTLED_RATIO, &[]);
    stopped.is_some_and(|(_, share)| share >= STOPPED)
}
