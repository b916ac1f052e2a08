//! The promises of a record, tested over the whole crate: nothing that was recorded gets lost,
//! damage is named, and no bytes make it panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use sokudo_model::{
    Batch, Check, Environment, Event, Fact, Finding, FlowPlan, FlowResult, HistogramInterval,
    HistogramSummary, Labels, Manifest, PhasePlan, PhaseRecord, PhaseResult, Plan, Problem, Record,
    RunId, RunStatus, SeriesKey, Severity, Text, Unit,
};
use tempfile::TempDir;

use crate::disk::Disk;
use crate::disk::faults::{dying_after, with_room_for};
use crate::export::Format;
use crate::layout::{EVENTS, FINDINGS, HISTOGRAMS, RUN_JSON, SERIES, SPOOL};
use crate::recover::recover_on;
use crate::tables::{self, guarded};
use crate::{
    ClosedRun, RunDir, StoreError, attach, export, list, load, percentiles, plan_sha256,
    read_manifest, recover, resolve, save_findings, spool, verify, writer,
};

// ---- a small vocabulary ------------------------------------------------------------------

fn id(text: &str) -> RunId {
    RunId(text.into())
}

fn key(host: &str, metric: &str, labels: &[(&str, &str)]) -> SeriesKey {
    let labels: Labels = labels
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    SeriesKey {
        host: host.into(),
        source: metric.split('.').next().unwrap_or_default().into(),
        metric: metric.into(),
        labels,
    }
}

/// HdrHistogram V2 encoding of 1, 2, … 100 milliseconds in nanoseconds.
const HUNDRED_VALUES: &[u8] = include_bytes!("../testdata/v1/hundred_values.hdr");

/// What one host says about its `n`th interval of 250 ms.
fn batch(n: i64) -> Batch {
    let t_ns = (n + 1) * 250_000_000;
    let mut batch = Batch::default();
    let rate = key("hosta", "datagram.sent_bits_per_second", &[("flow", "0")]);
    batch.push(&rate, t_ns, 1e9 + n as f64);
    batch.push(
        &key("hostb", "host.cpu_ratio", &[("core", "\"0\", ü")]),
        t_ns,
        0.25,
    );
    batch.histograms.push(HistogramInterval {
        key: key("hosta", "datagram.ack_rtt_seconds", &[]),
        t0_ns: t_ns - 250_000_000,
        t1_ns: t_ns,
        hdr_v2: HUNDRED_VALUES.to_vec(),
    });
    batch.events.push(Event {
        t_ns,
        host: "hosta".into(),
        source: "datagram".into(),
        kind: "phase-begin".into(),
        says: Text::new("event-phase-begin")
            .word("phase", "p2p")
            .number("n", n as f64, Unit::One)
            .text("inner", Text::new("x")),
    });
    batch
}

fn phase(name: &str) -> PhaseRecord {
    let flow = FlowResult {
        id: 0,
        from: "hosta".into(),
        to: "hostb".into(),
        labels: Labels::from([("mode".into(), "gso".into())]),
        metrics: [("datagram.sent_packets".to_string(), 12.0)].into(),
        histograms: [(
            "datagram.ack_rtt_seconds".to_string(),
            HistogramSummary {
                n: 3,
                max: 0.5,
                ..Default::default()
            },
        )]
        .into(),
        complete: true,
    };
    PhaseRecord {
        name: name.into(),
        workload: "datagram".into(),
        options: "{}".into(),
        labels: Labels::new(),
        t0_ns: 0,
        t1_ns: 1_000_000_000,
        status: RunStatus::Ok,
        result: PhaseResult {
            flows: vec![flow],
            ..Default::default()
        },
    }
}

fn plan() -> Plan {
    let phase = PhasePlan {
        name: "p2p".into(),
        workload: "datagram".into(),
        options: "{}".into(),
        flows: vec![FlowPlan {
            id: 0,
            from: 0,
            to: 1,
            stream: 0,
        }],
        duration_ns: 1_000_000_000,
        bound_ns: 5_000_000_000,
        labels: Labels::new(),
    };
    Plan {
        phases: vec![phase],
    }
}

