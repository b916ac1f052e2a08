//! Keeps a member serving for months, although its certificate is good for ninety days.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_net::unless::unless;

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

/// Serves from `begin` on until `stop`, whatever it waits for then. When the certificate was renewed, what
/// serves is ended and begun again as soon as it `is_idle`: never within a run. The member's file is in
/// `config`.
///
/// Errors: the certificate has ended; it cannot be begun.
pub fn stay<S: Send + 'static>(
    stop: &AtomicBool,
    (config, log): (PathBuf, Log),
    mut member: Membership,
    begin: impl Fn(&Membership) -> Result<S, GroupError> + Send + Sync + 'static,
    is_idle: impl Fn(&S) -> bool,
) -> Result<(), GroupError> {
    if member.life().is_over(now_s()) {
        return Err(GroupError::Ended {
            member: member.agent().to_owned(),
            group: member.group().to_owned(),
            role: member.role(),
        });
    }
    let begin = Arc::new(begin);
    let begin = |member: &Membership| {
        let (begin, member) = (Arc::clone(&begin), member.clone());
        unless(stop, move || begin(&member)).transpose()
    };
    let mut upkeep = Upkeep::new(config, log);
    let Some(mut serving) = begin(&member)? else {
        return Ok(());
    };
    let (mut is_renewed, mut looked) = (false, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        if upkeep.is_due(&member, now_s()) {
            let (mut keeper, known) = (upkeep, member.clone());
            let looking = move || (keeper.look(&known, now_s()), keeper);
            let Some((renewed, keeper)) = unless(stop, looking) else {
                return Ok(());
            };
            upkeep = keeper;
            if let Some(renewed) = renewed {
                (member, is_renewed) = (renewed, true);
            }
        }
        if is_renewed && looked.elapsed() >= LOOK_FOR_IDLE {
            looked = Instant::now();
            if is_idle(&serving) {
                drop(serving);
                let Some(again) = begin_again(stop, || begin(&member))? else {
                    return Ok(());
                };
                (serving, is_renewed) = (again, false);
            }
        }
    }
    Ok(())
}

/// The system may hold a port for a moment after it was closed.
fn begin_again<S>(
    stop: &AtomicBool,
    begin: impl Fn() -> Result<Option<S>, GroupError>,
) -> Result<Option<S>, GroupError> {
    let deadline = Instant::now() + REOPEN_BOUND;
    loop {
        match begin() {
            Err(_) if Instant::now() < deadline && !stop.load(Ordering::Relaxed) => {
                thread::sleep(LOOK);
            }
            done => return done,
        }
    }
}
