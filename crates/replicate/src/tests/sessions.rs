//! Whole sessions: what stands at the target afterwards, and what was counted.

use std::ffi::OsStr;
use std::fs::{self, File, hard_link};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tempfile::tempdir;

use super::{Copy, look, open};
use crate::dataset::{Class, Content, DataSet, Pool};
use crate::filter::Filter;
use crate::path::RelPath;
use crate::receive::{Durability, Sink};
use crate::send::{Level, Round, SendTerms};
use crate::source::Source;

/// Files change long before they are replicated: equal times prove that they are equal.
pub(super) fn age(root: &Path) {
    let old = SystemTime::now() - Duration::from_secs(3_600);
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            age(&path);
        }
        if !meta.is_symlink() {
            let (read, write) = (fs::File::open(&path), meta.is_dir());
            let file = if write {
                read.unwrap()
            } else {
                File::options().write(true).open(&path).unwrap()
            };
            file.set_modified(old).unwrap();
        }
    }
}

pub(super) fn bytes(content: Content, size: usize, file: u64) -> Vec<u8> {
    static TEXT: OnceLock<Pool> = OnceLock::new();
    static RANDOM: OnceLock<Pool> = OnceLock::new();
    let pool = match content {
        Content::Text => TEXT.get_or_init(|| Pool::new(content, 9)),
        _ => RANDOM.get_or_init(|| Pool::new(content, 9)),
    };
    let mut out = vec![0; size];
    pool.fill(file, 0, &mut out);
    out
}

/// A tree with everything that a tree can have.
fn everything(root: &Path) {
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::create_dir(root.join("名前")).unwrap();
    fs::write(root.join("名前/日本語 ファイル.txt"), "内容").unwrap();
    // NFC and NFD of one name are two names.
    fs::write(root.join("名前/caf\u{e9}"), "nfc").unwrap();
    fs::write(root.join("名前/cafe\u{301}"), "nfd").unwrap();
    fs::write(root.join(OsStr::from_bytes(b"a/no\xffutf8\nline")), "x").unwrap();
    fs::write(root.join("a/zero"), "").unwrap();
    fs::write(root.join("a/text"), bytes(Content::Text, 300_000, 1)).unwrap();
    fs::write(root.join("a/random"), bytes(Content::Random, 300_000, 2)).unwrap();
    fs::write(root.join("a/b/large"), bytes(Content::Text, 5_000_001, 3)).unwrap();
    fs::write(root.join("a/b/exact"), bytes(Content::Random, 2 << 20, 4)).unwrap();
    let long = "n".repeat(255);
    fs::write(root.join("a/b/c").join(long), "long name").unwrap();
    let secret = root.join("a/secret");
    fs::write(&secret, "s").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o4700)).unwrap();
    symlink("../nowhere/at all", root.join("a/dangling")).unwrap();
    symlink("/etc", root.join("a/outside")).unwrap();
    hard_link(root.join("a/text"), root.join("a/b/same")).unwrap();
    hard_link(root.join("a/text"), root.join("名前/same too")).unwrap();
    let mut sparse = File::create(root.join("a/sparse")).unwrap();
    sparse.set_len(64 << 20).unwrap();
    sparse.seek(SeekFrom::Start(20 << 20)).unwrap();
    sparse.write_all(b"an island").unwrap();
    for number in 0..300 {
        fs::write(
            root.join(format!("a/b/c/{number}")),
            format!("{number}").repeat(number),
        )
        .unwrap();
    }
    age(root);
    let fixed = root.join("a/b");
    fs::set_permissions(&fixed, fs::Permissions::from_mode(0o750)).unwrap();
}

#[test]
fn a_tree_arrives_as_it_is_and_is_not_sent_twice() {
    for (connections, level, batch_bytes, durability) in [
        (1, Level::Fixed(0), 1 << 20, Durability::None),
        (3, Level::Fixed(3), 0, Durability::Batch),
        (2, Level::Auto, 64 << 10, Durability::File),
    ] {
        let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
        everything(source.path());
        let mut copy = Copy {
            connections,
            send: SendTerms {
                level,
                batch_bytes,
                ..SendTerms::default()
            },
            ..Copy::default()
        };
        copy.receive.durability = durability;
        let copied = copy.run(source.path(), target.path()).fine();
        assert_eq!(look(source.path()), look(target.path()));
        let counts = copied.sent.counts;
        assert_eq!((counts.hard_links_made, counts.symlinks_made), (2, 2));
        assert_eq!(counts.files, 2 + counts.files_written);
        let sparse = fs::metadata(target.path().join("a/sparse")).unwrap();
        assert!(
            sparse.blocks() * 512 < 2 << 20,
            "{} blocks",
            sparse.blocks()
        );

        let again = copy.run(source.path(), target.path()).fine();
        assert_eq!(again.sent.counts.files_written, 0);
        assert_eq!(again.sent.counts.files_equal, counts.files_written);
        assert_eq!(again.sent.counts.metadata_set, 0);
        assert_eq!(again.progress.bytes_moved, 0);
        assert_eq!(look(source.path()), look(target.path()));
    }
}

