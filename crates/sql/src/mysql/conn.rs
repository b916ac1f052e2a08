//! Commands of a session, and their results.
//!
//! ```text
//! ask ──► Asked ──► definitions ──► Rows ──► end of rows ──► More ──► the next result, or Idle
//!           └─────► OK ──► More or Idle
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder, ComStmtSendLongData};
use mysql_common::proto::{Binary, MySerialize as _, Text};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;
use mysql_common::{Row, Value};

use super::address::MySqlAddress;
use super::connect::{self, Peer};
use super::failure::Failure;
use super::packet::{self, Done, first};
use super::stream::Wire;
use crate::stream::Duplex;

/// Memory of the definitions of all columns of a result, as the server sends them, bytes.
const DEFINITION_BYTES: usize = 16 << 20;
/// Statements that a session keeps for those who prepare them again.
const KEPT_STATEMENTS: usize = 256;
/// Bytes of a parameter that travel in one packet, where they do not fit into the call.
const PIECE_BYTES: usize = 1 << 20;

const QUERY: u8 = 3;
const PREPARE: u8 = 0x16;
const CLOSE: u8 = 0x19;

/// A statement that the session has prepared.
pub(crate) struct Statement {
    id: u32,
    parameters: u16,
}

/// How a result begins.
#[derive(Debug)]
pub(crate) enum Given {
    /// Rows that the statement changed.
    Changed(u64),
    /// Rows follow, with these columns.
    Rows(Arc<[Column]>),
}

/// What the server owes.
enum State {
    Idle,
    /// An answer that has not begun. A call that was given up leaves it.
    Asked,
    Rows(Arc<[Column]>),
    /// Another result.
    More,
}

/// An open session.
pub(crate) struct Conn {
    wire: Wire<Box<dyn Duplex>>,
    peer: Peer,
    pub(crate) is_encrypted: bool,
    state: State,
    /// The statement whose results are read; `None` for a text, whose values are texts, too.
    current: Option<u32>,
    /// Columns of prepared statements, where the server does not tell them each time.
    columns: HashMap<u32, Arc<[Column]>>,
    statements: HashMap<String, Arc<Statement>>,
    /// A command, kept for its memory.
    command: Vec<u8>,
}

impl Conn {
    pub(crate) async fn open(
        address: &MySqlAddress,
        password: Option<&str>,
        more: CapabilityFlags,
    ) -> Result<Self, Failure> {
        let opened = connect::open(address, password, more).await?;
        Ok(Self {
            is_encrypted: opened.is_encrypted,
            ..Self::of(opened.wire, opened.peer)
        })
    }

    fn of(wire: Wire<Box<dyn Duplex>>, peer: Peer) -> Self {
        Self {
            wire,
            peer,
            is_encrypted: false,
            state: State::Idle,
            current: None,
            columns: HashMap::new(),
            statements: HashMap::new(),
            command: Vec::new(),
        }
    }

    /// Its connection.
    pub(crate) fn stream(&self) -> &dyn Duplex {
        self.wire.stream()
    }

    /// Number of the connection on its server.
    pub(crate) fn id(&self) -> u32 {
        self.peer.id
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        self.peer.version.contains("MariaDB")
    }

    /// Executes statements as a text, and reads how their first result begins.
    pub(crate) async fn query(&mut self, sql: &[u8]) -> Result<Given, Failure> {
        self.begin().await?;
        self.write(QUERY, sql);
        self.ask().await?;
        self.current = None;
        self.result().await
    }

    /// Whether [`Self::load`] can be tried.
    pub(crate) fn sends_rows(&self) -> bool {
        let sends = CapabilityFlags::CLIENT_LOCAL_FILES;
        self.peer.capabilities.contains(sends)
    }

