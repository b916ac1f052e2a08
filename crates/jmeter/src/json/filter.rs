//! Filters of paths: `@.price < 10 && (@.kind == 'a' || !@.sold)`.

use std::borrow::Cow;

use super::Value;
use super::path::{MOST_NESTING, Path, PathFault, closing, quoted};
use super::query::Query;
use super::read::read_prefix;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    /// Something is there.
    Exists(Path),
    Compares(Box<(Operand, Operator, Operand)>),
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Path(Path),
    Literal(Value),
    /// A regular expression in slashes.
    Pattern(Pattern),
}

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    text: String,
    regex: fancy_regex::Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    SameType,
    OtherType,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    Contains,
    ContainsAll,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

/// Parses what stands between the brackets of `[?(…)]`.
pub(super) fn parse(text: &str, depth: usize) -> Result<Filter, PathFault> {
    let mut parser = Parser { rest: text, depth };
    let filter = parser.any()?;
    match parser.rest.trim() {
        "" => Ok(filter),
        rest => Err(fault(&format!("`{rest}` follows the condition"))),
    }
}

fn fault(why: &str) -> PathFault {
    PathFault::Invalid(format!("Failed to parse filter: {why}"))
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(mark);
        rest.inspect(|rest| self.rest = rest).is_some()
    }

    fn any(&mut self) -> Result<Filter, PathFault> {
        let first = self.all()?;
        let mut parts = vec![first];
        while self.takes("||") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Filter::Any))
    }

    fn all(&mut self) -> Result<Filter, PathFault> {
        let first = self.operand()?;
        let mut parts = vec![first];
        while self.takes("&&") {
            parts.push(self.operand()?);
        }
        Ok(one_or(parts, Filter::All))
    }

    fn operand(&mut self) -> Result<Filter, PathFault> {
        if self.depth > MOST_NESTING {
            return Err(fault("it is nested too deeply"));
        }
        self.depth += 1;
        let filter = if self.takes("!") {
            self.operand().map(|filter| Filter::Not(Box::new(filter)))
        } else if self.takes("(") {
            self.any().and_then(|filter| match self.takes(")") {
                true => Ok(filter),
                false => Err(fault("a bracket is not closed")),
            })
        } else {
            self.comparison()
        };
        self.depth -= 1;
        filter
    }

    fn comparison(&mut self) -> Result<Filter, PathFault> {
        let left = self.value()?;
        let behind = self.rest;
        if let Some(operator) = self.operator()? {
            let right = self.value()?;
            return Ok(Filter::Compares(Box::new((left, operator, right))));
        }
        self.rest = behind;
        match left {
            Operand::Path(path) => Ok(Filter::Exists(path)),
            _ => Err(fault("an operator is missing")),
        }
    }

    /// `None`: the condition ends here.
    fn operator(&mut self) -> Result<Option<Operator>, PathFault> {
        let rest = self.rest.trim_start();
        if rest.is_empty() || rest.starts_with(['&', '|', ')']) {
            return Ok(None);
        }
        let is_sign = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~');
        let end = match rest.starts_with(is_sign) {
            true => rest.find(|c| !is_sign(c)),
            false => rest.find(' '),
        };
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = behind;
        let operator = match word.to_ascii_uppercase().as_str() {
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "===" => Operator::SameType,
            "!==" => Operator::OtherType,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "=~" => Operator::Matches,
            "IN" => Operator::In,
            "NIN" => Operator::NotIn,
            "CONTAINS" => Operator::Contains,
            "ALL" => Operator::ContainsAll,
            "SIZE" => Operator::Size,
            "EMPTY" => Operator::Empty,
            "SUBSETOF" => Operator::SubsetOf,
            "ANYOF" => Operator::AnyOf,
            "NONEOF" => Operator::NoneOf,
            _ => {
                let says = format!("Filter operator {word} is not supported!");
                return Err(PathFault::Invalid(says));
            }
        };
        Ok(Some(operator))
    }

    fn value(&mut self) -> Result<Operand, PathFault> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('$' | '@') => self.path(),
            Some('/') => self.pattern(),
            Some('\'' | '"') => {
                let (text, rest) =
                    quoted(self.rest).ok_or_else(|| fault("a text is not closed"))?;
                self.rest = rest;
                Ok(Operand::Literal(Value::Text(text)))
            }
            Some('[' | '{') => {
                let read = read_prefix(self.rest).ok_or_else(|| fault("a value is not JSON"))?;
                self.rest = read.1;
                Ok(Operand::Literal(read.0))
            }
            _ => self.word(),
        }
    }

    /// `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<Operand, PathFault> {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+');
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = read_prefix(word).map(|(value, _)| value);
        self.rest = rest;
        match value {
            Some(value) if !matches!(value, Value::Text(_)) => Ok(Operand::Literal(value)),
            _ => Err(fault(&format!("`{word}{rest}` is not a value"))),
        }
    }

    fn path(&mut self) -> Result<Operand, PathFault> {
        let text = self.rest;
        let (mut end, mut open) = (0, 0);
        while let Some(character) = text[end..].chars().next() {
            match character {
                '[' => {
                    end += closing(&text[end..]).ok_or_else(|| fault("a bracket is not closed"))?;
                }
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' | ' ' | '<' | '>' | '=' | '~' | '!' => break,
                // The library takes these for letters of a name; nobody means that.
                '&' | '|' => break,
                _ => {}
            }
            end += character.len_utf8();
            end = end.min(text.len());
        }
        let path = Path::nested(&text[..end], self.depth + 1)?;
        self.rest = &text[end..];
        Ok(Operand::Path(path))
    }

    /// `/text/flags`.
    fn pattern(&mut self) -> Result<Operand, PathFault> {
        let inside = &self.rest[1..];
        let mut end = None;
        let mut is_escaped = false;
        for (at, character) in inside.char_indices() {
            if character == '/' && !is_escaped {
                end = Some(at);
                break;
            }
            is_escaped = character == '\\' && !is_escaped;
        }
        let end = end.ok_or_else(|| fault("a pattern is not closed"))?;
        let behind = &inside[end + 1..];
        let flags = behind
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(behind.len());
        let (flags, rest) = behind.split_at(flags);
        self.rest = rest;
        let known: String = flags
            .chars()
            .filter(|flag| "imsx".contains(*flag))
            .collect();
        let flags = if known.is_empty() {
            known
        } else {
            format!("(?{known})")
        };
        let text = format!("{flags}\\A(?:{})\\z", &inside[..end]);
        let regex = crate::pattern::compile(&text)
            .ok_or_else(|| fault(&format!("`{}` is not a pattern", &inside[..end])))?;
        Ok(Operand::Pattern(Pattern { text, regex }))
    }
}

