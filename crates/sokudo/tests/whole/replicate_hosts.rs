//! Replications between hosts of this machine: to many at once, from host to host, over links that are cut,
//! of real trees, and where the system has no watches left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use sokudo_testkit::hosts::{Hosts, Tbf};
use sokudo_testkit::program::{Running, Sokudo, sokudo_bin};
use sokudo_testkit::skip;

use crate::replicate::{serve_directory, tree, wait_until};
use crate::vocabulary::{Place, Server, place, serve_with, summary};

/// Hosts that are sent to.
const TARGETS: usize = 20;
/// Content of the source.
const BYTES: usize = 1_000_000;

/// A program that runs with a directory of its own in the place of a shared one: hosts of one machine have
/// one file system, and their targets have one path.
fn with_own_directory(place: &Place, own: &Path, shared: &Path, words: &[&str]) -> Sokudo {
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    let (own, shared, binary) = (own.to_owned(), shared.to_owned(), sokudo_bin());
    let mut all: Vec<std::ffi::OsString> =
        ["--mount", "sh", "-c", script, "sh"].map(Into::into).into();
    all.extend([
        own.into_os_string(),
        shared.into_os_string(),
        binary.into_os_string(),
    ]);
    all.extend(words.iter().map(Into::into));
    Sokudo::of("unshare".as_ref(), all)
        .dir(place.path())
        .env("SOKUDO_RUNS", "runs")
        .env("SOKUDO_LANG", "en")
        .bound(Duration::from_secs(240))
}

