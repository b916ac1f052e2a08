//! Assigns a connection to an exchange: a kept one or a new one.

use std::sync::Arc;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{AsFd as _, Interest};

use super::bounds::{answer_by, connect_by};
use super::seat::{Doing, Stamps};
use super::{Loop, NONE, token};
use crate::connection::{Connection, Stage};
use crate::crew::Crew;
use crate::failure::{Failure, FailureKind, Phase};
use crate::post::Whereabouts;
use crate::resolver::Question;
use crate::response::Asked;
use crate::target::{Found, Scheme, Target, TargetId};
use crate::tls::Protocol;
use crate::user::Exchange;

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// Begins an exchange whose request is in `out`.
    #[inline]
    pub(super) fn begin(&mut self, user: u32, exchange: Exchange, now: i64) {
        self.audit.started += 1;
        self.observer.begins(now);
        let request_bytes = self.out.len() as u64;
        let seat = &mut self.seats[user as usize];
        seat.exchange = Some(exchange);
        seat.number += 1;
        seat.request_bytes = request_bytes;
        seat.stamps = Stamps {
            start: now,
            ..Stamps::default()
        };
        seat.busy = NONE;
        seat.doing = Doing::Exchanging;
        if let Some(lane) = exchange.lane {
            return self.begin_shared(user, &exchange, lane, now);
        }
        match self.kept_connection(user, &exchange) {
            Some(index) => self.send_on_kept(user, index, &exchange, now),
            None => self.begin_fresh(user, &exchange, now),
        }
    }

    /// The user's kept connection to the target, if it is to be used.
    #[inline]
    pub(super) fn kept_connection(&mut self, user: u32, exchange: &Exchange) -> Option<u32> {
        let kept = &self.seats[user as usize].kept;
        let goes_there = |index: &u32| self.connections[*index as usize].target == exchange.target;
        let place = kept.iter().position(goes_there)?;
        let index = kept[place];
        if exchange.fresh {
            self.seats[user as usize].kept.swap_remove(place);
            self.close(index);
            return None;
        }
        Some(index)
    }

    #[inline]
    pub(super) fn send_on_kept(&mut self, user: u32, index: u32, exchange: &Exchange, now: i64) {
        let seat = &mut self.seats[user as usize];
        (seat.busy, seat.reused) = (index, true);
        let stamps = &mut seat.stamps;
        (stamps.resolved, stamps.connected, stamps.secured) = (now, now, now);
        seat.deadline_ns = answer_by(exchange, now, now);
        let deadline_ns = seat.deadline_ns;
        self.wake_by(user, deadline_ns);
        let connection = &mut self.connections[index as usize];
        connection.response.begin(Asked::by(exchange));
        connection.stage = Stage::Sending;
        match connection.send(&self.out) {
            Ok(true) => self.sent(user, index),
            Ok(false) => self.watch(index, Interest::Both),
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    pub(super) fn begin_fresh(&mut self, user: u32, exchange: &Exchange, now: i64) {
        let deadline_ns = connect_by(exchange, now);
        let seat = &mut self.seats[user as usize];
        seat.reused = false;
        seat.deadline_ns = deadline_ns;
        self.wake_by(user, deadline_ns);
        let index = self.vacant_connection(user, exchange.target);
        let connection = &mut self.connections[index as usize];
        connection.hold(&self.out);
        connection.response.begin(Asked::by(exchange));
        self.seats[user as usize].busy = index;
        self.find_and_call(user, index, exchange.target, now);
    }

    /// Room for a connection to this target, which this user opens.
    pub(super) fn vacant_connection(&mut self, user: u32, target: TargetId) -> u32 {
        let index = self.free_connections.pop().unwrap_or_else(|| {
            self.connections.push(Connection::vacant(self.parts.limits));
            (self.connections.len() - 1) as u32
        });
        let connection = &mut self.connections[index as usize];
        (connection.target, connection.user, connection.attempt) = (target, user, 0);
        (connection.peer, connection.is_for_many) = (None, false);
        connection.found = None;
        index
    }

    /// Calls a target, whose addresses may have to be looked up first.
    pub(super) fn find_and_call(&mut self, user: u32, index: u32, id: TargetId, now: i64) {
        let Some(target) = self.target(id) else {
            return self.fail(
                user,
                Failure::new(Phase::Resolve, FailureKind::UnknownHost),
                now,
            );
        };
        let seat = &mut self.seats[user as usize];
        let round = seat.exchange.and_then(|exchange| exchange.names);
        let own = round.and_then(|round| seat.own_found(id, round));
        if own.is_some() || round.is_none() && target.known().is_some() {
            self.connections[index as usize].found = own;
            return self.call(user, index, &target, now);
        }
        seat.doing = Doing::Resolving;
        let question = Question {
            user,
            exchange: seat.number,
            target,
            for_itself: round.is_some(),
            until_ns: seat.deadline_ns,
        };
        if !self.resolver.ask(question) {
            self.fail(user, Failure::new(Phase::Resolve, FailureKind::Other), now);
        }
    }

    pub(super) fn target(&mut self, id: TargetId) -> Option<Arc<Target>> {
        let place = id.0 as usize;
        if let Some(Some(known)) = self.targets.get(place) {
            return Some(Arc::clone(known));
        }
        let target = self.parts.targets.get(id)?;
        if place >= self.targets.len() {
            self.targets.resize(place + 1, None);
        }
        self.targets[place] = Some(Arc::clone(&target));
        Some(target)
    }

    pub(super) fn resolved(&mut self, user: u32, number: u64, found: Whereabouts) {
        let Some(seat) = self.seats.get_mut(user as usize) else {
            return;
        };
        if seat.number != number || seat.doing != Doing::Resolving {
            return;
        }
        seat.doing = Doing::Exchanging;
        let (index, exchange) = (seat.busy, seat.exchange);
        let now = now_ns();
        if let (Some(exchange), Whereabouts::Own(found)) = (exchange, &found) {
            let round = exchange.names.unwrap_or(0);
            seat.learn(exchange.target, round, Arc::clone(found));
            self.connections[index as usize].found = Some(Arc::clone(found));
        }
        let target = exchange.and_then(|exchange| self.target(exchange.target));
        match (target, found) {
            (Some(target), Whereabouts::Known | Whereabouts::Own(_)) => {
                self.call(user, index, &target, now);
            }
            _ => self.fail(
                user,
                Failure::new(Phase::Resolve, FailureKind::UnknownHost),
                now,
            ),
        }
    }

    /// Calls the next address of a target that has not been tried.
    pub(super) fn call(&mut self, user: u32, index: u32, target: &Target, now: i64) {
        let stamps = &mut self.seats[user as usize].stamps;
        if stamps.resolved == 0 {
            stamps.resolved = now;
        }
        let called = self.call_any(index, target);
        self.is_called(index, now);
        if let Err(failure) = called {
            self.fail(user, failure, now_ns());
        }
    }

    /// Calls the addresses of a target that have not been tried, until one can be.
    ///
    /// Errors: why the last one could not.
    fn call_any(&mut self, index: u32, target: &Target) -> Result<(), Failure> {
        let mut failure = Failure::new(Phase::Resolve, FailureKind::UnknownHost);
        let own = self.connections[index as usize].found.clone();
        let Some(Found { addresses, leaves }) = own.as_deref().or(target.known()) else {
            return Err(failure);
        };
        let first = own.as_ref().map_or(target.preferred(), |_| 0);
        loop {
            let connection = &mut self.connections[index as usize];
            if connection.attempt >= addresses.len() {
                return Err(failure);
            }
            let address = addresses[(first + connection.attempt) % addresses.len()];
            let called = connection
                .call(address, leaves)
                .map_err(|error| Failure::of(Phase::Connect, &error))
                .and_then(|()| self.set_up(index, target));
            match called {
                Ok(()) => {
                    self.audit.connections += 1;
                    return Ok(());
                }
                Err(why) => {
                    self.audit.ports_exhausted +=
                        u64::from(why.kind == FailureKind::PortsExhausted);
                    failure = why;
                    self.connections[index as usize].attempt += 1;
                }
            }
        }
    }

    /// Prepares TLS and watches the socket of a connection that has been called.
    pub(super) fn set_up(&mut self, index: u32, target: &Target) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        if target.scheme == Scheme::Https {
            let protocol = match connection.is_for_many {
                true => Protocol::Http2,
                false => Protocol::Http1,
            };
            let Ok(config) = self.parts.tls.config(protocol, target.route.identity) else {
                return Err(Failure::new(Phase::Tls, FailureKind::Tls));
            };
            let secured = connection.secure(config, &target.host);
            secured.map_err(|kind| Failure::new(Phase::Tls, kind))?;
            if let Some(request) = target.tunnel_request() {
                connection.tunnel(request);
            }
        }
        let token = token(index, connection.generation);
        let Some(socket) = connection.socket() else {
            return Err(Failure::new(Phase::Connect, FailureKind::Other));
        };
        let watched = self.waiter.add(socket.as_fd(), token, Interest::Both);
        watched.map_err(|error| Failure::of(Phase::Connect, &error))
    }

    /// Wakes the loop for a user's deadline. The timer of an earlier exchange may still stand: it
    /// is put off when it fires, not with each request.
    #[inline]
    pub(super) fn wake_by(&mut self, user: u32, deadline_ns: i64) {
        if deadline_ns == i64::MAX {
            return;
        }
        match self.timers.at(user) {
            Some(at_ns) if at_ns <= deadline_ns => {}
            _ => self.timers.set(user, deadline_ns),
        }
    }
}
