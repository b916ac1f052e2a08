//! The elements of a plan by class, and how sokudo treats each class.

use std::collections::BTreeMap;

use serde::Serialize;
use sokudo_model::Text;

use crate::compile::Compiler;
use crate::node::ElementNode;
use crate::problem::FilePosition;
use crate::registry::{self, Family, Role, Treatment};

/// All elements of one class in a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// Name of the class; the class itself if it is unknown.
    pub element: String,
    /// Family of the class; `None`: unknown.
    #[serde(skip)]
    pub family: Option<Family>,
    /// Priority in which sokudo implemented it: 1, 2 or 3.
    pub tier: Option<u8>,
    /// Treatment; `None`: unknown.
    #[serde(skip)]
    pub treatment: Option<Treatment>,
    /// Number of elements.
    pub count: usize,
    /// Place of the first one.
    pub first: FilePosition,
}

/// Counts the elements and removes those that cannot be executed, each of which is reported.
pub(crate) fn cover(
    nodes: Vec<ElementNode>,
    compiler: &mut Compiler<'_>,
) -> (Vec<ElementNode>, Vec<Coverage>) {
    let mut counted = BTreeMap::new();
    let kept = keep(nodes, &mut counted, compiler);
    let mut all: Vec<Coverage> = counted.into_values().collect();
    all.sort_by(|a, b| {
        (a.family.is_some(), a.family, a.tier).cmp(&(b.family.is_some(), b.family, b.tier))
    });
    (kept, all)
}

fn keep(
    nodes: Vec<ElementNode>,
    counted: &mut BTreeMap<String, Coverage>,
    compiler: &mut Compiler<'_>,
) -> Vec<ElementNode> {
    let mut kept = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        let spec = registry::find(&node);
        let foreign = registry::foreign_script(&node);
        let foreign_class = registry::foreign_class(&node);
        let name = spec.map_or(node.class.as_str(), |spec| spec.name());
        let entry = counted.entry(name.to_owned()).or_insert_with(|| Coverage {
            element: name.to_owned(),
            family: spec.map(|spec| spec.family),
            tier: spec.map(|spec| spec.tier),
            treatment: match &foreign {
                Some(_) => Some(Treatment::NeedsScripts),
                None if foreign_class.is_some() => Some(Treatment::NotSupported),
                None => spec.map(|spec| spec.treatment()),
            },
            count: 0,
            first: node.place.clone(),
        });
        entry.count += 1;
        let role = spec.map(|spec| spec.role);
        // Elements that the editor keeps beside the plan are not executed, whatever they contain.
        if matches!(role, Some(Role::NoEffect)) {
            continue;
        }
        if matches!(role, Some(Role::LeftOut)) {
            let says = Text::new("jmx-left-out")
                .word("element", node.class.as_str())
                .word("name", node.name.as_str());
            compiler.problems.warning(node.place.clone(), says);
            continue;
        }
        match role {
            Some(Role::Refused(why)) => {
                compiler.unsupported(&node.place, refused(&node, why), None)
            }
            None => {
                let says = Text::new("jmx-unknown-element")
                    .word("element", node.class.as_str())
                    .word("name", node.name.as_str());
                let hint = Text::new("jmx-unknown-element-hint");
                compiler.unsupported(&node.place, says, Some(hint));
            }
            Some(_) => {
                if let Some(language) = &foreign {
                    let says = Text::new("jmx-script-language").word("language", language.as_str());
                    let hint = Text::new("jmx-script-language-hint");
                    compiler.unsupported(&node.place, says, Some(hint));
                }
                if let Some(class) = &foreign_class {
                    let says = Text::new("jmx-java-class").word("class", class.as_str());
                    compiler.unsupported(&node.place, says, None);
                }
            }
        }
        // Elements below a removed one are not executed, but reported.
        node.children = keep(node.children, counted, compiler);
        let is_foreign = foreign.is_some() || foreign_class.is_some();
        if !is_foreign && !matches!(role, None | Some(Role::Refused(_))) {
            kept.push(node);
        }
    }
    kept
}

fn refused(node: &ElementNode, why: Treatment) -> Text {
    let key = match why {
        Treatment::NeedsScripts => "jmx-needs-scripts",
        _ => "jmx-not-supported",
    };
    Text::new(key)
        .word("element", node.class.as_str())
        .word("name", node.name.as_str())
}
