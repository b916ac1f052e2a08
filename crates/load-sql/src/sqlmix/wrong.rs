//! Mistakes in the file of a mix, with place and reason.

use sokudo_model::Text;

/// Something that cannot be carried out, found before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// Line of the file, from 1.
    pub line: u32,
    /// The construct, and what is wrong with it.
    pub says: Text,
}

impl Wrong {
    pub(super) fn new(line: u32, key: &str) -> Self {
        Self {
            line,
            says: Text::new(key),
        }
    }

    /// The same with the construct in question.
    pub(super) fn at(line: u32, key: &str, what: impl Into<String>) -> Self {
        /// Characters that are repeated of what a file holds.
        const MOST: usize = 60;
        let what: String = what.into();
        let shown: String = what.chars().take(MOST).collect();
        Self {
            line,
            says: Text::new(key).word("what", shown.trim()),
        }
    }

    /// The message that says what to do.
    pub(super) fn hint(&self) -> &'static str {
        match self.says.key.as_str() {
            "error-sqlmix-command" | "error-sqlmix-capture" => "error-sqlmix-command-hint",
            "error-sqlmix-branch" | "error-sqlmix-branch-open" => "error-sqlmix-branch-hint",
            "error-sqlmix-function" | "error-sqlmix-arguments" => "error-sqlmix-function-hint",
            "error-sqlmix-pipeline-within"
            | "error-sqlmix-pipeline-end"
            | "error-sqlmix-pipeline-open"
            | "error-sqlmix-pipeline-written" => "error-sqlmix-pipeline-hint",
            "error-sqlmix-variable" => "error-sqlmix-variable-hint",
            "error-sqlmix-range" | "error-sqlmix-ways" => "error-sqlmix-ways-hint",
            _ => "error-sqlmix-wrong-hint",
        }
    }
}
