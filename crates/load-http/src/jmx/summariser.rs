//! JMeter's summary lines about a test that runs.
//!
//! ```text
//! summary +    100 in 00:00:10 =   10.0/s Avg:   123 Min:    10 Max:   500 Err:     0 (0.00%) Active: …
//! summary =    200 in 00:00:20 =   10.0/s Avg:   121 Min:     9 Max:   500 Err:     1 (0.50%)
//! ```

use sokudo_jmeter::plan::{Id, ListenerKind, Plan};
use sokudo_jmeter::properties::Properties;

use super::tally::{Summed, Tallies};

/// Time between two lines unless the properties say otherwise, seconds.
const INTERVAL_S: f64 = 30.0;

/// Settings of a plan's properties `summariser.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummariserOptions {
    /// Begin of the lines about all results; `None`: there are none.
    pub name: Option<String>,
    /// Time between two lines, seconds.
    pub interval_s: u64,
    /// They go to stdout.
    pub out: bool,
    /// They go to the log.
    pub log: bool,
    /// Results of transactions count, too.
    pub transactions: bool,
}

impl SummariserOptions {
    /// Settings that the properties ask for.
    pub fn of(properties: &Properties) -> Self {
        let name = properties.get("summariser.name").map(str::trim);
        let flag = |name: &str| {
            let said = properties.get(name).map(str::trim);
            said.is_none_or(|said| said.eq_ignore_ascii_case("true"))
        };
        Self {
            name: name.filter(|name| !name.is_empty()).map(str::to_owned),
            interval_s: properties
                .number("summariser.interval")
                .unwrap_or(INTERVAL_S) as u64,
            out: flag("summariser.out"),
            log: flag("summariser.log"),
            transactions: !flag("summariser.ignore_transaction_controller_sample_result"),
        }
    }
}

/// The listeners of a plan that sum up.
pub(super) fn summaries(plan: &Plan) -> Vec<Id> {
    let listeners = (0..).zip(&plan.listeners);
    let found = listeners.filter(|(_, of)| matches!(of.kind, ListenerKind::Summary));
    found.map(|(id, _)| id).collect()
}

/// All lines about a test: those about every result, and those of the plan's listeners by their names.
#[derive(Debug, Clone)]
pub struct Summarisers(Vec<Summariser>);

impl Summarisers {
    /// Lines as they are asked for. Those with one name are one, in which a result counts for each.
    pub fn new(asked: &SummariserOptions, plan: &Plan) -> Self {
        let mut all: Vec<Summariser> = Vec::new();
        if let Some(name) = &asked.name {
            all.push(Summariser::new(asked, name, true));
        }
        for id in summaries(plan) {
            let name = plan.listeners[id as usize].name.to_string();
            match all.iter_mut().find(|known| known.name == name) {
                Some(known) => known.listeners.push(id),
                None => {
                    let mut own = Summariser::new(asked, &name, false);
                    own.listeners.push(id);
                    all.push(own);
                }
            }
        }
        Self(all)
    }

    /// Adds what was seen until a moment. The lines to be said now.
    pub fn add(&mut self, at_ns: i64, seen: &Tallies, active: u32) -> Vec<String> {
        let each = self.0.iter_mut();
        each.flat_map(|one| one.add(at_ns, seen, active)).collect()
    }

    /// The last lines of a test.
    pub fn end(&mut self, at_ns: i64) -> Vec<String> {
        self.0.iter_mut().flat_map(|one| one.end(at_ns)).collect()
    }
}

/// Sums for one kind of line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    of: Summed,
    begins_ns: Option<i64>,
}

/// Says every so often how a test goes.
#[derive(Debug, Clone)]
struct Summariser {
    name: String,
    /// Every result counts.
    everything: bool,
    /// Listeners of the plan: the results told to each count, once for each.
    listeners: Vec<Id>,
    interval_ns: i64,
    transactions: bool,
    since: Sums,
    total: Sums,
    due_ns: Option<i64>,
    active: u32,
    most_active: u32,
}

impl Summariser {
    /// Lines as they are asked for.
    fn new(asked: &SummariserOptions, name: &str, everything: bool) -> Self {
        Self {
            name: name.into(),
            everything,
            listeners: Vec::new(),
            transactions: asked.transactions,
            interval_ns: i64::try_from(asked.interval_s.max(1))
                .unwrap_or(30)
                .saturating_mul(1_000_000_000),
            since: Sums::default(),
            total: Sums::default(),
            due_ns: None,
            active: 0,
            most_active: 0,
        }
    }

    /// Adds what was seen until a moment. The lines to be said now: none before the interval is
    /// over.
    fn add(&mut self, at_ns: i64, seen: &Tallies, active: u32) -> Vec<String> {
        self.active = active;
        self.most_active = self.most_active.max(active);
        let kinds = if self.transactions { 2 } else { 1 };
        for tally in seen.values() {
            let everything = self.everything.then_some(&tally.summed);
            let told = self.listeners.iter().filter_map(|id| tally.told.get(id));
            let counted = everything.into_iter().chain(told);
            for counted in counted.flat_map(|of| &of[..kinds]) {
                if counted.samples == 0 {
                    continue;
                }
                let begins_ns = tally.span_ns.map(|(first, _)| first);
                for sums in [&mut self.since, &mut self.total] {
                    sums.of.add(counted);
                    sums.begins_ns = [sums.begins_ns, begins_ns].into_iter().flatten().min();
                }
            }
        }
        let due_ns = *self.due_ns.get_or_insert(at_ns + self.interval_ns);
        match at_ns >= due_ns {
            true => {
                self.due_ns = Some(due_ns + self.interval_ns);
                self.lines(at_ns)
            }
            false => Vec::new(),
        }
    }

