//! Users that start and end in steps.

use serde::Serialize;

/// The table of a stepping thread group. All times are milliseconds after the start of the group.
///
/// ```text
/// users            ┌──────── hold ────────┐
///              ┌ ─ ┘                      └─ ─ ┐ end_at_once
///   at_once ┌──┘ start_at_once               └─ ─ ─
///     delay │ramp│period│ramp│period│ramp│ramp│hold│end_period
/// ```
///
/// The ramp of the last step counts twice before the hold time, and the first step ends after its
/// period: the plug-in does so. Source: measured with jmeter-plugins-casutg 2.10.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SteppedUsers {
    /// Number of users.
    pub users: u64,
    /// Delay before the first user.
    pub delay_ms: u64,
    /// Users of the first step; 0: as many as of the others.
    pub at_once: u64,
    /// Users of each other step; 0: all.
    pub start_at_once: u64,
    /// Time from the last start of a step to the next step.
    pub start_period_ms: u64,
    /// Time in which the users of a step start.
    pub ramp_ms: u64,
    /// Hold time of all users.
    pub hold_ms: u64,
    /// Users that end at once; 0: all.
    pub end_at_once: u64,
    /// Time between two ends.
    pub end_period_ms: u64,
}

impl SteppedUsers {
    /// Start of user `number` (from 0); `None`: there is no such user.
    pub fn start_ms(&self, number: u64) -> Option<u64> {
        if number >= self.users {
            return None;
        }
        let (first, each) = (self.first_step(), self.each_step());
        let (step, of_step, position) = match number.checked_sub(first) {
            None => (0, first, number),
            Some(behind) => (1 + behind / each, each, behind % each),
        };
        Some(self.delay_ms + step * self.step_ms() + position * (self.ramp_ms / of_step))
    }

    /// End of user `number` (from 0).
    pub fn user_end_ms(&self, number: u64) -> u64 {
        let (first, each) = (self.first_step(), self.each_step());
        let behind = self.users.saturating_sub(first);
        let steps = behind.div_ceil(each);
        let last = match behind % each {
            0 => each,
            part => part,
        };
        let all_started = self.delay_ms + steps * self.step_ms() + self.ramp_ms / each * last;
        let group = number / or_all(self.end_at_once, self.users);
        all_started + self.hold_ms + group * self.end_period_ms
    }

    fn step_ms(&self) -> u64 {
        self.start_period_ms + self.ramp_ms
    }

    /// Users of the first step.
    fn first_step(&self) -> u64 {
        match self.at_once.min(self.users) {
            0 => self.each_step(),
            some => some,
        }
    }

    /// Users of each other step.
    fn each_step(&self) -> u64 {
        or_all(self.start_at_once, self.users)
    }
}

/// The count, or all if it is 0; never 0.
fn or_all(count: u64, all: u64) -> u64 {
    match count {
        0 => all.max(1),
        some => some,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_begin_and_end_where_the_table_says() {
        let steps = SteppedUsers {
            users: 5,
            delay_ms: 1_000,
            at_once: 1,
            start_at_once: 2,
            start_period_ms: 10_000,
            ramp_ms: 4_000,
            hold_ms: 60_000,
            end_at_once: 3,
            end_period_ms: 5_000,
        };
        let starts: Vec<_> = (0..6).map(|number| steps.start_ms(number)).collect();
        let expected = [1_000, 15_000, 17_000, 29_000, 31_000].map(Some);
        assert_eq!(starts[..5], expected);
        assert_eq!(starts[5], None);
        // Two steps of 14 s behind the first, the ramp of the last one, and the hold time.
        let all = 1_000 + 2 * 14_000 + 4_000 + 60_000;
        let ends: Vec<_> = (0..5).map(|number| steps.user_end_ms(number)).collect();
        assert_eq!(ends, [all, all, all, all + 5_000, all + 5_000]);
    }

    proptest! {
        #[test]
        fn users_start_in_order_and_end_after_they_started(
            (users, at_once, start_at_once, end_at_once) in (1u64..200, 0u64..300, 0u64..50, 0u64..50),
            (delay_ms, start_period_ms, ramp_ms) in (0u64..9_000, 0u64..9_000, 0u64..9_000),
            (hold_ms, end_period_ms) in (0u64..9_000, 0u64..9_000),
        ) {
            let steps = SteppedUsers {
                users, delay_ms, at_once, start_at_once, start_period_ms, ramp_ms, hold_ms,
                end_at_once, end_period_ms,
            };
            let mut before = (delay_ms, 0);
            for number in 0..users {
                let start = steps.start_ms(number).expect("one of the users");
                let end = steps.user_end_ms(number);
                prop_assert!(start >= before.0 && end >= before.1, "{number}: {start} {end}");
                before = (start, end);
            }
            prop_assert_eq!(steps.start_ms(users), None);
        }
    }
}
