//! Labels of hosts, by which hosts can be selected beside their names.
//!
//! A label is `site=tokyo`: what a host's owner says of it. A set of them is one part of a key
//! expression: `rack=3,site=tokyo`, in the order of the keys; `-` where there are none.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sokudo_model::Text;

/// Longest key, and longest value, bytes.
const MAX_PART: usize = 63;
/// Labels of one host at most.
pub const MAX_LABELS: usize = 16;
/// Stands for a host without labels.
const NONE: &str = "-";

/// One label of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The key: `site`.
    pub key: String,
    /// The value: `tokyo`.
    pub value: String,
}

/// The labels of one host: one value per key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

/// Reason why a text is not a valid label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Not `KEY=VALUE`, or a character that has no place in one.
    #[error("`{0}` is not a valid label")]
    Form(String),
    /// The same key twice.
    #[error("the label `{0}` is given twice")]
    Twice(String),
    /// Too many.
    #[error("a host has up to {MAX_LABELS} labels, {0} are given")]
    Many(usize),
}

impl LabelError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            LabelError::Form(text) => Text::new("error-host-label").word("text", text),
            LabelError::Twice(key) => Text::new("error-host-label-twice").word("key", key),
            LabelError::Many(found) => Text::new("error-host-label-many")
                .with("most", MAX_LABELS)
                .with("found", found),
        }
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Text {
        Text::new("error-host-label-hint")
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let part =
            |part: &str| !part.is_empty() && part.len() <= MAX_PART && part.chars().all(plain);
        match text.split_once('=') {
            Some((key, value)) if part(key) && part(value) => Ok(Self {
                key: key.into(),
                value: value.into(),
            }),
            _ => Err(LabelError::Form(text.chars().take(80).collect())),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl Labels {
    /// All of these.
    ///
    /// Errors: too many, or one key twice.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Result<Self, LabelError> {
        let mut all = BTreeMap::new();
        for Label { key, value } in labels {
            if all.insert(key.clone(), value).is_some() {
                return Err(LabelError::Twice(key));
            }
        }
        match all.len() > MAX_LABELS {
            true => Err(LabelError::Many(all.len())),
            false => Ok(Self(all)),
        }
    }

    /// True when a host has this label.
    pub fn has(&self, wanted: &Label) -> bool {
        self.0.get(&wanted.key) == Some(&wanted.value)
    }

    /// True when there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// As part of a key expression, and as people read it.
impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str(NONE);
        }
        for (number, (key, value)) in self.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{key}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for Labels {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        if text == NONE {
            return Ok(Self::default());
        }
        let labels: Result<Vec<Label>, _> = text.split(',').map(str::parse).collect();
        Self::new(labels?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_read_as_they_were_written() {
        let labels: Labels = "site=tokyo,rack=3".parse().expect("labels");
        assert_eq!(labels.to_string(), "rack=3,site=tokyo");
        assert!(labels.has(&"site=tokyo".parse().expect("a label")));
        assert!(!labels.has(&"site=osaka".parse().expect("a label")));
        assert_eq!("-".parse(), Ok(Labels::default()));
        assert_eq!(Labels::default().to_string(), "-");
    }

    #[test]
    fn what_would_leave_its_place_in_a_key_is_no_label() {
        for wrong in ["", "a", "a=", "=b", "a=b=c", "a/b=c", "a=*", "a=ä", "a=$x"] {
            assert_eq!(
                wrong.parse::<Label>(),
                Err(LabelError::Form(wrong.into())),
                "{wrong}"
            );
        }
        let twice = "a=1,a=2".parse::<Labels>();
        assert_eq!(twice, Err(LabelError::Twice("a".into())));
        let many: Vec<String> = (0..17).map(|n| format!("k{n}=v")).collect();
        assert_eq!(many.join(",").parse::<Labels>(), Err(LabelError::Many(17)));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[a-c=,.-]{0,40}") {
            if let Ok(labels) = text.parse::<Labels>() {
                prop_assert_eq!(labels.to_string().parse(), Ok(labels));
            }
        }
    }
}
