//! Start times of the users of a group during a ramp.
//!
//! ```text
//! users  0   1   2   3   4          five users, ramp 10 s
//! start  0   2   4   6   8  s       the ramp is the time until all have started
//! ```

/// Start of user `number` (from 0) of `users`, in milliseconds after the group's start.
///
/// The first starts at once, the last one step before the ramp's end. 0 when there are no users.
pub fn start_ms(number: u64, users: u64, ramp_ms: u64) -> u64 {
    if users == 0 {
        return 0;
    }
    let start = u128::from(number) * u128::from(ramp_ms) / u128::from(users);
    u64::try_from(start).unwrap_or(u64::MAX)
}

/// Start of user `number` (from 0) of `users` when they come in `steps` equal groups over the
/// ramp, in milliseconds. The first group starts at once; without steps this is [`start_ms`].
pub fn stepped_start_ms(number: u64, users: u64, ramp_ms: u64, steps: u64) -> u64 {
    if steps == 0 || users == 0 {
        return start_ms(number, users, ramp_ms);
    }
    let step = u128::from(number) * u128::from(steps) / u128::from(users);
    start_ms(u64::try_from(step).unwrap_or(u64::MAX), steps, ramp_ms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ramp_is_a_total() {
        let starts: Vec<_> = (0..5).map(|i| start_ms(i, 5, 10_000)).collect();
        assert_eq!(starts, [0, 2000, 4000, 6000, 8000]);
        assert_eq!(start_ms(2_999, 3_000, 1_000), 999);
        assert_eq!(start_ms(7, 0, 1_000), 0);
    }

    #[test]
    fn steps_start_users_together() {
        let starts: Vec<_> = (0..6).map(|i| stepped_start_ms(i, 6, 9_000, 3)).collect();
        assert_eq!(starts, [0, 0, 3000, 3000, 6000, 6000]);
    }

    proptest! {
        #[test]
        fn starts_never_go_back_and_stay_within_the_ramp(users in 1u64..5_000, ramp in 0u64..10_000_000, number in 0u64..5_000, steps in 0u64..50) {
            let number = number % users;
            prop_assert!(start_ms(number, users, ramp) <= ramp);
            prop_assert!(stepped_start_ms(number, users, ramp, steps) <= ramp);
            if number > 0 {
                prop_assert!(start_ms(number - 1, users, ramp) <= start_ms(number, users, ramp));
            }
        }
    }
}
