//! The 12 conditions that must hold in the tables of `dbt2` (TPC-C, clause 3.3.2), whole tables at a time.
//!
//! ```text
//! lines ─ by order ─┐
//! orders, new_order ┴─ by order ─┐
//! customers, history ────────────┴─ by customer ─┐
//! districts ─────────────────────────────────────┴─ by district ─► rows that break each condition
//! ```
//!
//! One statement reads each of the large tables once, and puts what belongs together into groups: a join of grouped
//! tables goes customer by customer on MariaDB, for hours. What is missing on one side leaves a group with zeros, and is
//! counted as well. The condition about the number of delivered orders holds after every load, because customers count their
//! deliveries.

use sokudo_sql::{Engine, Session, SqlError};

use crate::drive::{Checked, How};

/// Settings of PostgreSQL for the transaction of the check. The groups of some ten warehouses fit into that memory,
/// which it uses several times at most; with the default they go through the disk. Compiling the statement takes longer than
/// executing it.
const FOR_GROUPS: &str = "set local work_mem = '64MB'; set local jit = off";

/// Conditions that one statement checks: their names, in the order of its columns.
struct Check {
    conditions: &'static [&'static str],
    sql: String,
}

/// What is known of each order. Of most columns one table alone has a value.
const BY_ORDER: &str = "select w, d, o, max(c) as c, max(is_order) as is_order, max(listed) as listed, \
     max(is_carried) as is_carried, max(is_new) as is_new, max(found) as found, max(delivered) as delivered, \
     coalesce(max(charged), 0) as charged from \
     (select ol_w_id as w, ol_d_id as d, ol_o_id as o, count(*) as found, count(ol_delivery_d) as delivered, \
      sum(case when ol_delivery_d is not null then ol_amount end) as charged, 0 as is_order, 0 as listed, \
      0 as is_carried, 0 as is_new, null as c from dbt2_order_line group by ol_w_id, ol_d_id, ol_o_id \
      union all select o_w_id, o_d_id, o_id, 0, 0, null, 1, o_ol_cnt, \
      case when o_carrier_id is null then 0 else 1 end, 0, o_c_id from dbt2_orders \
      union all select no_w_id, no_d_id, no_o_id, 0, 0, null, 0, 0, 0, 1, null from dbt2_new_order) each_order \
     group by w, d, o";

/// What is known of each customer, and of the orders of each. Orders that are not there have the customer null.
fn by_customer() -> String {
    format!(
        "select w, d, sum(is_order) as orders, sum(listed) as listed, sum(found) as found, sum(is_new) as fresh, \
         max(order_o) as last_o, max(new_o) as last_new, min(new_o) as first_new, sum(odd_carrier) as odd_carrier, \
         sum(odd_lines) as odd_lines, sum(odd_delivery) as odd_delivery, sum(deliveries) as deliveries, \
         case when sum(balance) <> sum(charged) - sum(paid) then 1 else 0 end as odd_balance, \
         case when sum(balance) + sum(payments) <> sum(charged) then 1 else 0 end as odd_payments from \
         (select w, d, c, is_order, listed, found, is_new, case when is_order = 1 then o end as order_o, \
          case when is_new = 1 then o end as new_o, \
          case when is_order = 1 and is_carried = is_new or is_order = 0 and is_new = 1 then 1 else 0 end as odd_carrier, \
          case when listed <> found then 1 else 0 end as odd_lines, \
          case when delivered <> (case when is_carried = 1 then found else 0 end) then 1 else 0 end as odd_delivery, \
          charged, 0 as paid, 0 as balance, 0 as payments, 0 as deliveries from ({BY_ORDER}) orders \
          union all select c_w_id, c_d_id, c_id, 0, 0, 0, 0, null, null, 0, 0, 0, \
          0, 0, c_balance, c_ytd_payment, c_delivery_cnt from dbt2_customer \
          union all select h_c_w_id, h_c_d_id, h_c_id, 0, 0, 0, 0, null, null, 0, 0, 0, \
          0, h_amount, 0, 0, 0 from dbt2_history) each_customer \
         group by w, d, c"
    )
}

