//! Comparison of what a load was asked to do with what it did, as counts.
//!
//! Rates are taken over the time in which something went through; a load that stopped half way may have a
//! perfect rate. So what was due until the planned end is compared with what got through until then.

use sokudo_model::kinds::{Family, Kind};
use sokudo_model::metric::Metric;
use sokudo_model::metrics::group;
use sokudo_model::{Evidence, FlowResult, RunStatus, Unit};

use crate::quantities::datagrams::HELD;
use crate::quantities::exchange::Exchange;
use crate::view::PhaseView;

/// Share of what was due from which it was carried.
pub const KEPT: f64 = 0.98;
/// Share of the requests that may fail or find no room.
pub const FAILED: f64 = 0.01;

/// Load asked of a phase, and the part that got through.
#[derive(Debug, Clone, Copy)]
pub struct AskedAndCarried {
    /// Rate that was asked for, all flows together.
    pub rate: f64,
    /// Unit of `rate`.
    pub unit: Unit,
    /// Amount that was due until the end of the load, in what the kind counts.
    pub due: f64,
    /// Amount that got through.
    pub got: f64,
    /// Metric of `got`.
    pub counted: Metric,
    /// Whether what failed, was lost or came too late is within its bound.
    is_sound: bool,
}

impl AskedAndCarried {
    /// The load of a phase that asks for a rate; `None` without a rate or without its counts.
    pub fn of(view: &PhaseView<'_>) -> Option<Self> {
        let kind = view.kind()?;
        let (asked, per_unit) = asked(kind)?;
        let rate = view.total(asked).filter(|rate| *rate > 0.0)?;
        let counted = counted(kind);
        let got = view.total(counted)?;
        let load = |flow: &FlowResult| load_seconds(kind).of(&flow.metrics);
        let longest = view.flows().iter().filter_map(load).max_by(f64::total_cmp);
        let length_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
        Some(Self {
            rate,
            unit: asked.unit,
            due: rate * longest.unwrap_or(length_s) / per_unit,
            got,
            counted,
            is_sound: is_sound(view, kind),
        })
    }

    /// True when the load that was asked for was carried, as counts and within the bounds on what may fail.
    pub fn is_kept(&self) -> bool {
        self.is_sound && self.got >= self.due * KEPT
    }

    /// The counts as evidence.
    pub fn evidence(&self, view: &PhaseView<'_>, host: &str) -> Evidence {
        let mut row = view.evidence("evidence-counted-of-due", self.counted, host, self.got);
        row.says = row.says.number("due", self.due, self.counted.unit);
        row
    }
}

/// True when one flow carried what was asked of it, whatever became of the others.
pub fn is_kept_by(view: &PhaseView<'_>, flow: &FlowResult) -> bool {
    let carried = || {
        let kind = view.kind()?;
        let (asked, per_unit) = asked(kind)?;
        let rate = asked.of(&flow.metrics).filter(|rate| *rate > 0.0)?;
        let length_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
        let load_s = load_seconds(kind).of(&flow.metrics).unwrap_or(length_s);
        Some(counted(kind).of(&flow.metrics)? >= rate * load_s / per_unit * KEPT)
    };
    carried().unwrap_or(false)
}

/// The metric of the rate that was asked for, and how much of it one of what is counted is.
fn asked(kind: &Kind) -> Option<(Metric, f64)> {
    const BITS_PER_BYTE: f64 = 8.0;
    match kind.family {
        Family::Bytes(numbers) => Some((numbers.asked, BITS_PER_BYTE)),
        Family::Messages(numbers) => Some((numbers.asked, 1.0)),
        // Arrivals of a plan are not requests.
        Family::Exchange(numbers) => (!kind.is_plan).then_some((numbers.asked, 1.0)),
        Family::Datagram => Some((sokudo_model::kinds::datagram::ASKED_PACKETS_PER_SECOND, 1.0)),
        Family::Files(numbers) => Some((numbers.asked, BITS_PER_BYTE)),
        Family::Probe => None,
    }
}

/// The metric of the time in which a flow carried something.
fn load_seconds(kind: &Kind) -> Metric {
    match kind.family {
        Family::Files(numbers) => numbers.elapsed,
        _ => group::LOAD_SECONDS,
    }
}

fn counted(kind: &Kind) -> Metric {
    match kind.family {
        Family::Exchange(numbers) => numbers.answered,
        Family::Bytes(_) | Family::Messages(_) | Family::Datagram | Family::Probe => kind.done,
        Family::Files(numbers) => numbers.wire_bytes,
    }
}

/// True when hardly a request queued up, and for a moment.
fn had_hiccup(view: &PhaseView<'_>) -> bool {
    let of_flow = |exchange: Exchange<'_>| {
        let (flow, share) = view.highest(exchange.numbers.window_full_ratio)?;
        Some(exchange.is_hiccup(flow, share))
    };
    Exchange::of(*view).and_then(of_flow).unwrap_or(false)
}

fn is_sound(view: &PhaseView<'_>, kind: &Kind) -> bool {
    // Where a host was lost, what got through until then ended before the load did.
    if view.phase.status == RunStatus::Partial {
        return false;
    }
    let few = |metric: Metric| {
        let highest = view.highest(metric).map(|(_, share)| share);
        highest
            .or_else(|| view.total(metric))
            .is_none_or(|share| share <= FAILED)
    };
    match kind.family {
        Family::Exchange(numbers) => {
            few(numbers.error_ratio) && (few(numbers.window_full_ratio) || had_hiccup(view))
        }
        Family::Datagram => {
            let allowed = view.max_loss().unwrap_or(HELD);
            view.loss().is_none_or(|loss| loss <= allowed)
        }
        Family::Bytes(numbers) | Family::Messages(numbers) => {
            view.total(numbers.missing).unwrap_or(0.0)
                <= view.total(kind.done).unwrap_or(0.0) * FAILED
        }
        Family::Files(numbers) => view.total(numbers.failed) == Some(0.0),
        Family::Probe => true,
    }
}
