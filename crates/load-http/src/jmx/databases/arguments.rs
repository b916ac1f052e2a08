//! Parameters of prepared statements, from their texts and the names of their types.

use sokudo_jmeter::run::{Parameter, Thrown};
use sokudo_sql::jdbc::{Argument, ArgumentKind};

/// Names and numbers of `java.sql.Types`.
const TYPES: &[(&str, i32)] = &[
    ("bit", -7),
    ("tinyint", -6),
    ("smallint", 5),
    ("integer", 4),
    ("bigint", -5),
    ("float", 6),
    ("real", 7),
    ("double", 8),
    ("numeric", 2),
    ("decimal", 3),
    ("char", 1),
    ("varchar", 12),
    ("longvarchar", -1),
    ("nchar", -15),
    ("nvarchar", -9),
    ("longnvarchar", -16),
    ("date", 91),
    ("time", 92),
    ("timestamp", 93),
    ("binary", -2),
    ("varbinary", -3),
    ("longvarbinary", -4),
    ("null", 0),
    ("other", 1111),
    ("boolean", 16),
    ("clob", 2005),
    ("blob", 2004),
];

/// The parameters as drivers take them. Errors: what is thrown where one has not its type.
pub(super) fn arguments(parameters: &[Parameter]) -> Result<Vec<Argument>, Thrown> {
    parameters.iter().map(argument).collect()
}

fn argument(parameter: &Parameter) -> Result<Argument, Thrown> {
    let number = number(&parameter.kind)?;
    let Some(text) = &parameter.value else {
        return Ok(Argument::Null(kind(number)));
    };
    let text = text.as_str();
    let not_a_number = || {
        thrown(
            "java.lang.NumberFormatException",
            &format!("For input string: \"{text}\""),
        )
    };
    Ok(match number {
        4 => Argument::Int(text.parse().map_err(|_| not_a_number())?),
        2 | 3 => Argument::Decimal(decimal(text)?),
        6 | 8 => Argument::Double(text.trim().parse().map_err(|_| not_a_number())?),
        7 => Argument::Float(text.trim().parse().map_err(|_| not_a_number())?),
        -7 | 16 => Argument::Bool(text.eq_ignore_ascii_case("true")),
        -5 => Argument::Long(text.parse().map_err(|_| not_a_number())?),
        -6 => {
            let small: i8 = text.parse().map_err(|_| match text.parse::<i32>() {
                Ok(_) => out_of_range(text),
                Err(_) => not_a_number(),
            })?;
            Argument::Short(small.into())
        }
        5 => Argument::Short(text.parse().map_err(|_| match text.parse::<i32>() {
            Ok(_) => out_of_range(text),
            Err(_) => not_a_number(),
        })?),
        91 => Argument::Date(text.to_owned()),
        92 => Argument::Time(text.to_owned()),
        93 => Argument::Timestamp(timestamp(text)?),
        -4..=-2 => Argument::Bytes(text.as_bytes().to_vec()),
        0 => Argument::Null(ArgumentKind::Open),
        _ => Argument::Text(text.to_owned()),
    })
}

fn out_of_range(text: &str) -> Thrown {
    let says = format!("Value out of range. Value:\"{text}\" Radix:10");
    thrown("java.lang.NumberFormatException", &says)
}

fn thrown(class: &str, message: &str) -> Thrown {
    Thrown {
        class: class.into(),
        sql: None,
        message: message.into(),
    }
}

/// The number of a type from its name, or as it is written.
fn number(name: &str) -> Result<i32, Thrown> {
    let lower = name.to_lowercase();
    let known = TYPES.iter().find(|(known, _)| *known == lower);
    let number = known
        .map(|(_, number)| *number)
        .or_else(|| name.parse().ok());
    number.ok_or_else(|| Thrown {
        class: "java.sql.SQLException".into(),
        sql: Some((None, 0)),
        message: format!("Invalid data type: {name}"),
    })
}

fn kind(number: i32) -> ArgumentKind {
    match number {
        4 => ArgumentKind::Int,
        -5 => ArgumentKind::Long,
        5 | -6 => ArgumentKind::Short,
        7 => ArgumentKind::Float,
        6 | 8 => ArgumentKind::Double,
        2 | 3 => ArgumentKind::Decimal,
        -7 | 16 => ArgumentKind::Bool,
        1 | 12 | -1 => ArgumentKind::Text,
        -4..=-2 => ArgumentKind::Bytes,
        _ => ArgumentKind::Open,
    }
}

/// `new BigDecimal` of a text, written without exponent.
fn decimal(text: &str) -> Result<String, Thrown> {
    let wrong = || {
        thrown(
            "java.lang.NumberFormatException",
            "Character array is missing \"exponent\" mark 'e' or 'E'.",
        )
    };
    let bare = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_plain = !bare.is_empty()
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && bare.matches('.').count() <= 1
        && bare != ".";
    match is_plain {
        true => Ok(text.strip_prefix('+').unwrap_or(text).to_owned()),
        // Servers read an exponent as Java does.
        false if text.parse::<f64>().is_ok_and(f64::is_finite) => Ok(text.to_owned()),
        false => Err(wrong()),
    }
}

/// `Timestamp.valueOf`.
fn timestamp(text: &str) -> Result<String, Thrown> {
    let text = text.trim();
    let is_one = text.len() >= 16 && text.contains(' ') && text.matches(':').count() == 2;
    match is_one {
        true => Ok(text.to_owned()),
        false => Err(thrown(
            "java.lang.IllegalArgumentException",
            "Timestamp format must be yyyy-mm-dd hh:mm:ss[.fffffffff]",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_what_their_types_say() {
        let of = |value: Option<&str>, kind: &str| {
            argument(&Parameter {
                value: value.map(str::to_owned),
                kind: kind.into(),
            })
        };
        assert_eq!(of(Some("7"), "INTEGER"), Ok(Argument::Int(7)));
        assert_eq!(of(Some("7"), "4"), Ok(Argument::Int(7)));
        assert_eq!(of(Some("x"), "varchar"), Ok(Argument::Text("x".into())));
        assert_eq!(of(Some("x"), "LONGVARCHAR"), Ok(Argument::Text("x".into())));
        assert_eq!(
            of(Some("x"), "VARBINARY"),
            Ok(Argument::Bytes(b"x".to_vec()))
        );
        assert_eq!(
            of(Some("1.50"), "DECIMAL"),
            Ok(Argument::Decimal("1.50".into()))
        );
        assert_eq!(of(Some("TRUE"), "BOOLEAN"), Ok(Argument::Bool(true)));
        assert_eq!(of(None, "BIGINT"), Ok(Argument::Null(ArgumentKind::Long)));
        let wrong = of(Some("x"), "INTEGER").expect_err("no number");
        assert_eq!(wrong.message, "For input string: \"x\"");
        let unknown = of(Some("x"), "INT").expect_err("no type");
        assert_eq!(unknown.message, "Invalid data type: INT");
    }
}
