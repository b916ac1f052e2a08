//! Tests of `replicate` as a command: trees over TLS, what an owner allows, and failures.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::vocabulary::{Place, Server, place, refused, serve, serve_with, summary};

const PROMISED: [&str; 8] = [
    "replicate.user_bytes_per_second",
    "replicate.wire_bytes",
    "replicate.files",
    "replicate.files_written",
    "replicate.elapsed_seconds",
    "replicate.cpu_seconds",
    "replicate.sender_wire_ratio",
    "replicate.receiver_file_ratio",
];

/// A server that lets callers use this directory.
fn serve_directory(place: &Place, directory: &Path) -> Server {
    let directory = directory.to_str().expect("a path of a test");
    serve_with(place.words(["serve", "--bind", "127.0.0.1:0", "--path", directory]))
}

/// Names below a directory with their contents; links by what they say.
fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut to_look_at = vec![root.to_owned()];
    while let Some(directory) = to_look_at.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let name = path
                .strip_prefix(root)
                .expect("below")
                .to_string_lossy()
                .into_owned();
            // What is staged may be gone again.
            let Ok(kind) = path.symlink_metadata() else {
                continue;
            };
            let content = if kind.is_symlink() {
                fs::read_link(&path)
                    .expect("a link")
                    .to_string_lossy()
                    .into_owned()
                    .into()
            } else if kind.is_dir() {
                to_look_at.push(path);
                Vec::new()
            } else {
                fs::read(&path).unwrap_or_default()
            };
            found.push((name, content));
        }
    }
    found.sort();
    found
}

/// Waits until something holds.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn source(place: &Place) -> std::path::PathBuf {
    let source = place.path().join("source");
    fs::create_dir_all(source.join("日本/deep")).expect("directories");
    for number in 0..200 {
        let text = format!("line {number}\n").repeat(number);
        fs::write(source.join(format!("日本/deep/{number}")), text).expect("a file");
    }
    fs::write(source.join("large"), vec![7; 3_000_000]).expect("a file");
    symlink("large", source.join("link")).expect("a link");
    source
}

#[test]
fn a_tree_goes_there_and_back_and_is_compared() {
    let place = place();
    let (source, target) = (source(&place), place.path().join("target"));
    let server = serve_directory(&place, &target);
    let (from, to) = (source.display(), target.display());
    let far = format!("{}:{to}", server.address);

    let dry = place.run(&format!("replicate {from} {far} --dry-run --json"));
    dry.expect_code(2);
    let sent = place.run(&format!("replicate {from} {far} --json"));
    sent.expect_code(0);
    let said = summary(&sent);
    said.promises("replicate", &PROMISED);
    assert_eq!(said.number("replicate.files_written"), 201.0);
    assert_eq!(said.number("replicate.failed"), 0.0);
    assert_eq!(tree(&source), tree(&target));

    fs::write(target.join("stray"), "x").expect("a file");
    fs::write(source.join("new"), "y").expect("a file");
    let dry = place.run(&format!("replicate {from} {far} --delete --dry-run --json"));
    let said = summary(&dry);
    assert_eq!(said.number("replicate.files_written"), 1.0);
    assert_eq!(said.number("replicate.removed"), 1.0);
    assert!(target.join("stray").exists());
    place
        .run(&format!("replicate {from} {far} --delete"))
        .expect_code(0);
    assert_eq!(tree(&source), tree(&target));

    place
        .run(&format!("replicate {from} {far} --verify"))
        .expect_code(0);
    fs::write(target.join("日本/deep/9"), "other").expect("a file");
    let differs = place.run(&format!("replicate {from} {far} --verify"));
    differs.expect_code(3);
    assert!(differs.stdout.contains("日本/deep/9"), "{differs}");

    let back = place.path().join("back");
    let fetched = place.run(&format!(
        "replicate {far} {} --transport tcp",
        back.display()
    ));
    fetched.expect_code(0);
    assert_eq!(tree(&target), tree(&back));
}

