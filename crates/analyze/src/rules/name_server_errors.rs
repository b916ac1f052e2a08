//! A name server answered queries with an error code.
//!
//! ```text
//! SERVFAIL  it could not find the answer: the servers that it asks, or signatures that do not hold
//! REFUSED   it does not answer this host, or not for this name
//! others    it could not read the query, or does not implement it
//! ```
//!
//! Codes of RFC 1035 section 4.1.1. A name that does not exist (NXDOMAIN) is an answer.

use sokudo_model::kinds::dns;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{LIMITING, Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the responses from which error codes are told.
const SOME: f64 = 0.001;
/// Share from which the numbers of the phase are about errors.
const GRAVE: f64 = 0.05;

/// One kind of error code.
#[derive(Clone, Copy)]
struct Code {
    /// Metric that counts it.
    metric: Metric,
    says: &'static str,
    next: &'static str,
}

const CODES: [Code; 3] = [
    Code {
        metric: dns::SERVER_FAILURES,
        says: "rule-name-server-errors-failures-says",
        next: "rule-name-server-errors-failures-next",
    },
    Code {
        metric: dns::REFUSED,
        says: "rule-name-server-errors-refused-says",
        next: "rule-name-server-errors-refused-next",
    },
    Code {
        metric: dns::OTHER_CODES,
        says: "rule-name-server-errors-others-says",
        next: "rule-name-server-errors-others-next",
    },
];

/// The finding `name_server_errors`.
pub const RULE: Rule = Rule {
    name: "name_server_errors",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("some", SOME, Unit::Ratio), ("grave", GRAVE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let answers = view.total(dns::ANSWERS).filter(|answers| *answers > 0.0)?;
    let counted = CODES
        .iter()
        .filter_map(|code| Some((*code, view.total(code.metric)?)));
    let (code, count) = counted.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = count / answers;
    if share < SOME {
        return None;
    }
    // A few errors are told, and limit nothing.
    let (severity, weight) = match share >= GRAVE {
        true => (Severity::Bad, 0.6 + 0.35 * share),
        false => (Severity::Caution, LIMITING),
    };
    let (flow, _) = view.highest(code.metric)?;
    let says = Text::new(code.says)
        .word("server", &flow.to)
        .number("count", count, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    for (key, metric) in [
        ("evidence-error-codes", code.metric),
        ("evidence-whole-answers", dns::NO_ERROR),
    ] {
        let row = view.total(metric);
        let row = row.map(|count| view.evidence(key, metric, &flow.from, count));
        finding.evidence.extend(row);
    }
    // The server's own word.
    if let Some(row) = finding.evidence.first_mut() {
        row.source = "response codes".into();
    }
    finding.next = Some(Text::new(code.next));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn error_codes_are_told_by_the_most_frequent_one() {
        for (metric, key) in [
            ("server_failures", "failures"),
            ("refused", "refused"),
            ("other_codes", "others"),
        ] {
            let record = of_queries(&[("answers", 1_000.0), ("no_error", 900.0), (metric, 100.0)]);
            let key = format!("rule-name-server-errors-{key}-says");
            check(&record, "name_server_errors", &key);
        }
        let absent = [("answers", 1_000.0), ("no_such_name", 1_000.0)];
        assert!(is_quiet(&of_queries(&absent), "name_server_errors"));
    }
}
