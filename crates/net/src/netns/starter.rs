//! Programs on local hosts: a thread of the host starts them, and they end with it.
//!
//! The thread has a view of the file system of its own, in which `/etc/hosts` knows the names of the
//! hosts. Nothing outside sees it, and it goes with the last program that has it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use sokudo_model::Text;

use super::NetnsError;
use super::linux::{Namespace, died, no_thread};

/// File in which programs look names up.
const NAMES: &str = "/etc/hosts";

/// A program that is to be started, and where the answer goes.
type Order = (Command, Sender<io::Result<Child>>);

/// A thread of one host that starts programs.
#[derive(Debug)]
pub struct Starter {
    /// Taken when the thread is to end.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Starter {
    /// Starts the thread; the kernel shows it under this name, of which it keeps 15 bytes.
    pub fn new(host: &Namespace, name: &str, known: &[(IpAddr, &str)]) -> Result<Self, NetnsError> {
        let names: String = known
            .iter()
            .map(|(ip, name)| format!("{ip} {name}\n"))
            .collect();
        let (orders, queue) = mpsc::channel::<Order>();
        let (ready, readiness) = mpsc::channel();
        let thread = host.spawn(name, move || {
            let prepared = know_names(&names);
            let is_prepared = prepared.is_ok();
            // Who asked waits for the answer.
            let _ = ready.send(prepared);
            if !is_prepared {
                return;
            }
            for (command, answer) in queue {
                let _ = answer.send(start(command));
            }
        })?;
        let starter = Self {
            orders: Some(orders),
            thread: Some(thread),
        };
        readiness.recv().map_err(|_| died())?.map_err(|e| {
            NetnsError::new(
                Text::new("error-netns-names").with("error", e),
                Text::new("error-netns-names-hint"),
            )
        })?;
        Ok(starter)
    }

    /// Starts a program there. It is killed when the starter ends, and when this process does.
    pub fn start(&self, command: Command) -> io::Result<Child> {
        let (answer, answered) = mpsc::channel();
        let gone = || io::Error::other("the thread of the local host has ended");
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send((command, answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed it to stderr already.
            let _ = thread.join();
        }
    }
}

fn start(mut command: Command) -> io::Result<Child> {
    let parent = getpid();
    // SAFETY: between fork and exec only system calls are made, of which none allocates.
    unsafe { command.pre_exec(move || end_with(parent)) };
    command.spawn()
}

/// From now on the kernel kills this process when the thread that started it ends.
fn end_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before that call.
    if getppid() != Some(parent) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(())
}

/// Gives the calling thread a view of its own, in which these lines stand before those of `/etc/hosts`.
fn know_names(names: &str) -> io::Result<()> {
    let others = fs::read_to_string(NAMES)?;
    // SAFETY: the danger of `unshare` is losing sight of other threads' descriptors (FILES); NEWNS
    // moves only this thread's view of the file system.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)? };
    // What is mounted from now on is seen in this namespace only.
    mount(None, "/", libc::MS_REC | libc::MS_PRIVATE)?;
    let number = rustix::thread::gettid().as_raw_nonzero();
    let path = std::env::temp_dir().join(format!("sokudo-names-{number}"));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| {
            file.write_all(names.as_bytes())?;
            file.write_all(others.as_bytes())?;
            readable_by_all(&file)?;
            mount(Some(&path), NAMES, libc::MS_BIND)
        });
    // The file stays for as long as it is mounted.
    let removed = fs::remove_file(&path);
    written.and(removed)
}

fn readable_by_all(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

fn mount(source: Option<&Path>, target: &str, flags: libc::c_ulong) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;
    let source = source.map_or(&b"none"[..], |path| path.as_os_str().as_bytes());
    let (source, target) = (CString::new(source)?, CString::new(target)?);
    let none = std::ptr::null();
    // SAFETY: both texts end with a zero and outlive the call; type and data may be null for these
    // operations (mount(2)).
    let done = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), none, flags, none.cast()) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Becomes a program on the host of a starter of another process; returns only when that fails.
pub fn become_program(process: u32, starter: &str, command: Command) -> NetnsError {
    let starter = starter.to_owned();
    // The main thread shares its view of the file system with others, and so may not change it. What
    // is executed takes the place of the whole process.
    let thread = thread::Builder::new().name("netns".into());
    let failed = thread.spawn(move || {
        let Some(folder) = folder_of(process, &starter) else {
            return NetnsError::new(
                Text::new("error-netns-process").with("process", process),
                Text::new("error-netns-process-hint"),
            );
        };
        let failed = enter(&folder).err().unwrap_or_else(|| exec(command));
        NetnsError::new(
            Text::new("error-netns-start")
                .with("process", process)
                .with("error", failed),
            Text::new("error-netns-start-hint"),
        )
    });
    match failed.map_err(no_thread).map(JoinHandle::join) {
        Ok(Ok(error)) | Err(error) => error,
        Ok(Err(_)) => died(),
    }
}

/// Folder of the thread with this name below `/proc`.
fn folder_of(process: u32, starter: &str) -> Option<PathBuf> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let folders = threads.flatten().map(|entry| entry.path());
    folders.into_iter().find(|folder| {
        let name = fs::read_to_string(folder.join("comm"));
        name.is_ok_and(|name| name.trim_end() == starter)
    })
}

/// Moves the calling thread to where another one is; the working directory stays.
fn enter(folder: &Path) -> io::Result<()> {
    let here = std::env::current_dir()?;
    let (network, mounts) = (folder.join("ns/net"), folder.join("ns/mnt"));
    let (network, mounts) = (File::open(network)?, File::open(mounts)?);
    // SAFETY: the danger of `unshare` is losing sight of other threads' descriptors (FILES); FS parts
    // only root and working directory from them.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS)? };
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
    move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
    std::env::set_current_dir(here)
}

fn exec(mut command: Command) -> io::Error {
    command.exec()
}