fn manifest(run: &RunId) -> Manifest {
    Manifest {
        schema: sokudo_model::manifest::RUN_SCHEMA.into(),
        id: run.clone(),
        workload: "datagram".into(),
        version: "0.1.0".into(),
        started: "2026-11-20T13:57:28+09:00".into(),
        started_unix_ns: 1_795_150_648_000_000_000,
        command: vec!["sokudo".into(), "datagram".into(), "hostb".into()],
        plan: plan(),
        plan_sha256: plan_sha256(&plan()).expect("a plan has a JSON form"),
        seed: 7,
        hosts: Vec::new(),
        phases: vec![phase("p2p")],
        summary: [("datagram.sent_packets".to_string(), 12.0)].into(),
        notes: vec![Text::new("note-namespaces")],
        status: RunStatus::Ok,
        problems: Vec::new(),
        files: Default::default(),
    }
}

fn environment() -> Environment {
    let fact = Fact {
        section: "sysctl".into(),
        name: "net.core.rmem_max".into(),
        value: Some("212992".into()),
        unit: Some(Unit::Bytes),
        source: "/proc/sys".into(),
    };
    Environment {
        host: "hosta".into(),
        facts: vec![fact],
    }
}

fn finding() -> Finding {
    Finding {
        rule: "rxbuf".into(),
        severity: Severity::Caution,
        phase: "p2p".into(),
        weight: 0.9,
        says: Text::new("rule-rxbuf-says"),
        evidence: Vec::new(),
        next: None,
    }
}

fn check() -> Check {
    Check {
        name: "loss".into(),
        passed: true,
        says: Text::new("check-loss"),
    }
}

/// Records everything that a run has, `n` intervals of it, on a disk that may fail anywhere.
/// Returns how many batches were accepted, and how the run ended.
fn record_on(disk: Disk, root: &Path, name: &str, n: i64) -> (i64, Result<ClosedRun, StoreError>) {
    let run = id(name);
    let mut accepted = 0;
    let mut whole = || -> Result<ClosedRun, StoreError> {
        let mut writer = writer::create(disk.clone(), root, &run)?;
        writer.write_manifest(&manifest(&run))?;
        writer.write_environment(&environment())?;
        for i in 0..n {
            writer.append_clock("hosta", i * 250_000_000, -12 + i, 900)?;
            writer.append(&batch(i))?;
            accepted += 1;
        }
        writer.write_findings(&[finding()], &[check()])?;
        writer.close(manifest(&run))
    };
    let ended = whole();
    (accepted, ended)
}

fn record(root: &Path, name: &str, n: i64) -> PathBuf {
    let (_, closed) = record_on(Disk::default(), root, name, n);
    closed
        .expect("nothing stands in the way")
        .path()
        .to_path_buf()
}

/// A run whose program died after `n` intervals.
fn died(root: &Path, name: &str, n: i64) -> PathBuf {
    let mut writer = RunDir::create(root, &id(name)).expect("a new directory");
    writer
        .write_manifest(&manifest(&id(name)))
        .expect("a writable directory");
    (0..n).for_each(|i| writer.append(&batch(i)).expect("a writable directory"));
    writer.path().to_path_buf()
}

/// The record holds exactly the first `n` intervals.
#[track_caller]
fn assert_holds(record: &Record, n: i64) {
    let mut wanted = Batch::default();
    (0..n).for_each(|i| wanted.append(batch(i)));
    wanted.series.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(record.series, wanted.series);
    assert_eq!(record.histograms, wanted.histograms);
    assert_eq!(record.events, wanted.events);
}

fn root() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

// ---- writing and reading -----------------------------------------------------------------

#[test]
fn a_closed_record_reads_back_as_it_was_recorded() {
    let root = root();
    let path = record(root.path(), "r1", 5);
    let record = load(&path).unwrap();
    assert_holds(&record, 5);
    assert_eq!(record.environments["hosta"], environment());
    assert_eq!(record.findings, [finding()]);
    assert_eq!(record.checks, [check()]);
    let mut wanted = manifest(&id("r1"));
    wanted.files = record.manifest.files.clone();
    assert_eq!(record.manifest, wanted);
    assert!(!path.join(SPOOL).exists());
    let clock = fs::read_to_string(path.join("clock/hosta.csv")).unwrap();
    assert!(clock.starts_with("t_ns,offset_ns,error_ns\n0,-12,900\n250000000,-11,900\n"));
    let listed: Vec<&str> = record.manifest.files.keys().map(String::as_str).collect();
    assert_eq!(
        listed,
        [
            "clock/hosta.csv",
            "environment/hosta.json",
            EVENTS,
            FINDINGS,
            HISTOGRAMS,
            "plan/plan.json",
            SERIES
        ]
    );
    assert_eq!(
        record.manifest.files["plan/plan.json"],
        record.manifest.plan_sha256
    );
}

