//! How does an exchange get its connection: one that was kept, or a fresh one?

use std::sync::Arc;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{AsFd as _, Interest};

use super::bounds::{answer_by, whole_by};
use super::seat::{Doing, Stamps};
use super::{Loop, NONE, token};
use crate::connection::{Connection, Stage};
use crate::crew::Crew;
use crate::failure::{Failure, Kind, Phase};
use crate::target::{Scheme, Target};
use crate::user::Exchange;

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// Begins an exchange whose request is in `out`.
    #[inline]
    pub(super) fn begin(&mut self, user: u32, exchange: Exchange, now: i64) {
        self.audit.started += 1;
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
        connection
            .response
            .begin(exchange.method_is_head, exchange.keep);
        connection.stage = Stage::Sending;
        match connection.send(&self.out) {
            Ok(true) => self.sent(user, index),
            Ok(false) => self.watch(index, Interest::Both),
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    pub(super) fn begin_fresh(&mut self, user: u32, exchange: &Exchange, now: i64) {
        let connect_by = match exchange.connect_timeout_ns {
            0 => i64::MAX,
            bound => now.saturating_add_unsigned(bound),
        };
        let deadline_ns = connect_by.min(whole_by(exchange, now));
        let seat = &mut self.seats[user as usize];
        seat.reused = false;
        seat.deadline_ns = deadline_ns;
        self.wake_by(user, deadline_ns);
        let index = self.free_connections.pop().unwrap_or_else(|| {
            self.connections.push(Connection::vacant(self.parts.limits));
            (self.connections.len() - 1) as u32
        });
        let connection = &mut self.connections[index as usize];
        (connection.target, connection.user, connection.attempt) = (exchange.target, user, 0);
        connection.peer = None;
        connection.hold(&self.out);
        connection
            .response
            .begin(exchange.method_is_head, exchange.keep);
        self.seats[user as usize].busy = index;
        let Some(target) = self.target(exchange) else {
            return self.fail(user, Failure::new(Phase::Resolve, Kind::UnknownHost), now);
        };
        if target.known_addresses().is_some() {
            return self.call(user, index, &target, now);
        }
        let seat = &mut self.seats[user as usize];
        seat.doing = Doing::Resolving;
        let number = seat.number;
        if !self.resolver.ask(user, number, target) {
            self.fail(user, Failure::new(Phase::Resolve, Kind::Other), now);
        }
    }

    pub(super) fn target(&mut self, exchange: &Exchange) -> Option<Arc<Target>> {
        let place = exchange.target.0 as usize;
        if let Some(Some(known)) = self.targets.get(place) {
            return Some(Arc::clone(known));
        }
        let target = self.parts.targets.get(exchange.target)?;
        if place >= self.targets.len() {
            self.targets.resize(place + 1, None);
        }
        self.targets[place] = Some(Arc::clone(&target));
        Some(target)
    }

    pub(super) fn resolved(&mut self, user: u32, number: u64, found: bool) {
        let Some(seat) = self.seats.get_mut(user as usize) else {
            return;
        };
        if seat.number != number || seat.doing != Doing::Resolving {
            return;
        }
        seat.doing = Doing::Exchanging;
        let (index, exchange) = (seat.busy, seat.exchange);
        let now = now_ns();
        let target = exchange.and_then(|exchange| self.target(&exchange));
        match target {
            Some(target) if found => self.call(user, index, &target, now),
            _ => self.fail(user, Failure::new(Phase::Resolve, Kind::UnknownHost), now),
        }
    }

    /// Calls the next address of a target that has not been tried.
    pub(super) fn call(&mut self, user: u32, index: u32, target: &Target, now: i64) {
        let addresses = target.known_addresses().unwrap_or(&[]);
        let stamps = &mut self.seats[user as usize].stamps;
        if stamps.resolved == 0 {
            stamps.resolved = now;
        }
        let mut failure = Failure::new(Phase::Resolve, Kind::UnknownHost);
        loop {
            let connection = &mut self.connections[index as usize];
            if connection.attempt >= addresses.len() {
                return self.fail(user, failure, now_ns());
            }
            let address = addresses[(target.preferred() + connection.attempt) % addresses.len()];
            let called = connection
                .call(address)
                .map_err(|error| Failure::of(Phase::Connect, &error))
                .and_then(|()| self.set_up(index, target));
            match called {
                Ok(()) => {
                    self.audit.connections += 1;
                    return;
                }
                Err(why) => {
                    self.audit.ports_exhausted += u64::from(why.kind == Kind::PortsExhausted);
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
            let Ok(config) = self.parts.tls.config() else {
                return Err(Failure::new(Phase::Tls, Kind::Tls));
            };
            let secured = connection.secure(config, &target.host);
            secured.map_err(|kind| Failure::new(Phase::Tls, kind))?;
            if let Some(request) = target.tunnel_request() {
                connection.tunnel(request);
            }
        }
        let token = token(index, connection.generation);
        let Some(socket) = connection.socket() else {
            return Err(Failure::new(Phase::Connect, Kind::Other));
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
