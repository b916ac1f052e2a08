//! The range of a search for the knee, as it is asked for: `connections=1..200`.

use std::str::FromStr;

use sokudo_i18n::TextError;
use sokudo_model::Text;

/// Most users of a search for the knee.
const MOST_USERS: u32 = 1_000_000;

/// The option that is raised, and its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KneeRange {
    /// Name of the option, without hyphens in front.
    pub option: String,
    /// Fewest users.
    pub low: u32,
    /// Most users, above `low`.
    pub high: u32,
}

impl FromStr for KneeRange {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let refuse = |why: Text| {
            TextError(
                Text::new("error-value-knee")
                    .word("text", text)
                    .text("why", why),
            )
        };
        let (option, range) = text
            .split_once('=')
            .ok_or_else(|| refuse(Text::new("error-value-knee-form")))?;
        let option = option.trim().trim_start_matches("--");
        let (low, high) = range
            .split_once("..")
            .ok_or_else(|| refuse(Text::new("error-value-knee-range")))?;
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok();
            let number = number.filter(|number| (1..=MOST_USERS).contains(number));
            number.ok_or_else(|| {
                refuse(
                    Text::new("error-value-knee-number")
                        .word("text", text)
                        .with("most", MOST_USERS),
                )
            })
        };
        let (low, high) = (number(low)?, number(high)?);
        if option.is_empty() {
            return Err(refuse(Text::new("error-value-knee-name")));
        }
        if low >= high {
            return Err(refuse(
                Text::new("error-value-sweep-order")
                    .with("text", low)
                    .with("to", high),
            ));
        }
        Ok(Self {
            option: option.into(),
            low,
            high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_or_refused_with_a_reason() {
        let range: KneeRange = "--connections=1..200".parse().unwrap();
        assert_eq!(
            (range.option.as_str(), range.low, range.high),
            ("connections", 1, 200)
        );
        for (wrong, why) in [
            ("connections", "`=`"),
            ("=1..2", "empty"),
            ("connections=5", "`..`"),
            ("connections=0..5", "whole number"),
            ("connections=1..1e3", "whole number"),
            ("connections=9..5", "below"),
            ("connections=1..9999999999", "whole number"),
        ] {
            let error = wrong.parse::<KneeRange>().unwrap_err().to_string();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