fn one_or(mut parts: Vec<Filter>, several: impl FnOnce(Vec<Filter>) -> Filter) -> Filter {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}

impl Filter {
    /// True where `item` of a document fulfils the condition.
    pub fn holds(&self, item: &Value, query: &mut Query<'_>) -> Result<bool, PathFault> {
        match self {
            Self::All(parts) => {
                for part in parts {
                    if !part.holds(item, query)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    if part.holds(item, query)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(inner) => Ok(!inner.holds(item, query)?),
            Self::Exists(path) => match query.inner(path, item) {
                // Everything that may be there: an empty list, too.
                Ok(_) => Ok(true),
                Err(PathFault::NotFound(_)) => Ok(false),
                Err(fault) => Err(fault),
            },
            Self::Compares(sides) => {
                let (left, operator, right) = &**sides;
                compare(left, *operator, right, item, query)
            }
        }
    }
}

/// A side as a value; `None`: its path leads nowhere.
fn value_of<'a>(
    operand: &'a Operand,
    item: &Value,
    query: &mut Query<'_>,
) -> Result<Option<Cow<'a, Value>>, PathFault> {
    match operand {
        Operand::Literal(value) => Ok(Some(Cow::Borrowed(value))),
        Operand::Pattern(_) => Ok(None),
        Operand::Path(path) => match query.inner(path, item) {
            Ok(value) => Ok(Some(Cow::Owned(value))),
            Err(PathFault::NotFound(_)) => Ok(None),
            Err(fault) => Err(fault),
        },
    }
}

fn compare(
    left: &Operand,
    operator: Operator,
    right: &Operand,
    item: &Value,
    query: &mut Query<'_>,
) -> Result<bool, PathFault> {
    if operator == Operator::Matches {
        let (pattern, other) = match (left, right) {
            (Operand::Pattern(pattern), other) | (other, Operand::Pattern(pattern)) => {
                (pattern, other)
            }
            _ => return Ok(false),
        };
        let value = value_of(other, item, query)?;
        return Ok(matches(pattern, value.as_deref()));
    }
    let left = value_of(left, item, query)?;
    let right = value_of(right, item, query)?;
    Ok(holds(left.as_deref(), operator, right.as_deref()))
}

