//! A TCP relay whose connections can be cut.
//!
//! ```text
//!   client ──► cutter.address() ══════ target
//!                             ╳ cut()
//! ```
//!
//! A cut looks like that of a middlebox that forgot the connection: both ends see its end without a word.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Longest wait for the target.
const CONNECT_BOUND: Duration = Duration::from_secs(10);

/// A relay on loopback; dropping it cuts everything.
#[derive(Debug)]
pub struct Cutter {
    address: SocketAddr,
    shared: Arc<CutterState>,
}

#[derive(Debug, Default)]
struct CutterState {
    open: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    ended: AtomicBool,
    deaf: AtomicBool,
}

impl Cutter {
    /// Relays every connection to `target`.
    pub fn before(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(CutterState::default());
        let own = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, target, &own));
        Ok(Self { address, shared })
    }

    /// Address to which clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Acquire)
    }

    /// Cuts all connections; new ones are accepted.
    pub fn cut(&self) {
        for tcp in self.shared.open().drain(..) {
            // An end that was faster has closed it.
            let _ = tcp.shutdown(Shutdown::Both);
        }
    }

    /// From now on new connections end at once.
    pub fn refuse(&self) {
        self.shared.deaf.store(true, Ordering::Release);
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.cut();
        // Wakes the accepting thread; one that is gone needs none.
        let _ = TcpStream::connect_timeout(&self.address, CONNECT_BOUND);
    }
}

impl CutterState {
    fn open(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, shared: &CutterState) {
    while let Ok((client, _)) = listener.accept() {
        if shared.ended.load(Ordering::Acquire) {
            return;
        }
        shared.accepted.fetch_add(1, Ordering::AcqRel);
        if shared.deaf.load(Ordering::Acquire) {
            continue;
        }
        let Ok(server) = TcpStream::connect_timeout(&target, CONNECT_BOUND) else {
            continue;
        };
        let clones = (client.try_clone(), server.try_clone());
        let kept = (client.try_clone(), server.try_clone());
        let ((Ok(c), Ok(s)), (Ok(client_kept), Ok(server_kept))) = (clones, kept) else {
            continue;
        };
        shared.open().extend([client_kept, server_kept]);
        thread::spawn(move || carry(client, s));
        thread::spawn(move || carry(server, c));
    }
}

/// Carries bytes one way until the connection ends.
fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
