//! The execution of a script.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::super::{Fact, World};
use super::arithmetic::{self, Mistake};
use super::map::HashTable;
use super::methods::{self, Surroundings};
use super::text::Patterns;
use super::tree::{Expr, JexlKind, Lambda, Operator, Statement};
use super::value::{Host, Value};
use super::{Dialect, java};

/// Most steps of one script.
const MOST_STEPS: u32 = 500_000;
/// Characters or values that cost one step.
const STEP_SIZE: u32 = 256;
/// Deepest nesting of the script's own functions.
const MOST_CALLS: u32 = 8;

/// Executes a script; its value as a text, empty for null.
pub(super) fn run(
    script: &[Statement],
    dialect: Dialect,
    world: &mut dyn World,
) -> Result<String, String> {
    let mut interpreter = Interpreter {
        world,
        dialect,
        patterns: Patterns::default(),
        names: HashMap::new(),
        globals: HashMap::new(),
        steps: 0,
        calls: 0,
    };
    let value = match interpreter.block(script) {
        Ok(value) | Err(Leave::Return(value)) => value,
        Err(Leave::Fault(mistake)) => return Err(mistake.why()),
        Err(Leave::Break | Leave::Continue) => Value::Null,
    };
    match value {
        Value::Null => Ok(String::new()),
        value => value.shown(),
    }
}

/// Reason why the execution does not go on with the next expression.
enum Leave {
    Fault(Mistake),
    Return(Value),
    Break,
    Continue,
}

impl From<Mistake> for Leave {
    fn from(mistake: Mistake) -> Self {
        Self::Fault(mistake)
    }
}

fn undefined(name: &str) -> Leave {
    let why = format!("the variable `{name}` is not defined");
    Leave::Fault(Mistake::Undefined(why))
}

fn fault(why: impl Into<String>) -> Leave {
    Leave::Fault(Mistake::Other(why.into()))
}

type Outcome = Result<Value, Leave>;

struct Interpreter<'a> {
    world: &'a mut dyn World,
    dialect: Dialect,
    patterns: Patterns,
    /// Values of names that `var`, a loop or a parameter declares.
    names: HashMap<Rc<str>, Value>,
    /// Values of other names.
    globals: HashMap<Rc<str>, Value>,
    steps: u32,
    calls: u32,
}

