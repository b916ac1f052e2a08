//! Fills the tables: several sessions take part after part.

use std::cell::Cell;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sokudo_sql::{Engine, Session, SqlError, Target};

use super::draw::Texts;
use super::rows::Part;
use super::schema;
use crate::drive::Loaded;

/// Sessions that fill tables at a time.
const LOADERS: usize = 4;
/// Longest wait for a session.
const CONNECT: Duration = Duration::from_secs(10);

/// Makes the tables anew and fills them for so many warehouses.
///
/// Errors: those of the server. Tables that were not filled completely have no warehouses.
pub(super) async fn init(target: &Target, warehouses: u32) -> Result<Loaded, SqlError> {
    let warehouses = i64::from(warehouses);
    let mut session = Session::connect(target, CONNECT).await?;
    schema::create(&mut session).await?;
    let texts = Texts::new();
    let loaders = match session.engine() {
        Engine::Sqlite => 1,
        Engine::Postgres | Engine::MySql => LOADERS,
    };
    let next = Cell::new(0);
    let mut each: FuturesUnordered<_> = (0..loaders)
        .map(|_| loader(target, warehouses, &next, &texts))
        .collect();
    let mut rows = 0;
    while let Some(loaded) = each.next().await {
        rows += loaded?;
    }
    drop(each);
    // Last: the number of warehouses says how large the database is.
    for warehouse in 1..=warehouses {
        rows += load(&mut session, Part::Warehouse(warehouse), &texts).await?;
    }
    schema::finish(&mut session).await?;
    Ok(Loaded { rows })
}

/// The part with this number.
fn part(number: i64, warehouses: i64) -> Option<Part> {
    let of_one = Part::of(1).len() as i64;
    match number {
        0 => Some(Part::Items),
        _ if (number - 1) / of_one < warehouses => {
            let warehouse = (number - 1) / of_one + 1;
            let index = usize::try_from((number - 1) % of_one).ok()?;
            Part::of(warehouse).get(index).copied()
        }
        _ => None,
    }
}

/// Loads parts until none is left.
async fn loader(
    target: &Target,
    warehouses: i64,
    next: &Cell<i64>,
    texts: &Texts,
) -> Result<u64, SqlError> {
    let mut session = Session::connect(target, CONNECT).await?;
    let mut rows = 0;
    while let Some(part) = part(next.replace(next.get() + 1), warehouses) {
        rows += load(&mut session, part, texts).await?;
    }
    Ok(rows)
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
        for wanted in [Part::Items, Part::Stock(1), Part::Districts(3)] {
            assert_eq!(all.iter().filter(|part| **part == wanted).count(), 1);
        }
    }
}
