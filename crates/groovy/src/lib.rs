//! A subset of Groovy and BeanShell: checked completely, then translated to JavaScript.
//!
//! ```text
//! text ─► tokens ─► tree ─► every name, class, member and construct is looked up ─► JavaScript
//!                             │ library.txt: classes, their members, their types
//!                             └ what is outside is refused, with its line
//!
//! JavaScript ─► runtime/: numbers, texts, lists and maps as Java and Groovy have them
//! ```
//!
//! A script has only been translated if everything in it is understood. What depends on a value
//! that only the run knows (a method of an object out of JSON) is checked by the runtime, which ends
//! the script, uncatchably, instead of doing something else.

mod ast;
mod lexer;
mod library;
mod parser;
mod pattern;
mod translate;

pub use pattern::{PatternFault, portable};
pub use translate::translate;

/// The runtime in JavaScript: an expression whose value is a function of `host` and [`LIBRARY`].
pub const RUNTIME: &str = concat!(
    include_str!("runtime/values.js"),
    include_str!("runtime/members.js"),
    include_str!("runtime/jmeter.js"),
);
/// Classes and members that scripts can use, one per line.
pub const LIBRARY: &str = include_str!("library.txt");

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Groovy 3.
    Groovy,
    /// BeanShell 2.
    BeanShell,
}

/// A variable that is there before the script begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Its name.
    pub name: &'static str,
    /// Its class in [`LIBRARY`]; empty: unknown.
    pub class: &'static str,
}

/// A construct outside of the subset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the script, from 1.
    pub line: u32,
    /// Its kind.
    pub kind: RefusalKind,
    /// The construct as it is written, or the name.
    pub what: String,
}

/// Kinds of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The text is not valid at this token.
    Syntax,
    /// The script ends too early.
    Incomplete,
    /// A construct of the language.
    Construct,
    /// A class.
    Class,
    /// A method or constructor, as `Class.name(2)` with the number of arguments.
    Method,
    /// A property or field.
    Property,
    /// A variable that nothing sets.
    Name,
    /// Nesting beyond the bound.
    Depth,
}

impl Refusal {
    fn new(line: u32, kind: RefusalKind, what: impl ToString) -> Self {
        // A message stays readable whatever the script holds.
        let what = what.to_string().chars().take(80).collect();
        Self { line, kind, what }
    }
}
