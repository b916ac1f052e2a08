//! Stock-Level: which items of a district's last 20 orders run low.

use sokudo_pace::Random;
use sokudo_sql::{Begin, Session, SqlError, Statement};

use super::client::{Home, nothing};
use crate::drive::Attempt;
use crate::tables::gone;

/// Orders that it looks at.
const ORDERS: i64 = 20;

/// District, and stock below which an item counts as low.
pub(crate) struct Input {
    home: Home,
    threshold: i64,
}

/// Draws one question.
pub(super) fn draw(random: &mut Random, home: Home) -> Input {
    Input {
        home,
        threshold: random.between(10, 20),
    }
}

/// Its statements.
pub(crate) struct Statements {
    district: Statement,
    low: Statement,
}

impl Statements {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        Ok(Self {
            district: session
                .prepare("select d_next_o_id from dbt2_district where d_w_id = $1 and d_id = $2")
                .await?,
            low: session
                .prepare(
                    "select count(distinct s_i_id) from dbt2_order_line join dbt2_stock \
                     on s_w_id = ol_w_id and s_i_id = ol_i_id \
                     where ol_w_id = $1 and ol_d_id = $2 and ol_o_id >= $3 and ol_o_id < $4 \
                     and s_quantity < $5",
                )
                .await?,
        })
    }

    pub(super) async fn carry_out(&self, session: &mut Session, input: &Input) -> Attempt {
        let Home {
            warehouse,
            district,
            ..
        } = input.home;
        session.begin(Begin::Read).await?;
        let place = [warehouse.into(), district.into()];
        let next = session.query_first(&self.district, &place, |row| row.int(0));
        let next = next.await?.ok_or_else(|| gone("dbt2_district"))?;
        let asked = [
            warehouse.into(),
            district.into(),
            (next - ORDERS).into(),
            next.into(),
            input.threshold.into(),
        ];
        session.execute(&self.low, &asked).await?;
        session.commit().await?;
        Ok(nothing())
    }
}
