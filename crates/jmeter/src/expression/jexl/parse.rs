//! The parser of JEXL: one function per level of its grammar.

use std::rc::Rc;

use super::token::{Placed, Token, tokens};
use super::tree::{Expr, JexlKind, Lambda, Operator, Statement};
use super::value::Value;
use super::{Dialect, Refusal};

/// Deepest tree.
const MOST_DEPTH: u16 = 120;
/// Deepest nesting of the text.
const MOST_NESTING: u32 = 40;

/// Words of the language: no variable has such a name.
const WORDS: &[&str] = &[
    "if", "else", "for", "while", "do", "new", "var", "empty", "size", "null", "true", "false",
    "return", "function", "break", "continue", "and", "or", "eq", "ne", "gt", "ge", "lt", "le",
    "div", "mod", "not", "NaN",
];

/// Signs and words that JEXL 2 does not have.
const LATER: &[&str] = &[
    "??", "=^", "!^", "=$", "!$", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "...", "->",
    "do", "function", "break", "continue", "NaN", "?.", "..",
];

/// A level of binary operators.
type Level = &'static [(&'static str, Operator)];

const EQUALITY: Level = &[
    ("==", Operator::Equal),
    ("eq", Operator::Equal),
    ("!=", Operator::Unequal),
    ("ne", Operator::Unequal),
    ("..", Operator::Range),
];
const RELATIONAL: Level = &[
    ("<", Operator::Less),
    ("lt", Operator::Less),
    (">", Operator::Greater),
    ("gt", Operator::Greater),
    ("<=", Operator::LessOrEqual),
    ("le", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("ge", Operator::GreaterOrEqual),
    ("=~", Operator::Matches),
    ("!~", Operator::NotMatches),
    ("=^", Operator::StartsWith),
    ("!^", Operator::NotStartsWith),
    ("=$", Operator::EndsWith),
    ("!$", Operator::NotEndsWith),
];
const ADDITIVE: Level = &[("+", Operator::Add), ("-", Operator::Subtract)];
const MULTIPLICATIVE: Level = &[
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
    ("div", Operator::Divide),
    ("%", Operator::Modulo),
    ("mod", Operator::Modulo),
];
const ASSIGNMENT: &[(&str, Option<Operator>)] = &[
    ("=", None),
    ("+=", Some(Operator::Add)),
    ("-=", Some(Operator::Subtract)),
    ("*=", Some(Operator::Multiply)),
    ("/=", Some(Operator::Divide)),
    ("%=", Some(Operator::Modulo)),
    ("&=", Some(Operator::BitAnd)),
    ("|=", Some(Operator::BitOr)),
    ("^=", Some(Operator::BitXor)),
];

/// A sign or word before a value, and what it makes of it.
type Prefix = (&'static str, fn(Box<Expr>) -> JexlKind);

type Parsed = Result<Expr, Refusal>;

/// The statements of a script.
pub(super) fn script(text: &str, dialect: Dialect) -> Result<Vec<Statement>, Refusal> {
    let tokens = tokens(text, dialect)?;
    let mut parser = Parser {
        end: text.chars().count(),
        tokens,
        at: 0,
        nesting: 0,
        loops: 0,
        dialect,
    };
    let mut found = Vec::new();
    while parser.at < parser.tokens.len() {
        found.push(parser.statement()?);
    }
    Ok(found)
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    /// Number of characters of the text.
    end: usize,
    nesting: u32,
    /// Loops around the current statement.
    loops: u32,
    dialect: Dialect,
}

fn leaf(kind: JexlKind) -> Expr {
    Expr { kind, depth: 1 }
}

fn grown(kind: JexlKind, below: u16) -> Parsed {
    let depth = below + 1;
    if depth > MOST_DEPTH {
        return Err(Refusal::unsupported("an expression this deep"));
    }
    Ok(Expr { kind, depth })
}

fn over(make: impl FnOnce(Box<Expr>) -> JexlKind, a: Expr) -> Parsed {
    let depth = a.depth;
    grown(make(Box::new(a)), depth)
}

fn over_both(make: impl FnOnce(Box<Expr>, Box<Expr>) -> JexlKind, a: Expr, b: Expr) -> Parsed {
    let depth = a.depth.max(b.depth);
    grown(make(Box::new(a), Box::new(b)), depth)
}

fn deepest(all: &[Expr]) -> u16 {
    all.iter().map(|expr| expr.depth).max().unwrap_or(0)
}

impl Parser {
    fn refuse(&self) -> Refusal {
        let placed = self.tokens.get(self.at);
        Refusal::syntax(placed.map_or(self.end, |placed| placed.at))
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|placed| &placed.token)
    }

    /// True if this sign or word of the dialect stands there.
    fn sees_at(&self, ahead: usize, wanted: &str) -> bool {
        if self.dialect == Dialect::Jexl2 && LATER.contains(&wanted) {
            return false;
        }
        match self.peek(ahead) {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Word(word)) => word == wanted,
            _ => false,
        }
    }

    fn sees(&self, wanted: &str) -> bool {
        self.sees_at(0, wanted)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.sees(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Refusal> {
        match self.take(wanted) {
            true => Ok(()),
            false => Err(self.refuse()),
        }
    }

    /// The next of these signs and words, consumed.
    fn one_of<T: Copy>(&mut self, wanted: &[(&'static str, T)]) -> Option<T> {
        let found = wanted.iter().find(|(sign, _)| self.sees(sign))?;
        self.at += 1;
        Some(found.1)
    }

    /// A name that is not a word of the language.
    fn name_at(&self, ahead: usize) -> Option<Rc<str>> {
        match self.peek(ahead) {
            Some(Token::Word(word)) if !WORDS.contains(&word.as_str()) => {
                Some(word.as_str().into())
            }
            _ => None,
        }
    }

    fn name(&mut self) -> Result<Rc<str>, Refusal> {
        let name = self.name_at(0).ok_or_else(|| self.refuse())?;
        self.at += 1;
        Ok(name)
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.nesting += 1;
        if self.nesting > MOST_NESTING {
            return Err(Refusal::unsupported("an expression this deep"));
        }
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn statement(&mut self) -> Result<Statement, Refusal> {
        self.nested(Self::statement_inside)
    }

    fn statement_inside(&mut self) -> Result<Statement, Refusal> {
        if self.take(";") {
            return Ok(Statement::Nothing);
        }
        if self.sees("{") && !self.begins_collection() {
            return self.block().map(Statement::Block);
        }
        if self.take("if") {
            return self.branches();
        }
        if self.take("for") {
            return self.for_each();
        }
        if self.take("while") {
            let condition = self.condition()?;
            let body = self.repeated()?;
            return Ok(Statement::While(condition, Box::new(body)));
        }
        if self.take("do") {
            let body = self.repeated()?;
            self.expect("while")?;
            let condition = self.condition()?;
            return Ok(Statement::DoWhile(Box::new(body), condition));
        }
        if self.take("return") {
            let value = self.expression()?;
            self.end_statement()?;
            return Ok(Statement::Return(value));
        }
        for (word, statement) in [
            ("break", Statement::Break),
            ("continue", Statement::Continue),
        ] {
            if self.loops > 0 && self.take(word) {
                return Ok(statement);
            }
        }
        if self.take("var") {
            let name = self.name()?;
            let value = match self.take("=") {
                true => Some(self.expression()?),
                false => None,
            };
            return Ok(Statement::Var(name, value));
        }
        let value = self.expression()?;
        self.end_statement()?;
        Ok(Statement::Expression(value))
    }

    /// A statement that is an expression ends with `;`, at a block's end or at the text's end.
    fn end_statement(&mut self) -> Result<(), Refusal> {
        let ends = self.take(";") || self.peek(0).is_none() || self.sees("}");
        let before_word = [
            "if", "for", "while", "do", "return", "var", "else", "break", "continue",
        ];
        match ends || before_word.iter().any(|word| self.sees(word)) {
            true => Ok(()),
            false => Err(self.refuse()),
        }
    }

    /// True if a `{` begins a map or set.
    fn begins_collection(&mut self) -> bool {
        let (at, nesting) = (self.at, self.nesting);
        self.at += 1;
        let is_empty = self.sees(":") || self.sees("}");
        let is_collection = is_empty
            || self.expression().is_ok() && (self.sees(":") || self.sees(",") || self.sees("}"));
        (self.at, self.nesting) = (at, nesting);
        is_collection
    }

    fn block(&mut self) -> Result<Vec<Statement>, Refusal> {
        self.expect("{")?;
        let mut found = Vec::new();
        while !self.take("}") {
            found.push(self.statement()?);
        }
        Ok(found)
    }

    fn block_or_statement(&mut self) -> Result<Statement, Refusal> {
        match self.sees("{") {
            true => self.block().map(Statement::Block),
            false => self.statement(),
        }
    }

    fn repeated(&mut self) -> Result<Statement, Refusal> {
        self.loops += 1;
        let body = self.block_or_statement();
        self.loops -= 1;
        body
    }

    fn condition(&mut self) -> Parsed {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn branches(&mut self) -> Result<Statement, Refusal> {
        let mut branches = vec![(self.condition()?, self.block_or_statement()?)];
        loop {
            if !self.take("else") {
                return Ok(Statement::If(branches, None));
            }
            if !self.take("if") {
                let last = self.block_or_statement()?;
                return Ok(Statement::If(branches, Some(Box::new(last))));
            }
            branches.push((self.condition()?, self.block_or_statement()?));
        }
    }

    fn for_each(&mut self) -> Result<Statement, Refusal> {
        self.expect("(")?;
        self.take("var");
        let name = self.name()?;
        self.expect(":")?;
        let items = self.expression()?;
        self.expect(")")?;
        let body = self.repeated()?;
        Ok(Statement::For(name, items, Box::new(body)))
    }

    fn expression(&mut self) -> Parsed {
        self.nested(Self::assignment)
    }

    fn assignment(&mut self) -> Parsed {
        let left = self.conditional()?;
        let Some(operator) = self.one_of(ASSIGNMENT) else {
            return Ok(left);
        };
        match left.kind {
            JexlKind::Name(_) | JexlKind::Hole => {}
            JexlKind::Member(..) | JexlKind::Index(..) if operator.is_none() => {}
            JexlKind::Member(..) | JexlKind::Index(..) => {
                return Err(Refusal::unsupported(
                    "an operator with assignment to a member",
                ));
            }
            _ => return Err(self.refuse()),
        }
        let right = self.expression()?;
        over_both(|a, b| JexlKind::Assign(operator, a, b), left, right)
    }

    fn conditional(&mut self) -> Parsed {
        let condition = self.either()?;
        if self.take("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            let depth = condition.depth.max(yes.depth).max(no.depth);
            let parts = (Box::new(condition), Box::new(yes), Box::new(no));
            return grown(JexlKind::Ternary(parts.0, parts.1, parts.2), depth);
        }
        if self.take("?:") {
            return over_both(JexlKind::Elvis, condition, self.expression()?);
        }
        if self.take("??") {
            return over_both(JexlKind::OrNull, condition, self.expression()?);
        }
        Ok(condition)
    }

    fn either(&mut self) -> Parsed {
        let mut left = self.both()?;
        while self.take("||") || self.take("or") {
            left = over_both(JexlKind::Or, left, self.both()?)?;
        }
        Ok(left)
    }

    fn both(&mut self) -> Parsed {
        let mut left = self.bit_or()?;
        while self.take("&&") || self.take("and") {
            left = over_both(JexlKind::And, left, self.bit_or()?)?;
        }
        Ok(left)
    }

    fn bit_or(&mut self) -> Parsed {
        self.chain(&[("|", Operator::BitOr)], Self::bit_xor)
    }

    fn bit_xor(&mut self) -> Parsed {
        self.chain(&[("^", Operator::BitXor)], Self::bit_and)
    }

    fn bit_and(&mut self) -> Parsed {
        self.chain(&[("&", Operator::BitAnd)], Self::equality)
    }

    fn equality(&mut self) -> Parsed {
        self.pair(EQUALITY, Self::relational)
    }

    fn relational(&mut self) -> Parsed {
        self.pair(RELATIONAL, Self::additive)
    }

    fn additive(&mut self) -> Parsed {
        self.chain(ADDITIVE, Self::multiplicative)
    }

    fn multiplicative(&mut self) -> Parsed {
        self.chain(MULTIPLICATIVE, Self::unary)
    }

    /// Operators of one level, from left to right.
    fn chain(&mut self, level: Level, next: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = next(self)?;
        while let Some(operator) = self.one_of(level) {
            let right = next(self)?;
            left = over_both(|a, b| JexlKind::Binary(operator, a, b), left, right)?;
        }
        Ok(left)
    }

    /// At most one operator of a level.
    fn pair(&mut self, level: Level, next: fn(&mut Self) -> Parsed) -> Parsed {
        let left = next(self)?;
        let Some(operator) = self.one_of(level) else {
            return Ok(left);
        };
        let right = next(self)?;
        over_both(|a, b| JexlKind::Binary(operator, a, b), left, right)
    }

    fn unary(&mut self) -> Parsed {
        self.nested(Self::unary_inside)
    }

    fn unary_inside(&mut self) -> Parsed {
        const PREFIXES: &[Prefix] = &[
            ("-", JexlKind::Minus),
            ("+", JexlKind::Plus),
            ("~", JexlKind::Complement),
            ("!", JexlKind::Not),
            ("not", JexlKind::Not),
            ("empty", JexlKind::Empty),
            ("size", JexlKind::Size),
        ];
        if self.dialect == Dialect::Jexl2 {
            return self.unary_of_jexl2();
        }
        match self.one_of(PREFIXES) {
            Some(make) => over(make, self.unary()?),
            None => self.value(),
        }
    }

    /// JEXL 2 has no `+value`, and asks for the size of references alone.
    fn unary_of_jexl2(&mut self) -> Parsed {
        const PREFIXES: &[Prefix] = &[
            ("-", JexlKind::Minus),
            ("~", JexlKind::Complement),
            ("!", JexlKind::Not),
            ("not", JexlKind::Not),
        ];
        if let Some(make) = self.one_of(PREFIXES) {
            return over(make, self.unary()?);
        }
        let asks: &[Prefix] = &[("empty", JexlKind::Empty), ("size", JexlKind::Size)];
        let Some(make) = self.one_of(asks) else {
            return self.value();
        };
        let operand = self.value()?;
        let inner = match &operand.kind {
            JexlKind::Group(inner) => inner,
            _ => &operand,
        };
        match inner.kind {
            JexlKind::Const(Value::Text(_))
            | JexlKind::Name(_)
            | JexlKind::Member(..)
            | JexlKind::Index(..) => {}
            JexlKind::Method(..) | JexlKind::Map(_) | JexlKind::List(..) | JexlKind::Hole => {}
            _ => return Err(self.refuse()),
        }
        over(make, operand)
    }

    /// A primary expression and the members behind it.
    fn value(&mut self) -> Parsed {
        let mut value = self.primary()?;
        let is_number = matches!(&value.kind, JexlKind::Const(number) if number.is_number());
        if is_number && self.dialect == Dialect::Jexl2 {
            return Ok(value);
        }
        loop {
            let is_new = matches!(value.kind, JexlKind::Method(..) | JexlKind::List(..));
            if self.dialect == Dialect::Jexl2 && is_new && self.sees("[") {
                return Err(self.refuse());
            }
            if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = over_both(JexlKind::Index, value, index)?;
                continue;
            }
            let is_safe = self.sees("?.");
            if !is_safe && !self.sees(".") {
                return Ok(value);
            }
            self.at += 1;
            let name: Rc<str> = match self.peek(0) {
                Some(Token::Word(name) | Token::Text(name)) => name.as_str().into(),
                Some(Token::Hole) => "".into(),
                _ => return Err(self.refuse()),
            };
            self.at += 1;
            if !self.sees("(") {
                value = over(|object| JexlKind::Member(object, name, is_safe), value)?;
                continue;
            }
            let arguments = self.arguments()?;
            let depth = value.depth.max(deepest(&arguments));
            let method = JexlKind::Method(Box::new(value), name, arguments);
            value = grown(method, depth)?;
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Refusal> {
        self.expect("(")?;
        self.list_until(")")
    }

    /// Expressions with commas between them, up to this sign.
    fn list_until(&mut self, end: &str) -> Result<Vec<Expr>, Refusal> {
        let mut found = Vec::new();
        if self.take(end) {
            return Ok(found);
        }
        loop {
            found.push(self.expression()?);
            if self.take(end) {
                return Ok(found);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Parsed {
        if let Some(lambda) = self.lambda()? {
            return Ok(lambda);
        }
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            let mut value = over(JexlKind::Group, inner)?;
            while self.sees("(") {
                let arguments = self.arguments()?;
                let depth = value.depth.max(deepest(&arguments));
                value = grown(JexlKind::Invoke(Box::new(value), arguments), depth)?;
            }
            return Ok(value);
        }
        if self.take("{") {
            return self.collection();
        }
        if self.take("[") {
            return self.array();
        }
        if self.sees("new") && self.sees_at(1, "(") {
            self.at += 1;
            let arguments = self.arguments()?;
            let depth = deepest(&arguments);
            return grown(JexlKind::New(arguments), depth);
        }
        let Some(token) = self.peek(0).cloned() else {
            return Err(self.refuse());
        };
        let kind = match token {
            Token::Number(number) => JexlKind::Const(number),
            Token::Text(text) => JexlKind::Const(Value::text(text)),
            Token::Regex(_) if self.dialect == Dialect::Jexl2 => return Err(self.refuse()),
            Token::Regex(pattern) => JexlKind::Const(Value::Pattern(pattern.into())),
            Token::Hole => JexlKind::Hole,
            Token::Word(word) => match word.as_str() {
                "null" => JexlKind::Const(Value::Null),
                "true" => JexlKind::Const(Value::Flag(true)),
                "false" => JexlKind::Const(Value::Flag(false)),
                "NaN" if self.dialect == Dialect::Jexl3 => JexlKind::Const(Value::Double(f64::NAN)),
                _ => return self.named(),
            },
            Token::Sign(_) => return Err(self.refuse()),
        };
        self.at += 1;
        Ok(leaf(kind))
    }

    fn named(&mut self) -> Parsed {
        let name = self.name()?;
        if self.sees(":") && self.name_at(1).is_some() && self.sees_at(2, "(") {
            // In `a ? b : c()` it is the colon of the ternary, which JEXL knows by its namespaces.
            return Ok(leaf(JexlKind::Name(name)));
        }
        if !self.sees("(") {
            return Ok(leaf(JexlKind::Name(name)));
        }
        let arguments = self.arguments()?;
        let depth = deepest(&arguments);
        grown(JexlKind::Call(name, arguments), depth)
    }

    fn collection(&mut self) -> Parsed {
        if self.sees("}") && self.dialect == Dialect::Jexl2 {
            return Err(self.refuse());
        }
        if self.take("}") {
            return Ok(leaf(JexlKind::Set(Vec::new())));
        }
        if self.take(":") {
            self.expect("}")?;
            return Ok(leaf(JexlKind::Map(Vec::new())));
        }
        let first = self.expression()?;
        if !self.sees(":") && self.dialect == Dialect::Jexl2 {
            return Err(self.refuse());
        }
        if !self.take(":") {
            let mut items = vec![first];
            while self.take(",") {
                items.push(self.expression()?);
            }
            self.expect("}")?;
            let depth = deepest(&items);
            return grown(JexlKind::Set(items), depth);
        }
        let mut entries = vec![(first, self.expression()?)];
        while self.take(",") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
        }
        self.expect("}")?;
        let depths = entries
            .iter()
            .map(|(key, value)| key.depth.max(value.depth));
        let depth = depths.max().unwrap_or(0);
        grown(JexlKind::Map(entries), depth)
    }

    fn array(&mut self) -> Parsed {
        let mut items = Vec::new();
        let mut extends = false;
        if !self.take("]") {
            loop {
                if self.take("...") {
                    extends = true;
                    self.expect("]")?;
                    break;
                }
                items.push(self.expression()?);
                if self.take("]") {
                    break;
                }
                self.expect(",")?;
            }
        }
        let depth = deepest(&items);
        grown(JexlKind::List(items, extends), depth)
    }

    /// `function(a, b) {…}`, `(a, b) -> {…}` or `a -> {…}`.
    fn lambda(&mut self) -> Result<Option<Expr>, Refusal> {
        let begin = self.at;
        let mut parameters = Vec::new();
        let is_function = self.take("function");
        if let (false, Some(name), true) = (is_function, self.name_at(0), self.sees_at(1, "->")) {
            self.at += 1;
            parameters.push(name);
        } else if self.take("(") {
            while let Some(name) = self.name_at(usize::from(self.sees("var"))) {
                self.take("var");
                self.at += 1;
                parameters.push(name);
                self.take(",");
            }
            if !self.take(")") || !is_function && !self.sees("->") {
                self.at = begin;
                return Ok(None);
            }
        } else if is_function {
            return Err(self.refuse());
        } else {
            return Ok(None);
        }
        if !is_function {
            self.expect("->")?;
        }
        let loops = std::mem::take(&mut self.loops);
        let body = self.nested(Self::block);
        self.loops = loops;
        let body = body?;
        Ok(Some(leaf(JexlKind::Lambda(Rc::new(Lambda {
            parameters,
            body,
        })))))
    }
}
