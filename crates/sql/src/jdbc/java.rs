//! Values as `toString` of Java's classes writes them.

use crate::civil;

/// `Double.toString`.
pub(super) fn double(value: f64) -> String {
    floating(
        value,
        value.is_sign_negative(),
        format!("{:e}", value.abs()),
    )
}

/// `Float.toString`.
pub(super) fn float(value: f32) -> String {
    floating(
        f64::from(value),
        value.is_sign_negative(),
        format!("{:e}", value.abs()),
    )
}

/// `shortest` has the fewest digits that tell the value from others, as `1.25e-3`.
fn floating(value: f64, is_negative: bool, shortest: String) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let sign = if is_negative { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.replace('.', "");
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    if !(-3..7).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        return format!("{sign}{first}.{rest}E{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    let padded = format!("{digits:0<whole$}");
    let (whole, part) = padded.split_at(whole);
    format!("{sign}{whole}.{}", if part.is_empty() { "0" } else { part })
}

/// `BigDecimal.toString` of a number written without exponent.
pub(super) fn decimal(plain: &str) -> String {
    let (sign, bare) = match plain.strip_prefix('-') {
        Some(bare) => ("-", bare),
        None => ("", plain),
    };
    let Some((whole, part)) = bare.split_once('.') else {
        return plain.to_owned();
    };
    let digits = format!("{whole}{part}");
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let adjusted = digits.len() as i64 - 1 - part.len() as i64;
    if adjusted >= -6 {
        return plain.to_owned();
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{adjusted}")
}

/// `java.sql.Date.toString` of days since 1970.
pub(super) fn date(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `java.sql.Timestamp.toString` of a local moment, microseconds since 1970.
pub(super) fn timestamp(micros: i64) -> String {
    let text = crate::text_of_time(micros);
    timestamp_of_text(&text)
}

/// The same of `2026-11-24 17:05:00.500000`, or without a part of a second.
pub(super) fn timestamp_of_text(text: &str) -> String {
    let (seconds, part) = text.split_once('.').unwrap_or((text, "0"));
    let part = part.trim_end_matches('0');
    format!("{seconds}.{}", if part.is_empty() { "0" } else { part })
}

/// `LocalDateTime.toString` of the same text.
pub(super) fn local_date_time(text: &str) -> String {
    let text = text.replacen(' ', "T", 1);
    let (seconds, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    match part.len() {
        0 => seconds.strip_suffix(":00").unwrap_or(seconds).to_owned(),
        1..=3 => format!("{seconds}.{part:0<3}"),
        4..=6 => format!("{seconds}.{part:0<6}"),
        _ => format!("{seconds}.{part:0<9}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-12.5, "-12.5"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1_234_567.0, "1234567.0"),
            (1e7, "1.0E7"),
            (1.25e21, "1.25E21"),
            (100.0, "100.0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
        assert_eq!(float(0.1), "0.1");
        for (plain, text) in [
            ("12.50", "12.50"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1E-7"),
            ("-0.00000012", "-1.2E-7"),
            ("0.00", "0.00"),
            ("0.0000000", "0E-7"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
        ] {
            assert_eq!(decimal(plain), text);
        }
    }

    #[test]
    fn moments_print_as_in_java() {
        assert_eq!(timestamp(1_795_539_900_000_000), "2026-11-24 17:05:00.0");
        assert_eq!(timestamp(1_795_539_900_120_000), "2026-11-24 17:05:00.12");
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(local_date_time("2026-11-24 17:05:00"), "2026-11-24T17:05");
        assert_eq!(
            local_date_time("2026-11-24 17:05:01.5"),
            "2026-11-24T17:05:01.500"
        );
    }
}
