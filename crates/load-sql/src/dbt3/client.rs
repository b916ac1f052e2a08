//! The streams of `dbt3`: what each of them does next, and what came of all of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_model::kinds::dbt3 as numbers;
use sokudo_model::{Labels, Metric, Summary};
use sokudo_net::clock::now_ns;
use sokudo_sql::{Session, SqlError};
use sokudo_workload::joined::{NS, put};

use super::data::{Maker, Sizes};
use super::queries::{self, COUNT};
use super::refresh::{Refresh, clear};
use super::{parameters, streams};
use crate::digest::Digest;
use crate::drive::{Attempt, Client, Noted, Parts, Told, Transactions, Turn};

/// Time between two looks whether the power test has ended.
const LOOK: Duration = Duration::from_millis(2);

/// Task of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The power test: a refresh, all questions, the other refresh.
    Power,
    /// A stream of questions in the throughput test, from 1.
    Queries(u64),
    /// The refreshes beside so many streams.
    Refreshes(u64),
}

impl Role {
    /// Transactions that it takes.
    pub(super) fn steps(self) -> u64 {
        match self {
            Self::Power => COUNT as u64 + 2,
            Self::Queries(_) => COUNT as u64,
            Self::Refreshes(pairs) => 2 * pairs,
        }
    }

    /// Step of this index, from 0. Each stream has sets of new orders of its own.
    fn step(self, at: u64) -> Step {
        match self {
            Self::Power if at == 0 => Step::Insert(0),
            Self::Power if at > COUNT as u64 => Step::Delete(0),
            Self::Power => Step::Ask(0, streams::order(0)[at as usize - 1]),
            Self::Queries(stream) => Step::Ask(stream, streams::order(stream)[at as usize]),
            Self::Refreshes(_) if at.is_multiple_of(2) => Step::Insert(at / 2 + 1),
            Self::Refreshes(_) => Step::Delete(at / 2 + 1),
        }
    }
}

/// One transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// New orders of this set come in.
    Insert(u64),
    /// They go.
    Delete(u64),
    /// A stream asks a question, from 1.
    Ask(u64, usize),
}

impl Step {
    /// Its place among the numbers by kind.
    fn kind(self) -> usize {
        match self {
            Self::Ask(_, question) => question - 1,
            Self::Insert(_) => COUNT,
            Self::Delete(_) => COUNT + 1,
        }
    }
}

/// The numbers by question and refresh.
#[derive(Debug, Default)]
pub struct Kinds;

impl Parts for Kinds {
    const LATENCIES: &'static [Metric] = &numbers::LATENCIES;
    const COUNTS: &'static [Metric] = &numbers::COUNTS;
}

/// Outcome of a transaction.
#[derive(Debug, Clone, Copy)]
struct Done {
    role: Role,
    step: Step,
    begun_ns: i64,
    ended_ns: i64,
    answer: Digest,
}

/// The streams on a database of one size.
pub(crate) struct Questions {
    pub(super) sizes: Sizes,
    pub(super) roles: Vec<Role>,
    pub(super) seed: u64,
    /// Orders that a run before this one has left are gone.
    is_clear: AtomicBool,
    has_power_ended: AtomicBool,
    done: Mutex<Vec<Done>>,
}

/// Progress of a client.
pub(crate) struct Seat {
    role: Role,
    at: u64,
}

/// A transaction, from when it was drawn.
pub(crate) struct Input {
    role: Role,
    step: Step,
    begun_ns: i64,
    refresh: Option<Refresh>,
}

impl Questions {
    pub(super) fn new(sizes: Sizes, roles: Vec<Role>, seed: u64) -> Self {
        let has_power = roles.contains(&Role::Power);
        Self {
            sizes,
            roles,
            seed,
            is_clear: AtomicBool::new(false),
            has_power_ended: AtomicBool::new(!has_power),
            done: Mutex::default(),
        }
    }

    fn done(&self) -> MutexGuard<'_, Vec<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transactions for Questions {
    type Parts = Kinds;
    type Prepared = ();
    type Seat = Seat;
    type Input = Input;

    fn seat(&self, number: u64) -> Seat {
        let role = self.roles.get(number as usize).copied();
        Seat {
            role: role.unwrap_or(Role::Refreshes(0)),
            at: 0,
        }
    }

    async fn prepare(&self, session: &mut Session) -> Result<(), SqlError> {
        match self.is_clear.swap(true, Ordering::AcqRel) {
            true => Ok(()),
            false => clear(session).await,
        }
    }

    fn turn(&self, client: &mut Client<Seat>) -> Turn {
        let seat = &client.seat;
        let is_over = seat.at >= seat.role.steps();
        match (seat.role, is_over) {
            (Role::Power, true) => {
                self.has_power_ended.store(true, Ordering::Release);
                Turn::Over
            }
            (_, true) => Turn::Over,
            (Role::Power, false) => Turn::Now,
            (_, false) if self.has_power_ended.load(Ordering::Acquire) => Turn::Now,
            (_, false) => Turn::After(LOOK),
        }
    }

