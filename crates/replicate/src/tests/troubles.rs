//! Trees that cannot be written, or do not stay as they are.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::sessions::{age, bytes};
use super::{Copied, Copy, look, quick};
use crate::dataset::Content;
use crate::path::STAGED;
use crate::receive::Durability;

/// Nobody's number.
const NOBODY: u32 = 65_534;

/// Files in transit below a root.
pub(super) fn staged(root: &Path) -> usize {
    let names = look(root).into_keys();
    names
        .filter(|path| path.windows(STAGED.len()).any(|part| part == STAGED))
        .count()
}

/// The paths that an end reports.
pub(super) fn reported(copied: &Copied) -> BTreeSet<String> {
    let failures = copied.sent.failures.iter();
    failures.map(|failure| failure.path.clone()).collect()
}

/// A file system in memory of so many MiB; it goes with its handle.
#[cfg(target_os = "linux")]
pub(super) fn small_memory(
    mib: u32,
    is_writable: bool,
) -> Result<(OwnedFd, PathBuf), rustix::io::Errno> {
    use rustix::mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
        fsopen,
    };
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "size", format!("{mib}m"))?;
    fsconfig_create(&context)?;
    let how = match is_writable {
        true => MountAttrFlags::empty(),
        false => MountAttrFlags::MOUNT_ATTR_RDONLY,
    };
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, how)?;
    let path = format!("/proc/self/fd/{}", mount.as_raw_fd()).into();
    Ok((mount, path))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn small_memory(_: u32, _: bool) -> Result<(OwnedFd, PathBuf), rustix::io::Errno> {
    Err(rustix::io::Errno::NOSYS)
}

#[test]
fn a_full_target_names_what_it_cannot_take_and_takes_it_when_there_is_room() {
    let source = quick();
    fs::write(
        source.path().join("large"),
        bytes(Content::Random, 1_300_000, 1),
    )
    .unwrap();
    for number in 0..20 {
        let small = bytes(Content::Random, 30_000, 100 + number);
        fs::write(source.path().join(format!("{number}")), small).unwrap();
    }
    age(source.path());
    for durability in [Durability::None, Durability::Batch, Durability::File] {
        let (mount, target) = match small_memory(3, true) {
            Ok(made) => made,
            Err(error) => return eprintln!("skipped: no file system can be made: {error}"),
        };
        fs::write(target.join("filler"), vec![1; 2_600_000]).unwrap();
        let mut copy = Copy::default();
        copy.receive.durability = durability;
        let copied = copy.run(source.path(), &target);
        assert_eq!(
            (&copied.sent.broken, &copied.received.broken),
            (&None, &None)
        );
        let why = &copied.sent.failures[0].why;
        assert!(why.contains("No space left"), "{why}");
        assert_eq!(staged(&target), 0);
        let wanted = look(source.path());
        let there = look(&target);
        let missing = wanted.iter().filter(|(name, _)| !there.contains_key(*name));
        let missing: BTreeSet<String> = missing
            .map(|(name, _)| String::from_utf8(name.clone()).unwrap())
            .collect();
        assert_eq!(reported(&copied), missing);
        assert!(!missing.is_empty());
        assert!(
            wanted
                .iter()
                .all(|(name, said)| { there.get(name).is_none_or(|there| there == said) })
        );

        fs::remove_file(target.join("filler")).unwrap();
        copy.run(source.path(), &target).fine();
        assert_eq!(look(&target), wanted);
        drop(mount);
    }
}

#[test]
fn a_target_that_may_not_be_written_reports_every_name() {
    let source = quick();
    fs::create_dir(source.path().join("d")).unwrap();
    fs::write(source.path().join("d/in"), "1").unwrap();
    fs::write(source.path().join("f"), "2").unwrap();
    fs::hard_link(source.path().join("f"), source.path().join("g")).unwrap();
    std::os::unix::fs::symlink("x", source.path().join("l")).unwrap();
    let (_mount, target) = match small_memory(1, false) {
        Ok(made) => made,
        Err(error) => return eprintln!("skipped: no file system can be made: {error}"),
    };
    let copied = Copy::default().run(source.path(), &target);
    assert_eq!(
        (&copied.sent.broken, &copied.received.broken),
        (&None, &None)
    );
    let reported = reported(&copied);
    for name in ["d", "f", "g", "l"] {
        assert!(reported.contains(name), "{name}: {reported:?}");
    }
}

