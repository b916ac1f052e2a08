use proptest::prelude::*;

use super::timeline::TimelineStep;
use super::*;

fn tally(rows: &[Request]) -> Requests {
    let mut tally = Tally::new(Settings::default());
    rows.iter().for_each(|row| tally.add(row));
    tally.finish()
}

fn good(start_ms: i64, elapsed_ms: u64, label: &[u8]) -> Request<'_> {
    Request {
        start_ms,
        elapsed_ms,
        label,
        code: b"200",
        success: true,
        bytes: 100,
        sent_bytes: 10,
        threads: Some(2),
        ..Request::default()
    }
}

#[test]
fn transactions_have_their_own_line_and_are_not_in_the_total() {
    let transaction = Request {
        message: b"Number of samples in transaction : 2, number of failing samples : 0",
        ..good(0, 30, b"buy")
    };
    let empty = Request {
        message: b"Number of samples in transaction : 0, number of failing samples : 0",
        ..good(0, 0, b"nothing")
    };
    let all = tally(&[good(0, 10, b"a"), good(10, 20, b"b"), transaction, empty]);
    assert_eq!(all.total.n, 2);
    assert_eq!(all.empty_transactions, 1);
    let labels: Vec<(&str, bool)> = all
        .labels
        .iter()
        .map(|l| (l.label.as_str(), l.is_transaction))
        .collect();
    assert_eq!(labels, [("a", false), ("b", false), ("buy", true)]);
}

#[test]
fn throughput_is_over_the_time_from_the_first_start_to_the_last_end() {
    let all = tally(&[good(1000, 500, b"a"), good(2000, 1000, b"a")]);
    assert_eq!(all.total.seconds(), 2.0);
    assert_eq!(all.total.per_second(), 1.0);
    assert_eq!(all.total.bytes_per_second(), 100.0);
    let one = tally(&[good(0, 0, b"a")]);
    assert!(one.total.per_second().is_finite());
}

#[test]
fn apdex_counts_failures_as_frustrated() {
    let failed = Request {
        success: false,
        ..good(0, 1, b"a")
    };
    let rows = [
        good(0, 500, b"a"),
        good(0, 501, b"a"),
        good(0, 1501, b"a"),
        failed,
    ];
    assert_eq!(tally(&rows).total.apdex(), 1.5 / 4.0);
}

#[test]
fn failures_are_named_as_jmeter_names_them() {
    let failed = |code, message, failure| Request {
        code,
        message,
        failure,
        success: false,
        ..good(0, 1, b"a")
    };
    let rows = [
        failed(b"500", b"Internal Server Error", b""),
        failed(b"500", b"Internal Server Error", b""),
        failed(b"200", b"OK", b"expected to contain /x/"),
        failed(b"200", b"OK", b""),
        failed(b"", b"", b""),
    ];
    let all = tally(&rows);
    let names: Vec<(&str, u64)> = all
        .failures
        .iter()
        .map(|f| (f.says.as_str(), f.n))
        .collect();
    assert_eq!(
        names,
        [
            ("500/Internal Server Error", 2),
            ("expected to contain /x/", 1),
            ("Assertion failed", 1),
            ("(no reason given)", 1),
        ]
    );
    assert_eq!(all.labels[0].failures[0], (0, 2));
}

#[test]
fn quick_failures_do_not_hide_in_the_mean() {
    let failed = Request {
        success: false,
        ..good(0, 100, b"a")
    };
    let all = tally(&[good(0, 4000, b"a"), failed]);
    assert_eq!(all.total.mean_ms(), 2050.0);
    assert_eq!(all.total.good_mean_ms(), Some(4000.0));
    assert_eq!(all.total.failed_mean_ms(), Some(100.0));
}

#[test]
fn memory_is_bounded_whatever_the_labels_codes_and_failures_are() {
    let mut tally = Tally::new(Settings::default());
    for i in 0..5000u32 {
        let name = format!("label {i}");
        tally.add(&Request {
            code: name.as_bytes(),
            host: name.as_bytes(),
            threads: Some(u32::MAX - i),
            success: false,
            ..good(i64::from(i) * 1_000_000, 1, name.as_bytes())
        });
    }
    let all = tally.finish();
    assert!(all.labels_joined);
    assert_eq!(all.labels.len(), MOST_LABELS + 1);
    assert_eq!(all.labels.iter().map(|l| l.n).sum::<u64>(), 5000);
    assert_eq!(all.failures.iter().map(|f| f.n).sum::<u64>(), 5000);
    assert!(all.failures.len() <= 501 && all.codes.len() <= 24);
    assert!(all.timeline.steps().count() <= 512);
}

#[test]
fn names_of_any_length_cost_a_bounded_memory() {
    let long = |end: &str| "あ".repeat(300_000) + end;
    let [one, other] = [long("1"), long("2")];
    let all = tally(&[
        good(0, 1, one.as_bytes()),
        good(0, 2, other.as_bytes()),
        good(0, 3, b"short"),
        good(0, 4, &[0x80; 5000]),
    ]);
    let labels = all.labels.iter();
    let labels: Vec<(usize, u64)> = labels.map(|l| (l.label.len(), l.n)).collect();
    assert_eq!(labels, [(0, 1), (5, 1), (999, 2)]);
}

#[test]
fn a_time_stamp_from_another_age_is_left_out() {
    let all = tally(&[
        good(1_700_000_000_000, 1, b"a"),
        good(0, 1, b"a"),
        good(i64::MAX, 9, b"a"),
    ]);
    assert_eq!((all.total.n, all.far), (1, 2));
}