#[test]
fn a_writer_can_move_to_another_thread() {
    fn movable<T: Send + 'static>() {}
    movable::<crate::Writer>();
    movable::<StoreError>();
}

#[test]
fn an_empty_run_is_a_record_too() {
    let root = root();
    let record = load(&record(root.path(), "empty", 0)).unwrap();
    assert_holds(&record, 0);
}

#[test]
fn percentiles_are_in_the_metrics_unit() {
    let p = percentiles(&batch(0).histograms[0]).unwrap();
    assert_eq!(p.n, 100);
    assert!((p.p50 - 0.05).abs() < 1e-4, "{p:?}");
    assert!((p.max - 0.1).abs() < 1e-4, "{p:?}");
    let mut damaged = batch(0).histograms.remove(0);
    damaged.hdr_v2.truncate(7);
    assert_eq!(percentiles(&damaged), None);
}

#[test]
fn an_unreadable_histogram_keeps_its_row() {
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("h")).unwrap();
    let mut one = batch(0);
    one.histograms[0].hdr_v2 = vec![1, 2, 3];
    writer.append(&one).unwrap();
    let closed = writer.close(manifest(&id("h"))).unwrap();
    assert_eq!(load(closed.path()).unwrap().histograms, one.histograms);
}

#[test]
fn more_points_than_one_row_group_come_back_in_order() {
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("big")).unwrap();
    let (a, b) = (
        key("a", "host.load_1min", &[]),
        key("b", "host.load_1min", &[]),
    );
    let n = 300_000;
    for half in [0..n / 2, n / 2..n] {
        let mut batch = Batch::default();
        half.clone().for_each(|t| batch.push(&b, t, t as f64));
        half.for_each(|t| batch.push(&a, t, f64::NAN));
        writer.append(&batch).unwrap();
    }
    let closed = writer.close(manifest(&id("big"))).unwrap();
    let record = load(closed.path()).unwrap();
    assert_eq!(record.series.len(), 2);
    assert_eq!(record.series[0].key, a);
    assert!(record.series[0].points.iter().all(|(_, v)| v.is_nan()));
    assert!(record.series[1].points.iter().map(|(t, _)| *t).eq(0..n));
}

#[test]
fn a_minute_of_two_hundred_series_fits_in_two_megabytes() {
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("size")).unwrap();
    let keys: Vec<SeriesKey> = (0..200)
        .map(|i| {
            key(
                ["hosta", "hostb"][i % 2],
                "host.cpu_ratio",
                &[("core", &i.to_string())],
            )
        })
        .collect();
    let mut noise: u64 = 1;
    for tick in 0..240_i64 {
        let mut batch = Batch::default();
        for key in &keys {
            // Values without any pattern: nothing real is harder to pack.
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let t_ns = tick * 250_000_000 + (noise >> 50) as i64;
            batch.push(key, t_ns, (noise >> 11) as f64 / (1u64 << 53) as f64);
        }
        writer.append(&batch).unwrap();
    }
    let closed = writer.close(manifest(&id("size"))).unwrap();
    let bytes = fs::metadata(closed.path().join(SERIES)).unwrap().len();
    println!("200 series × 240 points of noise: {bytes} bytes");
    assert!(bytes <= 2_000_000, "{bytes}");
}

#[test]
fn numbers_that_json_cannot_hold_do_not_make_a_record_unreadable() {
    let root = root();
    let writer = RunDir::create(root.path(), &id("nan")).unwrap();
    let mut bad = manifest(&id("nan"));
    bad.summary.insert("host.load_1min".into(), f64::NAN);
    let flow = &mut bad.phases[0].result.flows[0];
    flow.metrics.insert("host.load_1min".into(), f64::INFINITY);
    flow.histograms.insert(
        "x".into(),
        HistogramSummary {
            mean: f64::NAN,
            ..Default::default()
        },
    );
    bad.notes = vec![Text::new("n").text("t", Text::new("i").number("v", f64::NAN, Unit::One))];
    let mut doubtful = finding();
    doubtful.weight = f64::NAN;
    writer.write_findings(&[doubtful], &[]).unwrap();
    let closed = writer.close(bad).unwrap();
    let record = load(closed.path()).unwrap();
    assert_eq!(record.manifest.summary, manifest(&id("nan")).summary);
    assert_eq!(record.manifest.phases, [phase("p2p")]);
    assert_eq!(record.findings[0].weight, 0.0);
}

