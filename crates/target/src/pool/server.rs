//! A database server: PostgreSQL, MariaDB or MySQL, by its URL.
//!
//! Every connection of the pool has a current-thread runtime of its own, which turns only while a worker waits for
//! an answer: that worker's thread is held as long as its statement takes, as in an application server.

use std::time::Duration;

use sokudo_sql::{Engine, Session as Connection, SqlError, Statement as Prepared, Target, Value};
use tokio::runtime::{Builder, Runtime};

use super::database::{Database, NoDatabase, READ, ROWS, Session, Statement};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest wait for the answer to a statement.
const ANSWER: Duration = Duration::from_secs(60);

/// The database.
pub(super) struct Server {
    target: Target,
    limit: Option<u64>,
}

/// A connection to it.
struct ServerSession {
    // Closed before the runtime goes that its socket belongs to.
    connection: Connection,
    search: Prepared,
    update: Prepared,
    next: i64,
    runtime: Runtime,
}

impl Server {
    /// Connects once, makes the table where there is none, and asks how many connections the server takes.
    ///
    /// Errors: the URL names no database, or the server gives no connection or no table.
    pub(super) fn open(url: &str) -> Result<Self, NoDatabase> {
        let target: Target = url
            .parse()
            .map_err(|error: sokudo_sql::NotATarget| NoDatabase::Refused(error.to_string()))?;
        let refused = |error: String| NoDatabase::Refused(error);
        let runtime = runtime().map_err(refused)?;
        let limit = runtime.block_on(prepared(&target));
        let limit = limit.map_err(|error| refused(error.to_string()))?;
        Ok(Self { target, limit })
    }
}

impl Database for Server {
    fn session(&self) -> Result<Box<dyn Session>, String> {
        let runtime = runtime()?;
        let connected = runtime.block_on(async {
            let mut connection = Connection::connect(&self.target, CONNECT).await?;
            let search = "select sum(amount) from sokudo_item where id between $1 and $2";
            let search = connection.prepare(search).await?;
            let update = "update sokudo_item set amount = amount + 1 where id = $1";
            let update = connection.prepare(update).await?;
            Ok::<_, SqlError>((connection, search, update))
        });
        let (connection, search, update) = connected.map_err(|error| error.to_string())?;
        Ok(Box::new(ServerSession {
            connection,
            search,
            update,
            next: 0,
            runtime,
        }))
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }
}

impl Session for ServerSession {
    fn execute(&mut self, statement: Statement) -> Result<(), String> {
        self.next = self.next % ROWS + 1;
        let row = Value::Int(self.next);
        let connection = &mut self.connection;
        let (search, update) = (&self.search, &self.update);
        let call = async {
            match statement {
                Statement::Search => {
                    let range = [row, Value::Int(self.next + READ)];
                    connection.query(search, &range, |_| Ok(())).await
                }
                Statement::Update => connection.execute(update, &[row]).await.map(drop),
            }
        };
        let bounded = async {
            let done = tokio::time::timeout(ANSWER, call).await;
            done.unwrap_or_else(|_| Err(SqlError::timeout()))
        };
        let done = self.runtime.block_on(bounded);
        done.map_err(|error| error.to_string())
    }
}

fn runtime() -> Result<Runtime, String> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| error.to_string())
}

/// Makes the table and its rows; the number of connections that the server takes.
async fn prepared(target: &Target) -> Result<Option<u64>, SqlError> {
    let mut connection = Connection::connect(target, CONNECT).await?;
    let table =
        "create table if not exists sokudo_item (id bigint primary key, amount bigint not null)";
    connection.batch(table).await?;
    let rows: Vec<String> = (1..=ROWS).map(|id| format!("({id},0)")).collect();
    let rows = rows.join(",");
    let (fill, limit) = match target.engine() {
        Engine::MySql => (
            format!("insert ignore into sokudo_item values {rows}"),
            "select cast(@@max_connections as signed)",
        ),
        Engine::Postgres | Engine::Sqlite | Engine::DuckDb => (
            format!("insert into sokudo_item values {rows} on conflict do nothing"),
            "select current_setting('max_connections')::int8 \
             - current_setting('superuser_reserved_connections')::int8",
        ),
    };
    connection.batch(&fill).await?;
    let told = connection.rows(limit, &[]).await?;
    Ok(match told.into_iter().flatten().next() {
        Some(Value::Int(limit)) => u64::try_from(limit).ok(),
        _ => None,
    })
}
