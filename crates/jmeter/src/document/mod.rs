//! Document trees of XML and HTML.
//!
//! ```text
//! bytes ─ quick-xml ─► Document: nodes in document order, each with parent and children
//! text  ─ scraper ───►
//! ```
//!
//! Documents are read-only. Entities that a document defines are not expanded, external ones never
//! fetched.

use std::sync::Arc;

mod html;
pub(crate) mod markup;
pub(crate) mod well_formed;
mod xml;
pub mod xpath;

/// Most nodes of one document.
const MOST_NODES: usize = 1_000_000;
/// Deepest nesting of elements.
const MOST_DEPTH: usize = 1_000;
/// Most attributes of one element, which are compared with each other.
pub(crate) const MOST_ATTRIBUTES: usize = 4_096;

/// Most text of all matches of one extraction, bytes.
pub(crate) const MOST_TEXT_BYTES: usize = 128 << 20;
/// Message when there is more.
pub(crate) const TOO_MUCH_TEXT: &str = "all matches together are longer than 128 MiB";

/// The namespace of the prefix `xml`.
const XML_SPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// Index of a node; 0 is the root. Indexes follow document order.
pub type NodeId = u32;

/// A document.
#[derive(Debug, Default)]
pub struct Document {
    nodes: Vec<Node>,
    /// Prefixes and namespaces that the root element declares.
    declared: Vec<(String, Arc<str>)>,
}

/// A node.
#[derive(Debug, Default)]
pub struct Node {
    /// Kind of node.
    pub kind: NodeKind,
    /// Parent; the root is its own.
    pub parent: NodeId,
    /// Children in order, without attributes.
    pub children: Vec<NodeId>,
    /// Attributes in order.
    pub attributes: Vec<NodeId>,
}

/// Kind of a node.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    /// The document.
    #[default]
    Root,
    /// An element.
    Element(Name),
    /// An attribute and its value.
    Attribute(Name, String),
    /// Text.
    Text(String),
    /// A comment.
    Comment(String),
    /// A processing instruction: target and data.
    Instruction(String, String),
}

/// A name in its namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Name {
    /// Prefix as written; empty: none.
    pub prefix: String,
    /// Name without the prefix.
    pub local: String,
    /// URI of the namespace; empty: none.
    pub space: Arc<str>,
}

impl Name {
    /// The name with its prefix.
    pub fn written(&self) -> String {
        match self.prefix.as_str() {
            "" => self.local.clone(),
            prefix => format!("{prefix}:{}", self.local),
        }
    }
}

impl Document {
    /// The tree of an XML document. Fails if it is not well-formed or exceeds the limits.
    pub fn xml(text: &str) -> Result<Self, String> {
        xml::read(text)
    }

    /// The tree that browsers build of any text. Fails if it exceeds the limits.
    pub fn html(text: &str) -> Result<Self, String> {
        html::read(text)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// All nodes in document order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        0..self.nodes.len() as NodeId
    }

    /// The value of an element's first child, or of any other node; `None`: an element has none.
    pub fn first_text(&self, id: NodeId) -> Option<String> {
        let node = self.node(id);
        if !matches!(node.kind, NodeKind::Root | NodeKind::Element(_)) {
            return Some(self.text(id));
        }
        let first = *node.children.first()?;
        let is_element = matches!(self.node(first).kind, NodeKind::Element(_));
        (!is_element).then(|| self.text(first))
    }

    /// The string value of a node: that of all texts in it, or its value.
    pub fn text(&self, id: NodeId) -> String {
        let mut out = String::new();
        match &self.node(id).kind {
            NodeKind::Root | NodeKind::Element(_) => self.append_text(id, &mut out),
            NodeKind::Attribute(_, value)
            | NodeKind::Text(value)
            | NodeKind::Comment(value)
            | NodeKind::Instruction(_, value) => out.push_str(value),
        }
        out
    }

    fn append_text(&self, id: NodeId, out: &mut String) {
        for child in &self.node(id).children {
            match &self.node(*child).kind {
                NodeKind::Text(text) => out.push_str(text),
                NodeKind::Element(_) => self.append_text(*child, out),
                _ => {}
            }
        }
    }

    /// The XML of a node, with its tags.
    pub fn fragment(&self, id: NodeId) -> String {
        let mut out = String::new();
        self.append_fragment(id, &mut out);
        out
    }

    fn append_fragment(&self, id: NodeId, out: &mut String) {
        let node = self.node(id);
        let inside = |out: &mut String| {
            node.children
                .iter()
                .for_each(|child| self.append_fragment(*child, out));
        };
        match &node.kind {
            NodeKind::Root => inside(out),
            NodeKind::Element(name) => {
                let name = name.written();
                out.extend(["<", &name]);
                for attribute in &node.attributes {
                    out.push(' ');
                    self.append_fragment(*attribute, out);
                }
                if node.children.is_empty() {
                    out.push_str("/>");
                    return;
                }
                out.push('>');
                inside(out);
                out.extend(["</", &name, ">"]);
            }
            NodeKind::Attribute(name, value) => {
                out.extend([&name.written(), "=\"", &escaped(value), "\""]);
            }
            NodeKind::Text(text) => out.push_str(&escaped(text)),
            NodeKind::Comment(text) => out.extend(["<!--", text, "-->"]),
            NodeKind::Instruction(target, text) => out.extend(["<?", target, " ", text, "?>"]),
        }
    }

    /// Adds a node; `None` beyond the limits.
    fn add(&mut self, parent: NodeId, kind: NodeKind) -> Option<NodeId> {
        if self.nodes.len() >= MOST_NODES {
            return None;
        }
        let id = self.nodes.len() as NodeId;
        let is_attribute = matches!(kind, NodeKind::Attribute(..));
        self.nodes.push(Node {
            kind,
            parent,
            ..Node::default()
        });
        if id > 0 {
            let above = &mut self.nodes[parent as usize];
            match is_attribute {
                true => above.attributes.push(id),
                false => above.children.push(id),
            }
        }
        Some(id)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
