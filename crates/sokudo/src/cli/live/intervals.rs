//! A line for each interval that is over (`--interval`), as iperf3 prints them.
//!
//! The sum over all lines is what the load did: each sample counts for the time since the sample before it, in
//! the intervals that this time falls into. A short one at the end of a load weighs as little as it lasted.

use std::collections::{BTreeMap, HashMap};

use sokudo_i18n::I18n;
use sokudo_model::kinds::{Family, KINDS};
use sokudo_model::{Batch, Metric, SeriesKey, Unit};
use sokudo_stats::Histogram;
use sokudo_web::tracks;

use super::course::{Moment, PhaseCourse};
use super::status;

/// Samples of an interval come so much later, nanoseconds.
const LATER_NS: u64 = 150_000_000;
/// A load that was last seen so shortly before its planned end has reached it, nanoseconds.
const END_NS: u64 = 500_000_000;
/// Series whose samples are added up; further ones are left out.
const SERIES_MAX: usize = 8192;
/// Intervals that one sample is spread over at most; that of a longer one falls into its first interval.
const SPREAD_MAX: u64 = 10_000;
/// Intervals that get a line each when they are due at once.
const DUE_MAX: u64 = 100;
/// Chart whose values are no rates.
const USERS: &str = "users";

/// (Number of the interval, chart) → values times the seconds that they held.
type Areas = BTreeMap<(u64, &'static str), f64>;

/// Lines about a phase, and what has come since the last of them.
pub struct Intervals {
    every_ns: u64,
    /// Begin of the load on the clock of the samples, nanoseconds.
    begin_ns: Option<i64>,
    /// Lines have told of the load up to here, nanoseconds since it began.
    told_ns: u64,
    /// Newest sample of each series.
    last_ns: HashMap<SeriesKey, i64>,
    areas: Areas,
    /// Users of each flow: most since the last line, and in the newest sample.
    users: HashMap<SeriesKey, (f64, f64)>,
    /// Number of the interval → latencies.
    latency: BTreeMap<u64, Histogram>,
    /// Failures that were told of, in all and by kind.
    failed: (u64, Vec<(Metric, u64)>),
}

impl Intervals {
    /// Lines that are so far apart.
    pub fn every(every_ns: u64) -> Self {
        Self {
            every_ns: every_ns.max(1),
            begin_ns: None,
            told_ns: 0,
            last_ns: HashMap::new(),
            areas: BTreeMap::new(),
            users: HashMap::new(),
            latency: BTreeMap::new(),
            failed: (0, Vec::new()),
        }
    }

    /// A phase begins.
    pub fn begin(&mut self) {
        *self = Self::every(self.every_ns);
    }

    /// Takes new samples.
    pub fn take(&mut self, batch: &Batch) {
        for series in &batch.series {
            let Some(chart) = tracks::chart(&series.key).filter(|it| is_added_up(it)) else {
                continue;
            };
            if self.last_ns.len() >= SERIES_MAX && !self.last_ns.contains_key(&series.key) {
                continue;
            }
            for &(t_ns, value) in series.points.iter().filter(|it| it.1.is_finite()) {
                if chart == USERS {
                    let (most, newest) = self.users.entry(series.key.clone()).or_default();
                    (*most, *newest) = (most.max(value), value);
                    continue;
                }
                let first_ns = self.begin_ns.unwrap_or(t_ns - self.every_ns as i64);
                let last = self.last_ns.insert(series.key.clone(), t_ns);
                self.add(chart, value, (last.unwrap_or(first_ns), t_ns));
            }
        }
        for interval in &batch.histograms {
            if is_latency(&interval.key.metric)
                && let Ok(more) = Histogram::from_v2(&interval.hdr_v2)
            {
                let middle_ns = interval.t0_ns / 2 + interval.t1_ns / 2;
                let number = self.number(self.since(interval.t0_ns, middle_ns));
                self.latency.entry(number).or_default().merge(&more);
            }
        }
    }

    /// Adds a value that held from and to these times to the intervals that they fall into; what has a line
    /// already counts in the next one.
    fn add(&mut self, chart: &'static str, value: f64, (from_ns, to_ns): (i64, i64)) {
        let since = |t_ns: i64| self.since(from_ns, t_ns);
        let (mut at_ns, to_ns) = (since(from_ns), since(to_ns));
        let is_spread = to_ns.saturating_sub(at_ns) / self.every_ns <= SPREAD_MAX;
        while at_ns < to_ns {
            let number = self.number(at_ns);
            let end_ns = (number + 1).saturating_mul(self.every_ns);
            let until_ns = if is_spread { end_ns.min(to_ns) } else { to_ns };
            let seconds = (until_ns - at_ns) as f64 / 1e9;
            *self.areas.entry((number, chart)).or_default() += value * seconds;
            at_ns = until_ns;
        }
    }

    /// Time since the begin of the load, nanoseconds; a load without a known begin began at the first time.
    fn since(&self, first_ns: i64, t_ns: i64) -> u64 {
        let begin_ns = self.begin_ns.unwrap_or(first_ns);
        t_ns.saturating_sub(begin_ns).max(0) as u64
    }

    /// Number of the interval that counts what happened then.
    fn number(&self, since_ns: u64) -> u64 {
        since_ns.max(self.told_ns) / self.every_ns
    }

    /// Lines of the intervals that are over when the load, which began at the first time, has lasted for the
    /// second.
    pub fn over(
        &mut self,
        course: &mut PhaseCourse,
        (begin_ns, elapsed_ns): (i64, u64),
        i18n: &I18n,
    ) -> Vec<String> {
        self.begin_ns = Some(begin_ns);
        let whole = |ns: u64| ns / self.every_ns;
        let arrived_ns = elapsed_ns.saturating_sub(LATER_NS);
        // Of a flow whose samples stay away nothing is waited for any longer than another interval.
        let awaited = whole(arrived_ns.saturating_sub(self.every_ns));
        let told = whole(arrived_ns.min(self.known_ns(begin_ns))).max(awaited);
        self.lines(course, told * self.every_ns, i18n)
    }

    /// Time since the begin of the load up to which every flow has told its samples.
    fn known_ns(&self, begin_ns: i64) -> u64 {
        let least = self.last_ns.values().min();
        least.map_or(0, |ns| ns.saturating_sub(begin_ns).max(0) as u64)
    }

    /// Lines of what is left when the load ends.
    pub fn end(&mut self, course: &mut PhaseCourse, i18n: &I18n) -> Vec<String> {
        let planned_ns = course.of_ns;
        let is_planned = planned_ns > 0 && course.elapsed_ns + END_NS >= planned_ns;
        let end_ns = if is_planned {
            planned_ns
        } else {
            course.elapsed_ns
        };
        // What came after the end, such as the last answers, counts in the last interval.
        let last = end_ns.saturating_sub(1) / self.every_ns;
        for ((_, chart), area) in self.areas.split_off(&(last, "")) {
            *self.areas.entry((last, chart)).or_default() += area;
        }
        for (_, latency) in self.latency.split_off(&last) {
            self.latency.entry(last).or_default().merge(&latency);
        }
        self.lines(course, end_ns, i18n)
    }

    /// Lines up to a time since the begin: one per interval, or one for all where too many are due.
    fn lines(&mut self, course: &mut PhaseCourse, to_ns: u64, i18n: &I18n) -> Vec<String> {
        let mut lines = Vec::new();
        let is_each = to_ns.saturating_sub(self.told_ns) / self.every_ns <= DUE_MAX;
        while self.told_ns < to_ns {
            let next_ns = (self.told_ns / self.every_ns + 1) * self.every_ns;
            let until_ns = if is_each { next_ns.min(to_ns) } else { to_ns };
            lines.push(self.line(course, until_ns, i18n));
        }
        lines
    }

    fn line(&mut self, course: &mut PhaseCourse, to_ns: u64, i18n: &I18n) -> String {
        course.tick();
        let next = to_ns.div_ceil(self.every_ns);
        let later = self.areas.split_off(&(next, ""));
        let areas = std::mem::replace(&mut self.areas, later);
        let later = self.latency.split_off(&next);
        let mut latency = Histogram::new();
        for own in std::mem::replace(&mut self.latency, later).values() {
            latency.merge(own);
        }
        let seconds = (to_ns - self.told_ns) as f64 / 1e9;
        let moment = self.moment(course.now(), (&areas, &latency), seconds);
        let failed = self.newly_failed(course);
        let span = (self.told_ns as f64 / 1e9, to_ns as f64 / 1e9);
        self.told_ns = to_ns;
        // An interval begins with the users that the one before it ended with.
        for (most, newest) in self.users.values_mut() {
            *most = *newest;
        }
        status::interval(&moment, &failed, span, i18n)
    }

    /// What an interval of so many seconds held, as means; of what it does not tell, the newest values.
    fn moment(
        &self,
        newest: Moment,
        (areas, latency): (&Areas, &Histogram),
        seconds: f64,
    ) -> Moment {
        let mean = |chart| {
            let own = areas.iter().filter(|((_, of), _)| *of == chart);
            let sum = own.map(|(_, area)| *area).reduce(|a, b| a + b);
            sum.map(|area| area / seconds)
        };
        let (answers, bits) = (mean("answers"), mean("throughput"));
        let quantile = |q, newest| match latency.is_empty() {
            true => newest,
            false => Some(latency.quantile(q) as f64 / 1e9),
        };
        let users = self
            .users
            .values()
            .map(|(most, _)| *most)
            .reduce(|a, b| a + b);
        Moment {
            rate: answers
                .map(|per_s| (per_s, Unit::PerSecond))
                .or(bits.map(|bits| (bits, Unit::BitsPerSecond))),
            bits_per_s: answers.and(bits),
            p50_s: quantile(0.5, newest.p50_s),
            p99_s: quantile(0.99, newest.p99_s),
            users: users.or(newest.users),
            ..newest
        }
    }

    /// Failures since the last line, in all and by kind.
    fn newly_failed(&mut self, course: &PhaseCourse) -> (u64, Vec<(Metric, u64)>) {
        let all = (course.errors().unwrap_or(0), course.failures());
        let before = std::mem::replace(&mut self.failed, all.clone());
        let told = |metric: Metric| {
            let mut kinds = before.1.iter();
            kinds.find(|(kind, _)| *kind == metric).map_or(0, |it| it.1)
        };
        let kinds = all.1.into_iter();
        let kinds = kinds.map(|(kind, n)| (kind, n.saturating_sub(told(kind))));
        let kinds = kinds.filter(|(_, n)| *n > 0).collect();
        (all.0.saturating_sub(before.0), kinds)
    }
}

/// True for charts whose lines are sums over flows and hosts.
fn is_added_up(chart: &str) -> bool {
    matches!(chart, "answers" | "throughput" | USERS)
}

fn is_latency(metric: &str) -> bool {
    let mut families = KINDS.iter().map(|kind| &kind.family);
    families.any(|it| matches!(it, Family::Exchange(it) if it.latency.name == metric))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sokudo_i18n::Lang;
    use sokudo_model::kinds::http;
    use sokudo_model::{HistogramInterval, Labels};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    /// Begin of the load on the clock of the samples.
    const BEGIN_NS: i64 = 126_000_000;

    fn key(metric: Metric, flow: &str) -> SeriesKey {
        SeriesKey {
            host: "hosta".into(),
            source: "http".into(),
            metric: metric.into(),
            labels: Labels::from([("flow".into(), flow.into())]),
        }
    }

    /// Lines about a load of so many seconds whose samples are (end in ns, flow, rate).
    fn told(planned_s: u64, samples: &[(u64, &str, f64)]) -> Vec<String> {
        let i18n = I18n::new(Lang::En);
        let mut course = PhaseCourse::default();
        course.begin("measure", planned_s * SECOND_NS);
        let mut lines = Intervals::every(SECOND_NS);
        let mut out = Vec::new();
        out.extend(lines.over(&mut course, (BEGIN_NS, 0), &i18n));
        for (t_ns, flow, rate) in samples {
            let mut batch = Batch::default();
            let requests = key(http::REQUESTS_PER_SECOND, flow);
            batch.push(&requests, BEGIN_NS + *t_ns as i64, *rate);
            course.take(&batch);
            course.elapsed((*t_ns).min(planned_s * SECOND_NS));
            lines.take(&batch);
            out.extend(lines.over(&mut course, (BEGIN_NS, *t_ns), &i18n));
        }
        out.extend(lines.end(&mut course, &i18n));
        out
    }

    #[test]
    fn a_sample_counts_for_as_long_as_it_lasted_in_the_intervals_of_this_time() {
        let samples = [
            (SECOND_NS + 200_000_000, "1", 100.0),
            (2 * SECOND_NS, "1", 200.0),
            (2 * SECOND_NS + 20_000_000, "1", 5_000.0),
        ];
        let lines = told(2, &samples);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("0.0-1.0 s      100/s"), "{lines:?}");
        // 0.2 s of 100/s, 0.8 s of 200/s, and 0.02 s of 5000/s.
        assert!(lines[1].contains("1.0-2.0 s      280/s"), "{lines:?}");
    }

    #[test]
    fn the_last_interval_has_a_line_though_the_load_ended_within_it() {
        let lines = told(3, &[(SECOND_NS, "1", 10.0), (2_700_000_000, "1", 10.0)]);
        let last = lines.last().cloned().unwrap_or_default();
        assert!(last.contains("-3.0 s"), "{lines:?}");
        assert_eq!(lines.len(), 3, "{lines:?}");
        let cut = told(60, &[(2_400_000_000, "1", 10.0)]);
        let last = cut.last().cloned().unwrap_or_default();
        assert!(last.contains("-2.4 s"), "{cut:?}");
    }

    #[test]
    fn latencies_are_those_of_the_interval_and_failures_are_told_once() {
        let i18n = I18n::new(Lang::En);
        let (mut course, mut lines) = (PhaseCourse::default(), Intervals::every(SECOND_NS));
        course.begin("measure", 3 * SECOND_NS);
        let mut line = |latency_ns: u64, errors: f64, at_s: u64| {
            let mut latency = Histogram::new();
            latency.record_n(latency_ns, 100);
            let mut batch = Batch::default();
            let t_ns = (at_s * SECOND_NS) as i64;
            batch.push(&key(http::ERRORS, "1"), t_ns, errors);
            batch.push(&key(http::TIMEOUTS, "1"), t_ns, errors);
            batch.push(&key(http::REQUESTS_PER_SECOND, "1"), t_ns, 100.0);
            batch.histograms.push(HistogramInterval {
                key: key(http::LATENCY_SECONDS, "1"),
                t0_ns: t_ns - SECOND_NS as i64,
                t1_ns: t_ns,
                hdr_v2: latency.to_v2(),
            });
            course.take(&batch);
            course.elapsed(at_s * SECOND_NS);
            lines.take(&batch);
            let lasted = (0, at_s * SECOND_NS + LATER_NS);
            lines.over(&mut course, lasted, &i18n).join("\n")
        };
        let first = line(1_000_000, 7.0, 1);
        assert!(first.contains("p50    1 ms"), "{first}");
        assert!(first.contains("errors 7"), "{first}");
        let second = line(9_000_000, 7.0, 2);
        assert!(second.contains("p50    9 ms"), "{second}");
        assert!(!second.contains("errors"), "{second}");
        let third = line(9_000_000, 9.0, 3);
        assert!(third.contains("errors 2  2 timed out"), "{third}");
    }

    #[test]
    fn the_users_of_an_interval_are_those_it_began_with_or_more() {
        let (mut course, mut lines) = (PhaseCourse::default(), Intervals::every(SECOND_NS));
        let mut users = |at_s: u64, users: f64| {
            let mut batch = Batch::default();
            let t_ns = (at_s * SECOND_NS) as i64;
            batch.push(&key(http::ACTIVE_USERS, "1"), t_ns, users);
            batch.push(&key(http::REQUESTS_PER_SECOND, "1"), t_ns, 100.0);
            lines.take(&batch);
            let lasted = (0, at_s * SECOND_NS + LATER_NS);
            lines
                .over(&mut course, lasted, &I18n::new(Lang::En))
                .join("\n")
        };
        for (at_s, seen, told) in [
            (1, 10.0, "10 users"),
            (2, 0.0, "10 users"),
            (3, 0.0, "0 users"),
        ] {
            let line = users(at_s, seen);
            assert!(line.contains(told), "{line}");
        }
    }

    #[test]
    fn a_sample_from_the_end_of_time_is_one_step() {
        let mut lines = Intervals::every(1);
        lines.add("answers", 1.0, (0, i64::MAX));
        assert_eq!(lines.areas.len(), 1);
    }

    proptest! {
        /// However the samples fall, nothing that was counted is lost between the lines.
        #[test]
        fn lines_add_up_to_the_whole(
            steps in prop::collection::vec((1u64..1_500_000_000, 1u32..5_000), 1..20),
        ) {
            let i18n = I18n::new(Lang::En);
            let (mut course, mut lines) = (PhaseCourse::default(), Intervals::every(SECOND_NS));
            course.begin("measure", 0);
            let left = |lines: &Intervals| lines.areas.values().sum::<f64>();
            let (mut now_ns, mut counted, mut told) = (0, 0.0, 0.0);
            lines.over(&mut course, (BEGIN_NS, 0), &i18n);
            for (lasted_ns, rate) in steps {
                now_ns += lasted_ns;
                counted += f64::from(rate) * lasted_ns as f64 / 1e9;
                let mut batch = Batch::default();
                let requests = key(http::REQUESTS_PER_SECOND, "1");
                batch.push(&requests, BEGIN_NS + now_ns as i64, f64::from(rate));
                course.take(&batch);
                course.elapsed(now_ns);
                lines.take(&batch);
                let before = left(&lines);
                lines.over(&mut course, (BEGIN_NS, now_ns), &i18n);
                told += before - left(&lines);
            }
            told += left(&lines);
            prop_assert!((told - counted).abs() <= counted * 1e-9, "{told} of {counted}");
            prop_assert!(!lines.end(&mut course, &i18n).is_empty());
            prop_assert_eq!(left(&lines), 0.0);
        }
    }
}
