//! Variables, random numbers and position of one virtual user: JMeter's `JMeterContext`.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use jiff::tz::TimeZone;
use sokudo_pace::Random;

use super::calls::Call;
use super::changed_requests::ChangedRequests;
use super::charset::Charset;
use super::cookies::Jars;
use super::examine::Examining;
use super::java_request::SleepSetup;
use super::shared::{StopKind, locked};
use super::test::Test;
use crate::digits::digits;
use crate::expression::{Fact, FaultEffect, Lines, Template, World};
use crate::files::WriteMode;
use crate::plan::{FlowAction, Id, Load, Value};
use crate::properties::Origin;
use crate::script::{
    LentFiles, LentState, LogLevel, ScriptSample, StopRequest, Wishes, log, remove_fixed,
};
use crate::xml;

/// The variable in which JMeter keeps whether the previous sample succeeded.
pub(super) const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// State of one virtual user that templates, functions and scripts can read.
pub(super) struct ThreadContext {
    /// Variables that the user has set; the plan's own variables are in [`Test`].
    variables: HashMap<String, String>,
    /// Source of the user's random choices.
    random: Random,
    /// Number among all users of the test, from 1.
    serial: u64,
    /// Number within the thread group, from 1.
    number: u64,
    /// Index of the thread group.
    group: usize,
    /// Iteration of the thread group, from 1; 0 before the first.
    iteration: u64,
    /// `<group> <number of the group>-<number>`.
    name: String,
    /// True if the previous sample succeeded.
    last_ok: bool,
    /// The current sampler.
    sampler: Id,
    /// There was a sampler.
    has_sampled: bool,
    /// Index of the controller that contains the current sampler.
    node: usize,
    /// Rendered name of the current sampler.
    label: String,
    /// End of the user by the clock; `None`: not by the clock.
    ends_ns: Option<i64>,
    /// True if an error ended the user at once.
    has_died: bool,
    /// Where a script wants the user to go on behind the current sample.
    flow: FlowAction,
    /// Pause that scripts behind the sampler made, nanoseconds.
    slept_ns: i64,
    /// Calls of `__counter` by call site.
    counts: HashMap<u32, u64>,
    /// Current row by file, for functions that read files.
    rows: HashMap<String, u64>,
    /// Body of the last result, if an expression of the plan reads it.
    last_text: Option<String>,
    /// The previous result, if an element of the plan reads it.
    previous: Option<Box<ScriptSample>>,
    /// Sessions that modifiers of URLs keep.
    pub sessions: HashMap<Id, String>,
    /// Values that Java requests keep of their first sample.
    pub sleep_setups: HashMap<Id, SleepSetup>,
    /// Requests as scripts changed them.
    pub requests: ChangedRequests,
    /// Its cookies.
    pub cookies: Jars,
    /// The variables of the plan; a copy without those that the user has removed.
    fixed: Arc<HashMap<String, String>>,
    /// The call that is to be made.
    pub call: Option<Call>,
    /// The examination of a result whose postprocessor waits for a database.
    pub examining: Option<Box<Examining>>,
    /// Class and message of the exception that a function in the current sampler has thrown.
    thrown: Option<(&'static str, String)>,
}

impl ThreadContext {
    /// The context of user `number` (from 1) of a thread group.
    pub fn new(test: &Test, group: usize, number: u64, ends_ns: Option<i64>) -> Self {
        let serial = test.shared.made.fetch_add(1, Ordering::Relaxed) + 1;
        // The stream depends on group and number, not on the order in which users are created.
        let stream = ((group as u64) << 32) ^ number;
        let name = match test.plan.groups.get(group) {
            Some(of) => {
                let prefix = &test.settings.name_prefix;
                let hyphen = if prefix.is_empty() { "" } else { "-" };
                let place = test.number_in_stage(group);
                // The plug-in names users after the thread that starts them.
                let starter = match of.load {
                    Load::Concurrency { .. } => "-ThreadStarter",
                    _ => "",
                };
                format!("{prefix}{hyphen}{}{starter} {place}-{number}", of.name)
            }
            None => String::new(),
        };
        Self {
            variables: HashMap::new(),
            fixed: Arc::clone(&test.variables),
            random: Random::new(test.settings.seed, stream),
            serial,
            number,
            group,
            iteration: 0,
            name,
            last_ok: true,
            sampler: 0,
            has_sampled: false,
            node: 0,
            label: String::new(),
            ends_ns,
            has_died: false,
            flow: FlowAction::Continue,
            slept_ns: 0,
            counts: HashMap::new(),
            rows: HashMap::new(),
            last_text: None,
            previous: None,
            sessions: HashMap::new(),
            sleep_setups: HashMap::new(),
            requests: ChangedRequests::default(),
            cookies: Jars::default(),
            call: None,
            examining: None,
            thrown: None,
        }
    }

