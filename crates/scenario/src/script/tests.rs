//! Tests of JavaScript scenarios: their effects, and the bounds on memory and time.

use super::*;
use crate::remembering::Remembering;
use sokudo_i18n::english;

/// A clock that a test turns: each look at it takes a millisecond.
fn outside() -> Outside {
    let now = AtomicU64::new(0);
    Outside {
        now_ns: Box::new(move || now.fetch_add(1_000_000, Ordering::Relaxed)),
        stop: Box::new(|| false),
        seed: 7,
        parameters: Vec::new(),
    }
}

fn with(
    source: &str,
    count: u32,
    limits: Limits,
) -> (Remembering, Result<(), ScriptError>, String) {
    let lab = Remembering {
        count,
        ..Remembering::default()
    };
    let ended = run(source, lab, outside(), limits);
    (ended.executor, ended.outcome, ended.journal)
}

fn carried_out(source: &str, count: u32) -> Remembering {
    let (lab, outcome, _) = with(source, count, Limits::default());
    outcome.unwrap_or_else(|error| panic!("{error}"));
    lab
}

fn refused(source: &str) -> ScriptError {
    let (_, outcome, _) = with(source, 4, Limits::default());
    outcome.expect_err(source)
}

/// Names of the phases and their flows.
fn phases(lab: &Remembering) -> Vec<(&str, Vec<(u32, u32)>)> {
    let flows = |phase: &crate::Phase| {
        let parts = phase.parts.iter().flat_map(|part| &part.flows);
        parts.map(|(from, to, _)| (*from, *to)).collect()
    };
    let phases = lab.phases.iter();
    phases
        .map(|phase| (phase.name.as_str(), flows(phase)))
        .collect()
}

#[test]
fn pairs_of_both_halves_load_each_other_at_the_same_moment() {
    let lab = carried_out(
        "phase('echo', pairs(2).map(([a, b]) => sendreceive(a, b, '1MB', 10, {duplex: true})))",
        6,
    );
    assert_eq!(phases(&lab), [("echo", vec![(1, 4), (2, 5)])]);
    assert_eq!(
        lab.phases[0].parts[0].options,
        "--size=1MB --count=10 --duplex"
    );
}

#[test]
fn a_matrix_runs_every_combination_as_often_as_asked() {
    let lab = carried_out(
        "const seen = matrix({n: [1, 2], way: ['a', 'b']}, ({n, way, trial}) =>
            phase(`${n}${way}${trial}`, pairs(n).map(([a, b]) => rr(a, b)), {labels: {n}}), {repeat: 2});
         if (seen.length !== 8 || seen[7].n !== 2) throw new Error('count ' + seen.length);
         say(seen[0].result.flows[0].from, seen.length);",
        4,
    );
    let names: Vec<&str> = phases(&lab).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["1a1", "1b1", "2a1", "2b1", "1a2", "1b2", "2a2", "2b2"]
    );
    assert_eq!(lab.phases[2].labels, [("n".to_owned(), "2".to_owned())]);
    assert!(format!("{:?}", lab.said).contains("host1 8"));
}

#[test]
fn results_decide_what_comes_next() {
    let lab = Remembering {
        count: 4,
        dead: Some(3),
        ..Remembering::default()
    };
    let source = "const first = phase('a', pairs().map(([a, b]) => rr(a, b)), {timeout: '5s'});
        if (first.dead.length) phase('without ' + first.dead[0], rr(2, 4));";
    let ended = run(source, lab, outside(), Limits::default());
    assert_eq!(ended.outcome, Ok(()));
    let lab = ended.executor;
    assert_eq!(lab.phases[0].bound_ns, Some(5_000_000_000));
    assert_eq!(lab.phases[1].name, "without host1 → host3");
    assert!(ended.journal.lines().count() >= 4);
}

#[test]
fn chance_comes_from_the_seed_alone() {
    let source = "say(random(), Math.random(), shuffle([1, 2, 3, 4, 5]))";
    let said = |_| format!("{:?}", carried_out(source, 2).said);
    assert_eq!(said(1), said(2));
    for absent in [
        "Date",
        "performance",
        "require",
        "process",
        "fetch",
        "std",
        "os",
        "__host",
    ] {
        carried_out(
            &format!("if (typeof {absent} !== 'undefined') throw new Error('{absent}')"),
            2,
        );
    }
}

