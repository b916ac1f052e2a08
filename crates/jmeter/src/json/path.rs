//! Parses JSON paths as JMeter's library does.
//!
//! ```text
//! path    = ["$" | "@"] token…           without either, `$.` stands before it
//! token   = ".name" | "['name',…]" | "[1,…]" | "[1:2]" | ".*" | "[*]" | ".." | "[?(filter)]"
//!         | ".function()"
//! ```

use super::filter::{self, Filter};
use super::function::Function;

/// Deepest nesting of filters and paths in one another.
pub(super) const MOST_NESTING: usize = 32;
/// Most tokens of a path.
const MOST_TOKENS: usize = 1_000;

/// Reason why a path gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathFault {
    /// The document has no such place.
    NotFound(String),
    /// The path is not valid, or not applicable to the document.
    Invalid(String),
    /// JMeter could evaluate the path, sokudo cannot.
    Unsupported(String),
}

impl PathFault {
    /// JMeter's words for it.
    pub fn says(&self) -> &str {
        match self {
            Self::NotFound(says) | Self::Invalid(says) | Self::Unsupported(says) => says,
        }
    }
}

/// A compiled path.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub(super) tokens: Vec<Token>,
    /// It begins at the item that a filter examines, not at the document.
    pub(super) is_relative: bool,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// Members of these names.
    Names(Vec<String>),
    /// Items of these numbers, from the end where negative.
    Indexes(Vec<i64>),
    /// Items from the first number up to before the second.
    Slice(Option<i64>, Option<i64>),
    /// All members or items.
    All,
    /// Everything below, at any depth.
    Scan,
    /// Items that fulfil a filter.
    Where(Filter),
    /// A function of what was found.
    Call(Function),
}

impl Path {
    /// Compiles a path. Errors: it is not valid.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        Self::nested(text, 0)
    }

    /// The same inside of so many filters.
    pub(super) fn nested(text: &str, depth: usize) -> Result<Self, PathFault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(PathFault::Invalid("json can not be null or empty".into()));
        }
        if depth > MOST_NESTING {
            return Err(invalid(text, "it is nested too deeply"));
        }
        let whole = match text.starts_with(['$', '@']) {
            true => text.to_owned(),
            false => format!("$.{text}"),
        };
        if whole.ends_with('.') {
            return Err(PathFault::Invalid(
                "Path must not end with a '.' or '..'".into(),
            ));
        }
        let mut compiler = Compiler {
            whole: &whole,
            rest: &whole[1..],
            depth,
            tokens: Vec::new(),
        };
        compiler.all()?;
        Ok(Self {
            tokens: compiler.tokens,
            is_relative: whole.starts_with('@'),
        })
    }

    /// True where the path can lead to one place only.
    pub fn is_definite(&self) -> bool {
        definite(&self.tokens)
    }
}

/// True where tokens can lead to one place only.
pub(super) fn definite(tokens: &[Token]) -> bool {
    let last = tokens.len().saturating_sub(1);
    let is_definite = |(at, token): (usize, &Token)| match token {
        // Several members of the last token become one object.
        Token::Names(names) => names.len() == 1 || at == last,
        Token::Indexes(indexes) => indexes.len() == 1,
        Token::Call(_) => true,
        Token::Slice(..) | Token::All | Token::Scan | Token::Where(_) => false,
    };
    tokens.iter().enumerate().all(is_definite)
}

fn invalid(path: &str, why: &str) -> PathFault {
    PathFault::Invalid(format!("Could not parse the path {path}: {why}"))
}

struct Compiler<'a> {
    whole: &'a str,
    rest: &'a str,
    depth: usize,
    tokens: Vec<Token>,
}

impl<'a> Compiler<'a> {
    fn all(&mut self) -> Result<(), PathFault> {
        // Whatever one character follows a name is not looked at, as in the library.
        while !(self.rest.is_empty() || self.rest == "[" && !self.tokens.is_empty()) {
            if self.tokens.len() == MOST_TOKENS {
                return Err(self.fault("it is too long"));
            }
            let token = self.token()?;
            self.tokens.push(token);
        }
        match self.tokens.last() {
            Some(Token::Scan) => Err(self.fault("it ends with `..`")),
            _ => Ok(()),
        }
    }

    fn fault(&self, why: &str) -> PathFault {
        invalid(self.whole, why)
    }

