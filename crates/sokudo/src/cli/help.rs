//! Puts `--help` into the reader's language.
//!
//! The English texts are the doc comments of commands and options. `locales/*/help.ftl` hold them and
//! their translations under these keys, and a test compares:
//!
//! ```text
//! help-jmx-run               what `sokudo jmx run` does
//! help-jmx-run-after         what stands below its options
//! help-jmx-run--duration     its option `--duration`
//! help-any--json             `--json` of every command that has no text of its own for it
//! help-any--data-share       a value of an option
//! ```

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use sokudo_i18n::{I18n, Lang};

/// Columns before the text of an option that begins on a line of its own.
const INDENT: usize = 10;
/// Columns of a help page at most.
const WIDEST: usize = 100;
/// The command of an option that means the same everywhere.
const ANY: &str = "any";

/// A command, which these words lead to, with its help in this language.
pub fn in_language(mut command: Command, path: &[&str], lang: Lang) -> Command {
    if lang == Lang::En {
        return command;
    }
    command.build();
    let columns = terminal_size::terminal_size().map_or(WIDEST, |(width, _)| width.0.into());
    let words = Words::new(lang);
    // The parser takes headings that live as long as the program.
    let heading = |key| String::leak(words.say(key)) as &'static str;
    let translator = Translator {
        commands: heading("help-heading-commands"),
        arguments: heading("help-heading-arguments"),
        options: heading("help-heading-options"),
        columns: columns.min(WIDEST),
        words,
    };
    translator.command(command, path)
}

/// The language that a command line asks for, also one that cannot be understood.
pub fn language(words: &[String]) -> Lang {
    let mut after = words.iter().skip_while(|word| *word != "--lang").skip(1);
    let joined = || words.iter().find_map(|word| word.strip_prefix("--lang="));
    let asked = after.next().map(String::as_str).or_else(joined);
    asked
        .and_then(|asked| asked.parse().ok())
        .unwrap_or_else(Lang::from_env)
}

/// Texts of help and reference for commands and options, in one language and without line breaks.
pub struct Words {
    texts: I18n,
}

impl Words {
    /// The words of this language.
    pub fn new(lang: Lang) -> Self {
        Self {
            texts: I18n::help(lang),
        }
    }

    /// Description of a command.
    pub fn about(&self, path: &[&str]) -> String {
        self.say(&command_key(path))
    }

    /// Text below the options of a command that has one.
    pub fn after(&self, command: &Command, path: &[&str]) -> Option<String> {
        let key = format!("{}-after", command_key(path));
        let has = command.get_after_help().is_some() && self.texts.has(&key);
        has.then(|| self.say(&key))
    }

    /// Meaning of an option, with its default, its variable and its values; `None` for one without
    /// a text.
    pub fn arg(&self, arg: &Arg, path: &[&str]) -> Option<String> {
        let key = self.arg_key(path, arg.get_id().as_str())?;
        let mut text = self.say(&key);
        let (head, details) = self.notes(arg, &key);
        if !head.is_empty() {
            let end = text.find("\n\n").unwrap_or(text.len());
            text.insert_str(end, &head);
        }
        text.push_str(&details);
        Some(text)
    }

    /// A message of `help.ftl` without values.
    pub fn say(&self, key: &str) -> String {
        self.texts.message(key, &[])
    }

    /// Default, variable and values of an option.
    fn notes(&self, arg: &Arg, key: &str) -> (String, String) {
        let mut head = String::new();
        let mut note = |key: &str, value: String| {
            head.push(' ');
            head.push_str(&self.texts.message(key, &[("value", &value)]));
        };
        let defaults = arg.get_default_values();
        if !arg.is_hide_default_value_set() && !defaults.is_empty() && takes(arg) {
            let defaults: Vec<_> = defaults
                .iter()
                .map(|value| value.to_string_lossy())
                .collect();
            note("help-note-default", defaults.join(" "));
        }
        if let Some(variable) = arg.get_env() {
            note("help-note-env", variable.to_string_lossy().into_owned());
        }
        let values = possible(arg);
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        if !names.is_empty() {
            note("help-note-values", names.join(", "));
        }
        let told = |value: &PossibleValue| {
            value.get_help()?;
            let text = self.say(&value_key(key, value));
            Some(format!("- {}: {text}", value.get_name()))
        };
        let told: Vec<String> = values.iter().filter_map(told).collect();
        let details = match told.is_empty() {
            true => String::new(),
            false => format!("\n\n{}", told.join("\n")),
        };
        (head, details)
    }

