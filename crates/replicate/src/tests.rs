//! Both ends of a session, over connections of this process.

mod attacks;
#[cfg(target_os = "linux")]
mod attributes;
mod faults;
mod folding;
mod killed;
mod mirrors;
mod rows;
mod sessions;
mod troubles;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use crate::filter::Filter;
use crate::receive::{Durability, ReceiveTerms, Receiver, Sink};
use crate::root::{Keeps, Root};
use crate::send::{Outcome, Round, SendTerms, Sender};
use crate::session::{LOOK, Progress, Reading, Session};
use crate::source::Source;
use crate::wire::Channel;

/// A replication between two trees.
struct Copy {
    connections: usize,
    send: SendTerms,
    receive: ReceiveTerms,
    filter: Filter,
}

/// Outcome of a replication at both ends.
#[derive(Debug)]
struct Copied {
    sent: Outcome,
    received: Outcome,
    progress: Reading,
}

impl Default for Copy {
    fn default() -> Self {
        let everything = || Filter::new(&[], &[]).unwrap();
        Self {
            connections: 2,
            send: SendTerms::default(),
            receive: ReceiveTerms {
                durability: Durability::None,
                delete: false,
                max_delete: None,
                checksum: false,
                delta: true,
                dry_run: false,
                keeps: Keeps::ALL,
                filter: everything(),
            },
            filter: everything(),
        }
    }
}

type Channels = Vec<Box<dyn Channel>>;

/// A connection whose calls return after a while.
fn bounded(stream: UnixStream) -> Box<dyn Channel> {
    stream.set_read_timeout(Some(LOOK)).unwrap();
    stream.set_write_timeout(Some(LOOK)).unwrap();
    Box::new(stream)
}

/// Both ends of so many connections.
fn connections(count: usize) -> (Channels, Channels) {
    let pairs = (0..count).map(|_| UnixStream::pair().unwrap());
    pairs.map(|(a, b)| (bounded(a), bounded(b))).unzip()
}

/// A temporary directory, in memory where there is such a file system.
fn quick() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    made.unwrap()
}

/// Numbers that a seed determines.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)) % end.max(1)
    }
}

fn open(path: &Path) -> Arc<Root> {
    Arc::new(Root::open(path).unwrap())
}

impl Copy {
    fn tree(&self, source: &Path) -> Source {
        Source::Tree {
            root: open(source),
            filter: self.filter.clone(),
            keeps: Keeps::ALL,
            most_bytes: u64::MAX,
        }
    }

    /// From one tree to another.
    fn run(&self, source: &Path, target: &Path) -> Copied {
        self.between(
            self.tree(source),
            Sink::Tree(open(target)),
            vec![Round::full()],
        )
    }

    fn between(&self, source: Source, sink: Sink, rounds: Vec<Round>) -> Copied {
        let channels = connections(2 + self.connections);
        self.over(channels, source, sink, rounds)
    }

    fn over(
        &self,
        (here, there): (Channels, Channels),
        source: Source,
        sink: Sink,
        rounds: Vec<Round>,
    ) -> Copied {
        let mut rounds = rounds.into_iter();
        self.as_asked((here, there), source, sink, |_| rounds.next())
    }

    /// With the rounds that somebody else gives.
    fn as_asked(
        &self,
        (here, there): (Channels, Channels),
        source: Source,
        sink: Sink,
        rounds: impl FnMut(&Session) -> Option<Round> + Send,
    ) -> Copied {
        let progress = Arc::new(Progress::default());
        let sender = Sender {
            source,
            terms: self.send.clone(),
            channels: here,
            session: Session::new(),
            progress: Arc::clone(&progress),
        };
        let receiver = Receiver {
            sink,
            terms: self.receive.clone(),
            channels: there,
            session: Session::new(),
            progress: Arc::default(),
        };
        std::thread::scope(|scope| {
            let received = scope.spawn(|| receiver.run());
            let sent = sender.run(rounds);
            Copied {
                sent,
                received: received.join().unwrap(),
                progress: progress.read(),
            }
        })
    }
}

impl Copied {
    /// Neither end complains.
    fn fine(self) -> Self {
        assert_eq!(self.sent.broken, None);
        assert_eq!(self.received.broken, None);
        assert_eq!(self.sent.failures, []);
        assert_eq!(self.sent.counts, self.received.counts);
        self
    }
}

/// Everything that a tree holds, by path: kind, mode, time, links, size on the device where it is
/// sparse, attributes, content.
fn look(root: &Path) -> BTreeMap<Vec<u8>, String> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<Vec<u8>, String>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap();
            let content = match meta.file_type() {
                kind if kind.is_symlink() => format!("→ {:?}", std::fs::read_link(&path).unwrap()),
                kind if kind.is_dir() => String::new(),
                _ => blake3::hash(&std::fs::read(&path).unwrap()).to_string(),
            };
            let mode = meta.permissions().mode();
            let time = (meta.mtime(), meta.mtime_nsec());
            let links = if meta.is_dir() { 1 } else { meta.nlink() };
            let size = if meta.is_dir() { 0 } else { meta.size() };
            let said = format!("{mode:o} {time:?} {links} {size} {content}");
            use std::os::unix::ffi::OsStrExt;
            found.insert(name.as_os_str().as_bytes().to_vec(), said);
            if meta.is_dir() {
                walk(root, &path, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}
