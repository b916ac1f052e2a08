//! The host whose link is to be looked at, from the pairs of a check of a group.

use sokudo_model::pairs::Pair;
use sokudo_model::{Evidence, Finding, Record, Severity, Text};
use sokudo_stats::spread;

use crate::quantities::pairs::{CARRIED, NAMES_MAX, Way, carried, common, of, wrong};

/// A pair that carries less than this share of what the middle one carries is out of the line.
const SLOW_SHARE: f64 = 0.5;

/// A host whose link is to be looked at: all pairs that fail, or are out of the line, have it in
/// common, and no other host. Nothing for other runs.
pub(crate) fn findings(record: &Record) -> Vec<Finding> {
    let pairs = of(record);
    let mut hit: Vec<&Pair> = pairs.iter().filter(|pair| !pair.holds()).collect();
    let failed = !hit.is_empty();
    if !failed {
        hit = slow(&pairs);
    }
    let ends: Vec<(&str, &str)> = hit
        .iter()
        .map(|p| (p.from.as_str(), p.to.as_str()))
        .collect();
    let Some((host, way)) = common(&ends).filter(|_| hit.len() < pairs.len()) else {
        return Vec::new();
    };
    let key = match way {
        Way::In => "rule-hot_link-in",
        Way::Out => "rule-hot_link-out",
        Way::Both => "rule-hot_link-both",
    };
    let says = Text::new(key)
        .word("host", host)
        .word("count", hit.len().to_string())
        .word("pairs", pairs.len().to_string());
    vec![Finding {
        rule: "hot_link".into(),
        severity: if failed {
            Severity::Bad
        } else {
            Severity::Caution
        },
        phase: String::new(),
        weight: 0.9,
        says,
        evidence: hit
            .iter()
            .take(NAMES_MAX)
            .map(|pair| evidence(pair))
            .collect(),
        against: Vec::new(),
        next: Some(Text::new("rule-hot_link-next").word("host", host)),
    }]
}

/// Pairs that carry much less than the one in the middle.
fn slow(pairs: &[Pair]) -> Vec<&Pair> {
    let known: Vec<f64> = pairs.iter().filter_map(carried).collect();
    let middle = spread(&known).map_or(0.0, |all| all.median);
    let below = |pair: &&Pair| carried(pair).is_some_and(|bits| bits < middle * SLOW_SHARE);
    pairs.iter().filter(below).collect()
}

fn evidence(pair: &Pair) -> Evidence {
    let bits = carried(pair);
    let says = match (pair.holds(), bits) {
        (true, Some(bits)) => Text::new("evidence-pair-carries").number("bits", bits, CARRIED.unit),
        _ => Text::new("check-pair-failed").text("what", wrong(pair)),
    };
    Evidence {
        says: says.word("from", &pair.from).word("to", &pair.to),
        source: "time stamps and counts of both ends".into(),
        host: None,
        metric: None,
        labels: Default::default(),
        value: bits,
        unit: bits.map(|_| CARRIED.unit),
    }
}
