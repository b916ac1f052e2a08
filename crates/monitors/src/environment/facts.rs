//! Recording of facts, known or not available.

use std::path::Path;

use sokudo_model::{Fact, Unit};

/// Longest value that is recorded; longer ones are cut.
const MAX_VALUE_BYTES: usize = 4096;

/// Facts of one section.
pub(super) struct Facts<'a> {
    out: &'a mut Vec<Fact>,
    section: &'static str,
}

impl<'a> Facts<'a> {
    pub(super) fn new(out: &'a mut Vec<Fact>, section: &'static str) -> Self {
        Self { out, section }
    }

    /// A fact that is known.
    pub(super) fn text(&mut self, name: &str, value: &str, source: &str) {
        self.push(name, Some(value), None, source.to_owned());
    }

    /// A number that is known.
    pub(super) fn number(&mut self, name: &str, value: impl ToString, unit: Unit, source: &str) {
        let value = value.to_string();
        self.push(name, Some(&value), Some(unit), source.to_owned());
    }

    /// A fact that this system does not tell.
    pub(super) fn missing(&mut self, name: &str, why: &str) {
        let source = format!("not available on this system: {why}");
        self.push(name, None, None, source);
    }

    /// The whole text of a small file.
    pub(super) fn file(&mut self, name: &str, path: &Path) {
        self.file_as(name, path, |text| Some(text.to_owned()));
    }

    /// Fact that `pick` finds in the text of a small file.
    pub(super) fn file_as(
        &mut self,
        name: &str,
        path: &Path,
        pick: impl FnOnce(&str) -> Option<String>,
    ) {
        let source = path.display().to_string();
        match crate::reread::read_bounded(path, 64 << 10) {
            Ok(text) => match pick(text.trim()) {
                Some(value) => self.text(name, &value, &source),
                None => self.missing(name, &format!("`{source}` does not say")),
            },
            Err(error) => self.missing(name, &format!("`{source}` cannot be read: {error}")),
        }
    }

    /// A fact that is known or, with the reason, is not.
    pub(super) fn known_or(&mut self, name: &str, value: Option<&str>, source: &str, why: &str) {
        match value {
            Some(value) => self.text(name, value, source),
            None => self.missing(name, why),
        }
    }

    fn push(&mut self, name: &str, value: Option<&str>, unit: Option<Unit>, source: String) {
        self.out.push(Fact {
            section: self.section.to_owned(),
            name: name.to_owned(),
            value: value.map(|value| cut(value).to_owned()),
            unit,
            source,
        });
    }
}

fn cut(value: &str) -> &str {
    let mut end = value.len().min(MAX_VALUE_BYTES);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "速".repeat(2000);
        assert_eq!(cut(&long).len(), 4095);
    }
}
