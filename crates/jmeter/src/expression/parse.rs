//! Parser of `${…}` expressions.
//!
//! These are JMeter's rules: `\$`, `\,` and `\\` are escapes, but only in a text with an
//! expression; a comma inside `${…}` or inside parentheses belongs to the argument; a name without
//! parentheses is a function if one has that name, otherwise a variable.

use std::fmt;

use super::functions::{self, Function};
use super::{Call, Segment, Template};

/// Deepest nesting of expressions.
const MOST_DEPTH: usize = 32;

/// Longest text that is parsed, bytes.
const MOST_BYTES: usize = 16 << 20;

/// The result of parsing a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The template.
    pub template: Template,
    /// True if a `${` has no `}`: it is dropped and the text behind it kept, which is rarely
    /// intended.
    pub unclosed: bool,
}

/// Reason why a text cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpressionError {
    /// Call of an unknown function.
    UnknownFunction(String),
    /// Call of a function with too few or too many arguments.
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// The arguments that it takes.
        takes: &'static str,
        /// The number of arguments of the call.
        got: usize,
    },
    /// Text between the closing parenthesis and `}`.
    NotClosed(&'static str),
    /// Expressions nested too deeply, or a text that is too long.
    TooComplex,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            Self::ArgumentCount {
                function,
                takes,
                got,
            } => {
                write!(f, "`{function}` takes {takes}, not {got} arguments")
            }
            Self::NotClosed(name) => write!(f, "`}}` must follow the call of `{name}`"),
            Self::TooComplex => f.write_str("expressions are nested too deeply or too long"),
        }
    }
}

impl std::error::Error for ExpressionError {}

/// Parses a text. `next_site` numbers the call sites.
///
/// Fails for unknown functions, a wrong number of arguments, or a text beyond the limits.
pub fn parse(text: &str, next_site: &mut u32) -> Result<Parsed, ExpressionError> {
    if !text.contains("${") {
        let template = Template::text(text);
        return Ok(Parsed {
            template,
            unclosed: false,
        });
    }
    if text.len() > MOST_BYTES {
        return Err(ExpressionError::TooComplex);
    }
    let mut parser = TemplateParser {
        next_site,
        unclosed: false,
    };
    let segments = parser.text(text, 0)?;
    let unclosed = parser.unclosed;
    let alive = segments.iter().any(|s| !matches!(s, Segment::Text(_)));
    let template = match alive {
        true => Template { segments },
        // Not an expression: the text stays as it is, backslashes included.
        false if !unclosed => Template::text(text),
        false => Template { segments },
    };
    Ok(Parsed { template, unclosed })
}

struct TemplateParser<'a> {
    next_site: &'a mut u32,
    unclosed: bool,
}

/// The text behind `${`.
enum ParsedExpression {
    Piece(Segment),
    /// The text ended without `}`.
    Unclosed(String),
}

