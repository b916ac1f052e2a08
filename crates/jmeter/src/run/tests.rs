//! Simulations of plans in virtual time against a scripted server: seeded and without sockets.

use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::files::MemoryFiles;
use crate::plan::{Id, Stage};
use crate::properties::{Origin, Properties};
use crate::proxy::Proxy;
use crate::settings::Settings;

mod ends;
mod requests;
mod results;
mod scripts;
mod shares;
mod trees;
mod users;

/// A recorded row.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    kind: RowKind,
    is_inner: bool,
    start_ms: i64,
    elapsed_ms: u64,
    label: String,
    code: String,
    message: String,
    thread: String,
    success: bool,
    failure: String,
    url: String,
    idle_ms: u64,
    all_threads: u32,
}

#[derive(Default)]
struct Kept {
    rows: Mutex<Vec<Row>>,
    troubles: Mutex<Vec<String>>,
    logged: Mutex<Vec<String>>,
}

impl Sink for Kept {
    fn sample(&self, row: &SampleRow<'_>, _listeners: &[Id]) {
        self.rows.lock().unwrap().push(Row {
            kind: row.kind,
            is_inner: row.is_inner,
            start_ms: row.start_ms,
            elapsed_ms: row.elapsed_ms,
            label: row.label.to_string(),
            code: row.code.to_string(),
            message: row.message.to_string(),
            thread: row.thread_name.to_string(),
            success: row.success,
            failure: row.failure_message.to_string(),
            url: row.url.to_string(),
            idle_ms: row.idle_ms,
            all_threads: row.all_threads,
        });
    }

    fn logs(&self) -> bool {
        true
    }

    fn log(&self, line: String) {
        self.logged.lock().unwrap().push(line);
    }

    fn trouble(&self, what: &str) {
        self.troubles.lock().unwrap().push(what.into());
    }
}

#[derive(Default)]
struct Interned(Mutex<Vec<(bool, String, u16)>>);

impl Targets for Interned {
    fn target(&self, tls: bool, host: &str, port: u16) -> u32 {
        let mut all = self.0.lock().unwrap();
        let wanted = (tls, host.to_owned(), port);
        let found = all.iter().position(|known| *known == wanted);
        found.unwrap_or_else(|| {
            all.push(wanted);
            all.len() - 1
        }) as u32
    }

    fn routed(&self, to: (bool, &str, u16), through: Option<&Through>, route: &Route) -> u32 {
        let name = format!("{} by {through:?} {route:?}", to.1);
        self.target(to.0, &name, to.2)
    }

    fn tunnel(&self, host: &str, port: u16, through: &Through) -> u32 {
        let name = format!("{host}:{port} by {}", through.authorization);
        self.target(true, &name, through.port)
    }
}

/// The response of the server: status, headers, body, time in milliseconds.
type Answered = (u16, String, String, i64);

/// A request under way: when it was sent, its response, how it was sent, its length.
type Flying = (i64, Answered, Request, u64);

/// The outcome of a simulated test.
struct Simulated {
    rows: Vec<Row>,
    requests: Vec<String>,
    troubles: Vec<String>,
    logged: Vec<String>,
    end_ms: i64,
}

impl Simulated {
    fn labels(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.label.as_str()).collect()
    }
}

struct Simulation {
    plan: String,
    properties: Properties,
    files: MemoryFiles,
    proxy: Option<Proxy>,
    part: GeneratorShare,
    most_ms: i64,
}

impl Simulation {
    /// A plan with one group of these properties and contents.
    fn group(group: &str, content: &str) -> Self {
        Self::plan(&format!(
            "<ThreadGroup testname=\"G\">{group}</ThreadGroup><hashTree>{content}</hashTree>"
        ))
    }

    fn plan(content: &str) -> Self {
        Self {
            plan: format!(
                "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"P\"/><hashTree>{content}</hashTree></hashTree></jmeterTestPlan>"
            ),
            properties: Properties::default(),
            files: MemoryFiles::default(),
            proxy: None,
            part: GeneratorShare::WHOLE,
            most_ms: 600_000,
        }
    }

    /// One of several generators that divide the users.
    fn part(mut self, index: u64, of: u64) -> Self {
        self.part = GeneratorShare::new(index, of).unwrap();
        self
    }

    fn file(mut self, name: &str, text: &str) -> Self {
        self.files.0.insert(name.into(), text.into());
        self
    }

    fn run(self, mut far: impl FnMut(&str) -> Answered) -> Simulated {
        let settings = Settings {
            properties: self.properties.clone(),
            ..Settings::default()
        };
        let reading = crate::read("plan.jmx", self.plan.as_bytes(), &settings, &self.files);
        let errors: Vec<String> = reading
            .problems
            .iter()
            .take(reading.errors)
            .map(ToString::to_string)
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        let sink = Arc::new(Kept::default());
        let run_settings = RunSettings {
            seed: 7,
            wall_offset_ns: 0,
            time_zone: jiff::tz::TimeZone::UTC,
            plan_name: "plan.jmx".into(),
            host_name: "here".into(),
            users: self.part,
            data: GeneratorShare::WHOLE,
            name_prefix: String::new(),
            host_address: "127.0.0.1".into(),
            properties: self.properties,
            user_agent: "test".into(),
            proxy: self.proxy,
            aliases: Vec::new(),
        };
        let plan = reading.plan.expect("a plan");
        let test = Test::new(
            plan,
            run_settings,
            Arc::new(self.files),
            Arc::new(Interned::default()),
            sink.clone(),
        );
        let test = test.unwrap_or_else(|problems| panic!("{}", problems[0]));
        let mut requests = Vec::new();
        let mut now_ns = 0;
        for stage in [Stage::SetUp, Stage::Main, Stage::TearDown] {
            now_ns = stage_over(
                &test,
                &sink,
                stage,
                now_ns,
                self.most_ms,
                &mut far,
                &mut requests,
            );
        }
        assert_eq!(test.active(), 0, "all users are gone");
        let rows = std::mem::take(&mut *sink.rows.lock().unwrap());
        let troubles = std::mem::take(&mut *sink.troubles.lock().unwrap());
        let logged = std::mem::take(&mut *sink.logged.lock().unwrap());
        Simulated {
            rows,
            requests,
            troubles,
            logged,
            end_ms: now_ns / 1_000_000,
        }
    }
}

