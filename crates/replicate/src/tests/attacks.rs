//! Peers that do not keep to the protocol: frames made by hand.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::sessions::{age, bytes};
use super::{Copy, connections, look, open, quick};
use crate::codec::Unpacker;
use crate::dataset::Content;
use crate::frame::{Codec, FrameKind, Header};
use crate::message::{
    Answer, Attribute, Entry, EntryKind, Failure, Id, Listing, Meta, Verdict, encode, read_answer,
    read_listing,
};
use crate::path::RelPath;
use crate::receive::{ReceiveTerms, Receiver, Sink};
use crate::send::{Outcome, Record, Records, Round, Sender};
use crate::session::{Progress, Session};
use crate::wire::{FrameReader, FrameWriter, Role};

/// Longest time until an end has ended.
const BOUND: Duration = Duration::from_secs(50);

type Attack = fn(&mut Hostile);

/// The end that attacks a receiver.
struct Hostile {
    listing: FrameWriter,
    data: FrameWriter,
    answers: FrameReader,
}

impl Hostile {
    fn tell(&mut self, listing: &Listing) {
        self.tell_raw(&encode(listing));
    }

    fn tell_raw(&mut self, raw: &[u8]) {
        let _ = self
            .listing
            .send(FrameKind::Message, raw, Codec::Stored, raw);
    }

    fn directory(&mut self, path: &str) {
        let path = RelPath::parse(path.as_bytes()).unwrap();
        let meta = Meta {
            mode: 0o755,
            ..Meta::default()
        };
        self.tell(&Listing::Directory { path, meta });
    }

    fn entries(&mut self, entries: Vec<Entry>) {
        self.tell(&Listing::Entries(entries));
    }

    fn data(&mut self, kind: FrameKind, raw: &[u8]) {
        let _ = self.data.send(kind, raw, Codec::Stored, raw);
    }

    fn record(&mut self, record: Record<'_>) {
        let mut records = Records::new(0);
        records.add(record);
        self.data(FrameKind::Batch, records.payload());
    }

    fn file(&mut self, id: Id, data: &[u8]) {
        let mtime_ns = 0;
        self.record(Record::File { id, mtime_ns, data });
    }

    fn chunk(&mut self, id: Id, offset: u64, data: &[u8]) {
        let mut raw = id.to_le_bytes().to_vec();
        raw.extend_from_slice(&0_u32.to_le_bytes());
        raw.extend_from_slice(&offset.to_le_bytes());
        raw.extend_from_slice(data);
        self.data(FrameKind::Chunk, &raw);
    }

    fn finish(&mut self, id: Id, size: u64, sent: u64) {
        self.record(Record::Finish {
            id,
            attempt: 0,
            size,
            mtime_ns: 0,
            sent,
        });
    }

    /// The next answer that is not about progress; `None` when there is none any more.
    fn answer(&mut self) -> Option<Answer> {
        let mut unpacker = Unpacker::new().unwrap();
        loop {
            let (header, wire) = self.answers.next_frame().ok()??;
            let raw = match header.codec {
                Codec::Stored => wire,
                Codec::Zstd => unpacker.unpack(wire, header.raw_len as usize).unwrap(),
            };
            match read_answer(raw).unwrap() {
                Answer::Progress { .. } => {}
                answer => return Some(answer),
            }
        }
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        loop {
            match self.answer() {
                Some(Answer::Verdicts(verdicts)) => return verdicts,
                Some(_) => {}
                None => return Vec::new(),
            }
        }
    }

    /// The end of a round and of the session.
    fn end(&mut self, entries: u32) {
        self.tell(&Listing::DirectoryEnd { complete: true });
        self.tell(&Listing::RoundEnd { entries });
        self.data(FrameKind::Flush, &[]);
        self.tell(&Listing::Bye);
    }
}

