//! The knee of a closed system by several methods, each with an interval.
//!
//! | method | answer | interval |
//! |---|---|---|
//! | bounds | highest throughput × cycle time without queueing: `N* = Xmax·(R0 + Z)` | over runs |
//! | kneedle | the level at which throughput bends, see [`crate::knee`] | over runs, and to the neighbouring levels |
//! | CPU | users with which the server's CPU reaches a share, between two levels | over runs |
//!
//! "Over runs": the estimate is made again [`DRAWS`] times from runs drawn anew at each level, and 95 %
//! of the answers lie in the interval (bootstrap). The draws are the same every time.

use sokudo_pace::Random;

use super::Level;
use super::usl::Usl;
use crate::knee::{Shape, knee};

/// Seed of the draws: the same record gives the same intervals.
const SEED: u64 = 0x5eed;
/// Draws for an interval.
pub const DRAWS: u64 = 400;
/// Share of the answers beyond either end of an interval.
const TAIL: f64 = 0.025;
/// A level whose throughput reaches this share of the highest is saturated.
const SATURATED: f64 = 0.95;
/// The highest level must carry so much less per user than the lowest for a knee: until then
/// nothing queued.
const QUEUES: f64 = 0.85;

/// A number of users, and the interval that holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Users {
    /// The estimate.
    pub users: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Estimate from the levels of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// The knee by asymptotic bounds; `None` when nothing queued up to the highest level.
    pub bounds: Option<Users>,
    /// The knee by the bend of the throughput.
    pub kneedle: Option<Users>,
    /// Users with which the server's CPU reaches the share that was asked for.
    pub cpu: Option<Users>,
    /// Most users with which the demands were kept, up to the level that broke them; `None` when the
    /// lowest did not keep them, or none broke them.
    pub held: Option<Users>,
    /// The fit of the universal scalability law, over users in the system.
    pub usl: Option<Usl>,
    /// Highest throughput that lasts, requests per second.
    pub most_per_second: f64,
    /// Response time at the lowest level, seconds.
    pub alone_s: f64,
    /// Pauses between two requests of a user, seconds: what Little's law leaves at the lowest level.
    pub think_s: f64,
    /// Per level: `X·(R + Z) / N - 1`. Far from 0, requests were lost from sight or the window was
    /// too short.
    pub residuals: Vec<f64>,
    /// The share by which at least two levels carried less on the way down than on the way up,
    /// beyond the spread of their runs.
    pub hysteresis: f64,
}

/// Estimate from the levels; `None` without a level that carried something. `cpu_share` is the share of the
/// server's CPU that counts as full.
pub fn capacity(levels: &[Level], cpu_share: f64) -> Option<Capacity> {
    let first = levels.first().filter(|first| first.per_second() > 0.0)?;
    let think_s = (first.users / first.per_second() - first.response_s()).max(0.0);
    let is_queueing = queues(levels);
    let bounds = resampled(levels, knee_by_bounds).filter(|_| is_queueing);
    let bend = resampled(levels, |levels| bend(levels).map(|at| levels[at].users));
    Some(Capacity {
        bounds,
        kneedle: bend
            .filter(|_| is_queueing)
            .map(|users| between_levels(levels, users)),
        cpu: resampled(levels, |levels| cpu_reaches(levels, cpu_share)),
        held: held(levels),
        usl: Usl::fit(&in_system(levels, think_s)),
        most_per_second: plateau(levels),
        alone_s: first.response_s(),
        think_s,
        residuals: levels
            .iter()
            .map(|level| residual(level, think_s))
            .collect(),
        hysteresis: hysteresis(levels),
    })
}

/// The knee by asymptotic bounds: where the throughput that the lowest level predicts without
/// queues meets the highest that was carried.
pub fn knee_by_bounds(levels: &[Level]) -> Option<f64> {
    let first = levels.first()?;
    let knee = plateau(levels) * first.users / first.per_second();
    (knee.is_finite() && knee > 0.0).then_some(knee)
}

/// Mean throughput of the saturated levels, requests per second.
fn plateau(levels: &[Level]) -> f64 {
    let most = levels.iter().map(Level::per_second).fold(0.0, f64::max);
    let saturated = levels.iter().map(Level::per_second);
    let saturated: Vec<f64> = saturated.filter(|x| *x >= most * SATURATED).collect();
    saturated.iter().sum::<f64>() / saturated.len().max(1) as f64
}

