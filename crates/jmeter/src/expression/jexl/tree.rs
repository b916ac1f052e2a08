//! The tree of a script.

use std::rc::Rc;

use super::value::Value;

/// An expression, with the depth of its tree.
#[derive(Debug)]
pub(super) struct Expr {
    pub kind: JexlKind,
    pub depth: u16,
}

/// Kinds of expressions.
#[derive(Debug)]
pub(super) enum JexlKind {
    Const(Value),
    /// Part of a text that is only checked.
    Hole,
    Name(Rc<str>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Plus(Box<Expr>),
    Complement(Box<Expr>),
    Empty(Box<Expr>),
    Size(Box<Expr>),
    /// `a ? b : c`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`.
    Elvis(Box<Expr>, Box<Expr>),
    /// `a ?? b`.
    OrNull(Box<Expr>, Box<Expr>),
    /// `[a, b]`; with `...` at its end a list instead of an array.
    List(Vec<Expr>, bool),
    Set(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// `name = value`, with the operator of `+=`.
    Assign(Option<Operator>, Box<Expr>, Box<Expr>),
    /// `object.name`; true: `?.`.
    Member(Box<Expr>, Rc<str>, bool),
    /// `object[index]`.
    Index(Box<Expr>, Box<Expr>),
    /// `object.name(arguments)`, as with `?.`: null gives null.
    Method(Box<Expr>, Rc<str>, Vec<Expr>),
    /// `name(arguments)`.
    Call(Rc<str>, Vec<Expr>),
    /// `(expression)(arguments)`.
    Invoke(Box<Expr>, Vec<Expr>),
    New(Vec<Expr>),
    Lambda(Rc<Lambda>),
    /// `(expression)`.
    Group(Box<Expr>),
}

/// Operators of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    NotMatches,
    StartsWith,
    NotStartsWith,
    EndsWith,
    NotEndsWith,
    Range,
}

/// A function of the script.
#[derive(Debug)]
pub(super) struct Lambda {
    pub parameters: Vec<Rc<str>>,
    pub body: Vec<Statement>,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Statement {
    Nothing,
    Expression(Expr),
    /// `var name`, with its value.
    Var(Rc<str>, Option<Expr>),
    Block(Vec<Statement>),
    /// Conditions with their statements, and the last `else`.
    If(Vec<(Expr, Statement)>, Option<Box<Statement>>),
    /// `for (name : items)`.
    For(Rc<str>, Expr, Box<Statement>),
    While(Expr, Box<Statement>),
    DoWhile(Box<Statement>, Expr),
    Return(Expr),
    Break,
    Continue,
}
