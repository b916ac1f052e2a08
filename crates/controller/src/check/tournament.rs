//! Plans the rounds in which every host of a group meets every other one, and the time they take.
//!
//! ```text
//! round 1   a–d  b–c        no host waits, and none has two partners at once:
//! round 2   a–c  d–b        a pair measures its own path, with all others in use
//! round 3   a–b  c–d
//! ```
//!
//! The circle method: one host stays, the others move on by one place from round to round.

/// A pair of hosts by their numbers, from 0.
pub type Pair = (u32, u32);

/// Time that a phase takes beside its load on otherwise idle hosts, nanoseconds:
/// preparing, the common start, collecting.
pub const BESIDE_NS: u64 = 600_000_000;
/// Shortest load that gives usable numbers, nanoseconds.
const SHORTEST_NS: u64 = 500_000_000;

/// All rounds among so many hosts: every pair once, in each round every host at most once.
pub fn rounds(hosts: u32) -> Vec<Vec<Pair>> {
    if hosts < 2 {
        return Vec::new();
    }
    // With an odd number of hosts one of them has no partner in each round.
    let seats = hosts + hosts % 2;
    let moving = seats - 1;
    let seat = |round: u32, place: u32| (round + place) % moving;
    let round = |round: u32| -> Vec<Pair> {
        let others = 1..seats / 2;
        let others = others.map(|place| (seat(round, place), seat(round, moving - place)));
        std::iter::once((seat(round, 0), moving))
            .chain(others)
            .filter(|(one, other)| *one < hosts && *other < hosts)
            .collect()
    };
    (0..moving).map(round).collect()
}

/// The time limits of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Phases in each round.
    pub turns: usize,
    /// Phases after all rounds.
    pub last: usize,
    /// Longest load of a phase, nanoseconds.
    pub longest_ns: u64,
    /// Longest time of all of it, nanoseconds.
    pub within_ns: u64,
    /// Time that a phase takes beside its load, nanoseconds.
    pub beside_ns: u64,
}

/// The rounds of a check, and their duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tournament {
    /// Hosts that take part.
    pub hosts: u32,
    /// The rounds that are played: all of them, or as many as there is time for.
    pub rounds: Vec<Vec<Pair>>,
    /// Rounds after which every host has met every other one.
    pub rounds_of_all: usize,
    /// Phases of all rounds together.
    pub phases: usize,
    /// Load of each phase, nanoseconds.
    pub load_ns: u64,
    /// About how long all of it takes, nanoseconds.
    pub takes_ns: u64,
}

impl Tournament {
    /// Among so many hosts.
    ///
    /// Loads become shorter first; when the shortest ones do not fit, rounds are left out evenly. One
    /// round is always played, and the phases behind all rounds.
    pub fn new(hosts: u32, budget: &Budget) -> Self {
        let Budget {
            last,
            longest_ns,
            within_ns,
            beside_ns,
            ..
        } = *budget;
        let all = rounds(hosts);
        let turns = budget.turns.max(1);
        let shortest_ns = SHORTEST_NS.min(longest_ns);
        let least_ns = (shortest_ns + beside_ns).max(1);
        let for_rounds_ns = within_ns.saturating_sub(least_ns * last as u64);
        let affordable = for_rounds_ns / (least_ns * turns as u64);
        let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
        let played = all.len().min(affordable.max(1));
        let phases = (played * turns + last).max(1);
        let load_ns = (within_ns / phases as u64)
            .saturating_sub(beside_ns)
            .clamp(shortest_ns, longest_ns);
        Self {
            hosts,
            rounds_of_all: all.len(),
            rounds: evenly(all, played),
            phases,
            load_ns,
            takes_ns: phases as u64 * (load_ns + beside_ns),
        }
    }

    /// Directed pairs that meet.
    pub fn pairs(&self) -> usize {
        2 * self.rounds.iter().map(Vec::len).sum::<usize>()
    }
}

/// So many of the rounds, at equal distances.
fn evenly(rounds: Vec<Vec<Pair>>, count: usize) -> Vec<Vec<Pair>> {
    let all = rounds.len();
    let mut wanted = (0..count)
        .map(|index| index * all / count.max(1))
        .peekable();
    let numbered = rounds.into_iter().enumerate();
    let kept = numbered.filter(|(number, _)| wanted.next_if_eq(number).is_some());
    kept.map(|(_, round)| round).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn four_hosts_meet_in_three_rounds() {
        let rounds = rounds(4);
        assert_eq!(rounds[0], [(0, 3), (1, 2)]);
        assert_eq!(rounds.len(), 3);
        assert!(super::rounds(1).is_empty());
    }

    /// Loads of up to 4 s in so many seconds.
    fn plan(hosts: u32, turns: usize, last: usize, within_s: u64) -> Tournament {
        let budget = Budget {
            turns,
            last,
            longest_ns: 4 * SECOND_NS,
            within_ns: within_s * SECOND_NS,
            beside_ns: BESIDE_NS,
        };
        Tournament::new(hosts, &budget)
    }

    #[test]
    fn phases_behind_the_rounds_and_slow_hosts_take_their_time() {
        let plan = plan(4, 9, 2, 600);
        assert_eq!((plan.phases, plan.rounds.len()), (29, 3));
        let slow = Budget {
            turns: 9,
            last: 2,
            longest_ns: 4 * SECOND_NS,
            within_ns: 60 * SECOND_NS,
            beside_ns: 3 * SECOND_NS,
        };
        let slow = Tournament::new(4, &slow);
        assert_eq!((slow.phases, slow.rounds.len()), (11, 1));
        assert!(slow.load_ns > 2 * SECOND_NS && slow.takes_ns <= 60 * SECOND_NS);
    }

    #[test]
    fn loads_become_shorter_before_rounds_are_left_out() {
        let roomy = plan(4, 9, 0, 600);
        assert_eq!((roomy.load_ns, roomy.phases), (4 * SECOND_NS, 27));
        assert_eq!((roomy.pairs(), roomy.rounds_of_all), (12, 3));
        let tight = plan(20, 9, 0, 210);
        assert!(tight.load_ns < SECOND_NS && tight.rounds.len() == 19);
        let few = plan(100, 9, 0, 60);
        assert!(few.load_ns < SECOND_NS && few.rounds_of_all == 99);
        assert!(few.rounds.len() < 10 && few.takes_ns <= 60 * SECOND_NS);
        assert_eq!(plan(3, 9, 0, 0).rounds.len(), 1);
    }

    proptest! {
        #[test]
        fn everybody_meets_everybody_once_and_one_at_a_time(hosts in 2u32..40) {
            let rounds = rounds(hosts);
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for (one, other) in round {
                    prop_assert!(busy.insert(*one) && busy.insert(*other));
                    prop_assert!(met.insert((*one.min(other), *one.max(other))));
                }
                prop_assert!(busy.len() as u32 >= hosts - 1);
            }
            prop_assert_eq!(met.len() as u32, hosts * (hosts - 1) / 2);
        }

        #[test]
        fn no_plan_takes_longer_than_allowed(
            hosts in 2u32..200, turns in 1usize..12, last in 0usize..3, within in 30u64..2000,
        ) {
            let plan = plan(hosts, turns, last, within);
            prop_assert!(plan.takes_ns <= within * SECOND_NS);
            prop_assert!(!plan.rounds.is_empty() && plan.rounds.len() <= plan.rounds_of_all);
        }
    }
}
