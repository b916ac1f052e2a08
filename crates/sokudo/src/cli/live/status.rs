//! The load so far as a few lines of text, none wider than the terminal.

use sokudo_i18n::I18n;
use sokudo_model::{Metric, Unit, harmless, units};
use sokudo_report::text_columns;
use sokudo_web::mix::Row;

use super::course::{Moment, PhaseCourse};

/// Columns of the lead with the name of the phase.
const LEAD: usize = 14;
/// Columns of the bar at most.
const BAR_MAX: usize = 24;
/// Columns of the sparkline.
const SPARK: usize = 16;
/// Kinds of requests that have a line of their own; the full screen has all.
const KINDS_MAX: usize = 6;
/// Columns of the name of such a kind at most.
const NAME_MAX: usize = 20;
/// Heights of a sparkline.
const HEIGHTS: &[char] = &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Parts of a column of the bar.
const EIGHTHS: &[char] = &[' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// The lines: bar and time, numbers, errors where there are any.
pub fn lines(course: &PhaseCourse, i18n: &I18n, width: usize) -> Vec<String> {
    let room = width.saturating_sub(1).max(LEAD + 1);
    let name = harmless(&course.name).into_owned();
    let mut lines = vec![format!(
        "  {name:<12.12}{}",
        progress(course, i18n, room.saturating_sub(LEAD))
    )];
    let now = course.now();
    let mut parts = numbers(&now, i18n);
    let history = course.moments.iter().filter_map(|it| Some(it.rate?.0));
    let history: Vec<f64> = history.collect();
    if parts.len() > 1 || history.len() > 1 {
        parts.insert(1.min(parts.len()), sparkline(&history, SPARK));
    }
    lines.extend(fitted(&parts, room));
    let errors = errors(course, i18n);
    if !errors.is_empty() {
        lines.extend(fitted(&errors, room));
    }
    let kinds = kinds(course, i18n);
    lines.extend(
        kinds
            .iter()
            .map(|row| cut(&format!("{:LEAD$}{row}", ""), room)),
    );
    lines.extend(fitted(&waits(course, i18n), room));
    lines
}

/// The kinds of requests that were most frequent so far: share, rate and latency of each.
fn kinds(course: &PhaseCourse, i18n: &I18n) -> Vec<String> {
    let rows = course.mix.rows().into_iter();
    let mut kinds: Vec<Row> = rows.filter(|row| row.of.is_kind()).collect();
    kinds.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    kinds.truncate(KINDS_MAX);
    let names: Vec<String> = kinds.iter().map(|row| label(row, i18n)).collect();
    let widest = names.iter().map(|name| text_columns(name)).max();
    let name_columns = widest.unwrap_or(0).min(NAME_MAX);
    let rows = kinds.iter().zip(&names);
    rows.map(|(row, name)| format!("{} {}", padded(name, name_columns), figures(row)))
        .collect()
}

/// Name of a row, as the terminal may show it.
pub fn label(row: &Row, i18n: &I18n) -> String {
    harmless(&i18n.text(&row.of.name())).into_owned()
}

/// Share, rate, median and 99th percentile of a row, each as wide as it may become.
pub fn figures(row: &Row) -> String {
    let share = row
        .share
        .map(|share| units::percent((share * 1e3).round() / 1e3));
    let rate = row.rate.map(|(value, unit)| units::human(value, unit));
    let time = |seconds: Option<f64>| seconds.map(units::duration).unwrap_or_default();
    format!(
        "{:>6} {:>10} {:>9} {:>9}",
        share.unwrap_or_default(),
        rate.unwrap_or_default(),
        time(row.p50_s),
        time(row.p99_s),
    )
}

/// A text cut or filled up to so many columns.
pub fn padded(text: &str, width: usize) -> String {
    let mut text = cut(text, width);
    text.push_str(&" ".repeat(width.saturating_sub(text_columns(&text))));
    text
}

/// Number of sessions on the database by what they do or wait for.
fn waits(course: &PhaseCourse, i18n: &I18n) -> Vec<String> {
    let classes = course.waits();
    if classes.is_empty() {
        return Vec::new();
    }
    let head = i18n.message("live-waits", &[]);
    let each = classes.iter().map(|(class, n)| format!("{class} {n:.1}"));
    std::iter::once(head).chain(each).collect()
}

/// One line about an interval that is over: its means, its failures in all and by kind, from and to in
/// seconds.
pub fn interval(
    means: &Moment,
    failed: &(u64, Vec<(Metric, u64)>),
    (from_s, to_s): (f64, f64),
    i18n: &I18n,
) -> String {
    let mut parts = numbers(means, i18n);
    parts.extend(match failed.0 {
        0 => lost(means, i18n),
        count => failures(count, &failed.1, i18n),
    });
    format!(
        "  {:>11} s  {}",
        format!("{from_s:.1}-{to_s:.1}"),
        parts.join("  ")
    )
}

/// Parts in lines behind the lead; what a line cannot hold is cut.
fn fitted(parts: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if text_columns(line) + 2 + text_columns(part) <= room => {
                line.push_str("  ");
                line.push_str(part);
            }
            _ => lines.push(cut(&format!("{:LEAD$}{part}", ""), room)),
        }
    }
    lines
}

