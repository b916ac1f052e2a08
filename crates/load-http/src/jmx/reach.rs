//! The folders in which a plan may read and write.
//!
//! A plan may be somebody else's. `compat jmeter` trusts it as the tool does; otherwise it has the
//! folder that it lies in, the current folder, and what the operator names besides. Links count as what
//! they lead to.

use std::io;
use std::path::{Path, PathBuf};

use super::options::JmxOptions;

/// The folders in which a plan may read and write.
#[derive(Debug, Clone)]
pub enum Reach {
    /// Everywhere.
    Everywhere,
    /// In these files and folders, without links in their paths.
    Below(Vec<PathBuf>),
}

impl Reach {
    /// Reach of a plan with these options.
    pub fn of(options: &JmxOptions) -> Self {
        match options.trusted {
            true => Self::Everywhere,
            false if options.confined => Self::Below(
                folder_of(&options.plan)
                    .canonicalize()
                    .into_iter()
                    .collect(),
            ),
            false => Self::below(&options.plan, &options.with),
        }
    }

    /// The folder of a plan, the current folder, and these files and folders, as the plan or the operator
    /// writes them.
    pub fn below(plan: &Path, with: &[String]) -> Self {
        let beside = folder_of(plan);
        let named = with.iter().map(PathBuf::from);
        let named = named.flat_map(|path| [beside.join(&path), path]);
        let all = [beside.clone(), PathBuf::from(".")]
            .into_iter()
            .chain(named);
        Self::Below(all.filter_map(|path| path.canonicalize().ok()).collect())
    }

    /// Fails if a file lies elsewhere. It need not exist.
    pub fn check(&self, path: &Path) -> io::Result<()> {
        let Self::Below(folders) = self else {
            return Ok(());
        };
        let path = resolved(path)?;
        match folders.iter().any(|folder| path.starts_with(folder)) {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is outside of the folders that the plan may use: `--with` names further ones",
            )),
        }
    }
}

/// The folder of a plan.
pub fn folder_of(plan: &Path) -> PathBuf {
    match plan.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A path without links. What does not exist yet is taken as it is written, without `..`.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut at = std::path::absolute(path)?;
    loop {
        match at.canonicalize() {
            Ok(found) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(found, |path, name| path.join(name)));
            }
            // A link to nowhere leads where a file would be written.
            Err(error) if at.is_symlink() => return Err(error),
            Err(_) => {}
        }
        let (Some(name), Some(above)) = (at.file_name(), at.parent()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        missing.push(name.to_owned());
        at = above.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with a plan, and something beside the folder.
    fn place() -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        for folder in ["plans/data", "other"] {
            fs::create_dir_all(place.path().join(folder)).expect("a directory");
        }
        for file in [
            "plans/plan.jmx",
            "plans/data/users.csv",
            "other/a.csv",
            "secret",
        ] {
            fs::write(place.path().join(file), "x").expect("a file");
        }
        place
    }

    fn may(reach: &Reach, path: &Path) -> bool {
        reach.check(path).is_ok()
    }

    #[test]
    fn a_plan_has_its_folder_the_current_one_and_what_is_named() {
        let place = place();
        let at = |path: &str| place.path().join("plans").join(path);
        let plan = at("plan.jmx");
        let reach = Reach::below(&plan, &[]);
        let here = std::env::current_dir().expect("a directory");
        for fine in [
            at("data/users.csv"),
            at("data/../new.csv"),
            at("results/of/today.jtl"),
            here.join("Cargo.toml"),
            PathBuf::from("new.jtl"),
        ] {
            assert!(may(&reach, &fine), "{fine:?}");
        }
        for outside in [
            at("../secret"),
            at("../other/a.csv"),
            at("nowhere/../../secret"),
            at("nowhere/../../new"),
            PathBuf::from("/etc/passwd"),
            PathBuf::from("../../../../new"),
        ] {
            assert!(!may(&reach, &outside), "{outside:?}");
            assert!(may(&Reach::Everywhere, &outside));
        }
        let named = Reach::below(&plan, &["../other".into()]);
        assert!(may(&named, &at("../other/a.csv")));
        assert!(may(&named, &at("../other/new.csv")));
        assert!(!may(&named, &at("../secret")));
        let one = Reach::below(&plan, &["../secret".into()]);
        assert!(may(&one, &at("../secret")));
        assert!(!may(&one, &at("../other/a.csv")));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        let place = place();
        let plans = place.path().join("plans");
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, plans.join(name));
        link("../secret", "innocent.csv").expect("a link");
        link("..", "up").expect("a link");
        link("../new", "nowhere.jtl").expect("a link");
        link("data/users.csv", "same.csv").expect("a link");
        let reach = Reach::below(&plans.join("plan.jmx"), &[]);
        for (path, inside) in [
            ("same.csv", true),
            ("innocent.csv", false),
            ("up/secret", false),
            ("up/new", false),
            ("up/plans/data/users.csv", true),
            ("nowhere.jtl", false),
        ] {
            assert_eq!(may(&reach, &plans.join(path)), inside, "{path}");
        }
    }
}
