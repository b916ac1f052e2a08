//! `value.with { … }`: calls without an object are those of the value first.
//!
//! The class of the value is known, so that it is known which calls are its own. Names that might be properties of the
//! value as well as variables are refused.

use super::{Code, Translator, mark, quoted};
use crate::RefusalKind;
use crate::ast::{Expr, ExprKind};
use crate::library::{CLASSES, MemberKind};

/// Methods that a closure has itself, so that they are not those of the value.
pub(super) const OF_CLOSURES: &[&str] = &[
    "any",
    "asType",
    "call",
    "clone",
    "collect",
    "curry",
    "dump",
    "each",
    "eachWithIndex",
    "equals",
    "every",
    "find",
    "findAll",
    "findIndexOf",
    "findIndexValues",
    "findLastIndexOf",
    "findResult",
    "getAt",
    "getClass",
    "getDelegate",
    "getOwner",
    "getProperties",
    "grep",
    "hashCode",
    "inject",
    "inspect",
    "is",
    "isCase",
    "iterator",
    "memoize",
    "notify",
    "print",
    "printf",
    "println",
    "putAt",
    "run",
    "sleep",
    "split",
    "sprintf",
    "stream",
    "tap",
    "toString",
    "use",
    "wait",
    "with",
];

/// The value of an enclosing `with`.
pub(super) struct Delegate {
    class: &'static str,
    /// Its variable in JavaScript.
    variable: String,
}

impl Translator<'_> {
    /// `with` and `tap` of a value of a known class; `None`: the call is another one.
    pub(super) fn with(&mut self, owner: &Code, name: &str, arguments: &[Expr]) -> Option<Code> {
        let [closure] = arguments else {
            return None;
        };
        let is_closure = match &closure.kind {
            ExprKind::Closure { parameters, .. } => parameters
                .as_ref()
                .is_none_or(|parameters| parameters.len() == 1),
            _ => false,
        };
        // Keys of maps are properties that only the run knows.
        let is_map = ["Map", "HashMap", "LinkedHashMap", "TreeMap"].contains(&owner.class);
        let is_known = !owner.class.is_empty() && !is_map && owner.class != "Object";
        if !matches!(name, "with" | "tap") || !self.is_groovy() || !is_closure || !is_known {
            return None;
        }
        let variable = self.scopes.fresh();
        self.delegates.push(Delegate {
            class: owner.class,
            variable: variable.clone(),
        });
        let body = self.value(closure).text;
        self.delegates.pop();
        let called = format!("$.call({body},\"call\",[{variable}])");
        let (value, class) = match name {
            "tap" => (format!("({called},{variable})"), owner.class),
            _ => (called, ""),
        };
        Some(Code::new(
            format!("(({variable})=>{value})({})", owner.text),
            class,
        ))
    }

    /// A call of a method of the value of an enclosing `with`.
    pub(super) fn delegated(&mut self, line: u32, name: &str, arguments: &[Expr]) -> Option<Code> {
        if OF_CLOSURES.contains(&name) {
            return None;
        }
        let wanted = (name, arguments.len());
        let (variable, class) = self.delegates.iter().rev().find_map(|delegate| {
            let found = CLASSES.members(delegate.class, MemberKind::Method, wanted, self.dialect);
            let first = found.first()?;
            let same = found.iter().all(|method| method.result == first.result);
            let class = if same { first.result } else { "" };
            Some((delegate.variable.clone(), class))
        })?;
        let arguments = self.list(arguments);
        Some(Code::new(
            format!(
                "$.call({variable},{}{},{arguments})",
                mark(line),
                quoted(name)
            ),
            class,
        ))
    }

    /// Refuses a name that is no local variable and may be a property of the value of an enclosing `with`.
    pub(super) fn refuse_delegated(&mut self, line: u32, name: &str) {
        let mut letters = name.chars();
        let capital: String = letters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .collect();
        let rest = letters.as_str();
        let accessors = [("get", 0), ("is", 0), ("set", 1)];
        let is_property = self.delegates.iter().any(|delegate| {
            accessors.iter().any(|(prefix, count)| {
                let accessor = format!("{prefix}{capital}{rest}");
                let wanted = (accessor.as_str(), *count);
                let found =
                    CLASSES.members(delegate.class, MemberKind::Method, wanted, self.dialect);
                !found.is_empty()
            })
        });
        if is_property {
            self.refuse(line, RefusalKind::Construct, format!("with {{ {name} }}"));
        }
    }
}