fn queues(levels: &[Level]) -> bool {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        return false;
    };
    last.per_second() / last.users < first.per_second() / first.users * QUEUES
}

fn bend(levels: &[Level]) -> Option<usize> {
    let points = levels.iter().map(|level| (level.users, level.per_second()));
    knee(&points.collect::<Vec<_>>(), Shape::Saturating)
}

/// Widens an interval of levels to the levels beside it: the bend lies somewhere between the two.
fn between_levels(levels: &[Level], users: Users) -> Users {
    let below = levels.iter().rev().find(|level| level.users < users.low);
    let above = levels.iter().find(|level| level.users > users.high);
    Users {
        low: below.map_or(users.low, |level| level.users),
        high: above.map_or(users.high, |level| level.users),
        ..users
    }
}

/// Users with which the CPU share is reached first, on the line between two levels; `None` when it
/// is reached at the lowest level already, by whatever else runs there.
fn cpu_reaches(levels: &[Level], share: f64) -> Option<f64> {
    let points: Option<Vec<(f64, f64)>> = levels
        .iter()
        .map(|level| Some((level.users, level.cpu_ratio()?)))
        .collect();
    let points = points?;
    let pair = points.windows(2).find(|pair| pair[1].1 >= share)?;
    let ((n0, cpu0), (n1, cpu1)) = (pair[0], pair[1]);
    (cpu0 < share).then(|| n0 + (n1 - n0) * (share - cpu0) / (cpu1 - cpu0))
}

/// The highest level of which all up to it kept the demands, and the one above, which broke them.
fn held(levels: &[Level]) -> Option<Users> {
    let broke = levels.iter().position(|level| !level.held())?;
    let held = levels.get(broke.checked_sub(1)?)?;
    Some(Users {
        users: held.users,
        low: held.users,
        high: levels[broke].users,
    })
}

/// Users in the system over throughput, where they do not pause.
fn in_system(levels: &[Level], think_s: f64) -> Vec<(f64, f64)> {
    let point = |level: &Level| {
        let per_second = level.per_second();
        (level.users - per_second * think_s, per_second)
    };
    levels.iter().map(point).collect()
}

fn residual(level: &Level, think_s: f64) -> f64 {
    level.per_second() * (level.response_s() + think_s) / level.users - 1.0
}

/// The second largest loss on the way down, of what was carried on the way up, beyond the spread of
/// the runs of the level: a single run may be disturbed.
fn hysteresis(levels: &[Level]) -> f64 {
    let loss = |level: &Level| {
        let of = |is_descending: bool| {
            let visits = level
                .visits
                .iter()
                .filter(|v| v.is_descending == is_descending);
            visits.map(|visit| visit.per_second).collect::<Vec<f64>>()
        };
        let (up, down) = (of(false), of(true));
        let lowest_up = up.iter().copied().fold(f64::INFINITY, f64::min);
        let highest_down = down.iter().copied().fold(0.0, f64::max);
        let known = lowest_up.is_finite() && !down.is_empty() && lowest_up > 0.0;
        known.then(|| 1.0 - highest_down / lowest_up)
    };
    let mut losses: Vec<f64> = levels.iter().filter_map(loss).collect();
    losses.sort_by(|a, b| b.total_cmp(a));
    losses.get(1).map_or(0.0, |loss| loss.max(0.0))
}

/// An estimate from all runs, and the interval of estimates from runs that are drawn anew.
fn resampled(levels: &[Level], of: impl Fn(&[Level]) -> Option<f64>) -> Option<Users> {
    let users = of(levels)?;
    let mut random = Random::new(SEED, 0);
    let mut answers: Vec<f64> = (0..DRAWS)
        .filter_map(|_| of(&redrawn(levels, &mut random)))
        .collect();
    answers.sort_by(f64::total_cmp);
    let last = answers.len().checked_sub(1)?;
    let at = |share: f64| answers[(last as f64 * share).round() as usize];
    Some(Users {
        users,
        low: at(TAIL).min(users),
        high: at(1.0 - TAIL).max(users),
    })
}

