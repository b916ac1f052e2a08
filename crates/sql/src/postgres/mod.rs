//! Sessions on PostgreSQL.
//!
//! ```text
//! Config ──connect──► Link: outbox ─► server ─► inbox        connect, stream: bytes
//!                       ▲ wire: messages                      value: parameters and columns
//!                     Postgres: prepare · execute · query · pipeline · batch · load
//! ```
//!
//! A call writes its messages into the outbox, sends them at once, and reads up to the server's "ready". The
//! task that awaits a call moves the bytes: no other task is woken, and a call that is repeated allocates
//! nothing.

mod config;
mod connect;
mod failure;
mod stream;
mod value;
mod wire;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) use config::{Config, Host};
pub(crate) use connect::Canceller;
pub(crate) use failure::Failure;
pub(crate) use value::{EPOCH_2000, numeric_text, oid, read};
pub(crate) use wire::{Column, ServerError, any_bytes};

use crate::error::SqlError;
use crate::row::{EachRow, Inner, Row};
use crate::rows::{self, NextRow, RowWriter};
use crate::target::PostgresAddress;
use crate::tls::Connector;
use crate::value::Value;
use stream::Link;
use wire::tag;

/// Bytes of COPY that travel together.
const CHUNK_BYTES: usize = 64 << 10;

/// One session.
pub(crate) struct Postgres {
    link: Link,
    /// Answers that are still to come; those of calls that were given up are passed over.
    owed: u32,
    /// The last call is one of several messages, which end with a "sync".
    is_extended: bool,
    /// The server waits for rows of COPY.
    is_copying: bool,
    canceller: Canceller,
    pub(crate) is_encrypted: bool,
    /// Where the values of a row stand, kept for its memory.
    places: Vec<Option<(usize, usize)>>,
    /// Rows of each statement of a pipeline, kept for its memory.
    counts: Vec<u64>,
    /// Statements that nobody has any more.
    dropped: Dropped,
}

type Dropped = Arc<Mutex<Vec<String>>>;

/// A statement that a session has prepared; dropped, the server forgets it with the next one that is prepared.
#[derive(Clone)]
pub(crate) struct Statement(Arc<Prepared>);

struct Prepared {
    name: String,
    parameters: Vec<u32>,
    columns: Vec<Column>,
    /// Forms in which the values of the columns are asked for, as they stand in a message.
    forms: Vec<u8>,
    dropped: Dropped,
}

/// Form of a result's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Binary for the types that [`crate::value::Value`] has, text for all others.
    Readable,
    /// Binary.
    Binary,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Ok(mut dropped) = self.dropped.lock() {
            dropped.push(std::mem::take(&mut self.name));
        }
    }
}

impl Statement {
    pub(crate) fn columns(&self) -> &[Column] {
        &self.0.columns
    }
}

/// A row while it is being read.
pub(crate) struct PostgresRow<'r> {
    pub(crate) columns: &'r [Column],
    body: &'r [u8],
    places: &'r [Option<(usize, usize)>],
}

impl<'r> PostgresRow<'r> {
    /// The bytes of a column with its type; `None` for no value, and no such column.
    pub(crate) fn bytes(&self, column: usize) -> Option<(&'r [u8], u32)> {
        let (at, count) = self.places.get(column).copied().flatten()?;
        let ty = self.columns.get(column)?.ty;
        Some((self.body.get(at..at + count)?, ty))
    }
}

