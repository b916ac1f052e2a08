//! Java's regular expressions in the notation of Rust's.
//!
//! What both write the same way is kept. Classes such as `\d` are those of ASCII in Java, `.` stops
//! at more line ends, and `$` stands before the last line end, too; these are rewritten. Whatever
//! means something else, or nothing, is refused.

/// A construct of a pattern that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFault(pub String);

const DIGIT: &str = "0-9";
const WORD: &str = "a-zA-Z_0-9";
const SPACE: &str = r" \t\n\x0B\f\r";
const NOT_LINE_END: &str = r"[^\n\r\x{85}\x{2028}\x{2029}]";
const AT_END: &str = r"(?=(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)";

/// Classes of POSIX in Java, of ASCII alone.
const POSIX: &[(&str, &str)] = &[
    ("Lower", "a-z"),
    ("Upper", "A-Z"),
    ("Alpha", "a-zA-Z"),
    ("Digit", "0-9"),
    ("Alnum", "a-zA-Z0-9"),
    ("Punct", r"!-/:-@\[-`{-~"),
    ("Space", SPACE),
    ("XDigit", "0-9a-fA-F"),
];

/// A pattern of Java in the notation of the crate `fancy-regex`.
pub fn portable(java: &str) -> Result<String, PatternFault> {
    let mut rewriter = Rewriter {
        chars: java.chars().collect(),
        at: 0,
        out: String::with_capacity(java.len() + 16),
        dot_all: false,
        multi_line: false,
    };
    rewriter.all()?;
    Ok(rewriter.out)
}

struct Rewriter {
    chars: Vec<char>,
    at: usize,
    out: String,
    dot_all: bool,
    multi_line: bool,
}

impl Rewriter {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn all(&mut self) -> Result<(), PatternFault> {
        while self.at < self.chars.len() {
            let c = self.peek(0);
            self.at += 1;
            match c {
                '\\' => self.escape()?,
                '[' => self.class(0)?,
                '.' if self.dot_all => self.out.push_str("(?s:.)"),
                '.' => self.out.push_str(NOT_LINE_END),
                '$' if self.multi_line => return Err(fault("$ (?m)")),
                '$' => self.out.push_str(AT_END),
                '^' if self.multi_line => return Err(fault("^ (?m)")),
                '(' if self.peek(0) == '?' => self.group()?,
                // Java takes a closing bracket for itself where nothing is open.
                '{' if !self.is_count() => return Err(fault("{")),
                c => self.out.push(c),
            }
        }
        Ok(())
    }

    /// True if the braces hold a number of repetitions.
    fn is_count(&self) -> bool {
        let mut inner = self.chars[self.at..].iter().take_while(|c| **c != '}');
        let has_end = self.chars[self.at..].contains(&'}');
        has_end && self.peek(0).is_ascii_digit() && inner.all(|c| c.is_ascii_digit() || *c == ',')
    }

