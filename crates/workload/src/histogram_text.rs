//! The text of a distribution inside the JSON that a host hands over: hexadecimal V2 encoding, empty
//! for an empty one. For `#[serde(with = "sokudo_workload::histogram_text")]`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serializer, de};
use sokudo_stats::Histogram;

/// Writes a distribution.
///
/// Errors: those of `serializer`.
pub fn serialize<S: Serializer>(histogram: &Histogram, serializer: S) -> Result<S::Ok, S::Error> {
    if histogram.is_empty() {
        return serializer.serialize_str("");
    }
    let hex = |byte: u8| {
        let digit = |of: u8| b"0123456789abcdef"[usize::from(of & 15)];
        [digit(byte >> 4), digit(byte)]
    };
    let text = histogram.to_v2().into_iter().flat_map(hex);
    serializer.serialize_str(&text.map(char::from).collect::<String>())
}

/// Reads a distribution.
///
/// Errors: a text that is not the encoding of a distribution.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(Histogram::new());
    }
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?))
        .collect();
    let bytes = bytes.ok_or_else(|| de::Error::custom("a distribution is not hexadecimal"))?;
    Histogram::from_v2(&bytes).map_err(de::Error::custom)
}
