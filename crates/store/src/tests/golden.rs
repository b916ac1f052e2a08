//! Tests that records of earlier versions stay readable.

use super::*;

/// A record written by the first version stays readable in all later ones. To make the golden record of a
/// new format version, run with `SOKUDO_WRITE_GOLDEN=<directory>`.
#[test]
fn the_first_versions_record_stays_readable() {
    if let Some(dir) = std::env::var_os("SOKUDO_WRITE_GOLDEN") {
        let path = record(Path::new(&dir), "golden", 2);
        attach(
            &path,
            "report.html",
            b"<!doctype html><title>golden</title>\n",
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1/golden");
    let record = load(&path).unwrap();
    assert_holds(&record, 2);
    assert_eq!(record.environments["hosta"], environment());
    assert_eq!(record.findings, [finding()]);
    let mut wanted = manifest(&id("golden"));
    wanted.files = record.manifest.files.clone();
    assert_eq!(record.manifest, wanted);
    let verified = verify(&path).unwrap();
    assert!(
        verified.is_intact() && verified.unlisted.is_empty(),
        "{verified:?}"
    );
    let segment = fs::read(path.with_file_name("spool.seg")).unwrap();
    let decoded = spool::decode(&segment);
    assert!(decoded.loss.is_none());
    assert_eq!(decoded.batches, [batch(0), batch(1)]);
}

#[test]
fn a_segments_bytes_are_a_promise() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1/spool.seg");
    if std::env::var_os("SOKUDO_WRITE_GOLDEN").is_some() {
        fs::write(&golden, segment(2).0).unwrap();
    }
    assert_eq!(fs::read(golden).unwrap(), segment(2).0);
}
