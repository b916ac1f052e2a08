//! Chooses the numbers of users that show a knee, within a number of levels.
//!
//! A strategy without I/O, as [`crate::search`]:
//!
//! ```text
//! ramp     low, 2·low, 4·low, … until twice the users bring less than a tenth more, and one beyond;
//!          where demands decide, until they are broken
//! refine   the levels around the knee that the bounds name; where demands decide, between the highest
//!          level that kept them and the one above
//! descend  every level once more, from the highest down: what a system forgot shows here
//! confirm  the lowest level, those around the knee and the highest a third time
//! ```

use super::estimate::knee_by_bounds;
use super::{Level, Visit};

/// Settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KneeSearchConfig {
    /// Fewest users.
    pub low: u32,
    /// Most users.
    pub high: u32,
    /// Different numbers of users at most.
    pub max_levels: usize,
    /// Condition that ends the ramp.
    pub until: Until,
}

/// Condition that ends the ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// More users bring no more throughput.
    Saturated,
    /// The demands are broken.
    Broken,
}

/// Purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The first run of a level, on the way up.
    Ramp,
    /// A level between two of the ramp, near the knee.
    Refine,
    /// Every level on the way down.
    Descend,
    /// A third run of the levels that the answer rests on.
    Confirm,
}

/// More throughput than this share, for twice as many users, is a rise.
const RISES: f64 = 0.1;
/// Levels closer than this share count as equal.
const RESOLUTION: f64 = 0.1;
/// Levels around the knee, of the knee that the bounds name.
const AROUND: [f64; 3] = [1.0, 0.75, 1.33];

/// The search: ask [`next_run`](Self::next_run), run it, [`report`](Self::report), repeat.
#[derive(Debug, Clone)]
pub struct KneeSearch {
    config: KneeSearchConfig,
    levels: Vec<Level>,
    /// Runs that are settled already, the next one last.
    queue: Vec<(u32, Pass)>,
    pass: Pass,
    is_over: bool,
}

impl KneeSearch {
    /// Prepares a search. `high` is at least `low`, both at least 1; at least 4 levels.
    pub fn new(config: KneeSearchConfig) -> Self {
        let low = config.low.max(1);
        let config = KneeSearchConfig {
            low,
            high: config.high.max(low),
            max_levels: config.max_levels.max(4),
            until: config.until,
        };
        Self {
            queue: vec![(config.low, Pass::Ramp)],
            config,
            levels: Vec::new(),
            pass: Pass::Ramp,
            is_over: false,
        }
    }

    /// The next run; `None` when the search is over.
    pub fn next_run(&mut self) -> Option<(u32, Pass)> {
        if self.queue.is_empty() && !self.is_over {
            self.advance();
        }
        self.queue.last().copied()
    }

    /// Takes what came of the run that was asked for last; `None` when it gave no numbers: the level
    /// is left out, and nothing above it is tried.
    pub fn report(&mut self, visit: Option<Visit>) {
        let Some((users, pass)) = self.queue.pop() else {
            return;
        };
        match visit {
            Some(visit) => self.keep(f64::from(users), visit),
            None if pass == Pass::Ramp => self.config.high = self.highest().max(self.config.low),
            None => {}
        }
    }

