use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::files::MemoryFiles;
use crate::properties::{Origin, Properties};

/// A world at 2018-03-03 09:05:04.007 in Tokyo with a variable, a property and two files.
fn with_world<T>(then: impl FnOnce(&mut StartWorld<'_>) -> T) -> T {
    let mut files = MemoryFiles::default();
    let mut file = |name: &str, text: &str| files.0.insert(name.into(), text.into());
    file("users.csv", "ann,1\nbob,2\n");
    file("page.xml", "<a><b>x</b><b>y</b></a>");
    file("part1.txt", "a\nb\n");
    file("part2.txt", "c\n");
    let mut properties = Properties::default();
    properties.set("THREADS", "40", Origin::CommandLine);
    let zone = TimeZone::fixed(jiff::tz::offset(9));
    let mut world = StartWorld::new(
        properties,
        &files,
        1,
        1_520_035_504_007,
        zone,
        "dir/plan.jmx",
    );
    world.set_variable("user", "ann");
    world.set_variable("loop", "${__evalVar(loop)}");
    world.set_variable("n_matchNr", "2");
    world.set_variable("n_1", "x");
    world.set_variable("n_2", "x");
    then(&mut world)
}

#[test]
fn a_variable_does_not_fill_the_memory() {
    with_world(|world| {
        world.set_variable("long", &"x".repeat(1 << 20));
        let rendered = rendered(&"${long}".repeat(100_000), world);
        assert!(rendered.is_err_and(|fault| fault.why.contains("maximal length")));
    });
}

fn rendered(text: &str, world: &mut dyn World) -> Result<String, FunctionFault> {
    let mut out = String::new();
    parse(text, &mut 0)
        .expect(text)
        .template
        .render(world, &mut out)?;
    Ok(out)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    with_world(|world| assert_eq!(rendered(text, world).as_deref(), Ok(expected), "{text}"));
}

#[track_caller]
fn faulty(text: &str, why: &str) {
    with_world(|world| {
        let fault = rendered(text, world).expect_err(text).to_string();
        assert!(fault.contains(why), "{text}: {fault}");
    });
}

#[track_caller]
fn refused(text: &str, expected: ExpressionError) {
    assert_eq!(parse(text, &mut 0), Err(expected), "{text}");
}

#[test]
fn variables_stand_for_their_values_and_unset_ones_for_themselves() {
    check("", "");
    check("a ${user} b", "a ann b");
    check("${nobody}", "${nobody}");
    check("$user $ { {user} ${}", "$user $ { {user} ${}");
    check("日本${user}語", "日本ann語");
}

#[test]
fn backslashes_escape_only_where_there_is_an_expression() {
    check(r"a\,b\\c\$d", r"a\,b\\c\$d");
    check(r"\${user}", r"\${user}");
    check(r"\${user} ${user} \, \\ \n", r"${user} ann , \ \n");
    check(r"${__P(x,a\,b)}", "a,b");
}

#[test]
fn arguments_may_hold_commas_in_parentheses_and_braces() {
    check("${__P(x,${__P(y,1)})}", "1");
    check("${__P(x,f(1))}", "f(1)");
    check("${__eval(a ${__P(z,b)} c)}", "a b c");
    check("${__V(us${__P(x,er)})}", "ann");
    check("${__P(x) }", "1");
}

#[test]
fn what_is_not_an_expression_is_told() {
    refused(
        "${__nope(1)}",
        ExpressionError::UnknownFunction("__nope".into()),
    );
    refused(
        "${__nope}",
        ExpressionError::UnknownFunction("__nope".into()),
    );
    refused(
        "${__threadNum()x}",
        ExpressionError::NotClosed("__threadNum"),
    );
    let (function, takes) = ("__Random", "(least, most, [variable])");
    refused(
        "${__Random(1)}",
        ExpressionError::ArgumentCount {
            function,
            takes,
            got: 1,
        },
    );
    refused(&"${__P(".repeat(40), ExpressionError::TooComplex);
    let parsed = parse("a ${user", &mut 0).unwrap();
    assert!(parsed.unclosed);
    assert_eq!(parsed.template.constant(), Some("a user"));
}

#[test]
fn properties_have_jmeters_defaults() {
    check("${__P(THREADS)}", "40");
    check("${__P(UNSET)}", "1");
    check("${__P(UNSET,)}", "");
    check("${__property(THREADS)}", "40");
    check("${__property(UNSET)}", "UNSET");
    check("${__property(UNSET,v,7)}${v}", "77");
    check(
        "${__setProperty(a,b)}${__P(a)}${__setProperty(a,c,true)}${__P(a)}",
        "bbc",
    );
    check(
        "${__isPropDefined(THREADS)} ${__isVarDefined(nobody)}",
        "true false",
    );
}

#[test]
fn numbers_are_random_within_bounds_and_repeat_with_the_seed() {
    let draw = || {
        with_world(|world| {
            rendered(
                "${__Random(3,5,r)}${__RandomString(4,ab)}${__UUID()}",
                world,
            )
            .unwrap()
        })
    };
    let drawn = draw();
    assert_eq!(drawn, draw());
    assert!(
        ('3'..='5').contains(&drawn.chars().next().unwrap()),
        "{drawn}"
    );
    assert!(
        drawn[1..5].chars().all(|c| matches!(c, 'a' | 'b')),
        "{drawn}"
    );
    assert_eq!((drawn.len(), &drawn[19..20]), (41, "4"), "{drawn}");
    check("${__Random(7,7,r)}${r}", "77");
    check("${__RandomFromMultipleVars(n)}", "x");
    faulty("${__Random(5,3)}", "bound must be greater than origin");
    faulty("${__Random(a,3)}", "For input string: \"a\"");
    faulty("${__intSum(1, 2,3)}", "For input string: \" 2\"");
    check("${__intSum(1,2, 3 )}", "6");
}

#[test]
fn sums_wrap_as_java_does() {
    check("${__intSum(2,3,v)}${v}", "55");
    check("${__intSum(2147483647,1)}", "-2147483648");
    check("${__longSum(2147483647,1,v)}", "2147483648");
}

#[test]
fn a_counter_counts_per_place() {
    with_world(|world| {
        let parsed = parse("${__counter(FALSE)}${__counter(TRUE,c)}", &mut 0).unwrap();
        let mut out = String::new();
        for _ in 0..2 {
            parsed.template.render(world, &mut out).unwrap();
        }
        assert_eq!((out.as_str(), world.variable("c")), ("1122", Some("2")));
    });
}

#[test]
fn times_are_milliseconds_or_patterns() {
    check("${__time()}", "1520035504007");
    check("${__time}", "1520035504007");
    check("${__time(/1000)}", "1520035504");
    check("${__time(YMDHMS)}", "20180303-090504");
    check("${__time(yyyy,y)}${y}", "20182018");
    check(
        "${__timeShift(yyyy-MM-dd,2018-02-28,P1D,,v)} ${v}",
        "2018-03-01 2018-03-01",
    );
    check("${__timeShift(,,PT-4S,,)}", "1520035500007");
    check(
        "${__timeShift(,,PT-4S,v)}${v}",
        "15200355000071520035500007",
    );
    check("${__timeShift(HH:mm XX,23:30 +0100,PT1H,)}", "08:30 +0900");
    check(
        "${__timeShift(dd MMM yyyy hh:mm a,03 Mar 2018 11:05 PM,PT1H,)}",
        "04 Mar 2018 12:05 AM",
    );
    // As in JMeter, a date or shift that is not valid is not used.
    faulty("${__timeShift(yyyy,x,P1D,,)}", "does not match");
    faulty("${__timeShift(yyyy,,1D,,)}", "is not a duration");
    check(
        "${__dateTimeConvert(03/04/2018,dd/MM/yyyy,yyyy-MM-dd,v)}${v}",
        "2018-04-032018-04-03",
    );
    check("${__dateTimeConvert(1520035504007,,HH:mm:ss)}", "09:05:04");
    faulty("${__dateTimeConvert(2018,yyyy,HH:mm)}", "has no field `H`");
    check(
        "${__RandomDate(,2020-02-28,2020-02-29,,v)}${v}",
        "2020-02-282020-02-28",
    );
    check(
        "${__RandomDate(dd.MM.yyyy,31.12.2019,01.01.2020,,)}",
        "31.12.2019",
    );
    faulty(
        "${__RandomDate(,2020-02-28,2020-02-27,,)}",
        "before the start",
    );
}

#[test]
fn files_are_read_row_by_row() {
    check(
        "${__CSVRead(users.csv,0)}${__CSVRead(users.csv,1)}${__CSVRead(users.csv,next)}${__CSVRead(users.csv,0)}",
        "ann1bob",
    );
    with_world(|world| {
        let parsed = parse("${__StringFromFile(part#.txt,v,1,2)}", &mut 0).unwrap();
        let mut out = String::new();
        for _ in 0..4 {
            parsed.template.render(world, &mut out).unwrap();
        }
        assert_eq!(out, "abca");
    });
    check("${__FileToString(users.csv)}", "ann,1\nbob,2\n");
    check(
        "${__CSVRead(users.csv,next)}${__CSVRead(users.csv,next)}${__CSVRead(users.csv,0)}",
        "ann",
    );
    check(
        "${__XPath(page.xml,//b)}${__XPath(page.xml,//b)}${__XPath(page.xml,//b)}",
        "xyx",
    );
    faulty("${__FileToString(none.csv)}", "`none.csv` cannot be read");
    faulty("${__StringFromFile(none.csv)}", "`none.csv` cannot be read");
    faulty("${__CSVRead(none.csv,0)}", "`none.csv` cannot be read");
    faulty("${__CSVRead(users.csv,9)}", "`9` is not a column");
}

#[test]
fn texts_are_changed() {
    check("${__urlencode(a b&c=日)}", "a+b%26c%3D%E6%97%A5");
    check("${__urldecode(a+b%26c%3D%E6%97%A5)}", "a b&c=日");
    faulty("${__urldecode(%zz)}", "Illegal hex characters");
    check(
        "${__changeCase(ab,UPPER)}${__changeCase(AB,lower)}${__changeCase(ab,CAPITALIZE)}",
        "ABabAb",
    );
    check("${__char(65,0x42,0103)}", "ABC");
    check("${__char(65,-65471)}", "AA");
    faulty("${__char(x,65)}", "`x` is not the code");
    check(
        "${__escapeHtml(<a&\">é日€)}",
        "&lt;a&amp;&quot;&gt;&eacute;日&euro;",
    );
    check(
        "${__unescapeHtml(&lt;&Alpha;&#65;&#x42;&none;&)}",
        "<ΑAB&none;&",
    );
    check("${__escapeXml(<a&\">')}", "&lt;a&amp;&quot;&gt;&apos;");
    check("${__escapeOroRegexpChars(a.b_1日)}", r"a\.b_1日");
    check("${__digest(MD5,abc)}", "900150983cd24fb0d6963f7d28e17f72");
    check(
        "${__digest(SHA-1,ab,c,true,v)}${v}",
        "A9993E364706816ABA3E25717850C26C9CD0D89DA9993E364706816ABA3E25717850C26C9CD0D89D",
    );
    check(
        "${__digest(SHA-256,abc)}",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    check(
        "${__regexFunction((a)(n+),$2$-$1$,,,none,v,user)}${v_g2}${v_matchNr}",
        "nn-ann1",
    );
    check("${__regexFunction(n,<$0$>,ALL,+,none,,user)}", "<n>+<n>");
    check(
        "${__regexFunction(x,$0$,1,,none,,user)}${__regexFunction(x,$0$,1,,none)}",
        "nonenone",
    );
    check(
        r"${__split(a;;b,p,;)} ${p_1}${p_2}${p_3}${p_n}",
        "a;;b a?b3",
    );
    check("${__TestPlanName}", "plan.jmx");
}

#[test]
fn conditions_are_true_or_false() {
    check("${__jexl3(\"${user}\" == \"ann\")}", "true");
    check(
        "${__jexl3(vars.get(\"user\") eq 'bob' || 2 + 3 * 2 >= 8)}",
        "true",
    );
    check("${__jexl3(!(\"10\" > 9) and true)}", "false");
    check("${__jexl3(vars.get(\"nobody\") == null)}", "true");
    check("${__jexl3(7 / 2 + \"a\",v)}${v}", "3a3a");
    faulty(
        "${__jexl3(new(\"java.io.File\"\\, \"x\"))}",
        "`new java.io.File` is not supported",
    );
    faulty("${__jexl3(1 +)}", "not valid");
}

#[test]
fn a_function_that_fails_leaves_the_text_around_it() {
    with_world(|world| {
        let mut out = String::new();
        let text = "/echo?x=${__jexl3(1 +)}&y=${__urlencode(a${__jexl3(7/0)} b)}&z=${user}";
        let template = parse(text, &mut 0).unwrap().template;
        let fault = template.render(world, &mut out).unwrap_err();
        assert_eq!(out, "/echo?x=&y=a+b&z=ann");
        assert_eq!(fault.function, "__jexl3");
    });
}

#[test]
fn conditions_in_javascript_are_true_or_false() {
    with_world(|world| {
        let mut holds = |text: &str| java_script_holds(text, world);
        assert_eq!(holds("'ann'.length == 3 && 2 > 1"), Ok(true));
        assert_eq!(holds("\"a\" == \"b\""), Ok(false));
        assert!(
            holds("1 + 1")
                .unwrap_err()
                .contains("neither true nor false")
        );
        assert!(holds("1 +").is_err());
    });
}

#[test]
fn a_text_that_evaluates_itself_ends() {
    faulty("${__evalVar(loop)}", "evaluates itself");
}

#[test]
fn scripts_of_other_languages_are_translated() {
    check("${__groovy(7 / 2 + 1)}", "4.5");
    check("${__BeanShell(7 / 2 + 1,v)}${v}", "44");
    faulty("${__groovy(new ProcessBuilder(\"x\"))}", "`ProcessBuilder`");
    // Before the test no file is used.
    faulty(
        "${__groovy(new File(\"x\").text)}",
        "scripts use files while the test runs",
    );
}

proptest! {
    #[test]
    fn nothing_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "${", "}", "(", ")", ",", "\\", "$", "__P", "__eval", "__jexl3", "__Random", "__CSVRead", "__split", "__char", "user", "loop", "1", "9", "-", "日", " ", "\"", "==", "!",
    ]), 0..24)) {
        let text = parts.concat();
        if let Ok(parsed) = parse(&text, &mut 0) {
            with_world(|world| { let _ = parsed.template.render(world, &mut String::new()); });
        }
    }

    #[test]
    fn a_text_without_expressions_stands_for_itself(text in "[^$]{0,40}") {
        let parsed = parse(&text, &mut 0).unwrap();
        prop_assert_eq!(parsed.template.constant(), Some(text.as_str()));
    }

    /// The text shown for a template parses to an equal template.
    #[test]
    fn a_shown_template_means_the_same(a in "[a-z ]{0,5}", b in "[a-z,]{0,5}") {
        let text = format!("{a}${{user}}${{__P(x{a},{})}}", b.replace(',', "\\,"));
        let first = parse(&text, &mut 0).unwrap().template;
        let shown = first.to_string();
        let second = parse(&shown, &mut 0).unwrap().template;
        prop_assert_eq!(first, second, "{}", shown);
    }
}