    /// `(?…`: groups without number, names, looking around, and flags of the whole pattern.
    fn group(&mut self) -> Result<(), PatternFault> {
        let begin = self.at - 1;
        let kept = [
            ("?:", 2),
            ("?=", 2),
            ("?!", 2),
            ("?>", 2),
            ("?<=", 3),
            ("?<!", 3),
        ];
        let ahead: String = self.chars[self.at..].iter().take(3).collect();
        if let Some((sign, length)) = kept.iter().find(|(sign, _)| ahead.starts_with(sign)) {
            self.at += length;
            self.out.push('(');
            self.out.push_str(sign);
            return Ok(());
        }
        if ahead.starts_with("?<") {
            let rest: String = self.chars[self.at + 2..]
                .iter()
                .take_while(|c| c.is_ascii_alphanumeric())
                .collect();
            self.at += 2 + rest.len();
            self.out.push_str("(?<");
            self.out.push_str(&rest);
            return Ok(());
        }
        self.at += 1;
        let flags: String = self.chars[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_alphabetic())
            .collect();
        self.at += flags.len();
        if self.peek(0) != ')' || begin != 0 || flags.is_empty() {
            return Err(fault("(?…"));
        }
        self.at += 1;
        for flag in flags.chars() {
            match flag {
                'i' => self.out.push_str("(?i)"),
                's' => self.dot_all = true,
                'm' => self.multi_line = true,
                other => return Err(fault(&format!("(?{other})"))),
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), PatternFault> {
        let c = self.peek(0);
        self.at += 1;
        match c {
            'd' => self.set("", DIGIT),
            'D' => self.set("^", DIGIT),
            'w' => self.set("", WORD),
            'W' => self.set("^", WORD),
            's' => self.set("", SPACE),
            'S' => self.set("^", SPACE),
            'h' => self.set(
                "",
                r" \t\x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}",
            ),
            'b' | 'B' | 'A' | 'z' => self.out.extend(['\\', c]),
            'Z' => self.out.push_str(AT_END),
            'R' => self
                .out
                .push_str(r"(?:\r\n|[\n\x0B\f\r\x{85}\x{2028}\x{2029}])"),
            'Q' => {
                while self.at < self.chars.len() && !(self.peek(0) == '\\' && self.peek(1) == 'E') {
                    let c = self.peek(0);
                    self.at += 1;
                    self.literal(c);
                }
                self.at = (self.at + 2).min(self.chars.len());
            }
            'p' | 'P' => {
                let set = self.property()?;
                self.set(if c == 'P' { "^" } else { "" }, set);
            }
            '1'..='9' if !self.peek(0).is_ascii_digit() => self.out.extend(['\\', c]),
            'k' if self.peek(0) == '<' => self.out.push_str("\\k"),
            _ => {
                let c = self.character(c)?;
                self.literal(c);
            }
        }
        Ok(())
    }

    /// The character of an escape that stands for one.
    fn character(&mut self, c: char) -> Result<char, PatternFault> {
        let mut hexadecimal = |count: usize| {
            let digits: String = self.chars[self.at.min(self.chars.len())..]
                .iter()
                .take(count)
                .collect();
            self.at += count;
            let code = u32::from_str_radix(&digits, 16)
                .ok()
                .filter(|_| digits.len() == count);
            code.and_then(char::from_u32)
                .ok_or_else(|| fault(&format!("\\{c}{digits}")))
        };
        match c {
            'n' => Ok('\n'),
            't' => Ok('\t'),
            'r' => Ok('\r'),
            'f' => Ok('\u{c}'),
            'a' => Ok('\u{7}'),
            'e' => Ok('\u{1b}'),
            'x' => hexadecimal(2),
            'u' => hexadecimal(4),
            '\0' => Err(fault("\\")),
            c if c.is_ascii_alphanumeric() => Err(fault(&format!("\\{c}"))),
            c => Ok(c),
        }
    }

    fn property(&mut self) -> Result<&'static str, PatternFault> {
        let name: String = match self.peek(0) {
            '{' => self.chars[self.at + 1..]
                .iter()
                .take_while(|c| **c != '}')
                .collect(),
            c => c.into(),
        };
        let known = POSIX.iter().find(|(known, _)| *known == name);
        let (_, set) = known.ok_or_else(|| fault(&format!("\\p{{{name}}}")))?;
        self.at += name.chars().count() + 2;
        Ok(set)
    }

    fn set(&mut self, not: &str, set: &str) {
        self.out.extend(["[", not, set, "]"]);
    }

    fn literal(&mut self, c: char) {
        match c {
            c if c.is_ascii_punctuation() => self.out.extend(['\\', c]),
            c if c.is_ascii_control() => self.out.push_str(&format!("\\x{{{:x}}}", c as u32)),
            c => self.out.push(c),
        }
    }

    /// A class of characters, behind its `[`.
    fn class(&mut self, depth: u32) -> Result<(), PatternFault> {
        if depth > 8 {
            return Err(fault("["));
        }
        self.out.push('[');
        if self.peek(0) == '^' {
            self.at += 1;
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            if self.at >= self.chars.len() {
                return Err(fault("["));
            }
            let c = self.peek(0);
            self.at += 1;
            match c {
                ']' if !is_first => break,
                '[' => self.class(depth + 1)?,
                '&' if self.peek(0) == '&' => return Err(fault("&&")),
                '\\' => match self.peek(0) {
                    'd' | 'w' | 's' => {
                        let set = match self.peek(0) {
                            'd' => DIGIT,
                            'w' => WORD,
                            _ => SPACE,
                        };
                        self.at += 1;
                        self.out.push_str(set);
                    }
                    'D' | 'W' | 'S' => self.escape()?,
                    'p' => {
                        self.at += 1;
                        let set = self.property()?;
                        self.out.push_str(set);
                    }
                    c => {
                        self.at += 1;
                        let c = self.character(c)?;
                        self.literal(c);
                    }
                },
                // A hyphen stays one where it stands between others.
                '-' => self.out.push_str(if is_first || self.peek(0) == ']' {
                    "\\-"
                } else {
                    "-"
                }),
                c => self.literal(c),
            }
            is_first = false;
        }
        self.out.push(']');
        Ok(())
    }
}

fn fault(what: &str) -> PatternFault {
    PatternFault(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(java: &str, expected: &str) {
        assert_eq!(portable(java).as_deref(), Ok(expected), "{java}");
    }

    #[test]
    fn what_means_the_same_stays() {
        check("a+?(b|c){2,3}", "a+?(b|c){2,3}");
        check("(?i)x(?:y)(?<n>z)(?=w)", "(?i)x(?:y)(?<n>z)(?=w)");
        check(r"\.\[\}", r"\.\[\}");
    }

    #[test]
    fn classes_are_those_of_ascii() {
        check(r"\d[\w.-]", r"[0-9][a-zA-Z_0-9\.\-]");
        check(r"\p{Alpha}", "[a-zA-Z]");
        check(r"\Qa.b\E", r"a\.b");
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (java, what) in [
            (r"\G", "\\G"),
            ("[a&&b]", "&&"),
            ("(?x)a", "(?x)"),
            ("a{", "{"),
        ] {
            assert_eq!(portable(java), Err(PatternFault(what.into())), "{java}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(java in "\\PC{0,20}", signs in "[\\\\\\[\\](){}?<a-zQE:^$.&|-]{0,20}") {
            let _ = portable(&java);
            let _ = portable(&signs);
        }
    }
}
