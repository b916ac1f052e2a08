//! Scripts in plans.
//!
//! ```text
//! Bindings: variables, properties, the sample ─► engine of this thread ─► value, and Bindings back
//!                                                  │ host(name, a, b)
//!                                                  └ script/jmeter.js: vars props prev log ctx sampler
//! ```
//!
//! The languages are JavaScript and subsets of Groovy and BeanShell, which are translated. Each
//! thread has one engine for all its users; globals that a script creates are removed before the
//! next script. A script in JavaScript has no access to files, and the others have the files that the
//! plan may use; its clock and its random numbers are those of the run; memory and steps are bounded. Java is not available: JavaScript that names Java's classes,
//! and what of Groovy and BeanShell is outside of the subset, is refused when the plan is read.

mod bindings;
mod cookies;
mod engine;
mod files;
mod host;
pub(crate) mod log;
mod objects;
mod owner;
mod request;

pub(crate) use bindings::remove_fixed;
pub use bindings::{
    Bindings, Judgement, LentState, Logged, ScriptSample, StopRequest, TransactionKind, Wishes,
};
pub use cookies::{Cookie, LentCookies, WrittenCookie};
pub use engine::{Code, ScriptFault, described, evaluate, flaw, unmade};
pub use files::LentFiles;
pub use log::{LogLevel, line as log_line};
pub use objects::SharedObjects;
pub use owner::{ScriptLanguage, ScriptOwner};
pub use request::{LentRequest, RunNames};

/// Names of Java in a script.
const JAVA: &[&str] = &[
    "Packages.",
    "Java.type(",
    "importPackage(",
    "importClass(",
    "JavaImporter(",
    "java.lang.",
    "java.util.",
    "java.io.",
    "org.apache.",
];

/// The first use of Java in a script, with its line, from 1.
pub fn java_in(script: &str) -> Option<(&'static str, u32)> {
    let without = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    (1..).zip(script.lines()).find_map(|(number, line)| {
        let line = without(line);
        let word = JAVA.iter().find(|word| line.contains(**word))?;
        Some((*word, number))
    })
}

#[cfg(test)]
mod tests;
