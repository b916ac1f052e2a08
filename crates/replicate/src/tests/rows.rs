//! Devices that fail, clocks that are wrong, and names that stand for no file.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::sessions::{age, bytes};
use super::troubles::{reported, small_memory, staged};
use super::{Copy, look, quick};
use crate::dataset::Content;
use crate::receive::Durability;
use crate::root::faults::{Call, Failing};

fn tree(root: &Path) {
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("large"), bytes(Content::Random, 2_300_000, 1)).unwrap();
    for number in 0..20 {
        let small = bytes(Content::Text, 9_000, number);
        fs::write(root.join(format!("d/{number}")), small).unwrap();
    }
    age(root);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_its_old_version_stays() {
    let (source, target) = (quick(), quick());
    tree(source.path());
    fs::write(target.path().join("large"), "old").unwrap();
    for name in ["large", "d/7"] {
        let broken = fs::metadata(source.path().join(name)).unwrap();
        let failing = Failing::begin(broken.dev(), Some(broken.ino()), Call::Read);
        let copied = Copy::default().run(source.path(), target.path());
        assert_eq!(copied.sent.broken, None);
        assert_eq!(reported(&copied), [name.to_owned()].into());
        let why = &copied.sent.failures[0].why;
        assert!(why.contains("Input/output error"), "{why}");
        assert_eq!(staged(target.path()), 0);
        if name == "large" {
            assert_eq!(fs::read(target.path().join(name)).unwrap(), b"old");
        }
        drop(failing);
        Copy::default().run(source.path(), target.path()).fine();
        assert_eq!(look(source.path()), look(target.path()));
        fs::remove_file(target.path().join("d/7")).unwrap();
    }
}

#[test]
fn a_target_whose_device_fails_keeps_what_it_has_and_takes_the_rest_later() {
    let source = quick();
    tree(source.path());
    let calls = [
        (Call::Write, Durability::None),
        (Call::Write, Durability::Batch),
        (Call::Sync, Durability::Batch),
    ];
    for (call, durability) in calls {
        let (mount, target) = match small_memory(16, true) {
            Ok(made) => made,
            Err(error) => return eprintln!("skipped: no file system can be made: {error}"),
        };
        fs::write(target.join("large"), "old").unwrap();
        let device = fs::metadata(target.join("large")).unwrap().dev();
        let mut copy = Copy::default();
        copy.receive.durability = durability;
        let failing = Failing::begin(device, None, call);
        let copied = copy.run(source.path(), &target);
        let told = copied.sent.broken.clone().into_iter();
        let mut told = told.chain(copied.sent.failures.iter().map(|one| one.why.clone()));
        assert!(
            told.any(|why| why.contains("Input/output error")),
            "{copied:?}"
        );
        assert_eq!(fs::read(target.join("large")).unwrap(), b"old");
        drop(failing);
        copy.run(source.path(), &target).fine();
        assert_eq!(look(source.path()), look(&target));
        drop(mount);
    }
}

#[test]
fn a_clock_that_is_ahead_hides_no_change() {
    let (source, target) = (quick(), quick());
    let path = source.path().join("file");
    let ahead = SystemTime::now() + Duration::from_secs(86_400);
    let write = |content: &str| {
        fs::write(&path, content).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(ahead).unwrap();
    };
    write("one");
    let first = Copy::default().run(source.path(), target.path()).fine();
    assert_eq!(first.sent.counts.files_written, 1);
    let again = Copy::default().run(source.path(), target.path()).fine();
    assert_eq!(again.sent.counts.files_written, 0);
    // The same size and the same time, which lies ahead: only the content tells.
    write("two");
    let changed = Copy::default().run(source.path(), target.path()).fine();
    assert_eq!(changed.sent.counts.files_written, 1);
    assert_eq!(look(source.path()), look(target.path()));
}

#[test]
fn a_pipe_is_reported_and_never_opened() {
    let (source, target) = (quick(), quick());
    fs::write(source.path().join("file"), "x").unwrap();
    let pipe = |root: &Path, name: &str| {
        mknodat(CWD, root.join(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
    };
    pipe(source.path(), "pipe");
    // Where the target has one in the place of a file, the file takes it.
    pipe(target.path(), "file");
    let copied = Copy::default().run(source.path(), target.path());
    assert_eq!(copied.sent.broken, None);
    assert_eq!(reported(&copied), ["pipe".to_owned()].into());
    assert_eq!(fs::read(target.path().join("file")).unwrap(), b"x");
    assert!(!target.path().join("pipe").exists());
}
