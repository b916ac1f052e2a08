//! The spool, which keeps measured data on disk while the run is under way.
//!
//! ```text
//! spool/000000.seg   magic "SOKUDOSP" | version u32
//!                    len u32 | crc32 u32 | payload: one Batch in postcard      frame
//!                    len u32 | crc32 u32 | payload                             frame
//!                    …
//! spool/000001.seg   when the one before has reached SEGMENT_BYTES
//! spool/lock         locked by the process that records or recovers
//! ```
//!
//! All numbers are little-endian. The checksum covers version, `len` and payload. Frames are only
//! ever added at the end, so a crash can at worst tear the last one; [`decode`] takes every whole
//! frame, steps over damage, and says how much it could not read.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sokudo_model::Batch;

use crate::StoreError;
use crate::disk::{self, Disk, DiskFile};

/// First bytes of a segment.
const MAGIC: &[u8; 8] = b"SOKUDOSP";
/// Version of the framing and of the payload.
const VERSION: u32 = 1;
/// Magic and version.
const HEADER_BYTES: usize = 12;
/// `len` and `crc32`.
const FRAME_HEADER_BYTES: usize = 8;
/// Largest payload of one frame; larger batches are split over several.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// A new segment is begun before one grows beyond this.
pub const SEGMENT_BYTES: usize = 512 << 10;
/// Largest segment that a reader takes into memory: a full one and one frame.
const SEGMENT_BYTES_MAX: usize = SEGMENT_BYTES + FRAME_HEADER_BYTES + FRAME_BYTES_MAX;
/// Unsynced bytes after which the segment is synced.
const SYNC_BYTES: u64 = 1 << 20;
/// Time after which the segment is synced with the next frame: what a power failure can cost.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Data that could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loss {
    /// Bytes that belong to no readable frame.
    pub bytes: u64,
    /// Places where something is missing; each held one or more frames.
    pub gaps: u64,
}

impl Loss {
    /// True when nothing is missing.
    pub fn is_none(&self) -> bool {
        self.gaps == 0
    }

    pub(crate) fn add(&mut self, other: Loss) {
        self.bytes += other.bytes;
        self.gaps += other.gaps;
    }

    fn gap(bytes: usize) -> Self {
        Loss {
            bytes: bytes as u64,
            gaps: u64::from(bytes > 0),
        }
    }
}

/// The content of one segment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decoded {
    /// Batches in the order they were recorded.
    pub batches: Vec<Batch>,
    /// Data that could not be read.
    pub loss: Loss,
    /// Version of the segment when it is not this program's and no frame could be read: nothing
    /// is known to be damaged, it takes another program version to read it.
    pub foreign_version: Option<u32>,
}

/// First bytes of every segment.
pub fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Encodes a batch as frames: one, or several when it does not fit into one.
///
/// Errors: [`StoreError::TooLarge`] when a single histogram or event does not fit.
pub fn encode(batch: &Batch) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut frames = Vec::new();
    encode_into(batch, FRAME_BYTES_MAX, &mut frames)?;
    Ok(frames)
}

fn encode_into(batch: &Batch, limit: usize, frames: &mut Vec<Vec<u8>>) -> Result<(), StoreError> {
    // Cannot fail: memory grows as needed and every collection of a batch knows its length.
    let mut frame = postcard::to_extend(batch, vec![0; FRAME_HEADER_BYTES]).map_err(|_| {
        StoreError::TooLarge {
            bytes: usize::MAX,
            limit,
        }
    })?;
    let bytes = frame.len() - FRAME_HEADER_BYTES;
    if bytes > limit {
        let (first, second) = halves(batch).ok_or(StoreError::TooLarge { bytes, limit })?;
        encode_into(&first, limit, frames)?;
        return encode_into(&second, limit, frames);
    }
    let len = (bytes as u32).to_le_bytes();
    let crc = checksum(len, &frame[FRAME_HEADER_BYTES..]).to_le_bytes();
    frame[..4].copy_from_slice(&len);
    frame[4..FRAME_HEADER_BYTES].copy_from_slice(&crc);
    frames.push(frame);
    Ok(())
}