fn redrawn(levels: &[Level], random: &mut Random) -> Vec<Level> {
    let redraw = |level: &Level| {
        let n = level.visits.len() as u64;
        let drawn = (0..n).map(|_| level.visits[random.below(n) as usize]);
        Level {
            users: level.users,
            visits: drawn.collect(),
        }
    };
    levels.iter().map(redraw).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Visit;
    use super::super::mva::{Station, closed};
    use super::*;

    /// Three runs of each level of a network, off by up to `noise`.
    fn network(stations: &[Station], think_s: f64, users: &[u32], noise: f64) -> Vec<Level> {
        let mut random = Random::new(7, 0);
        let mut off = || 1.0 + noise * (random.unit() * 2.0 - 1.0);
        users
            .iter()
            .map(|users| {
                let all = closed(stations, think_s, *users);
                let cpu = all.per_second * stations[0].demand_s / f64::from(stations[0].servers);
                let visit = |is_descending| {
                    let off = off();
                    Visit {
                        per_second: all.per_second * off,
                        response_s: f64::from(*users) / (all.per_second * off) - think_s,
                        cpu_ratio: Some(cpu * off),
                        is_descending,
                        held: all.response_s < 0.5,
                    }
                };
                Level {
                    users: f64::from(*users),
                    visits: [false, true, false].map(visit).into(),
                }
            })
            .collect()
    }

    const RAMP: [u32; 11] = [1, 2, 4, 8, 16, 30, 40, 53, 64, 128, 200];

    #[test]
    fn all_methods_find_the_knee_of_one_station() {
        // 10 ms on one server and 390 ms of pauses: N* = 40.
        let station = [Station {
            demand_s: 0.01,
            servers: 1,
        }];
        let all = capacity(&network(&station, 0.39, &RAMP, 0.02), 0.8).unwrap();
        let bounds = all.bounds.unwrap();
        assert!((bounds.users - 40.0).abs() < 4.0, "{bounds:?}");
        assert!(bounds.low <= bounds.users && bounds.users <= bounds.high);
        let kneedle = all.kneedle.unwrap();
        assert!(kneedle.low <= 40.0 && 40.0 <= kneedle.high, "{kneedle:?}");
        let cpu = all.cpu.unwrap();
        assert!((25.0..40.0).contains(&cpu.users), "{cpu:?}");
        assert!((all.think_s - 0.39).abs() < 0.02, "{}", all.think_s);
        assert!(
            all.residuals.iter().all(|r| r.abs() < 0.1),
            "{:?}",
            all.residuals
        );
        assert!(all.hysteresis < 0.05, "{}", all.hysteresis);
        let held = all.held.unwrap();
        assert_eq!((held.users, held.high), (64.0, 128.0));
    }

    #[test]
    fn without_a_queue_there_is_no_knee() {
        let station = [Station {
            demand_s: 0.01,
            servers: 100,
        }];
        let all = capacity(&network(&station, 0.39, &[1, 2, 4, 8, 16], 0.01), 0.8).unwrap();
        assert_eq!((all.bounds, all.kneedle, all.cpu), (None, None, None));
    }

    #[test]
    fn what_a_system_forgot_on_the_way_down_is_told() {
        let station = [Station {
            demand_s: 0.01,
            servers: 1,
        }];
        let mut levels = network(&station, 0.39, &RAMP, 0.01);
        for level in &mut levels[4..6] {
            for visit in &mut level.visits {
                visit.per_second *= if visit.is_descending { 0.6 } else { 1.0 };
            }
        }
        let all = capacity(&levels, 0.8).unwrap();
        assert!((0.3..0.45).contains(&all.hysteresis), "{}", all.hysteresis);
    }

    proptest! {
        #[test]
        fn whatever_the_levels_it_answers(figures in prop::collection::vec((0.0f64..1e6, 0.0f64..1e3, prop::option::of(0.0f64..1.0)), 0..8)) {
            let levels: Vec<Level> = figures.iter().zip(1..).map(|((x, r, cpu), n)| Level {
                users: f64::from(n),
                visits: vec![Visit { per_second: *x, response_s: *r, cpu_ratio: *cpu, is_descending: false, held: true }],
            }).collect();
            if let Some(all) = capacity(&levels, 0.8) {
                for users in [all.bounds, all.kneedle, all.cpu].into_iter().flatten() {
                    prop_assert!(users.low <= users.users && users.users <= users.high, "{users:?}");
                }
            }
        }
    }
}
