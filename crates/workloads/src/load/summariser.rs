//! How does JMeter say how a test goes, line by line?
//!
//! ```text
//! summary +    100 in 00:00:10 =   10.0/s Avg:   123 Min:    10 Max:   500 Err:     0 (0.00%) Active: …
//! summary =    200 in 00:00:20 =   10.0/s Avg:   121 Min:     9 Max:   500 Err:     1 (0.50%)
//! ```

use super::tally::Tallies;

/// Sums for one kind of line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    samples: u64,
    failed: u64,
    elapsed_ms: u64,
    least_ms: u64,
    most_ms: u64,
    begins_ns: Option<i64>,
}

/// Says every so often how a test goes.
#[derive(Debug, Clone)]
pub struct Summariser {
    name: String,
    interval_ns: i64,
    since: Sums,
    total: Sums,
    due_ns: Option<i64>,
    active: u32,
    most_active: u32,
}

impl Summariser {
    /// Lines of this name, so many seconds apart.
    pub fn new(name: &str, interval_s: u64) -> Self {
        Self {
            name: name.into(),
            interval_ns: i64::try_from(interval_s.max(1))
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
    pub fn add(&mut self, at_ns: i64, seen: &Tallies, active: u32) -> Vec<String> {
        self.active = active;
        self.most_active = self.most_active.max(active);
        for tally in seen.values().filter(|tally| !tally.is_transaction) {
            let begins_ns = tally.span_ns.map(|(first, _)| first);
            for sums in [&mut self.since, &mut self.total] {
                let (sum, least, most) = tally.elapsed_ms;
                sums.least_ms = if sums.samples == 0 {
                    least
                } else {
                    sums.least_ms.min(least)
                };
                sums.most_ms = sums.most_ms.max(most);
                sums.samples += tally.samples;
                sums.failed += tally.failed;
                sums.elapsed_ms += sum;
                sums.begins_ns = [sums.begins_ns, begins_ns].into_iter().flatten().min();
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

    /// The last lines of a test.
    pub fn end(&mut self, at_ns: i64) -> Vec<String> {
        self.lines(at_ns)
    }

    fn lines(&mut self, at_ns: i64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.since.samples > 0 {
            let users = format!(
                " Active: {} Started: {} Finished: {}",
                self.active,
                self.most_active,
                self.most_active - self.active
            );
            lines.push(format!(
                "{}{users}",
                line(&self.name, '+', &self.since, at_ns)
            ));
            // A line of its own only when it says something else.
            if self.since != self.total {
                lines.push(line(&self.name, '=', &self.total, at_ns));
            }
        } else if self.total.samples == 0 {
            lines.push(line(&self.name, '=', &self.total, at_ns));
        }
        self.since = Sums::default();
        lines
    }

    /// The line over everything, for the very end.
    pub fn total(&self, at_ns: i64) -> String {
        line(&self.name, '=', &self.total, at_ns)
    }
}

fn line(name: &str, sign: char, sums: &Sums, at_ns: i64) -> String {
    let elapsed_ns = sums.begins_ns.map_or(0, |begins| (at_ns - begins).max(0));
    let seconds = elapsed_ns / 1_000_000_000;
    let rate = match elapsed_ns {
        0 => "******".into(),
        ns => format!("{:>6.1}", sums.samples as f64 * 1e9 / ns as f64),
    };
    let mean_ms = sums.elapsed_ms / sums.samples.max(1);
    let percent = sums.failed as f64 * 100.0 / sums.samples.max(1) as f64;
    format!(
        "{name} {sign} {:>6} in {:02}:{:02}:{:02} = {rate}/s Avg: {mean_ms:>5} Min: {:>5} Max: {:>5} Err: {:>5} ({percent:.2}%)",
        sums.samples,
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        sums.least_ms,
        sums.most_ms,
        sums.failed,
    )
}

#[cfg(test)]
mod tests {
    use super::super::tally::LabelTally;
    use super::*;

    #[test]
    fn lines_look_like_jmeters() {
        let tally = LabelTally {
            samples: 100,
            failed: 1,
            elapsed_ms: (12_300, 10, 500),
            span_ns: Some((0, 10_000_000_000)),
            ..LabelTally::default()
        };
        let seen = Tallies::from([("a".to_owned(), tally)]);
        let mut summariser = Summariser::new("summary", 10);
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
    }
}
