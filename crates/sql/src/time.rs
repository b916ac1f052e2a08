//! Moments as engines write them.

/// Days from 1970-01-01 as year, month and day of the Gregorian calendar.
pub fn civil(days: i64) -> (i64, u32, u32) {
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Parts of a moment: year, month, day, hour, minute, second, microsecond.
pub(crate) fn parts(micros: i64) -> (i64, u32, u32, u32, u32, u32, u32) {
    const DAY: i64 = 86_400_000_000;
    let (year, month, day) = civil(micros.div_euclid(DAY));
    let of_day = micros.rem_euclid(DAY);
    let second = of_day / 1_000_000;
    (
        year,
        month,
        day,
        (second / 3600) as u32,
        (second / 60 % 60) as u32,
        (second % 60) as u32,
        (of_day % 1_000_000) as u32,
    )
}

/// A moment (microseconds since 1970 UTC) as `2026-11-24 17:05:00.000000`, which every engine reads.
pub fn text_of_time(micros: i64) -> String {
    let (year, month, day, hour, minute, second, micro) = parts(micros);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_calendars_have_them() {
        for (micros, text) in [
            (0, "1970-01-01 00:00:00.000000"),
            (951_782_400_000_000, "2000-02-29 00:00:00.000000"),
            (1_795_539_900_000_001, "2026-11-24 17:05:00.000001"),
            (-1, "1969-12-31 23:59:59.999999"),
        ] {
            assert_eq!(text_of_time(micros), text);
        }
    }
}