    fn token(&mut self) -> Result<Token, PathFault> {
        if let Some(rest) = self.rest.strip_prefix("..") {
            if rest.starts_with('.') {
                return Err(self.fault("three dots"));
            }
            self.rest = rest;
            return Ok(Token::Scan);
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            // `.['name']` is `['name']`.
        } else if !self.rest.starts_with('[') && !matches!(self.tokens.last(), Some(Token::Scan)) {
            return Err(self.fault("a dot or bracket is missing"));
        }
        match self.rest.chars().next() {
            Some('[') => self.bracket(),
            Some('*') => {
                self.rest = &self.rest[1..];
                Ok(Token::All)
            }
            _ => self.name(),
        }
    }

    /// A name without brackets, or a function.
    fn name(&mut self) -> Result<Token, PathFault> {
        let end = self
            .rest
            .find(['.', '[', '(', ' '])
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.fault("a name is missing"));
        }
        self.rest = rest;
        if rest.starts_with(' ') {
            return Err(PathFault::Invalid(
                "Use bracket notion ['my prop'] if your property contains blank characters. position: "
                    .to_owned()
                    + &(self.whole.len() - rest.len()).to_string(),
            ));
        }
        let Some(rest) = rest.strip_prefix('(') else {
            return Ok(Token::Names(vec![name.to_owned()]));
        };
        let Some((argument, rest)) = rest.split_once(')') else {
            return Err(self.fault("a bracket is not closed"));
        };
        self.rest = rest;
        let function = Function::of(name, argument.trim());
        function
            .map(Token::Call)
            .ok_or_else(|| match Function::is_known(name) {
                true => PathFault::Unsupported(format!(
                    "the function `{name}({argument})` is not known"
                )),
                false => PathFault::Invalid(format!("Function with name: {name} does not exist.")),
            })
    }

    fn bracket(&mut self) -> Result<Token, PathFault> {
        let end = closing(self.rest).ok_or_else(|| self.fault("a bracket is not closed"))?;
        let inside = self.rest[1..end].trim();
        self.rest = &self.rest[end + 1..];
        match inside.chars().next() {
            Some('\'' | '"') => self.names(inside),
            Some('*') if inside == "*" => Ok(Token::All),
            Some('?') => {
                let filter = inside[1..].trim();
                let inner = filter
                    .strip_prefix('(')
                    .and_then(|rest| rest.strip_suffix(')'));
                let inner = inner.ok_or_else(|| self.fault("a filter begins with `?(`"))?;
                filter::parse(inner, self.depth + 1).map(Token::Where)
            }
            _ => self.numbers(inside),
        }
    }

    fn names(&self, inside: &str) -> Result<Token, PathFault> {
        let mut names = Vec::new();
        let mut rest = inside;
        loop {
            let (name, behind) = quoted(rest).ok_or_else(|| self.fault("a name is not closed"))?;
            names.push(name);
            match behind.trim_start() {
                "" => return Ok(Token::Names(names)),
                behind => {
                    let next = behind.strip_prefix(',').map(str::trim_start);
                    rest = next.ok_or_else(|| self.fault("a comma is missing between names"))?;
                }
            }
        }
    }

    fn numbers(&self, inside: &str) -> Result<Token, PathFault> {
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some),
        };
        let fault = |_| self.fault(&format!("`{inside}` is neither a name nor a number"));
        if let Some((from, to)) = inside.split_once(':') {
            let (from, to) = (number(from).map_err(fault)?, number(to).map_err(fault)?);
            return Ok(Token::Slice(from, to));
        }
        let indexes = inside.split(',').map(|text| text.trim().parse::<i64>());
        let indexes = indexes.collect::<Result<Vec<_>, _>>().map_err(fault)?;
        Ok(Token::Indexes(indexes))
    }
}

/// Place of the bracket that closes the first one, outside of quotation marks and patterns.
pub(super) fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut mark) = (0, None);
    let mut before = ' ';
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (mark, character) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(open), c) if open == c => mark = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => mark = Some(character),
            // A pattern stands behind `=~`, `(` or a comma.
            (None, '/') if matches!(before, '~' | '(' | ',') => mark = Some('/'),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        if character != ' ' {
            before = character;
        }
    }
    None
}

/// A text in quotation marks at the beginning. Gives what follows it.
pub(super) fn quoted(text: &str) -> Option<(String, &str)> {
    let mark = text
        .chars()
        .next()
        .filter(|mark| matches!(mark, '\'' | '"'))?;
    let mut out = String::new();
    let mut characters = text[1..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            c if c == mark => return Some((out, &text[at + 2..])),
            '\\' => out.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            other => out.push(other),
        }
    }
    None
}
