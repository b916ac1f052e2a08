//! The thread that walks the source and tells the receiver what there is.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::queue::Item;
use super::{Round, SendState};
use crate::codec::Packer;
use crate::frame::FrameKind;
use crate::message::{Entry, EntryKind, Failure, Id, Listing, encode};
use crate::path::RelPath;
use crate::session::{ALIVE, Progress, Session};
use crate::source::{Event, Found, Source, wall_clock_ns};
use crate::wire::FrameWriter;

/// Entries that are told in one message, and bytes of their names and attributes.
const TOLD_AT_ONCE: usize = 512;
const TOLD_BYTES: usize = 256 << 10;
/// A message of fewer bytes is not compressed.
const WORTH_PACKING: usize = 512;

struct Lister<'a> {
    shared: &'a SendState,
    writer: FrameWriter,
    packer: Packer,
    last: Instant,
    /// Of the round.
    next_id: Id,
    /// Files with several names: device and number → entry.
    links: HashMap<(u64, u64), Id>,
    entries: Vec<Entry>,
    items: Vec<Option<Item>>,
    told_bytes: usize,
}

/// Lists round after round, until there are no more.
pub(super) fn run(
    shared: &SendState,
    writer: FrameWriter,
    rounds: &mut dyn FnMut(&Session) -> Option<Round>,
) -> io::Result<()> {
    let mut lister = Lister {
        shared,
        writer,
        packer: Packer::new()?,
        last: Instant::now(),
        next_id: 0,
        links: HashMap::new(),
        entries: Vec::new(),
        items: Vec::new(),
        told_bytes: 0,
    };
    while let Some(round) = rounds(&shared.session) {
        if round.directories.is_empty() {
            lister.alive()?;
            continue;
        }
        lister.round(round)?;
    }
    if shared.session.is_over() {
        return Ok(());
    }
    shared.said_bye.store(true, Ordering::Relaxed);
    lister.tell(&Listing::Bye)
}

impl Lister<'_> {
    fn tell(&mut self, listing: &Listing) -> io::Result<()> {
        let raw = encode(listing);
        let level = i32::from(raw.len() >= WORTH_PACKING);
        let (codec, wire) = self.packer.pack(&raw, level);
        self.last = Instant::now();
        self.writer.send(FrameKind::Message, &raw, codec, wire)
    }

    fn alive(&mut self) -> io::Result<()> {
        if self.last.elapsed() >= ALIVE {
            self.writer.alive()?;
            self.last = Instant::now();
        }
        Ok(())
    }

    fn round(&mut self, round: Round) -> io::Result<()> {
        self.next_id = 0;
        self.links.clear();
        let mut to_list = round.directories;
        if let Source::Tree { filter, .. } = &self.shared.source {
            to_list.retain(|(path, _)| filter.takes_directory(path));
        }
        to_list.reverse();
        while let Some((path, below)) = to_list.pop() {
            let inside = self.directory(path)?;
            if below {
                let inside = inside.into_iter().rev();
                to_list.extend(inside.map(|path| (path, true)));
            }
        }
        let entries = self.next_id;
        self.tell(&Listing::RoundEnd { entries })?;
        let shared = self.shared;
        shared.queue.all_listed();
        Progress::add(&shared.progress.rounds_listed, 1);
        let writer = &mut self.writer;
        shared.queue.await_round(|| writer.alive())
    }

    /// Tells of a directory; gives the directories in it.
    fn directory(&mut self, path: RelPath) -> io::Result<Vec<RelPath>> {
        let directory = Arc::new(path);
        let mut inside = Vec::new();
        let mut broken = None;
        let shared = self.shared;
        let mut begun = false;
        let listed = shared
            .source
            .list(&directory, wall_clock_ns(), &mut |event| {
                let done = match event {
                    Event::Begin(meta) => {
                        begun = true;
                        let path = directory.as_ref().clone();
                        self.tell(&Listing::Directory { path, meta })
                    }
                    Event::Left(path, why) => {
                        let path = path.to_string();
                        shared.left(Failure { path, why });
                        Ok(())
                    }
                    Event::Found(found) => {
                        if found.entry.kind == EntryKind::Directory {
                            match directory.join(&found.entry.name) {
                                Ok(path) => inside.push(path),
                                Err(why) => shared.left(Failure {
                                    path: directory.to_string(),
                                    why: why.to_string(),
                                }),
                            }
                        }
                        self.found(&directory, found)
                    }
                };
                // What breaks the connection is told from what breaks the walk.
                done.map_err(|error| {
                    broken = Some(error);
                    io::Error::other("the connection broke")
                })
            });
        if let Some(error) = broken {
            return Err(error);
        }
        let complete = match listed {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !directory.is_root() => false,
            Err(error) if directory.is_root() && !begun => return Err(error),
            Err(error) => {
                shared.left(Failure {
                    path: directory.to_string(),
                    why: format!("it cannot be read: {error}"),
                });
                false
            }
        };
        self.tell_entries()?;
        if begun {
            self.tell(&Listing::DirectoryEnd { complete })?;
        }
        Ok(inside)
    }

    fn found(&mut self, directory: &Arc<RelPath>, found: Found) -> io::Result<()> {
        let Found { mut entry, inode } = found;
        let id = self.next_id;
        self.next_id = id
            .checked_add(1)
            .ok_or_else(|| io::Error::other("a round has more entries than can be numbered"))?;
        let mut item = None;
        if let EntryKind::File { size, .. } = entry.kind {
            let progress = &self.shared.progress;
            Progress::add(&progress.files_listed, 1);
            Progress::add(&progress.bytes_listed, size);
            match inode.and_then(|inode| self.links.get(&inode)) {
                Some(of) => entry.kind = EntryKind::HardLink { of: *of },
                None => {
                    self.links.extend(inode.map(|inode| (inode, id)));
                    item = Some(Item {
                        id,
                        directory: Arc::clone(directory),
                        name: entry.name.clone().into(),
                        size,
                        compare: None,
                        basis: None,
                        attribute_bytes: entry.meta.attribute_bytes(),
                        attempt: 0,
                    });
                }
            }
        }
        let attributes = entry.meta.attributes.iter();
        let attributes: usize = attributes.map(|one| one.name.len() + one.value.len()).sum();
        self.told_bytes += entry.name.len() + attributes + 64;
        self.entries.push(entry);
        self.items.push(item);
        match self.entries.len() >= TOLD_AT_ONCE || self.told_bytes >= TOLD_BYTES {
            true => self.tell_entries(),
            false => Ok(()),
        }
    }

    fn tell_entries(&mut self) -> io::Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        while !self.shared.queue.has_room() {
            if self.shared.session.is_over() {
                return Err(self.shared.session.over());
            }
            self.alive()?;
        }
        // Their verdicts may come before the call below returns.
        self.shared.queue.listed(self.items.drain(..));
        let entries = std::mem::take(&mut self.entries);
        self.told_bytes = 0;
        self.tell(&Listing::Entries(entries))
    }
}
