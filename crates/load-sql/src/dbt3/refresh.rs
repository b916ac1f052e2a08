//! The two refreshes: new orders come in, and the same orders go again, so that a database is afterwards what it was.

use std::fmt::Write as _;

use sokudo_sql::{Begin, Session, SqlError};

use super::data::{Columns, Maker, Table};

/// Rows of one statement.
const ROWS: usize = 500;
/// Tells orders of refreshes from all others by their keys.
const IS_NEW: &str = "(o_orderkey - 1) % 32 >= 8";

/// One set of new orders, as statements.
pub(super) struct Refresh {
    inserts: Vec<String>,
    deletes: Vec<String>,
}

impl Refresh {
    /// The set with this number.
    pub(super) fn new(maker: &mut Maker, set: i64) -> Self {
        let mut inserts = Vec::new();
        let mut keys = Vec::new();
        for table in [Table::Orders, Table::LineItem] {
            let mut rows = Rows::default();
            maker.write_refresh(set, table, &mut rows);
            let (name, columns) = table.columns();
            let columns = columns.join(", ");
            for some in rows.rows.chunks(ROWS) {
                let rows = some.join(", ");
                inserts.push(format!("insert into {name} ({columns}) values {rows}"));
            }
            if table == Table::Orders {
                keys = rows.keys;
            }
        }
        let mut deletes = Vec::new();
        for (table, column) in [("lineitem", "l_orderkey"), ("orders", "o_orderkey")] {
            for some in keys.chunks(ROWS) {
                let keys = some.join(", ");
                deletes.push(format!(
                    "delete from dbt3_{table} where {column} in ({keys})"
                ));
            }
        }
        Self { inserts, deletes }
    }

    /// The first refresh: the orders come in.
    pub(super) async fn insert(&self, session: &mut Session) -> Result<(), SqlError> {
        together(session, &self.inserts).await
    }

    /// The second one: they go.
    pub(super) async fn delete(&self, session: &mut Session) -> Result<(), SqlError> {
        together(session, &self.deletes).await
    }
}

/// Statements as one transaction.
async fn together(session: &mut Session, statements: &[String]) -> Result<(), SqlError> {
    session.begin(Begin::Write).await?;
    for statement in statements {
        session.batch(statement).await?;
    }
    session.commit().await
}

/// Removes what the refreshes of a run that was ended early have left.
pub(super) async fn clear(session: &mut Session) -> Result<(), SqlError> {
    let orders = format!("delete from dbt3_orders where {IS_NEW}");
    let lines = orders
        .replace("dbt3_orders", "dbt3_lineitem")
        .replace("o_", "l_");
    together(session, &[lines, orders]).await
}

/// Rows as tuples of a statement, and their keys.
#[derive(Default)]
struct Rows {
    rows: Vec<String>,
    keys: Vec<String>,
    row: String,
}

impl Rows {
    fn next(&mut self) {
        let before = if self.row.is_empty() { "(" } else { ", " };
        self.row.push_str(before);
    }
}

impl Columns for Rows {
    fn int(&mut self, value: i64) {
        if self.row.is_empty() {
            self.keys.push(value.to_string());
        }
        self.next();
        // Writing to a string cannot fail.
        let _ = write!(self.row, "{value}");
    }

    /// A test says that none of the words holds a quote.
    fn text(&mut self, value: &str) {
        self.next();
        let _ = write!(self.row, "'{value}'");
    }

    fn end(&mut self) {
        self.row.push(')');
        self.rows.push(std::mem::take(&mut self.row));
    }
}
