//! What servers say of the statements of a load: their counters of them, and their plans before and after it.

use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::tpcb::Tpcb;
use sokudo_model::statements::Statements;
use sokudo_model::{Manifest, PhaseRecord, Record, RunId};
use sokudo_sql::Target;
use sokudo_testkit::databases;

use crate::playing::{play_and_keep, with_session};

const SELECT: &str = "select abalance from tpcb_accounts where aid = $1";

/// Loads the server, with something done to it meanwhile.
fn loaded(dsn: &str, meanwhile: impl FnOnce()) -> (f64, Statements) {
    let fields = format!(r#""target":"{dsn}","clients":2,"duration":"30s""#);
    let (result, series) = play_and_keep(&Tpcb, &fields, meanwhile);
    let done = result.summary["sql.transactions"];
    let mut record = Record::new(Manifest::new(RunId("test".into()), "tpcb"));
    let phase = PhaseRecord::plain("load", "tpcb", (0, 1), result);
    record.manifest.phases.push(phase);
    record.series = series;
    let told = Statements::of(&record, &record.manifest.phases[0]);
    (done, told)
}

fn batch(target: &Target, sql: &str) {
    with_session(target, async |session| {
        session.batch(sql).await.expect(sql);
    });
}

#[test]
fn statements_are_counted_and_a_plan_that_changes_is_seen() {
    let libraries = "shared_preload_libraries=pg_stat_statements";
    let Some(server) = databases::postgres(&["fsync=off", libraries]) else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let (_, told) = loaded(&dsn, || {});
    let why = told.uncounted.clone().expect("a reason");
    assert!(why.contains("no extension pg_stat_statements"), "{why}");
    assert_eq!((told.counted.len(), told.changed().count()), (0, 0));
    assert!(told.planned.iter().any(|one| one.statement == SELECT));

    batch(
        &target,
        "create schema elsewhere; create extension pg_stat_statements schema elsewhere",
    );
    let (done, told) = loaded(&dsn, || {
        batch(
            &target,
            "alter table tpcb_accounts drop constraint tpcb_accounts_pkey",
        );
    });
    assert_eq!((&told.uncounted, &told.unplanned), (&None, &None));
    let select = told.numbers_of(SELECT).expect("the statement");
    assert!(
        select.calls >= Some(done) && select.rows >= Some(done),
        "{select:?}, {done} done"
    );
    assert!(
        select.seconds > 0.0 && select.blocks_hit > Some(0.0),
        "{select:?}"
    );
    let changed: Vec<&str> = told.changed().map(|one| one.statement.as_str()).collect();
    assert!(
        changed.contains(&SELECT) && changed.len() == 2,
        "{changed:?} of {:?}",
        told.planned
    );
    let mut planned = told.planned.iter();
    let plans = &planned
        .find(|one| one.statement == SELECT)
        .expect("plans")
        .plans;
    assert!(
        plans[0].contains("Index Scan using tpcb_accounts_pkey"),
        "{plans:?}"
    );
    assert!(plans[1].contains("Seq Scan on tpcb_accounts"), "{plans:?}");

    batch(
        &target,
        "create role guest login; grant all on all tables in schema public to guest;
         revoke all on schema elsewhere from public",
    );
    let (_, told) = loaded(&dsn.replace("bench@", "guest@"), || {});
    let why = told.uncounted.clone().expect("a reason");
    assert!(why.contains("permission denied"), "{why}");
}

/// The plans of a statement of the load.
fn plans_of<'a>(told: &'a Statements, statement: &str) -> &'a [String] {
    let mut planned = told.planned.iter();
    let found = planned.find(|one| one.statement == statement);
    &found.expect("it is planned").plans
}

#[test]
fn mariadb_counts_statements_and_shows_a_plan_that_changes() {
    let Some(server) = databases::mariadb_with(&["performance-schema=ON"], &[]) else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let (done, told) = loaded(&dsn, || {});
    assert_eq!((&told.uncounted, &told.unplanned), (&None, &None));
    assert_eq!(told.changed().count(), 0, "{:?}", told.planned);
    let plans = plans_of(&told, SELECT);
    assert!(
        plans[0].contains("on tpcb_accounts using PRIMARY (aid)"),
        "{plans:?}"
    );
    // What is sent as text is counted by its digest. MariaDB counts no prepared statements, MySQL does.
    let commit = told.numbers_of("commit").expect("it is counted");
    assert!(
        commit.calls >= Some(done) && commit.seconds > 0.0,
        "{commit:?}, {done} done"
    );
    assert_eq!((commit.blocks_hit, commit.blocks_read), (None, None));
    let select = told.numbers_of(SELECT);
    assert!(select.is_none_or(|it| it.calls >= Some(done)), "{select:?}");

    let (_, told) = loaded(&dsn, || {
        batch(&target, "alter table tpcb_accounts drop primary key");
    });
    let changed: Vec<&str> = told.changed().map(|one| one.statement.as_str()).collect();
    assert!(
        changed.contains(&SELECT) && changed.len() == 2,
        "{changed:?} of {:?}",
        told.planned
    );
    let plans = plans_of(&told, SELECT);
    assert!(plans[1].contains("ALL on tpcb_accounts"), "{plans:?}");
}

#[test]
fn mariadb_says_why_it_counts_no_statements() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let (_, told) = loaded(&dsn, || {});
    let why = told.uncounted.clone().expect("a reason");
    assert!(why.contains("performance_schema = ON"), "{why}");
    assert_eq!(told.unplanned, None);
    assert!(
        plans_of(&told, SELECT)[0].contains("PRIMARY"),
        "{:?}",
        told.planned
    );
}
