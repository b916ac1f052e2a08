//! The functions of XPath.

use super::evaluate::{Context, Evaluation};
use super::{Expr, Found};
use crate::document::{Name, NodeKind};

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Last,
    Position,
    Count,
    LocalName,
    NamespaceUri,
    Name,
    String,
    Concat,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    LowerCase,
    UpperCase,
    Boolean,
    Not,
    True,
    False,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

/// Names, and the fewest and most arguments.
const NAMES: &[(&str, Function, usize, usize)] = &[
    ("last", Function::Last, 0, 0),
    ("position", Function::Position, 0, 0),
    ("count", Function::Count, 1, 1),
    ("local-name", Function::LocalName, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("name", Function::Name, 0, 1),
    ("string", Function::String, 0, 1),
    ("concat", Function::Concat, 2, 1_000),
    ("starts-with", Function::StartsWith, 2, 2),
    ("ends-with", Function::EndsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("matches", Function::Matches, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring", Function::Substring, 2, 3),
    ("string-length", Function::StringLength, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("translate", Function::Translate, 3, 3),
    ("lower-case", Function::LowerCase, 1, 1),
    ("upper-case", Function::UpperCase, 1, 1),
    ("boolean", Function::Boolean, 1, 1),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
    ("number", Function::Number, 0, 1),
    ("sum", Function::Sum, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("round", Function::Round, 1, 1),
];

impl Function {
    /// The function of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(known, ..)| *known == name);
        found.map(|(_, function, ..)| *function)
    }

    /// Fewest and most arguments.
    pub(super) fn takes(self) -> (usize, usize) {
        let found = NAMES.iter().find(|(_, function, ..)| *function == self);
        found.map_or((0, 0), |(_, _, least, most)| (*least, *most))
    }

    /// Its value.
    pub(super) fn call(
        self,
        run: &mut Evaluation<'_>,
        context: Context,
        arguments: &[Expr],
    ) -> Result<Found, String> {
        let call = Call { context, arguments };
        let text = |value: String| Ok(Found::Text(value));
        let flag = |value: bool| Ok(Found::Flag(value));
        let number = |value: f64| Ok(Found::Number(value));
        match self {
            Self::Last => number(context.size as f64),
            Self::Position => number(context.position as f64),
            Self::Count => number(run.nodes(call.argument(0), context)?.len() as f64),
            Self::LocalName => text(call.name(run)?.local),
            Self::NamespaceUri => text(call.name(run)?.space),
            Self::Name => text(call.name(run)?.written()),
            Self::String => text(call.text(run, 0)?),
            Self::Concat => {
                let parts = (0..arguments.len()).map(|index| call.text(run, index));
                text(parts.collect::<Result<Vec<_>, _>>()?.concat())
            }
            Self::StartsWith => flag(call.text(run, 0)?.starts_with(&call.text(run, 1)?)),
            Self::EndsWith => flag(call.text(run, 0)?.ends_with(&call.text(run, 1)?)),
            Self::Contains => flag(call.text(run, 0)?.contains(&call.text(run, 1)?)),
            Self::Matches => flag(call.matches(run)?),
            Self::SubstringBefore => text(call.around(run)?.map_or_else(String::new, |it| it.0)),
            Self::SubstringAfter => text(call.around(run)?.map_or_else(String::new, |it| it.1)),
            Self::Substring => text(call.substring(run)?),
            Self::StringLength => number(call.text(run, 0)?.chars().count() as f64),
            Self::NormalizeSpace => {
                let of = call.text(run, 0)?;
                text(of.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            Self::Translate => text(call.translated(run)?),
            Self::LowerCase => text(call.text(run, 0)?.to_lowercase()),
            Self::UpperCase => text(call.text(run, 0)?.to_uppercase()),
            Self::Boolean => flag(run.value(call.argument(0), context)?.holds()),
            Self::Not => flag(!run.value(call.argument(0), context)?.holds()),
            Self::True => flag(true),
            Self::False => flag(false),
            Self::Number => number(call.number(run, 0)?),
            Self::Sum => {
                let nodes = run.nodes(call.argument(0), context)?;
                let of = |id: &u32| to_number(&run.document.text(*id));
                number(nodes.iter().map(of).sum())
            }
            Self::Floor => number(call.number(run, 0)?.floor()),
            Self::Ceiling => number(call.number(run, 0)?.ceil()),
            Self::Round => number(round(call.number(run, 0)?)),
        }
    }
}

struct Call<'e> {
    context: Context,
    arguments: &'e [Expr],
}

impl<'e> Call<'e> {
    fn argument(&self, index: usize) -> &'e Expr {
        // The number of arguments was checked as the path was read.
        &self.arguments[index]
    }

    /// An argument, or the node at hand.
    fn or_here(&self, run: &mut Evaluation<'_>, index: usize) -> Result<Found, String> {
        match self.arguments.get(index) {
            Some(argument) => run.value(argument, self.context),
            None => Ok(Found::Nodes(vec![self.context.node])),
        }
    }

    fn text(&self, run: &mut Evaluation<'_>, index: usize) -> Result<String, String> {
        let value = self.or_here(run, index)?;
        Ok(value.text(run.document))
    }

    fn number(&self, run: &mut Evaluation<'_>, index: usize) -> Result<f64, String> {
        let value = self.or_here(run, index)?;
        Ok(number_of(&value, run.document))
    }

    /// Whether the first text matches the pattern that the second one is.
    fn matches(&self, run: &mut Evaluation<'_>) -> Result<bool, String> {
        let (of, pattern) = (self.text(run, 0)?, self.text(run, 1)?);
        let compiled = fancy_regex::Regex::new(&pattern);
        let compiled = compiled.map_err(|_| format!("`{pattern}` is no regular expression"))?;
        Ok(compiled.is_match(&of).unwrap_or(false))
    }

    /// What stands before and behind the second text in the first one; `None`: it is not in it.
    fn around(&self, run: &mut Evaluation<'_>) -> Result<Option<(String, String)>, String> {
        let (of, at) = (self.text(run, 0)?, self.text(run, 1)?);
        let parts = of.split_once(&at);
        Ok(parts.map(|(before, behind)| (before.to_owned(), behind.to_owned())))
    }

    /// A text from one position on, of a length if one is given.
    fn substring(&self, run: &mut Evaluation<'_>) -> Result<String, String> {
        let from = round(self.number(run, 1)?);
        let until = match self.arguments.len() {
            2 => f64::INFINITY,
            _ => from + round(self.number(run, 2)?),
        };
        let of = self.text(run, 0)?;
        // Positions count from 1; comparisons with what is no number are false.
        let inside = |at: &usize| (*at as f64) >= from && (*at as f64) < until;
        let kept = (1..).zip(of.chars()).filter(|(at, _)| inside(at));
        Ok(kept.map(|(_, c)| c).collect())
    }

    /// A text with each character of the second replaced by that of the third; without one it goes.
    fn translated(&self, run: &mut Evaluation<'_>) -> Result<String, String> {
        let (of, from) = (self.text(run, 0)?, self.text(run, 1)?);
        let to: Vec<char> = self.text(run, 2)?.chars().collect();
        let put = |c: char| match from.chars().position(|known| known == c) {
            Some(at) => to.get(at).copied(),
            None => Some(c),
        };
        Ok(of.chars().filter_map(put).collect())
    }

    fn name(&self, run: &mut Evaluation<'_>) -> Result<Name, String> {
        let node = match self.or_here(run, 0)? {
            Found::Nodes(nodes) => nodes.first().copied(),
            _ => return Err("a name is asked of what is no node".into()),
        };
        Ok(match node.map(|id| &run.document.node(id).kind) {
            Some(NodeKind::Element(name) | NodeKind::Attribute(name, _)) => name.clone(),
            Some(NodeKind::Instruction(target, _)) => Name {
                local: target.clone(),
                ..Name::default()
            },
            _ => Name::default(),
        })
    }
}

/// A value as a number.
pub(super) fn number_of(value: &Found, document: &crate::document::Document) -> f64 {
    match value {
        Found::Number(number) => *number,
        Found::Flag(flag) => f64::from(u8::from(*flag)),
        other => to_number(&other.text(document)),
    }
}

/// A text as a number: digits with a point, and nothing else.
pub(super) fn to_number(text: &str) -> f64 {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let parsed = text.parse().ok().filter(|_| plain);
    parsed.unwrap_or(f64::NAN)
}

/// To the nearest whole number, halves upwards.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}
