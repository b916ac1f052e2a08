//! Whole phases of `sqlmix`: mixes on a file and on real servers, conflicts that are tried again, and the pool.

use std::sync::mpsc;
use std::thread;

use serde_json::json;
use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::sqlmix::Sqlmix;
use sokudo_model::PhaseResult;
use sokudo_model::kinds::sqlmix::ERRORS_PER_SECOND;
use sokudo_sql::Target;
use sokudo_testkit::databases;

use crate::playing::{BOUND, armed, file, get, play, play_until, with_session};

/// Plays a load whose transactions fail, until some have.
fn failing(fields: &str) -> PhaseResult {
    let fields = format!(r#"{fields},"duration":"55s""#);
    play_until(&Sqlmix, &fields, ERRORS_PER_SECOND.name, || ()).0
}

/// JSON of the files of a mix, each with its name and text.
fn files(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(name, text)| format!("{name}\n{text}"));
    format!(r#""file":{}"#, json!(files.collect::<Vec<_>>()))
}

/// Transactions of one name: carried out, and failed.
fn of_name(result: &PhaseResult, name: &str) -> (f64, f64) {
    let flow = result.flows.iter().find(|flow| flow.to == name);
    let flow = flow.unwrap_or_else(|| panic!("{name}: {result:?}"));
    let of = |metric: &str| flow.metrics.get(metric).copied().unwrap_or(0.0);
    let counted = of("sqlmix.transactions");
    let timed = flow.histograms.get("sqlmix.latency_seconds");
    assert_eq!(timed.map_or(0, |all| all.n) as f64, counted, "{result:?}");
    (counted, of("sqlmix.errors"))
}

/// The first number that a statement gives.
fn number(target: &Target, sql: &str) -> i64 {
    with_session(target, async |session| {
        let statement = session.prepare(sql).await.expect(sql);
        let first = session.query_first(&statement, &[], |row| row.int(0)).await;
        first.expect(sql).unwrap_or(0)
    })
}

fn example(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sql");
    std::fs::read_to_string(format!("{path}/{name}")).expect(name)
}

/// Every example, with its own numbers per transaction.
fn examples_run(dsn: &str, clients: u32) {
    let texts = ["point-select", "hot-select", "tpcb-like", "simple-update"]
        .map(|name| (name, example(&format!("{name}.sql"))));
    let accounts = example("accounts.toml");
    let mut all: Vec<(String, &str)> = texts
        .iter()
        .map(|(name, text)| (format!("{name}.sql@20"), text.as_str()))
        .collect();
    all.push(("accounts.toml".into(), &accounts));
    let all: Vec<(&str, &str)> = all
        .iter()
        .map(|(name, text)| (name.as_str(), *text))
        .collect();
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let before = number(&target, "select count(*) from tpcb_history");
    let fields = format!(
        r#""target":"{dsn}","clients":{clients},"count":"200",{}"#,
        files(&all)
    );
    let result = play(&Sqlmix, &fields, || ());
    assert_eq!(get(&result, "sql.transactions"), 200.0, "{result:?}");
    assert_eq!(get(&result, "sql.errors"), 0.0, "{result:?}");
    let names = [
        "point-select",
        "hot-select",
        "tpcb-like",
        "simple-update",
        "look",
        "transfer",
        "note",
    ];
    let each = names.map(|name| of_name(&result, name).0);
    assert_eq!(each.iter().sum::<f64>(), 200.0, "{each:?}");
    // 20 of 180, within seven deviations.
    assert!(
        each[..4].iter().all(|n| (2.0..=55.0).contains(n)),
        "{each:?}"
    );
    let written = number(&target, "select count(*) from tpcb_history") - before;
    assert_eq!(written as f64, each[2] + each[3] + each[6], "{each:?}");
    // What a script leaves undone by halves would break the sums.
    let sums = "select (select sum(bbalance) from tpcb_branches) - (select sum(tbalance) from tpcb_tellers)";
    assert_eq!(number(&target, sums), 0);
}

#[test]
fn without_a_database_a_file_is_made_and_both_loops_count_what_was_asked_for() {
    let select = example("point-select.sql");
    for more in [
        r#""clients":3"#,
        r#""rate":"200/s""#,
        r#""clients":4,"threads":2"#,
    ] {
        let fields = format!(r#""count":"60",{more},{}"#, files(&[("a.sql", &select)]));
        let result = play(&Sqlmix, &fields, || ());
        assert_eq!(get(&result, "sql.transactions"), 60.0, "{more} {result:?}");
        assert_eq!(of_name(&result, "a"), (60.0, 0.0), "{more}");
    }
}

#[test]
fn examples_run_on_a_file() {
    let place = tempfile::tempdir().expect("a directory");
    examples_run(&file(&place), 2);
}

/// Results of one statement are used by the next ones, branches are taken by them, and a transaction that does not
/// change as many rows as it must has failed.
#[test]
fn results_are_used_and_a_wrong_number_of_rows_is_an_error() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    with_session(&target, async |session| {
        let made = "create table t (id integer primary key, v integer, w text); \
                    insert into t values (1, 10, 'a'), (2, 0, 'b')";
        session.batch(made).await.expect("a table");
    });
    let script = "\\set id 1\n\
        select v, w from t where id = :id \\gset old_\n\
        \\if :old_v >= 10 and :old_v % 2 = 0\n\
        update t set v = v + 1, w = ':old_w' || 'c:old_v' where id = :id;\n\
        \\else\n\
        update t set v = v + 3 where id = :id;\n\
        \\endif\n\
        select v from t where id > :id \\aset last_\n\
        update t set v = v + 1 + :last_v * 0 where id = 2;\n";
    let fails = r#"
        [[transaction]]
        name = "fails"
        statement = [
          { sql = "update t set w = 'never' where id = 2" },
          { sql = "update t set v = 1 where id = 77", rows = 1 },
        ]"#;
    let mixed = files(&[("steps.sql", script), ("fails.toml@0", fails)]);
    let result = play(
        &Sqlmix,
        &format!(r#""target":"{dsn}","count":"4",{mixed}"#),
        || (),
    );
    assert_eq!(of_name(&result, "steps"), (4.0, 0.0));
    // 10 → 11 → 14 → 15 → 18.
    assert_eq!(number(&target, "select v from t where id = 1"), 18);
    assert_eq!(number(&target, "select v from t where id = 2"), 4);
    // 'a', then 'ac10', then 'ac10c14': what stands within quotes is written into them.
    assert_eq!(
        number(
            &target,
            "select count(*) from t where id = 1 and w = 'ac10c14'"
        ),
        1
    );
    // A variable that is only set later has no value, and no transaction does as if it had.
    for script in [
        "\\set a :a + 1\nselect 1;",
        "select :b;\n\\set b 1",
        "select 'x:c';\n\\set c 1",
    ] {
        let early = files(&[("early.sql", script)]);
        let options = format!(r#""target":"{dsn}","clients":1,{early}"#);
        let flow = &failing(&options).flows[0];
        let why = flow.labels.get("error").cloned().unwrap_or_default();
        assert!(why.contains("undefined variable"), "{script}: {why}");
    }
    let fails = files(&[("fails.toml", fails)]);
    let result = failing(&format!(r#""target":"{dsn}",{fails}"#));
    let (done, failed) = of_name(&result, "fails");
    assert!(done == 0.0 && failed > 0.0, "{result:?}");
    let why = result.flows[0]
        .labels
        .get("error")
        .cloned()
        .unwrap_or_default();
    assert!(why.contains("fails.toml:6: 0 rows, not 1"), "{why}");
    assert_eq!(
        number(&target, "select count(*) from t where w = 'never'"),
        0
    );
}

/// Statements of a pipeline are carried out together: values are those of their place, branches are taken, and
/// after an error nothing of a transaction is left.
#[test]
fn pipelines_are_carried_out_whole() {
    let Some(server) = databases::postgres(&["fsync=off"]) else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    counters(&target);
    let script = "\\set id 1\n\\startpipeline\nbegin;\n\
        update counter set v = v + :id where id = :id;\n\
        \\set id 2\n\\if :id = 2\nupdate counter set v = v + :id where id = :id;\n\
        \\else\nselect 1 / 0;\n\\endif\nend;\n\\endpipeline\n";
    let fields = |text: &str| {
        let files = files(&[("pipe.sql", text)]);
        format!(r#""target":"{dsn}","clients":2,{files}"#)
    };
    let result = play(
        &Sqlmix,
        &format!(r#"{},"count":"50""#, fields(script)),
        || (),
    );
    assert_eq!(of_name(&result, "pipe"), (50.0, 0.0));
    let read = |id: u32| number(&target, &format!("select v from counter where id = {id}"));
    assert_eq!((read(1), read(2)), (50, 100));

    let fails = "\\startpipeline\nbegin;\nupdate counter set v = 0 where id = 1;\n\
        insert into counter values (2, 0);\nend;\n\\endpipeline\n";
    let flow = &failing(&fields(fails)).flows[0];
    let why = flow.labels.get("error").cloned().unwrap_or_default();
    assert!(why.contains("pipe.sql:6: "), "{why}");
    assert_eq!(read(1), 50);
}

#[test]
fn what_the_database_does_not_know_is_refused_before_the_run() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let mixed = files(&[("a.sql", "\nselect * from nowhere;")]);
    let refused = armed(&Sqlmix, &format!(r#""target":"{dsn}",{mixed}"#));
    let refusal = refused.err().expect("a refusal");
    let told = format!("{refusal:?}");
    assert!(
        refusal.operator_error && told.contains("a.sql:2: "),
        "{told}"
    );
}

/// A table with two rows whose counters transactions raise.
fn counters(target: &Target) {
    with_session(target, async |session| {
        let made = [
            "drop table if exists counter",
            "create table counter (id int primary key, v bigint not null)",
            "insert into counter values (1, 0), (2, 0)",
        ];
        for sql in made {
            session.batch(sql).await.expect(sql);
        }
    });
}

/// Two transactions that lock two rows in opposite order, so that they end each other again and again.
const CROSSED: [(&str, &str); 2] = [
    (
        "there.sql",
        "begin;\nupdate counter set v = v + 1 where id = 1;\n\\sleep 5 ms\n\
         update counter set v = v + 1 where id = 2;\ncommit;",
    ),
    (
        "back.sql",
        "begin;\nupdate counter set v = v + 1 where id = 2;\n\\sleep 5 ms\n\
         update counter set v = v + 1 where id = 1;\ncommit;",
    ),
];

/// Deadlocks occur, are tried again, and what came of the tries is there exactly once.
fn deadlocks_are_tried_again(dsn: &str) {
    let target: Target = dsn.parse().expect("a target");
    counters(&target);
    let fields = format!(
        r#""target":"{dsn}","clients":6,"count":"80","retries":1000,{}"#,
        files(&CROSSED)
    );
    let result = play(&Sqlmix, &fields, || ());
    let (done, tries) = (
        get(&result, "sql.transactions"),
        get(&result, "sql.attempts"),
    );
    let ended = get(&result, "sql.deadlocks");
    assert_eq!(
        (done, get(&result, "sql.errors")),
        (80.0, 0.0),
        "{result:?}"
    );
    assert!(ended > 0.0, "{result:?}");
    // Servers may end a wait in other ways, too.
    let vain =
        ended + get(&result, "sql.lock_timeouts") + get(&result, "sql.serialization_failures");
    assert_eq!(tries, done + vain, "{result:?}");
    assert_eq!(number(&target, "select sum(v) from counter"), 160);
    // Without further tries each deadlock is a failure, and what failed left nothing.
    counters(&target);
    let fields = format!(
        r#""target":"{dsn}","clients":6,"duration":"1s","retries":0,{}"#,
        files(&CROSSED)
    );
    let result = play(&Sqlmix, &fields, || ());
    let (done, failed) = (get(&result, "sql.transactions"), get(&result, "sql.errors"));
    assert!(failed > 0.0, "{result:?}");
    assert_eq!(get(&result, "sql.attempts"), done + failed, "{result:?}");
    assert_eq!(
        number(&target, "select sum(v) from counter") as f64,
        2.0 * done
    );
}

/// Read, compute, write: what two of them do at once cannot be put in order.
const LOST_UPDATE: &str = r#"
[[transaction]]
name = "raise"
isolation = "serializable"
parameter = [{ name = "id", uniform = [1, 2] }]
statement = [
  { sql = "select v from counter where id = :id", capture = ["v"], rows = 1 },
  { sql = "update counter set v = :v + 1 where id = :id", rows = 1 },
]
"#;

#[test]
fn postgres_ends_transactions_and_they_are_tried_again() {
    let Some(server) = databases::postgres(&["deadlock_timeout=5ms"]) else {
        return;
    };
    let dsn = server.dsn();
    examples_run(&dsn, 4);
    deadlocks_are_tried_again(&dsn);
    let target: Target = dsn.parse().expect("a target");
    counters(&target);
    let fields = format!(
        r#""target":"{dsn}","clients":6,"count":"300","retries":1000,{}"#,
        files(&[("raise.toml", LOST_UPDATE)])
    );
    let result = play(&Sqlmix, &fields, || ());
    let failures = get(&result, "sql.serialization_failures");
    assert_eq!(get(&result, "sql.errors"), 0.0, "{result:?}");
    assert!(failures > 0.0, "{result:?}");
    let vain = failures + get(&result, "sql.deadlocks");
    assert_eq!(get(&result, "sql.attempts"), 300.0 + vain, "{result:?}");
    assert_eq!(number(&target, "select sum(v) from counter"), 300);
}

#[test]
fn mariadb_ends_transactions_and_they_are_tried_again() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    examples_run(&dsn, 4);
    deadlocks_are_tried_again(&dsn);
}

/// Clients that share sessions wait for them, as long as Little's law says: on average as many wait as arrive in the
/// time that one waits.
#[test]
fn clients_wait_for_the_pool_by_littles_law() {
    let script = "\\sleep 10 ms\nselect 1;";
    let shared = |pool: u32| {
        let fields = format!(
            r#""clients":12,"pool":{pool},"count":"400",{}"#,
            files(&[("sleeps.sql", script)])
        );
        play(&Sqlmix, &fields, || ())
    };
    let result = shared(4);
    let per_s = get(&result, "sql.transactions_per_second");
    let waiting = get(&result, "sql.pool.waiting");
    let wait = get(&result, "sql.pool.wait_seconds.mean");
    let told = format!("{per_s} {waiting} {wait} {:?}", result.summary);
    assert_eq!(get(&result, "sql.pool.max"), 4.0, "{told}");
    assert_eq!(get(&result, "sql.open_connections"), 4.0, "{told}");
    // In the end the last clients wait for nobody.
    assert!(get(&result, "sql.pool.used") > 3.6, "{told}");
    assert!((6.5..=8.2).contains(&waiting), "{told}");
    let law = per_s * wait;
    assert!((law - waiting).abs() < 0.2 * waiting, "{law} {told}");
    // The latency holds the wait.
    assert!(
        get(&result, "sql.latency_seconds.mean") > wait + 0.009,
        "{told}"
    );
    let roomy = shared(12);
    assert!(get(&roomy, "sql.pool.waiting") < 0.5, "{:?}", roomy.summary);
    assert!(
        get(&roomy, "sql.pool.wait_seconds.p99") < wait,
        "{:?}",
        roomy.summary
    );
}

/// A transaction that gets no session of the pool in time has failed, and the others go on.
#[test]
fn a_wait_for_the_pool_has_an_end() {
    let fields = format!(
        r#""clients":3,"pool":1,"duration":"55s","timeout":"200ms",{}"#,
        files(&[("sleeps.sql", "\\sleep 150 ms\nselect 1;")])
    );
    let result = play(&Sqlmix, &fields, || ());
    assert!(
        get(&result, "sql.pool.timeouts") > 0.0,
        "{:?}",
        result.summary
    );
    assert!(
        get(&result, "sql.transactions") > 1.0,
        "{:?}",
        result.summary
    );
    assert_eq!(
        get(&result, "sql.errors"),
        get(&result, "sql.pool.timeouts"),
        "{:?}",
        result.summary
    );
}

#[test]
fn a_statement_without_end_ends_with_its_time() {
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let endless =
            "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n;";
        let files = files(&[("endless.sql", endless)]);
        // The test may have failed by then.
        let _ = say.send(failing(&format!(r#"{files},"timeout":"200ms""#)));
    });
    let result = said.recv_timeout(BOUND).expect("an end of the load");
    assert_eq!(get(&result, "sql.transactions"), 0.0, "{result:?}");
    assert!(get(&result, "sql.errors") > 0.0, "{result:?}");
}

#[test]
fn scripts_open_no_other_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let other = directory.path().join("other.db");
    let script = format!("vacuum into '{}';", other.display());
    let result = failing(&files(&[("copy.sql", &script)]));
    assert!(get(&result, "sql.errors") > 0.0, "{result:?}");
    assert!(!other.exists());
}
