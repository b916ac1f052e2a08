//! Whole phases of `dbt3` on a file and on real servers, which have to give the same answers.

use std::time::Instant;

use sokudo_load_sql::db::{self, How, Tables};
use sokudo_load_sql::dbt3::{CONDITIONS, Dbt3, MORE_CONDITIONS, answers};
use sokudo_load_sql::digest::Digest;
use sokudo_model::PhaseResult;
use sokudo_sql::Target;
use sokudo_testkit::databases;

use crate::playing::{file, get, play, with_session};

/// Transactions of a run with two streams: 24 of the power test, 22 of each stream, two pairs of refreshes.
const ALL: f64 = 24.0 + 2.0 * 22.0 + 4.0;

/// Makes the tables at scale factor 0.01; every row is as it was made.
fn made(dsn: &str) -> Target {
    let target: Target = dsn.parse().expect("a target");
    let begun = Instant::now();
    let loaded = db::init(&target, Tables::Dbt3, 1).expect("tables");
    let seconds = begun.elapsed().as_secs_f64();
    println!("{target}: {} rows in {seconds:.1} s", loaded.rows);
    let begun = Instant::now();
    whole(&target);
    println!("checked in {:.1} s", begun.elapsed().as_secs_f64());
    target
}

#[track_caller]
fn whole(target: &Target) {
    let checked = db::check(target, Tables::Dbt3).expect("tables");
    let told = (checked.kept, checked.broken.len());
    assert_eq!(told, (CONDITIONS + MORE_CONDITIONS, 0), "{checked:?}");
}

/// Both tests; the tables are afterwards what they were. Returns the digest of the answers.
fn behaves(dsn: &str) -> String {
    let begun = Instant::now();
    let result = play(
        &Dbt3,
        &format!(r#""target":"{dsn}","timeout":"60s""#),
        || (),
    );
    println!("72 transactions in {:.1} s", begun.elapsed().as_secs_f64());
    assert_eq!(get(&result, "sql.transactions"), ALL, "{result:?}");
    assert_eq!(get(&result, "sql.errors"), 0.0, "{result:?}");
    assert_eq!(get(&result, "dbt3.query14"), 3.0, "{result:?}");
    assert_eq!(get(&result, "dbt3.refresh_in"), 3.0, "{result:?}");
    assert!(get(&result, "dbt3.query14_seconds.p50") > 0.0, "{result:?}");
    let of = |name| get(&result, name);
    let (power, throughput) = (of("dbt3.power"), of("dbt3.throughput"));
    assert!(power > 0.0 && throughput > 0.0, "{result:?}");
    let apart = of("dbt3.composite") / (power * throughput).sqrt() - 1.0;
    assert!(apart.abs() < 1e-9, "{result:?}");
    let from_time = 2.0 * 22.0 * 3600.0 * 0.01 / of("dbt3.throughput_seconds");
    assert!((throughput / from_time - 1.0).abs() < 1e-9, "{result:?}");
    kept(&result);
    answer(&result)
}

#[track_caller]
fn kept(result: &PhaseResult) {
    assert_eq!(
        get(result, "sql.kept_conditions"),
        f64::from(CONDITIONS),
        "{result:?}"
    );
    assert_eq!(get(result, "sql.broken_conditions"), 0.0, "{result:?}");
}

fn answer(result: &PhaseResult) -> String {
    let mut labels = result.flows.iter().map(|flow| &flow.labels);
    let answers = labels.find_map(|labels| labels.get("answers"));
    answers.expect("a digest").clone()
}

/// A file of DuckDB, where it is built in.
fn duckdb(place: &tempfile::TempDir) -> Option<String> {
    let file = place.path().join("a.duckdb");
    cfg!(feature = "duckdb").then(|| format!("duckdb:{}", file.display()))
}

/// Each question's answer on a fresh database.
fn asked(target: &Target) -> Vec<Digest> {
    with_session(target, async |session| {
        answers(session, 1).await.expect("answers")
    })
}

#[test]
fn a_file_is_what_it_was_afterwards_and_every_change_of_it_is_found() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target = made(&dsn);
    let first = behaves(&dsn);
    // An order that a run has left which was ended within its refresh.
    with_session(&target, async |session| {
        let left = "insert into dbt3_orders select 9, o_custkey, o_orderstatus, o_totalprice, o_orderdate, \
             o_orderpriority, o_clerk, o_shippriority, o_comment from dbt3_orders where o_orderkey = 1";
        session.batch(left).await.expect(left);
    });
    let fields = format!(r#""target":"{dsn}","test":"power""#);
    let again = play(&Dbt3, &fields, || ());
    assert_eq!(answer(&again), first);
    assert!(!again.summary.contains_key("dbt3.composite"), "{again:?}");
    kept(&again);
    whole(&target);
    for (change, undo, broken) in [
        (
            "update dbt3_customer set c_acctbal = c_acctbal + 1 where c_custkey = 7",
            "update dbt3_customer set c_acctbal = c_acctbal - 1 where c_custkey = 7",
            1,
        ),
        (
            "update dbt3_orders set o_custkey = 3 where o_orderkey = 1",
            "",
            2,
        ),
        ("delete from dbt3_orders where o_orderkey = 1", "", 3),
    ] {
        with_session(&target, async |session| {
            session.batch(change).await.expect(change);
        });
        let checked = db::check(&target, Tables::Dbt3).expect("tables");
        assert_eq!(checked.broken.len(), broken, "{change}: {checked:?}");
        let of_rows = |how: &How| !matches!(how, How::Rows(8..));
        assert!(
            checked.broken.iter().all(|one| of_rows(&one.how)),
            "{checked:?}"
        );
        with_session(&target, async |session| {
            session.batch(undo).await.expect(undo);
        });
    }
}

#[test]
fn duckdb_takes_analytical_loads_alone_and_only_where_it_is_built_in() {
    let target: Target = "duckdb:nowhere.duckdb".parse().expect("a target");
    let refused = db::init(&target, Tables::Tpcb, 1).expect_err("many small transactions");
    assert!(
        format!("{refused:?}").contains("error-sql-analytical"),
        "{refused:?}"
    );
    if !cfg!(feature = "duckdb") {
        let refused = db::check(&target, Tables::Dbt3).expect_err("no such engine");
        let says = format!("{refused:?}");
        assert!(says.contains("built without DuckDB"), "{says}");
    }
}

#[test]
fn servers_and_a_file_give_the_same_answers() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let expected = asked(&made(&dsn));
    let filled = expected.iter().filter(|answer| answer.rows > 0).count();
    assert!(
        filled >= 18,
        "{filled} of 22 questions have an answer: {expected:?}"
    );
    let mut digests = Vec::new();
    let (postgres, mariadb) = (databases::postgres(&[]), databases::mariadb());
    let dsns = [
        postgres.as_ref().map(|server| server.dsn()),
        mariadb.as_ref().map(|server| server.dsn()),
        duckdb(&place),
    ];
    for dsn in dsns.into_iter().flatten() {
        let target = made(&dsn);
        for (question, (found, expected)) in (1..).zip(asked(&target).iter().zip(&expected)) {
            assert_eq!(found, expected, "question {question} on {target}");
        }
        digests.push(behaves(&dsn));
        whole(&target);
    }
    if digests.is_empty() {
        return;
    }
    digests.push(behaves(&dsn));
    assert!(
        digests.windows(2).all(|two| two[0] == two[1]),
        "{digests:?}"
    );
}
