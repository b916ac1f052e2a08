//! Operators and conversions of JEXL, strict as JMeter sets them: null is not 0.

use std::cmp::Ordering;

use super::Dialect;
use super::text::{MOST_BYTES, Patterns, too_long};
use super::tree::Operator;
use super::value::Value;

/// Reason why an operator gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mistake {
    /// An operand is null.
    Null,
    /// A name or member is not defined.
    Undefined(String),
    /// Any other.
    Other(String),
}

impl Mistake {
    /// The mistake in words.
    pub fn why(self) -> String {
        match self {
            Self::Null => "an operand is null".into(),
            Self::Undefined(why) | Self::Other(why) => why,
        }
    }
}

impl From<String> for Mistake {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

type Outcome<T> = Result<T, Mistake>;

fn coercion<T>(value: &Value, to: &str) -> Outcome<T> {
    let shown = value.shown().unwrap_or_else(|_| value.class().into());
    Err(Mistake::Other(format!("`{shown}` is not a {to}")))
}

/// The value of an operator. `patterns` holds compiled regular expressions.
pub(super) fn binary(
    operator: Operator,
    left: &Value,
    right: &Value,
    dialect: Dialect,
    patterns: &mut Patterns,
) -> Outcome<Value> {
    let calculates = matches!(
        operator,
        Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Modulo
    );
    let is_flag = |value: &Value| matches!(value, Value::Flag(_));
    if dialect == Dialect::Jexl2 && calculates && (is_flag(left) || is_flag(right)) {
        return coercion(if is_flag(left) { left } else { right }, "number");
    }
    let flag = |flag: Outcome<bool>| flag.map(Value::Flag);
    let negated = |flag: Outcome<bool>| flag.map(|flag| Value::Flag(!flag));
    match operator {
        Operator::Add => add(left, right, dialect),
        Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Modulo => {
            calculate(operator, left, right, dialect)
        }
        Operator::BitAnd => Ok(Value::Long(to_long(left)? & to_long(right)?)),
        Operator::BitOr => Ok(Value::Long(to_long(left)? | to_long(right)?)),
        Operator::BitXor => Ok(Value::Long(to_long(left)? ^ to_long(right)?)),
        Operator::Equal => flag(equal(left, right)),
        Operator::Unequal => negated(equal(left, right)),
        Operator::Less => flag(ordered(left, right, false, Ordering::is_lt)),
        Operator::LessOrEqual => flag(ordered(left, right, true, Ordering::is_le)),
        Operator::Greater => flag(ordered(left, right, false, Ordering::is_gt)),
        Operator::GreaterOrEqual => flag(ordered(left, right, true, Ordering::is_ge)),
        Operator::Matches => flag(contains(right, left, patterns)),
        Operator::NotMatches => negated(contains(right, left, patterns)),
        Operator::StartsWith => flag(affix(left, right, |text, part| text.starts_with(part))),
        Operator::NotStartsWith => negated(affix(left, right, |text, part| text.starts_with(part))),
        Operator::EndsWith => flag(affix(left, right, |text, part| text.ends_with(part))),
        Operator::NotEndsWith => negated(affix(left, right, |text, part| text.ends_with(part))),
        Operator::Range => Ok(Value::Range(to_long(left)?, to_long(right)?)),
    }
}

/// True for Float, Double, and texts that look like one.
fn is_real(value: &Value) -> bool {
    match value {
        Value::Text(text) => {
            let text = text.strip_prefix(['+', '-']).unwrap_or(text);
            let (mantissa, exponent) = match text.split_once(['e', 'E']) {
                Some((mantissa, exponent)) => (mantissa, Some(exponent)),
                None => (text, None),
            };
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let (whole, fraction) = match mantissa.split_once('.') {
                Some((whole, fraction)) => (whole, Some(fraction)),
                None => (mantissa, None),
            };
            let exponent_is_fine = exponent.is_none_or(|exponent| {
                let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                !exponent.is_empty() && digits(exponent)
            });
            digits(whole)
                && fraction.is_none_or(digits)
                && exponent_is_fine
                && (fraction.is_some() || exponent.is_some())
        }
        value => value.is_real(),
    }
}

fn add(left: &Value, right: &Value, dialect: Dialect) -> Outcome<Value> {
    let is_null = |value: &Value| matches!(value, Value::Null);
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    let joined = || {
        let text = to_text(left)? + &to_text(right)?;
        match text.len() > MOST_BYTES {
            true => Err(Mistake::Other(too_long())),
            false => Ok(Value::text(text)),
        }
    };
    if is_null(left) && is_null(right) {
        return Err(Mistake::Null);
    }
    let joins = dialect == Dialect::Jexl3 && (is_text(left) || is_text(right));
    if joins {
        return joined();
    }
    match calculate(Operator::Add, left, right, dialect) {
        // Texts that are not numbers are joined.
        Err(Mistake::Other(_)) if is_text(left) || is_text(right) => joined(),
        done => done,
    }
}

fn calculate(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome<Value> {
    let is_whole = |value: &Value| matches!(value, Value::Int(_) | Value::Long(_));
    if !(is_whole(left) && is_whole(right)) && (is_real(left) || is_real(right)) {
        let (a, b) = (to_double(left)?, to_double(right)?);
        let divides = matches!(operator, Operator::Divide | Operator::Modulo);
        if divides && b == 0.0 {
            return Err(division_by_zero());
        }
        return Ok(Value::Double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => a % b,
        }));
    }
    let (a, b) = (to_big(left)?, to_big(right)?);
    let number = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        _ if b == 0 => return Err(division_by_zero()),
        Operator::Divide => a.checked_div(b),
        // Of BigIntegers it is never negative.
        _ if dialect == Dialect::Jexl2 || !(is_whole(left) && is_whole(right)) => {
            a.checked_rem_euclid(b)
        }
        _ => a.checked_rem(b),
    };
    let number = number.ok_or_else(|| Mistake::Other("the number is too large".into()))?;
    Ok(narrowed(left, right, number))
}

