//! A queue of the application server fills, as the server itself counts.
//!
//! ```text
//! calls ─► accept queue ─► connections ─► dispatch queue ─► workers ─► pool ─► database
//! ```
//!
//! A full stage fills the ones before it, so the last full one is the limit. What removing it would
//! bring follows from mean value analysis of the closed network: the stage with as many servers as
//! requests are at it, and everything else as a delay.

use std::collections::{BTreeMap, BTreeSet};

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, target};
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};
use sokudo_stats::capacity::mva::{MOST_USERS, Station, closed};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of its size from which a stage is full.
const FULL: f64 = 0.9;
/// Share of the samples at which it must be full: a load begins, and its last requests end.
const MOST: f64 = 0.5;
/// Requests that wait on average while it is full, from which a queue stands.
const WAITING: f64 = 1.0;

/// The finding `target_queue`.
pub const RULE: Rule = Rule {
    name: "target_queue",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("full", FULL, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
        ("waiting", WAITING, Unit::One),
    ],
    look: Look::Phase(look),
};

/// A stage, by its metrics.
struct Stage {
    /// Messages: the conclusion, what is predicted (`None` where the model says nothing), what to try.
    says: &'static str,
    predicts: Option<&'static str>,
    raise: &'static str,
    used: Metric,
    size: Metric,
    waiting: Metric,
}

/// From the last one to the first.
const STAGES: [Stage; 3] = [
    Stage {
        says: "rule-target-queue-pool-says",
        predicts: Some("rule-target-queue-pool-next"),
        raise: "rule-target-queue-pool-raise",
        used: target::POOL_USED,
        size: target::POOL_MAX,
        waiting: target::POOL_WAITING,
    },
    Stage {
        says: "rule-target-queue-workers-says",
        predicts: Some("rule-target-queue-workers-next"),
        raise: "rule-target-queue-workers-raise",
        used: target::WORKERS_ACTIVE,
        size: target::WORKERS_MAX,
        waiting: target::WORKERS_QUEUED,
    },
    Stage {
        says: "rule-target-queue-connections-says",
        predicts: None,
        raise: "rule-target-queue-connections-raise",
        used: target::CONNECTIONS_OPEN,
        size: target::CONNECTIONS_MAX,
        waiting: target::ACCEPT_QUEUE_DEPTH,
    },
];

/// Means of a stage over the samples at which it was full.
struct Filled {
    host: String,
    used: f64,
    size: f64,
    waiting: f64,
    /// Requests that were answered per second; `None` where that is not told.
    per_second: Option<f64>,
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (stage, filled) = STAGES
        .iter()
        .find_map(|stage| Some((stage, stage.filled(view)?)))?;
    let says = Text::new(stage.says)
        .text("wait", each_waits(stage, &filled))
        .number("used", filled.used, Unit::One)
        .number("size", filled.size, Unit::One)
        .number("waiting", filled.waiting, Unit::One);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.9, says);
    let evidence = &mut finding.evidence;
    let row = |key: &str, metric, value| view.evidence(key, metric, &filled.host, value);
    evidence.push(row("evidence-target-used", stage.used, filled.used));
    evidence.push(row("evidence-target-size", stage.size, filled.size));
    evidence.push(row(
        "evidence-target-waiting",
        stage.waiting,
        filled.waiting,
    ));
    evidence.extend(own_view(view, stage));
    let prediction = stage.predicts.zip(predicted(view, &filled));
    finding.next = Some(match prediction {
        Some((key, after)) => {
            let cpu = after.cpu_users.map(|users| {
                Text::new("rule-target-queue-next-cpu").number("users", users, Unit::One)
            });
            Text::new(key)
                .number("servers", after.servers, Unit::One)
                .number("factor", after.factor, Unit::One)
                .text(
                    "limit",
                    cpu.unwrap_or_else(|| Text::new("rule-target-queue-next-unknown")),
                )
        }
        None => Text::new(stage.raise),
    });
    Some(finding)
}

/// Gain of relieving a stage.
struct After {
    /// Servers of the stage then.
    servers: f64,
    /// Throughput then, as a multiple of the present one.
    factor: f64,
    /// Users with which the server's CPU is full then; `None` where it was not observed.
    cpu_users: Option<f64>,
}

