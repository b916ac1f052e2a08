//! A thread that takes content from one connection and writes it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use super::await_data::{Awaited, End, unasked};
use super::judge::{differs, set_meta_of};
use super::stage::{self, Staged};
use super::{Durability, ReceiveState};
use crate::codec::Unpacker;
use crate::frame::{Codec, Cursor, FrameError, FrameKind};
use crate::message::{Id, Meta};
use crate::path::shown;
use crate::root::{self, Handles};
use crate::send::Record;
use crate::session::{Progress, TOGETHER_BYTES, TOGETHER_FILES, lock};
use crate::wire::FrameReader;

/// A file that is whole and not published yet.
struct Whole {
    id: Id,
    awaited: Awaited,
    /// Bytes that came, and the size.
    received: u64,
    size: u64,
}

struct Writer<'a> {
    shared: &'a ReceiveState,
    handles: Option<Handles>,
    /// User and group of this process.
    own: (u32, u32),
    /// Waits for the next sync.
    whole: Vec<Whole>,
    whole_bytes: u64,
}

/// Takes content until the sender closes the connection.
pub(super) fn run(shared: &ReceiveState, number: usize, mut reader: FrameReader) -> io::Result<()> {
    let mut unpacker = Unpacker::new()?;
    let root = shared.root();
    let mut writer = Writer {
        handles: root.map(|root| Handles::new(Arc::clone(root))),
        shared,
        own: (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        ),
        whole: Vec::new(),
        whole_bytes: 0,
    };
    loop {
        if shared.session.is_over() {
            return Err(shared.session.over());
        }
        let waits = Instant::now();
        let Some((header, wire)) = reader.next_frame()? else {
            writer.publish_all()?;
            return shared.closed(number);
        };
        let progress = &shared.progress;
        Progress::add(&progress.wire_ns, waits.elapsed().as_nanos() as u64);
        let unpacks = Instant::now();
        let raw = match header.codec {
            Codec::Stored => wire,
            Codec::Zstd => unpacker.unpack(wire, header.raw_len as usize)?,
        };
        header.verify(raw)?;
        Progress::add(&progress.pack_ns, unpacks.elapsed().as_nanos() as u64);
        let writes = Instant::now();
        match header.kind {
            FrameKind::Batch => writer.batch(raw)?,
            FrameKind::Chunk => writer.chunk(raw)?,
            FrameKind::Flush => {
                writer.publish_all()?;
                shared.flushed(number)?;
            }
            FrameKind::Alive => {}
            FrameKind::Hello | FrameKind::Message => return Err(FrameError::Order.into()),
        }
        Progress::add(&progress.bytes_moved, raw.len() as u64);
        Progress::add(&progress.file_ns, writes.elapsed().as_nanos() as u64);
    }
}

