//! The functions of XPath.

use super::evaluate::{Context, Evaluation};
use super::{Expr, XPathValue};
use crate::document::{Name, NodeKind};

/// A function of XPath.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XPathFunction {
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

/// Names, with the fewest and most arguments.
const NAMES: &[(&str, XPathFunction, usize, usize)] = &[
    ("last", XPathFunction::Last, 0, 0),
    ("position", XPathFunction::Position, 0, 0),
    ("count", XPathFunction::Count, 1, 1),
    ("local-name", XPathFunction::LocalName, 0, 1),
    ("namespace-uri", XPathFunction::NamespaceUri, 0, 1),
    ("name", XPathFunction::Name, 0, 1),
    ("string", XPathFunction::String, 0, 1),
    ("concat", XPathFunction::Concat, 2, 1_000),
    ("starts-with", XPathFunction::StartsWith, 2, 2),
    ("ends-with", XPathFunction::EndsWith, 2, 2),
    ("contains", XPathFunction::Contains, 2, 2),
    ("matches", XPathFunction::Matches, 2, 2),
    ("substring-before", XPathFunction::SubstringBefore, 2, 2),
    ("substring-after", XPathFunction::SubstringAfter, 2, 2),
    ("substring", XPathFunction::Substring, 2, 3),
    ("string-length", XPathFunction::StringLength, 0, 1),
    ("normalize-space", XPathFunction::NormalizeSpace, 0, 1),
    ("translate", XPathFunction::Translate, 3, 3),
    ("lower-case", XPathFunction::LowerCase, 1, 1),
    ("upper-case", XPathFunction::UpperCase, 1, 1),
    ("boolean", XPathFunction::Boolean, 1, 1),
    ("not", XPathFunction::Not, 1, 1),
    ("true", XPathFunction::True, 0, 0),
    ("false", XPathFunction::False, 0, 0),
    ("number", XPathFunction::Number, 0, 1),
    ("sum", XPathFunction::Sum, 1, 1),
    ("floor", XPathFunction::Floor, 1, 1),
    ("ceiling", XPathFunction::Ceiling, 1, 1),
    ("round", XPathFunction::Round, 1, 1),
];

impl XPathFunction {
    /// The function with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(known, ..)| *known == name);
        found.map(|(_, function, ..)| *function)
    }

    /// True if XPath 1.0 does not have it.
    pub(super) fn is_later(self) -> bool {
        matches!(
            self,
            Self::EndsWith | Self::Matches | Self::LowerCase | Self::UpperCase
        )
    }

    /// Fewest and most arguments.
    pub(super) fn takes(self) -> (usize, usize) {
        let found = NAMES.iter().find(|(_, function, ..)| *function == self);
        found.map_or((0, 0), |(_, _, least, most)| (*least, *most))
    }

    /// The value of a call.
    pub(super) fn call(
        self,
        run: &mut Evaluation<'_>,
        context: Context,
        arguments: &[Expr],
    ) -> Result<XPathValue, String> {
        let call = CallContext { context, arguments };
        let text = |value: String| Ok(XPathValue::Text(value));
        let flag = |value: bool| Ok(XPathValue::Flag(value));
        let number = |value: f64| Ok(XPathValue::Number(value));
        match self {
            Self::Last => number(context.size as f64),
            Self::Position => number(context.position as f64),
            Self::Count => number(run.nodes(call.argument(0), context)?.len() as f64),
            Self::LocalName => text(call.name(run)?.local),
            Self::NamespaceUri => {
                let name = call.name(run)?;
                text(run.space(&name).to_owned())
            }
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
                let numbers = nodes.iter().map(|id| Ok(to_number(&run.text(*id)?)));
                number(numbers.sum::<Result<f64, String>>()?)
            }
            Self::Floor => number(call.number(run, 0)?.floor()),
            Self::Ceiling => number(call.number(run, 0)?.ceil()),
            Self::Round => number(round(call.number(run, 0)?)),
        }
    }
}

struct CallContext<'e> {
    context: Context,
    arguments: &'e [Expr],
}

impl<'e> CallContext<'e> {
    fn argument(&self, index: usize) -> &'e Expr {
        // The number of arguments was checked by the parser.
        &self.arguments[index]
    }

    /// The value of an argument, or the context node if it is missing.
    fn or_here(&self, run: &mut Evaluation<'_>, index: usize) -> Result<XPathValue, String> {
        match self.arguments.get(index) {
            Some(argument) => run.value(argument, self.context),
            None => Ok(XPathValue::Nodes(vec![self.context.node])),
        }
    }

    fn text(&self, run: &mut Evaluation<'_>, index: usize) -> Result<String, String> {
        let value = self.or_here(run, index)?;
        run.check_single(&value)?;
        run.text_of(&value)
    }

    fn number(&self, run: &mut Evaluation<'_>, index: usize) -> Result<f64, String> {
        let value = self.or_here(run, index)?;
        run.check_single(&value)?;
        Ok(number_of(&value, run.document))
    }

    /// True if the first text matches the regular expression in the second.
    fn matches(&self, run: &mut Evaluation<'_>) -> Result<bool, String> {
        let (of, pattern) = (self.text(run, 0)?, self.text(run, 1)?);
        Ok(run.pattern(&pattern)?.is_match(&of).unwrap_or(false))
    }

    /// The texts before and after the second text in the first; `None`: it does not occur.
    fn around(&self, run: &mut Evaluation<'_>) -> Result<Option<(String, String)>, String> {
        let (of, at) = (self.text(run, 0)?, self.text(run, 1)?);
        let parts = of.split_once(&at);
        Ok(parts.map(|(before, behind)| (before.to_owned(), behind.to_owned())))
    }

    /// The part of a text from a position on, with an optional length.
    fn substring(&self, run: &mut Evaluation<'_>) -> Result<String, String> {
        let from = round(self.number(run, 1)?);
        let until = match self.arguments.len() {
            2 => f64::INFINITY,
            _ => from + round(self.number(run, 2)?),
        };
        let of = self.text(run, 0)?;
        // Positions count from 1; comparisons with NaN are false.
        let inside = |at: &usize| (*at as f64) >= from && (*at as f64) < until;
        let kept = (1..).zip(of.chars()).filter(|(at, _)| inside(at));
        Ok(kept.map(|(_, c)| c).collect())
    }

    /// Replaces each character of the second text by that of the third; without one it is removed.
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
            XPathValue::Nodes(nodes) => nodes.first().copied(),
            _ => return Err("a node set is required for the name of a node".into()),
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

/// Converts a value to a number.
pub(super) fn number_of(value: &XPathValue, document: &crate::document::Document) -> f64 {
    match value {
        XPathValue::Number(number) => *number,
        XPathValue::Flag(flag) => f64::from(u8::from(*flag)),
        other => to_number(&other.text(document)),
    }
}

/// Converts a text to a number: digits with an optional point, otherwise NaN.
pub(super) fn to_number(text: &str) -> f64 {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let parsed = text.parse().ok().filter(|_| plain);
    parsed.unwrap_or(f64::NAN)
}

/// Rounds to the nearest integer, halves upwards.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}
