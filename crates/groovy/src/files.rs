//! The files that a script names.
//!
//! ```text
//! def f = new File("a.csv") ─► f stands for the file ─┬ f.append(…), f << …, new FileWriter(f) ─► written
//!                                                     └ f.text, f.eachLine { … } ─► read
//! ```
//!
//! What is done with a file that a name stands for is found by the name alone, wherever it is used: a file that is
//! listed may never be opened, but no opened one with a fixed name is missing. One that a script hands on to somewhere
//! else is listed as read.

use std::collections::{BTreeSet, HashMap};

use crate::ast::{
    Access, Expr, ExprKind, GPart, Member, Part, Statement, StatementKind, visit, walk,
};
use crate::{Dialect, parser};

/// A file that a script names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFile {
    /// Its name; `…` and `${…}` stand for what the script computes.
    pub path: String,
    /// True if parts of its name are computed.
    pub is_computed: bool,
    /// True if the script writes, makes or removes it.
    pub is_written: bool,
}

/// Classes whose objects stand for a file.
const FILES: &[&str] = &["File", "java.io.File"];
/// Classes whose constructors read the file in their first argument.
const READERS: &[&str] = &["FileReader", "FileInputStream", "Scanner"];
/// Classes whose constructors write the file in their first argument.
const WRITERS: &[&str] = &[
    "FileWriter",
    "FileOutputStream",
    "PrintWriter",
    "PrintStream",
];
/// Methods of files that write, make or remove them.
const WRITING: &[&str] = &[
    "append",
    "createNewFile",
    "delete",
    "leftShift",
    "mkdir",
    "mkdirs",
    "newPrintWriter",
    "newWriter",
    "setBytes",
    "setText",
    "withPrintWriter",
    "withWriter",
    "withWriterAppend",
    "write",
];
/// Functions of `Files` and `FileUtils` that do so with their first argument.
const WRITING_FUNCTIONS: &[&str] = &[
    "createDirectories",
    "delete",
    "deleteIfExists",
    "write",
    "writeString",
    "writeStringToFile",
];
/// Members of files that tell nothing of what is in them.
const HARMLESS: &[&str] = &[
    "absoluteFile",
    "absolutePath",
    "getAbsoluteFile",
    "getAbsolutePath",
    "getName",
    "getParent",
    "getParentFile",
    "getPath",
    "isAbsolute",
    "name",
    "parent",
    "parentFile",
    "path",
    "toPath",
    "toString",
];

/// The files that a script names, in order; none of a script that is not understood.
pub fn named_files(source: &str, dialect: Dialect) -> Vec<NamedFile> {
    let Ok(tree) = parser::parse(source, dialect) else {
        return Vec::new();
    };
    let mut finder = Finder {
        values: HashMap::new(),
        used: BTreeSet::new(),
        named: BTreeSet::new(),
    };
    for statement in &tree.statements {
        visit(statement, &mut |part| match part {
            Part::Statement(statement) => finder.declared(statement),
            Part::Expr(expression) => finder.assigned(expression),
        });
    }
    for statement in &tree.statements {
        walk(statement, &mut |expression| finder.used_in(expression));
    }
    finder.found()
}

/// A name in parts.
type Place = (String, bool);

struct Finder {
    /// Values that names stand for; `None`: several.
    values: HashMap<String, Option<Expr>>,
    used: BTreeSet<(Place, bool)>,
    named: BTreeSet<Place>,
}

impl Finder {
    fn stands_for(&mut self, name: &str, value: &Expr) {
        let known = self.values.entry(name.to_owned());
        known
            .and_modify(|known| *known = None)
            .or_insert_with(|| Some(value.clone()));
    }

    fn declared(&mut self, statement: &Statement) {
        if let StatementKind::Declare { names, .. } = &statement.kind {
            for (name, value) in names {
                if let Some(value) = value {
                    self.stands_for(name, value);
                }
            }
        }
    }

