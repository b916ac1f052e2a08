//! Conditions on the shop's tables. Each statement counts the rows that break its condition.

use sokudo_sql::{Session, SqlError};

use crate::drive::{Checked, How, one};

const CONDITIONS: [(&str, &str); 8] = [
    (
        "o_sub_total = sum(ol_qty * ol_cost)",
        "select count(*) from dbt1_orders left join (select ol_o_id, sum(ol_qty * ol_cost) as worth \
         from dbt1_order_line group by ol_o_id) each_order on ol_o_id = o_id \
         where o_sub_total <> coalesce(worth, 0)",
    ),
    (
        "o_total = o_sub_total - o_discount + o_tax + o_ship",
        "select count(*) from dbt1_orders where o_total <> o_sub_total - o_discount + o_tax + o_ship",
    ),
    (
        "every order is paid by its total",
        "select count(*) from dbt1_orders left join dbt1_payment on cx_o_id = o_id \
         where cx_amount is null or cx_amount <> o_total",
    ),
    (
        "every payment is of an order",
        "select count(*) from dbt1_payment left join dbt1_orders on o_id = cx_o_id where o_id is null",
    ),
    (
        "every line is of an order",
        "select count(*) from dbt1_order_line left join dbt1_orders on o_id = ol_o_id where o_id is null",
    ),
    (
        "i_stock is ordered again below 10",
        "select count(*) from dbt1_item where i_stock < 10",
    ),
    (
        "sc_sub_total = sum(scl_qty * scl_cost)",
        "select count(*) from dbt1_cart left join (select scl_sc_id, sum(scl_qty * scl_cost) as worth \
         from dbt1_cart_line group by scl_sc_id) each_cart on scl_sc_id = sc_id \
         where sc_sub_total <> coalesce(worth, 0)",
    ),
    (
        "a cart that was bought is empty",
        "select count(*) from dbt1_cart_line left join dbt1_cart on sc_id = scl_sc_id where sc_id is null",
    ),
];

/// Checks the conditions on the tables.
///
/// Errors: those of the server.
pub(super) async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    let mut checked = Checked::default();
    for (condition, sql) in CONDITIONS {
        let rows = one(session, sql).await?;
        checked.note(condition, (rows != 0).then_some(How::Rows(rows)));
    }
    Ok(checked)
}