#[test]
fn a_run_says_running_until_it_is_closed() {
    let root = root();
    let path = died(root.path(), "open", 1);
    let open = read_manifest(&path).unwrap();
    assert_eq!(open.status, RunStatus::Running);
    let error = load(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Unfinished { .. }), "{error}");
    assert!(error.hint().unwrap().contains("sokudo recover open"));
}

#[test]
fn a_name_is_used_once() {
    let root = root();
    record(root.path(), "once", 0);
    let again = RunDir::create(root.path(), &id("once")).unwrap_err();
    assert!(matches!(again, StoreError::Exists { .. }), "{again}");
    let outside = RunDir::create(root.path(), &id("../once")).unwrap_err();
    assert!(matches!(outside, StoreError::BadId { .. }), "{outside}");
}

// ---- the spool ---------------------------------------------------------------------------

/// A segment of `n` frames, and where each ends.
fn segment(n: i64) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = spool::header();
    let ends = (0..n).map(|i| {
        bytes.extend(spool::encode(&batch(i)).unwrap().concat());
        bytes.len()
    });
    let ends = ends.collect();
    (bytes, ends)
}

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
    // What a newer program would write: its version also seeds the checksums.
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

// ---- crashes -----------------------------------------------------------------------------

#[test]
fn recovery_keeps_everything_and_says_partial() {
    let root = root();
    let path = died(root.path(), "died", 4);
    let report = recover(&path).unwrap();
    assert!(report.recovered && report.loss.is_none());
    assert_eq!((report.batches, report.points), (4, 8));
    let record = load(&path).unwrap();
    assert_holds(&record, 4);
    assert_eq!(record.manifest.status, RunStatus::Partial);
    assert_eq!(record.manifest.problems.len(), 1);
    assert_eq!(record.manifest.problems[0].says.key, "store-recovered-says");
    assert!(!path.join(SPOOL).exists());
    assert!(verify(&path).unwrap().is_intact());
    // A second time there is nothing to do.
    let again = recover(&path).unwrap();
    assert!(!again.recovered);
    assert_eq!(load(&path).unwrap().manifest, record.manifest);
}

#[test]
fn recovery_counts_what_is_torn_or_damaged() {
    let root = root();
    let path = died(root.path(), "torn", 3);
    let segment = path.join(SPOOL).join("000000.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes.truncate(bytes.len() - 5);
    fs::write(&segment, &bytes).unwrap();
    fs::write(
        path.join("clock/hosta.csv"),
        "t_ns,offset_ns,error_ns\n1,2,3\n4,",
    )
    .unwrap();
    let report = recover(&path).unwrap();
    assert_eq!(report.batches, 2);
    assert_eq!(report.loss.gaps, 1);
    assert!(report.loss.bytes > 0);
    let record = load(&path).unwrap();
    assert_holds(&record, 2);
    let problems: Vec<&str> = record
        .manifest
        .problems
        .iter()
        .map(|p| p.says.key.as_str())
        .collect();
    assert_eq!(
        problems,
        ["store-recovered-says", "store-spool-damaged-says"]
    );
    let clock = fs::read_to_string(path.join("clock/hosta.csv")).unwrap();
    assert_eq!(clock, "t_ns,offset_ns,error_ns\n1,2,3\n");
}

#[test]
fn a_run_that_goes_on_cannot_be_recovered() {
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("live")).unwrap();
    writer.append(&batch(0)).unwrap();
    let error = recover(writer.path()).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    let closed = writer.close(manifest(&id("live"))).unwrap();
    assert_holds(&load(closed.path()).unwrap(), 1);
}

