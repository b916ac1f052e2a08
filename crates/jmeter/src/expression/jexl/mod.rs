//! JEXL, the language of `__jexl3` and `__jexl2`.
//!
//! ```text
//! text ─ token ─► tokens ─ parse ─► Script ─ evaluate ─► value
//!                                     │          └ methods, arithmetic: as Java and JEXL do it
//!                                     └ examine: what is not supported is told before the test
//! ```
//!
//! The language is that of JEXL 3.2 in the mode in which JMeter runs it: an error gives no value
//! and is logged. Steps, nesting and the length of texts are bounded.

use std::fmt;

use super::{Segment, Template, World};

mod arithmetic;
mod evaluate;
mod examine;
mod format;
mod java;
mod map;
mod methods;
mod parse;
mod text;
mod token;
mod tree;
mod value;

pub(super) use format::double as write_double;

/// Versions of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JEXL 2.1, of `__jexl2`.
    Jexl2,
    /// JEXL 3.2, of `__jexl3`.
    Jexl3,
}

impl Dialect {
    /// The dialect of a function of expressions; `None`: its argument is not JEXL.
    pub fn of(function: &str) -> Option<Self> {
        match function {
            "__jexl2" => Some(Self::Jexl2),
            "__jexl3" => Some(Self::Jexl3),
            _ => None,
        }
    }
}

/// Reason why a text is not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not JEXL from this character on, counted from 0.
    Syntax(usize),
    /// A construct that is not supported.
    Unsupported(String),
}

impl Refusal {
    fn syntax(at: usize) -> Self {
        Self::Syntax(at)
    }

    fn unsupported(construct: impl Into<String>) -> Self {
        Self::Unsupported(construct.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(at) => write!(f, "it is not valid at character {}", at + 1),
            Self::Unsupported(construct) => write!(f, "{construct} is not supported"),
        }
    }
}

/// The value of a script as a text; empty for null. Fails with the reason where JMeter logs an
/// error and gives an empty text.
pub(super) fn evaluate(
    text: &str,
    dialect: Dialect,
    world: &mut dyn World,
) -> Result<String, String> {
    let told = |why: String| format!("`{}`: {why}", shortened(text));
    let script = parse::script(text, dialect).map_err(|refusal| told(refusal.to_string()))?;
    evaluate::run(&script, dialect, world).map_err(told)
}

/// The reason why a template cannot be executed as a script, as far as that can be known before
/// the values of its variables; `None`: it can be.
pub(crate) fn flaw(template: &Template, dialect: Dialect) -> Option<Refusal> {
    let mut text = String::new();
    for segment in template.segments() {
        match segment {
            Segment::Text(plain) => text.push_str(plain),
            Segment::Variable(_) | Segment::Call(_) => text.push(token::HOLE),
        }
    }
    let holes_outside = |text: &str| {
        let tokens = token::tokens(text, dialect);
        tokens.is_ok_and(|all| {
            let mut all = all.iter();
            all.any(|placed| matches!(placed.token, token::Token::Hole))
        })
    };
    match parse::script(&text, dialect) {
        Ok(script) => examine::unsupported(&script).map(Refusal::Unsupported),
        // What a variable stands for may be an operator or a quote.
        Err(Refusal::Syntax(_)) if text.contains(token::HOLE) => match holes_outside(&text) {
            true => None,
            false if token::tokens(&text, dialect).is_err() => None,
            false => Some(Refusal::Syntax(0)),
        },
        Err(refusal) => Some(refusal),
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
