//! Most failed requests failed within a short time.
//!
//! A server that restarts, a pool that runs dry, a path that is cut: their failures stand together,
//! and a share over the whole run hides that nearly everything failed for a while and nothing after.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Series, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Share of all failures that the burst must hold.
const MOST: f64 = 0.8;
/// Share of the time that it may take.
const SHORT: f64 = 0.25;
/// Fewest failures that are worth a word.
const FEW: f64 = 20.0;
/// Fewest intervals in which a burst can be told from the rest.
const FEWEST_INTERVALS: i64 = 8;

const FAILED: Metric = http::FAILED_PER_SECOND;

/// Failures that were counted in one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted {
    from_ns: i64,
    to_ns: i64,
    failed: f64,
}

/// The finding `error_burst`.
pub const RULE: Rule = Rule {
    name: "error_burst",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[
        ("most", MOST, Unit::Ratio),
        ("short", SHORT, Unit::Ratio),
        ("few", FEW, Unit::One),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (t0_ns, t1_ns) = (view.phase.t0_ns, view.phase.t1_ns);
    let series: Vec<&Series> = view.series(None, FAILED, &[]).collect();
    let counted = series.iter().flat_map(|s| intervals(s, t0_ns, t1_ns));
    let mut counted: Vec<Counted> = counted.collect();
    counted.sort_by_key(|one| one.to_ns);
    let all: f64 = counted.iter().map(|one| one.failed).sum();
    let longest_step = series.iter().filter_map(|s| usual_step_ns(s)).max();
    let intervals = longest_step.map_or(0, |step| (t1_ns - t0_ns) / step.max(1));
    if all < FEW || intervals < FEWEST_INTERVALS {
        return None;
    }
    let burst = shortest(&counted, all * MOST)?;
    let seconds = |ns: i64| ns as f64 / 1e9;
    let length_s = seconds(burst.to_ns - burst.from_ns);
    if length_s > SHORT * seconds(t1_ns - t0_ns) {
        return None;
    }
    let (share, begin_s) = (burst.failed / all, seconds(burst.from_ns - t0_ns));
    let says = Text::new("rule-error-burst-says")
        .number("share", share, Unit::Ratio)
        .number("count", all, Unit::One)
        .number("length", length_s, Unit::Seconds)
        .number("begin", begin_s.max(0.0), Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.55, says);
    let peak = |s: &&&Series| s.points.iter().map(|p| p.1).fold(0.0, f64::max);
    let worst = series.iter().max_by(|a, b| peak(a).total_cmp(&peak(b)));
    finding.evidence.extend(worst.map(|worst| {
        view.evidence(
            "evidence-failed-peak",
            FAILED,
            &worst.key.host,
            peak(&worst),
        )
    }));
    let rest_s = seconds(t1_ns - t0_ns) - length_s;
    let outside = (all - burst.failed) / rest_s.max(f64::MIN_POSITIVE);
    finding.evidence.extend(
        worst.map(|worst| {
            view.evidence("evidence-failed-outside", FAILED, &worst.key.host, outside)
        }),
    );
    finding.next =
        Some(Text::new("rule-error-burst-next").number("begin", begin_s.max(0.0), Unit::Seconds));
    Some(finding)
}

/// Counts of a series in each interval of the phase; its values are rates over the time since the
/// one before. A series begins with the first failure: its first interval is as long as the others.
fn intervals(series: &Series, t0_ns: i64, t1_ns: i64) -> Vec<Counted> {
    let Some(step_ns) = usual_step_ns(series) else {
        return Vec::new();
    };
    let mut out: Vec<Counted> = Vec::new();
    for (to_ns, per_s) in series.points.iter().filter(|(t, _)| *t > t0_ns) {
        let before = out.last().map(|last| last.to_ns);
        let from_ns = before.unwrap_or((to_ns - step_ns).max(t0_ns));
        // The last interval of a phase may be told a little after its end.
        if from_ns < t1_ns && per_s.is_finite() {
            out.push(Counted {
                from_ns,
                to_ns: *to_ns,
                failed: per_s * (to_ns - from_ns) as f64 / 1e9,
            });
        }
    }
    out
}

/// Median time between two points; `None` with fewer than two.
fn usual_step_ns(series: &Series) -> Option<i64> {
    let pairs = series.points.windows(2);
    let mut steps: Vec<i64> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}

/// The shortest stretch that holds at least `wanted` failures; `counted` is sorted by its ends.
fn shortest(counted: &[Counted], wanted: f64) -> Option<Counted> {
    let mut best: Option<Counted> = None;
    let (mut first, mut held) = (0, 0.0);
    for last in counted {
        held += last.failed;
        while held - counted[first].failed >= wanted {
            held -= counted[first].failed;
            first += 1;
        }
        let stretch = Counted {
            from_ns: counted[first].from_ns,
            to_ns: last.to_ns,
            failed: held,
        };
        let length = |one: &Counted| one.to_ns - one.from_ns;
        let is_better = best.is_none_or(|best| length(&stretch) < length(&best));
        if held >= wanted && is_better {
            best = Some(stretch);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::requests::*;
    use crate::tests::*;

    fn counted(failed: &[f64]) -> Vec<Counted> {
        let each = failed.iter().zip(0..);
        each.map(|(failed, i)| Counted {
            from_ns: i,
            to_ns: i + 1,
            failed: *failed,
        })
        .collect()
    }

    #[test]
    fn the_shortest_stretch_is_found_wherever_it_lies() {
        let stretch = |failed: &[f64], wanted| {
            let best = shortest(&counted(failed), wanted)?;
            Some((best.from_ns, best.to_ns, best.failed))
        };
        assert_eq!(
            stretch(&[1.0, 0.0, 9.0, 8.0, 1.0], 15.0),
            Some((2, 4, 17.0))
        );
        assert_eq!(stretch(&[9.0, 1.0, 1.0], 9.0), Some((0, 1, 9.0)));
        assert_eq!(stretch(&[1.0, 1.0], 3.0), None);
        assert_eq!(stretch(&[], 1.0), None);
    }

    /// A phase of ten seconds in whose every second so many requests failed.
    fn failing(each_second: [f64; 10]) -> Record {
        let mut record = of_labels(&[("/a", &[("requests", 1_000.0)], EVEN, 0.003)]);
        let phase = &mut record.manifest.phases[0];
        phase.t1_ns = phase.t0_ns + 10 * SECOND;
        let t0_ns = phase.t0_ns;
        let points = each_second.iter().zip(1..);
        record.series.push(Series {
            key: SeriesKey {
                host: "hosta".into(),
                source: "jmx".into(),
                metric: "http.failed_per_second".into(),
                labels: Labels::from([("flow".into(), "/a".into())]),
            },
            points: points.map(|(n, s)| (t0_ns + s * SECOND, *n)).collect(),
        });
        record
    }

    #[test]
    fn failures_that_stand_together_are_told_from_those_that_are_spread() {
        let burst = failing([0.0, 0.0, 0.0, 1.0, 90.0, 70.0, 2.0, 0.0, 0.0, 0.0]);
        check(&burst, "error_burst", "rule-error-burst-says");
        let finding = one(&burst, "error_burst");
        let number = |name: &str| match finding.says.args.get(name) {
            Some(Arg::Number(value, _)) => *value,
            other => panic!("{other:?}"),
        };
        assert_eq!((number("begin"), number("length")), (4.0, 2.0));
        assert!(is_quiet(&failing([20.0; 10]), "error_burst"));
        let few = [0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(is_quiet(&failing(few), "error_burst"));
    }
}
