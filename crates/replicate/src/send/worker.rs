//! A thread that reads files and sends them over a connection of its own.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::queue::{Item, Job, Large, PART_BYTES, SMALL_BYTES};
use super::{Level, Record, Records, SendState};
use crate::codec::{Packer, is_incompressible};
use crate::delta::{BLOCK_BYTES, differing};
use crate::frame::{Codec, FrameKind};
use crate::level::FrameCost;
use crate::root::Handles;
use crate::session::{ALIVE, Progress, lock};
use crate::source::Opened;
use crate::wire::FrameWriter;

/// Most attempts at a file that changes while it is read.
const ATTEMPTS: u32 = 3;
/// Bytes before the data of a chunk.
pub(crate) const CHUNK_HEAD: usize = 4 + 4 + 8;
/// Room for records about files beside the files of a batch.
const RECORDS_ROOM: usize = 64 << 10;
/// Records are sent when they have so many bytes, whatever batches were asked for.
const MOST_RECORDS: usize = 1 << 20;

struct Worker<'a> {
    shared: &'a SendState,
    writer: FrameWriter,
    handles: Option<Handles>,
    packer: Packer,
    /// Files that may be compressed.
    records: Records,
    /// Files that look compressed.
    dense: Records,
    /// A chunk: its head, then data.
    chunk: Vec<u8>,
    read_ns: u64,
}

