//! The languages of messages, and the choice of the reader's one.

use std::fmt;
use std::str::FromStr;

use sokudo_model::Text;

/// A language that every message exists in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lang {
    /// English.
    En,
    /// Japanese.
    Ja,
}

/// A language was named that sokudo has no messages in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLang(pub String);

impl fmt::Display for UnknownLang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a language of sokudo; there are `en` and `ja`",
            self.0
        )
    }
}

impl std::error::Error for UnknownLang {}

impl UnknownLang {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-value-lang").word("text", &self.0)
    }
}

impl Lang {
    /// Every language, in the order in which they are offered.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Ja];

    /// The language of this process: `SOKUDO_LANG`, then `LC_ALL`, `LC_MESSAGES`, `LANG`; English
    /// when none of them names Japanese.
    pub fn from_env() -> Lang {
        const NAMES: [&str; 4] = ["SOKUDO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
        Lang::from_values(NAMES.iter().filter_map(|name| std::env::var(name).ok()))
    }

    /// The language that the first value which is not empty asks for: `ja_JP.UTF-8` is Japanese,
    /// everything else English.
    pub fn from_values(values: impl IntoIterator<Item = String>) -> Lang {
        values
            .into_iter()
            .find(|value| !value.trim().is_empty())
            .and_then(|value| value.parse().ok())
            .unwrap_or(Lang::En)
    }

    /// Code for `lang` attributes and file names: `en`, `ja`.
    pub fn code(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Ja => "ja",
        }
    }

    /// The language's own name for itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Lang::En => "English",
            Lang::Ja => "日本語",
        }
    }
}

impl FromStr for Lang {
    type Err = UnknownLang;

    /// A code with or without region and encoding: `ja`, `ja_JP.UTF-8`, `en-GB`.
    fn from_str(text: &str) -> Result<Self, UnknownLang> {
        let code = text.trim().split(['_', '-', '.', '@']).next();
        match code.map(str::to_ascii_lowercase).as_deref() {
            Some("ja") => Ok(Lang::Ja),
            Some("en") => Ok(Lang::En),
            _ => Err(UnknownLang(text.into())),
        }
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: Lang) {
        assert_eq!(
            Lang::from_values(values.iter().map(|v| v.to_string())),
            expected,
            "{values:?}"
        );
    }

    #[test]
    fn the_first_value_that_is_set_decides() {
        check(&[], Lang::En);
        check(&["", "ja_JP.UTF-8", "en_US.UTF-8"], Lang::Ja);
        check(&["en", "ja_JP.UTF-8"], Lang::En);
        check(&["C.UTF-8", "ja_JP.UTF-8"], Lang::En);
        check(&["ja-JP"], Lang::Ja);
    }

    #[test]
    fn an_unknown_language_is_named() {
        let error = "fr".parse::<Lang>().unwrap_err().to_string();
        assert!(error.contains("`fr`") && error.contains("`ja`"), "{error}");
    }
}
