//! A part of the requests takes many times as long as the rest.
//!
//! ```text
//! some connections slow, the others quick    a worker, a thread or a backend that serves them
//! some requests slow, on any connection      a backend behind a balancer, a cache that misses, a lock
//! ```
//!
//! Means hide it: of four workers a slow one answers a hundredth of the requests of a closed loop and
//! holds a quarter of its connections.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use super::server_stalls::outlasts;
use crate::quantities::requests::Requests;
use crate::quantities::service_times;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the users, or of the requests, up to which the slow ones are the exception.
const MINORITY: f64 = 0.7;
/// Share of the time of all requests from which the slow part shapes the result.
const SHAPES: f64 = 0.15;
/// Difference below which a reason is not worth looking for, seconds.
const LITTLE_S: f64 = 0.01;
/// Longest answers of a user that its mean may be due to.
const OUTLIERS: f64 = 2.0;
/// Share of segments lost from which losses explain slow requests.
const LOSSY: f64 = 0.002;
/// Share of the time for which the asking thread waited for a CPU from which its times prove nothing.
const STARVED: f64 = 0.5;
/// Share of the time in stalls of all requests from which those explain them.
const STALLED: f64 = 0.5;

/// The finding `uneven_service`.
pub const RULE: Rule = Rule {
    name: "uneven_service",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("minority", MINORITY, Unit::Ratio),
        ("shapes", SHAPES, Unit::Ratio),
        ("least", LITTLE_S, Unit::Seconds),
        ("starved", STARVED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    let lost = |metric: Metric| view.total(metric).unwrap_or(0.0);
    let is_lossy = lost(http::PATH_RESENT_RATIO).max(lost(http::PATH_OUT_OF_ORDER_RATIO)) >= LOSSY;
    // A queue on the way gives its connections unequal shares, and their bodies come as those are.
    let reads = requests
        .longest_stage()
        .is_some_and(|stage| stage.name == "read");
    let is_shared_way = reads && requests.has_queue_on_the_way();
    // What a client sees that is kept from its CPU most of the time is when it could look.
    let near = requests.exchange.kind.ends.near;
    let waits = near.wait.and_then(|metric| view.highest(metric));
    let is_starved = waits.is_some_and(|(_, share)| share >= STARVED);
    if requests.are_mixed() || is_lossy || is_shared_way || is_starved {
        return None;
    }
    of_users(view, &requests).or_else(|| of_requests(view, &requests))
}

/// Some users wait long for each answer, the others never.
fn of_users(view: &PhaseView<'_>, requests: &Requests<'_>) -> Option<Finding> {
    let of = |metric: Metric| view.total(metric);
    let (users, slow) = (of(http::COMPARED_USERS)?, of(http::SLOW_USERS)?);
    let (long, usual) = (of(http::SLOW_USER_SECONDS)?, of(http::USUAL_USER_SECONDS)?);
    if slow > users * MINORITY || long - usual < LITTLE_S {
        return None;
    }
    // Of few requests, one or two that waited for anything make a mean of their user that nobody else has.
    let longest = requests.exchange.longest().map(|(longest, _)| longest);
    let each = of(requests.exchange.numbers.answered).map(|all| all / users.max(1.0));
    if let (Some(longest), Some(each)) = (longest, each)
        && (long - usual) * each <= longest * OUTLIERS
    {
        return None;
    }
    let says = Text::new("rule-uneven-service-users-says")
        .number("slow", slow, Unit::One)
        .number("users", users, Unit::One)
        .number("long", long, Unit::Seconds)
        .number("usual", usual, Unit::Seconds);
    let weight = 0.6 + 0.35 * (slow / users * 2.0).min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(requests.row("evidence-slow-users", http::SLOW_USERS));
    evidence.extend(requests.row("evidence-usual-user", http::USUAL_USER_SECONDS));
    evidence.extend(requests.own_cpu_row());
    evidence.extend(requests.row("evidence-path-resent", http::PATH_RESENT_RATIO));
    evidence.extend(requests.server_cpu_row());
    finding.next = Some(Text::new("rule-uneven-service-users-next"));
    Some(finding)
}

/// Service times fall into two parts for every client.
fn of_requests(view: &PhaseView<'_>, requests: &Requests<'_>) -> Option<Finding> {
    let parts = service_times::two_parts(&service_times::of(view)?)?;
    let stalled = view.total(http::STALLED_REQUESTS).unwrap_or(0.0);
    let slow = parts.slow_share * view.total(requests.exchange.numbers.answered)?;
    let is_stalls = slow > 0.0 && stalled / slow >= STALLED && !outlasts(view);
    // Where nearly all are slow, the quick ones are those that found no queue.
    let is_exception = parts.slow_share <= MINORITY;
    let is_little = parts.time_share < SHAPES || parts.slow - parts.quick < LITTLE_S;
    if !is_exception || is_little || is_stalls {
        return None;
    }
    let says = Text::new("rule-uneven-service-requests-says")
        .number("share", parts.slow_share, Unit::Ratio)
        .number("long", parts.slow, Unit::Seconds)
        .number("usual", parts.quick, Unit::Seconds)
        .number("time", parts.time_share, Unit::Ratio);
    let weight = 0.4 + 0.5 * parts.time_share;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    let service = requests.exchange.numbers.service;
    let mut row = view.evidence("evidence-slow-part", service, requests.host(), parts.slow);
    row.says = row.says.number("share", parts.slow_share, Unit::Ratio);
    evidence.push(row);
    evidence.extend(requests.own_cpu_row());
    evidence.extend(requests.row("evidence-path-resent", http::PATH_RESENT_RATIO));
    evidence.extend(requests.server_cpu_row());
    finding.next = Some(Text::new("rule-uneven-service-requests-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn slow_users_among_quick_ones_are_told() {
        const WAITING: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 0.01, 0.0];
        let users = |slow: f64, long: f64| {
            let totals = [
                ("compared_users", 16.0),
                ("slow_users", slow),
                ("slow_user_seconds", long),
                ("usual_user_seconds", 0.003),
            ];
            of_stages(WAITING, &totals)
        };
        check(
            &users(4.0, 0.1),
            "uneven_service",
            "rule-uneven-service-users-says",
        );
        assert!(is_quiet(&users(4.0, 0.012), "uneven_service"));
        assert!(is_quiet(&of_stages(WAITING, &[]), "uneven_service"));
    }

    #[test]
    fn unequal_shares_of_a_way_and_a_starved_client_are_no_uneven_service() {
        let users = [
            ("compared_users", 7.0),
            ("slow_users", 3.0),
            ("slow_user_seconds", 0.9),
            ("usual_user_seconds", 0.08),
        ];
        let reading = [0.0, 0.0, 0.0, 0.0, 0.06, 0.19];
        let way = [("path_lowest_seconds", 0.001), ("path_mean_seconds", 0.09)];
        let says = "rule-uneven-service-users-says";
        check(&of_stages(reading, &users), "uneven_service", says);
        let shared = of_stages(reading, &[&users[..], &way].concat());
        assert!(is_quiet(&shared, "uneven_service"));
        let mut starved = of_stages(reading, &users);
        let flow = &mut starved.manifest.phases[0].result.flows[0];
        flow.metrics.insert("http.client_wait_ratio".into(), 0.72);
        assert!(is_quiet(&starved, "uneven_service"));
    }

    #[test]
    fn slow_requests_are_the_exception() {
        let slow = |share: u64| {
            let mut record = of_stages([0.0, 0.0, 0.0, 0.0, 0.25, 0.0], &[]);
            took(&mut record, &[(1_000 - share, 0.016), (share, 0.27)]);
            record
        };
        let says = "rule-uneven-service-requests-says";
        check(&slow(100), "uneven_service", says);
        // A queue that a tenth of the requests found empty.
        assert!(is_quiet(&slow(900), "uneven_service"));
    }
}
