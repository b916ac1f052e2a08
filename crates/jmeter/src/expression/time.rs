//! Formatting and parsing of dates with Java's date patterns.
//!
//! The letters that plans use are supported: years to milliseconds, English names of months and
//! days, zones. Other letters are an error, because a wrong date in a request is noticed late.

use std::fmt::Write as _;

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use crate::digits::zero_padded;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// A piece of a pattern.
#[derive(Debug, PartialEq)]
enum PatternPiece {
    /// Literal text.
    Text(String),
    /// A letter and its number of repetitions.
    Field(char, usize),
}

/// The moment `ms` milliseconds after 1970 in a zone. `None` outside the years −9999 to 9999.
pub(crate) fn moment(ms: i64, zone: &TimeZone) -> Option<Zoned> {
    let stamp = Timestamp::from_millisecond(ms).ok()?;
    Some(stamp.to_zoned(zone.clone()))
}

/// A moment in a pattern; empty if it cannot be written.
pub(crate) fn written(pattern: &str, ms: i64, zone: &TimeZone) -> String {
    let mut out = String::new();
    if let Some(at) = moment(ms, zone)
        && write(pattern, &at, &mut out).is_err()
    {
        out.clear();
    }
    out
}

/// Appends a moment in a pattern. Fails for an unsupported letter.
pub(crate) fn write(pattern: &str, at: &Zoned, out: &mut String) -> Result<(), String> {
    for piece in pieces(pattern)? {
        match piece {
            PatternPiece::Text(text) => out.push_str(&text),
            PatternPiece::Field(letter, width) => field(letter, width, at, out)?,
        }
    }
    Ok(())
}

fn field(letter: char, width: usize, at: &Zoned, out: &mut String) -> Result<(), String> {
    let number = |out: &mut String, value: i64| {
        out.push_str(&zero_padded(value, width));
        Ok(())
    };
    let hour = i64::from(at.hour());
    match letter {
        'y' | 'u' if width == 2 => {
            let _ = write!(out, "{:02}", at.year().rem_euclid(100));
            Ok(())
        }
        'y' | 'u' => number(out, at.year().into()),
        'Y' => match (week_year(at.date()), width) {
            (None, _) => Err(
                "which year the letter `Y` of the date pattern means on this day depends on the \
                 language of JMeter"
                    .into(),
            ),
            (Some(year), 2) => {
                let _ = write!(out, "{:02}", year.rem_euclid(100));
                Ok(())
            }
            (Some(year), _) => number(out, year.into()),
        },
        'M' | 'L' if width >= 3 => name(out, MONTHS[at.month() as usize - 1], width),
        'M' | 'L' => number(out, at.month().into()),
        'd' => number(out, at.day().into()),
        'D' => number(out, at.day_of_year().into()),
        'H' => number(out, hour),
        'k' => number(out, if hour == 0 { 24 } else { hour }),
        'K' => number(out, hour % 12),
        'h' => number(out, if hour % 12 == 0 { 12 } else { hour % 12 }),
        'm' => number(out, at.minute().into()),
        's' => number(out, at.second().into()),
        'S' => {
            let digits = format!("{:09}", at.subsec_nanosecond());
            // Three digits are milliseconds; more than nine are not available.
            out.push_str(&digits[..width.min(9)]);
            Ok(())
        }
        'a' => name(out, if hour < 12 { "AM" } else { "PM" }, 4),
        'E' => {
            let day = at.weekday().to_monday_zero_offset() as usize;
            name(out, DAYS[day], width)
        }
        'z' => name(
            out,
            at.time_zone().to_offset_info(at.timestamp()).abbreviation(),
            4,
        ),
        'Z' => offset(out, at, ""),
        'X' if at.offset().is_zero() => name(out, "Z", 4),
        'X' | 'x' if width == 1 && at.offset().seconds() % 3600 == 0 => {
            let _ = write!(out, "{:+03}", at.offset().seconds() / 3600);
            Ok(())
        }
        'X' | 'x' => offset(out, at, if width >= 3 { ":" } else { "" }),
        other => Err(not_understood(other)),
    }
}

