//! Directories below a root, which no path and no symbolic link leaves.
//!
//! On Linux one `openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)` per
//! directory; elsewhere, and on kernels before 5.6, one `openat(O_NOFOLLOW)` per component. Files are
//! then only ever named relative to such a handle, and never followed. A directory that somebody
//! replaces by a link meanwhile gives an error.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::message::{Attribute, MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTES, Meta};
use crate::path::{MAX_DEPTH, RelPath};

/// Longest wait for a lock that somebody else has, and the time between two attempts.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const LOCK_LOOK: Duration = Duration::from_millis(10);
/// Directories that a thread keeps open.
const KEPT_OPEN: usize = 16;
/// Flags of every directory.
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// The directory below which everything stays.
pub struct Root(OwnedFd);

/// Properties of a file from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// EntryKind of file.
    pub kind: FileType,
    /// Bytes.
    pub size: u64,
    /// Bytes on the device.
    pub allocated: u64,
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of anything, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names of it.
    pub links: u64,
    /// Device and number: what two names of one file share.
    pub inode: (u64, u64),
}

impl Status {
    /// True when the content cannot have changed between the two.
    pub fn is_same_content(&self, other: &Self) -> bool {
        (self.size, self.mtime_ns, self.ctime_ns, self.inode)
            == (other.size, other.mtime_ns, other.ctime_ns, other.inode)
    }
}

// The widths of these fields differ between systems.
#[allow(clippy::unnecessary_cast)]
fn status(stat: &rustix::fs::Stat) -> Status {
    let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
    Status {
        kind: FileType::from_raw_mode(stat.st_mode as _),
        size: stat.st_size as u64,
        allocated: stat.st_blocks as u64 * 512,
        mtime_ns: ns(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        ctime_ns: ns(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        mode: stat.st_mode as u32 & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: stat.st_nlink as u64,
        inode: (stat.st_dev as u64, stat.st_ino as u64),
    }
}

impl Root {
    /// The root at a path of the operator, which may be a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Keeps other replications away from it until it is dropped. One that is about to end is waited for, and so
    /// is a process that this one is starting: until it has become its program, it holds what this one holds.
    ///
    /// Errors: `WouldBlock` when another one keeps it for [`LOCK_WAIT`].
    pub fn lock(&self) -> io::Result<()> {
        let how = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        let begun = Instant::now();
        loop {
            match rustix::fs::flock(&self.0, how) {
                Err(rustix::io::Errno::WOULDBLOCK) if begun.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(LOCK_LOOK);
                }
                done => return Ok(done?),
            }
        }
    }

    /// Its own handle.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// A directory below it.
    pub fn directory(&self, path: &RelPath) -> io::Result<OwnedFd> {
        if path.is_root() {
            return self.0.try_clone();
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve =
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            // Resolving may be asked to be tried again while something above is being renamed.
            for _ in 0..100 {
                match rustix::fs::openat2(
                    &self.0,
                    path.as_bytes(),
                    DIRECTORY,
                    Mode::empty(),
                    resolve,
                ) {
                    Err(Errno::AGAIN) => {}
                    Err(Errno::NOSYS) => return self.walk(path),
                    done => return Ok(done?),
                }
            }
        }
        self.walk(path)
    }

    /// A directory, component by component.
    fn walk(&self, path: &RelPath) -> io::Result<OwnedFd> {
        let mut at = self.0.try_clone()?;
        for name in path.components() {
            at = rustix::fs::openat(&at, name, DIRECTORY, Mode::empty())?;
        }
        Ok(at)
    }

    /// Writes everything of its file system to the device.
    pub fn sync(&self) -> io::Result<()> {
        sync_of(self.handle())
    }
}

/// Writes everything of the file system that a directory lies on to the device.
pub fn sync_of(directory: BorrowedFd<'_>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::syncfs(directory)?);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        rustix::fs::sync();
        Ok(())
    }
}

