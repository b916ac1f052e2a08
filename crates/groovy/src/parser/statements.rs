//! Statements.

use super::{Parsed, Parser, looks_like_class};
use crate::ast::{
    Access, Catch, ClassDefinition, ClassMethod, Expr, ExprKind, Field, Member, Method, Parameter,
    Statement, StatementKind,
};
use crate::lexer::TokenKind;
use crate::{Dialect, Refusal, RefusalKind};

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
            TokenKind::Sign("@") => return self.annotated(),
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
                let is_labeled = matches!(self.kind(), TokenKind::Name(_)) && !self.begins_line();
                let label = match is_labeled {
                    true => Some(self.name()?),
                    false => None,
                };
                self.end_of_statement()?;
                Ok(match word.as_str() {
                    "break" => StatementKind::Break(label),
                    _ => StatementKind::Continue(label),
                })
            }
            "assert" => self.assert_statement(),
            "synchronized" if matches!(self.ahead(1), TokenKind::Sign("(")) => {
                self.at += 1;
                let of = self.condition()?;
                Ok(StatementKind::Synchronized(of, self.block()?))
            }
            "class" if self.dialect == Dialect::Groovy => self.class_definition(),
            "class" | "interface" | "enum" | "trait" | "package" | "synchronized" | "import"
            | "abstract" => self.construct(&word),
            _ if matches!(self.ahead(1), TokenKind::Sign(":")) => self.labeled(word),
            _ => self.declaration_or_expression(),
        }
    }

    /// `name: for …`; of what is no loop a label has no use.
    fn labeled(&mut self, name: String) -> Parsed<StatementKind> {
        let loops = ["for", "while", "do"];
        let is_loop =
            matches!(self.ahead(2), TokenKind::Name(word) if loops.contains(&word.as_str()));
        if !is_loop {
            return self.construct(&format!("{name}:"));
        }
        self.at += 2;
        Ok(StatementKind::Labeled(name, Box::new(self.statement()?)))
    }

    /// `@Field` in front of a declaration, which makes it one of the whole script.
    fn annotated(&mut self) -> Parsed<StatementKind> {
        let line = self.line();
        self.at += 1;
        let name = self.class_name()?;
        let is_field = matches!(name.as_str(), "Field" | "groovy.transform.Field");
        if !is_field || self.is("(") {
            return Err(Refusal::new(
                line,
                RefusalKind::Construct,
                format!("@{name}"),
            ));
        }
        if self.is_word("static") {
            // It would keep its value for the next execution, of all users.
            return self.construct("@Field static");
        }
        match self.declaration_or_expression()? {
            StatementKind::Declare { class, names } => Ok(StatementKind::Field { class, names }),
            _ => Err(Refusal::new(line, RefusalKind::Construct, "@Field")),
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
        let resources = match self.is("(") && self.dialect == Dialect::Groovy {
            true => self.resources()?,
            false => Vec::new(),
        };
        let body = closing(resources, self.block()?);
        let is_closing = matches!(
            body.as_slice(),
            [Statement {
                kind: StatementKind::Block(_),
                ..
            }]
        );
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
            return match is_closing {
                true => Ok(StatementKind::Block(body)),
                false => Err(self.unexpected()),
            };
        }
        Ok(StatementKind::Try {
            body,
            catches,
            finally,
        })
    }

    /// `(Type name = value; …)` behind `try`.
    fn resources(&mut self) -> Parsed<Vec<Statement>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.is(")") {
            let line = self.line();
            let class = match self.takes_word("def") || self.takes_word("var") {
                true => String::new(),
                false => self.declared_class()?,
            };
            let name = self.name()?;
            self.expect("=")?;
            let names = vec![(name, Some(self.expression()?))];
            let kind = StatementKind::Declare { class, names };
            all.push(Statement { line, kind });
            if !self.takes(";") {
                break;
            }
        }
        self.expect(")")?;
        Ok(all)
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
        if self.is_word("class") && self.dialect == Dialect::Groovy {
            return self.class_definition();
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

    /// `class Name extends Parent { … }`.
    fn class_definition(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let name = self.class_name()?;
        let parent = match self.takes_word("extends") {
            true => self.class_name()?,
            false => String::new(),
        };
        // What a class promises has no effect by itself.
        while self.takes_word("implements") || self.takes(",") {
            self.class_name()?;
        }
        let mut class = ClassDefinition {
            name,
            parent,
            fields: Vec::new(),
            methods: Vec::new(),
        };
        self.expect("{")?;
        loop {
            while self.takes(";") {}
            if self.takes("}") {
                return Ok(StatementKind::Class(class));
            }
            self.member_of_class(&mut class)?;
        }
    }

    fn member_of_class(&mut self, class: &mut ClassDefinition) -> Parsed<()> {
        const MODIFIERS: &[&str] = &[
            "public",
            "private",
            "protected",
            "static",
            "final",
            "def",
            "var",
            "transient",
            "volatile",
        ];
        let line = self.line();
        let (mut is_static, mut is_final) = (false, false);
        while MODIFIERS.iter().any(|word| self.is_word(word)) {
            is_static |= self.is_word("static");
            is_final |= self.is_word("final");
            self.at += 1;
        }
        let is_made = self.is_word(&class.name) && matches!(self.ahead(1), TokenKind::Sign("("));
        if is_made {
            self.at += 1;
            return self.method_of_class(class, (line, false), (String::new(), String::new()));
        }
        let declared = self.attempt(Self::declared_class).unwrap_or_default();
        let mut name = match self.kind() {
            TokenKind::Name(word) if word == "class" => return self.construct("class"),
            TokenKind::Sign("@") => return self.construct("@"),
            TokenKind::Sign("{") => return self.construct("{ … }"),
            _ => self.name()?,
        };
        if self.is("(") {
            return self.method_of_class(class, (line, is_static), (declared, name));
        }
        loop {
            let value = self.initial(&declared)?;
            class.fields.push(Field {
                line,
                name,
                class: declared.clone(),
                is_static,
                is_final,
                value,
            });
            if !self.takes(",") {
                return self.end_of_statement();
            }
            name = self.name()?;
        }
    }

    fn method_of_class(
        &mut self,
        class: &mut ClassDefinition,
        (line, is_static): (u32, bool),
        (declared, name): (String, String),
    ) -> Parsed<()> {
        if let StatementKind::Method(method) = self.method(declared, name)? {
            class.methods.push(ClassMethod {
                line,
                is_static,
                method,
            });
        }
        Ok(())
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

/// The body of a `try` with resources: each is closed behind what stands after it, the last one first.
fn closing(mut resources: Vec<Statement>, body: Vec<Statement>) -> Vec<Statement> {
    if resources.is_empty() {
        return body;
    }
    let first = resources.remove(0);
    let line = first.line;
    let expression = |kind| Expr { line, kind };
    let statement = |kind| Statement { line, kind };
    let StatementKind::Declare { names, .. } = &first.kind else {
        return body;
    };
    let closes = names.iter().map(|(name, _)| {
        let of = Some(Box::new(expression(ExprKind::Name(name.clone()))));
        statement(StatementKind::Expression(expression(ExprKind::Call {
            of,
            name: Member::Fixed("close".into()),
            access: Access::Safe,
            arguments: Vec::new(),
        })))
    });
    let finally = Some(closes.collect());
    let inner = statement(StatementKind::Try {
        body: closing(resources, body),
        catches: Vec::new(),
        finally,
    });
    vec![statement(StatementKind::Block(vec![first, inner]))]
}
