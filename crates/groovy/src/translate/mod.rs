//! A tree to JavaScript. Everything that it names is looked up on the way.
//!
//! Values are those of the runtime: int is a number, long a bigint, and the other numbers of Java
//! are objects. Operators and members are calls of the runtime, `$`; bindings stand in `$b`.
//! Statements keep their lines, so that the engine's line numbers are those of the script.

mod delegate;
mod division;
mod expressions;
mod operators;
mod scope;
mod statements;

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::ast::{Expr, ExprKind, Statement, StatementKind, Tree};
use crate::library::{CLASSES, Class};
use crate::{Binding, Dialect, Refusal, RefusalKind, parser};
use scope::Scopes;

/// Packages whose classes need no import.
const GROOVY_PACKAGES: &[&str] = &[
    "java.lang",
    "java.util",
    "java.io",
    "java.net",
    "groovy.lang",
    "groovy.util",
];
const BEANSHELL_PACKAGES: &[&str] = &["java.lang", "java.util", "java.io", "java.net"];

/// Packages that exist wherever plans are executed; importing them has no effect by itself.
const KNOWN_PACKAGES: &[&str] = &["java.", "javax.", "groovy.", "org.apache.jmeter."];

/// Begins the number of a line in the text before lines are set.
const LINE_MARK: char = '\u{1}';
/// Ends it.
const LINE_END: char = '\u{2}';

/// A script as the body of a JavaScript function of `$` and `$b`.
///
/// Its value is `[value, outputs]`, where `outputs` holds the bindings that the script assigned.
/// Errors: everything in it that is outside of the subset, by line.
pub fn translate(
    source: &str,
    dialect: Dialect,
    bindings: &[Binding],
) -> Result<String, Vec<Refusal>> {
    let tree = parser::parse(source, dialect).map_err(|refusal| vec![refusal])?;
    let mut translator = Translator::new(dialect, bindings, &tree);
    translator.import(&tree);
    let text = translator.script(&tree);
    match translator.refusals.is_empty() {
        true => Ok(with_lines(&text)),
        false => {
            let mut refusals = translator.refusals;
            refusals.sort_by_key(|refusal| refusal.line);
            refusals.dedup();
            Err(refusals)
        }
    }
}

struct Translator<'a> {
    dialect: Dialect,
    bindings: &'a [Binding],
    scopes: Scopes,
    /// Names that are assigned anywhere after their declaration.
    assigned: HashSet<String>,
    /// The same, outside of methods.
    assigned_outside: HashSet<String>,
    /// Imported packages and classes.
    packages: Vec<String>,
    classes: Vec<String>,
    methods: Vec<(String, usize, usize)>,
    /// Those that give a primitive whole number.
    whole_methods: HashSet<String>,
    /// Names that closures use and do not declare.
    shared: HashSet<String>,
    /// Values of the enclosing calls of `with`.
    delegates: Vec<delegate::Delegate>,
    /// True inside of a method of the script.
    in_method: bool,
    refusals: Vec<Refusal>,
}

/// JavaScript of an expression and the class of its value; empty: unknown.
struct Code {
    text: String,
    class: &'static str,
}

impl Code {
    fn new(text: impl Into<String>, class: &'static str) -> Self {
        Self {
            text: text.into(),
            class,
        }
    }
}

impl<'a> Translator<'a> {
    fn new(dialect: Dialect, bindings: &'a [Binding], tree: &Tree) -> Self {
        let mut assigned = HashSet::new();
        let mut assigned_outside = HashSet::new();
        for statement in &tree.statements {
            assigned_in(statement, &mut assigned);
            if !matches!(statement.kind, StatementKind::Method(_)) {
                assigned_in(statement, &mut assigned_outside);
            }
        }
        Self {
            dialect,
            bindings,
            scopes: Scopes::default(),
            assigned,
            assigned_outside,
            packages: Vec::new(),
            classes: Vec::new(),
            methods: Vec::new(),
            whole_methods: division::whole_methods(tree),
            shared: division::shared_names(tree),
            delegates: Vec::new(),
            in_method: false,
            refusals: Vec::new(),
        }
    }

    fn is_groovy(&self) -> bool {
        self.dialect == Dialect::Groovy
    }

    fn refuse(&mut self, line: u32, kind: RefusalKind, what: impl ToString) {
        self.refusals.push(Refusal::new(line, kind, what));
    }

    /// Imports packages and classes. A class that is not known must be one that exists in JMeter.
    fn import(&mut self, tree: &Tree) {
        for (name, line) in &tree.imports {
            if let Some(package) = name.strip_suffix(".*") {
                self.packages.push(package.to_owned());
            } else if CLASSES.qualified(name).is_some() {
                self.classes.push(name.clone());
            } else if !KNOWN_PACKAGES
                .iter()
                .any(|package| name.starts_with(package))
            {
                self.refuse(*line, RefusalKind::Class, name);
            }
        }
    }