    /// The key of an option's text: its own, or that of all options of this name.
    fn arg_key(&self, path: &[&str], id: &str) -> Option<String> {
        let keys = [arg_key(path, id), any_key(id)];
        keys.into_iter().find(|key| self.texts.has(key))
    }
}

struct Translator {
    words: Words,
    commands: &'static str,
    arguments: &'static str,
    options: &'static str,
    columns: usize,
}

impl Translator {
    /// A command that is reached by these words, and everything below it.
    fn command(&self, command: Command, path: &[&str]) -> Command {
        let about = self.words.about(path);
        let (short, long) = self.wrapped(&about, if path.is_empty() { 0 } else { INDENT });
        let (_, whole) = self.wrapped(&about, 0);
        let template = format!(
            "{{before-help}}{{about-with-newline}}\n{} {{usage}}\n\n{{all-args}}{{after-help}}",
            self.words.say("help-heading-usage")
        );
        let mut command = command
            .about(short)
            .help_template(template)
            .next_line_help(true)
            .subcommand_help_heading(self.commands);
        if let (Some(_), Some(whole)) = (long, whole) {
            command = command.long_about(whole);
        }
        if let Some(after) = self.words.after(&command, path) {
            command = command.after_help(after);
        }
        command
            .mut_args(|arg| self.arg(arg, path))
            .mut_subcommands(|sub| {
                let name = sub.get_name().to_owned();
                match name.as_str() {
                    _ if sub.is_hide_set() => sub,
                    "help" => sub.about(self.words.say("help-help")),
                    name => self.command(sub, &[path, &[name]].concat()),
                }
            })
    }

    fn arg(&self, arg: Arg, path: &[&str]) -> Arg {
        let Some(text) = self.words.arg(&arg, path) else {
            return arg;
        };
        let (short, long) = self.wrapped(&text, INDENT);
        let heading = match arg.is_positional() {
            true => self.arguments,
            false => self.options,
        };
        let arg = arg
            .help_heading(heading)
            .hide_default_value(true)
            .hide_env(true)
            .hide_possible_values(true);
        // The parser's own option has two texts.
        let own = arg.get_long_help().is_some().then(|| short.clone());
        let arg = arg.help(short);
        match long.or(own) {
            Some(long) => arg.long_help(long),
            None => arg,
        }
    }

    /// The first paragraph, and all of them when there are several, in lines that fit.
    fn wrapped(&self, text: &str, indent: usize) -> (String, Option<String>) {
        let width = self.columns.saturating_sub(indent).max(INDENT);
        let fit = |text: &str| {
            let lines = text.lines();
            let fitted = lines.map(|line| sokudo_report::wrap(line, width).join("\n"));
            fitted.collect::<Vec<_>>().join("\n")
        };
        match text.split_once("\n\n") {
            Some((first, _)) => (fit(first), Some(fit(text))),
            None => (fit(text), None),
        }
    }
}

