//! Databases that cannot be used, or are not whole: a load is refused with the way out, or tells what was missing.

use std::time::Instant;

use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::dbt1::Dbt1;
use sokudo_load_sql::dbt2::Dbt2;
use sokudo_load_sql::dbt3::Dbt3;
use sokudo_load_sql::sqlmix::Sqlmix;
use sokudo_load_sql::tpcb::Tpcb;
use sokudo_model::Refusal;
use sokudo_model::kinds::sqlmix::ERRORS_PER_SECOND;
use sokudo_sql::{Engine, Target};
use sokudo_testkit::databases::{self, DatabaseServer};

use crate::playing::{WORKING, armed, file, get, play, play_until, with_session};

/// Servers of both protocols, each with the settings of its own; those that are not installed are left out.
fn servers(of_postgres: &[&str], of_mariadb: &[&str]) -> Vec<DatabaseServer> {
    let postgres = databases::postgres(of_postgres);
    let mariadb = databases::mariadb_with(of_mariadb, &[]);
    postgres.into_iter().chain(mariadb).collect()
}

/// Refusal of `tpcb` on this database, which tells no password.
fn refused(dsn: &str, more: &str) -> String {
    let refusal: Option<Refusal> = armed(&Tpcb, &format!(r#""target":"{dsn}"{more}"#)).err();
    let refusal = refusal.expect("a refusal");
    assert!(
        refusal.operator_error && refusal.hint.is_some(),
        "{refusal:?}"
    );
    let told = format!("{refusal:?}");
    assert!(!told.contains("geheim"), "{told}");
    told
}

#[test]
fn a_server_without_room_for_all_sessions_is_told_as_full() {
    let of_postgres = ["max_connections=10", "superuser_reserved_connections=0"];
    for server in servers(&of_postgres, &["max-connections=10"]) {
        let dsn = server.dsn();
        let target: Target = dsn.parse().expect("a target");
        db::init(&target, Tables::Tpcb, 1).expect("tables");
        let told = refused(&dsn, r#","clients":40"#);
        assert!(
            told.contains("error-sql-refused-sessions-hint"),
            "{dsn}: {told}"
        );
        // Those that it gave were ended: there is room again.
        let result = play(
            &Tpcb,
            &format!(r#""target":"{dsn}","clients":2,"count":"20""#),
            || (),
        );
        assert_eq!(get(&result, "sql.transactions"), 20.0, "{result:?}");
    }
}

#[test]
fn a_wrong_password_is_told_as_one_on_mariadb() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    with_session(&target, async |session| {
        let password = "alter user bench@'127.0.0.1' identified by 'richtig'; \
             alter user bench@localhost identified by 'richtig'";
        session.batch(password).await.expect("a password");
    });
    let told = refused(&dsn.replace("bench@", "bench:geheim@"), "");
    assert!(told.contains("error-sql-refused-denied-hint"), "{told}");
    let dsn = dsn.replace("bench@", "bench:richtig@");
    let result = play(&Tpcb, &format!(r#""target":"{dsn}","count":"5""#), || ());
    assert_eq!(get(&result, "sql.transactions"), 5.0, "{result:?}");
}

/// Transactions on rows that are not there are failures, and say of which table: a load that found nothing to read would
/// be the fastest of all.
fn misses_rows(dsn: &str) {
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    with_session(&target, async |session| {
        let cut = "delete from tpcb_accounts where aid > 50000";
        session.batch(cut).await.expect("fewer accounts");
    });
    for variant in ["select", "full", "no-branch"] {
        let fields = format!(r#""target":"{dsn}","count":"20","variant":"{variant}""#);
        let result = play(&Tpcb, &fields, || ());
        assert!(get(&result, "sql.errors") > 3.0, "{variant}: {result:?}");
        let told = format!("{:?}", result.flows);
        assert!(
            told.contains("a row of tpcb_accounts is missing"),
            "{variant}: {told}"
        );
        // What could not be carried out whole left nothing.
        assert_eq!(get(&result, "sql.broken_conditions"), 0.0, "{result:?}");
    }
    if target.engine() == Engine::Postgres {
        misses_rows_in_pipelines(dsn);
    }
}

/// Statements that travel together are asked what they found, too. Their commit goes with them: the tables tell of it.
fn misses_rows_in_pipelines(dsn: &str) {
    for (variant, broken) in [("select", 0.0), ("full", 1.0), ("no-branch", 1.0)] {
        let fields =
            format!(r#""target":"{dsn}","count":"20","variant":"{variant}","pipeline":true"#);
        let result = play(&Tpcb, &fields, || ());
        let errors = get(&result, "sql.errors");
        assert!(errors > 3.0, "{variant}: {result:?}");
        assert_eq!(get(&result, "sql.transactions"), 20.0, "{variant}");
        let told = format!("{:?}", result.flows);
        assert!(
            told.contains("a row of tpcb_accounts is missing"),
            "{variant}: {told}"
        );
        assert_eq!(
            get(&result, "sql.broken_conditions"),
            broken,
            "{variant}: {result:?}"
        );
        assert_eq!(
            get(&result, "sql.lost_acknowledged"),
            0.0,
            "{variant}: {result:?}"
        );
    }
}

#[test]
fn rows_that_are_missing_are_told_on_a_file() {
    let place = tempfile::tempdir().expect("a directory");
    misses_rows(&file(&place));
}

#[test]
fn rows_that_are_missing_are_told_by_shop_and_warehouse() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    let mut made = Vec::new();
    for (tables, table, which) in [
        (Tables::Dbt1, "dbt1_item", "i_id > 5000"),
        (Tables::Dbt2, "dbt2_stock", "s_i_id > 50000"),
        (Tables::Dbt2, "dbt2_item", "i_id > 50000"),
        (Tables::Dbt2, "dbt2_customer", "c_id > 1500"),
    ] {
        // Each further table of a workload is asked before those that lack rows already.
        if !made.contains(&tables) {
            db::init(&target, tables, 1).expect("tables");
            made.push(tables);
        }
        with_session(&target, async |session| {
            let cut = format!("delete from {table} where {which}");
            session.batch(&cut).await.expect("fewer rows");
        });
        let fields = format!(r#""target":"{dsn}","count":"60""#);
        let result = match tables {
            Tables::Dbt1 => play(&Dbt1, &fields, || ()),
            _ => play(&Dbt2, &fields, || ()),
        };
        assert!(get(&result, "sql.errors") > 3.0, "{result:?}");
        let told = format!("{:?}", result.flows);
        let says = format!("a row of {table} is missing");
        assert!(told.contains(&says), "{told}");
    }
}

#[test]
fn rows_that_are_missing_are_told_on_servers() {
    for server in servers(&[], &[]) {
        misses_rows(&server.dsn());
    }
}

/// Tables whose keys were not made are not used: each transaction would read all of a table.
#[test]
fn tables_without_their_keys_are_not_whole() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    let target: Target = dsn.parse().expect("a target");
    with_session(&target, async |session| {
        let refuses = "create function refuses() returns event_trigger language plpgsql \
             as $$ begin raise exception 'no room'; end $$; \
             create event trigger refuses on ddl_command_start when tag in ('ALTER TABLE', 'CREATE INDEX') \
             execute function refuses()";
        session.batch(refuses).await.expect("a trigger");
    });
    for (tables, scale) in [
        (Tables::Tpcb, 1),
        (Tables::Dbt2, 1),
        (Tables::Dbt3, 1),
        (Tables::Dbt1, 1),
    ] {
        let failed = db::init(&target, tables, scale).expect_err("no index");
        assert!(format!("{failed:?}").contains("no room"), "{failed:?}");
    }
    for (name, refusal) in [
        ("tpcb", armed(&Tpcb, &of(&dsn)).err()),
        ("dbt1", armed(&Dbt1, &of(&dsn)).err()),
        ("dbt2", armed(&Dbt2, &of(&dsn)).err()),
        ("dbt3", armed(&Dbt3, &of(&dsn)).err()),
    ] {
        let told = format!("{:?}", refusal.expect(name));
        assert!(told.contains("error-sql-no-tables"), "{name}: {told}");
    }
}

fn of(dsn: &str) -> String {
    format!(r#""target":"{dsn}""#)
}

/// A statement that a server does not answer ends with its time, not before, and the session is made again.
#[test]
fn a_statement_without_an_answer_ends_with_its_time() {
    for server in servers(&[], &[]) {
        let dsn = server.dsn();
        let sleeps = match dsn.starts_with("postgres") {
            true => "select pg_sleep(1000);",
            false => "select sleep(1000);",
        };
        let file = serde_json::json!([format!("sleeps.sql\n{sleeps}")]);
        let fields = format!(
            r#""target":"{dsn}","clients":3,"duration":"55s","timeout":"200ms","file":{file}"#
        );
        let begun = Instant::now();
        let (result, _) = play_until(&Sqlmix, &fields, ERRORS_PER_SECOND.name, || ());
        assert_eq!(get(&result, "sql.transactions"), 0.0, "{result:?}");
        let failed = get(&result, "sql.errors");
        assert!(failed >= WORKING as f64, "{failed}: {result:?}");
        // Each client begins one after the one before it has had its time.
        let most = 3.0 * (begun.elapsed().as_secs_f64() / 0.2).ceil();
        assert!(failed <= most, "{failed} of {most}: {result:?}");
        assert_eq!(get(&result, "sql.lost_sessions"), failed, "{result:?}");
        let told = format!("{:?}", result.flows);
        assert!(told.contains("no answer came in time"), "{told}");
    }
}