/// The directories that one thread used last, kept open.
pub struct Handles {
    root: Arc<Root>,
    recent: VecDeque<KeptDirectory>,
}

/// A directory that is kept open.
struct KeptDirectory {
    path: Arc<RelPath>,
    handle: OwnedFd,
    /// Whether files that are made in it get attributes from it, once that was asked.
    bequeaths: Option<bool>,
}

impl Handles {
    /// None open yet.
    pub fn new(root: Arc<Root>) -> Self {
        Self {
            root,
            recent: VecDeque::with_capacity(KEPT_OPEN),
        }
    }

    /// The handle of a directory.
    pub fn of(&mut self, path: &Arc<RelPath>) -> io::Result<BorrowedFd<'_>> {
        let at = self.place(path)?;
        Ok(self.recent[at].handle.as_fd())
    }

    /// The handle of a directory, and whether files that are made in it get attributes from it: it has an access
    /// control list for them.
    pub fn to_make_in(&mut self, path: &Arc<RelPath>) -> io::Result<(BorrowedFd<'_>, bool)> {
        let at = self.place(path)?;
        let kept = &mut self.recent[at];
        let handle = kept.handle.as_fd();
        let asked = || has_default_list(handle);
        let bequeaths = *kept.bequeaths.get_or_insert_with(asked);
        Ok((handle, bequeaths))
    }

    fn place(&mut self, path: &Arc<RelPath>) -> io::Result<usize> {
        let mut kept = self.recent.iter();
        if let Some(at) = kept.position(|kept| Arc::ptr_eq(&kept.path, path)) {
            return Ok(at);
        }
        let handle = self.root.directory(path)?;
        if self.recent.len() == KEPT_OPEN {
            self.recent.pop_back();
        }
        self.recent.push_front(KeptDirectory {
            path: Arc::clone(path),
            handle,
            bequeaths: None,
        });
        Ok(0)
    }
}

/// Status of a name, itself and not what it links to; `None` when there is none.
pub fn status_of(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<Status>> {
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(status(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Status of an open file.
pub fn status_of_open(file: impl AsFd) -> io::Result<Status> {
    Ok(status(&rustix::fs::fstat(file)?))
}

/// Opens a regular file to read; a name that has become something else is an error.
pub fn open_file(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<(OwnedFd, Status)> {
    // Without NONBLOCK a name that became a FIFO would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(at, name, flags, Mode::empty())?;
    let status = status_of_open(&file)?;
    match status.kind {
        FileType::RegularFile => Ok((file, status)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file any more",
        )),
    }
}

/// Names in a directory with their kinds where the system tells, `.` and `..` left out.
pub fn names(
    directory: BorrowedFd<'_>,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    // A handle of its own: reading moves the place of the handle.
    let own = rustix::fs::openat(directory, c".", DIRECTORY, Mode::empty())?;
    for entry in Dir::new(own)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            each(name)?;
        }
    }
    Ok(())
}

/// Target of a symbolic link.
pub fn link_target(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(at, name, Vec::new())?.into_bytes())
}

/// Removes a name and, when it is a directory, all below it; nothing is followed. Gives the number
/// of names that went.
pub fn remove_tree(at: BorrowedFd<'_>, name: &[u8], depth: usize) -> io::Result<u64> {
    match rustix::fs::unlinkat(at, name, AtFlags::empty()) {
        Ok(()) => return Ok(1),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(Errno::NOENT) => return Ok(0),
        Err(error) => return Err(error.into()),
    }
    if depth >= 2 * MAX_DEPTH {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "its directories are too deep",
        ));
    }
    let directory = rustix::fs::openat(at, name, DIRECTORY, Mode::empty())?;
    let mut inside: Vec<Vec<u8>> = Vec::new();
    names(directory.as_fd(), |name| {
        inside.push(name.to_vec());
        Ok(())
    })?;
    let mut removed = 0;
    for name in inside {
        removed += remove_tree(directory.as_fd(), &name, depth + 1)?;
    }
    rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR)?;
    Ok(removed + 1)
}

