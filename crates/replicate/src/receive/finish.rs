//! The end of a round: what can be done only when all content has come.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType};

use super::judge::{RoundWork, differs, set_meta_of};
use super::{Durability, ReceiveState, stage};
use crate::message::{Answer, Id};
use crate::path::{RelPath, STAGED};
use crate::root;
use crate::session::{LOOK, Progress, lock};

/// Waits for the content of the round, then links, removes, sets the times of directories, makes
/// everything durable and gives the counts.
pub(super) fn round(shared: &ReceiveState, work: RoundWork) -> io::Result<()> {
    await_content(shared)?;
    for (directory, name, of) in &work.links {
        if let Err(error) = link(shared, directory, name, *of) {
            let path = directory
                .join(name)
                .map_or(directory.to_string(), |path| path.to_string());
            shared.failed(path, format!("the hard link cannot be made: {error}"));
        }
    }
    lock(&shared.shared_files).clear();
    remove_extra(shared, &work);
    // What is deepest first: setting one changes the time of none above it.
    for (path, meta) in work.directories.iter().rev() {
        if let Err(error) = set_directory(shared, path, meta) {
            let why = format!("its properties cannot be set: {error}");
            shared.failed(path.to_string(), why);
        }
    }
    if shared.terms.durability != Durability::None && !shared.terms.dry_run {
        shared.sync()?;
    }
    lock(&shared.devices).clear();
    let counts = std::mem::take(&mut *lock(&shared.counts));
    let mut outcome = lock(&shared.outcome);
    outcome.rounds += 1;
    outcome.counts.add(&counts);
    drop(outcome);
    Progress::add(&shared.progress.rounds, 1);
    shared.answer(Answer::Round(counts));
    Ok(())
}

/// Waits until every data connection has carried all of the round. Numbers of entries begin anew in
/// the next one: parts of a file that was given up must not be taken for parts of another.
fn await_content(shared: &ReceiveState) -> io::Result<()> {
    let rounds = lock(&shared.outcome).rounds;
    let mut flushes = lock(&shared.flushes);
    while flushes.iter().any(|flushed| *flushed <= rounds) {
        if shared.session.is_over() {
            return Err(shared.session.over());
        }
        flushes = match shared.flushed.wait_timeout(flushes, LOOK) {
            Ok((flushes, _)) => flushes,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
    drop(flushes);
    match lock(&shared.awaited).is_empty() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the sender did not send all that was asked for",
        )),
    }
}

fn link(shared: &ReceiveState, directory: &RelPath, name: &[u8], of: Id) -> io::Result<()> {
    let Some(root) = shared.root() else {
        return Ok(());
    };
    let first = lock(&shared.shared_files).get(&of).cloned();
    let first = first.ok_or_else(|| io::Error::other("its other name was not replicated"))?;
    let (first_directory, first_name) = first.split().ok_or(io::ErrorKind::NotFound)?;
    let from = root.directory(&first_directory)?;
    let at = root.directory(directory)?;
    let target = root::status_of(from.as_fd(), first_name)?;
    let there = root::status_of(at.as_fd(), name)?;
    let target = target.ok_or_else(|| io::Error::other("its other name is not there"))?;
    if there.is_some_and(|there| there.inode == target.inode) {
        return Ok(());
    }
    shared.count(|counts| counts.hard_links_made += 1);
    if shared.terms.dry_run {
        return Ok(());
    }
    let staged = stage::staged_name(name);
    root::remove_tree(at.as_fd(), &staged, 0)?;
    rustix::fs::linkat(&from, first_name, &at, &staged[..], AtFlags::empty())?;
    let published = shared.publish(directory, at.as_fd(), name);
    if published.is_err() {
        stage::remove(at.as_fd(), name);
    }
    published
}

fn remove_extra(shared: &ReceiveState, work: &RoundWork) {
    let terms = &shared.terms;
    let names = work.extra.len() as u64;
    if !terms.delete {
        shared.count(|counts| counts.extra += names);
        return;
    }
    if let Some(most) = terms.max_delete.filter(|most| names > *most) {
        let why = format!("{names} names would be removed, and at most {most} may be: none was");
        shared.failed(RelPath::root().to_string(), why);
        shared.count(|counts| counts.extra += names);
        return;
    }
    if terms.dry_run {
        shared.count(|counts| counts.removed += names);
        return;
    }
    for (directory, name) in &work.extra {
        let removed = shared.root().map_or(Ok(0), |root| {
            let at = root.directory(directory)?;
            remove(shared, directory, at.as_fd(), name)
        });
        match removed {
            Ok(removed) => shared.count(|counts| counts.removed += removed),
            Err(error) => {
                let path = directory.join(name);
                let path = path.map_or(directory.to_string(), |path| path.to_string());
                shared.failed(path, format!("it cannot be removed: {error}"));
            }
        }
    }
}

/// Removes a name; below a directory, only what belongs to the replication, and what was staged.
pub(super) fn remove(
    shared: &ReceiveState,
    directory: &RelPath,
    at: BorrowedFd<'_>,
    name: &[u8],
) -> io::Result<u64> {
    let filter = &shared.terms.filter;
    let status = root::status_of(at, name)?;
    let is_directory = status.is_some_and(|status| status.kind == FileType::Directory);
    if filter.is_everything() || !is_directory {
        return root::remove_tree(at, name, 0);
    }
    let path = directory.join(name).map_err(io::Error::other)?;
    let Some(root) = shared.root() else {
        return Ok(0);
    };
    let inside = root.directory(&path)?;
    let mut names: Vec<Vec<u8>> = Vec::new();
    root::names(inside.as_fd(), |name| {
        names.push(name.to_vec());
        Ok(())
    })?;
    let mut removed = 0;
    for name in names {
        let status = root::status_of(inside.as_fd(), &name)?;
        let is_directory = status.is_some_and(|status| status.kind == FileType::Directory);
        if name.starts_with(STAGED) {
            root::remove_tree(inside.as_fd(), &name, 0)?;
        } else if filter.takes(&path, &name, is_directory) {
            removed += remove(shared, &path, inside.as_fd(), &name)?;
        }
    }
    match rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(removed + 1),
        // Something in it does not belong to the replication.
        Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) => Ok(removed),
        Err(error) => Err(error.into()),
    }
}

fn set_directory(
    shared: &ReceiveState,
    path: &RelPath,
    meta: &crate::message::Meta,
) -> io::Result<()> {
    let Some(root) = shared.root() else {
        return Ok(());
    };
    if shared.terms.dry_run {
        return Ok(());
    }
    let at = match root.directory(path) {
        Ok(at) => at,
        // Removed meanwhile by somebody else.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let there = root::status_of_open(&at)?;
    match differs(at.as_fd(), b".", meta, &there, shared.terms.keeps)? {
        true => set_meta_of(at.as_fd(), b".", meta, shared.terms.keeps),
        false => Ok(()),
    }
}
