//! Groups that steer their users, one element or two in each.

use crate::plan::{self, assertion, element, property, request, transaction};

/// Name of the file that a plan includes.
pub const INCLUDED: &str = "included.jmx";
/// Rows of two data files.
pub const DATA: [(&str, &str); 2] = [("first.csv", "a1\na2\n"), ("second.csv", "b1\nb2\n")];

/// Form in which the rows of a case are told.
#[derive(Clone, Copy)]
pub enum Told {
    /// Per user, in order.
    InOrder,
    /// All of the group, sorted: chance or several users decide the order.
    Sorted,
    /// The labels that there are: the clock decides how many.
    Labels,
}

/// A group of a plan.
pub struct Case {
    pub name: &'static str,
    pub told: Told,
    pub xml: String,
}

fn text(name: &str, value: &str) -> String {
    property("stringProp", name, value)
}

fn flag(name: &str, value: bool) -> String {
    property("boolProp", name, &value.to_string())
}

fn int(name: &str, value: i64) -> String {
    property("intProp", name, &value.to_string())
}

fn list(name: &str, values: &[&str]) -> String {
    let values: String = values.iter().map(|value| text("0", value)).collect();
    format!("<collectionProp name=\"{name}\">{values}</collectionProp>")
}

pub fn get(name: &str) -> String {
    request(name).xml()
}

fn with(name: &str, below: &str) -> String {
    request(name).below(below).xml()
}

fn failing(name: &str, more: &str) -> String {
    let fails = assertion("fails", "response_data", 16, &["nothing like it"]);
    request(name).below(&fails).below(more).xml()
}

/// A group of one user.
fn case(name: &'static str, loops: u32, below: &str) -> Case {
    Case {
        name,
        told: Told::InOrder,
        xml: plan::group_of(name, 1, loops, below),
    }
}

fn counter(name: &str, (start, end): (&str, &str), format: &str, per_user: bool) -> String {
    let inner = text("CounterConfig.start", start)
        + &text("CounterConfig.end", end)
        + &text("CounterConfig.incr", "1")
        + &text("CounterConfig.name", name)
        + &text("CounterConfig.format", format)
        + &flag("CounterConfig.per_user", per_user);
    element("CounterConfig", name, &inner, "")
}

fn action(action: i64, duration: &str) -> String {
    let inner = int("ActionProcessor.action", action)
        + &int("ActionProcessor.target", 0)
        + &text("ActionProcessor.duration", duration);
    element("TestAction", "action", &inner, "")
}

fn looped(loops: &str, below: &str) -> String {
    let inner =
        flag("LoopController.continue_forever", true) + &text("LoopController.loops", loops);
    element("LoopController", "loop", &inner, below)
}

/// One variable with a value per user.
fn user_parameters(name: &str, values: &[&str], per_iteration: bool) -> String {
    let each: String = values.iter().map(|value| list("0", &[value])).collect();
    let inner = list("UserParameters.names", &[name])
        + &format!("<collectionProp name=\"UserParameters.thread_values\">{each}</collectionProp>")
        + &flag("UserParameters.per_iteration", per_iteration);
    element("UserParameters", "parameters", &inner, "")
}

fn throughput(style: i64, percent: &str, most: i64, below: &str) -> String {
    let inner = int("ThroughputController.style", style)
        + &flag("ThroughputController.perThread", true)
        + &int("ThroughputController.maxThroughput", most)
        + &format!(
            "<FloatProperty><name>ThroughputController.percentThroughput</name><value>{percent}</value><savedValue>0.0</savedValue></FloatProperty>"
        );
    element("ThroughputController", "throughput", &inner, below)
}

