//! Delivers messages from other threads to an event loop and wakes it.
//!
//! Messages go through a queue; one byte written to a socket of the loop wakes it.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

use crate::target::Found;

/// The result of a resolver.
pub(crate) enum Whereabouts {
    /// Nothing.
    Unknown,
    /// The target knows it now.
    Known,
    /// Addresses that one user resolved.
    Own(Arc<Found>),
}

/// A message to a loop.
pub(crate) enum Letter<N> {
    /// A user joins at this time.
    Joins(i64, N),
    /// A name was looked up for an exchange of a user.
    Resolved {
        /// The user that asked.
        user: u32,
        /// For which of its exchanges.
        exchange: u64,
        /// The result.
        found: Whereabouts,
    },
    /// Something that a resting user waits for has come.
    Wakes(u32),
    /// No more users will join.
    Closed,
}

struct LoopQueue<N> {
    letters: Mutex<VecDeque<Letter<N>>>,
    bell: UdpSocket,
}

/// The sending end of a loop's queue. Copies lead to the same loop.
pub(crate) struct Sender<N>(Arc<LoopQueue<N>>);

/// The receiving end of a loop's queue.
pub(crate) struct Inbox<N>(Arc<LoopQueue<N>>);

impl<N> Clone for Sender<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A pair of ends.
///
/// Errors: this host gives no socket on its loopback interface.
pub(crate) fn pair<N>() -> io::Result<(Sender<N>, Inbox<N>)> {
    let bell = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    bell.connect(bell.local_addr()?)?;
    bell.set_nonblocking(true)?;
    let both = Arc::new(LoopQueue {
        letters: Mutex::new(VecDeque::new()),
        bell,
    });
    Ok((Sender(Arc::clone(&both)), Inbox(both)))
}

impl<N> Sender<N> {
    /// Puts a letter in and wakes the loop.
    pub(crate) fn send(&self, letter: Letter<N>) {
        let mut letters = lock(&self.0);
        letters.push_back(letter);
        // A wake-up that cannot be sent means that one is pending; and the loop polls from time to
        // time.
        let _ = self.0.bell.send(&[0]);
    }
}

impl<N> Inbox<N> {
    /// The socket that becomes readable when there is a message.
    pub(crate) fn bell(&self) -> &UdpSocket {
        &self.0.bell
    }

    /// Takes all letters.
    pub(crate) fn take(&self) -> VecDeque<Letter<N>> {
        let mut byte = [0];
        while self.0.bell.recv(&mut byte).is_ok() {}
        std::mem::take(&mut lock(&self.0))
    }
}

fn lock<N>(both: &LoopQueue<N>) -> std::sync::MutexGuard<'_, VecDeque<Letter<N>>> {
    both.letters.lock().unwrap_or_else(PoisonError::into_inner)
}
