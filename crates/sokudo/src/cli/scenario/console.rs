//! Who speaks at the console: a person, or a pipe?

use std::io::{BufRead, IsTerminal};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use sokudo_scenario::console::{Next, Pace, Refused};
use sokudo_scenario::{Console, line};

use super::Ended;
use super::lab::Lab;
use crate::cli::Failure;

/// Lines that are remembered from one console to the next.
const HISTORY_MAX: usize = 1000;

/// Carries out lines until their end. What was said is appended to `said`.
pub fn converse(lab: &mut Lab, said: &mut String) -> Ended {
    match std::io::stdin().is_terminal() {
        true => with_a_person(lab, said),
        false => with_a_pipe(lab, said),
    }
}

/// How a line that was not carried out ends a script.
pub fn ended_by(refused: Refused) -> Ended {
    if let Refused::Failed { failed, .. } = &refused
        && failed.interrupted
    {
        return Ended::Interrupted;
    }
    Ended::Early(failure_of(&refused))
}

fn failure_of(refused: &Refused) -> Failure {
    let hint = refused.hint().unwrap_or_default().to_owned();
    match refused {
        Refused::Mistake(_) => Failure::operator(refused.to_string(), hint),
        Refused::Failed { .. } => Failure::run(refused.to_string(), Some(hint)),
    }
}

fn with_a_pipe(lab: &mut Lab, said: &mut String) -> Ended {
    let mut console = Console::new(Pace::Gather);
    let mut last = 0;
    for (text, number) in std::io::stdin().lock().lines().zip(1u32..) {
        last = number;
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                return Ended::Early(Failure::operator(
                    format!("line {number} cannot be read: {error}"),
                    "give it UTF-8 text",
                ));
            }
        };
        said.push_str(&text);
        said.push('\n');
        match heard(&mut console, &text, number, lab) {
            Ok(Next::Line) => {}
            Ok(Next::End) => return Ended::Well,
            Err(refused) => return ended_by(refused),
        }
    }
    match console.end(last, lab) {
        Ok(()) => Ended::Well,
        Err(refused) => ended_by(refused),
    }
}

/// Carries out one line; an empty one does nothing.
pub fn heard(
    console: &mut Console,
    text: &str,
    number: u32,
    lab: &mut Lab,
) -> Result<Next, Refused> {
    match line::parse_line(text, number)? {
        Some(line) => console.execute(&line, lab),
        None => Ok(Next::Line),
    }
}

/// A person may mend a mistake: it is told, and the next line is read.
fn with_a_person(lab: &mut Lab, said: &mut String) -> Ended {
    let mut editor = match DefaultEditor::new() {
        Ok(editor) => editor,
        Err(error) => {
            let hint = "pipe the lines into it, or use `sokudo run FILE.sks`";
            return Ended::Early(Failure::operator(
                format!("lines cannot be edited on this terminal: {error}"),
                hint,
            ));
        }
    };
    let history = crate::cli::config().join("console-history");
    // There is none before the first console.
    let _ = editor.load_history(&history);
    let mut console = Console::new(Pace::AtOnce);
    let mut ended = Ended::Well;
    for number in 1u32.. {
        let text = match editor.readline("sokudo> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(_) => break,
        };
        // A line that cannot be remembered is carried out all the same.
        let _ = editor.add_history_entry(text.as_str());
        match heard(&mut console, &text, number, lab) {
            Ok(next) => {
                said.push_str(&text);
                said.push('\n');
                if next == Next::End {
                    break;
                }
            }
            Err(refused) => match ended_by(refused) {
                Ended::Interrupted => {
                    ended = Ended::Interrupted;
                    break;
                }
                Ended::Early(failure) => failure.print(),
                Ended::Well => {}
            },
        }
    }
    remember(&mut editor, &history);
    ended
}

/// Keeps the history; a home that cannot be written to forgets it.
fn remember(editor: &mut DefaultEditor, history: &std::path::Path) {
    use rustyline::history::History as _;
    let _ = editor.history_mut().set_max_len(HISTORY_MAX);
    if let Some(folder) = history.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.save_history(history);
}