    /// Keeps the body of a result for expressions.
    pub fn keep_text(&mut self, text: &str) {
        self.last_text = Some(text.to_owned());
    }

    /// Keeps a result for the elements that read the previous one.
    pub fn keep_previous(&mut self, result: ScriptSample) {
        self.previous = Some(Box::new(result));
    }

    /// The previous result; `None`: there is none, or no element reads it.
    pub fn previous(&self) -> Option<&ScriptSample> {
        self.previous.as_deref()
    }

    /// Takes the exception that a function has thrown since the last call.
    pub fn take_thrown(&mut self) -> Option<(&'static str, String)> {
        self.thrown.take()
    }

    /// Values of `sample_variables`, in their order; `None`: not set.
    pub fn sample_variables(&self, test: &Test) -> Vec<Option<String>> {
        let value = |name: &String| {
            let own = self.variables.get(name);
            own.or_else(|| self.fixed.get(name)).cloned()
        };
        test.shown.iter().map(value).collect()
    }

    /// Sets a variable. Allocates only if it was not set before or the value is longer.
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

    /// Removes a variable, also one of the plan, and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let of_plan = remove_fixed(&mut self.fixed, name);
        self.variables.remove(name).or(of_plan)
    }

    /// The variables of the plan that the user has not removed.
    pub fn of_plan(&self) -> &HashMap<String, String> {
        &self.fixed
    }

    /// The variables that the user has set.
    pub fn variables(&self) -> &HashMap<String, String> {
        &self.variables
    }

    /// Source of the user's random choices.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Number among all users of the test, from 1.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Number within the thread group, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Index of the thread group.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Iteration of the thread group, from 1; 0 before the first.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Begins the next iteration of the thread group; true for the first.
    pub fn next_iteration(&mut self) -> bool {
        self.iteration += 1;
        self.iteration == 1
    }

    /// Thread name: `<group> <number of the group>-<number>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if the previous sample succeeded.
    pub fn last_ok(&self) -> bool {
        self.last_ok
    }

    /// Notes whether a sample succeeded.
    pub fn set_last_ok(&mut self, success: bool) {
        self.last_ok = success;
    }

    /// The current sampler.
    pub fn sampler(&self) -> Id {
        self.sampler
    }

    /// Index of the controller that contains the current sampler.
    pub fn node(&self) -> usize {
        self.node
    }

    /// Makes a sampler in a controller the current one.
    pub fn enter_sampler(&mut self, sampler: Id, node: usize) {
        (self.sampler, self.node) = (sampler, node);
        self.has_sampled = true;
    }

    /// The last sampler that became the current one; `None`: none has so far.
    pub fn last_sampled(&self) -> Option<Id> {
        self.has_sampled.then_some(self.sampler)
    }

    /// Name of the current sampler.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Replaces the name of the current sampler, as a script may.
    pub fn set_label(&mut self, label: &str) {
        self.label.clear();
        self.label.push_str(label);
    }

    /// True if the user ends by the clock at or before `now_ns`.
    pub fn is_over(&self, now_ns: i64) -> bool {
        self.ends_ns.is_some_and(|end| now_ns >= end)
    }

    /// True if the user ends by the clock before `until_ns`.
    pub fn ends_before(&self, until_ns: i64) -> bool {
        self.ends_ns.is_some_and(|end| until_ns > end)
    }

    /// Ends the user at once: what it was doing has no result.
    pub fn die(&mut self) {
        self.has_died = true;
        self.end_soon();
    }

    /// True if an error ended the user at once.
    pub fn has_died(&self) -> bool {
        self.has_died
    }

    /// Adds to the pause before the next step, which a script behind the sampler made.
    pub fn sleep(&mut self, pause_ns: i64) {
        self.slept_ns = self.slept_ns.saturating_add(pause_ns);
    }

