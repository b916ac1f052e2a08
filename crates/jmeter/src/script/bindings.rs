//! The objects that a script can read and change.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::tz::TimeZone;
use sokudo_pace::Random;

use super::objects::{SharedObjects, Turn};
use super::{LentCookies, LentFiles, LentRequest, LogLevel, ScriptOwner, files, host, request};
use crate::plan::FlowAction;
use crate::properties::{Origin, Properties};
use crate::run::Asserted;
use crate::run::charset::Charset;

/// Most lines that one script may log.
const MOST_LINES: usize = 100;
/// Longest line that a script logs, characters.
const MOST_LINE: usize = 1_000;

/// State of a user that is lent to a script while it runs.
#[derive(Debug)]
pub struct LentState {
    /// Variables of the user.
    pub variables: HashMap<String, String>,
    /// Variables of the plan.
    pub fixed: Arc<HashMap<String, String>>,
    /// Properties, shared by all users.
    pub properties: Arc<RwLock<Properties>>,
    /// Objects in properties, shared by all users.
    pub objects: Arc<SharedObjects>,
    /// Source of the user's random choices.
    pub random: Random,
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Time zone of dates.
    pub time_zone: TimeZone,
    /// `<group> <number of the group>-<number of the user>`.
    pub thread_name: String,
    /// Number of the user within its group, from 1.
    pub thread_number: u64,
    /// Its iteration, from 1.
    pub iteration: u64,
    /// Active users of its group and of all groups.
    pub active: (u32, u32),
    /// Users that its group states; `None`: it does not state a number.
    pub group_users: Option<u64>,
    /// File name of the plan.
    pub plan_name: String,
    /// Name of the current sampler.
    pub sampler: String,
    /// True if info lines are kept, too, not only warnings and errors.
    pub keeps_log: bool,
    /// The request of the current sampler; `None`: it is not an HTTP sampler, or the script does not read it.
    pub request: Option<Box<LentRequest>>,
    /// The cookies of its manager; `None`: it has none, or the script does not name it.
    pub cookies: Option<LentCookies>,
    /// The files that scripts may use.
    pub files: LentFiles,
    /// True if the previous result is kept for scripts.
    pub keeps_previous: bool,
    /// The previous result, if it is kept and there is one.
    pub previous: Option<Box<ScriptSample>>,
}

impl Default for LentState {
    /// Empty, at the beginning of 1970.
    fn default() -> Self {
        Self {
            variables: HashMap::new(),
            fixed: Arc::default(),
            properties: Arc::default(),
            objects: Arc::default(),
            random: Random::new(0, 0),
            now_ms: 0,
            time_zone: TimeZone::UTC,
            thread_name: String::new(),
            thread_number: 0,
            iteration: 0,
            active: (0, 0),
            group_users: None,
            plan_name: String::new(),
            sampler: String::new(),
            keeps_log: false,
            request: None,
            cookies: None,
            files: LentFiles::default(),
            keeps_previous: false,
            previous: None,
        }
    }
}

/// The sample that a script examines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptSample {
    /// Its label.
    pub label: String,
    /// Response code.
    pub code: String,
    /// Response message.
    pub message: String,
    /// Text of the body.
    pub text: String,
    /// Bytes of the body where they are not those of its text in UTF-8.
    pub body: Option<Vec<u8>>,
    /// Its sub-results, where a script asks for them.
    pub inner: Vec<ScriptSample>,
    /// The outcomes of its assertions so far, in order.
    pub asserted: Vec<Asserted>,
    /// Response headers.
    pub headers: String,
    /// Headers of the request.
    pub request_headers: String,
    /// Body of the request.
    pub request_body: String,
    /// The request as JMeter shows it.
    pub sampler_data: String,
    /// Type of the body with its parameters.
    pub content_type: String,
    /// Milliseconds since 1970 at its start.
    pub start_ms: i64,
    /// Milliseconds since 1970 at its end.
    pub end_ms: i64,
    /// The type of data that a script gave it: `text` or `bin`.
    pub data_type: Option<&'static str>,
    /// True if it is not to be reported.
    pub is_ignored: bool,
    /// URL.
    pub url: String,
    /// Time from start to end, milliseconds.
    pub elapsed_ms: u64,
    /// Time to the first byte, milliseconds.
    pub latency_ms: u64,
    /// Time to the connection, milliseconds.
    pub connect_ms: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes of its head.
    pub head_bytes: u64,
    /// Bytes sent, where the sampler states them.
    pub sent_bytes: u64,
    /// Pauses in it, milliseconds.
    pub idle_ms: u64,
    /// True if it succeeded.
    pub success: bool,
    /// It is that of a transaction.
    pub transaction: Option<TransactionKind>,
}

