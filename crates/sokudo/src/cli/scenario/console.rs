//! The console's lines, from a person at a prompt or from a pipe.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use sokudo_model::Text;
use sokudo_scenario::Console;
use sokudo_scenario::console::{Next, Pace};
use sokudo_session::{Ended, Lab, ended_by, heard};

use crate::cli::Failure;

/// Lines that are remembered from one console to the next.
const HISTORY_MAX: usize = 1000;
/// Time between two looks for messages of the hosts while the prompt waits for a line.
const LISTEN: Duration = Duration::from_millis(200);

/// Carries out lines until their end. What was said is appended to `said`.
pub fn converse(lab: &mut Lab, said: &mut String) -> Ended {
    match std::io::stdin().is_terminal() {
        true => with_a_person(lab, said),
        false => with_a_pipe(lab, said),
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
                let says = Text::new("error-console-line")
                    .with("line", number)
                    .with("error", error);
                let failure = Failure::operator(says, Text::new("error-console-line-hint"));
                return Ended::Early(failure.into());
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

/// A person may mend a mistake: it is told, and the next line is read. Ctrl-C ends what is under way,
/// and not the console.
fn with_a_person(lab: &mut Lab, said: &mut String) -> Ended {
    let mut prompt = match Prompt::open() {
        Ok(prompt) => prompt,
        Err(failure) => return Ended::Early(failure.into()),
    };
    let mut console = Console::new(Pace::AtOnce);
    for number in 1u32.. {
        let text = match prompt.next_line(lab) {
            Heard::Line(text) => text,
            Heard::Nothing => continue,
            Heard::End => break,
            Heard::Terminated => return Ended::Interrupted,
        };
        match heard(&mut console, &text, number, lab) {
            Ok(next) => {
                said.push_str(&text);
                said.push('\n');
                if next == Next::End {
                    break;
                }
            }
            Err(refused) => {
                if let Ended::Early(refusal) = ended_by(refused) {
                    Failure::from(refusal).print();
                }
            }
        }
        if lab.stop.load(Ordering::Relaxed) && !prompt.is_terminated() {
            lab.run.go_on();
            (lab.voice)(&Text::new("console-stopped"));
        }
    }
    Ended::Well
}

/// Input of the prompt.
enum Heard {
    Line(String),
    /// Ctrl-C: the line that was begun is forgotten.
    Nothing,
    /// Ctrl-D.
    End,
    /// The program was asked to end.
    Terminated,
}

/// The prompt. Lines are edited on a thread of their own, so that the hosts are listened to meanwhile.
struct Prompt {
    wanted: SyncSender<()>,
    lines: Receiver<Result<String, ReadlineError>>,
    terminated: Arc<AtomicBool>,
}

impl Prompt {
    fn open() -> Result<Self, Failure> {
        let terminated = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&terminated))
            .map_err(|error| {
                Failure::run(Text::new("error-no-signals").with("error", error), None)
            })?;
        // Whether there can be one at all shows now.
        drop(editor()?);
        let (wanted, asked) = mpsc::sync_channel(1);
        let (heard, lines) = mpsc::sync_channel(1);
        std::thread::Builder::new()
            .name("prompt".into())
            .spawn(move || read_lines(&asked, &heard))
            .map_err(|error| {
                Failure::run(
                    Text::new("error-console-no-thread").with("error", error),
                    None,
                )
            })?;
        Ok(Self {
            wanted,
            lines,
            terminated,
        })
    }

    fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }

    /// Asks for a line and waits for it; what the hosts send meanwhile goes into the record.
    fn next_line(&mut self, lab: &mut Lab) -> Heard {
        if self.wanted.send(()).is_err() {
            return Heard::End;
        }
        loop {
            if self.is_terminated() {
                return Heard::Terminated;
            }
            return match self.lines.recv_timeout(LISTEN) {
                Ok(Ok(text)) => Heard::Line(text),
                Ok(Err(ReadlineError::Interrupted)) => Heard::Nothing,
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Heard::End,
                Err(RecvTimeoutError::Timeout) => {
                    lab.run.attend();
                    continue;
                }
            };
        }
    }
}

fn editor() -> Result<DefaultEditor, Failure> {
    DefaultEditor::new().map_err(|error| {
        Failure::operator(
            Text::new("error-console-terminal").with("error", error),
            Text::new("error-console-terminal-hint"),
        )
    })
}

/// Reads a line whenever one is wanted, and keeps the history.
///
/// An editor has Ctrl-C for itself as long as it lives: each line has its own, so that Ctrl-C ends a
/// load.
fn read_lines(wanted: &Receiver<()>, heard: &SyncSender<Result<String, ReadlineError>>) {
    let history = crate::cli::config().join("console-history");
    while wanted.recv().is_ok() {
        let Ok(mut editor) = editor() else {
            return;
        };
        // There is none before the first console.
        let _ = editor.load_history(&history);
        let line = editor.readline("sokudo> ");
        if let Ok(text) = &line {
            // A line that cannot be remembered is carried out all the same.
            let _ = editor.add_history_entry(text.as_str());
            remember(&mut editor, &history);
        }
        drop(editor);
        if heard.send(line).is_err() {
            return;
        }
    }
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
