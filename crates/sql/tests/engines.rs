//! The same calls on real servers of every engine.

use std::time::Duration;

use sokudo_sql::{Begin, Class, Decimal, Engine, Session, SqlError, Statement, Target, Value};
use sokudo_testkit::databases;

const BOUND: Duration = Duration::from_secs(30);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Checks the behaviour that every engine must have.
async fn behaves(target: &Target) -> Result<(), SqlError> {
    let mut session = Session::connect(target, BOUND).await?;
    assert!(!session.version().await?.is_empty());
    let (number, moment) = match session.engine() {
        Engine::Postgres => ("numeric(12,2)", "timestamp"),
        Engine::MySql => ("decimal(12,2)", "datetime(6)"),
        Engine::Sqlite => ("numeric", "text"),
        Engine::DuckDb => ("decimal(15, 2)", "timestamp"),
    };
    session
        .batch(&format!(
            "drop table if exists t; create table t (id int primary key, name varchar(40), amount {number}, made {moment})"
        ))
        .await?;

    // Bulk load, hostile text included.
    let names = ["a\tb", "x'; drop table t; --", "\\N", "日本\n語", "\\"];
    let mut index = 0_usize;
    let loaded = session
        .load("t", &["id", "name", "amount", "made"], |row| {
            row.int(index as i64)
                .text(names[index])
                .put(Decimal::hundredths(-5 * index as i64).into())
                .put(Value::Time(1_795_539_900_000_001))
                .end();
            index += 1;
            index < names.len()
        })
        .await?;
    assert_eq!(loaded, names.len() as u64);

    // What went in comes out.
    let rows = session
        .rows("select id, name, amount from t order by id", &[])
        .await?;
    for (row, name) in rows.iter().zip(names) {
        assert_eq!(row[1], Value::Text(name.into()));
    }
    let by_id = session
        .prepare("select name, amount, made from t where id = $1")
        .await?;
    let read = session
        .query_first(&by_id, &[3.into()], |row| {
            Ok((
                row.text(0)?.into_owned(),
                row.hundredths(1)?,
                row.text(2)?.into_owned(),
            ))
        })
        .await?;
    let expected = ("日本\n語".into(), -15, "2026-11-24 17:05:00.000001".into());
    assert_eq!(read, Some(expected));

    // Parameters of every kind, twice the same, and no value.
    let insert = session
        .prepare("insert into t (id, name, amount, made) values ($1, $2, $3, $4)")
        .await?;
    let values = [
        10.into(),
        "n".into(),
        Decimal::hundredths(1999).into(),
        Value::Time(0),
    ];
    assert_eq!(session.execute(&insert, &values).await?, 1);
    let nothing = [11.into(), Value::Null, Value::Null, Value::Null];
    session.execute(&insert, &nothing).await?;
    let twice = session
        .prepare("select count(*) from t where id = $1 or (id = $1 and name is null)")
        .await?;
    let count = session
        .query_first(&twice, &[11.into()], |row| row.int(0))
        .await?;
    assert_eq!(count, Some(1));

    // An error leaves the session as it was, and says what it means.
    let twice_the_same = session.execute(&insert, &values).await.expect_err("a key");
    assert_eq!(twice_the_same.class, Class::Constraint, "{twice_the_same}");
    assert!(!twice_the_same.is_lost);
    // Rows are loaded all, or none of them.
    let mut ids = [20, 21, 20].iter().peekable();
    let next = session.load("t", &["id"], |row| {
        row.int(*ids.next().expect("an id")).end();
        ids.peek().is_some()
    });
    let twice_in_load = next.await.expect_err("a key");
    assert_eq!(twice_in_load.class, Class::Constraint, "{twice_in_load}");
    assert!(!twice_in_load.is_lost);
    let left = session
        .rows("select count(*) from t where id >= 20", &[])
        .await?;
    assert_eq!(left, [[Value::Int(0)]]);
    let unknown = session
        .batch("select * from nowhere")
        .await
        .expect_err("no table");
    assert_eq!(unknown.class, Class::Undefined, "{unknown}");

    // What was rolled back is not there, what was committed is.
    for (commits, expected) in [(false, 1), (true, 2)] {
        session.begin(Begin::Write).await?;
        let update = session
            .prepare("update t set name = 'm' where id >= $1")
            .await?;
        assert_eq!(session.execute(&update, &[10.into()]).await?, 2);
        match commits {
            true => session.commit().await?,
            false => session.rollback().await?,
        }
        let left = session
            .prepare("select count(*) from t where name = 'n' or id = 10 or name = 'm'")
            .await?;
        let left = session.query_first(&left, &[], |row| row.int(0)).await?;
        assert_eq!(left, Some(expected));
    }

    if session.engine() == Engine::Postgres {
        pipelines(&mut session, &insert, &values).await?;
    }
    session.batch("drop table t").await
}

