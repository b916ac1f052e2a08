//! The two classes of Java requests that come with JMeter: they sleep and state their result.

use super::context::View;
use crate::expression::Template;
use crate::plan::JavaRequest;
use crate::script::ScriptSample;

/// Milliseconds that each class sleeps by itself, and the bound of those that the clock adds.
const OF_SLEEP_TEST: (i64, i64) = (1_000, 0x3ff);
const OF_JAVA_TEST: (i64, i64) = (100, 0xff);

/// Values that `SleepTest` keeps of its first sample in a user.
#[derive(Debug, Clone)]
pub(super) struct SleepSetup {
    time_ms: i64,
    mask_ms: i64,
    label: String,
}

/// Executes the Java request of the current sampler. Gives its pause, too, in nanoseconds.
pub(super) fn sample_java(view: &mut View<'_>, java: &JavaRequest) -> (ScriptSample, i64) {
    match java.is_sleep_test {
        true => sleep_test(view, java),
        false => java_test(view, java),
    }
}

fn sleep_test(view: &mut View<'_>, java: &JavaRequest) -> (ScriptSample, i64) {
    let id = view.thread.sampler();
    let known = view.thread.sleep_setups.get(&id).cloned();
    let setup = known.unwrap_or_else(|| {
        let (time_ms, mask_ms) = times(view, java, OF_SLEEP_TEST);
        let label = view.thread.label().to_owned();
        SleepSetup {
            time_ms,
            mask_ms,
            label,
        }
    });
    let sleep_ms = sleep_ms(view, (setup.time_ms, setup.mask_ms));
    let sample = ScriptSample {
        label: setup.label.clone(),
        sampler_data: format!("Sleep Test: time = {sleep_ms}"),
        data_type: Some(""),
        success: true,
        ..ScriptSample::default()
    };
    view.thread.sleep_setups.insert(id, setup);
    (sample, sleep_ms.max(0).saturating_mul(1_000_000))
}

fn java_test(view: &mut View<'_>, java: &JavaRequest) -> (ScriptSample, i64) {
    let times = times(view, java, OF_JAVA_TEST);
    let sleep_ms = sleep_ms(view, times);
    let (label, request) = (view.text(&java.label), view.text(&java.request));
    let sample = ScriptSample {
        label: match label.is_empty() {
            true => view.thread.label().to_owned(),
            false => label,
        },
        code: view.text(&java.code),
        message: view.text(&java.message),
        text: view.text(&java.response),
        sent_bytes: request.encode_utf16().count() as u64,
        sampler_data: request,
        data_type: Some("text"),
        success: view.text(&java.status).eq_ignore_ascii_case("OK"),
        ..ScriptSample::default()
    };
    (sample, sleep_ms.max(0).saturating_mul(1_000_000))
}

/// Sleep and mask of a request, in milliseconds.
fn times(view: &mut View<'_>, java: &JavaRequest, own: (i64, i64)) -> (i64, i64) {
    let mut number = |given: &Option<Template>, own: i64| {
        let text = given.as_ref().map(|given| view.text(given));
        text.and_then(|text| decoded(&text)).unwrap_or(own)
    };
    (
        number(&java.sleep_time, own.0),
        number(&java.sleep_mask, own.1),
    )
}

/// Milliseconds of one sleep: the clock adds less than the mask.
fn sleep_ms(view: &View<'_>, (time_ms, mask_ms): (i64, i64)) -> i64 {
    if time_ms <= 0 || mask_ms <= 0 {
        return time_ms;
    }
    let now_ms = view.test().wall_ms(view.now_ns());
    time_ms.saturating_add(now_ms.rem_euclid(mask_ms))
}

/// A number as Java's `Long.decode` reads it: decimal, hexadecimal behind `0x` or `#`, octal behind `0`.
fn decoded(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x").or(lower.strip_prefix('#'));
    let octal = lower.strip_prefix('0').filter(|rest| !rest.is_empty());
    let (radix, digits) = match (hexadecimal, octal) {
        (Some(digits), _) => (16, digits),
        (None, Some(digits)) => (8, digits),
        (None, None) => (10, lower.as_str()),
    };
    match digits.starts_with(['+', '-']) {
        true => None,
        false => i64::from_str_radix(&format!("{sign}{digits}"), radix).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_java_decodes_them() {
        for (text, number) in [
            ("100", Some(100)),
            ("0xFF", Some(255)),
            ("-0x10", Some(-16)),
            ("#1f", Some(31)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("+5", Some(5)),
            ("", None),
            (" 5", None),
            ("08", None),
            ("1.5", None),
            ("--5", None),
            ("0x", None),
        ] {
            assert_eq!(decoded(text), number, "{text}");
        }
    }
}