impl Interpreter<'_> {
    fn step(&mut self) -> Result<(), Leave> {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => Err(fault(
                "the script does not end: it exceeded its number of steps",
            )),
            false => Ok(()),
        }
    }

    /// Counts the work on a value as steps.
    fn charge(&mut self, value: &Value) -> Result<(), Leave> {
        self.steps += arithmetic::size(value).unsigned_abs() / STEP_SIZE;
        self.step()
    }

    fn block(&mut self, statements: &[Statement]) -> Outcome {
        let mut value = Value::Null;
        for statement in statements {
            value = self.statement(statement)?;
        }
        Ok(value)
    }

    fn statement(&mut self, statement: &Statement) -> Outcome {
        self.step()?;
        match statement {
            Statement::Nothing => Ok(Value::Null),
            Statement::Expression(value) => self.value(value),
            Statement::Var(name, value) => {
                let value = match value {
                    Some(value) => self.value(value)?,
                    None => Value::Null,
                };
                self.names.insert(Rc::clone(name), value.clone());
                Ok(value)
            }
            Statement::Block(inner) => self.block(inner),
            Statement::If(branches, last) => {
                for (condition, then) in branches {
                    if self.holds(condition)? {
                        return self.statement(then);
                    }
                }
                match last {
                    Some(last) => self.statement(last),
                    None => Ok(Value::Null),
                }
            }
            Statement::For(name, items, body) => self.for_each(name, items, body),
            Statement::While(condition, body) => {
                let mut value = Value::Null;
                while self.holds(condition)? {
                    match self.pass(body)? {
                        Some(last) => value = last,
                        None => break,
                    }
                }
                Ok(value)
            }
            Statement::DoWhile(body, condition) => {
                let mut value = Value::Null;
                while let Some(last) = self.pass(body)? {
                    value = last;
                    if !self.holds(condition)? {
                        break;
                    }
                }
                Ok(value)
            }
            Statement::Return(value) => Err(Leave::Return(self.value(value)?)),
            Statement::Break => Err(Leave::Break),
            Statement::Continue => Err(Leave::Continue),
        }
    }

    /// One pass of a loop; `None`: it is left.
    fn pass(&mut self, body: &Statement) -> Result<Option<Value>, Leave> {
        match self.statement(body) {
            Ok(value) => Ok(Some(value)),
            Err(Leave::Break) => Ok(None),
            Err(Leave::Continue) => Ok(Some(Value::Null)),
            Err(other) => Err(other),
        }
    }

    fn for_each(&mut self, name: &Rc<str>, items: &Expr, body: &Statement) -> Outcome {
        let items: Box<dyn Iterator<Item = Value>> = match self.value(items)? {
            Value::List(items) | Value::Array(items) => {
                Box::new(items.borrow().clone().into_iter())
            }
            Value::Set(table) => {
                let keys: Vec<Value> = table.borrow().keys().cloned().collect();
                Box::new(keys.into_iter())
            }
            Value::Map(table) => {
                let values = table.borrow();
                let values: Vec<Value> = values.entries().map(|(_, v)| v.clone()).collect();
                Box::new(values.into_iter())
            }
            Value::Range(from, to) => {
                let whole = |number: i64| Value::whole(number.into());
                match from <= to {
                    true => Box::new((from..=to).map(whole)),
                    false => Box::new((to..=from).rev().map(whole)),
                }
            }
            _ => return Ok(Value::Null),
        };
        let mut last = Value::Null;
        for item in items {
            self.names.insert(Rc::clone(name), item);
            match self.pass(body)? {
                Some(value) => last = value,
                None => break,
            }
        }
        Ok(last)
    }

    fn holds(&mut self, condition: &Expr) -> Result<bool, Leave> {
        let value = self.value(condition)?;
        Ok(arithmetic::to_flag(&value)?)
    }

    fn value(&mut self, expr: &Expr) -> Outcome {
        self.step()?;
        match &expr.kind {
            JexlKind::Const(value) => Ok(value.clone()),
            JexlKind::Hole => Ok(Value::Null),
            JexlKind::Name(name) => self.named(name),
            JexlKind::Group(inner) => self.value(inner),
            JexlKind::Binary(operator, a, b) => self.binary(*operator, a, b),
            JexlKind::And(a, b) => Ok(Value::Flag(self.holds(a)? && self.holds(b)?)),
            JexlKind::Or(a, b) => Ok(Value::Flag(self.holds(a)? || self.holds(b)?)),
            JexlKind::Not(a) => {
                let value = self.operand(a)?;
                Ok(Value::Flag(!arithmetic::to_flag(&value)?))
            }
            JexlKind::Minus(a) => Ok(arithmetic::negated(&self.value(a)?)?),
            JexlKind::Plus(a) => Ok(arithmetic::positive(&self.value(a)?)?),
            JexlKind::Complement(a) => {
                let value = self.operand(a)?;
                Ok(Value::Long(!arithmetic::to_long(&value)?))
            }
            JexlKind::Empty(a) => Ok(Value::Flag(match self.value(a) {
                Ok(value) => arithmetic::is_empty(&value),
                Err(leave) if self.dialect == Dialect::Jexl2 => return Err(leave),
                Err(_) => true,
            })),
            JexlKind::Size(a) => Ok(Value::Int(match self.value(a) {
                Ok(value) => arithmetic::size(&value),
                Err(_) => 0,
            })),
            JexlKind::Ternary(..) | JexlKind::Elvis(..) | JexlKind::OrNull(..) => {
                self.choice(&expr.kind)
            }
            JexlKind::List(..) | JexlKind::Set(_) | JexlKind::Map(_) => self.collection(&expr.kind),
            JexlKind::Assign(operator, target, value) => self.assign(*operator, target, value),
            JexlKind::Member(object, name, safe) => {
                let key = Value::Text(Rc::clone(name));
                self.member(object, &key, *safe)
            }
            JexlKind::Index(object, index) => {
                let held = self.object(object)?;
                let key = self.value(index)?;
                self.member_of(&held, &key)
            }
            JexlKind::Method(object, name, arguments) => self.method(object, name, arguments),
            JexlKind::Call(name, arguments) => {
                let called = self.find(name);
                let arguments = self.all(arguments)?;
                match called {
                    Some(Value::Lambda(lambda)) => self.invoke(&lambda, arguments),
                    _ if self.dialect == Dialect::Jexl3 => converted(name, &arguments),
                    _ => Err(fault(format!("there is no function `{name}`"))),
                }
            }
            JexlKind::Invoke(function, arguments) => {
                let function = self.value(function)?;
                let arguments = self.all(arguments)?;
                match function {
                    Value::Lambda(lambda) => self.invoke(&lambda, arguments),
                    other => Err(fault(format!("a {} cannot be called", other.class()))),
                }
            }
            JexlKind::New(arguments) => self.make(arguments),
            JexlKind::Lambda(lambda) => Ok(Value::Lambda(Rc::clone(lambda))),
        }
    }

    fn all(&mut self, all: &[Expr]) -> Result<Vec<Value>, Leave> {
        all.iter().map(|expr| self.value(expr)).collect()
    }

    fn named(&mut self, name: &str) -> Outcome {
        match self.find(name) {
            Some(value) => Ok(value),
            None => Err(undefined(name)),
        }
    }

    fn find(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.names.get(name).or_else(|| self.globals.get(name)) {
            return Some(value.clone());
        }
        if name == "threadName" {
            let mut said = String::new();
            self.world.write_fact(Fact::UserName, &mut said);
            return Some(Value::text(said));
        }
        Host::named(name).map(Value::Host)
    }

    /// An operand of a strict operator: a name whose value is null is an error.
    fn operand(&mut self, expr: &Expr) -> Outcome {
        let value = self.value(expr)?;
        match (&expr.kind, &value, self.dialect) {
            (JexlKind::Name(_), Value::Null, Dialect::Jexl3) => Err(Leave::Fault(Mistake::Null)),
            _ => Ok(value),
        }
    }

    fn binary(&mut self, operator: Operator, a: &Expr, b: &Expr) -> Outcome {
        let (left, right) = match operator {
            Operator::Equal | Operator::Unequal => (self.value(a)?, self.value(b)?),
            _ => (self.operand(a)?, self.operand(b)?),
        };
        let patterns = &mut self.patterns;
        let value = arithmetic::binary(operator, &left, &right, self.dialect, patterns)?;
        self.charge(&value)?;
        Ok(value)
    }

    /// The value of a condition that may be null or not defined.
    fn protected(&mut self, condition: &Expr) -> Outcome {
        let is_reference = matches!(
            condition.kind,
            JexlKind::Name(_) | JexlKind::Member(..) | JexlKind::Index(..)
        );
        match self.value(condition) {
            Err(Leave::Fault(Mistake::Null)) => Ok(Value::Null),
            Err(Leave::Fault(Mistake::Undefined(_))) if is_reference => Ok(Value::Null),
            other => other,
        }
    }

    fn choice(&mut self, kind: &JexlKind) -> Outcome {
        let holds = |value: &Value| match value {
            Value::Null => Ok(false),
            value => arithmetic::to_flag(value),
        };
        match kind {
            JexlKind::Ternary(condition, yes, no) => {
                let condition = self.protected(condition)?;
                match holds(&condition)? {
                    true => self.value(yes),
                    false => self.value(no),
                }
            }
            JexlKind::Elvis(first, second) => {
                let first = self.protected(first)?;
                match holds(&first)? {
                    true => Ok(first),
                    false => self.value(second),
                }
            }
            JexlKind::OrNull(first, second) => match self.protected(first)? {
                Value::Null => self.value(second),
                first => Ok(first),
            },
            _ => Ok(Value::Null),
        }
    }

    fn collection(&mut self, kind: &JexlKind) -> Outcome {
        match kind {
            JexlKind::List(items, true) => Ok(Value::list(self.all(items)?)),
            JexlKind::List(items, false) => Ok(Value::array(self.all(items)?)),
            JexlKind::Set(items) => {
                let mut table = HashTable::sized(items.len());
                for item in self.all(items)? {
                    table.put(item, Value::Null);
                }
                Ok(Value::Set(Rc::new(RefCell::new(table))))
            }
            JexlKind::Map(entries) => {
                let mut table = HashTable::sized(entries.len());
                for (key, value) in entries {
                    let key = self.value(key)?;
                    table.put(key, self.value(value)?);
                }
                Ok(Value::Map(Rc::new(RefCell::new(table))))
            }
            _ => Ok(Value::Null),
        }
    }

    fn assign(&mut self, operator: Option<Operator>, target: &Expr, value: &Expr) -> Outcome {
        let mut value = self.value(value)?;
        match &target.kind {
            JexlKind::Name(name) => {
                if let Some(operator) = operator {
                    let before = self.named(name)?;
                    let (dialect, patterns) = (self.dialect, &mut self.patterns);
                    value = arithmetic::binary(operator, &before, &value, dialect, patterns)?;
                }
                let scope = match self.names.contains_key(name) {
                    true => &mut self.names,
                    false => &mut self.globals,
                };
                scope.insert(Rc::clone(name), value.clone());
                Ok(value)
            }
            JexlKind::Member(object, name, _) => {
                if let Some(path) = self.dotted(object) {
                    let name = format!("{path}.{name}").into();
                    self.globals.insert(name, value.clone());
                    return Ok(value);
                }
                let key = Value::Text(Rc::clone(name));
                self.set_member(object, &key, value)
            }
            JexlKind::Index(object, index) => {
                let key = self.value(index)?;
                self.set_member(object, &key, value)
            }
            _ => Err(fault("the value cannot be assigned")),
        }
    }

    fn set_member(&mut self, object: &Expr, key: &Value, value: Value) -> Outcome {
        let object = self.value(object)?;
        let given = value.clone();
        match methods::set_member(&object, key, value, self.world) {
            Some(Ok(())) => Ok(given),
            Some(Err(why)) => Err(fault(why)),
            None => Err(fault(format!("a {} has no such member", object.class()))),
        }
    }

    /// An object whose member is asked for: a name that is not defined is null there, too.
    fn object(&mut self, expr: &Expr) -> Outcome {
        match &expr.kind {
            JexlKind::Name(name) => Ok(self.find(name).unwrap_or(Value::Null)),
            JexlKind::Member(..) if self.dotted(expr).is_some() => {
                Ok(self.value(expr).unwrap_or(Value::Null))
            }
            _ => self.value(expr),
        }
    }

    /// The name with dots of a reference whose first name has no value: JEXL takes it for the name
    /// of one variable.
    fn dotted(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            JexlKind::Name(name) if self.find(name).is_none() => Some(name.to_string()),
            JexlKind::Member(object, name, false) => {
                Some(format!("{}.{name}", self.dotted(object)?))
            }
            _ => None,
        }
    }

    fn member(&mut self, object: &Expr, key: &Value, safe: bool) -> Outcome {
        let held = self.object(object)?;
        match (&held, &object.kind) {
            (Value::Null, _) if !safe => match (self.dotted(object), key) {
                (Some(path), Value::Text(name)) => {
                    let name = format!("{path}.{name}");
                    let found = self.globals.get(name.as_str()).cloned();
                    found.ok_or_else(|| undefined(&name))
                }
                _ => Ok(Value::Null),
            },
            _ => self.member_of(&held, key),
        }
    }

    fn member_of(&mut self, object: &Value, key: &Value) -> Outcome {
        if matches!(object, Value::Null) {
            return Ok(Value::Null);
        }
        match methods::member(object, key, self.world) {
            Some(found) => found.map_err(fault),
            None => {
                let key = key.shown().unwrap_or_else(|_| key.class().into());
                let why = format!("a {} has no member `{key}`", object.class());
                Err(Leave::Fault(Mistake::Undefined(why)))
            }
        }
    }

    fn method(&mut self, object: &Expr, name: &str, arguments: &[Expr]) -> Outcome {
        let held = self.object(object)?;
        if let (Value::Null, JexlKind::Name(name)) = (&held, &object.kind)
            && self.find(name).is_none()
        {
            return Err(undefined(name));
        }
        if matches!(held, Value::Null) {
            return match self.dialect {
                Dialect::Jexl2 => Err(Leave::Fault(Mistake::Null)),
                Dialect::Jexl3 => Ok(Value::Null),
            };
        }
        let arguments = self.all(arguments)?;
        self.charge(&held)?;
        for argument in &arguments {
            self.charge(argument)?;
        }
        if let Value::Map(table) = &held {
            let found = table.borrow().get(&Value::text(name)).cloned();
            if let Some(Value::Lambda(lambda)) = found {
                return self.invoke(&lambda, arguments);
            }
        }
        let mut around = Surroundings {
            world: &mut *self.world,
            patterns: &mut self.patterns,
        };
        match methods::call(&held, name, &arguments, &mut around) {
            Some(done) => done.map_err(fault),
            None => {
                let classes: Vec<_> = arguments.iter().map(Value::class).collect();
                let (class, classes) = (held.class(), classes.join(", "));
                Err(fault(format!(
                    "a {class} has no method `{name}({classes})`"
                )))
            }
        }
    }

    fn invoke(&mut self, lambda: &Lambda, arguments: Vec<Value>) -> Outcome {
        if self.calls >= MOST_CALLS {
            return Err(fault("functions are nested too deeply"));
        }
        let outer = self.names.clone();
        let given = arguments.into_iter().chain(std::iter::repeat(Value::Null));
        for (name, value) in lambda.parameters.iter().zip(given) {
            self.names.insert(Rc::clone(name), value);
        }
        self.calls += 1;
        let value = self.block(&lambda.body);
        self.calls -= 1;
        self.names = outer;
        match value {
            Err(Leave::Return(value)) => Ok(value),
            other => other,
        }
    }

    fn make(&mut self, arguments: &[Expr]) -> Outcome {
        let arguments = self.all(arguments)?;
        match arguments.split_first() {
            Some((Value::Text(class), rest)) => {
                java::make(class, rest, self.world.now_ms()).map_err(fault)
            }
            _ => Err(fault("`new` takes the name of a class")),
        }
    }
}

/// The value of one of JEXL's own functions.
fn converted(name: &str, arguments: &[Value]) -> Outcome {
    let [value] = arguments else {
        return Err(fault(format!(
            "there is no function `{name}` with these arguments"
        )));
    };
    Ok(match name {
        "toBoolean" => Value::Flag(arithmetic::to_flag(value)?),
        "toDouble" => Value::Double(arithmetic::to_double(value)?),
        "toInteger" => Value::Int(arithmetic::to_long(value)? as i32),
        "toLong" => Value::Long(arithmetic::to_long(value)?),
        "toString" => Value::text(arithmetic::to_text(value)?),
        _ => return Err(fault(format!("there is no function `{name}`"))),
    })
}
