//! Schedule of a specification: once, repeated, at times of day, or without end.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_replicate::replicate::timetable::{DAY_MIN, Days, WeekTime, minute};
use sokudo_model::Text;
use sokudo_workload::values::Span;

/// Shortest time between two begins.
const SHORTEST: Duration = Duration::from_secs(1);
/// Longest time between two begins.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// Times of day at most.
const MOST_TIMES: usize = 64;

/// Times at which a specification is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At once, and not again.
    Once,
    /// At once, and then every change as it is made.
    Mirror,
    /// At once, and then so long after each begin.
    Every(Duration),
    /// On these days at these minutes of the day.
    At(Vec<(Days, u16)>),
}

impl Schedule {
    /// Time until it begins; `None`: not again. `last` is the time since the last begin, `now` the
    /// present moment with seconds since the minute began.
    pub fn begins_in(&self, last: Option<Duration>, now: (WeekTime, u64)) -> Option<Duration> {
        match (self, last) {
            (Self::At(times), _) => Some(next_of(times, now)),
            (_, None) => Some(Duration::ZERO),
            (Self::Once, Some(_)) => None,
            (Self::Mirror, Some(_)) => Some(Duration::ZERO),
            (Self::Every(time), Some(last)) => Some(time.saturating_sub(last)),
        }
    }

    /// True when it ends by itself.
    pub fn ends(&self) -> bool {
        *self == Self::Once
    }
}

/// Time until the next of these times, more than nothing: a minute that has begun is over.
fn next_of(times: &[(Days, u16)], (now, seconds): (WeekTime, u64)) -> Duration {
    let ahead = (1..=8 * i64::from(DAY_MIN)).find(|ahead| {
        let minute = i64::from(now.minute) + ahead;
        let day = (i64::from(now.day) + minute / i64::from(DAY_MIN)) % 7;
        let minute = minute % i64::from(DAY_MIN);
        let holds = |(days, at): &(Days, u16)| days.has(day as u8) && i64::from(*at) == minute;
        times.iter().any(holds)
    });
    let minutes = ahead.unwrap_or(i64::from(DAY_MIN)).unsigned_abs();
    Duration::from_secs((minutes * 60).saturating_sub(seconds))
}

/// A text that is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchSchedule(String);

impl fmt::Display for NoSuchSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.text()))
    }
}

impl std::error::Error for NoSuchSchedule {}

impl NoSuchSchedule {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-specs-schedule").word("text", &*self.0)
    }
}

impl FromStr for Schedule {
    type Err = NoSuchSchedule;

    fn from_str(text: &str) -> Result<Self, NoSuchSchedule> {
        let wrong = || NoSuchSchedule(text.to_owned());
        match text.trim() {
            "once" => return Ok(Self::Once),
            "mirror" => return Ok(Self::Mirror),
            _ => {}
        }
        if let Some(time) = text.trim().strip_prefix("every ") {
            let time: Span = time.trim().parse().map_err(|_| wrong())?;
            let time = Duration::from_nanos(time.0);
            let is_bounded = (SHORTEST..=LONGEST).contains(&time);
            return is_bounded.then_some(Self::Every(time)).ok_or_else(wrong);
        }
        let times = text.split(',').map(|one| {
            let words: Vec<&str> = one.split_whitespace().collect();
            let (days, clock) = match words[..] {
                [clock] => (Days::ALL, clock),
                [days, clock] => (Days::parse(days)?, clock),
                _ => return None,
            };
            Some((days, minute(clock).filter(|minute| *minute < DAY_MIN)?))
        });
        let times = times.collect::<Option<Vec<(Days, u16)>>>();
        let times = times.filter(|times| times.len() <= MOST_TIMES);
        times.map(Self::At).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON_OF_FRIDAY: (WeekTime, u64) = (
        WeekTime {
            day: 4,
            minute: 12 * 60,
        },
        30,
    );

    #[track_caller]
    fn check(schedule: &str, last_s: Option<u64>, expected_s: Option<u64>) {
        let schedule: Schedule = schedule.parse().unwrap();
        let last = last_s.map(Duration::from_secs);
        let begins = schedule.begins_in(last, NOON_OF_FRIDAY);
        assert_eq!(begins.map(|time| time.as_secs()), expected_s);
    }

    #[test]
    fn the_next_begin_is_told() {
        check("once", None, Some(0));
        check("once", Some(5), None);
        check("mirror", Some(5), Some(0));
        check("every 15m", None, Some(0));
        check("every 15m", Some(600), Some(300));
        check("every 15m", Some(9_000), Some(0));
        check("12:01", None, Some(30));
        check("12:00", Some(30), Some(24 * 3600 - 30));
        check("Sat 14:00, 18:00", None, Some(6 * 3600 - 30));
        check("Fri 11:00", Some(3600), Some(7 * 24 * 3600 - 3600 - 30));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "never", "every", "every 0s", "24:00", "Mon", "12:00,"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
