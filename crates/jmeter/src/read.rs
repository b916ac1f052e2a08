//! Reading of a plan: from bytes to plan and problems.

use std::sync::Arc;

use sokudo_model::Text;

use crate::build::build;
use crate::compile::{Compiler, PropertyUse};
use crate::coverage::{Coverage, cover};
use crate::expand::expand;
use crate::files::Files;
use crate::node::{self, ElementNode, Property, PropertyValue};
use crate::plan::Plan;
use crate::problem::{FilePosition, Problem, Problems};
use crate::registry::{self, Treatment};
use crate::settings::Settings;
use crate::{check, xml};

/// The result of reading a plan.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The plan; `None`: it could not be read at all. With errors it is incomplete and must not be
    /// executed.
    pub plan: Option<Plan>,
    /// Its elements, and how each class is treated.
    pub coverage: Vec<Coverage>,
    /// Properties that it reads, by name.
    pub properties: Vec<PropertyUse>,
    /// Functions that it calls, with the number of calls, by name.
    pub functions: Vec<(&'static str, usize)>,
    /// Number of disabled elements.
    pub disabled: usize,
    /// Errors, then warnings.
    pub problems: Vec<Problem>,
    /// Number of errors.
    pub errors: usize,
    /// Number of problems that were only counted.
    pub dropped: usize,
}

/// Reads a plan. `file` is the file name in places.
///
/// Never fails and never panics: everything that is wrong is in `problems`.
pub fn read(file: &str, bytes: &[u8], settings: &Settings, files: &dyn Files) -> Reading {
    let mut compiler = Compiler::new(settings, files, file);
    let name: Arc<str> = file.into();
    let (mut plan, mut coverage, mut disabled) = (None, Vec::new(), 0);
    match xml::parse(&name, bytes) {
        Err(error) => compiler.problems.error(error.place, error.says),
        Ok(root) => {
            warn_of_bytes(&name, bytes, &mut compiler.problems);
            let written_by = root.attribute("jmeter").unwrap_or_default().to_owned();
            if let Some(nodes) = node::from_xml(root, &mut compiler.problems) {
                compiler.properties_stay = properties_stay(&nodes);
                let expanded = expand(nodes, &mut compiler);
                disabled = expanded.disabled;
                let (nodes, counted) = cover(expanded.nodes, &mut compiler);
                coverage = counted;
                plan = build(&nodes, &written_by, &mut compiler);
                if plan.is_none() {
                    compiler.problems.error(None, Text::new("jmx-no-plan"));
                }
            }
        }
    }
    if let Some(plan) = &plan {
        check::refuse(plan, &mut compiler);
        check::warn(plan, &coverage, &mut compiler);
    }
    let (errors, dropped) = (compiler.problems.errors(), compiler.problems.dropped());
    Reading {
        plan,
        coverage,
        properties: compiler.uses.properties.into_values().collect(),
        functions: compiler.uses.functions.into_iter().collect(),
        disabled,
        problems: compiler.problems.into_sorted(),
        errors,
        dropped,
    }
}

/// Warns about bytes of a plan that are not UTF-8.
pub(crate) fn warn_of_bytes(file: &Arc<str>, bytes: &[u8], problems: &mut Problems) {
    if let Some(line) = xml::replaced_line(bytes) {
        let says = Text::new("jmx-bytes-replaced").word("line", line.to_string());
        let file = Arc::clone(file);
        let column = 1;
        problems.warning(FilePosition { file, line, column }, says);
    }
}

/// True if no element of the plan can change a property during the test.
fn properties_stay(nodes: &[ElementNode]) -> bool {
    nodes.iter().all(|node| {
        let script = registry::find(node).map(|spec| spec.treatment());
        script != Some(Treatment::NeedsScripts)
            && !(is_script(node) && has_file(node))
            && !node.properties.iter().any(sets_property)
            && properties_stay(&node.children)
    })
}

fn is_script(node: &ElementNode) -> bool {
    node.class.starts_with("JSR223") || node.class.starts_with("BeanShell")
}

/// A script in a file may do anything.
fn has_file(node: &ElementNode) -> bool {
    let file = |p: &Property| matches!(&p.value, PropertyValue::Scalar { text, .. } if p.name.ends_with("filename") && !text.is_empty());
    node.properties.iter().any(file)
}

fn sets_property(property: &Property) -> bool {
    match &property.value {
        PropertyValue::Scalar { text, .. } => {
            let calls = ["__setProperty", "setProperty(", "props.put", "props["];
            calls.iter().any(|call| text.contains(call)) || assigns_member_of_props(text)
        }
        PropertyValue::List(items) => items.iter().any(sets_property),
        PropertyValue::Element(inner) => inner.properties.iter().any(sets_property),
        PropertyValue::Object(_) => false,
    }
}

/// True if a script has `props.name =`.
fn assigns_member_of_props(text: &str) -> bool {
    text.split("props.").skip(1).any(|behind| {
        let rest = behind.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let rest = rest.trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    })
}
