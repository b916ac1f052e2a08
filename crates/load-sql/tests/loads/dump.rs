//! Dumps of a file and of real servers, restored and compared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::dump::{Dump, Limit, dump};
use sokudo_sql::{Engine, Target};
use sokudo_testkit::databases;

use crate::playing::{BOUND, file, with_session};

/// A password that holds what means something in URLs, in files of options and in files of passwords.
const SECRET: &str = r#"g"e:h'e\i#m; "#;
const IN_URL: &str = "g%22e%3Ah%27e%5Ci%23m%3B%20";

fn made(dsn: &str) -> Target {
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    target
}

fn limit(stop: &AtomicBool) -> Limit<'_> {
    Limit { stop, bound: BOUND }
}

/// Names of scratch databases on the server.
fn scratch(target: &Target) -> Vec<String> {
    let names = match target.engine() {
        Engine::Postgres => "select datname::text from pg_database where datname like 'sokudo%'",
        Engine::MySql => {
            "select schema_name from information_schema.schemata where schema_name like 'sokudo%'"
        }
        Engine::Sqlite | Engine::DuckDb => return Vec::new(),
    };
    let rows = with_session(target, async |session| session.rows(names, &[]).await);
    let rows = rows.expect("names").into_iter().flatten();
    rows.map(|name| format!("{name:?}")).collect()
}

/// Dumped rows come back; a change after the dump shows in its table only.
fn come_back(target: &Target) {
    let stop = AtomicBool::new(false);
    let dumped: Dump<'_> = dump(target, Tables::Tpcb, limit(&stop)).expect("a dump");
    assert!(dumped.bytes > 10_000, "{}", dumped.bytes);
    let restored = dumped.restore().expect("a restore");
    let told = format!("{:?}", restored.tables);
    let accounts = restored
        .tables
        .iter()
        .find(|it| it.table == "tpcb_accounts");
    assert_eq!(accounts.expect("a table").restored.rows, 100_000, "{told}");
    assert_eq!(restored.tables.len(), 4, "{told}");
    assert!(restored.tables.iter().all(|it| it.is_same()), "{told}");
    assert_eq!(scratch(target), Vec::<String>::new());

    let changed = "update tpcb_tellers set tbalance = tbalance + 1 where tid = 7";
    let done = with_session(target, async |session| session.batch(changed).await);
    done.expect("a statement");
    let restored = dumped.restore().expect("a restore");
    let different = restored.tables.iter().filter(|it| !it.is_same());
    let different: Vec<&str> = different.map(|it| it.table).collect();
    assert_eq!(different, ["tpcb_tellers"]);
    assert_eq!(scratch(target), Vec::<String>::new());
}

/// A dump that may not go on, and one without tables, end with their reasons.
fn end_in_time(target: &Target) {
    let stop = AtomicBool::new(false);
    let short = Limit {
        bound: Duration::ZERO,
        ..limit(&stop)
    };
    let refused = dump(target, Tables::Tpcb, short).err().expect("no time");
    assert_eq!(refused.says.key, "error-dump-long");
    let dumped = dump(target, Tables::Tpcb, limit(&stop)).expect("a dump");
    stop.store(true, Ordering::Relaxed);
    let refused = dumped.restore().err().expect("it is to stop");
    assert_eq!(refused.says.key, "error-interrupted");
    assert_eq!(scratch(target), Vec::<String>::new());
    stop.store(false, Ordering::Relaxed);
    let refused = dump(target, Tables::Dbt3, limit(&stop));
    let refused = refused.err().expect("no tables");
    assert_eq!(refused.says.key, "error-sql-no-tables");
}

fn check(target: &Target) {
    come_back(target);
    end_in_time(target);
}

#[test]
fn a_file_is_dumped_and_comes_back() {
    let place = tempfile::tempdir().expect("a directory");
    check(&made(&file(&place)));
}

#[test]
fn tables_on_postgres_are_dumped_and_come_back() {
    let hba = "host all bench 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    let settings = ["hba_file=hba.conf"];
    let Some(server) = databases::postgres_with(&settings, &[("hba.conf", hba)]) else {
        return;
    };
    let target = made(&server.dsn());
    let literal = SECRET.replace('\'', "''");
    let role = format!("create role owner superuser login password '{literal}'");
    let done = with_session(&target, async |session| session.batch(&role).await);
    done.expect("a role");
    let dsn = server.dsn().replace("bench@", &format!("owner:{IN_URL}@"));
    check(&dsn.parse().expect("a target"));
}

#[test]
fn tables_on_mariadb_are_dumped_and_come_back() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let target = made(&server.dsn());
    let literal = SECRET.replace('\\', "\\\\").replace('\'', "''");
    let users = ["bench@'127.0.0.1'", "bench@localhost"]
        .map(|user| format!("alter user {user} identified by '{literal}'"));
    let done = with_session(&target, async |session| {
        session.batch(&users.join("; ")).await
    });
    done.expect("a password");
    let dsn = server.dsn().replace("bench@", &format!("bench:{IN_URL}@"));
    check(&dsn.parse().expect("a target"));
}

/// Certificate and key of a server, which is its own authority, in PEM.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]);
    let made = made.expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// The programs encrypt as the session does: these servers refuse who does not.
fn come_back_encrypted(dsn: &str, options: [&str; 2], certificate: &str) {
    let place = tempfile::tempdir().expect("a directory");
    let authority = place.path().join("authority.pem");
    std::fs::write(&authority, certificate).expect("a file");
    let dsn = dsn.replace("127.0.0.1", "localhost");
    for options in options {
        let options = options.replace("FILE", &authority.display().to_string());
        let target = made(&format!("{dsn}?{options}"));
        let stop = AtomicBool::new(false);
        let restored = dump(&target, Tables::Tpcb, limit(&stop)).and_then(|dump| dump.restore());
        let restored = restored.unwrap_or_else(|refused| panic!("{options}: {refused:?}"));
        assert!(restored.tables.iter().all(|it| it.is_same()), "{options}");
    }
}

#[test]
fn programs_encrypt_as_sessions_do_on_postgres() {
    let (certificate, key) = certificate();
    let settings = [
        "ssl=on",
        "ssl_cert_file=../own.pem",
        "ssl_key_file=../key.pem",
        "hba_file=hba.conf",
    ];
    let files = [
        ("own.pem", certificate.as_str()),
        ("key.pem", key.as_str()),
        ("hba.conf", "hostssl all all 127.0.0.1/32 trust\n"),
    ];
    let Some(server) = databases::postgres_with(&settings, &files) else {
        return;
    };
    let options = ["sslmode=require", "sslmode=verify-full&sslrootcert=FILE"];
    come_back_encrypted(&server.dsn(), options, &certificate);
}

#[test]
fn programs_encrypt_as_sessions_do_on_mariadb() {
    let (certificate, key) = certificate();
    let settings = [
        "ssl-cert=../own.pem",
        "ssl-key=../key.pem",
        "require-secure-transport=ON",
    ];
    let files = [("own.pem", certificate.as_str()), ("key.pem", key.as_str())];
    let Some(server) = databases::mariadb_with(&settings, &files) else {
        return;
    };
    let options = ["ssl-mode=PREFERRED", "ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE"];
    come_back_encrypted(&server.dsn(), options, &certificate);
}
