//! The server answers with errors other than those that turn requests away (see `turned_away`).
//!
//! ```text
//! 400        it takes the request for a wrong one    401, 403   it asks for credentials, or forbids
//! 404        there is nothing at the path            500        the application failed
//! 502        the gateway reached no backend          504        the gateway waited too long for it
//! ```

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the answers from which it is told.
const SOME: f64 = 0.01;
/// Share from which the figures are about those answers.
const GRAVE: f64 = 0.05;
/// Share of the errors from which one status stands for all.
const MOST: f64 = 0.5;
/// Share of the answers that a plan takes for failures from which they are errors to it, too.
const MEANT: f64 = 0.5;

/// What a status says about the server.
struct Status {
    metric: Metric,
    code: &'static str,
    why: &'static str,
    next: &'static str,
}

macro_rules! statuses {
    ($($metric:ident $code:literal $why:literal $next:literal,)*) => {
        &[$(Status {
            metric: http::$metric,
            code: $code,
            why: $why,
            next: $next,
        }),*]
    };
}

const STATUSES: &[Status] = statuses![
    STATUS_400 "400" "error-answers-request" "rule-error-answers-request-next",
    STATUS_401 "401" "error-answers-credentials" "rule-error-answers-credentials-next",
    STATUS_403 "403" "error-answers-credentials" "rule-error-answers-credentials-next",
    STATUS_404 "404" "error-answers-path" "rule-error-answers-path-next",
    STATUS_500 "500" "error-answers-application" "rule-error-answers-application-next",
    STATUS_502 "502" "error-answers-backend" "rule-error-answers-backend-next",
    STATUS_504 "504" "error-answers-slow" "rule-error-answers-slow-next",
];

/// The classes of statuses that have no line of their own above.
const CLASSES: [&Status; 2] = {
    const BOTH: &[Status] = statuses![
        STATUS_4XX "400 to 499" "error-answers-refused" "rule-error-answers-refused-next",
        STATUS_5XX "500 to 599" "error-answers-server" "rule-error-answers-server-next",
    ];
    [&BOTH[0], &BOTH[1]]
};

/// The finding `error_answers`.
pub const RULE: Rule = Rule {
    name: "error_answers",
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
    let requests = Requests::of(view)?;
    let answered = view.total(http::REQUESTS)?.max(1.0);
    let of = |metric| view.total(metric).unwrap_or(0.0);
    let turned_away = of(http::STATUS_429) + of(http::STATUS_503);
    let errors = of(http::STATUS_4XX) + of(http::STATUS_5XX) - turned_away;
    let share = (errors / answered).min(1.0);
    let failed = view.total(http::ERROR_RATIO).unwrap_or(share);
    if share < SOME || errors < turned_away || failed < share * MEANT {
        return None;
    }
    let good = of(http::STATUS_2XX) + of(http::STATUS_3XX);
    let served = requests.exchange.rate()? * (good / answered).min(1.0);
    let counted = STATUSES.iter().map(|status| (status, of(status.metric)));
    let one = counted.clone().max_by(|a, b| a.1.total_cmp(&b.1));
    let one = one.filter(|(_, count)| *count >= errors * MOST);
    let [asked, served_badly] = CLASSES;
    let of_class = match of(asked.metric) - of(http::STATUS_429) >= errors * MOST {
        true => asked,
        false => served_badly,
    };
    let status = one.map_or(of_class, |(status, _)| status);
    let key = match good > 0.0 {
        true => "rule-error-answers-says",
        false => "rule-error-answers-all-says",
    };
    let says = Text::new(key)
        .word("code", status.code)
        .text("why", Text::new(status.why))
        .number("share", share, Unit::Ratio)
        .number("served", served, Unit::One);
    let severity = match share >= GRAVE {
        true => Severity::Bad,
        false => Severity::Caution,
    };
    let weight = 0.6 + 0.39 * (share * 4.0).min(1.0);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let counted = counted.chain(CLASSES.iter().map(|class| (*class, of(class.metric))));
    for (status, count) in counted.filter(|(_, count)| *count > 0.0) {
        let mut row = view.evidence(
            "evidence-turned-away",
            status.metric,
            requests.host(),
            count,
        );
        row.says = row.says.word("code", status.code);
        finding.evidence.push(row);
    }
    let evidence = &mut finding.evidence;
    evidence.extend(requests.row("evidence-mean-bad", http::MEAN_BAD_SECONDS));
    evidence.extend(requests.row("evidence-mean-good", http::MEAN_GOOD_SECONDS));
    evidence.extend(requests.own_cpu_row());
    finding.next = Some(Text::new(status.next));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::limit;
    use crate::tests::requests::*;

    #[test]
    fn answers_with_errors_are_told_by_their_status() {
        let of = |totals: &[(&str, f64)]| of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], totals);
        let told = |totals: &[(&str, f64)], key: &str| {
            check(
                &of(totals),
                "error_answers",
                &format!("rule-error-answers-{key}"),
            );
        };
        for (code, class) in [
            ("400", "4xx"),
            ("404", "4xx"),
            ("500", "5xx"),
            ("502", "5xx"),
        ] {
            let class = format!("status_{class}");
            let status = format!("status_{code}");
            told(&[(&class, 1_000.0), (&status, 1_000.0)], "all-says");
            let some = [
                (class.as_str(), 300.0),
                (&status, 290.0),
                ("status_2xx", 700.0),
            ];
            told(&some, "says");
        }
        told(&[("status_5xx", 300.0), ("status_2xx", 700.0)], "says");
        told(&[("status_4xx", 1_000.0), ("status_404", 90.0)], "all-says");
        let missing = of(&[("status_4xx", 1_000.0), ("status_404", 1_000.0)]);
        let found = limit(&missing).expect("a limit");
        assert_eq!(found.rule, "error_answers");
        let quiet = |totals: &[(&str, f64)]| assert!(is_quiet(&of(totals), "error_answers"));
        quiet(&[
            ("status_4xx", 5.0),
            ("status_404", 5.0),
            ("status_2xx", 995.0),
        ]);
        // They turn requests away, which has a rule of its own.
        quiet(&[
            ("status_5xx", 900.0),
            ("status_503", 900.0),
            ("status_2xx", 100.0),
        ]);
        // A plan asks for what is not there, and takes it for right.
        quiet(&[
            ("status_4xx", 500.0),
            ("status_404", 500.0),
            ("error_ratio", 0.0),
        ]);
    }
}