/// Kills the program before each single operation on the disk, from the first directory to the
/// last removal, and recovers.
#[test]
fn killed_anywhere_every_accepted_batch_survives() {
    let n = 3;
    for steps in 0.. {
        let root = root();
        let path = root.path().join("k");
        let (disk, _) = dying_after(steps);
        let (accepted, ended) = record_on(disk, root.path(), "k", n);
        if !path.join(RUN_JSON).exists() {
            assert_eq!(accepted, 0);
            continue;
        }
        let report = recover(&path).unwrap_or_else(|e| panic!("killed after {steps}: {e}"));
        let record = load(&path).unwrap_or_else(|e| panic!("killed after {steps}: {e}"));
        // A batch whose sync was refused is kept although it was not accepted.
        let kept = record.events.len() as i64;
        assert!(
            kept == accepted || kept == accepted + 1,
            "killed after {steps}"
        );
        assert_holds(&record, kept);
        assert!(!path.join(SPOOL).exists());
        assert!(verify(&path).unwrap().is_intact(), "killed after {steps}");
        let status = record.manifest.status;
        assert_eq!(
            report.recovered,
            status == RunStatus::Partial,
            "killed after {steps}"
        );
        if ended.is_ok() {
            assert!(steps > 50, "this test should see many operations");
            return;
        }
    }
}

/// The same for the recovery: killed before each of its operations, then done again.
#[test]
fn recovery_killed_anywhere_can_be_done_again() {
    for steps in 0.. {
        let root = root();
        let path = died(root.path(), "k", 3);
        let (disk, _) = dying_after(steps);
        let ended = recover_on(&disk, &path);
        recover(&path).unwrap_or_else(|e| panic!("killed after {steps}: {e}"));
        let record = load(&path).unwrap_or_else(|e| panic!("killed after {steps}: {e}"));
        assert_holds(&record, 3);
        assert_eq!(record.manifest.status, RunStatus::Partial);
        assert_eq!(record.manifest.problems.len(), 1);
        assert!(!path.join(SPOOL).exists());
        if ended.is_ok() {
            assert!(steps > 20, "this test should see many operations");
            return;
        }
    }
}

#[test]
fn a_record_without_its_spool_is_named_as_damaged() {
    let root = root();
    let path = died(root.path(), "s", 1);
    fs::remove_dir_all(path.join(SPOOL)).unwrap();
    let error = recover(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

// ---- a full disk -------------------------------------------------------------------------

#[test]
fn on_a_disk_of_any_size_every_accepted_batch_survives() {
    for room in (0..20_000).step_by(397) {
        let root = root();
        let (disk, _) = with_room_for(room);
        let (accepted, ended) = record_on(disk, root.path(), "full", 8);
        let path = root.path().join("full");
        if let Err(error) = &ended {
            assert!(matches!(error, StoreError::Full { .. }), "{room}: {error}");
            let hint = error.hint().unwrap();
            let named = hint.contains("sokudo recover full");
            assert_eq!(
                named,
                root.path().join("full").join(RUN_JSON).exists(),
                "{hint}"
            );
        }
        if path.join(RUN_JSON).exists() {
            recover(&path).unwrap();
            assert_holds(&load(&path).unwrap(), accepted);
        } else {
            assert_eq!(accepted, 0);
        }
    }
}

#[test]
fn recording_goes_on_when_there_is_space_again_and_the_gap_is_told() {
    let root = root();
    let (disk, faults) = with_room_for(u64::MAX);
    let mut writer = writer::create(disk, root.path(), &id("gap")).unwrap();
    writer.append(&batch(0)).unwrap();
    faults.bytes_left.store(10, Relaxed);
    for i in 1..3 {
        let error = writer.append(&batch(i)).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
    }
    faults.bytes_left.store(u64::MAX, Relaxed);
    writer.append(&batch(3)).unwrap();
    let closed = writer.close(manifest(&id("gap"))).unwrap();
    assert_eq!(closed.manifest().status, RunStatus::Partial);
    let Problem { says, t_ns, .. } = &closed.manifest().problems[0];
    assert_eq!(
        (says.key.as_str(), *t_ns),
        ("store-disk-full-says", 250_000_000)
    );
    let record = load(closed.path()).unwrap();
    assert_eq!(
        record.events.iter().map(|e| e.t_ns).collect::<Vec<_>>(),
        [250_000_000, 1_000_000_000]
    );
}

/// Runs itself again inside a mount namespace of its own, where a tiny tmpfs is the disk.
#[test]
fn on_a_real_full_disk_what_was_accepted_is_recovered() {
    const DISK: &str = "SOKUDO_TEST_TINY_DISK";
    if let Some(disk) = std::env::var_os(DISK) {
        return fill(Path::new(&disk));
    }
    let mount = root();
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=256k tmpfs \"$1\" || exit 77; {DISK}=\"$1\" exec \"$2\" --exact tests::on_a_real_full_disk_what_was_accepted_is_recovered"
    );
    let status = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", &script, "sh"])
        .arg(mount.path())
        .arg(&program)
        .stdout(std::process::Stdio::null())
        .status();
    match status.map(|s| s.code()) {
        Ok(Some(0)) => {}
        Ok(Some(77) | Some(1)) if !can_mount(mount.path()) => {
            eprintln!("skipped: a tmpfs cannot be mounted here");
        }
        Err(e) => eprintln!("skipped: unshare cannot be run here: {e}"),
        Ok(code) => panic!("the test inside the tiny disk ended with {code:?}"),
    }
}

fn can_mount(at: &Path) -> bool {
    std::process::Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "tmpfs"])
        .arg(at)
        .status()
        .is_ok_and(|s| s.success())
}

