//! Whole phases of `tpcb` on a file and on real servers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::tpcb::Tpcb;
use sokudo_sql::{Target, Value};
use sokudo_testkit::databases::{self, DatabaseServer};

use crate::playing::{BOUND, all_kept, armed, file, get, play, with_session};

/// Every variant and both loops give the numbers that were asked for.
fn behaves(dsn: &str) {
    let target = format!(r#""target":"{dsn}","clients":4"#);
    for more in [
        r#""count":"100""#,
        r#""count":"100","variant":"no-branch""#,
        r#""count":"100","threads":2"#,
        r#""count":"50","rate":"200/s""#,
    ] {
        let result = play(&Tpcb, &format!("{target},{more}"), || ());
        let count = if more.contains("rate") { 50.0 } else { 100.0 };
        assert_eq!(get(&result, "sql.transactions"), count, "{more} {result:?}");
        assert_eq!(get(&result, "sql.acknowledged"), count, "{more}");
        assert!(get(&result, "sql.client_cpu_seconds_per_transaction") > 0.0);
        all_kept(&result, 3);
    }
    let select = play(
        &Tpcb,
        &format!(r#"{target},"count":"100","variant":"select""#),
        || (),
    );
    assert_eq!(get(&select, "sql.transactions"), 100.0);
    assert!(!select.summary.contains_key("sql.acknowledged"));
}

#[test]
fn a_file_of_its_own_is_made_loaded_and_checked() {
    let result = play(&Tpcb, r#""count":"50","clients":2"#, || ());
    assert_eq!(get(&result, "sql.transactions"), 50.0);
    assert_eq!(get(&result, "tpcb.scale"), 1.0);
    all_kept(&result, 3);
}

/// Clients of one thread take turns, although SQLite never lets them wait.
#[test]
fn clients_on_a_file_take_turns() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    play(
        &Tpcb,
        &format!(r#""target":"{dsn}","clients":4,"count":"200""#),
        || (),
    );
    let counts = with_session(&target, async |session| {
        let sql = "select count(*) from tpcb_history group by client order by client";
        let rows = session.rows(sql, &[]).await.expect("rows");
        rows.into_iter().flatten().collect::<Vec<_>>()
    });
    assert_eq!(counts, vec![Value::Int(50); 4]);
}

/// A database that forgets a commit and repeats another one is caught, whatever it acknowledged.
#[test]
fn lost_and_repeated_commits_are_found() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    with_session(&target, async |session| {
        let triggers = "create trigger forgets after insert on tpcb_history when new.sequence = 5 \
             begin delete from tpcb_history where rowid = new.rowid; end; \
             create trigger repeats after insert on tpcb_history when new.sequence = 7 \
             begin insert into tpcb_history select * from tpcb_history where rowid = new.rowid; end";
        session.batch(triggers).await.expect("triggers");
    });
    let result = play(&Tpcb, &format!(r#""target":"{dsn}","count":"20""#), || ());
    assert_eq!(get(&result, "sql.lost_acknowledged"), 1.0, "{result:?}");
    assert_eq!(get(&result, "sql.duplicated_marks"), 1.0, "{result:?}");
    assert_eq!(get(&result, "sql.broken_conditions"), 3.0, "{result:?}");
    assert_eq!(
        db::check(&target, Tables::Tpcb)
            .expect("tables")
            .broken
            .len(),
        3
    );
}

#[test]
fn absent_tables_and_absent_servers_are_refused_without_secrets() {
    let place = tempfile::tempdir().expect("a directory");
    let refused = |dsn: &str| {
        let refusal = armed(&Tpcb, &format!(r#""target":"{dsn}""#))
            .err()
            .expect("a refusal");
        assert!(refusal.operator_error && refusal.hint.is_some());
        let told = format!("{refusal:?}");
        assert!(!told.contains("geheim"), "{told}");
        told
    };
    assert!(refused(&file(&place)).contains("error-sql-no-tables"));
    let dsn = file(&place);
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 1).expect("tables");
    let pipeline = armed(&Tpcb, &format!(r#""target":"{dsn}","pipeline":true"#));
    let told = format!("{:?}", pipeline.err().expect("a refusal"));
    assert!(told.contains("error-sql-pipeline"), "{told}");
    let nobody = refused("postgres://bench:geheim@127.0.0.1:1/bench");
    assert!(
        nobody.contains("error-sql-refused-connection-hint"),
        "{nobody}"
    );
}

#[test]
fn postgres_keeps_what_it_acknowledged_when_it_is_killed() {
    let Some(mut server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 2).expect("tables");
    behaves(&dsn);
    for variant in ["full", "no-branch", "select"] {
        let pipeline =
            format!(r#""pipeline":true,"variant":"{variant}","clients":4,"count":"100""#);
        let result = play(&Tpcb, &format!(r#""target":"{dsn}",{pipeline}"#), || ());
        assert_eq!(get(&result, "sql.transactions"), 100.0, "{result:?}");
        if variant != "select" {
            assert_eq!(get(&result, "sql.acknowledged"), 100.0, "{variant}");
            all_kept(&result, 3);
        }
    }
    outlives_a_kill(&mut server);
}

/// The server is killed while transactions are under way, and started again: the load goes on, and every commit that was
/// acknowledged is there.
fn outlives_a_kill(server: &mut DatabaseServer) {
    let fields = format!(
        r#""target":"{}","clients":4,"duration":"55s""#,
        server.dsn()
    );
    let result = play(&Tpcb, &fields, || {
        server.kill();
        server.start_again();
    });
    assert!(get(&result, "sql.lost_sessions") > 0.0, "{result:?}");
    assert!(get(&result, "sql.made_connections") > 0.0, "{result:?}");
    all_kept(&result, 3);
}

#[test]
fn mariadb_keeps_what_it_acknowledged_when_it_is_killed() {
    let Some(mut server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 1).expect("tables");
    behaves(&dsn);
    outlives_a_kill(&mut server);
}

#[test]
fn mysql_keeps_what_it_acknowledged_when_it_is_killed() {
    let Some(mut server) = databases::mysql() else {
        return;
    };
    let dsn = server.dsn();
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 1).expect("tables");
    behaves(&dsn);
    outlives_a_kill(&mut server);
}

/// Lets everybody in and answers nothing more; returns its port.
fn mute_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let mut sessions = Vec::new();
        while let Ok((mut session, _)) = listener.accept() {
            // Authentication that is done, and "ready".
            let welcome = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
            let heard = session.read(&mut [0; 1024]);
            let greeted = heard.and_then(|_| session.write_all(welcome));
            sessions.push((session, greeted));
        }
    });
    port
}

#[test]
fn a_server_that_falls_silent_before_the_load_is_refused() {
    let target = format!(
        "postgres://u:p@127.0.0.1:{}/d?sslmode=disable",
        mute_server()
    );
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let fields = format!(r#""target":"{target}","clients":2"#);
        let refused = armed(&Tpcb, &fields)
            .err()
            .map(|why| format!("{:?}", why.says));
        // The test may have failed by then.
        let _ = say.send(refused);
    });
    let refused = said.recv_timeout(BOUND).expect("an end of the waiting");
    let refused = refused.expect("a refusal");
    assert!(refused.contains("no answer came in time"), "{refused}");
}
