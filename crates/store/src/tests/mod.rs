//! Tests of the guarantees of a record over the whole crate: nothing recorded gets lost, damage is
//! reported, and no bytes make the reader panic.

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

mod crashes;
mod damage;
mod files;
mod full_disk;
mod golden;
mod recording;
mod runs;
mod segments;

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
const HUNDRED_VALUES: &[u8] = include_bytes!("../../testdata/v1/hundred_values.hdr");

/// The batch of one host for its `n`th interval of 250 ms.
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
        ..Plan::default()
    }
}

fn manifest(run: &RunId) -> Manifest {
    Manifest {
        version: "0.1.0".into(),
        started: "2026-11-20T13:57:28+09:00".into(),
        started_unix_ns: 1_795_150_648_000_000_000,
        command: vec!["sokudo".into(), "datagram".into(), "hostb".into()],
        plan: plan(),
        plan_sha256: plan_sha256(&plan()).expect("a plan has a JSON form"),
        seed: 7,
        phases: vec![phase("p2p")],
        summary: [("datagram.sent_packets".to_string(), 12.0)].into(),
        notes: vec![Text::new("note-namespaces")],
        status: RunStatus::Ok,
        ..Manifest::new(run.clone(), "datagram")
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
        against: Vec::new(),
        next: None,
    }
}

fn check() -> Check {
    Check {
        name: "loss".into(),
        passed: true,
        says: Text::new("check-loss"),
        demand: None,
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
