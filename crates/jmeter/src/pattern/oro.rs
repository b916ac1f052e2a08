//! Translation of the regular expressions of Jakarta ORO, which JMeter uses for extractors and
//! assertions, to those of this crate's engine.
//!
//! ORO knows the syntax of Perl 5.003: no lookbehind, no named groups, no possessive quantifiers, no
//! Unicode classes. A backslash before any other character stands for that character, and a brace that
//! is not a quantifier for itself.

/// Reason of ORO to refuse a pattern, in its words.
pub(super) type Refusal = String;

const UNMATCHED_CLASS: &str = "Unmatched [] in expression.";
const NESTED: &str = "Nested repetitions *?+ in expression";
const NOTHING: &str = "?+* follows nothing in expression";

/// The same pattern for this crate's engine. Fails with ORO's message.
pub(super) fn translated(pattern: &str) -> Result<String, Refusal> {
    let mut translator = Translator {
        rest: pattern.chars().collect::<Vec<_>>().into_iter().collect(),
        out: String::with_capacity(pattern.len() + 16),
        is_multiline: false,
        depth: 0,
        groups: 0,
    };
    translator.all()?;
    Ok(translator.out)
}

struct Translator {
    rest: std::collections::VecDeque<char>,
    out: String,
    /// `(?m)` was set: `$` ends lines.
    is_multiline: bool,
    /// Open parentheses.
    depth: usize,
    /// Groups that began.
    groups: u32,
}

/// The item before a quantifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Atom,
    Quantifier,
}

impl Translator {
    fn next(&mut self) -> Option<char> {
        self.rest.pop_front()
    }

    fn peek(&self) -> Option<char> {
        self.rest.front().copied()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_it = self.peek() == Some(wanted);
        if is_it {
            self.next();
        }
        is_it
    }

    fn all(&mut self) -> Result<(), Refusal> {
        let mut before = Before::Nothing;
        while let Some(character) = self.next() {
            before = match character {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.open()?,
                ')' => {
                    self.depth = self.depth.checked_sub(1).ok_or("Unmatched parentheses.")?;
                    self.out.push(')');
                    Before::Atom
                }
                '|' => {
                    self.out.push('|');
                    Before::Nothing
                }
                '$' => {
                    self.out.push_str(match self.is_multiline {
                        true => "$",
                        // Before a line end at the end, too.
                        false => "\\Z",
                    });
                    Before::Atom
                }
                '*' | '+' | '?' => self.repeated(before, &character.to_string())?,
                '{' => match self.braces() {
                    Some(quantifier) if before != Before::Nothing => {
                        self.repeated(before, &quantifier)?
                    }
                    // It is not a quantifier, or has nothing to repeat.
                    Some(text) => {
                        self.out
                            .push_str(&format!("\\{{{}\\}}", &text[1..text.len() - 1]));
                        Before::Atom
                    }
                    None => self.literal('{'),
                },
                '^' | '.' => {
                    self.out.push(character);
                    Before::Atom
                }
                other => self.literal(other),
            };
        }
        match self.depth {
            0 => Ok(()),
            _ => Err("Unmatched parentheses.".into()),
        }
    }

    fn literal(&mut self, character: char) -> Before {
        if matches!(character, '}' | ']' | '{' | '[') {
            self.out.push('\\');
        }
        self.out.push(character);
        Before::Atom
    }

    /// Appends a quantifier and the `?` behind it.
    fn repeated(&mut self, before: Before, quantifier: &str) -> Result<Before, Refusal> {
        match before {
            Before::Nothing => return Err(NOTHING.into()),
            Before::Quantifier => return Err(NESTED.into()),
            Before::Atom => self.out.push_str(quantifier),
        }
        if self.takes('?') {
            self.out.push('?');
        }
        Ok(Before::Quantifier)
    }

