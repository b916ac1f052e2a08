//! Tests of `replicate` as a command: trees over TLS, what an owner allows, and failures.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use sokudo_testkit::program::Ended;

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
pub fn serve_directory(place: &Place, directory: &Path) -> Server {
    let directory = directory.to_str().expect("a path of a test");
    serve_with(place.words(["serve", "--bind", "127.0.0.1:0", "--path", directory]))
}

/// Names below a directory with their contents; links by what they say.
pub fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
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
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
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
    // A load that is ended early has a partial record, of a mirror as of any other.
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
    let (forbidden, new) = (source.display(), place.path().join("new"));
    let pull = format!("replicate {}:{forbidden} {}", closed.address, new.display());
    refused(
        &place.run(&pull),
        "`files`",
        "its owner can change the policy",
    );
    assert!(!new.exists(), "nothing is made for a refused replication");
    for (one_way, back) in [("--read-path", false), ("--write-path", true)] {
        let directory = place.path().join("one-way");
        fs::create_dir_all(&directory).expect("a directory");
        let server = serve_with(place.words([
            "serve",
            "--bind",
            "127.0.0.1:0",
            one_way,
            directory.to_str().expect("a path"),
        ]));
        let far = format!("{}:{}", server.address, directory.display());
        let sent = format!("replicate {} {far}", source.display());
        let fetched = format!("replicate {far} {}", place.path().join("fetched").display());
        let (good, bad, says) = match back {
            true => (sent, fetched, "may be written here, and not read"),
            false => (fetched, sent, "may be read here, and not written"),
        };
        refused(&place.run(&bad), says, "its owner can change");
        place.run(&good).expect_code(0);
        assert_eq!(tree(&directory).is_empty(), !back);
    }
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

/// Rows that `--specs --json` prints at its end.
fn rows(ended: &Ended) -> Vec<serde_json::Value> {
    let said: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(said["schema"], "sokudo.specs/1");
    said["specs"].as_array().expect("rows").clone()
}

#[test]
fn specifications_reach_the_living_whatever_the_dead_do() {
    let place = place();
    let source = source(&place);
    let targets = [place.path().join("m1"), place.path().join("m2")];
    let servers = targets
        .each_ref()
        .map(|target| serve_directory(&place, target));
    let logs = place.path().join("logs");
    fs::create_dir_all(&logs).expect("a directory");
    fs::write(logs.join("log"), "x").expect("a file");
    let far = serve_directory(&place, &logs);
    let file = place.path().join("mirrors.toml");
    let text = format!(
        r#"
        [defaults]
        durability = "none"

        [spec.web]
        source = "{source}"
        target = ["{a}:{first}", "{b}:{second}", "127.0.0.1:9:/nowhere"]
        schedule = "every 1h"
        exclude = ["large"]
        limit = ["Mon-Sun 00:00-24:00 500Mb/s", "none"]

        [spec.gather]
        source = ["{far}:{logs}"]
        target = "{back}/{{host}}"
        preset = "slow"
        "#,
        source = source.display(),
        a = servers[0].address,
        b = servers[1].address,
        first = targets[0].display(),
        second = targets[1].display(),
        back = place.path().display(),
        far = far.address,
        logs = logs.display(),
    );
    fs::write(&file, text).expect("a file");
    let ended = place.run(&format!(
        "replicate --specs {} --once --json",
        file.display()
    ));
    ended.expect_code(3);
    let said = rows(&ended);
    assert_eq!(
        (&said[0]["name"], &said[0]["state"]),
        (&"gather".into(), &"green".into())
    );
    let web = &said[1];
    assert_eq!(
        (&web["state"], &web["targets"], &web["failed"]),
        (&"red".into(), &3.into(), &1.into())
    );
    assert!(
        web["why"].as_str().expect("why").starts_with("127.0.0.1:9"),
        "{web}"
    );
    fs::remove_file(source.join("large")).expect("a file");
    for target in &targets {
        assert_eq!(tree(&source), tree(target));
    }
    let own = far.address.to_string().replace(':', "_");
    assert!(place.path().join(own).join("log").is_file());
}

#[test]
fn a_specification_mirrors_until_it_is_told_to_end() {
    let place = place();
    let (source, target) = (source(&place), place.path().join("target"));
    let server = serve_directory(&place, &target);
    let file = place.path().join("mirrors.toml");
    let text = format!(
        "[spec.web]\nsource = \"{}\"\ntarget = \"{}:{}\"\nschedule = \"mirror\"\ndelete = true\nresync = \"300ms\"\n",
        source.display(),
        server.address,
        target.display()
    );
    fs::write(&file, text).expect("a file");
    let command = format!("replicate --specs {} --json", file.display());
    let mirror = place.sokudo(&command).start();
    wait_until("both trees are equal", || tree(&source) == tree(&target));
    fs::write(source.join("new"), "x").expect("a file");
    fs::remove_file(source.join("large")).expect("a file");
    wait_until("the change has arrived", || tree(&source) == tree(&target));
    // Changes go on arriving until everything was looked at again.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        fs::write(source.join("new"), format!("{:?}", begun.elapsed())).expect("a file");
        wait_until("the change has arrived", || tree(&source) == tree(&target));
    }
    mirror.interrupt();
    let ended = mirror.end().expect("an end");
    ended.expect_code(0);
    let said = rows(&ended);
    assert!(said[0]["lag_seconds"].as_f64().is_some(), "{ended}");
    assert!(ended.stderr.contains("follows"), "{ended}");
    let rescans = place.load().manifest.summary["replicate.rescans"];
    assert!(rescans >= 1.0, "{rescans}");
}

#[test]
fn a_file_of_specifications_that_is_wrong_is_refused_with_its_place() {
    let place = place();
    let file = place.path().join("wrong.toml");
    let command = format!("replicate --specs {}", file.display());
    refused(&place.run(&command), "cannot be read", "[spec.NAME]");
    fs::write(
        &file,
        "[spec.a]\nsource = \"/a\"\ntarget = \"h:/b\"\nlevel = 99\n",
    )
    .expect("a file");
    refused(&place.run(&command), "`spec.a`", "[spec.NAME]");
    fs::write(
        &file,
        "[spec.a]\nsource = \"/a\"\ntarget = \"h:/b\"\n[keys]\nh = \"sk1-secretsecret\"\n",
    )
    .expect("a file");
    let ended = place.run(&command);
    ended.expect_code(2);
    assert!(!ended.stderr.contains("secretsecret"), "{ended}");
}

#[test]
fn one_target_that_is_dead_leaves_the_others_their_files() {
    let place = place();
    let (source, target) = (source(&place), place.path().join("target"));
    let server = serve_directory(&place, &target);
    let command = format!(
        "replicate {} 127.0.0.1:9:{to} {}:{to} --preset wan --json",
        source.display(),
        server.address,
        to = target.display()
    );
    let ended = place.run(&command);
    ended.expect_code(3);
    assert_eq!(tree(&source), tree(&target));
    assert!(ended.stderr.contains("--connections 8"), "{ended}");
    assert!(ended.stderr.contains("127.0.0.1:9"), "{ended}");
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
            "replicate h:/b /a --relay 2",
            "--relay passes",
            "leave out --mirror",
        ),
        (
            "replicate /a h:/b --resync 1h",
            "--resync belongs to --mirror",
            "--mirror 8h",
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