fn entry(name: &[u8], kind: EntryKind) -> Entry {
    Entry {
        name: name.into(),
        kind,
        meta: Meta {
            mode: 0o644,
            ..Meta::default()
        },
    }
}

fn file(name: &str, size: u64) -> Entry {
    let kind = EntryKind::File {
        size,
        racy: false,
        shared: false,
    };
    entry(name.as_bytes(), kind)
}

fn link(name: &str, target: &str) -> Entry {
    let target = target.into();
    entry(name.as_bytes(), EntryKind::Symlink { target })
}

/// A tree that may be written to, beside one that may not.
struct Place {
    whole: TempDir,
    outside: BTreeMap<Vec<u8>, String>,
}

impl Place {
    fn new() -> Self {
        let whole = quick();
        fs::create_dir(whole.path().join("inside")).unwrap();
        fs::create_dir(whole.path().join("outside")).unwrap();
        fs::write(whole.path().join("outside/precious"), "kept").unwrap();
        let outside = look(&whole.path().join("outside"));
        Self { whole, outside }
    }

    fn inside(&self) -> std::path::PathBuf {
        self.whole.path().join("inside")
    }

    fn assert_nothing_outside(&self) {
        assert_eq!(look(&self.whole.path().join("outside")), self.outside);
        assert_eq!(fs::read_dir(self.whole.path()).unwrap().count(), 2);
    }
}

/// Outcome of a receiver with a hostile sender: it ends, and nothing outside its root has changed.
fn attack_with(terms: ReceiveTerms, place: &Place, act: impl FnOnce(&mut Hostile)) -> Outcome {
    let (here, there) = connections(3);
    let receiver = Receiver {
        sink: Sink::Tree(open(&place.inside())),
        terms,
        channels: there,
        session: Session::new(),
        progress: Arc::default(),
    };
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let _ = done.send(receiver.run());
    });
    let (session, progress) = (Session::new(), Arc::new(Progress::default()));
    let mut writers = here
        .into_iter()
        .map(|channel| FrameWriter::new(channel, &session, &progress));
    let mut next = |role| {
        let mut writer = writers.next().unwrap();
        writer.hello(role).unwrap();
        writer
    };
    let mut hostile = Hostile {
        listing: next(Role::Listing),
        answers: FrameReader::new(next(Role::Answers).into_channel(), &session, &progress),
        data: next(Role::Data(0)),
    };
    act(&mut hostile);
    // The receiver may still have something to say; it is closed by it, or by this end.
    let Hostile {
        listing,
        data,
        mut answers,
    } = hostile;
    drop((listing, data));
    while let Ok(Some(_)) = answers.next_frame() {}
    let outcome = ended.recv_timeout(BOUND).expect("the receiver ends");
    place.assert_nothing_outside();
    outcome
}

