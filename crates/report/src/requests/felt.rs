//! Apdex: the shares of satisfied, tolerating, frustrated and unanswered requests.

use sokudo_model::{Text, Unit};
use sokudo_stats::requests::{LabelGroup, Requests};

use crate::bars::Bars;
use crate::block::{Block, Phrase};

/// Labels with a bar at most: those with the most requests.
const MOST_BARS: usize = 24;
/// Names of the four ways and their places in the palette of layers.
const WAYS: [(&str, usize); 4] = [
    ("jtl-felt-satisfied", 0),
    ("jtl-felt-tolerated", 1),
    ("jtl-felt-slower", 3),
    ("jtl-felt-failed", 5),
];

/// A bar per label, the total first; none without requests.
pub fn blocks(requests: &Requests) -> Vec<Block> {
    if requests.total.n == 0 {
        return Vec::new();
    }
    let mut labels: Vec<&LabelGroup> = requests.labels.iter().collect();
    labels.sort_by_key(|label| std::cmp::Reverse(label.n));
    labels.truncate(if labels.len() > 1 { MOST_BARS } else { 0 });
    let shares = |group: &LabelGroup| {
        let felt = group.felt();
        felt.map(|n| n as f64 / group.n.max(1) as f64).to_vec()
    };
    let total: (Phrase, _) = (Text::new("jtl-total").into(), shares(&requests.total));
    let each = labels
        .iter()
        .map(|label| (label.label.clone().into(), shares(label)));
    let seconds = |ms: u64| ms as f64 / 1e3;
    let limits = Text::new("jtl-felt-note")
        .number(
            "satisfied",
            seconds(requests.settings.satisfied_ms),
            Unit::Seconds,
        )
        .number(
            "tolerated",
            seconds(requests.settings.tolerated_ms),
            Unit::Seconds,
        );
    vec![Block::Bars(Box::new(Bars {
        title: Text::new("jtl-felt-title").into(),
        note: limits.into(),
        unit: Unit::Ratio,
        parts: WAYS
            .map(|(key, colour)| (Text::new(key).into(), colour))
            .to_vec(),
        rows: std::iter::once(total).chain(each).collect(),
    }))]
}
