//! Tokens of JEXL.

use super::value::Value;
use super::{Dialect, Refusal};

/// Longest text that is read, bytes.
const MOST_BYTES: usize = 64 << 10;

/// Stands for a variable of the plan in a text that is only checked.
pub(super) const HOLE: char = '\u{f8ff}';

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "...", "..", "?.", "?:", "??", "->", "&&", "||", "==", "!=", ">=", "<=", "=~", "!~", "=^",
    "=$", "!^", "!$", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "(", ")", "{", "}", "[", "]",
    ";", ":", ",", "?", ".", "<", ">", "=", "+", "-", "*", "/", "%", "!", "&", "|", "^", "~",
];

/// A token.
#[derive(Debug, Clone)]
pub(super) enum Token {
    /// A number.
    Number(Value),
    /// A quoted text.
    Text(String),
    /// `~/…/`.
    Regex(String),
    /// A name or word of the language.
    Word(String),
    /// A sign.
    Sign(&'static str),
    /// Something that holds a variable of the plan.
    Hole,
}

/// A token and the number of characters before it.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub token: Token,
    pub at: usize,
}

/// The tokens of a text.
pub(super) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<Placed>, Refusal> {
    if text.len() > MOST_BYTES {
        return Err(Refusal::unsupported("an expression this long"));
    }
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        chars: &chars,
        at: 0,
        dialect,
    };
    let mut found: Vec<Placed> = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let at = lexer.at;
        // Behind a dot stands a name, even if it begins like a number.
        let is_member = matches!(
            found.last().map(|placed| &placed.token),
            Some(Token::Sign("." | "?."))
        );
        match lexer.token(is_member)? {
            Some(token) => found.push(Placed { token, at }),
            None => return Ok(found),
        }
    }
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    dialect: Dialect,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn begins(&self, sign: &str) -> bool {
        let mut all = sign.chars().enumerate();
        all.all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn skip_blanks(&mut self) -> Result<(), Refusal> {
        while let Some(c) = self.peek(0) {
            if self.begins("##") || self.begins("//") {
                while self.peek(0).is_some_and(|c| !matches!(c, '\n' | '\r')) {
                    self.at += 1;
                }
            } else if self.begins("/*") {
                let begin = self.at;
                self.at += 2;
                while !self.begins("*/") {
                    if self.peek(0).is_none() {
                        return Err(Refusal::syntax(begin));
                    }
                    self.at += 1;
                }
                self.at += 2;
            } else if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
                self.at += 1;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn token(&mut self, is_member: bool) -> Result<Option<Token>, Refusal> {
        let Some(first) = self.peek(0) else {
            return Ok(None);
        };
        if first == '"' || first == '\'' {
            return self.quoted(first).map(|text| Some(Token::Text(text)));
        }
        if is_word(first) && (is_member || !first.is_ascii_digit()) || self.holds_hole() {
            return Ok(Some(self.word()));
        }
        if first.is_ascii_digit() {
            return self.number().map(Some);
        }
        if self.begins("~/") {
            self.at += 1;
            return self.quoted('/').map(|text| Some(Token::Regex(text)));
        }
        match first {
            '`' => return Err(Refusal::unsupported("a text in backquotes")),
            '#' => return Err(Refusal::unsupported("`#pragma`")),
            '@' => return Err(Refusal::unsupported("an annotation")),
            _ => {}
        }
        let sign = SIGNS.iter().find(|sign| self.begins(sign));
        let sign = sign.ok_or(Refusal::syntax(self.at))?;
        self.at += sign.chars().count();
        Ok(Some(Token::Sign(sign)))
    }

    /// True if the word or number that begins here holds a variable of the plan.
    fn holds_hole(&self) -> bool {
        let rest = self.chars[self.at..].iter();
        rest.take_while(|c| is_word(**c) || **c == HOLE)
            .any(|c| *c == HOLE)
    }

    fn word(&mut self) -> Token {
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| is_word(*c) || *c == HOLE) {
            word.push(c);
            self.at += 1;
        }
        match word.contains(HOLE) {
            true => Token::Hole,
            false => Token::Word(word),
        }
    }

    /// A text up to its quote, with the escapes of JEXL.
    fn quoted(&mut self, quote: char) -> Result<String, Refusal> {
        let begin = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = self.peek(0).ok_or(Refusal::syntax(begin))?;
            self.at += 1;
            if c == quote {
                return Ok(text);
            }
            if matches!(c, '\n' | '\r') {
                return Err(Refusal::syntax(begin));
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            let escaped = self.peek(0).ok_or(Refusal::syntax(begin))?;
            self.at += 1;
            let escapes_controls = self.dialect == Dialect::Jexl3;
            match escaped {
                c if c == quote || c == '\\' => text.push(c),
                'u' if self.unicode().is_some() => {
                    text.extend(self.unicode());
                    self.at += 4;
                }
                'b' if escapes_controls => text.push('\u{8}'),
                't' if escapes_controls => text.push('\t'),
                'n' if escapes_controls => text.push('\n'),
                'f' if escapes_controls => text.push('\u{c}'),
                'r' if escapes_controls => text.push('\r'),
                other => text.extend(['\\', other]),
            }
        }
    }

    fn unicode(&self) -> Option<char> {
        let digits: String = self.chars.get(self.at..self.at + 4)?.iter().collect();
        char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
    }

    fn digits(&mut self, radix: u32, out: &mut String) {
        while let Some(c) = self.peek(0).filter(|c| c.is_digit(radix)) {
            out.push(c);
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Token, Refusal> {
        let begin = self.at;
        let mut digits = String::new();
        if self.begins("0x") || self.begins("0X") {
            self.at += 2;
            self.digits(16, &mut digits);
            return self.whole(begin, &digits, 16);
        }
        self.digits(10, &mut digits);
        let mut is_real = false;
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            is_real = true;
            self.at += 1;
            digits.push('.');
            self.digits(10, &mut digits);
        }
        let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if matches!(self.peek(0), Some('e' | 'E'))
            && self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit())
        {
            is_real = true;
            digits.push('e');
            digits.extend(self.peek(1).filter(|_| sign == 1));
            self.at += 1 + sign;
            self.digits(10, &mut digits);
        }
        if self.dialect == Dialect::Jexl2 && is_real {
            // Decimals are of type Float there, and need their point.
            self.at += usize::from(matches!(self.peek(0), Some('f' | 'F')));
            let number = digits.parse().ok().filter(|_| digits.contains('.'));
            let number = number.ok_or(Refusal::syntax(begin))?;
            return Ok(Token::Number(Value::Float(number)));
        }
        let real = |digits: &str| digits.parse::<f64>().map_err(|_| Refusal::syntax(begin));
        match self.peek(0).filter(|_| self.dialect == Dialect::Jexl3) {
            Some('f' | 'F') => {
                self.at += 1;
                let number = digits.parse().map_err(|_| Refusal::syntax(begin))?;
                Ok(Token::Number(Value::Float(number)))
            }
            Some('d' | 'D') => {
                self.at += 1;
                Ok(Token::Number(Value::Double(real(&digits)?)))
            }
            Some('b' | 'B') => Err(Refusal::unsupported("a BigDecimal")),
            _ if is_real => Ok(Token::Number(Value::Double(real(&digits)?))),
            _ => {
                let radix = if digits.starts_with('0') { 8 } else { 10 };
                self.whole(begin, &digits, radix)
            }
        }
    }

    fn whole(&mut self, begin: usize, digits: &str, radix: u32) -> Result<Token, Refusal> {
        let number = i128::from_str_radix(digits, radix).map_err(|_| Refusal::syntax(begin))?;
        let value = match self.peek(0) {
            Some('l' | 'L') => {
                self.at += 1;
                Value::Long(i64::try_from(number).map_err(|_| Refusal::syntax(begin))?)
            }
            Some('h' | 'H') => {
                self.at += 1;
                Value::Big(number)
            }
            _ => Value::whole(number),
        };
        Ok(Token::Number(value))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}
