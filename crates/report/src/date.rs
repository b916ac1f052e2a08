//! Formats dates and times for readers.

use sokudo_i18n::Lang;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The parts of an RFC 3339 time that people read; `None` for anything else.
struct Moment {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    milli: u32,
}

fn parse(rfc3339: &str) -> Option<Moment> {
    let part = |from: usize, to: usize| -> Option<u32> {
        let digits = rfc3339.get(from..to)?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let moment = Moment {
        year: part(0, 4)?,
        month: part(5, 7)?,
        day: part(8, 10)?,
        hour: part(11, 13)?,
        minute: part(14, 16)?,
        second: part(17, 19)?,
        milli: part(20, 23).unwrap_or(0),
    };
    let sound = (1..=12).contains(&moment.month)
        && (1..=31).contains(&moment.day)
        && moment.hour < 24
        && moment.minute < 60
        && moment.second <= 60;
    sound.then_some(moment)
}

/// The date and minute in one language: `20 Nov 2026 13:57`, `2026年11月20日 13:57`.
pub fn written(rfc3339: &str, lang: Lang) -> Option<String> {
    let m = parse(rfc3339)?;
    let time = format!("{:02}:{:02}", m.hour, m.minute);
    Some(match lang {
        Lang::En => format!(
            "{} {} {} {time}",
            m.day,
            MONTHS[m.month as usize - 1],
            m.year
        ),
        Lang::Ja => format!("{}年{}月{}日 {time}", m.year, m.month, m.day),
    })
}

/// The date and minute in both languages.
pub fn both(rfc3339: &str) -> Option<[String; 2]> {
    Some([written(rfc3339, Lang::En)?, written(rfc3339, Lang::Ja)?])
}

/// Milliseconds since midnight on the clock of the controller, for the shared cursor.
pub fn clock_ms(rfc3339: &str) -> Option<u32> {
    let m = parse(rfc3339)?;
    Some(((m.hour * 60 + m.minute) * 60 + m.second) * 1000 + m.milli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_in_both_languages() {
        let [en, ja] = both("2026-11-20T13:57:28.125+09:00").unwrap();
        assert_eq!(en, "20 Nov 2026 13:57");
        assert_eq!(ja, "2026年11月20日 13:57");
        assert_eq!(clock_ms("2026-11-20T00:00:02.125Z"), Some(2125));
    }

    #[test]
    fn what_is_no_date_is_left_alone() {
        assert_eq!(both("yesterday"), None);
        assert_eq!(both("2026-13-20T13:57:28Z"), None);
        assert_eq!(both("２０２６-11-20T13:57:28Z"), None);
    }
}