/// The year to which the week belongs. Where weeks begin on Sunday, or the one with the first of January
/// is always the first, another day may begin it: `None` if they differ.
fn week_year(date: Date) -> Option<i16> {
    let weekday = date.weekday();
    let of_the_day_after = |days: i8| {
        let day = date.checked_add(jiff::Span::new().days(days)).ok()?;
        Some(day.year())
    };
    let year = date.iso_week_date().year();
    let others = [
        weekday.to_sunday_zero_offset(),
        weekday.to_monday_zero_offset(),
    ];
    others
        .iter()
        .all(|offset| of_the_day_after(6 - offset) == Some(year))
        .then_some(year)
}

fn not_understood(letter: char) -> String {
    format!("the letter `{letter}` of the date pattern is not supported")
}

fn name(out: &mut String, name: &str, width: usize) -> Result<(), String> {
    let long = if width >= 4 { name.len() } else { 3 };
    out.push_str(&name[..long]);
    Ok(())
}

fn offset(out: &mut String, at: &Zoned, colon: &str) -> Result<(), String> {
    let seconds = at.offset().seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let _ = write!(out, "{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60);
    Ok(())
}

/// The reason why a pattern cannot be used; `None`: it can.
pub(super) fn flaw(pattern: &str) -> Option<String> {
    let at = moment(0, &TimeZone::UTC)?;
    write(pattern, &at, &mut String::new()).err()
}

/// As [`flaw`], of a pattern that dates are read with.
pub(super) fn flaw_to_read(pattern: &str) -> Option<String> {
    let has_years_of_weeks = |pieces: Vec<PatternPiece>| {
        let mut pieces = pieces.iter();
        pieces.any(|piece| matches!(piece, PatternPiece::Field('Y', _)))
    };
    flaw(pattern).or_else(|| {
        let has = pieces(pattern).is_ok_and(has_years_of_weeks);
        has.then(|| not_understood('Y'))
    })
}

/// Milliseconds after 1970 of the civil time that clocks of a zone show at a moment.
pub(super) fn local_ms(ms: i64, zone: &TimeZone) -> i64 {
    let offset_s = moment(ms, zone).map_or(0, |at| at.offset().seconds());
    ms.saturating_add(i64::from(offset_s) * 1_000)
}

/// Fails if a pattern writes a field that a date in another pattern does not have.
pub(super) fn lacks(target: &str, source: &str) -> Result<(), String> {
    const LEVELS: &[&str] = &["yYuMLdDEe", "HhKkams", "S"];
    let fields = |pattern: &str| -> Result<Vec<char>, String> {
        let all = pieces(pattern)?.into_iter();
        Ok(all
            .filter_map(|piece| match piece {
                PatternPiece::Field(letter, _) => Some(letter),
                PatternPiece::Text(_) => None,
            })
            .collect())
    };
    let (wanted, given) = (fields(target)?, fields(source)?);
    for level in LEVELS {
        let in_level = |letter: &&char| level.contains(**letter);
        let lacking = wanted.iter().find(in_level);
        if let (Some(letter), None) = (lacking, given.iter().find(in_level)) {
            return Err(format!("a date in `{source}` has no field `{letter}`"));
        }
    }
    Ok(())
}

/// A date that is being read.
struct DateParts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    /// The year of its week must be this one.
    week_year: Option<i64>,
    /// True in the afternoon, where the hour is that of a clock of twelve hours.
    afternoon: Option<bool>,
    /// Offset from UTC, seconds; `None`: that of the zone.
    offset_s: Option<i64>,
}

