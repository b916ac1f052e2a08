//! Changes that can be made to load while it runs.

use serde::{Deserialize, Serialize};

/// A change of the load; what is `None` stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Users, or connections of a closed loop, of all generators together.
    pub users: Option<u64>,
    /// Requests per second of an open loop, of all generators together.
    pub rate_per_s: Option<f64>,
}

impl Change {
    /// Most users that may be asked for.
    pub const MOST_USERS: u64 = 10_000_000;
    /// Highest rate that may be asked for.
    pub const MOST_PER_S: f64 = 1e7;

    /// True when it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.users.is_none() && self.rate_per_s.is_none()
    }

    /// True when every number of it is valid.
    pub fn is_sound(&self) -> bool {
        let rate = |rate: f64| rate.is_finite() && rate > 0.0 && rate <= Self::MOST_PER_S;
        self.users.is_none_or(|users| users <= Self::MOST_USERS) && self.rate_per_s.is_none_or(rate)
    }

    /// This change, overridden by the values of a later one.
    pub fn then(self, later: Self) -> Self {
        Self {
            users: later.users.or(self.users),
            rate_per_s: later.rate_per_s.or(self.rate_per_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_change_wins_where_it_says_something() {
        let users = |users| Change {
            users: Some(users),
            rate_per_s: None,
        };
        let rate = Change {
            users: None,
            rate_per_s: Some(5.0),
        };
        let both = users(3).then(rate).then(users(4));
        assert_eq!((both.users, both.rate_per_s), (Some(4), Some(5.0)));
    }

    #[test]
    fn what_cannot_be_meant_is_seen() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            let change = Change {
                rate_per_s: Some(rate),
                ..Change::default()
            };
            assert!(!change.is_sound(), "{rate}");
        }
        assert!(Change::default().is_sound() && Change::default().is_empty());
    }
}
