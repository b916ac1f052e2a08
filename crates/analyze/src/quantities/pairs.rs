//! The pairs of hosts of a check of a group, what is wrong with each, and what failing ones have in common.
//!
//! A pair has two ends, a link has many pairs: when everything that fails has one host in common, the
//! link of that host is named.

use sokudo_model::kinds::stream;
use sokudo_model::metric::Metric;
use sokudo_model::pairs::{Broken, PAYLOAD, Pair, pairs};
use sokudo_model::{Record, Text, Unit};

/// Pairs named in one sentence or finding at most.
pub(crate) const NAMES_MAX: usize = 3;
/// Goodput of one connection of a pair.
pub(crate) const CARRIED: Metric = stream::GOODPUT_BITS_PER_SECOND;

/// The pairs of a check of a group; empty for other runs.
pub fn of(record: &Record) -> Vec<Pair> {
    pairs(&record.manifest.phases)
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

/// Goodput of one connection of a pair, bits per second.
pub(crate) fn carried(pair: &Pair) -> Option<f64> {
    CARRIED.of(&pair.figures)
}

/// Direction of the traffic that a host's pairs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// All of them send to it.
    In,
    /// It sends all of them.
    Out,
    /// Some this way, some that way.
    Both,
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