    /// The levels that were run, by rising users.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn keep(&mut self, users: f64, visit: Visit) {
        match self.levels.iter_mut().find(|level| level.users == users) {
            Some(level) => level.visits.push(visit),
            None => {
                self.levels.push(Level {
                    users,
                    visits: vec![visit],
                });
                self.levels.sort_by(|a, b| a.users.total_cmp(&b.users));
            }
        }
    }

    fn highest(&self) -> u32 {
        self.levels.last().map_or(0, |level| level.users as u32)
    }

    /// Settles what comes next; nothing when the search is over.
    fn advance(&mut self) {
        while self.queue.is_empty() {
            let settled = match self.pass {
                Pass::Ramp => self.ramp().map(|users| vec![users]),
                Pass::Refine => self.refine().map(|users| vec![users]),
                Pass::Descend => None,
                Pass::Confirm => {
                    self.is_over = true;
                    return;
                }
            };
            if let Some(settled) = settled {
                self.queue = settled
                    .into_iter()
                    .map(|users| (users, self.pass))
                    .collect();
                return;
            }
            self.pass = match self.pass {
                Pass::Ramp => Pass::Refine,
                Pass::Refine => {
                    // Taken from the end: the highest first.
                    let all = self.levels.iter();
                    self.queue = all.map(|l| (l.users as u32, Pass::Descend)).collect();
                    Pass::Descend
                }
                Pass::Descend | Pass::Confirm => {
                    let all = self.decisive();
                    self.queue = all
                        .into_iter()
                        .map(|users| (users, Pass::Confirm))
                        .collect();
                    self.queue.reverse();
                    Pass::Confirm
                }
            };
        }
    }

    /// The next level of the ramp; `None` when it is over.
    fn ramp(&self) -> Option<u32> {
        let [.., before, last] = &self.levels[..] else {
            let only = self.levels.last()?.users as u32;
            return self.up(only);
        };
        let room = self.levels.len() + AROUND.len() < self.config.max_levels;
        let is_over = match self.config.until {
            Until::Saturated => self.is_saturated(before, last),
            Until::Broken => !last.held(),
        };
        match is_over || !room {
            true => None,
            false => self.up(last.users as u32),
        }
    }

    /// Whether the last two doublings, of which these levels are the ends of the last, brought
    /// little.
    fn is_saturated(&self, before: &Level, last: &Level) -> bool {
        let earlier = self.levels.len().checked_sub(3).map(|at| &self.levels[at]);
        let is_flat = |a: &Level, b: &Level| b.per_second() < a.per_second() * (1.0 + RISES);
        let seen_twice = earlier.is_some_and(|earlier| is_flat(earlier, before));
        is_flat(before, last) && seen_twice
    }

    fn up(&self, from: u32) -> Option<u32> {
        let next = from.saturating_mul(2).min(self.config.high);
        (next > from).then_some(next)
    }

    /// The next level near the knee; `None` when all are there.
    fn refine(&self) -> Option<u32> {
        if self.levels.len() >= self.config.max_levels {
            return None;
        }
        if self.config.until == Until::Broken {
            return self.between_held_and_broken();
        }
        let knee = knee_by_bounds(&self.levels)?;
        let range = f64::from(self.config.low)..=f64::from(self.config.high);
        let wanted = AROUND.map(|share| (knee * share).round());
        let is_near = |users: f64| {
            let near = |level: &Level| (level.users - users).abs() <= users * RESOLUTION;
            self.levels.iter().any(near)
        };
        let new = wanted
            .into_iter()
            .find(|users| range.contains(users) && !is_near(*users));
        new.map(|users| users as u32)
    }

    /// The middle between the highest level that kept the demands and the one above, as a ratio.
    fn between_held_and_broken(&self) -> Option<u32> {
        let broke = self.levels.iter().position(|level| !level.held())?;
        let (held, broke) = (self.levels.get(broke.checked_sub(1)?)?, &self.levels[broke]);
        let middle = (held.users * broke.users).sqrt().round();
        let is_new = middle > held.users && middle < broke.users;
        let is_apart = broke.users > held.users * (1.0 + RESOLUTION);
        (is_new && is_apart).then_some(middle as u32)
    }

    /// Users at which the answer lies.
    fn knee(&self) -> f64 {
        match self.config.until {
            Until::Saturated => knee_by_bounds(&self.levels).unwrap_or(0.0),
            Until::Broken => {
                let broke = self.levels.iter().find(|level| !level.held());
                broke.map_or(0.0, |level| level.users)
            }
        }
    }

    /// The lowest level, those on both sides of the knee, and the highest.
    fn decisive(&self) -> Vec<u32> {
        let knee = self.knee();
        let at = self.levels.partition_point(|level| level.users < knee);
        let last = self.levels.len().saturating_sub(1);
        let mut indices = vec![
            0,
            at.saturating_sub(1),
            at.min(last),
            (at + 1).min(last),
            last,
        ];
        indices.sort_unstable();
        indices.dedup();
        let levels = indices.into_iter().filter_map(|at| self.levels.get(at));
        levels.map(|level| level.users as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mva::{Station, closed};
    use super::*;

    fn searched(
        config: KneeSearchConfig,
        system: impl Fn(u32) -> Option<f64>,
    ) -> (Vec<(u32, Pass)>, KneeSearch) {
        let mut search = KneeSearch::new(config);
        let mut runs = Vec::new();
        while let Some((users, pass)) = search.next_run() {
            runs.push((users, pass));
            assert!(runs.len() < 100, "{runs:?}");
            search.report(system(users).map(|per_second| Visit {
                per_second,
                response_s: f64::from(users) / per_second,
                cpu_ratio: None,
                is_descending: pass == Pass::Descend,
                held: true,
            }));
        }
        (runs, search)
    }

    const CONFIG: KneeSearchConfig = KneeSearchConfig {
        low: 1,
        high: 200,
        max_levels: 12,
        until: Until::Saturated,
    };

    #[test]
    fn it_goes_up_refines_comes_down_and_confirms() {
        // 10 ms of service on one server, 390 ms of pauses: the knee lies at 40.
        let station = [Station {
            demand_s: 0.01,
            servers: 1,
        }];
        let (runs, search) = searched(CONFIG, |n| Some(closed(&station, 0.39, n).per_second));
        let passes: Vec<Pass> = runs.iter().map(|(_, pass)| *pass).collect();
        assert!(passes.is_sorted_by_key(|pass| *pass as u8), "{runs:?}");
        assert!(search.levels().len() <= 12, "{runs:?}");
        let down: Vec<u32> = runs
            .iter()
            .filter(|r| r.1 == Pass::Descend)
            .map(|r| r.0)
            .collect();
        assert!(down.is_sorted_by(|a, b| a > b), "{down:?}");
        assert!(
            runs.iter()
                .any(|r| r.1 == Pass::Confirm && (36..=44).contains(&r.0)),
            "{runs:?}"
        );
    }

    #[test]
    fn demands_are_raised_until_they_break_and_halved_from_there() {
        let config = KneeSearchConfig {
            until: Until::Broken,
            ..CONFIG
        };
        let mut search = KneeSearch::new(config);
        while let Some((users, _)) = search.next_run() {
            search.report(Some(Visit {
                per_second: 100.0,
                response_s: f64::from(users) / 100.0,
                cpu_ratio: None,
                is_descending: false,
                held: users <= 50,
            }));
        }
        let kept = search.levels().iter().rfind(|level| level.held());
        let broke = search.levels().iter().find(|level| !level.held());
        let (kept, broke) = (kept.map(|l| l.users), broke.map(|l| l.users));
        assert!((45.0..=50.0).contains(&kept.unwrap()), "{kept:?}");
        assert!((51.0..=56.0).contains(&broke.unwrap()), "{broke:?}");
    }

    #[test]
    fn a_system_that_fails_under_load_is_searched_below() {
        let (runs, search) = searched(CONFIG, |n| (n < 30).then(|| f64::from(n)));
        assert!(
            runs.iter().filter(|(users, _)| *users >= 30).count() == 1,
            "{runs:?}"
        );
        assert_eq!(search.levels().last().map(|level| level.users), Some(16.0));
    }

    proptest! {
        #[test]
        fn it_ends_within_its_levels_whatever_comes_out(low in 0u32..50, span in 0u32..5000, until in prop::sample::select(vec![Until::Saturated, Until::Broken]), answers in prop::collection::vec(prop::option::of(0.0f64..1e6), 1..40)) {
            let config = KneeSearchConfig { low, high: low + span, max_levels: 12, until };
            let mut at = 0;
            let mut search = KneeSearch::new(config);
            while let Some((users, pass)) = search.next_run() {
                prop_assert!(users >= low.max(1) && users <= (low + span).max(1));
                let answer = answers[at % answers.len()];
                search.report(answer.map(|per_second| Visit { per_second, response_s: 0.1, cpu_ratio: None, is_descending: pass == Pass::Descend, held: at % 3 != 0 }));
                at += 1;
                prop_assert!(at <= 60);
            }
            prop_assert!(search.levels().len() <= 12);
        }
    }
}
