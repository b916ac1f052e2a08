//! A plan of MariaDB or MySQL as lines, one for each step, those below a step indented: its shape, without costs,
//! numbers of rows and values.
//!
//! ```text
//! {"query_block": {"nested_loop": [{"table": {"table_name": "t", "access_type": "ALL", "rows": 9}}, …]}}
//! nested loop
//!   ALL on t
//!   …
//! ```

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Member that says how one table is read.
const TABLE: &str = "table";
/// Member that holds the whole of a plan, or of a part of it.
const BLOCK: &str = "query_block";
/// What an object says of costs.
const COSTS: &str = "cost_info";
/// Parts of messages in place of a plan for a value that no row has.
const OF_VALUES: [&str; 4] = ["impossible", "no matching", "not found", "is empty"];

/// A JSON value. Older versions of MariaDB give several members of an object the same name.
enum Node {
    Members(Vec<(String, Node)>),
    Elements(Vec<Node>),
    Text(String),
    Flag(bool),
    /// A number, or nothing.
    Other,
}

/// The steps of a plan; `None` for a text that is no plan, and for one that rests on the values that the statement was
/// planned with.
pub(super) fn plan_of(json: &str) -> Option<String> {
    let whole: Node = serde_json::from_str(json).ok()?;
    if whole.rests_on_values() {
        return None;
    }
    let Node::Members(members) = &whole else {
        return None;
    };
    let (_, block) = members.iter().find(|(name, _)| name == BLOCK)?;
    let mut lines = Vec::new();
    below(block, 0, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

impl Node {
    fn rests_on_values(&self) -> bool {
        match self {
            Node::Members(members) => members.iter().any(|(name, node)| match node {
                Node::Text(says) if name == "message" => {
                    let says = says.to_lowercase();
                    OF_VALUES.iter().any(|part| says.contains(part))
                }
                node => node.rests_on_values(),
            }),
            Node::Elements(all) => all.iter().any(Node::rests_on_values),
            Node::Text(_) | Node::Flag(_) | Node::Other => false,
        }
    }

    /// Whether it holds steps, or is one.
    fn is_step(&self) -> bool {
        match self {
            Node::Members(_) => true,
            Node::Elements(all) => all.iter().any(|node| matches!(node, Node::Members(_))),
            Node::Text(_) | Node::Flag(_) | Node::Other => false,
        }
    }
}

/// Writes the steps within a node.
fn below(node: &Node, depth: usize, lines: &mut Vec<String>) {
    match node {
        Node::Members(members) => {
            for (name, node) in members {
                if name != COSTS && node.is_step() {
                    step(name, node, depth, lines);
                }
            }
        }
        Node::Elements(all) => all.iter().for_each(|node| below(node, depth, lines)),
        Node::Text(_) | Node::Flag(_) | Node::Other => {}
    }
}

/// Writes a step and those below it.
fn step(name: &str, node: &Node, depth: usize, lines: &mut Vec<String>) {
    let says = match node {
        Node::Members(members) if name == TABLE => access(members),
        Node::Members(members) => detailed(name, members),
        // One table is no loop.
        Node::Elements(all) if all.len() < 2 => return below(node, depth, lines),
        _ => name.replace('_', " "),
    };
    lines.push(format!("{:1$}{says}", "", 2 * depth));
    below(node, depth + 1, lines);
}

fn text<'a>(members: &'a [(String, Node)], name: &str) -> Option<&'a str> {
    members.iter().find_map(|(known, node)| match node {
        Node::Text(text) if known == name => Some(text.as_str()),
        _ => None,
    })
}

fn is_set(members: &[(String, Node)], name: &str) -> bool {
    let mut members = members.iter();
    members.any(|(known, node)| known == name && matches!(node, Node::Flag(true)))
}

/// How a table is read: `ref on orders using orders_customer (o_w_id, o_c_id), index only`.
fn access(members: &[(String, Node)]) -> String {
    let mut out = match (text(members, "access_type"), text(members, "table_name")) {
        (Some(access), Some(table)) => format!("{access} on {table}"),
        (None, Some(table)) => format!("on {table}"),
        (_, None) => text(members, "message").unwrap_or(TABLE).to_owned(),
    };
    if let Some(key) = text(members, "key") {
        out.push_str(&format!(" using {key}"));
        let parts = members.iter().find_map(|(name, node)| match node {
            Node::Elements(parts) if name == "used_key_parts" => Some(parts),
            _ => None,
        });
        let parts = parts.into_iter().flatten().filter_map(|part| match part {
            Node::Text(part) => Some(part.as_str()),
            _ => None,
        });
        let parts: Vec<&str> = parts.collect();
        if !parts.is_empty() {
            out.push_str(&format!(" ({})", parts.join(", ")));
        }
    }
    if is_set(members, "using_index") {
        out.push_str(", index only");
    }
    out
}

/// Another step: `filesort by t.a`, `grouping operation, using filesort`.
fn detailed(name: &str, members: &[(String, Node)]) -> String {
    let mut out = name.replace('_', " ");
    if let Some(key) = text(members, "sort_key") {
        out.push_str(&format!(" by {key}"));
    }
    for flag in ["using_filesort", "using_temporary_table"] {
        if is_set(members, flag) {
            out.push_str(&format!(", {}", flag.replace('_', " ")));
        }
    }
    out
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Members(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Node::Elements(elements))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<&str>) {
        assert_eq!(plan_of(json).as_deref(), expected, "{json}");
    }

    #[test]
    fn a_plan_is_its_steps_without_costs_and_rows() {
        let one = r#"{"table": {"table_name": "t", "access_type": "range", "possible_keys": ["PRIMARY"],
            "key": "PRIMARY", "key_length": "4", "used_key_parts": ["a", "b"], "rows": 7, "using_index": true}}"#;
        let line = "range on t using PRIMARY (a, b), index only";
        check(
            &format!(
                r#"{{"query_block": {{"select_id": 1, "cost": 0.1, "nested_loop": [{one}]}}}}"#
            ),
            Some(line),
        );
        let other = r#"{"table": {"table_name": "u", "access_type": "ALL", "rows": 9}}"#;
        check(
            &format!(
                r#"{{"query_block": {{"cost_info": {{"query_cost": "1"}},
                    "filesort": {{"sort_key": "u.c", "temporary_table": {{"nested_loop": [{one}, {other}]}}}}}}}}"#
            ),
            Some(&format!(
                "filesort by u.c\n  temporary table\n    nested loop\n      {line}\n      ALL on u"
            )),
        );
    }

    #[test]
    fn members_of_the_same_name_are_all_there() {
        let json = r#"{"query_block": {"table": {"table_name": "t", "access_type": "const", "key": "PRIMARY"},
            "table": {"table_name": "u", "access_type": "ALL"}}}"#;
        check(json, Some("const on t using PRIMARY\nALL on u"));
    }

    #[test]
    fn what_rests_on_the_values_and_what_is_no_plan_is_none() {
        for says in [
            "Impossible WHERE noticed after reading const tables",
            "no matching row in const table",
        ] {
            check(
                &format!(r#"{{"query_block": {{"table": {{"message": "{says}"}}}}}}"#),
                None,
            );
        }
        let says = "Select tables optimized away";
        check(
            &format!(r#"{{"query_block": {{"table": {{"message": "{says}"}}}}}}"#),
            Some(says),
        );
        for no_plan in ["", "[]", "{", r#"{"query_block": 1}"#, r#"{"a": {}}"#] {
            check(no_plan, None);
        }
    }
}
