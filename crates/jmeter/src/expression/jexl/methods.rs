//! Methods and members of objects.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::{Fact, World};
use super::map::HashTable;
use super::text::{self, Patterns};
use super::value::{Host, Value};
use crate::expression::time as dates;
use crate::script::LogLevel;

/// Most values of a list that a script makes.
const MOST_ITEMS: usize = 100_000;

/// Names of the methods of all objects but texts.
const METHODS: &[&str] = &[
    "abs",
    "add",
    "addAll",
    "append",
    "booleanValue",
    "clear",
    "compare",
    "containsAll",
    "containsKey",
    "containsValue",
    "debug",
    "doubleValue",
    "empty",
    "error",
    "floatValue",
    "get",
    "getCurrentSampler",
    "getIteration",
    "getName",
    "getObject",
    "getOrDefault",
    "getProperties",
    "getProperty",
    "getThread",
    "getThreadGroup",
    "getThreadName",
    "getThreadNum",
    "getTime",
    "getVariables",
    "info",
    "intValue",
    "isInfinite",
    "isNaN",
    "keySet",
    "longValue",
    "max",
    "min",
    "nextBoolean",
    "nextDouble",
    "nextInt",
    "nextLong",
    "parse",
    "parseBoolean",
    "parseDouble",
    "parseInt",
    "parseLong",
    "print",
    "println",
    "put",
    "putAll",
    "putIfAbsent",
    "putObject",
    "remove",
    "reverse",
    "set",
    "setLength",
    "setProperty",
    "size",
    "subList",
    "toArray",
    "toHexString",
    "trace",
    "values",
    "warn",
];

/// True if an object has a method of this name.
pub(super) fn is_method(name: &str) -> bool {
    METHODS.contains(&name) || text::METHODS.contains(&name)
}

/// State that methods use beside their object.
pub(super) struct Surroundings<'a> {
    pub world: &'a mut dyn World,
    pub patterns: &'a mut Patterns,
}

type Outcome = Option<Result<Value, String>>;

/// The result of a method; `None`: the object has none with such arguments.
pub(super) fn call(
    object: &Value,
    name: &str,
    arguments: &[Value],
    around: &mut Surroundings<'_>,
) -> Outcome {
    let own = of_class(object, name, arguments, around);
    own.or_else(|| match (name, arguments) {
        // JEXL's own functions can be called on any object.
        ("size", []) => Some(Ok(Value::Int(super::arithmetic::size_or_one(object)))),
        ("empty", []) => Some(Ok(Value::Flag(super::arithmetic::is_empty(object)))),
        _ => None,
    })
}

fn of_class(
    object: &Value,
    name: &str,
    arguments: &[Value],
    around: &mut Surroundings<'_>,
) -> Outcome {
    match (name, arguments) {
        ("equals", [other]) => return Some(Ok(Value::Flag(object.equals(other)))),
        ("toString", []) => return Some(object.shown().map(Value::text)),
        ("hashCode", []) => return Some(Ok(Value::Int(object.hash()))),
        _ => {}
    }
    match object {
        Value::Text(held) => text::call(held, name, arguments, around.patterns),
        Value::Builder(held) => of_builder(held, name, arguments, around),
        Value::List(items) | Value::Array(items) => of_list(items, name, arguments),
        Value::Map(table) => of_map(table, name, arguments),
        Value::Set(table) => of_set(table, name, arguments),
        Value::Flag(flag) => match (name, arguments) {
            ("booleanValue", []) => Some(Ok(Value::Flag(*flag))),
            ("parseBoolean" | "valueOf", [Value::Text(text)]) => {
                Some(Ok(Value::Flag(text.eq_ignore_ascii_case("true"))))
            }
            _ => None,
        },
        Value::Random => of_random(name, arguments, around.world),
        Value::Date(ms) => match (name, arguments) {
            ("getTime", []) => Some(Ok(Value::Long(*ms))),
            _ => None,
        },
        Value::DateFormat(pattern) => of_dates(pattern, name, arguments, around.world),
        Value::Host(host) => of_host(*host, name, arguments, around.world),
        value if value.is_number() => of_number(value, name, arguments),
        _ => None,
    }
}

