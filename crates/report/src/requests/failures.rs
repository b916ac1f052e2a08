//! The failures of a test of requests, by cause and label.

use sokudo_stats::requests::Requests;

use crate::block::Block;
use crate::failures;

/// Both tables; none without failures.
pub fn blocks(requests: &Requests) -> Vec<Block> {
    let total = &requests.total;
    if total.errors == 0 {
        return Vec::new();
    }
    let kinds = requests.failures.iter();
    let says = |kind: usize| {
        let found = requests.failures.get(kind);
        found.map_or_else(|| "–".to_owned(), |kind| kind.says.clone())
    };
    let labels = requests.labels.iter();
    let labels = labels.filter(|label| !label.is_transaction && label.errors > 0);
    let of_label = |label: &sokudo_stats::requests::LabelGroup| {
        let kinds = label.failures.iter();
        let kinds = kinds.map(|(kind, n)| (says(*kind), *n));
        (label.label.clone(), kinds.collect())
    };
    failures::blocks(
        kinds.map(|kind| (kind.says.clone(), kind.n)).collect(),
        labels.map(of_label).collect(),
        (total.errors, total.n),
    )
}
