//! Tests the scripts in `packaging/` that need no build, on trees made for the test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The path of a script in `packaging/`.
fn script(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    root.join(name).to_string_lossy().into_owned()
}

/// A tree that holds a copy of the script, this change log and these fragments.
fn tree(log: &str, fragments: &[(&str, &str)]) -> TempDir {
    let tree = tempfile::tempdir().expect("a directory");
    for folder in ["packaging", "changelog.d"] {
        fs::create_dir(tree.path().join(folder)).expect("a folder");
    }
    fs::copy(script("changelog"), tree.path().join("packaging/changelog")).expect("a copy");
    fs::write(tree.path().join("CHANGELOG.md"), log).expect("a log");
    for (name, text) in fragments {
        fs::write(tree.path().join("changelog.d").join(name), text).expect("a fragment");
    }
    tree
}

/// Runs `packaging/changelog VERSION` of the tree.
fn fold(tree: &TempDir, version: &str) -> Output {
    let script = tree.path().join("packaging/changelog");
    let mut call = Command::new("bash");
    call.arg(script).arg(version).output().expect("bash runs")
}

fn log_of(tree: &TempDir) -> String {
    fs::read_to_string(tree.path().join("CHANGELOG.md")).expect("a log")
}

const OLD: &str = "\
# Changes

What users notice.

## 0.1.0

The first version.

### Added

- One thing,
  told in two lines.

### Security

- A lock.
";

