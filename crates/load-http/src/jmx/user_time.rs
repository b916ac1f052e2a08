//! Time that the users of an event loop spend in a state, added up over the users.

/// Stays in the state: those that go on, and those that are over; nanoseconds of one clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UserTime {
    users: i128,
    /// Sum of the begins of the stays that go on.
    begins_ns: i128,
    /// Time of those that are over.
    over_ns: i128,
}

impl UserTime {
    /// A user enters the state.
    pub fn begins(&mut self, at_ns: i64) {
        self.users += 1;
        self.begins_ns += i128::from(at_ns);
    }

    /// A user who entered it then leaves it.
    pub fn ends(&mut self, began_ns: i64, at_ns: i64) {
        self.users -= 1;
        self.begins_ns -= i128::from(began_ns);
        self.over_ns += i128::from(at_ns - began_ns);
    }

    /// Time of all users in it until now.
    pub fn until(&self, at_ns: i64) -> i128 {
        self.over_ns + self.users * i128::from(at_ns) - self.begins_ns
    }
}

/// Time of the users of an event loop until some moment, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsersNs {
    /// From their begin to their end.
    pub present: i128,
    /// In pauses of the plan.
    pub paused: i128,
}

impl UsersNs {
    /// Share of the users' time since an earlier moment that they spent in pauses; `None` without a user.
    pub fn pausing_since(&self, before: &Self) -> Option<f64> {
        let (present, paused) = (self.present - before.present, self.paused - before.paused);
        (present > 0).then(|| (paused as f64 / present as f64).clamp(0.0, 1.0))
    }
}

impl std::iter::Sum for UsersNs {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |all, one| Self {
            present: all.present + one.present,
            paused: all.paused + one.paused,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_that_go_on_count_until_now() {
        let mut time = UserTime::default();
        assert_eq!(time.until(7), 0);
        time.begins(10);
        time.begins(20);
        assert_eq!(time.until(30), 20 + 10);
        time.ends(10, 40);
        assert_eq!(time.until(40), 30 + 20);
        time.ends(20, 40);
        assert_eq!(time.until(1_000), 50);
    }

    #[test]
    fn pauses_are_a_share_of_the_time_that_users_are_there() {
        let before = UsersNs {
            present: 100,
            paused: 60,
        };
        let later = UsersNs {
            present: 300,
            paused: 240,
        };
        assert_eq!(later.pausing_since(&before), Some(0.9));
        assert_eq!(before.pausing_since(&before), None);
    }
}