/// Many calls under way are there together, or not at all. `values` are there already.
async fn pipelines(
    session: &mut Session,
    insert: &Statement,
    values: &[Value<'_>],
) -> Result<(), SqlError> {
    let rename = session
        .prepare("update t set name = 'p' where id = $1")
        .await?;
    let sets: Vec<[Value<'_>; 1]> = (0..5).map(|id| [id.into()]).collect();
    let steps: Vec<_> = sets.iter().map(|set| (&rename, &set[..])).collect();
    assert_eq!(session.pipeline(&steps).await?, [1; 5]);
    let (all, nobody, empty) = (
        session.prepare("select * from t").await?,
        session.prepare("select * from t where id = 99").await?,
        session.prepare("").await?,
    );
    let there = session.execute(&all, &[]).await?;
    assert!(there > 1);
    let absent = [99.into()];
    let counted = [
        (&all, &[][..]),
        (&rename, &absent[..]),
        (&empty, &[][..]),
        (&nobody, &[][..]),
        (&all, &[][..]),
    ];
    let counts = session.pipeline(&counted).await?;
    assert_eq!(counts, [there, 0, 0, 0, there]);
    let [first, key] = [[1.into()], [2.into()]];
    let failing = [(&rename, &first[..]), (insert, values), (&rename, &key[..])];
    let twice = session.pipeline(&failing).await.expect_err("a key");
    assert_eq!(twice.class, Class::Constraint, "{twice}");
    let short = [(&rename, &[][..])];
    assert!(session.pipeline(&short).await.is_err());
    let renamed = session
        .prepare("select count(*) from t where name = 'p'")
        .await?;
    let renamed = session.query_first(&renamed, &[], |row| row.int(0)).await?;
    assert_eq!(renamed, Some(5));
    Ok(())
}

#[test]
fn sqlite_behaves() {
    let place = tempfile::tempdir().expect("a directory");
    let target = format!("sqlite:{}", place.path().join("a.db").display());
    let target = target.parse().expect("a target");
    runtime().block_on(behaves(&target)).expect("all calls");
}

#[test]
#[cfg(feature = "duckdb")]
fn duckdb_behaves() {
    let place = tempfile::tempdir().expect("a directory");
    let text = format!("duckdb:{}", place.path().join("a.duckdb").display());
    let target = text.parse().expect("a target");
    runtime().block_on(behaves(&target)).expect("behaves");
}

#[test]
fn postgres_behaves_and_a_dead_server_is_told() {
    let Some(mut server) = databases::postgres(&["fsync=off"]) else {
        return;
    };
    let target: Target = server.dsn().parse().expect("a target");
    let runtime = runtime();
    runtime.block_on(behaves(&target)).expect("all calls");
    let mut session = runtime
        .block_on(Session::connect(&target, BOUND))
        .expect("a session");
    server.kill();
    let gone = runtime.block_on(async {
        // The session's own process may answer until it notices.
        for _ in 0..300 {
            if let Err(error) = session.batch("select 1").await {
                return error;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the session outlives its server");
    });
    assert!(gone.is_lost && gone.class == Class::Connection, "{gone}");
    let absent = runtime.block_on(Session::connect(&target, BOUND)).err();
    assert!(absent.is_some_and(|error| error.is_lost));
}

/// Rows are loaded as a file where the settings of the server allow it.
fn behaves_with_files_and_without(dsn: &str) {
    let target = dsn.parse().expect("a target");
    for setting in [
        "set global local_infile = on",
        "set global local_infile = off",
    ] {
        let behaving = async {
            let mut session = Session::connect(&target, BOUND).await?;
            session.batch(setting).await?;
            behaves(&target).await
        };
        runtime().block_on(behaving).expect(setting);
    }
}

#[test]
fn mariadb_behaves() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    behaves_with_files_and_without(&server.dsn());
}

#[test]
fn mysql_behaves() {
    let Some(server) = databases::mysql() else {
        return;
    };
    behaves_with_files_and_without(&server.dsn());
}

/// Sessions of one thread take turns at writing: none holds the thread while it waits.
#[test]
fn writers_on_sqlite_take_turns_on_one_thread() {
    let place = tempfile::tempdir().expect("a directory");
    let target = format!("sqlite:{}", place.path().join("a.db").display());
    let target: Target = target.parse().expect("a target");
    runtime().block_on(async {
        let mut first = Session::connect(&target, BOUND).await.expect("a session");
        let mut second = Session::connect(&target, BOUND).await.expect("a session");
        first
            .batch("create table t (n int)")
            .await
            .expect("a table");
        first.begin(Begin::Write).await.expect("a transaction");
        let both = futures_util::future::join(second.begin(Begin::Write), async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            first.batch("insert into t values (1)").await?;
            first.commit().await
        });
        let (waited, committed) = both.await;
        assert!(waited.is_ok() && committed.is_ok());
        second.rollback().await.expect("its transaction");
    });
}
