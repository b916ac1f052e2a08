//! Finds what a path leads to.

use std::borrow::Cow;

use super::path::{Path, PathFault, Token, definite};
use super::{Value, function};

/// Most values that a path finds.
const MOST_FOUND: usize = 100_000;
/// Most values in everything that a path finds.
const MOST_VALUES: usize = 1_000_000;
/// Bytes of a text that count as one value.
const BYTES_PER_VALUE: usize = 32;
/// Most values that are visited.
const MOST_STEPS: u64 = 10_000_000;

impl Path {
    /// Everything that the path leads to, as a list: one value where it is definite.
    ///
    /// Errors: a definite path leads nowhere, a function is called, or it takes too long.
    pub fn list(&self, document: &Value) -> Result<Vec<Value>, PathFault> {
        if matches!(self.tokens.last(), Some(Token::Call(_))) {
            // The library's words.
            return Err(PathFault::Invalid(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!".into(),
            ));
        }
        let mut query = Query::new(document);
        match (query.inner(self, document)?, self.is_definite()) {
            (Value::List(found), false) => Ok(found),
            (value, _) => Ok(vec![value]),
        }
    }

    /// The value that the path leads to: the list of all where it is not definite.
    ///
    /// Errors: as those of [`Path::list`], and functions that cannot be applied.
    pub fn value(&self, document: &Value) -> Result<Value, PathFault> {
        Query::new(document).inner(self, document)
    }
}

/// The search in one document.
pub(super) struct Query<'a> {
    document: &'a Value,
    steps: u64,
}

/// One path in it.
struct Walk<'p, 'a> {
    tokens: &'p [Token],
    found: Vec<Cow<'a, Value>>,
}

impl<'a> Query<'a> {
    fn new(document: &'a Value) -> Self {
        Self { document, steps: 0 }
    }

    /// The value of a path; where it is relative, from `item` on.
    pub fn inner(&mut self, path: &Path, item: &Value) -> Result<Value, PathFault> {
        let document = self.document;
        let from = if path.is_relative { item } else { document };
        let (tokens, call) = match path.tokens.split_last() {
            Some((Token::Call(function), tokens)) => (tokens, Some(function)),
            _ => (path.tokens.as_slice(), None),
        };
        let mut walk = Walk {
            tokens,
            found: Vec::new(),
        };
        self.step(&mut walk, 0, from)?;
        let mut room = MOST_VALUES;
        if !walk.found.iter().all(|value| fits(value, &mut room)) {
            return Err(PathFault::Invalid("the path finds too much".into()));
        }
        let found = match definite(tokens) {
            true => match walk.found.pop() {
                Some(value) => value.into_owned(),
                None => {
                    let says = format!("No results for path: {}", written(tokens));
                    return Err(PathFault::NotFound(says));
                }
            },
            false => Value::List(walk.found.into_iter().map(Cow::into_owned).collect()),
        };
        call.map_or(Ok(found.clone()), |function| function.of_value(&found))
    }

