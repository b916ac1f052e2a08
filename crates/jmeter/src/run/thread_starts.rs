//! Start times of users.
//!
//! The starts are an iterator in order of time: a group of a million users or an hour of arrivals
//! takes no memory.

use sokudo_pace::Random;

use crate::plan::{Load, OpenStep, Plan, Stage};

/// Offset of the random streams of arrivals from those of users.
const ARRIVAL_STREAM: u64 = 1 << 42;
/// Shortest time between two arrivals.
const SHORTEST_GAP_NS: f64 = 1.0;

/// The start of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadStart {
    /// Nanoseconds after the beginning of the stage.
    pub at_ns: i64,
    /// Index of the thread group.
    pub group: usize,
    /// Number of the user in the group, from 1.
    pub number: u64,
    /// End by the clock, counted like `at_ns`; `None`: not by the clock.
    pub ends_ns: Option<i64>,
    /// True for an arrival: `at_ns` is when it should start, however late it is.
    pub is_arrival: bool,
}

/// All starts of a stage in order of time.
#[derive(Debug)]
pub struct ThreadStarts {
    groups: Vec<(Option<ThreadStart>, GroupStarts)>,
}

#[derive(Debug)]
enum GroupStarts {
    Users { load: Load, group: usize, next: u64 },
    Arrivals(Arrivals),
}

impl ThreadStarts {
    /// The starts of the groups of a stage; of one of them if `only` is given.
    pub fn new(plan: &Plan, stage: Stage, only: Option<usize>, seed: u64) -> Self {
        let groups = plan.groups.iter().enumerate();
        let wanted = groups.filter(|(index, group)| {
            group.stage == stage && only.is_none_or(|only| only == *index)
        });
        let mut groups: Vec<_> = wanted
            .map(|(group, of)| match &of.load {
                Load::Open {
                    schedule,
                    random_seed,
                } => {
                    let seed = random_seed
                        .filter(|seed| *seed != 0)
                        .map_or(seed, |seed| seed as u64);
                    let random = Random::new(seed, ARRIVAL_STREAM + group as u64);
                    GroupStarts::Arrivals(Arrivals::new(schedule.clone(), group, random))
                }
                load => GroupStarts::Users {
                    load: load.clone(),
                    group,
                    next: 0,
                },
            })
            .map(|source| (None, source))
            .collect();
        groups
            .iter_mut()
            .for_each(|(head, source)| *head = source.next());
        Self { groups }
    }
}

impl Iterator for ThreadStarts {
    type Item = ThreadStart;

    fn next(&mut self) -> Option<ThreadStart> {
        let heads = self.groups.iter_mut().filter(|(head, _)| head.is_some());
        let (head, source) =
            heads.min_by_key(|(head, _)| head.map_or(i64::MAX, |start| start.at_ns))?;
        std::mem::replace(head, source.next())
    }
}

fn ns(ms: u64) -> i64 {
    i64::try_from(ms)
        .unwrap_or(i64::MAX)
        .saturating_mul(1_000_000)
}

impl GroupStarts {
    fn next(&mut self) -> Option<ThreadStart> {
        match self {
            Self::Arrivals(arrivals) => arrivals.next(),
            Self::Users { load, group, next } => {
                let number = *next;
                let at_ms = load.start_ms(number)?;
                *next += 1;
                let ends_ms = load.user_end_ms(number);
                Some(ThreadStart {
                    at_ns: ns(at_ms),
                    group: *group,
                    number: number + 1,
                    ends_ns: ends_ms.map(ns),
                    is_arrival: false,
                })
            }
        }
    }
}

/// Arrivals per second of a plan, averaged over its schedules; `None` unless all of its main groups
/// are open models.
pub fn asked_per_s(plan: &Plan) -> Option<f64> {
    let main = plan
        .groups
        .iter()
        .filter(|group| group.stage == Stage::Main);
    let (mut arrivals, mut longest_ms) = (0.0, 0);
    for group in main {
        let Load::Open { schedule, .. } = &group.load else {
            return None;
        };
        arrivals += asked(schedule);
        longest_ms = longest_ms.max(group.load.end_ms()?);
    }
    (longest_ms > 0).then(|| arrivals * 1e3 / longest_ms as f64)
}

/// Number of arrivals of a schedule; the mean if they are random.
fn asked(schedule: &[OpenStep]) -> f64 {
    let mut pieces = Arrivals::new(schedule.to_vec(), 0, Random::new(0, 0));
    let pieces = std::iter::from_fn(|| pieces.next_piece());
    let quantity =
        |piece: SchedulePiece| (piece.from_rate + piece.to_rate) / 2.0 * piece.lasts_ns / 1e9;
    pieces.map(quantity).sum()
}

/// Arrivals of a schedule.
#[derive(Debug)]
struct Arrivals {
    schedule: Vec<OpenStep>,
    group: usize,
    random: Random,
    /// Index of the next step.
    step: usize,
    /// Rate at the beginning of the current piece.
    rate: f64,
    /// The current piece; `None`: the next one is to begin.
    piece: Option<SchedulePiece>,
    begins_ns: f64,
    number: u64,
}