/// The member of an object, or the value of its key; `None`: it has none.
pub(super) fn member(object: &Value, key: &Value, world: &mut dyn World) -> Outcome {
    let name = match key {
        Value::Text(name) => Some(&**name),
        _ => None,
    };
    let fact = |fact, world: &dyn World| Some(Ok(Value::text(said(fact, world))));
    match (object, name) {
        (Value::Map(table), _) => {
            let found = table.borrow().get(key).cloned();
            Some(Ok(found.unwrap_or(Value::Null)))
        }
        (Value::List(items) | Value::Array(items), name) => {
            let index = name.map_or_else(|| key.as_whole(), |name| name.parse().ok());
            at_index(items, index?)
        }
        (Value::Host(Host::Variables), Some("threadName")) => fact(Fact::UserName, world),
        (Value::Host(Host::Variables), Some("iteration")) => Some(Ok(iteration(world))),
        (Value::Host(Host::Variables), Some(name)) => Some(Ok(variable(name, world))),
        (Value::Host(Host::Properties), Some(name)) => Some(Ok(property(name, world))),
        (Value::Host(host), Some(name)) => {
            let getter = format!("get{}{}", name.get(..1)?.to_uppercase(), name.get(1..)?);
            of_host(*host, &getter, &[], world)
        }
        (Value::Date(ms), Some("time")) => Some(Ok(Value::Long(*ms))),
        (object, Some("empty")) if !matches!(object, Value::Host(_)) => {
            Some(Ok(Value::Flag(super::arithmetic::is_empty(object))))
        }
        _ => None,
    }
}

/// Sets a member; `None`: the object takes none.
pub(super) fn set_member(
    object: &Value,
    key: &Value,
    value: Value,
    world: &mut dyn World,
) -> Option<Result<(), String>> {
    match (object, key, value) {
        (Value::Map(table), key, value) => {
            table.borrow_mut().put(key.clone(), value);
        }
        (Value::List(items) | Value::Array(items), key, value) => {
            let mut items = items.borrow_mut();
            let index = usize::try_from(key.as_whole()?).ok();
            match index.and_then(|index| items.get_mut(index)) {
                Some(item) => *item = value,
                None => return Some(Err("there is no such item".into())),
            }
        }
        (Value::Host(Host::Variables), Value::Text(name), Value::Text(value)) => {
            world.set_variable(name, &value);
        }
        (Value::Host(Host::Properties), Value::Text(name), Value::Text(value)) => {
            world.set_property(name, &value);
        }
        _ => return None,
    }
    Some(Ok(()))
}

fn said(fact: Fact, world: &dyn World) -> String {
    let mut said = String::new();
    world.write_fact(fact, &mut said);
    said
}

fn iteration(world: &dyn World) -> Value {
    let number = said(Fact::Iteration, world).parse().unwrap_or(0);
    Value::Int(number)
}

fn variable(name: &str, world: &dyn World) -> Value {
    world.variable(name).map_or(Value::Null, Value::text)
}

fn property(name: &str, world: &dyn World) -> Value {
    let mut value = String::new();
    match world.write_property(name, &mut value) {
        true => Value::text(value),
        false => Value::Null,
    }
}

fn at_index(items: &RefCell<Vec<Value>>, index: i64) -> Outcome {
    let items = items.borrow();
    let found = usize::try_from(index)
        .ok()
        .and_then(|index| items.get(index));
    Some(found.cloned().ok_or(format!("there is no item {index}")))
}

fn too_long() -> Outcome {
    Some(Err("a collection becomes too long".into()))
}

