//! The clients of a mix: which transaction comes next, and one try of it, step by step.
//!
//! A try begins again where the database began: at the transaction that failed, not at those before it that were
//! committed. Variables and random numbers are then those of that moment.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use sokudo_pace::Random;
use sokudo_sql::{
    Begin, Class, Engine, Row, Session, SqlError, Statement as PreparedStatement, Value,
};

use super::evaluate;
use super::expression::{DEFAULT_SEED, Node};
use super::mix::{CLIENT, Mix, SCALE, SEED};
use super::program::{Block, Capture, Form, Names, Piece, Statement, Step, Variable};
use super::scalar::{Fault, Scalar};
use crate::drive::{Attempt, Client, Named, Noted, Transactions, sleep_until};

/// Letters of texts that are drawn.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// A mix, and what its clients begin with.
pub(crate) struct MixLoad {
    pub(super) mix: Arc<Mix>,
    /// Paths of its files, for messages.
    pub(super) paths: Vec<String>,
    /// Values that variables have at the begin.
    pub(super) given: Vec<(String, Scalar)>,
    /// Clients of all hosts: steps of their sequences.
    pub(super) clients: u32,
}

/// State of a client.
pub(crate) struct Seat {
    number: u64,
    variables: Vec<Scalar>,
}

/// A transaction: which one, and from where it is tried.
pub(crate) struct Input {
    transaction: usize,
    client: i64,
    kept: RefCell<State>,
}

/// Execution state of a transaction.
#[derive(Clone)]
struct State {
    step: usize,
    variables: Vec<Scalar>,
    random: Random,
}

impl State {
    /// Takes over another one, in the same memory.
    fn become_like(&mut self, other: &Self) {
        self.step = other.step;
        self.variables.clone_from(&other.variables);
        self.random.clone_from(&other.random);
    }

    fn value(&mut self, node: &Node) -> Result<Scalar, Fault> {
        evaluate::value(node, &self.variables, &mut self.random)
    }
}

impl Transactions for MixLoad {
    type Parts = Named;
    type Prepared = Vec<Option<PreparedStatement>>;
    type Seat = Seat;
    type Input = Input;

    fn seat(&self, number: u64) -> Seat {
        let mut variables = vec![Scalar::Unset; self.mix.names.len()];
        for (name, value) in &self.given {
            if let Some(variable) = self.mix.names.find(name) {
                variables[variable.index()] = value.clone();
            }
        }
        if let Some(client) = self.mix.names.find(CLIENT) {
            variables[client.index()] = Scalar::Int(i64::try_from(number).unwrap_or(0));
        }
        Seat { number, variables }
    }

    async fn prepare(&self, session: &mut Session) -> Result<Self::Prepared, SqlError> {
        let mut prepared = vec![None; self.mix.prepared];
        for transaction in &self.mix.transactions {
            for step in &transaction.steps {
                let Step::Statement(statement) = step else {
                    continue;
                };
                let Form::Prepared(sql, _) = &statement.form else {
                    continue;
                };
                prepared[statement.number] = match session.prepare(sql).await {
                    Ok(statement) => Some(statement),
                    // Its table may be made by the mix itself: it is prepared when it is carried out.
                    Err(error) if error.class == Class::Undefined && self.mix.makes_tables => None,
                    Err(error) => {
                        return Err(self.located(error, transaction.file, statement.line));
                    }
                };
            }
        }
        Ok(prepared)
    }

    fn draw(&self, client: &mut Client<Seat>) -> Input {
        let all: u64 = self.mix.transactions.iter().map(|one| one.weight).sum();
        let mut at = client.random.below(all);
        let drawn = self.mix.transactions.iter().position(|one| {
            let is_here = at < one.weight;
            at = at.saturating_sub(one.weight);
            is_here
        });
        Input {
            transaction: drawn.unwrap_or(0),
            client: i64::try_from(client.seat.number).unwrap_or(0),
            kept: RefCell::new(State {
                step: 0,
                variables: std::mem::take(&mut client.seat.variables),
                random: client.random.clone(),
            }),
        }
    }