fn attack(act: impl FnOnce(&mut Hostile)) -> (Place, Outcome) {
    let place = Place::new();
    let outcome = attack_with(Copy::default().receive, &place, act);
    (place, outcome)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn names_that_lead_outside_end_the_session() {
    let long = "n".repeat(256);
    let bad = [
        "../outside/x",
        "..",
        ".",
        "/etc/x",
        "a\0b",
        "a/b",
        "",
        &long,
    ];
    for name in bad {
        let (place, outcome) = attack(|hostile| {
            hostile.directory("");
            hostile.entries(vec![file(name, 3)]);
            hostile.file(0, b"pwn");
            hostile.end(1);
        });
        assert!(outcome.broken.is_some(), "{name:?}");
        assert!(is_empty(&place.inside()), "{name:?}");
    }
    for path in ["../outs", "/outsid", "a/../..", "aaa//aa", "aa\0aaaa"] {
        let (place, outcome) = attack(|hostile| {
            let good = RelPath::parse(b"xxxxxxx").unwrap();
            let meta = Meta::default();
            let mut raw = encode(&Listing::Directory { path: good, meta });
            let at = raw
                .windows(7)
                .position(|seven| seven == b"xxxxxxx")
                .unwrap();
            raw[at..at + path.len()].copy_from_slice(path.as_bytes());
            // A shorter path is said to be shorter.
            raw[at - 1] = path.len() as u8;
            raw.drain(at + path.len()..at + 7);
            hostile.tell_raw(&raw);
            hostile.entries(vec![file("x", 3)]);
            hostile.end(1);
        });
        assert!(outcome.broken.is_some(), "{path:?}");
        assert!(is_empty(&place.inside()), "{path:?}");
    }
}

#[test]
fn nothing_is_written_through_a_link_that_was_listed() {
    let (place, outcome) = attack(|hostile| {
        hostile.directory("");
        hostile.entries(vec![link("link", "../outside")]);
        hostile.directory("link/deeper");
        hostile.entries(vec![file("pwn", 3), link("pwn2", "x")]);
        hostile.directory("link");
        hostile.entries(vec![file("precious", 3)]);
        for id in 0..4 {
            hostile.file(id, b"pwn");
        }
        hostile.end(4);
    });
    assert!(outcome.broken.is_some());
    drop(place);

    // Without unasked content the session goes on: the link gives way to a directory.
    let (place, outcome) = attack(|hostile| {
        hostile.directory("");
        hostile.entries(vec![link("link", "../outside")]);
        hostile.verdicts();
        hostile.directory("link");
        hostile.entries(vec![file("precious", 3)]);
        hostile.verdicts();
        hostile.file(1, b"new");
        hostile.end(2);
    });
    assert_eq!(outcome.broken, None);
    assert_eq!(
        fs::read(place.inside().join("link/precious")).unwrap(),
        b"new"
    );
}

#[test]
fn a_name_that_is_listed_twice_is_wanted_once() {
    let (place, outcome) = attack(|hostile| {
        hostile.directory("");
        hostile.entries(vec![file("a", 3), file("a", 4), file("b", 1)]);
        let verdicts = hostile.verdicts();
        assert_eq!(verdicts, [Verdict::Send, Verdict::Skip, Verdict::Send]);
        hostile.file(0, b"one");
        hostile.tell(&Listing::DirectoryEnd { complete: true });
        // The directory once more: what was judged is not judged again.
        hostile.directory("");
        hostile.entries(vec![file("a", 5)]);
        assert_eq!(hostile.verdicts(), [Verdict::Skip]);
        hostile.file(2, b"b");
        hostile.end(4);
    });
    assert_eq!(outcome.broken, None);
    assert_eq!(outcome.failures.len(), 1, "{:?}", outcome.failures);
    assert_eq!(fs::read(place.inside().join("a")).unwrap(), b"one");
}

#[test]
fn numbers_at_their_bounds_neither_panic_nor_pass() {
    // Sums of sizes do not overflow.
    let (_, outcome) = attack(|hostile| {
        hostile.directory("");
        let most = i64::MAX as u64;
        let entries = (0..4).map(|n| file(&format!("f{n}"), most)).collect();
        hostile.entries(entries);
        hostile.verdicts();
        for id in 0..4 {
            hostile.file(id, b"short");
        }
        hostile.end(4);
    });
    assert_eq!((outcome.broken, outcome.counts.bytes), (None, u64::MAX));
    let change: [fn(&mut Entry); 4] = [
        |entry| entry.meta.uid = u32::MAX,
        |entry| entry.meta.gid = u32::MAX,
        |entry| {
            let one = || Attribute {
                name: b"user.x".to_vec(),
                value: Vec::new(),
            };
            entry.meta.attributes = (0..129).map(|_| one()).collect();
        },
        |entry| {
            entry.kind = EntryKind::File {
                size: 1 << 63,
                racy: false,
                shared: false,
            };
        },
    ];
    for change in change {
        let mut entry = file("f", 1);
        change(&mut entry);
        let (place, outcome) = attack(|hostile| {
            hostile.directory("");
            hostile.entries(vec![entry]);
            hostile.file(0, b"x");
            hostile.end(1);
        });
        assert!(outcome.broken.is_some());
        assert!(is_empty(&place.inside()));
    }
    // Times at the ends of the range, and bits that are not permissions.
    let (_, outcome) = attack(|hostile| {
        hostile.directory("");
        let mut entries = vec![file("first", 1), file("last", 1)];
        (entries[0].meta.mtime_ns, entries[1].meta.mtime_ns) = (i64::MIN, i64::MAX);
        entries[0].meta.mode = u32::MAX;
        hostile.entries(entries);
        hostile.verdicts();
        hostile.record(Record::File {
            id: 0,
            mtime_ns: i64::MIN,
            data: b"x",
        });
        hostile.file(1, b"y");
        hostile.end(2);
    });
    assert_eq!(outcome.broken, None);
}

#[test]
fn content_that_does_not_fit_together_is_not_published() {
    let staged: [(&str, Attack); 4] = [
        ("a chunk beyond all files", |hostile| {
            hostile.chunk(0, 1 << 63, b"x");
        }),
        ("a chunk that ends beyond all files", |hostile| {
            hostile.chunk(0, i64::MAX as u64, b"xx");
        }),
        ("more bytes than said", |hostile| {
            hostile.chunk(0, 0, b"four");
            hostile.finish(0, 4, 3);
        }),
        ("fewer bytes than said", |hostile| {
            hostile.chunk(0, 0, b"two");
            hostile.finish(0, 4, 4);
        }),
    ];
    for (what, send) in staged {
        let (place, outcome) = attack(|hostile| {
            hostile.directory("");
            hostile.entries(vec![file("f", 2 << 20)]);
            assert_eq!(hostile.verdicts(), [Verdict::Send]);
            send(hostile);
            hostile.end(1);
        });
        let complains = outcome.broken.is_some() || !outcome.failures.is_empty();
        assert!(complains, "{what}");
        assert!(!place.inside().join("f").exists(), "{what}");
    }
    // The end of a file before its parts is not a fault, and a part of an unknown file changes nothing.
    let (place, outcome) = attack(|hostile| {
        hostile.directory("");
        hostile.entries(vec![file("f", 4)]);
        assert_eq!(hostile.verdicts(), [Verdict::Send]);
        hostile.chunk(77, 0, b"lost");
        hostile.finish(78, 4, 4);
        hostile.finish(0, 4, 4);
        hostile.chunk(0, 2, b"st");
        hostile.chunk(0, 0, b"la");
        hostile.end(1);
    });
    assert_eq!(outcome.broken, None);
    assert_eq!(fs::read(place.inside().join("f")).unwrap(), b"last");
}

#[test]
fn hard_links_join_only_files_of_the_round() {
    let (place, outcome) = attack(|hostile| {
        hostile.directory("");
        hostile.entries(vec![
            entry(b"unknown", EntryKind::HardLink { of: 99 }),
            entry(b"itself", EntryKind::HardLink { of: 1 }),
            link("link", "../outside/precious"),
            entry(b"by link", EntryKind::HardLink { of: 2 }),
        ]);
        hostile.end(4);
    });
    assert_eq!(outcome.broken, None);
    assert_eq!(outcome.failures.len(), 3, "{:?}", outcome.failures);
    let precious = fs::metadata(place.whole.path().join("outside/precious")).unwrap();
    assert_eq!(precious.nlink(), 1);
    // A file that did not come leaves its other names alone.
    let place = Place::new();
    fs::write(place.inside().join("first"), "unrelated").unwrap();
    let outcome = attack_with(Copy::default().receive, &place, |hostile| {
        hostile.directory("");
        let kind = EntryKind::File {
            size: 3,
            racy: false,
            shared: true,
        };
        let second = entry(b"second", EntryKind::HardLink { of: 0 });
        hostile.entries(vec![entry(b"first", kind), second]);
        hostile.record(Record::Abort {
            id: 0,
            reason: b"gone",
        });
        hostile.end(2);
    });
    // The record may come before the entry that it is about: then the session ends.
    if outcome.broken.is_none() {
        assert_eq!(outcome.failures.len(), 2, "{:?}", outcome.failures);
    }
    assert!(!place.inside().join("second").exists());
}

#[test]
fn messages_in_a_wrong_order_end_the_session() {
    let orders: [(&str, Attack); 9] = [
        ("entries of no directory", |hostile| {
            hostile.entries(vec![file("f", 1)]);
        }),
        ("the end of no directory", |hostile| {
            hostile.tell(&Listing::DirectoryEnd { complete: true });
        }),
        ("a round within a directory", |hostile| {
            hostile.directory("");
            hostile.tell(&Listing::RoundEnd { entries: 0 });
        }),
        ("a round of other entries", |hostile| {
            hostile.directory("");
            hostile.tell(&Listing::DirectoryEnd { complete: true });
            hostile.tell(&Listing::RoundEnd { entries: 5 });
        }),
        ("a round without content", |hostile| {
            hostile.directory("");
            hostile.entries(vec![file("f", 1)]);
            assert_eq!(hostile.verdicts(), [Verdict::Send]);
            hostile.end(1);
        }),
        ("content of nothing that was asked for", |hostile| {
            hostile.file(3, b"pwn");
        }),
        ("two ends of a round's content", |hostile| {
            hostile.data(FrameKind::Flush, &[]);
            hostile.data(FrameKind::Flush, &[]);
        }),
        ("a message among content", |hostile| {
            hostile.data(FrameKind::Message, &encode(&Listing::Bye));
        }),
        ("content among messages", |hostile| {
            let _ = hostile
                .listing
                .send(FrameKind::Batch, b"", Codec::Stored, b"");
        }),
    ];
    for (what, act) in orders {
        let (place, outcome) = attack(act);
        assert!(outcome.broken.is_some(), "{what}");
        assert!(is_empty(&place.inside()), "{what}");
    }
}

#[test]
fn payloads_that_unpack_to_something_else_end_the_session() {
    let zeros = vec![0_u8; 3 << 20];
    let packed = zstd::bulk::compress(&zeros, 1).unwrap();
    for (claimed, kind) in [
        (1_000, FrameKind::Batch),
        (4 << 20, FrameKind::Batch),
        (u32::MAX, FrameKind::Chunk),
    ] {
        let (place, outcome) = attack(|hostile| {
            let mut header = Header::of(kind, Codec::Zstd, &zeros, packed.len(), 1);
            header.raw_len = claimed;
            let raw = [&header.encode()[..], &packed].concat();
            // Behind the writer's back.
            let alive = std::mem::replace(&mut hostile.data, spare());
            let mut channel = alive.into_channel();
            let _ = channel.write_all(&raw);
            // It stays open until the receiver has ended.
            hostile.answers_until_closed();
        });
        assert!(outcome.broken.is_some(), "{claimed}");
        assert!(is_empty(&place.inside()));
    }
}

/// A writer that leads nowhere.
fn spare() -> FrameWriter {
    let (mut here, _) = connections(1);
    FrameWriter::new(here.remove(0), &Session::new(), &Arc::default())
}

impl Hostile {
    fn answers_until_closed(&mut self) {
        while let Ok(Some(_)) = self.answers.next_frame() {}
    }
}

#[test]
fn a_list_without_end_meets_a_bound() {
    let attributes = (0..60).map(|number| Attribute {
        name: format!("user.{number}").into_bytes(),
        value: vec![0; 64 << 10],
    });
    let meta = Meta {
        attributes: attributes.collect(),
        ..Meta::default()
    };
    let path = RelPath::parse(b"d000").unwrap();
    let mut raw = encode(&Listing::Directory { path, meta });
    let at = raw.windows(4).position(|four| four == b"d000").unwrap();
    let (_, outcome) = attack(|hostile| {
        for number in 0..200 {
            raw[at..at + 4].copy_from_slice(format!("d{number:03}").as_bytes());
            let packed = zstd::bulk::compress(&raw, 1).unwrap();
            let sent = hostile
                .listing
                .send(FrameKind::Message, &raw, Codec::Zstd, &packed);
            // A list that takes long on a busy machine does not make the other connection silent.
            if sent.is_err() || hostile.data.alive().is_err() {
                return;
            }
        }
    });
    let broken = outcome.broken.unwrap_or_default();
    assert!(broken.contains("larger than any may be"), "{broken}");
}

#[test]
fn files_that_are_listed_and_never_sent_are_asked_for_only_so_far() {
    let bound = (256 << 10) + 2 * 1_024;
    let (here, there) = connections(3);
    let session = Session::new();
    let receiver = Receiver {
        sink: Sink::Null,
        terms: Copy::default().receive,
        channels: there,
        session: Arc::clone(&session),
        progress: Arc::default(),
    };
    let (own, progress) = (Session::new(), Arc::new(Progress::default()));
    let mut writers: Vec<_> = here
        .into_iter()
        .map(|channel| FrameWriter::new(channel, &own, &progress))
        .collect();
    for (place, role) in [Role::Listing, Role::Answers, Role::Data(0)]
        .into_iter()
        .enumerate()
    {
        writers[place].hello(role).unwrap();
    }
    let _data = writers.pop();
    let mut answers = FrameReader::new(writers.pop().unwrap().into_channel(), &own, &progress);
    let mut listing = writers.pop().unwrap();
    let asked = thread::scope(|scope| {
        scope.spawn(|| receiver.run());
        scope.spawn(|| {
            let meta = Meta::default();
            let path = RelPath::root();
            let mut tell = |listed: &Listing| {
                let raw = encode(listed);
                listing.send(FrameKind::Message, &raw, Codec::Stored, &raw)
            };
            let _ = tell(&Listing::Directory { path, meta });
            for message in 0..300 {
                let name = |n: u32| file(&format!("{message}-{n}"), 1);
                if tell(&Listing::Entries((0..1_024).map(name).collect())).is_err() {
                    return;
                }
            }
        });
        let mut asked = 0;
        let mut unpacker = Unpacker::new().unwrap();
        // Progress is told again and again: when it is after the bound was met, that was all.
        let mut quiet = 0;
        while quiet < 1 {
            let Ok(Some((header, wire))) = answers.next_frame() else {
                break;
            };
            let raw = match header.codec {
                Codec::Stored => wire,
                Codec::Zstd => unpacker.unpack(wire, header.raw_len as usize).unwrap(),
            };
            match read_answer(raw).unwrap() {
                Answer::Verdicts(verdicts) => (asked, quiet) = (asked + verdicts.len(), 0),
                _ => quiet += usize::from(asked > 256 << 10),
            }
        }
        session.end();
        own.end();
        asked
    });
    assert!((256 << 10..=bound).contains(&asked), "{asked}");
}

#[test]
fn what_the_receiver_excludes_is_refused_from_every_sender() {
    let place = Place::new();
    let mut terms = Copy::default().receive;
    terms.filter = crate::filter::Filter::new(&[], &["secret".into(), "*.key".into()]).unwrap();
    let outcome = attack_with(terms, &place, |hostile| {
        hostile.directory("");
        hostile.entries(vec![file("a.key", 1), file("b", 1)]);
        assert_eq!(hostile.verdicts(), [Verdict::Skip, Verdict::Send]);
        hostile.file(1, b"b");
        hostile.tell(&Listing::DirectoryEnd { complete: true });
        hostile.directory("secret/deep");
        hostile.entries(vec![file("c", 1)]);
        assert_eq!(hostile.verdicts(), [Verdict::Skip]);
        hostile.end(3);
    });
    assert_eq!(outcome.broken, None);
    let there: Vec<_> = look(&place.inside()).into_keys().collect();
    assert_eq!(there, [b"b"]);
}

#[test]
fn a_directory_that_becomes_a_link_meanwhile_leads_nowhere() {
    let source = quick();
    fs::create_dir_all(source.path().join("d/e")).unwrap();
    for number in 0..200 {
        fs::write(source.path().join(format!("d/e/{number}")), "content").unwrap();
    }
    fs::write(
        source.path().join("d/large"),
        bytes(Content::Text, 1_100_000, 1),
    )
    .unwrap();
    age(source.path());
    let place = Place::new();
    let outside = place.whole.path().join("outside");
    fs::create_dir(outside.join("e")).unwrap();
    let before = look(&outside);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (name, kept) = (place.inside().join("d"), place.inside().join("kept"));
            while !done.load(Ordering::Relaxed) {
                let _ = fs::rename(&name, &kept);
                let _ = symlink(&outside, &name);
                let _ = fs::remove_file(&name);
                let _ = fs::rename(&kept, &name);
            }
        });
        let mut copy = Copy::default();
        for round in 0..20 {
            copy.receive.delete = round % 2 == 1;
            copy.run(source.path(), &place.inside());
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(look(&outside), before);
    let mut copy = Copy::default();
    copy.receive.delete = true;
    copy.run(source.path(), &place.inside()).fine();
    assert_eq!(look(source.path()), look(&place.inside()));
}

