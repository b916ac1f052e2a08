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
mod files;
mod lexer;
mod library;
mod parser;
mod pattern;
mod translate;

pub use files::{NamedFile, named_files};
pub use pattern::{PatternFault, portable};
pub use translate::{doubts, translate};

/// The runtime in JavaScript: an expression whose value is a function of `host` and [`LIBRARY`].
pub const RUNTIME: &str = concat!(
    include_str!("runtime/values.js"),
    include_str!("runtime/sampler.js"),
    include_str!("runtime/time.js"),
    include_str!("runtime/security.js"),
    include_str!("runtime/files.js"),
    include_str!("runtime/streams.js"),
    include_str!("runtime/xml.js"),
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

/// Translates bytes as a script of both languages, for fuzzing: whatever is not translated is refused with a
/// line of the script.
pub fn any_bytes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split('\n').count() as u32;
    for dialect in [Dialect::Groovy, Dialect::BeanShell] {
        if let Err(refusals) = translate(&text, dialect, &[]) {
            assert!(!refusals.is_empty());
            let on_a_line = |refusal: &Refusal| (1..=lines).contains(&refusal.line);
            assert!(refusals.iter().all(on_a_line), "{refusals:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn deep_nesting_is_refused() {
        let opens = [
            "(", "[", "{", "-", "!", "a(", "a[", "{ -> ", "if (a) ", "\"${", "a ? b : ", "a.b(",
        ];
        for open in opens {
            let script = open.repeat(20_000);
            for dialect in [Dialect::Groovy, Dialect::BeanShell] {
                assert!(translate(&script, dialect, &[]).is_err(), "{open}");
            }
        }
    }

    fn word() -> impl Strategy<Value = String> {
        let fixed = [
            "def",
            "if",
            "for",
            "new",
            "return",
            "import java.util.",
            "\"${",
            "'''",
            "\n",
        ];
        prop_oneof![
            "[a-z]{1,3}",
            r"[-+*/%=<>!&|^~?:.,;(){}\[\]@]{1,3}",
            "[0-9]{1,20}[lLfFgGdD.]?",
            proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
            r"\PC{0,3}",
        ]
    }

    proptest! {
        #[test]
        fn no_script_panics(words in proptest::collection::vec(word(), 0..40)) {
            any_bytes(words.join(" ").as_bytes());
        }
    }
}