fn loops() -> Vec<Case> {
    let until = |condition: &str, below: &str| {
        element(
            "WhileController",
            "while",
            &text("WhileController.condition", condition),
            below,
        )
    };
    let unlike_4 = "${__jexl3(\"${c}\" != \"4\")}";
    let inner = counter("c", ("1", "4"), "", true) + &get("while${c}");
    let last = get("fine") + &failing("bad", "");
    let foreach = plan::variables(&[("f_1", "1"), ("f_2", "2"), ("f_3", "3"), ("f_5", "5")])
        + &element(
            "ForeachController",
            "foreach",
            &(text("ForeachController.inputVal", "f")
                + &text("ForeachController.returnVal", "o")
                + &flag("ForeachController.useSeparator", true)
                + &text("ForeachController.startIndex", "1")
                + &text("ForeachController.endIndex", "9")),
            &get("each${o}"),
        );
    let steps = |number: i64| looped("3", &(get("step") + &action(number, "0") + &get("never")));
    let runtime = |seconds: &str, below: &str| {
        element("RunTime", "time", &text("RunTime.seconds", seconds), below)
    };
    let paced = with(
        "timed",
        &timer("ConstantTimer", &[("ConstantTimer.delay", "300")]),
    );
    vec![
        case("while", 2, &(until(unlike_4, &inner) + &get("after${c}"))),
        case("while-last", 1, &(until("LAST", &last) + &get("after"))),
        case("foreach", 2, &(foreach + &get("after"))),
        case("break-loop", 2, &(steps(5) + &get("after"))),
        case("next-loop", 2, &(steps(4) + &get("after"))),
        case("next-iteration", 2, &(steps(3) + &get("never"))),
        case(
            "stop-user",
            2,
            &(get("once") + &action(0, "0") + &get("never")),
        ),
        case(
            "run-no-time",
            1,
            &(runtime("0", &get("never")) + &get("after")),
        ),
        Case {
            told: Told::Labels,
            ..case("run-time", 1, &(runtime("1", &paced) + &get("after")))
        },
    ]
}

fn choices() -> Vec<Case> {
    let both = || get("g1") + &get("g2");
    let interleave = |style: i64| {
        let below = get("i1") + &plan::controller("inner", &both()) + &get("i3");
        element(
            "InterleaveControl",
            "interleave",
            &int("InterleaveControl.style", style),
            &below,
        ) + &get("after")
    };
    let switch = |value: &str, below: &str| {
        element(
            "SwitchController",
            "switch",
            &text("SwitchController.value", value),
            below,
        )
    };
    let switches = counter("s", ("0", "3"), "", true)
        + &switch("${s}", &(get("s0") + &get("s1") + &get("s2")))
        + &switch("named", &(get("a") + &get("named")))
        + &switch("nothing", &(get("a") + &get("default")));
    let when = |condition: &str, is_expression: bool, name: &str| {
        let inner = text("IfController.condition", condition)
            + &flag("IfController.evaluateAll", false)
            + &flag("IfController.useExpression", is_expression);
        element("IfController", "if", &inner, &get(name))
    };
    let last_ok = "${__jexl3(\"${JMeterThread.last_sample_ok}\" == \"true\")}";
    let ifs = when(last_ok, true, "when-ok")
        + &failing("bad", "")
        + &when(last_ok, true, "never")
        + &when("1 == 1", false, "script")
        + &get("after");
    let random = element(
        "RandomController",
        "random",
        &int("InterleaveControl.style", 1),
        &(get("either") + &get("either")),
    );
    let shuffled = element("RandomOrderController", "order", "", &(both() + &get("g3")));
    let once = element("OnceOnlyController", "once", "", &get("once"));
    let critical = element(
        "CriticalSectionController",
        "critical",
        &text("CriticalSectionController.lockName", "lock"),
        &both(),
    );
    let recording = element("RecordingController", "recorded", "", &get("recorded"));
    vec![
        case("interleave", 4, &interleave(0)),
        case("interleave-whole", 4, &interleave(1)),
        case("switch", 3, &switches),
        case("if", 2, &ifs),
        case("random", 5, &random),
        Case {
            told: Told::Sorted,
            ..case("random-order", 2, &shuffled)
        },
        case(
            "once",
            3,
            &(once.clone() + &looped("2", &once) + &get("after")),
        ),
        Case {
            told: Told::Sorted,
            name: "critical",
            xml: plan::group_of("critical", 2, 2, &critical),
        },
        case("recording", 1, &recording),
        case(
            "throughput",
            6,
            &(throughput(1, "50.0", 1, &get("half"))
                + &throughput(0, "50.0", 2, &get("twice"))
                + &get("always")),
        ),
        case(
            "transaction",
            2,
            &transaction("all", false, &(get("t1") + &action(1, "20") + &get("t2"))),
        ),
    ]
}

