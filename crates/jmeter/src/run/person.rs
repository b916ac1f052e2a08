//! What does one user know, and how does it see the world?

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use jiff::tz::TimeZone;
use sokudo_pace::Random;

use super::shared::locked;
use super::test::Test;
use crate::digits::digits;
use crate::expression::{Fact, Fault, Lines, Template, World};
use crate::plan::Value;
use crate::properties::Origin;
use crate::script::{Lent, Level, log};
use crate::xml;

/// The variable in which JMeter keeps whether the previous sample succeeded.
const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// One user's memory.
pub(super) struct Person {
    /// Variables that it set; those of the plan are behind them.
    pub variables: HashMap<String, String>,
    /// Where its random choices come from.
    pub random: Random,
    /// Its number within the group, from 1.
    pub number: u64,
    /// Its group.
    pub group: usize,
    /// Its iteration of the group, from 1; 0 before the first.
    pub iteration: u64,
    /// `<group> <number of the group>-<number>`.
    pub name: String,
    /// The previous sample succeeded.
    pub last_ok: bool,
    /// Name of the sampler at hand.
    pub sampler: String,
    counts: HashMap<u32, u64>,
    rows: HashMap<String, u64>,
}

impl Person {
    /// The variables that files of results show, in order.
    pub fn shown(&self, test: &Test) -> Vec<Option<String>> {
        let value = |name: &String| {
            let own = self.variables.get(name);
            own.or_else(|| test.variables.get(name)).cloned()
        };
        test.shown.iter().map(value).collect()
    }

    pub fn new(test: &Test, group: usize, number: u64, random: Random) -> Self {
        let name = match test.plan.groups.get(group) {
            Some(of) => {
                let prefix = &test.settings.name_prefix;
                let hyphen = if prefix.is_empty() { "" } else { "-" };
                let place = test.number_in_stage(group);
                format!("{prefix}{hyphen}{} {place}-{number}", of.name)
            }
            None => String::new(),
        };
        Self {
            variables: HashMap::new(),
            random,
            number,
            group,
            iteration: 0,
            name,
            last_ok: true,
            sampler: String::new(),
            counts: HashMap::new(),
            rows: HashMap::new(),
        }
    }

    /// Sets a variable without making new texts where it was set before.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.variables.get_mut(name) {
            Some(known) => {
                known.clear();
                known.push_str(value);
            }
            None => {
                self.variables.insert(name.into(), value.into());
            }
        }
    }

    /// The world as this user sees it at a moment.
    pub fn view<'a>(&'a mut self, test: &'a Test, now_ns: i64) -> View<'a> {
        View {
            test,
            now_ms: test.wall_ms(now_ns),
            person: self,
        }
    }
}

/// The world as one user sees it at one moment.
pub(super) struct View<'a> {
    test: &'a Test,
    now_ms: i64,
    pub person: &'a mut Person,
}

impl<'a> View<'a> {
    /// The test.
    pub fn test(&self) -> &'a Test {
        self.test
    }

    /// Replaces `out` by what a template stands for. A function that could not do its work is
    /// told, and stands for nothing.
    pub fn render(&mut self, template: &Template, out: &mut String) {
        out.clear();
        self.append(template, out);
    }

    /// Appends what a template stands for.
    pub fn append(&mut self, template: &Template, out: &mut String) {
        match template.constant() {
            Some(text) => out.push_str(text),
            None => {
                let begin = out.len();
                if let Err(fault) = template.render(self, out) {
                    out.truncate(begin);
                    self.tell(&fault);
                }
            }
        }
    }

    /// What a template stands for, as a text of its own.
    pub fn text(&mut self, template: &Template) -> String {
        let mut out = String::new();
        self.append(template, &mut out);
        out
    }

    fn tell(&self, fault: &Fault) {
        self.test.sink.trouble(&fault.to_string());
    }

    /// A value that is known or rendered; `otherwise` when what is rendered is none.
    pub fn value<T: Copy>(
        &mut self,
        value: &Value<T>,
        otherwise: T,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> T {
        match value {
            Value::Fixed(value) => *value,
            Value::Live(template) => {
                let text = self.text(template);
                parse(text.trim()).unwrap_or(otherwise)
            }
        }
    }

    /// A whole number.
    pub fn integer(&mut self, value: &Value<i64>) -> i64 {
        self.value(value, 0, |text| text.parse().ok())
    }

    /// A number.
    pub fn decimal(&mut self, value: &Value<f64>) -> f64 {
        self.value(value, 0.0, |text| text.parse().ok())
    }

    /// True or false.
    pub fn flag(&mut self, value: &Value<bool>) -> bool {
        self.value(value, false, |text| Some(text.eq_ignore_ascii_case("true")))
    }
}