/// Outcome of a sender of three entries with a hostile receiver, bytes of content that it sent, and progress.
fn deceive(act: impl FnOnce(&mut FrameWriter, &mut FrameReader)) -> (Outcome, u64, Arc<Progress>) {
    let source = quick();
    fs::create_dir(source.path().join("d")).unwrap();
    fs::write(source.path().join("f"), "listed").unwrap();
    fs::write(
        source.path().join("large"),
        bytes(Content::Text, 1_200_000, 1),
    )
    .unwrap();
    age(source.path());
    let (here, there) = connections(3);
    let progress = Arc::new(Progress::default());
    let copy = Copy::default();
    let sender = Sender {
        source: copy.tree(source.path()),
        terms: copy.send.clone(),
        channels: here,
        session: Session::new(),
        progress: Arc::clone(&progress),
    };
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let mut rounds = vec![Round::full()].into_iter();
        let _ = done.send(sender.run(|_| rounds.next()));
    });
    let (session, own) = (Session::new(), Arc::new(Progress::default()));
    let mut readers = there
        .into_iter()
        .map(|channel| FrameReader::new(channel, &session, &own));
    let mut listing = readers.next().unwrap();
    let (mut answers, mut data) = (readers.next().unwrap(), readers.next().unwrap());
    assert_eq!(listing.expect_hello().unwrap(), Role::Listing);
    assert_eq!(answers.expect_hello().unwrap(), Role::Answers);
    let mut answers = FrameWriter::new(answers.into_channel(), &session, &own);
    let content = thread::spawn(move || {
        data.expect_hello().unwrap();
        let mut content = 0;
        while let Ok(Some((header, _))) = data.next_frame() {
            let counts = matches!(header.kind, FrameKind::Batch | FrameKind::Chunk);
            content += if counts { u64::from(header.raw_len) } else { 0 };
        }
        content
    });
    act(&mut answers, &mut listing);
    drop((answers, listing));
    let outcome = ended.recv_timeout(BOUND).expect("the sender ends");
    (outcome, content.join().unwrap(), progress)
}

