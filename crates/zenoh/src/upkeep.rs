//! Renews the certificate of a long-running member.
//!
//! The member renews it itself. When less than a third of its certificate's life is left it asks the
//! door through which it joined for another one, proving that it holds the key of its name, and repeats
//! that every hour while the door does not answer. Its owner is warned before the certificate expires.

use std::path::PathBuf;

use sokudo_model::Text;

use crate::agent::Log;
use crate::enrol;
use crate::error::GroupError;
use crate::membership::Membership;

/// Time between two tries, seconds.
const AGAIN_S: u64 = 3600;
/// Time between two warnings, seconds.
const TOLD_AGAIN_S: u64 = 24 * 3600;

/// Looks after the certificate of one member; time is an argument.
pub struct Upkeep {
    config: PathBuf,
    log: Log,
    next_try_s: u64,
    next_word_s: u64,
}

impl Upkeep {
    /// Of a member whose file is in `config`.
    pub fn new(config: PathBuf, log: Log) -> Self {
        Self {
            config,
            log,
            next_try_s: 0,
            next_word_s: 0,
        }
    }

    /// Whether it is time to ask for another certificate.
    pub fn is_due(&self, member: &Membership, now_s: u64) -> bool {
        member.life().is_due(now_s) && now_s >= self.next_try_s
    }

    /// The member with another certificate, kept in its file, when it was time for one and there was
    /// one. Waits for the door then, some seconds at most; otherwise returns at once.
    pub fn look(&mut self, member: &Membership, now_s: u64) -> Option<Membership> {
        if !self.is_due(member, now_s) {
            return None;
        }
        self.next_try_s = now_s.saturating_add(AGAIN_S);
        let kept = |renewed: Membership| renewed.save(&self.config).map(|()| renewed);
        match enrol::renew(member).and_then(kept) {
            Ok(renewed) => {
                let days = renewed.life().days_left(now_s);
                (self.log)(&Text::new("log-renewed").with("days", days));
                Some(renewed)
            }
            Err(why) => {
                self.warn(member, &why, now_s);
                None
            }
        }
    }

    fn warn(&mut self, member: &Membership, why: &GroupError, now_s: u64) {
        let life = member.life();
        if !life.is_near_its_end(now_s) || now_s < self.next_word_s {
            return;
        }
        self.next_word_s = now_s.saturating_add(TOLD_AGAIN_S);
        let line = match life.is_over(now_s) {
            true => Text::new("log-unrenewed-ended"),
            false => Text::new("log-unrenewed").with("days", life.days_left(now_s)),
        };
        (self.log)(&line.text("why", why.text()));
        (self.log)(&enrol::rejoin(member.group(), member.role()));
    }
}
