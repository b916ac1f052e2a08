//! Carries out specifications: a thread for each pair of hosts, a run and a record for each attempt.
//!
//! A pair whose host is dead or slow holds up no other one.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_controller::{Hosts, Observer, Progress, Run, RunConfig};
use sokudo_i18n::Lang;
use sokudo_load_replicate::replicate::timetable::WeekTime;
use sokudo_model::{Record, Refusal, RunStatus, Text};
use sokudo_wire::Key;
use sokudo_workload::Options;
use sokudo_workload::refusal::failed;

use super::file::{Leg, Spec};
use super::row::{Doing, LegState, Row};
use super::schedule::Schedule;
use crate::{How, Measurement, conclude, random_seed};

/// Time between two looks at whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// Time until a failed attempt is made again: at first, and at most.
const AGAIN: Duration = Duration::from_secs(2);
const AGAIN_MOST: Duration = Duration::from_secs(120);
/// Time between two samples of the hosts' monitors, nanoseconds.
const WATCH_NS: u64 = 1_000_000_000;

/// Adds a host to a run: how hosts are called is the caller's business.
pub type Reach<'a> = dyn Fn(&mut Hosts, &str, Option<&Key>) -> Result<(), Refusal> + Sync + 'a;
/// Is shown each row as it changes, with its place.
pub type Board<'a> = dyn Fn(usize, &Row) + Sync + 'a;

/// Specifications to carry out.
pub struct Keeping<'a> {
    /// They.
    pub specs: &'a [Spec],
    /// The key of each host.
    pub key: &'a (dyn Fn(&str) -> Result<Option<Key>, Refusal> + Sync),
    /// Calls a host.
    pub reach: &'a Reach<'a>,
    /// Is shown the rows.
    pub board: &'a Board<'a>,
    /// Command line for the records.
    pub command: Vec<String>,
    /// Language of the records' reports.
    pub lang: Lang,
    /// Carry each out once, whatever its schedule says.
    pub once: bool,
    /// Set when the operator wants an end.
    pub stop: Arc<AtomicBool>,
}

/// Carries all of them out until the last has ended or an end is wanted; gives their rows.
pub fn keep(keeping: &Keeping<'_>) -> Vec<Row> {
    let begin = |spec: &Spec| {
        let legs = spec.legs.iter().map(|leg| LegState::new(&leg.host));
        Mutex::new(legs.collect::<Vec<LegState>>())
    };
    let states: Vec<Mutex<Vec<LegState>>> = keeping.specs.iter().map(begin).collect();
    thread::scope(|scope| {
        for (place, (spec, legs)) in keeping.specs.iter().zip(&states).enumerate() {
            for (number, leg) in spec.legs.iter().enumerate() {
                let own = Own {
                    keeping,
                    place,
                    number,
                    legs,
                };
                let made = thread::Builder::new()
                    .name(format!("{}-{number}", spec.name))
                    .spawn_scoped(scope, move || own.carry_on(spec, leg));
                if let Err(error) = made {
                    let own = Own {
                        keeping,
                        place,
                        number,
                        legs,
                    };
                    own.change(|state| state.failed = Some(error.to_string().into()));
                }
            }
        }
    });
    let rows = keeping.specs.iter().zip(&states);
    rows.map(|(spec, legs)| {
        let legs = legs.lock().unwrap_or_else(PoisonError::into_inner);
        Row::of(&spec.name, &legs)
    })
    .collect()
}

/// State of the thread of a pair.
#[derive(Clone, Copy)]
struct Own<'a> {
    keeping: &'a Keeping<'a>,
    place: usize,
    number: usize,
    legs: &'a Mutex<Vec<LegState>>,
}

/// End of an attempt.
struct Attempt {
    record: Option<PathBuf>,
    failed: Option<Text>,
}

