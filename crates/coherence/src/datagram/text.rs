//! The vendor's text output, made of events.
//!
//! Text goes to a writer of the caller's; the table of results to the target that `-log` names.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use super::event::{Event, PacketWay};
use super::options::{CoherenceDatagramOptions, LogTarget};
use super::report::{self, LOG_HEADER, RxBlock, Writer};

/// Destination of the rows.
enum Table {
    Out,
    Stderr,
    File(File),
}

/// Shows a test as the vendor does.
pub struct Screen<'a> {
    out: &'a mut (dyn Write + Send),
    writer: Writer,
    log: Option<LogTarget>,
    several: bool,
    tables: HashMap<SocketAddr, Table>,
    /// The first failure to write; the test goes on without output.
    failed: Option<String>,
}

impl<'a> Screen<'a> {
    /// A screen for these options. `packet_size` as resolved, `listeners` how many there are.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        options: &CoherenceDatagramOptions,
        packet_size: u32,
        listeners: usize,
    ) -> Self {
        Self {
            out,
            writer: Writer {
                layout: options.layout,
                zone: TimeZone::system(),
                packet_size,
            },
            log: options.log.clone(),
            several: listeners > 1,
            tables: HashMap::new(),
            failed: None,
        }
    }

    /// Shows one event. Failures are kept for [`Screen::failure`].
    pub fn show(&mut self, event: &Event) {
        let outcome = match event {
            Event::Note(sentence) => self.text(&format!("{sentence}\n")),
            Event::Listening(start) => self.text(&self.writer.listener(start)),
            Event::Publishing(start) => self.text(&self.writer.publisher(start)),
            Event::Go(burst) => self.text(&self.writer.go(*burst)),
            Event::Receiving {
                listener,
                publishers,
            } => self.text(&self.writer.receiving(*listener, *publishers)),
            Event::Ticks { way, from, to } => {
                let (small, large) = match way {
                    PacketWay::In => ('i', 'I'),
                    PacketWay::Out => ('o', 'O'),
                };
                self.text(&report::ticks(small, large, *from, *to))
            }
            Event::Rx(report) => self.text(&self.writer.rx(report)),
            Event::Tx(report) => self.text(&self.writer.tx(report)),
            Event::Stopped(report) => self.text(&self.writer.stopped(report)),
            Event::IterationsReached => self.text("\niteration limit reached\n"),
            Event::Rows { listener, rows } => self.rows(*listener, rows),
        };
        if let Err(error) = outcome {
            self.failed.get_or_insert(error);
        }
    }

    /// Reason why output is missing, if it is.
    pub fn failure(self) -> Option<String> {
        self.failed
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        let written = self.out.write_all(text.as_bytes());
        written
            .and_then(|()| self.out.flush())
            .map_err(|error| format!("the output cannot be written: {error}"))
    }

    fn rows(&mut self, listener: SocketAddr, rows: &[RxBlock]) -> Result<(), String> {
        let Some(target) = &self.log else {
            return Ok(());
        };
        let mut text = String::new();
        if !self.tables.contains_key(&listener) {
            let (table, fresh) = open(target, self.several.then_some(listener))?;
            self.tables.insert(listener, table);
            if fresh {
                text.push_str(LOG_HEADER);
            }
        }
        for row in rows {
            text.push_str(&report::log_row(row));
        }
        let written = match self.tables.get_mut(&listener) {
            Some(Table::File(file)) => file.write_all(text.as_bytes()),
            Some(Table::Stderr) => io::stderr().write_all(text.as_bytes()),
            _ => return self.text(&text),
        };
        written.map_err(|error| format!("the table of results cannot be written: {error}"))
    }
}

/// Opens the table; true when it needs a header.
fn open(target: &LogTarget, listener: Option<SocketAddr>) -> Result<(Table, bool), String> {
    let path = match target {
        LogTarget::Stdout => return Ok((Table::Out, true)),
        LogTarget::Stderr => return Ok((Table::Stderr, true)),
        LogTarget::File(path) => path_of(path, listener),
    };
    let cannot =
        |error: io::Error| format!("the table `{}` cannot be opened: {error}", path.display());
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(cannot)?;
    let fresh = file.metadata().map_err(cannot)?.len() == 0;
    Ok((Table::File(file), fresh))
}

/// `<port>-<name>` in the same folder when there are several listeners.
pub fn path_of(path: &Path, listener: Option<SocketAddr>) -> PathBuf {
    match (listener, path.file_name()) {
        (Some(listener), Some(name)) => {
            let mut own = std::ffi::OsString::from(format!("{}-", listener.port()));
            own.push(name);
            path.with_file_name(own)
        }
        _ => path.to_owned(),
    }
}