/// A timer with texts as properties.
fn timer(class: &str, properties: &[(&str, &str)]) -> String {
    let inner: String = properties
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    element(class, "timer", &inner, "")
}

fn number(kind: &str, name: &str, value: &str) -> String {
    match kind {
        "doubleProp" => format!(
            "<doubleProp><name>{name}</name><value>{value}</value><savedValue>0.0</savedValue></doubleProp>"
        ),
        kind => property(kind, name, value),
    }
}

fn timers() -> Vec<Case> {
    let random = [("ConstantTimer.delay", "2"), ("RandomTimer.range", "3")];
    let constant_rate = element(
        "ConstantThroughputTimer",
        "timer",
        &(int("calcMode", 0) + &number("doubleProp", "throughput", "60000.0")),
        "",
    );
    let precise = element(
        "PreciseThroughputTimer",
        "timer",
        &(number("doubleProp", "throughput", "100.0")
            + &int("throughputPeriod", 1)
            + &number("longProp", "duration", "1")
            + &int("batchSize", 1)
            + &int("batchThreadDelay", 0)
            + &int("exactLimit", 10_000)
            + &number("doubleProp", "allowedThroughputSurplus", "1.0")
            + &number("longProp", "randomSeed", "3")),
        "",
    );
    let meeting = element(
        "SyncTimer",
        "timer",
        &(int("groupSize", 3) + &number("longProp", "timeoutInMs", "0")),
        "",
    );
    let in_time = |name: &'static str, timer: &str| case(name, 3, &with("in-time", timer));
    vec![
        in_time("constant", &timer("ConstantTimer", &random[..1])),
        in_time("uniform", &timer("UniformRandomTimer", &random)),
        in_time("gaussian", &timer("GaussianRandomTimer", &random)),
        in_time("poisson", &timer("PoissonRandomTimer", &random)),
        in_time("constant-throughput", &constant_rate),
        in_time("precise-throughput", &precise),
        Case {
            told: Told::Sorted,
            name: "meeting",
            xml: plan::group_of("meeting", 3, 2, &with("together", &meeting)),
        },
    ]
}

fn values() -> Vec<Case> {
    let k = || counter("k", ("1", "9"), "", true);
    let derived = |per_iteration| user_parameters("u", &["n${k}"], per_iteration);
    let ab = || get("a-${u}") + &get("b-${u}");
    let drawn = element(
        "RandomVariableConfig",
        "drawn",
        &(text("variableName", "r")
            + &text("outputFormat", "000")
            + &text("minimumValue", "7")
            + &text("maximumValue", "7")
            + &text("randomSeed", "1")
            + &flag("perThread", true)),
        "",
    );
    let boundary = element(
        "BoundaryExtractor",
        "between",
        &(text("BoundaryExtractor.useHeaders", "false")
            + &text("BoundaryExtractor.refname", "x")
            + &text("BoundaryExtractor.lboundary", "o")
            + &text("BoundaryExtractor.rboundary", "")
            + &text("BoundaryExtractor.default", "none")
            + &text("BoundaryExtractor.match_number", "1")),
        "",
    );
    let rows = |file: &str, variable: &str| {
        let inner = text("filename", file)
            + &text("fileEncoding", "UTF-8")
            + &text("variableNames", variable)
            + &text("delimiter", ",")
            + &flag("ignoreFirstLine", false)
            + &flag("quotedData", false)
            + &flag("recycle", true)
            + &flag("stopThread", false)
            + &text("shareMode", "shareMode.all");
        element("CSVDataSet", variable, &inner, "")
    };
    let data = rows(DATA[0].0, "one") + &rows(DATA[1].0, "two") + &get("${one}-${two}");
    let chained = user_parameters("v", &["[${u}]"], true)
        + &user_parameters("u", &["n${k}"], true)
        + &k()
        + &get("chained-${v}-${u}");
    vec![
        Case {
            told: Told::Sorted,
            name: "counter-shared",
            xml: plan::group_of(
                "counter-shared",
                2,
                2,
                &(counter("s", ("10", "12"), "000", false) + &get("shared-${s}")),
            ),
        },
        case(
            "counter-own",
            4,
            &(counter("o", ("1", "2"), "", true) + &get("own-${o}")),
        ),
        Case {
            told: Told::InOrder,
            name: "parameters-each-user",
            xml: plan::group_of(
                "parameters-each-user",
                3,
                2,
                &(user_parameters("u", &["A", "B", "C"], false) + &get("user-${u}")),
            ),
        },
        case("parameters-iteration", 3, &(k() + &derived(true) + &ab())),
        case(
            "parameters-before-counter",
            3,
            &(derived(true) + &k() + &ab()),
        ),
        case("parameters-sample", 3, &(k() + &derived(false) + &ab())),
        case(
            "parameters-of-one",
            2,
            &(k() + &with("a-${u}", &derived(true)) + &get("b-${u}")),
        ),
        case("chained", 3, &chained),
        case("drawn", 2, &(drawn + &get("drawn-${r}"))),
        case(
            "between",
            1,
            &(with("between", &boundary) + &get("between-${x}")),
        ),
        case("data", 3, &data),
    ]
}

