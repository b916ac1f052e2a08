//! XPath 1.0 on document trees.
//!
//! All of XPath 1.0 except for the namespace axis and `id()`, with `ends-with`, `lower-case`,
//! `upper-case` and `matches` of later versions. A name without prefix matches names without
//! prefix, whatever their namespace; a prefix matches its namespace if that is given, otherwise the
//! same prefix.

mod evaluate;
mod functions;
mod parse;

use super::{Document, MOST_TEXT_BYTES, NodeId, TOO_MUCH_TEXT};

/// Longest path, bytes.
const MOST_BYTES: usize = 64 << 10;
/// Deepest nesting of an expression.
const MOST_DEPTH: usize = 100;
/// Most operators of an expression.
const MOST_JOINS: usize = 500;
/// Most nodes that one evaluation visits.
const MOST_LOOKS: u64 = 20_000_000;

/// A parsed XPath.
#[derive(Debug, Clone, PartialEq)]
pub struct XPath(Expr);

/// The value of an XPath.
#[derive(Debug, Clone, PartialEq)]
pub enum XPathValue {
    /// A node set in document order.
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
    Call(functions::XPathFunction, Vec<Expr>),
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
    /// Predicates on the value that the path begins with.
    predicates: Vec<Expr>,
    steps: Vec<LocationStep>,
}

#[derive(Debug, Clone, PartialEq)]
enum From {
    Root,
    Here,
    Value(Expr),
}

#[derive(Debug, Clone, PartialEq)]
struct LocationStep {
    axis: Axis,
    test: NodeTest,
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
enum NodeTest {
    /// Prefix and name; `*` matches any.
    Name(String, String),
    AnyNode,
    Text,
    Comment,
    Instruction(Option<String>),
}

impl XPath {
    /// Parses an XPath. Fails with the position of the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("the path is longer than {} KiB", MOST_BYTES >> 10));
        }
        parse::parse(text).map(Self)
    }

    /// Evaluates the path on a document. `spaces`: prefixes and their namespaces.
    ///
    /// Fails if a value is not a node set where one is required, or if too many nodes are visited.
    pub fn find(
        &self,
        document: &Document,
        spaces: &[(String, String)],
    ) -> Result<XPathValue, String> {
        evaluate::evaluate(&self.0, document, spaces)
    }
}

impl XPathValue {
    /// The texts of the value: one per node, or the value itself. `fragment`: elements with their
    /// tags. Fails if they are too long together.
    pub fn texts(&self, document: &Document, fragment: bool) -> Result<Vec<String>, String> {
        let Self::Nodes(nodes) = self else {
            return Ok(vec![self.text(document)]);
        };
        let mut bytes = 0;
        let text = |id: &NodeId| {
            let text = match fragment {
                true => document.fragment(*id),
                false => document.text(*id),
            };
            bytes += text.len();
            match bytes > MOST_TEXT_BYTES {
                true => Err(TOO_MUCH_TEXT.into()),
                false => Ok(text),
            }
        };
        nodes.iter().map(text).collect()
    }

    /// The value of each node as JMeter's first extractor has it: of an element that of its first child, which
    /// may be none.
    pub fn first_texts(&self, document: &Document) -> Result<Vec<Option<String>>, String> {
        let Self::Nodes(nodes) = self else {
            return Ok(vec![Some(self.text(document))]);
        };
        let mut bytes = 0;
        let text = |id: &NodeId| {
            let text = document.first_text(*id);
            bytes += text.as_ref().map_or(0, String::len);
            match bytes > MOST_TEXT_BYTES {
                true => Err(TOO_MUCH_TEXT.into()),
                false => Ok(text),
            }
        };
        nodes.iter().map(text).collect()
    }

    /// The value as a text: that of the first node.
    pub fn text(&self, document: &Document) -> String {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or(String::new(), |id| document.text(*id)),
            Self::Number(number) => number_text(*number),
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => flag.to_string(),
        }
    }

    /// The value as a boolean: true if it is not empty.
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
        // Negative zero becomes zero.
        _ if number == 0.0 => "0".into(),
        number => number.to_string(),
    }
}
