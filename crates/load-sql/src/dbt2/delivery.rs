//! Delivery: the oldest undelivered order of each of a warehouse's ten districts gets a carrier and is charged to its
//! customer.

use sokudo_pace::Random;
use sokudo_sql::{Begin, Session, SqlError, Statement};

use super::client::{Home, SKIPPED, nothing};
use super::draw;
use super::new_order::lock;
use crate::drive::{Attempt, Noted};
use crate::tables::{found, gone};

/// Looks for the oldest order of a district: another delivery may take it at the same moment, and PostgreSQL then
/// finds no row at all.
const LOOKS: u32 = 4;

/// Warehouse of a delivery, and its carrier.
pub(crate) struct Input {
    warehouse: i64,
    carrier: i64,
}

/// Draws one delivery.
pub(super) fn draw(random: &mut Random, home: Home) -> Input {
    Input {
        warehouse: home.warehouse,
        carrier: random.between(1, 10),
    }
}

/// Its statements.
pub(crate) struct Statements {
    oldest: Statement,
    take: Statement,
    customer: Statement,
    carrier: Statement,
    delivered: Statement,
    amount: Statement,
    charge: Statement,
}

impl Statements {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let oldest = format!(
            "select no_o_id from dbt2_new_order where no_w_id = $1 and no_d_id = $2 \
             order by no_o_id limit 1{}",
            lock(session)
        );
        let order = "where o_w_id = $1 and o_d_id = $2 and o_id = $3";
        let lines = "where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3";
        Ok(Self {
            oldest: session.prepare(&oldest).await?,
            take: session
                .prepare(
                    "delete from dbt2_new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = $3",
                )
                .await?,
            customer: session
                .prepare(&format!("select o_c_id from dbt2_orders {order}"))
                .await?,
            carrier: session
                .prepare(&format!("update dbt2_orders set o_carrier_id = $4 {order}"))
                .await?,
            delivered: session
                .prepare(&format!(
                    "update dbt2_order_line set ol_delivery_d = current_timestamp {lines}"
                ))
                .await?,
            amount: session
                .prepare(&format!("select sum(ol_amount) from dbt2_order_line {lines}"))
                .await?,
            charge: session
                .prepare(
                    "update dbt2_customer set c_balance = c_balance + $4, \
                     c_delivery_cnt = c_delivery_cnt + 1 \
                     where c_w_id = $1 and c_d_id = $2 and c_id = $3",
                )
                .await?,
        })
    }

    pub(super) async fn carry_out(&self, session: &mut Session, input: &Input) -> Attempt {
        session.begin(Begin::Write).await?;
        let mut skipped = 0;
        for district in 1..=draw::DISTRICTS {
            match self.take(session, input.warehouse, district).await? {
                Some(order) => self.deliver(session, input, (district, order)).await?,
                None => skipped += 1,
            }
        }
        session.commit().await?;
        match skipped {
            0 => Ok(nothing()),
            _ => Ok(Noted(Some((SKIPPED, skipped)))),
        }
    }

    /// Takes the oldest order of a district; `None` when there is none.
    async fn take(
        &self,
        session: &mut Session,
        warehouse: i64,
        district: i64,
    ) -> Result<Option<i64>, SqlError> {
        let place = [warehouse.into(), district.into()];
        for _ in 0..LOOKS {
            let oldest = session.query_first(&self.oldest, &place, |row| row.int(0));
            let Some(order) = oldest.await? else {
                continue;
            };
            let row = [warehouse.into(), district.into(), order.into()];
            if session.execute(&self.take, &row).await? == 1 {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }

    async fn deliver(
        &self,
        session: &mut Session,
        input: &Input,
        (district, order): (i64, i64),
    ) -> Result<(), SqlError> {
        let place = [input.warehouse.into(), district.into(), order.into()];
        let customer = session.query_first(&self.customer, &place, |row| row.int(0));
        let customer = customer.await?.ok_or_else(|| gone("dbt2_orders"))?;
        let [w, d, o] = place.clone();
        let carrier = [w, d, o, input.carrier.into()];
        session.execute(&self.carrier, &carrier).await?;
        found(session, &self.delivered, &place, "dbt2_order_line").await?;
        let amount = session.query_first(&self.amount, &place, |row| row.int(0));
        let amount = amount.await?.ok_or_else(|| gone("dbt2_order_line"))?;
        let charge = [
            input.warehouse.into(),
            district.into(),
            customer.into(),
            amount.into(),
        ];
        found(session, &self.charge, &charge, "dbt2_customer").await
    }
}
