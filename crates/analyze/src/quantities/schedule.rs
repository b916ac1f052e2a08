//! Share of a scheduled load that was late, and the part that waits for a CPU explain.

use sokudo_model::kinds::{Family, Kind, datagram};
use sokudo_model::metric::Metric;

use crate::quantities::asked::AskedAndCarried;
use crate::quantities::ends::End;
use crate::view::{KEPT_WAITING, PhaseView};

/// Share of the load from which its schedule was not kept.
const MISSED: f64 = 0.01;
/// Times the share of the time without a CPU, up to which what was late is explained by it: each wait delays what
/// is due during it, and some of what follows.
const EXPLAINED: f64 = 1.75;

/// Share of a load with a schedule that was late, waited for room, or was never sent; `None` without a schedule.
fn missed(view: &PhaseView<'_>, kind: &Kind) -> Option<f64> {
    let highest = |metric: Metric| view.highest(metric).map(|(_, share)| share);
    let shares = match kind.family {
        Family::Exchange(numbers) => {
            view.total(numbers.asked).filter(|rate| *rate > 0.0)?;
            [
                highest(numbers.late_ratio),
                highest(numbers.window_full_ratio),
            ]
        }
        Family::Datagram => {
            let asked = view.asked_rate()?;
            let short = view.sent_rate().map(|sent| 1.0 - sent / asked);
            [highest(datagram::LATE_RATIO), short]
        }
        Family::Bytes(_) | Family::Messages(_) | Family::Probe | Family::Files(_) => {
            let asked = AskedAndCarried::of(view)?;
            [Some(1.0 - asked.got / asked.due.max(1e-9)), None]
        }
    };
    shares.into_iter().flatten().max_by(f64::total_cmp)
}

/// Share of the time for which the busiest threads of the load were ready and had no CPU.
fn waited(view: &PhaseView<'_>, kind: &Kind) -> f64 {
    let ends = [End::Sender, End::Receiver].into_iter();
    let each = ends.filter_map(|end| Some(view.highest(end.wait(kind)?)?.1.clamp(0.0, 1.0)));
    match kind.family {
        // Each request waits for both ends in turn.
        Family::Exchange(_) => each.sum::<f64>().min(1.0),
        _ => each.fold(0.0, f64::max),
    }
}

/// True for a load that missed its schedule about as often as its threads had no CPU.
pub fn waits_explain(view: &PhaseView<'_>) -> bool {
    let explains = || {
        let kind = view.kind()?;
        let missed = missed(view, kind)?;
        let waited = waited(view, kind);
        let is_missed = missed >= MISSED && waited >= KEPT_WAITING;
        Some(is_missed && missed <= waited * EXPLAINED)
    };
    explains().unwrap_or(false)
}
