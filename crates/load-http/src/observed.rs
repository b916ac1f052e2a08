//! Observations of the event loops about the server and the way to it, as metrics of a phase.

use sokudo_http::Observed;
use sokudo_http::observed::{Gaps, NOTABLE_STATUSES, Stalls, Timed, Uneven, Way};
use sokudo_model::Summary;
use sokudo_model::kinds::http as numbers;
use sokudo_workload::joined::{NS, put, put_each, ratio};

/// Microseconds in seconds.
const US: f64 = 1e-6;

/// Puts what all event loops of a phase observed. What did not occur is left out.
pub(crate) fn put_observed<'a>(summary: &mut Summary, all: impl Iterator<Item = &'a Observed>) {
    let all: Vec<&Observed> = all.collect();
    let sum = |of: fn(&Observed) -> u64| all.iter().map(|one| of(one)).sum::<u64>() as f64;
    let timed = |of: fn(&Observed) -> Timed| {
        let (count, sum_ns) = all
            .iter()
            .map(|one| of(one))
            .fold((0, 0), |sum, one| (sum.0 + one.count, sum.1 + one.sum_ns));
        ratio(sum_ns as f64 * NS, count as f64)
    };
    let shortest = all.iter().map(|one| one.shortest_wait_ns);
    let shortest = shortest.filter(|ns| *ns > 0).min();
    let granted = all.iter().map(|one| one.granted_streams);
    let granted = granted.filter(|streams| *streams > 0).min();
    put_each(
        summary,
        [
            (
                numbers::SHORTEST_WAIT_SECONDS,
                shortest.map(|ns| ns as f64 * NS),
            ),
            (numbers::UNSERVED_CONNECTIONS, some(sum(|one| one.unserved))),
            (numbers::HELD_REQUESTS, some(sum(|one| one.held))),
            (numbers::GRANTED_STREAMS, granted.map(f64::from)),
        ],
    );
    for (place, (status, metric)) in NOTABLE_STATUSES
        .iter()
        .zip(numbers::NOTABLE_STATUSES)
        .enumerate()
    {
        debug_assert!(metric.name.ends_with(&status.to_string()));
        let count: u64 = all.iter().map(|one| one.notable[place]).sum();
        put(summary, metric, some(count as f64));
    }
    put_gaps(summary, &all);
    let bad = timed(|one| one.bad);
    put(
        summary,
        numbers::MEAN_GOOD_SECONDS,
        bad.and(timed(|one| one.good)),
    );
    put(summary, numbers::MEAN_BAD_SECONDS, bad);
    put_stalls(summary, &all);
    put_uneven(summary, &all);
    put_way(summary, &all);
}

fn some(count: f64) -> Option<f64> {
    (count > 0.0).then_some(count)
}

/// Gaps of each event loop count by their number.
fn put_gaps(summary: &mut Summary, all: &[&Observed]) {
    let sum = |of: fn(&Gaps) -> u64| all.iter().map(|one| of(&one.gaps)).sum::<u64>() as f64;
    let count = sum(|gaps| gaps.count);
    put_each(
        summary,
        [
            (numbers::EVEN_GAP_RATIO, ratio(sum(|gaps| gaps.even), count)),
            (
                numbers::CLOSE_GAP_RATIO,
                ratio(sum(|gaps| gaps.close), count),
            ),
            (
                numbers::LONG_GAP_RATIO,
                ratio(sum(|gaps| gaps.long_ns), sum(|gaps| gaps.sum_ns)),
            ),
        ],
    );
}

