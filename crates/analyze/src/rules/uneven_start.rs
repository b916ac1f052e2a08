//! The flows of a phase did not start together.
//!
//! What begins late misses what the others do in the beginning and is alone in the end: totals over such
//! flows are those of another experiment. Asked for by `--max-skew`; a phase that exceeds it is repeated
//! first.

use sokudo_model::metrics::group::START_LATE_SECONDS;
use sokudo_model::skew;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// The finding `uneven_start`.
pub const RULE: Rule = Rule {
    name: "uneven_start",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let moment = view.record.manifest.beside(view.phase);
    let asked = skew::of(moment).zip(skew::most(view.phase));
    let (spread_s, most_s) = asked.filter(|(spread, most)| spread > most)?;
    let views = || moment.iter().map(|load| PhaseView::new(view.record, load));
    let late = || views().flat_map(|load| load.values(START_LATE_SECONDS));
    let (first, first_s) = late().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (last, last_s) = late().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // The loads of a mixed phase began apart from each other: that is told of one of them.
    if view.lowest(START_LATE_SECONDS)?.0 != first {
        return None;
    }
    let says = Text::new("rule-uneven-start-says")
        .word("from", &last.from)
        .word("to", &last.to)
        .number("spread", spread_s, Unit::Seconds)
        .number("most", most_s, Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.6, says);
    for (key, flow, late_s) in [
        ("evidence-start-first", first, first_s),
        ("evidence-start-last", last, last_s),
    ] {
        let row = view.evidence(key, START_LATE_SECONDS, &flow.from, late_s);
        finding.evidence.push(row);
    }
    let next = Text::new("rule-uneven-start-next").word("host", &last.from);
    finding.next = Some(next);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use sokudo_model::metrics::group::START_LATE_SECONDS;

    use crate::tests::*;

    /// Flows that begin apart although they should not are a conclusion, not only a check that failed.
    #[test]
    fn flows_that_begin_apart_are_named_when_that_was_bounded() {
        let late = |from: &str, seconds: f64| {
            let mut one = flow(&[]);
            one.from = from.into();
            let name = String::from(START_LATE_SECONDS);
            one.metrics.insert(name, seconds);
            one
        };
        let mut record = empty();
        let flows = vec![
            late("hosta", 0.001),
            late("hostc", 0.031),
            late("hostb", 0.002),
        ];
        record.manifest.phases.push(phase("mesh", flows));
        none(&record, "uneven_start");
        let labels = &mut record.manifest.phases[0].labels;
        labels.insert(sokudo_model::skew::MAX_SKEW.into(), "20ms".into());
        let finding = one(&record, "uneven_start");
        assert_eq!(finding.says.args["from"], Arg::Word("hostc".into()));
        assert_eq!(
            finding.says.args["spread"],
            Arg::Number(0.03, sokudo_model::Unit::Seconds)
        );
        assert_eq!(finding.evidence[1].value, Some(0.031));
        let labels = &mut record.manifest.phases[0].labels;
        labels.insert(sokudo_model::skew::MAX_SKEW.into(), "40ms".into());
        none(&record, "uneven_start");
    }
}
