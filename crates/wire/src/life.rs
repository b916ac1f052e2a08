//! Validity of a member's certificate, and when it is due for renewal.
//!
//! ```text
//! made                                       due              warned about      end
//! ├──────────────────────────────────────────┼───────────────────┼───────────────┤
//!        two thirds of its life                   one third: renewed at the door
//! ```

use serde::{Deserialize, Serialize};

const DAY_S: u64 = 24 * 3600;
/// An expiry that is nearer than this is reported to the owner.
const WARNING_S: u64 = 14 * DAY_S;

/// From when to when a certificate is good, seconds of Unix time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// Start of the validity.
    pub from_unix_s: u64,
    /// End of the validity.
    pub until_unix_s: u64,
}

impl Life {
    /// A validity from `now_unix_s` for this many seconds.
    pub fn new(now_unix_s: u64, seconds: u64) -> Self {
        Self {
            from_unix_s: now_unix_s,
            until_unix_s: now_unix_s.saturating_add(seconds),
        }
    }

    /// Seconds until its end; zero afterwards.
    pub fn left_s(&self, now_unix_s: u64) -> u64 {
        self.until_unix_s.saturating_sub(now_unix_s)
    }

    /// Full days until its end.
    pub fn days_left(&self, now_unix_s: u64) -> u64 {
        self.left_s(now_unix_s) / DAY_S
    }

    /// Whether it is good no longer.
    pub fn is_over(&self, now_unix_s: u64) -> bool {
        self.left_s(now_unix_s) == 0
    }

    /// Whether another one is wanted: less than a third of it is left.
    pub fn is_due(&self, now_unix_s: u64) -> bool {
        let whole = self.until_unix_s.saturating_sub(self.from_unix_s);
        self.left_s(now_unix_s) < whole / 3
    }

    /// Whether the owner is to be warned of the expiry: a renewal was due long ago and has not
    /// succeeded.
    pub fn is_near_its_end(&self, now_unix_s: u64) -> bool {
        self.left_s(now_unix_s) < WARNING_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = DAY_S;

    #[test]
    fn a_life_has_its_days() {
        let life = Life::new(1000 * DAY, 90 * DAY);
        let at = |day: u64| {
            let now = (1000 + day) * DAY;
            let due = life.is_due(now);
            (
                life.days_left(now),
                due,
                life.is_near_its_end(now),
                life.is_over(now),
            )
        };
        assert_eq!(at(0), (90, false, false, false));
        assert_eq!(at(60), (30, false, false, false));
        assert_eq!(at(61), (29, true, false, false));
        assert_eq!(at(77), (13, true, true, false));
        assert_eq!(at(90), (0, true, true, true));
        assert_eq!(at(200), (0, true, true, true));
    }

    /// A file that was changed by hand must not cause a panic.
    #[test]
    fn a_life_that_ends_before_it_begins_is_over() {
        let life = Life {
            from_unix_s: 10,
            until_unix_s: 5,
        };
        assert!(life.is_over(10) && !life.is_due(u64::MAX));
        assert!(!Life::new(u64::MAX, u64::MAX).is_due(0));
    }
}
