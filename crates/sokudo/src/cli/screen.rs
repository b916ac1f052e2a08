//! Colours, escape codes and width that the terminal takes.

use std::io::IsTerminal;
use std::path::Path;

use indicatif::ProgressDrawTarget;
use sokudo_i18n::I18n;
use sokudo_model::{Text, harmless};
use sokudo_report::{text_columns, wrap};

use super::language;

/// Columns where no terminal tells its own.
const COLUMNS: usize = 80;
/// Fewest columns that a sentence is set in.
const COLUMNS_MIN: usize = 20;

/// Whether escape sequences may be written to a stream: of colours, and of lines drawn again.
pub fn escapes(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !refused && !dumb && stream.is_terminal()
}

/// A path as it is shown: a folder that somebody sent may have a name with escape sequences in it.
pub fn shown_path(path: &Path) -> String {
    harmless(&path.display().to_string()).into_owned()
}

/// Draw target of progress bars: hidden when a line cannot be drawn again.
pub fn bar_target() -> ProgressDrawTarget {
    match escapes(&std::io::stderr()) {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    }
}

/// Columns of the terminal.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| usize::from(width.0))
}

/// Writes a sentence about what goes on to stderr.
pub fn tell(text: &str) {
    tell_behind("  ", text);
}

/// The same with something in front of it, under which no line of it begins.
pub fn tell_behind(lead: &str, text: &str) {
    match std::io::stderr().is_terminal() {
        true => eprintln!("{}", laid_out(lead, text, width())),
        // A program that reads it line by line needs it in one line.
        false => eprintln!("{lead}{text}"),
    }
}

/// Says where something is reached, or what to do next, on stdout because scripts wait for it.
pub fn announce(text: &Text) {
    println!("{}", I18n::new(language()).text(text));
}

/// Says on stderr what becomes of the command itself.
pub fn tell_status(text: &Text) {
    eprintln!("  {}", I18n::new(language()).text(text));
}

fn laid_out(lead: &str, text: &str, width: usize) -> String {
    let indent = text_columns(lead);
    let room = width.saturating_sub(indent).max(COLUMNS_MIN);
    let lines: Vec<String> = text.lines().flat_map(|line| wrap(line, room)).collect();
    format!("{lead}{}", lines.join(&format!("\n{:indent$}", "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_steer_the_terminal() {
        let path = Path::new("runs/a\u{1b}[2J\u{202e}b");
        assert_eq!(shown_path(path), "runs/a [2J\u{fffd}b");
        assert_eq!(shown_path(Path::new("runs/日本")), "runs/日本");
    }

    #[test]
    fn a_sentence_stands_beside_its_lead() {
        assert_eq!(laid_out("  ", "one line", 80), "  one line");
        let text = "a sentence that is longer than the terminal is wide";
        let laid = laid_out("  run  ", text, 30);
        assert_eq!(
            laid,
            "  run  a sentence that is\n       longer than the\n       terminal is wide"
        );
        assert!(laid_out("  ", text, 0).lines().all(|line| line.len() <= 22));
    }
}