    /// Goes on from `model` with the token of this number.
    fn step<'m>(
        &mut self,
        walk: &mut Walk<'_, 'm>,
        at: usize,
        model: &'m Value,
    ) -> Result<(), PathFault> {
        self.steps += 1;
        if self.steps > MOST_STEPS || walk.found.len() >= MOST_FOUND {
            return Err(PathFault::Invalid("the path finds too much".into()));
        }
        let tokens = walk.tokens;
        let Some(token) = tokens.get(at) else {
            walk.found.push(Cow::Borrowed(model));
            return Ok(());
        };
        let is_sure = definite_before(tokens, at);
        match token {
            Token::Names(names) => self.names(walk, at, (model, names, is_sure)),
            Token::Indexes(indexes) => {
                let Some(items) = items_of(model, (tokens, at, is_sure))? else {
                    return Ok(());
                };
                for index in indexes {
                    if let Some(item) = function::item(items, *index) {
                        self.step(walk, at + 1, item)?;
                    }
                }
                Ok(())
            }
            Token::Slice(from, to) => {
                let Some(items) = items_of(model, (tokens, at, is_sure))? else {
                    return Ok(());
                };
                for item in slice(items, *from, *to) {
                    self.step(walk, at + 1, item)?;
                }
                Ok(())
            }
            Token::All => self.all(walk, at, model),
            Token::Scan => self.scan(walk, at + 1, model),
            Token::Where(filter) => match model {
                Value::List(items) => {
                    for item in items {
                        if filter.holds(item, self)? {
                            self.step(walk, at + 1, item)?;
                        }
                    }
                    Ok(())
                }
                Value::Map(_) if filter.holds(model, self)? => self.step(walk, at + 1, model),
                Value::Map(_) => Ok(()),
                other if is_sure => Err(PathFault::Invalid(format!(
                    "Filter: [?] can not be applied to primitives. Current context is: {}",
                    other.shown()
                ))),
                _ => Ok(()),
            },
            Token::Call(_) => Err(PathFault::Invalid("a function stands at the end".into())),
        }
    }

    fn names<'m>(
        &mut self,
        walk: &mut Walk<'_, 'm>,
        at: usize,
        (model, names, is_sure): (&'m Value, &[String], bool),
    ) -> Result<(), PathFault> {
        let tokens = walk.tokens;
        if !matches!(model, Value::Map(_)) {
            if !is_sure {
                return Ok(());
            }
            return Err(PathFault::NotFound(format!(
                "Expected to find an object with property {} in path {} but found '{}'. This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                bracketed(names),
                written(&tokens[..at]),
                class(model),
            )));
        }
        let is_leaf = at + 1 == tokens.len();
        if is_leaf && names.len() > 1 {
            // One object of those that are there.
            let members = names.iter().filter_map(|name| {
                let value = model.member(name)?.clone();
                Some((name.clone(), value))
            });
            let merged = Value::Map(members.collect());
            walk.found.push(Cow::Owned(merged));
            return Ok(());
        }
        for name in names {
            match model.member(name) {
                Some(value) => self.step(walk, at + 1, value)?,
                None if is_leaf || !is_sure || names.len() > 1 => {}
                None => {
                    return Err(PathFault::NotFound(format!(
                        "Missing property in path {}",
                        written(&tokens[..=at])
                    )));
                }
            }
        }
        Ok(())
    }

    /// All members or items. A branch that leads nowhere is none.
    fn all<'m>(
        &mut self,
        walk: &mut Walk<'_, 'm>,
        at: usize,
        model: &'m Value,
    ) -> Result<(), PathFault> {
        for value in below(model) {
            match self.step(walk, at + 1, value) {
                Err(PathFault::NotFound(_)) | Ok(()) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Tries the token of this number at `model` and everything below it.
    fn scan<'m>(
        &mut self,
        walk: &mut Walk<'_, 'm>,
        at: usize,
        model: &'m Value,
    ) -> Result<(), PathFault> {
        let tokens = walk.tokens;
        let Some(token) = tokens.get(at) else {
            return Ok(());
        };
        let is_list = matches!(model, Value::List(_));
        let is_map = matches!(model, Value::Map(_));
        let fits = match token {
            Token::Names(names) if names.len() == 1 || at + 1 == tokens.len() => {
                is_map && names.iter().all(|name| model.member(name).is_some())
            }
            Token::Names(_) => is_map,
            Token::Indexes(_) | Token::Slice(..) => is_list,
            Token::All => is_list || is_map,
            Token::Where(filter) => (is_list || is_map) && filter.holds(model, self)?,
            Token::Scan | Token::Call(_) => false,
        };
        if fits {
            self.step(walk, at, model)?;
        }
        for value in below(model) {
            self.steps += 1;
            if matches!(value, Value::List(_) | Value::Map(_)) {
                self.scan(walk, at, value)?;
            }
        }
        Ok(())
    }
}

/// Takes what a value holds from `room`; false: it does not fit in.
fn fits(value: &Value, room: &mut usize) -> bool {
    let bytes = match value {
        Value::Text(text) | Value::Digits(text) => text.len(),
        _ => 0,
    };
    match room.checked_sub(1 + bytes / BYTES_PER_VALUE) {
        Some(left) => *room = left,
        None => return false,
    }
    below(value).all(|value| fits(value, room))
}

/// Members or items of a value.
fn below(model: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match model {
        Value::List(items) => Box::new(items.iter()),
        Value::Map(members) => Box::new(members.iter().map(|(_, value)| value)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Items of a list; `None`: it is none, and need not be.
fn items_of<'m>(
    model: &'m Value,
    (tokens, at, is_sure): (&[Token], usize, bool),
) -> Result<Option<&'m [Value]>, PathFault> {
    match model {
        Value::List(items) => Ok(Some(items)),
        _ if !is_sure => Ok(None),
        Value::Null => {
            let says = format!("The path {} is null", written(&tokens[..at]));
            Err(PathFault::NotFound(says))
        }
        other => Err(PathFault::NotFound(format!(
            "Filter: {} can only be applied to arrays. Current context is: {}",
            written(&tokens[at..=at]).trim_start_matches('$'),
            other.json()
        ))),
    }
}

fn slice(items: &[Value], from: Option<i64>, to: Option<i64>) -> &[Value] {
    let count = items.len() as i64;
    let place = |number: i64| if number < 0 { count + number } else { number };
    let from = from.map_or(0, place).clamp(0, count);
    let to = to.map_or(count, place).clamp(from, count);
    &items[from as usize..to as usize]
}

fn definite_before(tokens: &[Token], at: usize) -> bool {
    tokens[..at].iter().all(|token| match token {
        Token::Names(names) => names.len() == 1,
        Token::Indexes(indexes) => indexes.len() == 1,
        _ => false,
    })
}

/// A path as the library writes it: `$['a'][0]`.
fn written(tokens: &[Token]) -> String {
    let mut out = String::from("$");
    for token in tokens {
        out += &match token {
            Token::Names(names) => bracketed(names),
            Token::Indexes(indexes) => {
                let numbers: Vec<String> = indexes.iter().map(i64::to_string).collect();
                format!("[{}]", numbers.join(","))
            }
            Token::Slice(from, to) => {
                let number = |at: &Option<i64>| at.map_or(String::new(), |at| at.to_string());
                format!("[{}:{}]", number(from), number(to))
            }
            Token::All => "[*]".into(),
            Token::Scan => "..".into(),
            Token::Where(_) => "[?]".into(),
            Token::Call(_) => String::new(),
        };
    }
    out
}

fn bracketed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", names.join(","))
}

/// Java's class of a value.
fn class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Whole(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
        Value::Whole(_) => "java.lang.Long",
        Value::Double(_) => "java.lang.Double",
        Value::Digits(_) => "java.math.BigDecimal",
        Value::Text(_) => "java.lang.String",
        Value::List(_) => "net.minidev.json.JSONArray",
        Value::Map(_) => "java.util.LinkedHashMap",
    }
}
