//! JSON as JMeter's libraries read, query and write it.
//!
//! ```text
//! text ─ read: lenient ─► Value ─┐
//! path ─ path, filter ──► Path ──┴─ query ─► values ─► text as Java's maps and numbers have it
//! ```
//!
//! Documents keep the order of their members. Nesting, steps and matches are bounded.

mod filter;
mod function;
mod path;
mod query;
mod read;
mod write;

pub use path::{Path, PathFault};
pub use read::read;

/// Deepest nesting of a document, as in JMeter's library.
const MOST_DEPTH: usize = 400;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent.
    Whole(i64),
    /// Any other number that a double holds.
    Double(f64),
    /// A number with more digits, as written.
    Digits(String),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object: names and values in the order of the document, each name once.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// A member of an object.
    fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Map(members) => members
                .iter()
                .find_map(|(key, value)| (key == name).then_some(value)),
            _ => None,
        }
    }

    /// True for equal values. The order of members does not matter, the kind of number does.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::List(items), Self::List(others)) => {
                let pairs = || items.iter().zip(others);
                items.len() == others.len() && pairs().all(|(item, other)| item.is_same(other))
            }
            (Self::Map(members), Self::Map(others)) => {
                let is_there = |(name, value): &(String, Value)| {
                    other.member(name).is_some_and(|other| value.is_same(other))
                };
                members.len() == others.len() && members.iter().all(is_there)
            }
            (value, other) => value == other,
        }
    }

    /// As a number; `None`: it is none.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            Self::Digits(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
