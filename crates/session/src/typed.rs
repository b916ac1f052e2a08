//! Options that were not understood, as one sentence and one hint.

use std::error::Error;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use sokudo_i18n::{TextError, UnknownLang, english};
use sokudo_model::units::UnitError;
use sokudo_model::{NoBound, NoExpectation, Refusal, Text};
use sokudo_stats::capacity::record::NoRule;
use sokudo_stats::requests::goals::NoGoal;
use sokudo_wire::KeyError;
use sokudo_wire::join::JoinTokenError;
use sokudo_wire::label::LabelError;
use sokudo_workload::refusal::operator;

/// Error of the option parser.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// The mistake.
    pub says: Text,
    /// Its advice, where it helps.
    pub tip: Option<Text>,
}

/// The parser's paragraphs as one sentence and its tip.
///
/// Both are messages whose English is exactly what the parser says; what has none, or says something
/// else in this version of the parser, stays in the parser's own words.
pub fn sentence(error: &clap::Error) -> Sentence {
    let (says, tip) = own_words(&error.to_string());
    let message = |text: Option<Text>, own: String| {
        text.filter(|text| english(text) == own)
            .unwrap_or_else(|| own.into())
    };
    Sentence {
        says: message(what(error), says),
        tip: tip.map(|own| message(similar(error).or_else(|| elsewhere(&own)), own)),
    }
}

/// The first of the parser's paragraphs, and its tip.
fn own_words(text: &str) -> (String, Option<String>) {
    let mut paragraphs = text.split("\n\n");
    let one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = one_line(paragraphs.next().unwrap_or_default());
    let says = first.strip_prefix("error: ").unwrap_or(&first);
    // Its tip to pass an unknown option as a value does not help here.
    let tip = paragraphs
        .find_map(|p| p.trim_start().strip_prefix("tip: ").map(one_line))
        .filter(|tip| !tip.starts_with("to pass "));
    (says.to_owned(), tip)
}

/// The mistake; `None` where it has no message.
fn what(error: &clap::Error) -> Option<Text> {
    let of = |text: Text, name: &str, kind| Some(text.word(name, word(error, kind)?));
    let argument = |key: &str| of(Text::new(key), "argument", ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => argument("error-typed-unknown"),
        ErrorKind::InvalidSubcommand => of(
            Text::new("error-typed-unknown-subcommand"),
            "subcommand",
            ContextKind::InvalidSubcommand,
        ),
        ErrorKind::MissingRequiredArgument => {
            let arguments = words(error, ContextKind::InvalidArg)?.join(" ");
            Some(Text::new("error-typed-missing").word("arguments", arguments))
        }
        ErrorKind::MissingSubcommand => {
            let known = words(error, ContextKind::ValidSubcommand)?.join(", ");
            let text = Text::new("error-typed-no-subcommand");
            of(text, "command", ContextKind::InvalidSubcommand)
                .map(|text| text.word("subcommands", known))
        }
        ErrorKind::TooManyValues => {
            let text = argument("error-typed-too-many")?;
            of(text, "value", ContextKind::InvalidValue)
        }
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::InvalidValue => choice(error),
        ErrorKind::ValueValidation => {
            let text = argument("error-typed-invalid-because")?;
            let text = of(text, "value", ContextKind::InvalidValue)?;
            Some(text.text("reason", reason(error.source()?)))
        }
        _ => None,
    }
}

fn conflict(error: &clap::Error) -> Option<Text> {
    let argument = word(error, ContextKind::InvalidArg)?;
    let with = |key: &str| Text::new(key).word("argument", &argument);
    match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) if *other == argument => Some(with("error-typed-twice")),
        ContextValue::String(other) => Some(with("error-typed-conflict").word("other", other)),
        ContextValue::Strings(others) => {
            Some(with("error-typed-conflict-others").word("others", others.join(" ")))
        }
        _ => None,
    }
}

/// A value that is missing, or not one of those that an option takes.
fn choice(error: &clap::Error) -> Option<Text> {
    let argument = word(error, ContextKind::InvalidArg)?;
    let value = word(error, ContextKind::InvalidValue)?;
    let known = words(error, ContextKind::ValidValue).unwrap_or_default();
    let text = match (value.is_empty(), known.is_empty()) {
        (true, true) => Text::new("error-typed-no-value"),
        (true, false) => Text::new("error-typed-no-value-choice"),
        (false, true) => Text::new("error-typed-invalid"),
        (false, false) => Text::new("error-typed-invalid-choice"),
    };
    let text = text.word("argument", argument).word("value", value);
    Some(text.word("values", known.join(", ")))
}