    fn assigned(&mut self, expression: &Expr) {
        if let ExprKind::Assign { to, value, .. } = &expression.kind
            && let ExprKind::Name(name) = &to.kind
        {
            self.stands_for(name, value);
        }
    }

    /// Notes what an expression does with the files in it.
    fn used_in(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::New { class, arguments } => self.made(expression, class, arguments),
            ExprKind::Call {
                of: Some(of),
                name: Member::Fixed(name),
                arguments,
                ..
            } => {
                if is_class(of, &["Files", "FileUtils"]) {
                    let written = WRITING_FUNCTIONS.contains(&name.as_str());
                    self.note(arguments.first(), written);
                } else if is_class(of, &["Paths", "Path"]) {
                    self.named.extend(self.place(expression));
                } else if !HARMLESS.contains(&name.as_str()) {
                    self.note(Some(of), WRITING.contains(&name.as_str()));
                }
                arguments.iter().for_each(|argument| self.handed(argument));
            }
            ExprKind::Property {
                of,
                name: Member::Fixed(name),
                ..
            } if !HARMLESS.contains(&name.as_str()) => self.note(Some(of), false),
            ExprKind::Assign { to, .. } => {
                if let ExprKind::Property { of, .. } = &to.kind {
                    self.note(Some(of), true);
                }
            }
            ExprKind::Binary("<<", of, _) => self.note(Some(of), true),
            ExprKind::As(..) => self.named.extend(self.place(expression)),
            _ => {}
        }
    }

    fn made(&mut self, whole: &Expr, class: &str, arguments: &[Expr]) {
        let simple = class.rsplit('.').next().unwrap_or(class);
        let first = arguments.first();
        if FILES.contains(&class) {
            self.named.extend(self.place(whole));
        } else if READERS.contains(&simple) || WRITERS.contains(&simple) {
            let written = WRITERS.contains(&simple);
            let Some(first) = first else { return };
            let is_writer = |class: &str| class.ends_with("Writer") || class.ends_with("Stream");
            let wraps = match &self.value_of(first).kind {
                ExprKind::New { class, .. } => is_writer(class),
                _ => false,
            };
            if !wraps {
                let place = self.place(first).or_else(|| self.text(first));
                self.used.extend(place.map(|place| (place, written)));
            }
        }
    }

    /// A file that something else gets may be read there.
    fn handed(&mut self, argument: &Expr) {
        if let ExprKind::Name(_) | ExprKind::New { .. } = &argument.kind {
            self.named.extend(self.place(argument));
        }
    }

    fn note(&mut self, of: Option<&Expr>, written: bool) {
        let place = of.and_then(|of| self.place(of));
        self.used.extend(place.map(|place| (place, written)));
    }

    /// The value that a name stands for, or the expression itself.
    fn value_of<'e>(&'e self, of: &'e Expr) -> &'e Expr {
        match &of.kind {
            ExprKind::Name(name) => match self.values.get(name) {
                Some(Some(value)) if !matches!(value.kind, ExprKind::Name(_)) => value,
                _ => of,
            },
            _ => of,
        }
    }

    /// The file that an expression stands for.
    fn place(&self, of: &Expr) -> Option<Place> {
        let value = self.value_of(of);
        match &value.kind {
            ExprKind::New { class, arguments } if FILES.contains(&class.as_str()) => {
                self.joined(arguments)
            }
            ExprKind::Call {
                of: Some(of),
                name: Member::Fixed(name),
                access: Access::Plain,
                arguments,
            } => match name.as_str() {
                "get" | "of" if is_class(of, &["Paths", "Path"]) => self.joined(arguments),
                "toPath" | "toFile" | "getAbsoluteFile" => self.place(of),
                _ => None,
            },
            ExprKind::As(text, class) if FILES.contains(&class.as_str()) => self.text(text),
            _ => None,
        }
    }

    fn joined(&self, parts: &[Expr]) -> Option<Place> {
        let mut parts = parts.iter();
        let first = parts.next()?;
        let (mut path, mut is_computed) = self.place(first).or_else(|| self.text(first))?;
        for part in parts {
            let (text, computed) = self.text(part)?;
            path = format!("{}/{}", path.trim_end_matches('/'), text);
            is_computed |= computed;
        }
        Some((path, is_computed))
    }

    /// A text with what is known of it.
    fn text(&self, of: &Expr) -> Option<Place> {
        Some(match &self.value_of(of).kind {
            ExprKind::Text(text) => (text.clone(), false),
            ExprKind::GString(parts) => {
                let mut all = (String::new(), false);
                for part in parts {
                    let (text, computed) = match part {
                        GPart::Text(text) => (text.clone(), false),
                        GPart::Value(value) => self.text(value)?,
                    };
                    all.0.push_str(&text);
                    all.1 |= computed;
                }
                all
            }
            ExprKind::Binary("+", a, b) => {
                let ((a, first), (b, second)) = (self.text(a)?, self.text(b)?);
                (a + &b, first || second)
            }
            _ => ("…".into(), true),
        })
    }

    fn found(self) -> Vec<NamedFile> {
        let unused = self.named.iter().filter(|place| {
            let mut uses = [false, true].into_iter();
            !uses.any(|written| self.used.contains(&((*place).clone(), written)))
        });
        let unused = unused.map(|place| (place.clone(), false));
        let all: BTreeSet<_> = self.used.iter().cloned().chain(unused).collect();
        let named = all
            .into_iter()
            .map(|((path, is_computed), is_written)| NamedFile {
                path,
                is_computed,
                is_written,
            });
        named.collect()
    }
}

