//! Draws stacked bars, one below the other.

use std::fmt::Write as _;

use sokudo_model::Unit;
use sokudo_model::units::human;

use crate::bars::Bars;
use crate::block::{Phrase, Speaker};
use crate::svg::text;
use crate::text_columns;

const WIDTH: f64 = 920.0;
/// Room for the names of the bars.
const LEFT: f64 = 210.0;
/// Room for their lengths.
const RIGHT: f64 = 90.0;
/// Room for the names of the parts.
const TOP: f64 = 24.0;
const ROW: f64 = 26.0;
const BAR: f64 = 18.0;
/// About the width of a letter.
const LETTER: f64 = 6.2;
/// Letters of a bar's name that there is room for.
const NAME_LETTERS: usize = 32;

/// Draws the bars with their names, lengths and the names of their parts.
pub fn bars(bars: &Bars, speaker: &Speaker) -> String {
    let height = TOP + ROW * bars.rows.len() as f64;
    let mut out =
        format!("<svg class=\"still\" viewBox=\"0 0 {WIDTH} {height:.0}\" aria-hidden=\"true\">");
    legend(&mut out, bars, speaker);
    let scale = (WIDTH - LEFT - RIGHT) / bars.largest().max(f64::MIN_POSITIVE);
    for (i, (name, values)) in bars.rows.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        bar(&mut out, bars, (name, values), (y, scale), speaker);
    }
    out.push_str("</svg>");
    out
}

/// Names of the parts, each behind a square of its colour.
fn legend(out: &mut String, bars: &Bars, speaker: &Speaker) {
    let mut x = LEFT;
    for (name, colour) in &bars.parts {
        let _ = write!(
            out,
            "<rect class=\"s{colour}\" x=\"{x:.1}\" y=\"3\" width=\"9\" height=\"9\"/>"
        );
        let place = format!("class=\"small\" x=\"{:.1}\" y=\"11\"", x + 13.0);
        text(out, speaker, &place, name);
        let said = sokudo_i18n::Lang::ALL.map(|lang| text_columns(&speaker.say(lang, name)));
        x += 13.0 + LETTER * said.into_iter().max().unwrap_or(0) as f64 + 14.0;
    }
}

fn bar(
    out: &mut String,
    bars: &Bars,
    (name, values): (&Phrase, &[f64]),
    (y, scale): (f64, f64),
    speaker: &Speaker,
) {
    let middle = y + BAR / 2.0 + 4.0;
    let place = format!("class=\"axis\" x=\"{:.0}\" y=\"{middle:.1}\"", LEFT - 8.0);
    text(out, speaker, &place, &shortened(name));
    let mut x = LEFT;
    for ((_, colour), value) in bars.parts.iter().zip(values) {
        let width = value.max(0.0) * scale;
        let _ = write!(
            out,
            "<rect class=\"s{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
        );
        let says = human(*value, bars.unit);
        if width > LETTER * (text_columns(&says) + 2) as f64 {
            let _ = write!(
                out,
                "<text class=\"inside i{colour}\" x=\"{:.1}\" y=\"{middle:.1}\">{says}</text>",
                x + width / 2.0
            );
        }
        x += width;
    }
    if bars.unit == Unit::Ratio {
        return;
    }
    let whole = human(values.iter().sum(), bars.unit);
    let place = format!("x=\"{:.1}\" y=\"{middle:.1}\"", x + 6.0);
    text(out, speaker, &place, &whole.into());
}

/// A name that fits beside its bar; the table has the whole one.
fn shortened(name: &Phrase) -> Phrase {
    match name {
        Phrase::Word(word) if word.chars().count() > NAME_LETTERS => {
            let kept: String = word.chars().take(NAME_LETTERS - 1).collect();
            Phrase::Word(kept + "…")
        }
        other => other.clone(),
    }
}