fn say(writer: &mut FrameWriter, answer: &Answer) {
    let raw = encode(answer);
    let _ = writer.send(FrameKind::Message, &raw, Codec::Stored, &raw);
}

/// Numbers of the file and of the large one.
fn listed(listing: &mut FrameReader) -> (Id, Id) {
    loop {
        let (header, raw) = listing.next_frame().unwrap().unwrap();
        assert_eq!(header.codec, Codec::Stored);
        if let Listing::Entries(entries) = read_listing(raw).unwrap() {
            assert_eq!(entries.len(), 3);
            let place = |name: &[u8]| entries.iter().position(|entry| entry.name == name);
            return (place(b"f").unwrap() as Id, place(b"large").unwrap() as Id);
        }
    }
}

#[test]
fn a_receiver_gets_only_what_was_listed() {
    type Act = fn(&mut FrameWriter, &mut FrameReader);
    let acts: [(&str, Act); 9] = [
        ("verdicts about more than was listed", |answers, listing| {
            listed(listing);
            say(answers, &Answer::Verdicts(vec![Verdict::Skip; 4]));
        }),
        ("verdicts about very much more", |answers, _| {
            say(answers, &Answer::Verdicts(vec![Verdict::Send; 1 << 20]));
        }),
        ("the content of a directory", |answers, listing| {
            let (f, large) = listed(listing);
            let mut verdicts = vec![Verdict::Send; 3];
            verdicts[f as usize] = Verdict::Skip;
            verdicts[large as usize] = Verdict::Skip;
            say(answers, &Answer::Verdicts(verdicts));
        }),
        ("a basis of what it did not ask for", |answers, listing| {
            let (f, _) = listed(listing);
            let blocks = vec![1];
            let more = false;
            say(
                answers,
                &Answer::Basis {
                    id: f,
                    blocks,
                    more,
                },
            );
        }),
        ("a hash of an unknown file", |answers, _| {
            let hash = [0; 32];
            say(answers, &Answer::Compare { id: 1 << 30, hash });
        }),
        ("a basis without end", |answers, listing| {
            let (f, id) = listed(listing);
            let mut verdicts = vec![Verdict::Skip; 3];
            verdicts[id as usize] = Verdict::Later;
            assert_ne!(f, id);
            say(answers, &Answer::Verdicts(verdicts));
            for _ in 0..20 {
                let blocks = vec![7; 100];
                let more = true;
                say(answers, &Answer::Basis { id, blocks, more });
            }
        }),
        ("a count of what is not over", |answers, listing| {
            listed(listing);
            say(answers, &Answer::Round(Default::default()));
        }),
        ("a text that moves the cursor", |answers, _| {
            let failure = Failure {
                path: "a\u{1b}[2J".into(),
                why: String::new(),
            };
            say(answers, &Answer::Failed(failure));
        }),
        ("a text without end", |answers, _| {
            say(answers, &Answer::Broken("x".repeat(1 << 20)));
        }),
    ];
    for (what, act) in acts {
        let (outcome, content, _) = deceive(act);
        assert!(outcome.broken.is_some(), "{what}");
        assert_eq!(content, 0, "{what}");
    }
}

#[test]
fn progress_that_cannot_be_is_not_believed() {
    let (_, _, progress) = deceive(|answers, listing| {
        let (f, _) = listed(listing);
        let mut verdicts = vec![Verdict::Skip; 3];
        verdicts[f as usize] = Verdict::Send;
        say(answers, &Answer::Verdicts(verdicts));
        let (files, bytes) = (u64::MAX, u64::MAX);
        say(answers, &Answer::Progress { files, bytes });
        say(answers, &Answer::Broken("enough".into()));
    });
    let now = progress.read();
    assert_eq!((now.files_done, now.bytes_done), (1, 6));
}

#[test]
fn a_receiver_that_says_why_it_ends_is_quoted() {
    let (outcome, _, _) = deceive(|answers, _| {
        say(answers, &Answer::Broken("the disk is on fire".into()));
    });
    let broken = outcome.broken.unwrap();
    assert!(
        broken.contains("the receiver: the disk is on fire"),
        "{broken}"
    );
}
