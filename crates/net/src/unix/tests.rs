use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use super::*;
use crate::stream::StreamError;

const BOUND: Duration = Duration::from_secs(30);

#[test]
fn names_are_read_and_written_alike() {
    for text in ["/run/some.sock", "relative", "@abstract"] {
        assert_eq!(Name::parse(text).to_string(), text);
    }
}

#[test]
fn a_path_vanishes_with_its_listener_and_a_stale_one_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let name = Name::Path(path.clone());
    // What a killed listener leaves.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = LocalListener::bind(&name).unwrap();
    let mut near = connect(&name, BOUND).unwrap();
    let mut far = listener.accept(BOUND).unwrap().unwrap();
    near.write_all(b"hello").unwrap();
    let mut out = [0; 5];
    far.read_exact(&mut out).unwrap();
    assert_eq!(&out, b"hello");
    // A living one is not replaced.
    match LocalListener::bind(&name) {
        Err(why @ StreamError::Local { .. }) => assert!(why.hint().is_some()),
        _ => panic!("two listeners on one path"),
    }
    drop(listener);
    assert!(!path.exists());
}

#[test]
fn a_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("precious");
    std::fs::write(&path, "content").unwrap();
    assert!(LocalListener::bind(&Name::Path(path.clone())).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"content");
}

#[test]
fn names_that_are_too_long_are_an_error() {
    for name in [
        Name::Path("x".repeat(500).into()),
        Name::Abstract("x".repeat(500)),
    ] {
        match connect(&name, BOUND) {
            Err(StreamError::Local { why, .. }) => {
                assert_ne!(why.kind(), io::ErrorKind::ConnectionRefused);
            }
            _ => panic!("connected"),
        }
    }
}
