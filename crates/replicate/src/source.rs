//! Sources of files: a tree below a root, or a generated data set.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::FileType;

use crate::dataset::DataSet;
use crate::filter::Filter;
use crate::message::{Entry, EntryKind, Meta};
use crate::path::{RelPath, check_name, shown};
use crate::root::{self, Handles, Keeps, Root, Status};

/// A file that changed less than this before it was listed may change again within the same tick of
/// the file system's clock (coarsest: 2 s on FAT).
const RACY_NS: i64 = 2_000_000_000;

/// A change within this time of another may leave the times of a file as they are: they are taken
/// from a clock that the system moves at least a hundred times a second.
const TICK_NS: i64 = 20_000_000;
/// Most waits of that time before a file is opened.
const SETTLES: u32 = 6;
/// No single write takes longer than this.
const SETTLED_NS: i64 = 60_000_000_000;

/// The wall clock, nanoseconds since 1970.
pub(crate) fn wall_clock_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos().min(i64::MAX as u128) as i64)
}

/// Source of files.
pub enum Source {
    /// A tree below a root.
    Tree {
        /// The root.
        root: Arc<Root>,
        /// Filter of the names that belong to it.
        filter: Filter,
        /// Properties that are read.
        keeps: Keeps,
        /// Of each file only so many bytes are taken: a trial needs no more.
        most_bytes: u64,
    },
    /// Files that are made.
    Set(DataSet),
}

/// A name that was found in a directory.
pub struct Found {
    /// As it is told to the receiver.
    pub entry: Entry,
    /// Device and number, for files with several names.
    pub inode: Option<(u64, u64)>,
}

/// A file that is being read.
pub enum Opened {
    /// Of a tree.
    File(OwnedFd, Status),
    /// The first bytes of one.
    Part(OwnedFd, Status, u64),
    /// Number and size of one that is made.
    Made(u64, u64),
}

/// Event on the way through a directory.
pub enum Event {
    /// Metadata of the directory itself; comes first.
    Begin(Meta),
    /// A name that belongs to the replication.
    Found(Found),
    /// A name that cannot be replicated, and why.
    Left(RelPath, String),
}

fn meta(status: &Status) -> Meta {
    Meta {
        mode: status.mode,
        mtime_ns: status.mtime_ns,
        uid: status.uid,
        gid: status.gid,
        attributes: Vec::new(),
    }
}

impl Source {
    /// Handles for one thread; a set needs none.
    pub fn handles(&self) -> Option<Handles> {
        match self {
            Source::Tree { root, .. } => Some(Handles::new(Arc::clone(root))),
            Source::Set(_) => None,
        }
    }

