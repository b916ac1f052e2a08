//! Is a damaged record named and never shown as a good one?

use super::*;

#[test]
fn a_changed_file_is_named_and_not_shown() {
    let root = root();
    for name in [
        SERIES,
        HISTOGRAMS,
        EVENTS,
        FINDINGS,
        "environment/hosta.json",
    ] {
        let path = record(root.path(), &name.replace(['/', '.'], "-"), 2);
        let file = path.join(name);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, &bytes).unwrap();
        match load(&path) {
            Err(StoreError::Corrupt { file: named, .. }) => assert_eq!(named, file),
            other => panic!("{name}: {:?}", other.map(|_| ())),
        }
        assert_eq!(verify(&path).unwrap().changed, [name]);
        fs::remove_file(&file).unwrap();
        if !name.starts_with("environment") {
            assert!(
                matches!(load(&path), Err(StoreError::Corrupt { .. })),
                "{name}"
            );
        }
        assert_eq!(verify(&path).unwrap().missing, [name]);
    }
}

/// Without matching hashes, as in a record that somebody made up, damage reaches the Parquet
/// reader.
#[test]
fn damaged_tables_never_panic() {
    fn table<T>(path: &Path, read: fn(&Path) -> Result<T, StoreError>) {
        let intact = fs::read(path).unwrap();
        for at in 0..intact.len() {
            let mut damaged = intact.clone();
            damaged[at] = damaged[at].wrapping_add(1 + (at % 255) as u8);
            fs::write(path, &damaged).unwrap();
            let _ = guarded(path, read);
            fs::write(path, &intact[..at]).unwrap();
            assert!(guarded(path, read).is_err(), "cut at {at}");
        }
        fs::write(path, &intact).unwrap();
        guarded(path, read).unwrap();
    }
    let root = root();
    let path = record(root.path(), "p", 3);
    table(&path.join(SERIES), tables::series::read);
    table(&path.join(HISTOGRAMS), tables::histograms::read);
    table(&path.join(EVENTS), tables::events::read);
}

#[test]
fn a_newer_or_foreign_run_json_is_refused_with_reason() {
    let root = root();
    let path = record(root.path(), "s", 1);
    let text = fs::read_to_string(path.join(RUN_JSON)).unwrap();
    let with = |schema: &str| {
        fs::write(path.join(RUN_JSON), text.replace("sokudo.run/1", schema)).unwrap();
        load(&path).unwrap_err()
    };
    assert!(matches!(
        with("sokudo.run/2"),
        StoreError::NewerSchema { .. }
    ));
    assert!(matches!(with("something/1"), StoreError::Corrupt { .. }));
    fs::write(path.join(RUN_JSON), &text[..text.len() / 2]).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { file, .. } if file.ends_with(RUN_JSON)));
    fs::remove_file(path.join(RUN_JSON)).unwrap();
    assert!(matches!(load(&path), Err(StoreError::NotARecord { .. })));
}
