//! A plan prepared for execution.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use crate::json::{Path as JsonPath, PathFault};
use fancy_regex::Regex;
use jiff::tz::TimeZone;
use sokudo_model::Text;

use super::context::decode;
use super::feed::{self, DataRows, FirstRow};
use super::http::{Route, Through, may_be_routed};
use super::program::{Program, hear_of_assertions, note_listeners};
use super::result_writers::Savers;
use super::row::Sink;
use super::share::GeneratorShare;
use super::shared::{SharedState, StopKind, locked};
use super::steps::{ControllerNode, flatten};
use crate::document::xpath::XPath;
use crate::expression::written_date;
use crate::files::Files;
use crate::pattern;
use crate::plan::{
    ConfigKind, ControllerKind, CsvData, Group, HttpRequest, Id, Plan, SamplerKind, TimerKind,
};
use crate::problem::{Problem, Severity};
use crate::properties::Properties;
use crate::proxy::Proxy;

/// Most compiled patterns that are cached.
const MOST_PATTERNS: usize = 1_000;
/// Deepest nesting of frames, whatever the properties state.
const MOST_DEPTH: u32 = 20;
/// Largest file that a function reads, bytes.
const MOST_FUNCTION_FILE_BYTES: u64 = 64 << 20;

/// Assigns numbers to the targets of requests.
pub trait Targets: Send + Sync {
    /// The number of a scheme, host and port; equal arguments give equal numbers.
    fn target(&self, tls: bool, host: &str, port: u16) -> u32;

    /// The number of a TLS host behind the tunnel of a proxy.
    fn tunnel(&self, host: &str, port: u16, through: &Through) -> u32;

    /// The number of a host that is reached by a route of its own: TLS, host and port.
    fn routed(&self, to: (bool, &str, u16), through: Option<&Through>, route: &Route) -> u32;
}

/// Settings of a run besides its plan.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// Seed of every random choice.
    pub seed: u64,
    /// Wall clock at zero of the monotonic clock, nanoseconds since 1970.
    pub wall_offset_ns: i64,
    /// Time zone of dates.
    pub time_zone: TimeZone,
    /// File name of the plan.
    pub plan_name: String,
    /// Name of this host.
    pub host_name: String,
    /// Address of this host.
    pub host_address: String,
    /// Properties.
    pub properties: Properties,
    /// `User-Agent` of requests that do not state one.
    pub user_agent: String,
    /// Share of the users, and of the rates that apply to all users.
    pub users: GeneratorShare,
    /// Share of the rows of data files.
    pub data: GeneratorShare,
    /// Prefix of thread names, followed by a hyphen, as JMeter adds it if several generators
    /// execute a plan; empty: none.
    pub name_prefix: String,
    /// The proxy for all requests.
    pub proxy: Option<Proxy>,
    /// Aliases of the client certificates, in the order of their store.
    pub aliases: Vec<String>,
}

/// A plan prepared for execution, with the state that its users share.
pub struct Test {
    pub(super) plan: Plan,
    pub(super) settings: RunSettings,
    pub(super) shared: SharedState,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) targets: Arc<dyn Targets>,
    pub(super) files: Arc<dyn Files + Send + Sync>,
    /// User defined variables.
    pub(super) variables: Arc<HashMap<String, String>>,
    /// Controllers of each group.
    pub(super) nodes: Vec<Vec<ControllerNode>>,
    /// Properties of each sampler that are known before the test.
    pub(super) programs: Vec<Program>,
    /// `timer.factor`.
    pub(super) pause_factor: f64,
    /// `httpsampler.max_redirects`.
    pub(super) most_redirects: u32,
    /// `httpsampler.max_frame_depth`: deepest nesting of frames.
    pub(super) most_depth: u32,
    /// Prefix of variables with cookies (`CookieManager.name.prefix`); `None`: cookies are not
    /// stored in variables (`CookieManager.save.cookies`).
    pub(super) cookie_prefix: Option<String>,
    /// `sample_variables`: variables that result files contain.
    pub(super) shown: Vec<String>,
    /// `httpsampler.ignore_failed_embedded_resources`.
    pub(super) excuses_parts: bool,
    /// Time of the first call of a shared timer: zero of its schedule.
    pub(super) begun_ns: OnceLock<i64>,
    /// Pools of connections to databases, by their variables.
    pub(super) databases: HashMap<String, Id>,
    patterns: Cache<Regex>,
    whole_patterns: Cache<Regex>,
    paths: Cache<JsonPath>,
    xpaths: Cache<XPath>,
}

