//! Expansion of include and module controllers, and removal of disabled elements.
//!
//! Include controllers insert the test fragment of another file, module controllers a part of this
//! one. Both are replaced by what they refer to, so that all later stages see one tree.

use std::io;
use std::path::Path;

use sokudo_model::Text;

use crate::compile::Compiler;
use crate::node::{self, ElementNode, PropertyValue};
use crate::problem::FilePosition;
use crate::read::warn_of_bytes;
use crate::registry::{self, Role};
use crate::xml;

/// Deepest nesting of files and modules.
const MOST_DEPTH: usize = 16;

/// Most elements after the expansion.
const MOST_NODES: usize = 1_000_000;

/// Property with the prefix of included paths.
const PREFIX: &str = "includecontroller.prefix";

/// The tree after the expansion.
pub(crate) struct Expanded {
    /// Enabled elements, with what they refer to.
    pub nodes: Vec<ElementNode>,
    /// Number of elements that are disabled or below a disabled one.
    pub disabled: usize,
}

/// Replaces references and removes disabled elements.
pub(crate) fn expand(nodes: Vec<ElementNode>, compiler: &mut Compiler<'_>) -> Expanded {
    let mut expander = Expander {
        all: &nodes,
        compiler,
        open: Vec::new(),
        includes: 0,
        left: MOST_NODES,
        disabled: 0,
    };
    let kept = expander.children(&nodes);
    let disabled = expander.disabled;
    Expanded {
        nodes: kept,
        disabled,
    }
}

struct Expander<'n, 'c, 'a> {
    /// The tree in which modules are looked up.
    all: &'n [ElementNode],
    compiler: &'c mut Compiler<'a>,
    /// Files and modules that are being inserted: a second occurrence is a cycle.
    open: Vec<String>,
    /// Number of files among them.
    includes: usize,
    left: usize,
    disabled: usize,
}