    /// Takes the pause before the next step, nanoseconds.
    pub fn take_sleep(&mut self) -> i64 {
        std::mem::take(&mut self.slept_ns)
    }

    /// Takes where a script wants the user to go on.
    pub fn take_flow(&mut self) -> FlowAction {
        std::mem::replace(&mut self.flow, FlowAction::Continue)
    }

    /// Ends the user before its next step.
    pub fn end_soon(&mut self) {
        self.ends_ns = Some(i64::MIN);
    }

    /// Active users of the user's thread group and of all groups.
    pub fn active_users(&self, test: &Test) -> (u32, u32) {
        let group = test.shared.active[self.group].load(Ordering::Relaxed);
        (group, test.shared.all.load(Ordering::Relaxed))
    }

    /// The test as this user sees it at `now_ns`.
    pub fn view<'a>(&'a mut self, test: &'a Test, now_ns: i64) -> View<'a> {
        View {
            test,
            now_ns,
            now_ms: test.wall_ms(now_ns),
            thread: self,
        }
    }
}

/// The test and one user's context at one moment: the world of templates and scripts.
pub(super) struct View<'a> {
    test: &'a Test,
    now_ns: i64,
    now_ms: i64,
    pub thread: &'a mut ThreadContext,
}

impl<'a> View<'a> {
    /// The test.
    pub fn test(&self) -> &'a Test {
        self.test
    }

    /// The moment, nanoseconds of the monotonic clock.
    pub fn now_ns(&self) -> i64 {
        self.now_ns
    }

    /// Replaces `out` by the value of a template. A function that fails is reported and renders
    /// as nothing.
    pub fn render(&mut self, template: &Template, out: &mut String) {
        out.clear();
        self.append(template, out);
    }

    /// Appends the value of a template.
    pub fn append(&mut self, template: &Template, out: &mut String) {
        match template.constant() {
            Some(text) => out.push_str(text),
            None => {
                if let Err(fault) = template.render(self, out) {
                    self.test.sink.trouble(&fault.to_string());
                    if let FaultEffect::Thrown(class, message) = fault.effect {
                        self.thread.thrown = Some((class, message));
                    }
                }
            }
        }
    }

    /// The value of a template as a new text.
    pub fn text(&mut self, template: &Template) -> String {
        let mut out = String::new();
        self.append(template, &mut out);
        out
    }

    /// A fixed or rendered value; `otherwise` if the rendered text cannot be parsed.
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
                parse(&text).unwrap_or(otherwise)
            }
        }
    }

    /// An integer; 0 if the rendered text is not one.
    pub fn integer(&mut self, value: &Value<i64>) -> i64 {
        self.value(value, 0, |text| text.parse().ok())
    }

    /// A decimal number; 0 if the rendered text is not one.
    pub fn decimal(&mut self, value: &Value<f64>) -> f64 {
        self.value(value, 0.0, |text| text.trim().parse().ok())
    }

    /// True if the rendered text is `true` in any case.
    pub fn flag(&mut self, value: &Value<bool>) -> bool {
        self.value(value, false, |text| Some(text.eq_ignore_ascii_case("true")))
    }

    /// Renders the name of the current sampler. Done once per result, because functions in the
    /// name count their calls.
    pub fn render_label(&mut self) {
        let mut label = std::mem::take(&mut self.thread.label);
        let sampler = &self.test.plan.samplers[self.thread.sampler as usize];
        self.render(&sampler.name, &mut label);
        self.thread.label = label;
    }
}

