//! Expressions of `\set` and `\if`, as pgbench has them: read into a tree.
//!
//! Operators from the loosest to the tightest:
//!
//! ```text
//! or · and · not · is, isnull, notnull · < <= = <> != >= > · | # & << >> ~ · + - · * / % · + - (of one)
//! ```

use super::program::{Names, Variable};
use super::scalar::Scalar;
use super::wrong::Wrong;

/// Deepest nesting of an expression.
const MOST_DEPTH: u32 = 64;
/// Most words, numbers and signs of an expression.
const MOST_TOKENS: usize = 1000;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A constant.
    Constant(Scalar),
    /// A variable.
    Variable(Variable),
    /// An operator or a function, and what it is applied to.
    Call(Function, Vec<Node>),
}

/// Operators and functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Or,
    And,
    Not,
    Is,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    /// Conditions and values in turn, then what holds otherwise.
    Case,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Names of functions, and how many arguments they take at least and at most.
const FUNCTIONS: [(&str, Function, usize, usize); 20] = [
    ("abs", Function::Abs, 1, 1),
    ("debug", Function::Debug, 1, 1),
    ("double", Function::Double, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("greatest", Function::Greatest, 1, usize::MAX),
    ("hash", Function::HashMurmur2, 1, 2),
    ("hash_fnv1a", Function::HashFnv1a, 1, 2),
    ("hash_murmur2", Function::HashMurmur2, 1, 2),
    ("int", Function::Int, 1, 1),
    ("least", Function::Least, 1, usize::MAX),
    ("ln", Function::Ln, 1, 1),
    ("mod", Function::Modulo, 2, 2),
    ("pi", Function::Pi, 0, 0),
    ("pow", Function::Power, 2, 2),
    ("power", Function::Power, 2, 2),
    ("random", Function::Random, 2, 2),
    ("random_exponential", Function::RandomExponential, 3, 3),
    ("random_gaussian", Function::RandomGaussian, 3, 3),
    ("random_zipfian", Function::RandomZipfian, 3, 3),
    ("sqrt", Function::Sqrt, 1, 1),
];

/// The seed of a hash function that is given none.
pub(super) const DEFAULT_SEED: &str = "default_seed";

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(Scalar),
    /// 2^63, which only a minus in front of it makes a whole number.
    Beyond,
    Variable(String),
    /// A function or a keyword, in small letters.
    Word(String),
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: [&str; 20] = [
    "<>", "<=", ">=", "!=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "|", "&", "#", "~",
    "(", ")",
];

/// Reads an expression that stands on this line.
///
/// Errors: it is none, or uses what is not supported.
pub fn parse(text: &str, line: u32, names: &mut Names) -> Result<Node, Wrong> {
    let tokens = tokens(text, line)?;
    if tokens.len() > MOST_TOKENS {
        return Err(Wrong::new(line, "error-sqlmix-expression-deep"));
    }
    let mut reader = Reader {
        tokens,
        at: 0,
        line,
        depth: 0,
        names,
    };
    let node = reader.binary(0)?;
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.unexpected()),
    }
}

fn tokens(text: &str, line: u32) -> Result<Vec<Token>, Wrong> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return Ok(out);
        };
        let length = |is: fn(char) -> bool, from: &str| from.find(|c| !is(c)).unwrap_or(from.len());
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
        let begins_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let (token, taken) =
            if first.is_ascii_digit() || (first == '.' && begins_number(&rest[1..])) {
                number(rest).ok_or_else(|| unexpected(line, rest))?
            } else if let Some(name) = rest.strip_prefix(':') {
                let taken = length(in_name, name);
                if taken == 0 {
                    return Err(unexpected(line, rest));
                }
                (Token::Variable(name[..taken].to_owned()), 1 + taken)
            } else if first.is_ascii_alphabetic() {
                let taken = length(in_name, rest);
                (Token::Word(rest[..taken].to_ascii_lowercase()), taken)
            } else if first == ',' {
                (Token::Sign(","), 1)
            } else {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| unexpected(line, rest))?;
                (Token::Sign(sign), sign.len())
            };
        out.push(token);
        rest = &rest[taken..];
    }
}

fn unexpected(line: u32, near: &str) -> Wrong {
    Wrong::at(line, "error-sqlmix-expression", near)
}

