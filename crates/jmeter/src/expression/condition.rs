//! Evaluation of the conditions of If and While controllers.
//!
//! The subset of JEXL that plans use: comparisons, arithmetic, logic, `vars.get("name")`. Other
//! constructs are refused with their position in the text.

use std::cmp::Ordering;
use std::fmt;

use super::World;

/// Deepest nesting of parentheses and signs.
const MOST_DEPTH: u32 = 64;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConditionValue {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
}

impl fmt::Display for ConditionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The value of an expression. Fails with the position of what is not supported.
pub(super) fn evaluate(text: &str, world: &dyn World) -> Result<ConditionValue, String> {
    let mut reader = ConditionParser {
        text,
        at: 0,
        world,
        depth: 0,
    };
    let value = reader.either()?;
    reader.blanks();
    match reader.rest() {
        "" => Ok(value),
        _ => Err(reader.refuse()),
    }
}

/// True if an expression holds. Fails with the position of what is not supported.
pub(crate) fn holds(text: &str, world: &dyn World) -> Result<bool, String> {
    evaluate(text, world).map(|value| truth(&value))
}

struct ConditionParser<'a> {
    text: &'a str,
    at: usize,
    world: &'a dyn World,
    depth: u32,
}

impl<'a> ConditionParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn refuse(&self) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        format!("`{}` is not valid at character {column}", self.text)
    }

    /// Consumes one of the operators or words; a word must end there.
    fn take(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        self.blanks();
        let rest = self.rest();
        let found = wanted.iter().find(|sign| {
            let behind = rest.strip_prefix(**sign);
            let is_word = sign.starts_with(char::is_alphabetic);
            behind.is_some_and(|behind| !is_word || !behind.starts_with(is_name_part))
        })?;
        self.at += found.len();
        Some(found)
    }

    fn either(&mut self) -> Result<ConditionValue, String> {
        let mut left = self.both()?;
        while self.take(&["||", "or"]).is_some() {
            let right = self.both()?;
            left = ConditionValue::Flag(truth(&left) || truth(&right));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<ConditionValue, String> {
        let mut left = self.comparison()?;
        while self.take(&["&&", "and"]).is_some() {
            let right = self.comparison()?;
            left = ConditionValue::Flag(truth(&left) && truth(&right));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<ConditionValue, String> {
        let left = self.sum()?;
        const SIGNS: &[&str] = &[
            "===", "!==", "==", "!=", "<=", ">=", "<", ">", "eq", "ne", "le", "ge", "lt", "gt",
        ];
        let Some(sign) = self.take(SIGNS) else {
            return Ok(left);
        };
        let right = self.sum()?;
        let order = compare(&left, &right);
        Ok(ConditionValue::Flag(match sign {
            "==" | "===" | "eq" => order == Some(Ordering::Equal),
            "!=" | "!==" | "ne" => order != Some(Ordering::Equal),
            "<" | "lt" => order == Some(Ordering::Less),
            ">" | "gt" => order == Some(Ordering::Greater),
            "<=" | "le" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }))
    }

    fn sum(&mut self) -> Result<ConditionValue, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            let right = self.product()?;
            left = match (number(&left), number(&right), sign) {
                (Some(a), Some(b), "+") => ConditionValue::Number(a + b),
                (Some(a), Some(b), _) => ConditionValue::Number(a - b),
                (_, _, "+") => ConditionValue::Text(format!("{left}{right}")),
                _ => return Err(self.refuse()),
            };
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<ConditionValue, String> {
        let mut left = self.single()?;
        while let Some(sign) = self.take(&["*", "/", "%"]) {
            let right = self.single()?;
            let (Some(a), Some(b)) = (number(&left), number(&right)) else {
                return Err(self.refuse());
            };
            let whole = a.fract() == 0.0 && b.fract() == 0.0;
            left = ConditionValue::Number(match sign {
                "*" => a * b,
                "/" if whole => (a / b).trunc(),
                "/" => a / b,
                _ => a % b,
            });
        }
        Ok(left)
    }

    fn single(&mut self) -> Result<ConditionValue, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.refuse());
        }
        let value = self.single_inside();
        self.depth -= 1;
        value
    }

    fn single_inside(&mut self) -> Result<ConditionValue, String> {
        if self.take(&["!", "not"]).is_some() {
            return Ok(ConditionValue::Flag(!truth(&self.single()?)));
        }
        if self.take(&["-"]).is_some() {
            let value = self.single()?;
            let number = number(&value).ok_or_else(|| self.refuse())?;
            return Ok(ConditionValue::Number(-number));
        }
        if self.take(&["("]).is_some() {
            let value = self.either()?;
            return match self.take(&[")"]) {
                Some(_) => Ok(value),
                None => Err(self.refuse()),
            };
        }
        if let Some(word) = self.take(&["true", "false", "null"]) {
            return Ok(match word {
                "null" => ConditionValue::Null,
                word => ConditionValue::Flag(word == "true"),
            });
        }
        if self.take(&["vars.get("]).is_some() {
            return self.variable();
        }
        match self.rest().chars().next() {
            Some('"' | '\'') => self.quoted().map(ConditionValue::Text),
            Some(c) if c.is_ascii_digit() => self.digits(),
            _ => Err(self.refuse()),
        }
    }

    fn variable(&mut self) -> Result<ConditionValue, String> {
        self.blanks();
        let name = self.quoted()?;
        self.take(&[")"]).ok_or_else(|| self.refuse())?;
        let value = self.world.variable(&name);
        Ok(value.map_or(ConditionValue::Null, |value| {
            ConditionValue::Text(value.into())
        }))
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut chars = self.rest().char_indices();
        let quote = match chars.next() {
            Some((_, quote @ ('"' | '\''))) => quote,
            _ => return Err(self.refuse()),
        };
        let mut value = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => value.extend(chars.next().map(|(_, escaped)| match escaped {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                })),
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(value);
                }
                other => value.push(other),
            }
        }
        Err(self.refuse())
    }

    fn digits(&mut self) -> Result<ConditionValue, String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let digits = &rest[..end.unwrap_or(rest.len())];
        let number = digits.parse().map_err(|_| self.refuse())?;
        self.at += digits.len();
        Ok(ConditionValue::Number(number))
    }
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn truth(value: &ConditionValue) -> bool {
    match value {
        ConditionValue::Null => false,
        ConditionValue::Flag(flag) => *flag,
        ConditionValue::Number(number) => *number != 0.0 && !number.is_nan(),
        ConditionValue::Text(text) => text == "true",
    }
}

/// The value as a number, also if it is a numeric text.
fn number(value: &ConditionValue) -> Option<f64> {
    match value {
        ConditionValue::Number(number) => Some(*number),
        ConditionValue::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Compares as numbers if one value is a number and the other can be converted, otherwise as texts.
fn compare(left: &ConditionValue, right: &ConditionValue) -> Option<Ordering> {
    let one_is_number =
        matches!(left, ConditionValue::Number(_)) || matches!(right, ConditionValue::Number(_));
    match (left, right, number(left), number(right)) {
        (ConditionValue::Null, ConditionValue::Null, ..) => Some(Ordering::Equal),
        (ConditionValue::Null, ..) | (_, ConditionValue::Null, ..) => None,
        (_, _, Some(a), Some(b)) if one_is_number => a.partial_cmp(&b),
        _ => Some(left.to_string().cmp(&right.to_string())),
    }
}