impl TemplateParser<'_> {
    fn text(&mut self, text: &str, depth: usize) -> Result<Vec<Segment>, ExpressionError> {
        if depth > MOST_DEPTH {
            return Err(ExpressionError::TooComplex);
        }
        let mut segments = Vec::new();
        let mut plain = String::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\\' => {
                    let Some(escaped) = rest.next() else { break };
                    if !matches!(escaped, '$' | ',' | '\\') {
                        plain.push('\\');
                    }
                    plain.push(escaped);
                }
                '$' if rest.as_str().starts_with('{') => {
                    rest.next();
                    match self.expression(&mut rest, depth)? {
                        ParsedExpression::Piece(piece) => {
                            flush(&mut plain, &mut segments);
                            segments.push(piece);
                        }
                        ParsedExpression::Unclosed(text) => {
                            self.unclosed = true;
                            plain.push_str(&text);
                        }
                    }
                }
                other => plain.push(other),
            }
        }
        flush(&mut plain, &mut segments);
        Ok(segments)
    }

    fn expression(
        &mut self,
        rest: &mut std::str::Chars<'_>,
        depth: usize,
    ) -> Result<ParsedExpression, ExpressionError> {
        let mut name = String::new();
        let mut after_blank = true;
        while let Some(c) = rest.next() {
            match c {
                '\\' => {
                    let Some(escaped) = rest.next() else { break };
                    name.push(escaped);
                    after_blank = true;
                }
                '(' if !after_blank && name.trim().starts_with("__") => {
                    let function = known(name.trim())?;
                    let arguments = self.arguments(rest, depth)?;
                    let next = rest.find(|c| !c.is_whitespace());
                    if next != Some('}') {
                        return Err(ExpressionError::NotClosed(function.name));
                    }
                    return self.call(function, arguments).map(ParsedExpression::Piece);
                }
                '}' => {
                    let piece = match functions::find(&name) {
                        Some(function) => self.call(function, Vec::new())?,
                        None if looks_like_function(&name) => {
                            return Err(ExpressionError::UnknownFunction(name));
                        }
                        None => Segment::Variable(name),
                    };
                    return Ok(ParsedExpression::Piece(piece));
                }
                other => {
                    name.push(other);
                    after_blank = other == ' ';
                }
            }
        }
        Ok(ParsedExpression::Unclosed(name))
    }

    /// The arguments up to the closing parenthesis, which is consumed.
    fn arguments(
        &mut self,
        rest: &mut std::str::Chars<'_>,
        depth: usize,
    ) -> Result<Vec<Template>, ExpressionError> {
        let mut found = Vec::new();
        let mut raw = String::new();
        let (mut braces, mut parentheses) = (0_usize, 0_usize);
        let mut previous = ' ';
        while let Some(c) = rest.next() {
            match c {
                '\\' => {
                    raw.push('\\');
                    let Some(escaped) = rest.next() else { break };
                    raw.push(escaped);
                    previous = ' ';
                    continue;
                }
                ',' if braces == 0 => {
                    found.push(self.argument(&raw, depth)?);
                    raw.clear();
                    continue;
                }
                ')' if braces == 0 && parentheses == 0 => {
                    if !(raw.is_empty() && found.is_empty()) {
                        found.push(self.argument(&raw, depth)?);
                    }
                    return Ok(found);
                }
                '{' if previous == '$' => braces += 1,
                '}' if braces > 0 => braces -= 1,
                ')' if braces == 0 => parentheses -= 1,
                '(' if braces == 0 => parentheses += 1,
                _ => {}
            }
            raw.push(c);
            previous = c;
        }
        found.push(self.argument(&raw, depth)?);
        Ok(found)
    }

    fn argument(&mut self, raw: &str, depth: usize) -> Result<Template, ExpressionError> {
        let segments = self.text(raw, depth + 1)?;
        Ok(Template { segments })
    }

    fn call(
        &mut self,
        function: &'static Function,
        arguments: Vec<Template>,
    ) -> Result<Segment, ExpressionError> {
        let got = arguments.len();
        if !(function.least..=function.most).contains(&got) {
            let (function, takes) = (function.name, function.takes);
            return Err(ExpressionError::ArgumentCount {
                function,
                takes,
                got,
            });
        }
        let site = *self.next_site;
        *self.next_site = site.wrapping_add(1);
        Ok(Segment::Call(Box::new(Call {
            function,
            arguments,
            site,
        })))
    }
}

fn flush(plain: &mut String, segments: &mut Vec<Segment>) {
    if !plain.is_empty() {
        segments.push(Segment::Text(std::mem::take(plain)));
    }
}

fn known(name: &str) -> Result<&'static Function, ExpressionError> {
    functions::find(name).ok_or_else(|| ExpressionError::UnknownFunction(name.into()))
}

/// True for `__name`: variables are not named so, and a misspelled function must not become one.
fn looks_like_function(name: &str) -> bool {
    let letters = name.strip_prefix("__");
    letters.is_some_and(|rest| !rest.is_empty() && rest.chars().all(char::is_alphanumeric))
}
