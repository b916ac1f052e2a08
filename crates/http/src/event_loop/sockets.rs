//! Handles the readiness events of sockets.
//!
//! ```text
//! connecting ─► tunnel ─► TLS ─► sending ─► receiving ─► complete
//! ```

use std::io;
use std::sync::Arc;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{AsFd as _, Interest, Ready};

use super::bounds::{answer_by, phase_of};
use super::{EDGE, Loop, PORTIONS};
use crate::connection::{Connection, Stage, is_later};
use crate::crew::Crew;
use crate::failure::{Failure, FailureKind, Phase};
use crate::target::Target;
use crate::tls;

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    #[inline]
    pub(super) fn event(&mut self, token: u64, event: Ready) {
        let (index, generation) = (token as u32, (token >> 32) as u32);
        let connection = &self.connections[index as usize];
        if connection.generation != generation || connection.stage == Stage::Vacant {
            return;
        }
        let user = connection.user;
        match connection.stage {
            Stage::Shared => self.shared_event(index, event),
            Stage::Receiving if event.readable => self.receive(user, index, event.ended),
            Stage::Receiving | Stage::Vacant => {}
            // Any byte or event on an idle kept connection makes it unusable.
            Stage::Idle if event.readable => self.forget(user, index),
            Stage::Idle => {}
            Stage::Connecting if event.writable || event.closed => self.connects(user, index),
            Stage::Connecting => {}
            Stage::Tunnelling => self.tunnels(user, index),
            Stage::Securing => self.secures(user, index),
            Stage::Sending => self.sends(user, index, event),
        }
    }

    pub(super) fn connects(&mut self, user: u32, index: u32) {
        let now = now_ns();
        let connection = &mut self.connections[index as usize];
        if connection.is_tunnelled() {
            connection.stage = Stage::Tunnelling;
            return self.tunnels(user, index);
        }
        if connection.is_tls() {
            connection.stage = Stage::Securing;
            self.seats[user as usize].stamps.connected = now;
            return self.secures(user, index);
        }
        match connection.send_on() {
            // The peer has not answered; on one that has, the request leaves at least in part.
            Ok(false) if connection.unsent() as u64 == self.seats[user as usize].request_bytes => {}
            Ok(done) => {
                connection.stage = Stage::Sending;
                self.is_connected(user, index, now);
                if done {
                    self.sent(user, index);
                }
            }
            // The connection was established, and was reset before the request could be sent.
            Err(failure) if failure.kind == FailureKind::Reset => {
                self.seats[user as usize].stamps.connected = now;
                self.fail(user, failure, now);
            }
            Err(failure) => {
                let phase = Phase::Connect;
                self.try_next_address(user, index, Failure { phase, ..failure });
            }
        }
    }

    /// The connection is there and needs nothing else; from now on the server is waited for.
    pub(super) fn is_connected(&mut self, user: u32, index: u32, now: i64) {
        let seat = &mut self.seats[user as usize];
        if seat.stamps.connected == 0 {
            seat.stamps.connected = now;
        }
        seat.stamps.secured = now;
        let Some(exchange) = seat.exchange else {
            return;
        };
        seat.deadline_ns = answer_by(&exchange, seat.stamps.start, now);
        let deadline_ns = seat.deadline_ns;
        self.timers.clear(user);
        self.wake_by(user, deadline_ns);
        self.remember_address(index);
    }

    /// Remembers which address answered, when it was not the first that was tried.
    pub(super) fn remember_address(&mut self, index: u32) {
        let Connection {
            attempt,
            target,
            ref found,
            ..
        } = self.connections[index as usize];
        if attempt > 0
            && found.is_none()
            && let Some(target) = self.target(target)
        {
            let addresses = target.known_addresses().map_or(1, <[_]>::len);
            target.prefer((target.preferred() + attempt) % addresses.max(1));
        }
    }

    pub(super) fn try_next_address(&mut self, user: u32, index: u32, failure: Failure) {
        match self.next_address(index) {
            Some(target) => self.call(user, index, &target, now_ns()),
            None => self.fail(user, failure, now_ns()),
        }
    }

    /// Closes the socket if the target has an address that was not tried, and returns the target.
    pub(super) fn next_address(&mut self, index: u32) -> Option<Arc<Target>> {
        let target = self.target(self.connections[index as usize].target)?;
        let connection = &mut self.connections[index as usize];
        connection.attempt += 1;
        let found = connection.found.as_deref().or(target.known());
        if connection.attempt >= found.map_or(0, |found| found.addresses.len()) {
            return None;
        }
        // The old socket closes as the new one takes its place.
        if !EDGE && let Some(socket) = connection.socket() {
            let _ = self.waiter.remove(socket.as_fd());
        }
        connection.close();
        Some(target)
    }

    pub(super) fn tunnels(&mut self, user: u32, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.dig() {
            Ok(false) => {}
            Ok(true) => {
                connection.stage = Stage::Securing;
                self.seats[user as usize].stamps.connected = now_ns();
                self.secures(user, index);
            }
            Err(failure) if failure.kind == FailureKind::Refused => {
                self.try_next_address(user, index, failure);
            }
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    pub(super) fn secures(&mut self, user: u32, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.shake_hands() {
            Ok(false) => {}
            Ok(true) => {
                connection.stage = Stage::Sending;
                let now = now_ns();
                self.is_connected(user, index, now);
                let connection = &mut self.connections[index as usize];
                match connection.send_on() {
                    Ok(true) => self.sent(user, index),
                    Ok(false) => {}
                    Err(failure) => self.fail(user, failure, now_ns()),
                }
            }
            Err(failure) => {
                // A refused call is seen only now: the handshake never began.
                let is_refused = failure.kind == FailureKind::Refused;
                match is_refused {
                    true => {
                        let phase = Phase::Connect;
                        self.try_next_address(user, index, Failure { phase, ..failure });
                    }
                    false => self.fail(user, failure, now_ns()),
                }
            }
        }
    }

    pub(super) fn sends(&mut self, user: u32, index: u32, event: Ready) {
        // A server may answer, or refuse, before it has read everything.
        if event.readable {
            let number = self.seats[user as usize].number;
            self.receive(user, index, event.ended);
            let seat = &self.seats[user as usize];
            let connection = &self.connections[index as usize];
            if seat.number != number || seat.busy != index || connection.stage != Stage::Sending {
                return;
            }
        }
        match self.connections[index as usize].send_on() {
            Ok(true) => self.sent(user, index),
            Ok(false) => {}
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    /// The whole request has left.
    #[inline]
    pub(super) fn sent(&mut self, user: u32, index: u32) {
        self.seats[user as usize].stamps.sent = now_ns();
        self.connections[index as usize].stage = Stage::Receiving;
        self.watch(index, Interest::Read);
    }

    /// Processes received bytes. `ended`: the peer sends no more after them.
    pub(super) fn receive(&mut self, user: u32, index: u32, ended: bool) {
        for _ in 0..PORTIONS {
            let connection = &mut self.connections[index as usize];
            let came = connection.receive(&mut self.buffer);
            let now = now_ns();
            let count = match came {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_later(&error) => return,
                Err(error) => {
                    let kind = match error.kind() {
                        io::ErrorKind::InvalidData => tls::kind_within(&error),
                        _ => FailureKind::of(&error),
                    };
                    let failure = Failure {
                        kind,
                        ..Failure::of(phase_of(connection), &error)
                    };
                    return self.fail(user, failure, now);
                }
            };
            if count == 0 {
                return self.ends(user, index, now);
            }
            let seat = &mut self.seats[user as usize];
            if seat.stamps.first_byte == 0 {
                seat.stamps.first_byte = now;
            }
            match connection.response.feed(&self.buffer[..count]) {
                Ok(fed) if fed.done => {
                    let is_clean = fed.used == count
                        && connection.stage == Stage::Receiving
                        && !(ended && connection.short_read_is_all());
                    return self.complete(user, index, is_clean, now);
                }
                Ok(_) => {}
                Err(what) => {
                    let failure = Failure::new(phase_of(connection), FailureKind::Malformed(what));
                    return self.fail(user, failure, now);
                }
            }
            if let Some(exchange) = &seat.exchange {
                seat.deadline_ns = answer_by(exchange, seat.stamps.start, now);
            }
        }
        self.leave_unread(index, ended);
    }

    /// The peer has closed its sending side.
    pub(super) fn ends(&mut self, user: u32, index: u32, now: i64) {
        let connection = &mut self.connections[index as usize];
        match connection.response.closed() {
            true => self.complete(user, index, false, now),
            false => {
                let failure = Failure::new(phase_of(connection), connection.response.cut());
                self.fail(user, failure, now);
            }
        }
    }
}
