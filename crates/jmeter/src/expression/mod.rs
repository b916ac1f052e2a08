//! What does `${…}` stand for?
//!
//! ```text
//! "id=${__Random(1,9)}&u=${user}" ─ parsed once ─► [text "id="] [call __Random] [text "&u="] [variable user]
//!                                                  ─ rendered per request into a buffer ─► "id=4&u=ann"
//! ```
//!
//! A template is immutable and shared by all users; what it needs to know and to remember while
//! it is rendered comes from a [`World`].

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

mod condition;
pub mod functions;
mod parse;
mod time;
mod world;

pub(crate) use condition::holds as condition_holds;
pub use functions::{Function, Needs};
pub use parse::{ExpressionError, Parsed, parse};
pub use world::{Fact, Lines, StartWorld, World};

/// Most templates that may be rendered inside one another: `__eval` of a text that evaluates
/// itself ends here.
const MOST_DEPTH: u32 = 32;

/// Longest text that one rendering may make.
const MOST_TEXT_BYTES: usize = 64 << 20;

/// A text with expressions in it, parsed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    segments: Vec<Segment>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Segment {
    /// Stands for itself.
    Text(String),
    /// `${name}`.
    Variable(String),
    /// `${__name(arguments)}`.
    Call(Box<Call>),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is called.
    pub function: &'static Function,
    /// With what.
    pub arguments: Vec<Template>,
    /// Number of this place in the plan: `__counter` counts per place.
    pub site: u32,
}

/// Why a template could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The function at fault.
    pub function: &'static str,
    /// What was wrong, with the value in question.
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.function, self.why)
    }
}

impl std::error::Error for Fault {}

impl Template {
    /// A template that stands for this text.
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

    /// The text that it always stands for; `None` when that depends on anything.
    pub fn constant(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [] => Some(""),
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// True when it always stands for nothing.
    pub fn is_empty(&self) -> bool {
        self.constant() == Some("")
    }

    /// Adds the names of the variables in it, those in arguments included.
    pub fn variables<'t>(&'t self, names: &mut Vec<&'t str>) {
        for segment in &self.segments {
            match segment {
                Segment::Text(_) => {}
                Segment::Variable(name) => names.push(name),
                Segment::Call(call) => call.arguments.iter().for_each(|a| a.variables(names)),
            }
        }
    }

    /// Appends what it stands for now.
    ///
    /// A variable that is not set stands for its own `${name}`, as in JMeter. Errors: a function
    /// could not do its work; `out` then holds what came before.
    pub fn render(&self, world: &mut dyn World, out: &mut String) -> Result<(), Fault> {
        self.render_at(world, out, 0)
    }

    fn render_at(&self, world: &mut dyn World, out: &mut String, depth: u32) -> Result<(), Fault> {
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.push_str(text),
                Segment::Variable(name) => match world.variable(name) {
                    Some(value) => out.push_str(value),
                    None => out.extend(["${", name, "}"]),
                },
                Segment::Call(call) => {
                    let mut frame = functions::Frame::new(call, world, out, depth);
                    frame.check_bounds()?;
                    (call.function.evaluate)(&mut frame)?;
                }
            }
        }
        Ok(())
    }

    /// What it stands for now; borrowed when it is constant.
    fn value(&self, world: &mut dyn World, depth: u32) -> Result<Cow<'_, str>, Fault> {
        if let Some(constant) = self.constant() {
            return Ok(Cow::Borrowed(constant));
        }
        let mut out = String::new();
        self.render_at(world, &mut out, depth)?;
        Ok(Cow::Owned(out))
    }
}

impl From<Vec<Segment>> for Template {
    fn from(segments: Vec<Segment>) -> Self {
        Self { segments }
    }
}

/// The text it was parsed from, up to blanks and escapes.
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

/// As the text it was parsed from.
impl Serialize for Template {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
