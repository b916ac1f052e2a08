//! Connections stood and were never served: the server's system accepted them, its program did not.
//!
//! ```text
//! SYN ─► system: accept queue ─► program: accept() ─► read, answer
//!                                └ it has no open file left, its threads are taken, or it hangs
//! ```
//!
//! The caller cannot see the queue. It sees connections that stand at once, take the request, and never
//! answer, while others go on as ever.

use sokudo_model::kinds::http;
use sokudo_model::metrics::{host, process};
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::rules::request_failures::is_plain;
use crate::view::PhaseView;

/// Share of its limit that a process's open files reach when it has none left.
const FULL: f64 = 0.98;

/// Share of a request in connecting from which the queue of calls is the matter.
const CONNECTING: f64 = 0.3;

/// The finding `unserved_connections`.
pub const RULE: Rule = Rule {
    name: "unserved_connections",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("full", FULL, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let unserved = view.total(http::UNSERVED_CONNECTIONS)?;
    // A server that waits for a request in plain does not answer a handshake, and may say so late.
    if is_plain(view) {
        return None;
    }
    let made = view.total(http::MADE_CONNECTIONS).unwrap_or(0.0);
    // A request that is slow on every connection is not explained by accepting.
    let answered = view.total(http::REQUESTS).unwrap_or(0.0);
    // A queue that drops calls loses the end of some handshakes, too.
    let connects = Requests::of(view).and_then(|requests| requests.stage("connect"));
    if connects.is_some_and(|stage| stage.share >= CONNECTING) {
        return None;
    }
    let (flow, _) = view.highest(http::ERRORS)?;
    let files = files(view);
    let waiting = waiting(view);
    let key = match (&files, answered > 0.0) {
        (Some(_), _) => "rule-unserved-connections-files-says",
        (None, true) => "rule-unserved-connections-says",
        (None, false) => "rule-unserved-connections-all-says",
    };
    let says = Text::new(key)
        .word("to", &flow.to)
        .number("unserved", unserved, Unit::One)
        .number("served", made, Unit::One);
    let share = unserved / (unserved + made).max(1.0);
    let weight = 0.7 + 0.25 * share;
    let mut finding = view.finding(RULE.name, Severity::Bad, weight, says);
    let evidence = &mut finding.evidence;
    let metric = http::UNSERVED_CONNECTIONS;
    evidence.push(view.evidence("evidence-unserved", metric, &flow.from, unserved));
    let row = |key, metric| Some(view.evidence(key, metric, &flow.from, view.total(metric)?));
    evidence.extend(row("evidence-failed-connect", http::FAILED_CONNECT));
    evidence.extend(row("evidence-path-lowest", http::PATH_LOWEST_SECONDS));
    evidence.extend(waiting);
    let next = match files {
        Some(_) => "rule-unserved-connections-files-next",
        None if answered == 0.0 => "rule-unserved-connections-all-next",
        None => "rule-unserved-connections-next",
    };
    finding.evidence.extend(files);
    finding.next = Some(Text::new(next));
    Some(finding)
}

/// A process of the server that had as many files open as it may.
fn files(view: &PhaseView<'_>) -> Option<Evidence> {
    let open = view.series(None, process::OPEN_FILES, &[]);
    let full = open.filter_map(|series| {
        let pid = series.key.labels.get("pid")?;
        let host = series.key.host.as_str();
        let labels = [("pid", pid.as_str())];
        let limits = view.series(Some(host), process::OPEN_FILES_LIMIT, &labels);
        let limit = limits.filter_map(|series| view.mean(series)).next()?;
        let most = view.inside(series).max_by(f64::total_cmp)?;
        (limit > 0.0 && most >= limit * FULL).then(|| {
            let metric = process::OPEN_FILES;
            let mut row = view.evidence("evidence-open-files-full", metric, host, most);
            row.says = row.says.number("limit", limit, Unit::One);
            row
        })
    });
    full.into_iter().next()
}

/// The longest queue of connections that wait to be accepted.
pub fn waiting(view: &PhaseView<'_>) -> Option<Evidence> {
    let metric = host::LISTEN_QUEUE_DEPTH;
    let (series, mean) = view.highest_mean(None, metric, &[])?;
    (mean > 0.0).then(|| {
        let mut row = view.evidence("evidence-accept-queue", metric, &series.key.host, mean);
        let port = series.key.labels.get("port").map_or("", String::as_str);
        row.says = row.says.word("port", port);
        row.labels = series.key.labels.clone();
        row
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn connections_that_are_never_served_are_told_unless_calls_are_dropped() {
        let of = |connect: f64, requests: f64| {
            let totals = [
                ("unserved_connections", 8.0),
                ("requests", requests),
                ("errors", 8.0),
            ];
            let mut record = of_stages([0.0, connect, 0.0, 0.0, 0.01, 0.0], &totals);
            let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
            metrics.insert("http.errors".into(), 8.0);
            record
        };
        let rule = "unserved_connections";
        check(&of(0.0, 900.0), rule, "rule-unserved-connections-says");
        check(&of(0.0, 0.0), rule, "rule-unserved-connections-all-says");
        assert!(is_quiet(&of(0.5, 900.0), rule));
    }
}
