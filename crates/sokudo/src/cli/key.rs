//! Keys from the command line, the environment or a file, never shown.
//!
//! The parser of options repeats what it cannot understand; a mistyped key must not stand in a
//! terminal's or a job's log. So any text passes there, and is judged here.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use sokudo_wire::Key;

use super::Failure;

/// A key as it was typed.
#[derive(Clone)]
pub struct KeyText(String);

impl FromStr for KeyText {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::typed(text))
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText(hidden)")
    }
}

impl KeyText {
    /// A key that stands in a file.
    pub fn typed(text: &str) -> Self {
        Self(text.trim().to_owned())
    }
}

/// The key that was typed; an empty text, such as an empty SOKUDO_KEY, is none.
///
/// Errors: the text is not a key; says why without repeating it.
pub fn parse(typed: Option<&KeyText>) -> Result<Option<Key>, Failure> {
    let Some(KeyText(text)) = typed.filter(|typed| !typed.0.is_empty()) else {
        return Ok(None);
    };
    text.parse::<Key>()
        .map(Some)
        .map_err(|why| Failure::operator(why.text(), why.hint()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_is_not_repeated() {
        let typed: KeyText = "sk1-secretsecret".parse().unwrap();
        let failure = parse(Some(&typed)).unwrap_err();
        assert!(!format!("{failure:?}{typed:?}").contains("secretsecret"));
        assert!(parse(Some(&" ".parse().unwrap())).unwrap().is_none());
    }
}