fn takes(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The values of an option that has a list of them.
fn possible(arg: &Arg) -> Vec<PossibleValue> {
    let hidden = arg.is_hide_possible_values_set() || !takes(arg);
    let values = if hidden {
        Vec::new()
    } else {
        arg.get_possible_values()
    };
    values
        .into_iter()
        .filter(|value| !value.is_hide_set())
        .collect()
}

fn command_key(path: &[&str]) -> String {
    match path {
        [] => "help-sokudo".into(),
        path => format!("help-{}", path.join("-")),
    }
}

fn arg_key(path: &[&str], id: &str) -> String {
    format!("{}--{}", command_key(path), id.replace('_', "-"))
}

fn any_key(id: &str) -> String {
    arg_key(&[ANY], id)
}

fn value_key(arg_key: &str, value: &PossibleValue) -> String {
    format!("{arg_key}-{}", value.get_name().replace('.', "_"))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write as _;

    use clap::CommandFactory;
    use sokudo_i18n::keys_of;

    use super::*;
    use crate::cli::Cli;

    /// Text of an option, and its values: `(value, text)`.
    type Words = (String, Vec<(String, String)>);

    /// Texts of commands by key, and of options by name and command.
    #[derive(Default)]
    struct Found {
        commands: BTreeMap<String, String>,
        options: BTreeMap<String, BTreeMap<Vec<String>, Words>>,
    }

    impl Found {
        fn look(&mut self, command: &Command, path: &[&str]) {
            let about = command.get_long_about().or(command.get_about());
            let key = command_key(path);
            if let Some(after) = command.get_after_help() {
                self.commands
                    .insert(format!("{key}-after"), after.to_string());
            }
            let about = about.map(ToString::to_string).unwrap_or_default();
            self.commands.insert(key, about);
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let help = arg.get_long_help().or(arg.get_help());
                let values = possible(arg).into_iter().filter_map(|value| {
                    let help = value.get_help()?.to_string();
                    Some((value_key("", &value), help))
                });
                let words = (
                    help.map(ToString::to_string).unwrap_or_default(),
                    values.collect(),
                );
                let id = arg.get_id().as_str().to_owned();
                let path = path.iter().map(|word| (*word).to_owned()).collect();
                self.options.entry(id).or_default().insert(path, words);
            }
            for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
                self.look(sub, &[path, &[sub.get_name()]].concat());
            }
        }

        /// Every key that `help.ftl` must have, with its English text.
        fn texts(self) -> BTreeMap<String, String> {
            let mut texts = self.commands;
            let mut add = |key: String, (text, values): &Words| {
                for (value, text) in values {
                    texts.insert(format!("{key}{value}"), text.clone());
                }
                texts.insert(key, text.clone());
            };
            for (id, by_command) in &self.options {
                let times = |words: &Words| by_command.values().filter(|w| *w == words).count();
                let shared = by_command.values().max_by_key(|words| times(words));
                let shared = shared.filter(|words| times(words) > 1);
                if let Some(words) = shared {
                    add(any_key(id), words);
                }
                for (path, words) in by_command {
                    if Some(words) != shared {
                        let path: Vec<&str> = path.iter().map(String::as_str).collect();
                        add(arg_key(&path, id), words);
                    }
                }
            }
            texts
        }
    }

    fn expected() -> BTreeMap<String, String> {
        let mut found = Found::default();
        found.look(&Cli::command(), &[]);
        found.texts()
    }

    /// A message as it stands in a Fluent file.
    fn entry(key: &str, text: &str) -> String {
        let mut out = format!("{key} =");
        let braces = |c: char| match c {
            '{' | '}' => format!("{{\"{c}\"}}"),
            c => c.to_string(),
        };
        let lines: Vec<String> = text
            .lines()
            .map(|l| l.chars().map(braces).collect())
            .collect();
        if let [line] = lines.as_slice() {
            let _ = writeln!(out, " {line}");
            return out;
        }
        out.push('\n');
        for line in lines {
            match line.is_empty() {
                true => out.push('\n'),
                false => {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
        out
    }

    #[test]
    fn every_text_of_the_help_exists_in_both_languages_and_is_the_one_that_was_translated() {
        let kept = I18n::help(Lang::En);
        let mut missing = String::new();
        let expected = expected();
        for (key, text) in &expected {
            let text = text.trim_end();
            if kept.message(key, &[]).trim_end() != text {
                missing.push_str(&entry(key, text));
            }
        }
        assert!(
            missing.is_empty(),
            "the help says this now; put it into locales/en/help.ftl, and its translation into \
             locales/ja/help.ftl:\n{missing}"
        );
        let own = [
            "help-heading-",
            "help-note-",
            "help-help",
            "help-any--help",
            "help-any--version",
        ];
        let unused: BTreeSet<&str> = keys_of("help")
            .filter(|key| !expected.contains_key(*key))
            .filter(|key| !own.iter().any(|own| key.starts_with(own)))
            .collect();
        assert!(
            unused.is_empty(),
            "no command or option has these: {unused:?}"
        );
    }

    #[test]
    fn the_japanese_help_leaves_nothing_in_english() {
        fn look(command: &mut Command, path: &str) {
            let told = command.render_long_help().to_string();
            let english = ["Usage:", "Options:", "Arguments:", "Commands:", "Print "];
            for word in english {
                assert!(!told.contains(word), "{path}: `{word}` in\n{told}");
            }
            assert!(!told.contains("[help-"), "{path}:\n{told}");
            let names: Vec<String> = command
                .get_subcommands()
                .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
                .map(|sub| sub.get_name().to_owned())
                .collect();
            for name in names {
                let sub = command.find_subcommand_mut(&name).expect("it was listed");
                look(sub, &format!("{path} {name}"));
            }
        }
        look(&mut in_language(Cli::command(), &[], Lang::Ja), "sokudo");
    }

    #[test]
    fn the_language_is_the_one_that_was_typed() {
        let words = |typed: &str| typed.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(language(&words("rr --lang ja --nonsense")), Lang::Ja);
        assert_eq!(language(&words("rr --lang=ja")), Lang::Ja);
        assert_eq!(language(&words("rr --lang en --help")), Lang::En);
    }
}
