//! Timers: pauses before a sampler, and synchronizing timers.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use sokudo_pace::throughput::Exactly;
use sokudo_pace::{Random, Think};

use super::context::View;
use super::scripts::{ScriptOwner, run_script};
use super::share::GeneratorShare;
use super::shared::{TimerState, locked};
use crate::plan::{Id, Over, ShapeRow, TimerKind, Value};

/// Offset of the random streams of timers from those of users.
const TIMER_STREAM: u64 = 1 << 41;

/// The state that one user's timers keep between samplers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Due time of the previous request of a throughput timer for each user.
    previous_ns: HashMap<Id, i64>,
}

impl Timers {
    /// The sum of all pauses before a sampler, nanoseconds.
    pub fn pause_ns(&mut self, view: &mut View<'_>, timers: &[Id]) -> i64 {
        let each = timers.iter().map(|id| self.one_pause_ns(view, *id));
        each.fold(0, i64::saturating_add)
    }

    fn one_pause_ns(&mut self, view: &mut View<'_>, id: Id) -> i64 {
        let test = view.test();
        let kind = &test.plan.timers[id as usize].kind;
        if let TimerKind::Script(script) = kind {
            let owner = (ScriptOwner::Timer, &test.plan.timers[id as usize].name);
            let done = run_script(view, owner, script, None);
            let ms = done
                .value
                .and_then(|value| value.trim().parse::<f64>().ok());
            let pause_ns = (ms.unwrap_or(0.0).max(0.0) * 1e6) as i64;
            return pause_ns.saturating_add(done.slept_ns);
        }
        let think = match kind {
            TimerKind::Constant { delay_ms } => Think::Constant {
                delay_ms: view.decimal(delay_ms),
            },
            TimerKind::Uniform {
                offset_ms,
                range_ms,
            } => Think::Uniform {
                offset_ms: view.decimal(offset_ms),
                range_ms: view.decimal(range_ms),
            },
            TimerKind::Gaussian {
                offset_ms,
                deviation_ms,
            } => Think::Gaussian {
                offset_ms: view.decimal(offset_ms),
                deviation_ms: view.decimal(deviation_ms),
            },
            TimerKind::Poisson {
                offset_ms,
                lambda_ms,
            } => Think::Poisson {
                offset_ms: view.decimal(offset_ms),
                lambda_ms: view.decimal(lambda_ms),
            },
            TimerKind::ConstantThroughput { per_minute, over } => {
                let per_minute = view.decimal(per_minute);
                return self.at_most_ns(view, id, per_minute / 60.0, *over);
            }
            TimerKind::PreciseThroughput { .. } => return exactly_ns(view, id),
            TimerKind::ThroughputShaping { rows } => {
                let now_ns = view.now_ns();
                let begun_ns = *test.begun_ns.get_or_init(|| now_ns);
                let rate = shaped_rate(view, rows, now_ns - begun_ns);
                return self.at_most_ns(view, id, rate, Over::AllUsersShared);
            }
            TimerKind::Synchronizing { .. } | TimerKind::Script(_) => return 0,
        };
        let drawn_ms = think.draw_ms(view.thread.random());
        let factor = match think {
            Think::Constant { .. } => 1.0,
            // `timer.factor` scales random timers only, as in JMeter.
            _ => test.pause_factor,
        };
        (drawn_ms as f64 * factor).round() as i64 * 1_000_000
    }

    /// Pause until the rate allows another request. Missed requests are not caught up.
    fn at_most_ns(&mut self, view: &View<'_>, id: Id, rate_per_s: f64, over: Over) -> i64 {
        let is_shared = matches!(over, Over::AllUsersShared | Over::GroupShared);
        if rate_per_s == 0.0 && !is_shared {
            // JMeter waits forever, too.
            let says =
                "a constant throughput of 0 per minute: its users wait until they are stopped";
            view.test().sink.trouble(says);
            return FOR_EVER_NS;
        }
        if rate_per_s.is_nan() || rate_per_s <= 0.0 {
            return 0;
        }
        let (test, now_ns) = (view.test(), view.now_ns());
        let group = view.thread.group();
        let active =
            |count: &std::sync::atomic::AtomicU32| f64::from(count.load(Ordering::Relaxed).max(1));
        let generators = test.settings.users.of() as f64;
        let share = match over {
            Over::ThisUser => 1.0,
            Over::AllUsersShared | Over::GroupShared => generators,
            Over::AllUsers => generators * active(&test.shared.all),
            Over::Group => generators * active(&test.shared.active[group]),
        };
        let gap_ns = (1e9 * share / rate_per_s) as i64;
        let due = |previous: Option<i64>| {
            previous.map_or(now_ns, |at| at.saturating_add(gap_ns).max(now_ns))
        };
        let at_ns = match over {
            Over::AllUsersShared | Over::GroupShared => {
                let slot = if over == Over::GroupShared {
                    group + 1
                } else {
                    0
                };
                let mut pace = locked(&test.shared.paces[id as usize]);
                if pace.previous_ns.len() <= slot {
                    pace.previous_ns.resize(slot + 1, None);
                }
                let at_ns = due(pace.previous_ns[slot]);
                pace.previous_ns[slot] = Some(at_ns);
                at_ns
            }
            _ => {
                let at_ns = due(self.previous_ns.get(&id).copied());
                self.previous_ns.insert(id, at_ns);
                at_ns
            }
        };
        at_ns - now_ns
    }
}

/// Longer than any test.
const FOR_EVER_NS: i64 = i64::MAX / 4;

