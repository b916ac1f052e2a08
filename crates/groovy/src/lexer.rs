//! Tokens of Groovy and BeanShell.

use crate::{Dialect, Refusal, RefusalKind};

/// Deepest nesting of `${…}` in texts.
const MOST_NESTED: usize = 8;

/// A token with its line, and whether a line ended before it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub line: u32,
    /// True if a line ended before it, outside round and square brackets.
    pub begins_line: bool,
    /// True if white space stands before it.
    pub spaced: bool,
    pub kind: TokenKind,
}

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    /// A number as it is written.
    Number(String),
    Text(String),
    Char(String),
    GString(Vec<TextPart>),
    Sign(&'static str),
    End,
}

/// A part of a text with expressions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextPart {
    Text(String),
    /// Tokens of an expression.
    Code(Vec<Token>),
}

/// Signs, longest first.
const SIGNS: &[&str] = &[
    ">>>=", "<=>", "==~", "===", "!==", "...", "..<", ">>>", "<<=", ">>=", "**=", "*.@", "?.",
    "*.", "?:", "?=", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "=~", "<<", ">>", "->", "..", ".&", ".@", "::", "**", "{", "}", "(", ")",
    "[", "]", ";", ",", ".", "?", ":", "=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|",
    "^", "@",
];

/// The tokens of a script, with an end. Errors: the first text that is not a token.
pub(crate) fn tokens(source: &str, dialect: Dialect) -> Result<Vec<Token>, Refusal> {
    let mut lexer = Lexer {
        chars: source.chars().collect(),
        at: 0,
        line: 1,
        dialect,
        brackets: Vec::new(),
        found: Vec::new(),
        nested: 0,
    };
    lexer.all()?;
    Ok(lexer.found)
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: u32,
    dialect: Dialect,
    /// Open brackets.
    brackets: Vec<char>,
    found: Vec<Token>,
    nested: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn is_over(&self) -> bool {
        self.at >= self.chars.len()
    }

    fn advance(&mut self) -> char {
        let c = self.peek(0);
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        c
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, c)| self.at + ahead < self.chars.len() && self.peek(ahead) == c)
    }

    fn fail(&self, what: impl ToString) -> Refusal {
        Refusal::new(self.line, RefusalKind::Syntax, what)
    }

    fn all(&mut self) -> Result<(), Refusal> {
        if self.starts_with("#!") {
            while !self.is_over() && self.peek(0) != '\n' {
                self.advance();
            }
        }
        loop {
            let (begins_line, spaced) = self.skip_space()?;
            let inside = matches!(self.brackets.last(), Some('(' | '['));
            let begins_line = begins_line && !inside && self.dialect == Dialect::Groovy;
            let line = self.line;
            let kind = self.token()?;
            let ends = kind == TokenKind::End;
            self.found.push(Token {
                line,
                begins_line,
                spaced,
                kind,
            });
            if ends {
                return Ok(());
            }
        }
    }

    /// Skips white space and comments. True if a line ended, and if there was any.
    fn skip_space(&mut self) -> Result<(bool, bool), Refusal> {
        let begin = self.at;
        let mut ended = false;
        loop {
            if self.starts_with("//") {
                while !self.is_over() && self.peek(0) != '\n' {
                    self.advance();
                }
            } else if self.starts_with("/*") {
                let line = self.line;
                self.at += 2;
                while !self.starts_with("*/") {
                    if self.is_over() {
                        return Err(Refusal::new(line, RefusalKind::Syntax, "/*"));
                    }
                    ended |= self.peek(0) == '\n';
                    self.advance();
                }
                self.at += 2;
            } else if self.starts_with("\\\n") || self.starts_with("\\\r\n") {
                while self.advance() != '\n' {}
            } else if !self.is_over() && self.peek(0).is_whitespace() {
                ended |= self.advance() == '\n';
            } else {
                return Ok((ended, self.at > begin));
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, Refusal> {
        if self.is_over() {
            return Ok(TokenKind::End);
        }
        let c = self.peek(0);
        if is_name_start(c) {
            let name = self.name();
            // A word of Groovy alone. In BeanShell it names a variable as others do, which gets another spelling.
            return Ok(TokenKind::Name(match (name.as_str(), self.dialect) {
                ("in", Dialect::BeanShell) => "in$".to_owned(),
                _ => name,
            }));
        }
        if c.is_ascii_digit() || c == '.' && self.peek(1).is_ascii_digit() {
            return self.number();
        }
        match (c, self.dialect) {
            ('"' | '\'', _) => return self.quoted(c),
            ('/', Dialect::Groovy) if self.begins_operand() => return self.slashy(),
            ('$', Dialect::Groovy) if self.peek(1) == '/' => return Err(self.fail("$/")),
            _ => {}
        }
        let found = SIGNS.iter().find(|sign| self.starts_with(sign)).copied();
        let Some(sign) = found else {
            return Err(self.fail(c));
        };
        self.at += sign.len();
        match sign {
            "(" | "[" | "{" => self.brackets.push(c),
            ")" | "]" | "}" => drop(self.brackets.pop()),
            _ => {}
        }
        Ok(TokenKind::Sign(sign))
    }

    /// True if an operand can stand here, so that `/` begins a text and does not divide.
    fn begins_operand(&self) -> bool {
        match self.found.last().map(|token| &token.kind) {
            None => true,
            Some(TokenKind::Name(name)) => {
                matches!(
                    name.as_str(),
                    "return" | "in" | "case" | "assert" | "else" | "throw"
                )
            }
            Some(TokenKind::Sign(sign)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            Some(_) => false,
        }
    }

    fn name(&mut self) -> String {
        let begin = self.at;
        while !self.is_over() && is_name_part(self.peek(0)) {
            self.at += 1;
        }
        self.chars[begin..self.at].iter().collect()
    }

    fn number(&mut self) -> Result<TokenKind, Refusal> {
        let mut text = String::new();
        let is_hex = self.peek(0) == '0' && matches!(self.peek(1), 'x' | 'X');
        let is_binary = self.peek(0) == '0' && matches!(self.peek(1), 'b' | 'B');
        while !self.is_over() {
            let c = self.peek(0);
            let takes = if is_hex || is_binary {
                c.is_ascii_alphanumeric() || c == '_'
            } else {
                c.is_ascii_alphanumeric()
                    || c == '_'
                    || c == '.' && !text.contains(['.', 'e', 'E']) && self.peek(1).is_ascii_digit()
                    || c == '.'
                        && self.dialect == Dialect::BeanShell
                        && !text.contains('.')
                        && !is_name_start(self.peek(1))
                    || matches!(c, '+' | '-')
                        && text.ends_with(['e', 'E'])
                        && self.peek(1).is_ascii_digit()
            };
            if !takes {
                break;
            }
            text.push(c);
            self.at += 1;
        }
        match text.is_empty() {
            true => Err(self.fail(self.peek(0))),
            false => Ok(TokenKind::Number(text)),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<TokenKind, Refusal> {
        let line = self.line;
        let triple: String = [quote; 3].iter().collect();
        let is_long = self.dialect == Dialect::Groovy && self.starts_with(&triple);
        let end = if is_long { triple } else { quote.to_string() };
        self.at += end.len();
        let has_code = quote == '"' && self.dialect == Dialect::Groovy;
        let mut parts = Vec::new();
        let mut text = String::new();
        while !self.starts_with(&end) {
            if self.is_over() || !is_long && self.peek(0) == '\n' {
                return Err(Refusal::new(line, RefusalKind::Syntax, quote));
            }
            match self.advance() {
                '\\' => self.escaped(&mut text)?,
                '$' if has_code => self.code(&mut text, &mut parts)?,
                '\r' if is_long && self.peek(0) == '\n' => {}
                c => text.push(c),
            }
        }
        self.at += end.len();
        if parts.is_empty() {
            return Ok(match (quote, self.dialect) {
                ('\'', Dialect::BeanShell) => {
                    if text.chars().count() != 1 {
                        return Err(Refusal::new(line, RefusalKind::Syntax, format!("'{text}'")));
                    }
                    TokenKind::Char(text)
                }
                _ => TokenKind::Text(text),
            });
        }
        if !text.is_empty() {
            parts.push(TextPart::Text(text));
        }
        Ok(TokenKind::GString(parts))
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), Refusal> {
        let c = self.advance();
        text.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\\' | '\'' | '"' => c,
            '$' if self.dialect == Dialect::Groovy => c,
            '\n' if self.dialect == Dialect::Groovy => return Ok(()),
            '0'..='7' => {
                let mut code = c as u32 - '0' as u32;
                let most = if c <= '3' { 2 } else { 1 };
                for _ in 0..most {
                    let Some(digit) = self.peek(0).to_digit(8) else {
                        break;
                    };
                    code = code * 8 + digit;
                    self.at += 1;
                }
                char::from_u32(code).unwrap_or_default()
            }
            'u' => {
                while self.peek(0) == 'u' {
                    self.at += 1;
                }
                let digits: String = (0..4).map(|ahead| self.peek(ahead)).collect();
                let code = u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                let Some(c) = code else {
                    return Err(self.fail(format!("\\u{digits}")));
                };
                self.at += 4;
                c
            }
            other => return Err(self.fail(format!("\\{other}"))),
        });
        Ok(())
    }

    /// The part behind `$` in a text.
    fn code(&mut self, text: &mut String, parts: &mut Vec<TextPart>) -> Result<(), Refusal> {
        let line = self.line;
        let inner = if self.peek(0) == '{' {
            self.at += 1;
            let begin = self.at;
            self.skip_code(line)?;
            self.chars[begin..self.at - 1].to_vec()
        } else if is_name_start(self.peek(0)) && self.peek(0) != '$' {
            let begin = self.at;
            loop {
                while !self.is_over() && is_name_part(self.peek(0)) && self.peek(0) != '$' {
                    self.at += 1;
                }
                let continues =
                    self.peek(0) == '.' && is_name_start(self.peek(1)) && self.peek(1) != '$';
                if !continues {
                    break;
                }
                self.at += 1;
            }
            self.chars[begin..self.at].to_vec()
        } else {
            return Err(self.fail("$"));
        };
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(Refusal::new(line, RefusalKind::Depth, "${"));
        }
        let mut lexer = Lexer {
            chars: inner,
            at: 0,
            line,
            dialect: self.dialect,
            brackets: vec!['('],
            found: Vec::new(),
            nested: self.nested,
        };
        lexer.all()?;
        self.nested -= 1;
        if !text.is_empty() {
            parts.push(TextPart::Text(std::mem::take(text)));
        }
        parts.push(TextPart::Code(lexer.found));
        Ok(())
    }

    /// Moves behind the `}` that closes an expression in a text.
    fn skip_code(&mut self, line: u32) -> Result<(), Refusal> {
        let mut depth = 1;
        while depth > 0 {
            if self.is_over() {
                return Err(Refusal::new(line, RefusalKind::Syntax, "${"));
            }
            match self.advance() {
                '{' => depth += 1,
                '}' => depth -= 1,
                quote @ ('"' | '\'') => {
                    while self.peek(0) != quote {
                        if self.is_over() || self.peek(0) == '\n' {
                            return Err(Refusal::new(line, RefusalKind::Syntax, "${"));
                        }
                        if self.advance() == '\\' {
                            self.advance();
                        }
                    }
                    self.advance();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A text between slashes, in which only `/` is escaped.
    fn slashy(&mut self) -> Result<TokenKind, Refusal> {
        let line = self.line;
        self.at += 1;
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            if self.is_over() {
                return Err(Refusal::new(line, RefusalKind::Syntax, "/"));
            }
            let next = self.peek(1);
            match self.advance() {
                '/' => break,
                '\\' if next == '/' => {
                    self.advance();
                    text.push('/');
                }
                // A `$` that begins no expression stands for itself, as in patterns.
                '$' if next == '{' || is_name_start(next) && next != '$' => {
                    self.code(&mut text, &mut parts)?
                }
                c => text.push(c),
            }
        }
        if parts.is_empty() {
            return Ok(TokenKind::Text(text));
        }
        if !text.is_empty() {
            parts.push(TextPart::Text(text));
        }
        Ok(TokenKind::GString(parts))
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_numeric()
}