/// What becomes of the samples of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionKind {
    /// They are reported beside it.
    Plain,
    /// They are below it.
    Parent,
}

/// The judgement of a script assertion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// True if the assertion failed.
    pub failed: bool,
    /// Message.
    pub message: String,
}

/// Part of the test that a script asks to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopRequest {
    /// Nothing.
    #[default]
    GoOn,
    /// The user.
    StopUser,
    /// The test; samples under way are completed.
    StopTest,
    /// The test, immediately.
    StopTestNow,
}

/// What a script wants to end or to leave once the current sample is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The part to stop.
    pub stop: StopRequest,
    /// Where the user goes on; `None`: the script does not say.
    pub flow: Option<FlowAction>,
}

/// Everything that a script can access.
#[derive(Debug, Default)]
pub struct Bindings {
    /// State of the user.
    pub lent: LentState,
    /// The kind of element.
    pub owner: ScriptOwner,
    /// Name of the element.
    pub label: String,
    /// `Parameters` of the element.
    pub parameters: String,
    /// The file that holds the script; empty: none.
    pub file: String,
    /// The sample, with the changes of the script.
    pub seen: Option<ScriptSample>,
    /// The judgement of an assertion.
    pub judgement: Judgement,
    /// What it wants to end or to leave.
    pub wishes: Wishes,
    /// Lines that it logged.
    pub logged: Vec<Logged>,
    /// Pauses that it made, milliseconds.
    pub slept_ms: i64,
    /// Another name that it gave the sampler.
    pub renamed: Option<String>,
    /// Its turn, once it uses objects that are shared.
    pub turn: Option<Turn>,
}

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Level.
    pub level: LogLevel,
    /// Text, which may contain line ends.
    pub text: String,
}

/// Removes a variable of the plan from those that one user sees.
pub(crate) fn remove_fixed(fixed: &mut Arc<HashMap<String, String>>, name: &str) -> Option<String> {
    match fixed.contains_key(name) {
        true => Arc::make_mut(fixed).remove(name),
        false => None,
    }
}

