//! Tables of a source and of what was restored from its dump, by the number and a checksum of their rows.

use sokudo_sql::{Session, SqlError};
use tokio::runtime::Runtime;

use super::watch::{Watch, Wrong};
use crate::digest::Digest;

/// A table on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// Its name.
    pub table: &'static str,
    /// Rows of the source.
    pub source: Digest,
    /// Rows that were restored.
    pub restored: Digest,
}

impl Compared {
    /// True when both have the same rows, in any order.
    pub fn is_same(&self) -> bool {
        self.source == self.restored
    }
}

/// Reads all rows of these tables on both sides.
///
/// Errors: those of the database, and the end of the watch.
pub(super) fn compare(
    runtime: &Runtime,
    watch: &Watch<'_>,
    tables: &[&'static str],
    (mut source, mut restored): (Session, Session),
) -> Result<Vec<Compared>, Wrong> {
    watch.until(runtime, async {
        let mut all = Vec::with_capacity(tables.len());
        for &table in tables {
            all.push(Compared {
                table,
                source: digest(&mut source, table, watch).await?,
                restored: digest(&mut restored, table, watch).await?,
            });
        }
        Ok(all)
    })
}

async fn digest(session: &mut Session, table: &str, watch: &Watch<'_>) -> Result<Digest, SqlError> {
    let statement = session.prepare(&format!("select * from {table}")).await?;
    let mut digest = Digest::default();
    let each = session.query(&statement, &[], |row| match watch.goes_on() {
        true => digest.add(row),
        // SQLite reads on without giving the thread away.
        false => Err(SqlError::timeout()),
    });
    each.await?;
    Ok(digest)
}
