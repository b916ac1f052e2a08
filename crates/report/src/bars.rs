//! Data of stacked bars.

use sokudo_model::Unit;

use crate::block::Phrase;

/// A bar per row, all on one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The question they answer.
    pub title: Phrase,
    /// Explanation for the reader.
    pub note: Phrase,
    /// Unit of the values.
    pub unit: Unit,
    /// The parts of every bar from left to right: name, and place in the palette of layers.
    pub parts: Vec<(Phrase, usize)>,
    /// Subject of each bar, foreign text, with a value per part.
    pub rows: Vec<(Phrase, Vec<f64>)>,
}

impl Bars {
    /// The longest bar.
    pub fn largest(&self) -> f64 {
        let sums = self.rows.iter().map(|(_, values)| values.iter().sum());
        sums.fold(0.0, f64::max)
    }
}
