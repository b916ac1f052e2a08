use super::*;
use crate::expression::StartWorld;
use crate::files::MemoryFiles;
use crate::properties::{Origin, Properties};

/// Results of JEXL 3.2.1 and 2.1.1 for each expression, in the mode of JMeter: null and errors are empty.
const JEXL_3: &str = include_str!("testdata/jexl3.txt");
const JEXL_2: &str = include_str!("testdata/jexl2.txt");

fn with_world<T>(then: impl FnOnce(&mut StartWorld<'_>) -> T) -> T {
    let files = MemoryFiles::default();
    let mut properties = Properties::default();
    properties.set("THREADS", "40", Origin::CommandLine);
    let mut world = StartWorld::new(properties, &files, 1, 0, jiff::tz::TimeZone::UTC, "t.jmx");
    let variables = [
        ("user", "ann"),
        ("n", "5"),
        ("d", "2.5"),
        ("empty", ""),
        ("t", "true"),
    ];
    for (name, value) in variables {
        world.set_variable(name, value);
    }
    then(&mut world)
}

/// Pairs of expressions and values.
fn known(text: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2);
    pairs
        .map(|pair| (pair[0], pair[1].trim_start_matches("  =>").trim_start()))
        .collect()
}

#[track_caller]
fn check(text: &str, dialect: Dialect) {
    let mut differing = String::new();
    with_world(|world| {
        for (expression, value) in known(text) {
            let own = evaluate(expression, dialect, world);
            if own.clone().unwrap_or_default().trim_start() != value {
                differing += &format!("{expression}\n  JEXL: {value}\n  own:  {own:?}\n");
            }
        }
    });
    assert!(differing.is_empty(), "\n{differing}");
}

#[test]
fn values_are_those_of_jexl_3() {
    check(JEXL_3, Dialect::Jexl3);
}

#[test]
fn values_are_those_of_jexl_2() {
    check(JEXL_2, Dialect::Jexl2);
}

#[test]
fn every_step_nesting_and_text_is_bounded() {
    let faulty = |text: &str, why: &str| {
        let own = with_world(|world| evaluate(text, Dialect::Jexl3, world));
        let own = own.expect_err(text);
        assert!(own.contains(why), "{text}: {own}");
    };
    faulty("while (true) { 1 }", "does not end");
    faulty("f = function(x) { f(x) }; f(1)", "too deeply");
    faulty("x = 'ab'; for (i : 1..40) { x = x.concat(x) }", "too long");
    faulty(&format!("{}1{}", "(".repeat(400), ")".repeat(400)), "deep");
    faulty(&format!("1{}", "+1".repeat(4_000)), "deep");
    faulty(&"{".repeat(10_000), "deep");
}

#[test]
fn what_is_not_supported_is_told_before_the_test() {
    let flaw = |text: &str| {
        let template = crate::expression::parse(text, &mut 0).unwrap().template;
        flaw(&template, Dialect::Jexl3).map(|refusal| refusal.to_string())
    };
    let refused = |text: &str, why: &str| {
        let told = flaw(text).unwrap_or_default();
        assert!(told.contains(why), "{text}: {told}");
    };
    refused("new('java.io.File', 'x').exists()", "`new java.io.File`");
    refused("vars.get('a').getBytes()", "the method `getBytes`");
    refused("ctx.getEngine()", "`ctx.getEngine()`");
    refused("ctx.engine", "`ctx.engine`");
    refused("sampleResult.responseCode", "`sampleResult`");
    refused("#pragma x 1", "`#pragma`");
    refused("`a`", "backquotes");
    refused("1 +", "not valid at character 4");
    refused("'${a}' == 'x' &&", "not valid");
    refused("unknown(1)", "the function `unknown`");
    for fine in [
        "${a} > 5",
        "'${a}' == \"x\"",
        "${a}",
        "${a} ${b} 5",
        "vars.get('x_${n}').length() > ${m}",
        "x.${name} == 1",
        "'it${a}",
        "f = x -> { x }; f(1)",
    ] {
        assert_eq!(flaw(fine), None, "{fine}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_panics(parts in proptest::collection::vec(proptest::sample::select(vec![
        "vars", ".", "get", "(", ")", "'a'", "\"", "5", "1.5", "x", "=", "==", "+", "-", "*", "/",
        "%", "?", ":", "{", "}", "[", "]", ",", ";", "if", "for", "while", "->", "..", "empty",
        "size", "new", "null", "true", "=~", "not", "return", "var", "~/", "日", "\\", "substring",
    ]), 0..24)) {
        let text = parts.join(" ");
        let template = Template::text(text.as_str());
        for dialect in [Dialect::Jexl2, Dialect::Jexl3] {
            let _ = super::flaw(&template, dialect);
            let _ = with_world(|world| evaluate(&text, dialect, world));
        }
    }
}
