//! The stages of a request's time, as far as a file of results contains them.

use sokudo_stats::requests::{Requests, TimeSpent};

use crate::block::{Block, Phrase};
use crate::budget::{self, Row};

/// Mean seconds of every stage: a file knows three of them.
pub fn stages(spent: &TimeSpent) -> Option<[f64; 7]> {
    let [connect, wait, read] = spent.means_s()?;
    Some([0.0, 0.0, connect, 0.0, 0.0, wait, read])
}

/// Bars of all labels, the total first, and their numbers; none when the file has no such times.
pub fn blocks(requests: &Requests) -> Vec<Block> {
    let mut labels: Vec<_> = requests.labels.iter().collect();
    labels.retain(|label| !label.is_transaction);
    labels.sort_by_key(|label| std::cmp::Reverse(label.n));
    let several = labels.len() > 1;
    let row = |name: Phrase, spent: &TimeSpent| {
        Some(Row {
            name,
            requests: spent.n() as f64,
            means: stages(spent)?,
        })
    };
    let total = row(
        sokudo_model::Text::new("jtl-total").into(),
        &requests.total.spent,
    );
    let each = labels.into_iter().filter(|_| several);
    let each = each.filter_map(|label| row(label.label.clone().into(), &label.spent));
    budget::drawn(
        total.into_iter().chain(each).collect(),
        "report-budget-note-rows",
    )
}