    async fn attempt(
        &self,
        session: &mut Session,
        prepared: &Self::Prepared,
        input: &Input,
    ) -> Attempt {
        let mut run = Run {
            load: self,
            prepared,
            input,
            state: input.kept.borrow().clone(),
            in_block: false,
            kept: Vec::new(),
            in_pipeline: false,
        };
        run.carry_out(session).await?;
        input.kept.replace(run.state);
        Ok(Noted::default())
    }

    fn is_marked(&self, _input: &Input) -> bool {
        false
    }

    fn kind(&self, input: &Input) -> Option<usize> {
        Some(input.transaction)
    }

    fn give_back(&self, client: &mut Client<Seat>, input: Input) {
        let kept = input.kept.into_inner();
        client.seat.variables = kept.variables;
        client.random = kept.random;
    }
}

impl MixLoad {
    /// Values of the variables that every mix has.
    pub(super) fn given(
        scale: u32,
        seed: u64,
        defined: &[(String, String)],
    ) -> Vec<(String, Scalar)> {
        let seed = Scalar::Int(seed as i64);
        let own = [
            (SCALE.to_owned(), Scalar::Int(scale.into())),
            (SEED.to_owned(), seed.clone()),
            (DEFAULT_SEED.to_owned(), seed),
        ];
        let defined = defined.iter();
        let defined =
            defined.map(|(name, value)| (name.clone(), Scalar::Text(value.as_str().into())));
        own.into_iter().chain(defined).collect()
    }

    /// An error with the place of its statement.
    #[cold]
    fn located(&self, error: SqlError, file: usize, line: u32) -> SqlError {
        let path = self.paths.get(file).map_or("", String::as_str);
        SqlError {
            message: format!("{path}:{line}: {}", error.message),
            ..error
        }
    }
}

/// One try.
struct Run<'a> {
    load: &'a MixLoad,
    prepared: &'a [Option<PreparedStatement>],
    input: &'a Input,
    state: State,
    /// Whether the session is within a transaction that was begun.
    in_block: bool,
    /// Statements of a pipeline that has not ended.
    kept: Vec<Kept>,
    in_pipeline: bool,
}

/// A statement of a pipeline with its values.
struct Kept {
    prepared: PreparedStatement,
    values: Vec<Value<'static>>,
    block: Option<Block>,
}

