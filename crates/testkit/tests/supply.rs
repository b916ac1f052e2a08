//! Tests that reasons in `deny.toml` still hold, and that what we replace stays replaced.

use std::path::Path;
use std::process::Command;

/// Output of `cargo tree` about the whole workspace, read from Cargo.lock and the crates at hand.
fn tree(words: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut call = Command::new(env!("CARGO"));
    call.args(["tree", "--workspace", "--locked", "--offline"]);
    let done = call.args(words).current_dir(root).output();
    let done = done.expect("cargo runs");
    let told = String::from_utf8_lossy(&done.stderr);
    // What nothing depends on is an error of `cargo tree`.
    if told.contains("did not match any packages") {
        return String::new();
    }
    assert!(done.status.success(), "{told}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// RUSTSEC-2026-0041: a member of a group could have made `lz4_flex` 0.10 show memory that nobody
/// wrote. zenoh-transport calls it only with its feature `transport_compression`.
#[test]
fn nothing_from_the_network_is_decompressed_by_the_old_lz4_flex() {
    let features = tree(&["-e", "features", "-i", "zenoh-transport"]);
    assert!(features.contains("transport_quic"), "{features}");
    assert!(!features.contains("transport_compression"), "{features}");
    let users = tree(&["--depth", "1", "--prefix", "none", "-i", "lz4_flex"]);
    let direct = users.lines().skip(1);
    for user in direct {
        assert!(user.starts_with("zenoh-transport "), "{user}");
    }
}

/// rustls takes the process's only provider of cryptography; it fails where there are two.
#[test]
fn cryptography_has_one_provider() {
    let features = tree(&["-e", "features", "-i", "rustls"]);
    assert!(features.contains("rustls feature \"ring\""), "{features}");
    for name in ["aws-lc-rs", "openssl"] {
        let users = tree(&["--depth", "1", "--prefix", "none", "-i", name]);
        assert!(users.is_empty(), "{users}");
    }
}

/// Crates that their authors have given up come through zenoh alone.
#[test]
fn unmaintained_crates_are_not_among_our_own_dependencies() {
    for name in ["rustls-pemfile", "serde_yaml", "paste"] {
        let users = tree(&["--depth", "1", "--prefix", "none", "-i", name]);
        for user in users.lines().skip(1) {
            assert!(!user.starts_with("sokudo"), "{name} is used by {user}");
        }
    }
}

/// Zenoh's own QUIC listener is closed by a small flood; cargo takes it again when versions differ.
#[test]
fn links_of_groups_are_our_own() {
    let link = tree(&["--depth", "0", "--prefix", "none", "-i", "zenoh-link-quic"]);
    let lines: Vec<&str> = link.lines().collect();
    assert!(
        matches!(lines[..], [one] if one.contains("quic-link")),
        "{link}"
    );
}
