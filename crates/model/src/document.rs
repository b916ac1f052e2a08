//! Descriptions of the JSON documents that sokudo writes for other programs.
//!
//! A description stands beside the code that writes the document, the reference is made of it, and a
//! test compares it with documents. The meaning of a field is a message: see [`Document::key`].

/// A JSON document, or the object in each line of an output.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    /// Its name in keys of messages.
    pub name: &'static str,
    /// The command that prints it.
    pub command: &'static str,
    /// Its fields, each after the one that holds it.
    pub fields: &'static [Field],
}

/// A field of a JSON document.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its path: `findings[].rule` in each element of a list, `histograms.*.p50` under each key.
    pub path: &'static str,
    /// Its type: `string`, `number`, `integer`, `boolean`, `object`; `array of …` and `map of …`
    /// (keys that differ from document to document); `… or null`; `any` where it is not described.
    pub kind: &'static str,
    /// Unit of its numbers, empty for none.
    pub unit: &'static str,
}

/// A field of this place, content and unit.
pub const fn field(path: &'static str, kind: &'static str, unit: &'static str) -> Field {
    Field { path, kind, unit }
}

impl Document {
    /// Key of the message that says what the document is; see [`Self::key`] for those of its fields.
    pub fn about(&self) -> String {
        format!("json-{}", self.name)
    }

    /// Key of the message that says what a field means: `json-summary-findings-rule`.
    pub fn key(&self, field: &Field) -> String {
        let path = field.path.replace("[]", "").replace(".*", "-each");
        format!("{}-{}", self.about(), path.replace('.', "-"))
    }
}
