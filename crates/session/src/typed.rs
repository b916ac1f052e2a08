//! Options of a workload that were not understood, as one sentence and one hint.

use sokudo_model::Refusal;
use sokudo_workload::refusal::operator;

/// Error of the option parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// What is wrong.
    pub says: String,
    /// Its advice, where it helps.
    pub tip: Option<String>,
}

/// The parser's paragraphs as one sentence and its tip.
pub fn sentence(text: &str) -> Sentence {
    let mut paragraphs = text.split("\n\n");
    let one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = one_line(paragraphs.next().unwrap_or_default());
    let says = first.strip_prefix("error: ").unwrap_or(&first);
    // Its tip to pass an unknown option as a value does not help here.
    let tip = paragraphs
        .find_map(|p| p.trim_start().strip_prefix("tip: ").map(one_line))
        .filter(|tip| !tip.starts_with("to pass "));
    Sentence {
        says: says.to_owned(),
        tip,
    }
}

/// The same for options of a workload that stand outside of a command line.
pub(crate) fn not_understood(error: &clap::Error, workload: &str) -> Refusal {
    let Sentence { says, tip } = sentence(&error.to_string());
    let hint = tip.unwrap_or_else(|| format!("`sokudo {workload} --help` shows what can be typed"));
    operator(says, hint)
}
