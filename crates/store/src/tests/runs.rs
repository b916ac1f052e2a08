//! Tests of finding a run by its name.

use super::*;

#[test]
fn runs_are_listed_newest_first_and_broken_ones_named() {
    let root = root();
    assert!(list(&root.path().join("nothing-here")).unwrap().is_empty());
    for (name, started) in [("b-old", 1), ("a-new", 2)] {
        let writer = RunDir::create(root.path(), &id(name)).unwrap();
        let mut manifest = manifest(&id(name));
        manifest.started_unix_ns = started;
        writer.close(manifest).unwrap();
    }
    let broken = record(root.path(), "c-broken", 0);
    fs::write(broken.join(RUN_JSON), "{").unwrap();
    fs::create_dir(root.path().join("no-record")).unwrap();
    fs::write(root.path().join("a-file"), "").unwrap();
    let entries = list(root.path()).unwrap();
    let ids: Vec<&str> = entries.iter().map(|e| e.id.as_str()).collect();
    assert_eq!(ids, ["a-new", "b-old", "c-broken"]);
    assert_eq!(entries[0].info.as_ref().unwrap().status, RunStatus::Ok);
    assert!(entries[2].info.is_err());
    assert_eq!(
        resolve(root.path(), "latest").unwrap(),
        root.path().join("a-new")
    );
}

#[test]
fn a_run_is_found_by_the_end_of_its_name() {
    let root = root();
    let one = record(root.path(), "20261124-http-bf4d", 0);
    record(root.path(), "20261124-rr-3c11", 0);
    record(root.path(), "20261125-rr-3c11", 0);
    let find = |text: &str| resolve(root.path(), text);
    assert_eq!(find("bf4d").unwrap(), one);
    assert_eq!(find("http-bf4d").unwrap(), one);
    for several in ["3c11", "rr-3c11"] {
        let refused = find(several).unwrap_err();
        let StoreError::Ambiguous { candidates, .. } = &refused else {
            panic!("{refused}");
        };
        assert_eq!(*candidates, ["20261125-rr-3c11", "20261124-rr-3c11"]);
    }
    for no_part in ["4d", "-bf4d", "http", "f4d"] {
        assert!(find(no_part).is_err(), "{no_part}");
    }
}

#[test]
fn a_run_is_found_by_name_beginning_and_path() {
    let root = root();
    let path = record(root.path(), "2026-a-1", 0);
    let longer = record(root.path(), "2026-a-12", 0);
    let find = |text: &str| resolve(root.path(), text);
    assert_eq!(find("2026-a-1").unwrap(), path);
    assert_eq!(find("2026-a-12").unwrap(), longer);
    assert_eq!(find(path.to_str().unwrap()).unwrap(), path);
    assert_eq!(find(path.join(RUN_JSON).to_str().unwrap()).unwrap(), path);
    let several = find("2026").unwrap_err();
    assert!(matches!(&several, StoreError::Ambiguous { candidates, .. } if candidates.len() == 2));
    for text in ["2027", "", ".."] {
        assert!(find(text).is_err(), "{text}");
    }
    let nothing = resolve(&root.path().join("empty"), "latest").unwrap_err();
    assert_eq!(nothing.hint().unwrap().key, "error-store-unknown-hint");
}