#[test]
fn what_the_source_does_not_have_goes_only_when_asked() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    fs::write(source.path().join("kept"), "1").unwrap();
    age(source.path());
    fs::create_dir_all(target.path().join("old/deep")).unwrap();
    fs::write(target.path().join("old/deep/file"), "2").unwrap();
    fs::write(target.path().join("stray"), "3").unwrap();
    let mut copy = Copy::default();
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(
        (copied.sent.counts.extra, copied.sent.counts.removed),
        (2, 0)
    );
    assert!(target.path().join("old/deep/file").exists());

    copy.receive.delete = true;
    copy.receive.max_delete = Some(1);
    let copied = copy.run(source.path(), target.path());
    assert_eq!(copied.sent.failures.len(), 1);
    assert!(target.path().join("stray").exists());

    copy.receive.max_delete = None;
    copy.receive.dry_run = true;
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(copied.sent.counts.removed, 2);
    assert!(target.path().join("stray").exists());

    copy.receive.dry_run = false;
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(copied.sent.counts.removed, 4);
    assert_eq!(look(source.path()), look(target.path()));
}

#[test]
fn what_is_excluded_is_neither_sent_nor_removed() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    fs::create_dir_all(source.path().join("src")).unwrap();
    fs::write(source.path().join("src/a.rs"), "1").unwrap();
    fs::write(source.path().join("src/a.tmp"), "2").unwrap();
    fs::create_dir_all(target.path().join("old")).unwrap();
    fs::write(target.path().join("old/b.tmp"), "3").unwrap();
    fs::write(target.path().join("old/b.rs"), "4").unwrap();
    let filter = Filter::new(&[], &["*.tmp".into()]).unwrap();
    let mut copy = Copy {
        filter: filter.clone(),
        ..Copy::default()
    };
    copy.receive.filter = filter;
    copy.receive.delete = true;
    copy.run(source.path(), target.path()).fine();
    assert!(target.path().join("src/a.rs").exists());
    assert!(!target.path().join("src/a.tmp").exists());
    assert!(target.path().join("old/b.tmp").exists());
    assert!(!target.path().join("old/b.rs").exists());
}

#[test]
fn only_changed_blocks_of_a_large_file_travel() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    let path = source.path().join("image");
    fs::write(&path, bytes(Content::Random, 16 << 20, 1)).unwrap();
    age(source.path());
    let copy = Copy::default();
    copy.run(source.path(), target.path()).fine();
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(5 << 20)).unwrap();
    file.write_all(b"changed").unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"and appended").unwrap();
    drop(file);
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(look(source.path()), look(target.path()));
    let counts = copied.sent.counts;
    assert_eq!(counts.bytes_received + counts.bytes_kept, (16 << 20) + 12);
    assert_eq!(counts.bytes_received, (128 << 10) + 12);
}

#[test]
fn a_change_that_leaves_size_and_time_is_found_by_its_content() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    for name in ["small", "large"] {
        let size = if name == "small" { 1_000 } else { 3 << 20 };
        fs::write(source.path().join(name), bytes(Content::Text, size, 1)).unwrap();
        let mut other = bytes(Content::Text, size, 1);
        other[500] ^= 1;
        fs::write(target.path().join(name), other).unwrap();
    }
    age(source.path());
    for name in ["small", "large"] {
        let time = fs::metadata(source.path().join(name))
            .unwrap()
            .modified()
            .unwrap();
        let file = File::options()
            .write(true)
            .open(target.path().join(name))
            .unwrap();
        file.set_modified(time).unwrap();
    }
    let mut copy = Copy::default();
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(copied.sent.counts.files_written, 0);

    // Verification finds both and changes nothing.
    copy.receive.checksum = true;
    copy.receive.dry_run = true;
    copy.send.compare_only = true;
    let copied = copy.run(source.path(), target.path());
    assert_eq!(copied.sent.failures.len(), 2);
    assert_ne!(look(source.path()), look(target.path()));

    copy.receive.dry_run = false;
    copy.send.compare_only = false;
    let copied = copy.run(source.path(), target.path()).fine();
    assert_eq!(copied.sent.counts.files_written, 2);
    assert_eq!(look(source.path()), look(target.path()));
}