/// The beginning of a text that so many columns hold.
fn cut(text: &str, room: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let mut longer = out.clone();
        longer.push(c);
        if text_columns(&longer) > room {
            break;
        }
        out = longer;
    }
    out
}

fn progress(course: &PhaseCourse, i18n: &I18n, room: usize) -> String {
    let seconds = |ns: u64| units::duration((ns / 100_000_000) as f64 / 10.0);
    let elapsed = seconds(course.elapsed_ns);
    if course.of_ns == 0 {
        return i18n.message("live-elapsed", &[("elapsed", &elapsed)]);
    }
    let left = course.of_ns.saturating_sub(course.elapsed_ns);
    let values = [
        ("elapsed", elapsed.as_str()),
        ("of", &seconds(course.of_ns)),
        ("left", &seconds(left)),
    ];
    let text = i18n.message("live-progress", &values);
    let width = room.saturating_sub(text_columns(&text) + 4).min(BAR_MAX);
    let share = course.elapsed_ns as f64 / course.of_ns as f64;
    cut(&format!("▕{}▏ {text}", bar(share, width)), room)
}

/// A bar of so many columns, filled to this share.
pub fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let mut text = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8]);
    }
    let used = text.chars().count();
    text.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    text
}

/// The newest values from left to right, from zero to the highest of them.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    let newest = &values[values.len().saturating_sub(columns)..];
    let highest = newest.iter().copied().fold(0.0, f64::max);
    let height = |value: &f64| match highest > 0.0 {
        true => HEIGHTS[((value / highest * 7.0).round() as usize).min(7)],
        false => HEIGHTS[0],
    };
    let line: String = newest.iter().map(height).collect();
    format!("{line:<columns$}")
}

/// The numbers of a moment, each as wide as it may become, so that nothing moves.
fn numbers(now: &Moment, i18n: &I18n) -> Vec<String> {
    let rate = |(value, unit): (f64, Unit)| format!("{:>9}", units::human(value, unit));
    let mut parts: Vec<String> = now.rate.map(rate).into_iter().collect();
    parts.extend(now.bits_per_s.map(|bits| rate((bits, Unit::BitsPerSecond))));
    for (name, seconds) in [("p50", now.p50_s), ("p99", now.p99_s)] {
        let time = seconds.map(|s| format!("{name} {:>7}", units::duration(s)));
        parts.extend(time);
    }
    if let Some(users) = now.users {
        let users = units::grouped(users.round() as u64);
        parts.push(i18n.message("live-users", &[("n", &users)]));
    }
    parts
}

/// Number of failures, and their kinds.
fn errors(course: &PhaseCourse, i18n: &I18n) -> Vec<String> {
    match course.errors().filter(|count| *count > 0) {
        Some(count) => failures(count, &course.failures(), i18n),
        None => lost(&course.now(), i18n),
    }
}

/// Share of what was lost.
fn lost(now: &Moment, i18n: &I18n) -> Vec<String> {
    let share = now.loss.filter(|share| *share > 0.0);
    let says = |share| i18n.message("live-lost", &[("share", &units::percent(share))]);
    share.map(says).into_iter().collect()
}