impl Stage {
    /// The stage when it is full and requests wait for it.
    fn filled(&self, view: &PhaseView<'_>) -> Option<Filled> {
        let (series, _) = view.highest_mean(None, self.waiting, &[])?;
        let host = series.key.host.as_str();
        let points = |metric: Metric| -> BTreeMap<i64, f64> {
            let mut all = view.series(Some(host), metric, &[]);
            let own = all.find(|one| one.key.labels == series.key.labels);
            let points = own.into_iter().flat_map(|one| &one.points);
            let inside = view.phase.t0_ns..=view.phase.t1_ns;
            points
                .filter(|(t, _)| inside.contains(t))
                .copied()
                .collect()
        };
        // One answer of the server gives all of them, at one time.
        let (used, size) = (points(self.used), points(self.size));
        let is_full = |(t, used): &(&i64, &f64)| {
            size.get(t)
                .is_some_and(|size| *size > 0.0 && **used >= size * FULL)
        };
        let full: Vec<i64> = used.iter().filter(is_full).map(|(t, _)| *t).collect();
        if full.is_empty() || (full.len() as f64) < used.len() as f64 * MOST {
            return None;
        }
        let mean = |of: &BTreeMap<i64, f64>| -> Option<f64> {
            let values: Vec<f64> = full.iter().filter_map(|t| of.get(t)).copied().collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let waiting = mean(&points(self.waiting))?;
        let is_turning = self.predicts.is_none() && turned_away(view, host) > 0.0;
        (waiting >= WAITING || is_turning).then(|| Filled {
            host: host.to_owned(),
            used: mean(&used).unwrap_or(0.0),
            size: mean(&size).unwrap_or(0.0),
            waiting,
            per_second: mean(&points(target::WORKERS_DONE_PER_SECOND)).filter(|done| *done > 0.0),
        })
    }
}

/// Connections that the server turned away during the phase.
fn turned_away(view: &PhaseView<'_>, host: &str) -> f64 {
    view.increase(host, target::CONNECTIONS_TURNED_AWAY)
        .unwrap_or(0.0)
}

/// Wait of each, by Little's law over what the stage let through; empty where that is not told.
fn each_waits(stage: &Stage, filled: &Filled) -> Text {
    match filled.per_second.filter(|_| stage.predicts.is_some()) {
        Some(done) => Text::new("rule-target-queue-wait").number(
            "seconds",
            filled.waiting / done,
            Unit::Seconds,
        ),
        None => Text::words(""),
    }
}

/// Evidence in the load itself: the time that requests waited, or connections that were reset.
fn own_view(view: &PhaseView<'_>, stage: &Stage) -> Option<Evidence> {
    let requests = Requests::of(view)?;
    let resets = || requests.row("evidence-resets", http::RESETS);
    let waits = || Some(requests.stage_row(&requests.stage("wait")?));
    match stage.predicts {
        None => resets().or_else(waits),
        Some(_) => waits(),
    }
}

/// With as many servers as requests are at the stage.
fn predicted(view: &PhaseView<'_>, filled: &Filled) -> Option<After> {
    let per_second = filled.per_second?;
    let users = view
        .highest_mean(None, http::ACTIVE_USERS, &[])
        .map(|(_, users)| users);
    let users = users.or_else(|| view.total(http::OPEN_CONNECTIONS))?;
    let servers = (filled.used + filled.waiting).ceil();
    let at_stage_s = (filled.used + filled.waiting) / per_second;
    let elsewhere_s = (users / per_second - at_stage_s).max(0.0);
    let station = Station {
        demand_s: filled.used / per_second,
        servers: servers as u32,
    };
    let users = users.round().clamp(1.0, f64::from(MOST_USERS)) as u32;
    let after = closed(&[station], elsewhere_s, users).per_second;
    (after > per_second).then_some(After {
        servers,
        factor: after / per_second,
        cpu_users: cpu_is_full_at(view, filled, f64::from(users)),
    })
}

/// Users with which the server's CPU is full when nobody waits at the stage: as many as the CPUs carry
/// requests in the time that a user needs for one, `N* = cores / demand · cycle`.
fn cpu_is_full_at(view: &PhaseView<'_>, filled: &Filled, users: f64) -> Option<f64> {
    let used = Requests::of(view)?
        .server_cpu()
        .filter(|used| *used > 0.0)?;
    let idle = [("state", "idle")];
    let of_host = view.series(Some(&filled.host), host::CPU_RATIO, &idle);
    let cores: BTreeSet<&str> = of_host
        .filter_map(|series| series.key.labels.get("core"))
        .map(String::as_str)
        .filter(|core| *core != "all")
        .collect();
    let at = cores.len() as f64 / used * (users - filled.waiting);
    (at > 0.0).then(|| at.round())
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;
    use crate::tests::*;

    const STAGES: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 4.1, 0.0];