#[test]
fn mistakes_tell_line_and_column_of_the_script() {
    let unknown = refused("const a = 1;\n\nrr(1, 9);\nphase('x', [rr(1, 9)]);");
    assert_eq!(unknown.line, 4, "{unknown}");
    assert!(english(&unknown.says).contains("no host `9`"), "{unknown}");
    assert!(unknown.hint.is_some());
    assert_eq!(refused("let x = ;").line, 1);
    let inside = refused("function f() {\n  phase('x', []);\n}\n f();");
    assert_eq!(inside.line, 2, "{inside}");
    for (source, says) in [
        ("phase('x', rr(1, 1))", "load itself"),
        ("phase('x', load('dance', 1, 2))", "no word `dance`"),
        ("pairs(3)", "3 pairs cannot be made of 4 hosts"),
        ("sleep('x')", "x"),
        ("nobody()", "nobody"),
        ("throw 'a word'", "a word"),
        ("hosts = 3", "hosts"),
    ] {
        let error = refused(source);
        assert!(english(&error.says).contains(says), "{source}: {error}");
    }
}

#[test]
fn a_loop_without_an_end_is_ended() {
    let limits = Limits {
        compute_ns: 50_000_000,
        ..Limits::default()
    };
    for source in [
        "for (;;) {}",
        "try { for (;;) {} } catch {} for (;;) {}",
        "for (;;) say('x')",
    ] {
        let (_, outcome, journal) = with(source, 2, limits);
        let error = outcome.expect_err(source);
        assert!(
            english(&error.says).contains("computed for more than"),
            "{error}"
        );
        assert!(journal.len() <= limits.journal_bytes);
    }
}

#[test]
fn memory_and_depth_are_bounded() {
    let limits = Limits {
        memory_bytes: 16 << 20,
        compute_ns: u64::MAX,
        ..Limits::default()
    };
    let (_, outcome, _) = with(
        "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
        2,
        limits,
    );
    assert!(english(&outcome.expect_err("too much").says).contains("16 MiB"));
    let (_, outcome, _) = with("function f() { f() } f()", 2, limits);
    assert!(english(&outcome.expect_err("too deep").says).contains("stack"));
}

#[test]
fn a_script_of_10_mb_is_only_long() {
    let mut source = "// remark\n".repeat(1 << 20);
    source.push_str("phase('end', rr(1, 2));");
    assert_eq!(phases(&carried_out(&source, 2)).len(), 1);
}

#[test]
fn the_operator_ends_a_script() {
    let outside = Outside {
        stop: Box::new(|| true),
        ..outside()
    };
    let ended = run(
        "for (;;) {}",
        Remembering::default(),
        outside,
        Limits::default(),
    );
    assert!(ended.outcome.expect_err("interrupted").interrupted);
}

/// Work of the engine that asks nobody whether it must end: a pattern that tries everything, and loops of
/// its own functions.
#[test]
fn the_operator_ends_a_script_whatever_it_does() {
    for source in [
        "/^(a+)+\\1b$/.test('a'.repeat(60))",
        "/(x+x+)+y\\1/.test('x'.repeat(60))",
        "const all = new Array(1 << 24).fill(1); for (;;) all.sort(() => 0);",
        "for (;;) 'x'.repeat(1 << 26).replaceAll('x', 'yy')",
    ] {
        let begun = std::time::Instant::now();
        let outside = Outside {
            stop: Box::new(move || begun.elapsed() > std::time::Duration::from_millis(300)),
            now_ns: Box::new(|| 0),
            ..outside()
        };
        let ended = run(source, Remembering::default(), outside, Limits::default());
        assert!(ended.outcome.expect_err(source).interrupted, "{source}");
        // 2 s on a host that is not busy.
        let took = begun.elapsed();
        assert!(
            took < std::time::Duration::from_secs(10),
            "{source}: {took:?}"
        );
    }
}

#[test]
fn what_is_described_for_editors_is_what_there_is() {
    let described: std::collections::BTreeSet<&str> = TYPES
        .lines()
        .filter_map(|line| line.strip_prefix("declare "))
        .filter_map(|line| line.split_once(' '))
        .map(|(_, rest)| {
            rest.split(|c: char| !c.is_alphanumeric())
                .next()
                .unwrap_or(rest)
        })
        .collect();
    // The words of the workloads come from the executor; its own test names them.
    for name in &described {
        let words = [
            "bus",
            "datagram",
            "dbt1",
            "dbt2",
            "dbt3",
            "dns",
            "jmx",
            "probe",
            "replicate",
            "sqlmix",
            "tpcb",
        ];
        if !words.contains(name) {
            carried_out(
                &format!("if (typeof {name} === 'undefined') throw new Error('{name}')"),
                2,
            );
        }
    }
    let lab = carried_out("say(Object.keys(globalThis).join(' '))", 2);
    let said = format!("{:?}", lab.said);
    let (_, names) = said.split_once("Word(\"").expect("a word");
    let names = names.split('"').next().unwrap_or_default();
    for name in names.split(' ').filter(|name| !name.is_empty()) {
        assert!(
            described.contains(name),
            "`{name}` is not described in sokudo.d.ts"
        );
    }
}