    /// Executes a `LOAD DATA LOCAL`, whose file is what `next` writes piece by piece: it says whether more follows. No file of
    /// this host is ever opened.
    ///
    /// Errors: the server reports one, also before it has asked for anything.
    pub(crate) async fn load(
        &mut self,
        sql: &[u8],
        mut next: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Done, Failure> {
        self.begin().await?;
        self.write(QUERY, sql);
        self.ask().await?;
        self.current = None;
        if self.packet().await?.first() != Some(&first::FILE) {
            return Err(Failure::Garbled);
        }
        let (mut piece, mut more) = (Vec::new(), true);
        while more {
            piece.clear();
            more = next(&mut piece);
            if !piece.is_empty() {
                self.wire.put(&piece)?;
                self.wire.flush().await?;
            }
        }
        // A packet without bytes is its end.
        self.wire.put(&[])?;
        self.wire.flush().await?;
        let packet = self.packet().await?;
        if packet.first() != Some(&first::OK) {
            return Err(Failure::Garbled);
        }
        let done = packet::done(packet)?;
        self.state = after(done);
        self.finish().await?;
        Ok(done)
    }

    /// Executes statements as a text, and passes over their results.
    pub(crate) async fn batch(&mut self, sql: &[u8]) -> Result<(), Failure> {
        self.query(sql).await?;
        self.finish().await
    }

    /// Prepares a statement, or finds the one that was prepared from the same text.
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Arc<Statement>, Failure> {
        if let Some(found) = self.statements.get(sql) {
            return Ok(Arc::clone(found));
        }
        self.begin().await?;
        if self.statements.len() >= KEPT_STATEMENTS {
            self.forget()?;
        }
        self.write(PREPARE, sql.as_bytes());
        self.ask().await?;
        let (id, columns, parameters) = packet::prepared(self.packet().await?)?;
        self.definitions(parameters).await?;
        let columns = self.definitions(columns).await?;
        self.state = State::Idle;
        if self.omits() {
            self.columns.insert(id, columns);
        }
        let made = Arc::new(Statement { id, parameters });
        self.statements.insert(sql.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Executes a prepared statement, and reads how its first result begins.
    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value],
    ) -> Result<Given, Failure> {
        if values.len() != usize::from(statement.parameters) {
            return Err(Failure::Call(
                "the statement has another number of parameters",
            ));
        }
        self.begin().await?;
        let (call, is_long) = ComStmtExecuteRequestBuilder::new(statement.id).build(values);
        if is_long {
            self.put_long(statement.id, values)?;
        }
        self.command.clear();
        call.serialize(&mut self.command);
        self.ask().await?;
        self.current = Some(statement.id);
        self.result().await
    }

    /// The next row of the result; `None` behind its last one.
    pub(crate) async fn next_row(&mut self) -> Result<Option<Row>, Failure> {
        let State::Rows(columns) = &self.state else {
            return Ok(None);
        };
        let (columns, is_text) = (Arc::clone(columns), self.current.is_none());
        let Some(packet) = self.row().await? else {
            return Ok(None);
        };
        let mut packet = ParseBuf(packet);
        let row = match is_text {
            true => packet
                .parse::<RowDeserializer<ServerSide, Text>>(columns)
                .map(RowDeserializer::into_inner),
            false => packet
                .parse::<RowDeserializer<ServerSide, Binary>>(columns)
                .map(RowDeserializer::into_inner),
        };
        row.map(Some).map_err(|_| Failure::Garbled)
    }

    /// Passes over the rows that are left, and reads how the next result begins; `None` behind the last one.
    pub(crate) async fn next_result(&mut self) -> Result<Option<Given>, Failure> {
        while self.row().await?.is_some() {}
        match self.state {
            State::More => self.result().await.map(Some),
            _ => Ok(None),
        }
    }

    /// Passes over what is left of the results.
    pub(crate) async fn finish(&mut self) -> Result<(), Failure> {
        while self.next_result().await?.is_some() {}
        Ok(())
    }

    /// Makes the session ready for a command.
    ///
    /// Errors: an earlier call was given up, and its answer would be taken for the next one's.
    async fn begin(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Idle => Ok(()),
            State::Rows(_) | State::More => self.finish().await,
            State::Asked => Err(Failure::Lost("an earlier call was given up".into())),
        }
    }

    /// Writes a command, to be sent by [`Self::ask`].
    fn write(&mut self, command: u8, body: &[u8]) {
        self.command.clear();
        self.command.push(command);
        self.command.extend_from_slice(body);
    }

    /// Sends the command.
    async fn ask(&mut self) -> Result<(), Failure> {
        self.wire.put_command(&self.command)?;
        self.state = State::Asked;
        Ok(self.wire.flush().await?)
    }

    /// Puts the long parameters before the call that they belong to; no server answers.
    fn put_long(&mut self, id: u32, values: &[Value]) -> Result<(), Failure> {
        for (index, value) in (0..).zip(values) {
            let Value::Bytes(bytes) = value else { continue };
            // An empty one has to be sent, too.
            let pieces = bytes.chunks(PIECE_BYTES);
            for piece in pieces.chain(bytes.is_empty().then_some(&[][..])) {
                self.command.clear();
                ComStmtSendLongData::new(id, index, piece).serialize(&mut self.command);
                self.wire.put_command(&self.command)?;
            }
        }
        Ok(())
    }

    /// Lets the server forget the statements that nobody else holds, ahead of the next command.
    fn forget(&mut self) -> Result<(), Failure> {
        let (held, free): (HashMap<_, _>, HashMap<_, _>) = std::mem::take(&mut self.statements)
            .into_iter()
            .partition(|(_, statement)| Arc::strong_count(statement) > 1);
        self.statements = held;
        for statement in free.into_values() {
            self.columns.remove(&statement.id);
            self.write(CLOSE, &statement.id.to_le_bytes());
            self.wire.put_command(&self.command)?;
        }
        Ok(())
    }

    /// The next packet. Errors: the server reports one, which ends the command.
    async fn packet(&mut self) -> Result<&[u8], Failure> {
        let packet = self.wire.read().await?;
        if packet.first() == Some(&first::ERROR) {
            self.state = State::Idle;
        }
        packet::refusal(packet)?;
        Ok(packet)
    }