/// Runs one stage in virtual time; gives the end of its last user.
fn stage_over(
    test: &Arc<Test>,
    sink: &Arc<Kept>,
    stage: Stage,
    begins_ns: i64,
    most_ms: i64,
    far: &mut dyn FnMut(&str) -> Answered,
    requests: &mut Vec<String>,
) -> i64 {
    // Due times with the index of the user.
    let mut due: BinaryHeap<std::cmp::Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut users: Vec<(VirtualUser, Option<Flying>)> = Vec::new();
    for start in ThreadStarts::new(test.plan(), stage, None, 7) {
        let at_ns = begins_ns + start.at_ns;
        let ends_ns = start.ends_ns.map(|end| begins_ns + end);
        let arrival = start.is_arrival.then_some(at_ns);
        let user = VirtualUser::new(
            test,
            sink.clone(),
            start.group,
            start.number,
            ends_ns,
            arrival,
        );
        due.push(std::cmp::Reverse((at_ns, users.len())));
        users.push((user, None));
    }
    let mut last_ns = begins_ns;
    let mut out = Vec::new();
    while let Some(std::cmp::Reverse((now_ns, index))) = due.pop() {
        assert!(now_ns / 1_000_000 <= most_ms, "the test does not end");
        last_ns = now_ns;
        let (user, flying) = &mut users[index];
        if let Some((start_ns, answer, request, sent)) = flying.take() {
            user.ended(&reply(start_ns, now_ns, &answer, &request, sent));
        }
        out.clear();
        match user.step(now_ns, &mut out) {
            NextAction::Send(request) => {
                let text = String::from_utf8_lossy(&out).into_owned();
                let answer = far(&text);
                due.push(std::cmp::Reverse((now_ns + answer.3 * 1_000_000, index)));
                *flying = Some((now_ns, answer, request, out.len() as u64));
                requests.push(text);
            }
            NextAction::Pause { until_ns } => {
                due.push(std::cmp::Reverse((until_ns.max(now_ns + 1), index)))
            }
            NextAction::Call => {
                if let Some(call) = user.take_call() {
                    user.answered(call.nobody(now_ns));
                }
                due.push(std::cmp::Reverse((now_ns + 1, index)));
            }
            NextAction::End | NextAction::Rest => {}
        }
    }
    last_ns
}

fn reply<'a>(
    start_ns: i64,
    end_ns: i64,
    answer: &'a Answered,
    request: &Request,
    sent_bytes: u64,
) -> Reply<'a> {
    let lost = (answer.0 == 0).then_some(Lost {
        class: NotHttp::Reset,
        phase: "read",
        errno: Some(104),
        says: "connection reset",
    });
    Reply {
        intended_ns: request.intended_ns,
        start_ns,
        connected_ns: start_ns,
        sent_ns: start_ns,
        first_byte_ns: end_ns,
        end_ns,
        reused: true,
        sent_bytes,
        head_bytes: answer.1.len() as u64,
        framing_bytes: 0,
        peer: None,
        spent: Default::default(),
        body_bytes: answer.2.len() as u64,
        status: answer.0,
        reason: b"OK",
        headers: answer.1.as_bytes(),
        body: answer.2.as_bytes(),
        lost,
    }
}

fn ok(body: &str) -> Answered {
    (200, "Content-Type: text/html\r\n".into(), body.into(), 10)
}

const LOOPS: fn(i64) -> String = |loops| {
    format!(
        "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp><intProp name=\"LoopController.loops\">{loops}</intProp></elementProp>"
    )
};

fn text(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

fn flag(name: &str, value: bool) -> String {
    format!("<boolProp name=\"{name}\">{value}</boolProp>")
}

/// Properties of a group: users, ramp in seconds, loops.
fn users(users: u32, ramp_s: u32, loops: i64) -> String {
    format!(
        "{}{}{}",
        text("ThreadGroup.num_threads", &users.to_string()),
        text("ThreadGroup.ramp_time", &ramp_s.to_string()),
        LOOPS(loops)
    )
}

fn element(tag: &str, name: &str, properties: &str, below: &str) -> String {
    format!("<{tag} testname=\"{name}\">{properties}</{tag}><hashTree>{below}</hashTree>")
}

/// A GET of this path; the sampler has the path as its name.
fn get(path: &str, below: &str) -> String {
    http(path, "GET", "", below)
}

fn http(path: &str, method: &str, more: &str, below: &str) -> String {
    let properties = format!(
        "{}{}{}{more}",
        text("HTTPSampler.domain", "host"),
        text("HTTPSampler.path", path),
        text("HTTPSampler.method", method)
    );
    element("HTTPSamplerProxy", path, &properties, below)
}

fn argument(name: &str, value: &str, encode: bool) -> String {
    format!(
        "<elementProp name=\"{name}\" elementType=\"HTTPArgument\">{}{}{}{}</elementProp>",
        flag("HTTPArgument.always_encode", encode),
        text("Argument.name", name),
        text("Argument.value", value),
        text("Argument.metadata", "=")
    )
}

fn arguments(all: &str) -> String {
    format!(
        "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{all}</collectionProp></elementProp>"
    )
}
