//! XPath 1.0 on document trees.
//!
//! All of XPath 1.0 except for the namespace axis and `id()`, with `ends-with`, `lower-case`,
//! `upper-case`, `matches` and `*:name` of version 2, which only [`Names::Declared`] allows. A prefix
//! that nothing declares is an error.

mod evaluate;
mod functions;
mod parse;

use super::{Document, MOST_TEXT_BYTES, NodeId, TOO_MUCH_TEXT, XML_SPACE};

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
pub struct XPath {
    expr: Expr,
    /// Prefixes of its names.
    prefixes: Vec<String>,
    /// Its first construct that XPath 1.0 does not have.
    later: Option<String>,
}

/// The version of XPath, and how names in a path match those of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names<'n> {
    /// XPath 1.0 on a document that was read without namespaces: only names without prefix match.
    /// The root element declares prefixes.
    Unaware,
    /// XPath 1.0 on a document with namespaces; the root element declares prefixes.
    Aware,
    /// XPath 2 with these prefixes and namespaces; the empty prefix is that of elements without one.
    Declared(&'n [(String, String)]),
}

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
        parse::parse(text)
    }

    /// The first construct that XPath 1.0 does not have; `None`: it is XPath 1.0.
    pub fn later_construct(&self) -> Option<&str> {
        self.later.as_deref()
    }

    /// Evaluates the path on a document.
    ///
    /// Fails if a prefix is not declared, if a construct belongs to a later version, if a value does not
    /// have the type that is required, or if too many nodes are visited.
    pub fn find(&self, document: &Document, names: Names<'_>) -> Result<XPathValue, String> {
        if let (Some(construct), Names::Unaware | Names::Aware) = (&self.later, names) {
            return Err(format!("{construct} is not part of XPath 1.0"));
        }
        let spaces = names.spaces(document);
        let is_open = |prefix: &&String| spaces.iter().all(|(known, _)| known != *prefix);
        match (self.prefixes.iter().find(is_open), names) {
            (Some(prefix), Names::Declared(_)) => {
                Err(format!("Namespace prefix '{prefix}' has not been declared"))
            }
            (Some(prefix), _) => Err(format!("Prefix must resolve to a namespace: {prefix}")),
            (None, _) => evaluate::evaluate(&self.expr, document, names, &spaces),
        }
    }
}

impl<'n> Names<'n> {
    /// The declared prefixes and their namespaces, later ones first.
    fn spaces(self, document: &'n Document) -> Vec<(&'n str, &'n str)> {
        let always = ("xml", XML_SPACE);
        let declared: Vec<(&str, &str)> = match self {
            Self::Unaware | Self::Aware => {
                let each = document.declared.iter().rev();
                each.map(|(prefix, space)| (prefix.as_str(), &**space))
                    .collect()
            }
            Self::Declared(spaces) => {
                let each = spaces.iter().rev();
                each.map(|(prefix, space)| (prefix.as_str(), space.as_str()))
                    .collect()
            }
        };
        declared.into_iter().chain([always]).collect()
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
