//! Expressions.

use super::{KEYWORDS, MOST_ROW, PRIMITIVES, Parsed, Parser, looks_like_class};
use crate::ast::{Access, Expr, ExprKind, GPart, Member, Parameter, Statement, StatementKind};
use crate::lexer::{TextPart, Token, TokenKind};
use crate::{Dialect, Refusal, RefusalKind};

/// Binary operators with their strength; stronger ones bind first.
const BINARY: &[(&str, u8)] = &[
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("=~", 6),
    ("==~", 6),
    ("==", 7),
    ("!=", 7),
    ("<=>", 7),
    ("===", 7),
    ("!==", 7),
    ("<", 8),
    (">", 8),
    ("<=", 8),
    (">=", 8),
    ("<<", 9),
    (">>", 9),
    (">>>", 9),
    ("..", 9),
    ("..<", 9),
    ("+", 10),
    ("-", 10),
    ("*", 11),
    ("/", 11),
    ("%", 11),
    ("**", 13),
];
/// Strength of `in`, `instanceof` and `as`.
const RELATION: u8 = 8;
/// Strength of the operands of a unary operator.
const UNARY: u8 = 12;

/// Assignments with an operator, and the operator.
const ASSIGNMENTS: &[(&str, &str)] = &[
    ("=", ""),
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("**=", "**"),
    ("<<=", "<<"),
    (">>=", ">>"),
    ("&=", "&"),
    ("|=", "|"),
    ("^=", "^"),
    ("?=", "?"),
];

