//! Results that are reported, and variables that are extracted from them.

use super::*;

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
fn properties_reach_expressions() {
    let mut simulation =
        Simulation::group(&users(1, 0, 1), &get("/${__P(where)}/${__threadNum}", ""));
    simulation
        .properties
        .set("where", "here", Origin::CommandLine);
    assert_eq!(simulation.run(|_| ok("")).labels(), ["/here/1"]);
}
