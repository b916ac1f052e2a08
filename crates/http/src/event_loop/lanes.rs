//! Opens and closes the shared connection of a lane.
//!
//! ```text
//! open_lane ─► resolving ─► connecting ─► tunnelling ─► securing ─► open
//! close_if_done: nobody comes any more      connection_ends: everything under way has failed
//! ```

use sokudo_net::clock::now_ns;

use super::bounds::answer_by;
use super::{Loop, is_busy};
use crate::connection::Stage;
use crate::crew::Crew;
use crate::failure::{Code, Failure, FailureKind, Phase};
use crate::shared::{SharedConnection, Step};
use crate::target::TargetId;
use crate::tls::Protocol;

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// The connection that a user's lane has, if it takes requests.
    #[inline]
    pub(super) fn lane_of(&mut self, user: u32, target: TargetId, lane: u32) -> Option<u32> {
        if let Some((index, serial)) = self.seats[user as usize].lane {
            let goes_there = self.connections[index as usize].target == target;
            if let Some(shared) = self.still(index, serial)
                && goes_there
                && shared.lane == lane
                && !shared.is_leaving()
            {
                return Some(index);
            }
            self.leave_lane(user);
        }
        let index = *self.lanes.get(&(target, lane))?;
        let shared = self.shared(index).filter(|shared| !shared.is_leaving())?;
        shared.users += 1;
        let serial = shared.serial;
        self.seats[user as usize].lane = Some((index, serial));
        Some(index)
    }

    /// Makes the connection of a lane; it is called when its first request lies in it.
    pub(super) fn open_lane(&mut self, user: u32, target: TargetId, lane: u32) -> u32 {
        let index = self.vacant_connection(user, target);
        self.serial += 1;
        let (serial, limits) = (self.serial, self.parts.limits);
        let connection = &mut self.connections[index as usize];
        (connection.stage, connection.is_for_many) = (Stage::Shared, true);
        let room = || Box::new(SharedConnection::new(limits));
        let shared = connection.shared.get_or_insert_with(room);
        shared.begin(serial, lane);
        shared.users = 1;
        self.lanes.insert((target, lane), index);
        self.seats[user as usize].lane = Some((index, serial));
        index
    }

    /// Detaches a user from its shared connection; the last one closes it.
    pub(super) fn leave_lane(&mut self, user: u32) {
        let Some((index, serial)) = self.seats[user as usize].lane.take() else {
            return;
        };
        if let Some(shared) = self.still(index, serial) {
            shared.users = shared.users.saturating_sub(1);
            self.close_if_done(index);
        }
    }

    /// A connection that was called, whether it could be or not.
    pub(super) fn is_called(&mut self, index: u32, now: i64) {
        let connection = &mut self.connections[index as usize];
        if !connection.is_for_many {
            return;
        }
        connection.stage = Stage::Shared;
        connection.be_prompt();
        if let Some(shared) = &mut connection.shared {
            shared.step = Step::Connecting;
            if shared.resolved == 0 {
                shared.resolved = now;
            }
        }
    }

    pub(super) fn shared_connects(&mut self, index: u32) {
        let now = now_ns();
        let connection = &mut self.connections[index as usize];
        let (is_tunnelled, is_tls) = (connection.is_tunnelled(), connection.is_tls());
        let Some(shared) = &mut connection.shared else {
            return;
        };
        if is_tunnelled {
            shared.step = Step::Tunnelling;
            return self.shared_tunnels(index);
        }
        if is_tls {
            (shared.step, shared.connected) = (Step::Securing, now);
            return self.shared_secures(index);
        }
        let sent = connection.send_shared();
        let has_begun = self
            .shared(index)
            .is_some_and(|shared| shared.session.has_begun());
        match sent {
            // The peer has not answered; on one that has, something leaves.
            Ok(_) if !has_begun => {}
            Ok(is_all) => {
                self.shared_opens(index, now);
                self.has_sent(index, is_all);
            }
            Err(failure) if failure.kind == FailureKind::Reset => {
                self.connection_ends(index, failure, now);
            }
            Err(failure) => self.try_next(index, failure),
        }
    }

    pub(super) fn shared_tunnels(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.dig() {
            Ok(false) => {}
            Ok(true) => {
                if let Some(shared) = self.shared(index) {
                    (shared.step, shared.connected) = (Step::Securing, now_ns());
                }
                self.shared_secures(index);
            }
            Err(failure) if failure.kind == FailureKind::Refused => self.try_next(index, failure),
            Err(failure) => self.connection_ends(index, failure, now_ns()),
        }
    }

    pub(super) fn shared_secures(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.shake_hands() {
            Ok(false) => {}
            Ok(true) if !connection.has_agreed_on(Protocol::Http2) => {
                let failure = Failure::new(Phase::Tls, FailureKind::NoHttp2);
                self.connection_ends(index, failure, now_ns());
            }
            Ok(true) => {
                self.shared_opens(index, now_ns());
                self.send_shared(index);
            }
            // A refused call is seen only now: the handshake never began.
            Err(failure) if failure.kind == FailureKind::Refused => self.try_next(index, failure),
            Err(failure) => self.connection_ends(index, failure, now_ns()),
        }
    }

    pub(super) fn try_next(&mut self, index: u32, failure: Failure) {
        let phase = Phase::Connect;
        let user = self.connections[index as usize].user;
        match self.next_address(index) {
            Some(target) => self.call(user, index, &target, now_ns()),
            None => self.connection_ends(index, Failure { phase, ..failure }, now_ns()),
        }
    }

    /// The connection is there; from now on the server is waited for.
    pub(super) fn shared_opens(&mut self, index: u32, now: i64) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        shared.step = Step::Open;
        if shared.connected == 0 {
            shared.connected = now;
        }
        shared.secured = now;
        for user in users_of(shared) {
            let seat = &mut self.seats[user as usize];
            let Some(exchange) = seat.exchange else {
                continue;
            };
            seat.deadline_ns = answer_by(&exchange, seat.stamps.start, now);
            let deadline_ns = seat.deadline_ns;
            self.timers.clear(user);
            self.wake_by(user, deadline_ns);
        }
        self.remember_address(index);
    }

    /// The connection is of no further use: everything under way there has failed.
    pub(super) fn connection_ends(&mut self, index: u32, failure: Failure, now: i64) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        let is_open = shared.step == Step::Open;
        for user in users_of(shared) {
            if !is_busy(&self.seats[user as usize]) {
                continue;
            }
            let stream = self.seats[user as usize].stream;
            let phase = match self.shared(index).filter(|_| is_open) {
                Some(shared) => shared.phase_of(stream),
                None => failure.phase,
            };
            self.tell_shared(user, index, Some(Failure { phase, ..failure }), now);
            // Not at once: a server that refuses must not keep the others from their turn.
            self.wait_for_turn(user);
        }
        self.close_shared(index);
    }

    /// Closes a connection on which nothing is under way and nothing will be.
    pub(super) fn close_if_done(&mut self, index: u32) {
        let Some(shared) = self.shared(index) else {
            return;
        };
        if !shared.is_quiet() || shared.users > 0 && !shared.is_leaving() {
            return;
        }
        if shared.step == Step::Open {
            shared.session.say_goodbye(Code::NO_ERROR);
            // A courtesy to the server: delivery is not waited for.
            let _ = self.connections[index as usize].send_shared();
        }
        self.close_shared(index);
    }

    pub(super) fn close_shared(&mut self, index: u32) {
        let connection = &self.connections[index as usize];
        let lane = connection.shared.as_ref().map_or(0, |shared| shared.lane);
        let key = (connection.target, lane);
        if self.lanes.get(&key) == Some(&index) {
            self.lanes.remove(&key);
        }
        self.close(index);
    }
}

/// Users with something under way on a connection.
fn users_of(shared: &mut SharedConnection) -> Vec<u32> {
    let streams = shared.session.users();
    let held = shared.held.iter().map(|held| held.user);
    streams.into_iter().chain(held).collect()
}
