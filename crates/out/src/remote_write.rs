//! Requests of Prometheus remote write 1.0.
//!
//! ```text
//! WriteRequest { 1: TimeSeries { 1: Label { 1: name, 2: value }…, 2: Sample { 1: double, 2: int64 ms }… }… }
//! ```
//!
//! Protocol buffers, compressed with snappy's block format. Labels are sorted by name, samples by time.

use std::collections::BTreeMap;

use crate::{Point, labels_of, name_of};

/// Headers of a request.
pub const HEADERS: &str =
    "Content-Encoding: snappy\r\nX-Prometheus-Remote-Write-Version: 0.1.0\r\n";

const MS_NS: i64 = 1_000_000;

/// Names and values of a series, sorted by name.
type Labels<'a> = Vec<(String, &'a str)>;

/// The body of a request.
pub fn body(points: &[Point]) -> Result<Vec<u8>, snap::Error> {
    snap::raw::Encoder::new().compress_vec(&message(points))
}

/// The message before it is compressed.
fn message(points: &[Point]) -> Vec<u8> {
    let mut series: BTreeMap<Labels<'_>, Vec<(i64, f64)>> = BTreeMap::new();
    let names: Vec<String> = points.iter().map(|point| name_of(&point.metric)).collect();
    for (point, name) in points.iter().zip(&names) {
        let mut labels = vec![("__name__".to_owned(), name.as_str())];
        labels.extend(labels_of(point).filter(|(_, value)| !value.is_empty()));
        labels.sort();
        let samples = series.entry(labels).or_default();
        samples.push((point.unix_ns / MS_NS, point.value));
    }
    let mut out = Vec::new();
    for (labels, mut samples) in series {
        samples.sort_by_key(|(ms, _)| *ms);
        let mut one = Vec::new();
        for (name, value) in labels {
            let mut label = Vec::new();
            bytes(&mut label, 1, name.as_bytes());
            bytes(&mut label, 2, value.as_bytes());
            bytes(&mut one, 1, &label);
        }
        for (ms, value) in samples {
            let mut sample = vec![1 << 3 | 1];
            sample.extend(value.to_le_bytes());
            sample.push(2 << 3);
            varint(&mut sample, ms as u64);
            bytes(&mut one, 2, &sample);
        }
        bytes(&mut out, 1, &one);
    }
    out
}

/// A field with a length.
fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point;

    #[test]
    fn a_message_is_what_the_protocol_says() {
        let points = [point("m", 300_000_000, 1.0)];
        let expected = [
            // One series: two labels, one sample.
            &[0x0a, 52][..],
            &[0x0a, 20, 0x0a, 8],
            b"__name__",
            &[0x12, 8],
            b"sokudo_m",
            &[0x0a, 14, 0x0a, 4],
            b"host",
            &[0x12, 6],
            b"host a",
            &[0x12, 12, 0x09],
            &1.0f64.to_le_bytes(),
            &[0x10, 0xac, 0x02],
        ]
        .concat();
        assert_eq!(expected.len(), 2 + 52);
        assert_eq!(message(&points), expected);
        let body = body(&points).expect("a body");
        let back = snap::raw::Decoder::new().decompress_vec(&body);
        assert_eq!(back.expect("snappy").len(), expected.len());
    }

    #[test]
    fn samples_of_a_series_stand_together_by_time() {
        let points = [point("m", 2_000_000, 2.0), point("m", 1_000_000, 1.0)];
        let message = message(&points);
        let one = message.windows(8).position(|w| w == 1.0f64.to_le_bytes());
        let two = message.windows(8).position(|w| w == 2.0f64.to_le_bytes());
        assert!(one < two, "{message:?}");
        assert_eq!(message.iter().filter(|byte| **byte == b'_').count(), 5);
    }
}
