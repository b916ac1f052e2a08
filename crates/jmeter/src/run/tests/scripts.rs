//! Scripts in samplers, processors, timers, assertions and listeners.

use super::*;
use crate::script::{ScriptLanguage, ScriptOwner};

fn script(tag: &str, name: &str, text: &str) -> String {
    script_in("javascript", tag, name, text)
}

fn script_in(language: &str, tag: &str, name: &str, text: &str) -> String {
    let properties =
        super::text("scriptLanguage", language) + &super::text("script", &escaped(text));
    element(tag, name, &properties, "")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}

#[test]
fn groovy_acts_before_during_and_after_a_sample() {
    let groovy = |tag: &str, text: &str| script_in("groovy", tag, "g", text);
    let below = groovy(
        "JSR223PreProcessor",
        "vars.put('path', \"p${ctx.threadNum}\")\nvars.putObject('seen', [1, 2])",
    ) + &groovy("JSR223Timer", "return 100 + 50")
        + &groovy(
            "JSR223PostProcessor",
            "import groovy.json.JsonSlurper\ndef json = new JsonSlurper().parseText(prev.responseDataAsString)\nvars.put('id', json.id as String)\nvars.getObject('seen') << json.id\nprev.setResponseMessage('seen')",
        )
        + &groovy(
            "JSR223Assertion",
            "if (vars.get('id') != '7') { AssertionResult.setFailure(true); AssertionResult.setFailureMessage(\"id is ${vars.get('id')} of ${vars.getObject('seen')}\") }",
        );
    let plan = get("/${path}", &below)
        + &get("/${id}", "")
        + &groovy(
            "JSR223Sampler",
            "SampleResult.setResponseMessage('fine')\n[id: vars.id]",
        );
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok("{\"id\": 8}"));
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
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
        ("seen", "id is 8 of [1, 2, 8]")
    );
    assert_eq!(
        (done.rows[2].message.as_str(), done.rows[2].success),
        ("fine", true)
    );
}

#[test]
fn beanshell_acts_by_its_own_variables() {
    let beanshell = |tag: &str, properties: String| element(tag, "b", &properties, "");
    let pre = super::text(
        "script",
        &escaped("String n = Parameters; vars.put(\"path\", \"p\" + bsh.args[0] + (7 / 2));"),
    );
    let post = super::text(
        "script",
        &escaped(
            "String body = new String(data); vars.put(\"size\", String.valueOf(body.length()));",
        ),
    );
    let judge = super::text(
        "BeanShellAssertion.query",
        &escaped(
            "if (!ResponseCode.equals(\"201\")) { Failure = true; FailureMessage = \"code \" + ResponseCode; }",
        ),
    );
    let sampler = super::text(
        "BeanShellSampler.query",
        &escaped("IsSuccess = false; ResponseCode = \"418\"; ResponseMessage = \"tea\";"),
    );
    let below = beanshell(
        "BeanShellPreProcessor",
        super::text("parameters", "x y") + &pre,
    ) + &beanshell("BeanShellPostProcessor", post)
        + &beanshell("BeanShellAssertion", judge);
    let plan =
        get("/${path}", &below) + &get("/${size}", "") + &beanshell("BeanShellSampler", sampler);
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok("four"));
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
    assert!(
        done.requests[0].starts_with("GET /px3 "),
        "{}",
        done.requests[0]
    );
    assert!(
        done.requests[1].starts_with("GET /4 "),
        "{}",
        done.requests[1]
    );
    assert_eq!(done.rows[0].failure, "code 200");
    let made = &done.rows[2];
    assert_eq!(
        (made.code.as_str(), made.message.as_str(), made.success),
        ("418", "tea", false)
    );
}

