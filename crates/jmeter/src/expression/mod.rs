//! Templates: texts with `${…}` expressions.
//!
//! ```text
//! "id=${__Random(1,9)}&u=${user}" ─ parsed once ─► [text "id="] [call __Random] [text "&u="] [variable user]
//!                                                  ─ rendered per request into a buffer ─► "id=4&u=ann"
//! ```
//!
//! A template is immutable and shared by all users; variables, functions' state and other input
//! come from a [`World`].

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

pub mod functions;
mod jexl;
mod parse;
pub(crate) mod time;
mod world;

pub use functions::{Function, Needs};
pub(crate) use functions::{character_of, digest_of, flaw as function_flaw, java_script_holds};
pub(crate) use functions::{html_escaped, html_unescaped, xml_escaped};
pub(crate) use jexl::{Dialect, flaw as jexl_flaw};
pub use parse::{ExpressionError, Parsed, parse};
pub(crate) use time::written as written_date;
pub use world::{Fact, Lines, StartWorld, World};

/// Deepest nesting of templates that render templates, which ends an `__eval` that evaluates
/// itself.
const MOST_DEPTH: u32 = 32;

/// Longest text of one rendering, bytes.
const MOST_TEXT_BYTES: usize = 64 << 20;

/// A parsed text with expressions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    segments: Vec<Segment>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Segment {
    /// Literal text.
    Text(String),
    /// `${name}`.
    Variable(String),
    /// `${__name(arguments)}`.
    Call(Box<Call>),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// Its arguments.
    pub arguments: Vec<Template>,
    /// Call site in the plan: `__counter` counts per call site.
    pub site: u32,
}

/// Reason why a function gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionFault {
    /// The function that failed.
    pub function: &'static str,
    /// The mistake, with the value in question.
    pub why: String,
    /// Effect on the text.
    pub effect: FaultEffect,
}

/// Effect of a function that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultEffect {
    /// The function is empty, and the text around it stays.
    Empty,
    /// JMeter throws this exception, which fails the sample: class and message.
    Thrown(&'static str, String),
    /// A bound was reached: the text ends there.
    Ends,
}

impl fmt::Display for FunctionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.function, self.why)
    }
}

impl std::error::Error for FunctionFault {}

impl Template {
    /// A template without expressions.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let segments = match text.is_empty() {
            true => Vec::new(),
            false => vec![Segment::Text(text)],
        };
        Self { segments }
    }

    /// Its pieces in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The text if it is constant.
    pub fn constant(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [] => Some(""),
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// True if its value is known before the test: it has no variables, and properties alone.
    pub fn is_of_properties(&self) -> bool {
        const PROPERTIES: &[&str] = &["__P", "__property"];
        self.segments.iter().all(|segment| match segment {
            Segment::Text(_) => true,
            Segment::Variable(_) => false,
            Segment::Call(call) => {
                let mut arguments = call.arguments.iter();
                PROPERTIES.contains(&call.function.name) && arguments.all(Self::is_of_properties)
            }
        })
    }

    /// A text as it may be rendered: `1` stands for what a function gives or a variable with a plain
    /// name holds. Other names in braces are not variables as a rule, and stay.
    pub fn sample(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.push_str(text),
                Segment::Variable(name) if name.contains(['(', '"', '\'', ' ', '[', '?']) => {
                    out.extend(["${", name, "}"]);
                }
                Segment::Variable(_) | Segment::Call(_) => out.push('1'),
            }
        }
        out
    }

    /// True if it is constant and empty.
    pub fn is_empty(&self) -> bool {
        self.constant() == Some("")
    }

    /// Adds the names of its variables, those in arguments included.
    pub fn variables<'t>(&'t self, names: &mut Vec<&'t str>) {
        for segment in &self.segments {
            match segment {
                Segment::Text(_) => {}
                Segment::Variable(name) => names.push(name),
                Segment::Call(call) => call.arguments.iter().for_each(|a| a.variables(names)),
            }
        }
    }

    /// Appends the rendered text.
    ///
    /// A variable that is not set renders as its own `${name}`, and a function that fails as
    /// nothing, as in JMeter. Fails with the first such function; `out` has the rest all the same.
    pub fn render(&self, world: &mut dyn World, out: &mut String) -> Result<(), FunctionFault> {
        match self.render_at(world, out, 0)? {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Renders; gives the first function that failed. Fails where a bound ends the text.
    fn render_at(
        &self,
        world: &mut dyn World,
        out: &mut String,
        depth: u32,
    ) -> Result<Option<FunctionFault>, FunctionFault> {
        let mut first = None;
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.push_str(text),
                Segment::Variable(name) => match world.variable(name) {
                    Some(value) if out.len() + value.len() > MOST_TEXT_BYTES => {
                        return Err(FunctionFault {
                            function: "${}",
                            why: format!("the text with `{name}` exceeds its maximal length"),
                            effect: FaultEffect::Ends,
                        });
                    }
                    Some(value) => out.push_str(value),
                    None => out.extend(["${", name, "}"]),
                },
                Segment::Call(call) => {
                    let begin = out.len();
                    let mut frame = functions::FunctionCall::new(call, world, out, depth);
                    frame.check_bounds()?;
                    let done = (call.function.evaluate)(&mut frame);
                    let inner = frame.take_fault();
                    if let Err(fault) = done {
                        if fault.effect == FaultEffect::Ends {
                            return Err(fault);
                        }
                        out.truncate(begin);
                        first = first.or(inner).or(Some(fault));
                    } else {
                        first = first.or(inner);
                    }
                }
            }
        }
        Ok(first)
    }

    /// The rendered text, borrowed if it is constant, and the first function that failed.
    fn value(
        &self,
        world: &mut dyn World,
        depth: u32,
    ) -> Result<(Cow<'_, str>, Option<FunctionFault>), FunctionFault> {
        if let Some(constant) = self.constant() {
            return Ok((Cow::Borrowed(constant), None));
        }
        let mut out = String::new();
        let fault = self.render_at(world, &mut out, depth)?;
        Ok((Cow::Owned(out), fault))
    }
}

impl From<Vec<Segment>> for Template {
    fn from(segments: Vec<Segment>) -> Self {
        Self { segments }
    }
}

/// The text that it was parsed from, except for blanks and escapes.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => f.write_str(text)?,
                Segment::Variable(name) => write!(f, "${{{name}}}")?,
                Segment::Call(call) => {
                    write!(f, "${{{}(", call.function.name)?;
                    for (index, argument) in call.arguments.iter().enumerate() {
                        let comma = if index > 0 { "," } else { "" };
                        let argument = argument.to_string().replace(',', "\\,");
                        write!(f, "{comma}{argument}")?;
                    }
                    f.write_str(")}")?;
                }
            }
        }
        Ok(())
    }
}

/// The text that it was parsed from.
impl Serialize for Template {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
