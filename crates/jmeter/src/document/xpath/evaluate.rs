//! Evaluation of an XPath.

use std::sync::Arc;

use fancy_regex::Regex;

use super::functions::{number_of, to_number};
use super::{
    Axis, Expr, From, LocationStep, MOST_LOOKS, Names, NodeTest, Operator, Path, XPathValue,
};
use crate::document::{Document, Name, NodeId, NodeKind};
use crate::pattern;

/// Bytes of a text that count as a visited node.
const BYTES_PER_LOOK: u64 = 64;
/// Visited nodes that the compilation of a regular expression counts as.
const LOOKS_PER_PATTERN: u64 = 10_000;

/// The context of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The context node.
    pub node: NodeId,
    /// Its position in the context, from 1.
    pub position: usize,
    /// The size of the context.
    pub size: usize,
}

/// The state of one evaluation.
pub(super) struct Evaluation<'d> {
    pub document: &'d Document,
    names: Names<'d>,
    spaces: &'d [(&'d str, &'d str)],
    looks: u64,
    /// The regular expression of the last call.
    pattern: Option<(String, Arc<Regex>)>,
}

pub(super) fn evaluate(
    expr: &Expr,
    document: &Document,
    names: Names<'_>,
    spaces: &[(&str, &str)],
) -> Result<XPathValue, String> {
    let mut run = Evaluation {
        document,
        names,
        spaces,
        looks: 0,
        pattern: None,
    };
    let context = Context {
        node: 0,
        position: 1,
        size: 1,
    };
    run.value(expr, context)
}