#[test]
fn users_of_several_hosts_are_added_up() {
    let on = |host, threads, start_ms| Request {
        host,
        threads: Some(threads),
        ..good(start_ms, 1, b"a")
    };
    let all = tally(&[on(b"h1", 10, 0), on(b"h1", 12, 0), on(b"h2", 20, 0)]);
    assert_eq!(all.users(), [Some(31.0)]);
    let hosts = all.hosts.iter().map(|host| (host.label.as_str(), host.n));
    assert_eq!(hosts.collect::<Vec<_>>(), [("h1", 2), ("h2", 1)]);
    assert!(tally(&[on(b"h1", 1, 0)]).hosts.is_empty());
    // Together there were never more than those of both: 10, 12, and 12 with 20.
    let most = all.by_threads.last().map(|(threads, at)| (*threads, at.n));
    assert_eq!((all.by_threads.len(), most), (3, Some((32, 1))));
}

#[test]
fn a_host_that_is_quiet_for_a_moment_keeps_its_users_until_it_is_heard_no_more() {
    let on = |host, threads, second: i64| Request {
        host,
        threads: Some(threads),
        ..good(second * 1_000, 10, b"a")
    };
    let mut rows: Vec<Request> = (0..60).map(|second| on(b"h1", 3, second)).collect();
    rows.extend([on(b"h2", 2, 0), on(b"h2", 2, 20)]);
    rows.remove(40);
    rows.sort_by_key(Request::end_ms);
    let users = tally(&rows).users();
    assert_eq!((users[10], users[20]), (Some(5.0), Some(5.0)));
    assert_eq!(
        (users[21], users[40], users[59]),
        (Some(3.0), None, Some(3.0))
    );
}

#[test]
fn a_timeline_of_half_a_minute_has_steps_of_a_second() {
    let rows: Vec<Request> = (0..600).map(|i| good(i * 100, 10, b"a")).collect();
    let all = tally(&rows);
    assert_eq!(all.timeline.width_ms(), 1000);
    assert_eq!(all.labels[0].timeline.width_ms(), 1000);
    assert!(all.timeline.steps().take(60).all(|(_, m)| m.started == 10));
}

#[derive(Debug, Default)]
struct Count(u64);

impl TimelineStep for Count {
    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

proptest! {
    #[test]
    fn percentiles_are_exact_to_three_digits(values in prop::collection::vec(0u64..10_000_000, 1..400),
                                             percent in 0.1f64..100.0) {
        let rows: Vec<Request> = values.iter().map(|v| good(0, *v, b"a")).collect();
        let all = tally(&rows);
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let rank = ((percent / 100.0 * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
        let exact = sorted[rank - 1];
        let seen = all.total.percentile_ms(percent);
        prop_assert!(seen >= exact && seen - exact <= exact / 1000 + 1, "{percent}: {seen} for {exact}");
        prop_assert_eq!((all.total.min_ms(), all.total.max_ms()), (sorted[0], sorted[sorted.len() - 1]));
    }

    #[test]
    fn a_timeline_loses_nothing_and_stays_short(times in prop::collection::vec(-3_000_000i64..400_000_000, 1..300)) {
        let mut timeline = Timeline::<Count>::default();
        times.iter().for_each(|t| timeline.at(*t).0 += 1);
        prop_assert!(timeline.steps().count() <= 512);
        prop_assert_eq!(timeline.steps().map(|(_, c)| c.0).sum::<u64>(), times.len() as u64);
        let width = timeline.width_ms();
        for (start, count) in timeline.steps() {
            let inside = times.iter().filter(|t| (start..start + width).contains(t)).count();
            prop_assert_eq!(inside as u64, count.0);
        }
    }

    #[test]
    fn no_row_makes_it_panic(start_ms: i64, elapsed_ms: u64, bytes: u64, threads: u32) {
        let row = Request { bytes, threads: Some(threads), ..good(start_ms, elapsed_ms, b"a") };
        let all = tally(&[row, row, good(0, 1, b"b")]);
        prop_assert!(all.total.n + all.far == 3);
    }
}

#[test]
fn the_time_of_requests_is_taken_apart_where_an_answer_came() {
    let answered = Request {
        latency_ms: Some(60),
        connect_ms: Some(10),
        ..good(0, 100, b"a")
    };
    let lost = Request {
        success: false,
        latency_ms: Some(0),
        code: b"Non HTTP response code: java.net.SocketTimeoutException",
        ..good(0, 500, b"a")
    };
    // Answered with an error within the first millisecond.
    let quick = Request {
        success: false,
        latency_ms: Some(0),
        code: b"500",
        ..good(0, 0, b"a")
    };
    let all = tally(&[answered, answered, lost, quick, quick]);
    let spent = all.total.spent;
    assert_eq!(
        (spent.n(), spent.means_s()),
        (4, Some([0.005, 0.025, 0.02]))
    );
    assert_eq!(tally(&[good(0, 5, b"a")]).total.spent.means_s(), None);
    let mut steps = all.timeline.steps();
    assert!(steps.any(|(_, moment)| moment.spent == spent));
}

#[test]
fn every_request_was_felt_in_one_of_four_ways() {
    let failed = Request {
        success: false,
        ..good(0, 10, b"a")
    };
    let rows = [
        good(0, 500, b"a"),
        good(0, 501, b"a"),
        good(0, 1501, b"a"),
        failed,
    ];
    assert_eq!(tally(&rows).total.felt(), [1, 1, 1, 1]);
}