#[test]
fn parameters_have_the_kind_of_their_usual_value() {
    let source = "say(parameter('n', 5), parameter('list', [1]), parameter('on', false), parameter('size', '1MB'))";
    let set = |pairs: &[(&str, &str)]| Outside {
        parameters: pairs
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect(),
        ..outside()
    };
    let run = |outside| run(source, Remembering::default(), outside, Limits::default());
    let ended = run(set(&[("n", "7"), ("list", "3,4"), ("on", "true")]));
    assert_eq!(ended.outcome, Ok(()));
    let said = format!("{:?}", ended.executor.said);
    assert!(said.contains("7 [3,4] true 1MB"), "{said}");
    for wrong in [("n", "many"), ("unknown", "1")] {
        assert!(run(set(&[wrong])).outcome.is_err(), "{wrong:?}");
    }
}

/// Line and begin of each mistake of a rehearsal over four hosts, and what it left open.
#[track_caller]
fn rehearsed(source: &str, expected: &[(u32, &str)], left: Option<Open>) {
    let lab = Remembering {
        count: 4,
        ..Remembering::default()
    };
    let Rehearsed { mistakes, open } = rehearse(source, lab, outside());
    let found: Vec<(u32, String)> = mistakes
        .iter()
        .map(|m| (m.line, english(&m.says)))
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for ((line, says), (wanted, part)) in found.iter().zip(expected) {
        assert_eq!((line, says.contains(part)), (wanted, true), "{found:#?}");
    }
    assert_eq!(open, left);
}

#[test]
fn a_rehearsal_tells_all_mistakes() {
    rehearsed(
        "syncTime();\n\
         phase(\"a\", [rr(1, 9), rr(7, 2)]);\n\
         sleep(\"soon\");\n\
         nosuch(1, 2);\n\
         phase(\"b\", rr(1, elsewhere));\n\
         pairs(9);\n\
         phase(\"c\", []);\n\
         for (const one of [1, 2]) phase(\"d\", rr(one, one));\n\
         monitor({every: \"often\"});\n\
         phase(\"e\", rr(1, 2), {timeout: \"5 parsecs\"});",
        &[
            (2, "there is no host `9`"),
            (2, "there is no host `7`"),
            (3, "soon"),
            (4, "there is no `nosuch`"),
            (5, "there is no `elsewhere`"),
            (6, "9 pairs"),
            (7, "has no load"),
            (8, "host 1 would load itself"),
            (8, "host 2 would load itself"),
            (9, "often"),
            (10, "parsecs"),
        ],
        None,
    );
}

#[test]
fn statements_that_cannot_be_read_hide_no_others() {
    rehearsed(
        "phase(\"a\", [rr(1 2)]);\n\
         const x = ;\n\
         phase(\"b\", [\n  rr(1, 2),\n  rr(3 4),\n]);\n\
         phase(\"c\", rr(1, 9));\n\
         say(x);",
        &[(1, ""), (2, ""), (5, ""), (7, "there is no host `9`")],
        None,
    );
    rehearsed("if (true) {\n  say(1);\n", &[(3, "")], None);
}

#[test]
fn a_rehearsal_says_where_results_decide() {
    let reads = "const made = phase(\"a\", rr(1, 2));\n\
                 if (made.bits_per_second > 1e9) say(\"fast\");\n\
                 say(made.flows[0].metrics[\"rr.transactions\"].toFixed(2));\n\
                 made.no.such.thing;\n\
                 phase(\"b\", rr(1, 9));";
    // What breaks behind made-up numbers may be their fault.
    rehearsed(reads, &[], Some(Open::Results(2)));
    let listed = "const made = phase(\"a\", [rr(1, 2), rr(3, 4)]);\n\
                  for (const flow of made.flows) say(flow.from);\n\
                  phase(\"b\", rr(1, 9));";
    rehearsed(listed, &[(3, "there is no host `9`")], None);
    let endless = "let made = phase(\"a\", rr(1, 2));\nwhile (made.bytes > 0) say(\"more\");";
    rehearsed(endless, &[], Some(Open::Long));
}

