//! Multiplexes the requests of many users over one HTTP/2 connection.
//!
//! ```text
//! begin_shared ─► stream of the session ─► marked ─► send_marked    once per turn
//! socket ─► shared_event ─► session.feed ─► settle: ended ─► step ─► begin_shared …  ─► one send
//! ```
//!
//! Users share the connection of their lane, which the first of them opens. A connection that the
//! server has announced to close takes no new requests: the next one opens another.

use std::io;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{Interest, Ready};

use super::bounds::{answer_by, connect_by};
use super::{Loop, PORTIONS};
use crate::connection::{Stage, is_later};
use crate::crew::Crew;
use crate::failure::{Failure, FailureKind, Phase};
use crate::h2::{Ask, Reading, Room};
use crate::shared::{SharedConnection, Step};
use crate::user::{Exchange, Lane, Outcome};

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// A shared connection, if this room is one at present.
    #[inline]
    pub(super) fn shared(&mut self, index: u32) -> Option<&mut SharedConnection> {
        let connection = self.connections.get_mut(index as usize)?;
        match connection.stage {
            Stage::Shared => connection.shared.as_deref_mut(),
            _ => None,
        }
    }

    /// The same, if it is still that one.
    #[inline]
    pub(super) fn still(&mut self, index: u32, serial: u64) -> Option<&mut SharedConnection> {
        self.shared(index).filter(|shared| shared.serial == serial)
    }

    /// Begins an exchange, whose heads and body are in `out`, on the connection of its lane.
    pub(super) fn begin_shared(&mut self, user: u32, exchange: &Exchange, lane: Lane, now: i64) {
        let known = self.lane_of(user, exchange.target, lane.number);
        let index = known.unwrap_or_else(|| self.open_lane(user, exchange.target, lane.number));
        let out = std::mem::take(&mut self.out);
        let Some(shared) = self.shared(index) else {
            return;
        };
        let is_open = shared.step == Step::Open;
        let stream = match shared.held.is_empty() && shared.session.room() == Room::Now {
            true => open_stream(shared, user, exchange, lane, &out),
            false => {
                shared.hold(user, &out);
                if let Some(granted) = shared.session.granted() {
                    self.observer.holds(granted);
                }
                None
            }
        };
        self.out = out;
        let deadline_ns = match is_open {
            true => answer_by(exchange, now, now),
            false => connect_by(exchange, now),
        };
        let seat = &mut self.seats[user as usize];
        (seat.busy, seat.stream) = (index, stream.unwrap_or(0));
        seat.reused = known.is_some();
        seat.deadline_ns = deadline_ns;
        self.wake_by(user, deadline_ns);
        match known {
            Some(_) => self.mark(index),
            None => self.find_and_call(user, index, exchange.target, now),
        }
    }

    /// Something of this connection waits to leave.
    #[inline]
    fn mark(&mut self, index: u32) {
        if let Some(shared) = self.shared(index)
            && !shared.is_marked
        {
            shared.is_marked = true;
            self.marked.push(index);
        }
    }

    /// Sends what the users of this turn have begun.
    #[inline]
    pub(super) fn send_marked(&mut self) {
        while let Some(index) = self.marked.pop() {
            self.send_shared(index);
        }
    }

    /// Sends the buffered bytes of a connection.
    #[inline]
    pub(super) fn send_shared(&mut self, index: u32) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        shared.is_marked = false;
        if shared.step != Step::Open {
            return;
        }
        match self.connections[index as usize].send_shared() {
            Ok(is_all) => self.has_sent(index, is_all),
            Err(failure) => self.connection_ends(index, failure, now_ns()),
        }
    }

    /// Accounts for bytes that were sent: all of them if `is_all`, otherwise the system reports when
    /// there is room for more.
    #[inline]
    pub(super) fn has_sent(&mut self, index: u32, is_all: bool) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        if shared.session.has_sent() {
            shared.session.stamp_sent(now_ns());
        }
        if shared.watches_room == is_all {
            shared.watches_room = !is_all;
            let interest = if is_all {
                Interest::Read
            } else {
                Interest::Both
            };
            self.watch(index, interest);
        }
    }

    #[inline]
    pub(super) fn shared_event(&mut self, index: u32, event: Ready) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        match shared.step {
            Step::Resolving => {}
            Step::Connecting if event.writable || event.closed => self.shared_connects(index),
            Step::Connecting => {}
            Step::Tunnelling => self.shared_tunnels(index),
            Step::Securing => self.shared_secures(index),
            Step::Open if event.readable => self.shared_receives(index, event.ended),
            Step::Open => self.send_shared(index),
        }
    }

    /// Processes received bytes. `ended`: the peer sends no more after them.
    fn shared_receives(&mut self, index: u32, ended: bool) {
        let Some(serial) = self.shared(index).map(|shared| shared.serial) else {
            return;
        };
        let mut portions = 0;
        loop {
            if portions == PORTIONS {
                self.leave_unread(index, ended);
                break;
            }
            portions += 1;
            let connection = &mut self.connections[index as usize];
            let came = connection.receive(&mut self.buffer);
            let now = now_ns();
            let count = match came {
                Ok(0) => {
                    let kind = self.shared(index).map(|shared| shared.session.why_ended());
                    let kind = kind.unwrap_or(FailureKind::ClosedEarly);
                    return self.connection_ends(index, Failure::new(Phase::Read, kind), now);
                }
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_later(&error) => break,
                Err(error) => {
                    let mut failure = Failure::of(Phase::Read, &error);
                    if error.kind() == io::ErrorKind::InvalidData {
                        failure.kind = FailureKind::Tls;
                    }
                    return self.connection_ends(index, failure, now);
                }
            };
            let is_empty = count < self.buffer.len() && connection.short_read_is_all() && !ended;
            let Some(shared) = &mut connection.shared else {
                return;
            };
            let fed = shared.session.feed(&self.buffer[..count], now);
            self.settle(index, serial, now);
            if self.still(index, serial).is_none() {
                return;
            }
            if let Err(kind) = fed {
                // The server is sent the reason; its delivery is not waited for.
                let _ = self.connections[index as usize].send_shared();
                return self.connection_ends(index, Failure::new(Phase::Read, kind), now);
            }
            if is_empty {
                break;
            }
        }
        self.send_shared(index);
    }

    /// Tells users whose exchanges have ended, and lets them go on.
    fn settle(&mut self, index: u32, serial: u64, now: i64) {
        while let Some(shared) = self.still(index, serial)
            && let Some(id) = shared.session.next_ended()
        {
            let Some(stream) = shared.session.stream(id) else {
                continue;
            };
            let (user, reading) = (stream.user, stream.reading);
            let phase = shared.phase_of(id);
            let failure = match reading {
                Reading::Ended(Some(kind)) => Some(Failure::new(phase, kind)),
                _ => None,
            };
            self.tell_shared(user, index, failure, now);
            let closes = self.seats[user as usize]
                .exchange
                .is_some_and(|exchange| exchange.close);
            if let Some(shared) = self.still(index, serial) {
                shared.session.close(id);
                shared.is_last |= closes;
            }
            self.close_if_done(index);
            match failure {
                None => self.step(user, now),
                Some(_) => self.wait_for_turn(user),
            }
        }
        self.let_held_in(index, serial, now);
    }

    /// Requests that waited begin, as far as there is room; on a connection that is left, they have
    /// to find another.
    fn let_held_in(&mut self, index: u32, serial: u64, now: i64) {
        while let Some(shared) = self.still(index, serial)
            && !shared.held.is_empty()
            && (shared.is_leaving() || shared.session.room() == Room::Now)
            && let Some(held) = shared.held.pop_front()
        {
            let user = held.user;
            let exchange = self.seats[user as usize].exchange;
            let begun = exchange.zip(exchange.and_then(|exchange| exchange.lane));
            let stream = self.still(index, serial).and_then(|shared| {
                let (exchange, lane) = begun?;
                let stream = open_stream(shared, user, &exchange, lane, &held.request);
                shared.give_back(held.request);
                stream
            });
            match stream {
                Some(stream) => self.seats[user as usize].stream = stream,
                None => {
                    let failure = Failure::new(Phase::Send, FailureKind::Unprocessed);
                    self.tell_shared(user, index, Some(failure), now);
                    self.wait_for_turn(user);
                }
            }
        }
        if self.still(index, serial).is_some() {
            self.close_if_done(index);
        }
    }

    /// Tells a user how its exchange ended.
    #[inline]
    pub(super) fn tell_shared(
        &mut self,
        user: u32,
        index: u32,
        failure: Option<Failure>,
        now: i64,
    ) {
        let seat = &mut self.seats[user as usize];
        let (Some(exchange), Some(shared)) =
            (&seat.exchange, &self.connections[index as usize].shared)
        else {
            return;
        };
        let stream = shared.session.stream(seat.stream);
        let start = seat.stamps.start;
        // Stages of the connection that were over before count nothing here.
        let mut before = start;
        let mut reached = |stamp: i64| {
            before = if stamp == 0 {
                now
            } else {
                stamp.clamp(before, now.max(before))
            };
            before
        };
        let outcome = Outcome {
            target: exchange.target,
            intended_ns: exchange.intended_ns,
            start_ns: start,
            resolved_ns: reached(shared.resolved),
            connected_ns: reached(shared.connected),
            secured_ns: reached(shared.secured),
            sent_ns: reached(stream.map_or(0, |stream| stream.sent_ns)),
            first_byte_ns: reached(stream.map_or(0, |stream| stream.first_byte_ns)),
            end_ns: reached(now),
            reused: seat.reused,
            peer: self.connections[index as usize].peer,
            sent_bytes: stream.map_or(0, |stream| stream.request_bytes),
            head_bytes: stream.map_or(0, |stream| stream.head_bytes),
            body_bytes: stream.map_or(0, |stream| stream.body_bytes),
            framing_bytes: stream.map_or(0, |stream| stream.framing_bytes),
            status: stream.map_or(0, |stream| stream.status),
            reason: &[],
            headers: stream.map_or(&[], |stream| &stream.headers),
            body: stream.map_or(&[], |stream| &stream.body),
            failure,
        };
        self.observer.ends(&outcome);
        self.crew.ended(user, &outcome);
        (seat.busy, seat.stream) = (super::NONE, 0);
    }

    /// True when the server has sent something since the deadline was set, which is then extended.
    pub(super) fn was_heard_of(&mut self, user: u32, now: i64) -> bool {
        let seat = &self.seats[user as usize];
        let (index, id, start) = (seat.busy, seat.stream, seat.stamps.start);
        let Some(exchange) = seat.exchange else {
            return false;
        };
        let stream = self
            .shared(index)
            .and_then(|shared| shared.session.stream(id));
        let heard_ns = stream.map_or(0, |stream| stream.heard_ns);
        let deadline_ns = answer_by(&exchange, start, heard_ns);
        if heard_ns == 0 || deadline_ns <= now {
            return false;
        }
        self.seats[user as usize].deadline_ns = deadline_ns;
        self.wake_by(user, deadline_ns);
        true
    }

    /// One exchange has failed. Before the connection is there, all do.
    pub(super) fn fail_shared(&mut self, user: u32, index: u32, failure: Failure, now: i64) {
        let id = self.seats[user as usize].stream;
        match self.shared(index) {
            Some(shared) if shared.step == Step::Open => {}
            _ => return self.connection_ends(index, failure, now),
        }
        self.tell_shared(user, index, Some(failure), now);
        if let Some(shared) = self.shared(index) {
            shared.session.close(id);
            shared.held.retain(|held| held.user != user);
        }
        self.mark(index);
        self.close_if_done(index);
        self.wait_for_turn(user);
    }
}

/// Begins a request whose heads and body are these bytes.
#[inline]
fn open_stream(
    shared: &mut SharedConnection,
    user: u32,
    exchange: &Exchange,
    lane: Lane,
    request: &[u8],
) -> Option<u32> {
    let (first, rest) = request.split_at_checked(lane.first_bytes as usize)?;
    let (next, body) = rest.split_at_checked(lane.next_bytes as usize)?;
    shared.session.open(Ask {
        user,
        first,
        next,
        body,
        is_to_head: exchange.method_is_head,
        keep: exchange.keep,
    })
}
