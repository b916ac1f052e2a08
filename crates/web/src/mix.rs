//! Rows of a load while it goes on: each label, flow or kind of requests with its rate and latency, and its share
//! of the mix.
//!
//! ```text
//! distributions of an interval ─► count, rate, median, p99 ┐
//! series of an interval ────────► failures, rates of bytes ┴─► a row per host and name
//! ```
//!
//! Kinds of requests (New-Order, a query, a named transaction) make up a mix and have shares of it. Where a load
//! has such kinds, the rows of its flows are the sums of all kinds.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Serialize;
use sokudo_model::kinds::{Exchange, Family, KINDS, Track};
use sokudo_model::{Batch, HistogramInterval, Metric, Text, Unit, secrets};
use sokudo_stats::Histogram;

use crate::feed::Words;

/// Rows that are told apart; further ones are left out.
const ROWS_MAX: usize = 200;
/// Flows and threads that feed one row; further ones are left out.
const FEEDERS_MAX: usize = 256;
/// An interval tells of the present for so long after the newest one, nanoseconds.
const FRESH_NS: i64 = 2_500_000_000;

/// What a row stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// A kind of requests of the workload: its place among all kinds, and its latency.
    Kind(usize, &'static str),
    /// A kind of requests that the operator named.
    Named(String),
    /// A label of a plan, a server or a flow.
    Flow(String),
}

impl Of {
    /// True for a part of a mix.
    pub fn is_kind(&self) -> bool {
        !matches!(self, Self::Flow(_))
    }

    /// Name of the row.
    pub fn name(&self) -> Text {
        match self {
            Self::Kind(_, metric) => {
                Text::new(format!("report-metric-{}", metric.replace(['.', '_'], "-")))
            }
            Self::Named(name) | Self::Flow(name) => Text::words(secrets::hidden(name)),
        }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Host that makes the load.
    pub host: String,
    /// What it stands for.
    pub of: Of,
    /// Share of what was carried out so far, 0 to 1; `None` for what is no part of a mix.
    pub share: Option<f64>,
    /// Rate, in its unit.
    pub rate: Option<(f64, Unit)>,
    /// Median of the latency, seconds.
    pub p50_s: Option<f64>,
    /// 99th percentile of the latency, seconds.
    pub p99_s: Option<f64>,
    /// Failures per second.
    pub failed_per_s: Option<f64>,
}

/// A row as a page receives it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    host: String,
    name: Words,
    share: Option<f64>,
    rate: Option<f64>,
    unit: &'static str,
    p50: Option<f64>,
    p99: Option<f64>,
    failed: Option<f64>,
}

impl Row {
    /// For the pages; `both` says a message in both languages.
    pub fn shown(&self, both: impl Fn(&Text) -> Words) -> Shown {
        Shown {
            host: self.host.clone(),
            name: both(&self.of.name()),
            share: self.share,
            rate: self.rate.map(|(value, _)| value),
            unit: self.rate.map_or(Unit::PerSecond, |(_, unit)| unit).name(),
            p50: self.p50_s,
            p99: self.p99_s,
            failed: self.failed_per_s,
        }
    }
}

/// Meaning of a metric for a row.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// Latencies of a flow's requests.
    OfFlow,
    /// Latencies of the requests of one kind, and its place among all kinds.
    OfKind(usize, &'static str),
    /// Latencies of the requests of one name.
    OfName,
    /// Failures of a flow.
    FlowFailed,
    /// Failures of the requests of one name.
    NameFailed,
    /// Rate of a flow of messages or bytes.
    FlowRate(Unit),
    /// Latency of such a flow: the median.
    FlowP50,
    /// Latency of such a flow: the 99th percentile.
    FlowP99,
}

