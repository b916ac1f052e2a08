//! The controllers of a thread group as a flat list with indexes.

use crate::expression::Template;
use crate::jtl::SavedDetails;
use crate::plan::{Controller, ControllerKind, Group, Id, IterationStep, Loops, Step, Value};

/// A controller.
#[derive(Debug)]
pub(super) struct ControllerNode {
    /// Name.
    pub name: Template,
    /// Variable with the number of the pass, if it is a loop and the plan reads such a variable.
    pub index: Option<String>,
    /// Kind, with its settings.
    pub kind: ControllerKind,
    /// Elements that act once per pass.
    pub per_iteration: Vec<IterationStep>,
    /// Steps.
    pub children: Vec<Child>,
    /// Index of the controller that contains it; the root is its own.
    pub parent: usize,
    /// Listeners that write its result to files, and the details that these contain.
    pub savers: Vec<Id>,
    pub holds: SavedDetails,
}

/// A step of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    /// A sampler of the plan.
    Sampler(Id),
    /// Another controller of the group.
    Controller(usize),
}

/// The controllers of a thread group; the first is the loop of the group itself.
pub(super) fn flatten(group: &Group) -> Vec<ControllerNode> {
    // An arrival does one iteration.
    let loops = match group.load.loops().unwrap_or(Loops::Count(1)) {
        Loops::Forever => -1,
        Loops::Count(count) => i64::try_from(count).unwrap_or(i64::MAX),
    };
    let mut nodes = vec![ControllerNode {
        name: Template::text(group.name.clone()),
        index: None,
        kind: ControllerKind::Loop {
            loops: Value::Fixed(loops),
            ends: true,
        },
        per_iteration: group.per_iteration.clone(),
        children: Vec::new(),
        parent: 0,
        savers: Vec::new(),
        holds: SavedDetails::default(),
    }];
    nodes[0].children = children(&group.body, 0, &mut nodes);
    nodes
}

fn children(steps: &[Step], parent: usize, nodes: &mut Vec<ControllerNode>) -> Vec<Child> {
    let mut found = Vec::with_capacity(steps.len());
    for step in steps {
        found.push(match step {
            Step::Sampler(id) => Child::Sampler(*id),
            Step::Controller(controller) => Child::Controller(node(controller, parent, nodes)),
        });
    }
    found
}

fn node(controller: &Controller, parent: usize, nodes: &mut Vec<ControllerNode>) -> usize {
    let index = nodes.len();
    nodes.push(ControllerNode {
        name: controller.name.clone(),
        index: index_variable(controller),
        kind: controller.kind.clone(),
        per_iteration: controller.per_iteration.clone(),
        children: Vec::new(),
        parent,
        savers: Vec::new(),
        holds: SavedDetails::default(),
    });
    let below = children(&controller.body, index, nodes);
    nodes[index].children = below;
    index
}

/// The variable in which JMeter counts the passes of a loop.
fn index_variable(controller: &Controller) -> Option<String> {
    let is_loop = matches!(
        controller.kind,
        ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. }
    );
    let name = controller.name.constant().filter(|_| is_loop)?;
    Some(format!("__jm__{name}__idx"))
}
