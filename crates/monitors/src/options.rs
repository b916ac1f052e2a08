//! Reads the options of a monitor, from `key=value` words and from JSON.
//!
//! Both borders end in one reader: a word is a JSON string, and a field that wants a number or a truth
//! value accepts the text of one. Whatever cannot be read is an error that names the monitor and the key.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};
use serde_json::{Map, Value};
use sokudo_i18n::english;
use sokudo_model::{Nanos, Text};

/// Reason why the options of a monitor cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub enum BadOption {
    /// No monitor has this name.
    UnknownMonitor(String),
    /// A piece of the text is not `key=value`.
    NotAPair {
        /// The monitor.
        monitor: String,
        /// The piece.
        piece: String,
    },
    /// The value of an option, or its name, cannot be used.
    Option {
        /// The monitor.
        monitor: String,
        /// The option.
        key: String,
        /// The mistake in it.
        problem: Text,
    },
    /// The options do not fit together, or one is missing.
    Together {
        /// The monitor.
        monitor: String,
        /// The mistake in them.
        problem: Text,
    },
}

impl BadOption {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::UnknownMonitor(name) => Text::new("error-monitor-unknown").word("monitor", name),
            Self::NotAPair { monitor, piece } => Text::new("error-monitor-pair")
                .word("monitor", monitor)
                .word("piece", piece),
            Self::Option {
                monitor,
                key,
                problem,
            } => Text::new("error-monitor-option")
                .word("monitor", monitor)
                .word("option", key)
                .text("problem", problem.clone()),
            Self::Together { monitor, problem } => Text::new("error-monitor-together")
                .word("monitor", monitor)
                .text("problem", problem.clone()),
        }
    }

    /// Remedy for the operator.
    pub fn hint(&self) -> Text {
        match self {
            Self::UnknownMonitor(_) => {
                let names: Vec<&str> = crate::REGISTRY.iter().map(|m| m.info().name).collect();
                Text::new("error-monitor-unknown-hint").word("monitors", names.join(", "))
            }
            Self::NotAPair { monitor, .. }
            | Self::Option { monitor, .. }
            | Self::Together { monitor, .. } => {
                Text::new("error-monitor-option-hint").word("monitor", monitor)
            }
        }
    }
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.text()))
    }
}

impl std::error::Error for BadOption {}

/// Options of a monitor that has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// A length of time as it is typed: `500ms`, `2s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, JsonSchema)]
#[schemars(with = "String")]
pub struct Time(pub Nanos);

