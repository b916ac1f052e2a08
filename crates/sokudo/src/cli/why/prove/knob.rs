//! The knob of a target that a full queue points to, and what changing it must do.

use std::net::SocketAddr;

use sokudo_model::metrics::target as queues;
use sokudo_model::proof::Outcome;
use sokudo_model::{Finding, Record};
use sokudo_stats::versus::Effect;

use crate::cli::Failure;
use crate::cli::target::{folder, remote};
use sokudo_target::client::RemoteError;
use sokudo_target::{HeldKnobs, Remote};

/// Rule whose cause is a full queue of the server.
const RULE: &str = "target_queue";
/// A suspect that cannot be relieved is tightened to this share.
const TIGHTENED: f64 = 0.85;
/// From this elasticity on the suspect is the limit.
const ELASTIC: f64 = 0.5;
/// Up to this one it is not.
const INELASTIC: f64 = 0.2;

/// A knob, and how full its stage was.
pub struct Suspect {
    knob: &'static str,
    size: u64,
    wanted: u64,
    target: Remote,
}

/// A changed knob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub knob: &'static str,
    pub size: u64,
    pub value: u64,
}

/// The knob behind a cause; `None` where the cause is not a queue of a sokudo target.
pub fn suspect(record: &Record, cause: &Finding) -> Option<Suspect> {
    let stages = [
        (
            queues::POOL_USED,
            queues::POOL_MAX,
            queues::POOL_WAITING,
            "pool.max",
        ),
        (
            queues::WORKERS_ACTIVE,
            queues::WORKERS_MAX,
            queues::WORKERS_QUEUED,
            "workers.max",
        ),
    ];
    let value = |name: &str| {
        let mut rows = cause.evidence.iter();
        rows.find(|row| row.metric.as_deref() == Some(name))?.value
    };
    let (used, size, waiting, knob) =
        stages.into_iter().find_map(|(used, size, waiting, knob)| {
            let [used, size, waiting] = [used, size, waiting].map(|metric| value(metric.name));
            Some((used?, size?, waiting?, knob))
        })?;
    if cause.rule != RULE {
        return None;
    }
    Some(Suspect {
        knob,
        size: size as u64,
        wanted: ((used + waiting).ceil() as u64).max(size as u64 + 1),
        target: remote(Some(admin_of(record)?)).ok()?,
    })
}

/// Admin port of the sokudo target that was observed.
fn admin_of(record: &Record) -> Option<SocketAddr> {
    let mut monitors = record.manifest.plan.monitors.iter();
    let spec = monitors.find(|spec| spec.name == "target")?;
    let options: serde_json::Value = serde_json::from_str(&spec.options).ok()?;
    let is_foreign = ["url", "mapping"]
        .iter()
        .any(|key| !options[*key].is_null());
    let at = options["at"].as_str()?.parse().ok()?;
    (!is_foreign).then_some(at)
}

impl Suspect {
    /// As many as requests are at the stage; less than now where the target refuses that, because its
    /// database takes no more. Errors: the target does not answer, or somebody holds its knobs.
    pub fn change(self) -> Result<Change, Failure> {
        let Self {
            knob,
            size,
            wanted,
            target,
        } = self;
        let by = format!("why --prove ({})", std::process::id());
        let held = HeldKnobs::hold(target, &by, &folder())?;
        let value = match held.set(&[(knob.to_owned(), wanted.to_string())]) {
            Ok(_) => wanted,
            Err(RemoteError::Refused(_)) => tightened(size),
            Err(error) => return Err(error.into()),
        };
        held.release()?;
        Ok(Change { knob, size, value })
    }
}

fn tightened(size: u64) -> u64 {
    ((size as f64 * TIGHTENED) as u64).max(1)
}

impl Change {
    pub fn is_relief(&self) -> bool {
        self.value > self.size
    }

    /// The changed value over the present one.
    pub fn ratio(&self) -> f64 {
        self.value as f64 / self.size as f64
    }
}

/// Outcome of tightening a suspect to this share: what is carried follows the limit, or it is none.
pub fn elastic(effect: Effect, ratio: f64) -> Outcome {
    let elasticity = |effect: f64| (1.0 - effect) / (1.0 - ratio);
    // The higher the effect, the less it follows.
    let (least, most) = (elasticity(effect.high), elasticity(effect.low));
    match () {
        () if ratio >= 1.0 => Outcome::Undetermined,
        () if elasticity(effect.ratio) >= ELASTIC && least > INELASTIC => Outcome::Confirmed,
        () if elasticity(effect.ratio) <= INELASTIC && most < ELASTIC => Outcome::Refuted,
        () => Outcome::Undetermined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_tightened_limit_is_limited_by_it() {
        let effect = |low, ratio, high| Effect { ratio, low, high };
        assert_eq!(elastic(effect(0.78, 0.8, 0.83), 0.8), Outcome::Confirmed);
        assert_eq!(elastic(effect(0.98, 1.0, 1.02), 0.8), Outcome::Refuted);
        assert_eq!(elastic(effect(0.7, 0.93, 1.2), 0.8), Outcome::Undetermined);
        assert_eq!(elastic(effect(0.9, 1.0, 1.1), 1.0), Outcome::Undetermined);
    }

    #[test]
    fn a_limit_is_tightened_by_less_than_a_fifth_where_it_can_be() {
        assert_eq!(tightened(10), 8);
        assert_eq!(tightened(100), 85);
        assert_eq!(tightened(1), 1);
    }
}
