//! Limits of the load generator itself.
//!
//! What its own threads counted and what its host's sockets show, for the rule that tells of it and
//! for the check that makes a run on a server invalid by it.

use sokudo_model::Evidence;
use sokudo_model::metrics::host;

use crate::quantities::exchange::Exchange;
use crate::view::PhaseView;

/// Share of the requests of an open loop that may leave late before the figures are those of the
/// generator, 0 to 1.
pub const MOST_LATE: f64 = 0.1;
/// Share of the requests without a local port from which it is told.
const SOME: f64 = 0.001;

/// Share of the arrivals of a plan that may not be begun before the figures are those of another rate.
const MOST_UNSTARTED: f64 = 0.01;

/// A host that had no local port left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoPorts<'a> {
    /// The host with the most of these failures.
    pub host: &'a str,
    /// Connections that could not be made, on all hosts.
    pub failed: f64,
    /// Their share of the requests, 0 to 1.
    pub share: f64,
}

/// Whether connections could not be made because no local port was left.
pub fn ports<'a>(view: &PhaseView<'a>, exchange: &Exchange<'_>) -> Option<NoPorts<'a>> {
    let failed = exchange.total(exchange.numbers.ports_exhausted)?;
    let requests = exchange.total(exchange.numbers.answered)?
        + exchange.total(exchange.numbers.errors).unwrap_or(0.0);
    let share = (failed / requests.max(1.0)).min(1.0);
    let metric = exchange.numbers.ports_exhausted;
    let (flow, _) = view
        .highest(metric)
        .or_else(|| view.highest(exchange.numbers.errors))?;
    (share >= SOME).then_some(NoPorts {
        host: &flow.from,
        failed,
        share,
    })
}

/// Share of the arrivals of a plan that were not begun, where it is too much: as many users as may be
/// under way were.
pub fn unstarted(exchange: &Exchange<'_>) -> Option<f64> {
    // Users of a closed loop are not arrivals: what they could not try, the errors count.
    if !exchange.kind.is_plan || exchange.asked().is_none() {
        return None;
    }
    let of = |metric| exchange.total(metric).unwrap_or(0.0);
    let unstarted = of(exchange.numbers.unstarted);
    let due = of(exchange.numbers.answered) + of(exchange.numbers.errors) + unstarted;
    let share = unstarted / due.max(1.0);
    (share > MOST_UNSTARTED).then_some(share)
}

impl NoPorts<'_> {
    /// The generator's counts, and the states of the host's sockets meanwhile.
    pub fn evidence(&self, view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Vec<Evidence> {
        let failures = exchange.numbers.ports_exhausted;
        let row = view.evidence("evidence-ports-exhausted", failures, self.host, self.failed);
        let mut rows = vec![row];
        for (key, metric) in [
            ("evidence-time-wait", host::TCP_TIME_WAIT_CONNECTIONS),
            ("evidence-local-ports", host::TCP_LOCAL_PORTS),
        ] {
            let most = view.peak(self.host, metric);
            rows.extend(most.map(|most| view.evidence(key, metric, self.host, most)));
        }
        rows
    }
}
