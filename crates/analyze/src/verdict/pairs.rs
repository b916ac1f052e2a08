//! Checks and sentences about the pairs of hosts of a check of a group.

use std::collections::BTreeSet;

use sokudo_model::metric::Metric;
use sokudo_model::metrics::group;
use sokudo_model::pairs::{EXPECT, Pair, PairExpectation, asked, hosts, is_round};
use sokudo_model::{Check, Demand, Record, Text, Unit};
use sokudo_stats::spread;

use crate::findings::pairs::findings;
use crate::quantities::pairs::{NAMES_MAX, carried, of, wrong};

/// One check per part of what was expected, with the worst pair; and one per pair: everything came
/// through, and what was expected was kept.
pub(crate) fn checks(record: &Record) -> Vec<Check> {
    let parts = asked(&record.manifest.phases);
    parts.iter().map(part).chain(each_pair(record)).collect()
}

/// One part of what was expected of every pair.
fn part(asked: &PairExpectation) -> Check {
    let worst = asked.worst.as_ref();
    let is_kept = asked.missed == 0 && asked.pairs > 0;
    let outcome = if is_kept { "held" } else { "failed" };
    let says = Text::new(format!("check-expect-{outcome}"))
        .word("asked", &asked.typed)
        .word("missed", asked.missed.to_string())
        .word("pairs", asked.pairs.to_string());
    Check {
        name: "expect".into(),
        passed: is_kept,
        says,
        demand: Some(Demand {
            asked: asked.typed.clone(),
            measured: worst.map(|(value, _)| *value),
            unit: asked.unit,
            on: worst.map_or_else(String::new, |(_, pair)| pair.clone()),
        }),
    }
}

fn each_pair(record: &Record) -> Vec<Check> {
    let expected = expected(record);
    let check = |pair: &Pair| {
        let text = match (pair.holds(), expected) {
            (true, Some(expected)) => Text::new("check-pair-held").word("expected", expected),
            (true, None) => Text::new("check-pair-through"),
            (false, _) => Text::new("check-pair-failed").text("what", wrong(pair)),
        };
        Check {
            name: "pair".into(),
            passed: pair.holds(),
            says: text.word("from", &pair.from).word("to", &pair.to),
            demand: None,
        }
    };
    of(record).iter().map(check).collect()
}

/// Sentences about the pairs of a group; nothing for other runs.
pub(crate) fn verdict(record: &Record) -> Vec<Text> {
    let pairs = of(record);
    let Some(all) = sentence(record, &pairs) else {
        return Vec::new();
    };
    let mut out = vec![all];
    let worst = pairs.iter().find(|pair| !pair.holds());
    out.extend(worst.map(|pair| {
        Text::new("verdict-pairs-worst")
            .word("from", &pair.from)
            .word("to", &pair.to)
            .text("what", wrong(pair))
    }));
    match findings(record).into_iter().next() {
        Some(finding) => out.extend([finding.says].into_iter().chain(finding.next)),
        None => out.extend(speeds(&pairs)),
    }
    out.extend(mesh(record));
    out
}

/// Sentence about the load of all hosts at once.
fn mesh(record: &Record) -> Option<Text> {
    let get = |metric: Metric| metric.of(&record.manifest.summary);
    let bits = get(group::MESH_BITS_PER_SECOND)?;
    let fairness = get(group::MESH_FAIRNESS_RATIO)?;
    Some(
        Text::new("verdict-mesh")
            .number("bits", bits, Unit::BitsPerSecond)
            .number("fairness", fairness, Unit::One),
    )
}

fn sentence(record: &Record, pairs: &[Pair]) -> Option<Text> {
    let ends = pairs
        .iter()
        .flat_map(|pair| [pair.from.as_str(), pair.to.as_str()]);
    let ends: BTreeSet<&str> = ends.collect();
    let hosts = hosts(&record.manifest.phases).unwrap_or(0).max(ends.len());
    // Each host towards every other one; without time for that, some never met, or not in every layer.
    let all = hosts * hosts.saturating_sub(1);
    let layers: BTreeSet<&String> = pairs.iter().flat_map(|pair| &pair.layers).collect();
    let met = pairs
        .iter()
        .filter(|pair| pair.layers.len() == layers.len());
    let met = met.count();
    let failed: Vec<&Pair> = pairs.iter().filter(|pair| !pair.holds()).collect();
    let dead = failed.iter().any(|pair| !pair.dead.is_empty());
    let text = match (failed.as_slice(), expected(record), dead) {
        _ if pairs.is_empty() => return None,
        ([], Some(expected), _) if met < all => {
            Text::new("verdict-pairs-hold-some").word("expected", expected)
        }
        ([], None, _) if met < all => Text::new("verdict-pairs-through-some"),
        ([], Some(expected), _) => Text::new("verdict-pairs-hold").word("expected", expected),
        ([], None, _) => Text::new("verdict-pairs-through"),
        (_, Some(expected), false) => Text::new("verdict-pairs-fail").word("expected", expected),
        (_, _, _) => Text::new("verdict-pairs-dead"),
    };
    Some(
        text.word("pairs", met.to_string())
            .word("all", all.to_string())
            .word("hosts", hosts.to_string())
            .word("failed", failed.len().to_string())
            .text("names", names(&failed)),
    )
}

