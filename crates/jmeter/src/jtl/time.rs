//! Parser of the time stamp formats that JMeter writes.

/// Milliseconds since 1970 of a time stamp: a number of milliseconds, or a date with a time.
///
/// Dates are `yyyy/MM/dd`, `yyyy-MM-dd`, `MM/dd/yy` or `MM/dd/yyyy`, then a space or `T`, then
/// `HH:mm:ss` with an optional fraction. Without a zone they count as UTC: only differences matter.
/// `None` for anything else. Source: the formats that JMeter 5.6 tries, in `jmeter.properties`
/// under `timestamp_format`.
pub fn stamp_ms(text: &[u8]) -> Option<i64> {
    if let Some(ms) = number(text) {
        return i64::try_from(ms).ok();
    }
    let split = text.iter().position(|b| *b == b' ' || *b == b'T')?;
    let days = days_since_1970(&text[..split])?;
    let ms = ms_of_day(&text[split + 1..])?;
    Some(days * 86_400_000 + ms)
}

/// An unsigned integer; `None` if the text is empty, not a number or too large.
#[inline]
pub fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

fn days_since_1970(date: &[u8]) -> Option<i64> {
    let mut parts = date.split(|b| *b == b'/' || *b == b'-');
    let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || [a, b, c].iter().any(|part| part.len() > 4) {
        return None;
    }
    let (year, month, day) = match (a.len(), c.len()) {
        (4, _) => (number(a)?, number(b)?, number(c)?),
        (_, 4) => (number(c)?, number(a)?, number(b)?),
        (_, 2) => (2000 + number(c)?, number(a)?, number(b)?),
        _ => return None,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(civil_days(year as i64, month as i64, day as i64))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that the
/// leap day is the last day.
fn civil_days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Parses `HH:mm:ss`, an optional `.SSS` or `,SSS`, and an optional zone (`Z`, `+09:00`, `+0900`).
fn ms_of_day(time: &[u8]) -> Option<i64> {
    let part = |from: usize| number(time.get(from..from + 2)?);
    let colons = time.get(2) == Some(&b':') && time.get(5) == Some(&b':');
    let (hour, minute, second) = (part(0)?, part(3)?, part(6)?);
    if !colons || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = &time[8..];
    let mut ms = ((hour * 60 + minute) * 60 + second) * 1000;
    if let [b'.' | b',', after @ ..] = rest {
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let scale = [0, 100, 10, 1].get(digits.min(3)).copied()?;
        ms += number(&after[..digits.min(3)])? * scale;
        rest = &after[digits..];
    }
    Some(ms as i64 - zone_ms(rest)?)
}

fn zone_ms(zone: &[u8]) -> Option<i64> {
    let sign = match zone {
        [] | [b'Z'] => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let digits: Vec<u8> = zone[1..].iter().copied().filter(|b| *b != b':').collect();
    let hours = number(digits.get(..2)?)?;
    let minutes = number(digits.get(2..4)?)?;
    let sound = digits.len() == 4 && hours <= 18 && minutes < 60;
    sound.then_some(sign * (hours * 60 + minutes) as i64 * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        assert_eq!(stamp_ms(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn every_way_of_writing_it_means_the_same() {
        let moment = Some(1_700_000_000_123);
        check("1700000000123", moment);
        check("2023/11/14 22:13:20.123", moment);
        check("2023-11-14 22:13:20,123", moment);
        check("2023-11-14T22:13:20.123Z", moment);
        check("2023-11-15T07:13:20.123+09:00", moment);
        check("11/14/23 22:13:20", Some(1_700_000_000_000));
        check("11/14/2023 22:13:20", Some(1_700_000_000_000));
        check("2024/02/29 00:00:00", Some(1_709_164_800_000));
        check("1970-01-01 00:00:00.5", Some(500));
    }

    #[test]
    fn what_is_no_time_stamp_is_told() {
        for wrong in [
            "",
            "x",
            "-5",
            "2023/13/14 22:13:20",
            "2023/11/14",
            "2023/11/14 25:13:20",
            "99999999999999999999",
            "2023/11/14 22:13:20 tomorrow",
            "14.11.2023 22:13:20",
            "2023/11/14 22:13:20.",
        ] {
            check(wrong, None);
        }
    }
}
