//! The thread that hashes what is there, so that the sender need not send it.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::ReceiveState;
use super::await_data::{Awaited, Parts};
use super::stage::{self, Staged};
use crate::delta::hash_blocks;
use crate::message::{Answer, Id, MAX_HASHES};
use crate::root::{self, Handles};
use crate::session::{LOOK, lock};

/// Bytes that are read at once, a multiple of a block.
const READ_BYTES: usize = 1 << 20;

/// Purpose of hashes of existing content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// The whole content: it may be equal.
    Compare,
    /// The blocks of the file that is to be replaced.
    Delta,
    /// The blocks of what an earlier session left.
    Resume,
}

/// One file to hash.
pub(super) struct Task {
    pub(super) id: Id,
    pub(super) awaited: Awaited,
    pub(super) basis: Basis,
}

/// Hashes until no request is left.
pub(super) fn run(shared: &ReceiveState, inbox: &Inbox<Task>) -> io::Result<()> {
    let Some(root) = shared.root() else {
        return Ok(());
    };
    let mut handles = Handles::new(Arc::clone(root));
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let task = match inbox.recv_timeout(LOOK) {
            Ok(task) => task,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if shared.session.is_over() => return Ok(()),
            Err(RecvTimeoutError::Timeout) => continue,
        };
        // Copies wait for their parts: their number is bounded, and so is the room that they take.
        while task.basis != Basis::Compare && shared.has_adopted_enough() {
            if shared.session.is_over() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
        let hashed = match task.basis {
            Basis::Compare => compare(shared, &mut handles, &task, &mut buffer),
            Basis::Delta => delta(shared, &mut handles, &task, &mut buffer),
            Basis::Resume => resume(shared, &mut handles, &task, &mut buffer),
        };
        if shared.session.is_over() {
            return Ok(());
        }
        if hashed.is_err() {
            // A file that cannot be read cannot be the basis: all of it is requested.
            shared.answer(Answer::Basis {
                id: task.id,
                blocks: Vec::new(),
                more: false,
            });
        }
    }
}

fn compare(
    shared: &ReceiveState,
    handles: &mut Handles,
    task: &Task,
    buffer: &mut [u8],
) -> io::Result<()> {
    let at = handles.of(&task.awaited.directory)?;
    let (file, _) = root::open_file(at, &task.awaited.name)?;
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    loop {
        let count = root::read_at(file.as_fd(), offset, buffer)?;
        hasher.update(&buffer[..count]);
        offset += count as u64;
        if count < buffer.len() {
            break;
        }
        if shared.session.is_over() {
            return Err(shared.session.over());
        }
    }
    shared.answer(Answer::Compare {
        id: task.id,
        hash: *hasher.finalize().as_bytes(),
    });
    Ok(())
}

/// Copies the file that is to be replaced to where it is staged, and hashes it on the way.
fn delta(
    shared: &ReceiveState,
    handles: &mut Handles,
    task: &Task,
    buffer: &mut [u8],
) -> io::Result<()> {
    let at = handles.of(&task.awaited.directory)?;
    let (file, status) = root::open_file(at, &task.awaited.name)?;
    let staged = Staged::create(at, &task.awaited.name)?;
    let most = task.awaited.size.min(status.size);
    let copied = hash(shared, most, buffer, |offset, data| {
        let count = root::read_at(file.as_fd(), offset, data)?;
        root::write_at(staged.file(), offset, &data[..count])?;
        Ok(count)
    });
    match copied {
        Ok(blocks) => adopt(shared, task, staged, blocks),
        Err(error) => {
            stage::remove(at, &task.awaited.name);
            Err(error)
        }
    }
}

/// Hashes what an earlier session staged.
fn resume(
    shared: &ReceiveState,
    handles: &mut Handles,
    task: &Task,
    buffer: &mut [u8],
) -> io::Result<()> {
    let at = handles.of(&task.awaited.directory)?;
    let Some((staged, size)) = Staged::left(at, &task.awaited.name)? else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let most = task.awaited.size.min(size);
    let blocks = hash(shared, most, buffer, |offset, data| {
        root::read_at(staged.file(), offset, data)
    })?;
    adopt(shared, task, staged, blocks)
}

/// Hashes of the blocks of so many bytes.
fn hash(
    shared: &ReceiveState,
    bytes: u64,
    buffer: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<Vec<u128>> {
    let mut blocks = Vec::new();
    let mut offset = 0;
    while offset < bytes {
        if shared.session.is_over() {
            return Err(shared.session.over());
        }
        let wanted = (bytes - offset).min(buffer.len() as u64) as usize;
        let count = read(offset, &mut buffer[..wanted])?;
        blocks.extend(hash_blocks(&buffer[..count]));
        offset += count as u64;
        if count < wanted {
            break;
        }
    }
    Ok(blocks)
}

/// Makes the staged file the one that parts are written to, and says what it has.
fn adopt(shared: &ReceiveState, task: &Task, staged: Staged, blocks: Vec<u128>) -> io::Result<()> {
    let parts = Arc::new(Parts::adopted(shared, staged.into_file()));
    if !lock(&shared.awaited).adopt(task.id, parts) {
        return Ok(());
    }
    let mut rest = blocks.as_slice();
    loop {
        let (now, later) = rest.split_at(rest.len().min(MAX_HASHES / 2));
        shared.answer(Answer::Basis {
            id: task.id,
            blocks: now.to_vec(),
            more: !later.is_empty(),
        });
        rest = later;
        if rest.is_empty() {
            return Ok(());
        }
    }
}
