//! Linux: namespaces held by descriptors, links made by the programs of iproute2.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use super::{NetnsError, address_v4, number, port_name};

/// Longest that one call of `ip` or `bridge` may take.
const PROGRAM_BOUND: Duration = Duration::from_secs(20);

/// A network namespace without a name; it exists as long as this, or a thread or socket inside.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// Makes an empty namespace: only a loopback link, and that one down.
    ///
    /// A short-lived thread steps into it and hands its descriptor over; the caller's own thread
    /// stays where it is.
    pub fn new() -> Result<Self, NetnsError> {
        let made = thread::Builder::new()
            .name("netns".into())
            .spawn(|| -> Result<OwnedFd, NetnsError> {
                // SAFETY: the danger of `unshare` is losing sight of other threads' descriptors
                // (FILES); NEWNET moves only this thread's view of the network.
                unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }
                    .map_err(refused)?;
                let path = "/proc/thread-self/ns/net";
                let link = File::open(path).map_err(|e| {
                    NetnsError::new(
                        format!("cannot open `{path}`: {e}"),
                        "mount the proc file system at /proc",
                    )
                })?;
                Ok(link.into())
            })
            .map_err(no_thread)?;
        let fd = made.join().map_err(|_| died())??;
        Ok(Self { fd })
    }

    /// Starts a thread inside the namespace; returns once it is inside.
    pub fn spawn<T, F>(&self, name: &str, f: F) -> Result<JoinHandle<T>, NetnsError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let fd = self.fd.try_clone().map_err(|e| {
            NetnsError::new(
                format!("cannot hold the namespace of `{name}`: {e}"),
                "raise the limit of open files (ulimit -n)",
            )
        })?;
        let (entered, inside) = mpsc::sync_channel(1);
        let (go, started) = mpsc::sync_channel::<()>(1);
        let handle = thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                let moved = rustix::thread::move_into_link_name_space(
                    fd.as_fd(),
                    Some(LinkNameSpaceType::Network),
                );
                drop(fd);
                // The caller waits for this word, and the thread waits for the caller's: `f` never
                // runs outside the namespace.
                let _ = entered.send(moved);
                started.recv().ok().map(|()| f())
            })
            .map_err(no_thread)?;
        match inside.recv() {
            Ok(Ok(())) => {}
            Ok(Err(errno)) => return Err(refused(errno)),
            Err(_) => return Err(died()),
        }
        let _ = go.send(());
        Ok(handle)
    }

    /// Runs one of iproute2's programs inside the namespace with one command per line of `batch`.
    fn run(&self, program: &'static str, batch: String) -> Result<(), NetnsError> {
        self.spawn(program, move || run_batch(program, &batch))?
            .join()
            .map_err(|_| died())?
    }
}
