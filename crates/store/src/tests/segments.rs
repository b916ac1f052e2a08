//! Tests of reading a damaged spool.

use super::*;

#[test]
fn a_segment_cut_at_any_byte_keeps_every_whole_frame() {
    let (bytes, ends) = segment(3);
    for cut in 0..=bytes.len() {
        let decoded = spool::decode(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(decoded.batches.len(), whole, "cut at {cut}");
        let kept = ends[..whole].last().copied().unwrap_or(12.min(cut));
        let lost = if cut < 12 { cut } else { cut - kept };
        assert_eq!(decoded.loss.bytes, lost as u64, "cut at {cut}");
        assert_eq!(decoded.loss.gaps, u64::from(lost > 0), "cut at {cut}");
    }
}

#[test]
fn any_flipped_bit_costs_at_most_its_own_frame() {
    let (bytes, _) = segment(3);
    let all: Vec<Batch> = (0..3).map(batch).collect();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let decoded = spool::decode(&damaged);
        let wanted_at_least = if at < 12 { 3 } else { 2 };
        assert_eq!(decoded.batches.len(), wanted_at_least, "byte {at}");
        assert!(decoded.batches.iter().all(|b| all.contains(b)), "byte {at}");
        assert_eq!(decoded.loss.gaps, 1, "byte {at}");
    }
}

#[test]
fn a_spool_of_another_version_is_kept_and_named() {
    let root = root();
    let path = died(root.path(), "newer", 2);
    let segment = path.join(SPOOL).join("000000.seg");
    // A segment as a newer program would write it: its version also seeds the checksums.
    let mut bytes = b"SOKUDOSP\x02\0\0\0".to_vec();
    bytes.extend([9; 100]);
    fs::write(&segment, bytes).unwrap();
    let error = recover(&path).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { .. }), "{error}");
    assert!(segment.exists());
}

#[test]
fn a_batch_too_large_for_a_frame_is_split_and_comes_back_whole() {
    let mut large = Batch::default();
    let (a, b) = (
        key("a", "host.load_1min", &[]),
        key("b", "host.load_1min", &[]),
    );
    (0..1_200_000).for_each(|t| large.push(&a, t << 20, t as f64));
    (0..10).for_each(|t| large.push(&b, t, 0.0));
    large.events = batch(0).events;
    let frames = spool::encode(&large).unwrap();
    assert!(frames.len() > 1);
    let mut joined = Batch::default();
    for frame in &frames {
        let segment = [&spool::header()[..], frame].concat();
        let decoded = spool::decode(&segment);
        assert!(decoded.loss.is_none());
        decoded.batches.into_iter().for_each(|b| joined.append(b));
    }
    assert_eq!(joined, large);
    let mut hopeless = batch(0);
    hopeless.histograms[0].hdr_v2 = vec![0; spool::FRAME_BYTES_MAX + 1];
    assert!(matches!(
        spool::encode(&hopeless),
        Err(StoreError::TooLarge { .. })
    ));
}

#[test]
fn segments_rotate_and_are_read_in_order() {
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("long")).unwrap();
    let host = key("a", "host.load_1min", &[]);
    let (n, per_batch) = (30, 50_000);
    for i in 0..n {
        let mut batch = Batch::default();
        (0..per_batch).for_each(|t| batch.push(&host, i * per_batch + t, t as f64));
        writer.append(&batch).unwrap();
    }
    let segments = spool::segments(&writer.path().join(SPOOL)).unwrap();
    assert!(segments.len() > 1, "{segments:?}");
    let closed = writer.close(manifest(&id("long"))).unwrap();
    let points = &load(closed.path()).unwrap().series[0].points;
    assert!(points.iter().map(|(t, _)| *t).eq(0..n * per_batch));
}

proptest! {
    #[test]
    fn any_bytes_are_read_as_a_segment(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let decoded = spool::decode(&bytes);
        prop_assert!(decoded.loss.bytes <= bytes.len() as u64);
        let headed = [&spool::header()[..], &bytes].concat();
        prop_assert!(spool::decode(&headed).loss.bytes <= bytes.len() as u64);
    }

    #[test]
    fn any_damage_to_a_segment_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, _) = segment(4);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let all: Vec<Batch> = (0..4).map(batch).collect();
        let decoded = spool::decode(&bytes);
        prop_assert!(decoded.batches.iter().all(|b| all.contains(b)));
    }

    #[test]
    fn any_bytes_are_read_as_run_json(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = crate::parse_manifest(Path::new("run.json"), &bytes);
    }
}
