//! How far apart are two hosts' clocks, and how sure is that?
//!
//! The answer to a clock question was given somewhere between question and answer; half of the
//! shortest round trip bounds the error (Cristian's method). Many questions, the quickest counts.

/// One question and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Own clock when the question left.
    pub asked_ns: i64,
    /// The other clock's reading.
    pub answer_ns: i64,
    /// Own clock when the answer came.
    pub received_ns: i64,
}

/// Difference of two clocks and its bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offset {
    /// Other clock minus own, nanoseconds.
    pub offset_ns: i64,
    /// The offset is right within this, nanoseconds.
    pub error_ns: u64,
}

/// The best estimate that these probes allow; `None` without probes.
pub fn estimate(probes: &[Probe]) -> Option<Offset> {
    let best = probes
        .iter()
        .filter(|probe| probe.received_ns >= probe.asked_ns)
        .min_by_key(|probe| probe.received_ns - probe.asked_ns)?;
    let round_trip_ns = best.received_ns - best.asked_ns;
    Some(Offset {
        offset_ns: best.answer_ns - (best.asked_ns + round_trip_ns / 2),
        error_ns: (round_trip_ns / 2) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_answer_counts_and_bounds_the_error() {
        let probe = |asked_ns, out_ns, back_ns| Probe {
            asked_ns,
            answer_ns: asked_ns + out_ns + 5_000_000,
            received_ns: asked_ns + out_ns + back_ns,
        };
        // Asymmetric and slow first, quick later; the true offset is 5 ms.
        let probes = [probe(0, 900_000, 100_000), probe(2_000_000, 30_000, 20_000)];
        let offset = estimate(&probes).unwrap();
        assert_eq!(offset.error_ns, 25_000);
        assert!(offset.offset_ns.abs_diff(5_000_000) <= offset.error_ns);
        assert_eq!(estimate(&[]), None);
    }
}
