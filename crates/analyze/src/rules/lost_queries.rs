//! Queries to a name server, or requests in datagrams, stayed without a response.
//!
//! The generator sees why in two cases: the server's host said that nothing listens (ICMP, RFC 1122
//! section 4.1.3.3), or datagrams found a full socket on the generator's own host. Otherwise a query
//! or its response was lost on the way, found a full socket at the server, or was left unanswered on
//! purpose (rate limiting): from the asking end these look the same.

use sokudo_model::kinds::{Family, dns};
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of the queries from which losses are told.
const SOME: f64 = 0.001;
/// Share from which the numbers of the phase are about losses.
const GRAVE: f64 = 0.05;
/// Share of the losses from which full sockets of the generator's own host stand for all.
const MOST: f64 = 0.5;

const OWN_BUFFER: Metric = host::UDP_RECEIVE_BUFFER_ERRORS;

/// Reason for a missing response, and the certainty of it.
struct Reason {
    says: &'static str,
    next: &'static str,
    certain: f64,
}

const NOBODY: Reason = Reason {
    says: "rule-lost-queries-nobody-says",
    next: "rule-lost-queries-nobody-next",
    certain: 0.9,
};
const OWN: Reason = Reason {
    says: "rule-lost-queries-own-says",
    next: "rule-lost-queries-own-next",
    certain: 0.8,
};
const UNKNOWN: Reason = Reason {
    says: "rule-lost-queries-unknown-says",
    next: "rule-lost-queries-unknown-next",
    certain: 0.3,
};

const OF_REQUESTS: Reason = Reason {
    says: "rule-lost-queries-requests-says",
    next: "rule-lost-queries-requests-next",
    certain: 0.3,
};

/// The finding `lost_queries`.
pub const RULE: Rule = Rule {
    name: "lost_queries",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[
        ("some", SOME, Unit::Ratio),
        ("grave", GRAVE, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let kind = view.kind()?;
    let Family::Exchange(numbers) = kind.family else {
        return None;
    };
    let (errors, answers) = (view.total(numbers.errors)?, view.total(numbers.answered)?);
    let share = errors / (errors + answers).max(1.0);
    let (flow, _) = view.highest(numbers.errors)?;
    let asks_names = kind.name == dns::KIND.name;
    if share < SOME || !(asks_names || is_of_datagrams(flow)) {
        return None;
    }
    let unreachable = view.total(dns::UNREACHABLE).filter(|count| *count > 0.0);
    let full = view.grown("evidence-own-socket-full", OWN_BUFFER, &flow.from);
    let own = full.as_ref().and_then(|row| row.value).unwrap_or(0.0);
    let reason = match unreachable {
        Some(_) => NOBODY,
        None if own >= errors * MOST && asks_names => OWN,
        None if asks_names => UNKNOWN,
        None => OF_REQUESTS,
    };
    // In a closed loop each one takes the time of the many that could have been asked meanwhile.
    let taken = view.total(numbers.error_ratio).unwrap_or(0.0);
    let severity = match share.max(taken) >= GRAVE {
        true => Severity::Bad,
        false => Severity::Caution,
    };
    let says = Text::new(reason.says)
        .word("server", &flow.to)
        .word("host", &flow.from)
        .number("count", errors, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(
        RULE.name,
        severity,
        reason.certain * (0.4 + 0.6 * share),
        says,
    );
    let rows = &mut finding.evidence;
    let row = match asks_names {
        true => "evidence-lost-queries",
        false => "evidence-lost-requests",
    };
    rows.push(view.evidence(row, numbers.errors, &flow.from, errors));
    let told = unreachable
        .map(|count| view.evidence("evidence-unreachable", dns::UNREACHABLE, &flow.from, count));
    rows.extend(told);
    rows.extend(full);
    name_what_lacks(rows, &[OWN_BUFFER]);
    finding.next = Some(Text::new(reason.next).word("host", &flow.from));
    Some(finding)
}

/// True for requests that travel in datagrams, which nobody sends again.
fn is_of_datagrams(flow: &FlowResult) -> bool {
    flow.labels
        .get("transport")
        .is_some_and(|transport| transport == "udp")
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;
    use crate::tests::scene::Scene;
    use crate::tests::*;

    #[test]
    fn requests_in_datagrams_that_are_lost_take_the_time_of_many_others() {
        let lost = |transport: &str| {
            let mut scene = Scene::of("rr")
                .total("transactions_per_second", 104.0)
                .total("transactions", 311.0)
                .total("error_ratio", 0.52)
                .metric("errors", 3.0)
                .total("errors", 3.0);
            let flow = &mut scene.record.manifest.phases[0].result.flows[0];
            flow.labels.insert("transport".into(), transport.into());
            findings(&scene.record)
                .into_iter()
                .find(|one| one.rule == "lost_queries")
        };
        let found = lost("udp").expect("three were lost");
        check_texts(&found);
        assert_eq!(found.says.key, "rule-lost-queries-requests-says");
        assert_eq!(found.severity, Severity::Bad);
        assert!(lost("tcp").is_none());
    }

    #[test]
    fn losses_are_told_by_what_is_known_of_them() {
        let lost = [("answers", 900.0), ("errors", 100.0)];
        let closed = [lost.as_slice(), &[("unreachable", 50.0)]].concat();
        let told = |record, key: &str| {
            check(
                &record,
                "lost_queries",
                &format!("rule-lost-queries-{key}-says"),
            );
        };
        told(of_queries(&lost), "unknown");
        told(of_queries(&closed), "nobody");
        let mut record = of_queries(&lost);
        grow(&mut record, "host.udp_receive_buffer_errors", 95.0);
        told(record, "own");
        let few = [("answers", 1e6), ("errors", 1.0)];
        assert!(is_quiet(&of_queries(&few), "lost_queries"));
    }
}
