//! State of a specification, as it is told: a light, what it is doing, what is queued, how far it is behind.

use std::time::Duration;

use serde_json::{Value, json};
use sokudo_model::{Text, Unit};

use super::copying::{Copying, Left};

/// Whether a specification does what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Light {
    /// The targets have what the source has, as far as is known.
    Green,
    /// Something is still to be done.
    Yellow,
    /// The last attempt failed.
    Red,
}

impl Light {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Red => "red",
        }
    }
}

/// Activity of a pair of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It waits for its time.
    Waits(Duration),
    /// It calls the host.
    Calls,
    /// It copies.
    Copies,
    /// It follows the source.
    Follows,
    /// It is over.
    Ended,
}

/// One source and one target.
#[derive(Debug, Clone)]
pub struct LegState {
    /// The other host.
    pub host: String,
    /// The activity.
    pub doing: Doing,
    /// Its progress.
    pub copying: Copying,
    /// The last attempt came to its end, and nothing was missing.
    pub is_well: bool,
    /// Reason why the last attempt failed.
    pub failed: Option<Text>,
    /// Attempts that came to their end.
    pub runs: u64,
}

impl LegState {
    /// Before its first attempt.
    pub fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            doing: Doing::Waits(Duration::ZERO),
            copying: Copying::default(),
            is_well: false,
            failed: None,
            runs: 0,
        }
    }

    fn light(&self) -> Light {
        let standing = self.copying.standing();
        let follows = self.doing == Doing::Follows && standing.is_listed;
        match self.doing {
            _ if self.failed.is_some() && !follows => Light::Red,
            Doing::Follows if standing.is_listed && standing.queued_files <= 0.0 => Light::Green,
            Doing::Waits(_) | Doing::Ended if self.is_well => Light::Green,
            _ => Light::Yellow,
        }
    }
}

/// A time as people say it of an appointment.
fn span(time: Duration) -> String {
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs() % 60);
    match minutes {
        0 => format!("{seconds} s"),
        1..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// A row of the board.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the specification.
    pub name: String,
    /// The worst of its pairs.
    pub light: Light,
    /// Activity of the least advanced of them.
    pub doing: Doing,
    /// Pairs of hosts, and those whose last attempt failed.
    pub legs: usize,
    /// Those whose last attempt failed.
    pub failed: usize,
    /// One of those, and why.
    pub why: Option<(String, Text)>,
    /// Bytes that are known to differ.
    pub queued_bytes: f64,
    /// The same in files.
    pub queued_files: f64,
    /// Content that is sent per second.
    pub bytes_per_s: f64,
    /// Lag of the one that is furthest behind.
    pub lag_s: Option<f64>,
    /// Time that is left of the one that takes the longest.
    pub left: Option<Left>,
    /// Attempts that came to their end.
    pub runs: u64,
}

impl Row {
    /// The row of these pairs.
    pub fn of(name: &str, legs: &[LegState]) -> Self {
        let standings: Vec<_> = legs.iter().map(|leg| leg.copying.standing()).collect();
        let light = legs.iter().map(LegState::light).max();
        let rank = |doing: &Doing| match doing {
            Doing::Copies => 4,
            Doing::Calls => 3,
            Doing::Follows => 2,
            Doing::Waits(_) => 1,
            Doing::Ended => 0,
        };
        let doing = legs.iter().map(|leg| leg.doing).max_by_key(rank);
        let mut failed = legs.iter().filter(|leg| leg.light() == Light::Red);
        let why = failed.next();
        let others = failed.count();
        let is_copying = |leg: &&LegState| matches!(leg.doing, Doing::Copies | Doing::Follows);
        let left = legs.iter().filter(is_copying);
        let left = left.filter_map(|leg| leg.copying.standing().left);
        Self {
            name: name.to_owned(),
            light: light.unwrap_or(Light::Yellow),
            doing: doing.unwrap_or(Doing::Ended),
            legs: legs.len(),
            failed: others + usize::from(why.is_some()),
            why: why.and_then(|leg| Some((leg.host.clone(), leg.failed.clone()?))),
            queued_bytes: standings.iter().map(|one| one.queued_bytes).sum(),
            queued_files: standings.iter().map(|one| one.queued_files).sum(),
            bytes_per_s: standings.iter().map(|one| one.bytes_per_s).sum(),
            lag_s: standings
                .iter()
                .filter_map(|one| one.lag_s)
                .reduce(f64::max),
            left: left.max_by(|a, b| a.seconds.total_cmp(&b.seconds)),
            runs: legs.iter().map(|leg| leg.runs).sum(),
        }
    }

    /// Its description, in parts.
    pub fn parts(&self) -> Vec<Text> {
        let mut parts = vec![match self.doing {
            Doing::Waits(time) => Text::new("specs-waits").word("time", span(time)),
            Doing::Calls => Text::new("specs-calls"),
            Doing::Copies => {
                Text::new("specs-copies").number("rate", self.bytes_per_s, Unit::BytesPerSecond)
            }
            Doing::Follows => Text::new("specs-follows"),
            Doing::Ended => Text::new("specs-ended").word("runs", self.runs.to_string()),
        }];
        let goes_on = matches!(self.doing, Doing::Copies | Doing::Follows);
        if goes_on && self.queued_files > 0.0 {
            let queue = Text::new("specs-queue")
                .number("files", self.queued_files, Unit::One)
                .number("bytes", self.queued_bytes, Unit::Bytes);
            parts.push(queue);
        }
        if let Some(left) = self.left.filter(|left| goes_on && left.seconds > 0.0) {
            let key = match left.is_least {
                true => "specs-left-least",
                false => "specs-left",
            };
            parts.push(Text::new(key).number("time", left.seconds, Unit::Seconds));
        }
        if let Some(lag_s) = self.lag_s.filter(|_| self.doing == Doing::Follows) {
            parts.push(Text::new("specs-lag").number("time", lag_s, Unit::Seconds));
        }
        if let Some((host, why)) = &self.why {
            let text = Text::new("specs-failed")
                .word("failed", self.failed.to_string())
                .word("legs", self.legs.to_string())
                .word("host", host)
                .text("why", why.clone());
            parts.push(text);
        }
        parts
    }

    /// As an object of `--json`.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "state": self.light.name(),
            "targets": self.legs,
            "failed": self.failed,
            "runs": self.runs,
            "queued_bytes": self.queued_bytes,
            "queued_files": self.queued_files,
            "lag_seconds": self.lag_s,
            "why": self.why.as_ref().map(|(host, why)| format!("{host}: {}", sokudo_i18n::english(why))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_pair_gives_the_light() {
        let mut legs = vec![LegState::new("a"), LegState::new("b")];
        let row = Row::of("x", &legs);
        assert_eq!((row.light, row.failed), (Light::Yellow, 0));
        legs[0].is_well = true;
        legs[1].is_well = true;
        assert_eq!(Row::of("x", &legs).light, Light::Green);
        legs[1].failed = Some("it is gone".into());
        let row = Row::of("x", &legs);
        assert_eq!((row.light, row.failed, row.legs), (Light::Red, 1, 2));
        assert_eq!(row.why.as_ref().map(|(host, _)| host.as_str()), Some("b"));
        legs[0].doing = Doing::Copies;
        assert_eq!(Row::of("x", &legs).doing, Doing::Copies);
    }
}
