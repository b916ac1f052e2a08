//! A run in one line of a list.

use sokudo_model::{Stat, Summary, Unit, kinds, units};

/// Throughput, latency and failures of a run of one workload: in English, and empty when its
/// workload has no such numbers.
pub fn headline(workload: &str, summary: &Summary) -> String {
    let get = |name: &str| summary.get(name).copied();
    let Some((names, carried)) = kinds::curve_metrics(workload)
        .and_then(|names| Some((names, names.delivered.of(summary)?)))
    else {
        return String::new();
    };
    let mut parts = vec![units::human(carried, names.delivered.unit)];
    let p99 = names
        .latency
        .and_then(|latency| get(&latency.stat(Stat::P99)));
    parts.extend(p99.map(|s| format!("99 % {}", units::human(s, Unit::Seconds))));
    let share = names.shares.first();
    let share = share.and_then(|(word, share)| Some((*word, share.name, share.of(summary)?)));
    if let Some((word, name, share)) = share.filter(|(_, _, share)| *share > 0.0) {
        let what = match word {
            "loss" if name.contains("retransmitted") => "sent again",
            "loss" => "lost",
            _ => "failed",
        };
        parts.push(format!("{} {what}", units::percent(share)));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::{datagram, rr, stream};

    use super::*;

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
