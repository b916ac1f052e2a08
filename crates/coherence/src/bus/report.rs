//! Number formats of the vendor's message bus test.
//!
//! Rates are decimal with three digits, sizes binary with three digits, times with two digits
//! behind the point; all are cut, not rounded, and a fraction of nothing is left out.

use sokudo_model::HistogramSummary;
use sokudo_stats::Histogram;

use super::account::{Block, Count};
use super::event::Report;

/// Head of the table.
pub const TABLE_HEAD: &str = "msg/s in\tbytes/s in\tmsg/s out\tbytes/s out\tavg receipt latency nanos\t\
min response latency nanos\tavg response latency nanos\teffective latency nanos\t\
max response latency nanos\tin backlog percentage\tin backlog events\tin backlog bytes\t\
out backlog percentage\tout backlog events\tout backlog bytes\tconnections\terrors\n";

const ABSENT: &str = "n/a";

/// A row of the table: the latest interval.
pub fn row(report: &Report) -> String {
    let now = &report.now;
    let response = now.book.response.summary(1.0);
    let whole = |value: f64| format!("{:.0}", value.max(0.0));
    let events = |count: Count| whole(now.per_second(count).floor());
    let percent = |ratio: f64| whole((ratio * 100.0).floor());
    let cells = [
        events(Count::InMessages),
        whole(now.per_second(Count::InBytes)),
        events(Count::OutMessages),
        whole(now.per_second(Count::OutBytes)),
        whole(now.book.receipt.summary(1.0).mean),
        whole(response.min),
        whole(response.mean),
        now.effective_ns().map_or(ABSENT.into(), whole),
        whole(response.max),
        percent(now.in_ratio()),
        events(Count::InEvents),
        whole(now.in_backlog_bytes),
        percent(now.out_ratio().unwrap_or(0.0)),
        events(Count::OutEvents),
        now.out_backlog_bytes.map_or(ABSENT.into(), whole),
        now.gauges.connections.to_string(),
        now.totals.get(Count::Errors).to_string(),
    ];
    cells.join("\t") + "\n"
}

/// The two lines of a report, with details behind each when `verbose`.
pub fn lines(report: &Report, verbose: bool) -> String {
    let mut text = String::new();
    for (name, block) in [("now: ", &report.now), ("life:", &report.life)] {
        text += &format!("{name} {}\n", line(block));
        let detail = verbose.then(|| detail(&block.book.response)).flatten();
        text.extend(detail);
    }
    for connection in &report.connections {
        text += &format!("{connection}\n");
    }
    text.push('\n');
    text
}

/// One stretch of time in a line.
pub fn line(block: &Block) -> String {
    let per_second = |count: Count| block.per_second(count);
    let way = |messages: Count, bytes: Count| {
        let rate = bits_per_second(per_second(bytes) * 8.0);
        format!("{:.0}msg/s {rate}", per_second(messages).floor())
    };
    let percent = |ratio: Option<f64>| match ratio {
        Some(ratio) => format!("{:.0}%", (ratio * 100.0).floor()),
        None => ABSENT.into(),
    };
    let backlog = |ratio: Option<f64>, events: Count, waiting: Option<f64>| {
        let waiting = waiting.map_or(ABSENT.into(), memory);
        format!(
            "{} {:.0}/s {waiting}",
            percent(ratio),
            per_second(events).floor()
        )
    };
    format!(
        "throughput(out {}, in {}), latency({}, receipt {}), backlog(out {}, in {}), connections {}, errors {}",
        way(Count::OutMessages, Count::OutBytes),
        way(Count::InMessages, Count::InBytes),
        response(block),
        mean(&block.book.receipt),
        backlog(block.out_ratio(), Count::OutEvents, block.out_backlog_bytes),
        backlog(
            Some(block.in_ratio()),
            Count::InEvents,
            Some(block.in_backlog_bytes)
        ),
        block.gauges.connections,
        block.totals.get(Count::Errors),
    )
}

fn response(block: &Block) -> String {
    if block.book.response.is_empty() {
        return format!("response {ABSENT}");
    }
    let HistogramSummary { min, mean, max, .. } = block.book.response.summary(1.0);
    format!(
        "response(avg {}, effective {}, corrected {}, min {}, max {})",
        time(mean),
        block.effective_ns().map_or(ABSENT.into(), time),
        self::mean(&block.book.corrected),
        time(min),
        time(max),
    )
}

fn mean(histogram: &Histogram) -> String {
    match histogram.is_empty() {
        true => ABSENT.into(),
        false => time(histogram.summary(1.0).mean),
    }
}

/// The distribution of responses; nothing without any.
fn detail(histogram: &Histogram) -> Option<String> {
    let n = histogram.len();
    if n == 0 {
        return None;
    }
    let HistogramSummary { min, mean, max, .. } = histogram.summary(1.0);
    let squares: f64 = histogram
        .buckets()
        .map(|it| ((it.low + it.high) as f64 / 2.0 - mean).powi(2) * it.count as f64)
        .sum();
    let below: String = [(33.0, 0.33), (66.0, 0.66), (99.0, 0.99), (99.999, 0.99999)]
        .map(|(name, q)| format!("{name}% <{}; ", time(histogram.quantile(q) as f64)))
        .concat();
    Some(format!(
        "\tlatency detail: samples {n}; avg {}; stddev {}; min {}; {below}max {}\n",
        time(mean),
        time((squares / n as f64).sqrt()),
        time(min),
        time(max),
    ))
}

