//! The server redirects the requests of a load that does not follow redirects.

use sokudo_model::kinds::http;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Share of the answers from which the figures are those of redirects.
const MOST: f64 = 0.5;

/// The finding `redirected`.
pub const RULE: Rule = Rule {
    name: "redirected",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("most", MOST, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    // A plan says of each request whether it follows.
    if requests.exchange.kind.is_plan {
        return None;
    }
    let (count, answered) = (view.total(http::STATUS_3XX)?, view.total(http::REQUESTS)?);
    let share = (count / answered.max(1.0)).min(1.0);
    if share < MOST {
        return None;
    }
    let says = Text::new("rule-redirected-says").number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.6, says);
    let mut row = view.evidence(
        "evidence-turned-away",
        http::STATUS_3XX,
        requests.host(),
        count,
    );
    row.says = row.says.word("code", "300 to 399");
    finding.evidence.push(row);
    finding.next = Some(Text::new("rule-redirected-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn answers_that_lead_elsewhere_are_told() {
        let of = |count| of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], &[("status_3xx", count)]);
        check(&of(1_000.0), "redirected", "rule-redirected-says");
        assert!(is_quiet(&of(100.0), "redirected"));
    }
}