/// Does something as a user who may not do everything; `None` when this process may not become one.
fn as_nobody<T: Send>(does: impl FnOnce() -> T + Send) -> Option<T> {
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let (uid, gid) = (
        rustix::fs::Uid::from_raw(NOBODY),
        rustix::fs::Gid::from_raw(NOBODY),
    );
    thread::scope(|scope| {
        let alone = scope.spawn(|| {
            set_thread_groups(&[]).ok()?;
            set_thread_res_gid(gid, gid, gid).ok()?;
            set_thread_res_uid(uid, uid, uid).ok()?;
            Some(does())
        });
        alone.join().unwrap()
    })
}

#[test]
fn what_may_not_be_read_or_written_is_reported_and_the_rest_arrives() {
    let (source, target) = (quick(), quick());
    for name in ["a", "closed", "z"] {
        fs::write(source.path().join(name), name).unwrap();
    }
    fs::create_dir(source.path().join("locked")).unwrap();
    fs::write(source.path().join("locked/in"), "1").unwrap();
    fs::create_dir(source.path().join("kept")).unwrap();
    fs::write(source.path().join("kept/in"), "new").unwrap();
    fs::create_dir(target.path().join("kept")).unwrap();
    fs::write(target.path().join("kept/in"), "old").unwrap();
    age(source.path());
    let closed = Permissions::from_mode(0o000);
    for path in [source.path(), target.path()] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["closed", "locked"] {
        fs::set_permissions(source.path().join(name), closed.clone()).unwrap();
    }
    if chown(target.path(), Some(NOBODY), Some(NOBODY)).is_err() {
        return eprintln!("skipped: this process is refused nothing that it can set up");
    }
    let copied = as_nobody(|| Copy::default().run(source.path(), target.path()));
    let Some(copied) = copied else {
        return eprintln!("skipped: this process cannot become another user");
    };
    assert_eq!(
        (&copied.sent.broken, &copied.received.broken),
        (&None, &None)
    );
    let reported = reported(&copied);
    for name in ["closed", "locked", "kept/in"] {
        assert!(reported.contains(name), "{name}: {reported:?}");
    }
    assert_eq!(fs::read(target.path().join("a")).unwrap(), b"a");
    assert_eq!(fs::read(target.path().join("z")).unwrap(), b"z");
    assert_eq!(fs::read(target.path().join("kept/in")).unwrap(), b"old");
    assert!(!target.path().join("closed").exists());
    assert_eq!(staged(target.path()), 0);
}

#[test]
fn a_directory_that_its_owner_may_not_write_takes_new_files_again() {
    let (source, target) = (quick(), quick());
    let directory = source.path().join("d");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("in"), "old").unwrap();
    age(source.path());
    for path in [source.path(), target.path()] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&directory, Permissions::from_mode(0o555)).unwrap();
    if chown(target.path(), Some(NOBODY), Some(NOBODY)).is_err() {
        return eprintln!("skipped: this process is refused nothing that it can set up");
    }
    for content in ["old", "changed"] {
        fs::write(directory.join("in"), content).unwrap();
        let copied = as_nobody(|| Copy::default().run(source.path(), target.path()));
        let Some(copied) = copied else {
            return eprintln!("skipped: this process cannot become another user");
        };
        copied.fine();
        assert_eq!(look(source.path()), look(target.path()));
    }
}

/// Writes files again and again, each time with one byte throughout, until told to end.
fn rewrite(paths: &[(PathBuf, usize)], done: &AtomicBool, written: &AtomicU64) {
    let files: Vec<_> = paths
        .iter()
        .map(|(path, size)| (File::options().write(true).open(path).unwrap(), *size))
        .collect();
    let mut version = 0_u8;
    while !done.load(Ordering::Relaxed) {
        version = version.wrapping_add(1);
        for (file, size) in &files {
            file.write_all_at(&vec![version; *size], 0).unwrap();
        }
        written.fetch_add(1, Ordering::Relaxed);
        // Some versions stand for a while, others not.
        if version.is_multiple_of(8) {
            thread::sleep(std::time::Duration::from_millis(u64::from(version % 64)));
        }
    }
}

