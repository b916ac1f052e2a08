//! What does a check of a group say about its pairs of hosts?
//!
//! Every pair is a check of its own. When what fails has one host in common, the host's link is named:
//! a pair has two ends, a link has many pairs.

use sokudo_model::pairs::{Broken, EXPECT, PAYLOAD, Pair, is_round, pairs};
use sokudo_model::{Check, Evidence, Finding, Record, Severity, Text, Unit, metric};
use sokudo_stats::spread;

/// Names in one sentence at most.
const NAMES_MAX: usize = 3;
/// A pair that carries less than this share of what the middle one carries is out of the line.
const SLOW_SHARE: f64 = 0.5;
/// What one connection of a pair carries.
const CARRIED: &str = "stream.goodput_bits_per_second";

/// The pairs of a check of a group; empty for other runs.
pub fn of(record: &Record) -> Vec<Pair> {
    pairs(&record.manifest.phases)
}

fn expected(record: &Record) -> Option<&str> {
    let mut phases = record.manifest.phases.iter();
    let round = phases.find(|phase| is_round(phase))?;
    round.labels.get(EXPECT).map(String::as_str)
}

/// One check per pair: everything came through, and what was expected was kept.
pub(crate) fn checks(record: &Record) -> Vec<Check> {
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
        }
    };
    of(record).iter().map(check).collect()
}

/// Everything that is wrong with a pair that does not hold.
pub fn wrong(pair: &Pair) -> Text {
    let broken = pair.broken.iter().map(not_kept);
    let mut all: Vec<Text> = dead(pair).into_iter().chain(broken).collect();
    let last = all.pop().unwrap_or_else(|| Text::new("check-pair-through"));
    all.into_iter().rfold(last, |rest, first| {
        Text::new("pair-and")
            .text("first", first)
            .text("rest", rest)
    })
}

fn dead(pair: &Pair) -> Option<Text> {
    let layers: Vec<&str> = pair.dead.keys().map(String::as_str).collect();
    if layers.is_empty() {
        return None;
    }
    let text = match pair.dead.values().flatten().next() {
        Some(why) => Text::new("pair-dead-why").word("why", why),
        None => Text::new("pair-dead"),
    };
    Some(text.word("layers", layers.join(", ")))
}

fn not_kept(broken: &Broken) -> Text {
    let unit = match broken.what {
        PAYLOAD => Unit::BitsPerSecond,
        "loss" | "errors" => Unit::Ratio,
        _ => Unit::Seconds,
    };
    let text = match (broken.what, broken.measured) {
        (_, None) => Text::new("pair-broken-unknown"),
        (PAYLOAD, Some(carried)) => {
            Text::new("pair-broken-payload").number("measured", carried, unit)
        }
        (_, Some(measured)) => Text::new("pair-broken-bound").number("measured", measured, unit),
    };
    let text = text
        .word("layer", &broken.layer)
        .word("what", broken.what)
        .number("limit", broken.limit, unit);
    match broken.alone {
        Some(alone) => Text::new("pair-broken-alone")
            .text("broken", text)
            .number("alone", alone, unit),
        None => text,
    }
}

/// What the pairs come to, in sentences; nothing for other runs.
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

/// What all hosts carried at once.
fn mesh(record: &Record) -> Option<Text> {
    let get = |name: &str| record.manifest.summary.get(name).copied();
    let bits = get("group.mesh_bits_per_second")?;
    let fairness = get("group.mesh_fairness_ratio")?;
    Some(
        Text::new("verdict-mesh")
            .number("bits", bits, Unit::BitsPerSecond)
            .number("fairness", fairness, Unit::One),
    )
}

fn sentence(record: &Record, pairs: &[Pair]) -> Option<Text> {
    let mut hosts: Vec<&str> = pairs.iter().map(|pair| pair.from.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let failed: Vec<&Pair> = pairs.iter().filter(|pair| !pair.holds()).collect();
    let dead = failed.iter().any(|pair| !pair.dead.is_empty());
    let text = match (failed.as_slice(), expected(record), dead) {
        _ if pairs.is_empty() => return None,
        ([], Some(expected), _) => Text::new("verdict-pairs-hold").word("expected", expected),
        ([], None, _) => Text::new("verdict-pairs-through"),
        (_, Some(expected), false) => Text::new("verdict-pairs-fail").word("expected", expected),
        (_, _, _) => Text::new("verdict-pairs-dead"),
    };
    Some(
        text.word("pairs", pairs.len().to_string())
            .word("hosts", hosts.len().to_string())
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

fn carried(pair: &Pair) -> Option<f64> {
    pair.figures.get(CARRIED).copied()
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

/// What goes through a host in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// All of them send to it.
    In,
    /// It sends all of them.
    Out,
    /// Some this way, some that way.
    Both,
}

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

/// The one host that at least two pairs, each from one host to another, have in common, and which way.
pub(crate) fn common<'a>(hit: &[(&'a str, &'a str)]) -> Option<(&'a str, Way)> {
    let (first, _) = hit.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let in_all = |host: &&str| hit.iter().all(|(from, to)| from == host || to == host);
    let shared: Vec<&str> = [first.0, first.1].into_iter().filter(in_all).collect();
    let [host] = shared.as_slice() else {
        return None;
    };
    let way = match () {
        () if hit.iter().all(|(_, to)| to == host) => Way::In,
        () if hit.iter().all(|(from, _)| from == host) => Way::Out,
        () => Way::Both,
    };
    Some((host, way))
}

fn evidence(pair: &Pair) -> Evidence {
    let bits = carried(pair);
    let says = match (pair.holds(), bits) {
        (true, Some(bits)) => {
            Text::new("evidence-pair-carries").number("bits", bits, metric::unit_of(CARRIED))
        }
        _ => Text::new("check-pair-failed").text("what", wrong(pair)),
    };
    Evidence {
        says: says.word("from", &pair.from).word("to", &pair.to),
        source: "time stamps and counts of both ends".into(),
        host: None,
        metric: None,
        labels: Default::default(),
        value: bits,
        unit: bits.map(|_| metric::unit_of(CARRIED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(from: &str, to: &str) -> Pair {
        Pair {
            from: from.into(),
            to: to.into(),
            ..Pair::default()
        }
    }

    #[test]
    fn a_host_that_all_have_in_common_is_named_with_the_way() {
        let (ab, cb, bc, ba) = (("a", "b"), ("c", "b"), ("b", "c"), ("b", "a"));
        assert_eq!(common(&[ab, cb]), Some(("b", Way::In)));
        assert_eq!(common(&[ba, bc]), Some(("b", Way::Out)));
        assert_eq!(common(&[ab, cb, bc]), Some(("b", Way::Both)));
        // One pair both ways: it may be either host.
        assert_eq!(common(&[ab, ba]), None);
        assert_eq!(common(&[ab]), None);
        assert_eq!(common(&[ab, cb, ("a", "c")]), None);
    }

    #[test]
    fn all_that_is_wrong_is_told_in_one_sentence() {
        let mut one = pair("a", "b");
        one.dead.insert("probe".into(), None);
        for what in [PAYLOAD, "p99"] {
            one.broken.push(Broken {
                layer: "stream".into(),
                what,
                measured: Some(1.0),
                limit: 2.0,
                alone: None,
            });
        }
        let text = wrong(&one);
        assert_eq!(text.key, "pair-and");
        let inner = format!("{text:?}");
        for key in ["pair-dead", "pair-broken-payload", "pair-broken-bound"] {
            assert!(inner.contains(key), "{inner}");
        }
    }
}
