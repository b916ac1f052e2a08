//! Objects that `new("…")` makes.

use std::cell::RefCell;
use std::rc::Rc;

use super::map::HashTable;
use super::value::Value;

/// Classes that can be made.
pub(super) const CLASSES: &[&str] = &[
    "java.lang.Boolean",
    "java.lang.Double",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.String",
    "java.lang.StringBuffer",
    "java.lang.StringBuilder",
    "java.text.SimpleDateFormat",
    "java.util.ArrayList",
    "java.util.Date",
    "java.util.HashMap",
    "java.util.HashSet",
    "java.util.LinkedList",
    "java.util.Random",
];

/// An object of a class, at a moment. Fails for other classes and arguments.
pub(super) fn make(class: &str, arguments: &[Value], now_ms: i64) -> Result<Value, String> {
    let wrong = || format!("`new {class}` does not take these arguments");
    let number = |value: &Value| match value {
        Value::Text(text) => text
            .parse()
            .map_err(|_| format!("`{text}` is not a number")),
        value => value.as_whole().ok_or_else(wrong),
    };
    let of = |value: &Value| -> Result<Vec<Value>, String> {
        match value {
            Value::List(items) | Value::Array(items) => Ok(items.borrow().clone()),
            Value::Set(table) => Ok(table.borrow().keys().cloned().collect()),
            value if value.as_whole().is_some() => Ok(Vec::new()),
            _ => Err(wrong()),
        }
    };
    Ok(match (class, arguments) {
        ("java.lang.String", []) => Value::text(""),
        ("java.lang.String", [value @ (Value::Text(_) | Value::Builder(_))]) => {
            Value::text(value.shown()?)
        }
        ("java.lang.StringBuilder" | "java.lang.StringBuffer", arguments) => {
            let text = match arguments {
                [] | [Value::Int(_)] => String::new(),
                [text] => text.shown()?,
                _ => return Err(wrong()),
            };
            Value::Builder(Rc::new(RefCell::new(text)))
        }
        ("java.lang.Integer", [value]) => {
            Value::Int(i32::try_from(number(value)?).map_err(|_| wrong())?)
        }
        ("java.lang.Long", [value]) => Value::Long(number(value)?),
        ("java.lang.Double", [value]) => {
            let double = super::arithmetic::to_double(value);
            Value::Double(double.map_err(|mistake| mistake.why())?)
        }
        ("java.lang.Boolean", [Value::Text(text)]) => {
            Value::Flag(text.eq_ignore_ascii_case("true"))
        }
        ("java.util.Random", [] | [_]) => Value::Random,
        ("java.util.Date", []) => Value::Date(now_ms),
        ("java.util.Date", [ms]) => Value::Date(number(ms)?),
        ("java.text.SimpleDateFormat", [Value::Text(pattern)]) => {
            Value::DateFormat(Rc::clone(pattern))
        }
        ("java.util.ArrayList" | "java.util.LinkedList", []) => Value::list(Vec::new()),
        ("java.util.ArrayList" | "java.util.LinkedList", [items]) => Value::list(of(items)?),
        ("java.util.HashMap", []) => Value::Map(Rc::default()),
        ("java.util.HashMap", [Value::Map(table)]) => {
            Value::Map(Rc::new(RefCell::new(table.borrow().clone())))
        }
        ("java.util.HashSet", []) => Value::Set(Rc::default()),
        ("java.util.HashSet", [items]) => {
            let mut table = HashTable::default();
            for item in of(items)? {
                table.put(item, Value::Null);
            }
            Value::Set(Rc::new(RefCell::new(table)))
        }
        _ if CLASSES.contains(&class) => return Err(wrong()),
        _ => return Err(format!("`new {class}` is not supported")),
    })
}
