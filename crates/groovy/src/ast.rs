//! The tree of a script.

/// An expression with the line of its first token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub line: u32,
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    /// A number as it is written, without underscores and suffix.
    Number(NumberKind, String),
    /// A character in quotes, of BeanShell.
    Char(String),
    Text(String),
    /// Texts and expressions in turn.
    GString(Vec<GPart>),
    List(Vec<Expr>),
    /// Keys and values; a key that is a [`ExprKind::Spread`] stands for all entries of its value.
    Map(Vec<(Expr, Expr)>),
    Range {
        from: Box<Expr>,
        to: Box<Expr>,
        inclusive: bool,
    },
    Name(String),
    This,
    /// A class by its simple or qualified name.
    Class(String),
    Property {
        of: Box<Expr>,
        name: Member,
        access: Access,
    },
    Index {
        of: Box<Expr>,
        at: Vec<Expr>,
    },
    Call {
        /// `None`: a method of the script, a closure in a variable, or a function of the language.
        of: Option<Box<Expr>>,
        name: Member,
        access: Access,
        arguments: Vec<Expr>,
    },
    /// A call of the value of an expression.
    CallValue {
        of: Box<Expr>,
        arguments: Vec<Expr>,
    },
    New {
        class: String,
        arguments: Vec<Expr>,
    },
    /// A new array with a length, or with items.
    NewArray {
        class: String,
        length: Option<Box<Expr>>,
        items: Vec<Expr>,
    },
    Closure {
        /// `None`: the implicit `it`.
        parameters: Option<Vec<Parameter>>,
        body: Vec<Statement>,
    },
    Unary(&'static str, Box<Expr>),
    /// `++` or `--`.
    Step {
        operator: &'static str,
        is_prefix: bool,
        of: Box<Expr>,
    },
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// An assignment; the operator is empty for `=`.
    Assign {
        to: Box<Expr>,
        operator: &'static str,
        value: Box<Expr>,
    },
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Elvis(Box<Expr>, Box<Expr>),
    /// `(type) value`.
    Cast(String, Box<Expr>),
    /// `value as type`.
    As(Box<Expr>, String),
    InstanceOf(Box<Expr>, String, bool),
    /// `*list` in a list or in arguments.
    Spread(Box<Expr>),
    /// `of::name` and `of.&name`: a method as a closure.
    Reference(Box<Expr>, String),
}

/// Kinds of numbers by their notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Integer,
    Long,
    BigInteger,
    Decimal,
    Double,
    Float,
}

/// A part of a text with expressions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GPart {
    Text(String),
    Value(Expr),
}

/// The name of a member.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Member {
    Fixed(String),
    Computed(Box<Expr>),
}

/// Ways to access a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// `a.b`
    Plain,
    /// `a?.b`
    Safe,
    /// `a*.b`
    Spread,
}

/// A parameter of a method or a closure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub name: String,
    /// Its declared type; empty: none.
    pub class: String,
    pub otherwise: Option<Expr>,
}

/// A statement with its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub line: u32,
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatementKind {
    Expression(Expr),
    /// Variables of one declared type; empty: none.
    Declare {
        class: String,
        names: Vec<(String, Option<Expr>)>,
    },
    /// `@Field`: variables of the whole script, which its methods see, too.
    Field {
        class: String,
        names: Vec<(String, Option<Expr>)>,
    },
    /// `def (a, b) = list`, and `(a, b) = list` where nothing is declared.
    DeclareMany {
        names: Vec<(String, String)>,
        value: Expr,
        is_new: bool,
    },
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    While(Expr, Box<Statement>),
    DoWhile(Box<Statement>, Expr),
    /// `for (a; b; c)`.
    For {
        before: Vec<Statement>,
        test: Option<Expr>,
        after: Vec<Expr>,
        body: Box<Statement>,
    },
    /// `for (a in b)`, `for (a : b)`.
    ForIn {
        class: String,
        name: String,
        of: Expr,
        body: Box<Statement>,
    },
    Switch {
        of: Expr,
        /// Value, `None` for the default, and statements.
        cases: Vec<(Option<Expr>, Vec<Statement>)>,
    },
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
        finally: Option<Vec<Statement>>,
    },
    Throw(Expr),
    Return(Option<Expr>),
    /// With the label of the loop that ends.
    Break(Option<String>),
    /// With the label of the loop that goes on.
    Continue(Option<String>),
    /// A loop with a label.
    Labeled(String, Box<Statement>),
    Synchronized(Expr, Vec<Statement>),
    Assert(Expr, Option<Expr>),
    Block(Vec<Statement>),
    Method(Method),
    Class(ClassDefinition),
}

/// `catch (A | B name) { … }`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Catch {
    pub classes: Vec<String>,
    pub name: String,
    pub body: Vec<Statement>,
}

/// A method of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Method {
    pub name: String,
    /// Its declared type; empty: none.
    pub class: String,
    pub parameters: Vec<Parameter>,
    pub body: Vec<Statement>,
}

/// A class of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassDefinition {
    pub name: String,
    /// The class that it extends; empty: none.
    pub parent: String,
    pub fields: Vec<Field>,
    /// Constructors have no name.
    pub methods: Vec<ClassMethod>,
}

/// A field or property of a class of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub line: u32,
    pub name: String,
    /// Its declared type; empty: none.
    pub class: String,
    pub is_static: bool,
    pub is_final: bool,
    pub value: Option<Expr>,
}

/// A method of a class of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassMethod {
    pub line: u32,
    pub is_static: bool,
    pub method: Method,
}

/// `import …`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Import {
    pub line: u32,
    /// A package or, of static members, a class ends with `.*`.
    pub name: String,
    /// `import … as alias`.
    pub alias: Option<String>,
    /// True for `import static`, which names members of a class.
    pub is_static: bool,
}

