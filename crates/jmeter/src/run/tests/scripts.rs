//! Scripts in samplers, processors, timers, assertions and listeners.

use super::*;

fn script(tag: &str, name: &str, text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('\n', "&#10;");
    let properties = super::text("scriptLanguage", "javascript") + &super::text("script", &text);
    element(tag, name, &properties, "")
}

#[test]
fn scripts_act_before_during_and_after_a_sample() {
    let below = script(
        "JSR223PreProcessor",
        "before",
        "vars.put('path', 'p' + ctx.getThreadNum())",
    ) + &script("JSR223Timer", "wait", "100 + 50")
        + &script(
            "JSR223PostProcessor",
            "after",
            "vars.put('id', JSON.parse(prev.getResponseDataAsString()).id); prev.setResponseMessage('seen')",
        )
        + &script(
            "JSR223Assertion",
            "judge",
            "if (vars.get('id') != 7) { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('id is ' + vars.get('id')) }",
        );
    let plan = get("/${path}", &below) + &get("/${id}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|request| {
        let id = if request.contains("/p0") { 8 } else { 7 };
        ok(&format!("{{\"id\": {id}}}"))
    });
    assert!(
        done.requests[0].starts_with("GET /p0 "),
        "{}",
        done.requests[0]
    );
    assert!(
        done.requests[1].starts_with("GET /8 "),
        "{}",
        done.requests[1]
    );
    let row = &done.rows[0];
    assert_eq!((row.start_ms, row.success), (150, false));
    assert_eq!(
        (row.message.as_str(), row.failure.as_str()),
        ("seen", "id is 8")
    );
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
}

#[test]
fn a_script_is_a_sampler_and_its_fault_a_failed_sample() {
    let plan = script(
        "JSR223Sampler",
        "works",
        "SampleResult.setResponseMessage('fine'); 'body'",
    ) + &script("JSR223Sampler", "fails", "1;\nnothing.here")
        + &get("/after", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert_eq!(done.labels(), ["works", "fails", "/after"]);
    assert_eq!(
        (done.rows[0].code.as_str(), done.rows[0].message.as_str()),
        ("200", "fine")
    );
    assert_eq!(
        (done.rows[1].code.as_str(), done.rows[1].success),
        ("500", false)
    );
    assert!(
        done.rows[1].message.starts_with("line 2: ReferenceError"),
        "{}",
        done.rows[1].message
    );
    assert_eq!(done.troubles.len(), 1);
}

#[test]
fn a_function_evaluates_a_script_of_its_user() {
    let variable = "<Arguments testname=\"V\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"n\" elementType=\"Argument\"><stringProp name=\"Argument.name\">n</stringProp><stringProp name=\"Argument.value\">${__javaScript(2 * 21)}</stringProp></elementProp></collectionProp></Arguments><hashTree/>";
    let plan = variable.to_owned()
        + &get(
            "/${__javaScript(vars.get('n') - ctx.getThreadNum(),m)}/${m}",
            "",
        );
    let done = Simulation::group(&users(2, 1, 1), &plan).run(|_| ok(""));
    let path = |n: usize| done.requests[n].split(' ').nth(1).unwrap().to_owned();
    assert_eq!([path(0), path(1)], ["/42/42", "/41/41"]);
}

#[test]
fn a_script_ends_its_user_or_the_test() {
    let plan = get(
        "/a",
        &script(
            "JSR223PostProcessor",
            "end",
            "if (vars.getIteration() == 2) prev.setStopThread(true)",
        ),
    );
    let done = Simulation::group(&users(2, 0, 5), &plan).run(|_| ok(""));
    assert_eq!(done.rows.len(), 4);
    let plan = get(
        "/a",
        &script(
            "JSR223Listener",
            "end",
            "if (sampleResult.isSuccessful()) prev.setStopTest(true)",
        ),
    );
    let done = Simulation::group(&users(1, 0, 5), &plan).run(|_| ok(""));
    assert_eq!(done.rows.len(), 1);
}

#[test]
fn scripts_that_cannot_be_carried_out_are_told_with_their_line() {
    let reading = |language: &str, text: &str| {
        let properties = super::text("scriptLanguage", language) + &super::text("script", text);
        let plan = Simulation::group(
            &users(1, 0, 1),
            &get("/a", &element("JSR223PostProcessor", "s", &properties, "")),
        );
        let read = crate::read(
            "p.jmx",
            plan.plan.as_bytes(),
            &Settings::default(),
            &plan.files,
        );
        let told: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
        (read.errors, told.join("\n"))
    };
    let (errors, told) = reading("groovy", "vars.put('a', 'b')");
    assert_eq!(errors, 1, "{told}");
    assert!(
        told.contains("jmx-script-language language=`groovy`"),
        "{told}"
    );
    let (errors, told) = reading("javascript", "new java.util.Date()");
    assert_eq!(errors, 1, "{told}");
    assert!(
        told.contains("jmx-script-java line=`1` word=`java.util.`"),
        "{told}"
    );
    let (errors, told) = reading("javascript", "var = 1");
    assert_eq!(errors, 1, "{told}");
    assert!(told.contains("jmx-script-flaw"), "{told}");
    assert_eq!(reading("javascript", "vars.put('a', 'b')").0, 0);
}

#[test]
fn what_scripts_and_functions_log_is_written_as_the_tool_writes_it() {
    let says = "log.info('hello {}', 5); log.warn('two\\nlines'); log.debug('no'); log.isInfoEnabled() || nothing.here";
    let below = script("JSR223PostProcessor", "My Post", says)
        + &script("JSR223Assertion", "fails", "nothing.here");
    let calls = "/${__log(abc)}${__log(def,WARN)}${__log(jkl,ERROR,,pre)}${__logn(mno)}${__log(no,DEBUG)}${__javaScript(log.info('js'))}";
    // The name has no expression.
    let plan = get(calls, &below).replacen(calls, "named", 1);
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    let said: Vec<_> = done.logged.iter().map(|line| &line[24..]).collect();
    assert_eq!(
        said,
        [
            "INFO o.a.j.f.LogFunction: G 1-1  :  abc\n",
            "WARN o.a.j.f.LogFunction: G 1-1  :  def\n",
            "ERROR o.a.j.f.LogFunction: G 1-1 pre jkl\n",
            "INFO o.a.j.f.LogFunction2: G 1-1  :  mno\n",
            "INFO o.a.j.f.JavaScript: js\n",
            "INFO o.a.j.e.J.My Post: hello 5\n",
            "WARN o.a.j.e.J.My Post: two\nlines\n",
            "ERROR o.a.j.a.JSR223Assertion: Problem in JSR223 script: fails\njavax.script.ScriptException: line 1: ReferenceError: nothing is not defined\n",
        ]
    );
    assert!(
        done.requests[0].starts_with("GET /abcdefjklnonull "),
        "{}",
        done.requests[0]
    );
}

#[test]
fn a_script_sees_the_latency_of_its_own_result() {
    let times = "vars.put('times', prev.getLatency() + ' ' + prev.getConnectTime())";
    let properties = text("LATENCY", "7") + &text("CONNECT", "3") + &text("RESPONSE_TIME", "9");
    let dummy = element(
        "kg.apc.jmeter.samplers.DummySampler",
        "made up",
        &properties,
        &script("JSR223PostProcessor", "look", times),
    );
    let plan = get("/slow", "") + &dummy + &get("/${times}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert!(
        done.requests[1].starts_with("GET /7%203 "),
        "{}",
        done.requests[1]
    );
}
