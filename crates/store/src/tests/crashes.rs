//! Tests of recovery after a crash at every step of writing.

use super::*;

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