#[test]
fn a_mirror_follows_its_source_until_it_is_told_to_end() {
    let place = place();
    let (source, target) = (source(&place), place.path().join("target"));
    let server = serve_directory(&place, &target);
    let command = format!(
        "replicate {} {}:{} --mirror 1h --delete --json",
        source.display(),
        server.address,
        target.display()
    );
    let mirror = place.sokudo(&command).start();
    wait_until("both trees are equal", || tree(&source) == tree(&target));
    fs::create_dir_all(source.join("new/below")).expect("directories");
    fs::write(source.join("new/below/名前"), "x").expect("a file");
    fs::remove_file(source.join("large")).expect("a file");
    wait_until("the change has arrived", || tree(&source) == tree(&target));
    mirror.interrupt();
    let ended = mirror.end().expect("an end");
    // Whoever ends a load early has a partial record, of a mirror as of any other.
    ended.expect_code(3);
    let said = summary(&ended);
    assert_eq!(said.number("replicate.failed"), 0.0);
    assert_eq!(said.number("replicate.rescans"), 0.0);
    assert!(said.number("replicate.rounds") >= 2.0);
    assert!(said.number("replicate.lag_seconds.max") > 0.0);
    let made = place.run(&format!(
        "replicate dataset:1x1B {}:{} --mirror 1s",
        server.address,
        target.display()
    ));
    refused(&made, "--mirror follows a directory", "name a directory");
}

#[test]
fn only_directories_that_the_owner_lists_are_used() {
    let place = place();
    let source = source(&place);
    let target = place.path().join("target");
    let command = |address, target: &Path| {
        format!(
            "replicate {} {address}:{}",
            source.display(),
            target.display()
        )
    };
    let closed = serve(&place);
    let ended = place.run(&command(closed.address, &target));
    refused(&ended, "`files`", "its owner can change the policy");
    let server = serve_directory(&place, &target);
    for other in ["elsewhere", "target/below", "target/../elsewhere"] {
        let ended = place.run(&command(server.address, &place.path().join(other)));
        refused(&ended, "is not one of its `paths`", "its owner can change");
        assert!(!place.path().join("elsewhere").exists());
    }
}

#[test]
fn a_data_set_is_made_while_it_is_sent_and_may_be_dropped() {
    let place = place();
    let server = serve_directory(&place, place.path());
    let command = format!(
        "replicate dataset:300x10KB,1x3MB {}:null --content mixed:50 --level 3 --json",
        server.address
    );
    let ended = place.run(&command);
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("replicate.files"), 301.0);
    assert_eq!(said.number("replicate.received_bytes"), 6_000_000.0);
    let record = place.load();
    let mut series = record.series_of("replicate.wire_bits_per_second");
    assert!(series.any(|series| !series.points.is_empty()));
}

#[test]
fn what_cannot_be_done_is_refused_with_its_remedy() {
    let place = place();
    for (command, says, hint) in [
        ("replicate /a /b", "one side", "hostb:/srv/data"),
        ("replicate dataset:x h:null", "not a data set", "10000x10KB"),
        (
            "replicate /a h:/b --limit 5/s",
            "--limit counts bytes",
            "100Mb/s",
        ),
        (
            "replicate /a h:/b --exclude a[",
            "the pattern `a[`",
            "globs",
        ),
        (
            "replicate /a h:/b i:/c",
            "the same path",
            "command of its own",
        ),
        (
            "replicate /a h:/b --max-delete 3",
            "--max-delete",
            "--delete",
        ),
    ] {
        refused(&place.run(command), says, hint);
    }
    let server = serve_directory(&place, place.path());
    let absent = place.path().join("absent");
    let command = format!("replicate {} {}:null", absent.display(), server.address);
    refused(
        &place.run(&command),
        "cannot be read",
        "must be a directory",
    );
}