impl Expander<'_, '_, '_> {
    fn children(&mut self, nodes: &[ElementNode]) -> Vec<ElementNode> {
        let mut kept = Vec::with_capacity(nodes.len());
        for node in nodes {
            if !node.enabled {
                self.disabled += node.count();
                continue;
            }
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            if self.left == 0 {
                let says = Text::new("jmx-too-many").word("most", MOST_NODES.to_string());
                self.compiler.problems.error(node.place.clone(), says);
            }
            let children = match registry::find(node).map(|spec| spec.role) {
                Some(Role::Include) => self.included(node),
                Some(Role::Module) => self.module(node),
                _ => self.children(&node.children),
            };
            kept.push(ElementNode {
                class: node.class.clone(),
                gui: node.gui.clone(),
                name: node.name.clone(),
                enabled: true,
                place: node.place.clone(),
                properties: node.properties.clone(),
                children,
            });
        }
        kept
    }

    fn included(&mut self, node: &ElementNode) -> Vec<ElementNode> {
        // JMeter replaces includes before it evaluates any function.
        let path = text_of(node, "IncludeController.includepath");
        if path.is_empty() {
            return self.children(&node.children);
        }
        let bytes = match self.read_included(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.not_included(node, path, &error);
                return self.children(&node.children);
            }
        };
        let file = path.into();
        warn_of_bytes(&file, &bytes, &mut self.compiler.problems);
        let root = match xml::parse(&file, &bytes) {
            Ok(root) => root,
            Err(error) => {
                self.compiler.problems.error(error.place, error.says);
                return Vec::new();
            }
        };
        let Some(nodes) = node::from_xml(root, &mut self.compiler.problems) else {
            return Vec::new();
        };
        let Some(fragment) = fragment(&nodes) else {
            let says = Text::new("jmx-no-fragment").word("path", path);
            self.compiler.problems.error(node.place.clone(), says);
            return Vec::new();
        };
        self.includes += 1;
        let children = self.inside(path, &node.place, &fragment.children);
        self.includes -= 1;
        children
    }

    /// The bytes of an included file. As in JMeter, a relative path starts at the current folder if the
    /// file is there, otherwise, without the prefix, at the plan's folder.
    fn read_included(&self, path: &str) -> io::Result<Vec<u8>> {
        let prefix = self.compiler.settings.properties.get(PREFIX);
        let here = format!("{}{path}", prefix.unwrap_or_default());
        let (here, files) = (here.trim(), self.compiler.files);
        if Path::new(here).is_absolute() || files.exists_here(here) {
            return files.read_here(here, xml::MOST_BYTES);
        }
        files.read(path, xml::MOST_BYTES)
    }

    fn not_included(&mut self, node: &ElementNode, path: &str, error: &io::Error) {
        let problems = &mut self.compiler.problems;
        let place = node.place.clone();
        let (key, why) = match error.kind() {
            io::ErrorKind::PermissionDenied => ("jmx-include-outside", error.to_string()),
            io::ErrorKind::NotFound => ("jmx-include-missing", error.kind().to_string()),
            kind => ("jmx-include-unreadable", kind.to_string()),
        };
        let says = Text::new(key).word("path", path).word("why", why);
        let hint = Text::new("jmx-include-as-written-hint");
        // JMeter logs a missing file and executes the rest.
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        match (is_missing, path.contains("${")) {
            (true, true) => problems.warning_with(place, says, hint),
            (true, false) => problems.warning(place, says),
            (false, true) => problems.error_with(place, says, hint),
            (false, false) => problems.error(place, says),
        }
    }

    fn module(&mut self, node: &ElementNode) -> Vec<ElementNode> {
        let path: Vec<&str> = match node
            .property("ModuleController.node_path")
            .map(|p| &p.value)
        {
            Some(PropertyValue::List(items)) => items.iter().filter_map(scalar).collect(),
            _ => Vec::new(),
        };
        if self.includes > 0 {
            // JMeter connects modules before it includes files.
            let says = Text::new("jmx-module-included").word("name", node.name.as_str());
            self.compiler.problems.warning(node.place.clone(), says);
            return Vec::new();
        }
        // The first name is that of the tree, not of an element.
        let target = path.get(1..).and_then(|names| by_names(self.all, names));
        let Some(target) = target else {
            let says = Text::new("jmx-no-module").word("path", path.join(" / "));
            self.compiler.problems.error(node.place.clone(), says);
            return Vec::new();
        };
        // A module is executed even if its original is disabled.
        let mut copy = target.clone();
        copy.enabled = true;
        let (name, place) = (target.place.to_string(), &node.place);
        self.inside(&name, place, std::slice::from_ref(&copy))
    }

    /// The children of an inserted element, unless it contains itself.
    fn inside(
        &mut self,
        name: &str,
        place: &FilePosition,
        children: &[ElementNode],
    ) -> Vec<ElementNode> {
        if self.open.len() == MOST_DEPTH || self.open.iter().any(|open| open == name) {
            let circle = self.open.join(" → ");
            let says = Text::new("jmx-include-circle")
                .word("path", name)
                .word("circle", format!("{circle} → {name}"));
            self.compiler.problems.error(place.clone(), says);
            return Vec::new();
        }
        self.open.push(name.to_owned());
        let children = self.children(children);
        self.open.pop();
        children
    }
}

/// The test fragment of a file, enabled or not: the first directly below its first test plan, or before it.
fn fragment(nodes: &[ElementNode]) -> Option<&ElementNode> {
    for node in nodes {
        match registry::find(node).map(|spec| spec.role) {
            Some(Role::Plan) => return fragment(&node.children),
            Some(Role::Fragment) => return Some(node),
            _ => {}
        }
    }
    None
}

/// The element at a path of names; of several with one path the last, as JMeter has it. A module is
/// nobody's target.
fn by_names<'n>(nodes: &'n [ElementNode], names: &[&str]) -> Option<&'n ElementNode> {
    let (first, rest) = names.split_first()?;
    let is_module = |node: &ElementNode| {
        matches!(
            registry::find(node).map(|spec| spec.role),
            Some(Role::Module)
        )
    };
    let mut same = nodes
        .iter()
        .rev()
        .filter(|node| node.name == *first && !is_module(node));
    match rest {
        [] => same.next(),
        rest => same.find_map(|node| by_names(&node.children, rest)),
    }
}

fn scalar(property: &node::Property) -> Option<&str> {
    match &property.value {
        PropertyValue::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

fn text_of<'n>(node: &'n ElementNode, name: &str) -> &'n str {
    node.property(name).and_then(scalar).unwrap_or_default()
}
