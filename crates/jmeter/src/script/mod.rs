//! What do the scripts of a plan do?
//!
//! ```text
//! Bindings: variables, properties, the sample ─► engine of this thread ─► value, and Bindings back
//!                                                  │ host(name, a, b)
//!                                                  └ script/jmeter.js: vars props prev log ctx sampler
//! ```
//!
//! The language is JavaScript. An engine belongs to a thread and serves all its users; what a script
//! leaves behind in it is taken away before the next one. A script opens nothing; its clock and its
//! random numbers are those of the run; memory and steps are bounded. There is no Java behind it:
//! scripts that name Java's classes are refused while the plan is read.

mod bindings;
mod engine;
pub(crate) mod log;

pub use bindings::{Bindings, Judgement, Lent, Logged, Seen, Wish};
pub use engine::{Fault, evaluate, flaw};
pub use log::{Level, line as log_line};

/// Names under which plans ask for JavaScript.
const NAMES: &[&str] = &[
    "javascript",
    "js",
    "ecmascript",
    "nashorn",
    "graal.js",
    "rhino",
];

/// Words of Java in a script.
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

/// Whether a script language of this name is executed.
pub fn is_known(language: &str) -> bool {
    let language = language.trim();
    NAMES.iter().any(|name| language.eq_ignore_ascii_case(name))
}

/// The first word of Java in a script, with its line, from 1.
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
