//! Mergeable histograms that keep millions of observations in a few kilobytes.
//!
//! HdrHistogram with one fixed shape, so that any two histograms of a record can be added, and with a
//! reader for encoded histograms that trusts nothing in the bytes. The counters are our own: forgetting
//! and adding look at those between the lowest and the highest value only, and write to none that
//! nothing was counted in. What was never written to costs no physical memory.

use std::ops::RangeInclusive;

use hdrhistogram::serialization::Deserializer;
use sokudo_model::HistogramSummary;

/// Largest value that is distinguished from larger ones: one hour in nanoseconds.
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

/// Values below twice this have counters of their own; each octave above has this many.
const HALF: usize = 1024;

/// Counters: a pair of halves for the smallest values, and a half for each octave up to [`HIGHEST`].
const COUNTERS: usize = index_of(HIGHEST) / HALF * HALF + HALF;

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
/// Larger values are counted at the top instead of growing the histogram. Some 260 KiB of address space;
/// memory only for the values that were recorded, 4 KiB for each half of an octave.
#[derive(Debug)]
pub struct Histogram {
    /// Empty until the first value, because most histograms of a run stay empty.
    counts: Box<[u64]>,
    total: u64,
    /// First and last counter that may be other than 0; the first is behind the last when all are 0.
    low: usize,
    high: usize,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: Box::default(),
            total: 0,
            low: COUNTERS,
            high: 0,
        }
    }
}