fn failures(count: u64, kinds: &[(Metric, u64)], i18n: &I18n) -> Vec<String> {
    let head = i18n.message("live-errors", &[("n", &units::grouped(count))]);
    let named = kinds.iter().map(|(metric, count)| {
        let count = units::grouped(*count);
        format!("{count} {}", name(metric, i18n))
    });
    std::iter::once(head).chain(named).collect()
}

/// Word for what a metric counts.
pub fn name(metric: &Metric, i18n: &I18n) -> String {
    i18n.message(&key(metric), &[])
}

fn key(metric: &Metric) -> String {
    format!("live-{}", metric.name.replace(['.', '_'], "-"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sokudo_i18n::Lang;
    use sokudo_model::kinds::{http, rr};
    use sokudo_model::{Batch, Labels, SeriesKey};

    use super::super::course::named;
    use super::*;

    fn key_of(metric: Metric, flow: &str) -> SeriesKey {
        SeriesKey {
            host: "hosta".into(),
            source: "http".into(),
            metric: metric.into(),
            labels: Labels::from([("flow".into(), flow.into())]),
        }
    }

    fn course(samples: &[(Metric, f64)]) -> PhaseCourse {
        let mut course = PhaseCourse::default();
        course.begin("measure", 10_000_000_000);
        let mut batch = Batch::default();
        for (metric, value) in samples {
            batch.push(&key_of(*metric, "1"), 1_000_000_000, *value);
        }
        course.take(&batch);
        course.elapsed(4_200_000_000);
        course
    }

    #[test]
    fn the_lines_tell_rate_latency_users_and_errors_by_kind() {
        let course = course(&[
            (http::REQUESTS_PER_SECOND, 12_345.0),
            (http::LATENCY_P50_SECONDS, 0.0012),
            (http::LATENCY_P99_SECONDS, 0.0081),
            (http::ACTIVE_USERS, 64.0),
            (http::ERRORS, 12.0),
            (http::TIMEOUTS, 10.0),
            (http::REFUSED, 2.0),
            (http::STATUS_5XX, 3.0),
        ]);
        let lines = lines(&course, &I18n::new(Lang::En), 80);
        assert_eq!(
            lines,
            [
                "  measure     ▕██████████▏             ▏ 4.2 s of 10 s, 5.8 s left",
                "               12.3 k/s  █                 p50  1.2 ms  p99  8.1 ms  64 users",
                "              errors 15  10 timed out  3 of status 5xx  2 refused",
            ]
        );
        let failed = (15, course.failures());
        let line = interval(&course.now(), &failed, (0.0, 1.0), &I18n::new(Lang::En));
        assert_eq!(
            line,
            "      0.0-1.0 s   12.3 k/s  p50  1.2 ms  p99  8.1 ms  64 users  errors 15  10 timed out  3 of status 5xx  2 refused"
        );
    }

    #[test]
    fn a_load_without_a_length_or_errors_says_less() {
        let mut course = course(&[(rr::TRANSACTIONS_PER_SECOND, 100.0)]);
        course.of_ns = 0;
        let lines = lines(&course, &I18n::new(Lang::En), 80);
        assert_eq!(lines[0], "  measure     4.2 s so far");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }

    #[test]
    fn everything_that_is_counted_has_a_name_in_both_languages() {
        for lang in Lang::ALL {
            let i18n = I18n::new(lang);
            for metric in named() {
                assert!(i18n.has(&key(&metric)), "{lang}: {}", key(&metric));
            }
        }
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            width in 1usize..200, rate in 0.0f64..1e15, seconds in 0.0f64..1e6, errors in 0.0f64..1e12,
        ) {
            let course = course(&[
                (http::REQUESTS_PER_SECOND, rate),
                (http::LATENCY_P50_SECONDS, seconds),
                (http::LATENCY_P99_SECONDS, seconds),
                (http::ACTIVE_USERS, errors),
                (http::ERRORS, errors),
                (http::TIMEOUTS, errors),
                (http::STATUS_5XX, errors),
            ]);
            for lang in Lang::ALL {
                let lines = lines(&course, &I18n::new(lang), width);
                let most = width.max(LEAD + 2);
                prop_assert!(lines.iter().all(|line| text_columns(line) < most), "{lines:#?}");
            }
        }
    }
}