/// Fills the disk, makes room for the tables, and recovers.
fn fill(disk: &Path) {
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![0; 64 << 10]).unwrap();
    let mut writer = RunDir::create(disk, &id("tiny")).unwrap();
    let mut accepted = 0;
    let error = loop {
        match writer.append(&batch(accepted)) {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 100_000, "the disk should have been full by now");
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let path = writer.path().to_path_buf();
    let closed = writer.close(manifest(&id("tiny")));
    assert!(matches!(closed, Err(StoreError::Full { .. })), "{closed:?}");
    fs::remove_file(&ballast).unwrap();
    recover(&path).unwrap();
    assert_holds(&load(&path).unwrap(), accepted);
}

// ---- damage ------------------------------------------------------------------------------

#[test]
fn a_changed_file_is_named_and_not_shown() {
    let root = root();
    for name in [
        SERIES,
        HISTOGRAMS,
        EVENTS,
        FINDINGS,
        "environment/hosta.json",
    ] {
        let path = record(root.path(), &name.replace(['/', '.'], "-"), 2);
        let file = path.join(name);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, &bytes).unwrap();
        match load(&path) {
            Err(StoreError::Corrupt { file: named, .. }) => assert_eq!(named, file),
            other => panic!("{name}: {:?}", other.map(|_| ())),
        }
        assert_eq!(verify(&path).unwrap().changed, [name]);
        fs::remove_file(&file).unwrap();
        if !name.starts_with("environment") {
            assert!(
                matches!(load(&path), Err(StoreError::Corrupt { .. })),
                "{name}"
            );
        }
        assert_eq!(verify(&path).unwrap().missing, [name]);
    }
}

/// Without matching hashes, as in a record that somebody made up, damage reaches the Parquet
/// reader.
#[test]
fn damaged_tables_never_panic() {
    fn table<T>(path: &Path, read: fn(&Path) -> Result<T, StoreError>) {
        let intact = fs::read(path).unwrap();
        for at in 0..intact.len() {
            let mut damaged = intact.clone();
            damaged[at] = damaged[at].wrapping_add(1 + (at % 255) as u8);
            fs::write(path, &damaged).unwrap();
            let _ = guarded(path, read);
            fs::write(path, &intact[..at]).unwrap();
            assert!(guarded(path, read).is_err(), "cut at {at}");
        }
        fs::write(path, &intact).unwrap();
        guarded(path, read).unwrap();
    }
    let root = root();
    let path = record(root.path(), "p", 3);
    table(&path.join(SERIES), tables::series::read);
    table(&path.join(HISTOGRAMS), tables::histograms::read);
    table(&path.join(EVENTS), tables::events::read);
}