/// Reason why a value is not one that an option takes.
fn reason(why: &(dyn Error + 'static)) -> Text {
    let known = [
        said(why, TextError::text),
        said(why, UnitError::text),
        said(why, UnknownLang::text),
        said(why, NoBound::text),
        said(why, NoExpectation::text),
        said(why, NoGoal::text),
        said(why, NoRule::text),
        said(why, KeyError::text),
        said(why, LabelError::text),
        said(why, JoinTokenError::text),
        said(why, whole_number),
        said(why, decimal_number),
        said(why, address),
    ];
    let known = known.into_iter().flatten().next();
    known.unwrap_or_else(|| of_the_parser(why.to_string()))
}

/// The message of an error of this type.
fn said<E: Error + 'static>(why: &(dyn Error + 'static), text: fn(&E) -> Text) -> Option<Text> {
    why.downcast_ref().map(text)
}

fn whole_number(why: &ParseIntError) -> Text {
    let message = match why.kind() {
        IntErrorKind::Empty => "error-value-integer-empty",
        IntErrorKind::PosOverflow => "error-value-integer-large",
        IntErrorKind::NegOverflow => "error-value-integer-small",
        _ => "error-value-integer",
    };
    Text::new(message)
}

fn decimal_number(_: &ParseFloatError) -> Text {
    Text::new("error-value-float")
}

fn address(why: &AddrParseError) -> Text {
    Text::new(match why.to_string().contains("socket") {
        true => "error-value-socket-address",
        false => "error-value-ip-address",
    })
}

/// A reason of the option parser itself: a number outside of the range of an option.
fn of_the_parser(own: String) -> Text {
    match own.split_once(" is not in ") {
        Some((text, range)) if !text.contains(' ') => Text::new("error-value-range")
            .word("text", text)
            .word("range", range),
        _ => own.into(),
    }
}

/// The word that was probably meant.
fn similar(error: &clap::Error) -> Option<Text> {
    let kinds = [
        (
            ContextKind::SuggestedSubcommand,
            "error-typed-similar-subcommand-hint",
            "error-typed-similar-subcommands-hint",
        ),
        (
            ContextKind::SuggestedArg,
            "error-typed-similar-argument-hint",
            "error-typed-similar-arguments-hint",
        ),
        (
            ContextKind::SuggestedValue,
            "error-typed-similar-value-hint",
            "error-typed-similar-values-hint",
        ),
    ];
    kinds
        .iter()
        .find_map(|(kind, one, several)| match error.get(*kind)? {
            ContextValue::String(similar) => Some(Text::new(*one).word("similar", similar)),
            ContextValue::Strings(similar) if similar.len() == 1 => {
                Some(Text::new(*one).word("similar", &similar[0]))
            }
            ContextValue::Strings(similar) => {
                let quoted: Vec<_> = similar.iter().map(|it| format!("'{it}'")).collect();
                Some(Text::new(*several).word("similar", quoted.join(", ")))
            }
            _ => None,
        })
}

/// The option of a subcommand that was typed before it: the parser gives this tip as styled words.
fn elsewhere(own: &str) -> Option<Text> {
    let typed = own.strip_prefix('\'')?.strip_suffix("' exists")?;
    let (subcommand, argument) = typed.split_once(' ')?;
    let text = Text::new("error-typed-option-of-subcommand-hint");
    Some(
        text.word("subcommand", subcommand)
            .word("argument", argument),
    )
}

fn word(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    }
}

fn words(error: &clap::Error, kind: ContextKind) -> Option<Vec<String>> {
    match error.get(kind)? {
        ContextValue::Strings(words) => Some(words.clone()),
        _ => None,
    }
}

/// The same for options of a workload that stand outside of a command line.
pub(crate) fn not_understood(error: &clap::Error, workload: &str) -> Refusal {
    let Sentence { says, tip } = sentence(error);
    let hint = tip.unwrap_or_else(|| {
        Text::new("error-help-hint").with("command", format_args!("sokudo {workload}"))
    });
    operator(says, hint)
}