    /// Reads how a result begins.
    async fn result(&mut self) -> Result<Given, Failure> {
        let may_omit = self.current.is_some() && self.omits();
        let packet = self.packet().await?;
        let (count, is_told) = match packet.first() {
            Some(&first::OK) => {
                let done = packet::done(packet)?;
                self.state = after(done);
                return Ok(Given::Changed(done.changed));
            }
            Some(&first::FILE) => {
                let says = "the server asks for a file of this host";
                return Err(Failure::Lost(says.into()));
            }
            _ => packet::result(packet, may_omit)?,
        };
        let columns = match (self.current, is_told) {
            (Some(id), true) if may_omit => {
                let columns = self.definitions(count).await?;
                self.columns.insert(id, Arc::clone(&columns));
                columns
            }
            (_, true) => self.definitions(count).await?,
            (current, false) => {
                let known = current.and_then(|id| self.columns.get(&id));
                let known = known.filter(|known| known.len() == usize::from(count));
                Arc::clone(known.ok_or(Failure::Garbled)?)
            }
        };
        if columns.is_empty() {
            return Err(Failure::Garbled);
        }
        self.state = State::Rows(Arc::clone(&columns));
        Ok(Given::Rows(columns))
    }

    /// Reads the definitions of so many columns, or parameters.
    ///
    /// Errors: they are longer than memory is kept for.
    async fn definitions(&mut self, count: u16) -> Result<Arc<[Column]>, Failure> {
        let (mut columns, mut bytes) = (Vec::new(), 0);
        for _ in 0..count {
            let packet = self.packet().await?;
            bytes += packet.len();
            if bytes > DEFINITION_BYTES {
                let says = "the server sends longer definitions of columns than memory is kept for";
                return Err(Failure::Lost(says.into()));
            }
            columns.push(packet::column(packet)?);
        }
        if count > 0 && self.is_old() && self.packet().await?.first() != Some(&first::END) {
            return Err(Failure::Garbled);
        }
        Ok(columns.into())
    }

    /// The packet of the next row; `None` behind the last one.
    async fn row(&mut self) -> Result<Option<&[u8]>, Failure> {
        if !matches!(self.state, State::Rows(_)) {
            return Ok(None);
        }
        let is_old = self.is_old();
        let packet = self.wire.read().await?;
        if packet.first() == Some(&first::ERROR) {
            self.state = State::Idle;
        }
        packet::refusal(packet)?;
        match packet::end_of_rows(packet, is_old)? {
            None => Ok(Some(packet)),
            Some(done) => {
                self.state = after(done);
                Ok(None)
            }
        }
    }

    /// The server tells the columns of a prepared statement only when they have changed.
    fn omits(&self) -> bool {
        let omits = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
        self.peer.of_mariadb.contains(omits)
    }

    /// The server ends rows and definitions in the old form.
    fn is_old(&self) -> bool {
        let is_new = CapabilityFlags::CLIENT_DEPRECATE_EOF;
        !self.peer.capabilities.contains(is_new)
    }
}

fn after(done: Done) -> State {
    match done.has_more {
        true => State::More,
        false => State::Idle,
    }
}

/// Reads any bytes as the answers of a server: to a text, and to a statement that is prepared and executed.
pub(super) fn any_bytes(bytes: &[u8]) {
    for (capabilities, of_mariadb) in [
        (CapabilityFlags::empty(), MariadbCapabilities::empty()),
        (
            CapabilityFlags::CLIENT_DEPRECATE_EOF,
            MariadbCapabilities::all(),
        ),
    ] {
        let session = || {
            let answers = std::io::Cursor::new(bytes.to_vec());
            let stream = tokio::io::join(answers, tokio::io::sink());
            let mut wire = Wire::new(Box::new(stream) as Box<dyn Duplex>);
            wire.open();
            let peer = Peer {
                id: 0,
                version: String::new(),
                capabilities,
                of_mariadb,
            };
            Conn::of(wire, peer)
        };
        let text = async {
            let mut session = session();
            session.query(b"select 1").await?;
            while session.next_row().await?.is_some() {}
            session.finish().await
        };
        let prepared = async {
            let mut session = session();
            let statement = session.prepare("select 1").await?;
            let values = vec![Value::NULL; usize::from(statement.parameters)];
            session.execute(&statement, &values).await?;
            while session.next_row().await?.is_some() {}
            session.finish().await
        };
        // All of it is here: nothing waits.
        let _ = (text.now_or_never(), prepared.now_or_never());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_answer_ends_a_call(
            packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
        ) {
            let mut bytes = Vec::new();
            for (number, body) in (1_u8..).zip(&packets) {
                bytes.extend([body.len() as u8, 0, 0, number]);
                bytes.extend(body);
            }
            super::any_bytes(&bytes);
        }
    }
}