/// The first few pairs by name, and how many more there are.
fn names(pairs: &[&Pair]) -> Text {
    let few = pairs.iter().take(NAMES_MAX);
    let few: Vec<String> = few
        .map(|pair| format!("{} → {}", pair.from, pair.to))
        .collect();
    let text = match pairs.len() > NAMES_MAX {
        true => Text::new("pair-names-more").word("more", (pairs.len() - NAMES_MAX).to_string()),
        false => Text::new("pair-names"),
    };
    text.word("names", few.join(", "))
}

/// The slowest pair and the one in the middle.
fn speeds(pairs: &[Pair]) -> Option<Text> {
    let known: Vec<f64> = pairs.iter().filter_map(carried).collect();
    let middle = spread(&known)?.median;
    let with_speed = pairs.iter().filter_map(|pair| Some((pair, carried(pair)?)));
    let (slowest, bits) = with_speed.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(
        Text::new("verdict-pairs-speeds")
            .word("from", &slowest.from)
            .word("to", &slowest.to)
            .number("slowest", bits, Unit::BitsPerSecond)
            .number("middle", middle, Unit::BitsPerSecond),
    )
}

fn expected(record: &Record) -> Option<&str> {
    let mut phases = record.manifest.phases.iter();
    let round = phases.find(|phase| is_round(phase))?;
    round.labels.get(EXPECT).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::{probe, rr};
    use sokudo_model::pairs::{HOSTS, ROUND};
    use sokudo_model::{Arg, FlowResult, PhaseRecord};

    use super::*;
    use crate::tests::{check_text, empty};

    /// A round of a layer in which these pairs met.
    fn round(workload: &str, done: Metric, pairs: &[(&str, &str)], hosts: u32) -> PhaseRecord {
        let flow = |(from, to): &(&str, &str)| FlowResult {
            from: (*from).into(),
            to: (*to).into(),
            metrics: [(done.name.to_owned(), 5.0)].into(),
            complete: true,
            ..FlowResult::default()
        };
        let mut phase = crate::tests::phase(workload, pairs.iter().map(flow).collect());
        phase.workload = workload.into();
        phase.labels.insert(ROUND.into(), "1".into());
        phase.labels.insert(HOSTS.into(), hosts.to_string());
        phase
    }

    #[track_caller]
    fn check(phases: Vec<PhaseRecord>, key: &str, met: &str, hosts: &str) {
        let mut record = empty();
        record.manifest.phases = phases;
        let said = verdict(&record);
        check_text(&said[0]);
        assert_eq!(said[0].key, key);
        assert_eq!(said[0].args["pairs"], Arg::Word(met.into()));
        assert_eq!(said[0].args["hosts"], Arg::Word(hosts.into()));
    }

    const ALL: &[(&str, &str)] = &[
        ("a", "b"),
        ("b", "a"),
        ("a", "c"),
        ("c", "a"),
        ("b", "c"),
        ("c", "b"),
    ];

    #[test]
    fn every_layer_came_through_only_where_every_pair_met_in_every_layer() {
        let rr = |pairs: &[(&str, &str)], hosts| round("rr", rr::KIND.done, pairs, hosts);
        let probe = |pairs: &[(&str, &str)]| round("probe", probe::KIND.done, pairs, 3);
        check(
            vec![rr(ALL, 3), probe(ALL)],
            "verdict-pairs-through",
            "6",
            "3",
        );
        // One pair was never probed.
        let some = "verdict-pairs-through-some";
        check(vec![rr(ALL, 3), probe(&ALL[..4])], some, "4", "3");
        check(vec![rr(&ALL[..4], 3)], some, "4", "3");
        // A host that met nobody is one of the group all the same.
        check(vec![rr(&ALL[..2], 3)], some, "2", "3");
        check(vec![rr(ALL, 4)], some, "6", "4");
    }
}