/// Bits per second: `2.14gb/s`, `583mb/s`, `0b/s`.
pub fn bits_per_second(value: f64) -> String {
    let (value, unit) = scaled(value, 1000.0, &["", "k", "m", "g", "t"]);
    format!("{}{unit}b/s", three_digits(value))
}

/// Bytes: `48KB`, `9.33KB`, `0B`.
pub fn memory(bytes: f64) -> String {
    let (value, unit) = scaled(bytes, 1024.0, &["", "K", "M", "G", "T"]);
    format!("{}{unit}B", three_digits(value))
}

/// A time given in nanoseconds: `810.71us`, `1.40ms`, `45us`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{}{unit}", cut(value, 2))
}

fn scaled<'a>(value: f64, step: f64, units: &[&'a str]) -> (f64, &'a str) {
    let mut value = value.max(0.0);
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    (value, units[unit])
}

fn three_digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => cut(value, 0),
        value if value >= 10.0 => cut(value, 1),
        value => cut(value, 2),
    }
}

/// Cuts behind so many digits, and leaves a fraction of nothing out.
fn cut(value: f64, digits: i32) -> String {
    let factor = 10f64.powi(digits);
    // What is a hair below because of binary fractions is not cut to one less.
    let parts = (value.max(0.0) * factor + 1e-6).floor();
    match parts % factor {
        0.0 => format!("{:.0}", parts / factor),
        _ => format!("{:.*}", digits.max(0) as usize, parts / factor),
    }
}

#[cfg(test)]
mod tests {
    use super::super::account::Gauges;
    use super::super::account::Meter;
    use super::*;

    #[test]
    fn numbers_look_like_the_vendors() {
        for (value, text) in [
            (51.08e6, "51mb/s"),
            (5.104e9, "5.10gb/s"),
            (81.69e6, "81.6mb/s"),
            (0.0, "0b/s"),
            (583.9e6, "583mb/s"),
        ] {
            assert_eq!(bits_per_second(value), text);
        }
        for (value, text) in [
            (0.0, "0B"),
            (73_728.0, "72KB"),
            (9.3359 * 1024.0, "9.33KB"),
            (3.489e6 * 1.0485, "3.48MB"),
            (75.0, "75B"),
        ] {
            assert_eq!(memory(value), text);
        }
        for (value, text) in [
            (810_719.0, "810.71us"),
            (1_404_000.0, "1.40ms"),
            (45_000.0, "45us"),
            (457_250_000.0, "457.25ms"),
            (2.2e9, "2.20s"),
        ] {
            assert_eq!(time(value), text);
        }
    }

    fn block() -> Block {
        let meter = Meter::default();
        meter.add(Count::OutMessages, 65_426);
        meter.add(Count::OutBytes, 65_426 * 4096);
        meter.add(Count::InMessages, 654);
        meter.add(Count::InBytes, 654 * 4096);
        meter.add(Count::OutWaitNs, 421_000_000);
        meter.add(Count::OutEvents, 1556);
        let mut block = Block {
            elapsed_ns: 1_000_000_000,
            totals: meter.totals(),
            out_backlog_bytes: Some(48.0 * 1024.0),
            gauges: Gauges {
                connections: 1,
                unreceipted: Some(12),
                transmitters: 1,
                ..Gauges::default()
            },
            ..Block::default()
        };
        block.book.responded(800_000, 100_000);
        block.book.receipt.record(800_000);
        block
    }

    #[test]
    fn a_line_looks_like_the_manuals() {
        let shown = line(&block());
        let (throughput, rest) = shown.split_once(", latency(").unwrap();
        let (latency, backlog) = rest.split_once("), backlog(").unwrap();
        let rates = "throughput(out 65426msg/s 2.14gb/s, in 654msg/s 21.4mb/s)";
        assert_eq!(throughput, rates);
        let waiting = "out 42% 1556/s 48KB, in 0% 0/s 0B), connections 1, errors 0";
        assert_eq!(backlog, waiting);
        let names = latency.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        let expected = "response(avg us, effective ms, corrected us, min us, max us), receipt us";
        assert_eq!(names, expected);
        assert!(latency.contains("effective 1.3"), "{latency}");
    }

    #[test]
    fn what_was_not_measured_is_not_zero() {
        let idle = Block {
            elapsed_ns: 1_000_000_000,
            ..Block::default()
        };
        let expected = "throughput(out 0msg/s 0b/s, in 0msg/s 0b/s), latency(response n/a, receipt n/a), \
            backlog(out n/a 0/s n/a, in 0% 0/s 0B), connections 0, errors 0";
        assert_eq!(line(&idle), expected);
    }

    #[test]
    fn the_table_has_seventeen_columns() {
        let report = Report {
            now: block(),
            life: block(),
            connections: Vec::new(),
        };
        assert_eq!(TABLE_HEAD.trim_end().split('\t').count(), 17);
        let row = row(&report);
        let cells: Vec<&str> = row.trim_end().split('\t').collect();
        assert_eq!(cells.len(), 17);
        assert_eq!((cells[0], cells[2], cells[12]), ("654", "65426", "42"));
        let both = lines(&report, true);
        assert!(both.starts_with("now:  throughput(") && both.contains("\nlife: throughput("));
        assert!(both.contains("\tlatency detail: samples 1; avg "), "{both}");
    }
}