    /// The last lines of a test: the total in any case.
    fn end(&mut self, at_ns: i64) -> Vec<String> {
        let since = self.since.of.samples;
        let is_told = since > 0 && since < self.total.of.samples;
        let last = is_told.then(|| self.last(at_ns));
        let total = line(&self.name, '=', &self.total, at_ns);
        last.into_iter().chain([total]).collect()
    }

    fn lines(&mut self, at_ns: i64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.since.of.samples > 0 {
            lines.push(self.last(at_ns));
            // A line of its own only when it says something else.
            if self.since != self.total {
                lines.push(line(&self.name, '=', &self.total, at_ns));
            }
        }
        self.since = Sums::default();
        lines
    }

    /// The line over what came since the one before it.
    fn last(&self, at_ns: i64) -> String {
        let users = format!(
            " Active: {} Started: {} Finished: {}",
            self.active,
            self.most_active,
            self.most_active - self.active
        );
        line(&self.name, '+', &self.since, at_ns) + &users
    }
}

fn line(name: &str, sign: char, sums: &Sums, at_ns: i64) -> String {
    let (elapsed_ms, least_ms, most_ms) = sums.of.elapsed_ms;
    let elapsed_ns = sums.begins_ns.map_or(0, |begins| (at_ns - begins).max(0));
    let seconds = elapsed_ns / 1_000_000_000;
    let rate = match elapsed_ns {
        0 => "******".into(),
        ns => format!("{:>6.1}", sums.of.samples as f64 * 1e9 / ns as f64),
    };
    let mean_ms = elapsed_ms / sums.of.samples.max(1);
    let percent = sums.of.failed as f64 * 100.0 / sums.of.samples.max(1) as f64;
    format!(
        "{name} {sign} {:>6} in {:02}:{:02}:{:02} = {rate}/s Avg: {mean_ms:>5} Min: {:>5} Max: {:>5} Err: {:>5} ({percent:.2}%)",
        sums.of.samples,
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        least_ms,
        most_ms,
        sums.of.failed,
    )
}

#[cfg(test)]
mod tests {
    use sokudo_jmeter::properties::Origin;

    use super::super::tally::LabelTally;

    use super::*;

    fn asked(properties: &[(&str, &str)]) -> SummariserOptions {
        let mut all = Properties::default();
        for (name, value) in properties {
            all.set(*name, *value, Origin::CommandLine);
        }
        SummariserOptions::of(&all)
    }

    #[test]
    fn properties_say_what_is_told_and_where() {
        let usual = asked(&[]);
        let told = (usual.name.as_deref(), usual.interval_s);
        assert_eq!(told, (Some("summary"), 30));
        assert!(usual.out && usual.log && !usual.transactions);
        let other = asked(&[
            ("summariser.interval", "7"),
            ("summariser.out", "false"),
            (
                "summariser.ignore_transaction_controller_sample_result",
                "False",
            ),
        ]);
        assert!(!other.out && other.log && other.transactions && other.interval_s == 7);
        assert_eq!(asked(&[("summariser.name", " ")]).name, None);
    }

    #[test]
    fn lines_look_like_jmeters() {
        let tally = LabelTally {
            summed: [
                Summed {
                    samples: 100,
                    failed: 1,
                    elapsed_ms: (12_300, 10, 500),
                },
                Summed::default(),
            ],
            span_ns: Some((0, 10_000_000_000)),
            ..LabelTally::default()
        };
        let seen = Tallies::from([("a".to_owned(), tally)]);
        let asked = asked(&[("summariser.interval", "10")]);
        let mut summariser = Summariser::new(&asked, "summary", true);
        assert!(summariser.add(0, &seen, 10).is_empty());
        assert_eq!(
            summariser.add(10_000_000_000, &Tallies::new(), 4),
            [
                "summary +    100 in 00:00:10 =   10.0/s Avg:   123 Min:    10 Max:   500 Err:     1 (1.00%) Active: 4 Started: 10 Finished: 6"
            ]
        );
        summariser.add(11_000_000_000, &seen, 0);
        let last = summariser.end(20_000_000_000);
        assert_eq!(
            last[1],
            "summary =    200 in 00:00:20 =   10.0/s Avg:   123 Min:    10 Max:   500 Err:     2 (1.00%)"
        );
        assert_eq!(last.len(), 2);
        let mut short = Summariser::new(&asked, "summary", true);
        short.add(0, &seen, 1);
        assert_eq!(
            short.end(10_000_000_000),
            [
                "summary =    100 in 00:00:10 =   10.0/s Avg:   123 Min:    10 Max:   500 Err:     1 (1.00%)"
            ]
        );
    }
}
