//! Was a connection made for nearly every request?
//!
//! Each costs a handshake on both sides, a local port for a minute after it, and TLS its keys; a
//! server that is meant to be loaded with requests is loaded with connections.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// Connections per request from which they are made anew all the time.
const CHURN: f64 = 0.9;
/// Requests per user below which nothing could be kept.
const FEW: f64 = 200.0;

/// See the module.
pub struct ConnectionChurn;

const MADE: &str = "http.made_connections";

impl Rule for ConnectionChurn {
    fn name(&self) -> &'static str {
        "connection_churn"
    }

    fn question(&self) -> &'static str {
        "was a connection made for nearly every request?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let (Some(made), Some(requests)) = (view.total(MADE), view.total("http.requests")) else {
            return;
        };
        // Errors take connections with them: only what was answered counts.
        let errors = view.total("http.errors").unwrap_or(0.0);
        if requests < FEW || (made - errors) / requests < CHURN {
            return;
        }
        let Some((flow, _)) = view.highest("http.requests") else {
            return;
        };
        let says = Text::new("rule-connection-churn-says")
            .number("connections", made, Unit::One)
            .number("requests", requests, Unit::One);
        let mut finding = view.finding(self.name(), Severity::Info, 0.3, says);
        let row = view.evidence("evidence-made-connections", MADE, &flow.from, made);
        finding.evidence.push(row);
        finding.next = Some(Text::new("rule-connection-churn-next"));
        out.push(finding);
    }
}