/// Reason for which a file is not sent.
enum Trouble {
    /// It changed each time it was read.
    Changing,
    Io(io::Error),
    /// Nothing more can be sent.
    Connection(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

impl Trouble {
    fn is_gone(&self) -> bool {
        matches!(self, Trouble::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    fn reason(&self) -> String {
        match self {
            Trouble::Changing => "it changed each time while it was read".into(),
            _ if self.is_gone() => "it vanished before it was read".into(),
            Trouble::Io(error) | Trouble::Connection(error) => {
                format!("it cannot be read: {error}")
            }
        }
    }
}

/// Works until there is nothing more to do.
pub(super) fn run(shared: &SendState, number: usize, writer: FrameWriter) -> io::Result<()> {
    let room = SMALL_BYTES as usize + RECORDS_ROOM;
    let mut worker = Worker {
        shared,
        writer,
        handles: shared.source.handles(),
        packer: Packer::new()?,
        records: Records::new(room),
        dense: Records::new(0),
        chunk: vec![0; CHUNK_HEAD + PART_BYTES as usize],
        read_ns: 0,
    };
    loop {
        let waits = Instant::now();
        let job = shared.queue.next(number);
        Progress::add(&shared.progress.idle_ns, ns(waits.elapsed()));
        match job {
            Job::End => {
                worker.flush()?;
                return Ok(());
            }
            Job::Idle => {
                worker.flush()?;
                worker.writer.alive()?;
                continue;
            }
            Job::Flush => {
                worker.flush()?;
                worker
                    .writer
                    .send(FrameKind::Flush, &[], Codec::Stored, &[])?;
                continue;
            }
            Job::Files(items) => {
                for item in items {
                    worker.small(item)?;
                }
            }
            Job::Open(item) => worker.open_large(item)?,
            Job::Part(large, offset, bytes) => worker.part(&large, offset, bytes)?,
        }
        if !shared.queue.has_files() {
            worker.flush()?;
        }
        shared.queue.done();
    }
}

fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

impl Worker<'_> {
    /// Sends the records that were gathered.
    fn flush(&mut self) -> io::Result<()> {
        for dense in [false, true] {
            let records = match dense {
                false => &mut self.records,
                true => &mut self.dense,
            };
            if records.is_empty() {
                continue;
            }
            let records = std::mem::replace(records, Records::new(0));
            let sent = self.send(FrameKind::Batch, records.payload(), !dense);
            let mut records = records;
            records.clear();
            match dense {
                false => self.records = records,
                true => self.dense = records,
            }
            sent?;
        }
        Ok(())
    }

    fn is_packed(&self) -> bool {
        self.shared.terms.level != Level::Fixed(0)
    }

    fn send(&mut self, kind: FrameKind, raw: &[u8], may_pack: bool) -> io::Result<()> {
        let shared = self.shared;
        let level = match shared.terms.level {
            _ if !may_pack => 0,
            Level::Fixed(level) => level,
            Level::Auto => lock(&shared.chooser).level(),
        };
        let packs = Instant::now();
        let (codec, wire) = self.packer.pack(raw, level);
        let pack_ns = if level > 0 { ns(packs.elapsed()) } else { 0 };
        let counter = match may_pack {
            true => &shared.progress.bytes_packed,
            false => &shared.progress.bytes_dense,
        };
        Progress::add(counter, raw.len() as u64);
        let writes = Instant::now();
        let wire_len = wire.len();
        self.writer.send(kind, raw, codec, wire)?;
        let write_ns = ns(writes.elapsed());
        Progress::add(&shared.progress.pack_ns, pack_ns);
        Progress::add(&shared.progress.wire_ns, write_ns);
        Progress::add(&shared.progress.bytes_moved, raw.len() as u64);
        let cost = FrameCost {
            raw: raw.len() as u64,
            wire: wire_len as u64,
            pack_ns,
            write_ns,
            read_ns: std::mem::take(&mut self.read_ns),
        };
        if shared.terms.level == Level::Auto {
            lock(&shared.chooser).note(cost, ns(shared.begun.elapsed()) + 1);
        }
        Ok(())
    }

    fn note_read(&mut self, since: Instant) {
        let read_ns = ns(since.elapsed());
        self.read_ns += read_ns;
        Progress::add(&self.shared.progress.file_ns, read_ns);
    }

    /// Adds a small file to the records.
    fn small(&mut self, item: Item) -> io::Result<()> {
        match self.compared(&item) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(trouble) => return self.abort(&item, trouble),
        }
        let begun = Instant::now();
        let added = self.add_small(&item);
        self.note_read(begun);
        match added {
            Ok(Some(opened)) => {
                self.shared.queue.share(item, opened);
                return Ok(());
            }
            Ok(None) => {}
            Err(trouble) => return self.abort(&item, trouble),
        }
        let most = self.shared.terms.batch_bytes.clamp(1, MOST_RECORDS);
        match self.records.len() >= most || self.dense.len() >= most {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Reads a file into the records; gives it back when it has become a large one.
    fn add_small(&mut self, item: &Item) -> Result<Option<Opened>, Trouble> {
        let source = &self.shared.source;
        for _ in 0..ATTEMPTS {
            let opened = source.open(self.handles.as_mut(), &item.directory, &item.name)?;
            let size = opened.size();
            if size > SMALL_BYTES {
                return Ok(Some(opened));
            }
            let head = (item.id, opened.mtime_ns(), size as usize);
            let read = self.records.add_file(head, |data| {
                match source.read(&opened, 0, data)? == data.len() && opened.is_unchanged()? {
                    true => Ok(()),
                    false => Err(Trouble::Changing),
                }
            });
            match read {
                Err(Trouble::Changing) => {}
                Err(trouble) => return Err(trouble),
                Ok(()) => {
                    let size = size as usize;
                    if self.is_packed() && is_incompressible(self.records.last_data(size)) {
                        self.records.move_last(size, &mut self.dense);
                    }
                    return Ok(None);
                }
            }
        }
        Err(Trouble::Changing)
    }

    /// Compares with the receiver's content when it gave its hash; true when nothing needs to be sent.
    fn compared(&mut self, item: &Item) -> Result<bool, Trouble> {
        let Some(theirs) = item.compare else {
            return Ok(false);
        };
        let source = &self.shared.source;
        let opened = source.open(self.handles.as_mut(), &item.directory, &item.name)?;
        let mut hasher = blake3::Hasher::new();
        let (mut offset, mut last) = (0, Instant::now());
        let data = &mut self.chunk[CHUNK_HEAD..];
        loop {
            let count = source.read(&opened, offset, data)?;
            hasher.update(&data[..count]);
            offset += count as u64;
            if count < data.len() {
                break;
            }
            if self.shared.session.is_over() {
                return Err(self.shared.session.over().into());
            }
            // A large file takes longer than the receiver waits.
            if last.elapsed() >= ALIVE {
                self.writer.alive().map_err(Trouble::Connection)?;
                last = Instant::now();
            }
        }
        let id = item.id;
        if *hasher.finalize().as_bytes() == theirs && opened.is_unchanged()? {
            self.records.add(Record::Same { id });
            return Ok(true);
        }
        if self.shared.terms.compare_only {
            self.records.add(Record::Differs { id });
            return Ok(true);
        }
        Ok(false)
    }

    fn abort(&mut self, item: &Item, trouble: Trouble) -> io::Result<()> {
        if let Trouble::Connection(error) = trouble {
            return Err(error);
        }
        let reason = match self.shared.terms.follows && trouble.is_gone() {
            true => String::new(),
            false => trouble.reason(),
        };
        self.records.add(Record::Abort {
            id: item.id,
            reason: reason.as_bytes(),
        });
        match self.records.len() >= MOST_RECORDS {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Opens a file that all workers will send parts of.
    fn open_large(&mut self, item: Item) -> io::Result<()> {
        match self.compared(&item) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(trouble) => return self.abort(&item, trouble),
        }
        let source = &self.shared.source;
        match source.open(self.handles.as_mut(), &item.directory, &item.name) {
            Ok(opened) => self.shared.queue.share(item, opened),
            Err(error) => return self.abort(&item, Trouble::Io(error)),
        }
        Ok(())
    }

    /// Sends a part of a large file; the worker that sends the last one finishes it.
    fn part(&mut self, large: &Arc<Large>, offset: u64, bytes: usize) -> io::Result<()> {
        let mut sent_here = 0;
        if bytes > 0 && !large.is_given_up() {
            let begun = Instant::now();
            let data = &mut self.chunk[CHUNK_HEAD..CHUNK_HEAD + bytes];
            let read = self.shared.source.read(&large.opened, offset, data);
            self.note_read(begun);
            match read {
                Ok(count) if count == bytes => sent_here = self.chunks(large, offset, bytes)?,
                // Shorter than it was: it is begun again below.
                Ok(_) => large.give_up(false),
                Err(error) => {
                    large.give_up(true);
                    self.abort(&large.item, Trouble::Io(error))?;
                }
            }
        }
        if let Some(sent) = large.sent(sent_here) {
            self.finish(large, sent)?;
        }
        Ok(())
    }

    /// Sends what differs of the data that was read.
    fn chunks(&mut self, large: &Large, offset: u64, bytes: usize) -> io::Result<u64> {
        let item = &large.item;
        let data = &self.chunk[CHUNK_HEAD..CHUNK_HEAD + bytes];
        let parts = match &item.basis {
            Some(basis) => differing(data, (offset / BLOCK_BYTES as u64) as usize, basis),
            None => std::iter::once(0..bytes).collect(),
        };
        let most = self
            .shared
            .terms
            .chunk_bytes
            .clamp(64 << 10, PART_BYTES as usize);
        let mut sent = 0;
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut done = Ok(());
        for part in parts {
            let mut begin = part.start;
            while begin < part.end && done.is_ok() {
                let end = part.end.min(begin + most);
                // The head goes where data was that has been sent already, or belongs to no part.
                let at = CHUNK_HEAD + begin;
                let head = at - CHUNK_HEAD;
                chunk[head..head + 4].copy_from_slice(&item.id.to_le_bytes());
                chunk[head + 4..head + 8].copy_from_slice(&item.attempt.to_le_bytes());
                chunk[head + 8..at].copy_from_slice(&(offset + begin as u64).to_le_bytes());
                let raw = &chunk[head..CHUNK_HEAD + end];
                let may_pack = !self.is_packed() || !is_incompressible(&raw[CHUNK_HEAD..]);
                done = self.send(FrameKind::Chunk, raw, may_pack);
                sent += (end - begin) as u64;
                begin = end;
            }
        }
        self.chunk = chunk;
        done.map(|()| sent)
    }

    fn finish(&mut self, large: &Large, sent: u64) -> io::Result<()> {
        let item = &large.item;
        if large.is_aborted() {
            return Ok(());
        }
        let unchanged = match large.opened.is_unchanged() {
            Ok(unchanged) => unchanged,
            Err(error) => return self.abort(item, Trouble::Io(error)),
        };
        match (unchanged, item.attempt + 1 < ATTEMPTS) {
            (true, _) if !large.is_given_up() => self.records.add(Record::Finish {
                id: item.id,
                attempt: item.attempt,
                size: large.opened.size(),
                mtime_ns: large.opened.mtime_ns(),
                sent,
            }),
            (_, true) => self.shared.queue.again(item.clone()),
            (_, false) => return self.abort(item, Trouble::Changing),
        }
        Ok(())
    }
}
