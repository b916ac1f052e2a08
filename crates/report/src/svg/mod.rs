//! Draws charts as static SVG, for print and for readers without the page's script.
//!
//! Colours are classes (`c0` … `c7`) whose values are variables of the page's style sheet, so that one
//! drawing serves light, dark and print. Words that differ between the languages are written twice with
//! a `lang` attribute; the page shows one of them.

mod bars;
mod cells;
mod curve;
mod knee;
mod plane;
mod spark;
mod stack;
mod time;

use std::fmt::Write as _;

use sokudo_i18n::Lang;

use crate::block::{Phrase, Speaker};
use crate::html::escape;

pub use bars::bars;
pub use curve::curve;
pub use knee::knee;
pub use plane::plane;
pub use spark::spark;
pub use time::{Band, time};

/// Writes one `<text>` element, twice where the languages differ.
fn text(out: &mut String, speaker: &Speaker, attributes: &str, phrase: &Phrase) {
    let said = Lang::ALL.map(|lang| speaker.say(lang, phrase));
    if said[0] == said[1] {
        let _ = write!(out, "<text {attributes}>{}</text>", escape(&said[0]));
        return;
    }
    for (lang, words) in Lang::ALL.iter().zip(&said) {
        let _ = write!(
            out,
            "<text lang=\"{lang}\" {attributes}>{}</text>",
            escape(words)
        );
    }
}

/// Moves the labels at the lines' ends apart: at least `gap` between neighbours, inside
/// `[low, high]`. Takes and returns positions in the order of the lines.
fn apart(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut placed = wanted.to_vec();
    let mut floor = low;
    for &i in &order {
        placed[i] = placed[i].max(floor);
        floor = placed[i] + gap;
    }
    let mut ceiling = high;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(ceiling);
        ceiling = placed[i] - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_stay_inside() {
        assert_eq!(apart(&[50.0, 50.0], 10.0, 0.0, 100.0), [50.0, 60.0]);
        assert_eq!(apart(&[99.0, 98.0], 10.0, 0.0, 100.0), [100.0, 90.0]);
    }
}
