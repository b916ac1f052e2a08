//! Payment: a customer pays, and warehouse and district count it. The row of the warehouse is the one that all
//! payments there wait for.

use sokudo_pace::Random;
use sokudo_sql::{Begin, Session, SqlError, Statement};

use super::client::{Home, nothing};
use super::customer::{self, By};
use super::draw;
use super::new_order::lock;
use crate::drive::{Attempt, Ledger, Mark};
use crate::tables::gone;

/// Longest remark about a customer with bad credit.
const REMARK: usize = 500;

/// Customer, place and amount of a payment.
pub(crate) struct Input {
    home: Home,
    /// Warehouse and district of the customer: 15 % are from elsewhere.
    of: (i64, i64),
    customer: By,
    cents: i64,
    mark: Mark,
}

/// Draws one payment.
pub(super) fn draw(random: &mut Random, home: Home, ledger: &mut Ledger) -> Input {
    let district = random.between(1, draw::DISTRICTS);
    let home = Home { district, ..home };
    let warehouse = home.or_remote(random, 15);
    let of = match warehouse == home.warehouse {
        true => (warehouse, district),
        false => (warehouse, random.between(1, draw::DISTRICTS)),
    };
    Input {
        home,
        of,
        customer: customer::draw(random),
        cents: random.between(100, 500_000),
        mark: ledger.next(),
    }
}

/// Its statements.
pub(crate) struct Statements {
    count_warehouse: Statement,
    warehouse: Statement,
    count_district: Statement,
    district: Statement,
    by_name: Statement,
    customer: Statement,
    pay: Statement,
    remark: Statement,
    pay_with_remark: Statement,
    history: Statement,
}

impl Statements {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let of = "where c_w_id = $1 and c_d_id = $2 and c_id = $3";
        let lock = lock(session);
        let customer = format!(
            "select c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
             c_phone, c_since, c_credit_lim, c_discount, c_balance from dbt2_customer {of}{lock}"
        );
        let pay = "update dbt2_customer set c_balance = c_balance - $4, \
                   c_ytd_payment = c_ytd_payment + $4, c_payment_cnt = c_payment_cnt + 1";
        Ok(Self {
            count_warehouse: session
                .prepare("update dbt2_warehouse set w_ytd = w_ytd + $1 where w_id = $2")
                .await?,
            warehouse: session
                .prepare(
                    "select w_name, w_street_1, w_street_2, w_city, w_state, w_zip \
                     from dbt2_warehouse where w_id = $1",
                )
                .await?,
            count_district: session
                .prepare(
                    "update dbt2_district set d_ytd = d_ytd + $1 where d_w_id = $2 and d_id = $3",
                )
                .await?,
            district: session
                .prepare(
                    "select d_name, d_street_1, d_street_2, d_city, d_state, d_zip \
                     from dbt2_district where d_w_id = $1 and d_id = $2",
                )
                .await?,
            by_name: customer::prepare(session).await?,
            customer: session.prepare(&customer).await?,
            pay: session.prepare(&format!("{pay} {of}")).await?,
            remark: session
                .prepare(&format!("select c_data from dbt2_customer {of}"))
                .await?,
            pay_with_remark: session.prepare(&format!("{pay}, c_data = $5 {of}")).await?,
            history: session
                .prepare(
                    "insert into dbt2_history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, \
                     h_amount, h_data, client, sequence) \
                     values ($1, $2, $3, $4, $5, current_timestamp, $6, $7, $8, $9)",
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
        session.begin(Begin::Write).await?;
        let count = [input.cents.into(), warehouse.into()];
        session.execute(&self.count_warehouse, &count).await?;
        let place = [warehouse.into()];
        let name =
            session.query_first(&self.warehouse, &place, |row| Ok(row.text(0)?.into_owned()));
        let warehouse_name = name.await?.ok_or_else(|| gone("dbt2_warehouse"))?;
        let count = [input.cents.into(), warehouse.into(), district.into()];
        session.execute(&self.count_district, &count).await?;
        let place = [warehouse.into(), district.into()];
        let name = session.query_first(&self.district, &place, |row| Ok(row.text(0)?.into_owned()));
        let district_name = name.await?.ok_or_else(|| gone("dbt2_district"))?;
        let customer = customer::find(session, &self.by_name, input.of, &input.customer).await?;
        self.pay(session, input, customer).await?;
        let row = [
            customer.into(),
            input.of.1.into(),
            input.of.0.into(),
            district.into(),
            warehouse.into(),
            input.cents.into(),
            format!("{warehouse_name} {district_name}").into(),
            input.mark.client.into(),
            input.mark.sequence.into(),
        ];
        session.execute(&self.history, &row).await?;
        session.commit().await?;
        Ok(nothing())
    }

    /// Changes the customer; one with bad credit gets a remark.
    async fn pay(
        &self,
        session: &mut Session,
        input: &Input,
        customer: i64,
    ) -> Result<(), SqlError> {
        let (warehouse, district) = input.of;
        let place = [warehouse.into(), district.into(), customer.into()];
        let credit = session.query_first(&self.customer, &place, |row| Ok(row.text(0)? == "BC"));
        let is_bad = credit.await?.ok_or_else(|| gone("dbt2_customer"))?;
        let [c_w, c_d, c] = place.clone();
        if !is_bad {
            let pay = [c_w, c_d, c, input.cents.into()];
            session.execute(&self.pay, &pay).await?;
            return Ok(());
        }
        let old = session.query_first(&self.remark, &place, |row| Ok(row.text(0)?.into_owned()));
        let old = old.await?.unwrap_or_default();
        let Home {
            warehouse: at,
            district: in_district,
            ..
        } = input.home;
        let cents = input.cents;
        let remark = format!("{customer} {district} {warehouse} {in_district} {at} {cents}|{old}");
        let remark: String = remark.chars().take(REMARK).collect();
        let pay = [c_w, c_d, c, cents.into(), remark.into()];
        session.execute(&self.pay_with_remark, &pay).await?;
        Ok(())
    }
}
