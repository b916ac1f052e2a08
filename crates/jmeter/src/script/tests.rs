//! Bindings, faults and bounds of scripts.

use super::*;

#[track_caller]
fn check(script: &str, expected: &str) {
    let (value, _) = evaluate(script, Bindings::default());
    assert_eq!(value, Ok(Some(expected.to_owned())), "{script}");
}

#[track_caller]
fn fails(script: &str, line: u32, says: &str) {
    let (value, _) = evaluate(script, Bindings::default());
    let fault = value.expect_err(script);
    assert!(fault.says.contains(says), "{script}: {fault}");
    assert_eq!(fault.line, line, "{script}: {fault}");
}

#[test]
fn the_last_value_is_the_scripts() {
    check("1 + 2", "3");
    check("var a = 'x'; a + a", "xx");
    check("let b = 4; b", "4");
    check("[1,2].map(n => n * 2).join('-')", "2-4");
    let (value, _) = evaluate("var nothing", Bindings::default());
    assert_eq!(value, Ok(None));
}

#[test]
fn variables_and_properties_are_read_and_written() {
    let mut bindings = Bindings::default();
    bindings.lent.variables.insert("user".into(), "ann".into());
    bindings.lent.thread_name = "G 1-3".into();
    bindings.lent.thread_number = 3;
    let script = "vars.put('greeting', 'hello ' + vars.get('user'));
        vars.remove('user');
        props.put('seen', vars.get('none') === null);
        ctx.getThreadGroup().getName() + ctx.getThreadNum()";
    let (value, after) = evaluate(script, bindings);
    assert_eq!(value, Ok(Some("G2".into())));
    assert_eq!(after.lent.variables["greeting"], "hello ann");
    assert!(!after.lent.variables.contains_key("user"));
    let properties = after.lent.properties.read().unwrap();
    assert_eq!(properties.get("seen"), Some("true"));
}

#[test]
fn a_sample_is_looked_at_and_changed() {
    let bindings = Bindings {
        owner: ScriptOwner::Assertion,
        seen: Some(ScriptSample {
            code: "200".into(),
            text: r#"{"id": 7}"#.into(),
            success: true,
            ..ScriptSample::default()
        }),
        ..Bindings::default()
    };
    let script = "let id = JSON.parse(prev.getResponseDataAsString()).id;
        if (prev.isSuccessful() && id > 5) { prev.setSuccessful(false); prev.setResponseMessage('id ' + id); }
        AssertionResult.setFailure(id !== 7); prev.setStopThread(true); log.warn('w')";
    let (value, after) = evaluate(script, bindings);
    assert!(value.is_ok(), "{value:?}");
    let seen = after.seen.unwrap();
    assert_eq!((seen.success, seen.message.as_str()), (false, "id 7"));
    assert!(!after.judgement.failed);
    assert_eq!(after.wishes.stop, StopRequest::StopUser);
    let warning = Logged {
        level: LogLevel::Warn,
        text: "w".into(),
    };
    assert_eq!(after.logged, [warning]);
}

#[test]
fn nothing_stays_behind_and_chance_and_clock_are_the_runs() {
    check("leak = 5; leak", "5");
    fails("leak", 1, "ReferenceError");
    let at = |now_ms| {
        let mut bindings = Bindings::default();
        bindings.lent.now_ms = now_ms;
        let script = "Date.now() + ' ' + new Date().getTime() + ' ' + new Date(5).getTime() + ' ' + Math.random()";
        evaluate(script, bindings).0.unwrap().unwrap()
    };
    assert!(at(1_234).starts_with("1234 1234 5 0."), "{}", at(1_234));
    assert_eq!(at(1), at(1));
}

#[test]
fn what_goes_wrong_is_told_with_its_line() {
    fails("1;\n2;\nthrow new Error('oh')", 3, "oh");
    fails("let a;\na.b", 2, "TypeError");
    fails("vars.fetch('a')", 1, "vars.fetch is not known here");
    fails("1 +", 1, "SyntaxError");
    fails("(function f() { f(); f() })()", 1, "");
}

#[test]
fn a_script_ends_and_the_next_one_is_not_harmed() {
    fails("while (true) {}", 1, "does not end");
    fails("let a = ['x']; while (true) a = a.concat(a)", 1, "");
    check("1", "1");
}

#[test]
fn a_text_that_is_no_script_is_known_before() {
    assert_eq!(flaw("var a = 1; return a"), None);
    let fault = flaw("var a = 1;\nvar = 2").unwrap();
    assert_eq!(fault.line, 2, "{fault}");
    assert_eq!(
        java_in("// java.util.\nvar a = 1;\nnew java.util.Date()"),
        Some(("java.util.", 3))
    );
    for (name, language) in [
        ("JavaScript", Some(ScriptLanguage::JavaScript)),
        ("nashorn", Some(ScriptLanguage::JavaScript)),
        ("", Some(ScriptLanguage::Groovy)),
        ("BeanShell", Some(ScriptLanguage::BeanShell)),
        ("jexl3", None),
    ] {
        assert_eq!(ScriptLanguage::named(name), language, "{name}");
    }
}

#[test]
fn strange_scripts_do_no_harm() {
    for script in [
        "",
        "\0",
        "💥",
        "}",
        "`",
        "/*",
        "eval('1', 2)",
        "delete globalThis.Date",
        "Object.freeze(globalThis)",
        "globalThis.Proxy = 1",
        "arguments.length = 0",
        "debugger",
        "Object.prototype.get = 1",
    ] {
        let _ = evaluate(script, Bindings::default());
    }
    check("2 + 2", "4");
}