#[test]
fn names_that_change_their_kind_are_replaced() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    fs::write(source.path().join("file"), "f").unwrap();
    fs::create_dir(source.path().join("directory")).unwrap();
    fs::write(source.path().join("directory/in"), "i").unwrap();
    symlink("x", source.path().join("link")).unwrap();
    let outside = tempdir().unwrap();
    symlink(outside.path(), target.path().join("directory")).unwrap();
    symlink(outside.path().join("new"), target.path().join("file")).unwrap();
    fs::create_dir(target.path().join("link")).unwrap();
    fs::write(target.path().join("link/old"), "o").unwrap();
    age(source.path());
    let mut copy = Copy::default();
    let copied = copy.run(source.path(), target.path());
    // The directory in the way of the link stays until removing is allowed.
    assert_eq!(copied.sent.failures.len(), 1, "{:?}", copied.sent.failures);
    copy.receive.delete = true;
    copy.run(source.path(), target.path()).fine();
    assert_eq!(look(source.path()), look(target.path()));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_made_data_set_arrives_whole_and_the_null_sink_counts_it() {
    let classes = vec![
        Class {
            files: 1_200,
            bytes: 3_000,
        },
        Class {
            files: 2,
            bytes: 4 << 20,
        },
    ];
    let set = DataSet::new(classes, Content::Mixed { random_percent: 50 }, 3);
    let (files, bytes) = set.totals();
    let copy = Copy::default();
    let null = copy
        .between(Source::Set(set.clone()), Sink::Null, vec![Round::full()])
        .fine();
    assert_eq!(
        (null.sent.counts.files, null.sent.counts.bytes_received),
        (files, bytes)
    );
    let target = tempdir().unwrap();
    let sink = || Sink::Tree(open(target.path()));
    copy.between(Source::Set(set.clone()), sink(), vec![Round::full()])
        .fine();
    let mut whole = vec![0; 4 << 20];
    set.fill(1_200, 0, &mut whole);
    assert!(fs::read(target.path().join("d00001/f0001200")).unwrap() == whole);
    let again = copy
        .between(Source::Set(set), sink(), vec![Round::full()])
        .fine();
    assert_eq!(again.sent.counts.files_equal, files);
}

#[test]
fn a_round_may_be_a_part_of_the_tree() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    fs::create_dir_all(source.path().join("a/deep/er")).unwrap();
    fs::write(source.path().join("a/file"), "1").unwrap();
    fs::write(source.path().join("a/deep/er/file"), "2").unwrap();
    fs::write(source.path().join("other"), "3").unwrap();
    let copy = Copy::default();
    let path = |text: &str| RelPath::parse(text.as_bytes()).unwrap();
    let rounds = vec![
        Round {
            directories: vec![(path("a"), false)],
        },
        Round {
            directories: vec![(path("a/deep"), true), (path("gone"), true)],
        },
    ];
    let sink = Sink::Tree(open(target.path()));
    let copied = copy.between(copy.tree(source.path()), sink, rounds).fine();
    assert_eq!(copied.sent.rounds, 2);
    assert!(target.path().join("a/file").exists());
    assert!(target.path().join("a/deep/er/file").exists());
    assert!(!target.path().join("other").exists());
}

#[test]
fn sockets_and_unreadable_names_are_reported_and_what_stands_for_them_stays() {
    let (source, target) = (tempdir().unwrap(), tempdir().unwrap());
    let _socket = std::os::unix::net::UnixListener::bind(source.path().join("socket")).unwrap();
    fs::write(source.path().join(".~sk-0123456789abcdef"), "reserved").unwrap();
    fs::write(source.path().join("file"), "1").unwrap();
    fs::write(target.path().join("socket"), "precious").unwrap();
    let mut copy = Copy::default();
    copy.receive.delete = true;
    let copied = copy.run(source.path(), target.path());
    assert_eq!(copied.sent.broken, None);
    assert_eq!(copied.sent.failures.len(), 2, "{:?}", copied.sent.failures);
    assert!(target.path().join("socket").exists());
    assert!(target.path().join("file").exists());
}
