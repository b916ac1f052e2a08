//! The classes and members that scripts can use, out of `library.txt`.
//!
//! ```text
//! class NAME QUALIFIED [: PARENT]
//!   NAME(TYPE, TYPE…) RESULT       method; `+` in front: of Groovy alone
//!   new(TYPE)                      constructor
//!   static NAME(TYPE) RESULT       static method
//!   static NAME: TYPE              static field
//! ```
//!
//! A type that ends in `...` takes any number of arguments, one that ends in `?` also null.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{Dialect, LIBRARY};

/// The library.
pub(crate) static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::read(LIBRARY));

/// All classes.
pub(crate) struct Classes {
    by_name: HashMap<&'static str, Class>,
    by_qualified: HashMap<&'static str, &'static str>,
}

/// A class.
pub(crate) struct Class {
    pub name: &'static str,
    pub qualified: &'static str,
    parent: &'static str,
    members: Vec<Member>,
}

/// Kinds of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Method,
    Static,
    Constructor,
    Field,
}

/// A member.
pub(crate) struct Member {
    pub kind: MemberKind,
    name: &'static str,
    is_groovys: bool,
    parameters: usize,
    takes_more: bool,
    /// The class of its value; empty: unknown.
    pub result: &'static str,
}

impl Member {
    /// BeanShell knows no variable number of arguments: there the last one is an array.
    fn takes(&self, arguments: usize, dialect: Dialect) -> bool {
        match self.takes_more && dialect == Dialect::Groovy {
            true => arguments + 1 >= self.parameters,
            false => arguments == self.parameters,
        }
    }
}

impl Classes {
    fn read(text: &'static str) -> Self {
        let (mut by_name, mut by_qualified) = (HashMap::new(), HashMap::new());
        let mut current: Option<Class> = None;
        for line in text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        {
            if let Some(head) = line.strip_prefix("class ") {
                if let Some(done) = current.take() {
                    by_name.insert(done.name, done);
                }
                let (names, parent) = head.split_once(" : ").unwrap_or((head, ""));
                let (name, qualified) = names.split_once(' ').unwrap_or((names, ""));
                by_qualified.insert(qualified, name);
                current = Some(Class {
                    name,
                    qualified,
                    parent,
                    members: Vec::new(),
                });
            } else if let Some(class) = &mut current {
                class.members.extend(member(line.trim()));
            }
        }
        if let Some(done) = current {
            by_name.insert(done.name, done);
        }
        Self {
            by_name,
            by_qualified,
        }
    }

    /// The class with this simple name.
    pub fn get(&self, name: &str) -> Option<&Class> {
        self.by_name.get(name)
    }

    /// The class with this qualified name.
    pub fn qualified(&self, name: &str) -> Option<&Class> {
        self.get(self.by_qualified.get(name)?)
    }

    /// Members of a class and its parents with this name that take so many arguments.
    pub fn members<'a>(
        &'a self,
        class: &str,
        kind: MemberKind,
        (name, arguments): (&'a str, usize),
        dialect: Dialect,
    ) -> Vec<&'a Member> {
        let mut found = Vec::new();
        let mut at = self.get(class);
        while let Some(class) = at {
            found.extend(class.members.iter().filter(|member| {
                member.kind == kind
                    && member.name == name
                    && (kind == MemberKind::Field || member.takes(arguments, dialect))
                    && (!member.is_groovys || dialect == Dialect::Groovy)
            }));
            at = match kind {
                MemberKind::Method if class.parent.is_empty() && class.name != "Object" => {
                    self.get("Object")
                }
                MemberKind::Method => self.get(class.parent),
                _ => None,
            };
        }
        found
    }

    /// True if any class has a method with this name that takes so many arguments.
    pub fn any_has(&self, name: &str, arguments: usize, dialect: Dialect) -> bool {
        let mut names = self.by_name.keys();
        names.any(|class| {
            let members = self.members(class, MemberKind::Method, (name, arguments), dialect);
            !members.is_empty()
        })
    }
}

fn member(line: &'static str) -> Option<Member> {
    let (is_groovys, line) = match line.strip_prefix('+') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (is_static, line) = match line.strip_prefix("static ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let Some((name, rest)) = line.split_once('(') else {
        let (name, result) = line.split_once(": ")?;
        let kind = MemberKind::Field;
        return Some(Member {
            kind,
            name,
            is_groovys,
            parameters: 0,
            takes_more: false,
            result: known(result),
        });
    };
    let (parameters, result) = rest.split_once(')')?;
    let kind = match (name, is_static) {
        ("new", _) => MemberKind::Constructor,
        (_, true) => MemberKind::Static,
        (_, false) => MemberKind::Method,
    };
    let count = match parameters {
        "" => 0,
        parameters => parameters.split(',').count(),
    };
    let takes_more = parameters.ends_with("...");
    Some(Member {
        kind,
        name,
        is_groovys,
        parameters: count,
        takes_more,
        result: known(result.trim()),
    })
}

/// The class of a value as checks know it.
fn known(result: &'static str) -> &'static str {
    match result {
        "int" => "Integer",
        "long" => "Long",
        "double" => "Double",
        "float" => "Float",
        "boolean" => "Boolean",
        "char" => "Character",
        "Object" | "Number" | "void" => "",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_members_and_classes_name_exist() {
        for class in CLASSES.by_name.values() {
            let parent = Some(class.parent).filter(|parent| !parent.is_empty());
            let results = class.members.iter().map(|member| member.result);
            for name in parent
                .into_iter()
                .chain(results.filter(|name| !name.is_empty()))
            {
                assert!(
                    CLASSES.get(name).is_some(),
                    "`{}` names `{name}`",
                    class.name
                );
            }
        }
    }
}
