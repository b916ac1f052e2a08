//! Packets that the kernels of the hosts dropped, as their monitors `drops` told them.

use sokudo_model::metrics::host as metric;
use sokudo_model::{Evidence, Series};

use crate::view::{PhaseView, machine};

/// Fewer dropped packets than this are those of every host: a late answer, a closed socket.
const LEAST: f64 = 20.0;
/// Most reasons that are told.
const MOST: usize = 3;

impl PhaseView<'_> {
    /// Packets that the kernel of a host's machine dropped for one of these reasons, with the function that did it, the most
    /// frequent first; nothing where nobody observed them.
    pub fn kernel_drops(&self, host: &str, reasons: &[&str]) -> Vec<Evidence> {
        // The trace point tells of the whole machine, on one of its hosts.
        let there = machine::with(self.record, host);
        let all = self.series(None, metric::DROPPED_PACKETS, &[]);
        let all = all.filter(|series| there.contains(&series.key.host.as_str()));
        let is_meant = |series: &&Series| {
            let reason = series.key.labels.get("reason");
            reason.is_some_and(|reason| reasons.contains(&reason.as_str()))
        };
        let grown = all.filter(is_meant);
        let grown = grown.filter_map(|series| Some((series, self.growth(series)?)));
        let mut grown: Vec<(&Series, f64)> =
            grown.filter(|(_, packets)| *packets >= LEAST).collect();
        grown.sort_by(|a, b| b.1.total_cmp(&a.1));
        let row = |(series, packets): &(&Series, f64)| {
            let what = metric::DROPPED_PACKETS;
            let mut row = self.evidence("evidence-kernel-drops", what, &series.key.host, *packets);
            let label = |name: &str| series.key.labels.get(name).map_or("", String::as_str);
            row.says = row
                .says
                .word("reason", label("reason"))
                .word("function", label("function"));
            row.labels = series.key.labels.clone();
            row.source = "kfree_skb".into();
            row
        };
        grown.iter().take(MOST).map(row).collect()
    }
}