fn of_list(items: &Rc<RefCell<Vec<Value>>>, name: &str, arguments: &[Value]) -> Outcome {
    let index = |value: &Value| {
        value
            .as_whole()
            .and_then(|index| usize::try_from(index).ok())
    };
    let position = |value: &Value| {
        let items = items.borrow();
        items.iter().position(|item| item.equals(value))
    };
    let found = |at: Option<usize>| Value::Int(at.map_or(-1, |at| at as i32));
    if items.borrow().len() > MOST_ITEMS {
        return too_long();
    }
    Some(Ok(match (name, arguments) {
        ("size", []) => Value::Int(items.borrow().len() as i32),
        ("isEmpty", []) => Value::Flag(items.borrow().is_empty()),
        ("get", [at]) => return at_index(items, at.as_whole()?),
        ("contains", [value]) => Value::Flag(position(value).is_some()),
        ("indexOf", [value]) => found(position(value)),
        ("lastIndexOf", [value]) => {
            let items = items.borrow();
            found(items.iter().rposition(|item| item.equals(value)))
        }
        ("add", [value]) => {
            items.borrow_mut().push(value.clone());
            Value::Flag(true)
        }
        ("add", [at, value]) if index(at)? <= items.borrow().len() => {
            items.borrow_mut().insert(index(at)?, value.clone());
            Value::Null
        }
        ("set", [at, value]) => {
            let mut items = items.borrow_mut();
            let item = items.get_mut(index(at)?)?;
            std::mem::replace(item, value.clone())
        }
        ("remove", [Value::Int(at)]) => {
            let at = usize::try_from(*at).ok();
            let at = at.filter(|at| *at < items.borrow().len())?;
            items.borrow_mut().remove(at)
        }
        ("remove", [value]) => {
            let at = position(value);
            at.map(|at| items.borrow_mut().remove(at));
            Value::Flag(at.is_some())
        }
        ("addAll", [Value::List(more) | Value::Array(more)]) => {
            let more = more.borrow().clone();
            items.borrow_mut().extend(more);
            Value::Flag(true)
        }
        ("containsAll", [Value::List(all)]) => {
            let all = all.borrow();
            Value::Flag(all.iter().all(|value| position(value).is_some()))
        }
        ("subList", [from, to]) => {
            let part = items.borrow().get(index(from)?..index(to)?)?.to_vec();
            Value::list(part)
        }
        ("toArray", []) => Value::list(items.borrow().clone()),
        ("clear", []) => {
            items.borrow_mut().clear();
            Value::Null
        }
        _ => return None,
    }))
}

fn of_map(table: &Rc<RefCell<HashTable>>, name: &str, arguments: &[Value]) -> Outcome {
    let get = |key: &Value| table.borrow().get(key).cloned();
    if table.borrow().len() > MOST_ITEMS {
        return too_long();
    }
    Some(Ok(match (name, arguments) {
        ("size", []) => Value::Int(table.borrow().len() as i32),
        ("isEmpty", []) => Value::Flag(table.borrow().len() == 0),
        ("get", [key]) => get(key).unwrap_or(Value::Null),
        ("getOrDefault", [key, default]) => get(key).unwrap_or_else(|| default.clone()),
        ("containsKey", [key]) => Value::Flag(get(key).is_some()),
        ("containsValue", [value]) => {
            let table = table.borrow();
            let mut entries = table.entries();
            Value::Flag(entries.any(|(_, held)| held.equals(value)))
        }
        ("put", [key, value]) => {
            let before = table.borrow_mut().put(key.clone(), value.clone());
            before.unwrap_or(Value::Null)
        }
        ("putIfAbsent", [key, value]) => match get(key) {
            Some(known) => known,
            None => {
                table.borrow_mut().put(key.clone(), value.clone());
                Value::Null
            }
        },
        ("putAll", [Value::Map(more)]) => {
            let more = more.borrow().clone();
            for (key, value) in more.entries() {
                table.borrow_mut().put(key.clone(), value.clone());
            }
            Value::Null
        }
        ("remove", [key]) => table.borrow_mut().remove(key).unwrap_or(Value::Null),
        ("keySet", []) => Value::Set(Rc::new(RefCell::new(table.borrow().clone()))),
        ("values", []) => {
            let table = table.borrow();
            Value::list(table.entries().map(|(_, value)| value.clone()).collect())
        }
        ("clear", []) => {
            table.borrow_mut().clear();
            Value::Null
        }
        _ => return None,
    }))
}

fn of_set(table: &Rc<RefCell<HashTable>>, name: &str, arguments: &[Value]) -> Outcome {
    let holds = |key: &Value| table.borrow().get(key).is_some();
    if table.borrow().len() > MOST_ITEMS {
        return too_long();
    }
    Some(Ok(match (name, arguments) {
        ("size", []) => Value::Int(table.borrow().len() as i32),
        ("isEmpty", []) => Value::Flag(table.borrow().len() == 0),
        ("contains", [key]) => Value::Flag(holds(key)),
        ("add", [key]) => {
            let before = table.borrow_mut().put(key.clone(), Value::Null);
            Value::Flag(before.is_none())
        }
        ("remove", [key]) => Value::Flag(table.borrow_mut().remove(key).is_some()),
        ("clear", []) => {
            table.borrow_mut().clear();
            Value::Null
        }
        _ => return None,
    }))
}

