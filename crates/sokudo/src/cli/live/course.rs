//! State of a phase while it runs.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::LazyLock;

use sokudo_model::kinds::{Exchange, Family, KINDS};
use sokudo_model::settings::Settings;
use sokudo_model::{Batch, Metric, Unit};
use sokudo_stats::Histogram;
use sokudo_web::mix::Mix;
use sokudo_web::tracks::{Line, TICK_NS, Tracks};

/// Moments that are kept for charts; when there are more, every second one is dropped.
const MOMENTS_MAX: usize = 600;
/// Series of counts that are kept; further ones are left out.
const COUNTS_MAX: usize = 2000;

/// Totals of one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// Since the load began, seconds.
    pub at_s: f64,
    /// Whole things per second, else bits per second; with its unit.
    pub rate: Option<(f64, Unit)>,
    /// Payload per second beside those things.
    pub bits_per_s: Option<f64>,
    /// Median of the latency, seconds; of several hosts the worst.
    pub p50_s: Option<f64>,
    /// 99th percentile of the latency, seconds.
    pub p99_s: Option<f64>,
    /// Simulated users.
    pub users: Option<f64>,
    /// Share of losses or errors, 0 to 1.
    pub loss: Option<f64>,
}

/// Known state of the phase under way.
#[derive(Default)]
pub struct PhaseCourse {
    /// Name of the phase.
    pub name: String,
    /// Load so far, nanoseconds.
    pub elapsed_ns: u64,
    /// Planned load, nanoseconds; 0 when an amount ends it.
    pub of_ns: u64,
    /// The moments so far, the newest last.
    pub moments: VecDeque<Moment>,
    /// Labels, flows and kinds of requests.
    pub mix: Mix,
    /// Settings of the loaded database.
    pub settings: Settings,
    /// Latencies so far.
    pub latency: Histogram,
    tracks: Tracks,
    ticked_ns: u64,
    /// Metric → series → its count so far.
    counts: BTreeMap<&'static str, BTreeMap<(String, String), f64>>,
}

impl PhaseCourse {
    /// A phase begins: its name, and its planned load in nanoseconds, 0 when an amount ends it.
    pub fn begin(&mut self, name: &str, of_ns: u64) {
        *self = Self {
            name: name.to_owned(),
            of_ns,
            ..Self::default()
        };
    }

    /// Takes new samples.
    pub fn take(&mut self, batch: &Batch) {
        self.mix.take(batch);
        self.settings.take(batch);
        for series in &batch.series {
            let Some(&(t_ns, value)) = series.points.last() else {
                continue;
            };
            self.tracks.take(&series.key, t_ns, value);
            // Most series are of monitors: of many hosts they come by the thousand each second.
            if !of_loads().contains(series.key.metric.as_str()) {
                continue;
            }
            let flow = series.key.labels.get("flow").cloned().unwrap_or_default();
            let place = (series.key.host.clone(), flow);
            self.take_count(&series.key.metric, &place, value);
        }
        for interval in &batch.histograms {
            if exchanges().any(|it| it.latency.name == interval.key.metric)
                && let Ok(more) = Histogram::from_v2(&interval.hdr_v2)
            {
                self.latency.merge(&more);
            }
        }
    }

    fn take_count(&mut self, metric: &str, place: &(String, String), value: f64) {
        let counted = exchanges().flat_map(|it| {
            let both = it.failure_kinds.iter().chain(it.answers_by_code);
            both.chain(std::iter::once(&it.errors))
        });
        let Some(name) = counted.map(|it| it.name).find(|name| *name == metric) else {
            return;
        };
        let held: usize = self.counts.values().map(BTreeMap::len).sum();
        let series = self.counts.entry(name).or_default();
        match series.get_mut(place) {
            Some(count) => *count = value,
            None if held < COUNTS_MAX => {
                series.insert(place.clone(), value);
            }
            None => {}
        }
    }

    /// So much of the phase is over; true when there is something new to show.
    pub fn elapsed(&mut self, elapsed_ns: u64) -> bool {
        self.elapsed_ns = elapsed_ns;
        if elapsed_ns.saturating_sub(self.ticked_ns) < TICK_NS as u64 {
            return false;
        }
        self.ticked_ns = elapsed_ns;
        self.tick();
        true
    }

