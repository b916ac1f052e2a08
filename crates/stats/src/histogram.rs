//! Mergeable histograms that keep millions of observations in a few kilobytes.
//!
//! A wrapper over HdrHistogram with one fixed shape, so that any two histograms of a record can be
//! added, and with a reader for encoded histograms that trusts nothing in the bytes.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use sokudo_model::HistogramSummary;

/// Largest value that is told apart from larger ones: one hour in nanoseconds.
pub const HIGHEST: u64 = 3_600_000_000_000;

/// Significant decimal digits that a value keeps.
pub const DIGITS: u8 = 3;

/// Length of the fixed part of the V2 encoding.
const V2_HEADER_BYTES: usize = 40;

/// First four bytes of the uncompressed V2 encoding.
const V2_COOKIE: u32 = 0x1c84_9313;

/// Longest encoding that is read. 34 816 counters cover `HIGHEST` at three digits, at most nine
/// bytes each.
const V2_MAX_BYTES: usize = V2_HEADER_BYTES + 34_816 * 9;

/// Largest total of counts that an encoded histogram may carry.
const MAX_TOTAL: u64 = 1 << 62;

/// Errors of decoding a histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// The bytes are not a valid uncompressed V2 encoding, or are truncated.
    #[error("{0} bytes are not a valid uncompressed HdrHistogram V2 encoding")]
    NotV2(usize),
    /// The encoding announces a shape that sokudo does not write and will not allocate.
    #[error(
        "histogram of values {low} to {high} with {digits} digits is outside 1 to {HIGHEST} with 1 to {DIGITS} digits"
    )]
    Shape {
        /// Lowest discernible value.
        low: u64,
        /// Highest trackable value.
        high: u64,
        /// Significant digits.
        digits: u32,
    },
    /// The header is sound and what follows is not.
    #[error("the counts of the histogram are damaged: {0}")]
    Counts(&'static str),
}

/// Distribution of `u64` values from 0 to one hour in nanoseconds, three significant digits.
///
/// Larger values are counted at the top instead of growing the histogram. About 270 KiB when every
/// octave is in use; untouched octaves cost no physical memory on systems with lazy allocation.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    /// Some 270 KiB; made with the first value, because most histograms of a run stay empty.
    inner: Option<Box<hdrhistogram::Histogram<u64>>>,
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => self.is_empty() && other.is_empty(),
        }
    }
}