#[test]
fn a_newer_or_foreign_run_json_is_refused_with_reason() {
    let root = root();
    let path = record(root.path(), "s", 1);
    let text = fs::read_to_string(path.join(RUN_JSON)).unwrap();
    let with = |schema: &str| {
        fs::write(path.join(RUN_JSON), text.replace("sokudo.run/1", schema)).unwrap();
        load(&path).unwrap_err()
    };
    assert!(matches!(
        with("sokudo.run/2"),
        StoreError::NewerSchema { .. }
    ));
    assert!(matches!(with("something/1"), StoreError::Corrupt { .. }));
    fs::write(path.join(RUN_JSON), &text[..text.len() / 2]).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { file, .. } if file.ends_with(RUN_JSON)));
    fs::remove_file(path.join(RUN_JSON)).unwrap();
    assert!(matches!(load(&path), Err(StoreError::NotARecord { .. })));
}

// ---- finding runs ------------------------------------------------------------------------

#[test]
fn runs_are_listed_newest_first_and_broken_ones_named() {
    let root = root();
    assert!(list(&root.path().join("nothing-here")).unwrap().is_empty());
    for (name, started) in [("b-old", 1), ("a-new", 2)] {
        let writer = RunDir::create(root.path(), &id(name)).unwrap();
        let mut manifest = manifest(&id(name));
        manifest.started_unix_ns = started;
        writer.close(manifest).unwrap();
    }
    let broken = record(root.path(), "c-broken", 0);
    fs::write(broken.join(RUN_JSON), "{").unwrap();
    fs::create_dir(root.path().join("no-record")).unwrap();
    fs::write(root.path().join("a-file"), "").unwrap();
    let entries = list(root.path()).unwrap();
    let ids: Vec<&str> = entries.iter().map(|e| e.id.as_str()).collect();
    assert_eq!(ids, ["a-new", "b-old", "c-broken"]);
    assert_eq!(entries[0].info.as_ref().unwrap().status, RunStatus::Ok);
    assert!(entries[2].info.is_err());
    assert_eq!(
        resolve(root.path(), "latest").unwrap(),
        root.path().join("a-new")
    );
}

#[test]
fn a_run_is_found_by_name_beginning_and_path() {
    let root = root();
    let path = record(root.path(), "2026-a-1", 0);
    let longer = record(root.path(), "2026-a-12", 0);
    let find = |text: &str| resolve(root.path(), text);
    assert_eq!(find("2026-a-1").unwrap(), path);
    assert_eq!(find("2026-a-12").unwrap(), longer);
    assert_eq!(find(path.to_str().unwrap()).unwrap(), path);
    assert_eq!(find(path.join(RUN_JSON).to_str().unwrap()).unwrap(), path);
    let several = find("2026").unwrap_err();
    assert!(matches!(&several, StoreError::Ambiguous { candidates, .. } if candidates.len() == 2));
    for text in ["2027", "", ".."] {
        assert!(find(text).is_err(), "{text}");
    }
    let nothing = resolve(&root.path().join("empty"), "latest").unwrap_err();
    assert!(nothing.hint().unwrap().contains("sokudo check"));
}

// ---- files made from a record ------------------------------------------------------------

#[test]
fn reports_and_findings_can_be_added_and_replaced() {
    let root = root();
    let path = record(root.path(), "r", 1);
    attach(&path, "report.html", b"<p>1").unwrap();
    attach(&path, "report.html", b"<p>2").unwrap();
    attach(&path, "charts/rate.svg", b"<svg/>").unwrap();
    save_findings(&path, &[], &[check(), check()]).unwrap();
    assert_eq!(fs::read(path.join("report.html")).unwrap(), b"<p>2");
    assert_eq!(load(&path).unwrap().checks.len(), 2);
    let verified = verify(&path).unwrap();
    assert!(verified.is_intact());
    assert!(verified.unlisted.is_empty(), "{verified:?}");
    for bad in ["../x", "/x", "", "run.json"] {
        assert!(attach(&path, bad, b"").is_err(), "{bad}");
    }
}

fn exported(record: &Record) -> (String, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (mut series, mut flows, mut json) = (Vec::new(), Vec::new(), Vec::new());
    export::series(record, Format::Csv, &mut series).unwrap();
    export::flows(record, Format::Csv, &mut flows).unwrap();
    export::json(record, &mut json).unwrap();
    (text(series), text(flows), text(json))
}

