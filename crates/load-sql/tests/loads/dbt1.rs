//! Whole phases of `dbt1` on a file and on real servers.

use sokudo_load_sql::db::{self, Tables, Upkeep};
use sokudo_load_sql::dbt1::Dbt1;
use sokudo_sql::Target;
use sokudo_testkit::databases;

use crate::playing::{all_kept, file, get, play, with_session};

/// Conditions on the tables.
const CONDITIONS: u32 = 8;

fn made(dsn: &str) -> Target {
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Dbt1, 1).expect("tables");
    let checked = db::check(&target, Tables::Dbt1).expect("tables");
    assert_eq!(
        (checked.kept, checked.broken.len()),
        (CONDITIONS, 0),
        "{checked:?}"
    );
    target
}

/// Tables survive what is done to them from time to time.
fn kept_up(target: &Target) {
    for what in [Upkeep::Reindex, Upkeep::Vacuum, Upkeep::Analyze] {
        db::upkeep(target, Tables::Dbt1, what).expect("tables");
    }
    for what in [Upkeep::Reindex, Upkeep::Vacuum, Upkeep::Analyze] {
        let absent = db::upkeep(target, Tables::Tpcb, what);
        assert!(absent.is_err(), "{target} has no such tables");
    }
    let checked = db::check(target, Tables::Dbt1).expect("tables");
    assert!(checked.broken.is_empty(), "{checked:?}");
}

/// Every mix, both loops, and visitors who think.
fn behaves(dsn: &str) {
    for (count, more) in [
        (
            400.0,
            r#""clients":4,"threads":2,"count":"400","mix":"ordering""#,
        ),
        (200.0, r#""clients":4,"count":"200""#),
        (
            100.0,
            r#""clients":4,"count":"100","mix":"browsing","rate":"200/s""#,
        ),
        // Visitors of an application server, which has two sessions.
        (
            100.0,
            r#""clients":12,"pool":2,"count":"100","mix":"ordering""#,
        ),
        (
            100.0,
            r#""clients":4,"count":"100","mix":"ordering","think":"2ms""#,
        ),
    ] {
        let result = play(&Dbt1, &format!(r#""target":"{dsn}",{more}"#), || ());
        assert_eq!(get(&result, "sql.transactions"), count, "{more} {result:?}");
        assert_eq!(get(&result, "sql.errors"), 0.0, "{more} {result:?}");
        assert!(get(&result, "dbt1.bt_per_second") > 0.0, "{result:?}");
        assert!(get(&result, "dbt1.mix_off_ratio") < 0.2, "{result:?}");
        assert_eq!(
            get(&result, "sql.broken_conditions"),
            0.0,
            "{more} {result:?}"
        );
        assert_eq!(get(&result, "sql.kept_conditions"), f64::from(CONDITIONS));
        assert_eq!(get(&result, "sql.lost_acknowledged"), 0.0, "{result:?}");
        let bought = get(&result, "dbt1.buy_confirm");
        assert_eq!(get(&result, "sql.acknowledged"), bought, "{result:?}");
        if more.contains("ordering") {
            assert!(bought > 0.0, "{result:?}");
            all_kept(&result, CONDITIONS);
        }
    }
}

#[test]
fn a_file_is_loaded_and_every_broken_condition_is_found() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target = made(&dsn);
    behaves(&dsn);
    kept_up(&target);
    for (change, undo, broken) in [
        (
            "update dbt1_order_line set ol_qty = ol_qty + 1 where ol_o_id = 1 and ol_number = 1",
            "update dbt1_order_line set ol_qty = ol_qty - 1 where ol_o_id = 1 and ol_number = 1",
            1,
        ),
        (
            "update dbt1_orders set o_total = o_total + 1 where o_id = 2",
            "update dbt1_orders set o_total = o_total - 1 where o_id = 2",
            2,
        ),
        (
            "update dbt1_item set i_stock = i_stock - 100 where i_id = 5",
            "update dbt1_item set i_stock = i_stock + 100 where i_id = 5",
            1,
        ),
        (
            "insert into dbt1_cart_line values (7, 1, 1, 100)",
            "delete from dbt1_cart_line where scl_sc_id = 7",
            1,
        ),
        (
            "insert into dbt1_cart values (7, 5)",
            "delete from dbt1_cart where sc_id = 7",
            1,
        ),
        // Its lines, and its payment.
        ("delete from dbt1_orders where o_id = 3", "", 2),
    ] {
        with_session(&target, async |session| {
            session.batch(change).await.expect(change);
        });
        let checked = db::check(&target, Tables::Dbt1).expect("tables");
        assert_eq!(checked.broken.len(), broken, "{change}: {checked:?}");
        with_session(&target, async |session| {
            session.batch(undo).await.expect(undo);
        });
    }
}

#[test]
fn postgres_behaves() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    let target = made(&dsn);
    behaves(&dsn);
    kept_up(&target);
}

#[test]
fn mariadb_behaves() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    let target = made(&dsn);
    behaves(&dsn);
    kept_up(&target);
}
