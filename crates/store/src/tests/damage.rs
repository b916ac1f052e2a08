//! Tests that a damaged record is reported and never read as an intact one.

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

/// Without matching hashes, as in a forged record, damage reaches the Parquet
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

/// A pipe without a writer, and a device without an end, in the place of each file.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_not_waited_for() {
    use std::os::unix::fs::symlink;
    let root = root();
    let path = record(root.path(), "p", 2);
    for name in [
        RUN_JSON,
        SERIES,
        HISTOGRAMS,
        EVENTS,
        FINDINGS,
        "environment/hosta.json",
    ] {
        let (file, aside) = (path.join(name), root.path().join("aside"));
        fs::rename(&file, &aside).unwrap();
        let pipe = root.path().join("pipe");
        if !pipe.exists() {
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
        }
        for other in [&pipe, Path::new("/dev/zero")] {
            symlink(other, &file).unwrap();
            assert!(load(&path).is_err(), "{name}");
            assert!(list(root.path()).is_ok(), "{name}");
            fs::remove_file(&file).unwrap();
        }
        fs::rename(&aside, &file).unwrap();
    }
    load(&path).unwrap();
}

/// Links in the place of files that are written or removed, as an untrusted record may hold them.
#[cfg(unix)]
#[test]
fn links_in_a_record_have_nothing_elsewhere_changed() {
    use std::os::unix::fs::symlink;
    let root = root();
    let elsewhere = root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let precious = elsewhere.join("precious.seg");
    fs::write(&precious, "without an end of line").unwrap();
    let runs = root.path().join("runs");
    let path = record(&runs, "p", 2);
    for name in ["report.html.tmp", "run.json.tmp", "findings.json.tmp"] {
        symlink(&precious, path.join(name)).unwrap();
    }
    symlink(&elsewhere, path.join("commands")).unwrap();
    attach(&path, "report.html", b"a report").unwrap();
    save_findings(&path, &[], &[]).unwrap();
    attach(&path, "commands/precious.seg", b"a table").unwrap_err();
    symlink(&elsewhere, path.join("export")).unwrap();
    export::own_dir(&path).unwrap_err();
    symlink(&precious, path.join("series.csv")).unwrap();
    export::to_csv(&load(&path).unwrap(), &path).unwrap();
    symlink(&elsewhere, path.join(SPOOL)).unwrap();
    recover(&path).unwrap_err();
    for name in [SPOOL, "clock"] {
        let path = died(&runs, name, 2);
        let own = path.join(name);
        if own.exists() {
            fs::rename(&own, path.join("own")).unwrap();
        }
        symlink(&elsewhere, &own).unwrap();
        recover(&path).unwrap_err();
    }
    let path = died(&runs, "lock", 2);
    fs::remove_file(path.join(SPOOL).join("lock")).unwrap();
    symlink(elsewhere.join("new"), path.join(SPOOL).join("lock")).unwrap();
    recover(&path).unwrap_err();
    let there: Vec<_> = fs::read_dir(&elsewhere).unwrap().collect();
    assert_eq!(there.len(), 1, "nothing was added");
    let kept = fs::read_to_string(&precious).unwrap();
    assert_eq!(kept, "without an end of line");
}

/// Writes a table of distributions, each of which has these bytes, with or without a dictionary.
fn forged(path: &Path, rows: usize, value: Vec<u8>, plain: &'static [&'static str]) {
    let layout = tables::Layout {
        schema: "message histograms {
            REQUIRED INT64 t0_ns; REQUIRED INT64 t1_ns;
            REQUIRED BYTE_ARRAY host (STRING); REQUIRED BYTE_ARRAY source (STRING);
            REQUIRED BYTE_ARRAY metric (STRING); REQUIRED BYTE_ARRAY labels (STRING);
            REQUIRED BYTE_ARRAY hdr_v2; }",
        delta: &[],
        plain,
    };
    let mut table = tables::TableWriter::create(&Disk::default(), path, &layout).unwrap();
    let times = vec![0; rows];
    let word = |text: &str| vec![tables::text(text); rows];
    let values = vec![parquet::data_type::ByteArray::from(value); rows];
    table
        .row_group(&[
            tables::Column::Int(&times),
            tables::Column::Int(&times),
            tables::Column::Bytes(&word("hosta")),
            tables::Column::Bytes(&word("s")),
            tables::Column::Bytes(&word("m")),
            tables::Column::Bytes(&word("{}")),
            tables::Column::Bytes(&values),
        ])
        .unwrap();
    table.finish().unwrap();
}

