//! The server turned requests away with an answer: too many requests (429), or not available (503).
//!
//! Such answers are quick, so a rate that counts them looks like speed. What the server really serves are
//! the others.

use sokudo_model::kinds::http;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the answers from which it is told.
const SOME: f64 = 0.01;
/// Share from which the figures are about those answers.
const GRAVE: f64 = 0.05;

/// The finding `turned_away`.
pub const RULE: Rule = Rule {
    name: "turned_away",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("some", SOME, Unit::Ratio), ("grave", GRAVE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    let answered = view.total(http::REQUESTS)?.max(1.0);
    let of_429 = view.total(http::STATUS_429).unwrap_or(0.0);
    let of_503 = view.total(http::STATUS_503).unwrap_or(0.0);
    let (metric, count, code) = match of_429 >= of_503 {
        true => (http::STATUS_429, of_429, "429"),
        false => (http::STATUS_503, of_503, "503"),
    };
    // They are counted from the warm-up on.
    let share = (count / answered).min(1.0);
    if share < SOME {
        return None;
    }
    let rate = requests.exchange.rate()?;
    let classes = [http::STATUS_2XX, http::STATUS_3XX];
    let good: f64 = classes.iter().filter_map(|class| view.total(*class)).sum();
    let served = rate * (good / answered).min(1.0);
    let quick = view.total(http::MEAN_BAD_SECONDS);
    let long = view.total(http::MEAN_GOOD_SECONDS);
    let key = match (code, good > 0.0) {
        (_, false) => "rule-turned-away-all-says",
        ("429", true) => "rule-turned-away-limit-says",
        (_, true) if quick.is_none() || long.is_none() => "rule-turned-away-untimed-says",
        (_, true) => "rule-turned-away-says",
    };
    let says = Text::new(key)
        .word("code", code)
        .number("share", share, Unit::Ratio)
        .number("served", served, Unit::One)
        .number("rate", rate, Unit::One)
        .number("quick", quick.unwrap_or(f64::NAN), Unit::Seconds)
        .number("long", long.unwrap_or(f64::NAN), Unit::Seconds);
    let severity = match share >= GRAVE {
        true => Severity::Bad,
        false => Severity::Caution,
    };
    let weight = 0.6 + 0.39 * (share * 4.0).min(1.0);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    let mut row = view.evidence("evidence-turned-away", metric, requests.host(), count);
    row.says = row.says.word("code", code);
    evidence.push(row);
    evidence.extend(requests.row("evidence-mean-bad", http::MEAN_BAD_SECONDS));
    evidence.extend(requests.row("evidence-mean-good", http::MEAN_GOOD_SECONDS));
    evidence.extend(requests.own_cpu_row());
    let next = match code {
        "429" => "rule-turned-away-limit-next",
        _ => "rule-turned-away-next",
    };
    finding.next = Some(Text::new(next).number("served", served, Unit::One));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn answers_that_turn_away_are_told_with_what_is_served() {
        let told = |totals: &[(&str, f64)], key: &str| {
            let record = of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], totals);
            check(&record, "turned_away", &format!("rule-turned-away-{key}"));
        };
        told(
            &[("status_429", 600.0), ("status_2xx", 400.0)],
            "limit-says",
        );
        let some = [("status_503", 900.0), ("status_2xx", 100.0)];
        told(&some, "untimed-says");
        let times = [("mean_bad_seconds", 0.001), ("mean_good_seconds", 0.1)];
        told(&[some, times].concat(), "says");
        told(&[("status_503", 1_000.0)], "all-says");
        let few = [("status_503", 5.0), ("status_2xx", 995.0)];
        let record = of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], &few);
        assert!(is_quiet(&record, "turned_away"));
    }
}