impl Bindings {
    /// Answers a call of `host` in `jmeter.js`; `None`: there is no such function.
    pub(super) fn answer(&mut self, name: &str, a: &str, b: &str) -> Option<String> {
        match name {
            "var" => {
                let own = self.lent.variables.get(a);
                return own.or_else(|| self.lent.fixed.get(a)).cloned();
            }
            "put" => drop(self.lent.variables.insert(a.into(), b.into())),
            "remove" => {
                self.lent.variables.remove(a);
                remove_fixed(&mut self.lent.fixed, a);
            }
            "names" => {
                let own = self.lent.variables.keys();
                let mut all: Vec<&String> = own.chain(self.lent.fixed.keys()).collect();
                all.sort();
                all.dedup();
                return serde_json::to_string(&all).ok();
            }
            "property" => {
                let properties = self.lent.properties.read();
                let properties = properties.unwrap_or_else(PoisonError::into_inner);
                return properties.get(a).map(str::to_owned);
            }
            "alone" => {
                let objects = &self.lent.objects;
                self.turn
                    .get_or_insert_with(|| SharedObjects::alone(objects));
            }
            "object" => return self.lent.objects.get(a).map(|packed| packed.to_string()),
            "putObject" => {
                self.remove_property(a);
                let kept = self.lent.objects.put(a, b);
                return Some(kept.err().unwrap_or_default());
            }
            "setProperty" => {
                self.lent.objects.remove(a);
                let properties = self.lent.properties.write();
                let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
                properties.set(a, b, Origin::CommandLine);
            }
            "removeProperty" => {
                self.lent.objects.remove(a);
                self.remove_property(a);
            }
            "environment" => return Some(files::environment(&self.lent.files, a, b)),
            "fact" => return self.fact(a),
            "seen" => return self.seen.as_ref().and_then(|seen| seen.get(a)),
            "readsAlike" => {
                let seen = match a {
                    "before" => self.lent.previous.as_deref(),
                    _ => self.seen.as_ref(),
                };
                return Some(seen.is_some_and(|seen| seen.reads_alike(b)).to_string());
            }
            "seenBefore" => {
                let previous = self.lent.previous.as_ref();
                return previous.and_then(|seen| seen.get(a));
            }
            "change" => {
                if let Some(seen) = &mut self.seen {
                    seen.set(a, b);
                }
            }
            "changeBefore" => {
                if let Some(seen) = &mut self.lent.previous {
                    seen.set(a, b);
                }
            }
            "rename" => self.renamed = Some(a.into()),
            "request" => match (a, &mut self.lent.request) {
                (_, None) => {}
                ("describe", Some(request)) => return Some(request.describe()),
                ("change", Some(request)) => return request.change(b).map(|()| String::new()),
                _ => return request::rendered(&mut self.lent, b),
            },
            "cookies" => return self.lent.cookies.as_mut()?.call(a, b),
            "judge" => match a {
                "failed" => self.judgement.failed = b == "true",
                _ => self.judgement.message = b.into(),
            },
            "judged" => {
                return Some(match a {
                    "failed" => self.judgement.failed.to_string(),
                    _ => self.judgement.message.clone(),
                });
            }
            "stop" => {
                self.wishes.stop = self.wishes.stop.max(match a {
                    "user" => StopRequest::StopUser,
                    "test" => StopRequest::StopTest,
                    _ => StopRequest::StopTestNow,
                });
            }
            "flow" => {
                self.wishes.flow = Some(match a {
                    "START_NEXT_ITERATION_OF_THREAD" => FlowAction::NextGroupLoop,
                    "START_NEXT_ITERATION_OF_CURRENT_LOOP" => FlowAction::NextLoop,
                    "BREAK_CURRENT_LOOP" => FlowAction::BreakLoop,
                    _ => FlowAction::Continue,
                });
            }
            "log" if self.logged.len() < MOST_LINES => {
                let text: String = b.chars().take(MOST_LINE).collect();
                let level = LogLevel::named(a);
                let wanted = level.filter(|level| self.lent.keeps_log || *level != LogLevel::Info);
                self.logged
                    .extend(wanted.map(|level| Logged { level, text }));
            }
            "random" => return Some(self.lent.random.unit().to_string()),
            "now" => return Some((self.lent.now_ms + self.slept_ms).to_string()),
            "sleep" if self.owner.can_sleep() => {
                let ms: i64 = a.parse().unwrap_or(0);
                self.slept_ms = (self.slept_ms + ms).min(host::MOST_SLEEP_MS);
                return Some(String::new());
            }
            "regex" => return Some(host::regex(a, b)),
            "digest" => return host::digest(a, b),
            "encoding" => return host::encoding(a),
            "encoded" => return host::encoded(a, b),
            "decoded" => return host::decoded(a, b),
            "escaped" => return host::escaped(a, b),
            "utf8" => return host::utf8(a),
            "xml" => return Some(host::xml(a)),
            "file" => return Some(files::answer(&self.lent.files, a, b)),
            "time" => return host::time(a, b, &self.lent.time_zone),
            _ => {}
        }
        None
    }

    fn remove_property(&self, name: &str) {
        let properties = self.lent.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.remove(name);
    }