    fn draw(&self, client: &mut Client<Seat>) -> Input {
        let role = client.seat.role;
        let step = role.step(client.seat.at);
        client.seat.at += 1;
        let refresh = match step {
            Step::Insert(set) | Step::Delete(set) => {
                Some(Refresh::new(&mut Maker::new(self.sizes), set as i64))
            }
            Step::Ask(..) => None,
        };
        Input {
            role,
            step,
            // New orders are made before their time begins.
            begun_ns: now_ns(),
            refresh,
        }
    }

    async fn attempt(&self, session: &mut Session, _prepared: &(), input: &Input) -> Attempt {
        let mut answer = Digest::default();
        match (input.step, &input.refresh) {
            (Step::Ask(stream, question), _) => {
                let drawn = parameters::draw(question, self.sizes.suppliers, self.seed, stream);
                let text = queries::text(question, &drawn, session.engine());
                let statement = session.prepare(&text).await?;
                session
                    .query(&statement, &[], |row| answer.add(row))
                    .await?;
            }
            (Step::Insert(_), Some(refresh)) => refresh.insert(session).await?,
            (Step::Delete(_), Some(refresh)) => refresh.delete(session).await?,
            (_, None) => {}
        }
        self.done().push(Done {
            role: input.role,
            step: input.step,
            begun_ns: input.begun_ns,
            ended_ns: now_ns(),
            answer,
        });
        Ok(Noted::default())
    }

    fn is_marked(&self, _input: &Input) -> bool {
        false
    }

    fn kind(&self, input: &Input) -> Option<usize> {
        Some(input.step.kind())
    }

    fn told(&self) -> Told {
        let done = self.done();
        let factor = self.sizes.factor();
        let (power, labels) = power(&done, factor);
        let (throughput, seconds) = throughput(&done, &self.roles, factor).unzip();
        let both = power.zip(throughput);
        let mut told = Summary::new();
        put(&mut told, numbers::POWER, power);
        put(&mut told, numbers::THROUGHPUT, throughput);
        put(&mut told, numbers::THROUGHPUT_SECONDS, seconds);
        let composite = both.map(|(power, throughput)| streams::composite(power, throughput));
        put(&mut told, numbers::COMPOSITE, composite);
        Told {
            numbers: told,
            labels,
        }
    }
}

/// Power, once every step of its test has succeeded, and the digest of its answers.
fn power(done: &[Done], factor: f64) -> (Option<f64>, Labels) {
    let mut own: Vec<&Done> = done.iter().filter(|one| one.role == Role::Power).collect();
    if own.len() as u64 != Role::Power.steps() {
        return (None, Labels::new());
    }
    own.sort_by_key(|one| one.step.kind());
    let seconds = own
        .iter()
        .map(|one| (one.ended_ns - one.begun_ns) as f64 * NS);
    let power = streams::power(factor, &seconds.collect::<Vec<_>>());
    let mut answers = Digest::default();
    own[..COUNT]
        .iter()
        .for_each(|one| answers.chain(&one.answer));
    let answers = ("answers".to_owned(), answers.chained());
    (Some(power), Labels::from([answers]))
}

/// Throughput, once every stream of its test has succeeded, and the seconds from the first begin to the last end.
fn throughput(done: &[Done], roles: &[Role], factor: f64) -> Option<(f64, f64)> {
    let others = || roles.iter().filter(|role| **role != Role::Power);
    let own = || done.iter().filter(|one| one.role != Role::Power);
    if own().count() as u64 != others().map(|role| role.steps()).sum::<u64>() {
        return None;
    }
    let begun_ns = own().map(|one| one.begun_ns).min()?;
    let ended_ns = own().map(|one| one.ended_ns).max()?;
    let seconds = (ended_ns - begun_ns).max(1) as f64 * NS;
    let streams = others().filter(|role| matches!(role, Role::Queries(_)));
    Some((
        streams::throughput(factor, streams.count() as u64, seconds),
        seconds,
    ))
}

/// Asks every question once, as stream 0 does; the digest of each answer.
///
/// Errors: those of the server.
pub async fn answers(session: &mut Session, seed: u64) -> Result<Vec<Digest>, SqlError> {
    let suppliers = crate::drive::one(session, "select count(*) from dbt3_supplier").await?;
    let mut answers = Vec::new();
    for question in 1..=COUNT {
        let drawn = parameters::draw(question, suppliers, seed, 0);
        let text = queries::text(question, &drawn, session.engine());
        let statement = session.prepare(&text).await?;
        let mut answer = Digest::default();
        let asked = session.query(&statement, &[], |row| answer.add(row)).await;
        asked.map_err(|error| SqlError {
            message: format!("question {question}: {}", error.message),
            ..error
        })?;
        answers.push(answer);
    }
    Ok(answers)
}