impl Time {
    /// So many milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(Nanos(ms * 1_000_000))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.exact())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}

/// Splits `key=value,key=value` into pairs; `monitor` is named in errors.
pub(crate) fn pairs(monitor: &str, text: &str) -> Result<Vec<(String, String)>, BadOption> {
    let pieces = text.split(',').filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| {
            let pair = piece.split_once('=').filter(|(key, _)| !key.is_empty());
            let (key, value) = pair.ok_or_else(|| BadOption::NotAPair {
                monitor: monitor.into(),
                piece: piece.into(),
            })?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

/// Reads typed options from a JSON object whose strings may stand for numbers and truth values.
pub(crate) fn read<O: DeserializeOwned>(
    monitor: &str,
    object: Map<String, Value>,
) -> Result<O, BadOption> {
    // The error of a field does not say which one it was: read again, one field less at a time, would
    // be guessing, so the last key that was handed out is remembered.
    let last = std::cell::RefCell::new(String::new());
    let fields = object.into_iter().map(|(key, value)| {
        last.borrow_mut().clone_from(&key);
        (key, Lenient(value))
    });
    let read = O::deserialize(MapDeserializer::<_, Problem>::new(fields));
    read.map_err(|problem| {
        let key = last.into_inner();
        let of_field = !is_missing(&problem.0);
        let monitor = monitor.to_owned();
        match of_field && !key.is_empty() {
            true => BadOption::Option {
                monitor,
                key,
                problem: problem.0,
            },
            false => BadOption::Together {
                monitor,
                problem: problem.0,
            },
        }
    })
}

/// A message of a field that could not be read.
#[derive(Debug)]
struct Problem(Text);

/// True where an option is missing: the last one that was read is not at fault.
fn is_missing(problem: &Text) -> bool {
    problem.key == "error-monitor-missing"
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.0))
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Text::words(message.to_string()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(Text::new("error-monitor-missing").word("option", field))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self(match expected {
            [] => Text::new("error-monitor-no-options"),
            names => Text::new("error-monitor-option-unknown").word("options", names.join(", ")),
        })
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self(Text::words(error.to_string()))
    }
}

/// A JSON value whose text is read as a number or a truth value where one is wanted.
struct Lenient(Value);

impl IntoDeserializer<'_, Problem> for Lenient {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The text of a value as another type; values that are not text stay as they are. `wanted` is the
/// message of a text that is not one.
fn parsed<T: FromStr>(value: &Value, wanted: &str) -> Result<Option<T>, Problem> {
    let Value::String(text) = value else {
        return Ok(None);
    };
    let read = text.parse().map(Some);
    read.map_err(|_| Problem(Text::new(wanted).word("text", text)))
}

macro_rules! numbers {
    ($($method:ident => $visit:ident, $type:ty, $wanted:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match parsed::<$type>(&self.0, $wanted)? {
                Some(value) => visitor.$visit(value),
                None => Ok(self.0.$method(visitor)?),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Lenient {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        Ok(self.0.deserialize_any(visitor)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    numbers! {
        deserialize_bool => visit_bool, bool, "error-monitor-value-bool";
        deserialize_u8 => visit_u8, u8, "error-monitor-value-u8";
        deserialize_u16 => visit_u16, u16, "error-monitor-value-u16";
        deserialize_u32 => visit_u32, u32, "error-monitor-value-whole";
        deserialize_u64 => visit_u64, u64, "error-monitor-value-whole";
        deserialize_f64 => visit_f64, f64, "error-value-number";
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        Ok(self.0.deserialize_enum(name, variants, visitor)?)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Sample {
        port: Option<u16>,
        most: u32,
        all: bool,
        name: Option<String>,
        wait: Option<Time>,
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn words(text: &str) -> Result<Sample, BadOption> {
        let pairs = pairs("sample", text)?.into_iter();
        read(
            "sample",
            pairs.map(|(key, value)| (key, value.into())).collect(),
        )
    }

    #[test]
    fn words_and_json_say_the_same() {
        let typed = words("port=80,most=7,all=true,name=a=b,wait=2s").expect("options");
        let sample = Sample {
            port: Some(80),
            most: 7,
            all: true,
            name: Some("a=b".into()),
            wait: Some(Time(Nanos(2_000_000_000))),
        };
        assert_eq!(typed, sample);
        let json = serde_json::to_value(&sample).expect("JSON");
        assert_eq!(read::<Sample>("sample", object(json)), Ok(sample));
        assert_eq!(words(""), Ok(Sample::default()));
    }

    #[test]
    fn mistakes_name_the_monitor_and_the_key() {
        let check = |text: &str, expected: &str| {
            let says = words(text).expect_err("a mistake").to_string();
            assert_eq!(says, expected);
        };
        check("port", "monitor `sample`: `port` is not KEY=VALUE");
        check("=1", "monitor `sample`: `=1` is not KEY=VALUE");
        check(
            "port=70000",
            "monitor `sample`: option `port`: `70000` is not a number from 0 to 65535",
        );
        check(
            "all=yes",
            "monitor `sample`: option `all`: `yes` is not `true` or `false`",
        );
        check(
            "prt=1",
            "monitor `sample`: option `prt`: not known; options: port, most, all, name, wait, interval, on",
        );
        check(
            "wait=soon",
            "monitor `sample`: option `wait`: `soon` does not start with a number",
        );
        let nested = read::<Sample>("sample", object(json!({ "port": { "a": 1 } })));
        let says = nested.expect_err("a mistake").to_string();
        assert!(
            says.starts_with("monitor `sample`: option `port`:"),
            "{says}"
        );
    }
}
