//! Tokens to a tree.

mod expressions;
mod numbers;
mod statements;

use crate::ast::{Import, Tree};
use crate::lexer::{Token, TokenKind, tokens};
use crate::{Dialect, Refusal, RefusalKind};

/// Deepest nesting of statements and expressions.
const MOST_DEPTH: u32 = 64;
/// Most members or operators in a row.
const MOST_ROW: u32 = 100;

/// Names of primitive types.
pub(crate) const PRIMITIVES: &[&str] = &[
    "int", "long", "double", "float", "boolean", "char", "byte", "short", "void",
];

/// Words that are never names of variables.
const KEYWORDS: &[&str] = &[
    "abstract",
    "as",
    "assert",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "extends",
    "false",
    "finally",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "new",
    "null",
    "package",
    "return",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "trait",
    "true",
    "try",
    "void",
    "while",
];

/// The tree of a script. Errors: the first construct that is not understood.
pub(crate) fn parse(source: &str, dialect: Dialect) -> Result<Tree, Refusal> {
    let mut parser = Parser {
        tokens: tokens(source, dialect)?,
        at: 0,
        dialect,
        depth: 0,
    };
    parser.script()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    dialect: Dialect,
    depth: u32,
}

type Parsed<T> = Result<T, Refusal>;

impl Parser {
    fn script(&mut self) -> Parsed<Tree> {
        let mut tree = Tree::default();
        loop {
            while self.takes(";") {}
            if self.kind() == &TokenKind::End {
                return Ok(tree);
            }
            if self.is_word("import") {
                let import = self.import()?;
                tree.imports.push(import);
            } else {
                tree.statements.push(self.statement()?);
            }
        }
    }

    fn import(&mut self) -> Parsed<Import> {
        let line = self.line();
        self.at += 1;
        let mut name = self.name()?;
        let is_static = name == "static";
        if is_static {
            name = self.name()?;
        }
        while self.takes(".") {
            name.push('.');
            if self.takes("*") {
                name.push('*');
                break;
            }
            name.push_str(&self.name()?);
        }
        let alias = match self.takes_word("as") {
            true => Some(self.name()?),
            false => None,
        };
        if self.dialect == Dialect::BeanShell && (is_static || alias.is_some()) {
            return Err(Refusal::new(line, RefusalKind::Construct, "import static"));
        }
        self.end_of_statement()?;
        Ok(Import {
            line,
            name,
            alias,
            is_static,
        })
    }

    fn token(&self) -> &Token {
        // The last token is the end, and nothing moves behind it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> &TokenKind {
        &self.token().kind
    }

    fn ahead(&self, by: usize) -> &TokenKind {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)].kind
    }

    fn line(&self) -> u32 {
        self.token().line
    }

    /// True if the token begins a line, which ends a statement in Groovy.
    fn begins_line(&self) -> bool {
        self.token().begins_line
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), TokenKind::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), TokenKind::Name(found) if found == word)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// A name that is not a keyword.
    fn name(&mut self) -> Parsed<String> {
        match self.kind().clone() {
            TokenKind::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> Refusal {
        let shown = match self.kind() {
            TokenKind::Name(text) | TokenKind::Number(text) => text.clone(),
            TokenKind::Text(text) | TokenKind::Char(text) => format!("\"{text}\""),
            TokenKind::GString(_) => "\"…\"".into(),
            TokenKind::Sign(sign) => (*sign).into(),
            TokenKind::End => return Refusal::new(self.line(), RefusalKind::Incomplete, ""),
        };
        Refusal::new(self.line(), RefusalKind::Syntax, shown)
    }

    fn construct<T>(&self, what: &str) -> Parsed<T> {
        Err(Refusal::new(self.line(), RefusalKind::Construct, what))
    }

    /// Parses a nested part, within the bound on depth.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Refusal::new(
                self.line(),
                RefusalKind::Depth,
                MOST_DEPTH.to_string(),
            ));
        }
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    /// Parses what may fail, and returns to the beginning when it does.
    fn attempt<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let (at, depth) = (self.at, self.depth);
        let parsed = part(self);
        if parsed.is_err() {
            (self.at, self.depth) = (at, depth);
        }
        parsed.ok()
    }

    /// The end of a statement: `;`, a line end, or what closes the block.
    fn end_of_statement(&mut self) -> Parsed<()> {
        if self.takes(";") || self.is("}") || self.kind() == &TokenKind::End || self.begins_line() {
            return Ok(());
        }
        // `if (a) b else c` has no sign between them in Groovy.
        let is_else = matches!(self.kind(), TokenKind::Name(word) if word == "else");
        match is_else && self.dialect == Dialect::Groovy {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// A type without its type arguments: `int`, `java.util.List`, `String[]`.
    fn class_name(&mut self) -> Parsed<String> {
        let mut class = match self.kind().clone() {
            TokenKind::Name(name) if PRIMITIVES.contains(&name.as_str()) => {
                self.at += 1;
                name
            }
            _ => self.name()?,
        };
        while self.is(".") && matches!(self.ahead(1), TokenKind::Name(_)) {
            self.at += 1;
            class.push('.');
            class.push_str(&self.name()?);
        }
        if self.is("<") && self.dialect == Dialect::Groovy {
            self.type_arguments()?;
        }
        while self.is("[") && matches!(self.ahead(1), TokenKind::Sign("]")) {
            self.at += 2;
            class.push_str("[]");
        }
        Ok(class)
    }

    /// Skips `<…>`; what it says has no effect at run time.
    fn type_arguments(&mut self) -> Parsed<()> {
        let mut open = 0_i32;
        loop {
            match self.kind() {
                TokenKind::Sign("<") => open += 1,
                TokenKind::Sign(">") => open -= 1,
                TokenKind::Sign(">>") => open -= 2,
                TokenKind::Sign(">>>") => open -= 3,
                TokenKind::Sign("," | "." | "?" | "[" | "]") | TokenKind::Name(_) => {}
                _ => return Err(self.unexpected()),
            }
            self.at += 1;
            if open <= 0 {
                return Ok(());
            }
        }
    }
}

/// True for a name that can be a type: a primitive one, or one whose last part begins with a capital.
fn looks_like_class(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let last = last.trim_end_matches("[]");
    PRIMITIVES.contains(&last) || last.starts_with(char::is_uppercase)
}