/// Stalls of all requests are those of the event loop that saw the fewest.
fn put_stalls(summary: &mut Summary, all: &[&Observed]) {
    let fewest = all
        .iter()
        .map(|one| &one.stalls)
        .min_by_key(|one| one.count);
    let Some(stalls) = fewest.filter(|stalls| stalls.count > 0) else {
        return;
    };
    let Stalls {
        count,
        sum_ns,
        longest_ns,
        period_ns,
        irregularity,
        first_ns,
        shorter,
        waiting,
    } = *stalls;
    let seconds = |ns: u64| Some(ns as f64 * NS);
    let repeated = count > 1;
    put_each(
        summary,
        [
            (numbers::STALLS, Some(count as f64)),
            (
                numbers::MEAN_STALL_SECONDS,
                ratio(sum_ns as f64 * NS, count as f64),
            ),
            (numbers::LONGEST_STALL_SECONDS, seconds(longest_ns)),
            (
                numbers::STALL_PERIOD_SECONDS,
                seconds(period_ns).filter(|_| repeated),
            ),
            (
                numbers::STALL_IRREGULARITY_RATIO,
                Some(irregularity).filter(|_| repeated),
            ),
            (numbers::FIRST_STALL_SECONDS, seconds(first_ns)),
            (numbers::SHORTER_SILENCES, Some(shorter as f64)),
            (numbers::STALLED_REQUESTS, Some(waiting as f64)),
        ],
    );
}

fn put_uneven(summary: &mut Summary, all: &[&Observed]) {
    let uneven = || all.iter().map(|one| &one.uneven);
    let sum = |of: fn(&Uneven) -> u64| uneven().map(of).sum::<u64>() as f64;
    let slow = sum(|one| one.slow);
    if slow == 0.0 {
        return;
    }
    let slow_s = sum(|one| one.slow * one.slow_ns) * NS;
    let usual = uneven().filter(|one| one.users > 0).map(|one| one.usual_ns);
    put_each(
        summary,
        [
            (numbers::COMPARED_USERS, Some(sum(|one| one.users))),
            (numbers::SLOW_USERS, Some(slow)),
            (numbers::SLOW_USER_SECONDS, ratio(slow_s, slow)),
            (
                numbers::USUAL_USER_SECONDS,
                usual.min().map(|ns| ns as f64 * NS),
            ),
        ],
    );
}

fn put_way(summary: &mut Summary, all: &[&Observed]) {
    let mut way = Way::default();
    all.iter().for_each(|one| way.add(&one.way));
    if way.readings == 0 {
        return;
    }
    let share = |part: u64, of: u64| ratio(part as f64, of as f64);
    put_each(
        summary,
        [
            (
                numbers::PATH_LOWEST_SECONDS,
                Some(way.lowest_us as f64 * US),
            ),
            (
                numbers::PATH_MEAN_SECONDS,
                ratio(way.sum_us as f64 * US, way.readings as f64),
            ),
            (numbers::PATH_SENT_SEGMENTS, Some(way.sent as f64)),
            (numbers::PATH_RESENT_RATIO, share(way.again, way.sent)),
            (numbers::PATH_RECEIVED_SEGMENTS, Some(way.received as f64)),
            (
                numbers::PATH_OUT_OF_ORDER_RATIO,
                share(way.out_of_order, way.received),
            ),
            (
                numbers::PATH_WINDOW_RATIO,
                share(way.window_us, way.busy_us),
            ),
            (
                numbers::PATH_BUFFER_RATIO,
                share(way.buffer_us, way.busy_us),
            ),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_occur_is_left_out() {
        let mut summary = Summary::new();
        put_observed(&mut summary, [&Observed::default()].into_iter());
        assert_eq!(summary, Summary::new());
    }

    #[test]
    fn a_stall_that_one_loop_did_not_see_is_none_of_the_server() {
        let stalled = Observed {
            stalls: Stalls {
                count: 3,
                sum_ns: 900_000_000,
                ..Stalls::default()
            },
            ..Observed::default()
        };
        let told = |all: &[&Observed]| {
            let mut summary = Summary::new();
            put_observed(&mut summary, all.iter().copied());
            let mean = numbers::MEAN_STALL_SECONDS.of(&summary);
            (
                numbers::STALLS.of(&summary),
                mean.map(|s| (s * 1e3).round()),
            )
        };
        assert_eq!(told(&[&stalled, &stalled]), (Some(3.0), Some(300.0)));
        assert_eq!(told(&[&stalled, &Observed::default()]), (None, None));
    }
}