/// Consumer of the messages of an answer.
type EachMessage<'a> = &'a mut (dyn FnMut(u8, &[u8]) -> Result<(), Failure> + 'a);

impl Postgres {
    pub(crate) async fn connect(address: &PostgresAddress) -> Result<Self, SqlError> {
        let password = address.password();
        let tls = address.connector();
        let tls = tls.map_err(|error| SqlError::untrusted(error.to_string()))?;
        let opened = Self::open(&address.config, password.as_deref(), &tls).await;
        opened.map_err(Failure::told)
    }

    pub(crate) async fn open(
        config: &Config,
        password: Option<&str>,
        tls: &Connector,
    ) -> Result<Self, Failure> {
        let opened = connect::open(config, password, tls).await?;
        Ok(Self {
            link: opened.link,
            owed: 0,
            is_extended: false,
            is_copying: false,
            canceller: opened.canceller,
            is_encrypted: opened.is_encrypted,
            places: Vec::new(),
            counts: Vec::new(),
            dropped: Arc::default(),
        })
    }

    pub(crate) fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Begins a call: what is left of one that was given up is sent, and its answer passed over.
    async fn begin(&mut self) -> Result<(), Failure> {
        match self.owed > 0 || !self.link.outbox.is_empty() {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    #[cold]
    async fn settle(&mut self) -> Result<(), Failure> {
        self.flush().await?;
        if self.is_copying {
            self.end_copy().await?;
        }
        while self.owed > 0 {
            // Its errors were those of a call that nobody waits for.
            match self.answer(&mut |_, _| Ok(())).await {
                Err(failure) if failure.is_lost() => return Err(failure),
                Err(_) | Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Sends statements as one text.
    async fn send_text(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin().await?;
        wire::query(&mut self.link.outbox, sql)?;
        self.owed += 1;
        self.is_extended = false;
        self.flush().await
    }

    /// Sends a call of several messages.
    async fn send(&mut self) -> Result<(), Failure> {
        wire::sync(&mut self.link.outbox);
        self.owed += 1;
        self.is_extended = true;
        self.flush().await
    }

    /// Tells a server that waits for rows that none will come. It has passed over the "sync" behind the statement.
    #[cold]
    async fn end_copy(&mut self) -> Result<(), Failure> {
        self.is_copying = false;
        wire::copy_fail(&mut self.link.outbox);
        if self.is_extended {
            wire::sync(&mut self.link.outbox);
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        match self.link.flush().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words(error).await),
        }
    }

    /// Why a server closed the connection, if it said so before.
    #[cold]
    async fn last_words(&mut self, error: std::io::Error) -> Failure {
        while let Ok((tag, body)) = self.link.next().await {
            if tag == tag::ERROR {
                let said = wire::server_error(self.link.body(body));
                if said.is_fatal() {
                    return Failure::Server(Box::new(said));
                }
            }
        }
        error.into()
    }

    /// Reads up to the server's "ready". Its first error is the answer, or that of `each`.
    async fn answer(&mut self, each: EachMessage<'_>) -> Result<(), Failure> {
        let mut answer = Ok(());
        loop {
            let (tag, range) = self.link.next().await?;
            let body = self.link.body(range);
            match tag {
                tag::READY => {
                    self.owed -= 1;
                    return answer;
                }
                tag::ERROR => {
                    let said = Failure::Server(Box::new(wire::server_error(body)));
                    if said.is_lost() {
                        return Err(said);
                    }
                    answer = answer.and(Err(said));
                }
                tag::COPY_IN => self.end_copy().await?,
                tag => {
                    if answer.is_ok() {
                        answer = each(tag, body);
                    }
                }
            }
        }
    }

    /// Waits for the rows that a command changed or gave; those of the last one of several.
    async fn count(&mut self) -> Result<u64, Failure> {
        let mut count = 0;
        self.answer(&mut |tag, body| {
            if tag == tag::COMMAND_COMPLETE {
                count = wire::rows_of(body);
            }
            Ok(())
        })
        .await?;
        Ok(count)
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), Failure> {
        self.send_text(sql).await?;
        self.answer(&mut |_, _| Ok(())).await
    }

    /// Prepares a statement; parameters without a type of their own have the one that the server finds.
    pub(crate) async fn prepare(
        &mut self,
        sql: &str,
        types: &[u32],
        form: Form,
    ) -> Result<Statement, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        self.begin().await?;
        let dropped = self
            .dropped
            .lock()
            .map(|mut names| std::mem::take(&mut *names));
        for name in dropped.unwrap_or_default() {
            wire::close_statement(&mut self.link.outbox, &name)?;
        }
        // Names of all sessions differ: a statement of another session is an error of the server.
        let name = format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let outbox = &mut self.link.outbox;
        wire::parse(outbox, &name, sql, types)?;
        wire::describe_statement(outbox, &name)?;
        self.send().await?;
        let (mut parameters, mut columns) = (Vec::new(), Vec::new());
        self.answer(&mut |tag, body| {
            match tag {
                tag::PARAMETERS => parameters = wire::parameters(body)?,
                tag::ROWS => columns = wire::columns(body)?,
                _ => {}
            }
            Ok(())
        })
        .await?;
        Ok(Statement(Arc::new(Prepared {
            name,
            forms: value::forms(&columns, form),
            parameters,
            columns,
            dropped: Arc::clone(&self.dropped),
        })))
    }

    /// Writes the messages that execute a statement.
    fn put(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<(), Failure> {
        let Prepared {
            name,
            parameters,
            forms,
            ..
        } = &*statement.0;
        let outbox = &mut self.link.outbox;
        value::bind(outbox, name, parameters, values, forms)?;
        wire::execute(outbox);
        Ok(())
    }

    /// Executes a statement; returns how many rows it changed, or gave.
    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<u64, Failure> {
        self.begin().await?;
        self.put(statement, values)?;
        self.send().await?;
        self.count().await
    }

    /// Executes a statement and hands its rows over; returns how many it changed, or gave.
    pub(crate) async fn query(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<u64, Failure> {
        self.begin().await?;
        self.put(statement, values)?;
        self.send().await?;
        let read = self.rows(Some(statement.columns()), each).await;
        read.map(|(_, count)| count)
    }

    /// Executes a statement without values and name in one round trip, behind `first` if there is such a command.
    /// Rows come with binary values. Returns its columns, and how many rows it changed, or gave.
    pub(crate) async fn query_once(
        &mut self,
        first: Option<&str>,
        sql: &str,
        each: EachRow<'_>,
    ) -> Result<(Vec<Column>, u64), Failure> {
        self.begin().await?;
        let outbox = &mut self.link.outbox;
        if let Some(command) = first {
            wire::query(outbox, command)?;
            self.owed += 1;
        }
        let outbox = &mut self.link.outbox;
        wire::parse(outbox, "", sql, &[])?;
        value::bind(outbox, "", &[], &[], &value::forms(&[], Form::Binary))?;
        wire::describe_portal(outbox);
        wire::execute(outbox);
        self.send().await?;
        let begun = match first {
            Some(_) => self.answer(&mut |_, _| Ok(())).await,
            None => Ok(()),
        };
        let read = self.rows(None, each).await;
        begun.and(read)
    }

    /// Reads rows, whose columns the answer tells where they are not known.
    async fn rows(
        &mut self,
        columns: Option<&[Column]>,
        each: EachRow<'_>,
    ) -> Result<(Vec<Column>, u64), Failure> {
        let (mut places, mut count) = (std::mem::take(&mut self.places), 0);
        let mut told = Vec::new();
        let read = self
            .answer(&mut |tag, body| match tag {
                tag::DATA_ROW => {
                    wire::values(body, &mut places)?;
                    let row = PostgresRow {
                        columns: columns.unwrap_or(&told),
                        body,
                        places: &places,
                    };
                    each(&Row(Inner::Postgres(&row))).map_err(Failure::Call)
                }
                tag::ROWS => {
                    told = wire::columns(body)?;
                    Ok(())
                }
                tag::COMMAND_COMPLETE => {
                    count = wire::rows_of(body);
                    Ok(())
                }
                _ => Ok(()),
            })
            .await;
        self.places = places;
        read.map(|()| (told, count))
    }

    /// Executes several statements without waiting in between. They are one transaction, if they do not begin
    /// and end one: after an error the server passes over those behind it. Returns how many rows each of them
    /// changed, or gave.
    pub(crate) async fn pipeline<'s>(
        &mut self,
        steps: impl Iterator<Item = (&'s Statement, &'s [Value<'s>])>,
    ) -> Result<&[u64], Failure> {
        self.begin().await?;
        let mut sent = 0;
        for (statement, values) in steps {
            sent += 1;
            if let Err(failure) = self.put(statement, values) {
                // Those before it were not sent.
                self.link.outbox.clear();
                return Err(failure);
            }
        }
        self.send().await?;
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        let answered = self
            .answer(&mut |tag, body| {
                match tag {
                    tag::COMMAND_COMPLETE | tag::EMPTY if counts.len() == sent => {
                        return Err(Failure::Garbled);
                    }
                    tag::COMMAND_COMPLETE => counts.push(wire::rows_of(body)),
                    tag::EMPTY => counts.push(0),
                    _ => {}
                }
                Ok(())
            })
            .await;
        self.counts = counts;
        answered?;
        match self.counts.len() == sent {
            true => Ok(&self.counts),
            false => Err(Failure::Garbled),
        }
    }

    /// Another handle of its TCP connection; `None` for a socket of this host.
    pub(crate) fn tcp(&self) -> Option<std::net::TcpStream> {
        self.link.tcp()
    }

    pub(crate) async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, Failure> {
        let sql = format!("copy {table} ({}) from stdin", columns.join(", "));
        self.send_text(&sql).await?;
        loop {
            let (tag, range) = self.link.next().await?;
            match tag {
                tag::COPY_IN => break,
                tag::ERROR => return Err(self.refused(range).await),
                tag::READY => return Err(Failure::Garbled),
                _ => {}
            }
        }
        self.is_copying = true;
        let mut writer = RowWriter::new(rows::Form::Copy);
        let mut more = true;
        while more {
            wire::copy_data_begin(&mut writer.text);
            while more && writer.text.len() < CHUNK_BYTES {
                more = next(&mut writer);
            }
            wire::copy_data_end(&mut writer.text)?;
            std::mem::swap(&mut self.link.outbox, &mut writer.text);
            self.flush().await?;
            std::mem::swap(&mut self.link.outbox, &mut writer.text);
            // The server reads rows that it has refused to their end: one look spares them.
            self.link.look().await?;
            if let Some((tag::ERROR, range)) = self.link.arrived()? {
                self.is_copying = false;
                return Err(self.refused(range).await);
            }
        }
        wire::copy_done(&mut self.link.outbox);
        self.is_copying = false;
        self.flush().await?;
        self.count().await
    }

    /// An error, after which the server's "ready" is still to come.
    async fn refused(&mut self, body: Range<usize>) -> Failure {
        let said = Failure::Server(Box::new(wire::server_error(self.link.body(body))));
        match said.is_lost() {
            true => said,
            false => match self.answer(&mut |_, _| Ok(())).await {
                Ok(()) => said,
                Err(lost) => lost,
            },
        }
    }
}
