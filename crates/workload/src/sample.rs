//! Sampling: the share of events whose time is taken.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use sokudo_i18n::TextError;

use crate::json_as_text;

/// Events that get a time stamp of their own and enter the histograms. All are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sample {
    /// Every one.
    #[default]
    All,
    /// The first of each so many.
    OneIn(NonZeroU32),
    /// None: only counts are kept.
    None,
}

impl FromStr for Sample {
    type Err = TextError;

    /// Reads `all`, `none`, `1/100`; `1/1` is all.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let share = match text {
            "all" => Some(Sample::All),
            "none" => Some(Sample::None),
            _ => text
                .strip_prefix("1/")
                .and_then(|n| n.parse::<NonZeroU32>().ok())
                .map(Sample::OneIn),
        };
        let share = share.ok_or_else(|| TextError::value("error-value-sample", text))?;
        Ok(match share {
            Sample::OneIn(NonZeroU32::MIN) => Sample::All,
            share => share,
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sample::All => f.write_str("all"),
            Sample::OneIn(n) => write!(f, "1/{n}"),
            Sample::None => f.write_str("none"),
        }
    }
}

json_as_text!(Sample);

/// Says of one event after the other whether its time is taken. One per thread.
#[derive(Debug, Clone)]
pub struct Sampler {
    period: u32,
    /// Events until the next one that is taken; 0 when none is.
    left: u32,
}

impl Sampler {
    /// A sampler that takes the first event.
    pub fn new(sample: Sample) -> Self {
        let period = match sample {
            Sample::All => 1,
            Sample::OneIn(n) => n.get(),
            Sample::None => 0,
        };
        Self {
            period,
            left: u32::from(period > 0),
        }
    }

    /// True when some events are left out.
    #[inline]
    pub fn is_sparse(&self) -> bool {
        self.period != 1
    }

    /// Whether the time of the next event will be taken.
    #[inline]
    pub fn will_take(&self) -> bool {
        self.left <= 1 && self.period > 0
    }

    /// True when the time of the next event is taken; then it is the turn of the one after.
    #[inline]
    pub fn takes(&mut self) -> bool {
        if self.left > 1 {
            self.left -= 1;
            return false;
        }
        self.left = self.period;
        self.period > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, of: usize) -> usize {
        let mut sampler = Sampler::new(text.parse().unwrap());
        (0..of)
            .filter(|_| {
                let announced = sampler.will_take();
                let takes = sampler.takes();
                assert_eq!(announced, takes);
                takes
            })
            .count()
    }

    #[test]
    fn the_share_is_kept_from_the_first_event_on() {
        assert_eq!(taken("all", 10), 10);
        assert_eq!(taken("1/1", 10), 10);
        assert_eq!(taken("1/3", 10), 4);
        assert_eq!(taken("1/100", 1), 1);
        assert_eq!(taken("none", 10), 0);
    }

    #[test]
    fn texts_come_back_and_others_are_refused() {
        for text in ["all", "none", "1/2", "1/4294967295"] {
            assert_eq!(text.parse::<Sample>().unwrap().to_string(), text);
        }
        for wrong in ["", "1", "1/0", "2/3", "1/x", "1/-1", "0", "1%"] {
            assert!(wrong.parse::<Sample>().is_err(), "{wrong}");
        }
    }
}
