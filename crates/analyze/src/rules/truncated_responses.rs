//! Responses of a name server were cut to fit into a datagram.
//!
//! A resolver repeats such a query over TCP (RFC 7766 section 5), which costs it a connection and the
//! server another answer. This load does not repeat it, so the figures lack that cost.

use sokudo_model::kinds::dns;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Share of the responses from which it is told.
const SOME: f64 = 0.01;

const CUT: Metric = dns::TRUNCATED;

/// The finding `truncated_responses`.
pub const RULE: Rule = Rule {
    name: "truncated_responses",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("some", SOME, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (cut, answers) = (view.total(CUT)?, view.total(dns::ANSWERS)?);
    let share = cut / answers.max(1.0);
    if share < SOME {
        return None;
    }
    let (flow, _) = view.highest(CUT)?;
    let says = Text::new("rule-truncated-responses-says")
        .word("server", &flow.to)
        .number("count", cut, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.3 + 0.4 * share, says);
    let row = view.evidence("evidence-truncated", CUT, &flow.from, cut);
    finding.evidence.push(row);
    finding.next = Some(Text::new("rule-truncated-responses-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn responses_that_were_cut_are_told() {
        let record = of_queries(&[("answers", 1_000.0), ("truncated", 20.0)]);
        check(
            &record,
            "truncated_responses",
            "rule-truncated-responses-says",
        );
        let whole = [("answers", 1_000.0), ("truncated", 1.0)];
        assert!(is_quiet(&of_queries(&whole), "truncated_responses"));
    }
}