/// A value, at the resolution of the histogram, and how often it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub low: u64,
    /// Largest value of the bucket, included.
    pub high: u64,
    /// Values recorded in it; never 0.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram. Allocates nothing until the first value.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty histogram that has its memory, so that recording allocates nothing.
    pub fn allocated() -> Self {
        Self {
            inner: Some(fresh()),
        }
    }

    #[inline]
    fn counters(&mut self) -> &mut hdrhistogram::Histogram<u64> {
        self.inner.get_or_insert_with(fresh)
    }

    /// Counts one value; values above [`HIGHEST`] count there.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counters().saturating_record(value.min(HIGHEST));
    }

    /// Counts the same value `n` times.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n > 0 {
            self.counters().saturating_record_n(value.min(HIGHEST), n);
        }
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Histogram) {
        if let Some(theirs) = other.inner.as_ref().filter(|theirs| !theirs.is_empty()) {
            self.counters().add(theirs.as_ref()).expect(
                "both have the shape that `fresh` gives, so every value of one fits the other",
            );
        }
    }

    /// Hands the contents over and leaves an empty histogram behind.
    ///
    /// The next value allocates anew; a thread that must not allocate keeps two, swaps them and
    /// calls [`clear`](Self::clear).
    pub fn take(&mut self) -> Histogram {
        std::mem::take(self)
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.reset();
        }
    }

    /// The histogram as its own library knows it; `None` when nothing was recorded.
    pub(crate) fn as_hdr(&self) -> Option<&hdrhistogram::Histogram<u64>> {
        let inner = self.inner.as_deref();
        inner.filter(|inner| !inner.is_empty())
    }

    /// Values recorded.
    pub fn len(&self) -> u64 {
        self.inner.as_ref().map_or(0, |inner| inner.len())
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.inner.as_ref().is_none_or(|inner| inner.is_empty())
    }

    /// Value that the share `q` (0 to 1) of all values does not exceed; 0 when empty.
    pub fn quantile(&self, q: f64) -> u64 {
        match &self.inner {
            Some(inner) if !inner.is_empty() && !q.is_nan() => {
                inner.value_at_quantile(q.clamp(0.0, 1.0))
            }
            _ => 0,
        }
    }

    /// Buckets that hold at least one value, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.inner.iter().flat_map(|inner| {
            inner.iter_recorded().map(|step| {
                let value = step.value_iterated_to();
                Bucket {
                    low: inner.lowest_equivalent(value),
                    high: inner.highest_equivalent(value),
                    count: step.count_at_value(),
                }
            })
        })
    }

    /// The distribution in a few numbers, each multiplied by `scale`: 1e-9 turns nanoseconds into
    /// seconds, 1.0 keeps counts.
    pub fn summary(&self, scale: f64) -> HistogramSummary {
        let Some(inner) = self.inner.as_ref().filter(|inner| !inner.is_empty()) else {
            return HistogramSummary::default();
        };
        let at = |q: f64| self.quantile(q) as f64 * scale;
        HistogramSummary {
            n: self.len(),
            min: inner.min() as f64 * scale,
            mean: inner.mean() * scale,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: inner.max() as f64 * scale,
        }
    }

    /// Uncompressed HdrHistogram V2 encoding, as other HdrHistogram libraries read it.
    pub fn to_v2(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let empty;
        let inner = match &self.inner {
            Some(inner) => inner,
            None => {
                empty = fresh();
                &empty
            }
        };
        V2Serializer::new()
            .serialize(inner.as_ref(), &mut bytes)
            .expect("a vector takes every byte, and counts stay below 2^63");
        bytes
    }

    /// Reads an uncompressed V2 encoding.
    ///
    /// Errors: `NotV2` for other or cut bytes, `Shape` for a histogram larger than this program
    /// writes, `Counts` for damaged contents. Never panics; allocates one histogram at most,
    /// whatever the bytes contain.
    pub fn from_v2(bytes: &[u8]) -> Result<Histogram, HistogramError> {
        check_header(bytes)?;
        check_counts(&bytes[V2_HEADER_BYTES..])?;
        let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut &bytes[..])
            .map_err(|_| HistogramError::Counts("more counters than the range of values needs"))?;
        // The foreign shape may be smaller than ours, so values are counted anew.
        let mut histogram = Histogram::new();
        for step in decoded.iter_recorded() {
            let value = decoded.lowest_equivalent(step.value_iterated_to());
            histogram.record_n(value, step.count_at_value());
        }
        Ok(histogram)
    }
}

fn fresh() -> Box<hdrhistogram::Histogram<u64>> {
    let inner = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, DIGITS).expect(
        "bounds are constants that HdrHistogram accepts: 1 <= low, 2 * low <= high, digits <= 5",
    );
    Box::new(inner)
}

fn be_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Refuses what would make the decoder allocate or fail: the header of the V2 encoding is cookie,
/// payload length, normalizing offset, digits, lowest, highest and a conversion ratio.
fn check_header(bytes: &[u8]) -> Result<(), HistogramError> {
    let not_v2 = HistogramError::NotV2(bytes.len());
    if bytes.len() < V2_HEADER_BYTES || bytes.len() > V2_MAX_BYTES {
        return Err(not_v2);
    }
    let payload = (bytes.len() - V2_HEADER_BYTES) as u32;
    if be_u32(bytes, 0) != Some(V2_COOKIE) || be_u32(bytes, 4) != Some(payload) {
        return Err(not_v2);
    }
    let (Some(digits), Some(low), Some(high)) =
        (be_u32(bytes, 12), be_u64(bytes, 16), be_u64(bytes, 24))
    else {
        return Err(not_v2);
    };
    if low != 1 || !(2..=HIGHEST).contains(&high) || !(1..=u32::from(DIGITS)).contains(&digits) {
        return Err(HistogramError::Shape { low, high, digits });
    }
    Ok(())
}

/// Walks the ZigZag LEB128 numbers without storing them: a positive one is a count, a negative one
/// skips that many empty counters.
fn check_counts(mut payload: &[u8]) -> Result<(), HistogramError> {
    let mut total = 0u64;
    while !payload.is_empty() {
        let (number, rest) =
            varint(payload).ok_or(HistogramError::Counts("they stop inside a number"))?;
        payload = rest;
        if number & 1 == 0 {
            total = total.saturating_add(number >> 1);
        } else if number >> 1 > V2_MAX_BYTES as u64 {
            return Err(HistogramError::Counts("they skip beyond the end"));
        }
        if total > MAX_TOTAL {
            return Err(HistogramError::Counts("they add up to more than 2^62"));
        }
    }
    Ok(())
}