/// What is known of each district.
fn by_district() -> String {
    format!(
        "select coalesce(max(until_o), 0) as until_o, sum(orders) as orders, sum(listed) as listed, sum(found) as found, \
         sum(fresh) as fresh, coalesce(max(last_o), 0) as last_o, max(last_new) as last_new, \
         min(first_new) as first_new, sum(odd_carrier) as odd_carrier, sum(odd_lines) as odd_lines, \
         sum(odd_delivery) as odd_delivery, sum(deliveries) as deliveries, sum(odd_balance) as odd_balance, \
         sum(odd_payments) as odd_payments from \
         (select w, d, null as until_o, orders, listed, found, fresh, last_o, last_new, first_new, odd_carrier, \
          odd_lines, odd_delivery, deliveries, odd_balance, odd_payments from ({}) customers \
          union all select d_w_id, d_id, d_next_o_id - 1, 0, 0, 0, 0, null, null, null, 0, 0, 0, 0, 0, 0 \
          from dbt2_district) each_district \
         group by w, d",
        by_customer()
    )
}

/// All conditions, with their statements.
fn checks() -> [Check; 4] {
    [
        Check {
            conditions: &["w_ytd = sum(d_ytd)"],
            sql: "select count(*) from dbt2_warehouse left join \
                  (select d_w_id, sum(d_ytd) as ytd from dbt2_district group by d_w_id) d on d_w_id = w_id \
                  where w_ytd <> coalesce(ytd, 0)"
                .into(),
        },
        Check {
            conditions: &["w_ytd = sum(h_amount)"],
            sql: "select count(*) from dbt2_warehouse left join \
                  (select h_w_id, sum(h_amount) as paid from dbt2_history group by h_w_id) h on h_w_id = w_id \
                  where w_ytd <> coalesce(paid, 0)"
                .into(),
        },
        Check {
            conditions: &["d_ytd = sum(h_amount)"],
            sql: "select count(*) from dbt2_district left join \
                  (select h_w_id, h_d_id, sum(h_amount) as paid from dbt2_history group by h_w_id, h_d_id) h \
                  on h_w_id = d_w_id and h_d_id = d_id \
                  where d_ytd <> coalesce(paid, 0)"
                .into(),
        },
        Check {
            conditions: &[
                "d_next_o_id - 1 = max(o_id) = max(no_o_id)",
                "max(no_o_id) - min(no_o_id) + 1 = count(new_order)",
                "sum(o_ol_cnt) = count(order_line)",
                "o_carrier_id is null <=> a row of new_order",
                "o_ol_cnt = count(order_line) of the order",
                "ol_delivery_d is null <=> o_carrier_id is null",
                "count(orders) - count(new_order) = 2100 + sum(c_delivery_cnt)",
                "c_balance = sum(ol_amount) - sum(h_amount)",
                "c_balance + c_ytd_payment = sum(ol_amount)",
            ],
            sql: format!(
                "select count(case when until_o <> last_o or until_o <> coalesce(last_new, until_o) then 1 end), \
                 count(case when last_new - first_new + 1 <> fresh then 1 end), \
                 count(case when listed <> found then 1 end), \
                 coalesce(sum(odd_carrier), 0), coalesce(sum(odd_lines), 0), coalesce(sum(odd_delivery), 0), \
                 count(case when orders - fresh <> 2100 + deliveries then 1 end), \
                 coalesce(sum(odd_balance), 0), coalesce(sum(odd_payments), 0) from ({}) districts",
                by_district()
            ),
        },
    ]
}

/// Checks the conditions on the tables.
///
/// Errors: those of the server.
pub(super) async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    if session.engine() == Engine::Postgres {
        session.batch(FOR_GROUPS).await?;
    }
    let mut checked = Checked::default();
    for check in checks() {
        let statement = session.prepare(&check.sql).await?;
        let broken = session.query_first(&statement, &[], |row| {
            let columns = 0..check.conditions.len();
            columns
                .map(|column| row.int(column))
                .collect::<Result<Vec<i64>, _>>()
        });
        let broken = broken.await?.unwrap_or_default();
        for (condition, rows) in check.conditions.iter().zip(broken) {
            checked.note(condition, (rows != 0).then_some(How::Rows(rows)));
        }
    }
    Ok(checked)
}
