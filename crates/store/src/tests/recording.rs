//! Tests that what is recorded is read back unchanged.

use super::*;

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
    let hint = error.hint().unwrap();
    assert_eq!(
        hint,
        Text::new("error-store-unfinished-hint").word("id", "open")
    );
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

/// Whatever is written: names, labels, events, notes and problems of a run carry what people typed.
#[test]
fn no_file_of_a_record_holds_a_secret() {
    const TYPED: &str = "http://me:sesame@h/?token=sesame";
    let root = root();
    let mut writer = RunDir::create(root.path(), &id("secret")).unwrap();
    let mut one = batch(0);
    let labels = [("label", TYPED), ("api_key", "sesame")];
    for series in &mut one.series {
        series.key.labels = key("a", "host.load_1min", &labels).labels;
    }
    for histogram in &mut one.histograms {
        histogram.key.labels = key("a", "host.load_1min", &labels).labels;
    }
    assert!(!one.events.is_empty() && !one.histograms.is_empty());
    for event in &mut one.events {
        event.says = Text::new("n").text("t", Text::new("i").word("url", TYPED));
    }
    writer.append(&one).unwrap();
    let fact = |name: &str, value: &str| Fact {
        section: "kernel".into(),
        name: name.into(),
        value: Some(value.into()),
        unit: None,
        source: "/proc".into(),
    };
    writer
        .write_environment(&Environment {
            host: "a".into(),
            facts: vec![fact("command line", TYPED), fact("fastopen_key", "sesame")],
        })
        .unwrap();
    let mut all = manifest(&id("secret"));
    let typed = || Text::new("n").word("url", TYPED);
    all.notes = vec![typed()];
    all.problems = vec![Problem {
        t_ns: 0,
        host: "a".into(),
        phase: TYPED.into(),
        says: typed(),
        missing: Some(typed()),
    }];
    all.command = vec![TYPED.into()];
    for phase in &mut all.plan.phases {
        phase.name = TYPED.into();
        phase.labels.insert("password".into(), "sesame".into());
    }
    for phase in &mut all.phases {
        phase.name = TYPED.into();
        phase.labels.insert("password".into(), "sesame".into());
        for flow in &mut phase.result.flows {
            (flow.from, flow.to) = (TYPED.into(), TYPED.into());
            flow.labels.insert("error".into(), TYPED.into());
        }
    }
    writer.write_manifest(&all).unwrap();
    let closed = writer.close(all).unwrap();
    let record = format!("{:?}", load(closed.path()).unwrap());
    assert!(
        record.contains("(hidden)") && !record.contains("sesame"),
        "{record}"
    );
    let mut folders = vec![closed.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let bytes = fs::read(entry.path()).unwrap();
                    let holds = bytes.windows(6).any(|part| part == b"sesame");
                    assert!(!holds, "{}", entry.path().display());
                }
            }
        }
    }
}
