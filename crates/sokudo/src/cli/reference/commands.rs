//! The page of commands: every command with its arguments and options.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};
use sokudo_i18n::I18n;

use super::{head, markdown, say};
use crate::cli::Cli;
use crate::cli::help::Words;

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let mut root = Cli::command();
    root.build();
    let page = Page {
        words: Words::new(said.lang()),
        arguments: say(said, "reference-arguments"),
        options: say(said, "reference-options"),
    };
    let mut out = head(said, "commands");
    out.push('\n');
    page.contents(&root, &mut out);
    page.command(&mut root, &[], &mut out);
    out
}

struct Page {
    words: Words,
    arguments: String,
    options: String,
}

impl Page {
    /// One line per top-level command.
    fn contents(&self, root: &Command, out: &mut String) {
        for command in shown(root) {
            let name = command.get_name();
            let about = self.words.about(&[name]);
            let first = about.split("\n\n").next().unwrap_or_default();
            let _ = writeln!(out, "- [`{name}`](#sokudo-{name}): {}", markdown(first));
        }
    }

    /// A command that these words lead to, and everything below it.
    fn command(&self, command: &mut Command, path: &[&str], out: &mut String) {
        let level = if path.len() > 1 { "###" } else { "##" };
        let name = [&["sokudo"], path].concat().join(" ");
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        let lines: Vec<&str> = usage.lines().map(str::trim).collect();
        let _ = write!(
            out,
            "\n{level} {name}\n\n{}\n\n```text\n{}\n```\n",
            markdown(&self.words.about(path)),
            lines.join("\n")
        );
        let listed = |arg: &&Arg| {
            !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
        };
        let (arguments, options): (Vec<&Arg>, Vec<&Arg>) = command
            .get_arguments()
            .filter(listed)
            .partition(|arg| arg.is_positional());
        self.args(&self.arguments, &arguments, path, out);
        self.args(&self.options, &options, path, out);
        if let Some(after) = self.words.after(command, path) {
            let _ = write!(out, "\n```text\n{}\n```\n", after.trim_end());
        }
        let below: Vec<String> = shown(command)
            .map(|sub| sub.get_name().to_owned())
            .collect();
        for name in &below {
            if let Some(sub) = command.find_subcommand_mut(name) {
                self.command(sub, &[path, &[name]].concat(), out);
            }
        }
    }

    fn args(&self, heading: &str, args: &[&Arg], path: &[&str], out: &mut String) {
        if args.is_empty() {
            return;
        }
        let _ = write!(out, "\n**{heading}**\n\n");
        for arg in args {
            let text = markdown(&self.words.arg(arg, path).unwrap_or_default());
            let text = text.replace('\n', "\n  ").replace("\n  \n", "\n\n");
            let _ = writeln!(out, "- `{}`: {text}", typed(arg));
        }
    }
}

/// The subcommands that help shows.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

/// An argument as typed: `-o, --output <FILE>`, `[RUN]`.
fn typed(arg: &Arg) -> String {
    let styled = arg.to_string();
    match arg.get_short() {
        Some(short) if arg.get_long().is_some() => format!("-{short}, {styled}"),
        _ => styled,
    }
}
