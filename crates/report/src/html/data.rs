//! The data that the page's script reads.
//!
//! One JSON object in a script element that is never run. Times are milliseconds since the run's
//! start, packed as first value and differences; values have three or four significant digits.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sokudo_i18n::Lang;
use sokudo_model::{Text, harmless::turns};

use crate::block::{Phrase, Speaker};
use crate::chart::{Chart, ChartKind, Heat, Line, Points};
use crate::html::sheet::{Mark, Sheet};

/// Messages of the script.
const WORDS: [&str; 5] = [
    "report-script-copied",
    "report-script-no-data",
    "report-script-clock",
    "report-script-start",
    "report-script-reset",
];

/// The data as JSON text in which no `<` is left, so that nothing in it can end the element.
pub fn json(sheet: &Sheet, speaker: &Speaker, charts: &[&Chart]) -> String {
    let words: Map<String, Value> = WORDS
        .iter()
        .map(|key| {
            let short = key.trim_start_matches("report-script-");
            (short.to_string(), both(speaker, &Text::new(*key).into()))
        })
        .collect();
    let marks = |marks: &[Mark]| marks.iter().map(|m| mark(m, speaker)).collect::<Vec<_>>();
    let value = json!({
        "end": ms(sheet.end_ns),
        "clock": sheet.clock_error_s,
        "words": words,
        "phases": sheet.spans.iter().map(|span| json!({
            "name": span.name,
            "t0": ms(span.at_ns.0),
            "t1": ms(span.at_ns.1),
            "probe": span.is_trial,
        })).collect::<Vec<_>>(),
        "events": marks(&sheet.events),
        "problems": marks(&sheet.problems),
        "start": sheet.start_ms,
        "charts": charts.iter().map(|c| chart(c, speaker)).collect::<Vec<_>>(),
    });
    harmless(&value.to_string())
}

fn mark(mark: &Mark, speaker: &Speaker) -> Value {
    let mut out = json!({ "t": ms(mark.t_ns), "says": both(speaker, &mark.says) });
    if let Some(host) = &mark.host {
        out["host"] = host.as_str().into();
    }
    out
}

/// JSON text without the characters that mean something in HTML, end a script line, or change the
/// direction of text.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A phrase in both languages; a plain string where they agree.
fn both(speaker: &Speaker, phrase: &Phrase) -> Value {
    let [en, ja] = Lang::ALL.map(|lang| speaker.say(lang, phrase));
    if en == ja {
        return Value::String(en);
    }
    json!({ "en": en, "ja": ja })
}

fn ms(t_ns: i64) -> i64 {
    t_ns.div_euclid(1_000_000)
}

fn chart(chart: &Chart, speaker: &Speaker) -> Value {
    // Layers and cells are read by their colour, lines by their height.
    let digits = match chart.kind {
        ChartKind::Stack | ChartKind::Strip { .. } => 3,
        ChartKind::Lines | ChartKind::Heat(_) => 4,
    };
    let mut out = json!({
        "id": chart.id,
        "unit": chart.unit.name(),
        "lines": chart.lines.iter().map(|l| line(l, digits, speaker)).collect::<Vec<_>>(),
    });
    match &chart.kind {
        ChartKind::Lines => out["kind"] = "lines".into(),
        ChartKind::Stack => out["kind"] = "stack".into(),
        ChartKind::Strip { log, full } => {
            out["kind"] = "strip".into();
            out["log"] = (*log).into();
            out["full"] = short(*full, 4);
        }
        ChartKind::Heat(cells) => {
            out["kind"] = "heat".into();
            out["heat"] = heat(cells);
        }
    }
    out
}

fn line(line: &Line, digits: i32, speaker: &Speaker) -> Value {
    let (first, steps) = times(&line.points);
    let values: Vec<Value> = line
        .points
        .iter()
        .map(|(_, v)| v.map_or(Value::Null, |v| short(v, digits)))
        .collect();
    json!({
        "label": both(speaker, &line.label),
        "colour": line.colour,
        "dashed": line.dashed,
        "t0": first,
        "dt": steps,
        "v": values,
    })
}

/// First time and the differences that follow; one number when all differences are equal.
fn times(points: &Points) -> (i64, Value) {
    let at: Vec<i64> = points.iter().map(|(t, _)| ms(*t)).collect();
    let steps: Vec<i64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    let first = at.first().copied().unwrap_or(0);
    match steps.first() {
        Some(step) if steps.iter().all(|s| s == step) => (first, json!(step)),
        _ => (first, json!(steps)),
    }
}

fn heat(heat: &Heat) -> Value {
    json!({
        "t0": heat.t0_ns as f64 / 1e6,
        "step": heat.step_ns as f64 / 1e6,
        "low": heat.low,
        "factor": heat.factor,
        "rows": heat.rows,
        "columns": heat.columns.iter().map(|(first, counts)| {
            let mut column: Vec<u64> = vec![*first as u64];
            column.extend(counts);
            column
        }).collect::<Vec<_>>(),
    })
}

/// A few significant digits: a third of the bytes, and finer than any screen.
fn short(value: f64, significant: i32) -> Value {
    if value == 0.0 || !value.is_finite() {
        return json!(0);
    }
    let digits = significant - 1 - value.abs().log10().floor() as i32;
    if value.abs() > 1e15 {
        return json!(value);
    }
    if digits <= 0 {
        let scale = 10f64.powi(-digits);
        return json!((value / scale).round() as i64 * scale as i64);
    }
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    match rounded.fract() == 0.0 {
        true => json!(rounded as i64),
        false => json!(rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        assert_eq!(short(75_312_345_678.0, 4).to_string(), "75310000000");
        assert_eq!(short(0.012_345, 4).to_string(), "0.01235");
        assert_eq!(short(-2.0, 3).to_string(), "-2");
        assert_eq!(short(1.5e-7, 3).to_string(), "1.5e-7");
    }

    #[test]
    fn regular_times_take_one_number() {
        let points = vec![(0, None), (250_000_000, None), (500_000_000, None)];
        assert_eq!(times(&points), (0, json!(250)));
        let points = vec![(1_000_000, None), (2_000_000, None), (4_000_000, None)];
        assert_eq!(times(&points), (1, json!([1, 2])));
    }

    #[test]
    fn data_cannot_end_its_element() {
        let text = harmless(&json!({ "host": "</script><script>alert(1)" }).to_string());
        assert!(!text.contains('<') && !text.contains('>'));
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["host"], "</script><script>alert(1)");
    }
}
