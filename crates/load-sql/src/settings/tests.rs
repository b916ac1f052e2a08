//! Settings of real servers, changed and put back.

use std::path::Path;

use sokudo_testkit::databases;

use super::*;

fn profile(name: &str, settings: &[(&str, &str)]) -> Profile {
    let settings = settings.iter();
    Profile {
        name: name.into(),
        settings: settings
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

/// Answer of the server to a question, as text.
fn ask(target: &Target, sql: &str) -> String {
    let runtime = runtime().expect("a runtime");
    let answer = runtime.block_on(async {
        let mut session = Session::connect(target, CONNECT).await?;
        texts::<1>(&mut session, sql).await
    });
    answer.expect("an answer").concat().concat()
}

fn notes(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    files.count()
}

const FILE: &str = "select pg_read_file('postgresql.auto.conf')";

#[test]
fn postgres_has_every_byte_again_also_after_a_program_that_was_killed() {
    let Some(server) = databases::postgres(&["fsync=off"]) else {
        return;
    };
    let target: Target = server.dsn().parse().expect("a database");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let foreign = [
        "work_mem = '5MB'",
        "commit_delay = '7'",
        "log_line_prefix = 'it''s %m'",
    ];
    let runtime = runtime().expect("a runtime");
    runtime.block_on(async {
        let mut session = Session::connect(&target, CONNECT).await.expect("a session");
        for setting in foreign {
            let change = format!("alter system set {setting}");
            session.batch(&change).await.expect("changed");
        }
    });
    let before = ask(&target, FILE);
    let profiles = [
        profile("tuned", &[("commit_delay", "200"), ("max_wal_size", "2GB")]),
        profile("other", &[("wal_compression", "on")]),
    ];
    let held = HeldSettings::hold(&target, &profiles, folder).expect("held");
    let applied = held.apply(&profiles[0]).expect("applied");
    let of = |name: &str| {
        applied
            .iter()
            .find(|one| one.name == name)
            .expect(name)
            .value
            .clone()
    };
    assert_eq!(
        (of("commit_delay"), of("max_wal_size")),
        ("200".into(), "2GB".into())
    );
    assert_eq!(ask(&target, "show commit_delay"), "200");
    assert_eq!(notes(folder), 1);
    assert!(recover(folder).is_empty(), "the holder is alive");
    held.apply(&profiles[1]).expect("applied");
    assert_eq!(ask(&target, "show commit_delay"), "7", "as it stood before");
    assert_eq!(ask(&target, "show wal_compression"), "pglz");
    held.release().expect("put back");
    assert_eq!((ask(&target, FILE), notes(folder)), (before.clone(), 0));
    // A killed program leaves its note and its settings.
    let held = HeldSettings::hold(&target, &profiles, folder).expect("held");
    held.apply(&profiles[0]).expect("applied");
    assert_ne!(ask(&target, FILE), before);
    let mut held = std::mem::ManuallyDrop::new(held);
    drop(held.note.take());
    let recovered = recover(folder);
    assert!(matches!(&recovered[..], [one] if one.put_back.is_ok()));
    assert_eq!((ask(&target, FILE), notes(folder)), (before.clone(), 0));
    assert_eq!(ask(&target, "show max_wal_size"), "1GB");
    for (name, value, key) in [
        ("shared_buffers", "1GB", "error-settings-restart"),
        ("no_such_setting", "1", "error-settings-unknown"),
        ("block_size", "1", "error-settings-fixed"),
    ] {
        let wrong = [profile("wrong", &[(name, value)])];
        let refused = HeldSettings::hold(&target, &wrong, folder).map(|_| ());
        assert_eq!(refused.expect_err(name).says.key, key);
    }
    let wrong = [profile("wrong", &[("commit_delay", "a while")])];
    let held = HeldSettings::hold(&target, &wrong, folder).expect("held");
    let refused = held.apply(&wrong[0]).expect_err("no number");
    assert_eq!(refused.says.key, "error-settings-rejected");
    drop(held);
    assert_eq!((ask(&target, FILE), notes(folder)), (before, 0));
}

#[test]
fn mariadb_has_its_variables_again() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let target: Target = server.dsn().parse().expect("a database");
    let folder = tempfile::tempdir().expect("a folder");
    let value = || ask(&target, "select cast(@@innodb_io_capacity as char)");
    let before = value();
    let profiles = [profile("tuned", &[("innodb_io_capacity", "400")])];
    let held = HeldSettings::hold(&target, &profiles, folder.path()).expect("held");
    held.apply(&profiles[0]).expect("applied");
    assert_eq!(value(), "400");
    held.release().expect("put back");
    assert_eq!(value(), before);
}
