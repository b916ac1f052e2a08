//! The search for constructs that are not supported, before the test.

use super::java::CLASSES;
use super::methods::is_method;
use super::tree::{Expr, JexlKind, Statement};
use super::value::{Host, Value};

/// JEXL's own functions.
const FUNCTIONS: &[&str] = &["toBoolean", "toDouble", "toInteger", "toLong", "toString"];

/// Members of JMeter's objects that can be read like properties.
const MEMBERS: &[&str] = &[
    "name",
    "thread",
    "threadGroup",
    "threadName",
    "threadNum",
    "iteration",
    "variables",
    "properties",
    "currentSampler",
    "time",
    "empty",
];

/// The first construct of a script that is not supported; `None`: all are.
pub(super) fn unsupported(script: &[Statement]) -> Option<String> {
    let mut examination = Examination { names: Vec::new() };
    examination.block(script)
}

struct Examination {
    /// Names that the script gives to values.
    names: Vec<String>,
}

impl Examination {
    fn block(&mut self, statements: &[Statement]) -> Option<String> {
        statements
            .iter()
            .find_map(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Option<String> {
        match statement {
            Statement::Nothing | Statement::Break | Statement::Continue => None,
            Statement::Expression(value) | Statement::Return(value) => self.expression(value),
            Statement::Var(name, value) => {
                self.names.push(name.to_string());
                value.as_ref().and_then(|value| self.expression(value))
            }
            Statement::Block(inner) => self.block(inner),
            Statement::If(branches, last) => {
                let mut found = None;
                for (condition, then) in branches {
                    found = found.or_else(|| self.expression(condition));
                    found = found.or_else(|| self.statement(then));
                }
                found.or_else(|| last.as_ref().and_then(|last| self.statement(last)))
            }
            Statement::For(name, items, body) => {
                self.names.push(name.to_string());
                self.expression(items).or_else(|| self.statement(body))
            }
            Statement::While(condition, body) | Statement::DoWhile(body, condition) => {
                self.expression(condition).or_else(|| self.statement(body))
            }
        }
    }

    fn all(&mut self, all: &[Expr]) -> Option<String> {
        all.iter().find_map(|expr| self.expression(expr))
    }

    fn expression(&mut self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            JexlKind::Const(_) | JexlKind::Hole => None,
            JexlKind::Name(name) if &**name == "sampleResult" => Some("`sampleResult`".into()),
            JexlKind::Name(_) => None,
            JexlKind::Assign(_, target, value) => {
                if let JexlKind::Name(name) = &target.kind {
                    self.names.push(name.to_string());
                }
                self.expression(target).or_else(|| self.expression(value))
            }
            JexlKind::Binary(_, a, b)
            | JexlKind::And(a, b)
            | JexlKind::Or(a, b)
            | JexlKind::Elvis(a, b)
            | JexlKind::OrNull(a, b)
            | JexlKind::Index(a, b) => self.expression(a).or_else(|| self.expression(b)),
            JexlKind::Not(a)
            | JexlKind::Minus(a)
            | JexlKind::Plus(a)
            | JexlKind::Complement(a)
            | JexlKind::Empty(a)
            | JexlKind::Size(a)
            | JexlKind::Group(a) => self.expression(a),
            JexlKind::Ternary(a, b, c) => {
                let mut all = [a, b, c].into_iter();
                all.find_map(|part| self.expression(part))
            }
            JexlKind::List(items, _) | JexlKind::Set(items) => self.all(items),
            JexlKind::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| self.expression(key).or_else(|| self.expression(value))),
            JexlKind::Member(object, name, _) => {
                self.expression(object).or_else(|| member_of(object, name))
            }
            JexlKind::Method(object, name, arguments) => self
                .expression(object)
                .or_else(|| self.all(arguments))
                .or_else(|| method_of(object, name)),
            JexlKind::Call(name, arguments) => self.all(arguments).or_else(|| {
                let is_known = FUNCTIONS.contains(&&**name)
                    || self.names.iter().any(|known| **known == **name);
                (!is_known).then(|| format!("the function `{name}`"))
            }),
            JexlKind::Invoke(object, arguments) => {
                self.expression(object).or_else(|| self.all(arguments))
            }
            JexlKind::New(arguments) => self.all(arguments).or_else(|| match arguments.first() {
                Some(Expr {
                    kind: JexlKind::Const(Value::Text(class)),
                    ..
                }) if !CLASSES.contains(&&**class) => Some(format!("`new {class}`")),
                _ => None,
            }),
            JexlKind::Lambda(lambda) => {
                let parameters = lambda.parameters.iter().map(ToString::to_string);
                self.names.extend(parameters);
                self.block(&lambda.body)
            }
        }
    }
}

/// A member of an object of JMeter that is not supported.
fn member_of(object: &Expr, name: &str) -> Option<String> {
    let JexlKind::Name(host) = &object.kind else {
        return None;
    };
    let is_closed = matches!(
        Host::named(host),
        Some(Host::Context | Host::Log | Host::Out | Host::Sampler)
    );
    let is_known = name.is_empty() || MEMBERS.contains(&name);
    (is_closed && !is_known).then(|| format!("`{host}.{name}`"))
}

/// A method that no object has.
fn method_of(object: &Expr, name: &str) -> Option<String> {
    if name.is_empty() || is_method(name) {
        return None;
    }
    Some(match &object.kind {
        JexlKind::Name(object) => format!("`{object}.{name}()`"),
        _ => format!("the method `{name}`"),
    })
}
