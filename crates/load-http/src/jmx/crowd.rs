//! The number of users of a running test, and its change from outside.
//!
//! Each group's users are a window over numbers that are given once: fewer users move its lower end
//! up, so that the oldest leave, more users move its upper end. No number is used twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sokudo_http::Entry;
use sokudo_jmeter::plan::{Load, Plan, Stage};
use sokudo_jmeter::run::{GeneratorShare, ThreadStart};
use sokudo_model::{Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_workload::refusal::operator;

use super::client::{Comer, Joining};

/// Users below these numbers leave, by group. The event loops look at it before each step.
#[derive(Debug, Default)]
pub(super) struct Floors(Vec<AtomicU64>);

impl Floors {
    /// No user leaves.
    pub fn new(groups: usize) -> Self {
        Self((0..groups).map(|_| AtomicU64::new(0)).collect())
    }

    /// True when the user of this number, from 1, is to leave.
    #[inline]
    pub fn sends_home(&self, group: usize, number: u64) -> bool {
        let floor = self.0.get(group);
        floor.is_some_and(|floor| number < floor.load(Ordering::Relaxed))
    }

    fn set(&self, group: usize, number: u64) {
        if let Some(floor) = self.0.get(group) {
            floor.store(number, Ordering::Relaxed);
        }
    }
}

/// The users of the main groups that run.
pub(super) struct Crowd {
    entry: Entry<Comer>,
    stage_ns: i64,
    /// Division of the numbers of users among generators.
    numbers: GeneratorShare,
    groups: Vec<Members>,
    floors: Arc<Floors>,
    /// The ramp of the plan is over: others decide now.
    pub is_steered: bool,
}

/// The users of one group.
struct Members {
    group: usize,
    /// Users of the plan, all generators together.
    planned: u64,
    /// From the first to before the last of those that are to be there, of this generator.
    first: u64,
    last: u64,
    ends_ns: Option<i64>,
}

impl Crowd {
    /// A crowd before the first user; `None` when no group has a number of users.
    pub fn new(
        plan: &Plan,
        (entry, stage_ns): (Entry<Comer>, i64),
        numbers: GeneratorShare,
        floors: Arc<Floors>,
    ) -> Option<Self> {
        let groups = plan.groups.iter().enumerate();
        let groups = groups.filter_map(|(group, of)| match of.load {
            Load::Users { users, .. } | Load::Concurrency { users, .. }
                if of.stage == Stage::Main =>
            {
                let end_ms = of.load.end_ms();
                Some(Members {
                    group,
                    planned: users,
                    first: 0,
                    last: 0,
                    ends_ns: end_ms.and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1_000_000)),
                })
            }
            _ => None,
        });
        let groups: Vec<Members> = groups.collect();
        (!groups.is_empty()).then_some(Self {
            entry,
            stage_ns,
            numbers,
            groups,
            floors,
            is_steered: false,
        })
    }

    /// A user of the plan has come.
    pub fn came(&mut self, group: usize) {
        if let Some(members) = self.groups.iter_mut().find(|one| one.group == group) {
            members.last += 1;
        }
    }

    /// Sets the number of users from now on, over all groups and generators, of which `part` are
    /// here. Groups keep their shares of the whole.
    ///
    /// Errors: no group would have a user.
    pub fn set_users(&mut self, users: u64, part: GeneratorShare) -> Result<(), Refusal> {
        if users == 0 {
            return Err(operator(
                Text::new("error-jmx-no-users"),
                Text::new("error-jmx-no-users-hint"),
            ));
        }
        self.is_steered = true;
        let planned: Vec<u64> = self.groups.iter().map(|group| group.planned).collect();
        let wanted = divide(users, &planned);
        for (members, wanted) in self.groups.iter_mut().zip(wanted) {
            let own = part.share(wanted);
            members.first = members.first.max(members.last.saturating_sub(own));
            // Users are numbered from 1.
            let floor = self.numbers.nth(members.first) + 1;
            self.floors.set(members.group, floor);
            let now = now_ns();
            while members.last < members.first + own {
                let start = ThreadStart {
                    at_ns: now - self.stage_ns,
                    group: members.group,
                    number: self.numbers.nth(members.last) + 1,
                    ends_ns: members.ends_ns,
                    is_arrival: false,
                };
                let stage_ns = self.stage_ns;
                let joining = Joining { start, stage_ns };
                self.entry.add(now, Comer::User(joining));
                members.last += 1;
            }
        }
        Ok(())
    }
}

/// A whole number in proportion to others; what does not divide goes to the first.
fn divide(whole: u64, planned: &[u64]) -> Vec<u64> {
    let all: u128 = planned.iter().map(|one| u128::from(*one)).sum();
    if all == 0 {
        return vec![0; planned.len()];
    }
    let share = |one: &u64| u128::from(whole) * u128::from(*one) / all;
    let mut shares: Vec<u64> = planned
        .iter()
        .map(|one| u64::try_from(share(one)).unwrap_or(u64::MAX))
        .collect();
    let given: u64 = shares.iter().sum();
    let left = usize::try_from(whole.saturating_sub(given)).unwrap_or(0);
    let takers = shares.iter_mut().zip(planned);
    let takers = takers.filter(|(_, planned)| **planned > 0);
    takers.take(left).for_each(|(share, _)| *share += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_their_shares() {
        assert_eq!(divide(40, &[10, 30]), [10, 30]);
        assert_eq!(divide(20, &[10, 30]), [5, 15]);
        assert_eq!(divide(3, &[10, 30]), [1, 2]);
        assert_eq!(divide(2, &[1, 0, 1, 1]), [1, 0, 1, 0]);
        assert_eq!(divide(7, &[0]), [0]);
    }

    #[test]
    fn who_is_below_the_floor_leaves() {
        let floors = Floors::new(2);
        assert!(!floors.sends_home(0, 1) && !floors.sends_home(9, 1));
        floors.set(1, 3);
        assert!(floors.sends_home(1, 2) && !floors.sends_home(1, 3) && !floors.sends_home(0, 2));
    }
}
