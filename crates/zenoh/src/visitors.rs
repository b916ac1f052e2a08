//! Serves the connections to a listening port, many at a time.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::GroupError;

/// Visitors at a time; further ones wait in the system's queue until one of them leaves.
const MAX_VISITORS: usize = 32;
/// Time between two checks whether the port is to be closed.
const LOOK: Duration = Duration::from_millis(20);

/// Serves a visitor on a thread of its own. Must return within a bound.
pub(crate) type Receive = Arc<dyn Fn(TcpStream, SocketAddr) + Send + Sync>;

/// A listening port with its handler. Dropping it closes it.
pub(crate) struct Visitors {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Visitors {
    /// Opens the port.
    ///
    /// Errors: the port is taken, no thread.
    pub(crate) fn open(listen: SocketAddr, receive: Receive) -> Result<Self, GroupError> {
        let failed = |why: std::io::Error| GroupError::listen(&listen.to_string(), why);
        let listener = TcpListener::bind(listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let closing: Arc<AtomicBool> = Arc::default();
        let closed = Arc::clone(&closing);
        let thread = thread::Builder::new()
            .name("visitors".into())
            .spawn(move || keep(&listener, &receive, &closed))
            .map_err(failed)?;
        Ok(Self {
            address,
            closing,
            thread: Some(thread),
        })
    }

    /// The address at which it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Visitors {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed the port too.
            let _ = thread.join();
        }
    }
}

fn keep(listener: &TcpListener, receive: &Receive, closing: &AtomicBool) {
    let inside: Arc<AtomicUsize> = Arc::default();
    while !closing.load(Ordering::Acquire) {
        let full = inside.load(Ordering::Acquire) >= MAX_VISITORS;
        let accepted = (!full).then(|| listener.accept());
        let Some(Ok((tcp, address))) = accepted else {
            thread::sleep(LOOK);
            continue;
        };
        let visit = Visit::begin(&inside);
        if tcp.set_nonblocking(false).is_err() {
            continue;
        }
        let receive = Arc::clone(receive);
        let visitor = move || {
            let _visit = visit;
            receive(tcp, address);
        };
        // Without a thread the visitor is sent away by dropping it.
        let _ = thread::Builder::new().name("visitor".into()).spawn(visitor);
    }
}

/// Counts a visitor while this value exists.
struct Visit(Arc<AtomicUsize>);

impl Visit {
    fn begin(inside: &Arc<AtomicUsize>) -> Self {
        inside.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(inside))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn who_comes_while_all_places_are_taken_waits_for_one() {
        let full = Arc::new(Barrier::new(MAX_VISITORS));
        let served = Arc::new(AtomicUsize::new(0));
        let (meet, count) = (Arc::clone(&full), Arc::clone(&served));
        let receive = move |mut tcp: TcpStream, _| {
            // The first ones stay until all places are taken.
            if count.fetch_add(1, Ordering::AcqRel) < MAX_VISITORS {
                meet.wait();
            }
            let _ = tcp.write_all(b"!");
        };
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let door = Visitors::open(listen, Arc::new(receive)).expect("a port");
        let come = |_| TcpStream::connect(door.address()).expect("the system lets everybody wait");
        let waiting: Vec<TcpStream> = (0..MAX_VISITORS + 8).map(come).collect();
        for mut tcp in waiting {
            let mut answer = [0];
            tcp.read_exact(&mut answer).expect("an answer");
        }
        assert_eq!(served.load(Ordering::Acquire), MAX_VISITORS + 8);
    }
}
