//! Runs the real JMeter for tests.
//!
//! ```text
//! mvn ─► target/tmp/jmeter-5.6.3/{bin,lib,lib/ext} ─► java -jar bin/ApacheJMeter.jar -n -t …
//! ```
//!
//! It is laid out once per target directory. Where Java or Maven is missing, the test skips.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use crate::maven;
use crate::program::Sokudo;

/// The version of JMeter that is used.
pub const VERSION: &str = "5.6.3";
const LAYOUT: &str = include_str!("jmeter.pom.xml");

/// JMeter as it can be started.
#[derive(Debug, Clone)]
pub struct JMeter {
    home: PathBuf,
}

impl JMeter {
    /// JMeter, fetched when it is not there; or why there is none.
    pub fn find() -> Result<Self, String> {
        static FOUND: OnceLock<Result<JMeter, String>> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                maven::runs("java")?;
                let home = cache()?.join(format!("jmeter-{VERSION}"));
                if !home.exists() {
                    lay_out(&home)?;
                }
                Ok(Self { home })
            })
            .clone()
    }

    /// A call with JMeter's own arguments, without window, run in this directory.
    pub fn call<I>(&self, directory: &Path, arguments: I) -> Sokudo
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let preferences = directory.join("java-preferences");
        // Quick to start, and nothing is kept in the home folder.
        let mut words: Vec<OsString> = vec![
            "-Xshare:auto".into(),
            "-XX:TieredStopAtLevel=1".into(),
            "-Xmx512m".into(),
            "-Djava.awt.headless=true".into(),
            "-Duser.language=en".into(),
            "-jar".into(),
            self.home.join("bin/ApacheJMeter.jar").into(),
            "-j".into(),
            directory.join("jmeter.log").into(),
        ];
        let mut option = OsString::from("-Djava.util.prefs.userRoot=");
        option.push(&preferences);
        words.insert(0, option);
        words.extend(arguments.into_iter().map(Into::into));
        Sokudo::of("java".as_ref(), words).dir(directory)
    }
}

/// Folder for fetched programs: `target/tmp`, above the running test.
fn cache() -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    // target/<profile>/deps/<test>
    let target = test.ancestors().nth(3).ok_or("tests run below target/")?;
    Ok(target.join("tmp"))
}

/// Fetches into a directory of its own first: two test programs may do so at a time.
fn lay_out(home: &Path) -> Result<(), String> {
    let told = |error: io::Error| format!("JMeter cannot be laid out: {error}");
    let parent = home.parent().unwrap_or(home);
    fs::create_dir_all(parent).map_err(told)?;
    let building = tempfile::tempdir_in(parent).map_err(told)?;
    fs::write(building.path().join("pom.xml"), LAYOUT).map_err(told)?;
    maven::fetch(building.path(), &["package"], "JMeter")?;
    // JMeter searches this folder for JUnit tests, and logs a long error when it is missing.
    fs::create_dir_all(building.path().join("lib/junit")).map_err(told)?;
    match fs::rename(building.path(), home) {
        Ok(()) => {
            // The directory has another name now: nothing is left to remove.
            let _ = building.keep();
            Ok(())
        }
        Err(_) if home.exists() => Ok(()),
        Err(error) => Err(told(error)),
    }
}
