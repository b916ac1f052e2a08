//! Sessions on a DuckDB that is built in.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::DuckDb;
use crate::error::{Class, SqlError};
use crate::row::Row;
use crate::value::Value;

fn open(folder: &tempfile::TempDir) -> DuckDb {
    DuckDb::open(&folder.path().join("a.duckdb")).expect("a database")
}

fn first(session: &mut DuckDb, sql: &str) -> Value<'static> {
    let mut first = Value::Null;
    let mut each = |row: &Row<'_>| -> Result<(), SqlError> {
        first = row.value(0)?.into_owned();
        Ok(())
    };
    session.query(sql, &[], &mut each).expect(sql);
    first
}

#[test]
fn sessions_of_one_file_share_a_database_and_conflicts_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (open(&folder), open(&folder));
    one.batch("create table t (k bigint, d date, a decimal(15, 2))")
        .expect("a table");
    let mut at = 0;
    let mut next = |row: &mut crate::RowWriter| {
        at += 1;
        row.int(at).text("1995-03-07");
        row.put(crate::Decimal::hundredths(1234).into()).end();
        at < 3000
    };
    let loaded = one.load("t", &["k", "d", "a"], &mut next).expect("rows");
    assert_eq!(loaded, 3000);
    assert_eq!(
        first(&mut other, "select count(*) from t"),
        Value::Int(3000)
    );
    let day = first(&mut other, "select max(d) from t");
    assert_eq!(day, Value::Text("1995-03-07".into()));
    let sum = first(&mut other, "select sum(k) from t");
    assert_eq!(sum, Value::Int(3000 * 3001 / 2));
    for session in [&mut one, &mut other] {
        session.batch("begin transaction").expect("a transaction");
    }
    let change = "update t set a = 0 where k = $1";
    let key = [Value::Int(7)];
    assert_eq!(one.execute(change, &key).expect("a change"), 1);
    let refused = other.execute(change, &key).expect_err("a conflict");
    assert!(refused.class.is_transient(), "{refused:?}");
    let unknown = one.batch("select * from nothing").expect_err("no table");
    assert_eq!(unknown.class, Class::Undefined, "{unknown:?}");
}

#[test]
fn statements_end_at_their_limit_and_reach_no_other_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = open(&folder);
    let stop = Arc::new(AtomicBool::new(false));
    session
        .limit(Duration::from_millis(300), stop)
        .expect("a limit");
    let endless =
        "select count(*) from range(1000000) a, range(1000000) b where a.range % 7 = b.range % 11";
    let ended = session.batch(endless).expect_err("a limit");
    assert_eq!(ended.class, Class::Cancelled, "{ended:?}");
    assert_eq!(first(&mut session, "select 1"), Value::Int(1));
    let other = folder.path().join("b.csv");
    std::fs::write(&other, "a\n1\n").expect("a file");
    let foreign = format!("select * from read_csv('{}')", other.display());
    session.batch(&foreign).expect_err("another file");
}
