//! SQLite inside this process, in a file.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, params};
use tempfile::TempDir;

use super::database::{Database, READ, ROWS, Session, Statement};

/// Longest wait for the one who writes.
const BUSY: Duration = Duration::from_secs(10);

/// The database.
pub(super) struct Sqlite {
    path: PathBuf,
    /// Deleted in the end, unless a file was named.
    _folder: Option<TempDir>,
}

struct SqliteSession {
    connection: Connection,
    next: i64,
}

impl Sqlite {
    /// Opens a file, a temporary one for an empty path, and makes the table when there is none.
    pub(super) fn open(path: &str) -> Result<Self, String> {
        let folder = match path.is_empty() {
            true => Some(tempfile::tempdir().map_err(|error| error.to_string())?),
            false => None,
        };
        let path = match &folder {
            Some(folder) => folder.path().join("target.db"),
            None => PathBuf::from(path),
        };
        let database = Self {
            path,
            _folder: folder,
        };
        let connection = database.connect().map_err(|error| error.to_string())?;
        create(&connection).map_err(|error| error.to_string())?;
        Ok(database)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY)?;
        // Readers and the writer do not wait for each other.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        Ok(connection)
    }
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS sokudo_item (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)",
    )?;
    connection.execute(
        "WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?1)
         INSERT OR IGNORE INTO sokudo_item SELECT id, 0 FROM ids",
        params![ROWS],
    )?;
    Ok(())
}

impl Database for Sqlite {
    fn session(&self) -> Result<Box<dyn Session>, String> {
        let connection = self.connect().map_err(|error| error.to_string())?;
        Ok(Box::new(SqliteSession {
            connection,
            next: 0,
        }))
    }
}

impl SqliteSession {
    /// Numbers from 1 to the last row, one after the other.
    fn row(&mut self) -> i64 {
        self.next = self.next % ROWS + 1;
        self.next
    }
}

impl Session for SqliteSession {
    fn execute(&mut self, statement: Statement) -> Result<(), String> {
        let row = self.row();
        let done = match statement {
            Statement::Search => self.connection.query_row(
                "SELECT sum(amount) FROM sokudo_item WHERE id BETWEEN ?1 AND ?2",
                params![row, row + READ],
                |row| row.get::<_, i64>(0).map(drop),
            ),
            Statement::Update => {
                let update = "UPDATE sokudo_item SET amount = amount + 1 WHERE id = ?1";
                self.connection.execute(update, params![row]).map(drop)
            }
        };
        done.map_err(|error| error.to_string())
    }
}