/// Milliseconds after 1970 of a date in a pattern; missing fields have their first value, a
/// missing year is that of `now_ms`, or 1970.
///
/// Fails if the text does not match the pattern, or for a letter that cannot be parsed.
pub(crate) fn read(
    pattern: &str,
    text: &str,
    now_ms: Option<i64>,
    zone: &TimeZone,
) -> Result<i64, String> {
    let misfit = || format!("`{text}` does not match the date pattern `{pattern}`");
    let mut parts = DateParts {
        year: now_ms.map_or(1970, |now_ms| {
            moment(now_ms, zone).map_or(1970, |at| at.year().into())
        }),
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        nanos: 0,
        week_year: None,
        afternoon: None,
        offset_s: None,
    };
    let mut rest = text;
    let all = pieces(pattern)?;
    for (index, piece) in all.iter().enumerate() {
        match piece {
            PatternPiece::Text(text) => {
                rest = rest.strip_prefix(text.as_str()).ok_or_else(misfit)?;
            }
            PatternPiece::Field(letter, width) => {
                // Adjacent numbers have the width of the pattern.
                let touches = matches!(all.get(index + 1), Some(PatternPiece::Field(..)));
                let most = if touches { *width } else { 9 };
                let read = parts.field(*letter, *width, most, rest)?;
                rest = read.ok_or_else(misfit)?;
            }
        }
    }
    let at = rest.is_empty().then(|| parts.moment_ms(zone)).flatten();
    at.ok_or_else(misfit)
}

impl DateParts {
    /// Takes a field from the beginning of a text, and gives the text behind it; `None`: it does
    /// not match. Fails for a letter that cannot be parsed.
    fn field<'t>(
        &mut self,
        letter: char,
        width: usize,
        most: usize,
        text: &'t str,
    ) -> Result<Option<&'t str>, String> {
        let name = |names: &[&'static str]| {
            let index = names.iter().position(|name| text.starts_with(&name[..3]))?;
            let rest = text.strip_prefix(names[index]).unwrap_or(&text[3..]);
            Some((index, rest))
        };
        match letter {
            'M' | 'L' if width >= 3 => {
                return Ok(name(&MONTHS).map(|(index, rest)| {
                    self.month = index as i64 + 1;
                    rest
                }));
            }
            'E' => return Ok(name(&DAYS).map(|(_, rest)| rest)),
            'a' => {
                let half = text.get(..2).map(str::to_ascii_uppercase);
                self.afternoon = Some(half.as_deref() == Some("PM"));
                let is_half = matches!(half.as_deref(), Some("AM" | "PM"));
                return Ok(is_half.then(|| &text[2..]));
            }
            'X' | 'x' | 'Z' => return Ok(self.offset(letter, text)),
            _ => {}
        }
        let digits = text.bytes().take(most).take_while(u8::is_ascii_digit);
        let digits = digits.count();
        let Ok(value) = text[..digits].parse::<i64>() else {
            return Ok(None);
        };
        match letter {
            'y' | 'u' if width == 2 && digits == 2 => self.year = 2000 + value,
            'y' | 'u' => self.year = value,
            'Y' if width == 2 && digits == 2 => self.week_year = Some(2000 + value),
            'Y' => self.week_year = Some(value),
            'M' | 'L' => self.month = value,
            'd' => self.day = value,
            'H' | 'k' => self.hour = value % 24,
            'h' | 'K' => {
                self.hour = value % 12;
                self.afternoon.get_or_insert(false);
            }
            'm' => self.minute = value,
            's' => self.second = value,
            'S' => self.nanos = value * 10_i64.pow(9 - digits as u32),
            other => return Err(not_understood(other)),
        }
        Ok(Some(&text[digits..]))
    }

    /// Takes an offset such as `Z`, `+09`, `+0900` or `+09:00`.
    fn offset<'t>(&mut self, letter: char, text: &'t str) -> Option<&'t str> {
        if let ('X', Some(rest)) = (letter, text.strip_prefix('Z')) {
            self.offset_s = Some(0);
            return Some(rest);
        }
        let sign = match text.bytes().next()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let two = |at: usize| text.get(at..at + 2)?.parse::<i64>().ok();
        let hours = two(1)?;
        let colon = usize::from(text.as_bytes().get(3) == Some(&b':'));
        let (minutes, end) = match two(3 + colon) {
            Some(minutes) => (minutes, 5 + colon),
            None => (0, 3),
        };
        self.offset_s = Some(sign * (hours * 3_600 + minutes * 60));
        text.get(end..)
    }

    fn moment_ms(&self, zone: &TimeZone) -> Option<i64> {
        let small = |value: i64| i8::try_from(value).ok();
        let year = i16::try_from(self.year).ok()?;
        let date = Date::new(year, small(self.month)?, small(self.day)?).ok()?;
        if let Some(year) = self.week_year
            && week_year(date).map(i64::from) != Some(year)
        {
            return None;
        }
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            _ => self.hour,
        };
        let nanos = i32::try_from(self.nanos).ok()?;
        let time = Time::new(
            small(hour)?,
            small(self.minute)?,
            small(self.second)?,
            nanos,
        )
        .ok()?;
        let at = date.to_datetime(time);
        let stamp = match self.offset_s {
            None => at.to_zoned(zone.clone()).ok()?.timestamp(),
            Some(offset_s) => {
                let offset = Offset::from_seconds(i32::try_from(offset_s).ok()?).ok()?;
                offset.to_timestamp(at).ok()?
            }
        };
        Some(stamp.as_millisecond())
    }
}