    /// Takes the values that a BeanShell script has given its variables.
    pub(super) fn take_outputs(&mut self, outputs: &serde_json::Value) {
        let text = |name: &str| match &outputs[name] {
            serde_json::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        match self.owner {
            ScriptOwner::Assertion => {
                if let Some(failed) = text("Failure") {
                    self.judgement.failed = failed == "true";
                }
                if let Some(message) = text("FailureMessage") {
                    self.judgement.message = message;
                }
            }
            ScriptOwner::Sampler => {
                for (name, to) in [
                    ("ResponseCode", "code"),
                    ("ResponseMessage", "message"),
                    ("IsSuccess", "success"),
                ] {
                    if let (Some(value), Some(seen)) = (text(name), &mut self.seen) {
                        seen.set(to, &value);
                    }
                }
            }
            _ => {}
        }
    }

    fn fact(&self, name: &str) -> Option<String> {
        let lent = &self.lent;
        Some(match name {
            "label" => self.label.clone(),
            "parameters" => self.parameters.clone(),
            "sampler" => lent.sampler.clone(),
            "threadName" => lent.thread_name.clone(),
            "keepsLog" => lent.keeps_log.to_string(),
            "plan" => lent.plan_name.clone(),
            "owner" => format!("{:?}", self.owner),
            "keepsPrevious" => lent.keeps_previous.to_string(),
            "user" => lent.thread_name.clone(),
            "threadNumber" => lent.thread_number.to_string(),
            "iteration" => lent.iteration.to_string(),
            "groupThreads" => lent.active.0.to_string(),
            "allThreads" => lent.active.1.to_string(),
            "groupUsers" => lent.group_users?.to_string(),
            "transaction" => match self.seen.as_ref()?.transaction? {
                TransactionKind::Plain => "plain",
                TransactionKind::Parent => "parent",
            }
            .to_owned(),
            "stopsUser" => (self.wishes.stop >= StopRequest::StopUser).to_string(),
            "groupName" => group_name(&lent.thread_name).into(),
            _ => return None,
        })
    }
}

/// The name of a thread's group: a thread is named after it, the group's number and its own.
pub(super) fn group_name(thread_name: &str) -> &str {
    let name = thread_name.rsplit_once(' ');
    name.map_or(thread_name, |(name, _)| name)
}

impl ScriptSample {
    fn get(&self, name: &str) -> Option<String> {
        Some(match name {
            "label" => self.label.clone(),
            "code" => self.code.clone(),
            "message" => self.message.clone(),
            "text" => self.text.clone(),
            "body" => return self.body.as_deref().map(host::hex),
            "asserted" => self.outcomes(),
            "inner" if self.transaction == Some(TransactionKind::Parent) => return None,
            "inner" => self.sub_results(),
            "headers" => self.headers.clone(),
            "requestHeaders" => self.request_headers.clone(),
            "requestBody" => self.request_body.clone(),
            "samplerData" if self.transaction.is_some() => return None,
            "samplerData" => self.sampler_data.clone(),
            "contentType" => self.content_type.clone(),
            "dataType" => self.data_type.unwrap_or_default().to_owned(),
            "start" => self.start_ms.to_string(),
            "end" => self.end_ms.to_string(),
            "ignored" => self.is_ignored.to_string(),
            "url" => self.url.clone(),
            "elapsed" => self.elapsed_ms.to_string(),
            "latency" => self.latency_ms.to_string(),
            "connect" => self.connect_ms.to_string(),
            "idle" => self.idle_ms.to_string(),
            "bytes" => self.bytes.to_string(),
            "headBytes" => self.head_bytes.to_string(),
            "bodyBytes" => self.body_or_text().len().to_string(),
            "success" => self.success.to_string(),
            _ => return None,
        })
    }

    /// The outcomes of assertions in JSON: name, failure, error and message of each.
    fn outcomes(&self) -> String {
        let outcomes = self.asserted.iter();
        let outcomes =
            outcomes.map(|one| serde_json::json!([one.name, one.failed, one.is_error, one.says]));
        serde_json::Value::from_iter(outcomes).to_string()
    }

    /// What scripts may read of sub-results, in JSON.
    fn sub_results(&self) -> String {
        const READ: &[&str] = &[
            "label",
            "code",
            "message",
            "text",
            "headers",
            "requestHeaders",
            "requestBody",
            "samplerData",
            "start",
            "end",
            "url",
            "elapsed",
            "latency",
            "connect",
            "bytes",
            "success",
        ];
        let fields = |inner: &Self| {
            let fields = READ
                .iter()
                .map(|name| ((*name).to_owned(), inner.get(name).into()));
            serde_json::Value::Object(fields.collect())
        };
        serde_json::Value::from_iter(self.inner.iter().map(fields)).to_string()
    }

    /// True if the body has the same text in this encoding.
    fn reads_alike(&self, charset: &str) -> bool {
        let charset = Charset::named(charset);
        charset.is_some_and(|charset| charset.decode(self.body_or_text()) == self.text)
    }

    fn body_or_text(&self) -> &[u8] {
        self.body.as_deref().unwrap_or(self.text.as_bytes())
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "label" => self.label = value.into(),
            "code" => self.code = value.into(),
            "message" => self.message = value.into(),
            "text" => (self.text, self.body) = (value.into(), None),
            "success" => self.success = value == "true",
            "headers" => self.headers = value.into(),
            "requestHeaders" => self.request_headers = value.into(),
            "samplerData" => self.sampler_data = value.into(),
            "contentType" => self.content_type = value.into(),
            "ignored" => self.is_ignored = value == "true",
            "dataType" => self.data_type = Some(if value == "bin" { "bin" } else { "text" }),
            _ => {}
        }
    }
}