#[test]
fn a_script_that_sleeps_holds_its_user_where_it_can() {
    let sleeps = "def t = System.currentTimeMillis()\nThread.sleep(250)\nvars.put('t', (System.currentTimeMillis() - t) as String)";
    let plan = get(
        "/a${t}",
        &script_in("groovy", "JSR223PreProcessor", "p", sleeps),
    ) + &script_in("groovy", "JSR223Sampler", "s", "sleep 40");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert!(
        done.requests[0].starts_with("GET /a250 "),
        "{}",
        done.requests[0]
    );
    assert_eq!((done.rows[0].start_ms, done.rows[1].elapsed_ms), (250, 40));
    let behind = script_in("groovy", "JSR223PostProcessor", "p", "sleep 30")
        + &script_in("groovy", "JSR223Assertion", "a", "sleep 20");
    let plan = get("/first", &behind) + &get("/next", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    let (first, next) = (&done.rows[0], &done.rows[1]);
    let ended_ms = first.start_ms + first.elapsed_ms as i64;
    assert_eq!(next.start_ms, ended_ms + 50);
    let refused =
        ScriptOwner::Function.refusals(ScriptLanguage::Groovy, "def a = 1\nThread.sleep(5)");
    assert_eq!(
        (refused[0].line, refused[0].what.as_str()),
        (2, "Thread.sleep")
    );
}

#[test]
fn functions_evaluate_groovy_and_beanshell() {
    let path = "/${__groovy(vars.get('n') == null ? 7 / 2 : 0,m)}/${m}/${__BeanShell(7 / 2)}/${__groovy(\"a-b\".split('-')[1])}";
    let done = Simulation::group(&users(1, 0, 1), &get(&escaped(path), "")).run(|_| ok(""));
    assert!(
        done.requests[0].starts_with("GET /3.5/3.5/3/b "),
        "{}",
        done.requests[0]
    );
}

#[test]
fn what_a_script_cannot_do_ends_it_past_its_own_catch() {
    let text = "try { vars.put('a', new Date().format('Q')) } catch (Exception e) { vars.put('a', 'caught') }";
    let below = script_in("groovy", "JSR223PostProcessor", "p", text);
    let done = Simulation::group(
        &users(1, 0, 1),
        &(get("/a", &below) + &get("/b${__groovy(vars.get('a') ?: 0)}", "")),
    )
    .run(|_| ok(""));
    assert!(
        done.requests[1].starts_with("GET /b0 "),
        "{}",
        done.requests[1]
    );
    assert_eq!(done.troubles.len(), 1, "{:?}", done.troubles);
    assert!(done.troubles[0].contains("line 1"), "{:?}", done.troubles);
}

#[test]
fn a_script_that_the_plan_completes_is_checked_with_its_values() {
    let text = "int n = ${count}\nvars.put('out', 'n' + n)";
    let below = script_in("groovy", "JSR223PostProcessor", "p", text);
    let variables = "<Arguments testname=\"V\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"count\" elementType=\"Argument\"><stringProp name=\"Argument.name\">count</stringProp><stringProp name=\"Argument.value\">41</stringProp></elementProp></collectionProp></Arguments><hashTree/>";
    let plan = variables.to_owned() + &get("/a", &below) + &get("/${out}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert!(
        done.requests[1].starts_with("GET /n41 "),
        "{}",
        done.requests[1]
    );
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
        done.rows[1]
            .message
            .starts_with("javax.script.ScriptException: line 2: ReferenceError"),
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
    assert_eq!(reading("groovy", "vars.put('a', 'b')").0, 0);
    let (errors, told) = reading("jython", "vars.put('a', 'b')");
    assert_eq!(errors, 1, "{told}");
    assert!(
        told.contains("jmx-script-language language=`jython`"),
        "{told}"
    );
    let wrong = "vars.put('a', new ProcessBuilder('x'))&#10;def s = 'a'&#10;s.fetch(); nothing + 1&#10;import java.nio.file.Files&#10;prev.fetch('a')";
    let (errors, told) = reading("groovy", wrong);
    assert_eq!(errors, 3, "{told}");
    for part in [
        "jmx-script-class line=`1` what=`ProcessBuilder`",
        "jmx-script-method line=`3` what=`String.fetch(0)`",
        "jmx-script-method line=`5` what=`SampleResult.fetch(1)`",
    ] {
        assert!(told.contains(part), "{told}");
    }
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
fn a_script_has_the_files_of_its_plan_and_a_refusal_ends_it_past_its_own_catch() {
    let below = |text: &str| script_in("groovy", "JSR223PostProcessor", "files", text);
    let reads =
        "vars.put('n', new File('in.txt').readLines().size() + '-' + new File('none').exists())";
    let writes = "try { new File('out.txt').text = 'x'; vars.put('n', 'written') } catch (Throwable e) { vars.put('n', 'caught') }";
    let plan = get("/first", &below(reads)) + &get("/${n}", &below(writes)) + &get("/${n}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan)
        .file("in.txt", "a\nb\n")
        .run(|_| ok(""));
    for request in &done.requests[1..] {
        assert!(request.starts_with("GET /2-false "), "{request}");
    }
    let [trouble] = &done.troubles[..] else {
        panic!("{:?}", done.troubles);
    };
    assert!(trouble.contains("the file `out.txt`"), "{trouble}");
    assert!(trouble.contains("execute the plan where"), "{trouble}");
}

#[test]
fn names_of_transactions_are_read_once_more_for_each_user() {
    let inner = element(
        "TransactionController",
        "T ${__counter(FALSE,)} ${__counter(TRUE,)}",
        "",
        &get("/a", ""),
    );
    let done = Simulation::group(&users(2, 0, 2), &inner).run(|_| ok(""));
    let mut labels = done.labels();
    labels.retain(|label| label.starts_with('T'));
    labels.sort_unstable();
    let own: Vec<_> = labels.iter().map(|label| &label[4..]).collect();
    assert_eq!(own, ["2", "2", "3", "3"], "{labels:?}");
    let last = labels.last().map(|label| &label[..3]);
    assert_eq!(last, Some("T 6"), "{labels:?}");
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

#[test]
fn script_listeners_hear_of_transactions_instead_of_the_samples_that_these_replace() {
    let hears = "vars.put('heard', (vars.get('heard') || '') + [sampleResult.getSampleLabel(), prev.getSampleLabel(), sampleEvent.isTransactionSampleEvent()].join('-') + '.')";
    let transaction = |name: &str, parent: bool, below: &str| {
        element(
            "TransactionController",
            name,
            &flag("TransactionController.parent", parent),
            below,
        )
    };
    let below = get(
        "/a",
        &script(
            "JSR223Listener",
            "own",
            "vars.put('own', prev.getSampleLabel())",
        ),
    );
    let plan = script("JSR223Listener", "all", hears)
        + &transaction("plain", false, &get("/c", ""))
        + &transaction("parent", true, &below)
        + &get("/x${heard}${own}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
    let last = done.requests[2].lines().next();
    let heard = "c-/c-false.plain-/c-true.parent-/a-false.";
    assert_eq!(last, Some(format!("GET /x/{heard}/a HTTP/1.1")).as_deref());
}

#[test]
fn result_status_action_handlers_around_a_transaction_do_not_hear_of_its_samples() {
    let handler = element(
        "ResultAction",
        "stops",
        "<intProp name='OnError.action'>1</intProp>",
        "",
    );
    let parent = flag("TransactionController.parent", true);
    let below = get("/fails", "") + &get("/b", "");
    let inside = element("TransactionController", "t", &parent, &below);
    let plan = handler + &inside + &get("/fails", "") + &get("/never", "");
    let done =
        Simulation::group(&users(1, 0, 1), &plan).run(|request| match request.contains("/fails") {
            true => (500, String::new(), String::new(), 1),
            false => ok(""),
        });
    assert_eq!(done.requests.len(), 3, "{:?}", done.requests);
}

#[test]
fn scripts_in_javascript_see_sub_results_and_bytes() {
    let look = "var inner = prev.getSubResults(); vars.put('seen', [inner.length, inner[0].getSampleLabel(), inner[1].getResponseDataAsString().length].join('-'))";
    let size = "vars.put('size', prev.getSubResults().length + '-' + prev.getBodySizeAsLong())";
    let follows = flag("HTTPSampler.follow_redirects", true);
    let plan = http(
        "/old",
        "GET",
        &follows,
        &script("JSR223PostProcessor", "look", look),
    ) + &get("/plain", &script("JSR223PostProcessor", "size", size))
        + &get("/${seen}/${size}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|request| {
        match request.starts_with("GET /old ") {
            true => (302, "Location: /new\r\n".into(), String::new(), 1),
            false => ok("\u{e9}t\u{e9}"),
        }
    });
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
    let last = done.requests[3].lines().next();
    assert_eq!(last, Some("GET /2-/old-0-3/0-5 HTTP/1.1"));
}

#[test]
fn objects_in_properties_are_those_of_all_users() {
    let groovy = |tag: &str, text: &str| script_in("groovy", tag, "g", text);
    let fill = groovy(
        "JSR223Sampler",
        "if (props.get('pool') == null) {\n  props.put('pool', new java.util.concurrent.ConcurrentLinkedQueue(['a', 'b', 'c']))\n  props.put('n', 5)\n  props.put(\"g${1}\", 'x')\n}\nnull",
    );
    let take = groovy(
        "JSR223PreProcessor",
        "vars.put('token', props.get('pool').poll() ?: 'none')\nprops.n = props.n + 1\nvars.put('seen', \"${props.n}-${props.get('g1')}-${props.get(\"g${1}\")}-${props.getProperty('n')}\".toString())",
    );
    let plan = fill + &get("/${token}/${seen}/${__P(n,text)}", &take);
    let done = Simulation::group(&users(2, 0, 2), &plan).run(|_| ok(""));
    assert!(done.troubles.is_empty(), "{:?}", done.troubles);
    let mut paths: Vec<&str> = done
        .requests
        .iter()
        .filter_map(|request| request.split(' ').nth(1))
        .collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "/a/6-null-x-null/text",
            "/b/7-null-x-null/text",
            "/c/8-null-x-null/text",
            "/none/9-null-x-null/text",
        ]
    );
}

#[test]
fn objects_that_cannot_pass_to_other_scripts_end_the_script() {
    let groovy = |text: &str| script_in("groovy", "JSR223Sampler", "g", text);
    let plan = groovy("props.put('run', { it * 2 })\nnull")
        + &groovy("props.put('l', [1])\nnull")
        + &groovy("vars.putObject('l', props.get('l'))\nnull");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    assert_eq!(done.troubles.len(), 2, "{:?}", done.troubles);
    assert!(done.troubles[0].contains("a property of class Closure"));
    assert!(done.troubles[1].contains("an object of the properties in a variable"));
}

#[test]
fn what_is_missing_fails_where_it_is_used() {
    let groovy = |text: &str| script_in("groovy", "JSR223PreProcessor", "g", text);
    let below = groovy("vars.put('a', '1')\nvars.put('b', nowhere)\nvars.put('a', '2')")
        + &groovy(
            "try { props.putObject('x', 1) } catch (MissingMethodException e) { vars.put('c', '3') }",
        );
    let path = "/${a}${c}${__isVarDefined(b)}";
    let done = Simulation::group(&users(1, 0, 1), &get(path, &below)).run(|_| ok(""));
    assert!(
        done.requests[0].starts_with("GET /13false "),
        "{}",
        done.requests[0]
    );
    assert_eq!(done.troubles.len(), 1, "{:?}", done.troubles);
    let doubts = ScriptOwner::PreProcessor
        .doubts(ScriptLanguage::Groovy, "nowhere + 1\nvars.getString('x')");
    let told: Vec<(u32, &str)> = doubts
        .iter()
        .map(|doubt| (doubt.line, doubt.what.as_str()))
        .collect();
    assert_eq!(told, [(1, "nowhere"), (2, "JMeterVariables.getString(1)")]);
}
