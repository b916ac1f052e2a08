//! Targets whose file system takes names for one that differ in case: a real one, mounted for the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::{TempDir, tempdir};

use super::Copy;
use super::sessions::age;
use crate::receive::Durability;

/// Size of the file system, bytes.
const SIZE: u64 = 16 << 20;

/// A mounted file system that ignores case.
struct Folding {
    place: TempDir,
}

impl Folding {
    /// Errors: what is needed for it is not there.
    fn mount() -> Result<Self, String> {
        let mounted = Self {
            place: tempdir().unwrap(),
        };
        let image = mounted.place.path().join("image");
        fs::File::create(&image).unwrap().set_len(SIZE).unwrap();
        fs::create_dir(mounted.root()).unwrap();
        run(Command::new("mkntfs").args(["-F", "-q", "-Q"]).arg(&image))?;
        let mut mount = Command::new("lowntfs-3g");
        mount.args(["-o", "ignore_case"]).arg(&image);
        run(mount.arg(mounted.root()))?;
        Ok(mounted)
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("mounted")
    }

    /// Content of a file.
    fn holds(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root().join(name)).ok()
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        // One that was never mounted cannot be unmounted.
        let _ = run(Command::new("umount").arg(self.root()));
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    match quiet.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// Files of these names, each with its name as content.
fn files(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    age(root);
}

fn copy() -> Copy {
    let mut copy = Copy::default();
    copy.receive.durability = Durability::None;
    copy
}

#[test]
fn names_that_are_one_for_the_target_replace_each_other_never() {
    let target = match Folding::mount() {
        Ok(target) => target,
        Err(why) => return eprintln!("skipped: no file system that ignores case: {why}"),
    };
    let source = tempdir().unwrap();
    let names = ["README", "readme", "Dir/a", "dir/a", "dir/b", "other"];
    files(source.path(), &names);
    let mut told = Vec::new();
    for delete in [false, true] {
        let mut copy = copy();
        copy.receive.delete = delete;
        let copied = copy.run(source.path(), &target.root());
        assert_eq!(copied.received.broken, None);
        let failures = copied.received.failures.iter();
        let (paths, whys): (Vec<_>, Vec<_>) =
            failures.map(|it| (it.path.clone(), it.why.clone())).unzip();
        assert!(
            whys.iter().all(|why| why.contains("only in case")),
            "{whys:?}"
        );
        told.push(paths);
        // One of each pair stands there whole, and nothing of the other.
        let readme = target.holds("readme").unwrap();
        assert!(["README", "readme"].contains(&readme.as_str()), "{readme}");
        let inside = target.holds("dir/a").unwrap();
        assert!(["Dir/a", "dir/a"].contains(&inside.as_str()), "{inside}");
        assert_eq!(target.holds("dir/b").is_some(), inside == "dir/a");
        assert_eq!(target.holds("other").as_deref(), Some("other"));
        assert_eq!(copied.received.counts.removed, 0);
    }
    assert_eq!(told[0].len(), 2, "{told:?}");
    assert_eq!(told[0], told[1], "the same names each time");
}

#[test]
fn a_dry_run_tells_of_such_names_and_another_spelling_is_not_removed() {
    let target = match Folding::mount() {
        Ok(target) => target,
        Err(why) => return eprintln!("skipped: no file system that ignores case: {why}"),
    };
    let source = tempdir().unwrap();
    files(source.path(), &["Name"]);
    copy().run(source.path(), &target.root()).fine();
    // The target lists it as `name`, which the source does not have.
    let mut deletes = copy();
    deletes.receive.delete = true;
    let copied = deletes.run(source.path(), &target.root()).fine();
    assert_eq!(copied.received.counts.removed, 0);
    assert_eq!(target.holds("Name").as_deref(), Some("Name"));

    files(source.path(), &["b", "B"]);
    let mut dry = copy();
    dry.receive.dry_run = true;
    let copied = dry.run(source.path(), &target.root());
    assert_eq!(copied.received.failures.len(), 1, "{copied:?}");
    assert_eq!(target.holds("b"), None);
}
