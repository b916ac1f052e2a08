//! Order-Status: a customer asks for the last order, line by line.

use sokudo_pace::Random;
use sokudo_sql::{Begin, Session, SqlError, Statement};

use super::client::{Home, nothing};
use super::customer::{self, By};
use super::draw;
use crate::drive::Attempt;
use crate::tables::found;

/// Customer whose order is asked for.
pub(crate) struct Input {
    of: (i64, i64),
    customer: By,
}

/// Draws one question.
pub(super) fn draw(random: &mut Random, home: Home) -> Input {
    Input {
        of: (home.warehouse, random.between(1, draw::DISTRICTS)),
        customer: customer::draw(random),
    }
}

/// Its statements.
pub(crate) struct Statements {
    by_name: Statement,
    customer: Statement,
    last: Statement,
    lines: Statement,
}

impl Statements {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        Ok(Self {
            by_name: customer::prepare(session).await?,
            customer: session
                .prepare(
                    "select c_balance, c_first, c_middle, c_last from dbt2_customer \
                     where c_w_id = $1 and c_d_id = $2 and c_id = $3",
                )
                .await?,
            last: session
                .prepare(
                    "select o_id, o_entry_d, o_carrier_id from dbt2_orders \
                     where o_w_id = $1 and o_d_id = $2 and o_c_id = $3 order by o_id desc limit 1",
                )
                .await?,
            lines: session
                .prepare(
                    "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
                     from dbt2_order_line where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3",
                )
                .await?,
        })
    }

    pub(super) async fn carry_out(&self, session: &mut Session, input: &Input) -> Attempt {
        let (warehouse, district) = input.of;
        session.begin(Begin::Read).await?;
        let customer = customer::find(session, &self.by_name, input.of, &input.customer).await?;
        let place = [warehouse.into(), district.into(), customer.into()];
        found(session, &self.customer, &place, "dbt2_customer").await?;
        let last = session.query_first(&self.last, &place, |row| row.int(0));
        if let Some(order) = last.await? {
            let place = [warehouse.into(), district.into(), order.into()];
            found(session, &self.lines, &place, "dbt2_order_line").await?;
        }
        session.commit().await?;
        Ok(nothing())
    }
}