impl Test {
    /// Prepares a plan. Fails with everything in it that cannot be executed.
    pub fn new(
        plan: Plan,
        settings: RunSettings,
        files: Arc<dyn Files + Send + Sync>,
        targets: Arc<dyn Targets>,
        sink: Arc<dyn Sink>,
    ) -> Result<Arc<Self>, Vec<Problem>> {
        let properties = settings.properties.clone();
        let number = |name: &str| properties.number(name);
        let pause_factor = number("timer.factor").unwrap_or(1.0);
        let most_redirects = number("httpsampler.max_redirects").unwrap_or(20.0) as u32;
        let most_depth = number("httpsampler.max_frame_depth").unwrap_or(5.0) as u32;
        let excuses = properties.get("httpsampler.ignore_failed_embedded_resources");
        let excuses_parts = excuses.is_some_and(|value| value.trim() == "true");
        let own = plan.variables.iter();
        let own = own.map(|v| (v.name.clone(), v.value.clone()));
        let variables: HashMap<_, _> = start_times(plan.started_ms, &settings.time_zone)
            .chain(own)
            .collect();
        let saves = properties.get("CookieManager.save.cookies");
        let saves = saves.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let prefix = properties.get("CookieManager.name.prefix");
        let cookie_prefix = saves.then(|| prefix.unwrap_or("COOKIE_").to_owned());
        let shown = properties.sample_variables();
        let savers = Savers::of(&plan, &properties);
        let programs = plan.samplers.iter().map(|sampler| {
            let mut program = Program::default();
            for timer in &sampler.scope.timers {
                match plan.timers[*timer as usize].kind {
                    TimerKind::Synchronizing { .. } => program.meetings.push(*timer),
                    _ => program.pauses.push(*timer),
                }
            }
            (program.savers, program.holds) = savers.among(&sampler.scope.listeners);
            program.note_needs(&plan, &sampler.scope);
            if let SamplerKind::Http(request) = &sampler.kind {
                program.may_be_page = request.embedded.fixed() != Some(&false);
                program.may_be_proxied = settings.proxy.is_some() || !request.proxy.host.is_empty();
                if !program.may_be_proxied && !may_be_routed(request) && settings.aliases.is_empty()
                {
                    program.target = fixed_target(request, &*targets);
                }
            }
            program
        });
        let mut programs: Vec<_> = programs.collect();
        let mut nodes: Vec<_> = plan.groups.iter().map(flatten).collect();
        for node in nodes.iter_mut().flatten() {
            if !plan.reads_index {
                node.index = None;
            }
            if let ControllerKind::Transaction {
                assertions,
                listeners,
                ..
            } = &node.kind
            {
                (node.savers, node.holds) = savers.among(listeners);
                node.holds.assertions |= hear_of_assertions(&plan, (assertions, listeners));
            }
        }
        for nodes in &nodes {
            note_listeners(&mut programs, &plan, nodes);
        }
        let databases = databases_of(&plan);
        let test = Self {
            databases,
            shared: SharedState::new(
                plan.groups.len(),
                plan.configs.len(),
                plan.timers.len(),
                properties,
            ),
            nodes,
            programs,
            variables: Arc::new(variables),
            pause_factor,
            most_redirects,
            most_depth: most_depth.min(MOST_DEPTH),
            shown,
            cookie_prefix,
            excuses_parts,
            begun_ns: OnceLock::new(),
            patterns: Mutex::default(),
            whole_patterns: Mutex::default(),
            paths: Mutex::default(),
            xpaths: Mutex::default(),
            plan,
            settings,
            sink,
            targets,
            files,
        };
        let mut configs = test.plan.configs.iter();
        let shows = configs.any(|config| matches!(config.kind, ConfigKind::Keystore { .. }));
        if shows && test.settings.aliases.is_empty() {
            test.sink
                .trouble("KeystoreConfig: no key store was named with -Djavax.net.ssl.keyStore");
        }
        test.read_ahead().map_err(|problem| vec![*problem])?;
        Ok(Arc::new(test))
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Stops all users.
    pub fn stop(&self, kind: StopKind) {
        self.shared.stop(kind);
    }

    /// Whether the test is stopping.
    pub fn stopping(&self) -> StopKind {
        self.shared.stopping()
    }

    /// Revokes a stop, before the tearDown groups.
    pub fn go_on(&self) {
        self.shared.go_on();
    }

    /// True once the clock has ended a user.
    pub fn was_cut_short(&self) -> bool {
        let was = &self.shared.was_cut_short;
        was.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Number of active users.
    pub fn active(&self) -> u32 {
        self.shared.all.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Number of users that have begun.
    pub fn begun(&self) -> u64 {
        self.shared.begun.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Milliseconds since 1970 at a moment of the monotonic clock.
    pub fn wall_ms(&self, at_ns: i64) -> i64 {
        at_ns
            .saturating_add(self.settings.wall_offset_ns)
            .div_euclid(1_000_000)
    }

    /// Whole milliseconds between two moments, as JMeter computes them.
    pub(super) fn between_ms(&self, from_ns: i64, to_ns: i64) -> u64 {
        u64::try_from(self.wall_ms(to_ns) - self.wall_ms(from_ns)).unwrap_or(0)
    }

    /// Number of a group among those of its stage, from 1.
    pub(super) fn number_in_stage(&self, group: usize) -> usize {
        let stage = |group: &Group| group.stage;
        let own = self.plan.groups.get(group).map(stage);
        let before = self.plan.groups.iter().take(group + 1);
        before.filter(|other| Some(stage(other)) == own).count()
    }

    /// A compiled regular expression, in the syntax of JMeter's engine. Fails if it is not valid.
    pub(super) fn pattern(&self, text: &str) -> Result<Arc<Regex>, String> {
        let compile = || pattern::extracting(text, false).ok();
        let compiled = cached(&self.patterns, text, compile);
        compiled.ok_or_else(|| pattern::refusal(text))
    }

    /// True if a regular expression matches a whole text. Fails if it is not valid.
    pub(super) fn matches_whole(&self, pattern: &str, text: &str) -> Result<bool, String> {
        let regex = self.whole_pattern(pattern)?;
        Ok(pattern::is_whole(&regex, text))
    }

    fn whole_pattern(&self, text: &str) -> Result<Arc<Regex>, String> {
        let compile = || pattern::extracting(text, true).ok();
        let compiled = cached(&self.whole_patterns, text, compile);
        compiled.ok_or_else(|| pattern::refusal(text))
    }

    /// A compiled JSON path. Fails if it is not valid.
    pub(super) fn json_path(&self, text: &str) -> Result<Arc<JsonPath>, PathFault> {
        if let Some(path) = cached(&self.paths, text, || JsonPath::parse(text).ok()) {
            return Ok(path);
        }
        JsonPath::parse(text).map(Arc::new)
    }

    /// A compiled XPath. Fails with the reason if it is not valid.
    pub(super) fn xpath(&self, text: &str) -> Result<Arc<XPath>, String> {
        let compile = || XPath::parse(text).ok();
        cached(&self.xpaths, text, compile).ok_or_else(|| {
            let why = XPath::parse(text).err().unwrap_or_default();
            format!("`{text}` is not a valid XPath: {why}")
        })
    }

    /// The text of a file. Fails with the reason if it cannot be read.
    pub(super) fn read_text(&self, path: &str, encoding: &str) -> Result<String, String> {
        let read = self.files.read(path, MOST_FUNCTION_FILE_BYTES);
        decode(&read.map_err(|e| e.to_string())?, encoding)
    }

    /// The bytes of a file that is sent, read once. Fails with the reason if it cannot be read.
    pub(super) fn file(&self, path: &str, most_bytes: u64) -> Result<Arc<[u8]>, String> {
        if let Some(known) = locked(&self.shared.sent).get(path) {
            return Ok(Arc::clone(known));
        }
        let read = self
            .files
            .read(path, most_bytes)
            .map_err(|e| e.to_string())?;
        let bytes: Arc<[u8]> = read.into();
        locked(&self.shared.sent).insert(path.into(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// The rows of a data file, read once. Fails with the reason if it cannot be read.
    pub(super) fn rows(
        &self,
        data: &CsvData,
        path: &str,
        encoding: &str,
        delimiter: &str,
    ) -> Result<Arc<DataRows>, String> {
        let first = match (data.variables.is_empty(), data.skips_first_row) {
            (true, _) => FirstRow::Names,
            (false, true) => FirstRow::IsSkipped,
            (false, false) => FirstRow::IsData,
        };
        let quoted = data.quoted;
        let key = format!("{path}\n{encoding}\n{delimiter}\n{quoted}\n{first:?}");
        if let Some(rows) = locked(&self.shared.files).get(&key) {
            return Ok(Arc::clone(rows));
        }
        let bytes = self.files.read(path, feed::MOST_BYTES);
        let text = decode(&bytes.map_err(|e| e.to_string())?, encoding)?;
        let delimiter = match delimiter {
            "\\t" => '\t',
            other => other.chars().next().unwrap_or(','),
        };
        let rows = DataRows::parse(&text, delimiter, quoted, first);
        let rows = Arc::new(rows.part(self.settings.data));
        let mut files = locked(&self.shared.files);
        Ok(Arc::clone(files.entry(key).or_insert(rows)))
    }

    /// Reads the data files with constant names, so that they are not read under load.
    fn read_ahead(&self) -> Result<(), Box<Problem>> {
        for config in &self.plan.configs {
            let ConfigKind::CsvData(data) = &config.kind else {
                continue;
            };
            let known = (
                data.file.constant(),
                data.encoding.constant(),
                data.delimiter.constant(),
            );
            let (Some(path), Some(encoding), Some(delimiter)) = known else {
                continue;
            };
            self.rows(data, path, encoding, delimiter).map_err(|why| {
                Box::new(Problem {
                    severity: Severity::Error,
                    place: Some(config.place.clone()),
                    says: Text::new("jmx-data-unreadable")
                        .word("file", path)
                        .word("why", why),
                    hint: None,
                })
            })?;
        }
        Ok(())
    }
}

/// Pools by their variables; as in JMeter the first of a name stays.
fn databases_of(plan: &Plan) -> HashMap<String, Id> {
    let mut found = HashMap::new();
    for (id, config) in (0..).zip(&plan.configs) {
        if let ConfigKind::Database(database) = &config.kind
            && database.address.is_some()
        {
            found.entry(database.variable.clone()).or_insert(id);
        }
    }
    found
}

/// Compiled texts; `None` for those that are not valid.
type Cache<T> = Mutex<HashMap<String, Option<Arc<T>>>>;

/// The compiled form of a text, cached.
fn cached<T>(cache: &Cache<T>, text: &str, compile: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
    if let Some(known) = locked(cache).get(text) {
        return known.clone();
    }
    let made = compile().map(Arc::new);
    let mut cache = locked(cache);
    if cache.len() < MOST_PATTERNS {
        cache.insert(text.into(), made.clone());
    }
    made
}

/// The target of a request with a constant URL.
fn fixed_target(request: &HttpRequest, targets: &dyn Targets) -> Option<u32> {
    let relative = match request.path.segments().first() {
        None => true,
        Some(crate::expression::Segment::Text(text)) => text.starts_with('/'),
        Some(_) => false,
    };
    if !relative {
        return None;
    }
    let tls = request.protocol.constant()?.eq_ignore_ascii_case("https");
    let host = request.domain.constant()?;
    let port = match request.port.constant()?.trim() {
        "" if tls => 443,
        "" => 80,
        // 0 and what is not a port are distinguished for each request.
        port => port.parse().ok().filter(|port| *port != 0)?,
    };
    // The address of an IPv6 host is written in another way.
    let is_name = !host.is_empty() && !host.contains(':');
    is_name.then(|| targets.target(tls, host, port))
}

/// JMeter's variables with the time of the start.
fn start_times(started_ms: i64, zone: &TimeZone) -> impl Iterator<Item = (String, String)> {
    let at = |pattern| written_date(pattern, started_ms, zone);
    let times = [
        ("START.MS", started_ms.to_string()),
        ("START.YMD", at("yyyyMMdd")),
        ("START.HMS", at("HHmmss")),
        ("TESTSTART.MS", started_ms.to_string()),
    ];
    times
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
}
