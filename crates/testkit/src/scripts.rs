//! Runs the script languages of JMeter for tests.
//!
//! ```text
//! mvn ─► target/tmp/scripts-3/lib ─► java groovy.ui.GroovyMain scripts.groovy LANGUAGE FILE
//! ```
//!
//! All scripts of a test run in one process. Where Java or Maven is missing, the test skips.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::maven;

/// Name of the laid out directory; another number whenever `scripts.pom.xml` changes.
const LAID_OUT: &str = "scripts-3";
const LAYOUT: &str = include_str!("scripts.pom.xml");
const EVALUATOR: &str = include_str!("scripts.groovy");

/// Class and text of the value of each script, or the exception that it throws, in the language
/// `groovy` or `beanshell`. Errors: why they cannot be evaluated here.
pub fn evaluate(language: &str, scripts: &[&str]) -> Result<Vec<String>, String> {
    let home = laid_out()?;
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (evaluator, file) = (
        work.path().join("scripts.groovy"),
        work.path().join("scripts.txt"),
    );
    let text: Vec<String> = scripts
        .iter()
        .map(|script| format!("{}\n", script.trim_end()))
        .collect();
    let told = |error: std::io::Error| error.to_string();
    fs::write(&evaluator, EVALUATOR).map_err(told)?;
    fs::write(&file, text.join("---\n")).map_err(told)?;
    let class_path = home.join("lib").join("*");
    let output = Command::new("java")
        .args([
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-Duser.language=en",
            "-Dfile.encoding=UTF-8",
        ])
        .arg("-cp")
        .arg(class_path)
        .arg("groovy.ui.GroovyMain")
        .arg(&evaluator)
        .arg(language)
        .arg(&file)
        .current_dir(work.path())
        .stdin(Stdio::null())
        .output()
        .map_err(told)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = lines
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}")));
    said.collect()
}

/// The directory with the archives, fetched when it is not there.
fn laid_out() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            maven::runs("java")?;
            let test = std::env::current_exe().map_err(|error| error.to_string())?;
            // target/<profile>/deps/<test>
            let target = test.ancestors().nth(3).ok_or("tests run below target/")?;
            let home = target.join("tmp").join(LAID_OUT);
            if !home.exists() {
                lay_out(&home)?;
            }
            Ok(home)
        })
        .clone()
}

/// Fetches into a directory of its own first: two test programs may do so at a time.
fn lay_out(home: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("the script languages cannot be laid out: {error}");
    let parent = home.parent().unwrap_or(home);
    fs::create_dir_all(parent).map_err(told)?;
    let building = tempfile::tempdir_in(parent).map_err(told)?;
    fs::write(building.path().join("pom.xml"), LAYOUT).map_err(told)?;
    maven::fetch(building.path(), &["package"], "the script languages")?;
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
