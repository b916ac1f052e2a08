//! The 12 conditions that must hold in the tables of `dbt2` (TPC-C, clause 3.3.2), whole tables at a time.
//!
//! Each counts the rows that break it, so that what is missing on one side is counted as well. The one about the
//! number of delivered orders holds after every load, because customers count their deliveries.

use sokudo_sql::{Session, SqlError};

use crate::drive::{Checked, How};

/// Conditions that one statement checks: their names, in the order of its columns.
struct Check {
    conditions: &'static [&'static str],
    sql: &'static str,
}

const CHECKS: [Check; 10] = [
    Check {
        conditions: &["w_ytd = sum(d_ytd)"],
        sql: "select count(*) from dbt2_warehouse left join \
              (select d_w_id, sum(d_ytd) as ytd from dbt2_district group by d_w_id) d on d_w_id = w_id \
              where w_ytd <> coalesce(ytd, 0)",
    },
    Check {
        conditions: &["d_next_o_id - 1 = max(o_id) = max(no_o_id)"],
        sql: "select count(*) from dbt2_district left join \
              (select o_w_id, o_d_id, max(o_id) as most from dbt2_orders group by o_w_id, o_d_id) o \
              on o_w_id = d_w_id and o_d_id = d_id left join \
              (select no_w_id, no_d_id, max(no_o_id) as most from dbt2_new_order group by no_w_id, no_d_id) n \
              on no_w_id = d_w_id and no_d_id = d_id \
              where d_next_o_id - 1 <> coalesce(o.most, 0) or d_next_o_id - 1 <> coalesce(n.most, d_next_o_id - 1)",
    },
    Check {
        conditions: &["max(no_o_id) - min(no_o_id) + 1 = count(new_order)"],
        sql: "select count(*) from (select no_w_id, no_d_id from dbt2_new_order group by no_w_id, no_d_id \
              having max(no_o_id) - min(no_o_id) + 1 <> count(*)) n",
    },
    Check {
        conditions: &["sum(o_ol_cnt) = count(order_line)"],
        sql: "select count(*) from dbt2_district left join \
              (select o_w_id, o_d_id, sum(o_ol_cnt) as n from dbt2_orders group by o_w_id, o_d_id) o \
              on o_w_id = d_w_id and o_d_id = d_id left join \
              (select ol_w_id, ol_d_id, count(*) as n from dbt2_order_line group by ol_w_id, ol_d_id) l \
              on ol_w_id = d_w_id and ol_d_id = d_id \
              where coalesce(o.n, 0) <> coalesce(l.n, 0)",
    },
    Check {
        conditions: &["o_carrier_id is null <=> a row of new_order"],
        sql: "select count(case when (o_carrier_id is null) <> (no_o_id is not null) then 1 end) + \
              (select count(*) from dbt2_new_order left join dbt2_orders \
               on o_w_id = no_w_id and o_d_id = no_d_id and o_id = no_o_id where o_id is null) \
              from dbt2_orders left join dbt2_new_order \
              on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id",
    },
    Check {
        conditions: &[
            "o_ol_cnt = count(order_line) of the order",
            "ol_delivery_d is null <=> o_carrier_id is null",
        ],
        sql: "select count(case when o_ol_cnt <> coalesce(n, 0) then 1 end), \
              count(case when coalesce(delivered, 0) <> (case when o_carrier_id is null then 0 else n end) then 1 end) \
              from dbt2_orders left join \
              (select ol_w_id, ol_d_id, ol_o_id, count(*) as n, count(ol_delivery_d) as delivered \
               from dbt2_order_line group by ol_w_id, ol_d_id, ol_o_id) l \
              on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id",
    },
    Check {
        conditions: &["w_ytd = sum(h_amount)"],
        sql: "select count(*) from dbt2_warehouse left join \
              (select h_w_id, sum(h_amount) as paid from dbt2_history group by h_w_id) h on h_w_id = w_id \
              where w_ytd <> coalesce(paid, 0)",
    },
    Check {
        conditions: &["d_ytd = sum(h_amount)"],
        sql: "select count(*) from dbt2_district left join \
              (select h_w_id, h_d_id, sum(h_amount) as paid from dbt2_history group by h_w_id, h_d_id) h \
              on h_w_id = d_w_id and h_d_id = d_id \
              where d_ytd <> coalesce(paid, 0)",
    },
    Check {
        conditions: &["count(orders) - count(new_order) = 2100 + sum(c_delivery_cnt)"],
        sql: "select count(*) from dbt2_district left join \
              (select o_w_id, o_d_id, count(*) as n from dbt2_orders group by o_w_id, o_d_id) o \
              on o_w_id = d_w_id and o_d_id = d_id left join \
              (select no_w_id, no_d_id, count(*) as n from dbt2_new_order group by no_w_id, no_d_id) w \
              on no_w_id = d_w_id and no_d_id = d_id left join \
              (select c_w_id, c_d_id, sum(c_delivery_cnt) as n from dbt2_customer group by c_w_id, c_d_id) c \
              on c_w_id = d_w_id and c_d_id = d_id \
              where coalesce(o.n, 0) - coalesce(w.n, 0) <> 2100 + coalesce(c.n, 0)",
    },
    Check {
        conditions: &[
            "c_balance = sum(ol_amount) - sum(h_amount)",
            "c_balance + c_ytd_payment = sum(ol_amount)",
        ],
        // One pass over what belongs to each customer: MariaDB joins grouped tables customer by customer, for hours.
        sql: "select count(case when balance <> charged - paid then 1 end), \
              count(case when balance + payments <> charged then 1 end) from \
              (select w, d, c, sum(balance) as balance, sum(payments) as payments, \
               sum(charged) as charged, sum(paid) as paid from \
               (select c_w_id as w, c_d_id as d, c_id as c, c_balance as balance, \
                c_ytd_payment as payments, 0 as charged, 0 as paid from dbt2_customer \
                union all select o_w_id, o_d_id, o_c_id, 0, 0, ol_amount, 0 from dbt2_orders join dbt2_order_line \
                on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id where ol_delivery_d is not null \
                union all select h_c_w_id, h_c_d_id, h_c_id, 0, 0, 0, h_amount from dbt2_history) each_row \
               group by w, d, c) customers",
    },
];

/// Checks the conditions on the tables.
///
/// Errors: those of the server.
pub(super) async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    let mut checked = Checked::default();
    for check in &CHECKS {
        let statement = session.prepare(check.sql).await?;
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