/// A script: its imports and its statements.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tree {
    pub imports: Vec<Import>,
    pub statements: Vec<Statement>,
}

/// A statement or an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'t> {
    Statement(&'t Statement),
    Expr(&'t Expr),
}

/// Calls `see` with every expression in a statement, outer ones first.
pub(crate) fn walk(statement: &Statement, see: &mut dyn FnMut(&Expr)) {
    visit(statement, &mut |part| {
        if let Part::Expr(expression) = part {
            see(expression);
        }
    });
}

/// Calls `see` with a statement and with everything in it, outer parts first.
pub(crate) fn visit(statement: &Statement, see: &mut dyn FnMut(Part<'_>)) {
    use StatementKind as S;
    see(Part::Statement(statement));
    let all = |statements: &[Statement], see: &mut dyn FnMut(Part<'_>)| {
        for statement in statements {
            visit(statement, see);
        }
    };
    match &statement.kind {
        S::Expression(value) | S::Throw(value) | S::Return(Some(value)) => {
            visit_expression(value, see)
        }
        S::Declare { names, .. } | S::Field { names, .. } => names
            .iter()
            .filter_map(|(_, value)| value.as_ref())
            .for_each(|value| visit_expression(value, see)),
        S::DeclareMany {
            names,
            value,
            is_new,
        } => {
            visit_expression(value, see);
            for (_, name) in names.iter().filter(|_| !is_new) {
                let to = Box::new(Expr {
                    line: value.line,
                    kind: ExprKind::Name(name.clone()),
                });
                let value = Box::new(Expr {
                    line: value.line,
                    kind: ExprKind::Null,
                });
                see(Part::Expr(&Expr {
                    line: value.line,
                    kind: ExprKind::Assign {
                        to,
                        operator: "",
                        value,
                    },
                }));
            }
        }
        S::If(test, then, otherwise) => {
            visit_expression(test, see);
            visit(then, see);
            otherwise.iter().for_each(|otherwise| visit(otherwise, see));
        }
        S::While(test, body) | S::DoWhile(body, test) => {
            visit_expression(test, see);
            visit(body, see);
        }
        S::For {
            before,
            test,
            after,
            body,
        } => {
            all(before, see);
            test.iter()
                .chain(after)
                .for_each(|part| visit_expression(part, see));
            visit(body, see);
        }
        S::ForIn { of, body, .. } => {
            visit_expression(of, see);
            visit(body, see);
        }
        S::Switch { of, cases } => {
            visit_expression(of, see);
            for (value, statements) in cases {
                value.iter().for_each(|value| visit_expression(value, see));
                all(statements, see);
            }
        }
        S::Try {
            body,
            catches,
            finally,
        } => {
            all(body, see);
            catches.iter().for_each(|catch| all(&catch.body, see));
            finally.iter().for_each(|finally| all(finally, see));
        }
        S::Assert(test, says) => {
            visit_expression(test, see);
            says.iter().for_each(|says| visit_expression(says, see));
        }
        S::Block(statements) => all(statements, see),
        S::Synchronized(of, statements) => {
            visit_expression(of, see);
            all(statements, see);
        }
        S::Labeled(_, body) => visit(body, see),
        S::Method(method) => all(&method.body, see),
        S::Class(class) => {
            let values = class.fields.iter().filter_map(|field| field.value.as_ref());
            values.for_each(|value| visit_expression(value, see));
            let methods = class.methods.iter();
            methods.for_each(|method| all(&method.method.body, see));
        }
        S::Return(None) | S::Break(_) | S::Continue(_) => {}
    }
}

fn visit_expression(of: &Expr, see: &mut dyn FnMut(Part<'_>)) {
    use ExprKind as E;
    see(Part::Expr(of));
    match &of.kind {
        E::Null
        | E::Bool(_)
        | E::Number(..)
        | E::Char(_)
        | E::Text(_)
        | E::Name(_)
        | E::This
        | E::Class(_) => {}
        E::GString(parts) => {
            for part in parts {
                if let GPart::Value(value) = part {
                    visit_expression(value, see);
                }
            }
        }
        E::List(items) => items.iter().for_each(|item| visit_expression(item, see)),
        E::Map(entries) => {
            for (key, value) in entries {
                visit_expression(key, see);
                visit_expression(value, see);
            }
        }
        E::Range { from: a, to: b, .. }
        | E::Binary(_, a, b)
        | E::Assign {
            to: a, value: b, ..
        }
        | E::Elvis(a, b) => {
            visit_expression(a, see);
            visit_expression(b, see);
        }
        E::Property { of, .. }
        | E::Unary(_, of)
        | E::Step { of, .. }
        | E::Cast(_, of)
        | E::As(of, _)
        | E::InstanceOf(of, ..)
        | E::Reference(of, _)
        | E::Spread(of) => visit_expression(of, see),
        E::Index { of, at: many }
        | E::CallValue {
            of,
            arguments: many,
        } => {
            visit_expression(of, see);
            many.iter().for_each(|one| visit_expression(one, see));
        }
        E::Call { of, arguments, .. } => {
            of.iter().for_each(|of| visit_expression(of, see));
            arguments
                .iter()
                .for_each(|argument| visit_expression(argument, see));
        }
        E::New { arguments, .. } => arguments
            .iter()
            .for_each(|argument| visit_expression(argument, see)),
        E::NewArray { length, items, .. } => {
            length
                .iter()
                .for_each(|length| visit_expression(length, see));
            items.iter().for_each(|item| visit_expression(item, see));
        }
        E::Closure { body, .. } => body.iter().for_each(|statement| visit(statement, see)),
        E::Ternary(a, b, c) => [a, b, c]
            .into_iter()
            .for_each(|part| visit_expression(part, see)),
    }
}
