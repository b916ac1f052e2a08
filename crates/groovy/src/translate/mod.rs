//! A tree to JavaScript. Everything that it names is looked up on the way.
//!
//! Values are those of the runtime: int is a number, long a bigint, and the other numbers of Java
//! are objects. Operators and members are calls of the runtime, `$`; bindings stand in `$b`.
//! Statements keep their lines, so that the engine's line numbers are those of the script.

mod classes;
mod delegate;
mod division;
mod expressions;
mod json;
mod operators;
mod scope;
mod statements;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::ast::{Expr, ExprKind, Import, Statement, StatementKind, Tree};
use crate::library::{CLASSES, Class, MemberKind};
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
const KNOWN_PACKAGES: &[&str] = &[
    "java.",
    "javax.",
    "groovy.",
    "org.apache.jmeter.",
    "org.apache.commons.codec.",
    "org.apache.commons.io.",
    "org.apache.commons.lang3.",
    "org.apache.http.",
    "org.slf4j.",
    "com.jayway.jsonpath.",
    "net.minidev.json.",
    "org.jsoup.",
];

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
    translated(source, dialect, bindings).map(|(text, _)| text)
}

/// What is missing in a script that is translated: it fails where it uses it, as in the real language.
pub fn doubts(source: &str, dialect: Dialect, bindings: &[Binding]) -> Vec<Refusal> {
    translated(source, dialect, bindings).map_or_else(|_| Vec::new(), |(_, doubts)| doubts)
}

/// The translation of a script, and what is doubtful in it.
fn translated(
    source: &str,
    dialect: Dialect,
    bindings: &[Binding],
) -> Result<(String, Vec<Refusal>), Vec<Refusal>> {
    let tree = parser::parse(source, dialect).map_err(|refusal| vec![refusal])?;
    let mut translator = Translator::new(dialect, bindings, &tree);
    translator.import(&tree);
    let text = translator.script(&tree);
    let sorted = |mut found: Vec<Refusal>| {
        found.sort_by_key(|refusal| refusal.line);
        found.dedup();
        found
    };
    match translator.refusals.is_empty() {
        true => Ok((with_lines(&text), sorted(translator.doubts))),
        false => Err(sorted(translator.refusals)),
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
    /// Imported classes with another name: that, and their own.
    aliases: Vec<(String, &'static str)>,
    /// Imported static members: class and name; `*`: all of them.
    statics: Vec<(&'static str, String)>,
    /// Declared types of the variables with `@Field`.
    fields: HashMap<String, String>,
    /// The label of the loop that comes next.
    label: Option<String>,
    /// Methods: the name, and the fewest and most arguments.
    methods: Vec<(String, usize, usize)>,
    /// The lines that begin them.
    method_lines: Vec<u32>,
    /// Those that give a primitive whole number.
    whole_methods: HashSet<String>,
    /// Names that closures use and do not declare.
    shared: HashSet<String>,
    /// Classes of the script.
    own: Vec<classes::OwnClass>,
    /// The class whose method is translated, and whether it has an object.
    in_class: Option<(usize, bool)>,
    /// Variables in JavaScript of the objects that enclosing closures of a `JsonBuilder` describe.
    json: Vec<String>,
    /// Values of the enclosing calls of `with`.
    delegates: Vec<delegate::Delegate>,
    /// True inside of a method of the script.
    in_method: bool,
    refusals: Vec<Refusal>,
    doubts: Vec<Refusal>,
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
            aliases: Vec::new(),
            statics: Vec::new(),
            fields: HashMap::new(),
            label: None,
            methods: Vec::new(),
            method_lines: Vec::new(),
            whole_methods: division::whole_methods(tree),
            shared: division::shared_names(tree),
            own: Vec::new(),
            in_class: None,
            json: Vec::new(),
            delegates: Vec::new(),
            in_method: false,
            refusals: Vec::new(),
            doubts: Vec::new(),
        }
    }

    fn is_groovy(&self) -> bool {
        self.dialect == Dialect::Groovy
    }

    fn refuse(&mut self, line: u32, kind: RefusalKind, what: impl ToString) {
        self.refusals.push(Refusal::new(line, kind, what));
    }

    /// Imports packages, classes and static members. A class that is not known must be one that exists in
    /// JMeter.
    fn import(&mut self, tree: &Tree) {
        for import in &tree.imports {
            let name = &import.name;
            if import.is_static {
                self.import_static(import);
            } else if let Some(package) = name.strip_suffix(".*") {
                self.packages.push(package.to_owned());
            } else if let Some(class) = CLASSES.qualified(name) {
                match &import.alias {
                    Some(alias) => self.aliases.push((alias.clone(), class.name)),
                    None => self.classes.push(name.clone()),
                }
            } else if !KNOWN_PACKAGES
                .iter()
                .any(|package| name.starts_with(package))
            {
                self.refuse(import.line, RefusalKind::Class, name);
            }
        }
    }

    fn import_static(&mut self, import: &Import) {
        let (owner, member) = import.name.rsplit_once('.').unwrap_or_default();
        match (CLASSES.qualified(owner), &import.alias) {
            (Some(class), None) => self.statics.push((class.name, member.to_owned())),
            (Some(_), Some(_)) => {
                self.refuse(import.line, RefusalKind::Construct, "import static … as");
            }
            (None, _) => self.refuse(import.line, RefusalKind::Class, owner),
        }
    }

    /// The class of an imported static member.
    fn imported_static(
        &self,
        kind: MemberKind,
        (name, arguments): (&str, usize),
    ) -> Option<&'static str> {
        let imports = self.statics.iter().rev();
        let mut named = imports.filter(|(_, member)| member == name || member == "*");
        let has = |class: &str| {
            let wanted = (name, arguments);
            !CLASSES
                .members(class, kind, wanted, self.dialect)
                .is_empty()
        };
        named.find(|(class, _)| has(class)).map(|(class, _)| *class)
    }

    /// The class with a simple or qualified name, if it is in the library and the script sees it.
    fn class(&self, name: &str) -> Option<&'static Class> {
        if let Some((outer, inner)) = name.split_once('.') {
            return CLASSES.qualified(name).or_else(|| {
                let outer = self.class(outer)?;
                CLASSES.qualified(&format!("{}.{inner}", outer.qualified))
            });
        }
        if let Some((_, class)) = self.aliases.iter().rfind(|(alias, _)| alias == name) {
            return CLASSES.get(class);
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
            "float" => return "Float",
            "boolean" => return "Boolean",
            "char" => return "Character",
            "byte" => return "Byte",
            "" | "def" | "void" | "Object" => return "",
            _ if self.own_class(name).is_some() => return "",
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
                self.method_lines.push(statement.line);
            }
        }
        self.collect_classes(tree);
        let head = self.defined_classes(tree) + &self.script_fields(tree);
        let body = head + &self.block(&tree.statements, true);
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
