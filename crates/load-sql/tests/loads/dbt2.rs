//! Whole phases of `dbt2` on a file and on real servers.

use std::time::Instant;

use sokudo_load_sql::db::{self, How, Tables};
use sokudo_load_sql::dbt2::Dbt2;
use sokudo_model::PhaseResult;
use sokudo_sql::{Session, Target, Value};
use sokudo_testkit::databases;

use crate::playing::{all_kept, armed, file, get, play, with_session};

/// Makes the tables; their rows are those of the specification, and all conditions hold.
fn made(dsn: &str, warehouses: u32) -> Target {
    let target: Target = dsn.parse().expect("a target");
    let begun = Instant::now();
    let loaded = db::init(&target, Tables::Dbt2, warehouses).expect("tables");
    let seconds = begun.elapsed().as_secs_f64();
    println!("{}: {} rows in {seconds:.1} s", target, loaded.rows);
    // Without order lines, of which each order has 5 to 15.
    let sure = 100_000 + u64::from(warehouses) * (1 + 10 + 100_000 + 3 * 30_000 + 9_000);
    let lines = loaded.rows - sure;
    let each = u64::from(warehouses) * 30_000;
    assert!(
        (each * 9..each * 11).contains(&lines),
        "{lines} order lines"
    );
    let begun = Instant::now();
    let checked = db::check(&target, Tables::Dbt2).expect("tables");
    println!("12 conditions in {:.1} s", begun.elapsed().as_secs_f64());
    assert_eq!((checked.kept, checked.broken.len()), (12, 0), "{checked:?}");
    target
}

fn sum_of_kinds(result: &PhaseResult) -> f64 {
    let kinds = [
        "new_orders",
        "payments",
        "order_statuses",
        "deliveries",
        "stock_levels",
    ];
    let counts = kinds.map(|kind| get(result, &format!("dbt2.{kind}")));
    counts.iter().sum()
}

