//! Choices of which each load takes some values: command line, JSON and schema know only those.
//!
//! The values and their help stand in a [`Subset`]; a field of options names it three times:
//!
//! ```text
//! #[arg(long, value_parser = choice::parser::<Directions>(), default_value = "up")]
//! #[serde(deserialize_with = "choice::read::<Directions, _>")]
//! #[schemars(with = "Only<Directions>")]
//! pub direction: Direction,
//! ```

use std::borrow::Cow;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// One of several values, each known by a name.
pub trait Choice: Copy + Send + Sync + 'static {
    /// Name as typed, and as it stands in JSON.
    fn name(self) -> &'static str;
}

/// The values of a [`Choice`] that one load takes.
pub trait Subset: 'static {
    /// Type of the choice.
    type Choice: Choice;

    /// Name of the choice in a schema.
    const NAME: &'static str;

    /// The values, in the order of the help, each with its help.
    const VALUES: &'static [(Self::Choice, &'static str)];

    /// The value of this name; `None` for a name that is not among them.
    fn find(name: &str) -> Option<Self::Choice> {
        Self::VALUES
            .iter()
            .map(|(value, _)| *value)
            .find(|value| value.name() == name)
    }
}

/// Reads an option whose value is one of the subset; help and errors list these values.
pub fn parser<S: Subset>() -> impl TypedValueParser<Value = S::Choice> {
    let values = S::VALUES
        .iter()
        .map(|(value, help)| PossibleValue::new(value.name()).help(*help));
    PossibleValuesParser::new(values)
        .try_map(|name| S::find(&name).ok_or_else(|| unknown::<S>(&name)))
}

/// Reads a JSON string that is one of the subset.
///
/// Errors: another value; the error lists those of the subset.
pub fn read<'de, S: Subset, D: Deserializer<'de>>(deserializer: D) -> Result<S::Choice, D::Error> {
    let name = Cow::<str>::deserialize(deserializer)?;
    S::find(&name).ok_or_else(|| Error::custom(unknown::<S>(&name)))
}

/// In the words of serde, which needs the names before the program runs.
fn unknown<S: Subset>(name: &str) -> String {
    let quoted = |(value, _): &(S::Choice, _)| format!("`{}`", value.name());
    let known: Vec<String> = S::VALUES.iter().map(quoted).collect();
    let expected = match known.as_slice() {
        [first, second] => format!("{first} or {second}"),
        all => format!("one of {}", all.join(", ")),
    };
    format!("unknown variant `{name}`, expected {expected}")
}

/// The JSON schema of a field that takes the values of a subset.
pub struct Only<S>(PhantomData<S>);

impl<S: Subset> JsonSchema for Only<S> {
    fn schema_name() -> Cow<'static, str> {
        S::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |(value, help): &(S::Choice, &str)| json_schema!({ "description": format!("{help}."), "type": "string", "const": value.name() });
        json_schema!({ "oneOf": S::VALUES.iter().map(one).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde::Deserialize;

    use super::*;
    use crate::flows::Direction;

    struct Ways;

    impl Subset for Ways {
        type Choice = Direction;
        const NAME: &'static str = "Direction";
        const VALUES: &'static [(Direction, &'static str)] = &[
            (Direction::Up, "This host asks each of its peers"),
            (Direction::MeshSelf, "Every host asks all hosts"),
        ];
    }

    #[derive(Debug, Parser, Deserialize, JsonSchema)]
    struct Asked {
        #[arg(long, value_parser = parser::<Ways>(), default_value = "up")]
        #[serde(deserialize_with = "read::<Ways, _>")]
        #[schemars(with = "Only<Ways>")]
        direction: Direction,
    }

    fn typed(value: &str) -> Result<Direction, String> {
        let asked = Asked::try_parse_from(["x", "--direction", value]);
        asked
            .map(|asked| asked.direction)
            .map_err(|error| error.to_string())
    }

    fn written(json: &str) -> Result<Direction, String> {
        let asked = serde_json::from_str::<Asked>(json);
        asked
            .map(|asked| asked.direction)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_of_the_subset_are_taken_by_their_names() {
        assert_eq!(typed("mesh-self"), Ok(Direction::MeshSelf));
        assert_eq!(
            written(r#"{"direction": "mesh-self"}"#),
            Ok(Direction::MeshSelf)
        );
    }

    #[test]
    fn values_outside_are_refused_with_those_of_the_subset_only() {
        let error = typed("both").unwrap_err();
        assert!(
            error.contains("[possible values: up, mesh-self]"),
            "{error}"
        );
        let error = written(r#"{"direction": "both"}"#).unwrap_err();
        assert!(
            error.starts_with("unknown variant `both`, expected `up` or `mesh-self`"),
            "{error}"
        );
    }

    #[test]
    fn the_schema_lists_the_values_with_their_help() {
        let schema = schemars::schema_for!(Asked).to_value();
        assert_eq!(
            schema["$defs"]["Direction"]["oneOf"],
            serde_json::json!([
                { "description": "This host asks each of its peers.", "type": "string", "const": "up" },
                { "description": "Every host asks all hosts.", "type": "string", "const": "mesh-self" },
            ])
        );
    }
}
