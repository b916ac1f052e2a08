//! Adds several series of a host up to one.

use std::collections::BTreeMap;

use sokudo_model::{Metric, Series};

use crate::chart;
use crate::view::View;

/// Series of one metric added up per host, hosts in the run's order.
pub(super) fn per_host<'a>(view: &View<'a>, metric: &str) -> Vec<(&'a str, Vec<(i64, f64)>)> {
    let mut hosts: BTreeMap<(usize, &str), Vec<&Series>> = BTreeMap::new();
    for series in view.record.series.iter().filter(|s| s.key.metric == metric) {
        let host = series.key.host.as_str();
        let place = (view.colour(host), host);
        hosts.entry(place).or_default().push(series);
    }
    hosts
        .into_iter()
        .map(|((_, host), series)| (host, add_up(&series)))
        .filter(|(_, points)| !points.is_empty())
        .collect()
}

/// A line of one host, through the series of one load or of loads that followed each other.
pub(super) struct HostLine<'a> {
    pub(super) host: &'a str,
    /// Name of the line: the host, and the load where several ran at the same moment.
    pub(super) name: String,
    pub(super) points: Vec<(i64, f64)>,
}

/// The same for metrics of different workloads that mean the same: one line per host where the loads
/// followed each other, one per load where they ran at the same moment.
pub(super) fn together<'a>(view: &View<'a>, metrics: Vec<Metric>) -> Vec<HostLine<'a>> {
    let is_mixed = view.is_mixed();
    let mut all: Vec<HostLine<'a>> = Vec::new();
    for metric in metrics {
        let source = metric.name.split('.').next().unwrap_or_default();
        for (host, points) in per_host(view, metric.name) {
            let name = match is_mixed {
                true => format!("{host} ({source})"),
                false => host.to_owned(),
            };
            match all.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.extend(points),
                None => all.push(HostLine { host, name, points }),
            }
        }
    }
    for line in &mut all {
        line.points.sort_by_key(|point| point.0);
    }
    all
}

/// The sum of several series, on a grid of their usual step. A series counts at a grid point when
/// it has a sample within one and a half steps before it.
fn add_up(series: &[&Series]) -> Vec<(i64, f64)> {
    if let [one] = series {
        return one.points.clone();
    }
    let Some(step) = series
        .iter()
        .filter_map(|s| chart::usual_step(&s.points))
        .min()
    else {
        let mut points: Vec<(i64, f64)> = series.iter().flat_map(|s| s.points.clone()).collect();
        points.sort_by_key(|p| p.0);
        return points;
    };
    let mut grid: BTreeMap<i64, f64> = BTreeMap::new();
    for one in series {
        let mut own: BTreeMap<i64, f64> = BTreeMap::new();
        for &(t, value) in one.points.iter().filter(|p| p.1.is_finite()) {
            own.insert(t.div_euclid(step), value);
        }
        // A sample that fell just beside its grid point leaves a hole of one: its left neighbour
        // stands in, else the sum would dip.
        let holes: Vec<(i64, f64)> = own
            .iter()
            .filter(|(t, _)| !own.contains_key(&(*t + 1)) && own.contains_key(&(*t + 2)))
            .map(|(t, v)| (t + 1, *v))
            .collect();
        own.extend(holes);
        for (t, value) in own {
            *grid.entry(t).or_insert(0.0) += value;
        }
    }
    grid.into_iter()
        .map(|(t, v)| (t * step + step / 2, v))
        .collect()
}

#[cfg(test)]
mod tests {
    use sokudo_model::SeriesKey;

    use super::*;

    fn series(points: &[(i64, f64)]) -> Series {
        Series {
            key: SeriesKey {
                host: "a".into(),
                source: "s".into(),
                metric: "m".into(),
                labels: Default::default(),
            },
            points: points.to_vec(),
        }
    }

    #[test]
    fn sums_do_not_dip_where_one_sample_came_late() {
        let a = series(&[(5, 1.0), (15, 1.0), (25, 1.0), (35, 1.0)]);
        let b = series(&[(6, 2.0), (16, 2.0), (30, 2.0), (36, 2.0)]);
        let sum = add_up(&[&a, &b]);
        assert_eq!(sum.iter().map(|p| p.1).collect::<Vec<_>>(), [3.0; 4]);
    }

    #[test]
    fn flows_of_different_phases_follow_each_other() {
        let a = series(&[(5, 1.0), (15, 1.0)]);
        let b = series(&[(105, 2.0), (115, 2.0)]);
        let sum = add_up(&[&a, &b]);
        assert_eq!(sum, [(5, 1.0), (15, 1.0), (105, 2.0), (115, 2.0)]);
    }
}
