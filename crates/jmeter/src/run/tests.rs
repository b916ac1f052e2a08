//! Plans are executed against a scripted far end in virtual time: seeded, without sockets, as many
//! users as wanted.

use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::files::MemoryFiles;
use crate::plan::{Id, Stage};
use crate::properties::{Origin, Properties};
use crate::proxy::Proxy;
use crate::settings::Settings;

mod ends;
mod scripts;
mod shares;
mod trees;

/// A row that is kept.
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

/// What the far end answers: status, headers, body, time in milliseconds.
type Answered = (u16, String, String, i64);

/// A request under way: when it left, what it gets, how it was asked, its length.
type Flying = (i64, Answered, Request, u64);

/// What came of a simulated test.
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
    part: Part,
    most_ms: i64,
}

impl Simulation {
    /// A plan of one group with these properties and this content.
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
            part: Part::WHOLE,
            most_ms: 600_000,
        }
    }

    /// One of several generators that divide the users.
    fn part(mut self, index: u64, of: u64) -> Self {
        self.part = Part::new(index, of).unwrap();
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
            data: Part::WHOLE,
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

/// Runs one stage in virtual time; gives the moment at which its last user was gone.
fn stage_over(
    test: &Arc<Test>,
    sink: &Arc<Kept>,
    stage: Stage,
    begins_ns: i64,
    most_ms: i64,
    far: &mut dyn FnMut(&str) -> Answered,
    requests: &mut Vec<String>,
) -> i64 {
    // What is due when: the user's number in the list, and the answer it then gets.
    let mut due: BinaryHeap<std::cmp::Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut users: Vec<(VirtualUser, Option<Flying>)> = Vec::new();
    for start in Starts::new(test.plan(), stage, None, 7) {
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
            Next::Send(request) => {
                let text = String::from_utf8_lossy(&out).into_owned();
                let answer = far(&text);
                due.push(std::cmp::Reverse((now_ns + answer.3 * 1_000_000, index)));
                *flying = Some((now_ns, answer, request, out.len() as u64));
                requests.push(text);
            }
            Next::Pause { until_ns } => {
                due.push(std::cmp::Reverse((until_ns.max(now_ns + 1), index)))
            }
            Next::End | Next::Rest => {}
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

/// A group's properties: users, ramp in seconds, loops.
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

/// A GET of this path with the sampler named after it.
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

#[test]
fn exactly_this_is_sent() {
    let plan = get("/a b?x=1", "")
        + &http(
            "/form",
            "POST",
            &arguments(
                &(argument("q", "日 &amp;", true)
                    + &argument("r", "a%20b", false)
                    + &argument("", "left out", true)),
            ),
            "",
        )
        + &http(
            "/search",
            "GET",
            &arguments(&(argument("q", "a b", true) + &argument("r", "1", false))),
            "",
        )
        + &http(
            "/raw",
            "POST",
            &(flag("HTTPSampler.postBodyRaw", true)
                + &flag("HTTPSampler.use_keepalive", true)
                + &arguments(&argument("", "{\"a\":1}", false))),
            "",
        );
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    let expected = [
        "GET /a%20b?x=1 HTTP/1.1\r\nConnection: close\r\nHost: host\r\nUser-Agent: test\r\n\r\n",
        "POST /form HTTP/1.1\r\nConnection: close\r\nContent-Length: 23\r\nContent-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nHost: host\r\nUser-Agent: test\r\n\r\nq=%E6%97%A5+%26&r=a+b",
        "GET /search?q=a+b&r=1 HTTP/1.1\r\nConnection: close\r\nHost: host\r\nUser-Agent: test\r\n\r\n",
        "POST /raw HTTP/1.1\r\nConnection: keep-alive\r\nContent-Length: 7\r\nContent-Type: text/plain; charset=UTF-8\r\nHost: host\r\nUser-Agent: test\r\n\r\n{\"a\":1}",
    ];
    for (request, expected) in done.requests.iter().zip(expected) {
        let body = expected.split_once("\r\n\r\n").unwrap().1;
        let length = format!("Content-Length: {}", body.len());
        let expected = match expected.find("Content-Length: ") {
            Some(at) => {
                let end = at + expected[at..].find('\r').unwrap();
                format!("{}{length}{}", &expected[..at], &expected[end..])
            }
            None => expected.to_owned(),
        };
        assert_eq!(*request, expected);
    }
    assert_eq!(done.requests.len(), 4);
    assert_eq!(done.rows[2].url, "http://host/search?q=a+b&r=1");
}

#[test]
fn users_begin_along_the_ramp_and_do_their_loops() {
    let done = Simulation::group(&users(4, 2, 3), &get("/a", "")).run(|_| ok(""));
    assert_eq!(done.rows.len(), 12);
    let first = |thread: &str| {
        done.rows
            .iter()
            .find(|row| row.thread == thread)
            .unwrap()
            .start_ms
    };
    assert_eq!(
        ["G 1-1", "G 1-2", "G 1-3", "G 1-4"].map(first),
        [0, 500, 1_000, 1_500]
    );
}

#[test]
fn the_clock_ends_users_and_a_pause_beyond_it_does_so_at_once() {
    let scheduled =
        users(2, 0, -1) + &flag("ThreadGroup.scheduler", true) + &text("ThreadGroup.duration", "5");
    let pause = element(
        "ConstantTimer",
        "T",
        &text("ConstantTimer.delay", "990"),
        "",
    );
    let done = Simulation::group(&scheduled, &(get("/a", "") + &pause)).run(|_| ok(""));
    // 990 + 10 ms each: the fifth ends at 5 s, where no other begins.
    assert_eq!(done.rows.len(), 10);
    assert_eq!(done.rows[0].start_ms, 990);
    assert!(done.end_ms <= 5_000, "{}", done.end_ms);
}

#[test]
fn thousands_of_users_think_583_ms_on_average() {
    let timer = element(
        "GaussianRandomTimer",
        "T",
        &(text("ConstantTimer.delay", "500") + &text("RandomTimer.range", "500")),
        "",
    );
    let done = Simulation::group(&users(5_000, 0, 2), &(get("/a", "") + &timer)).run(|_| ok(""));
    assert_eq!(done.rows.len(), 10_000);
    let first = done.rows.iter().filter(|row| row.start_ms < i64::MAX);
    let thought: i64 = {
        let mut by_thread = std::collections::HashMap::new();
        first
            .map(|row| {
                let before = by_thread
                    .insert(&row.thread, row.start_ms + 10)
                    .unwrap_or(0);
                row.start_ms - before
            })
            .sum()
    };
    let mean = thought as f64 / 10_000.0;
    assert!((573.0..593.0).contains(&mean), "{mean}");
}

#[test]
fn a_seed_repeats_everything() {
    let run = || {
        let timer = element(
            "UniformRandomTimer",
            "T",
            &text("RandomTimer.range", "1000"),
            "",
        );
        let content = get("/a?${__Random(1,1000)}", "") + &timer;
        Simulation::group(&users(5, 1, 5), &content)
            .run(|_| ok(""))
            .rows
    };
    assert_eq!(run(), run());
}

#[test]
fn an_error_does_what_the_group_says() {
    let failing = |on_error: &str| {
        let group = users(2, 0, 3) + &text("ThreadGroup.on_sample_error", on_error);
        let done = Simulation::group(&group, &(get("/a", "") + &get("/bad", "") + &get("/c", "")))
            .run(|request| {
                if request.contains("/bad") {
                    (500, String::new(), String::new(), 10)
                } else {
                    ok("")
                }
            });
        done.rows.len()
    };
    assert_eq!(failing("continue"), 18);
    assert_eq!(failing("startnextloop"), 12);
    assert_eq!(failing("stopthread"), 4);
    assert_eq!(failing("stoptest"), 4);
}

#[test]
fn what_is_lost_is_named_as_jmeter_names_it() {
    let done = Simulation::group(&users(1, 0, 1), &get("/a", ""))
        .run(|_| (0, String::new(), String::new(), 3));
    let row = &done.rows[0];
    assert_eq!(row.code, "Non HTTP response code: java.net.SocketException");
    assert_eq!(row.message, "Non HTTP response message: Connection reset");
    assert!(!row.success);
}

#[test]
fn transactions_stand_beside_their_samples_or_for_them() {
    let pause = element(
        "ConstantTimer",
        "T",
        &text("ConstantTimer.delay", "100"),
        "",
    );
    let of = |parent: bool, timers: bool| {
        let properties = flag("TransactionController.parent", parent)
            + &flag("TransactionController.includeTimers", timers);
        let transaction = element(
            "TransactionController",
            "TX",
            &properties,
            &(get("/a", "") + &get("/b", "") + &pause),
        );
        Simulation::group(&users(1, 0, 1), &(transaction + &get("/c", "")))
            .run(|_| ok(""))
            .rows
    };
    let beside = of(false, true);
    let labels: Vec<&str> = beside.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["/a", "/b", "TX", "/c"]);
    assert_eq!(
        (
            beside[2].elapsed_ms,
            beside[2].idle_ms,
            beside[2].code.as_str()
        ),
        (220, 0, "200")
    );
    assert_eq!(
        beside[2].message,
        "Number of samples in transaction : 2, number of failing samples : 0"
    );
    assert_eq!(beside[2].url, "null");
    let without = of(false, false);
    assert_eq!((without[2].elapsed_ms, without[2].idle_ms), (20, 200));
    let parent = of(true, true);
    let kinds: Vec<_> = parent.iter().map(|row| (row.kind, row.is_inner)).collect();
    assert_eq!(
        kinds,
        [
            (RowKind::Sample, true),
            (RowKind::Sample, true),
            (RowKind::Transaction, false),
            (RowKind::Sample, false)
        ]
    );
}

#[test]
fn controllers_choose_as_jmeters_do() {
    let labels = |group: &str, content: &str| {
        let done = Simulation::group(group, content).run(|_| ok(""));
        done.labels().join(" ")
    };
    let loops = |n: u32, below: &str| {
        element(
            "LoopController",
            "L",
            &text("LoopController.loops", &n.to_string()),
            below,
        )
    };
    let once = element("OnceOnlyController", "O", "", &get("/once", ""));
    let one = users(1, 0, 1);
    assert_eq!(
        labels(
            &one,
            &loops(2, &(get("/a", "") + &loops(2, &get("/b", ""))))
        ),
        "/a /b /b /a /b /b"
    );
    assert_eq!(
        labels(&users(1, 0, 3), &(once.clone() + &get("/a", ""))),
        "/once /a /a /a"
    );
    assert_eq!(
        labels(&users(1, 0, 2), &loops(2, &(once + &get("/a", "")))),
        "/once /a /a /once /a /a"
    );
    let turns = element(
        "InterleaveControl",
        "I",
        "",
        &(get("/a", "") + &get("/b", "")),
    );
    assert_eq!(
        labels(&users(1, 0, 3), &(turns + &get("/c", ""))),
        "/a /c /b /c /a /c"
    );
    let chosen = element(
        "SwitchController",
        "S",
        &text("SwitchController.value", "1"),
        &(get("/a", "") + &get("/b", "")),
    );
    assert_eq!(labels(&one, &chosen), "/b");
    let condition = |text_: &str| {
        text("IfController.condition", text_) + &flag("IfController.useExpression", true)
    };
    let yes = element(
        "IfController",
        "Y",
        &condition("${__jexl3(1 &lt; 2)}"),
        &get("/yes", ""),
    );
    let no = element(
        "IfController",
        "N",
        &condition("${__jexl3(1 &gt; 2)}"),
        &get("/no", ""),
    );
    assert_eq!(labels(&one, &(yes + &no)), "/yes");
    let nothing = loops(0, &get("/never", ""));
    assert_eq!(labels(&one, &(nothing + &get("/a", ""))), "/a");
}

#[test]
fn values_are_taken_out_and_looped_over() {
    let regex = element(
        "RegexExtractor",
        "R",
        &(text("RegexExtractor.refname", "id")
            + &text("RegexExtractor.regex", "id=(\\d+)")
            + &text("RegexExtractor.template", "$1$")
            + &text("RegexExtractor.match_number", "-1")),
        "",
    );
    let each = element(
        "ForeachController",
        "F",
        &(text("ForeachController.inputVal", "id")
            + &text("ForeachController.returnVal", "one")
            + &flag("ForeachController.useSeparator", true)),
        &get("/item/${one}", ""),
    );
    let json = element(
        "JSONPostProcessor",
        "J",
        &(text("JSONPostProcessor.referenceNames", "name")
            + &text("JSONPostProcessor.jsonPathExprs", "$.user.name")
            + &text("JSONPostProcessor.match_numbers", "1")),
        "",
    );
    let content = get("/list", &regex) + &each + &get("/json", &json) + &get("/hello/${name}", "");
    let done = Simulation::group(&users(1, 0, 1), &content).run(|request| match () {
        () if request.contains("/list") => ok("id=1 id=22 id=333"),
        () if request.contains("/json") => ok("{\"user\":{\"name\":\"ann\"}}"),
        () => ok(""),
    });
    assert_eq!(
        done.labels(),
        [
            "/list",
            "/item/1",
            "/item/22",
            "/item/333",
            "/json",
            "/hello/ann"
        ]
    );
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
}

#[test]
fn assertions_say_what_is_wrong() {
    let wanted = |test_type: u32, wanted: &str| {
        let properties = format!(
            "<collectionProp name=\"Asserion.test_strings\"><stringProp name=\"1\">{wanted}</stringProp></collectionProp>{}<intProp name=\"Assertion.test_type\">{test_type}</intProp>",
            text("Assertion.test_field", "Assertion.response_data")
        );
        let assertion = element("ResponseAssertion", "A", &properties, "");
        let done =
            Simulation::group(&users(1, 0, 1), &get("/a", &assertion)).run(|_| ok("all is well"));
        done.rows[0].failure.clone()
    };
    assert_eq!(wanted(16, "is well"), "");
    assert_eq!(
        wanted(16, "is bad"),
        "Test failed: text expected to contain /is bad/"
    );
    assert_eq!(
        wanted(20, "well"),
        "Test failed: text expected not to contain /well/"
    );
    assert_eq!(wanted(2, "a.l"), "");
    assert_eq!(
        wanted(1, "a.l"),
        "Test failed: text expected to match /a.l/"
    );
    assert_eq!(wanted(1, "all.*"), "");
}

#[test]
fn rows_of_files_are_shared_and_end_users() {
    let csv = |more: &str| {
        element(
            "CSVDataSet",
            "D",
            &(text("filename", "users.csv") + &text("variableNames", "user,pass") + more),
            "",
        )
    };
    let names = |more: &str, loops: i64| {
        let content = csv(more) + &get("/${user}", "");
        let done = Simulation::group(&users(2, 0, loops), &content)
            .file("users.csv", "ann,1\nbob,2\ncy,3\n")
            .run(|_| ok(""));
        let mut labels: Vec<String> = done.labels().into_iter().map(str::to_owned).collect();
        labels.sort();
        labels.join(" ")
    };
    assert_eq!(names("", 2), "/ann /ann /bob /cy");
    assert_eq!(
        names(&(flag("recycle", false) + &flag("stopThread", true)), 9),
        "/ann /bob /cy"
    );
    assert_eq!(
        names(&text("shareMode", "shareMode.thread"), 2),
        "/ann /ann /bob /bob"
    );
}

#[test]
fn redirects_and_cookies_are_followed() {
    let cookies = element("CookieManager", "C", "", "");
    let content = http(
        "/old",
        "POST",
        &flag("HTTPSampler.follow_redirects", true),
        "",
    ) + &get("/next", "")
        + &cookies;
    let done = Simulation::group(&users(1, 0, 1), &content).run(|request| {
        match request.contains("/old") {
            true => (
                302,
                "Location: /new?x=1\r\nSet-Cookie: s=1; Path=/\r\n".into(),
                String::new(),
                5,
            ),
            false => ok(""),
        }
    });
    let lines: Vec<&str> = done
        .requests
        .iter()
        .map(|r| r.lines().next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "POST /old HTTP/1.1",
            "GET /new?x=1 HTTP/1.1",
            "GET /next HTTP/1.1"
        ]
    );
    assert!(
        done.requests[1].contains("\r\nCookie: s=1\r\n"),
        "{}",
        done.requests[1]
    );
    assert_eq!(done.rows.len(), 2);
    assert_eq!(
        (
            done.rows[0].label.as_str(),
            done.rows[0].url.as_str(),
            done.rows[0].elapsed_ms
        ),
        ("/old", "http://host/new?x=1", 15)
    );
    let endless = Simulation::group(
        &users(1, 0, 1),
        &http("/r", "GET", &flag("HTTPSampler.follow_redirects", true), ""),
    )
    .run(|_| (301, "Location: /r\r\n".into(), String::new(), 1));
    assert_eq!(endless.requests.len(), 21);
    assert_eq!(
        endless.rows[0].message,
        "Non HTTP response message: Exceeded maximum number of redirects: 20"
    );
}

#[test]
fn a_loop_without_samplers_neither_spins_nor_hangs() {
    let scheduled =
        users(1, 0, -1) + &flag("ThreadGroup.scheduler", true) + &text("ThreadGroup.duration", "1");
    let done = Simulation::group(&scheduled, "").run(|_| ok(""));
    assert!(
        done.rows.is_empty() && done.end_ms <= 1_001,
        "{}",
        done.end_ms
    );
}

#[test]
fn groups_before_and_after_have_their_time() {
    let group = |tag: &str, path: &str| {
        format!(
            "<{tag} testname=\"{tag}\">{}</{tag}><hashTree>{}</hashTree>",
            users(1, 0, 1),
            get(path, "")
        )
    };
    let content = group("PostThreadGroup", "/after")
        + &group("ThreadGroup", "/main")
        + &group("SetupThreadGroup", "/before");
    assert_eq!(
        Simulation::plan(&content).run(|_| ok("")).labels(),
        ["/before", "/main", "/after"]
    );
}

#[test]
fn properties_reach_expressions() {
    let mut simulation =
        Simulation::group(&users(1, 0, 1), &get("/${__P(where)}/${__threadNum}", ""));
    simulation
        .properties
        .set("where", "here", Origin::CommandLine);
    assert_eq!(simulation.run(|_| ok("")).labels(), ["/here/1"]);
}

#[test]
fn requests_go_through_the_proxy_unless_their_host_is_spared() {
    let own = text("HTTPSampler.proxyHost", "own") + &text("HTTPSampler.proxyPort", "81");
    let plan = get("/a", "")
        + &http("http://spared/b", "GET", "", "")
        + &http("https://safe/c", "GET", "", "")
        + &http("/d", "GET", &own, "");
    let mut simulation = Simulation::group(&users(1, 0, 1), &plan);
    simulation.proxy = Some(Proxy {
        host: "proxy".into(),
        port: 3128,
        user: "a".into(),
        password: "b".into(),
        except: vec!["spared".into()],
    });
    let done = simulation.run(|_| ok(""));
    let first = |request: &String| request.lines().next().unwrap_or_default().to_owned();
    let asked: Vec<String> = done.requests.iter().map(first).collect();
    assert_eq!(
        asked,
        [
            "GET http://host/a HTTP/1.1",
            "GET /b HTTP/1.1",
            "GET /c HTTP/1.1",
            "GET http://host/d HTTP/1.1",
        ]
    );
    assert!(done.requests[0].contains("\r\nProxy-Authorization: Basic YTpi\r\n"));
    assert!(
        done.requests[2..]
            .iter()
            .all(|r| !r.contains("Proxy-Authorization"))
    );
    assert_eq!(done.rows[0].url, "http://host/a");
}