fn of_builder(
    held: &Rc<RefCell<String>>,
    name: &str,
    arguments: &[Value],
    around: &mut Surroundings<'_>,
) -> Outcome {
    let same = Value::Builder(Rc::clone(held));
    match (name, arguments) {
        ("append", [value]) => {
            let more = match value.shown() {
                Ok(more) => more,
                Err(why) => return Some(Err(why)),
            };
            if held.borrow().len() + more.len() > text::MOST_BYTES {
                return Some(Err(text::too_long()));
            }
            held.borrow_mut().push_str(&more);
            Some(Ok(same))
        }
        ("reverse", []) => {
            let reversed = held.borrow().chars().rev().collect();
            *held.borrow_mut() = reversed;
            Some(Ok(same))
        }
        ("setLength", [Value::Int(0)]) => {
            held.borrow_mut().clear();
            Some(Ok(Value::Null))
        }
        ("length" | "charAt" | "indexOf" | "lastIndexOf" | "substring" | "isEmpty", _) => {
            let text: Rc<str> = held.borrow().as_str().into();
            text::call(&text, name, arguments, around.patterns)
        }
        _ => None,
    }
}

fn of_number(value: &Value, name: &str, arguments: &[Value]) -> Outcome {
    let double = || super::arithmetic::to_double(value).unwrap_or(f64::NAN);
    let long = || match value {
        Value::Float(_) | Value::Double(_) => double() as i64,
        value => super::arithmetic::to_long(value).unwrap_or(0),
    };
    let int = |number: i64| match value.is_real() {
        true => Value::Int(double() as i32),
        false => Value::Int(number as i32),
    };
    Some(Ok(match (name, arguments) {
        ("intValue", []) => int(long()),
        ("longValue", []) => Value::Long(long()),
        ("doubleValue", []) => Value::Double(double()),
        ("floatValue", []) => Value::Float(double() as f32),
        ("isNaN", []) => Value::Flag(double().is_nan()),
        ("isInfinite", []) => Value::Flag(double().is_infinite()),
        ("compareTo", [other]) if other.class() == value.class() => {
            let order = match value.is_real() {
                true => double().total_cmp(&super::arithmetic::to_double(other).ok()?),
                false => long().cmp(&other.as_whole()?),
            };
            Value::Int(order as i32)
        }
        _ => return of_number_class(value, name, arguments),
    }))
}

/// Static methods of Integer, Long and Double.
fn of_number_class(value: &Value, name: &str, arguments: &[Value]) -> Outcome {
    let parsed = |text: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("`{text}` is not a number"))
    };
    Some(match (value, name, arguments) {
        (Value::Int(_), "parseInt" | "valueOf", [Value::Text(text)]) => {
            let number = parsed(text).and_then(|number| {
                i32::try_from(number).map_err(|_| format!("`{text}` is not a number"))
            });
            number.map(Value::Int)
        }
        (Value::Int(_), "valueOf", [Value::Int(number)]) => Ok(Value::Int(*number)),
        (Value::Long(_), "parseLong" | "valueOf", [Value::Text(text)]) => {
            parsed(text).map(Value::Long)
        }
        (Value::Double(_), "parseDouble" | "valueOf", [text @ Value::Text(_)]) => {
            let number = super::arithmetic::to_double(text);
            number.map(Value::Double).map_err(|mistake| mistake.why())
        }
        (Value::Int(_), "toHexString", [Value::Int(number)]) => {
            Ok(Value::text(format!("{number:x}")))
        }
        (Value::Int(_), "max", [Value::Int(a), Value::Int(b)]) => Ok(Value::Int(*a.max(b))),
        (Value::Int(_), "min", [Value::Int(a), Value::Int(b)]) => Ok(Value::Int(*a.min(b))),
        (Value::Int(_), "compare", [Value::Int(a), Value::Int(b)]) => {
            Ok(Value::Int(a.cmp(b) as i32))
        }
        _ => return None,
    })
}

fn of_random(name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    let random = world.random();
    Some(Ok(match (name, arguments) {
        ("nextInt", []) => Value::Int(random.bits() as i32),
        ("nextInt", [Value::Int(below)]) if *below > 0 => {
            Value::Int(random.below(*below as u64) as i32)
        }
        ("nextLong", []) => Value::Long(random.bits() as i64),
        ("nextDouble", []) => Value::Double(random.unit()),
        ("nextBoolean", []) => Value::Flag(random.bits() & 1 == 1),
        _ => return None,
    }))
}

