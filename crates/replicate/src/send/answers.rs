//! The thread that reads what the receiver answers.

use std::io;
use std::sync::atomic::Ordering;

use super::SendState;
use crate::codec::Unpacker;
use crate::frame::{Codec, FrameError, FrameKind};
use crate::message::{Answer, Counts, read_answer};
use crate::session::{Progress, lock};
use crate::wire::FrameReader;

/// Answers that are read after the session has ended.
const MOST_LATE: u32 = 10_000;

/// Reads until the receiver closes the connection.
pub(super) fn run(shared: &SendState, mut reader: FrameReader) -> io::Result<()> {
    let mut unpacker = Unpacker::new()?;
    let mut late = 0;
    while let Some((header, wire)) = reader.next_frame()? {
        // Why the receiver ended may be among what it said before; the wait is bounded.
        if shared.session.is_over() {
            late += 1;
            if late > MOST_LATE {
                return Err(shared.session.over());
            }
        }
        let raw = match header.codec {
            Codec::Stored => wire,
            Codec::Zstd => unpacker.unpack(wire, header.raw_len as usize)?,
        };
        header.verify(raw)?;
        match header.kind {
            FrameKind::Alive => {}
            FrameKind::Message => take(shared, read_answer(raw)?)?,
            _ => return Err(FrameError::Order.into()),
        }
    }
    match shared.said_bye.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the receiver closed the connection",
        )),
    }
}

fn take(shared: &SendState, answer: Answer) -> io::Result<()> {
    let progress = &shared.progress;
    match answer {
        Answer::Verdicts(verdicts) => {
            let (files, bytes) = shared.queue.decide(&verdicts)?;
            Progress::add(&progress.files_wanted, files);
            Progress::add(&progress.bytes_wanted, bytes);
        }
        Answer::Basis { id, blocks, more } => shared.queue.basis(id, &blocks, more)?,
        Answer::Compare { id, hash } => shared.queue.compare(id, hash)?,
        Answer::Progress { files, bytes } => {
            // More than was asked for cannot be done.
            let files = files.min(progress.files_wanted.load(Ordering::Relaxed));
            let bytes = bytes.min(progress.bytes_wanted.load(Ordering::Relaxed));
            progress.files_done.fetch_max(files, Ordering::Relaxed);
            progress.bytes_done.fetch_max(bytes, Ordering::Relaxed);
        }
        Answer::Failed(failure) => shared.left(failure),
        Answer::Round(counts) => {
            let mut outcome = lock(&shared.outcome);
            outcome.rounds += 1;
            outcome.counts.add(&counts);
            drop(outcome);
            Progress::add(&progress.rounds, 1);
            shared.queue.round_counted()?;
        }
        Answer::Broken(why) => {
            // Connections that the receiver closed may have told this end before.
            let why = format!("the receiver: {why}");
            lock(&shared.outcome).broken = Some(why.clone());
            return Err(io::Error::other(why));
        }
    }
    Ok(())
}

impl Counts {
    /// Adds another round's counts.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.files, other.files),
            (&mut self.bytes, other.bytes),
            (&mut self.files_written, other.files_written),
            (&mut self.bytes_received, other.bytes_received),
            (&mut self.bytes_kept, other.bytes_kept),
            (&mut self.files_equal, other.files_equal),
            (&mut self.metadata_set, other.metadata_set),
            (&mut self.directories_made, other.directories_made),
            (&mut self.symlinks_made, other.symlinks_made),
            (&mut self.hard_links_made, other.hard_links_made),
            (&mut self.removed, other.removed),
            (&mut self.extra, other.extra),
            (&mut self.failed, other.failed),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}