#[test]
fn exports_hold_every_point_flow_and_quote() {
    let root = root();
    let path = record(root.path(), "x", 2);
    let (series, flows, json) = exported(&load(&path).unwrap());
    let mut lines = series.lines();
    assert_eq!(
        lines.next(),
        Some("time_seconds,host,source,metric,unit,labels,value")
    );
    assert_eq!(
        lines.next(),
        Some(
            r#"0.250000000,hosta,datagram,datagram.sent_bits_per_second,bits/second,"{""flow"":""0""}",1000000000"#
        )
    );
    assert_eq!(series.lines().count(), 1 + 4);
    assert_eq!(
        flows,
        "phase,workload,phase_labels,flow,from,to,labels,complete,datagram.sent_packets,\
         datagram.ack_rtt_seconds n,datagram.ack_rtt_seconds min,datagram.ack_rtt_seconds mean,\
         datagram.ack_rtt_seconds p50,datagram.ack_rtt_seconds p90,datagram.ack_rtt_seconds p99,\
         datagram.ack_rtt_seconds p999,datagram.ack_rtt_seconds max\n\
         p2p,datagram,{},0,hosta,hostb,\"{\"\"mode\"\":\"\"gso\"\"}\",true,12,3,0,0,0,0,0,0,0.5\n"
    );
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["series"][0]["points"][0][0], 250_000_000);
    assert_eq!(parsed["histograms"][1]["n"], 100);
    assert_eq!(parsed["manifest"]["id"], "x");
    let out = root.path().join("out");
    fs::create_dir(&out).unwrap();
    let record = load(&path).unwrap();
    assert_eq!(
        export::to_csv(&record, &out).unwrap(),
        [out.join("series.csv"), out.join("flows.csv")]
    );
    assert_eq!(export::to_tsv(&record, &out).unwrap().len(), 2);
    assert_eq!(
        fs::read_to_string(export::to_json(&record, &out).unwrap()).unwrap(),
        json
    );
}

#[test]
fn cells_cannot_become_formulas_or_break_rows() {
    let root = root();
    let mut record = load(&record(root.path(), "f", 0)).unwrap();
    let flow = &mut record.manifest.phases[0].result.flows[0];
    flow.from = "=HYPERLINK(\"http://x\")".into();
    flow.to = "a\tb\nc,d".into();
    flow.metrics.insert("host.load_1min".into(), f64::NAN);
    let mut csv = Vec::new();
    export::flows(&record, Format::Csv, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains(r#","'=HYPERLINK(""http://x"")","#), "{csv}");
    assert!(csv.contains(",\"a\tb\nc,d\","), "{csv}");
    assert!(csv.contains(",true,12,,3,"), "{csv}");
    let mut tsv = Vec::new();
    export::flows(&record, Format::Tsv, &mut tsv).unwrap();
    let tsv = String::from_utf8(tsv).unwrap();
    assert!(tsv.contains("\ta\\tb\\nc,d\t"), "{tsv}");
    assert_eq!(tsv.lines().count(), 2);
}

// ---- golden ------------------------------------------------------------------------------

/// A record written by the first version stays readable for ever. To make the golden record of a
/// new format version, run with `SOKUDO_WRITE_GOLDEN=<directory>`.
#[test]
fn the_first_versions_record_stays_readable() {
    if let Some(dir) = std::env::var_os("SOKUDO_WRITE_GOLDEN") {
        let path = record(Path::new(&dir), "golden", 2);
        attach(
            &path,
            "report.html",
            b"<!doctype html><title>golden</title>\n",
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1/golden");
    let record = load(&path).unwrap();
    assert_holds(&record, 2);
    assert_eq!(record.environments["hosta"], environment());
    assert_eq!(record.findings, [finding()]);
    let mut wanted = manifest(&id("golden"));
    wanted.files = record.manifest.files.clone();
    assert_eq!(record.manifest, wanted);
    let verified = verify(&path).unwrap();
    assert!(
        verified.is_intact() && verified.unlisted.is_empty(),
        "{verified:?}"
    );
    let segment = fs::read(path.with_file_name("spool.seg")).unwrap();
    let decoded = spool::decode(&segment);
    assert!(decoded.loss.is_none());
    assert_eq!(decoded.batches, [batch(0), batch(1)]);
}

#[test]
fn a_segments_bytes_are_a_promise() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1/spool.seg");
    if std::env::var_os("SOKUDO_WRITE_GOLDEN").is_some() {
        fs::write(&golden, segment(2).0).unwrap();
    }
    assert_eq!(fs::read(golden).unwrap(), segment(2).0);
}
