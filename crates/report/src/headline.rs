//! A run in one line of a list.

use sokudo_i18n::I18n;
use sokudo_model::kinds::dbt3;
use sokudo_model::metrics::{knee, rrul};
use sokudo_model::{Metric, Stat, Summary, Text, Unit, kinds, units};

/// What one number says about a run of a workload that has no rate: its message, which takes it as `n`.
const SINGLE: [(Metric, &str); 3] = [
    (knee::USERS, "headline-knee"),
    (rrul::ADDED_SECONDS, "headline-rrul"),
    (dbt3::COMPOSITE, "headline-dbt3"),
];

/// Throughput, latency and failures of a run of one workload; empty when its workload has no such numbers.
pub fn headline(workload: &str, summary: &Summary, i18n: &I18n) -> String {
    let get = |name: &str| summary.get(name).copied();
    let single = SINGLE.iter().find_map(|(metric, key)| {
        let says = Text::new(*key).number("n", get(metric.name)?, metric.unit);
        Some(i18n.text(&says))
    });
    let Some((names, carried)) = kinds::curve_metrics(workload)
        .and_then(|names| Some((names, names.delivered.of(summary)?)))
    else {
        return single.unwrap_or_default();
    };
    let mut parts = vec![units::human(carried, names.delivered.unit)];
    let p99 = names
        .latency
        .and_then(|latency| get(&latency.stat(Stat::P99)));
    parts.extend(p99.map(|s| format!("99 % {}", units::human(s, Unit::Seconds))));
    let share = names.shares.first();
    let share = share.and_then(|(word, share)| Some((*word, share.name, share.of(summary)?)));
    if let Some((word, name, share)) = share.filter(|(_, _, share)| *share > 0.0) {
        let key = match word {
            "loss" if name.contains("retransmitted") => "headline-sent-again",
            "loss" => "headline-lost",
            _ => "headline-failed",
        };
        parts.push(i18n.text(&Text::new(key).number("share", share, Unit::Ratio)));
    }
    parts.extend(single);
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::Lang;
    use sokudo_model::kinds::{datagram, rr, stream};

    use super::*;

    fn headline(workload: &str, summary: &Summary) -> String {
        super::headline(workload, summary, &I18n::new(Lang::En))
    }

    #[test]
    fn runs_without_a_rate_tell_their_one_number_in_both_languages() {
        let number = |metric: Metric, value| Summary::from([(metric.name.into(), value)]);
        let grade = number(rrul::ADDED_SECONDS, 0.02);
        assert_eq!(headline("rrul", &grade), "load adds 20 ms");
        let users = number(knee::USERS, 40.0);
        assert_eq!(headline("knee", &users), "knee at 40");
        let composite = number(dbt3::COMPOSITE, 275.16);
        assert_eq!(headline("dbt3", &composite), "composite 275");
        let japanese = super::headline("rrul", &grade, &I18n::new(Lang::Ja));
        assert!(
            japanese.contains("20 ms") && !japanese.contains("load"),
            "{japanese}"
        );
    }

    #[test]
    fn a_line_says_what_was_carried_how_late_and_what_failed() {
        let mut summary = Summary::new();
        summary.insert(rr::TRANSACTIONS_PER_SECOND.into(), 2000.0);
        assert_eq!(headline("rr", &summary), "2 k/s");
        summary.insert(rr::LATENCY_SECONDS.stat(Stat::P99), 0.001);
        summary.insert(rr::ERROR_RATIO.into(), 0.5);
        assert_eq!(headline("rr", &summary), "2 k/s · 99 % 1 ms · 50 % failed");
        assert_eq!(headline("console", &summary), "");
        assert_eq!(headline("rr", &Summary::new()), "");
    }

    #[test]
    fn what_is_lost_is_not_what_is_sent_again() {
        let mut summary = Summary::new();
        summary.insert(datagram::DELIVERED_BITS_PER_SECOND.into(), 1e9);
        summary.insert(datagram::LOSS_RATIO.into(), 0.01);
        assert_eq!(headline("datagram", &summary), "1 Gb/s · 1 % lost");
        let mut summary = Summary::new();
        summary.insert(stream::GOODPUT_BITS_PER_SECOND.into(), 1e9);
        summary.insert(stream::RETRANSMITTED_RATIO.into(), 0.01);
        assert_eq!(headline("stream", &summary), "1 Gb/s · 1 % sent again");
    }
}