/// True for attributes that are replicated: those of users, access control lists, capabilities.
fn is_replicated(name: &[u8]) -> bool {
    name.starts_with(b"user.")
        || name.starts_with(b"system.posix_acl_")
        || name == b"security.capability"
}

/// Path of a name by way of its directory's handle, for calls that know no handles.
#[cfg(target_os = "linux")]
fn by_handle(at: BorrowedFd<'_>, name: &[u8]) -> Vec<u8> {
    use std::os::fd::AsRawFd;
    let mut path = format!("/proc/self/fd/{}/", at.as_raw_fd()).into_bytes();
    path.extend_from_slice(name);
    path
}

/// The extended attributes of a name; none where the system or its file system has none.
#[cfg(target_os = "linux")]
pub fn attributes(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<Attribute>> {
    let path = by_handle(at, name);
    let mut list = [0_u8; 1_024];
    let length = match rustix::fs::llistxattr(&path[..], &mut list[..]) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(Vec::new()),
        Ok(length) => length,
        Err(Errno::RANGE) => return long_attributes(&path),
        Err(error) => return Err(error.into()),
    };
    read_attributes(&path, &list[..length])
}

#[cfg(target_os = "linux")]
fn long_attributes(path: &[u8]) -> io::Result<Vec<Attribute>> {
    let mut list = vec![0_u8; 64 << 10];
    let length = rustix::fs::llistxattr(path, &mut list[..])?;
    read_attributes(path, &list[..length])
}