fn at(line: u32, kind: ExprKind) -> Expr {
    Expr { line, kind }
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let left = parser.ternary()?;
            let line = left.line;
            let found = ASSIGNMENTS.iter().find(|(sign, _)| parser.is(sign));
            let Some((sign, operator)) = found else {
                return Ok(left);
            };
            let is_target = matches!(
                left.kind,
                ExprKind::Name(_) | ExprKind::Property { .. } | ExprKind::Index { .. }
            );
            // `a ?= b` reads what it names twice, which only a name and its members permit.
            let is_elvis = *operator == "?";
            if !is_target || is_elvis && !is_path(&left) {
                return Err(Refusal::new(line, RefusalKind::Construct, *sign));
            }
            parser.at += 1;
            let mut value = Box::new(parser.expression()?);
            let operator = match is_elvis {
                true => {
                    let before = Box::new(left.clone());
                    value = Box::new(at(line, ExprKind::Elvis(before, value)));
                    &""
                }
                false => operator,
            };
            let to = Box::new(left);
            Ok(at(
                line,
                ExprKind::Assign {
                    to,
                    operator,
                    value,
                },
            ))
        })
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let test = self.binary(1)?;
        let line = test.line;
        if self.takes("?:") {
            let otherwise = self.nested(Self::ternary)?;
            return Ok(at(
                line,
                ExprKind::Elvis(Box::new(test), Box::new(otherwise)),
            ));
        }
        if !self.takes("?") {
            return Ok(test);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        Ok(at(
            line,
            ExprKind::Ternary(Box::new(test), Box::new(then), Box::new(otherwise)),
        ))
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut row = 0;
        loop {
            let line = left.line;
            if RELATION >= least && !self.begins_line() && self.at_relation() {
                row += 1;
                if row > MOST_ROW {
                    return Err(Refusal::new(line, RefusalKind::Depth, MOST_ROW.to_string()));
                }
                left = self.relation(left)?;
                continue;
            }
            let TokenKind::Sign(sign) = *self.kind() else {
                return Ok(left);
            };
            let Some((operator, strength)) = BINARY.iter().find(|(known, _)| *known == sign) else {
                return Ok(left);
            };
            if *strength < least || matches!(sign, "+" | "-") && self.begins_line() {
                return Ok(left);
            }
            row += 1;
            // Sums are carried out in a row; other operators nest.
            if row > MOST_ROW && *operator != "+" || row > 10 * MOST_ROW {
                return Err(Refusal::new(line, RefusalKind::Depth, MOST_ROW.to_string()));
            }
            self.at += 1;
            let right = self.nested(|parser| parser.binary(strength + 1))?;
            let (a, b) = (Box::new(left), Box::new(right));
            left = at(
                line,
                match *operator {
                    ".." => ExprKind::Range {
                        from: a,
                        to: b,
                        inclusive: true,
                    },
                    "..<" => ExprKind::Range {
                        from: a,
                        to: b,
                        inclusive: false,
                    },
                    operator => ExprKind::Binary(operator, a, b),
                },
            );
        }
    }

    /// True at `in`, `as` and `instanceof`, with `!` in front or not.
    fn at_relation(&self) -> bool {
        let word = if self.is("!") {
            self.ahead(1)
        } else {
            self.kind()
        };
        let TokenKind::Name(word) = word else {
            return false;
        };
        match word.as_str() {
            "instanceof" => true,
            "in" => self.dialect == Dialect::Groovy,
            "as" => self.dialect == Dialect::Groovy && !self.is("!"),
            _ => false,
        }
    }

    /// `left in …`, `left instanceof …`, `left as …`.
    fn relation(&mut self, left: Expr) -> Parsed<Expr> {
        let line = left.line;
        let holds = !self.takes("!");
        let left = Box::new(left);
        if self.takes_word("instanceof") {
            let class = self.class_name()?;
            return Ok(at(line, ExprKind::InstanceOf(left, class, holds)));
        }
        if self.takes_word("as") {
            let class = self.class_name()?;
            return Ok(at(line, ExprKind::As(left, class)));
        }
        self.at += 1;
        let right = self.nested(|parser| parser.binary(RELATION + 1))?;
        let found = at(line, ExprKind::Binary("in", left, Box::new(right)));
        Ok(match holds {
            true => found,
            false => at(line, ExprKind::Unary("!", Box::new(found))),
        })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let line = self.line();
        let TokenKind::Sign(sign) = *self.kind() else {
            return self.postfix();
        };
        match sign {
            "++" | "--" => {
                self.at += 1;
                let of = Box::new(self.nested(Self::unary)?);
                Ok(at(
                    line,
                    ExprKind::Step {
                        operator: sign,
                        is_prefix: true,
                        of,
                    },
                ))
            }
            "-" | "+" | "!" | "~" => {
                self.at += 1;
                let of = self.nested(|parser| parser.binary(UNARY))?;
                Ok(at(line, ExprKind::Unary(sign, Box::new(of))))
            }
            "(" => match self.attempt(Self::cast) {
                Some(class) => {
                    let of = self.nested(Self::unary)?;
                    Ok(at(line, ExprKind::Cast(class, Box::new(of))))
                }
                None => self.postfix(),
            },
            _ => self.postfix(),
        }
    }

    /// `(type)` in front of an operand.
    fn cast(&mut self) -> Parsed<String> {
        self.expect("(")?;
        let class = self.class_name()?;
        self.expect(")")?;
        let is_primitive = PRIMITIVES.contains(&class.as_str());
        let has_operand = match self.kind() {
            TokenKind::Name(word) => !matches!(word.as_str(), "in" | "as" | "instanceof"),
            TokenKind::Number(_)
            | TokenKind::Text(_)
            | TokenKind::GString(_)
            | TokenKind::Char(_) => true,
            TokenKind::Sign(sign) => {
                matches!(*sign, "(" | "!" | "~")
                    || *sign == "["
                    || is_primitive && matches!(*sign, "-" | "+")
            }
            TokenKind::End => false,
        };
        match looks_like_class(&class) && has_operand && !self.begins_line() {
            true => Ok(class),
            false => Err(self.unexpected()),
        }
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut left = self.primary()?;
        for _ in 0..MOST_ROW {
            let line = left.line;
            let TokenKind::Sign(sign) = *self.kind() else {
                return Ok(left);
            };
            let same_line = !self.begins_line();
            left = match sign {
                "." | "?." | "*." => self.member(left, sign)?,
                "(" if same_line => self.call_value(left)?,
                "{" if same_line && self.dialect == Dialect::Groovy && is_callable(&left) => {
                    self.call_value(left)?
                }
                "[" if same_line => self.index(left)?,
                "++" | "--" if same_line => {
                    self.at += 1;
                    let of = Box::new(left);
                    at(
                        line,
                        ExprKind::Step {
                            operator: sign,
                            is_prefix: false,
                            of,
                        },
                    )
                }
                ".@" | "*.@" => self.attribute(left, sign)?,
                ".&" | "::" if self.dialect == Dialect::Groovy => self.reference(left)?,
                ".&" | "::" => return self.construct(sign),
                _ => return Ok(left),
            };
        }
        Err(Refusal::new(
            self.line(),
            RefusalKind::Depth,
            MOST_ROW.to_string(),
        ))
    }

    fn member(&mut self, of: Expr, sign: &str) -> Parsed<Expr> {
        self.at += 1;
        let access = match sign {
            "?." => Access::Safe,
            "*." => Access::Spread,
            _ => Access::Plain,
        };
        let line = self.line();
        let name = match self.kind().clone() {
            // Keywords are names behind a dot.
            TokenKind::Name(name) => Member::Fixed(name),
            TokenKind::Text(text) => Member::Fixed(text),
            TokenKind::GString(parts) => Member::Computed(Box::new(self.gstring(line, &parts)?)),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        let of = Box::new(of);
        let same_line = !self.begins_line();
        let has_arguments = self.is("(") || self.is("{") && self.dialect == Dialect::Groovy;
        if has_arguments && same_line {
            let arguments = self.all_arguments()?;
            return Ok(at(
                line,
                ExprKind::Call {
                    of: Some(of),
                    name,
                    access,
                    arguments,
                },
            ));
        }
        Ok(at(line, ExprKind::Property { of, name, access }))
    }

    /// `of::name`, `of.&name`, `Type::new`.
    fn reference(&mut self, of: Expr) -> Parsed<Expr> {
        let line = of.line;
        self.at += 1;
        let TokenKind::Name(name) = self.kind().clone() else {
            return Err(self.unexpected());
        };
        self.at += 1;
        Ok(at(line, ExprKind::Reference(Box::new(of), name)))
    }

    /// `of.@name`: as a call of `@`, which only what stands for XML has.
    fn attribute(&mut self, of: Expr, sign: &str) -> Parsed<Expr> {
        self.at += 1;
        let line = self.line();
        let name = match self.kind().clone() {
            TokenKind::Name(name) | TokenKind::Text(name) => name,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(at(
            line,
            ExprKind::Call {
                of: Some(Box::new(of)),
                name: Member::Fixed("@".into()),
                access: match sign {
                    "*.@" => Access::Spread,
                    _ => Access::Plain,
                },
                arguments: vec![at(line, ExprKind::Text(name))],
            },
        ))
    }

    fn call_value(&mut self, of: Expr) -> Parsed<Expr> {
        let line = of.line;
        let arguments = self.all_arguments()?;
        Ok(at(
            line,
            match of.kind {
                ExprKind::Name(name) => {
                    let (name, access) = (Member::Fixed(name), Access::Plain);
                    ExprKind::Call {
                        of: None,
                        name,
                        access,
                        arguments,
                    }
                }
                _ => ExprKind::CallValue {
                    of: Box::new(of),
                    arguments,
                },
            },
        ))
    }

    fn index(&mut self, of: Expr) -> Parsed<Expr> {
        let line = of.line;
        self.at += 1;
        let mut items = Vec::new();
        while !self.is("]") {
            items.push(self.item()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]")?;
        if items.is_empty() {
            return Err(self.unexpected());
        }
        Ok(at(
            line,
            ExprKind::Index {
                of: Box::new(of),
                at: items,
            },
        ))
    }

    /// Arguments in brackets and a closure behind them.
    fn all_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.takes("(") {
            arguments = self.arguments(")")?;
            self.expect(")")?;
        }
        while self.is("{") && !self.begins_line() && self.dialect == Dialect::Groovy {
            arguments.push(self.closure()?);
        }
        Ok(arguments)
    }

    /// Arguments up to a sign; named ones become a map in front.
    fn arguments(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let line = self.line();
        let (mut named, mut arguments) = (Vec::new(), Vec::new());
        while end.is_empty() || !self.is(end) {
            match self.attempt(Self::map_key) {
                Some(key) => named.push((key, self.expression()?)),
                None => arguments.push(self.item()?),
            }
            if !self.takes(",") {
                break;
            }
        }
        if !named.is_empty() {
            arguments.insert(0, at(line, ExprKind::Map(named)));
        }
        Ok(arguments)
    }

    /// An expression, or `*list`.
    fn item(&mut self) -> Parsed<Expr> {
        let line = self.line();
        if self.takes("*") {
            let list = self.expression()?;
            return Ok(at(line, ExprKind::Spread(Box::new(list))));
        }
        self.expression()
    }

    /// Arguments without brackets: `log.info "text"`.
    pub(super) fn command(&mut self, of: Expr) -> Parsed<Expr> {
        let begins = match self.kind() {
            TokenKind::Text(_) | TokenKind::GString(_) | TokenKind::Number(_) => true,
            TokenKind::Name(word) => {
                !KEYWORDS.contains(&word.as_str())
                    || matches!(word.as_str(), "new" | "null" | "true" | "false")
            }
            _ => false,
        };
        if !begins || self.begins_line() || self.dialect == Dialect::BeanShell {
            return Ok(of);
        }
        let line = of.line;
        match of.kind {
            ExprKind::Name(name) => {
                let (name, access) = (Member::Fixed(name), Access::Plain);
                let arguments = self.arguments("")?;
                Ok(at(
                    line,
                    ExprKind::Call {
                        of: None,
                        name,
                        access,
                        arguments,
                    },
                ))
            }
            ExprKind::Property { of, name, access } => {
                let arguments = self.arguments("")?;
                Ok(at(
                    line,
                    ExprKind::Call {
                        of: Some(of),
                        name,
                        access,
                        arguments,
                    },
                ))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let line = self.line();
        if self.dialect == Dialect::Groovy && self.begins_lambda() {
            return self.lambda();
        }
        let kind = match self.kind().clone() {
            TokenKind::Number(text) => {
                self.at += 1;
                self.number(line, &text)?
            }
            TokenKind::Text(text) => {
                self.at += 1;
                ExprKind::Text(text)
            }
            TokenKind::Char(text) => {
                self.at += 1;
                ExprKind::Char(text)
            }
            TokenKind::GString(parts) => {
                self.at += 1;
                return self.gstring(line, &parts);
            }
            TokenKind::Name(word) => return self.word(line, &word),
            TokenKind::Sign("(") => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                // A command needs no brackets, but brackets end a row of members.
                return Ok(inner);
            }
            TokenKind::Sign("[") if self.dialect == Dialect::Groovy => return self.list_or_map(),
            TokenKind::Sign("{") if self.dialect == Dialect::Groovy => return self.closure(),
            _ => return Err(self.unexpected()),
        };
        Ok(at(line, kind))
    }

    fn word(&mut self, line: u32, word: &str) -> Parsed<Expr> {
        let kind = match word {
            "null" => ExprKind::Null,
            "true" | "false" => ExprKind::Bool(word == "true"),
            "new" => {
                self.at += 1;
                return self.new_object(line);
            }
            "this" if self.dialect == Dialect::Groovy => ExprKind::This,
            "this" | "super" => return self.construct(word),
            _ if PRIMITIVES.contains(&word) && word != "void" => ExprKind::Class(word.into()),
            _ if KEYWORDS.contains(&word) => return Err(self.unexpected()),
            _ => ExprKind::Name(word.into()),
        };
        self.at += 1;
        if matches!(self.kind(), TokenKind::Sign("->")) {
            return self.construct("->");
        }
        Ok(at(line, kind))
    }

    fn new_object(&mut self, line: u32) -> Parsed<Expr> {
        let class = {
            let mut class = match self.kind().clone() {
                TokenKind::Name(name) if PRIMITIVES.contains(&name.as_str()) => {
                    self.at += 1;
                    name
                }
                _ => self.name()?,
            };
            while self.takes(".") {
                class.push('.');
                class.push_str(&self.name()?);
            }
            class
        };
        if self.is("<") {
            self.type_arguments()?;
        }
        if self.takes("[") {
            return self.new_array(line, class);
        }
        if !self.is("(") {
            return Err(self.unexpected());
        }
        self.at += 1;
        let arguments = self.arguments(")")?;
        self.expect(")")?;
        if self.is("{") && !self.begins_line() {
            return self.construct("new … { … }");
        }
        Ok(at(line, ExprKind::New { class, arguments }))
    }

    fn new_array(&mut self, line: u32, class: String) -> Parsed<Expr> {
        if self.takes("]") {
            let items = self.array_items()?;
            return Ok(at(
                line,
                ExprKind::NewArray {
                    class,
                    length: None,
                    items,
                },
            ));
        }
        let length = Some(Box::new(self.expression()?));
        self.expect("]")?;
        if self.is("[") {
            return self.construct("new …[][]");
        }
        Ok(at(
            line,
            ExprKind::NewArray {
                class,
                length,
                items: Vec::new(),
            },
        ))
    }

    /// `{a, b}` of an array.
    pub(super) fn array_items(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("{")?;
        let mut items = Vec::new();
        while !self.is("}") {
            items.push(self.expression()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(items)
    }

    fn list_or_map(&mut self) -> Parsed<Expr> {
        let line = self.line();
        self.expect("[")?;
        if self.takes(":") {
            self.expect("]")?;
            return Ok(at(line, ExprKind::Map(Vec::new())));
        }
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        while !self.is("]") {
            if self.is("*") && matches!(self.ahead(1), TokenKind::Sign(":")) {
                let line = self.line();
                self.at += 2;
                let all = self.expression()?;
                let null = Box::new(at(line, ExprKind::Null));
                entries.push((at(line, ExprKind::Spread(null)), all));
                if !self.takes(",") {
                    break;
                }
                continue;
            }
            match self.attempt(Self::map_key) {
                Some(key) => entries.push((key, self.expression()?)),
                None => items.push(self.item()?),
            }
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]")?;
        match (entries.is_empty(), items.is_empty()) {
            (true, _) => Ok(at(line, ExprKind::List(items))),
            (false, true) => Ok(at(line, ExprKind::Map(entries))),
            (false, false) => Err(self.unexpected()),
        }
    }

    /// `key:`
    fn map_key(&mut self) -> Parsed<Expr> {
        let line = self.line();
        let key = match self.kind().clone() {
            TokenKind::Name(name) => {
                self.at += 1;
                at(line, ExprKind::Text(name))
            }
            TokenKind::Text(_) | TokenKind::GString(_) | TokenKind::Number(_)
                if matches!(self.ahead(1), TokenKind::Sign(":")) =>
            {
                self.primary()?
            }
            TokenKind::Sign("(") if self.closes_before(":") => {
                self.at += 1;
                let key = self.expression()?;
                self.expect(")")?;
                key
            }
            _ => return Err(self.unexpected()),
        };
        self.expect(":")?;
        Ok(key)
    }

    /// True at an opening bracket whose closing one is followed by a sign.
    fn closes_before(&self, sign: &str) -> bool {
        let mut open = 0;
        for ahead in 0.. {
            match self.ahead(ahead) {
                TokenKind::Sign("(" | "[" | "{") => open += 1,
                TokenKind::Sign(")" | "]" | "}") => open -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            if open == 0 {
                return matches!(self.ahead(ahead + 1), TokenKind::Sign(found) if *found == sign);
            }
        }
        false
    }

    /// True at the parameters of a closure: `->` comes before the end of its first statement.
    fn has_parameters(&self) -> bool {
        let mut open = 0;
        for ahead in 0.. {
            match self.ahead(ahead) {
                TokenKind::Sign("->") if open == 0 => return true,
                TokenKind::Sign(";") if open == 0 => return false,
                TokenKind::Sign("(" | "[" | "{") => open += 1,
                TokenKind::Sign(")" | "]" | "}") => {
                    open -= 1;
                    if open < 0 {
                        return false;
                    }
                }
                TokenKind::End => return false,
                _ => {}
            }
        }
        false
    }

    /// True at `name ->` and `(…) ->`.
    fn begins_lambda(&self) -> bool {
        match self.kind() {
            TokenKind::Name(word) if !KEYWORDS.contains(&word.as_str()) => {
                matches!(self.ahead(1), TokenKind::Sign("->"))
            }
            TokenKind::Sign("(") => self.is_behind_brackets(0, "->"),
            _ => false,
        }
    }

    /// `x -> value`, `(x, y) -> { … }`: a closure with these parameters.
    fn lambda(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let line = parser.line();
            let parameters = match parser.takes("(") {
                true => {
                    let parameters = parser.parameters(")")?;
                    parser.expect(")")?;
                    parameters
                }
                false => {
                    let (name, class) = (parser.name()?, String::new());
                    vec![Parameter {
                        name,
                        class,
                        otherwise: None,
                    }]
                }
            };
            parser.expect("->")?;
            let body = match parser.takes("{") {
                true => parser.closure_body()?,
                false => {
                    let value = parser.expression()?;
                    let (line, kind) = (value.line, StatementKind::Expression(value));
                    vec![Statement { line, kind }]
                }
            };
            let parameters = Some(parameters);
            Ok(at(line, ExprKind::Closure { parameters, body }))
        })
    }

    fn closure(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let line = parser.line();
            parser.expect("{")?;
            let parameters = match parser.has_parameters() {
                true => {
                    let parameters = parser.parameters("->")?;
                    parser.expect("->")?;
                    Some(parameters)
                }
                false => None,
            };
            let body = parser.closure_body()?;
            Ok(at(line, ExprKind::Closure { parameters, body }))
        })
    }

    fn gstring(&mut self, line: u32, parts: &[TextPart]) -> Parsed<Expr> {
        let mut parsed = Vec::new();
        for part in parts {
            parsed.push(match part {
                TextPart::Text(text) => GPart::Text(text.clone()),
                TextPart::Code(tokens) => GPart::Value(self.inner(line, tokens.clone())?),
            });
        }
        Ok(at(line, ExprKind::GString(parsed)))
    }

    /// The expression of tokens inside a text.
    fn inner(&mut self, line: u32, tokens: Vec<Token>) -> Parsed<Expr> {
        let mut inner = Parser {
            tokens,
            at: 0,
            dialect: self.dialect,
            depth: self.depth + 1,
        };
        if inner.kind() == &TokenKind::End || inner.is("->") {
            return Err(Refusal::new(line, RefusalKind::Construct, "${}"));
        }
        let value = inner.expression()?;
        match inner.kind() {
            TokenKind::End => Ok(value),
            _ => Err(inner.unexpected()),
        }
    }
}

/// True if a closure behind the expression is an argument of its call.
fn is_callable(of: &Expr) -> bool {
    matches!(of.kind, ExprKind::Name(_))
}

/// True for a name, and for members of it in a row.
fn is_path(of: &Expr) -> bool {
    match &of.kind {
        ExprKind::Name(_) => true,
        ExprKind::Property {
            of,
            name: Member::Fixed(_),
            access: Access::Plain,
        } => is_path(of),
        _ => false,
    }
}