impl Own<'_> {
    fn change(&self, change: impl FnOnce(&mut LegState)) {
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut legs[self.number]);
        let name = &self.keeping.specs[self.place].name;
        (self.keeping.board)(self.place, &Row::of(name, &legs));
    }

    fn is_over(&self) -> bool {
        self.keeping.stop.load(Ordering::Relaxed)
    }

    /// Waits; false when an end is wanted.
    fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut shown = Instant::now();
        self.change(|state| state.doing = Doing::Waits(time));
        while !self.is_over() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            if shown.elapsed() >= Duration::from_secs(1) {
                shown = Instant::now();
                self.change(|state| state.doing = Doing::Waits(left));
            }
            thread::sleep(left.min(LOOK));
        }
        false
    }

    fn carry_on(self, spec: &Spec, leg: &Leg) {
        let schedule = match self.keeping.once {
            true => &Schedule::Once,
            false => &spec.schedule,
        };
        let mut records = VecDeque::new();
        let mut last: Option<Instant> = None;
        let mut failures = 0_u32;
        loop {
            let since = last.map(|last| last.elapsed());
            let Some(mut time) = schedule.begins_in(since, now()) else {
                break;
            };
            if failures > 0 {
                let again = (AGAIN * (1 << (failures - 1).min(10))).min(AGAIN_MOST);
                time = match schedule {
                    Schedule::Mirror => again,
                    _ => time.min(again),
                };
            }
            if !self.wait(time) {
                break;
            }
            last = Some(Instant::now());
            let attempt = self.attempt(leg);
            records.extend(attempt.record);
            while records.len() > spec.records {
                if let Some(old) = records.pop_front() {
                    // A record that somebody has taken away is gone all the same.
                    let _ = sokudo_store::discard(&old);
                }
            }
            failures = match attempt.failed {
                Some(_) => failures.saturating_add(1),
                None => 0,
            };
            self.change(|state| {
                state.runs += 1;
                state.is_well = attempt.failed.is_none();
                state.failed = attempt.failed;
            });
            if self.is_over() {
                break;
            }
        }
        self.change(|state| state.doing = Doing::Ended);
    }

    fn attempt(&self, leg: &Leg) -> Attempt {
        let carried = self.carry_out(leg);
        // What is left undone by an end that was asked for is not a failure.
        let is_over = self.is_over();
        match carried {
            Ok((path, record)) => Attempt {
                record: Some(path),
                failed: why(&record).filter(|_| !is_over),
            },
            Err(refusal) => Attempt {
                record: None,
                failed: Some(refusal.says).filter(|_| !is_over),
            },
        }
    }

    fn carry_out(&self, leg: &Leg) -> Result<(PathBuf, Record), Refusal> {
        let keeping = self.keeping;
        self.change(|state| state.doing = Doing::Calls);
        let mut options = leg.options.clone();
        if keeping.once {
            options.mirror = None;
            options.resync = None;
        }
        let planned = Measurement::new(&options, &How::default())?;
        let key = (keeping.key)(&leg.host)?;
        let mut hosts = Hosts::own(sokudo_agent::factory)?;
        hosts.stop_on(&keeping.stop);
        (keeping.reach)(&mut hosts, &leg.host, key.as_ref())?;
        let config = RunConfig {
            workload: <sokudo_load_replicate::replicate::ReplicateOptions as Options>::NAME.into(),
            command: keeping.command.clone(),
            root: sokudo_store::runs_root(),
            seed: random_seed(),
            interval_ns: WATCH_NS,
            monitors: Vec::new(),
            stop: Arc::clone(&keeping.stop),
        };
        let (told, telling) = std::sync::mpsc::sync_channel(64);
        let observer = Watching {
            told,
            follows: options.mirror.is_some(),
        };
        thread::scope(|scope| {
            // Showing rows may wait for a terminal: the run does not.
            scope.spawn(|| {
                for news in telling {
                    self.change(|state| news.apply(state));
                }
            });
            let mut run = Run::begin(hosts, config, Box::new(observer))?;
            let name = &keeping.specs[self.place].name;
            let note = Text::new("specs-note").word("name", name);
            run.manifest_mut().notes.push(note);
            if let Err(error) = planned.measure(&mut run) {
                run.ended_by(&error);
                let refusal = Refusal::from(error);
                let phases = &run.manifest().phases;
                let is_empty = phases.iter().all(|phase| phase.status == RunStatus::Failed);
                let path = run.finish()?.path;
                if is_empty {
                    sokudo_store::discard(&path)?;
                    return Err(refusal);
                }
                return Ok((path.clone(), conclude(&path, keeping.lang)?));
            }
            let path = run.finish()?.path;
            Ok((path.clone(), conclude(&path, keeping.lang)?))
        })
    }
}

fn now() -> (WeekTime, u64) {
    (WeekTime::now(), WeekTime::seconds_now())
}

/// Reason why a record is not that of a whole replication; `None`: it is.
fn why(record: &Record) -> Option<Text> {
    let manifest = &record.manifest;
    let flows = manifest.phases.iter().flat_map(|phase| &phase.result.flows);
    let mut errors = flows.filter_map(|flow| flow.labels.get("error").cloned());
    if let Some(error) = errors.next() {
        return Some(Text::recorded(error));
    }
    match manifest.status {
        RunStatus::Ok => None,
        _ => {
            let problem = manifest
                .problems
                .first()
                .map(|problem| problem.says.clone());
            Some(
                problem
                    .unwrap_or_else(|| failed(Text::new("error-replicate-not-whole"), None).says),
            )
        }
    }
}

/// Progress of a run.
enum News {
    Begins(Doing),
    Batch(sokudo_model::Batch),
}

impl News {
    fn apply(self, state: &mut LegState) {
        match self {
            News::Begins(doing) => {
                state.doing = doing;
                state.copying = super::copying::Copying::default();
            }
            News::Batch(batch) => state.copying.add(&batch),
        }
    }
}

struct Watching {
    told: std::sync::mpsc::SyncSender<News>,
    follows: bool,
}

impl Observer for Watching {
    fn note(&mut self, progress: &Progress<'_>) {
        let news = match progress {
            Progress::PhaseBegins(_) => News::Begins(match self.follows {
                true => Doing::Follows,
                false => Doing::Copies,
            }),
            Progress::Batch(batch) => News::Batch((*batch).clone()),
            _ => return,
        };
        // What nobody has read yet is told anew by the next samples.
        let _ = self.told.try_send(news);
    }
}