/// One LEB128 number of at most nine bytes, the ninth whole, and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0u64;
    for (i, byte) in bytes.iter().take(9).enumerate() {
        let bits = if i == 8 { *byte } else { *byte & 0x7f };
        number |= u64::from(bits) << (7 * i);
        if i == 8 || *byte & 0x80 == 0 {
            return Some((number, &bytes[i + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        values.iter().for_each(|v| h.record(*v));
        h
    }

    #[test]
    fn empty_is_all_zero() {
        let h = Histogram::new();
        assert!(h.is_empty());
        assert_eq!(h.summary(1e-9), HistogramSummary::default());
        assert_eq!(h.quantile(0.99), 0);
        assert_eq!(h.buckets().count(), 0);
        assert_eq!(Histogram::from_v2(&h.to_v2()), Ok(h));
    }

    #[test]
    fn values_beyond_an_hour_count_at_the_top() {
        let h = of(&[u64::MAX, HIGHEST * 2]);
        assert_eq!(h.len(), 2);
        assert!(h.quantile(1.0) >= HIGHEST);
        assert!(h.quantile(1.0) < HIGHEST + HIGHEST / 500);
    }

    #[test]
    fn take_leaves_an_empty_one() {
        let mut h = of(&[1, 2, 3]);
        let taken = h.take();
        assert_eq!((h.len(), taken.len()), (0, 3));
    }

    #[test]
    fn encoding_is_a_promise() {
        // Cookie, 5 bytes of counts, offset 0, 3 digits, 1 to 3.6e12, ratio 1.0; then: value 0 not
        // seen, 1 once, 2 twice, 3 to 4 skipped, 5 three times.
        let mut golden = vec![0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3];
        golden.extend(1u64.to_be_bytes());
        golden.extend(HIGHEST.to_be_bytes());
        golden.extend(1f64.to_be_bytes());
        golden.extend([0, 2, 4, 3, 6]);
        let h = of(&[1, 2, 2, 5, 5, 5]);
        assert_eq!(h.to_v2(), golden);
        assert_eq!(Histogram::from_v2(&golden), Ok(h));
    }

    #[test]
    fn a_greedy_shape_is_refused() {
        let mut bytes = of(&[7]).to_v2();
        bytes[24..32].copy_from_slice(&u64::MAX.to_be_bytes());
        assert!(matches!(
            Histogram::from_v2(&bytes),
            Err(HistogramError::Shape { .. })
        ));
    }

    #[test]
    fn a_coarser_shape_is_read() {
        let mut coarse = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1_000_000, 2).unwrap();
        coarse.record_n(1000, 4).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&coarse, &mut bytes).unwrap();
        let h = Histogram::from_v2(&bytes).unwrap();
        assert_eq!(h.len(), 4);
        assert!((990..=1010).contains(&h.quantile(0.5)));
    }

    proptest! {
        #[test]
        fn quantiles_keep_three_digits(values in prop::collection::vec(0u64..HIGHEST, 1..200)) {
            let h = of(&values);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for q in [0.1, 0.5, 0.9, 1.0] {
                let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
                let exact = sorted[rank - 1];
                let seen = h.quantile(q);
                prop_assert!(seen >= exact && seen - exact <= exact / 1000 + 1, "{q}: {seen} for {exact}");
            }
        }

        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(0u64..1 << 45, 0..50),
                                             b in prop::collection::vec(0u64..1 << 45, 0..50)) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn encoding_survives(values in prop::collection::vec((0u64..1 << 43, 1u64..1 << 40), 0..80)) {
            let mut h = Histogram::new();
            values.iter().for_each(|(v, n)| h.record_n(*v, *n));
            let back = Histogram::from_v2(&h.to_v2()).unwrap();
            prop_assert_eq!(back.summary(1e-9), h.summary(1e-9));
            prop_assert!(back.buckets().eq(h.buckets()));
        }

        #[test]
        fn damaged_bytes_never_panic(values in prop::collection::vec(0u64..1 << 40, 0..20),
                                     hits in prop::collection::vec((0usize..200, any::<u8>()), 0..6),
                                     cut in 0usize..200) {
            let mut bytes = of(&values).to_v2();
            for (at, byte) in hits {
                let n = bytes.len();
                bytes[at % n] = byte;
            }
            let _ = Histogram::from_v2(&bytes);
            bytes.truncate(cut);
            let _ = Histogram::from_v2(&bytes);
        }

        #[test]
        fn any_counts_never_panic(mut counts in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = Histogram::new().to_v2()[..V2_HEADER_BYTES].to_vec();
            bytes[4..8].copy_from_slice(&(counts.len() as u32).to_be_bytes());
            bytes.append(&mut counts);
            if let Ok(h) = Histogram::from_v2(&bytes) {
                let _ = h.summary(1.0);
                let _ = h.to_v2();
            }
        }
    }
}