#[test]
fn fragments_make_a_section_above_the_others_and_are_removed() {
    let fragments = [
        ("README.md", "# How to write one\n"),
        ("b.added.md", "Another thing.\n\n"),
        ("a.added.md", "`sokudo a` is new\nand useful.\n"),
        ("c.fixed.md", "A fault."),
    ];
    let tree = tree(OLD, &fragments);
    let done = fold(&tree, "0.2.0");
    assert!(done.status.success(), "{done:?}");
    let expected = OLD.replace(
        "## 0.1.0",
        "\
## 0.2.0

### Added

- `sokudo a` is new
  and useful.
- Another thing.

### Fixed

- A fault.

## 0.1.0",
    );
    assert_eq!(log_of(&tree), expected);
    let left: Vec<_> = fs::read_dir(tree.path().join("changelog.d"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left, ["README.md"]);
}

#[test]
fn fragments_join_the_section_that_their_version_already_has() {
    let fragments = [
        ("more.added.md", "More.\n"),
        ("gone.removed.md", "Less.\n"),
        ("key.security.md", "A key.\n"),
    ];
    let newest = "## 0.2.0\n\n### Added\n\n- Later.\n\n";
    let log = OLD.replace("## 0.1.0", &format!("{newest}## 0.1.0"));
    let tree = tree(&log, &fragments);
    let done = fold(&tree, "0.1.0");
    assert!(done.status.success(), "{done:?}");
    let expected = log
        .replace(
            "  told in two lines.\n",
            "  told in two lines.\n- More.\n\n### Removed\n\n- Less.\n",
        )
        .replace("- A lock.\n", "- A lock.\n- A key.\n");
    assert_eq!(log_of(&tree), expected);
}

#[test]
fn without_fragments_a_section_stays_as_it_is() {
    let tree = tree(OLD, &[]);
    let done = fold(&tree, "0.1.0");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(log_of(&tree), OLD);
}

#[test]
fn a_version_without_changes_or_that_is_no_version_is_an_error() {
    for (version, says) in [("0.2.0", "no section `## 0.2.0`"), ("next", "usage: ")] {
        let tree = tree(OLD, &[]);
        let done = fold(&tree, version);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(told.contains(says), "{told}");
        assert_eq!(log_of(&tree), OLD);
    }
}

/// A program that answers what `packaging/pack` asks of `sokudo`.
const STAND_IN: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int main(int count, char **words) {
    char path[4096];
    if (count == 2 && !strcmp(words[1], "--version")) {
        puts("sokudo 9.8.7");
    } else if (count == 3 && !strcmp(words[1], "completions")) {
        printf("completions for %s\n", words[2]);
    } else if (count == 3 && !strcmp(words[1], "man")) {
        mkdir(words[2], 0755);
        snprintf(path, sizeof path, "%s/sokudo.1", words[2]);
        FILE *page = fopen(path, "w");
        fputs(".TH sokudo 1\n", page);
        fclose(page);
    } else {
        return 2;
    }
    return 0;
}
"#;

/// Output of a program; fails the test with its messages when it fails.
fn said(program: &str, words: &[&str], folder: &Path) -> String {
    let mut call = Command::new(program);
    let done = call.args(words).current_dir(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(done.status.success(), "{program} {words:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn a_built_program_is_packed_in_every_form_with_checksums() {
    let needed = ["cc", "dpkg-deb", "dpkg-shlibdeps", "rpmbuild"];
    for tool in needed.into_iter().chain(["xz", "zip", "python3"]) {
        if Command::new(tool).arg("--version").output().is_err() {
            return sokudo_testkit::skip(format_args!("there is no `{tool}`"));
        }
    }
    let folder = tempfile::tempdir().expect("a directory");
    let at = folder.path();
    fs::write(at.join("sokudo.c"), STAND_IN).expect("a source");
    fs::write(at.join("sokudo.exe"), "MZ").expect("a program");
    said("cc", &["-o", "sokudo", "sokudo.c"], at);
    let words = [&script("pack"), "sokudo", "out", "sokudo.exe"];
    said("bash", &words, at);

    let out = at.join("out");
    let sums = fs::read_to_string(out.join("SHA256SUMS")).expect("checksums");
    let summed = sums.lines().filter_map(|line| line.split_once("  "));
    let summed: BTreeSet<_> = summed.map(|(_, name)| name.to_owned()).collect();
    let made = fs::read_dir(&out).expect("the folder");
    let made = made.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut made: BTreeSet<_> = made.map(|name| name.expect("a name")).collect();
    assert!(made.remove("SHA256SUMS"));
    assert_eq!(summed, made);
    said("sha256sum", &["--check", "--strict", "SHA256SUMS"], &out);

    let named = |end: &str| -> String {
        let found = made.iter().find(|name| name.ends_with(end));
        let found = found.unwrap_or_else(|| panic!("no *{end} in {made:?}"));
        assert!(found.contains("9.8.7"), "{found}");
        found.clone()
    };
    let listed = said("tar", &["-tf", &named("-linux.tar.xz")], &out);
    let files = [
        "/sokudo\n",
        "/LICENSE\n",
        "/THIRD-PARTY-NOTICES.txt\n",
        "/man/sokudo.1.gz\n",
        "/_sokudo\n",
    ];
    for file in files.iter().chain(&["/sokudo-agent@.service\n"]) {
        assert!(listed.contains(file), "{file} is missing:\n{listed}");
    }
    let deb = named(".deb");
    let fields = said("dpkg-deb", &["--field", &deb], &out);
    assert!(fields.contains("Version: 9.8.7\n"), "{fields}");
    assert!(fields.contains("Depends: libc6 "), "{fields}");
    said("dpkg-deb", &["--extract", &deb, "installed"], &out);
    let installed = out.join("installed/usr/bin/sokudo");
    let installed = installed.to_str().expect("a path in UTF-8");
    assert_eq!(said(installed, &["--version"], &out), "sokudo 9.8.7\n");
    let notices = out.join("installed/usr/share/doc/sokudo/THIRD-PARTY-NOTICES.txt");
    let notices = fs::read_to_string(notices).expect("notices");
    // A crate with files of its terms, one without, C code inside a crate, and code of the page.
    for part in [
        "\ntokio 1.",
        "\nzenoh-link-commons 1.",
        "Fabrice Bellard",
        "uPlot",
    ] {
        assert!(notices.contains(part), "no notice of {part:?}");
    }
    let listed = said("rpm", &["-qlp", &named(".rpm")], &out);
    for file in ["/usr/bin/sokudo\n", "/etc/sokudo/policy.toml\n"] {
        assert!(listed.contains(file), "{file} is missing:\n{listed}");
    }
}

#[test]
fn debugging_information_is_split_off_once_and_found_from_the_program() {
    for tool in ["cc", "objcopy", "readelf"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return sokudo_testkit::skip(format_args!("there is no `{tool}`"));
        }
    }
    let folder = tempfile::tempdir().expect("a directory");
    let at = folder.path();
    fs::write(at.join("sokudo.c"), STAND_IN).expect("a source");
    said("cc", &["-g", "-o", "sokudo", "sokudo.c"], at);
    // As Cargo names its own file.
    fs::hard_link(at.join("sokudo"), at.join("sokudo-1234")).expect("a link");
    let split = || said("bash", &[&script("split-debug"), "sokudo"], at);
    split();
    for program in ["sokudo", "sokudo-1234"] {
        let sections = said("readelf", &["--sections", "--wide", program], at);
        assert!(sections.contains(".gnu_debuglink"), "{sections}");
        assert!(!sections.contains(".debug_info"), "{sections}");
    }
    let kept = said("readelf", &["--sections", "--wide", "sokudo.debug"], at);
    assert!(kept.contains(".debug_info"), "{kept}");
    assert_eq!(said("./sokudo", &["--version"], at), "sokudo 9.8.7\n");

    let times = || {
        let files = ["sokudo", "sokudo.debug"].map(|name| fs::metadata(at.join(name)));
        files.map(|file| file.expect("a file").modified().expect("a time"))
    };
    let before = times();
    split();
    assert_eq!(times(), before);
}