fn of_dates(pattern: &str, name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    let now_ms = world.now_ms();
    let zone = world.time_zone();
    match (name, arguments) {
        ("format", [Value::Date(ms) | Value::Long(ms)]) => {
            let far = || format!("`{ms}` is outside the years -9999 to 9999");
            let mut out = String::new();
            let done = dates::moment(*ms, zone)
                .ok_or_else(far)
                .and_then(|at| dates::write(pattern, &at, &mut out));
            Some(done.map(|()| Value::text(out)))
        }
        ("parse", [Value::Text(text)]) => {
            Some(dates::read(pattern, text, Some(now_ms), zone).map(Value::Date))
        }
        _ => None,
    }
}

fn of_host(host: Host, name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    match host {
        Host::Variables => of_variables(name, arguments, world),
        Host::Properties => of_properties(name, arguments, world),
        Host::Log => of_log(name, arguments, world),
        Host::Out => match (name, arguments) {
            ("println" | "print", arguments) => of_log("info", arguments, world),
            _ => None,
        },
        Host::Context => Some(Ok(match (name, arguments) {
            ("getThreadNum", []) => {
                let number: i32 = said(Fact::UserNumber, world).parse().unwrap_or(1);
                Value::Int(number - 1)
            }
            ("getVariables", []) => Value::Host(Host::Variables),
            ("getProperties", []) => Value::Host(Host::Properties),
            ("getCurrentSampler", []) => Value::Host(Host::Sampler),
            ("getThread", []) => Value::Host(Host::Thread),
            ("getThreadGroup", []) => Value::Host(Host::Group),
            _ => return None,
        })),
        Host::Sampler | Host::Thread | Host::Group => {
            let fact = match (host, name, arguments) {
                (Host::Sampler, "getName", []) => Fact::SamplerName,
                (Host::Sampler | Host::Thread, "getThreadName", []) => Fact::UserName,
                (Host::Group, "getName", []) => Fact::GroupName,
                _ => return None,
            };
            Some(Ok(Value::text(said(fact, world))))
        }
    }
}

fn of_variables(name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    Some(Ok(match (name, arguments) {
        ("get" | "getObject", [Value::Text(name)]) => variable(name, world),
        ("put" | "putObject", [Value::Text(name), Value::Text(value)]) => {
            world.set_variable(name, value);
            Value::Null
        }
        ("putObject", _) => {
            return Some(Err(
                "`vars.putObject` of something else than a text is not supported".into(),
            ));
        }
        ("remove", [Value::Text(name)]) => {
            let before = variable(name, world);
            world.remove_variable(name);
            before
        }
        ("getIteration", []) => iteration(world),
        ("getThreadName", []) => Value::text(said(Fact::UserName, world)),
        _ => return None,
    }))
}

fn of_properties(name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    Some(Ok(match (name, arguments) {
        ("get" | "getProperty", [Value::Text(name)]) => property(name, world),
        ("getProperty" | "getOrDefault", [Value::Text(name), default]) => {
            match property(name, world) {
                Value::Null => default.clone(),
                value => value,
            }
        }
        ("put" | "setProperty", [Value::Text(name), Value::Text(value)]) => {
            let before = property(name, world);
            world.set_property(name, value);
            before
        }
        ("containsKey", [Value::Text(name)]) => {
            Value::Flag(!matches!(property(name, world), Value::Null))
        }
        _ => return None,
    }))
}

/// Logs; `{}` stands for the values behind the text.
fn of_log(name: &str, arguments: &[Value], world: &mut dyn World) -> Outcome {
    const LOGGER: &str = "org.apache.jmeter.functions.Jexl3Function";
    let level = match name {
        "debug" | "trace" => return Some(Ok(Value::Null)),
        "info" => LogLevel::Info,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        _ => return None,
    };
    let (first, rest) = arguments.split_first()?;
    let shown = |value: &Value| value.shown();
    let mut text = match shown(first) {
        Ok(text) => text,
        Err(why) => return Some(Err(why)),
    };
    for value in rest {
        match shown(value) {
            Ok(value) => text = text.replacen("{}", &value, 1),
            Err(why) => return Some(Err(why)),
        }
    }
    world.log(level, LOGGER, &text);
    Some(Ok(Value::Null))
}