fn division_by_zero() -> Mistake {
    Mistake::Other("division by zero".into())
}

/// The type of a result: as large as its operands and its value ask for.
fn narrowed(left: &Value, right: &Value, number: i128) -> Value {
    let any = |is: fn(&Value) -> bool| is(left) || is(right);
    if any(|value| matches!(value, Value::Big(_))) {
        return Value::Big(number);
    }
    match Value::whole(number) {
        Value::Int(small) if any(|value| matches!(value, Value::Long(_))) => {
            Value::Long(small.into())
        }
        value => value,
    }
}

/// The negative of a number, or of a flag.
pub(super) fn negated(value: &Value) -> Outcome<Value> {
    Ok(match value {
        Value::Null => return Err(Mistake::Null),
        Value::Int(number) => Value::Int(number.wrapping_neg()),
        Value::Long(number) => Value::Long(number.wrapping_neg()),
        Value::Big(number) => Value::Big(-number),
        Value::Float(number) => Value::Float(-number),
        Value::Double(number) => Value::Double(-number),
        Value::Flag(flag) => Value::Flag(!flag),
        other => return coercion(other, "number"),
    })
}

/// The value of `+value`.
pub(super) fn positive(value: &Value) -> Outcome<Value> {
    Ok(match value {
        Value::Null => return Err(Mistake::Null),
        Value::Char(unit) => Value::Int((*unit).into()),
        value if value.is_number() || matches!(value, Value::Flag(_)) => value.clone(),
        other => return coercion(other, "number"),
    })
}

/// True if both are equal.
pub(super) fn equal(left: &Value, right: &Value) -> Outcome<bool> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Flag(_), _) | (_, Value::Flag(_)) => Ok(to_flag(left)? == to_flag(right)?),
        _ => compare(left, right, true).map(Ordering::is_eq),
    }
}

fn ordered(
    left: &Value,
    right: &Value,
    if_null: bool,
    holds: fn(Ordering) -> bool,
) -> Outcome<bool> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(if_null),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        _ => compare(left, right, false).map(holds),
    }
}

fn compare(left: &Value, right: &Value, for_equality: bool) -> Outcome<Ordering> {
    let any = |is: fn(&Value) -> bool| is(left) || is(right);
    if any(|value| matches!(value, Value::Big(_))) {
        return Ok(to_big(left)?.cmp(&to_big(right)?));
    }
    if any(Value::is_real) {
        let (a, b) = (to_double(left)?, to_double(right)?);
        return Ok(match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        });
    }
    if any(|value| value.as_whole().is_some()) {
        return Ok(to_long(left)?.cmp(&to_long(right)?));
    }
    if any(|value| matches!(value, Value::Text(_))) {
        let (a, b) = (to_text(left)?, to_text(right)?);
        return Ok(a.encode_utf16().cmp(b.encode_utf16()));
    }
    if for_equality {
        return Ok(match left.equals(right) {
            true => Ordering::Equal,
            false => Ordering::Less,
        });
    }
    match (left, right) {
        (Value::Date(a), Value::Date(b)) => Ok(a.cmp(b)),
        _ => coercion(left, "comparable value"),
    }
}

/// `=~`: a text matches a pattern, a value is in a collection.
fn contains(container: &Value, value: &Value, patterns: &mut Patterns) -> Outcome<bool> {
    Ok(match (container, value) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Text(pattern) | Value::Pattern(pattern), value) => {
            patterns.matches(pattern, &value.shown()?)?
        }
        (Value::Map(map), Value::Map(all)) => {
            let map = map.borrow();
            all.borrow().keys().all(|key| map.get(key).is_some())
        }
        (Value::Map(map) | Value::Set(map), value) => map.borrow().get(value).is_some(),
        (Value::List(items) | Value::Array(items), value) => {
            let holds = |value: &Value| items.borrow().iter().any(|item| item.equals(value));
            match value {
                Value::List(all) => all.borrow().iter().all(holds),
                value => holds(value),
            }
        }
        (Value::Range(from, to), value) => {
            let (least, most) = (*from.min(to), *from.max(to));
            value
                .as_whole()
                .is_some_and(|whole| (least..=most).contains(&whole))
        }
        _ => equal(container, value)?,
    })
}