#[cfg(target_os = "linux")]
fn read_attributes(path: &[u8], list: &[u8]) -> io::Result<Vec<Attribute>> {
    let mut found = Vec::new();
    for name in list
        .split(|byte| *byte == 0)
        .filter(|name| is_replicated(name))
    {
        let mut value = vec![0_u8; MAX_ATTRIBUTE_BYTES];
        let length = match rustix::fs::lgetxattr(path, name, &mut value[..]) {
            Ok(length) => length,
            Err(Errno::NODATA) => continue,
            Err(error) => return Err(error.into()),
        };
        value.truncate(length);
        let name = name.to_vec();
        found.push(Attribute { name, value });
    }
    found.truncate(MAX_ATTRIBUTES);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
pub fn attributes(_: BorrowedFd<'_>, _: &[u8]) -> io::Result<Vec<Attribute>> {
    Ok(Vec::new())
}

/// True for a directory with an access control list for what is made in it, or one that cannot be asked.
#[cfg(target_os = "linux")]
fn has_default_list(directory: BorrowedFd<'_>) -> bool {
    // A list does not fit, which is an error of its own.
    let mut first = [0_u8; 1];
    let asked = rustix::fs::fgetxattr(directory, c"system.posix_acl_default", &mut first[..]);
    !matches!(asked, Err(Errno::NODATA | Errno::NOTSUP))
}

#[cfg(not(target_os = "linux"))]
fn has_default_list(_: BorrowedFd<'_>) -> bool {
    false
}

/// Gives an open file or directory exactly these attributes of those that are replicated.
#[cfg(target_os = "linux")]
pub fn set_attributes(file: BorrowedFd<'_>, wanted: &[Attribute]) -> io::Result<()> {
    let mut list = vec![0_u8; 64 << 10];
    let length = match rustix::fs::flistxattr(file, &mut list[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP) if wanted.is_empty() => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in list[..length].split(|byte| *byte == 0) {
        if is_replicated(name) && wanted.iter().all(|one| one.name != name) {
            rustix::fs::fremovexattr(file, name)?;
        }
    }
    for one in wanted {
        // What the peer names is bounded in kind too: `trusted.*` and the like are never set.
        if is_replicated(&one.name) {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::fsetxattr(file, &one.name[..], &one.value, flags)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn set_attributes(_: BorrowedFd<'_>, _: &[Attribute]) -> io::Result<()> {
    Ok(())
}

/// Properties of a file that are replicated besides its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeps {
    /// Permission bits.
    pub mode: bool,
    /// Time of the last change.
    pub times: bool,
    /// Owner and group, where this process may set them.
    pub owner: bool,
    /// Extended attributes and access control lists.
    pub attributes: bool,
}

impl Keeps {
    /// Everything.
    pub const ALL: Self = Self {
        mode: true,
        times: true,
        owner: true,
        attributes: true,
    };

    /// Those that this process can carry out.
    pub fn allowed(self) -> Self {
        Self {
            owner: self.owner && rustix::process::geteuid().is_root(),
            ..self
        }
    }
}

fn timestamps(mtime_ns: i64) -> rustix::fs::Timestamps {
    rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_OMIT as _,
        },
        last_modification: rustix::fs::Timespec {
            tv_sec: mtime_ns.div_euclid(1_000_000_000) as _,
            tv_nsec: mtime_ns.rem_euclid(1_000_000_000) as _,
        },
    }
}

/// Permission bits with which a file is made that is to have this metadata: those that it keeps, where nothing
/// else is set afterwards. A file whose owner is to be another one than `own`, the user and group of this process,
/// is its maker's alone until then.
pub fn first_mode(meta: &Meta, keeps: Keeps, own: (u32, u32)) -> Mode {
    let stays = !keeps.owner || own == (meta.uid, meta.gid);
    match keeps.mode && stays && meta.attributes.is_empty() {
        true => Mode::from_raw_mode((meta.mode & 0o777) as _) | Mode::RUSR | Mode::WUSR,
        false => Mode::RUSR | Mode::WUSR,
    }
}

/// Gives an open file or directory its properties and its time. The owner first: setting it clears
/// set-id bits. `is_bare`: it was just made and has no attributes.
pub fn set_meta(
    file: BorrowedFd<'_>,
    (meta, mtime_ns): (&Meta, i64),
    keeps: Keeps,
    is_bare: bool,
) -> io::Result<()> {
    // To look costs less than to set what is so already.
    let there = match is_bare && meta.attributes.is_empty() {
        true => Some(status_of_open(file)?),
        false => None,
    };
    let is_owned = there.is_some_and(|it| (it.uid, it.gid) == (meta.uid, meta.gid));
    if keeps.owner && !is_owned {
        let owner = rustix::fs::Uid::from_raw(meta.uid);
        let group = rustix::fs::Gid::from_raw(meta.gid);
        rustix::fs::fchown(file, Some(owner), Some(group))?;
    }
    if keeps.attributes && there.is_none() {
        set_attributes(file, &meta.attributes)?;
    }
    let mode = meta.mode & 0o7777;
    if keeps.mode && there.is_none_or(|it| it.mode != mode) {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _))?;
    }
    if keeps.times {
        rustix::fs::futimens(file, &timestamps(mtime_ns))?;
    }
    Ok(())
}

/// Lets this process, when it is a directory's owner and is not allowed everything, make names in it.
pub fn let_owner_write(directory: BorrowedFd<'_>) -> io::Result<()> {
    let user = rustix::process::geteuid();
    let there = status_of_open(directory)?;
    let is_closed = there.mode & 0o300 != 0o300;
    if is_closed && !user.is_root() && there.uid == user.as_raw() {
        rustix::fs::fchmod(directory, Mode::from_raw_mode((there.mode | 0o700) as _))?;
    }
    Ok(())
}

/// Gives a symbolic link its owner and time, itself and not what it names.
pub fn set_link_meta(at: BorrowedFd<'_>, name: &[u8], meta: &Meta, keeps: Keeps) -> io::Result<()> {
    if keeps.owner {
        let owner = rustix::fs::Uid::from_raw(meta.uid);
        let group = rustix::fs::Gid::from_raw(meta.gid);
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::chownat(at, name, Some(owner), Some(group), flags)?;
    }
    if keeps.times {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::utimensat(at, name, &timestamps(meta.mtime_ns), flags)?;
    }
    Ok(())
}

