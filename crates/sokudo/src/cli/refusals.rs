//! Tests that each option refuses wrong values in the reader's language.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, CommandFactory};
use sokudo_i18n::{I18n, Lang, english};
use sokudo_model::Text;

use super::{Cli, sentence};

/// Words that few options take; each is tried on all of them.
const WRONG: &[&str] = &[
    "?",
    "0",
    "-1",
    "x",
    "x=",
    "x=1",
    "=1",
    "1..x",
    "a..b",
    "5parsecs",
    "1/0",
    "p99",
    "users=9..1",
    "users=1..x",
    "rate=1",
    "rate=1,1",
    "rate=1,",
    "rate=9..1",
    "rate=1..9:99999",
    "rate=1..9:x0",
    "99999999999999999999999",
    "a b",
    "101%",
    "schedule:x",
    "open:x",
    "1kb",
    "2h",
    "::",
];

/// True where a sentence holds Japanese outside of what it quotes.
fn is_japanese(text: &str) -> bool {
    // The odd pieces between quotes are what was typed, and code.
    let outside = text.split(['`', '\'']).step_by(2);
    outside
        .flat_map(str::chars)
        .any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

fn each_command(command: &Command, path: &str, visit: &mut impl FnMut(&str, &Command)) {
    visit(path, command);
    for inner in command.get_subcommands() {
        each_command(inner, &format!("{path} {}", inner.get_name()), visit);
    }
}

/// The refusal of a word by an option; `None` where the option takes it.
fn refusal(command: &Command, arg: &Arg, word: &str) -> Option<clap::Error> {
    let mut words = vec!["sokudo".to_owned()];
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => words.push(format!("--{long}={word}")),
        (None, Some(short)) => words.extend([format!("-{short}"), word.to_owned()]),
        (None, None) => words.extend(["--".to_owned(), word.to_owned()]),
    }
    let error = command.clone().try_get_matches_from(words).err()?;
    (error.kind() == ErrorKind::ValueValidation).then_some(error)
}

#[test]
fn every_option_refuses_wrong_values_in_japanese_and_in_the_parsers_english() {
    let command = Cli::command();
    let japanese = I18n::new(Lang::Ja);
    let (mut refused, mut offences) = (0, Vec::new());
    each_command(&command, "sokudo", &mut |path, command| {
        let takes = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        for arg in command.get_arguments().filter(takes) {
            for error in WRONG.iter().filter_map(|word| refusal(command, arg, word)) {
                refused += 1;
                let says: Text = sentence(&error).says;
                let told = japanese.text(&says);
                // What introduces the reason is Japanese in any case.
                let reason = told.split_once(": ").map_or("", |(_, reason)| reason);
                let is_own = says.as_words().is_none();
                if !is_own || !is_japanese(reason) || is_japanese(&english(&says)) {
                    offences.push(format!("{path}: {told}"));
                }
            }
        }
    });
    assert!(offences.is_empty(), "{}", offences.join("\n"));
    assert!(refused > 1000, "only {refused} refusals were tried");
}
