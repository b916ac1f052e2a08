//! Decides whether a phase's first sentence tells its failure, by one rule over all kinds of load.
//!
//! A phase fails when more than [`ERRORS`] of what it tried failed, or nothing came through. Its
//! failure is then told before what it achieved.

use sokudo_model::kinds::{Family, probe};

use super::checks::ERRORS;
use crate::quantities::exchange::Exchange;
use crate::quantities::transfer::Transfer;
use crate::view::PhaseView;

/// True when the failure of a phase comes first.
pub fn is_failing(view: &PhaseView<'_>) -> bool {
    failed_share(view).is_some_and(|share| share > ERRORS)
}

/// Share of what a phase tried that failed, 0 to 1; `None` when the record does not tell.
fn failed_share(view: &PhaseView<'_>) -> Option<f64> {
    match view.kind()?.family {
        Family::Exchange(numbers) => {
            let ratio = view.total(numbers.error_ratio);
            let none = Exchange::of(*view)?.rate() == Some(0.0);
            ratio.or_else(|| none.then_some(1.0))
        }
        Family::Bytes(_) | Family::Messages(_) => Transfer::of(*view)?.missing_share(),
        // As many datagrams as possible lose some by intention; those of a rate that was asked for do not.
        Family::Datagram => {
            let none = view.received() == Some(0.0);
            view.loss().filter(|_| none || view.asked_rate().is_some())
        }
        Family::Files(numbers) => {
            let names = view.total(numbers.files)?.max(1.0);
            Some(view.total(numbers.failed)? / names)
        }
        Family::Probe => {
            let sent = view.total(probe::SENT_PACKETS).filter(|sent| *sent > 0.0)?;
            Some(view.total(probe::LOST_PACKETS)? / sent)
        }
    }
}
