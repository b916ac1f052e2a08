//! Sessions that are cut: the target has old or new files, and the next session completes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::sessions::{age, bytes};
use super::{Channels, Copied, Copy, Random, connections, look, open, quick};
use crate::dataset::Content;
use crate::path::STAGED;
use crate::receive::{Durability, Sink};
use crate::send::{Level, Round};
use crate::wire::Channel;

/// Sessions that are cut in a run of the tests.
const ROUNDS: u64 = 240;
/// Threads that they are parted among.
const THREADS: u64 = 4;

/// A connection that carries so many bytes each way, and then breaks.
struct Cut {
    channel: Box<dyn Channel>,
    /// Bytes that may still be read and written.
    reads: u64,
    writes: u64,
    /// It is closed between two bytes, instead of reset.
    quietly: bool,
}

impl Cut {
    fn broken(&self) -> io::Error {
        io::ErrorKind::ConnectionReset.into()
    }
}

impl Read for Cut {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.reads == 0 {
            return match self.quietly {
                true => Ok(0),
                false => Err(self.broken()),
            };
        }
        let most = out.len().min(self.reads as usize);
        let count = self.channel.read(&mut out[..most])?;
        self.reads -= count as u64;
        Ok(count)
    }
}

impl Write for Cut {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.writes == 0 {
            return Err(self.broken());
        }
        let most = data.len().min(self.writes as usize);
        let count = self.channel.write(&data[..most])?;
        self.writes -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.channel.flush()
    }
}

/// Connections of which one breaks, at one end.
fn cut_somewhere(count: usize, random: &mut Random) -> (Channels, Channels) {
    let (mut here, mut there) = connections(count);
    let place = random.below(count as u64) as usize;
    let at_sender = random.below(2) == 0;
    let end = if at_sender { &mut here } else { &mut there };
    // Short connections are cut as often as long ones.
    let most = [40, 400, 4_000, 1_000_000][random.below(4) as usize];
    let bytes = random.below(most);
    // The way that the connection is used, and now and then the other one, which only its begin takes.
    let reads = (at_sender == (place == 1)) != (random.below(8) == 0);
    let (reads, writes) = match reads {
        true => (bytes, u64::MAX),
        false => (u64::MAX, bytes),
    };
    let channel = std::mem::replace(&mut end[place], Box::new(io::empty()));
    end[place] = Box::new(Cut {
        channel,
        reads,
        writes,
        quietly: random.below(2) == 0,
    });
    (here, there)
}

/// Writes the old tree, of the target, and the new one, of the source.
pub(super) fn versions(old: &Path, new: &Path) {
    for root in [old, new] {
        let version = u64::from(root == new);
        fs::create_dir_all(root.join("a/b")).unwrap();
        for number in 0..40_u64 {
            let size = (number * 97 + version * 31) as usize;
            let path = root.join(format!("a/{number}"));
            fs::write(path, bytes(Content::Random, size, number + version)).unwrap();
        }
        let mut image = bytes(Content::Random, 1_100_000, 70);
        image[1_060_000..1_060_100].fill(version as u8);
        fs::write(root.join("a/image"), image).unwrap();
        let text = bytes(Content::Text, 200_000, 80 + version);
        fs::write(root.join("a/b/text"), text).unwrap();
        fs::write(root.join("a/equal"), bytes(Content::Text, 5_000, 1)).unwrap();
        symlink(format!("to {version}"), root.join("link")).unwrap();
    }
    // Names that change what they are, that go, and that come.
    fs::create_dir(old.join("turns")).unwrap();
    fs::write(old.join("turns/in"), "old").unwrap();
    fs::write(new.join("turns"), "now a file").unwrap();
    fs::write(old.join("grows"), "old").unwrap();
    fs::create_dir(new.join("grows")).unwrap();
    fs::write(new.join("grows/in"), "new").unwrap();
    fs::create_dir(old.join("points")).unwrap();
    symlink("elsewhere", new.join("points")).unwrap();
    fs::write(old.join("goes"), "old").unwrap();
    fs::write(new.join("comes"), bytes(Content::Text, 1_060_000, 3)).unwrap();
    fs::hard_link(new.join("a/7"), new.join("a/b/seven")).unwrap();
    age(old);
    age(new);
}

/// A copy of a tree, times included.
pub(super) fn duplicate(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .args(["-a", "--"])
        .arg(from.join("."))
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
}