/// Splits a batch into two smaller ones; `None` when it holds a single entry.
fn halves(batch: &Batch) -> Option<(Batch, Batch)> {
    let mut first = batch.clone();
    let mut second = Batch::default();
    if let [series] = &mut first.series[..]
        && first.histograms.is_empty()
        && first.events.is_empty()
    {
        if series.points.len() < 2 {
            return None;
        }
        let mut rest = series.clone();
        rest.points = series.points.split_off(series.points.len() / 2);
        second.series.push(rest);
        return Some((first, second));
    }
    let entries = first.series.len() + first.histograms.len() + first.events.len();
    if entries < 2 {
        return None;
    }
    // Takes the later half of the entries, kind by kind.
    let mut wanted = entries / 2;
    let mut take = |len: usize| {
        let taken = wanted.min(len);
        wanted -= taken;
        len - taken
    };
    second.events = first.events.split_off(take(first.events.len()));
    second.histograms = first.histograms.split_off(take(first.histograms.len()));
    second.series = first.series.split_off(take(first.series.len()));
    Some((first, second))
}

fn checksum(len: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    // Frames of another version are never accepted as complete, even where a header was damaged.
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(&len);
    hasher.update(payload);
    hasher.finalize()
}

/// Reads one segment: any bytes at all, including a segment torn or damaged anywhere.
///
/// After damage it searches the next whole frame. The search gives up, and counts the rest as
/// lost, when it has computed checksums over eight times the segment: only bytes made to look
/// like many overlapping frames can reach that.
pub fn decode(segment: &[u8]) -> Decoded {
    let mut decoded = Decoded::default();
    // A torn header has no frames behind it; a damaged one may.
    let whole_header = segment.starts_with(&header());
    let mut at = if whole_header { HEADER_BYTES } else { 0 };
    let mut damage_from = at;
    let mut budget_bytes = segment.len().saturating_mul(8);
    while at < segment.len() && budget_bytes > 0 {
        match frame(&segment[at..], &mut budget_bytes) {
            Some((batch, bytes)) => {
                decoded.loss.add(Loss::gap(at - damage_from));
                decoded.batches.push(batch);
                at += bytes;
                damage_from = at;
            }
            None => at += 1,
        }
    }
    decoded.loss.add(Loss::gap(segment.len() - damage_from));
    if decoded.batches.is_empty() && !whole_header {
        decoded.foreign_version = version(segment).filter(|v| *v != VERSION);
    }
    decoded
}

/// Version that a segment names in its header.
fn version(segment: &[u8]) -> Option<u32> {
    let version = segment.strip_prefix(MAGIC)?.get(..4)?;
    Some(u32::from_le_bytes(version.try_into().ok()?))
}

/// The frame at the start of `bytes` and its length, if a whole one stands there.
fn frame(bytes: &[u8], budget_bytes: &mut usize) -> Option<(Batch, usize)> {
    let len: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    let crc: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
    let payload_bytes = u32::from_le_bytes(len) as usize;
    if payload_bytes == 0 || payload_bytes > FRAME_BYTES_MAX {
        return None;
    }
    let end = FRAME_HEADER_BYTES + payload_bytes;
    let payload = bytes.get(FRAME_HEADER_BYTES..end)?;
    *budget_bytes = budget_bytes.saturating_sub(payload_bytes);
    if checksum(len, payload) != u32::from_le_bytes(crc) {
        return None;
    }
    let (batch, rest) = postcard::take_from_bytes::<Batch>(payload).ok()?;
    rest.is_empty().then_some((batch, end))
}

/// Segments of a spool directory, oldest first.
pub(crate) fn segments(spool: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = disk::list_dir(spool)?;
    paths.retain(|p| p.extension().is_some_and(|e| e == "seg"));
    Ok(paths)
}