/// Roles of the metrics of all kinds of load.
fn roles() -> &'static HashMap<&'static str, Role> {
    static ROLES: LazyLock<HashMap<&'static str, Role>> = LazyLock::new(|| {
        let mut roles = HashMap::new();
        let mut kinds = 0;
        for kind in KINDS {
            match kind.family {
                Family::Exchange(exchange) => of_exchange(exchange, &mut kinds, &mut roles),
                _ => {
                    for source in kind.tracks {
                        let role = match (source.track, source.suffix) {
                            (Track::Answers, _) => Role::FlowRate(Unit::PerSecond),
                            (Track::Throughput, _) => Role::FlowRate(Unit::BitsPerSecond),
                            (Track::Latency, "p50") => Role::FlowP50,
                            (Track::Latency, "p99") => Role::FlowP99,
                            (Track::Latency | Track::Users | Track::Loss, _) => continue,
                        };
                        roles.insert(source.metric.name, role);
                    }
                }
            }
        }
        roles
    });
    &ROLES
}

fn of_exchange(exchange: &Exchange, kinds: &mut usize, roles: &mut HashMap<&'static str, Role>) {
    let mut put = |metric: Metric, role| roles.insert(metric.name, role);
    put(exchange.latency, Role::OfFlow);
    if let Some(failed) = exchange.failed_per_second {
        put(failed, Role::FlowFailed);
    }
    for part in exchange.parts {
        put(part.latency, Role::OfKind(*kinds, part.latency.name));
        *kinds += 1;
    }
    if let Some(named) = exchange.named {
        put(named.latency, Role::OfName);
        put(named.errors_per_second, Role::NameFailed);
    }
}

/// What a batch tells of rows.
pub fn pick(batch: &Batch) -> Batch {
    let is_told = |metric: &str| roles().contains_key(metric);
    let series = batch.series.iter().filter(|it| is_told(&it.key.metric));
    let intervals = batch.histograms.iter();
    Batch {
        series: series.cloned().collect(),
        histograms: intervals
            .filter(|it| is_told(&it.key.metric))
            .cloned()
            .collect(),
        events: Vec::new(),
    }
}

/// The newest interval of one flow or thread.
struct Interval {
    t1_ns: i64,
    seconds: f64,
    latency: Histogram,
}

/// What is known of a row.
#[derive(Default)]
struct Known {
    count: u64,
    intervals: BTreeMap<String, Interval>,
    failed: BTreeMap<String, f64>,
    rate: Option<(f64, Unit)>,
    p50_s: Option<f64>,
    p99_s: Option<f64>,
}

/// The rows of a phase so far.
#[derive(Default)]
pub struct Mix {
    rows: BTreeMap<(String, Of), Known>,
    newest_ns: i64,
}

impl Mix {
    /// Takes new samples.
    pub fn take(&mut self, batch: &Batch) {
        for series in &batch.series {
            let Some(&(_, value)) = series.points.last() else {
                continue;
            };
            let Some(role) = roles().get(series.key.metric.as_str()) else {
                continue;
            };
            let Some(flow) = series.key.labels.get("flow") else {
                continue;
            };
            self.take_value(*role, &series.key.host, flow, value);
        }
        for interval in &batch.histograms {
            self.take_interval(interval);
        }
    }

    fn take_value(&mut self, role: Role, host: &str, flow: &str, value: f64) {
        let of = match role {
            Role::NameFailed => Of::Named(plain(flow).to_owned()),
            _ => Of::Flow(flow.to_owned()),
        };
        let Some(row) = self.row(host, of) else {
            return;
        };
        match role {
            Role::FlowFailed | Role::NameFailed => put(&mut row.failed, flow, value),
            // A flow whose messages are counted tells how many, not how many bits.
            Role::FlowRate(unit) => match row.rate {
                Some((_, Unit::PerSecond)) if unit != Unit::PerSecond => {}
                _ => row.rate = Some((value, unit)),
            },
            Role::FlowP50 => row.p50_s = Some(value),
            Role::FlowP99 => row.p99_s = Some(value),
            Role::OfFlow | Role::OfKind(..) | Role::OfName => {}
        }
    }