fn may_mount() -> bool {
    let tried = Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount --bind /tmp /tmp"])
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Bytes that host 0 has sent.
fn sent_bytes(hosts: &Hosts) -> u64 {
    let table = hosts.run_in(0, || {
        fs::read_to_string("/proc/thread-self/net/dev").expect("the table of devices")
    });
    let line = table
        .lines()
        .find(|line| line.trim_start().starts_with("eth0:"));
    let numbers = line.expect("eth0").split_once(':').expect("a colon").1;
    let number = numbers.split_whitespace().nth(8).expect("bytes sent");
    number.parse().expect("a number")
}

fn own(place: &Path, number: usize) -> PathBuf {
    place.join(format!("own-{number}"))
}

#[test]
fn twenty_hosts_get_a_tree_though_one_is_dead_and_one_is_slow() {
    let Some(hosts) = Hosts::new(TARGETS + 1) else {
        return;
    };
    if !may_mount() {
        return skip("no directory can be mounted here");
    }
    let place = place();
    let (source, shared) = (place.path().join("source"), place.path().join("shared"));
    fs::create_dir(&shared).expect("a directory");
    fs::create_dir_all(source.join("deep")).expect("a directory");
    let content: Vec<u8> = (0..BYTES as u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect();
    for (number, part) in content.chunks(BYTES / 50).enumerate() {
        fs::write(source.join(format!("deep/{number}")), part).expect("a file");
    }
    let mut servers: Vec<Option<Server>> = (1..=TARGETS)
        .map(|number| {
            let directory = own(place.path(), number);
            fs::create_dir(&directory).expect("a directory");
            let bind = hosts.address(number).to_string() + ":0";
            let path = shared.to_str().expect("a path");
            let words = ["serve", "--bind", &bind, "--open", "--path", path];
            let command = with_own_directory(&place, &directory, &shared, &words);
            Some(hosts.run_in(number, move || serve_with(command)))
        })
        .collect();
    let addresses: Vec<String> = servers
        .iter()
        .flatten()
        .map(|one| one.address.to_string())
        .collect();
    let start = |options: &str| -> Running {
        let targets: Vec<String> = addresses
            .iter()
            .map(|one| format!("{one}:{}", shared.display()))
            .collect();
        let line = format!(
            "replicate {} {} --level none --durability none --transport tcp {options} --json",
            source.display(),
            targets.join(" ")
        );
        let command = place.sokudo(&line).bound(Duration::from_secs(240));
        hosts.run_in(0, move || command.start())
    };
    let whole = tree(&source);
    let has_all = |number: usize| tree(&own(place.path(), number)) == whole;

    let before = sent_bytes(&hosts);
    let ended = start("--relay 2").finish();
    ended.expect_code(0);
    assert!((1..=TARGETS).all(has_all));
    let relayed = (sent_bytes(&hosts) - before) as f64;
    // Twice, and what begins and ends a session with each of the hosts.
    assert!(
        (2.0..4.0).contains(&(relayed / BYTES as f64)),
        "{relayed} bytes"
    );
    assert_eq!(
        summary(&ended).number("replicate.files_written"),
        50.0 * TARGETS as f64
    );

    for number in 1..=TARGETS {
        fs::remove_dir_all(own(place.path(), number).join("deep")).expect("a tree");
    }
    let (dead, slow) = (13, 7);
    servers[dead - 1] = None;
    let narrow = Tbf {
        rate_bits_per_s: 800_000,
        burst_bytes: 8_000,
        limit_bytes: 60_000,
    };
    let is_slow = hosts.limit_path_to(slow, narrow).map_err(skip).is_ok();
    let before = sent_bytes(&hosts);
    let running = start("");
    let others = || (1..=TARGETS).filter(|number| ![dead, slow].contains(number));
    wait_until("the others have all", || others().all(has_all));
    assert!(!is_slow || !has_all(slow));
    let ended = running.finish();
    ended.expect_code(3);
    assert!(ended.stderr.contains(&addresses[dead - 1]), "{ended}");
    assert!(has_all(slow));
    let sent = (sent_bytes(&hosts) - before) as f64 / BYTES as f64;
    assert!((19.0..24.0).contains(&sent), "{sent} times the content");
}

#[test]
fn a_link_that_is_cut_and_restored_leaves_old_or_new_files_and_then_the_new_ones() {
    let Some(hosts) = Hosts::new(2) else { return };
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    for directory in [&source, &target] {
        fs::create_dir(directory).expect("a directory");
    }
    for number in 0..40_u8 {
        fs::write(source.join(number.to_string()), vec![number; 50_000]).expect("a file");
        fs::write(target.join(number.to_string()), "old").expect("a file");
    }
    let path = target.to_str().expect("a path").to_owned();
    let bind = hosts.address(1).to_string() + ":0";
    let command = place.words(["serve", "--bind", &bind, "--open", "--path", &path]);
    let server = hosts.run_in(1, move || serve_with(command));
    let start = |options: &str| {
        let line = format!(
            "replicate {} {}:{path} --level none {options}",
            source.display(),
            server.address
        );
        let command = place.sokudo(&line).bound(Duration::from_secs(200));
        hosts.run_in(0, move || command.start())
    };
    let is_new = |number: u8| {
        fs::read(target.join(number.to_string()))
            .expect("a file")
            .len()
            == 50_000
    };
    let running = start("--limit 4Mb/s --durability none");
    wait_until("something has arrived", || (0..40).any(is_new));
    hosts.pull_cable(1).expect("a cable");
    for number in 0..40_u8 {
        let there = fs::read(target.join(number.to_string())).expect("a file");
        assert!(there == b"old" || there == vec![number; 50_000], "{number}");
    }
    thread::sleep(Duration::from_secs(1));
    hosts.plug_cable(1).expect("a cable");
    let ended = running.finish();
    if ended.code != Some(0) {
        start("").finish().expect_code(0);
    }
    assert_eq!(tree(&source), tree(&target));
}

/// Output of `find` about a tree: names, kinds, modes, owners, sizes, times, links.
fn listing(root: &Path) -> Vec<Vec<u8>> {
    let what = "%P\\t%y\\t%m\\t%U\\t%G\\t%T@\\t%l";
    let listed = Command::new("find")
        .arg(root)
        .args([
            "-mindepth",
            "1",
            "-type",
            "d",
            "-printf",
            &format!("{what}\\0"),
        ])
        .args([
            "-o",
            "-mindepth",
            "1",
            "-printf",
            &format!("{what}\\t%s\\0"),
        ])
        .env("LC_ALL", "C")
        .output()
        .expect("find runs");
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let mut lines: Vec<Vec<u8>> = listed
        .stdout
        .split(|byte| *byte == 0)
        .map(<[u8]>::to_vec)
        .collect();
    lines.sort();
    lines
}

/// This variable names another tree: `/usr/share` has many more files.
const TREE: &str = "SOKUDO_REPLICATE_TREE";

#[test]
fn a_real_tree_goes_there_and_back_as_diff_and_find_see_it() {
    let named = std::env::var_os(TREE).map(PathBuf::from);
    let usual = ["/usr/share/zoneinfo", "/usr/share/perl5", "/usr/share/doc"].map(PathBuf::from);
    let mut known = named.into_iter().chain(usual).filter(|path| path.is_dir());
    let Some(source) = known.next() else {
        return skip("this system has none of the trees that are compared");
    };
    let place = place();
    let (target, back) = (place.path().join("target"), place.path().join("back"));
    let server = serve_directory(&place, &target);
    let far = format!("{}:{}", server.address, target.display());
    place
        .run(&format!(
            "replicate {} {far} --durability none",
            source.display()
        ))
        .expect_code(0);
    place
        .run(&format!(
            "replicate {far} {} --durability none",
            back.display()
        ))
        .expect_code(0);
    let wanted = listing(&source);
    assert!(wanted.len() > 100, "{} names", wanted.len());
    for copy in [&target, &back] {
        let differs = Command::new("diff")
            .args(["-r", "--no-dereference"])
            .args([&source, copy])
            .output()
            .expect("diff runs");
        assert!(
            differs.stdout.is_empty() && differs.status.success(),
            "{}",
            String::from_utf8_lossy(&differs.stdout)
        );
        let there = listing(copy);
        let shown = |lines: &[Vec<u8>], others: &[Vec<u8>]| {
            let only = lines.iter().filter(|line| !others.contains(line)).take(5);
            only.map(|line| String::from_utf8_lossy(line).into_owned())
                .collect::<Vec<_>>()
        };
        assert!(
            wanted == there,
            "{:?} {:?}",
            shown(&wanted, &there),
            shown(&there, &wanted)
        );
    }
}

#[test]
fn a_mirror_without_watches_left_looks_at_everything_and_says_so() {
    let few = "echo 4 > /proc/sys/user/max_inotify_watches";
    let tried = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", few])
        .output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        return skip("the number of watches cannot be bounded here");
    }
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    let server = serve_directory(&place, &target);
    for number in 0..12 {
        fs::create_dir_all(source.join(format!("d{number}/in"))).expect("a directory");
    }
    let script = format!("{few} && exec \"$@\"");
    let far = format!("{}:{}", server.address, target.display());
    let binary = sokudo_bin();
    let words = [
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        &script,
        "sh",
        binary.to_str().expect("a path"),
        "replicate",
        source.to_str().expect("a path"),
        &far,
        "--mirror",
        "1h",
        "--json",
    ];
    let mirror = Sokudo::of("unshare".as_ref(), words)
        .dir(place.path())
        .env("SOKUDO_RUNS", "runs")
        .env("SOKUDO_LANG", "en")
        .bound(Duration::from_secs(120))
        .start();
    wait_until("both trees are equal", || tree(&source) == tree(&target));
    for number in 0..12 {
        fs::write(source.join(format!("d{number}/in/later")), "x").expect("a file");
    }
    wait_until("every change has arrived", || {
        tree(&source) == tree(&target)
    });
    mirror.interrupt();
    let ended = mirror.end().expect("an end");
    assert!(
        summary(&ended).number("replicate.rescans") >= 1.0,
        "{ended}"
    );
    let record = place.load();
    let blind = record.manifest.phases[0].result.flows[0]
        .labels
        .get("blind");
    assert!(blind.is_some_and(|why| !why.is_empty()), "{ended}");
}
