//! The vendor's text output, made of events.

use std::io::Write;

use super::event::Event;
use super::options::CoherenceBusOptions;
use super::report::{TABLE_HEAD, lines, row};

/// Shows a test as the vendor does: reports on one writer, events on another.
pub struct Screen<'a> {
    out: &'a mut (dyn Write + Send),
    notes: &'a mut (dyn Write + Send),
    tabular: bool,
    verbose: bool,
    head_written: bool,
    /// The first failure to write; the test goes on without output.
    failed: Option<String>,
}

impl<'a> Screen<'a> {
    /// A screen for these options.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        notes: &'a mut (dyn Write + Send),
        options: &CoherenceBusOptions,
    ) -> Self {
        Self {
            out,
            notes,
            tabular: options.tabular,
            verbose: options.verbose,
            head_written: false,
            failed: None,
        }
    }

    /// Shows one event. Failures are kept for [`Screen::failure`].
    pub fn show(&mut self, event: &Event) {
        match event {
            Event::Note(sentence) => self.note(format!("{sentence}\n")),
            Event::Open { on } => self.note(format!("OPEN event for {on}\n")),
            Event::Connect { peer, on } => self.note(format!("CONNECT event for {peer} on {on}\n")),
            Event::Disconnect { peer, on, why, .. } => self.note(format!(
                "DISCONNECT event for {peer} content {why} on {on}\nRELEASE event for {peer} on {on}\n"
            )),
            Event::Prompt { peer } => self.print(format!("Press ENTER to send message to {peer}\n")),
            Event::Report(report) if self.tabular => {
                let head = match std::mem::replace(&mut self.head_written, true) {
                    true => "",
                    false => TABLE_HEAD,
                };
                self.print(format!("{head}{}", row(report)));
            }
            Event::Report(report) => self.print(lines(report, self.verbose)),
        }
    }

    /// Reason why output is missing, if it is.
    pub fn failure(self) -> Option<String> {
        self.failed
    }

    fn print(&mut self, text: String) {
        let written = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        if let Err(why) = written {
            self.failed
                .get_or_insert(format!("the output cannot be written: {why}"));
        }
    }

    fn note(&mut self, text: String) {
        // Without a place for notes there is none to complain on either.
        let _ = self
            .notes
            .write_all(text.as_bytes())
            .and_then(|()| self.notes.flush());
    }
}