    fn record(series: &[(&str, f64)]) -> sokudo_model::Record {
        let mut record = of_stages(STAGES, &[("requests", 71.0), ("open_connections", 25.0)]);
        for (name, value) in series {
            add_series(&mut record, "hosta", name, &[], *value, *value);
        }
        record
    }

    #[test]
    fn a_full_pool_is_the_limit_although_it_fills_the_workers() {
        let record = record(&[
            ("target.pool.used", 10.0),
            ("target.pool.max", 10.0),
            ("target.pool.waiting", 11.0),
            ("target.workers.active", 50.0),
            ("target.workers.max", 50.0),
            ("target.workers.queued", 3.0),
            ("target.workers.done_per_second", 5.0),
        ]);
        check(&record, "target_queue", "rule-target-queue-pool-says");
    }

    #[test]
    fn workers_that_are_all_busy_are_the_limit_when_the_pool_has_room() {
        let record = record(&[
            ("target.pool.used", 30.0),
            ("target.pool.max", 40.0),
            ("target.pool.waiting", 0.0),
            ("target.workers.active", 40.0),
            ("target.workers.max", 40.0),
            ("target.workers.queued", 9.0),
            ("target.workers.done_per_second", 18.0),
        ]);
        check(&record, "target_queue", "rule-target-queue-workers-says");
    }

    #[test]
    fn a_stage_is_full_while_the_load_is_there() {
        let mut record = of_stages(STAGES, &[("open_connections", 25.0)]);
        let phase = &record.manifest.phases[0];
        let (t0, step) = (phase.t0_ns, (phase.t1_ns - phase.t0_ns) / 10);
        // Full for 6 of 10 s: users come, and their last requests are answered.
        let depths = [0.0, 5.0, 12.0, 11.0, 12.0, 13.0, 11.0, 10.0, 0.0, 0.0];
        for (name, most) in [("used", 10.0), ("waiting", 20.0)] {
            add_series(
                &mut record,
                "hosta",
                &format!("target.pool.{name}"),
                &[],
                0.0,
                0.0,
            );
            let series = record.series.last_mut().expect("it was just added");
            let of = |depth: f64| {
                if name == "used" {
                    depth.min(most)
                } else {
                    (depth - 5.0).max(0.0)
                }
            };
            let points = depths.iter().zip(0..);
            series.points = points
                .map(|(depth, at)| (t0 + at * step, of(*depth)))
                .collect();
        }
        add_series(&mut record, "hosta", "target.pool.max", &[], 10.0, 10.0);
        let series = record.series.last_mut().expect("it was just added");
        series.points = (0..10).map(|at| (t0 + at * step, 10.0)).collect();
        check(&record, "target_queue", "rule-target-queue-pool-says");
        let found = findings(&record);
        let found = found
            .iter()
            .find(|one| one.rule == "target_queue")
            .expect("it was there");
        let Arg::Number(waiting, _) = found.says.args["waiting"] else {
            panic!("{:?}", found.says)
        };
        assert!((waiting - 6.5).abs() < 1e-9, "{waiting}");
    }

    #[test]
    fn a_server_with_room_in_every_stage_has_no_full_queue() {
        let record = record(&[
            ("target.pool.used", 10.0),
            ("target.pool.max", 10.0),
            ("target.pool.waiting", 0.2),
            ("target.workers.active", 10.0),
            ("target.workers.max", 50.0),
            ("target.workers.queued", 0.0),
        ]);
        assert!(is_quiet(&record, "target_queue"));
    }
}
