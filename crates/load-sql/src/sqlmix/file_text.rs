//! A file of a mix as an option: its name and weight, and once it was read, its text.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use sokudo_i18n::TextError;

/// A file of transactions: `FILE`, `FILE@WEIGHT`; with the text itself after a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its name, as it was typed.
    pub path: String,
    /// Weight in the draw, in relation to the others.
    pub weight: u32,
    /// Its content; `None` until it is read.
    pub text: Option<String>,
}

impl FileText {
    /// Whether it is a mix in TOML; any other file is a script.
    pub fn is_toml(&self) -> bool {
        let extension = Path::new(&self.path).extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// Its name without folders and extension.
    pub fn stem(&self) -> &str {
        let stem = Path::new(&self.path).file_stem();
        stem.and_then(|stem| stem.to_str()).unwrap_or(&self.path)
    }
}

impl FromStr for FileText {
    type Err = TextError;

    fn from_str(typed: &str) -> Result<Self, TextError> {
        let (name, text) = match typed.split_once('\n') {
            Some((name, text)) => (name, Some(text.to_owned())),
            None => (typed, None),
        };
        let (path, weight) = match name.rsplit_once('@') {
            Some((path, weight)) => (path, weight.parse().ok()),
            None => (name, Some(1)),
        };
        match weight {
            Some(weight) if !path.is_empty() => Ok(Self {
                path: path.into(),
                weight,
                text,
            }),
            _ => Err(TextError::value("error-value-mix-file", name)),
        }
    }
}

impl fmt::Display for FileText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.path, self.weight)?;
        match &self.text {
            Some(text) => write!(f, "\n{text}"),
            None => Ok(()),
        }
    }
}

sokudo_workload::json_as_text!(FileText);

/// A variable with its value: `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FromStr for Define {
    type Err = TextError;

    fn from_str(typed: &str) -> Result<Self, TextError> {
        let both = typed.split_once('=');
        match both.filter(|(name, _)| super::program::is_name(name)) {
            Some((name, value)) => Ok(Self {
                name: name.into(),
                value: value.into(),
            }),
            None => Err(TextError::value("error-value-define", typed)),
        }
    }
}

impl fmt::Display for Define {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

sokudo_workload::json_as_text!(Define);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_weights_and_texts_and_survive_as_text() {
        for (typed, path, weight, text) in [
            ("a.sql", "a.sql", 1, None),
            ("a@b/c.sql@3", "a@b/c.sql", 3, None),
            ("a.sql@0\nselect 1", "a.sql", 0, Some("select 1")),
        ] {
            let file: FileText = typed.parse().expect(typed);
            assert_eq!(
                (file.path.as_str(), file.weight, file.text.as_deref()),
                (path, weight, text)
            );
            assert_eq!(
                file.to_string().parse::<FileText>().expect("the same"),
                file
            );
        }
        for wrong in ["", "@3", "a.sql@", "a.sql@x", "a.sql@-1"] {
            assert!(wrong.parse::<FileText>().is_err(), "{wrong}");
        }
        assert!("1a=2".parse::<Define>().is_err());
    }
}
