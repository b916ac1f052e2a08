//! Series of the hosts on the time axis of the requests.
//!
//! They come from the record of the run that produced the rows. Its clock and the rows' time stamps are
//! both the controller's wall clock, so the difference of their starts puts them on one axis.

use sokudo_model::Record;

use super::Dashboard;
use crate::block::{Block, Phrase};
use crate::chart::Chart;
use crate::sections::{environment, why};
use crate::tracks;
use crate::view::View;

/// Charts of the hosts over the time of the requests; none without a record.
pub fn charts(dashboard: &Dashboard) -> Vec<Chart> {
    let Some(record) = dashboard.record else {
        return Vec::new();
    };
    let total = &dashboard.requests.total;
    let begin_ns = i128::from(total.first_ms) * 1_000_000;
    let end_ns = i128::from(total.last_ms) * 1_000_000;
    let zero_ns = i128::from(record.manifest.started_unix_ns);
    let place = |t_ns: i64| {
        let at = zero_ns + i128::from(t_ns);
        let is_inside = (begin_ns..=end_ns).contains(&at);
        i64::try_from(at - begin_ns).ok().filter(|_| is_inside)
    };
    let mut charts = tracks::of_hosts(&View::new(record));
    for chart in &mut charts {
        for line in &mut chart.lines {
            let points = std::mem::take(&mut line.points);
            let inside = points.into_iter().filter_map(|(t, v)| Some((place(t)?, v)));
            line.points = inside.collect();
        }
    }
    charts.retain(|chart| chart.span().is_some());
    charts
}

/// Findings about the run; nothing without a record.
pub fn conclusions(dashboard: &Dashboard) -> Vec<Block> {
    let findings = |record: &&Record| !record.findings.is_empty();
    let record = dashboard.record.filter(findings);
    record.map_or(Vec::new(), |record| why::blocks(&View::new(record)))
}

/// Checks of the run that failed, because of which the rows must be read with care.
pub fn warnings(dashboard: &Dashboard) -> Vec<Phrase> {
    let checks = dashboard.record.into_iter().flat_map(|r| &r.checks);
    let failed = checks.filter(|check| !check.passed && check.demand.is_none());
    failed.map(|check| check.says.clone().into()).collect()
}

/// The hosts that took part; nothing without a record.
pub fn conditions(dashboard: &Dashboard) -> Vec<Block> {
    let record = dashboard.record;
    record.map_or(Vec::new(), |record| environment::blocks(&View::new(record)))
}