impl Run<'_> {
    async fn carry_out(&mut self, session: &mut Session) -> Result<(), SqlError> {
        let load = self.load;
        let transaction = &load.mix.transactions[self.input.transaction];
        while let Some(step) = transaction.steps.get(self.state.step) {
            self.state.step += 1;
            let is_on_database = self
                .step(session, step)
                .await
                .map_err(|error| self.told(error, step, transaction.file))?;
            if is_on_database && !self.in_block {
                self.input.kept.borrow_mut().become_like(&self.state);
            }
        }
        match self.in_block {
            false => Ok(()),
            true => Err(wrong("the script ended within a transaction")),
        }
    }

    #[cold]
    fn told(&self, error: SqlError, step: &Step, file: usize) -> SqlError {
        match step {
            Step::Statement(statement) => self.load.located(error, file, statement.line),
            Step::EndPipeline(line) => self.load.located(error, file, *line),
            _ => error,
        }
    }

    /// Carries a step out; true when the database had a part in it.
    async fn step(&mut self, session: &mut Session, step: &Step) -> Result<bool, SqlError> {
        match step {
            Step::StartPipeline => self.in_pipeline = true,
            Step::EndPipeline(_) => {
                self.pipeline(session).await?;
                return Ok(true);
            }
            Step::Statement(statement) if self.in_pipeline => {
                self.keep(session, statement).await?;
            }
            Step::Statement(statement) => {
                // SQLite lets who asks for the right to write wait, and refuses who takes it in passing.
                let asks = statement.writes && !self.in_block && session.engine() == Engine::Sqlite;
                if asks {
                    session.begin(Begin::Write).await?;
                }
                self.statement(session, statement).await?;
                if asks {
                    session.commit().await?;
                }
                return Ok(true);
            }
            Step::Begin(begin) => {
                session.begin(*begin).await?;
                self.in_block = true;
                return Ok(true);
            }
            Step::Commit | Step::Rollback => {
                match step {
                    Step::Commit => session.commit().await?,
                    _ => session.rollback().await?,
                }
                self.in_block = false;
                return Ok(true);
            }
            Step::Sleep(amount, unit_us) => {
                let amount = self.state.value(amount).and_then(|it| it.int());
                let amount = amount.map_err(fault)?.max(0).unsigned_abs();
                sleep(Duration::from_micros(amount.saturating_mul(*unit_us))).await;
            }
            Step::Jump(aim) => self.state.step = *aim,
            Step::Unless(condition, aim) => {
                let holds = self.state.value(condition).and_then(|it| it.holds());
                if !holds.map_err(fault)? {
                    self.state.step = *aim;
                }
            }
            Step::Set(variable, node) => {
                let value = self.state.value(node).map_err(fault)?;
                self.state.variables[variable.index()] = value;
            }
            drawn => self.draw(drawn),
        }
        Ok(false)
    }

    /// Steps that give a variable a value other than an expression.
    fn draw(&mut self, step: &Step) {
        let random = &mut self.state.random;
        let (variable, value) = match step {
            Step::Letters(variable, least, most) => {
                let letters = random.between(*least, *most).unsigned_abs();
                let letter = |_| LETTERS[random.below(LETTERS.len() as u64) as usize] as char;
                let text: String = (0..letters).map(letter).collect();
                (variable, Scalar::Text(text.into()))
            }
            Step::Choice(variable, values) => {
                let at = random.below(values.len() as u64) as usize;
                (variable, values[at].clone())
            }
            Step::Between(variable, least, most) => (
                variable,
                Scalar::Double(least + (most - least) * random.unit()),
            ),
            Step::Sequence(variable, first, by) => {
                let next = match self.state.variables[variable.index()] {
                    Scalar::Int(last) => {
                        last.wrapping_add(by.wrapping_mul(self.load.clients.into()))
                    }
                    _ => first.wrapping_add(by.wrapping_mul(self.input.client)),
                };
                (variable, Scalar::Int(next))
            }
            _ => return,
        };
        self.state.variables[variable.index()] = value;
    }

    fn follow(&mut self, block: Option<Block>) {
        match block {
            Some(Block::Begins) => self.in_block = true,
            Some(Block::Ends) => self.in_block = false,
            None => {}
        }
    }

    /// Keeps a statement for the end of its pipeline, with the values of this moment.
    async fn keep(&mut self, session: &mut Session, statement: &Statement) -> Result<(), SqlError> {
        let Form::Prepared(sql, parameters) = &statement.form else {
            return Err(wrong("a pipeline has a statement that is not prepared"));
        };
        let prepared = match &self.prepared[statement.number] {
            Some(prepared) => prepared.clone(),
            None => session.prepare(sql).await?,
        };
        let values = self.values(parameters, session.engine())?;
        self.kept.push(Kept {
            prepared,
            values: values.into_iter().map(Value::into_owned).collect(),
            block: statement.block,
        });
        Ok(())
    }

    /// Sends what was kept, and waits for all answers.
    async fn pipeline(&mut self, session: &mut Session) -> Result<(), SqlError> {
        let kept = std::mem::take(&mut self.kept);
        let steps = kept.iter().map(|one| (&one.prepared, &one.values[..]));
        let steps: Vec<_> = steps.collect();
        session.pipeline(&steps).await?;
        kept.iter().for_each(|one| self.follow(one.block));
        self.in_pipeline = false;
        Ok(())
    }

    fn values(&self, parameters: &[Variable], engine: Engine) -> Result<Vec<Value<'_>>, SqlError> {
        let variables = &self.state.variables;
        let value = |variable: &Variable| variables[variable.index()].parameter(engine);
        let values = parameters.iter().map(value);
        values.collect::<Result<_, _>>().map_err(fault)
    }

    async fn statement(
        &mut self,
        session: &mut Session,
        statement: &Statement,
    ) -> Result<(), SqlError> {
        match &statement.form {
            Form::Plain(sql) => {
                session.batch(sql).await?;
                self.follow(statement.block);
                Ok(())
            }
            Form::Prepared(sql, parameters) => match &self.prepared[statement.number] {
                Some(prepared) => self.execute(session, prepared, parameters, statement).await,
                None => {
                    let prepared = session.prepare(sql).await?;
                    self.execute(session, &prepared, parameters, statement)
                        .await
                }
            },
            Form::Written => {
                let sql = self.written(&statement.pieces).map_err(fault)?;
                let prepared = session.prepare(&sql).await?;
                self.execute(session, &prepared, &[], statement).await
            }
        }
    }

    fn written(&self, pieces: &[Piece]) -> Result<String, Fault> {
        let mut sql = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Variable { variable, .. } => {
                    self.state.variables[variable.index()].write(&mut sql)?;
                }
            }
        }
        Ok(sql)
    }

    async fn execute(
        &mut self,
        session: &mut Session,
        prepared: &PreparedStatement,
        parameters: &[Variable],
        statement: &Statement,
    ) -> Result<(), SqlError> {
        let values = self.values(parameters, session.engine())?;
        let rows = match &statement.capture {
            Capture::None => session.execute(prepared, &values).await?,
            capture => {
                let mut captured = Captured::new(capture, &self.load.mix.names);
                session
                    .query(prepared, &values, |row| captured.take(row))
                    .await?;
                drop(values);
                captured.keep(&mut self.state.variables)?
            }
        };
        match statement.rows {
            Some((least, most)) if !(least..=most).contains(&rows) => {
                Err(wrong(&match least == most {
                    true => format!("{rows} rows, not {least}"),
                    false => format!("{rows} rows, not {least} to {most}"),
                }))
            }
            _ => Ok(()),
        }
    }
}