    /// The quantifier whose opening brace was taken; `None`: the brace stands for itself.
    fn braces(&mut self) -> Option<String> {
        let length = self.rest.iter().position(|c| *c == '}')?;
        let inside: String = self.rest.iter().take(length).collect();
        let (least, most) = inside.split_once(',').unwrap_or((&inside, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !is_number(least) || !is_number(most) {
            return None;
        }
        self.rest.drain(..=length);
        Some(format!("{{{inside}}}"))
    }

    /// A group whose opening parenthesis was taken.
    fn open(&mut self) -> Result<Before, Refusal> {
        self.depth += 1;
        if !self.takes('?') {
            self.groups += 1;
            self.out.push('(');
            return Ok(Before::Nothing);
        }
        match self.peek() {
            Some(kind @ (':' | '=' | '!')) => {
                self.next();
                self.out.extend(["(?", kind.encode_utf8(&mut [0; 4])]);
                Ok(Before::Nothing)
            }
            Some('#') => {
                self.depth -= 1;
                while self.next().ok_or("Sequence (?#... not terminated")? != ')' {}
                Ok(Before::Atom)
            }
            _ => self.flags(),
        }
    }

    /// Flags such as `(?is)`.
    fn flags(&mut self) -> Result<Before, Refusal> {
        let mut flags = String::new();
        loop {
            match self.next() {
                Some(flag @ ('i' | 'm' | 's' | 'x' | '-')) => {
                    self.is_multiline |= flag == 'm';
                    flags.push(flag);
                }
                // They mean nothing in a search.
                Some('g' | 'c' | 'o') => {}
                Some(')') => break,
                Some(other) => return Err(format!("Sequence (?{other}...) not recognized")),
                None => return Err("Unmatched parentheses.".into()),
            }
        }
        self.depth -= 1;
        if !matches!(flags.as_str(), "" | "-") {
            self.out.extend(["(?", &flags, ")"]);
        }
        Ok(Before::Atom)
    }

    /// An escape outside of classes.
    fn escape(&mut self) -> Result<Before, Refusal> {
        let character = self.next().ok_or("Trailing \\ in expression.")?;
        match character {
            'A' | 'Z' | 'b' | 'B' | 'G' => self.out.extend(['\\', character]),
            '1'..='9' => {
                self.rest.push_front(character);
                let number = self.digits(10, 3);
                if number > self.groups {
                    return Err(format!("Invalid backreference: \\{number}"));
                }
                self.out.push_str(&format!("\\{number}"));
            }
            other => self.character(other),
        }
        Ok(Before::Atom)
    }

    /// An escape that means the same inside of classes.
    fn character(&mut self, escaped: char) {
        match escaped {
            'w' | 'W' | 's' | 'S' | 'd' | 'D' | 'n' | 'r' | 't' | 'f' | 'a' => {
                self.out.extend(['\\', escaped]);
            }
            'e' => self.code(0x1b),
            'x' => {
                let code = self.digits(16, 2);
                self.code(code);
            }
            '0' => {
                let code = self.digits(8, 2);
                self.code(code);
            }
            'c' => {
                let control = self.next().unwrap_or('@').to_ascii_uppercase();
                self.code(u32::from(control) ^ 64);
            }
            other if other.is_ascii_punctuation() && !matches!(other, '<' | '>') => {
                self.out.extend(['\\', other]);
            }
            other => self.out.push(other),
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut code = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|digit| digit.to_digit(radix)) else {
                break;
            };
            self.next();
            code = code * radix + digit;
        }
        code
    }

    fn code(&mut self, code: u32) {
        self.out.push_str(&format!("\\x{{{code:x}}}"));
    }

    /// A class whose opening bracket was taken.
    fn class(&mut self) -> Result<Before, Refusal> {
        self.out.push('[');
        if self.takes('^') {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            let character = self.next().ok_or(UNMATCHED_CLASS)?;
            match character {
                ']' if !is_first => break,
                '[' if self.peek() == Some(':') => self.posix(),
                '\\' => match self.next().ok_or(UNMATCHED_CLASS)? {
                    'b' => self.code(8),
                    digit @ '1'..='7' => {
                        self.rest.push_front(digit);
                        let code = self.digits(8, 3);
                        self.code(code);
                    }
                    other => self.character(other),
                },
                '-' | '^' if !is_first => self.out.push(character),
                '[' | ']' | '&' | '~' | '-' | '^' => self.out.extend(['\\', character]),
                other => self.out.push(other),
            }
            is_first = false;
        }
        self.out.push(']');
        Ok(Before::Atom)
    }

    /// A class such as `[:alpha:]` in a class; anything else is a bracket.
    fn posix(&mut self) {
        let name: String = self
            .rest
            .iter()
            .skip(1)
            .take_while(|c| **c != ':')
            .collect();
        let length = name.chars().count();
        let is_closed = self.rest.get(length + 2) == Some(&']');
        if !is_closed || !name.bytes().all(|byte| byte.is_ascii_lowercase()) || name.is_empty() {
            return self.out.push_str("\\[");
        }
        self.rest.drain(..length + 3);
        self.out.extend(["[:", &name, ":]"]);
    }
}