    fn take_interval(&mut self, interval: &HistogramInterval) {
        let Some(role) = roles().get(interval.key.metric.as_str()) else {
            return;
        };
        let flow = interval.key.labels.get("flow").map_or("", String::as_str);
        let of = match *role {
            Role::OfKind(place, metric) => Of::Kind(place, metric),
            Role::OfName => Of::Named(plain(flow).to_owned()),
            _ => Of::Flow(flow.to_owned()),
        };
        let Some(row) = self.row(&interval.key.host, of) else {
            return;
        };
        let Ok(latency) = Histogram::from_v2(&interval.hdr_v2) else {
            return;
        };
        row.count += latency.len();
        let newest = Interval {
            t1_ns: interval.t1_ns,
            seconds: (interval.t1_ns - interval.t0_ns) as f64 / 1e9,
            latency,
        };
        put(&mut row.intervals, flow, newest);
        self.newest_ns = self.newest_ns.max(interval.t1_ns);
    }

    /// The row of this name; `None` when there is no room for it.
    fn row(&mut self, host: &str, of: Of) -> Option<&mut Known> {
        let key = (host.to_owned(), of);
        let has_room = self.rows.len() < ROWS_MAX || self.rows.contains_key(&key);
        has_room.then(|| self.rows.entry(key).or_default())
    }

    /// All rows: those of each host together, kinds of requests in front of flows.
    pub fn rows(&self) -> Vec<Row> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for ((host, _), known) in self.rows.iter().filter(|((_, of), _)| of.is_kind()) {
            *all.entry(host).or_default() += known.count;
        }
        let row = |((host, of), known): (&(String, Of), &Known)| {
            let all = all.get(host.as_str()).filter(|_| of.is_kind());
            let share = all.filter(|all| **all > 0);
            Row {
                share: share.map(|all| known.count as f64 / *all as f64),
                ..known.row(host, of, self.newest_ns)
            }
        };
        self.rows.iter().map(row).collect()
    }
}

impl Known {
    fn row(&self, host: &str, of: &Of, newest_ns: i64) -> Row {
        let mut latency = Histogram::new();
        let mut per_s = 0.0;
        for interval in self.intervals.values() {
            latency.merge(&interval.latency);
            if newest_ns - interval.t1_ns < FRESH_NS && interval.seconds > 0.0 {
                per_s += interval.latency.len() as f64 / interval.seconds;
            }
        }
        let rate = (!latency.is_empty()).then_some((per_s, Unit::PerSecond));
        let quantile = |q| (!latency.is_empty()).then(|| latency.quantile(q) as f64 / 1e9);
        Row {
            host: host.to_owned(),
            of: of.clone(),
            share: None,
            rate: rate.or(self.rate),
            p50_s: quantile(0.5).or(self.p50_s),
            p99_s: quantile(0.99).or(self.p99_s),
            failed_per_s: self.failed.values().copied().reduce(|a, b| a + b),
        }
    }
}

/// Sets the value of a flow; a new one needs room.
fn put<T>(of_flows: &mut BTreeMap<String, T>, flow: &str, value: T) {
    if of_flows.len() < FEEDERS_MAX || of_flows.contains_key(flow) {
        of_flows.insert(flow.to_owned(), value);
    }
}

