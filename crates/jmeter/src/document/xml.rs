//! Conversion of XML to a document tree.

use std::sync::Arc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{Document, MOST_ATTRIBUTES, MOST_DEPTH, MOST_NODES, Name, NodeId, NodeKind, XML_SPACE};
use crate::xml::reference;

/// Prefixes and namespaces in scope, inner ones last.
type Spaces = Vec<(String, Arc<str>)>;

/// Most namespaces in scope: every name is looked up among them.
const MOST_SPACES: usize = 256;

pub(super) fn read(text: &str) -> Result<Document, String> {
    let mut tree = TreeBuilder::default();
    tree.document.add(0, NodeKind::Root);
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => tree.open(&tag)?,
            Event::Empty(tag) => {
                tree.open(&tag)?;
                tree.close()?;
            }
            Event::End(_) => tree.close()?,
            Event::Text(text) => tree.text.push_str(&text.xml10_content()),
            Event::CData(text) => tree.text.push_str(&text.xml10_content()),
            Event::GeneralRef(name) => match reference(&name) {
                Some(said) => tree.text.push(said),
                // Entities that the document defines stay as written.
                None => tree.text.extend(["&", &name, ";"]),
            },
            Event::Comment(text) => tree.put(NodeKind::Comment(text.xml10_content().into()))?,
            Event::PI(said) => {
                let (target, text) = (said.target().to_owned(), said.content().trim().to_owned());
                tree.put(NodeKind::Instruction(target, text))?;
            }
            Event::DocType(_) | Event::Decl(_) => {}
            Event::Eof => return tree.end(),
        }
    }
}

#[derive(Default)]
struct TreeBuilder {
    document: Document,
    /// Open elements, with the number of namespaces before each.
    open: Vec<(NodeId, usize)>,
    spaces: Spaces,
    text: String,
}

impl TreeBuilder {
    fn parent(&self) -> NodeId {
        self.open.last().map_or(0, |(id, _)| *id)
    }

    fn add(&mut self, parent: NodeId, kind: NodeKind) -> Result<NodeId, String> {
        let added = self.document.add(parent, kind);
        added.ok_or_else(|| format!("the document has more than {MOST_NODES} nodes"))
    }

    /// Adds the text so far as one node; blanks outside the root element are ignored.
    fn flush(&mut self) -> Result<(), String> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        if self.open.is_empty() {
            return match text
                .trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
                .is_empty()
            {
                true => Ok(()),
                false => Err("there is text outside the root element".into()),
            };
        }
        self.add(self.parent(), NodeKind::Text(text)).map(drop)
    }

    fn put(&mut self, kind: NodeKind) -> Result<(), String> {
        self.flush()?;
        self.add(self.parent(), kind).map(drop)
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        self.flush()?;
        if self.open.len() >= MOST_DEPTH {
            return Err(format!("elements are nested deeper than {MOST_DEPTH}"));
        }
        if self.open.is_empty() && self.has_root() {
            return Err("there is more than one root element".into());
        }
        let before = self.spaces.len();
        let mut attributes = Vec::new();
        for (attribute, so_far) in tag.attributes().zip(0..) {
            if so_far >= MOST_ATTRIBUTES {
                return Err(format!(
                    "an element has more than {MOST_ATTRIBUTES} attributes"
                ));
            }
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| error.to_string())?;
            let key: &str = attribute.key.as_ref();
            match key.strip_prefix("xmlns") {
                Some("") => self.spaces.push((String::new(), value.into())),
                Some(prefix) if prefix.starts_with(':') => {
                    self.spaces.push((prefix[1..].into(), value.into()));
                }
                _ => attributes.push((key.to_owned(), value.into_owned())),
            }
        }
        if self.spaces.len() > MOST_SPACES {
            return Err(format!("more than {MOST_SPACES} namespaces are in scope"));
        }
        if self.open.is_empty() {
            self.document.declared = self.spaces.clone();
        }
        let name = self.name(tag.name().as_ref(), true);
        let id = self.add(self.parent(), NodeKind::Element(name))?;
        for (key, value) in attributes {
            let name = self.name(&key, false);
            self.add(id, NodeKind::Attribute(name, value))?;
        }
        self.open.push((id, before));
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        self.flush()?;
        if let Some((_, before)) = self.open.pop() {
            self.spaces.truncate(before);
        }
        Ok(())
    }

    fn end(mut self) -> Result<Document, String> {
        self.flush()?;
        match self.open.is_empty() {
            true if self.has_root() => Ok(self.document),
            true => Err("there is no root element".into()),
            false => Err("an element is not closed".into()),
        }
    }

    fn has_root(&self) -> bool {
        let is_element = |id: &NodeId| matches!(self.document.node(*id).kind, NodeKind::Element(_));
        self.document.node(0).children.iter().any(is_element)
    }

    fn name(&self, written: &str, is_element: bool) -> Name {
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        if prefix == "xml" {
            return Name {
                prefix: prefix.into(),
                local: local.into(),
                space: XML_SPACE.into(),
            };
        }
        // An attribute without a prefix is in no namespace.
        let has_space = is_element || !prefix.is_empty();
        let space = self.spaces.iter().rev().find(|(known, _)| known == prefix);
        Name {
            prefix: prefix.into(),
            local: local.into(),
            space: space
                .filter(|_| has_space)
                .map_or_else(Arc::default, |(_, space)| Arc::clone(space)),
        }
    }
}
