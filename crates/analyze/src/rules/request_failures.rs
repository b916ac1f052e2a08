//! Requests failed in a way that points to a cause at the server.
//!
//! ```text
//! refused at once        no process listens, or the server turns callers away
//! reset before an answer accepted and thrown out: a bound on connections
//! closed before it       the same, politely; or a server that restarts
//! no connection in time  calls dropped: the queue of connections not yet accepted is full
//! no answer in time      accepted and not served: threads or what they wait for
//! no TLS                 https was asked of a port that speaks plain HTTP
//! no HTTP                something else listens there, or the answer is broken
//! ```

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Evidence, Finding, FlowResult, Labels, Severity, Text, Unit};

use crate::rule::{LIMITING, Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the requests from which failures are told.
const SOME: f64 = 0.001;
/// Share from which the numbers of the phase are about failures.
const GRAVE: f64 = 0.02;
/// Share of the failures from which a kind of them stands for all.
const MOST: f64 = 0.5;

/// One kind of failure.
#[derive(Clone, Copy)]
struct Failure {
    /// Metric that counts it.
    metric: Metric,
    says: &'static str,
    next: &'static str,
}

const KINDS: &[Failure] = &[
    Failure {
        metric: http::REFUSED,
        says: "rule-request-failures-refused-says",
        next: "rule-request-failures-refused-next",
    },
    Failure {
        metric: http::RESETS,
        says: "rule-request-failures-resets-says",
        next: "rule-request-failures-resets-next",
    },
    Failure {
        metric: http::CLOSED_EARLY,
        says: "rule-request-failures-closed-says",
        next: "rule-request-failures-closed-next",
    },
    Failure {
        metric: http::TIMEOUTS,
        says: "rule-request-failures-timeouts-says",
        next: "rule-request-failures-timeouts-next",
    },
    Failure {
        metric: http::MALFORMED,
        says: "rule-request-failures-malformed-says",
        next: "rule-request-failures-malformed-next",
    },
];

/// A call that is not answered is another matter than a request that is not.
const UNANSWERED: Failure = Failure {
    metric: http::TIMEOUTS,
    says: "rule-request-failures-unanswered-says",
    next: "rule-request-failures-unanswered-next",
};

/// https was asked of a server that answers in plain.
const PLAIN: Failure = Failure {
    metric: http::FAILED_TLS,
    says: "rule-request-failures-plain-says",
    next: "rule-request-failures-plain-next",
};

/// Prefix of the first failure of a flow when the server's answer to a handshake was none of TLS.
const NOT_TLS: &str = "tls: not-tls";

/// The finding `request_failures`.
pub const RULE: Rule = Rule {
    name: "request_failures",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("some", SOME, Unit::Ratio),
        ("grave", GRAVE, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (errors, answered) = (view.total(http::ERRORS)?, view.total(http::REQUESTS)?);
    let share = errors / (errors + answered).max(1.0);
    if share < SOME {
        return None;
    }
    let plain = is_plain(view).then_some(&PLAIN);
    let counted = KINDS.iter().chain(plain).filter_map(|kind| {
        let count = view.total(kind.metric)?;
        (count > 0.0).then_some((*kind, count))
    });
    let (mut kind, count) = counted.max_by(|a, b| a.1.total_cmp(&b.1))?;
    if count < errors * MOST {
        return None;
    }
    if kind.metric == UNANSWERED.metric && at_connect(view) {
        kind = UNANSWERED;
    }
    let (flow, _) = view.highest(http::ERRORS)?;
    // A few failures are told, and limit nothing.
    let (severity, weight) = match share >= GRAVE {
        true => (Severity::Bad, 0.6 + 0.35 * share),
        false => (Severity::Caution, LIMITING),
    };
    let says = Text::new(kind.says)
        .number("count", count, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    finding.evidence = evidence(view, flow, kind.metric, count);
    finding.next = Some(Text::new(kind.next));
    Some(finding)
}

/// True when TLS was asked of a server that speaks none.
pub fn is_plain(view: &PhaseView<'_>) -> bool {
    let flows = &view.phase.result.flows;
    let mut errors = flows.iter().filter_map(|flow| flow.labels.get("error"));
    errors.any(|error| error.starts_with(NOT_TLS))
}

fn at_connect(view: &PhaseView<'_>) -> bool {
    let failed = |stage| view.total(stage).unwrap_or(0.0);
    failed(http::FAILED_CONNECT) > failed(http::FAILED_WAIT) + failed(http::FAILED_READ)
}

fn evidence(view: &PhaseView<'_>, flow: &FlowResult, metric: Metric, count: f64) -> Vec<Evidence> {
    let mut rows = vec![view.evidence("evidence-failed-requests", metric, &flow.from, count)];
    let ratio = view.total(http::ERROR_RATIO);
    rows.extend(
        ratio.map(|ratio| {
            view.evidence("evidence-error-ratio", http::ERROR_RATIO, &flow.from, ratio)
        }),
    );
    rows.extend(first_error(flow));
    rows
}

/// Message of a system call, or fault in the answer's form, at the first failure.
pub(super) fn first_error(flow: &FlowResult) -> Option<Evidence> {
    let error = flow.labels.get("error")?;
    let says = Text::new("evidence-first-error").word("host", &flow.from);
    Some(Evidence {
        says: says.text("error", Text::recorded(error)),
        source: "error of the first failure".into(),
        host: Some(flow.from.clone()),
        metric: None,
        labels: Labels::new(),
        value: None,
        unit: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn failures_are_told_by_their_kind() {
        for (metric, stage, key) in [
            ("refused", "connect", "refused"),
            ("resets", "wait", "resets"),
            ("closed_early", "wait", "closed"),
            ("timeouts", "connect", "unanswered"),
            ("timeouts", "wait", "timeouts"),
            ("malformed", "read", "malformed"),
        ] {
            let failed = format!("failed_{stage}");
            let metrics = [
                ("requests", 900.0),
                ("errors", 100.0),
                (metric, 95.0),
                (failed.as_str(), 95.0),
            ];
            let record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
            let key = format!("rule-request-failures-{key}-says");
            check(&record, "request_failures", &key);
        }
        let plain = [
            ("errors", 100.0),
            ("failed_tls", 100.0),
            ("timeouts", 40.0),
            ("unserved_connections", 40.0),
        ];
        let mut record = of_labels(&[("/a", &plain, EVEN, 0.003)]);
        record.manifest.phases[0].result.summary = plain
            .iter()
            .map(|(name, value)| (format!("http.{name}"), *value))
            .chain([("http.requests".to_owned(), 0.0)])
            .collect();
        let flow = &mut record.manifest.phases[0].result.flows[0];
        let error = "tls: not-tls ×60, tls: timed-out ×40";
        flow.labels.insert("error".into(), error.into());
        check(
            &record,
            "request_failures",
            "rule-request-failures-plain-says",
        );
        assert!(is_quiet(&record, "unserved_connections"));
        let few = [("requests", 1e6), ("errors", 1.0), ("resets", 1.0)];
        assert!(is_quiet(
            &of_labels(&[("/a", &few, EVEN, 0.003)]),
            "request_failures"
        ));
    }
}
