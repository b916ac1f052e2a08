//! Divisions of Groovy that are whole.
//!
//! Groovy's `/` of whole numbers gives a `BigDecimal`. But where the quotient becomes a primitive number at once and
//! both operands are primitive by their declarations, its compiler divides as Java does:
//!
//! ```text
//! int a = 7
//! double d = a / 2        3.0
//! double e = a / 2 + 0    3.5: the sum becomes a number, not the quotient
//! def f = a / 2           3.5
//! ```

use std::collections::HashSet;

use super::{Code, Translator};
use crate::ast::{Expr, ExprKind, NumberKind, Statement, StatementKind, Tree, walk};

/// Types that make a quotient whole when it is assigned to them.
const TARGETS: &[&str] = &["int", "long", "short", "byte", "double", "float"];
/// Types of operands of whole divisions.
const OPERANDS: &[&str] = &["int", "long", "short", "byte"];
/// Operators whose value is primitive if their operands are.
const OPERATORS: &[&str] = &["+", "-", "*", "%", "<<", ">>", ">>>", "&", "|", "^"];

/// Names that closures use and do not declare: such a variable is an object, whatever its type.
pub(super) fn shared_names(tree: &Tree) -> HashSet<String> {
    let mut shared = HashSet::new();
    for statement in &tree.statements {
        walk(statement, &mut |expression: &Expr| {
            if let ExprKind::Closure { parameters, body } = &expression.kind {
                let mut own: HashSet<&str> = parameters
                    .iter()
                    .flatten()
                    .map(|parameter| parameter.name.as_str())
                    .collect();
                let mut used = Vec::new();
                for statement in body {
                    declared_in(statement, &mut own);
                    walk(statement, &mut |inner: &Expr| {
                        if let ExprKind::Name(name) = &inner.kind {
                            used.push(name.clone());
                        }
                    });
                }
                shared.extend(used.into_iter().filter(|name| !own.contains(name.as_str())));
            }
        });
    }
    shared
}

/// Adds the variables that a statement of a closure declares itself.
fn declared_in<'t>(statement: &'t Statement, own: &mut HashSet<&'t str>) {
    if let StatementKind::Declare { names, .. } = &statement.kind {
        own.extend(names.iter().map(|(name, _)| name.as_str()));
    }
}

impl Translator<'_> {
    /// A value on its way into something of a declared type.
    pub(super) fn value_for(&mut self, declared: &str, value: &Expr) -> Code {
        if let ExprKind::Binary(operator, a, b) = &value.kind
            && *operator == "/"
            && self.is_groovy()
            && TARGETS.contains(&declared)
            && self.is_primitive(a)
            && self.is_primitive(b)
        {
            let (a, b) = (self.value(a).text, self.value(b).text);
            return Code::new(format!("$.quotient({a},{b})"), "");
        }
        self.value(value)
    }

    /// The declared type of a variable that is no object.
    fn primitive_of(&self, name: &str) -> Option<&str> {
        let variable = self.scopes.find(name)?;
        let is_plain = !variable.is_item && !self.shared.contains(name);
        is_plain.then_some(variable.declared.as_str())
    }

    /// The declared type of what is assigned to; empty: none.
    pub(super) fn target_type(&self, to: &Expr) -> String {
        let declared = match &to.kind {
            ExprKind::Name(name) => self.primitive_of(name),
            ExprKind::Index { of, .. } => match &of.kind {
                ExprKind::Name(name) => self
                    .primitive_of(name)
                    .and_then(|declared| declared.strip_suffix("[]")),
                _ => None,
            },
            _ => None,
        };
        declared.unwrap_or_default().to_owned()
    }

    /// True if the compiler takes an expression for a primitive whole number.
    fn is_primitive(&self, of: &Expr) -> bool {
        let is_operand = |declared: &str| OPERANDS.contains(&declared);
        match &of.kind {
            ExprKind::Number(NumberKind::Integer, digits) => digits.parse::<i32>().is_ok(),
            ExprKind::Number(kind, _) => *kind == NumberKind::Long,
            ExprKind::Name(_) | ExprKind::Index { .. } => is_operand(&self.target_type(of)),
            ExprKind::Step { of, .. } => self.is_primitive(of),
            ExprKind::Binary(operator, a, b) => {
                OPERATORS.contains(operator) && self.is_primitive(a) && self.is_primitive(b)
            }
            ExprKind::Unary(operator, of) => {
                *operator == "-" && matches!(of.kind, ExprKind::Number(..)) && self.is_primitive(of)
            }
            ExprKind::Cast(class, _) | ExprKind::As(_, class) => is_operand(class),
            ExprKind::Call {
                of: None,
                name: crate::ast::Member::Fixed(name),
                ..
            } => self.whole_methods.contains(name),
            _ => false,
        }
    }
}

/// Methods of a script that give a primitive whole number.
pub(super) fn whole_methods(tree: &Tree) -> HashSet<String> {
    let methods = tree
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Method(method) if OPERANDS.contains(&method.class.as_str()) => {
                Some(method.name.clone())
            }
            _ => None,
        });
    methods.collect()
}