/// A name without the number of the thread behind it: `payment #2`.
fn plain(name: &str) -> &str {
    let numbered = name.rsplit_once(" #");
    let numbered = numbered.filter(|(_, n)| n.bytes().all(|c| c.is_ascii_digit()));
    numbered.map_or(name, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::{dbt2, http, sqlmix, stream};
    use sokudo_model::{Labels, SeriesKey};

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn key(metric: Metric, flow: &str) -> SeriesKey {
        SeriesKey {
            host: "hosta".into(),
            source: "sql".into(),
            metric: metric.into(),
            labels: Labels::from([("flow".into(), flow.into())]),
        }
    }

    /// So many requests of `ms` milliseconds in the second that ends at `second`.
    fn interval(metric: Metric, flow: &str, second: i64, (n, ms): (u64, u64)) -> HistogramInterval {
        let mut latency = Histogram::new();
        latency.record_n(ms * 1_000_000, n);
        HistogramInterval {
            key: key(metric, flow),
            t0_ns: (second - 1) * SECOND,
            t1_ns: second * SECOND,
            hdr_v2: latency.to_v2(),
        }
    }

    fn told(histograms: Vec<HistogramInterval>) -> Batch {
        Batch {
            histograms,
            ..Batch::default()
        }
    }

    fn rate(row: &Row) -> f64 {
        row.rate.expect("a rate").0
    }

    #[test]
    fn kinds_of_all_threads_have_a_share_rate_and_latency_of_their_own() {
        let mut mix = Mix::default();
        mix.take(&told(vec![
            interval(dbt2::NEW_ORDER_SECONDS, "db #1", 1, (60, 4)),
            interval(dbt2::NEW_ORDER_SECONDS, "db #2", 1, (30, 4)),
            interval(dbt2::PAYMENT_SECONDS, "db #1", 1, (10, 20)),
            interval(
                dbt2::KIND
                    .curve
                    .and_then(|it| it.latency)
                    .expect("a latency"),
                "db #1",
                1,
                (70, 4),
            ),
        ]));
        let rows = mix.rows();
        let kinds: Vec<&Row> = rows.iter().filter(|row| row.of.is_kind()).collect();
        assert_eq!(kinds.len(), 2, "{rows:?}");
        assert_eq!((kinds[0].share, rate(kinds[0])), (Some(0.9), 90.0));
        assert_eq!((kinds[1].share, rate(kinds[1])), (Some(0.1), 10.0));
        let p99 = kinds[1].p99_s.expect("a latency");
        assert!((0.019..0.021).contains(&p99), "{p99}");
        assert_eq!(rows[2].of, Of::Flow("db #1".into()));
        assert_eq!(rows[2].share, None);
    }

    #[test]
    fn a_kind_that_is_asked_no_more_keeps_its_share_and_has_no_rate() {
        let mut mix = Mix::default();
        mix.take(&told(vec![
            interval(sqlmix::LATENCY_SECONDS, "read", 1, (50, 1)),
            interval(sqlmix::LATENCY_SECONDS, "write", 1, (50, 1)),
        ]));
        mix.take(&told(vec![interval(
            sqlmix::LATENCY_SECONDS,
            "read",
            9,
            (100, 1),
        )]));
        let rows = mix.rows();
        assert_eq!((rows[0].share, rate(&rows[0])), (Some(0.75), 100.0));
        assert_eq!((rows[1].share, rate(&rows[1])), (Some(0.25), 0.0));
    }

    #[test]
    fn labels_tell_their_failures_and_flows_of_bytes_their_rate() {
        let mut mix = Mix::default();
        let mut batch = told(vec![interval(http::LATENCY_SECONDS, "login", 1, (10, 1))]);
        let failed = http::EXCHANGE
            .failed_per_second
            .expect("a rate of failures");
        batch.push(&key(failed, "login"), SECOND, 3.0);
        batch.push(&key(stream::GOODPUT_BITS_PER_SECOND, "a → b"), SECOND, 1e9);
        mix.take(&pick(&batch));
        let rows = mix.rows();
        assert_eq!(rows[0].rate, Some((1e9, Unit::BitsPerSecond)));
        assert_eq!((rate(&rows[1]), rows[1].failed_per_s), (10.0, Some(3.0)));
        assert!(rows.iter().all(|row| row.share.is_none()));
    }

    #[test]
    fn rows_are_bounded() {
        let mut mix = Mix::default();
        let many = (0..2 * ROWS_MAX)
            .map(|n| interval(http::LATENCY_SECONDS, &format!("label {n}"), 1, (1, 1)));
        mix.take(&told(many.collect()));
        assert_eq!(mix.rows().len(), ROWS_MAX);
    }

    #[test]
    fn every_kind_of_requests_has_a_name_in_both_languages() {
        for lang in sokudo_i18n::Lang::ALL {
            let i18n = sokudo_i18n::I18n::new(lang);
            for role in roles().values() {
                if let Role::OfKind(place, metric) = role {
                    let name = Of::Kind(*place, metric).name();
                    assert!(i18n.has(&name.key), "{lang}: {name:?}");
                }
            }
        }
    }
}
