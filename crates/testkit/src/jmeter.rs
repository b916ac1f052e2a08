//! Runs the real JMeter for tests.
//!
//! ```text
//! mvn ─► target/tmp/jmeter-5.6.3-5/{bin,lib,lib/ext} ─► java -jar bin/ApacheJMeter.jar -n -t …
//! ```
//!
//! It is laid out once per target directory. Where Java or Maven is missing, the test skips.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use crate::maven;
use crate::program::{Sokudo, profile_folder};

/// The version of JMeter that is used.
pub const VERSION: &str = "5.6.3";
const LAYOUT: &str = include_str!("jmeter.pom.xml");
/// Number of the layout; another one whenever `jmeter.pom.xml` changes.
const LAYOUT_NUMBER: u32 = 5;

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
                let home = cache()?.join(format!("jmeter-{VERSION}-{LAYOUT_NUMBER}"));
                if !home.exists() {
                    lay_out(&home)?;
                }
                Ok(Self { home })
            })
            .clone()
    }

    /// A call of a Groovy script with JMeter's classes, run in this directory. It gets JMeter's home folder
    /// and this file as arguments; `options` are the JVM's.
    pub fn script(
        &self,
        directory: &Path,
        options: &[String],
        script: &Path,
        file: &Path,
    ) -> Sokudo {
        let home = self.home.display();
        let classes = format!("{home}/lib/*:{home}/lib/ext/*:{home}/bin/ApacheJMeter.jar");
        let mut words = java(directory);
        words.extend(options.iter().map(OsString::from));
        for (name, value) in [
            ("log4j2.configurationFile", self.home.join("bin/log4j2.xml")),
            ("jmeter.logfile", directory.join("jmeter.log")),
            ("jmeter.home", self.home.clone()),
        ] {
            words.push(format!("-D{name}={}", value.display()).into());
        }
        words.extend(["-cp".into(), classes.into(), "groovy.ui.GroovyMain".into()]);
        words.extend([script, &self.home, file].map(OsString::from));
        Sokudo::of("java".as_ref(), words).dir(directory)
    }

    /// A call with JMeter's own arguments, without window, run in this directory.
    pub fn call<I>(&self, directory: &Path, arguments: I) -> Sokudo
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let mut words = java(directory);
        words.extend([
            "-jar".into(),
            self.home.join("bin/ApacheJMeter.jar").into(),
            "-j".into(),
            directory.join("jmeter.log").into(),
        ]);
        words.extend(arguments.into_iter().map(Into::into));
        Sokudo::of("java".as_ref(), words).dir(directory)
    }
}

/// Options with which a JVM is quick to start, and keeps nothing in the home folder.
fn java(directory: &Path) -> Vec<OsString> {
    let mut preferences = OsString::from("-Djava.util.prefs.userRoot=");
    preferences.push(directory.join("java-preferences"));
    vec![
        preferences,
        "-Xshare:auto".into(),
        "-XX:TieredStopAtLevel=1".into(),
        "-Xmx512m".into(),
        "-Djava.awt.headless=true".into(),
        "-Duser.language=en".into(),
    ]
}

/// Folder for fetched programs: `target/tmp`.
fn cache() -> Result<PathBuf, String> {
    let profile = profile_folder().ok_or("tests run below target/")?;
    Ok(profile.with_file_name("tmp"))
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