/// Pause until the next arrival of a precise throughput timer.
fn exactly_ns(view: &mut View<'_>, id: Id) -> i64 {
    let (test, now_ns) = (view.test(), view.now_ns());
    let TimerKind::PreciseThroughput {
        throughput,
        period_s,
        duration_s,
        batch,
        batch_gap_ms,
        seed,
    } = &test.plan.timers[id as usize].kind
    else {
        return 0;
    };
    let per_period = view.decimal(throughput).max(0.0);
    let (period_s, duration_s) = (
        view.integer(period_s).max(1),
        view.integer(duration_s).max(1),
    );
    let (batch, gap_ms) = (
        view.integer(batch).max(1) as u64,
        view.integer(batch_gap_ms).max(0),
    );
    let seed = match view.integer(seed) {
        0 => test.settings.seed,
        seed => seed as u64,
    };
    let mut pace = locked(&test.shared.paces[id as usize]);
    let in_batch = pace.released % batch;
    pace.released += 1;
    if in_batch > 0 {
        let at_ns = pace
            .previous_ns
            .first()
            .copied()
            .flatten()
            .unwrap_or(now_ns);
        let at_ns = at_ns.saturating_add(gap_ms * 1_000_000 * in_batch as i64);
        return (at_ns - now_ns).max(0);
    }
    let arrivals = (per_period * duration_s as f64 / period_s as f64 / batch as f64).round() as u64;
    let fresh = |round: i64| {
        let random = Random::new(seed, TIMER_STREAM + u64::from(id) + ((round as u64) << 8));
        (round, Exactly::new(arrivals, duration_s as f64, random))
    };
    let begun_ns = *test.begun_ns.get_or_init(|| now_ns);
    let own = test.settings.users;
    let at_ns = next_arrival(&mut pace, own, arrivals, duration_s, fresh)
        .map_or(now_ns, |at_s| begun_ns.saturating_add((at_s * 1e9) as i64));
    pace.previous_ns.resize(1, None);
    pace.previous_ns[0] = Some(at_ns);
    (at_ns - now_ns).max(0)
}

/// Requests per second of a shaping table at a moment; after its end the rate of its last row.
fn shaped_rate(view: &mut View<'_>, rows: &[ShapeRow], since_ns: i64) -> f64 {
    let mut left_s = since_ns as f64 / 1e9;
    let mut rate = 0.0;
    for row in rows {
        let mut of = |value: &Value<f64>| view.decimal(value);
        let (from, to, lasts) = (
            of(&row.start_per_s),
            of(&row.end_per_s),
            of(&row.duration_s),
        );
        if left_s < lasts {
            return from + (to - from) * left_s / lasts;
        }
        left_s -= lasts;
        rate = to;
    }
    rate
}

/// Joins the users that wait at a synchronizing timer. `None`: the user continues at once;
/// otherwise the number of groups that were released before.
pub(super) fn synchronize(view: &mut View<'_>, id: Id) -> Option<u64> {
    let wanted = group_size(view, id);
    let mut pace = locked(&view.test().shared.paces[id as usize]);
    let waiting = pace.waiting.entry(view.thread.group()).or_default();
    *waiting += 1;
    if *waiting >= wanted {
        *waiting = 0;
        pace.released += 1;
        return None;
    }
    Some(pace.released)
}

/// True if a user may continue that has waited at a synchronizing timer since `since_ns`, when
/// `released` groups had been released.
pub(super) fn is_released(view: &mut View<'_>, id: Id, (since_ns, released): (i64, u64)) -> bool {
    let (test, now_ns) = (view.test(), view.now_ns());
    let TimerKind::Synchronizing { timeout_ms, .. } = &test.plan.timers[id as usize].kind else {
        return true;
    };
    let timeout_ms = view.integer(timeout_ms);
    let mut pace = locked(&test.shared.paces[id as usize]);
    if pace.released != released {
        return true;
    }
    let over = timeout_ms > 0 && now_ns - since_ns >= timeout_ms.saturating_mul(1_000_000);
    if over {
        let waiting = pace.waiting.entry(view.thread.group()).or_default();
        *waiting = waiting.saturating_sub(1);
    }
    over
}

/// Number of users that a synchronizing timer releases together on this generator.
fn group_size(view: &mut View<'_>, id: Id) -> u64 {
    let test = view.test();
    let TimerKind::Synchronizing { users, .. } = &test.plan.timers[id as usize].kind else {
        return 1;
    };
    let all = match view.integer(users) {
        wanted @ 1.. => wanted.unsigned_abs(),
        _ => test.plan.groups[view.thread.group()]
            .load
            .users()
            .unwrap_or(1),
    };
    // Users of other generators do not take part.
    test.settings.users.share(all).max(1)
}

/// The next arrival of this generator; a new round begins after the last. All generators draw the
/// same arrivals, so that together they have each of them once.
fn next_arrival(
    pace: &mut TimerState,
    own: GeneratorShare,
    arrivals: u64,
    duration_s: i64,
    fresh: impl Fn(i64) -> (i64, Exactly),
) -> Option<f64> {
    if arrivals == 0 {
        return None;
    }
    loop {
        let (round, all) = pace.exactly.get_or_insert_with(|| fresh(0));
        match all.next() {
            Some(at_s) => {
                let at_s = at_s + (*round * duration_s) as f64;
                pace.arrived += 1;
                if own.has(pace.arrived - 1) {
                    return Some(at_s);
                }
            }
            None => pace.exactly = Some(fresh(*round + 1)),
        }
    }
}
