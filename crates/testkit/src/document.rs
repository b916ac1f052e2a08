//! Comparison of JSON documents with their description.

use std::collections::BTreeSet;

use serde_json::Value;
use sokudo_model::document::{Document, Field};

/// Differences between a description and documents that together have every field of it.
pub fn differences(described: &Document, documents: &[Value]) -> Vec<String> {
    let mut walk = Walk {
        fields: described.fields,
        seen: BTreeSet::new(),
        differences: Vec::new(),
    };
    for document in documents {
        walk.object(document, "");
    }
    let unseen = described.fields.iter().map(|field| field.path);
    let unseen = unseen.filter(|path| !walk.seen.contains(path));
    let unseen = unseen.map(|path| format!("{}: no document has `{path}`", described.name));
    unseen.chain(walk.differences).collect()
}

struct Walk {
    fields: &'static [Field],
    seen: BTreeSet<&'static str>,
    differences: Vec<String>,
}

impl Walk {
    /// The members of an object, whose own place ends in a dot unless it is the document.
    fn object(&mut self, value: &Value, place: &str) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let path = format!("{place}{name}");
            let Some(field) = self.fields.iter().find(|field| field.path == path) else {
                self.differences.push(format!("`{path}` is not described"));
                continue;
            };
            self.seen.insert(field.path);
            self.value(value, &path, field.kind);
        }
    }

    fn value(&mut self, value: &Value, path: &str, kind: &str) {
        let (kind, may_lack) = match kind.strip_suffix(" or null") {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        if value.is_null() && may_lack {
            return;
        }
        let fits = match (kind, value) {
            ("any", _) => true,
            ("string", value) => value.is_string(),
            ("number", value) => value.is_number(),
            ("integer", value) => value.is_u64() || value.is_i64(),
            ("boolean", value) => value.is_boolean(),
            ("object", Value::Object(_)) => {
                self.object(value, &format!("{path}."));
                true
            }
            (kind, Value::Array(elements)) if kind.starts_with("array of ") => {
                for element in elements {
                    self.value(element, &format!("{path}[]"), &kind["array of ".len()..]);
                }
                true
            }
            (kind, Value::Object(members)) if kind.starts_with("map of ") => {
                for member in members.values() {
                    self.value(member, &format!("{path}.*"), &kind["map of ".len()..]);
                }
                true
            }
            _ => false,
        };
        if !fits {
            self.differences
                .push(format!("`{path}` is {value}, which is not of type {kind}"));
        }
    }
}