impl Evaluation<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr, context: Context) -> Result<XPathValue, String> {
        Ok(match expr {
            Expr::Number(number) => XPathValue::Number(*number),
            Expr::Text(text) => XPathValue::Text(text.clone()),
            Expr::Negative(inner) => XPathValue::Number(-self.number(inner, context)?),
            Expr::Call(function, arguments) => function.call(self, context, arguments)?,
            Expr::Path(path) => XPathValue::Nodes(self.path(path, context)?),
            Expr::Pair(operator, left, right) => self.pair(*operator, left, right, context)?,
        })
    }

    /// The value of an expression that must be a node set.
    pub(super) fn nodes(&mut self, expr: &Expr, context: Context) -> Result<Vec<NodeId>, String> {
        match self.value(expr, context)? {
            XPathValue::Nodes(nodes) => Ok(nodes),
            _ => Err("a node set is required here".into()),
        }
    }

    fn number(&mut self, expr: &Expr, context: Context) -> Result<f64, String> {
        let value = self.value(expr, context)?;
        self.check_single(&value)?;
        Ok(number_of(&value, self.document))
    }

    fn pair(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        context: Context,
    ) -> Result<XPathValue, String> {
        let flag = XPathValue::Flag;
        Ok(match operator {
            Operator::Or => {
                flag(self.value(left, context)?.holds() || self.value(right, context)?.holds())
            }
            Operator::And => {
                flag(self.value(left, context)?.holds() && self.value(right, context)?.holds())
            }
            Operator::Union => {
                let mut all = self.nodes(left, context)?;
                all.extend(self.nodes(right, context)?);
                XPathValue::Nodes(in_order(all))
            }
            Operator::Plus | Operator::Minus | Operator::Times | Operator::Div | Operator::Mod => {
                let (a, b) = (self.number(left, context)?, self.number(right, context)?);
                XPathValue::Number(match operator {
                    Operator::Plus => a + b,
                    Operator::Minus => a - b,
                    Operator::Times => a * b,
                    Operator::Div => a / b,
                    _ => a % b,
                })
            }
            comparison => {
                let (a, b) = (self.value(left, context)?, self.value(right, context)?);
                flag(self.compares(comparison, &a, &b)?)
            }
        })
    }

    /// Comparisons: a node set compares as any of its nodes.
    fn compares(&mut self, by: Operator, a: &XPathValue, b: &XPathValue) -> Result<bool, String> {
        let document = self.document;
        let mut texts = |nodes: &[NodeId]| -> Result<Vec<String>, String> {
            nodes.iter().map(|id| self.text(*id)).collect()
        };
        Ok(match (a, b) {
            (XPathValue::Nodes(a), XPathValue::Nodes(b)) => {
                let (a, b) = (texts(a)?, texts(b)?);
                self.look(a.len() as u64 * b.len().max(1) as u64)?;
                a.iter().any(|a| b.iter().any(|b| text_compares(by, a, b)))
            }
            (XPathValue::Flag(_), _) | (_, XPathValue::Flag(_)) if is_equality(by) => {
                (a.holds() == b.holds()) == (by == Operator::Equal)
            }
            (XPathValue::Nodes(nodes), other) => {
                let one = |text: &String| value_compares(by, text, other, false);
                texts(nodes)?.iter().any(one)
            }
            (other, XPathValue::Nodes(nodes)) => {
                let one = |text: &String| value_compares(by, text, other, true);
                texts(nodes)?.iter().any(one)
            }
            (XPathValue::Text(a), XPathValue::Text(b)) => text_compares(by, a, b),
            (a, b) => number_compares(by, number_of(a, document), number_of(b, document)),
        })
    }

    /// Fails where XPath 2 requires one item and there are more.
    pub(super) fn check_single(&self, value: &XPathValue) -> Result<(), String> {
        match (self.names, value) {
            (Names::Declared(_), XPathValue::Nodes(nodes)) if nodes.len() > 1 => {
                Err("a sequence of more than one item is not allowed here".into())
            }
            _ => Ok(()),
        }
    }

    /// The namespace of a name; empty: none.
    pub(super) fn space<'n>(&self, name: &'n Name) -> &'n str {
        match self.names {
            Names::Unaware => "",
            Names::Aware | Names::Declared(_) => &name.space,
        }
    }

    /// The string value of a node. Long texts count as several visits.
    pub(super) fn text(&mut self, id: NodeId) -> Result<String, String> {
        let text = self.document.text(id);
        self.look(text.len() as u64 / BYTES_PER_LOOK)?;
        Ok(text)
    }

    /// A value as a text.
    pub(super) fn text_of(&mut self, value: &XPathValue) -> Result<String, String> {
        let text = value.text(self.document);
        self.look(text.len() as u64 / BYTES_PER_LOOK)?;
        Ok(text)
    }

    /// A compiled regular expression; that of the call before is kept. Fails if it is not valid.
    pub(super) fn pattern(&mut self, text: &str) -> Result<Arc<Regex>, String> {
        if let Some((known, compiled)) = &self.pattern
            && known == text
        {
            return Ok(Arc::clone(compiled));
        }
        self.look(LOOKS_PER_PATTERN)?;
        let compiled = pattern::compile(text);
        let compiled =
            compiled.ok_or_else(|| format!("`{text}` is not a valid regular expression"))?;
        let compiled = Arc::new(compiled);
        self.pattern = Some((text.to_owned(), Arc::clone(&compiled)));
        Ok(compiled)
    }

    /// Counts visited nodes.
    fn look(&mut self, count: u64) -> Result<(), String> {
        self.looks = self.looks.saturating_add(count);
        match self.looks > MOST_LOOKS {
            true => Err("the path visits too many nodes".into()),
            false => Ok(()),
        }
    }

    fn path(&mut self, path: &Path, context: Context) -> Result<Vec<NodeId>, String> {
        let mut nodes = match &path.from {
            From::Root => vec![0],
            From::Here => vec![context.node],
            From::Value(value) => self.nodes(value, context)?,
        };
        for predicate in &path.predicates {
            nodes = self.kept(nodes, predicate)?;
        }
        for step in &path.steps {
            nodes = self.step(step, &nodes)?;
        }
        Ok(nodes)
    }

    fn step(&mut self, step: &LocationStep, from: &[NodeId]) -> Result<Vec<NodeId>, String> {
        let mut found = Vec::new();
        for node in from {
            let mut nodes = self.axis(step.axis, *node)?;
            nodes.retain(|id| self.passes(step, *id));
            for predicate in &step.predicates {
                nodes = self.kept(nodes, predicate)?;
            }
            found.extend(nodes);
        }
        Ok(in_order(found))
    }

    /// The nodes for which a predicate holds; a number is a position.
    fn kept(&mut self, nodes: Vec<NodeId>, predicate: &Expr) -> Result<Vec<NodeId>, String> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (position, node) in (1..).zip(nodes) {
            let context = Context {
                node,
                position,
                size,
            };
            self.look(1)?;
            let holds = match self.value(predicate, context)? {
                XPathValue::Number(number) => number == position as f64,
                value => value.holds(),
            };
            if holds {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    /// The nodes of an axis, in the direction of the axis.
    fn axis(&mut self, axis: Axis, id: NodeId) -> Result<Vec<NodeId>, String> {
        let document = self.document;
        let node = document.node(id);
        let found = match axis {
            Axis::Here => vec![id],
            Axis::Child => node.children.clone(),
            Axis::Attribute => node.attributes.clone(),
            Axis::Parent => above(document, id).take(1).collect(),
            Axis::Ancestor => above(document, id).collect(),
            Axis::AncestorOrSelf => std::iter::once(id).chain(above(document, id)).collect(),
            Axis::Descendant => below(document, id),
            Axis::DescendantOrSelf => {
                let mut all = vec![id];
                all.extend(below(document, id));
                all
            }
            Axis::FollowingSibling => siblings(document, id).1.to_vec(),
            Axis::PrecedingSibling => siblings(document, id).0.iter().rev().copied().collect(),
            Axis::Following => {
                let around = std::iter::once(id).chain(above(document, id));
                let behind = around.flat_map(|at| siblings(document, at).1);
                behind
                    .flat_map(|at| std::iter::once(*at).chain(below(document, *at)))
                    .collect()
            }
            Axis::Preceding => {
                let around = std::iter::once(id).chain(above(document, id));
                let before = around.flat_map(|at| siblings(document, at).0);
                let mut all: Vec<NodeId> = before
                    .flat_map(|at| std::iter::once(*at).chain(below(document, *at)))
                    .collect();
                all.sort_unstable_by(|a, b| b.cmp(a));
                all
            }
        };
        self.look(found.len() as u64 + 1)?;
        Ok(found)
    }

    fn passes(&self, step: &LocationStep, id: NodeId) -> bool {
        let kind = &self.document.node(id).kind;
        match &step.test {
            NodeTest::AnyNode => true,
            NodeTest::Text => matches!(kind, NodeKind::Text(_)),
            NodeTest::Comment => matches!(kind, NodeKind::Comment(_)),
            NodeTest::Instruction(target) => match kind {
                NodeKind::Instruction(found, _) => {
                    target.as_ref().is_none_or(|target| target == found)
                }
                _ => false,
            },
            NodeTest::Name(prefix, local) => match kind {
                NodeKind::Element(name) if step.axis != Axis::Attribute => {
                    self.is_named(name, prefix, local, self.default_space())
                }
                NodeKind::Attribute(name, _) => self.is_named(name, prefix, local, ""),
                _ => false,
            },
        }
    }

    /// The namespace of elements without a prefix in the path.
    fn default_space(&self) -> &str {
        match self.names {
            Names::Declared(_) => self.declared("").unwrap_or_default(),
            Names::Unaware | Names::Aware => "",
        }
    }

    fn declared(&self, prefix: &str) -> Option<&str> {
        let found = self.spaces.iter().find(|(known, _)| *known == prefix);
        found.map(|(_, space)| *space)
    }

    fn is_named(&self, name: &Name, prefix: &str, local: &str, default_space: &str) -> bool {
        if local != "*" && name.local != local {
            return false;
        }
        match (prefix, self.names) {
            ("*", _) => true,
            // The parser of such a document makes prefix and name one name, which no path can state.
            ("", Names::Unaware) => name.prefix.is_empty(),
            ("", _) => *name.space == *default_space,
            (prefix, _) => self.declared(prefix) == Some(self.space(name)),
        }
    }
}

/// The ancestors of a node, from the inside out.
fn above(document: &Document, id: NodeId) -> impl Iterator<Item = NodeId> {
    let next = move |id: &NodeId| (*id != 0).then(|| document.node(*id).parent);
    std::iter::successors(next(&id), next)
}

/// The descendants of a node, in document order.
fn below(document: &Document, id: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open: Vec<NodeId> = document.node(id).children.iter().rev().copied().collect();
    while let Some(next) = open.pop() {
        found.push(next);
        open.extend(document.node(next).children.iter().rev());
    }
    found
}

/// The siblings before or after a node.
fn siblings(document: &Document, id: NodeId) -> (&[NodeId], &[NodeId]) {
    let all = document.node(document.node(id).parent).children.as_slice();
    match all.binary_search(&id) {
        Ok(at) => (&all[..at], &all[at + 1..]),
        // The root and attributes have no siblings.
        Err(_) => (&[], &[]),
    }
}

fn in_order(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn is_equality(by: Operator) -> bool {
    matches!(by, Operator::Equal | Operator::NotEqual)
}

fn text_compares(by: Operator, a: &str, b: &str) -> bool {
    match by {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        by => number_compares(by, to_number(a), to_number(b)),
    }
}

/// Compares the text of a node with a value; `swapped`: the value is on the left.
fn value_compares(by: Operator, text: &str, value: &XPathValue, swapped: bool) -> bool {
    let (number, other) = match value {
        XPathValue::Text(other) if is_equality(by) => return text_compares(by, text, other),
        XPathValue::Text(other) => (to_number(text), to_number(other)),
        XPathValue::Number(other) => (to_number(text), *other),
        XPathValue::Flag(flag) => (1.0, f64::from(u8::from(*flag))),
        XPathValue::Nodes(_) => return false,
    };
    match swapped {
        true => number_compares(by, other, number),
        false => number_compares(by, number, other),
    }
}

fn number_compares(by: Operator, a: f64, b: f64) -> bool {
    match by {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        _ => a >= b,
    }
}