#[test]
fn a_small_table_that_unpacks_to_gigabytes_is_refused() {
    let root = root();
    let path = root.path().join("forged.parquet");
    let refused = |rows: usize, bytes: usize, plain: &'static [&'static str], part: &str| {
        forged(&path, rows, vec![0; bytes], plain);
        let packed = fs::metadata(&path).unwrap().len();
        assert!(packed < 1 << 20, "{packed} bytes are not a small table");
        let why = guarded(&path, tables::histograms::read).unwrap_err();
        assert!(why.to_string().contains(part), "{why}");
    };
    // One page, and many rows that share one value of a dictionary.
    refused(1, 65 << 20, &["hdr_v2"], "larger than the 64 MiB");
    refused(1000, 900 << 10, &[], "far more than a record of its size");
    forged(&path, 1000, vec![0; 1 << 10], &[]);
    assert_eq!(
        guarded(&path, tables::histograms::read).unwrap().len(),
        1000
    );
}

/// A Parquet file with this schema in its foot, and nothing else.
fn with_schema(path: &Path, elements: &[u8], count: u32) {
    // Version 1, and a list of structures whose length follows.
    let mut foot = vec![0x15, 0x02, 0x19, 0xfc];
    let mut left = count;
    while left >= 0x80 {
        foot.push(left as u8 | 0x80);
        left >>= 7;
    }
    foot.push(left as u8);
    foot.extend(elements);
    let size = u32::try_from(foot.len()).unwrap().to_le_bytes();
    fs::write(path, [b"PAR1", &foot[..], &size, b"PAR1"].concat()).unwrap();
}

/// The library builds a schema by recursion: what it overflows is the stack of the whole program.
#[test]
fn a_schema_that_is_nested_or_claims_too_many_children_is_refused() {
    let root = root();
    let path = root.path().join("forged.parquet");
    let refused = |part: &str| {
        let why = guarded(&path, tables::series::read).unwrap_err();
        assert!(why.to_string().contains(part), "{why}");
    };
    // Required, named `a`, with one child.
    let nested = [0x35, 0x00, 0x18, 0x01, b'a', 0x15, 0x02, 0x00];
    with_schema(&path, &nested.repeat(300_000), 300_000);
    refused("more elements");
    // The same with 2147483647 children each.
    let claiming = [
        0x35, 0x00, 0x18, 0x01, b'a', 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x00,
    ];
    with_schema(&path, &claiming.repeat(60), 60);
    refused("more children");
    // Hidden behind a field that readers skip.
    let mut hidden = nested.to_vec();
    hidden.splice(0..0, [0xb9, 0x10]);
    with_schema(&path, &hidden, 1);
    refused("unknown field");
}

/// Moments that no run has: whoever reads the record subtracts and adds them.
#[test]
fn moments_of_another_age_are_refused_and_name_their_file() {
    let root = root();
    let path = record(root.path(), "far", 2);
    let text = fs::read_to_string(path.join(RUN_JSON)).unwrap();
    let (begin, rest) = text.split_once("\"t0_ns\": ").unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    for far in [i64::MIN, i64::MAX] {
        fs::write(
            path.join(RUN_JSON),
            format!("{begin}\"t0_ns\": {far},{rest}"),
        )
        .unwrap();
        let why = load(&path).unwrap_err().to_string();
        assert!(
            why.contains(RUN_JSON) && why.contains("from the begin"),
            "{why}"
        );
    }
    let path = root.path().join("late");
    let mut writer = RunDir::create(root.path(), &id("late")).unwrap();
    let mut late = batch(0);
    late.series[0].points[0].0 = i64::MAX;
    writer.append(&late).unwrap();
    writer.close(manifest(&id("late"))).unwrap();
    let why = load(&path).unwrap_err().to_string();
    assert!(
        why.contains(SERIES) && why.contains("from the begin"),
        "{why}"
    );
}

proptest! {
    #[test]
    fn whatever_stands_in_a_foot_is_refused(foot in prop::collection::vec(any::<u8>(), 0..200), begins: bool) {
        let root = root();
        let path = root.path().join("forged.parquet");
        let begin: &[u8] = if begins { &[0x15, 0x02, 0x19] } else { &[] };
        let foot = [begin, &foot].concat();
        let size = (foot.len() as u32).to_le_bytes();
        fs::write(&path, [b"PAR1", &foot[..], &size, b"PAR1"].concat()).unwrap();
        prop_assert!(guarded(&path, tables::series::read).is_err());
    }
}

#[test]
fn json_of_more_objects_than_any_record_has_is_refused_before_it_is_understood() {
    let root = root();
    let path = record(root.path(), "j", 1);
    let text = fs::read_to_string(path.join(RUN_JSON)).unwrap();
    for (many, part) in [("{},", "objects"), ("0,", "values")] {
        let many = many.repeat(9 << 20);
        let forged = text.replacen('{', &format!("{{\"x\": [{many}0],"), 1);
        fs::write(path.join(RUN_JSON), forged).unwrap();
        let why = load(&path).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }
    // What stands in texts does not count.
    let forged = text.replacen(
        '{',
        &format!("{{\"x\": \"{}\\\"\",", "{,".repeat(9 << 20)),
        1,
    );
    fs::write(path.join(RUN_JSON), forged).unwrap();
    load(&path).unwrap();
}