fn pieces(pattern: &str) -> Result<Vec<PatternPiece>, String> {
    let mut found: Vec<PatternPiece> = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if chars.peek() == Some(&'\'') => {
                chars.next();
                push_text(&mut found, "'");
            }
            '\'' => loop {
                match chars.next() {
                    Some('\'') if chars.peek() == Some(&'\'') => {
                        chars.next();
                        push_text(&mut found, "'");
                    }
                    Some('\'') => break,
                    Some(c) => push_text(&mut found, c.encode_utf8(&mut [0; 4])),
                    None => return Err(format!("`{pattern}` has a quote that is not closed")),
                }
            },
            letter if letter.is_ascii_alphabetic() => match found.last_mut() {
                Some(PatternPiece::Field(same, width)) if *same == letter => *width += 1,
                _ => found.push(PatternPiece::Field(letter, 1)),
            },
            other => push_text(&mut found, other.encode_utf8(&mut [0; 4])),
        }
    }
    Ok(found)
}

fn push_text(found: &mut Vec<PatternPiece>, more: &str) {
    match found.last_mut() {
        Some(PatternPiece::Text(text)) => text.push_str(more),
        _ => found.push(PatternPiece::Text(more.into())),
    }
}

/// Milliseconds of an ISO 8601 duration of days to seconds: `P1DT-2H`, `-PT30S`, `PT0.5S`.
///
/// Fails for any other text.
pub(super) fn duration_ms(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is not a duration such as `P1DT2H30M` or `-PT5S`");
    let upper = text.trim().to_ascii_uppercase();
    let (sign, rest) = match upper.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, upper.strip_prefix('+').unwrap_or(&upper)),
    };
    let mut rest = rest.strip_prefix('P').ok_or_else(wrong)?;
    let (mut sum_ms, mut in_time, mut parts) = (0.0, false, 0);
    while !rest.is_empty() {
        if let (false, Some(after)) = (in_time, rest.strip_prefix('T')) {
            (in_time, rest) = (true, after);
            continue;
        }
        let end = rest
            .find(|c: char| c.is_ascii_alphabetic())
            .ok_or_else(wrong)?;
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        let unit_ms = match (&rest[end..=end], in_time) {
            ("D", false) => 86_400_000.0,
            ("H", true) => 3_600_000.0,
            ("M", true) => 60_000.0,
            ("S", true) => 1_000.0,
            _ => return Err(wrong()),
        };
        sum_ms += number * unit_ms;
        rest = &rest[end + 1..];
        parts += 1;
    }
    match parts {
        0 => Err(wrong()),
        _ => Ok((sign * sum_ms).round() as i64),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokyo() -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(9))
    }

    #[track_caller]
    fn check(pattern: &str, expected: &str) {
        // 2018-03-03 09:05:04.007 in Tokyo, a Saturday.
        let at = moment(1_520_035_504_007, &tokyo()).unwrap();
        let mut out = String::new();
        write(pattern, &at, &mut out).unwrap();
        assert_eq!(out, expected, "{pattern}");
    }

    #[test]
    fn years_of_weeks_are_those_that_all_languages_agree_on() {
        check("YYYY YY Y", "2018 18 2018");
        let year = |date: &str| week_year(date.parse::<Date>().unwrap());
        assert_eq!(year("2026-12-26"), Some(2026));
        // A Sunday, and a Monday.
        assert_eq!((year("2026-12-27"), year("2026-12-28")), (None, None));
        assert_eq!((year("2027-01-01"), year("2027-01-04")), (None, Some(2027)));
        // Read, it must be that of the date, whose own year is the present one.
        let read = |text| read("YYYY-MM-dd", text, Some(1_520_035_504_007), &tokyo());
        assert!(read("2018-06-05").is_ok() && read("2017-06-05").is_err());
        // A week with its Thursday in the next year.
        assert_eq!(year("2024-12-30"), Some(2025));
    }

    #[test]
    fn fields_of_any_length_are_filled() {
        let long = "d".repeat(100_000);
        check(&long, &format!("{}3", "0".repeat(99_999)));
    }

    #[test]
    fn patterns_are_written_as_java_does() {
        check(
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "2018-03-03T09:05:04.007+09:00",
        );
        check("yyyyMMdd-HHmmss", "20180303-090504");
        check("d MMM yy, EEE h:mm a", "3 Mar 18, Sat 9:05 AM");
        check("EEEE dd MMMM D Z X", "Saturday 03 March 62 +0900 +09");
        check("''yyyy''年M月", "'2018'年3月");
        let at = moment(0, &TimeZone::UTC).unwrap();
        let refused = write("yyyy Q", &at, &mut String::new()).unwrap_err();
        assert!(refused.contains("`Q`"), "{refused}");
    }

    #[test]
    fn what_was_written_is_read_back() {
        let read = |pattern, text| super::read(pattern, text, Some(0), &tokyo());
        assert_eq!(
            read("yyyyMMdd-HHmmss", "20180303-090504"),
            Ok(1_520_035_504_000)
        );
        assert_eq!(
            read("dd MMM yyyy HH:mm:ss.SSS", "03 Mar 2018 09:05:04.007"),
            Ok(1_520_035_504_007)
        );
        assert!(read("yyyy-MM-dd", "2018-13-01").is_err());
        assert!(read("yyyy-MM-dd", "2018-12-01x").is_err());
    }

    #[test]
    fn durations_are_days_to_seconds() {
        assert_eq!(duration_ms("P1DT2H"), Ok(93_600_000));
        assert_eq!(duration_ms("-PT30S"), Ok(-30_000));
        assert_eq!(duration_ms("PT-5M"), Ok(-300_000));
        assert_eq!(duration_ms("pt0.5s"), Ok(500));
        for wrong in ["", "P", "PT", "1D", "P1M", "PT1D", "PT1X", "P1é"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(pattern in "\\PC{0,12}", text in "\\PC{0,12}", ms: i64) {
            let _ = read(&pattern, &text, Some(ms), &tokyo());
            let _ = lacks(&pattern, &text);
            let _ = duration_ms(&text);
            if let Some(at) = moment(ms, &tokyo()) {
                let _ = write(&pattern, &at, &mut String::new());
            }
        }
    }
}