    /// Goes through a directory. `now_ns` is the wall clock, nanoseconds since 1970.
    ///
    /// Errors: the directory itself cannot be read, or the visitor's.
    pub fn list(
        &self,
        path: &RelPath,
        now_ns: i64,
        visit: &mut dyn FnMut(Event) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Source::Tree {
                root,
                filter,
                keeps,
                most_bytes,
            } => {
                let taken = (filter, *keeps, *most_bytes);
                list_tree(root, taken, path, now_ns, visit)
            }
            Source::Set(set) => list_set(set, path, visit),
        }
    }

    /// Opens a file; one that has just been changed, a moment later: what changes while it is read is
    /// then seen in its times.
    pub fn open(
        &self,
        handles: Option<&mut Handles>,
        directory: &Arc<RelPath>,
        name: &[u8],
    ) -> io::Result<Opened> {
        match (self, handles) {
            (Source::Tree { most_bytes, .. }, Some(handles)) => {
                let (file, mut status) = root::open_file(handles.of(directory)?, name)?;
                for _ in 0..SETTLES {
                    let age_ns = wall_clock_ns().saturating_sub(status.ctime_ns);
                    if (0..TICK_NS).contains(&age_ns) {
                        thread::sleep(Duration::from_nanos((TICK_NS - age_ns) as u64));
                        status = root::status_of_open(&file)?;
                        continue;
                    }
                    if age_ns >= SETTLED_NS {
                        return Ok(Opened::of(file, status, *most_bytes));
                    }
                    // A write gives a file its time when it begins. On a busy host it may go on for longer
                    // than a tick: what is read beside it would be torn, and its time would not tell.
                    root::await_write(&file);
                    let before = std::mem::replace(&mut status, root::status_of_open(&file)?);
                    if status.is_same_content(&before) {
                        return Ok(Opened::of(file, status, *most_bytes));
                    }
                }
                Err(io::Error::other("it changes all the time"))
            }
            (Source::Set(set), _) => {
                let number = DataSet::number(name);
                let made = number.and_then(|number| Some(Opened::Made(number, set.size(number)?)));
                made.ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            (Source::Tree { .. }, None) => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Reads a part of an open file; gives fewer bytes only at its end.
    pub fn read(&self, opened: &Opened, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        match (opened, self) {
            (Opened::File(file, _), _) => root::read_at(file.as_fd(), offset, out),
            (Opened::Part(file, _, most), _) => {
                let left = most.saturating_sub(offset).min(out.len() as u64) as usize;
                root::read_at(file.as_fd(), offset, &mut out[..left])
            }
            (Opened::Made(number, size), Source::Set(set)) => {
                let left = size.saturating_sub(offset).min(out.len() as u64) as usize;
                set.fill(*number, offset, &mut out[..left]);
                Ok(left)
            }
            (Opened::Made(..), Source::Tree { .. }) => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

impl Opened {
    /// A file of a tree, of which at most so many bytes are taken.
    fn of(file: OwnedFd, status: Status, most_bytes: u64) -> Self {
        match status.size > most_bytes {
            true => Opened::Part(file, status, most_bytes),
            false => Opened::File(file, status),
        }
    }

    /// Bytes when it was opened.
    pub fn size(&self) -> u64 {
        match self {
            Opened::File(_, status) => status.size,
            Opened::Part(_, _, size) | Opened::Made(_, size) => *size,
        }
    }

    /// Last change of its content when it was opened.
    pub fn mtime_ns(&self) -> i64 {
        match self {
            Opened::File(_, status) | Opened::Part(_, status, _) => status.mtime_ns,
            Opened::Made(..) => DataSet::meta(0).mtime_ns,
        }
    }

    /// True when it is still what it was when it was opened.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        match self {
            Opened::File(file, before) | Opened::Part(file, before, _) => {
                Ok(root::status_of_open(file)?.is_same_content(before))
            }
            Opened::Made(..) => Ok(true),
        }
    }

    /// Parts of the file that hold data, in order; what lies between reads as zeros.
    pub fn data_ranges(&self) -> Vec<(u64, u64)> {
        match self {
            Opened::File(file, status) if status.allocated < status.size => {
                ranges(file, status.size).unwrap_or_else(|_| vec![(0, status.size)])
            }
            _ => vec![(0, self.size())],
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn ranges(file: &OwnedFd, size: u64) -> io::Result<Vec<(u64, u64)>> {
    use rustix::fs::SeekFrom;
    /// More parts than these are read as one: the list itself would grow large.
    const MOST: usize = 100_000;
    let mut found = Vec::new();
    let mut at = 0;
    while at < size {
        let begin = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(begin) if begin < size => begin,
            Ok(_) | Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(begin))?.min(size);
        if end <= begin || found.len() == MOST {
            return Ok(vec![(0, size)]);
        }
        found.push((begin, end));
        at = end;
    }
    Ok(found)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn ranges(_: &OwnedFd, size: u64) -> io::Result<Vec<(u64, u64)>> {
    Ok(vec![(0, size)])
}

fn list_tree(
    root: &Root,
    (filter, keeps, most_bytes): (&Filter, Keeps, u64),
    path: &RelPath,
    now_ns: i64,
    visit: &mut dyn FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    let directory = root.directory(path)?;
    let own = root::status_of_open(&directory)?;
    let mut own_meta = meta(&own);
    if keeps.attributes {
        own_meta.attributes = root::attributes(directory.as_fd(), b".").unwrap_or_default();
    }
    visit(Event::Begin(own_meta))?;
    root::names(directory.as_fd(), |name| {
        let status = match root::status_of(directory.as_fd(), name) {
            Ok(Some(status)) => status,
            // Gone since the directory was read.
            Ok(None) => return Ok(()),
            Err(error) => return leave(path, name, &error, visit),
        };
        if !filter.takes(path, name, status.kind == FileType::Directory) {
            return Ok(());
        }
        if let Err(error) = check_name(name) {
            return leave(path, name, &error, visit);
        }
        let kind = match status.kind {
            FileType::RegularFile => EntryKind::File {
                size: status.size.min(most_bytes),
                racy: status.mtime_ns > now_ns - RACY_NS,
                shared: status.links > 1,
            },
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => match root::link_target(directory.as_fd(), name) {
                Ok(target) => EntryKind::Symlink { target },
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return leave(path, name, &error, visit),
            },
            other => {
                let what = format!("it is neither file, directory nor link but {other:?}");
                return leave(path, name, &what, visit);
            }
        };
        let mut meta = meta(&status);
        if keeps.attributes && !matches!(kind, EntryKind::Symlink { .. }) {
            meta.attributes = match root::attributes(directory.as_fd(), name) {
                Ok(attributes) => attributes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return leave(path, name, &error, visit),
            };
        }
        visit(Event::Found(Found {
            inode: (status.links > 1).then_some(status.inode),
            entry: Entry {
                name: name.to_vec(),
                kind,
                meta,
            },
        }))
    })?;
    // A directory that was removed reads as an empty one: what the target has must not go for that.
    match root::status_of_open(&directory)?.links {
        0 => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(()),
    }
}

fn leave(
    path: &RelPath,
    name: &[u8],
    why: &dyn std::fmt::Display,
    visit: &mut dyn FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    // A name that makes no path is shown beside its directory; no target has it either.
    let Ok(at) = path.join(name) else {
        let why = format!("`{}`: {why}", shown(name));
        return visit(Event::Left(path.clone(), why));
    };
    visit(Event::Left(at, why.to_string()))?;
    visit(Event::Found(Found {
        entry: Entry {
            name: name.to_vec(),
            kind: EntryKind::Left,
            meta: Meta::default(),
        },
        inode: None,
    }))
}

fn list_set(
    set: &DataSet,
    path: &RelPath,
    visit: &mut dyn FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    let directories = set.directories();
    visit(Event::Begin(DataSet::meta(0o755)))?;
    let mut found = |name: Vec<u8>, kind: EntryKind, mode: u32| {
        let meta = DataSet::meta(mode);
        visit(Event::Found(Found {
            entry: Entry { name, kind, meta },
            inode: None,
        }))
    };
    if path.is_root() {
        for directory in &directories {
            found(directory.as_bytes().to_vec(), EntryKind::Directory, 0o755)?;
        }
        return Ok(());
    }
    let place = directories.iter().position(|directory| directory == path);
    let place = place.ok_or(io::ErrorKind::NotFound)?;
    for (name, _, size) in set.files(place) {
        let kind = EntryKind::File {
            size,
            racy: false,
            shared: false,
        };
        found(name.into_bytes(), kind, 0o644)?;
    }
    Ok(())
}
