//! Knobs, their journal, and who may turn them.

use serde_json::json;
use sokudo_target::client::RemoteError;
use sokudo_target::{BadSetting, KeyFile, Remote, Settings, TargetError, start};

use crate::client::{exchange, lab, settings};

fn refused(result: Result<Vec<sokudo_target::Change>, RemoteError>) -> String {
    match result {
        Err(RemoteError::Refused(refused)) => refused.says.key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn knobs_are_changed_together_journalled_and_put_back() {
    let lab = lab(&["pool.max=10"]);
    let remote = lab.remote();
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()));
        pairs.collect()
    };
    let changes = remote.set(&pairs(&[("pool.max", "50")])).expect("a knob");
    assert_eq!(
        (changes[0].old.clone(), changes[0].new.clone()),
        (json!(10), json!(50))
    );
    remote
        .set(&pairs(&[("pool.order", "lifo"), ("workers.max", "60")]))
        .expect("two knobs");
    assert_eq!(lab.number("/pool/max"), 50.0);
    let journal = || std::fs::read_to_string(lab.target.key().journal()).expect("a journal");
    assert_eq!(journal().lines().count(), 3);

    let refuse = |list: &[(&str, &str)]| refused(remote.set(&pairs(list)));
    assert_eq!(refuse(&[("pool.url", "sim:")]), "error-target-fixed");
    assert_eq!(refuse(&[("pool.size", "1")]), "error-target-unknown");
    assert_eq!(refuse(&[("pool.max", "0")]), "error-target-range");
    assert_eq!(refuse(&[("pool.max", "many")]), "error-target-value");
    assert_eq!(refuse(&[("pool.order", "random")]), "error-target-value");
    assert_eq!(refuse(&[("pool.min", "51")]), "error-target-order");
    assert_eq!(
        refuse(&[("fault.db_sessions", "49")]),
        "error-target-database-limit"
    );
    assert_eq!(
        refuse(&[("pool.max", "20"), ("workers.max", "x")]),
        "error-target-value"
    );
    assert_eq!(lab.number("/pool/max"), 50.0, "all or none");
    assert_eq!(journal().lines().count(), 3);

    let undone = remote.restore(1).expect("undone");
    let keys: Vec<_> = undone.iter().map(|change| change.key.as_str()).collect();
    assert_eq!(keys, ["workers.max", "pool.order"]);
    assert_eq!(lab.number("/workers/max"), 50.0);
    assert_eq!(journal().lines().count(), 1);
    remote.restore(0).expect("undone");
    assert_eq!(lab.number("/pool/max"), 10.0);
    let knobs = remote.knobs().expect("an answer");
    assert!(knobs.changes.is_empty());
    assert_eq!(knobs.settings["pool.max"], json!(10));
}

#[test]
fn who_has_no_key_may_look_and_not_touch() {
    let lab = lab(&[]);
    let admin = lab.target.admin();
    let pair = [("pool.max".to_owned(), "5".to_owned())];
    for key in [None, Some("0123".to_owned())] {
        let stranger = Remote::new(admin, key);
        assert!(stranger.stats().is_ok());
        let told = stranger.set(&pair);
        assert!(matches!(told, Err(RemoteError::Key { .. })), "{told:?}");
        let told = stranger.restore(0);
        assert!(matches!(told, Err(RemoteError::Key { .. })), "{told:?}");
    }
    // A page of another site, and a name that was made to point here.
    for head in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: {admin}\r\nOrigin: http://evil.example\r\n"),
    ] {
        let ask = format!("GET /stats HTTP/1.1\r\n{head}Connection: close\r\n\r\n");
        let answer = exchange(admin, &ask).expect("an answer");
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[test]
fn the_key_lies_in_a_file_as_long_as_the_target_runs() {
    let lab = lab(&[]);
    let found = KeyFile::all(lab.folder.path());
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].admin, found[0].server),
        (lab.target.admin(), lab.at())
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for entry in lab.folder.path().read_dir().expect("a folder").flatten() {
            let mode = entry.metadata().expect("facts").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
        }
    }
    let folder = lab.folder;
    drop(lab.target);
    assert!(KeyFile::all(folder.path()).is_empty());
}

#[test]
fn metrics_are_told_for_prometheus() {
    let lab = lab(&["pool.max=3"]);
    assert_eq!(lab.status("/stress/x?bit=0"), 200);
    let admin = lab.target.admin();
    let ask = format!("GET /metrics HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n");
    let answer = exchange(admin, &ask).expect("an answer");
    for line in [
        "target_pool_max 3",
        "target_workers_active 0",
        "target_connections_accepted_total 1",
        "target_answers_total{status=\"200\"} 1",
        "target_pool_wait_seconds_bucket{le=\"+Inf\"} 2",
        "target_workers_wait_seconds_count 1",
        "# EOF",
    ] {
        assert!(
            answer.lines().any(|told| told == line),
            "{line} in\n{answer}"
        );
    }
}

#[test]
fn a_target_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = |settings: Settings| match start(settings, folder.path()) {
        Err(error) => (error.text().key, error.hint().key),
        Ok(_) => panic!("it started"),
    };
    let with = |pairs: &[&str]| settings(pairs);
    assert_eq!(
        key(with(&["pool.url=oracle:x"])).0,
        "error-target-no-database"
    );
    assert_eq!(
        key(with(&["pool.url=sqlite:/no/such/folder/x"])).0,
        "error-target-database"
    );
    assert_eq!(key(with(&["pool.min=11"])).0, "error-target-order");
    assert_eq!(
        key(with(&["fault.db_sessions=5"])).0,
        "error-target-database-limit"
    );
    assert_eq!(key(with(&["fault.pause_ms=5"])).0, "error-target-order");
    let taken = lab(&[]);
    let same = format!("listen.address={}", taken.at());
    assert_eq!(key(with(&[&same])).0, "error-target-listen");
    let same = format!("admin.address={}", taken.target.admin());
    assert_eq!(key(with(&[&same])).1, "error-target-listen-hint");
    let nowhere = folder.path().join("missing");
    let error = start(with(&[]), &nowhere).err();
    assert!(matches!(error, Some(TargetError::File { .. })), "{error:?}");
}

#[test]
fn files_of_settings_are_read_and_written() {
    let read = |text: &str| Settings::parse(text, "app.toml");
    let settings = read("[pool]\nmax = 40\n[workers]\nmax = 40\ncore = 40\n").expect("a file");
    assert_eq!((settings.pool.max, settings.workers.core), (40, 40));
    assert_eq!(read(&settings.to_toml()), Ok(settings));
    for wrong in [
        "[pool]\nmaximum = 1",
        "[pond]",
        "pool = 3",
        "[pool]\nmax = -1",
        "\u{0}",
    ] {
        assert!(
            matches!(read(wrong), Err(BadSetting::File { .. })),
            "{wrong}"
        );
    }
    assert!(matches!(
        read("[pool]\nmax = 0"),
        Err(BadSetting::Range { .. })
    ));
    assert!(matches!(
        read("[workers]\nmax = 3"),
        Err(BadSetting::Order { .. })
    ));
}
