//! Processes of the server that a load loads: those that hold its port, or the ports that the load asks, and their
//! children.

use sokudo_model::Series;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::process;

use crate::view::PhaseView;

/// Cores from which children count as those who do the work.
const WORK: f64 = 0.05;

/// Every series of a gauge of the processes that hold the server's port, with its mean.
pub fn of_port<'a>(view: &PhaseView<'a>, metric: Metric) -> Vec<(&'a Series, f64)> {
    let series = view.series(None, metric, &[]);
    let of_port = series.filter(|series| {
        let by = series.key.labels.get("by");
        by.is_some_and(|by| by.starts_with("port=") || by == "peers")
    });
    let means = of_port.filter_map(|series| Some((series, view.mean(series)?)));
    means.collect()
}

/// Cores' worth of a gauge of all processes that hold the server's port; `None` where they are not observed.
pub fn sum(view: &PhaseView<'_>, metric: Metric) -> Option<f64> {
    let means = of_port(view, metric).into_iter().map(|(_, mean)| mean);
    means.reduce(|a, b| a + b)
}

/// CPU time per second of these processes and of their children: cores.
pub fn cores_used(view: &PhaseView<'_>) -> Option<f64> {
    let children = sum(view, process::CHILDREN_CPU_RATIO).unwrap_or(0.0);
    Some(sum(view, process::CPU_RATIO)? + children)
}

/// True where children do the work: how long they waited for a CPU is not known.
pub fn has_working_children(view: &PhaseView<'_>) -> bool {
    sum(view, process::CHILDREN_CPU_RATIO).is_some_and(|cores| cores >= WORK)
}
