//! Choice of the customer of Payment and Order-Status: 60 % by last name, the others by number.

use sokudo_pace::Random;
use sokudo_sql::{Session, SqlError, Statement};

use super::draw;
use crate::tables::gone;

/// Whom a transaction is about.
#[derive(Debug, Clone)]
pub(super) enum By {
    Number(i64),
    Name(String),
}

/// Draws whom a transaction is about.
pub(super) fn draw(random: &mut Random) -> By {
    match random.below(100) < 60 {
        true => By::Name(draw::last_name(draw::asked_name(random))),
        false => By::Number(draw::customer(random)),
    }
}

/// Prepares the search by name.
pub(super) async fn prepare(session: &mut Session) -> Result<Statement, SqlError> {
    session
        .prepare(
            "select c_id from dbt2_customer where c_w_id = $1 and c_d_id = $2 and c_last = $3 \
             order by c_first",
        )
        .await
}

/// Number of the customer; of several with one name, the middle one by first names.
pub(super) async fn find(
    session: &mut Session,
    by_name: &Statement,
    (warehouse, district): (i64, i64),
    by: &By,
) -> Result<i64, SqlError> {
    let name = match by {
        By::Number(number) => return Ok(*number),
        By::Name(name) => name,
    };
    let mut numbers = Vec::new();
    let place = [warehouse.into(), district.into(), name.as_str().into()];
    session
        .query(by_name, &place, |row| {
            numbers.push(row.int(0)?);
            Ok(())
        })
        .await?;
    let middle = numbers.len().div_ceil(2);
    let found = numbers.get(middle.wrapping_sub(1)).copied();
    found.ok_or_else(|| gone("dbt2_customer"))
}
