//! Parser of the schedule of an open model thread group.
//!
//! ```text
//! rate(10/s) random_arrivals(1 min) rate(20/s) pause(5 s) even_arrivals(30 s)
//! ```

use super::OpenStep;

/// Most steps of a schedule.
const MOST_STEPS: usize = 10_000;

/// Longest step: about 31 years.
const MOST_MS: f64 = 1e12;

/// The steps of a schedule. Fails with a message about the part that is not valid.
pub fn parse(text: &str) -> Result<Vec<OpenStep>, String> {
    let text = without_comments(text);
    let mut rest = text.trim();
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let call = rest.split_once('(').and_then(|(name, after)| {
            let (argument, after) = after.split_once(')')?;
            Some((name.trim(), argument.trim(), after))
        });
        let (name, argument, after) = call.ok_or_else(|| format!("`{rest}` is not a call"))?;
        steps.push(step(name, argument)?);
        if steps.len() > MOST_STEPS {
            return Err(format!("more than {MOST_STEPS} pieces"));
        }
        rest = after.trim_start();
    }
    Ok(steps)
}

fn step(name: &str, argument: &str) -> Result<OpenStep, String> {
    Ok(match name {
        "rate" => OpenStep::Rate {
            per_s: rate(argument)?,
        },
        "random_arrivals" => OpenStep::Arrivals {
            duration_ms: duration(argument)?,
            random: true,
        },
        "even_arrivals" => OpenStep::Arrivals {
            duration_ms: duration(argument)?,
            random: false,
        },
        "pause" => OpenStep::Pause {
            duration_ms: duration(argument)?,
        },
        other => {
            return Err(format!(
                "`{other}` is not rate, random_arrivals, even_arrivals or pause"
            ));
        }
    })
}

/// Events per second of `10/s`, `600/min` or a plain number. Fails with a message if it is not
/// valid.
pub fn rate(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.split_once('/') {
        Some((number, unit)) => (number.trim(), unit.trim()),
        None => (text, "s"),
    };
    let wrong = || format!("`{text}` is not a rate such as `10/s` or `600/min`");
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let per_s = number * 1000.0 / unit_ms(unit).ok_or_else(wrong)?;
    match per_s.is_finite() && per_s >= 0.0 {
        true => Ok(per_s),
        false => Err(wrong()),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a duration such as `30 s` or `5 min`");
    let end = text.find(char::is_alphabetic).ok_or_else(wrong)?;
    let number: f64 = text[..end].trim().parse().map_err(|_| wrong())?;
    let ms = number * unit_ms(text[end..].trim()).ok_or_else(wrong)?;
    match (0.0..=MOST_MS).contains(&ms) {
        true => Ok(ms as u64),
        false => Err(wrong()),
    }
}

fn unit_ms(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 1.0,
        "s" | "sec" | "second" | "seconds" => 1e3,
        "m" | "min" | "minute" | "minutes" => 60e3,
        "h" | "hour" | "hours" => 3_600e3,
        "d" | "day" | "days" => 86_400e3,
        _ => return None,
    })
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let end = match &rest[at..] {
            comment if comment.starts_with("//") => comment.find('\n').unwrap_or(comment.len()),
            comment if comment.starts_with("/*") => {
                comment.find("*/").map_or(comment.len(), |end| end + 2)
            }
            _ => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
                continue;
            }
        };
        out.push_str(&rest[..at]);
        rest = &rest[at + end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn schedules_are_read() {
        let steps = parse(
            "rate(600/min) random_arrivals(1 min) /* up */ rate(20/s)\n pause(5 s) // rest\n even_arrivals(0.5 hour)",
        );
        assert_eq!(
            steps.unwrap(),
            [
                OpenStep::Rate { per_s: 10.0 },
                OpenStep::Arrivals {
                    duration_ms: 60_000,
                    random: true
                },
                OpenStep::Rate { per_s: 20.0 },
                OpenStep::Pause { duration_ms: 5_000 },
                OpenStep::Arrivals {
                    duration_ms: 1_800_000,
                    random: false
                },
            ]
        );
        assert_eq!(parse(" "), Ok(vec![]));
    }

    #[test]
    fn what_is_not_understood_is_told() {
        for (text, why) in [
            ("rate(x)", "`x` is not a rate"),
            ("rate(1/y)", "`1/y` is not a rate"),
            ("rate(-1/s)", "not a rate"),
            ("pause(5)", "not a duration"),
            ("pause(1e99 d)", "not a duration"),
            ("burst(5 s)", "`burst` is not"),
            ("rate(1/s", "is not a call"),
        ] {
            let said = parse(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[a-z0-9/*() .\\n日]{0,60}") {
            let _ = parse(&text);
        }
    }
}
