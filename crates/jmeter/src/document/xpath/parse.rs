//! Parser of XPath 1.0.

use super::functions::XPathFunction;
use super::{
    Axis, Expr, From, LocationStep, MOST_DEPTH, MOST_JOINS, NodeTest, Operator, Path, XPath,
};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// An operator or punctuation.
    Sign(&'static str),
    /// A name, with its prefix before a colon; either may be `*`.
    Name(String),
    Number(f64),
    Text(String),
}

/// Operators and punctuation, longer ones first.
const SIGNS: &[&str] = &[
    "::", "*:", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+",
    "-", "=", "<", ">", "*",
];

const AXES: &[(&str, Axis)] = &[
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::Here),
];

/// Operators by precedence, the lowest first. Words are operators only where an operator is
/// required.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessOrEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterOrEqual),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[
        ("*", Operator::Times),
        ("div", Operator::Div),
        ("mod", Operator::Mod),
    ],
];

pub(super) fn parse(text: &str) -> Result<XPath, String> {
    let tokens = tokens(text)?;
    let mut parser = XPathParser {
        tokens: &tokens,
        at: 0,
        depth: 0,
        joins: 0,
        prefixes: Vec::new(),
        later: None,
    };
    let expr = parser.level(0)?;
    match parser.peek() {
        None => Ok(XPath {
            expr,
            prefixes: parser.prefixes,
            later: parser.later,
        }),
        Some(_) => Err(parser.unexpected()),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let starts_number = first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if starts_number {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let number = rest[..end].parse();
            found.push(Token::Number(number.map_err(|_| {
                format!("`{}` is not a valid number", &rest[..end])
            })?));
            rest = &rest[end..];
        } else if matches!(first, '"' | '\'') {
            let (inside, behind) = rest[1..]
                .split_once(first)
                .ok_or_else(|| format!("{first} is not closed"))?;
            found.push(Token::Text(inside.into()));
            rest = behind;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else if first.is_alphabetic() || first == '_' {
            let end = name_end(rest);
            found.push(Token::Name(rest[..end].into()));
            rest = &rest[end..];
        } else {
            return Err(format!("`{first}` is not expected in an XPath"));
        }
        rest = rest.trim_start();
    }
    Ok(found)
}

/// The end of a name, including a prefix and one colon.
fn name_end(text: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = text.find(|c| !part(c)).unwrap_or(text.len());
    let Some(local) = text[end..].strip_prefix(':') else {
        return end;
    };
    match local.chars().next() {
        Some('*') => end + 2,
        Some(c) if c.is_alphabetic() || c == '_' => {
            end + 1 + local.find(|c| !part(c)).unwrap_or(local.len())
        }
        _ => end,
    }
}

struct XPathParser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    /// Operators so far.
    joins: usize,
    prefixes: Vec<String>,
    /// The first construct that XPath 1.0 does not have.
    later: Option<String>,
}