/// Waits for the end of a write that is going on. A look for holes takes the lock that a write holds, on
/// tmpfs, ext4 and btrfs; on XFS each read does.
pub fn await_write(file: &OwnedFd) {
    // What it finds, and whether it finds anything, does not matter.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let _ = rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0));
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    let _ = file;
}

/// Reads from an offset until the buffer is full or the file ends; gives the bytes read.
pub fn read_at(file: BorrowedFd<'_>, mut offset: u64, out: &mut [u8]) -> io::Result<usize> {
    #[cfg(test)]
    faults::meet(file, faults::Call::Read)?;
    let mut filled = 0;
    while filled < out.len() {
        match rustix::io::pread(file, &mut out[filled..], offset) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                offset += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// Writes all bytes at an offset.
pub fn write_at(file: BorrowedFd<'_>, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
    #[cfg(test)]
    faults::meet(file, faults::Call::Write)?;
    while !data.is_empty() {
        match rustix::io::pwrite(file, data, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                data = &data[count..];
                offset += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Devices that fail, as tests ask for.
#[cfg(test)]
pub(crate) mod faults {
    use std::io;
    use std::os::fd::BorrowedFd;
    use std::sync::Mutex;

    use rustix::io::Errno;

    use crate::session::lock;

    /// A call that fails.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Call {
        Read,
        Write,
        Sync,
    }

    /// Device, file or all of them, and call.
    type Fault = (u64, Option<u64>, Call);

    static FAULTS: Mutex<Vec<Fault>> = Mutex::new(Vec::new());

    /// Fails as long as it is held.
    pub(crate) struct Failing(Fault);

    impl Failing {
        pub(crate) fn begin(device: u64, file: Option<u64>, call: Call) -> Self {
            lock(&FAULTS).push((device, file, call));
            Self((device, file, call))
        }
    }

    impl Drop for Failing {
        fn drop(&mut self) {
            lock(&FAULTS).retain(|fault| *fault != self.0);
        }
    }

    /// An error when such a call is to fail on this file.
    pub(crate) fn meet(file: BorrowedFd<'_>, call: Call) -> io::Result<()> {
        let faults = lock(&FAULTS);
        if faults.is_empty() {
            return Ok(());
        }
        let (device, number) = super::status_of_open(file)?.inode;
        let fails = |fault: &Fault| {
            fault.0 == device && fault.1.is_none_or(|one| one == number) && fault.2 == call
        };
        match faults.iter().any(fails) {
            true => Err(Errno::IO.into()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_directory_is_reached_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(inside.path().join("a/b")).unwrap();
        symlink(outside.path(), inside.path().join("a/out")).unwrap();
        symlink("b", inside.path().join("a/within")).unwrap();
        let root = Root::open(inside.path()).unwrap();
        let path = |text: &str| RelPath::parse(text.as_bytes()).unwrap();
        for open in [Root::directory, Root::walk] {
            assert!(open(&root, &path("a/b")).is_ok());
            assert!(open(&root, &path("a/out")).is_err());
            assert!(open(&root, &path("a/within")).is_err());
        }
    }

    #[test]
    fn removing_a_tree_leaves_what_its_links_name() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("kept"), "x").unwrap();
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(inside.path().join("a/b")).unwrap();
        std::fs::write(inside.path().join("a/b/file"), "y").unwrap();
        symlink(outside.path(), inside.path().join("a/out")).unwrap();
        let root = Root::open(inside.path()).unwrap();
        assert_eq!(remove_tree(root.handle(), b"a", 0).unwrap(), 4);
        assert!(outside.path().join("kept").exists());
        assert!(!inside.path().join("a").exists());
    }

    #[test]
    fn a_root_has_one_replication_at_a_time() {
        let inside = tempfile::tempdir().unwrap();
        let (first, second) = (
            Root::open(inside.path()).unwrap(),
            Root::open(inside.path()).unwrap(),
        );
        first.lock().unwrap();
        assert_eq!(second.lock().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        second.lock().unwrap();
    }
}