/// A number at the begin of a text, and its length.
fn number(text: &str) -> Option<(Token, usize)> {
    let digits =
        |from: &str| from.len() - from.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = digits(text);
    let mut length = whole;
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    let exponent = &text[length..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        let more = digits(&exponent[1 + sign..]);
        length += if more > 0 { 1 + sign + more } else { 0 };
    }
    let number = &text[..length];
    let token = match number.parse::<u64>() {
        _ if length > whole => Token::Number(Scalar::Double(number.parse().ok()?)),
        Ok(value) if value == i64::MIN.unsigned_abs() => Token::Beyond,
        Ok(value) => Token::Number(Scalar::Int(i64::try_from(value).ok()?)),
        Err(_) => return None,
    };
    Some((token, length))
}

struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    line: u32,
    depth: u32,
    names: &'a mut Names,
}

/// Precedence levels of operators; the highest binds tightest.
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITS: u8 = 6;
const UNARY: u8 = 9;

/// An operator between two expressions: how tight it binds, and whether its sides are exchanged.
fn infix(token: &Token) -> Option<(u8, Function, bool)> {
    let plain = |level, function| Some((level, function, false));
    match token {
        Token::Word(word) => match word.as_str() {
            "or" => plain(1, Function::Or),
            "and" => plain(2, Function::And),
            _ => None,
        },
        Token::Sign(sign) => match *sign {
            "<" => plain(COMPARISON, Function::Less),
            ">" => Some((COMPARISON, Function::Less, true)),
            "<=" => plain(COMPARISON, Function::LessOrEqual),
            ">=" => Some((COMPARISON, Function::LessOrEqual, true)),
            "=" => plain(COMPARISON, Function::Equal),
            "<>" | "!=" => plain(COMPARISON, Function::NotEqual),
            "|" => plain(BITS, Function::BitOr),
            "#" => plain(BITS, Function::BitXor),
            "&" => plain(BITS, Function::BitAnd),
            "<<" => plain(BITS, Function::ShiftLeft),
            ">>" => plain(BITS, Function::ShiftRight),
            "+" => plain(7, Function::Add),
            "-" => plain(7, Function::Subtract),
            "*" => plain(8, Function::Multiply),
            "/" => plain(8, Function::Divide),
            "%" => plain(8, Function::Modulo),
            _ => None,
        },
        _ => None,
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Takes this word or sign when it comes next.
    fn takes(&mut self, text: &str) -> bool {
        let is_next = match self.peek() {
            Some(Token::Word(word)) => word == text,
            Some(Token::Sign(sign)) => *sign == text,
            _ => false,
        };
        self.at += usize::from(is_next);
        is_next
    }

    fn must_take(&mut self, text: &str) -> Result<(), Wrong> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    #[cold]
    fn unexpected(&self) -> Wrong {
        match self.peek() {
            None => Wrong::new(self.line, "error-sqlmix-expression-end"),
            Some(Token::Number(value)) => {
                let mut text = String::new();
                // A number of the script has a value.
                let _ = value.write(&mut text);
                unexpected(self.line, &text)
            }
            Some(Token::Beyond) => unexpected(self.line, "9223372036854775808"),
            Some(Token::Variable(name)) => unexpected(self.line, &format!(":{name}")),
            Some(Token::Word(word)) => unexpected(self.line, word),
            Some(Token::Sign(sign)) => unexpected(self.line, sign),
        }
    }

    /// An expression whose operators bind at least so tight.
    fn binary(&mut self, least: u8) -> Result<Node, Wrong> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Wrong::new(self.line, "error-sqlmix-expression-deep"));
        }
        let mut left = self.prefix()?;
        // Comparisons do not follow one another.
        let mut compared = u8::MAX;
        loop {
            if IS >= least && IS < compared && self.is_test() {
                left = self.test(left)?;
                compared = IS;
                continue;
            }
            let found = self.peek().and_then(infix);
            let Some((level, function, exchanged)) = found.filter(|found| found.0 >= least) else {
                break;
            };
            if level == COMPARISON && compared == COMPARISON {
                return Err(self.unexpected());
            }
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Node::Call(
                function,
                match exchanged {
                    true => vec![right, left],
                    false => vec![left, right],
                },
            );
            compared = if level == COMPARISON { level } else { u8::MAX };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn is_test(&self) -> bool {
        let words = ["is", "isnull", "notnull"];
        matches!(self.peek(), Some(Token::Word(word)) if words.contains(&word.as_str()))
    }

    /// `is [not] null | true | false`, `isnull`, `notnull`.
    fn test(&mut self, left: Node) -> Result<Node, Wrong> {
        let (value, negated) = if self.takes("isnull") {
            (Scalar::Null, false)
        } else if self.takes("notnull") {
            (Scalar::Null, true)
        } else {
            self.must_take("is")?;
            let negated = self.takes("not");
            let value = match self.peek() {
                Some(Token::Word(word)) => constant(word),
                _ => None,
            };
            let value = value.ok_or_else(|| self.unexpected())?;
            self.at += 1;
            (value, negated)
        };
        let is = Node::Call(Function::Is, vec![left, Node::Constant(value)]);
        Ok(match negated {
            true => Node::Call(Function::Not, vec![is]),
            false => is,
        })
    }

    fn prefix(&mut self) -> Result<Node, Wrong> {
        if self.takes("-") {
            if self.peek() == Some(&Token::Beyond) {
                self.at += 1;
                return Ok(Node::Constant(Scalar::Int(i64::MIN)));
            }
            let zero = Node::Constant(Scalar::Int(0));
            return Ok(Node::Call(
                Function::Subtract,
                vec![zero, self.binary(UNARY)?],
            ));
        }
        if self.takes("+") {
            return self.binary(UNARY);
        }
        if self.takes("~") {
            let ones = Node::Constant(Scalar::Int(-1));
            return Ok(Node::Call(
                Function::BitXor,
                vec![ones, self.binary(BITS + 1)?],
            ));
        }
        if self.takes("not") {
            return Ok(Node::Call(Function::Not, vec![self.binary(NOT)?]));
        }
        if self.takes("(") {
            let inner = self.binary(0)?;
            self.must_take(")")?;
            return Ok(inner);
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Node, Wrong> {
        let Some(token) = self.take() else {
            self.at -= 1;
            return Err(self.unexpected());
        };
        match token {
            Token::Number(value) => Ok(Node::Constant(value)),
            Token::Variable(name) => Ok(Node::Variable(self.names.used(&name, self.line))),
            Token::Word(word) if word == "case" => self.case(),
            Token::Word(word) => match constant(&word) {
                Some(value) => Ok(Node::Constant(value)),
                None => self.call(&word),
            },
            Token::Beyond | Token::Sign(_) => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// `case when … then … [else …] end`, of which the first word was taken.
    fn case(&mut self) -> Result<Node, Wrong> {
        let mut parts = Vec::new();
        while self.takes("when") {
            parts.push(self.binary(0)?);
            self.must_take("then")?;
            parts.push(self.binary(0)?);
        }
        if parts.is_empty() {
            return Err(self.unexpected());
        }
        parts.push(match self.takes("else") {
            true => self.binary(0)?,
            false => Node::Constant(Scalar::Null),
        });
        self.must_take("end")?;
        Ok(Node::Call(Function::Case, parts))
    }

    fn call(&mut self, name: &str) -> Result<Node, Wrong> {
        let known = FUNCTIONS.iter().find(|known| known.0 == name);
        let Some((_, function, least, most)) = known else {
            return Err(Wrong::at(self.line, "error-sqlmix-function", name));
        };
        self.must_take("(")?;
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.must_take(",")?;
            }
            arguments.push(self.binary(0)?);
        }
        if !(*least..=*most).contains(&arguments.len()) {
            return Err(Wrong::at(self.line, "error-sqlmix-arguments", name));
        }
        let is_hash = matches!(function, Function::HashFnv1a | Function::HashMurmur2);
        if is_hash && arguments.len() == 1 {
            arguments.push(Node::Variable(self.names.used(DEFAULT_SEED, self.line)));
        }
        Ok(Node::Call(*function, arguments))
    }
}

fn constant(word: &str) -> Option<Scalar> {
    match word {
        "null" => Some(Scalar::Null),
        "true" => Some(Scalar::Bool(true)),
        "false" => Some(Scalar::Bool(false)),
        _ => None,
    }
}