#[test]
fn a_rehearsal_of_a_script_without_mistakes_finds_none_and_does_nothing() {
    let source = "const rate = parameter(\"rate\", 5);\n\
                  if (typeof window === \"undefined\") say(rate, seed, random());\n\
                  matrix({size: [64, 1000]}, ({size}) => phase(\"p\", rr(1, 2, {count: size})));\n\
                  note(JSON.stringify(mesh(hosts().slice(0, 3)).length));";
    let lab = Remembering {
        count: 4,
        ..Remembering::default()
    };
    let found = rehearse(source, lab, outside());
    assert_eq!(found.mistakes, []);
    assert_eq!(found.open, None);
}

#[test]
fn a_parameter_that_nobody_asks_for_is_told_by_a_rehearsal() {
    let mut outside = outside();
    outside.parameters = vec![("speed".into(), "5".into())];
    let lab = Remembering {
        count: 4,
        ..Remembering::default()
    };
    let found = rehearse("say(1);", lab, outside);
    assert!(
        english(&found.mistakes[0].says).contains("`speed`"),
        "{found:?}"
    );
}

/// Every profile is in force in each round, the first one twice, and the phases say of which turn they are.
#[test]
fn profiles_are_measured_in_turns_and_put_back() {
    let source = "profiles('postgres://h/db', {default: {}, tuned: {fsync: false, work_mem: 4}}, \
                  () => phase('load', rr(1, 2)), {rounds: 3, minEffect: '4%'});
                  phase('after', rr(1, 2));";
    let lab = carried_out(source, 2);
    let settings = &lab.profiles[1].settings;
    let expected = [("fsync", "off"), ("work_mem", "4")];
    assert_eq!(*settings, expected.map(|(a, b)| (a.into(), b.into())));
    let (first, rest) = lab.applied.split_first().expect("profiles");
    let (last, turns) = rest.split_last().expect("turns");
    assert_eq!(
        (first.as_str(), last.as_str()),
        ("hold postgres://h/db", "release")
    );
    for round in turns.chunks(3) {
        let mut round = round.to_vec();
        round.sort();
        assert_eq!(round, ["default", "default", "tuned"]);
    }
    assert_eq!((turns.len(), lab.phases.len()), (9, 10));
    assert_eq!(lab.phases[9].labels, []);
    assert_eq!(lab.phases[9].name, "after");
    let names: Vec<&str> = lab.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert!(names.contains(&"load · default (again) 3"), "{names:?}");
    let sides = lab.phases[..3].iter().map(|phase| {
        let mut labels: Vec<String> = phase
            .labels
            .iter()
            .map(|(_, value)| value.clone())
            .collect();
        assert_eq!(labels.split_off(2), ["1", "0.04"]);
        labels.join(" ")
    });
    let mut sides: Vec<String> = sides.collect();
    sides.sort();
    assert_eq!(sides, ["default (again) 1", "default 0", "tuned 2"]);
}

#[test]
fn settings_are_put_back_when_a_turn_fails_and_one_profile_is_refused() {
    let source = "profiles('postgres://h/db', {a: {}, b: {}}, () => { throw new Error('enough') })";
    let (lab, outcome, _) = with(source, 2, Limits::default());
    assert!(outcome.is_err());
    assert_eq!(lab.applied.last().map(String::as_str), Some("release"));
    assert_eq!(lab.applied.len(), 3);
    for (source, says) in [
        (
            "profiles('postgres://h/db', {a: {}}, () => 0)",
            "nothing to be compared with",
        ),
        (
            "profiles('postgres://h/db', {a: {}, b: {}}, () => 0, {minEffect: 'much'})",
            "much",
        ),
    ] {
        assert!(
            refused(source).to_string().contains(says),
            "{}",
            refused(source)
        );
    }
}

/// The engine reads many names in the square of their number, and does not ask meanwhile whether it must end.
#[test]
fn a_program_that_takes_long_to_read_is_given_up() {
    let names: Vec<String> = (0..400_000).map(|n| format!("a{n}")).collect();
    let found = super::rehearse::syntax(&format!("let {};", names.join(",")));
    let keys: Vec<&str> = found.iter().map(|it| it.says.key.as_str()).collect();
    assert_eq!(keys, ["error-scenario-read-long"]);
    assert!(super::rehearse::syntax("say(1);").is_empty());
}