impl Clone for Histogram {
    fn clone(&self) -> Self {
        let mut clone = Self::new();
        clone.merge(self);
        clone
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total && self.buckets().eq(other.buckets())
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
            counts: fresh(),
            ..Self::default()
        }
    }

    /// Counts one value; values above [`HIGHEST`] count there.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts the same value `n` times.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n > 0 {
            self.count(index_of(value.min(HIGHEST)), n);
        }
    }

    #[inline]
    fn count(&mut self, index: usize, n: u64) {
        if self.counts.is_empty() {
            self.counts = fresh();
        }
        let count = &mut self.counts[index];
        *count = count.saturating_add(n);
        self.total = self.total.saturating_add(n);
        self.low = self.low.min(index);
        self.high = self.high.max(index);
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (index, n) in other.recorded() {
            self.count(index, n);
        }
    }

    /// Counters that are not 0, ascending: their places, and what they count.
    fn recorded(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts = self.counts.get(self.range()).unwrap_or_default();
        let each = (self.low..).zip(counts);
        each.filter_map(|(index, n)| (*n != 0).then_some((index, *n)))
    }

    fn range(&self) -> RangeInclusive<usize> {
        self.low..=self.high
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
        let range = self.range();
        let counts = self.counts.get_mut(range).unwrap_or_default();
        // A counter that was never written to has no memory yet, and gets none.
        for count in counts.iter_mut().filter(|count| **count != 0) {
            *count = 0;
        }
        *self = Self {
            counts: std::mem::take(&mut self.counts),
            ..Self::default()
        };
    }

    /// The histogram as the library HdrHistogram knows it; `None` when nothing was recorded.
    pub(crate) fn to_hdr(&self) -> Option<hdrhistogram::Histogram<u64>> {
        let mut hdr = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, DIGITS).ok()?;
        for (index, n) in self.recorded() {
            hdr.saturating_record_n(lowest_in(index), n);
        }
        (!self.is_empty()).then_some(hdr)
    }

    /// Values recorded.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Value that the share `q` (0 to 1) of all values does not exceed; 0 when empty.
    pub fn quantile(&self, q: f64) -> u64 {
        if q.is_nan() {
            return 0;
        }
        let q = q.clamp(0.0, 1.0);
        let rank = ((q * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0u64;
        for bucket in self.buckets() {
            seen = seen.saturating_add(bucket.count);
            if seen >= rank {
                return if q == 0.0 { bucket.low } else { bucket.high };
            }
        }
        0
    }

    /// Buckets that hold at least one value, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.recorded().map(|(index, count)| Bucket {
            low: lowest_in(index),
            high: lowest_in(index) + width_of(index) - 1,
            count,
        })
    }

    /// Mean of the middles of the buckets.
    fn mean(&self) -> f64 {
        let parts = self.recorded().map(|(index, n)| {
            let middle = lowest_in(index) + width_of(index) / 2;
            middle as f64 * n as f64 / self.total as f64
        });
        parts.sum()
    }

    /// The distribution in a few numbers, each multiplied by `scale`: 1e-9 turns nanoseconds into
    /// seconds, 1.0 keeps counts.
    pub fn summary(&self, scale: f64) -> HistogramSummary {
        if self.is_empty() {
            return HistogramSummary::default();
        }
        let at = |q: f64| self.quantile(q) as f64 * scale;
        HistogramSummary {
            n: self.len(),
            min: lowest_in(self.low) as f64 * scale,
            mean: self.mean() * scale,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: (lowest_in(self.high) + width_of(self.high) - 1) as f64 * scale,
        }
    }

    /// Uncompressed HdrHistogram V2 encoding, as other HdrHistogram libraries read it.
    pub fn to_v2(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(V2_HEADER_BYTES + 256);
        for word in [V2_COOKIE, 0, 0, u32::from(DIGITS)] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(1u64.to_be_bytes());
        bytes.extend(HIGHEST.to_be_bytes());
        // The ratio between integers and floating-point values.
        bytes.extend(1f64.to_be_bytes());
        let mut next = 0;
        for (index, n) in self.recorded() {
            write_zeros(index - next, &mut bytes);
            write_varint(n << 1, &mut bytes);
            next = index + 1;
        }
        if next == 0 {
            write_zeros(1, &mut bytes);
        }
        let payload = (bytes.len() - V2_HEADER_BYTES) as u32;
        bytes[4..8].copy_from_slice(&payload.to_be_bytes());
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

/// Counters whose memory comes with the first value counted in them.
#[cold]
fn fresh() -> Box<[u64]> {
    vec![0; COUNTERS].into_boxed_slice()
}

/// The counter of a value.
#[inline]
const fn index_of(value: u64) -> usize {
    let largest = 2 * HALF as u64 - 1;
    let octave = largest.leading_zeros() - (value | largest).leading_zeros();
    octave as usize * HALF + (value >> octave) as usize
}

/// Octaves above the values that have counters of their own.
const fn octave_of(index: usize) -> usize {
    (index / HALF).saturating_sub(1)
}

/// The smallest value of a counter.
const fn lowest_in(index: usize) -> u64 {
    let octave = octave_of(index);
    ((index - octave * HALF) as u64) << octave
}

/// Number of values that a counter stands for.
const fn width_of(index: usize) -> u64 {
    1 << octave_of(index)
}

/// Writes that so many counters are 0, in ZigZag: one as its count, several as a negative number.
fn write_zeros(counters: usize, bytes: &mut Vec<u8>) {
    match counters as u64 {
        0 => {}
        1 => bytes.push(0),
        many => write_varint(2 * many - 1, bytes),
    }
}

/// Writes a LEB128 number of at most nine bytes, the ninth whole.
fn write_varint(mut number: u64, bytes: &mut Vec<u8>) {
    for _ in 0..8 {
        if number < 0x80 {
            break;
        }
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
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
    use hdrhistogram::serialization::{Serializer, V2Serializer};
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
    fn a_cleared_one_is_empty_and_counts_anew() {
        let mut h = of(&[0, 5, 70_000, HIGHEST]);
        h.clear();
        assert_eq!(h, Histogram::new());
        assert_eq!(h.summary(1.0), HistogramSummary::default());
        h.record(9);
        assert_eq!(h, of(&[9]));
    }

    #[test]
    fn each_counter_begins_behind_the_one_before() {
        for index in 0..COUNTERS - 1 {
            let next = lowest_in(index) + width_of(index);
            assert_eq!(next, lowest_in(index + 1));
            assert_eq!((index_of(next - 1), index_of(next)), (index, index + 1));
        }
        assert!(index_of(HIGHEST) < COUNTERS);
    }

    /// The same values in the library's own histogram.
    fn reference(values: &[u64]) -> hdrhistogram::Histogram<u64> {
        let hdr = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, DIGITS);
        let mut hdr = hdr.expect("bounds that it accepts");
        values.iter().for_each(|v| hdr.saturating_record(*v));
        hdr
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
        fn it_is_an_hdr_histogram(values in prop::collection::vec((0u64..HIGHEST, 0u32..42), 1..100),
                                  q in 0f64..=1.0) {
            // Small values as often as large ones.
            let values: Vec<u64> = values.iter().map(|(value, shift)| value >> shift).collect();
            let (h, hdr) = (of(&values), reference(&values));
            prop_assert_eq!(h.quantile(q), hdr.value_at_quantile(q));
            let summary = h.summary(1.0);
            prop_assert_eq!(summary.min, hdr.min() as f64);
            prop_assert_eq!(summary.max, hdr.max() as f64);
            prop_assert_eq!(summary.mean, hdr.mean());
            let mut bytes = Vec::new();
            V2Serializer::new().serialize(&hdr, &mut bytes).unwrap();
            prop_assert_eq!(h.to_v2(), bytes);
            prop_assert_eq!(h.to_hdr(), Some(hdr));
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
