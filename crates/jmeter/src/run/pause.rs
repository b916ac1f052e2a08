//! How long does a user wait before a sampler?

use std::sync::atomic::Ordering;

use sokudo_pace::throughput::Exactly;
use sokudo_pace::{Random, Think};

use super::part::Part;
use super::scripted::Has;
use super::shared::{Pace, locked};
use super::test::Test;
use super::user::Body;
use crate::plan::{Id, Over, ShapeRow, TimerKind, Value};

/// Streams of timers lie apart from those of users.
const TIMER_STREAM: u64 = 1 << 41;

impl Body {
    /// The sum of all pauses before a sampler, nanoseconds.
    pub(super) fn pause_ns(&mut self, test: &Test, now_ns: i64, timers: &[Id]) -> i64 {
        let each = timers.iter().map(|id| self.one_pause_ns(test, now_ns, *id));
        each.fold(0, i64::saturating_add)
    }

    fn one_pause_ns(&mut self, test: &Test, now_ns: i64, id: Id) -> i64 {
        let kind = &test.plan.timers[id as usize].kind;
        if let TimerKind::Script(script) = kind {
            let name = &test.plan.timers[id as usize].name;
            let done = self.run_script(test, now_ns, (Has::Timer, script), name, None);
            let ms = done
                .value
                .and_then(|value| value.trim().parse::<f64>().ok());
            return (ms.unwrap_or(0.0).max(0.0) * 1e6) as i64;
        }
        let mut view = self.person.view(test, now_ns);
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
                return self.at_most_ns(test, now_ns, id, per_minute / 60.0, *over);
            }
            TimerKind::PreciseThroughput { .. } => return self.exactly_ns(test, now_ns, id),
            TimerKind::ThroughputShaping { rows } => {
                let begun_ns = *test.begun_ns.get_or_init(|| now_ns);
                let rate = self.shaped_rate(test, now_ns, rows, now_ns - begun_ns);
                return self.at_most_ns(test, now_ns, id, rate, Over::AllUsersShared);
            }
            TimerKind::Synchronizing { .. } | TimerKind::Script(_) => return 0,
        };
        let drawn_ms = think.draw_ms(&mut self.person.random);
        let factor = match think {
            Think::Constant { .. } => 1.0,
            // What JMeter lets be scaled.
            _ => test.pause_factor,
        };
        (drawn_ms as f64 * factor).round() as i64 * 1_000_000
    }

    /// Waits until the rate allows another request; what was missed is not caught up.
    fn at_most_ns(&mut self, test: &Test, now_ns: i64, id: Id, rate_per_s: f64, over: Over) -> i64 {
        if rate_per_s.is_nan() || rate_per_s <= 0.0 {
            return 0;
        }
        let group = self.person.group;
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
                let at_ns = due(self.paces.get(&id).copied());
                self.paces.insert(id, at_ns);
                at_ns
            }
        };
        at_ns - now_ns
    }

    fn exactly_ns(&mut self, test: &Test, now_ns: i64, id: Id) -> i64 {
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
        let mut view = self.person.view(test, now_ns);
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
        let arrivals =
            (per_period * duration_s as f64 / period_s as f64 / batch as f64).round() as u64;
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

    /// Requests per second at a moment of the table; behind its end that of its last row.
    fn shaped_rate(&mut self, test: &Test, now_ns: i64, rows: &[ShapeRow], since_ns: i64) -> f64 {
        let mut left_s = since_ns as f64 / 1e9;
        let mut rate = 0.0;
        for row in rows {
            let mut view = self.person.view(test, now_ns);
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

    /// Comes to a meeting point. `None`: the user goes on at once; else how often it had been
    /// opened before.
    pub(super) fn meet(&mut self, test: &Test, now_ns: i64, id: Id) -> Option<u64> {
        let wanted = self.wanted(test, now_ns, id);
        let mut pace = locked(&test.shared.paces[id as usize]);
        let waiting = pace.waiting.entry(self.person.group).or_default();
        *waiting += 1;
        if *waiting >= wanted {
            *waiting = 0;
            pace.released += 1;
            return None;
        }
        Some(pace.released)
    }

    /// True when a user that waits at a meeting point since then may go on.
    pub(super) fn may_go(
        &mut self,
        test: &Test,
        now_ns: i64,
        id: Id,
        (since_ns, released): (i64, u64),
    ) -> bool {
        let TimerKind::Synchronizing { timeout_ms, .. } = &test.plan.timers[id as usize].kind
        else {
            return true;
        };
        let timeout_ms = self.person.view(test, now_ns).integer(timeout_ms);
        let mut pace = locked(&test.shared.paces[id as usize]);
        if pace.released != released {
            return true;
        }
        let over = timeout_ms > 0 && now_ns - since_ns >= timeout_ms.saturating_mul(1_000_000);
        if over {
            let waiting = pace.waiting.entry(self.person.group).or_default();
            *waiting = waiting.saturating_sub(1);
        }
        over
    }

    fn wanted(&mut self, test: &Test, now_ns: i64, id: Id) -> u64 {
        let TimerKind::Synchronizing { users, .. } = &test.plan.timers[id as usize].kind else {
            return 1;
        };
        let all = match self.person.view(test, now_ns).integer(users) {
            wanted @ 1.. => wanted.unsigned_abs(),
            _ => test.plan.groups[self.person.group]
                .load
                .users()
                .unwrap_or(1),
        };
        // Users of other generators are not met.
        test.settings.users.share(all).max(1)
    }
}

/// The next of the arrivals that are this generator's; another round of them when they are over. All
/// generators draw the same ones, so that together they have each of them once.
fn next_arrival(
    pace: &mut Pace,
    own: Part,
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