    /// The class with a simple or qualified name, if it is in the library and the script sees it.
    fn class(&self, name: &str) -> Option<&'static Class> {
        if let Some((outer, inner)) = name.split_once('.') {
            return CLASSES.qualified(name).or_else(|| {
                let outer = self.class(outer)?;
                CLASSES.qualified(&format!("{}.{inner}", outer.qualified))
            });
        }
        let is_named = |known: &&String| known.rsplit('.').next() == Some(name);
        if let Some(imported) = self.classes.iter().rfind(is_named) {
            return CLASSES.qualified(imported);
        }
        let class = CLASSES.get(name)?;
        let package = class
            .qualified
            .rsplit_once('.')
            .map_or("", |(package, _)| package);
        let automatic = if self.is_groovy() {
            GROOVY_PACKAGES
        } else {
            BEANSHELL_PACKAGES
        };
        let is_seen = automatic.contains(&package)
            || self.is_groovy() && matches!(name, "BigDecimal" | "BigInteger")
            || self.packages.iter().any(|known| known == package)
            || self.classes.iter().any(|known| known == class.qualified);
        is_seen.then_some(class)
    }

    /// The class with this name, refused if there is none. Arrays and primitive types are told by
    /// their name in the runtime.
    fn class_named(&mut self, line: u32, name: &str) -> &'static str {
        if let Some(item) = name.strip_suffix("[]") {
            if item.ends_with("[]") {
                self.refuse(line, RefusalKind::Construct, name);
            } else {
                self.class_named(line, item);
            }
            return "Array";
        }
        match name {
            "int" => return "Integer",
            "long" => return "Long",
            "double" => return "Double",
            "boolean" => return "Boolean",
            "char" => return "Character",
            "byte" => return "Byte",
            "" | "def" | "void" | "Object" => return "",
            _ => {}
        }
        match self.class(name) {
            Some(class) => class.name,
            None => {
                self.refuse(line, RefusalKind::Class, name);
                ""
            }
        }
    }

    /// The simple name of a type for the runtime.
    fn type_name(&mut self, line: u32, name: &str) -> String {
        let class = self.class_named(line, name);
        let is_own =
            crate::parser::PRIMITIVES.contains(&name) || name.ends_with("[]") || class.is_empty();
        if name.ends_with("[]") {
            return name.rsplit('.').next().unwrap_or(name).to_owned();
        }
        if is_own {
            name.to_owned()
        } else {
            class.to_owned()
        }
    }

    fn script(&mut self, tree: &Tree) -> String {
        self.scopes.open();
        for statement in &tree.statements {
            if let StatementKind::Method(method) = &statement.kind {
                let most = method.parameters.len();
                let least = method
                    .parameters
                    .iter()
                    .filter(|parameter| parameter.otherwise.is_none())
                    .count();
                self.methods.push((method.name.clone(), least, most));
            }
        }
        let body = self.block(&tree.statements, true);
        let mut head = String::new();
        for (name, variable) in self.scopes.globals() {
            let of_host = self.bindings.iter().any(|binding| binding.name == name);
            let begins = if of_host {
                format!("$b.{name}")
            } else {
                "$.unset".into()
            };
            let _ = write!(head, "let {variable}={begins};");
        }
        let outputs: Vec<String> = self
            .scopes
            .globals()
            .filter(|(name, _)| self.bindings.iter().any(|binding| binding.name == *name))
            .map(|(name, variable)| format!("{name}:{variable}"))
            .collect();
        format!(
            "{head}const $v=(()=>{{{body}}})();return [$v,{{{}}}];",
            outputs.join(",")
        )
    }
}

/// A mark that sets the line of what follows.
fn mark(line: u32) -> String {
    format!("{LINE_MARK}{line}{LINE_END}")
}

/// Ends lines where the marks say so.
fn with_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut current = 1;
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(LINE_MARK) {
        out.push_str(before);
        let Some((line, behind)) = behind.split_once(LINE_END) else {
            break;
        };
        let line: u32 = line.parse().unwrap_or(current);
        while current < line {
            out.push('\n');
            current += 1;
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A text as a JavaScript literal.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='\u{7e}' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// Adds the names that a statement assigns, in all depths.
fn assigned_in(statement: &Statement, found: &mut HashSet<String>) {
    crate::ast::walk(statement, &mut |expression: &Expr| {
        let target = match &expression.kind {
            ExprKind::Assign { to, .. } => to,
            ExprKind::Step { of, .. } => of,
            _ => return,
        };
        if let ExprKind::Name(name) = &target.kind {
            found.insert(name.clone());
        }
    });
}