/// Variables that a statement's rows set.
struct Captured<'a> {
    capture: &'a Capture,
    names: &'a Names,
    rows: u64,
    set: Vec<(Variable, Scalar)>,
}

impl<'a> Captured<'a> {
    fn new(capture: &'a Capture, names: &'a Names) -> Self {
        Self {
            capture,
            names,
            rows: 0,
            set: Vec::new(),
        }
    }

    fn take(&mut self, row: &Row<'_>) -> Result<(), SqlError> {
        self.rows += 1;
        let is_wanted = self.rows == 1 || matches!(self.capture, Capture::Last(_));
        if !is_wanted {
            return Ok(());
        }
        self.set.clear();
        for column in 0..row.columns() {
            let variable = match self.capture {
                Capture::None => None,
                Capture::Columns(variables) => variables.get(column).copied(),
                Capture::One(prefix) | Capture::Last(prefix) => {
                    let name = row.name(column).unwrap_or_default();
                    self.names.find(&format!("{prefix}{name}"))
                }
            };
            if let Some(variable) = variable {
                self.set.push((variable, row.value(column)?.into()));
            }
        }
        Ok(())
    }

    /// Puts the values in place; gives the number of rows.
    fn keep(self, variables: &mut [Scalar]) -> Result<u64, SqlError> {
        if let Capture::Columns(all) = self.capture
            && self.rows == 0
        {
            all.iter()
                .for_each(|one| variables[one.index()] = Scalar::Null);
        }
        if matches!(self.capture, Capture::One(_)) && self.rows != 1 {
            return Err(wrong(&format!(
                "\\gset expects one row, and got {}",
                self.rows
            )));
        }
        for (variable, value) in self.set {
            variables[variable.index()] = value;
        }
        Ok(self.rows)
    }
}

async fn sleep(time: Duration) {
    let until_ns = sokudo_net::clock::now_ns().saturating_add_unsigned(time.as_nanos() as u64);
    sleep_until(until_ns).await;
}

#[cold]
fn fault(fault: Fault) -> SqlError {
    wrong(&fault.to_string())
}

/// An error of the mix itself, which no further try mends.
#[cold]
fn wrong(message: &str) -> SqlError {
    SqlError {
        class: Class::Other,
        code: None,
        message: message.to_owned(),
        is_lost: false,
    }
}