/// True for the name of one of these classes, qualified or not.
fn is_class(of: &Expr, classes: &[&str]) -> bool {
    match &of.kind {
        ExprKind::Name(name) | ExprKind::Class(name) => classes.contains(&name.as_str()),
        ExprKind::Property {
            name: Member::Fixed(name),
            ..
        } => classes.contains(&name.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str) -> Vec<String> {
        let files = named_files(script, Dialect::Groovy);
        let shown = files.iter().map(|file| {
            let mark = if file.is_written { ">" } else { "<" };
            let computed = if file.is_computed { "?" } else { "" };
            format!("{mark}{computed}{}", file.path)
        });
        shown.collect()
    }

    #[test]
    fn files_are_found_by_what_is_done_with_them() {
        for (script, expected) in [
            ("new File('a').text", &["<a"][..]),
            ("new File('a').text = 'x'", &["<a", ">a"]),
            ("new File('a') << 'x'", &[">a"]),
            (
                "def f = new File('a')\nif (f.exists()) { f.append('x') }",
                &["<a", ">a"],
            ),
            ("def p = 'a.csv'\nnew FileWriter(p, true)", &[">a.csv"]),
            (
                "new BufferedWriter(new FileWriter(new File('d', 'a')))",
                &[">d/a"],
            ),
            ("new PrintWriter(new FileWriter('a'), true)", &[">a"]),
            (
                "new File(\"${vars.get('d')}/a\" + 1).eachLine { }",
                &["<?…/a…"],
            ),
            (
                "[1].each { new File('a').withWriter { w -> w << 'x' } }",
                &[">a"],
            ),
            (
                "import java.nio.file.*\nFiles.write(Paths.get('d', 'a'), 'x'.bytes)\nFiles.readString(Path.of('b'))",
                &["<b", ">d/a"],
            ),
            (
                "org.apache.commons.io.FileUtils.readFileToString(new File('a'), 'UTF-8')",
                &["<a"],
            ),
            ("('a' as File).name", &["<a"]),
            (
                "new groovy.json.JsonSlurper().parse(new File('a'))",
                &["<a"],
            ),
            ("log.info('none')", &[]),
        ] {
            assert_eq!(found(script), expected, "{script}");
        }
    }
}