    /// Makes a moment of the newest samples.
    pub fn tick(&mut self) {
        self.tracks.tick();
        let lines = self.tracks.lines();
        let last = |line: &Line| line.points.last().copied();
        let of = |track: &'static str| lines.iter().filter(move |line| line.track == track);
        let sum = |track| of(track).filter_map(last).reduce(|a, b| a + b);
        let worst = |track, name: &str| {
            let named = of(track).filter(|line| line.name == name);
            named.filter_map(last).reduce(f64::max)
        };
        let (answers, bits) = (sum("answers"), sum("throughput"));
        let moment = Moment {
            at_s: self.elapsed_ns as f64 / 1e9,
            rate: answers
                .map(|per_s| (per_s, Unit::PerSecond))
                .or(bits.map(|bits| (bits, Unit::BitsPerSecond))),
            bits_per_s: answers.and(bits),
            p50_s: worst("latency", "p50"),
            p99_s: worst("latency", "p99"),
            users: sum("users"),
            loss: worst("loss", ""),
        };
        if moment.rate.is_none() && moment.p50_s.is_none() {
            return;
        }
        if self.moments.len() >= MOMENTS_MAX {
            let mut number = 0usize;
            self.moments.retain(|_| {
                number += 1;
                number.is_multiple_of(2)
            });
        }
        self.moments.push_back(moment);
    }

    /// The newest totals.
    pub fn now(&self) -> Moment {
        self.moments.back().copied().unwrap_or_default()
    }

    /// CPU of each host, 0 to 1 over all its cores.
    pub fn hosts(&self) -> Vec<(String, f64)> {
        let lines = self.tracks.lines().iter();
        let cpu = lines.filter(|line| line.track == "cpu");
        cpu.filter_map(|line| Some((line.host.clone(), *line.points.last()?)))
            .collect()
    }

    /// Sessions on the loaded databases by what they do or wait for, the most first.
    pub fn waits(&self) -> Vec<(&'static str, f64)> {
        let mut classes: BTreeMap<&'static str, f64> = BTreeMap::new();
        let lines = self.tracks.lines().iter();
        for line in lines.filter(|line| line.track == "waits") {
            *classes.entry(line.name).or_default() += line.points.last().copied().unwrap_or(0.0);
        }
        let mut classes: Vec<_> = classes.into_iter().filter(|(_, n)| *n > 0.0).collect();
        classes.sort_by(|a, b| b.1.total_cmp(&a.1));
        classes
    }

    /// Failures so far; `None` while the load tells none.
    pub fn errors(&self) -> Option<u64> {
        let names = exchanges().map(|it| it.errors.name);
        // Answers that say that they are errors are not errors of the exchange itself.
        let bad = exchanges().flat_map(|it| it.bad_answers.map_or(&[][..], |bad| bad.metrics));
        let sums: Vec<u64> = names
            .chain(bad.map(|it| it.name))
            .filter_map(|name| self.sum(name))
            .collect();
        (!sums.is_empty()).then(|| sums.iter().sum())
    }

    /// Failures so far by their kind, the most frequent first.
    pub fn failures(&self) -> Vec<(Metric, u64)> {
        let kinds = exchanges().flat_map(|it| it.failure_kinds).copied();
        let mut found = self.counted(kinds);
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }

    /// Answers so far by their code.
    pub fn answers(&self) -> Vec<(Metric, u64)> {
        self.counted(exchanges().flat_map(|it| it.answers_by_code).copied())
    }

    fn counted(&self, metrics: impl Iterator<Item = Metric>) -> Vec<(Metric, u64)> {
        let counted = metrics.filter_map(|metric| Some((metric, self.sum(metric.name)?)));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    fn sum(&self, name: &str) -> Option<u64> {
        let series = self.counts.get(name)?;
        Some(series.values().sum::<f64>() as u64)
    }
}

/// Names of all metrics of loads.
fn of_loads() -> &'static HashSet<&'static str> {
    static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let own = KINDS.iter().flat_map(|kind| kind.metrics);
        let tracks = KINDS.iter().flat_map(|kind| kind.tracks);
        let tracks = tracks.map(|source| source.metric.name);
        own.map(|metric| metric.name).chain(tracks).collect()
    });
    &NAMES
}

/// The exchanges, each once: kinds that share their metrics have one.
fn exchanges() -> impl Iterator<Item = &'static Exchange> {
    let of = |at: usize| match KINDS[at].family {
        Family::Exchange(exchange) => Some(exchange),
        _ => None,
    };
    (0..KINDS.len()).filter_map(move |at| {
        let exchange = of(at)?;
        let mut earlier = (0..at).filter_map(of);
        let is_new = !earlier.any(|known| known.errors == exchange.errors);
        is_new.then_some(exchange)
    })
}

/// Metrics that have a name of their own on the terminal.
#[cfg(test)]
pub fn named() -> Vec<Metric> {
    let both = exchanges().flat_map(|it| it.failure_kinds.iter().chain(it.answers_by_code));
    both.copied().collect()
}
