//! Conversion of HTML to the tree that browsers build.

use scraper::Node as Parsed;

use super::{Document, MOST_DEPTH, MOST_NODES, Name, NodeId, NodeKind, markup};

pub(super) fn read(text: &str) -> Result<Document, String> {
    let parsed = markup::parse(text)?;
    let mut document = Document::default();
    document.add(0, NodeKind::Root);
    // Nodes to be added, with parent and depth; the next one is last.
    let children = parsed.tree.root().children().rev();
    let mut open: Vec<_> = children.map(|node| (node, 0, 1)).collect();
    while let Some((node, parent, depth)) = open.pop() {
        let Some(kind) = kind_of(node.value()) else {
            continue;
        };
        if depth > MOST_DEPTH {
            return Err(format!(
                "elements of the page are nested deeper than {MOST_DEPTH}"
            ));
        }
        let id = add(&mut document, parent, kind)?;
        if depth == 1 {
            declare(&mut document, node.value());
        }
        add_attributes(&mut document, id, node.value())?;
        open.extend(node.children().rev().map(|child| (child, id, depth + 1)));
    }
    Ok(document)
}

/// Records the prefixes that the root element declares.
fn declare(document: &mut Document, node: &Parsed) {
    let Parsed::Element(element) = node else {
        return;
    };
    let declared = element.attrs().filter_map(|(key, value)| {
        let prefix = key.strip_prefix("xmlns:")?;
        Some((prefix.to_owned(), value.into()))
    });
    document.declared = declared.collect();
}

fn add(document: &mut Document, parent: NodeId, kind: NodeKind) -> Result<NodeId, String> {
    let added = document.add(parent, kind);
    added.ok_or_else(|| format!("the page has more than {MOST_NODES} nodes"))
}

fn kind_of(node: &Parsed) -> Option<NodeKind> {
    Some(match node {
        Parsed::Element(element) => NodeKind::Element(name(element.name())),
        Parsed::Text(text) => NodeKind::Text(text.to_string()),
        Parsed::Comment(text) => NodeKind::Comment(text.to_string()),
        Parsed::ProcessingInstruction(said) => {
            NodeKind::Instruction(said.target.to_string(), said.data.to_string())
        }
        Parsed::Document | Parsed::Fragment | Parsed::Doctype(_) => return None,
    })
}

fn add_attributes(document: &mut Document, id: NodeId, node: &Parsed) -> Result<(), String> {
    let Parsed::Element(element) = node else {
        return Ok(());
    };
    // Sorted by name, because their order in memory is not defined.
    let mut attributes: Vec<_> = element.attrs().collect();
    attributes.sort_unstable();
    for (key, value) in attributes {
        add(document, id, NodeKind::Attribute(name(key), value.into()))?;
    }
    Ok(())
}

/// Elements of HTML have no namespace for the purposes of a path.
fn name(local: &str) -> Name {
    Name {
        local: local.into(),
        ..Name::default()
    }
}
