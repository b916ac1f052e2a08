//! Nearly every request used a new connection.
//!
//! Each costs a handshake on both sides, a local port for a minute after it, and TLS its keys; a
//! server that is meant to be loaded with requests is loaded with connections.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Connections per request from which they are made anew all the time.
const CHURN: f64 = 0.9;
/// Requests per user below which nothing could be kept.
const FEW: f64 = 200.0;

const MADE: Metric = http::MADE_CONNECTIONS;

/// The finding `connection_churn`.
pub const RULE: Rule = Rule {
    name: "connection_churn",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("churn", CHURN, Unit::Ratio), ("few", FEW, Unit::One)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (made, requests) = (view.total(MADE)?, view.total(http::REQUESTS)?);
    // Errors take connections with them: only what was answered counts.
    let errors = view.total(http::ERRORS).unwrap_or(0.0);
    if requests < FEW || (made - errors) / requests < CHURN {
        return None;
    }
    let (flow, _) = view.highest(http::REQUESTS)?;
    let says = Text::new("rule-connection-churn-says")
        .number("connections", made, Unit::One)
        .number("requests", requests, Unit::One);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.3, says);
    let row = view.evidence("evidence-made-connections", MADE, &flow.from, made);
    finding.evidence.push(row);
    finding.next = Some(Text::new("rule-connection-churn-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn connections_that_are_made_for_each_request_are_told() {
        let metrics = [("requests", 1_000.0), ("made_connections", 1_000.0)];
        let record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
        check(&record, "connection_churn", "rule-connection-churn-says");
        let kept = [("requests", 1_000.0), ("made_connections", 10.0)];
        assert!(is_quiet(
            &of_labels(&[("/a", &kept, EVEN, 0.003)]),
            "connection_churn"
        ));
    }
}