/// Reads one segment file, at most [`SEGMENT_BYTES_MAX`] of it.
pub(crate) fn read_segment(path: &Path) -> Result<Decoded, StoreError> {
    let bytes = disk::read(path, SEGMENT_BYTES_MAX as u64)?;
    Ok(decode(&bytes.unwrap_or_default()))
}

/// Writes batches into segments.
#[derive(Debug)]
pub(crate) struct SpoolWriter {
    disk: Disk,
    dir: PathBuf,
    /// Number of the next segment.
    next: u32,
    current: Option<Segment>,
}

#[derive(Debug)]
struct Segment {
    file: DiskFile,
    bytes: u64,
    unsynced_bytes: u64,
    synced_at: Instant,
}

impl SpoolWriter {
    /// A writer into an existing, empty directory.
    pub fn new(disk: Disk, dir: PathBuf) -> Self {
        Self {
            disk,
            dir,
            next: 0,
            current: None,
        }
    }

    /// A writer that goes on behind the segments that are there.
    pub fn after_others(disk: Disk, dir: PathBuf) -> Result<Self, StoreError> {
        let number = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u32>().ok();
        let last = segments(&dir)?.iter().filter_map(number).max();
        Ok(Self {
            next: last.map_or(0, |last| last.saturating_add(1)),
            ..Self::new(disk, dir)
        })
    }

    /// Adds one batch.
    ///
    /// Errors: [`StoreError::Full`] and others; what was added before stays readable, and a later
    /// call may succeed when the cause has been removed.
    pub fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        for frame in encode(batch)? {
            self.put(&frame)?;
        }
        Ok(())
    }

    fn put(&mut self, frame: &[u8]) -> Result<(), StoreError> {
        let segment = self.segment_with_room(frame.len())?;
        if let Err(error) = segment.file.put(frame) {
            // Take back the part that was written. A segment that cannot even be cut is left as
            // it is: a torn end is what readers expect.
            if segment.file.cut(segment.bytes).is_err() {
                self.current = None;
            }
            return Err(error);
        }
        segment.bytes += frame.len() as u64;
        segment.unsynced_bytes += frame.len() as u64;
        if segment.unsynced_bytes >= SYNC_BYTES || segment.synced_at.elapsed() >= SYNC_INTERVAL {
            segment.sync()?;
        }
        Ok(())
    }

    /// Makes everything added so far survive a power failure.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        match &mut self.current {
            Some(segment) if segment.unsynced_bytes > 0 => segment.sync(),
            _ => Ok(()),
        }
    }

    fn segment_with_room(&mut self, bytes: usize) -> Result<&mut Segment, StoreError> {
        let full = |s: &Segment| s.bytes + bytes as u64 > SEGMENT_BYTES as u64;
        if self.current.as_ref().is_some_and(full) {
            self.sync()?;
            self.current = None;
        }
        let segment = match self.current.take() {
            Some(segment) => segment,
            None => self.begin_segment()?,
        };
        Ok(self.current.insert(segment))
    }

    fn begin_segment(&mut self) -> Result<Segment, StoreError> {
        let path = self.dir.join(format!("{:06}.seg", self.next));
        // Appending, so that writing goes on at the new end after a cut.
        self.disk.remove_file(&path)?;
        let mut file = self.disk.append(&path)?;
        file.put(&header())?;
        self.disk.sync_parent(&path)?;
        self.next += 1;
        Ok(Segment {
            file,
            bytes: HEADER_BYTES as u64,
            unsynced_bytes: HEADER_BYTES as u64,
            synced_at: Instant::now(),
        })
    }
}

impl Segment {
    fn sync(&mut self) -> Result<(), StoreError> {
        self.file.sync()?;
        self.unsynced_bytes = 0;
        self.synced_at = Instant::now();
        Ok(())
    }
}
