//! Limits that depend on the time of day: `20Mb/s`, or `Mon-Fri 09:00-18:00 20Mb/s, none`.

use std::fmt;
use std::str::FromStr;

use sokudo_i18n::TextError;
use sokudo_model::Rate;
use sokudo_workload::json_as_text;
use sokudo_workload::values::LoadRate;

/// Entries of a timetable at most.
const MOST_ENTRIES: usize = 64;
/// Minutes of a day.
pub const DAY_MIN: u16 = 24 * 60;
/// Names of the days, in the order of [`Days`].
const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A moment of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekTime {
    /// Day, 0 = Monday.
    pub day: u8,
    /// Minute of the day.
    pub minute: u16,
}

impl WeekTime {
    /// The present moment in the time zone of this host.
    pub fn now() -> Self {
        let now = jiff::Zoned::now();
        Self {
            day: now.weekday().to_monday_zero_offset().unsigned_abs(),
            minute: u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute()))
                .unwrap_or_default(),
        }
    }

    /// Seconds since the present minute began.
    pub fn seconds_now() -> u64 {
        u64::from(jiff::Zoned::now().second().unsigned_abs())
    }
}

/// Days of the week, a bit each, the lowest is Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days(u8);

impl Days {
    /// All of them.
    pub const ALL: Self = Self(0x7f);

    /// True when this day (0 = Monday) is among them.
    pub fn has(self, day: u8) -> bool {
        self.0 >> (day % 7) & 1 == 1
    }

    /// Reads `Mon`, `Mon-Fri` or `Sat-Mon`.
    pub fn parse(text: &str) -> Option<Self> {
        let day = |name: &str| {
            NAMES
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name))
        };
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (day(first)?, day(last)?),
            None => (day(text)?, day(text)?),
        };
        let count = (last + 7 - first) % 7 + 1;
        let days = (first..first + count).map(|day| 1_u8 << (day % 7));
        Some(Self(days.sum()))
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = (0..7_u8).find(|day| self.has(*day) && !self.has(day + 6));
        let first = starts.unwrap_or(0);
        let count = self.0.count_ones() as u8;
        let name = |day: u8| NAMES[usize::from(day % 7)];
        match count {
            1 => f.write_str(name(first)),
            count => write!(f, "{}-{}", name(first), name(first + count - 1)),
        }
    }
}

/// Reads `09:30` as minutes of the day; `24:00` is its end.
pub fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    if hours.is_empty() || hours.len() > 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (hours.parse::<u16>().ok()?, minutes.parse::<u16>().ok()?);
    let minute = hours.checked_mul(60)?.checked_add(minutes)?;
    (minutes < 60 && minute <= DAY_MIN).then_some(minute)
}

/// Times at which an entry applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    days: Days,
    /// Begin and end, minutes of the day; an end before the begin is one of the next day.
    from: u16,
    to: u16,
}

impl Window {
    fn holds(&self, at: WeekTime) -> bool {
        let today = self.days.has(at.day);
        if self.from < self.to {
            return today && (self.from..self.to).contains(&at.minute);
        }
        let yesterday = self.days.has((at.day + 6) % 7);
        (today && at.minute >= self.from) || (yesterday && at.minute < self.to)
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    window: Option<Window>,
    /// `None`: no limit.
    rate: Option<LoadRate>,
}

/// Limits by time of day; the first entry that applies counts, and without one there is no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Timetable(Vec<Entry>);

impl Timetable {
    /// One limit at all times.
    pub fn always(rate: LoadRate) -> Self {
        Self(vec![Entry {
            window: None,
            rate: Some(rate),
        }])
    }

    /// The limit at a moment, bytes per second.
    pub fn at(&self, at: WeekTime) -> Option<f64> {
        let applies = |entry: &&Entry| entry.window.is_none_or(|window| window.holds(at));
        let entry = self.0.iter().find(applies)?;
        entry.rate.map(|rate| rate.0.events_per_s(1.0))
    }

    /// The limit of all moments; `None` where it changes or there is none.
    pub fn fixed(&self) -> Option<f64> {
        let first = self.0.first().filter(|entry| entry.window.is_none())?;
        first.rate.map(|rate| rate.0.events_per_s(1.0))
    }

    /// The highest of the limits; `None` where there is none at some time.
    pub fn most(&self) -> Option<f64> {
        let until = self.0.iter().position(|entry| entry.window.is_none())?;
        let rates = self.0[..=until].iter();
        let rates = rates.map(|entry| Some(entry.rate?.0.events_per_s(1.0)));
        let rates = rates.collect::<Option<Vec<f64>>>()?;
        rates.into_iter().reduce(f64::max)
    }