impl World for View<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        if name == LAST_SAMPLE_OK {
            return Some(if self.thread.last_ok { "true" } else { "false" });
        }
        let own = self.thread.variables.get(name);
        own.or_else(|| self.thread.fixed.get(name))
            .map(String::as_str)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.thread.set(name, value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.thread.remove(name);
    }

    fn write_property(&self, name: &str, out: &mut String) -> bool {
        let properties = self.test.shared.properties.read();
        let properties = properties.unwrap_or_else(PoisonError::into_inner);
        let value = properties.get(name);
        out.push_str(value.unwrap_or_default());
        value.is_some()
    }

    fn set_property(&mut self, name: &str, value: &str) {
        self.test.shared.objects.remove(name);
        let properties = self.test.shared.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.set(name, value, Origin::CommandLine);
    }

    fn random(&mut self) -> &mut Random {
        &mut self.thread.random
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn time_zone(&self) -> &TimeZone {
        &self.test.settings.time_zone
    }

    fn write_fact(&self, fact: Fact, out: &mut String) {
        let (thread, settings) = (&self.thread, &self.test.settings);
        out.push_str(match fact {
            Fact::UserNumber => return digits(thread.number, out),
            Fact::Iteration => return digits(thread.iteration, out),
            Fact::UserName => &thread.name,
            Fact::GroupName => {
                let group = self.test.plan.groups.get(thread.group);
                group.map_or("", |group| group.name.as_str())
            }
            Fact::SamplerName => &thread.label,
            Fact::PlanName => &settings.plan_name,
            Fact::HostName => &settings.host_name,
            Fact::HostAddress => &settings.host_address,
        });
    }

    fn count(&mut self, site: u32, per_user: bool) -> u64 {
        let mut all;
        let counts = match per_user {
            true => &mut self.thread.counts,
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

    fn text(&mut self, path: &str, encoding: &str) -> Result<Arc<str>, String> {
        let text = self.test.read_text(path, encoding)?;
        Ok(text.into())
    }

    fn write_text(
        &mut self,
        path: &str,
        text: &str,
        (mode, encoding): (WriteMode, &str),
    ) -> Result<(), String> {
        let charset = match encoding {
            "" => Charset::UTF_8,
            name => {
                Charset::named(name).ok_or_else(|| format!("the encoding `{name}` is unknown"))?
            }
        };
        let mut bytes = Vec::with_capacity(text.len());
        charset.encode(text, &mut bytes);
        let written = self.test.files.write_here(path, &bytes, mode);
        written.map_err(|why| why.to_string())
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, String> {
        let all = self.test.files.environment();
        all.map_err(|why| why.to_string())
    }

    fn last_text(&self) -> Option<&str> {
        self.thread.last_text.as_deref()
    }

    fn end_row(&mut self, file: &str) {
        self.thread.rows.remove(file);
    }

    fn row(&self, file: &str) -> Option<u64> {
        self.thread.rows.get(file).copied()
    }

    fn lend(&mut self) -> LentState {
        let group = &self.test.plan.groups[self.thread.group];
        LentState {
            active: self.thread.active_users(self.test),
            group_users: match group.load {
                Load::Users { users, .. } => Some(users),
                _ => None,
            },
            variables: std::mem::take(&mut self.thread.variables),
            fixed: Arc::clone(&self.thread.fixed),
            properties: Arc::clone(&self.test.shared.properties),
            objects: Arc::clone(&self.test.shared.objects),
            random: self.thread.random.clone(),
            now_ms: self.now_ms,
            time_zone: self.test.settings.time_zone.clone(),
            thread_name: self.thread.name.clone(),
            thread_number: self.thread.number,
            iteration: self.thread.iteration,
            plan_name: self.test.settings.plan_name.clone(),
            sampler: self.thread.label.clone(),
            keeps_log: self.test.sink.logs(),
            request: None,
            cookies: None,
            files: LentFiles(Some(Arc::clone(&self.test.files))),
            keeps_previous: self.test.plan.reads_previous,
            previous: self.thread.previous.take(),
        }
    }

    fn take_back(&mut self, lent: LentState) {
        self.thread.variables = lent.variables;
        self.thread.fixed = lent.fixed;
        self.thread.random = lent.random;
        self.thread.previous = lent.previous;
    }

    fn fulfil(&mut self, wishes: Wishes) {
        match wishes.stop {
            StopRequest::GoOn => {}
            StopRequest::StopUser => self.thread.end_soon(),
            StopRequest::StopTest => self.test.stop(StopKind::Soon),
            StopRequest::StopTestNow => self.test.stop(StopKind::Now),
        }
        if let Some(flow) = wishes.flow {
            self.thread.flow = flow;
        }
    }

    fn log(&mut self, level: LogLevel, logger: &str, text: &str) {
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
        self.thread.rows.insert(file.into(), row);
        row
    }
}

/// Decodes a text in the named encoding; UTF-8 if the name is empty.
pub(super) fn decode(bytes: &[u8], encoding: &str) -> Result<String, String> {
    let not_text = |_| format!("it is not valid text in the encoding `{encoding}`");
    xml::decode_named(bytes, encoding).map_err(not_text)
}
