//! Stage and deadline of an exchange.

use crate::connection::{Connection, Stage};
use crate::failure::Phase;
use crate::user::Exchange;

/// At which stage the connection's exchange is.
pub(super) fn phase_of(connection: &Connection) -> Phase {
    match connection.stage {
        Stage::Vacant => Phase::Resolve,
        Stage::Connecting | Stage::Tunnelling => Phase::Connect,
        Stage::Securing => Phase::Tls,
        Stage::Sending => Phase::Send,
        Stage::Receiving | Stage::Idle => match connection.response.is_untouched() {
            true => Phase::Wait,
            false => Phase::Read,
        },
        Stage::Shared => {
            let shared = connection.shared.as_ref();
            shared.map_or(Phase::Connect, |shared| shared.step.phase())
        }
    }
}

/// The exchange as a whole must be over by then.
#[inline]
pub(super) fn whole_by(exchange: &Exchange, start_ns: i64) -> i64 {
    match exchange.whole_timeout_ns {
        0 => i64::MAX,
        bound => start_ns.saturating_add_unsigned(bound),
    }
}

/// Deadline for further bytes from the server, which has been silent since `now`.
#[inline]
pub(super) fn answer_by(exchange: &Exchange, start_ns: i64, now: i64) -> i64 {
    let answer = match exchange.response_timeout_ns {
        0 => i64::MAX,
        bound => now.saturating_add_unsigned(bound),
    };
    answer.min(whole_by(exchange, start_ns))
}

/// The connection must be there by then.
#[inline]
pub(super) fn connect_by(exchange: &Exchange, now: i64) -> i64 {
    let connect_by = match exchange.connect_timeout_ns {
        0 => i64::MAX,
        bound => now.saturating_add_unsigned(bound),
    };
    connect_by.min(whole_by(exchange, now))
}
