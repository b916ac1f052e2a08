//! Renewal of a member's certificate, which is valid for ninety days.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sokudo_zenoh::enrol::rejoin_hint;
use sokudo_zenoh::upkeep::Upkeep;
use sokudo_zenoh::{GroupError, Membership};

use super::super::{Failure, config};
use super::log;

/// Time between two looks at what there is to do.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks at whether a renewed certificate may be shown.
const LOOK_FOR_IDLE: Duration = Duration::from_secs(1);
/// How long what was just closed may hold its port.
const REOPEN_BOUND: Duration = Duration::from_secs(10);

/// Seconds of Unix time, as certificates count.
pub(super) fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Serves from `begin` on until `stop`. When the certificate was renewed, what serves is ended and begun
/// again as soon as it `is_idle`: never within a run.
///
/// Errors: the certificate has ended; it cannot be begun.
pub(super) fn stay<S>(
    stop: &AtomicBool,
    mut member: Membership,
    begin: impl Fn(&Membership) -> Result<S, GroupError>,
    is_idle: impl Fn(&S) -> bool,
) -> Result<(), Failure> {
    if member.life().is_over(now_s()) {
        return Err(ended(&member));
    }
    let mut upkeep = Upkeep::new(config(), log());
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

fn ended(member: &Membership) -> Failure {
    let says = format!(
        "the certificate of {} in the group {} has ended",
        member.agent(),
        member.group()
    );
    Failure::operator(says, rejoin_hint(member.group(), member.role()))
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