#[test]
fn a_file_that_is_rewritten_while_it_is_read_is_never_published_torn() {
    let (source, target) = (quick(), quick());
    let paths: Vec<_> = [("small", 300_000), ("large", 1_300_000), ("tiny", 9_000)]
        .into_iter()
        .map(|(name, size)| (source.path().join(name), size))
        .collect();
    for (path, size) in &paths {
        fs::write(path, vec![0; *size]).unwrap();
    }
    let (done, written) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| rewrite(&paths, &done, &written));
        for round in 0..40 {
            let before = written.load(Ordering::Relaxed);
            let mut copy = Copy {
                connections: 1 + round % 3,
                ..Copy::default()
            };
            copy.receive.delta = round % 2 == 0;
            let copied = copy.run(source.path(), target.path());
            assert_eq!(copied.sent.broken, None);
            for (path, _) in &paths {
                let Ok(there) = fs::read(target.path().join(path.file_name().unwrap())) else {
                    continue;
                };
                let torn = there.iter().position(|byte| *byte != there[0]);
                let is_torn = torn.is_some() || there.is_empty();
                if is_torn {
                    done.store(true, Ordering::Relaxed);
                }
                assert!(!is_torn, "round {round}: {} at {torn:?}", path.display());
            }
            // The writer goes on between the rounds.
            while written.load(Ordering::Relaxed) == before {
                thread::yield_now();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    age(source.path());
    Copy::default().run(source.path(), target.path()).fine();
    assert_eq!(look(source.path()), look(target.path()));
}

#[test]
fn files_that_grow_shrink_vanish_and_are_replaced_end_no_session() {
    let (source, target) = (quick(), quick());
    let (big, little) = (vec![7; 2_500_000], vec![8; 100]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let at = |name: &str| source.path().join(name);
            while !done.load(Ordering::Relaxed) {
                fs::write(at("changes"), &big).unwrap();
                fs::write(at("comes and goes"), &little).unwrap();
                fs::write(at("new"), &big).unwrap();
                fs::rename(at("new"), at("replaced")).unwrap();
                fs::create_dir_all(at("d/e")).unwrap();
                fs::write(at("d/e/f"), &little).unwrap();
                fs::write(at("changes"), &little).unwrap();
                fs::remove_file(at("comes and goes")).unwrap();
                fs::write(at("new"), &little).unwrap();
                fs::rename(at("new"), at("replaced")).unwrap();
                fs::remove_dir_all(at("d")).unwrap();
            }
        });
        for round in 0..25 {
            let mut copy = Copy::default();
            copy.receive.delete = round % 2 == 0;
            let copied = copy.run(source.path(), target.path());
            let broken = (copied.sent.broken, copied.received.broken);
            if broken != (None, None) {
                done.store(true, Ordering::Relaxed);
            }
            assert_eq!(broken, (None, None), "round {round}");
        }
        done.store(true, Ordering::Relaxed);
    });
    age(source.path());
    let mut copy = Copy::default();
    copy.receive.delete = true;
    copy.run(source.path(), target.path()).fine();
    assert_eq!(look(source.path()), look(target.path()));
}

#[test]
fn a_source_that_vanishes_takes_nothing_from_the_target() {
    let (source, target) = (quick(), quick());
    let root = source.path().join("root");
    for number in 0..30 {
        let directory = root.join(format!("{number}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("f"), "1").unwrap();
    }
    age(&root);
    let mut copy = Copy::default();
    copy.receive.delete = true;
    copy.run(&root, target.path()).fine();
    let before = look(target.path());
    // The root is open, and gone.
    let tree = copy.tree(&root);
    fs::remove_dir_all(&root).unwrap();
    let sink = crate::receive::Sink::Tree(super::open(target.path()));
    let copied = copy.between(tree, sink, vec![crate::send::Round::full()]);
    assert!(!copied.sent.failures.is_empty() || copied.sent.broken.is_some());
    assert_eq!(look(target.path()), before);
}

/// Files of one directory in an ordinary run; this variable asks for others.
const FILES: u64 = 100_000;
const FILES_VARIABLE: &str = "SOKUDO_REPLICATE_FILES";

#[test]
fn a_directory_of_a_hundred_thousand_files_arrives() {
    let asked = std::env::var(FILES_VARIABLE).ok();
    let files = asked.map_or(FILES, |asked| asked.parse().unwrap());
    let (source, target) = (quick(), quick());
    for number in 0..files {
        File::create(source.path().join(format!("{number:x}"))).unwrap();
    }
    let copy = Copy::default();
    let first = copy.run(source.path(), target.path()).fine();
    assert_eq!(first.sent.counts.files_written, files);
    assert_eq!(fs::read_dir(target.path()).unwrap().count() as u64, files);
}
