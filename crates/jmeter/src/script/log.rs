//! Format of JMeter's log.
//!
//! As JMeter 5.6 writes it: `2026-01-01 12:00:00,123 WARN o.a.j.e.J.Name: text`. The name of a
//! logger is its class, followed by the name of the element; each part before the last dot is
//! shortened to one letter.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// INFO.
    Info,
    /// WARN.
    Warn,
    /// ERROR.
    Error,
}

impl LogLevel {
    /// The level with this name, ignoring case; `None`: a level that is not written.
    pub fn named(word: &str) -> Option<Self> {
        let known = [Self::Info, Self::Warn, Self::Error];
        known
            .into_iter()
            .find(|level| level.word().eq_ignore_ascii_case(word))
    }

    /// Its name in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

/// A line of the log, with its line end; `at_ms` is milliseconds since 1970.
pub fn line(at_ms: i64, zone: &TimeZone, level: LogLevel, logger: &str, text: &str) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    let at = at.to_zoned(zone.clone());
    format!(
        "{},{:03} {} {}: {text}\n",
        at.strftime("%Y-%m-%d %H:%M:%S"),
        at.millisecond(),
        level.word(),
        short(logger)
    )
}

/// The name of a logger with each part before the last dot shortened to one letter.
fn short(logger: &str) -> String {
    let Some((before, last)) = logger.rsplit_once('.') else {
        return logger.into();
    };
    let mut short = String::with_capacity(logger.len());
    for part in before.split('.') {
        short.extend(part.chars().next());
        short.push('.');
    }
    short + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_looks_as_the_tool_writes_it() {
        let logger = "org.apache.jmeter.extractor.JSR223PostProcessor.My Post";
        assert_eq!(
            line(
                1_767_268_800_023,
                &TimeZone::UTC,
                LogLevel::Warn,
                logger,
                "a b"
            ),
            "2026-01-01 12:00:00,023 WARN o.a.j.e.J.My Post: a b\n"
        );
        assert_eq!(
            short("org.apache.jmeter.functions.JavaScript"),
            "o.a.j.f.JavaScript"
        );
        assert_eq!(
            (short("alone"), short("日本.名")),
            ("alone".into(), "日.名".into())
        );
    }

    #[test]
    fn only_levels_that_are_written_have_a_name() {
        assert_eq!(LogLevel::named("warn"), Some(LogLevel::Warn));
        assert_eq!(LogLevel::named("DEBUG"), None);
    }
}