fn matches(pattern: &Pattern, value: Option<&Value>) -> bool {
    let is_match = |text: &str| pattern.regex.is_match(text).unwrap_or(false);
    match value {
        Some(Value::List(items)) => items.iter().any(|item| matches(pattern, Some(item))),
        Some(Value::Text(text)) => is_match(text),
        Some(value @ (Value::Bool(_) | Value::Whole(_) | Value::Double(_) | Value::Digits(_))) => {
            is_match(&value.json())
        }
        _ => is_match(""),
    }
}

fn holds(left: Option<&Value>, operator: Operator, right: Option<&Value>) -> bool {
    let items = |value: Option<&'_ Value>| match value {
        Some(Value::List(items)) => Some(items.clone()),
        _ => None,
    };
    let is_in =
        |value: Option<&Value>, list: &[Value]| list.iter().any(|item| equal(value, Some(item)));
    match operator {
        Operator::Equal => equal(left, right),
        Operator::NotEqual => !equal(left, right),
        Operator::SameType => same_type(left, right) && equal(left, right),
        Operator::OtherType => !(same_type(left, right) && equal(left, right)),
        Operator::Less => ordered(left, right) == Some(std::cmp::Ordering::Less),
        Operator::Greater => ordered(left, right) == Some(std::cmp::Ordering::Greater),
        Operator::LessOrEqual => ordered(left, right).is_some_and(std::cmp::Ordering::is_le),
        Operator::GreaterOrEqual => ordered(left, right).is_some_and(std::cmp::Ordering::is_ge),
        Operator::In => items(right).is_some_and(|list| is_in(left, &list)),
        Operator::NotIn => !items(right).is_some_and(|list| is_in(left, &list)),
        Operator::Contains => match (left, right) {
            (Some(Value::Text(text)), Some(Value::Text(part))) => text.contains(part),
            (Some(Value::List(list)), right) => is_in(right, list),
            _ => false,
        },
        Operator::ContainsAll | Operator::SubsetOf | Operator::AnyOf | Operator::NoneOf => {
            let (Some(left), Some(right)) = (items(left), items(right)) else {
                return false;
            };
            let all_in =
                |some: &[Value], list: &[Value]| some.iter().all(|item| is_in(Some(item), list));
            let any_in = left.iter().any(|item| is_in(Some(item), &right));
            match operator {
                Operator::ContainsAll => all_in(&right, &left),
                Operator::SubsetOf => all_in(&left, &right),
                Operator::AnyOf => any_in,
                _ => !any_in,
            }
        }
        Operator::Size => {
            let size = match left {
                Some(Value::Text(text)) => text.encode_utf16().count(),
                Some(Value::List(items)) => items.len(),
                Some(Value::Map(members)) => members.len(),
                _ => return false,
            };
            right.and_then(Value::number) == Some(size as f64)
        }
        Operator::Empty => {
            let is_empty = match left {
                Some(Value::Text(text)) => text.is_empty(),
                Some(Value::List(items)) => items.is_empty(),
                Some(Value::Map(members)) => members.is_empty(),
                _ => return false,
            };
            right == Some(&Value::Bool(is_empty))
        }
        // The caller has handled it.
        Operator::Matches => false,
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Whole(_) | Value::Double(_) | Value::Digits(_))
}

/// A number equals a text that writes it.
fn equal(left: Option<&Value>, right: Option<&Value>) -> bool {
    let (left, right) = match (left, right) {
        (None, None) => return true,
        (Some(left), Some(right)) => (left, right),
        _ => return false,
    };
    match (left, right) {
        (Value::Text(text), number) | (number, Value::Text(text)) if is_number(number) => {
            text.trim().parse().ok() == number.number()
        }
        (left, right) if is_number(left) && is_number(right) => left.number() == right.number(),
        (left, right) => left == right,
    }
}

fn same_type(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            is_number(left) && is_number(right)
                || std::mem::discriminant(left) == std::mem::discriminant(right)
        }
        (left, right) => left.is_none() && right.is_none(),
    }
}

fn ordered(left: Option<&Value>, right: Option<&Value>) -> Option<std::cmp::Ordering> {
    match (left?, right?) {
        (Value::Text(left), Value::Text(right)) => {
            Some(left.encode_utf16().cmp(right.encode_utf16()))
        }
        (left, right) => left.number()?.partial_cmp(&right.number()?),
    }
}
