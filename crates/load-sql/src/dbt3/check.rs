//! Conditions on the tables of `dbt3`.

use sokudo_sql::{Session, SqlError};

use super::checksums;
use super::data::{Maker, Sizes, Table};
use crate::digest::Digest;
use crate::drive::{Checked, How, one};

/// Conditions on rows that a load may leave behind, each with a statement that counts them. Cheap enough to
/// follow every load.
const LEFT: [(&str, &str); 2] = [
    (
        "no order of a refresh is left",
        "select count(*) from dbt3_orders where (o_orderkey - 1) % 32 >= 8",
    ),
    (
        "no line of a refresh is left",
        "select count(*) from dbt3_lineitem where (l_orderkey - 1) % 32 >= 8",
    ),
];

/// Conditions on how tables belong together, each with a statement that counts the rows that break it.
const RELATIONS: [(&str, &str); 4] = [
    (
        "every line has its order",
        "select count(*) from dbt3_lineitem left join dbt3_orders on o_orderkey = l_orderkey \
         where o_orderkey is null",
    ),
    (
        "every line is of a part that its supplier has",
        "select count(*) from dbt3_lineitem left join dbt3_partsupp \
         on ps_partkey = l_partkey and ps_suppkey = l_suppkey where ps_partkey is null",
    ),
    (
        "every third customer has no orders",
        "select count(*) from dbt3_orders where o_custkey % 3 = 0",
    ),
    (
        "o_orderstatus = that of its lines",
        "select count(*) from dbt3_orders join (select l_orderkey, count(*) as every_line, \
         sum(case when l_linestatus = 'O' then 1 else 0 end) as open_lines from dbt3_lineitem \
         group by l_orderkey) each_order on l_orderkey = o_orderkey \
         where o_orderstatus <> case when open_lines = 0 then 'F' when open_lines = every_line then 'O' else 'P' end",
    ),
];

/// Conditions that are checked after a load.
pub const CONDITIONS: u32 = (Table::ALL.len() + LEFT.len()) as u32;
/// Those that a check outside of a load adds: how tables belong together, and a checksum per table.
pub const MORE_CONDITIONS: u32 = (RELATIONS.len() + Table::ALL.len()) as u32;

/// Checks the numbers of rows, and that the refreshes have left nothing.
///
/// Errors: those of the server.
pub(super) async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    let sizes = sizes(session).await?;
    let mut checked = Checked::default();
    for table in Table::ALL {
        let name = table.columns().0;
        let rows = one(session, &format!("select count(*) from {name}")).await?;
        let wanted = sizes
            .rows(table)
            .unwrap_or_else(|| Maker::new(sizes).count_lines());
        checked.note(
            &format!("count({name}) = that of the scale"),
            (rows != wanted).then_some(How::Sides(rows, wanted)),
        );
    }
    count_broken(session, &LEFT, &mut checked).await?;
    Ok(checked)
}

async fn count_broken(
    session: &mut Session,
    conditions: &[(&str, &str)],
    checked: &mut Checked,
) -> Result<(), SqlError> {
    for (condition, sql) in conditions {
        let rows = one(session, sql).await?;
        checked.note(condition, (rows != 0).then_some(How::Rows(rows)));
    }
    Ok(())
}

/// Checks how tables belong together, and that every row is as it was made, by a checksum per table.
///
/// Errors: those of the server.
pub(super) async fn contents(session: &mut Session) -> Result<Checked, SqlError> {
    let sizes = sizes(session).await?;
    let mut checked = Checked::default();
    count_broken(session, &RELATIONS, &mut checked).await?;
    for (table, made) in Table::ALL.into_iter().zip(checksums(sizes)) {
        let (name, columns) = table.columns();
        let all = format!("select {} from {name}", columns.join(", "));
        let statement = session.prepare(&all).await?;
        let mut found = Digest::default();
        session.query(&statement, &[], |row| found.add(row)).await?;
        let sides = How::Sides(found.sum as i64, made.1.sum as i64);
        checked.note(
            &format!("checksum({name}) = that of the scale"),
            (found != made.1).then_some(sides),
        );
    }
    Ok(checked)
}

async fn sizes(session: &mut Session) -> Result<Sizes, SqlError> {
    let suppliers = one(session, "select count(*) from dbt3_supplier").await?;
    Ok(Sizes { suppliers })
}