impl XPathParser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn is_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Sign(found)) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn need(&mut self, sign: &str) -> Result<(), String> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(format!("`{sign}` is missing: {}", self.unexpected())),
        }
    }

    fn unexpected(&self) -> String {
        match self.peek() {
            None => "the path ends too early".into(),
            Some(Token::Sign(sign)) => format!("`{sign}` is not expected there"),
            Some(Token::Name(name)) => format!("`{name}` is not expected there"),
            Some(Token::Number(number)) => format!("`{number}` is not expected there"),
            Some(Token::Text(text)) => format!("'{text}' is not expected there"),
        }
    }

    fn level(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        if level == 0 {
            self.depth += 1;
            if self.depth > MOST_DEPTH {
                return Err("the path is nested too deeply".into());
            }
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.at += 1;
            self.join()?;
            let right = self.level(level + 1)?;
            left = Expr::Pair(operator, Box::new(left), Box::new(right));
        }
        if level == 0 {
            self.depth -= 1;
        }
        Ok(left)
    }

    /// Counts an operator: evaluation recurses over them.
    fn join(&mut self) -> Result<(), String> {
        self.joins += 1;
        match self.joins > MOST_JOINS {
            true => Err(format!("the path has more than {MOST_JOINS} operators")),
            false => Ok(()),
        }
    }

    fn operator(&self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let word = match self.peek()? {
            Token::Sign(sign) => sign,
            Token::Name(name) => name.as_str(),
            _ => return None,
        };
        let found = operators.iter().find(|(known, _)| *known == word);
        found.map(|(_, operator)| *operator)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let mut is_negative = false;
        let mut signs = 0;
        while self.take("-") {
            is_negative = !is_negative;
            signs += 1;
        }
        let mut left = self.path()?;
        while self.take("|") {
            self.join()?;
            let right = self.path()?;
            left = Expr::Pair(Operator::Union, Box::new(left), Box::new(right));
        }
        Ok(match (signs, is_negative) {
            (0, _) => left,
            (_, true) => Expr::Negative(Box::new(left)),
            // An even number of minus signs: the value is only converted to a number.
            (_, false) => Expr::Negative(Box::new(Expr::Negative(Box::new(left)))),
        })
    }

    fn path(&mut self) -> Result<Expr, String> {
        let mut path = Path {
            from: From::Here,
            predicates: Vec::new(),
            steps: Vec::new(),
        };
        if let Some(value) = self.primary()? {
            path.predicates = self.predicates()?;
            if path.predicates.is_empty() && !self.is("/") && !self.is("//") {
                return Ok(value);
            }
            path.from = From::Value(value);
            if !self.take("/") {
                match self.take("//") {
                    true => path.steps.push(any_below()),
                    false => return Ok(Expr::Path(Box::new(path))),
                }
            }
        } else if self.take("//") {
            path.from = From::Root;
            path.steps.push(any_below());
        } else if self.take("/") {
            path.from = From::Root;
            if !self.starts_step() {
                return Ok(Expr::Path(Box::new(path)));
            }
        }
        loop {
            path.steps.push(self.step()?);
            if self.take("//") {
                path.steps.push(any_below());
            } else if !self.take("/") {
                return Ok(Expr::Path(Box::new(path)));
            }
        }
    }

    fn starts_step(&self) -> bool {
        match self.peek() {
            Some(Token::Name(_)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "." | ".." | "@" | "*" | "*:"),
            _ => false,
        }
    }

    /// An expression that is not a step: in parentheses, a literal, a function call.
    fn primary(&mut self) -> Result<Option<Expr>, String> {
        let value = match self.peek() {
            Some(Token::Number(number)) => Expr::Number(*number),
            Some(Token::Text(text)) => Expr::Text(text.clone()),
            Some(Token::Sign("(")) => {
                self.at += 1;
                let inside = self.level(0)?;
                self.need(")")?;
                return Ok(Some(inside));
            }
            Some(Token::Name(name)) if self.is_at(1, "(") && !is_node_type(name) => {
                let name = name.clone();
                return self.call(&name).map(Some);
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(value))
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        let function = XPathFunction::named(name.strip_prefix("fn:").unwrap_or(name));
        let function = function.ok_or_else(|| format!("the function `{name}` is not known"))?;
        if function.is_later() || name.starts_with("fn:") {
            self.note_later(format!("the function `{name}`"));
        }
        self.at += 2;
        let mut arguments = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.level(0)?);
                if !self.take(",") {
                    break;
                }
            }
            self.need(")")?;
        }
        let (least, most) = function.takes();
        match (least..=most).contains(&arguments.len()) {
            true => Ok(Expr::Call(function, arguments)),
            false => Err(format!(
                "`{name}` does not take {} arguments",
                arguments.len()
            )),
        }
    }

    fn step(&mut self) -> Result<LocationStep, String> {
        if self.take(".") {
            return Ok(plain(Axis::Here));
        }
        if self.take("..") {
            return Ok(plain(Axis::Parent));
        }
        let axis = match self.peek() {
            Some(Token::Sign("@")) => {
                self.at += 1;
                Axis::Attribute
            }
            Some(Token::Name(name)) if self.is_at(1, "::") => {
                let known = AXES.iter().find(|(known, _)| known == name);
                let (_, axis) = known.ok_or_else(|| format!("there is no axis `{name}`"))?;
                self.at += 2;
                *axis
            }
            _ => Axis::Child,
        };
        Ok(LocationStep {
            axis,
            test: self.test()?,
            predicates: self.predicates()?,
        })
    }

    fn test(&mut self) -> Result<NodeTest, String> {
        if self.take("*") {
            return Ok(NodeTest::Name("*".into(), "*".into()));
        }
        if self.take("*:") {
            let Some(Token::Name(local)) = self.peek().cloned() else {
                return Err(self.unexpected());
            };
            self.at += 1;
            self.note_later(format!("the name test `*:{local}`"));
            return Ok(NodeTest::Name("*".into(), local));
        }
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(self.unexpected());
        };
        self.at += 1;
        if !(is_node_type(&name) && self.is("(")) {
            let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
            if !prefix.is_empty() {
                self.prefixes.push(prefix.into());
            }
            return Ok(NodeTest::Name(prefix.into(), local.into()));
        }
        self.at += 1;
        let target = match self.peek() {
            Some(Token::Text(text)) if name == "processing-instruction" => Some(text.clone()),
            _ => None,
        };
        self.at += usize::from(target.is_some());
        self.need(")")?;
        Ok(match name.as_str() {
            "text" => NodeTest::Text,
            "comment" => NodeTest::Comment,
            "node" => NodeTest::AnyNode,
            _ => NodeTest::Instruction(target),
        })
    }

    fn note_later(&mut self, construct: String) {
        self.later.get_or_insert(construct);
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut found = Vec::new();
        while self.take("[") {
            found.push(self.level(0)?);
            self.need("]")?;
        }
        Ok(found)
    }
}

fn is_node_type(name: &str) -> bool {
    matches!(name, "text" | "comment" | "node" | "processing-instruction")
}

fn plain(axis: Axis) -> LocationStep {
    LocationStep {
        axis,
        test: NodeTest::AnyNode,
        predicates: Vec::new(),
    }
}

fn any_below() -> LocationStep {
    plain(Axis::DescendantOrSelf)
}