impl World for View<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        if name == LAST_SAMPLE_OK {
            return Some(if self.person.last_ok { "true" } else { "false" });
        }
        let own = self.person.variables.get(name);
        own.or_else(|| self.test.variables.get(name))
            .map(String::as_str)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.person.set(name, value);
    }

    fn write_property(&self, name: &str, out: &mut String) -> bool {
        let properties = self.test.shared.properties.read();
        let properties = properties.unwrap_or_else(PoisonError::into_inner);
        let value = properties.get(name);
        out.push_str(value.unwrap_or_default());
        value.is_some()
    }

    fn set_property(&mut self, name: &str, value: &str) {
        let properties = self.test.shared.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.set(name, value, Origin::CommandLine);
    }

    fn random(&mut self) -> &mut Random {
        &mut self.person.random
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn time_zone(&self) -> &TimeZone {
        &self.test.settings.time_zone
    }

    fn write_fact(&self, fact: Fact, out: &mut String) {
        let (person, settings) = (&self.person, &self.test.settings);
        out.push_str(match fact {
            Fact::UserNumber => return digits(person.number, out),
            Fact::Iteration => return digits(person.iteration, out),
            Fact::UserName => &person.name,
            Fact::GroupName => {
                let name = person.name.rsplit_once('-');
                name.map_or(person.name.as_str(), |(name, _)| name)
            }
            Fact::SamplerName => &person.sampler,
            Fact::PlanName => &settings.plan_name,
            Fact::HostName => &settings.host_name,
            Fact::HostAddress => &settings.host_address,
        });
    }

    fn count(&mut self, site: u32, per_user: bool) -> u64 {
        let mut all;
        let counts = match per_user {
            true => &mut self.person.counts,
            false => {
                all = locked(&self.test.shared.counts);
                &mut *all
            }
        };
        let count = counts.entry(site).or_default();
        *count += 1;
        *count
    }

    fn lines(&mut self, path: &str, encoding: &str) -> Result<Lines, String> {
        let key = format!("{encoding}:{path}");
        if let Some(known) = locked(&self.test.shared.lines).get(&key) {
            return Ok(known.clone());
        }
        let text = self.test.read_text(path, encoding)?;
        let lines: Lines = text.lines().map(str::to_owned).collect();
        locked(&self.test.shared.lines).insert(key, lines.clone());
        Ok(lines)
    }

    fn row(&self, file: &str) -> Option<u64> {
        self.person.rows.get(file).copied()
    }

    fn lend(&mut self) -> Lent {
        Lent {
            variables: std::mem::take(&mut self.person.variables),
            fixed: Arc::clone(&self.test.variables),
            properties: Arc::clone(&self.test.shared.properties),
            random: self.person.random.clone(),
            now_ms: self.now_ms,
            thread_name: self.person.name.clone(),
            thread_number: self.person.number,
            iteration: self.person.iteration,
            sampler: self.person.sampler.clone(),
            keeps_log: self.test.sink.logs(),
        }
    }

    fn take_back(&mut self, lent: Lent) {
        self.person.variables = lent.variables;
        self.person.random = lent.random;
    }

    fn log(&mut self, level: Level, logger: &str, text: &str) {
        if self.test.sink.logs() {
            let zone = &self.test.settings.time_zone;
            let line = log::line(self.now_ms, zone, level, logger, text);
            self.test.sink.log(line);
        }
    }

    fn next_row(&mut self, file: &str, rows: u64) -> u64 {
        let mut cursors = locked(&self.test.shared.cursors);
        let next = cursors.entry(file.into()).or_default();
        let row = *next % rows.max(1);
        *next += 1;
        self.person.rows.insert(file.into(), row);
        row
    }
}

/// A text in the encoding of this name, UTF-8 when it is empty.
pub(super) fn decode(bytes: &[u8], encoding: &str) -> Result<String, String> {
    let not_text = |_| format!("it is not text in the encoding `{encoding}`");
    xml::decode_named(bytes, encoding).map_err(not_text)
}
