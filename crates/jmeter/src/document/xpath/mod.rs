//! What does an XPath find?
//!
//! XPath 1.0 whole but for the namespace axis and `id()`, with `ends-with`, `lower-case`,
//! `upper-case` and `matches` of later versions. A name without prefix finds names without prefix,
//! whatever their namespace, as a reader who knows no namespaces does; a prefix stands for its
//! namespace when it is given, for itself otherwise.

mod evaluate;
mod functions;
mod parse;

use super::{Document, NodeId};

/// Longest path, bytes.
const MOST_BYTES: usize = 64 << 10;
/// Deepest nesting of an expression.
const MOST_DEPTH: usize = 100;
/// Most nodes that one evaluation looks at.
const MOST_LOOKS: u64 = 20_000_000;

/// A path that can be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct XPath(Expr);

/// What a path gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nodes in document order.
    Nodes(Vec<NodeId>),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// True or false.
    Flag(bool),
}

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Number(f64),
    Text(String),
    Negative(Box<Expr>),
    Pair(Operator, Box<Expr>, Box<Expr>),
    Call(functions::Function, Vec<Expr>),
    Path(Box<Path>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
    Union,
}

#[derive(Debug, Clone, PartialEq)]
struct Path {
    from: From,
    /// Conditions on what it begins with.
    predicates: Vec<Expr>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum From {
    Root,
    Here,
    Value(Expr),
}

#[derive(Debug, Clone, PartialEq)]
struct Step {
    axis: Axis,
    test: Test,
    predicates: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
    Here,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Prefix and name; `*` for any.
    Name(String, String),
    AnyNode,
    Text,
    Comment,
    Instruction(Option<String>),
}

impl XPath {
    /// The path of a text. Errors: what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("the path is longer than {} KiB", MOST_BYTES >> 10));
        }
        parse::parse(text).map(Self)
    }

    /// What it finds in a document. `spaces`: prefixes and their namespaces.
    ///
    /// Errors: a part of it is no set of nodes where one is needed, or it looks at too many nodes.
    pub fn find(&self, document: &Document, spaces: &[(String, String)]) -> Result<Found, String> {
        evaluate::evaluate(&self.0, document, spaces)
    }
}

impl Found {
    /// Texts of what was found: one per node, or the value itself. `fragment`: elements with their
    /// tags.
    pub fn texts(&self, document: &Document, fragment: bool) -> Vec<String> {
        match self {
            Self::Nodes(nodes) => {
                let text = |id: &NodeId| match fragment {
                    true => document.fragment(*id),
                    false => document.text(*id),
                };
                nodes.iter().map(text).collect()
            }
            value => vec![value.text(document)],
        }
    }

    /// As a text: that of the first node.
    pub fn text(&self, document: &Document) -> String {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or(String::new(), |id| document.text(*id)),
            Self::Number(number) => number_text(*number),
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => flag.to_string(),
        }
    }

    /// As true or false: something is there.
    pub fn holds(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Flag(flag) => *flag,
        }
    }
}

fn number_text(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".into(),
        _ if number.is_infinite() => if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into(),
        // Minus nothing is nothing.
        _ if number == 0.0 => "0".into(),
        number => number.to_string(),
    }
}
