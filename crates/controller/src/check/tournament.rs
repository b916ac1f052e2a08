//! Who meets whom, so that everybody meets everybody, and how long does that take?
//!
//! ```text
//! round 1   a–d  b–c        nobody waits, and nobody has two partners at once:
//! round 2   a–c  d–b        what a pair measures is its own path, with all others in use
//! round 3   a–b  c–d
//! ```
//!
//! The circle method: one host stays, the others move on by one place from round to round.

/// A pair of hosts by their numbers, from 0.
pub type Pair = (u32, u32);

/// Time that a phase takes beside its load, nanoseconds: preparing, the common start, collecting.
const BESIDE_NS: u64 = 600_000_000;
/// Shortest load that tells something, nanoseconds.
const SHORTEST_NS: u64 = 500_000_000;

/// All rounds among so many hosts: every pair once, in each round every host at most once.
pub fn rounds(hosts: u32) -> Vec<Vec<Pair>> {
    if hosts < 2 {
        return Vec::new();
    }
    // With an odd number of hosts one of them meets nobody in each round.
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

/// Which rounds are played, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tournament {
    /// Hosts that take part.
    pub hosts: u32,
    /// The rounds that are played: all of them, or as many as there is time for.
    pub rounds: Vec<Vec<Pair>>,
    /// Rounds after which everybody has met everybody.
    pub rounds_of_all: usize,
    /// Phases of all rounds together.
    pub phases: usize,
    /// Load of each phase, nanoseconds.
    pub load_ns: u64,
    /// About how long all of it takes, nanoseconds.
    pub takes_ns: u64,
}

impl Tournament {
    /// Among so many hosts, `turns` phases in each round, loads of at most `longest_ns`, all of it
    /// `within_ns`.
    ///
    /// Loads become shorter first; when the shortest ones do not fit, rounds are left out evenly. One
    /// round is always played.
    pub fn new(hosts: u32, turns: usize, longest_ns: u64, within_ns: u64) -> Self {
        let all = rounds(hosts);
        let turns = turns.max(1);
        let each = |rounds: usize| within_ns / (rounds.max(1) * turns) as u64;
        let shortest_ns = SHORTEST_NS.min(longest_ns);
        let least_ns = (shortest_ns + BESIDE_NS) * turns as u64;
        let affordable = usize::try_from(within_ns / least_ns).unwrap_or(usize::MAX);
        let played = all.len().min(affordable.max(1));
        let load_ns = each(played)
            .saturating_sub(BESIDE_NS)
            .clamp(shortest_ns, longest_ns);
        let phases = played * turns;
        Self {
            hosts,
            rounds_of_all: all.len(),
            rounds: evenly(all, played),
            phases,
            load_ns,
            takes_ns: phases as u64 * (load_ns + BESIDE_NS),
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

    #[test]
    fn loads_become_shorter_before_rounds_are_left_out() {
        let roomy = Tournament::new(4, 9, 4 * SECOND_NS, 600 * SECOND_NS);
        assert_eq!((roomy.load_ns, roomy.phases), (4 * SECOND_NS, 27));
        assert_eq!((roomy.pairs(), roomy.rounds_of_all), (12, 3));
        let tight = Tournament::new(20, 9, 4 * SECOND_NS, 210 * SECOND_NS);
        assert!(tight.load_ns < SECOND_NS && tight.rounds.len() == 19);
        let few = Tournament::new(100, 9, 4 * SECOND_NS, 60 * SECOND_NS);
        assert!(few.load_ns < SECOND_NS && few.rounds_of_all == 99);
        assert!(few.rounds.len() < 10 && few.takes_ns <= 60 * SECOND_NS);
        assert_eq!(Tournament::new(3, 9, SECOND_NS, 0).rounds.len(), 1);
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
        fn no_plan_takes_longer_than_allowed(hosts in 2u32..200, turns in 1usize..12, within in 30u64..2000) {
            let plan = Tournament::new(hosts, turns, 4 * SECOND_NS, within * SECOND_NS);
            prop_assert!(plan.takes_ns <= within * SECOND_NS);
            prop_assert!(!plan.rounds.is_empty() && plan.rounds.len() <= plan.rounds_of_all);
        }
    }
}
