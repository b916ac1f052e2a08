//! Statements.

use super::{Parsed, Parser, looks_like_class};
use crate::Dialect;
use crate::ast::{Catch, Expr, ExprKind, Method, Parameter, Statement, StatementKind};
use crate::lexer::TokenKind;

impl Parser {
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let line = parser.line();
            let kind = parser.statement_kind()?;
            Ok(Statement { line, kind })
        })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let word = match self.kind() {
            TokenKind::Name(word) => word.clone(),
            TokenKind::Sign("{") if self.dialect == Dialect::BeanShell => {
                return Ok(StatementKind::Block(self.block()?));
            }
            TokenKind::Sign(";") => {
                self.at += 1;
                return Ok(StatementKind::Block(Vec::new()));
            }
            TokenKind::Sign("{") => return self.construct("{ … }"),
            TokenKind::Sign("@") => return self.construct("@"),
            TokenKind::Sign("(") => {
                if let Some(many) = self.attempt(Self::assign_many) {
                    return Ok(many);
                }
                return self.expression_statement();
            }
            _ => return self.expression_statement(),
        };
        match word.as_str() {
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "do" => self.do_statement(),
            "for" => self.for_statement(),
            "switch" => self.switch_statement(),
            "try" => self.try_statement(),
            "throw" => {
                self.at += 1;
                let value = self.expression()?;
                self.end_of_statement()?;
                Ok(StatementKind::Throw(value))
            }
            "return" => self.return_statement(),
            "break" | "continue" => {
                self.at += 1;
                if matches!(self.kind(), TokenKind::Name(_)) && !self.begins_line() {
                    return self.construct("break LABEL");
                }
                self.end_of_statement()?;
                Ok(match word.as_str() {
                    "break" => StatementKind::Break,
                    _ => StatementKind::Continue,
                })
            }
            "assert" => self.assert_statement(),
            "class" | "interface" | "enum" | "trait" | "package" | "synchronized" | "import"
            | "abstract" => self.construct(&word),
            _ => self.declaration_or_expression(),
        }
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.expect("{")?;
        let mut statements = Vec::new();
        loop {
            while self.takes(";") {}
            if self.takes("}") {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }

    /// A block, or one statement.
    fn body(&mut self) -> Parsed<Statement> {
        let line = self.line();
        if self.is("{") {
            let kind = StatementKind::Block(self.block()?);
            return Ok(Statement { line, kind });
        }
        self.statement()
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let test = self.expression()?;
        self.expect(")")?;
        Ok(test)
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let test = self.condition()?;
        let then = Box::new(self.body()?);
        let at = self.at;
        while self.takes(";") {}
        if self.takes_word("else") {
            return Ok(StatementKind::If(test, then, Some(Box::new(self.body()?))));
        }
        self.at = at;
        Ok(StatementKind::If(test, then, None))
    }

    fn while_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let test = self.condition()?;
        Ok(StatementKind::While(test, Box::new(self.body()?)))
    }

    fn do_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let body = Box::new(self.body()?);
        if !self.takes_word("while") {
            return Err(self.unexpected());
        }
        let test = self.condition()?;
        self.end_of_statement()?;
        Ok(StatementKind::DoWhile(body, test))
    }

    fn for_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        self.expect("(")?;
        if let Some((class, name)) = self.attempt(Self::loop_variable) {
            let of = self.expression()?;
            self.expect(")")?;
            let body = Box::new(self.body()?);
            return Ok(StatementKind::ForIn {
                class,
                name,
                of,
                body,
            });
        }
        let mut before = Vec::new();
        if !self.takes(";") {
            before.push(self.statement()?);
        }
        let test = if self.is(";") {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(";")?;
        let mut after = Vec::new();
        while !self.is(")") {
            after.push(self.expression()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")")?;
        let body = Box::new(self.body()?);
        Ok(StatementKind::For {
            before,
            test,
            after,
            body,
        })
    }

    /// `Type name in`, `name :` and so on.
    fn loop_variable(&mut self) -> Parsed<(String, String)> {
        while self.takes_word("final") {}
        let mut class = String::new();
        if self.is_word("def") || self.is_word("var") {
            self.at += 1;
        } else if let Some(found) = self.attempt(|parser| {
            let class = parser.class_name()?;
            match parser.kind() {
                TokenKind::Name(word) if word != "in" => Ok(class),
                _ => Err(parser.unexpected()),
            }
        }) {
            class = found;
        }
        let name = self.name()?;
        match self.takes(":") || self.takes_word("in") {
            true => Ok((class, name)),
            false => Err(self.unexpected()),
        }
    }

    fn switch_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let of = self.condition()?;
        self.expect("{")?;
        let mut cases: Vec<(Option<Expr>, Vec<Statement>)> = Vec::new();
        loop {
            while self.takes(";") {}
            if self.takes("}") {
                return Ok(StatementKind::Switch { of, cases });
            }
            if self.takes_word("case") {
                let value = self.expression()?;
                self.expect(":")?;
                cases.push((Some(value), Vec::new()));
            } else if self.is_word("default") {
                self.at += 1;
                self.expect(":")?;
                cases.push((None, Vec::new()));
            } else {
                let statement = self.statement()?;
                match cases.last_mut() {
                    Some((_, statements)) => statements.push(statement),
                    None => return Err(self.unexpected()),
                }
            }
        }
    }

    fn try_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        if self.is("(") {
            return self.construct("try (…)");
        }
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.takes_word("catch") {
            self.expect("(")?;
            while self.takes_word("final") {}
            let mut classes = Vec::new();
            // Groovy permits a name alone.
            if !matches!(self.ahead(1), TokenKind::Sign(")")) {
                classes.push(self.class_name()?);
                while self.takes("|") {
                    classes.push(self.class_name()?);
                }
            }
            let name = self.name()?;
            self.expect(")")?;
            let body = self.block()?;
            catches.push(Catch {
                classes,
                name,
                body,
            });
        }
        let finally = match self.takes_word("finally") {
            true => Some(self.block()?),
            false => None,
        };
        if catches.is_empty() && finally.is_none() {
            return Err(self.unexpected());
        }
        Ok(StatementKind::Try {
            body,
            catches,
            finally,
        })
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let is_bare =
            self.is(";") || self.is("}") || self.kind() == &TokenKind::End || self.begins_line();
        let value = if is_bare {
            None
        } else {
            Some(self.expression()?)
        };
        self.end_of_statement()?;
        Ok(StatementKind::Return(value))
    }

    fn assert_statement(&mut self) -> Parsed<StatementKind> {
        if self.dialect == Dialect::BeanShell {
            return self.construct("assert");
        }
        self.at += 1;
        let test = self.expression()?;
        let says = match self.takes(":") || self.takes(",") {
            true => Some(self.expression()?),
            false => None,
        };
        self.end_of_statement()?;
        Ok(StatementKind::Assert(test, says))
    }

    fn declaration_or_expression(&mut self) -> Parsed<StatementKind> {
        let mut is_declared = false;
        while [
            "def",
            "final",
            "var",
            "private",
            "public",
            "protected",
            "static",
        ]
        .iter()
        .any(|word| {
            self.is_word(word) && matches!(self.ahead(1), TokenKind::Name(_) | TokenKind::Sign("("))
        }) {
            is_declared |= !self.is_word("static");
            self.at += 1;
        }
        if is_declared && self.is("(") {
            return self.declare_many();
        }
        let class = self.attempt(Self::declared_class);
        if let Some(class) = class {
            return self.declaration(if class == "def" || class == "var" {
                String::new()
            } else {
                class
            });
        }
        if is_declared {
            return self.declaration(String::new());
        }
        if self.dialect == Dialect::BeanShell && self.is_untyped_method() {
            let name = self.name()?;
            return self.method(String::new(), name);
        }
        self.expression_statement()
    }

    /// A type in front of a name.
    fn declared_class(&mut self) -> Parsed<String> {
        let class = self.class_name()?;
        let is_name = matches!(self.kind(), TokenKind::Name(word)
            if !matches!(word.as_str(), "in" | "as" | "instanceof"));
        match is_name && looks_like_class(&class) && !self.begins_line() {
            true => Ok(class),
            false => Err(self.unexpected()),
        }
    }

    /// True at `name(…) {`.
    fn is_untyped_method(&self) -> bool {
        matches!(self.ahead(1), TokenKind::Sign("(")) && self.is_behind_brackets(1, "{")
    }

    /// True if this sign follows the brackets that open so many tokens ahead.
    pub(super) fn is_behind_brackets(&self, from: usize, sign: &str) -> bool {
        let mut open = 0;
        for ahead in from.. {
            match self.ahead(ahead) {
                TokenKind::Sign("(") => open += 1,
                TokenKind::Sign(")") => open -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            if open == 0 {
                return matches!(self.ahead(ahead + 1), TokenKind::Sign(found) if *found == sign);
            }
        }
        false
    }

    fn declaration(&mut self, class: String) -> Parsed<StatementKind> {
        if let TokenKind::Text(text) = self.kind() {
            return self.construct(&format!("def '{text}'"));
        }
        let name = self.name()?;
        if self.is("(") {
            return self.method(class, name);
        }
        let mut names = vec![(name, self.initial(&class)?)];
        while self.takes(",") {
            let name = self.name()?;
            names.push((name, self.initial(&class)?));
        }
        self.end_of_statement()?;
        Ok(StatementKind::Declare { class, names })
    }

    fn initial(&mut self, class: &str) -> Parsed<Option<Expr>> {
        if !self.takes("=") {
            return Ok(None);
        }
        let (line, is_array) = (self.line(), class.ends_with("[]") && self.is("{"));
        match is_array && self.dialect == Dialect::BeanShell {
            true => {
                let class = class.trim_end_matches("[]").to_owned();
                let items = self.array_items()?;
                let kind = ExprKind::NewArray {
                    class,
                    length: None,
                    items,
                };
                Ok(Some(Expr { line, kind }))
            }
            false => self.expression().map(Some),
        }
    }

    /// `def (a, int b) = list`.
    fn declare_many(&mut self) -> Parsed<StatementKind> {
        self.expect("(")?;
        let mut names = Vec::new();
        loop {
            let class = self.attempt(Self::declared_class).unwrap_or_default();
            names.push((class, self.name()?));
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")")?;
        self.expect("=")?;
        let value = self.expression()?;
        self.end_of_statement()?;
        Ok(StatementKind::DeclareMany {
            names,
            value,
            is_new: true,
        })
    }

    /// `(a, b) = list`.
    fn assign_many(&mut self) -> Parsed<StatementKind> {
        match self.declare_many()? {
            StatementKind::DeclareMany { names, value, .. } => Ok(StatementKind::DeclareMany {
                names,
                value,
                is_new: false,
            }),
            other => Ok(other),
        }
    }

    fn method(&mut self, class: String, name: String) -> Parsed<StatementKind> {
        self.expect("(")?;
        let parameters = self.parameters(")")?;
        self.expect(")")?;
        if self.takes_word("throws") {
            self.class_name()?;
            while self.takes(",") {
                self.class_name()?;
            }
        }
        let body = self.block()?;
        Ok(StatementKind::Method(Method {
            name,
            class,
            parameters,
            body,
        }))
    }

    /// Parameters up to a sign, which is not consumed.
    pub(super) fn parameters(&mut self, end: &str) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.is(end) {
            while self.takes_word("final") {}
            let mut class = String::new();
            if self.is_word("def") || self.is_word("var") {
                self.at += 1;
            } else if let Some(found) = self.attempt(Self::declared_class) {
                class = found;
            }
            let name = self.name()?;
            let otherwise = match self.takes("=") {
                true => Some(self.expression()?),
                false => None,
            };
            parameters.push(Parameter {
                name,
                class,
                otherwise,
            });
            if !self.takes(",") {
                break;
            }
        }
        Ok(parameters)
    }

    fn expression_statement(&mut self) -> Parsed<StatementKind> {
        let expression = self.expression()?;
        let expression = self.command(expression)?;
        self.end_of_statement()?;
        Ok(StatementKind::Expression(expression))
    }

    /// Statements of a closure, up to `}`, which is consumed.
    pub(super) fn closure_body(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.takes(";") {}
            if self.takes("}") {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }
}
