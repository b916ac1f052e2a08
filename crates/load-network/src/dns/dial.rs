//! Makes connections again that the server closed, beside the asking thread.
//!
//! Servers close connections after a number of queries or when they have too many. The asking thread
//! goes on with its others meanwhile.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::Refusal;
use sokudo_net::clock::now_ns;
use sokudo_workload::refusal::spawn;

/// Longest attempt.
const LONGEST: Duration = Duration::from_secs(1);
/// Rest after one that failed.
const REST: Duration = Duration::from_millis(10);

/// A connection that was made, and how long that took, nanoseconds.
pub(super) type Made = io::Result<(TcpStream, u64)>;

/// The thread that connects. Dropping it ends it, within the longest attempt.
pub(super) struct Dialler {
    wanted: Option<Sender<usize>>,
    made: Receiver<(usize, Made)>,
    under_way: usize,
    thread: Option<JoinHandle<()>>,
}

impl Dialler {
    /// Connects to this server when asked to.
    ///
    /// Errors: no thread.
    pub(super) fn start(server: SocketAddr, timeout: Duration) -> Result<Self, Refusal> {
        let (wanted, lanes) = mpsc::channel::<usize>();
        let (ready, made) = mpsc::channel();
        let bound = timeout.min(LONGEST);
        let thread = spawn("dial", move || {
            for lane in lanes {
                let made = connect(server, bound);
                let failed = made.is_err();
                if ready.send((lane, made)).is_err() {
                    return;
                }
                if failed {
                    std::thread::sleep(REST);
                }
            }
        })?;
        Ok(Self {
            wanted: Some(wanted),
            made,
            under_way: 0,
            thread: Some(thread),
        })
    }

    /// Asks for a connection in place of the one of this lane.
    pub(super) fn want(&mut self, lane: usize) {
        if let Some(wanted) = &self.wanted {
            // Fails only when the thread has died; the lane stays without a connection.
            self.under_way += usize::from(wanted.send(lane).is_ok());
        }
    }

    /// True when connections are being made.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way > 0
    }

    /// The next attempt that has ended.
    pub(super) fn next(&mut self) -> Option<(usize, Made)> {
        let ended = self.made.try_recv().ok()?;
        self.under_way -= 1;
        Some(ended)
    }
}

impl Drop for Dialler {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            // A thread that died has nothing more to say.
            let _ = thread.join();
        }
    }
}

/// A connection that never waits in reads and writes, and how long it took to make.
pub(super) fn connect(server: SocketAddr, bound: Duration) -> Made {
    let begun_ns = now_ns();
    let connection = TcpStream::connect_timeout(&server, bound)?;
    let took_ns = now_ns() - begun_ns;
    connection.set_nodelay(true)?;
    connection.set_nonblocking(true)?;
    Ok((connection, u64::try_from(took_ns).unwrap_or(0)))
}