    /// True when all limits count bytes.
    pub fn is_of_bytes(&self) -> bool {
        let mut rates = self.0.iter().filter_map(|entry| entry.rate);
        !rates.any(|rate| matches!(rate.0, Rate::Events(_)))
    }
}

impl FromStr for Timetable {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = || TextError::value("error-value-limit", text);
        let entries = text.split(',').map(|one| entry(one).ok_or_else(wrong));
        let entries = entries.collect::<Result<Vec<Entry>, TextError>>()?;
        match entries.len() <= MOST_ENTRIES {
            true => Ok(Self(entries)),
            false => Err(wrong()),
        }
    }
}

fn entry(text: &str) -> Option<Entry> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let rate = match words.pop()? {
        "none" => None,
        rate => Some(rate.parse().ok()?),
    };
    let window = match words[..] {
        [] | ["*"] => None,
        [times] if times.contains(':') => Some(window(Days::ALL, times)?),
        [days] => Some(window(Days::parse(days)?, "00:00-24:00")?),
        [days, times] => Some(window(Days::parse(days)?, times)?),
        _ => return None,
    };
    Some(Entry { window, rate })
}

fn window(days: Days, times: &str) -> Option<Window> {
    let (from, to) = times.split_once('-')?;
    let (from, to) = (minute(from)?, minute(to)?);
    (from != to && from < DAY_MIN).then_some(Window { days, from, to })
}

impl fmt::Display for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, entry) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            if let Some(Window { days, from, to }) = entry.window {
                if days != Days::ALL {
                    write!(f, "{days} ")?;
                }
                let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
                write!(f, "{}-{} ", clock(from), clock(to))?;
            }
            match entry.rate {
                Some(rate) => write!(f, "{rate}")?,
                None => f.write_str("none")?,
            }
        }
        Ok(())
    }
}

json_as_text!(Timetable);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: u8, minute: u16) -> WeekTime {
        WeekTime { day, minute }
    }

    #[test]
    fn the_first_entry_that_applies_counts() {
        let table: Timetable = "Mon-Fri 09:00-18:00 8Mb/s, 22:00-06:00 none, 80Mb/s"
            .parse()
            .unwrap();
        assert_eq!(table.at(at(0, 9 * 60)), Some(1e6));
        assert_eq!(table.at(at(4, 18 * 60 - 1)), Some(1e6));
        assert_eq!(table.at(at(4, 18 * 60)), Some(10e6));
        assert_eq!(table.at(at(5, 12 * 60)), Some(10e6));
        assert_eq!(table.at(at(5, 23 * 60)), None);
        assert_eq!(table.at(at(6, 5 * 60 + 59)), None);
        assert_eq!(table.at(at(6, 6 * 60)), Some(10e6));
        assert_eq!((table.fixed(), table.most()), (None, None));
    }

    #[test]
    fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
        let table: Timetable = "Fri 22:00-06:00 8Mb/s, none".parse().unwrap();
        assert_eq!(table.at(at(4, 22 * 60)), Some(1e6));
        assert_eq!(table.at(at(5, 60)), Some(1e6));
        assert_eq!(table.at(at(4, 60)), None);
        assert_eq!(table.at(at(5, 22 * 60)), None);
    }

    #[test]
    fn a_plain_rate_is_a_limit_of_all_moments() {
        let table: Timetable = "20Mb/s".parse().unwrap();
        assert_eq!(table.fixed(), Some(2.5e6));
        assert_eq!(table.most(), Some(2.5e6));
        let days: Timetable = "Sat-Mon 8Mb/s, 16Mb/s".parse().unwrap();
        assert_eq!(days.most(), Some(2e6));
        assert_eq!(days.at(at(0, 0)), Some(1e6));
        assert_eq!(days.at(at(1, 0)), Some(2e6));
    }

    #[test]
    fn what_it_writes_it_reads() {
        for text in [
            "20Mb/s",
            "09:00-18:00 20Mb/s, none",
            "Sat-Mon 22:00-06:00 1Mb/s, Wed 00:00-24:00 none, 5Mb/s",
        ] {
            let table: Timetable = text.parse().unwrap();
            assert_eq!(table.to_string().parse(), Ok(table), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "fast",
            "9-18 20Mb/s",
            "09:00-09:00 1Mb/s",
            "25:00-26:00 1Mb/s",
            "Mon Tue 09:00-10:00 1Mb/s",
            "Day 1Mb/s",
            "20Mb/s,",
            "24:00-06:00 1Mb/s",
            "09:60-10:00 1Mb/s",
        ] {
            assert!(text.parse::<Timetable>().is_err(), "{text}");
        }
    }
}
