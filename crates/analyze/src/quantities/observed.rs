//! Numbers of a phase that a monitor observed, for the summary.

use sokudo_model::metric::Fold;
use sokudo_model::metrics::target;
use sokudo_model::{PhaseRecord, Record, Summary};

use crate::view::PhaseView;

/// The queues of a target during a phase: the mean of a gauge, the growth of a counter; of several
/// targets the one where it is highest. Empty where none was observed.
pub fn target_queues(record: &Record, phase: &PhaseRecord) -> Summary {
    let view = PhaseView::new(record, phase);
    let of = |metric: &sokudo_model::Metric| match metric.fold {
        Fold::Sum => {
            let grown = view.series(None, *metric, &[]);
            grown
                .filter_map(|series| view.growth(series))
                .reduce(f64::max)
        }
        _ => Some(view.highest_mean(None, *metric, &[])?.1),
    };
    let known = target::METRICS.iter();
    known
        .filter_map(|metric| Some((metric.name.to_owned(), of(metric)?)))
        .collect()
}
