//! Files that are not complete yet, under names of their own.
//!
//! The name is made of a hash of the final one, so that the next session finds what this one left.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::path::STAGED;
use crate::root;

/// Hash of a name, as staged names have it. A cryptographic one: a user who may name files at the source
/// must not be able to make two names meet under one staged name.
pub(super) fn name_hash(name: &[u8]) -> u64 {
    let hash = blake3::hash(name);
    let first = hash.as_bytes().first_chunk();
    first.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The name under which a file is staged.
pub(super) fn staged_name(name: &[u8]) -> [u8; 21] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut staged = [0; 21];
    staged[..5].copy_from_slice(STAGED);
    for (place, byte) in name_hash(name).to_be_bytes().into_iter().enumerate() {
        staged[5 + 2 * place] = HEX[usize::from(byte >> 4)];
        staged[6 + 2 * place] = HEX[usize::from(byte & 15)];
    }
    staged
}

/// The hash in a staged name; `None` for other names.
pub(super) fn hash_in(staged: &[u8]) -> Option<u64> {
    let hex = staged.strip_prefix(STAGED)?;
    let hex = std::str::from_utf8(hex)
        .ok()
        .filter(|hex| hex.len() == 16)?;
    u64::from_str_radix(hex, 16).ok()
}

/// An open staged file.
pub(super) struct Staged(OwnedFd);

impl Staged {
    /// A new, empty one that its maker alone may use; one that was left is removed.
    pub(super) fn create(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Self> {
        Self::create_as(at, name, Mode::RUSR | Mode::WUSR)
    }

    /// The same with other permission bits, of which the system may take some away.
    pub(super) fn create_as(at: BorrowedFd<'_>, name: &[u8], mode: Mode) -> io::Result<Self> {
        let staged = staged_name(name);
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(at, &staged[..], flags, mode) {
            Err(Errno::EXIST) => {
                root::remove_tree(at, &staged, 0)?;
                Ok(Self(rustix::fs::openat(at, &staged[..], flags, mode)?))
            }
            opened => Ok(Self(opened?)),
        }
    }

    /// The one that an earlier session left, when it is an ordinary file of this process's user with one name.
    pub(super) fn left(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<(Self, u64)>> {
        let staged = staged_name(name);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(at, &staged[..], flags, Mode::empty()) {
            Ok(file) => file,
            Err(_) => return Ok(None),
        };
        let status = root::status_of_open(&file)?;
        let own = status.uid == rustix::process::geteuid().as_raw();
        let plain = status.kind == FileType::RegularFile && status.links == 1;
        Ok((own && plain).then_some((Self(file), status.size)))
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(super) fn into_file(self) -> OwnedFd {
        self.0
    }
}

/// Gives a staged file its final name.
pub(super) fn publish(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::renameat(at, &staged_name(name)[..], at, name)?)
}

/// Gives what is staged its final name, and what has that name the staged one.
///
/// Errors: the file system cannot do it.
#[cfg(target_os = "linux")]
pub(super) fn exchange(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    let staged = staged_name(name);
    Ok(rustix::fs::renameat_with(at, &staged[..], at, name, flags)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exchange(_: BorrowedFd<'_>, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a staged file, when there is one.
pub(super) fn remove(at: BorrowedFd<'_>, name: &[u8]) {
    let _ = rustix::fs::unlinkat(at, &staged_name(name)[..], AtFlags::empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staged_name_tells_whose_it_is() {
        let staged = staged_name("名前.txt".as_bytes());
        assert_eq!(hash_in(&staged), Some(name_hash("名前.txt".as_bytes())));
        assert_eq!(hash_in(b".~sk-12"), None);
        assert_eq!(hash_in(b"other"), None);
    }
}
