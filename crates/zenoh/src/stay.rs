//! Keeps a member serving for months, although its certificate is good for ninety days.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::agent::Log;
use crate::error::GroupError;
use crate::membership::Membership;
use crate::tokens::now_s;
use crate::upkeep::Upkeep;

/// Time between two looks at what there is to do.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks at whether a renewed certificate may be shown.
const LOOK_FOR_IDLE: Duration = Duration::from_secs(1);
/// Longest time that a closed socket may hold its port.
const REOPEN_BOUND: Duration = Duration::from_secs(10);

/// Serves from `begin` on until `stop`. When the certificate was renewed, what serves is ended and begun
/// again as soon as it `is_idle`: never within a run. The member's file is in `config`.
///
/// Errors: the certificate has ended; it cannot be begun.
pub fn stay<S>(
    stop: &AtomicBool,
    (config, log): (PathBuf, Log),
    mut member: Membership,
    begin: impl Fn(&Membership) -> Result<S, GroupError>,
    is_idle: impl Fn(&S) -> bool,
) -> Result<(), GroupError> {
    if member.life().is_over(now_s()) {
        return Err(GroupError::Ended {
            member: member.agent().to_owned(),
            group: member.group().to_owned(),
            role: member.role(),
        });
    }
    let mut upkeep = Upkeep::new(config, log);
    let mut serving = begin(&member)?;
    let (mut is_renewed, mut looked) = (false, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
        if let Some(renewed) = upkeep.look(&member, now_s()) {
            (member, is_renewed) = (renewed, true);
        }
        if is_renewed && looked.elapsed() >= LOOK_FOR_IDLE {
            looked = Instant::now();
            if is_idle(&serving) {
                drop(serving);
                serving = begin_again(stop, || begin(&member))?;
                is_renewed = false;
            }
        }
    }
    Ok(())
}

/// The system may hold a port for a moment after it was closed.
fn begin_again<S>(
    stop: &AtomicBool,
    begin: impl Fn() -> Result<S, GroupError>,
) -> Result<S, GroupError> {
    let deadline = Instant::now() + REOPEN_BOUND;
    loop {
        match begin() {
            Err(_) if Instant::now() < deadline && !stop.load(Ordering::Relaxed) => {
                std::thread::sleep(LOOK);
            }
            done => return done,
        }
    }
}
