//! How does a distribution travel inside the JSON that a host hands over?

use serde::{Deserialize, Serialize};
use sokudo_stats::Histogram;

/// A histogram as text inside JSON: hexadecimal V2 encoding.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct HistogramText(String);

impl HistogramText {
    /// The text of a histogram.
    pub fn new(histogram: &Histogram) -> Self {
        let hex = |byte: u8| {
            [
                b"0123456789abcdef"[usize::from(byte >> 4)],
                b"0123456789abcdef"[usize::from(byte & 15)],
            ]
        };
        let text = histogram
            .to_v2()
            .into_iter()
            .flat_map(hex)
            .map(char::from)
            .collect();
        Self(text)
    }

    /// The histogram of the text; an empty one when the text cannot be read.
    pub fn histogram(&self) -> Histogram {
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let bytes: Option<Vec<u8>> = self
            .0
            .as_bytes()
            .chunks(2)
            .map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?))
            .collect();
        // What a peer wrote badly is shown as nothing recorded.
        bytes
            .and_then(|bytes| Histogram::from_v2(&bytes).ok())
            .unwrap_or_default()
    }
}
