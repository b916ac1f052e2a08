//! Functions at the end of a path.

use super::Value;
use super::path::PathFault;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Least,
    Most,
    Mean,
    Deviation,
    Sum,
    Joined,
    Keys,
    At(i64),
}

impl Function {
    /// True for the names of all functions of JMeter's library, with whatever arguments.
    pub fn is_known(name: &str) -> bool {
        name == "append" || name == "index" || Self::of(name, "").is_some()
    }

    /// The function of this name; `None`: there is none, or not with this argument.
    pub fn of(name: &str, argument: &str) -> Option<Self> {
        let function = match name {
            "length" | "size" => Self::Length,
            "min" => Self::Least,
            "max" => Self::Most,
            "avg" => Self::Mean,
            "stddev" => Self::Deviation,
            "sum" => Self::Sum,
            "concat" => Self::Joined,
            "keys" => Self::Keys,
            "first" => Self::At(0),
            "last" => Self::At(-1),
            "index" => return argument.parse().ok().map(Self::At),
            _ => return None,
        };
        argument.is_empty().then_some(function)
    }

    /// Its value. Errors: it cannot be applied to this.
    pub fn of_value(self, value: &Value) -> Result<Value, PathFault> {
        match (self, value) {
            (Self::Length, Value::List(items)) => Ok(Value::Whole(items.len() as i64)),
            (Self::Length, Value::Map(members)) => Ok(Value::Whole(members.len() as i64)),
            (Self::Length, _) => Ok(Value::Null),
            (Self::Keys, Value::Map(members)) => {
                let keys = members.iter().map(|(key, _)| Value::Text(key.clone()));
                Ok(Value::List(keys.collect()))
            }
            (Self::Joined, Value::List(items)) => {
                let texts = items.iter().filter_map(|item| match item {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                Ok(Value::Text(texts.collect()))
            }
            (Self::At(index), Value::List(items)) => {
                let item = item(items, index).cloned();
                item.ok_or_else(|| PathFault::Invalid(format!("there is no item {index}")))
            }
            (Self::Keys | Self::Joined | Self::At(_), _) => Ok(Value::Null),
            (_, Value::List(items)) => self.of_numbers(items),
            _ => Err(empty()),
        }
    }

    fn of_numbers(self, items: &[Value]) -> Result<Value, PathFault> {
        let numbers: Vec<f64> = items.iter().filter_map(Value::number).collect();
        if numbers.is_empty() {
            return Err(empty());
        }
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        Ok(Value::Double(match self {
            Self::Least => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Most => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Mean => sum / count,
            Self::Deviation => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                (squares / count - sum * sum / count / count).sqrt()
            }
            _ => sum,
        }))
    }
}

fn empty() -> PathFault {
    PathFault::Invalid("Aggregation function attempted to calculate value using empty array".into())
}

/// An item by its number, from the end where negative.
pub(super) fn item(items: &[Value], index: i64) -> Option<&Value> {
    let index = match index < 0 {
        true => items.len() as i64 + index,
        false => index,
    };
    usize::try_from(index)
        .ok()
        .and_then(|index| items.get(index))
}
