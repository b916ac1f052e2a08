//! Processes of the server that a load loads: those that hold its port, or the ports that the load asks, and their
//! children.

use std::collections::BTreeSet;

use sokudo_model::Series;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::process;

use crate::view::PhaseView;

/// Cores from which children count as those who do the work.
const WORK: f64 = 0.05;

/// The choice of processes by the connections of the load, as the label `by` has it.
const PEERS: &str = "peers";

/// Every series of a gauge of the processes that hold the server's port, with its mean. A process that was chosen in
/// several ways is there once.
pub fn of_port<'a>(view: &PhaseView<'a>, metric: Metric) -> Vec<(&'a Series, f64)> {
    let series = view.series(None, metric, &[]);
    let of_port = series.filter(|series| {
        let by = series.key.labels.get("by");
        by.is_some_and(|by| by.starts_with("port=") || by == PEERS)
    });
    let mut known = BTreeSet::new();
    let is_new = |series: &&Series| {
        let mut labels = series.key.labels.clone();
        // What has no number stands for several processes.
        let is_one = labels.contains_key("pid");
        let by = labels.remove("by").filter(|_| !is_one);
        known.insert((series.key.host.clone(), labels, by))
    };
    let means = of_port
        .filter(is_new)
        .filter_map(|series| Some((series, view.mean(series)?)));
    means.collect()
}

/// Cores' worth of a gauge of all processes that hold the server's port; `None` where they are not observed.
pub fn sum(view: &PhaseView<'_>, metric: Metric) -> Option<f64> {
    let means = of_port(view, metric).into_iter().map(|(_, mean)| mean);
    means.reduce(|a, b| a + b)
}

/// CPU time per second of these processes and of their children: cores.
pub fn cores_used(view: &PhaseView<'_>) -> Option<f64> {
    Some(sum(view, process::CPU_RATIO)? + children(view).unwrap_or(0.0))
}

/// Cores that the children used. Those of a server that was chosen by its port may be those of one that was found by
/// the connections, too.
fn children(view: &PhaseView<'_>) -> Option<f64> {
    let all = of_port(view, process::CHILDREN_CPU_RATIO);
    let (found, named): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(series, _)| series.key.labels.get("by").is_some_and(|by| by == PEERS));
    let sums =
        [found, named].map(|each| each.into_iter().map(|(_, mean)| mean).reduce(|a, b| a + b));
    sums.into_iter().flatten().reduce(f64::max)
}

/// True where children do the work: how long they waited for a CPU is not known.
pub fn has_working_children(view: &PhaseView<'_>) -> bool {
    children(view).is_some_and(|cores| cores >= WORK)
}

#[cfg(test)]
mod tests {
    use sokudo_model::metrics::process;

    use super::*;
    use crate::tests::add_series;
    use crate::tests::requests::of_stages;

    #[test]
    fn a_process_that_was_chosen_twice_counts_once() {
        let mut record = of_stages([0.0, 0.0, 0.0, 0.0, 0.1, 0.0], &[]);
        for (by, pid, cores) in [
            ("port=80", "7", 0.5),
            ("peers", "7", 0.5),
            ("peers", "8", 0.25),
        ] {
            let labels = [("by", by), ("pid", pid), ("mode", "user")];
            add_series(
                &mut record,
                "hosta",
                process::CPU_RATIO.name,
                &labels,
                0.0,
                cores,
            );
        }
        for (by, cores) in [("port=80", 0.25), ("peers", 1.0)] {
            let name = process::CHILDREN_CPU_RATIO.name;
            add_series(&mut record, "hosta", name, &[("by", by)], 0.0, cores);
        }
        let view = PhaseView::new(&record, &record.manifest.phases[0]);
        assert_eq!(sum(&view, process::CPU_RATIO), Some(0.75));
        assert_eq!(cores_used(&view), Some(1.75));
    }
}