impl Writer<'_> {
    fn batch(&mut self, raw: &[u8]) -> io::Result<()> {
        let mut cursor = Cursor::new(raw);
        while !cursor.is_empty() {
            match Record::read(&mut cursor)? {
                Record::File { id, mtime_ns, data } => self.small(id, mtime_ns, data)?,
                Record::Same { id } => self.same(id)?,
                Record::Differs { id } => {
                    let awaited = self.shared.forget(id)?;
                    let path = awaited.path();
                    self.shared
                        .failed(path, "its content differs at the target".into());
                    self.shared.count(|counts| counts.files_written += 1);
                }
                Record::Finish {
                    id,
                    attempt,
                    size,
                    mtime_ns,
                    sent,
                } => {
                    let end = End {
                        size,
                        mtime_ns,
                        sent,
                    };
                    self.finish(id, attempt, end)?;
                }
                Record::Abort { id, reason } => {
                    let why = (!reason.is_empty()).then(|| shown(reason));
                    self.shared.give_up(id, self.handles.as_mut(), why);
                }
            }
        }
        Ok(())
    }

    /// Gives up a file that cannot be written; others go on.
    fn or_give_up(&mut self, id: Id, done: io::Result<()>) {
        if let Err(error) = done {
            let why = format!("it cannot be written: {error}");
            self.shared.give_up(id, self.handles.as_mut(), Some(why));
        }
    }

    fn small(&mut self, id: Id, mtime_ns: i64, data: &[u8]) -> io::Result<()> {
        let awaited = self.shared.awaited(id)?;
        let written = self.write_small(&awaited, mtime_ns, data);
        let bytes = data.len() as u64;
        let done = written.and_then(|()| {
            self.publish(Whole {
                id,
                awaited,
                received: bytes,
                size: bytes,
            })
        });
        self.or_give_up(id, done);
        Ok(())
    }

    fn write_small(&mut self, awaited: &Awaited, mtime_ns: i64, data: &[u8]) -> io::Result<()> {
        let Some(handles) = &mut self.handles else {
            return Ok(());
        };
        let (at, bequeaths) = handles.to_make_in(&awaited.directory)?;
        let staged = match bequeaths {
            true => Staged::create(at, &awaited.name)?,
            false => {
                let mode = root::first_mode(&awaited.meta, self.shared.terms.keeps, self.own);
                Staged::create_as(at, &awaited.name, mode)?
            }
        };
        let written = root::write_at(staged.file(), 0, data)
            .and_then(|()| self.complete(staged.file(), &awaited.meta, mtime_ns, !bequeaths));
        if written.is_err()
            && let Some(handles) = &mut self.handles
            && let Ok(at) = handles.of(&awaited.directory)
        {
            stage::remove(at, &awaited.name);
        }
        written
    }

    /// Gives a whole file its properties, and makes it durable where that is asked of each file.
    fn complete(
        &self,
        file: BorrowedFd<'_>,
        meta: &Meta,
        mtime_ns: i64,
        is_bare: bool,
    ) -> io::Result<()> {
        let terms = &self.shared.terms;
        root::set_meta(file, (meta, mtime_ns), terms.keeps, is_bare)?;
        if terms.durability == Durability::File {
            let begun = Instant::now();
            rustix::fs::fsync(file)?;
            self.synced(begun);
        }
        Ok(())
    }

    fn synced(&self, since: Instant) {
        Progress::add(
            &self.shared.progress.sync_ns,
            since.elapsed().as_nanos() as u64,
        );
    }

    fn chunk(&mut self, raw: &[u8]) -> io::Result<()> {
        let mut cursor = Cursor::new(raw);
        let (id, attempt, offset) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
        let data = cursor.rest();
        let end = offset.checked_add(data.len() as u64);
        if end.is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(FrameError::Content.into());
        }
        // The file may have been given up meanwhile, by this end.
        let Ok((awaited, parts)) = self.shared.awaited_parts(id) else {
            return Ok(());
        };
        let place = (attempt, offset);
        let done = parts
            .put(self.shared, self.handles.as_mut(), &awaited, place, data)
            .and_then(|()| self.perhaps_whole(id));
        self.or_give_up(id, done);
        Ok(())
    }

    fn finish(&mut self, id: Id, attempt: u32, end: End) -> io::Result<()> {
        let Ok((awaited, parts)) = self.shared.awaited_parts(id) else {
            return Ok(());
        };
        let done = parts
            .ends(self.shared, self.handles.as_mut(), &awaited, attempt, end)
            .and_then(|()| self.perhaps_whole(id));
        self.or_give_up(id, done);
        Ok(())
    }

    /// Publishes a file when its last part has come.
    fn perhaps_whole(&mut self, id: Id) -> io::Result<()> {
        let Ok((awaited, parts)) = self.shared.awaited_parts(id) else {
            return Ok(());
        };
        let Some((file, end)) = parts.complete()? else {
            return Ok(());
        };
        if let Some(file) = &file {
            rustix::fs::ftruncate(file, end.size)?;
            self.complete(file.as_fd(), &awaited.meta, end.mtime_ns, false)?;
        }
        drop(file);
        self.publish(Whole {
            id,
            awaited,
            received: end.sent,
            size: end.size,
        })
    }

    fn publish(&mut self, whole: Whole) -> io::Result<()> {
        if self.shared.terms.durability == Durability::Batch && self.handles.is_some() {
            self.whole_bytes += whole.received;
            self.whole.push(whole);
            let is_enough =
                self.whole.len() >= TOGETHER_FILES || self.whole_bytes >= TOGETHER_BYTES;
            return if is_enough {
                self.publish_all()
            } else {
                Ok(())
            };
        }
        self.rename(&whole)
    }

    /// Makes everything that waits durable, then publishes it.
    fn publish_all(&mut self) -> io::Result<()> {
        if self.whole.is_empty() {
            return Ok(());
        }
        self.shared.sync()?;
        self.whole_bytes = 0;
        for whole in std::mem::take(&mut self.whole) {
            let done = self.rename(&whole);
            self.or_give_up(whole.id, done);
        }
        Ok(())
    }

    fn rename(&mut self, whole: &Whole) -> io::Result<()> {
        let each = self.shared.terms.durability == Durability::File;
        if let Some(handles) = &mut self.handles {
            let at = handles.of(&whole.awaited.directory)?;
            self.shared
                .publish(&whole.awaited.directory, at, &whole.awaited.name)?;
            if each {
                let begun = Instant::now();
                rustix::fs::fsync(at)?;
                self.synced(begun);
            }
        }
        let removed = lock(&self.shared.awaited).remove(whole.id);
        removed.ok_or_else(unasked)?;
        let kept = whole.size.saturating_sub(whole.received);
        self.shared.count(|counts| {
            counts.files_written += 1;
            counts.bytes_received = counts.bytes_received.saturating_add(whole.received);
            counts.bytes_kept = counts.bytes_kept.saturating_add(kept);
        });
        Progress::add(&self.shared.progress.bytes_kept, kept);
        self.shared.settled(1, whole.size);
        Ok(())
    }

    /// The content is what it should be: sets what else differs.
    fn same(&mut self, id: Id) -> io::Result<()> {
        let awaited = self.shared.forget(id)?;
        self.shared.count(|counts| counts.files_equal += 1);
        Progress::add(&self.shared.progress.bytes_kept, awaited.size);
        let terms = &self.shared.terms;
        let Some(handles) = &mut self.handles else {
            return Ok(());
        };
        let set = handles.of(&awaited.directory).and_then(|at| {
            let Some(there) = root::status_of(at, &awaited.name)? else {
                return Ok(());
            };
            if !differs(at, &awaited.name, &awaited.meta, &there, terms.keeps)? {
                return Ok(());
            }
            self.shared.count(|counts| counts.metadata_set += 1);
            match terms.dry_run {
                true => Ok(()),
                false => set_meta_of(at, &awaited.name, &awaited.meta, terms.keeps),
            }
        });
        if let Err(error) = set {
            let why = format!("its properties cannot be set: {error}");
            self.shared.failed(awaited.path(), why);
        }
        Ok(())
    }
}
