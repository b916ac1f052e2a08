//! Statements.

use super::{Code, Translator, mark, quoted};
use crate::RefusalKind;
use crate::ast::{Catch, Expr, Method, Parameter, Statement, StatementKind, Tree};

impl Translator<'_> {
    /// Statements one after the other. With `gives`, the value of the last one is returned.
    pub(super) fn block(&mut self, statements: &[Statement], gives: bool) -> String {
        let mut out = String::new();
        let last = statements.len().saturating_sub(1);
        // In BeanShell only an expression at the end gives its value.
        let gives = gives
            && (self.is_groovy()
                || statements.last().is_some_and(|last| {
                    matches!(
                        last.kind,
                        StatementKind::Expression(_) | StatementKind::Block(_)
                    )
                }));
        for (index, statement) in statements.iter().enumerate() {
            let text = self.statement(statement, gives && index == last);
            out.push_str(&mark(statement.line));
            out.push_str(&text);
        }
        let hoisted: Vec<String> = self
            .scopes
            .hoisted()
            .map(|name| format!("let {name}=$.unset;"))
            .collect();
        hoisted.concat() + &out
    }

    fn scoped(&mut self, statements: &[Statement], gives: bool) -> String {
        self.scopes.open();
        let text = self.block(statements, gives);
        self.scopes.close();
        format!("{{{text}}}")
    }

    fn body(&mut self, statement: &Statement, gives: bool) -> String {
        match &statement.kind {
            StatementKind::Block(statements) => self.scoped(statements, gives),
            _ => self.scoped(std::slice::from_ref(statement), gives),
        }
    }

    fn statement(&mut self, statement: &Statement, gives: bool) -> String {
        let line = statement.line;
        match &statement.kind {
            StatementKind::Expression(value) => {
                let text = self.value(value).text;
                if gives {
                    format!("return ({text});")
                } else {
                    format!("{text};")
                }
            }
            StatementKind::Declare { class, names } => self.declare(line, class, names, gives),
            StatementKind::Field { names, .. } => self.declared_field(line, names),
            StatementKind::DeclareMany {
                names,
                value,
                is_new,
            } => self.declare_many(line, names, value, *is_new),
            StatementKind::If(test, then, otherwise) => {
                let test = self.truth(test);
                let then = self.body(then, gives);
                match otherwise {
                    Some(otherwise) => {
                        format!("if({test}){then}else {}", self.body(otherwise, gives))
                    }
                    None => format!("if({test}){then}"),
                }
            }
            StatementKind::While(test, body) => {
                let label = self.taken_label();
                let test = self.truth(test);
                format!("{label}while({test}){}", self.body(body, false))
            }
            StatementKind::DoWhile(body, test) => {
                let label = self.taken_label();
                let body = self.body(body, false);
                format!("{label}do{body}while({});", self.truth(test))
            }
            StatementKind::Labeled(name, body) => {
                self.label = Some(format!("l_{}:", encoded(name)));
                self.statement(body, false)
            }
            // Scripts of other users wait until this one has ended.
            StatementKind::Synchronized(of, statements) => {
                let of = self.value(of).text;
                format!("{of};$.alone();{}", self.scoped(statements, gives))
            }
            StatementKind::For {
                before,
                test,
                after,
                body,
            } => self.classic_for(before, test.as_ref(), after, body),
            StatementKind::ForIn {
                class,
                name,
                of,
                body,
            } => self.for_in(line, (class, name), of, body),
            StatementKind::Switch { of, cases } => self.switch(of, cases, gives),
            StatementKind::Try {
                body,
                catches,
                finally,
            } => {
                let mut text = format!("try{}", self.scoped(body, gives));
                if !catches.is_empty() {
                    text.push_str(&self.catches(line, catches, gives));
                }
                if let Some(finally) = finally {
                    text.push_str(&format!("finally{}", self.scoped(finally, false)));
                }
                text
            }
            StatementKind::Throw(value) => {
                let value = self.value(value).text;
                format!("throw $.thrown({value});")
            }
            StatementKind::Return(value) => match value {
                Some(value) => format!("return ({});", self.value(value).text),
                None => "return null;".into(),
            },
            StatementKind::Break(None) => "break;".into(),
            StatementKind::Continue(None) => "continue;".into(),
            StatementKind::Break(Some(label)) => format!("break l_{};", encoded(label)),
            StatementKind::Continue(Some(label)) => format!("continue l_{};", encoded(label)),
            StatementKind::Assert(test, _) => {
                let test = self.truth(test);
                format!("if(!{test})$.failed();")
            }
            StatementKind::Block(statements) => self.scoped(statements, gives),
            StatementKind::Method(method) => self.method(line, method),
            StatementKind::Class(class) => {
                if self.own_class(&class.name).is_none() || !self.scopes.is_outermost() {
                    self.refuse(line, RefusalKind::Construct, "class");
                }
                String::new()
            }
        }
    }

    fn declare(
        &mut self,
        line: u32,
        class: &str,
        names: &[(String, Option<Expr>)],
        gives: bool,
    ) -> String {
        let declared = self.type_name(line, class);
        let known = self.class_named(line, class);
        let mut out = String::new();
        for (name, value) in names {
            let value = value.as_ref().map(|value| self.value_for(&declared, value));
            let inferred = match &value {
                Some(code) if class.is_empty() && !self.assigned.contains(name) => code.class,
                _ => known,
            };
            let begins = match value {
                Some(code) => self.initial(&declared, code),
                None => initial(&declared, self.is_groovy()).into(),
            };
            if let Some(variable) = self.taken(line, name, &declared) {
                out.push_str(&format!("{variable}={begins};"));
                continue;
            }
            let variable = self.scopes.declare(name, declared.clone(), inferred);
            out.push_str(&format!("let {variable}={begins};"));
            if gives && self.is_groovy() {
                out.push_str(&format!("return {variable};"));
            }
        }
        out
    }

    /// Variables with `@Field`: they begin before everything else.
    pub(super) fn script_fields(&mut self, tree: &Tree) -> String {
        let mut out = String::new();
        for statement in &tree.statements {
            let StatementKind::Field { class, names } = &statement.kind else {
                continue;
            };
            let declared = self.type_name(statement.line, class);
            for (name, value) in names {
                let begins = match value {
                    Some(value) => {
                        let code = self.value_for(&declared, value);
                        self.initial(&declared, code)
                    }
                    None => initial(&declared, true).into(),
                };
                let variable = self.scopes.make_global(name);
                self.fields.insert(name.clone(), declared.clone());
                out.push_str(&format!("{}{variable}={begins};", mark(statement.line)));
            }
        }
        out
    }

    /// What stands where a variable with `@Field` is declared, which only the script itself may do.
    fn declared_field(&mut self, line: u32, names: &[(String, Option<Expr>)]) -> String {
        let is_first = |(name, _): &&(String, Option<Expr>)| self.fields.contains_key(name);
        if !self.scopes.is_outermost() || names.iter().find(is_first).is_none() {
            self.refuse(line, RefusalKind::Construct, "@Field");
        }
        String::new()
    }

    /// The label in front of a loop.
    fn taken_label(&mut self) -> String {
        self.label.take().unwrap_or_default()
    }

    /// The value that a variable of a declared type begins with.
    fn initial(&self, declared: &str, code: Code) -> String {
        let text = self.converted(declared, code.text, code.class);
        text.replacen(
            "$.assigned(",
            "$.declared(",
            usize::from(text.starts_with("$.assigned(")),
        )
    }

    /// Groovy permits no second variable of a name. BeanShell assigns the first one again, whose
    /// name in JavaScript is given.
    fn taken(&mut self, line: u32, name: &str, declared: &str) -> Option<String> {
        if self.is_groovy() {
            if self.scopes.find(name).is_some() {
                self.refuse(line, RefusalKind::Construct, format!("def {name} (2)"));
            }
            return None;
        }
        let variable = self.scopes.find_here(name)?;
        let (text, same) = (variable.text.clone(), variable.declared == declared);
        if !same {
            self.refuse(
                line,
                RefusalKind::Construct,
                format!("{declared} {name} (2)"),
            );
        }
        Some(text)
    }

    fn declare_many(
        &mut self,
        line: u32,
        names: &[(String, String)],
        value: &Expr,
        is_new: bool,
    ) -> String {
        let list = self.value(value).text;
        let items = self.scopes.fresh();
        let mut out = format!("const {items}=$.many({list});");
        for (index, (class, name)) in names.iter().enumerate() {
            let item = format!("$.nth({items},{index})");
            if is_new {
                let declared = self.type_name(line, class);
                let item = self.converted(&declared, item, "");
                self.taken(line, name, &declared);
                let variable = self.scopes.declare(name, declared, "");
                out.push_str(&format!("let {variable}={item};"));
            } else {
                let text = self.assign_name(line, name, &item, "");
                out.push_str(&format!("{text};"));
            }
        }
        out
    }

    fn classic_for(
        &mut self,
        before: &[Statement],
        test: Option<&Expr>,
        after: &[Expr],
        body: &Statement,
    ) -> String {
        let label = self.taken_label();
        self.scopes.open();
        let before = self.block(before, false);
        let test = test.map_or("true".into(), |test| self.truth(test));
        let after: Vec<String> = after.iter().map(|step| self.value(step).text).collect();
        let body = self.body(body, false);
        let hoisted: Vec<String> = self
            .scopes
            .hoisted()
            .map(|name| format!("let {name}=$.unset;"))
            .collect();
        let before = hoisted.concat() + &before;
        self.scopes.close();
        format!("{{{before}{label}for(;{test};{}){body}}}", after.join(","))
    }

    fn for_in(
        &mut self,
        line: u32,
        (class, name): (&str, &str),
        of: &Expr,
        body: &Statement,
    ) -> String {
        let label = self.taken_label();
        let of = self.value(of).text;
        let declared = self.type_name(line, class);
        let known = self.class_named(line, class);
        let item = self.scopes.fresh();
        // BeanShell's variable without a type belongs to the block around the loop.
        let outer = match !self.is_groovy() && class.is_empty() {
            true => Some(self.assign_name(line, name, &item, "")),
            false => None,
        };
        self.scopes.open();
        let converted = self.converted(&declared, item.clone(), "");
        self.taken(line, name, &declared);
        let (assignment, head) = match outer {
            Some(assignment) => (assignment, String::new()),
            None => {
                let variable = self.scopes.declare_item(name, declared, known);
                (
                    format!("{variable}={converted}"),
                    format!("let {variable};"),
                )
            }
        };
        let body = self.body(body, false);
        self.scopes.close();
        format!("{{{head}{label}for(const {item} of $.each({of})){{{assignment};{body}}}}}")
    }

    fn switch(
        &mut self,
        of: &Expr,
        cases: &[(Option<Expr>, Vec<Statement>)],
        gives: bool,
    ) -> String {
        let of = self.value(of).text;
        let mut tests = Vec::new();
        let mut bodies = String::new();
        for (index, (value, statements)) in cases.iter().enumerate() {
            match value {
                Some(value) => {
                    let value = self.case(value);
                    bodies.push_str(&format!(
                        "{}case {index}:",
                        mark(statements.first().map_or(0, |s| s.line))
                    ));
                    tests.push(format!("[{index},()=>{value}]"));
                }
                None => bodies.push_str("default:"),
            }
            let is_last = index + 1 == cases.len();
            // The value of a case is that of its last statement, if it is left by `break` or is the last.
            let (kept, breaks) = match statements.split_last() {
                Some((last, kept)) if last.kind == StatementKind::Break(None) => (kept, true),
                _ => (&statements[..], false),
            };
            let body = self.scoped(kept, gives && (breaks || is_last));
            bodies.push_str(&body);
            if breaks {
                bodies.push_str("break;");
            }
        }
        format!("switch($.choose({of},[{}])){{{bodies}}}", tests.join(","))
    }

    fn catches(&mut self, line: u32, catches: &[Catch], gives: bool) -> String {
        let caught = self.scopes.fresh();
        let mut out = format!("catch({caught}){{{caught}=$.caught({caught});");
        for catch in catches {
            let mut classes = Vec::new();
            for class in &catch.classes {
                classes.push(quoted(&self.type_name(line, class)));
            }
            if classes.is_empty() {
                classes.push(quoted("Exception"));
            }
            self.scopes.open();
            let variable = self.scopes.declare(&catch.name, String::new(), "");
            let body = self.scoped(&catch.body, gives);
            self.scopes.close();
            out.push_str(&format!(
                "if($.isAny({caught},[{}])){{let {variable}={caught};{body}}}else ",
                classes.join(",")
            ));
        }
        out.push_str(&format!("throw {caught};}}"));
        out
    }

    fn method(&mut self, line: u32, method: &Method) -> String {
        if self.in_method {
            self.refuse(
                line,
                RefusalKind::Construct,
                format!("{}(…) {{…}}", method.name),
            );
            return String::new();
        }
        if self
            .methods
            .iter()
            .filter(|(name, ..)| *name == method.name)
            .count()
            != 1
        {
            self.refuse(
                line,
                RefusalKind::Construct,
                format!("{}(…) (2)", method.name),
            );
        }
        self.in_method = true;
        let before = self.scopes.enter_method();
        let parameters = self.parameters(line, &method.parameters);
        let gives = method.class != "void" && self.is_groovy();
        let body = self.block(&method.body, gives);
        self.scopes.leave_method(before);
        self.in_method = false;
        let declared = self.type_name(line, &method.class);
        let inner = format!("(()=>{{{body}return null;}})()");
        let value = match declared.as_str() {
            "void" => inner,
            _ => self.converted(&declared, inner, ""),
        };
        format!(
            "function m_{}({}){{{}return {value};}}",
            encoded(&method.name),
            parameters.0,
            parameters.1
        )
    }

    /// Parameters in JavaScript, and the conversions to their types.
    pub(super) fn parameters(&mut self, line: u32, parameters: &[Parameter]) -> (String, String) {
        let (mut list, mut conversions) = (Vec::new(), String::new());
        for parameter in parameters {
            let otherwise = parameter
                .otherwise
                .as_ref()
                .map(|value| self.value(value).text);
            let declared = self.type_name(line, &parameter.class);
            let known = self.class_named(line, &parameter.class);
            if self.is_groovy() && self.scopes.find(&parameter.name).is_some() {
                self.refuse(
                    line,
                    RefusalKind::Construct,
                    format!("{} (2)", parameter.name),
                );
            }
            let variable = self
                .scopes
                .declare(&parameter.name, declared.clone(), known);
            if !declared.is_empty() {
                let converted = format!("$.passed({},{variable})", quoted(&declared));
                conversions.push_str(&format!("{variable}={converted};"));
            }
            list.push(match otherwise {
                Some(otherwise) => format!("{variable}={otherwise}"),
                None => variable,
            });
        }
        (list.join(","), conversions)
    }
}

/// The value of a variable that is declared without one.
pub(super) fn initial(declared: &str, is_groovy: bool) -> &'static str {
    // Groovy's variables of primitive types begin with zero as well; BeanShell's are not yet usable.
    match (declared, is_groovy) {
        ("int" | "short", _) => "0",
        ("byte", _) => "$.cast(\"byte\",0)",
        ("long", _) => "0n",
        ("boolean", _) => "false",
        ("double", _) => "$.double(0)",
        ("float", _) => "$.float(0)",
        _ => "null",
    }
}

/// The name of a method with everything but ASCII letters and digits encoded.
pub(super) fn encoded(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => c.to_string(),
            c => format!("${:x}_", c as u32),
        })
        .collect()
}