#[derive(Debug, Clone, Copy)]
struct SchedulePiece {
    lasts_ns: f64,
    from_rate: f64,
    to_rate: f64,
    random: bool,
    /// Arrivals of the piece so far, as a value of the rate's integral.
    quantity: f64,
}

impl Arrivals {
    fn new(schedule: Vec<OpenStep>, group: usize, random: Random) -> Self {
        Self {
            schedule,
            group,
            random,
            step: 0,
            rate: 0.0,
            piece: None,
            begins_ns: 0.0,
            number: 0,
        }
    }

    /// The rate that is stated directly after a step, otherwise the current one.
    fn rate_behind(&self, step: usize) -> f64 {
        match self.schedule.get(step) {
            Some(OpenStep::Rate { per_s }) => *per_s,
            _ => self.rate,
        }
    }

    /// Begins the next piece; `None` at the end of the schedule.
    fn next_piece(&mut self) -> Option<SchedulePiece> {
        loop {
            let step = *self.schedule.get(self.step)?;
            self.step += 1;
            match step {
                OpenStep::Rate { per_s } => self.rate = per_s,
                OpenStep::Pause { duration_ms } => self.begins_ns += duration_ms as f64 * 1e6,
                OpenStep::Arrivals {
                    duration_ms,
                    random,
                } => {
                    return Some(SchedulePiece {
                        lasts_ns: duration_ms as f64 * 1e6,
                        from_rate: self.rate,
                        to_rate: self.rate_behind(self.step),
                        random,
                        quantity: 0.0,
                    });
                }
            }
        }
    }

    fn next(&mut self) -> Option<ThreadStart> {
        loop {
            let mut piece = match self.piece.take() {
                Some(piece) => piece,
                None => self.next_piece()?,
            };
            piece.quantity += match piece.random {
                // The integral of the rate between two arrivals of a Poisson process.
                true => -(1.0 - self.random.unit()).ln(),
                false => 1.0,
            };
            let wanted = if piece.random {
                piece.quantity
            } else {
                piece.quantity - 1.0
            };
            match piece.when_ns(wanted) {
                Some(at_ns) => {
                    self.piece = Some(piece);
                    self.number += 1;
                    return Some(ThreadStart {
                        at_ns: (self.begins_ns + at_ns) as i64,
                        group: self.group,
                        number: self.number,
                        ends_ns: None,
                        is_arrival: true,
                    });
                }
                None => {
                    self.begins_ns += piece.lasts_ns;
                    self.rate = piece.to_rate;
                }
            }
        }
    }
}

impl SchedulePiece {
    /// Time at which the integral of the rate reaches a value; `None`: not in this piece.
    fn when_ns(&self, quantity: f64) -> Option<f64> {
        let lasts_s = self.lasts_ns / 1e9;
        if lasts_s <= 0.0 {
            return None;
        }
        let slope = (self.to_rate - self.from_rate) / lasts_s;
        let at_s = match slope.abs() < 1e-12 {
            true if self.from_rate <= 0.0 => return None,
            true => quantity / self.from_rate,
            false => {
                let root = self.from_rate * self.from_rate + 2.0 * slope * quantity;
                if root < 0.0 {
                    return None;
                }
                (root.sqrt() - self.from_rate) / slope
            }
        };
        let at_ns = at_s * 1e9;
        (at_ns >= 0.0 && at_ns + SHORTEST_GAP_NS <= self.lasts_ns).then_some(at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(schedule: &[OpenStep]) -> Vec<i64> {
        let mut all = Arrivals::new(schedule.to_vec(), 0, Random::new(1, 0));
        std::iter::from_fn(|| all.next())
            .map(|start| start.at_ns / 1_000_000)
            .collect()
    }

    #[test]
    fn even_arrivals_come_at_their_rate() {
        let second = |random| OpenStep::Arrivals {
            duration_ms: 1_000,
            random,
        };
        let even = arrivals(&[OpenStep::Rate { per_s: 4.0 }, second(false)]);
        assert_eq!(even, [0, 250, 500, 750]);
        let paused = arrivals(&[
            OpenStep::Rate { per_s: 2.0 },
            second(false),
            OpenStep::Pause { duration_ms: 500 },
            second(false),
        ]);
        assert_eq!(paused, [0, 500, 1_500, 2_000]);
        assert_eq!(
            asked(&[OpenStep::Pause { duration_ms: 500 }, second(true)]),
            0.0
        );
    }

    #[test]
    fn a_rate_that_rises_brings_its_integral() {
        let rising = [
            OpenStep::Rate { per_s: 0.0 },
            OpenStep::Arrivals {
                duration_ms: 10_000,
                random: false,
            },
            OpenStep::Rate { per_s: 100.0 },
        ];
        let all = arrivals(&rising);
        assert_eq!(all.len(), 500);
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
        let half = all.iter().filter(|at| **at < 5_000).count();
        assert!((124..=126).contains(&half), "{half}");
        assert_eq!(asked(&rising), 500.0);
    }

    #[test]
    fn random_arrivals_have_their_mean() {
        let steady = [
            OpenStep::Rate { per_s: 1_000.0 },
            OpenStep::Arrivals {
                duration_ms: 10_000,
                random: true,
            },
        ];
        let count = arrivals(&steady).len();
        assert!((9_600..10_400).contains(&count), "{count}");
    }
}
