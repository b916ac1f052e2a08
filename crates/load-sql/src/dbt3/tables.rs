//! Fills the tables: several sessions take chunk after chunk.

use std::cell::RefCell;

use sokudo_sql::{RowWriter, Session, SqlError, Target};

use super::data::{Chunk, Maker, Sizes, Table, chunks};
use super::schema::TABLES;
use crate::db::CONNECT;
use crate::drive::Loaded;
use crate::tables::{close, create, fill, finish};

/// Makes the tables anew and fills them for so many hundredths of the scale factor.
///
/// Errors: those of the server. Tables that were not filled completely have no suppliers.
pub(super) async fn init(target: &Target, hundredths: u32) -> Result<Loaded, SqlError> {
    let sizes = Sizes {
        suppliers: i64::from(hundredths) * 100,
    };
    let mut session = Session::connect(target, CONNECT).await?;
    create(&mut session, &TABLES).await?;
    let others = Table::ALL
        .into_iter()
        .filter(|table| *table != Table::Supplier);
    let parts: Vec<Chunk> = others.flat_map(|table| chunks(table, sizes)).collect();
    let maker = RefCell::new(Maker::new(sizes));
    let load_chunk = async |session: &mut Session, chunk| load(session, chunk, &maker).await;
    let mut rows = fill(target, |number| parts.get(number).copied(), load_chunk).await?;
    finish(target, &TABLES).await?;
    // Last: the number of suppliers says how large the database is.
    for chunk in chunks(Table::Supplier, sizes) {
        rows += load(&mut session, chunk, &maker).await?;
    }
    close(&mut session, "dbt3_supplier").await?;
    Ok(Loaded { rows })
}

/// Rows are made some keys at a time, so that a session never holds a whole chunk.
async fn load(
    session: &mut Session,
    chunk: Chunk,
    maker: &RefCell<Maker>,
) -> Result<u64, SqlError> {
    let (table, columns) = chunk.table.columns();
    let mut some = chunk.pieces();
    let next = |row: &mut RowWriter| match some.next() {
        Some(piece) => {
            maker.borrow_mut().write(piece, row);
            true
        }
        None => false,
    };
    session.load(table, columns, next).await
}