/// Both loops, and users who pause.
fn behaves(dsn: &str) {
    for (count, more) in [
        (300.0, r#""clients":4,"threads":2,"count":"300""#),
        (40.0, r#""clients":4,"count":"40","rate":"100/s""#),
        (20.0, r#""clients":20,"count":"20","pace":0.01"#),
    ] {
        let result = play(&Dbt2, &format!(r#""target":"{dsn}",{more}"#), || ());
        assert_eq!(get(&result, "sql.transactions"), count, "{more} {result:?}");
        assert_eq!(sum_of_kinds(&result), count, "{more} {result:?}");
        assert_eq!(get(&result, "sql.errors"), 0.0, "{more} {result:?}");
        assert!(get(&result, "dbt2.new_orders_per_minute") > 0.0);
        assert!(get(&result, "dbt2.new_order_seconds.p99") > 0.0);
        assert!(get(&result, "sql.client_cpu_seconds_per_transaction") > 0.0);
        let is_paced = result.summary.contains_key("dbt2.pace_ratio");
        assert_eq!(is_paced, more.contains("pace"), "{result:?}");
        all_kept(&result, 12);
    }
}

/// Numbers of a statement's only row.
async fn counted(session: &mut Session, sql: &str) -> i64 {
    let rows = session.rows(sql, &[]).await.expect(sql);
    match rows.into_iter().flatten().next() {
        Some(Value::Int(count)) => count,
        other => panic!("{sql}: {other:?}"),
    }
}

/// One after the other in one file, whose tables take a while to make: a load, what is found when its results are
/// changed behind its back, and a load that finds a database which forgets.
#[test]
fn a_file_is_loaded_and_every_broken_condition_is_found() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target = made(&dsn, 1);
    behaves(&dsn);
    let of_first = "w_id = 1 and o_d_id = 1 and o_id = 1";
    let order = of_first.replace("w_id", "o_w_id");
    for (change, undo, broken) in [
        (
            "update dbt2_warehouse set w_ytd = w_ytd + 1",
            "update dbt2_warehouse set w_ytd = w_ytd - 1",
            2,
        ),
        (
            "update dbt2_district set d_next_o_id = d_next_o_id + 1 where d_id = 3",
            "update dbt2_district set d_next_o_id = d_next_o_id - 1 where d_id = 3",
            1,
        ),
        (
            "update dbt2_new_order set no_o_id = no_o_id + 100000 where no_d_id = 2 and no_o_id = 2900",
            "update dbt2_new_order set no_o_id = no_o_id - 100000 where no_d_id = 2 and no_o_id = 102900",
            3,
        ),
        (
            &format!("update dbt2_orders set o_ol_cnt = o_ol_cnt + 1 where {order}"),
            &format!("update dbt2_orders set o_ol_cnt = o_ol_cnt - 1 where {order}"),
            2,
        ),
        (
            &format!("update dbt2_orders set o_carrier_id = null where {order}"),
            &format!("update dbt2_orders set o_carrier_id = 1 where {order}"),
            2,
        ),
        (
            "update dbt2_district set d_ytd = d_ytd + 1 where d_id = 4",
            "update dbt2_district set d_ytd = d_ytd - 1 where d_id = 4",
            2,
        ),
        (
            "update dbt2_customer set c_balance = c_balance + 1 where c_id = 7 and c_d_id = 1",
            "update dbt2_customer set c_balance = c_balance - 1 where c_id = 7 and c_d_id = 1",
            2,
        ),
        (
            "update dbt2_customer set c_delivery_cnt = c_delivery_cnt + 1 where c_id = 7 and c_d_id = 1",
            "update dbt2_customer set c_delivery_cnt = c_delivery_cnt - 1 where c_id = 7 and c_d_id = 1",
            1,
        ),
    ] {
        with_session(&target, async |session| {
            session.batch(change).await.expect(change);
        });
        let checked = db::check(&target, Tables::Dbt2).expect("tables");
        assert_eq!(checked.broken.len(), broken, "{change}: {checked:?}");
        let rows = |how: &How| matches!(how, How::Rows(1 | 2));
        assert!(
            checked.broken.iter().all(|one| rows(&one.how)),
            "{checked:?}"
        );
        with_session(&target, async |session| {
            session.batch(undo).await.expect(undo);
        });
    }
    with_session(&target, async |session| {
        let orders = "select count(*) from dbt2_orders where client is not null";
        assert!(counted(session, orders).await > 100);
        let trigger = "create trigger forgets after insert on dbt2_history when new.sequence = 5 \
             begin delete from dbt2_history where rowid = new.rowid; end";
        session.batch(trigger).await.expect("a trigger");
    });
    // Whether the fifth mark is that of a payment is a matter of the mix: several clients make it nearly sure.
    let fields = format!(r#""target":"{dsn}","count":"200","clients":10"#);
    let result = play(&Dbt2, &fields, || ());
    let lost = get(&result, "sql.lost_acknowledged");
    assert!((1.0..=10.0).contains(&lost), "{result:?}");
    assert!(get(&result, "sql.broken_conditions") > 0.0, "{result:?}");
}

#[test]
fn tables_of_another_load_are_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let refusal = armed(&Dbt2, &format!(r#""target":"{dsn}""#)).err();
    let told = format!("{:?}", refusal.expect("a refusal"));
    assert!(
        told.contains("error-sql-no-tables") && told.contains("dbt2"),
        "{told}"
    );
}

#[test]
fn postgres_keeps_what_it_acknowledged_when_it_is_killed() {
    let Some(mut server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    made(&dsn, 2);
    behaves(&dsn);
    let fields = format!(r#""target":"{dsn}","clients":8,"duration":"55s""#);
    let result = play(&Dbt2, &fields, || {
        server.kill();
        server.start_again();
    });
    assert!(get(&result, "sql.lost_sessions") > 0.0, "{result:?}");
    all_kept(&result, 12);
}

#[test]
fn mariadb_behaves() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    made(&dsn, 1);
    behaves(&dsn);
}