fn looks() -> Vec<Case> {
    let within = |ms: &str| {
        element(
            "DurationAssertion",
            "within",
            &text("DurationAssertion.duration", ms),
            "",
        )
    };
    let shown = |class: &str, samplers: &[&str]| {
        let shown = samplers.iter().map(|name| flag(name, true));
        let inner: String = shown
            .chain([
                flag("displayJMeterProperties", false),
                flag("displayJMeterVariables", true),
                flag("displaySystemProperties", false),
            ])
            .collect();
        element(class, "shown", &inner, "")
    };
    let stops = |action: i64| element("ResultAction", "react", &int("OnError.action", action), "");
    let bounded = element(
        "SampleTimeout",
        "bound",
        &text("InterruptTimer.timeout", "5000"),
        "",
    );
    let debugged = shown("DebugPostProcessor", &["displaySamplerProperties"]);
    vec![
        case(
            "duration",
            1,
            &(with("any", &within("0")) + &with("long", &within("60000"))),
        ),
        case("debug", 1, &shown("DebugSampler", &[])),
        case(
            "debug-after",
            2,
            &(with("seen", &debugged) + &get("unseen")),
        ),
        case(
            "react-continue",
            2,
            &(failing("bad", &stops(0)) + &get("after")),
        ),
        case(
            "react-user",
            2,
            &(failing("bad", &stops(1)) + &get("never")),
        ),
        case(
            "react-iteration",
            2,
            &(failing("bad", &stops(4)) + &get("never")),
        ),
        case(
            "react-loop",
            2,
            &(looped("2", &(failing("bad", &stops(5)) + &get("never"))) + &get("after")),
        ),
        case(
            "react-break",
            2,
            &(looped("2", &(failing("bad", &stops(6)) + &get("never"))) + &get("after")),
        ),
        case("bounded", 1, &with("bounded", &bounded)),
    ]
}

fn elsewhere() -> Vec<Case> {
    let module = element(
        "ModuleController",
        "module",
        &list(
            "ModuleController.node_path",
            &["plan", "plan", "fragment", "shared"],
        ),
        "",
    );
    let include = element(
        "IncludeController",
        "include",
        &text("IncludeController.includepath", INCLUDED),
        "",
    );
    vec![
        case("module", 2, &(module + &get("after"))),
        case("include", 1, &(include + &get("after"))),
        // Nothing comes after it: it ends the whole test.
        case(
            "stop-test",
            2,
            &(get("once") + &action(2, "0") + &get("never")),
        ),
        case("too-late", 1, &get("never")),
    ]
}

/// Everything that is tried.
pub fn all() -> Vec<Case> {
    let families = [loops(), choices(), timers(), values(), looks(), elsewhere()];
    families.into_iter().flatten().collect()
}