fn affix(left: &Value, right: &Value, holds: fn(&str, &str) -> bool) -> Outcome<bool> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Text(text), right) => Ok(holds(text, &to_text(right)?)),
        _ => equal(left, right),
    }
}

/// True as a condition.
pub(super) fn to_flag(value: &Value) -> Outcome<bool> {
    Ok(match value {
        Value::Null => return Err(Mistake::Null),
        Value::Flag(flag) => *flag,
        Value::Text(text) => !text.is_empty() && &**text != "false",
        value if value.is_number() => {
            let number = to_double(value)?;
            !number.is_nan() && number != 0.0
        }
        _ => true,
    })
}

/// A Long.
pub(super) fn to_long(value: &Value) -> Outcome<i64> {
    Ok(match value {
        Value::Null => return Err(Mistake::Null),
        Value::Float(number) => *number as i64,
        Value::Double(number) => *number as i64,
        Value::Big(number) => *number as i64,
        Value::Flag(flag) => (*flag).into(),
        Value::Text(text) if text.is_empty() => 0,
        Value::Text(text) => match text.parse() {
            Ok(number) => number,
            Err(_) => return coercion(value, "Long"),
        },
        other => match other.as_whole() {
            Some(number) => number,
            None => return coercion(other, "Long"),
        },
    })
}

fn to_big(value: &Value) -> Outcome<i128> {
    match value {
        Value::Big(number) => Ok(*number),
        Value::Text(text) if !text.is_empty() => match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => coercion(value, "BigInteger"),
        },
        value => to_long(value).map(i128::from),
    }
}

/// A Double.
pub(super) fn to_double(value: &Value) -> Outcome<f64> {
    Ok(match value {
        Value::Null => return Err(Mistake::Null),
        Value::Double(number) => *number,
        // As Java does it: through its text.
        Value::Float(number) => number.to_string().parse().unwrap_or((*number).into()),
        Value::Big(number) => *number as f64,
        Value::Flag(flag) => f64::from(u8::from(*flag)),
        Value::Text(text) if text.is_empty() => f64::NAN,
        Value::Text(text) => match text.trim().parse() {
            Ok(number) => number,
            Err(_) => return coercion(value, "Double"),
        },
        other => match other.as_whole() {
            Some(number) => number as f64,
            None => return coercion(other, "Double"),
        },
    })
}

/// A text; a Double that is not a number is empty.
pub(super) fn to_text(value: &Value) -> Outcome<String> {
    match value {
        Value::Null => Err(Mistake::Null),
        Value::Double(number) if number.is_nan() => Ok(String::new()),
        value => Ok(value.shown()?),
    }
}

/// True if `empty` holds.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        value if value.is_number() => {
            let number = to_double(value).unwrap_or(f64::NAN);
            number.is_nan() || number == 0.0
        }
        Value::Text(text) => text.is_empty(),
        Value::Builder(text) => text.borrow().is_empty(),
        Value::List(items) | Value::Array(items) => items.borrow().is_empty(),
        Value::Map(table) | Value::Set(table) => table.borrow().len() == 0,
        _ => false,
    }
}

/// The value of `size`; 0 for what has none.
pub(super) fn size(value: &Value) -> i32 {
    size_of(value).unwrap_or(0)
}

/// The value of `size()` of an object; 1 for what has none.
pub(super) fn size_or_one(value: &Value) -> i32 {
    size_of(value).unwrap_or(1)
}

fn size_of(value: &Value) -> Option<i32> {
    let size = match value {
        Value::Text(text) => text.encode_utf16().count(),
        Value::Builder(text) => text.borrow().encode_utf16().count(),
        Value::List(items) | Value::Array(items) => items.borrow().len(),
        Value::Map(table) | Value::Set(table) => table.borrow().len(),
        Value::Range(from, to) => usize::try_from(from.abs_diff(*to) + 1).unwrap_or(usize::MAX),
        _ => return None,
    };
    Some(i32::try_from(size).unwrap_or(i32::MAX))
}

/// A number that is not negative with so many decimals, half rounded up on its shortest digits.
pub(super) fn rounded_half_up(number: f64, decimals: usize) -> String {
    let shortest = format!("{number}");
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    if fraction.len() <= decimals {
        let dot = if decimals == 0 { "" } else { "." };
        return format!("{whole}{dot}{fraction:0<decimals$}");
    }
    let mut digits: Vec<u8> = format!("{whole}{}", &fraction[..decimals]).into_bytes();
    if fraction.as_bytes()[decimals] >= b'5' {
        let mut at = digits.len();
        loop {
            match at.checked_sub(1) {
                None => {
                    digits.insert(0, b'1');
                    break;
                }
                Some(before) if digits[before] == b'9' => {
                    digits[before] = b'0';
                    at = before;
                }
                Some(before) => {
                    digits[before] += 1;
                    break;
                }
            }
        }
    }
    let digits = String::from_utf8(digits).unwrap_or_default();
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let dot = if decimals == 0 { "" } else { "." };
    format!("{whole}{dot}{fraction}")
}
