//! Sessions on PostgreSQL, MariaDB or MySQL, SQLite and DuckDB behind one small interface.
//!
//! ```text
//! DSN ──► Target ──connect──► Session ── prepare ──► Statement
//!                                │── begin · execute · query · commit · rollback
//!                                │── batch   several statements of SQL as one text
//!                                └── load    rows as COPY, multi-row INSERT or prepared INSERT
//! ```
//!
//! A session is one connection that one task uses at a time; its futures run on a current-thread tokio
//! runtime and need neither a spawned task nor a lock: the task that awaits a call drives the connection.
//! Many sessions share a thread. Calls on SQLite finish without waiting, except for [`Session::begin`],
//! which waits in turns for the one writer that SQLite allows.
//!
//! Statements are written with `$1`, `$2`, … on every engine. Errors carry the SQLSTATE and a
//! [`Class`], by which callers decide whether to try again. A [`Target`] prints without its secrets.
//!
//! [`jdbc`] is the same for test plans that were written for JDBC: any statement, and results as text.

mod duckdb;
mod embedded;
mod error;
pub mod jdbc;
mod mysql;
mod placeholders;
mod postgres;
pub mod programs;
mod row;
mod rows;
mod session;
mod sqlite;
mod stream;
mod target;
mod time;
mod tls;
mod value;

pub use embedded::take_embedded_ns;
pub use error::{Class, SqlError};
pub use placeholders::parameters_of;
pub use row::Row;
pub use rows::RowWriter;
pub use session::{Begin, Session, Statement};
pub use sqlite::copy;
pub use target::{Engine, NotATarget, Target};
pub use time::{civil, text_of_time};
pub use value::{Decimal, Value};

/// Reads any bytes as if a PostgreSQL server had sent them: a target of fuzzing.
pub fn any_bytes_of_postgres(bytes: &[u8]) {
    postgres::any_bytes(bytes);
}

/// Reads any bytes as if a MariaDB server had sent them: a target of fuzzing.
pub fn any_bytes_of_mysql(bytes: &[u8]) {
    mysql::any_bytes(bytes);
}