/// Kind and content of each name, without its properties; files in transit apart.
pub(super) fn contents(root: &Path) -> BTreeMap<Vec<u8>, String> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<Vec<u8>, String>) {
        for entry in fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().as_bytes().starts_with(STAGED) {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let holds = if kind.is_symlink() {
                format!("→ {:?}", fs::read_link(&path).unwrap())
            } else if kind.is_dir() {
                walk(root, &path, found);
                "directory".into()
            } else {
                blake3::hash(&fs::read(&path).unwrap()).to_string()
            };
            let name = path.strip_prefix(root).unwrap().as_os_str();
            found.insert(name.as_bytes().to_vec(), holds);
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

/// Every name has what one of the versions has, and what both have is there.
pub(super) fn assert_old_or_new(target: &Path, old: &Path, new: &Path, case: &str) {
    let (there, old, new) = (contents(target), contents(old), contents(new));
    for (name, holds) in &there {
        let is_known = [&old, &new].iter().any(|one| one.get(name) == Some(holds));
        let name = String::from_utf8_lossy(name);
        assert!(is_known, "{case}: `{name}` is neither old nor new");
    }
    for name in old.keys().filter(|name| new.contains_key(*name)) {
        let shown = String::from_utf8_lossy(name);
        assert!(there.contains_key(name), "{case}: `{shown}` is missing");
    }
}

/// Settings with which the rounds of a seed replicate.
pub(super) fn terms_of(random: &mut Random) -> Copy {
    let mut copy = Copy {
        connections: 1 + random.below(3) as usize,
        ..Copy::default()
    };
    copy.send.level = Level::Fixed(random.below(2) as i32);
    copy.send.chunk_bytes = 64 << 10;
    copy.receive.delete = true;
    copy.receive.durability = match random.below(3) {
        0 => Durability::None,
        1 => Durability::Batch,
        _ => Durability::File,
    };
    copy
}

fn cut_session(copy: &Copy, source: &Path, target: &Path, random: &mut Random) -> Copied {
    let channels = cut_somewhere(2 + copy.connections, random);
    let sink = Sink::Tree(open(target));
    copy.over(channels, copy.tree(source), sink, vec![Round::full()])
}

#[test]
fn a_cut_session_leaves_old_or_new_files_and_the_next_one_completes() {
    let (old, new) = (quick(), quick());
    versions(old.path(), new.path());
    let wanted = look(new.path());
    let rounds = |first: u64| {
        let mut cut = 0;
        for seed in (first..ROUNDS).step_by(THREADS as usize) {
            let mut random = Random(seed);
            let target = quick();
            duplicate(old.path(), target.path());
            let copy = terms_of(&mut random);
            // One session in three is followed by another that is cut.
            for _ in 0..1 + random.below(3) / 2 {
                let copied = cut_session(&copy, new.path(), target.path(), &mut random);
                cut += u64::from(copied.sent.broken.is_some());
                let case = format!("seed {seed}");
                assert_old_or_new(target.path(), old.path(), new.path(), &case);
            }
            copy.run(new.path(), target.path()).fine();
            assert_eq!(look(target.path()), wanted, "seed {seed}");
        }
        cut
    };
    let cut: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|n| scope.spawn(move || rounds(n)))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert!(cut > ROUNDS / 2, "only {cut} sessions were cut");
}

/// A connection on which one bit of what is read is another.
struct Flipped {
    channel: Box<dyn Channel>,
    /// Bytes before it, and the bit.
    at: u64,
    bit: u8,
}

impl Read for Flipped {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.channel.read(out)?;
        if let Some(byte) = out[..count].get_mut(self.at as usize) {
            *byte ^= 1 << self.bit;
            self.at = u64::MAX;
        } else if self.at != u64::MAX {
            self.at -= count as u64;
        }
        Ok(count)
    }
}

impl Write for Flipped {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.channel.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.channel.flush()
    }
}

#[test]
fn a_bit_that_changes_on_its_way_is_found() {
    let (old, new) = (quick(), quick());
    versions(old.path(), new.path());
    for seed in 1_000..1_060 {
        let mut random = Random(seed);
        let target = quick();
        duplicate(old.path(), target.path());
        let copy = terms_of(&mut random);
        let count = 2 + copy.connections;
        let (mut here, mut there) = connections(count);
        // Each of these bytes is read in every session.
        let place = random.below(3) as usize;
        let (end, most) = match place {
            0 => (&mut there[0], 900),
            1 => (&mut here[1], 60),
            _ => (&mut there[2 + random.below(count as u64 - 2) as usize], 64),
        };
        let channel = std::mem::replace(end, Box::new(io::empty()));
        *end = Box::new(Flipped {
            channel,
            at: random.below(most),
            bit: random.below(8) as u8,
        });
        let sink = Sink::Tree(open(target.path()));
        let source = copy.tree(new.path());
        let copied = copy.over((here, there), source, sink, vec![Round::full()]);
        let case = format!("seed {seed}");
        let is_found = copied.sent.broken.is_some() && copied.received.broken.is_some();
        assert!(is_found, "{case}: {copied:?}");
        assert_old_or_new(target.path(), old.path(), new.path(), &case);
    }
}

/// A connection that panics after so many bytes.
struct Panics {
    channel: Box<dyn Channel>,
    left: u64,
}

impl Panics {
    fn channel(&mut self, bytes: usize) -> &mut dyn Channel {
        self.left = self.left.saturating_sub(bytes as u64);
        assert!(self.left > 0, "a defect, as this test wants it");
        self.channel.as_mut()
    }
}

impl Read for Panics {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.channel(out.len()).read(out)
    }
}

impl Write for Panics {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.channel(data.len()).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.channel.flush()
    }
}

#[test]
fn a_thread_that_panics_leaves_no_others_behind() {
    let (old, new) = (quick(), quick());
    versions(old.path(), new.path());
    for place in 0..3 {
        for at_sender in [false, true] {
            let target = quick();
            duplicate(old.path(), target.path());
            let copy = Copy {
                connections: 1,
                ..Copy::default()
            };
            let (mut here, mut there) = connections(3);
            let end = if at_sender { &mut here } else { &mut there };
            let channel = std::mem::replace(&mut end[place], Box::new(io::empty()));
            end[place] = Box::new(Panics { channel, left: 100 });
            let sink = Sink::Tree(open(target.path()));
            let source = copy.tree(new.path());
            // Both ends end: that this returns is what is tested.
            let run = || copy.over((here, there), source, sink, vec![Round::full()]);
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            assert!(
                ended.is_err(),
                "connection {place}, at the sender: {at_sender}"
            );
            assert_old_or_new(target.path(), old.path(), new.path(), "panic");
        }
    }
}
