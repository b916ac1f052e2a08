//! Tests of recording on a full disk.

use super::*;

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
            let named = hint.key == "error-store-full-run-hint";
            assert_eq!(
                named,
                root.path().join("full").join(RUN_JSON).exists(),
                "{hint:?}"
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
