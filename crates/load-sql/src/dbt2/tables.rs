//! Fills the tables: several sessions take part after part.

use sokudo_sql::{Session, SqlError, Target};

use super::rows::Part;
use super::schema::TABLES;
use crate::db::CONNECT;
use crate::draw::Texts;
use crate::drive::Loaded;
use crate::tables::{close, create, fill, finish};

/// Makes the tables anew and fills them for so many warehouses.
///
/// Errors: those of the server. Tables that were not filled completely have no warehouses.
pub(super) async fn init(target: &Target, warehouses: u32) -> Result<Loaded, SqlError> {
    let warehouses = i64::from(warehouses);
    let mut session = Session::connect(target, CONNECT).await?;
    create(&mut session, &TABLES).await?;
    let texts = Texts::new();
    let number = |number| part(number, warehouses);
    let load_part = async |session: &mut Session, part| load(session, part, &texts).await;
    let mut rows = fill(target, number, load_part).await?;
    finish(target, &TABLES).await?;
    // Last: the number of warehouses says how large the database is.
    for warehouse in 1..=warehouses {
        rows += load(&mut session, Part::Warehouse(warehouse), &texts).await?;
    }
    close(&mut session, "dbt2_warehouse").await?;
    Ok(Loaded { rows })
}

/// The part with this number. The largest ones of all warehouses come first: small ones in the end let no session
/// fill a table while the others have nothing to do any more.
fn part(number: usize, warehouses: i64) -> Option<Part> {
    let Some(number) = number.checked_sub(1) else {
        return Some(Part::Items);
    };
    let count = usize::try_from(warehouses).ok()?;
    let warehouse = number.checked_rem(count)? as i64 + 1;
    Part::of(warehouse).get(number / count).copied()
}

async fn load(session: &mut Session, part: Part, texts: &Texts) -> Result<u64, SqlError> {
    let (table, columns) = part.table();
    session.load(table, columns, part.rows(texts)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_warehouse_has_a_number() {
        let all: Vec<Part> = (0..).map_while(|number| part(number, 3)).collect();
        assert_eq!(all.len(), 1 + 3 * 7);
        assert_eq!(all[3], Part::OrderLines(3));
        for wanted in [Part::Items, Part::Stock(1), Part::Districts(3)] {
            assert_eq!(all.iter().filter(|part| **part == wanted).count(), 1);
        }
    }
}
