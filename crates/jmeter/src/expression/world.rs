//! The interface between templates and the state of a user or test.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::tz::TimeZone;
use sokudo_pace::Random;

use crate::files::{Files, ReadOnly, WriteMode};
use crate::properties::{Origin, Properties};
use crate::script::{LentFiles, LentState, LogLevel, Wishes};
use crate::xml;

/// Largest file that an expression reads.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// The lines of a file, without their line ends.
pub type Lines = Arc<[String]>;

/// A value that does not change while a template is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Number of the user within its group, from 1.
    UserNumber,
    /// Number of the user's iteration, from 1.
    Iteration,
    /// Name of the user: `Users 1-3`.
    UserName,
    /// Name of the thread group with its number: `Users 1`.
    GroupName,
    /// Name of the current or next sampler.
    SamplerName,
    /// File name of the plan.
    PlanName,
    /// Name of this host.
    HostName,
    /// Address of this host.
    HostAddress,
}

/// Variables, properties, clock and files of templates. During the test: those of one user.
pub trait World {
    /// Value of a variable of this user.
    fn variable(&self, name: &str) -> Option<&str>;
    /// Sets a variable of this user.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Removes a variable of this user.
    fn remove_variable(&mut self, name: &str);
    /// Appends the value of a property; false if it is not set.
    fn write_property(&self, name: &str, out: &mut String) -> bool;
    /// Sets a property for all users of this generator.
    fn set_property(&mut self, name: &str, value: &str);
    /// Source of the user's random choices.
    fn random(&mut self) -> &mut Random;
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;
    /// Time zone of this host.
    fn time_zone(&self) -> &TimeZone;
    /// Appends one of the facts.
    fn write_fact(&self, fact: Fact, out: &mut String);
    /// Counts a call at a call site, of this user or of all users: 1, 2, 3 …
    fn count(&mut self, site: u32, per_user: bool) -> u64;
    /// The lines of a file in the named encoding; UTF-8 if it is empty. Fails with the reason if it
    /// cannot be read.
    fn lines(&mut self, path: &str, encoding: &str) -> Result<Lines, String>;
    /// The text of a file, as [`World::lines`] reads it.
    fn text(&mut self, path: &str, encoding: &str) -> Result<Arc<str>, String>;
    /// Writes a text in the named encoding to a file; UTF-8 if it is empty. Fails with the reason if it
    /// cannot be written. Before the test nothing is: a plan that is only checked changes no file.
    fn write_text(
        &mut self,
        _path: &str,
        _text: &str,
        _how: (WriteMode, &str),
    ) -> Result<(), String> {
        Err("files are written while the test runs".into())
    }
    /// The environment of the program. Fails with the reason if the plan may not see it.
    fn environment(&self) -> Result<BTreeMap<String, String>, String>;
    /// Body of the last result of this user, if an expression of the plan reads it.
    fn last_text(&self) -> Option<&str> {
        None
    }
    /// The current row of this user in a shared file; `None` before the first.
    fn row(&self, file: &str) -> Option<u64>;
    /// Ends the current row of this user in a shared file: none is current.
    fn end_row(&mut self, file: &str);
    /// Lends variables and other state to a script; [`World::take_back`] follows.
    fn lend(&mut self) -> LentState;
    /// Takes the lent state back.
    fn take_back(&mut self, lent: LentState);
    /// Carries out what a script wants to end or to leave. Before the test there is nothing.
    fn fulfil(&mut self, _wishes: Wishes) {}
    /// Writes to JMeter's log under the name of a class. There is no log before the test.
    fn log(&mut self, _level: LogLevel, _logger: &str, _text: &str) {}
    /// Moves this user to the next row of a shared file; rows start over after the last.
    fn next_row(&mut self, file: &str, rows: u64) -> u64;
}

/// The world before the test, without users. It determines the number of threads and the values of
/// user defined variables.
pub struct StartWorld<'a> {
    /// Variables so far.
    pub variables: HashMap<String, String>,
    /// Properties.
    pub properties: Properties,
    files: &'a dyn Files,
    random: Random,
    now_ms: i64,
    time_zone: TimeZone,
    plan: String,
    counts: HashMap<u32, u64>,
    rows: HashMap<String, u64>,
    /// Files whose row has ended.
    ended: HashSet<String>,
}

impl<'a> StartWorld<'a> {
    /// A world with these properties and files, at this moment, for a plan with this file name.
    pub fn new(
        properties: Properties,
        files: &'a dyn Files,
        seed: u64,
        now_ms: i64,
        time_zone: TimeZone,
        plan: &str,
    ) -> Self {
        Self {
            variables: HashMap::new(),
            properties,
            files,
            random: Random::new(seed, 0),
            now_ms,
            time_zone,
            plan: plan.rsplit(['/', '\\']).next().unwrap_or(plan).into(),
            counts: HashMap::new(),
            rows: HashMap::new(),
            ended: HashSet::new(),
        }
    }
}

impl World for StartWorld<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.into(), value.into());
    }

    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    fn write_property(&self, name: &str, out: &mut String) -> bool {
        let value = self.properties.get(name);
        out.push_str(value.unwrap_or_default());
        value.is_some()
    }

    fn set_property(&mut self, name: &str, value: &str) {
        let origin = Origin::CommandLine;
        self.properties.set(name, value, origin);
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }

    fn write_fact(&self, fact: Fact, out: &mut String) {
        match fact {
            Fact::PlanName => out.push_str(&self.plan),
            // There is no user yet, and hosts are unknown before the run.
            Fact::UserNumber | Fact::Iteration => out.push('0'),
            _ => {}
        }
    }

    fn count(&mut self, site: u32, _per_user: bool) -> u64 {
        let count = self.counts.entry(site).or_default();
        *count += 1;
        *count
    }

    fn lines(&mut self, path: &str, encoding: &str) -> Result<Lines, String> {
        let text = self.text(path, encoding)?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn text(&mut self, path: &str, encoding: &str) -> Result<Arc<str>, String> {
        let read = self.files.read(path, MOST_FILE_BYTES);
        let bytes = read.map_err(|e| e.kind().to_string())?;
        let not_text = |_| format!("it is not valid text in the encoding `{encoding}`");
        let text = xml::decode_named(&bytes, encoding).map_err(not_text)?;
        Ok(text.into())
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, String> {
        self.files.environment().map_err(|why| why.to_string())
    }

    fn end_row(&mut self, file: &str) {
        self.ended.insert(file.into());
    }

    fn row(&self, file: &str) -> Option<u64> {
        let is_current = !self.ended.contains(file);
        self.rows.get(file).copied().filter(|_| is_current)
    }

    fn lend(&mut self) -> LentState {
        LentState {
            variables: std::mem::take(&mut self.variables),
            properties: Arc::new(RwLock::new(self.properties.clone())),
            random: self.random.clone(),
            now_ms: self.now_ms,
            files: LentFiles(
                self.files
                    .lent()
                    .map(|files| Arc::new(ReadOnly(files)) as _),
            ),
            ..LentState::default()
        }
    }

    fn take_back(&mut self, lent: LentState) {
        self.variables = lent.variables;
        self.random = lent.random;
        let properties = lent.properties.read();
        let properties = properties.unwrap_or_else(PoisonError::into_inner);
        self.properties.clone_from(&properties);
    }

    fn next_row(&mut self, file: &str, rows: u64) -> u64 {
        let before = self.rows.get(file);
        let next = before.map_or(0, |row| (row + 1) % rows.max(1));
        self.ended.remove(file);
        self.rows.insert(file.into(), next);
        next
    }
}
