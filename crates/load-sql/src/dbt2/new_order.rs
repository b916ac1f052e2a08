//! New-Order: enters an order of 5 to 15 lines, and takes the items from stock.
//!
//! One order in a hundred names an item that does not exist, and is rolled back: its user made a mistake.

use sokudo_pace::Random;
use sokudo_sql::{Begin, Engine, Session, SqlError, Statement, Value};

use super::client::{Home, ROLLED_BACK, nothing};
use super::draw;
use crate::drive::{Attempt, Ledger, Mark, Noted};
use crate::tables::{found, gone};

/// Most lines of an order.
const MOST_LINES: usize = 15;
/// An item that no warehouse has.
const NO_ITEM: i64 = draw::ITEMS + 1;

/// A line of an order.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    item: i64,
    supplier: i64,
    quantity: i64,
}

/// Items of an order, and the customer.
pub(crate) struct Input {
    home: Home,
    customer: i64,
    lines: [Line; MOST_LINES],
    count: usize,
    /// `None` for an order that is going to be rolled back.
    pub(super) mark: Option<Mark>,
}

/// Draws one order.
pub(super) fn draw(random: &mut Random, home: Home, ledger: &mut Ledger) -> Input {
    let count = random.between(5, MOST_LINES as i64) as usize;
    let is_wrong = random.below(100) == 0;
    let mut lines = [Line::default(); MOST_LINES];
    for line in &mut lines[..count] {
        *line = Line {
            item: draw::item(random),
            supplier: home.or_remote(random, 1),
            quantity: random.between(1, 10),
        };
    }
    if is_wrong {
        lines[count - 1].item = NO_ITEM;
    }
    let district = random.between(1, draw::DISTRICTS);
    Input {
        home: Home { district, ..home },
        customer: draw::customer(random),
        lines,
        count,
        mark: (!is_wrong).then(|| ledger.next()),
    }
}

/// Its statements.
pub(crate) struct Statements {
    warehouse: Statement,
    customer: Statement,
    district: Statement,
    next_order: Statement,
    order: Statement,
    new_order: Statement,
    item: Statement,
    /// The stock of an item, with the text of each district.
    stock: Vec<Statement>,
    take: Statement,
    line: Statement,
}

impl Statements {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let lock = lock(session);
        let mut stock = Vec::new();
        for district in 1..=draw::DISTRICTS {
            let sql = format!(
                "select s_quantity, s_data, s_dist_{district:02} from dbt2_stock \
                 where s_w_id = $1 and s_i_id = $2{lock}"
            );
            stock.push(session.prepare(&sql).await?);
        }
        let district = format!(
            "select d_next_o_id, d_tax from dbt2_district where d_w_id = $1 and d_id = $2{lock}"
        );
        Ok(Self {
            warehouse: session
                .prepare("select w_tax from dbt2_warehouse where w_id = $1")
                .await?,
            customer: session
                .prepare(
                    "select c_discount, c_last, c_credit from dbt2_customer \
                     where c_w_id = $1 and c_d_id = $2 and c_id = $3",
                )
                .await?,
            district: session.prepare(&district).await?,
            next_order: session
                .prepare(
                    "update dbt2_district set d_next_o_id = $1 where d_w_id = $2 and d_id = $3",
                )
                .await?,
            order: session
                .prepare(
                    "insert into dbt2_orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, \
                     o_all_local, client, sequence) \
                     values ($1, $2, $3, $4, current_timestamp, $5, $6, $7, $8)",
                )
                .await?,
            new_order: session
                .prepare(
                    "insert into dbt2_new_order (no_o_id, no_d_id, no_w_id) values ($1, $2, $3)",
                )
                .await?,
            item: session
                .prepare("select i_price, i_name, i_data from dbt2_item where i_id = $1")
                .await?,
            stock,
            take: session
                .prepare(
                    "update dbt2_stock set s_quantity = $1, s_ytd = s_ytd + $2, \
                     s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $3 \
                     where s_w_id = $4 and s_i_id = $5",
                )
                .await?,
            line: session
                .prepare(
                    "insert into dbt2_order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
                     ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
                     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
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
        let place = [warehouse.into()];
        found(session, &self.warehouse, &place, "dbt2_warehouse").await?;
        let customer = [warehouse.into(), district.into(), input.customer.into()];
        found(session, &self.customer, &customer, "dbt2_customer").await?;
        let place = [warehouse.into(), district.into()];
        let order = session.query_first(&self.district, &place, |row| row.int(0));
        let order = order.await?.ok_or_else(|| gone("dbt2_district"))?;
        let next = [(order + 1).into(), warehouse.into(), district.into()];
        session.execute(&self.next_order, &next).await?;
        self.enter(session, input, order).await?;
        for (number, line) in (1..).zip(&input.lines[..input.count]) {
            if !self.line(session, input, order, (number, line)).await? {
                session.rollback().await?;
                return Ok(Noted(Some((ROLLED_BACK, 1))));
            }
        }
        session.commit().await?;
        Ok(nothing())
    }

    /// Puts the order itself into the tables.
    async fn enter(
        &self,
        session: &mut Session,
        input: &Input,
        order: i64,
    ) -> Result<(), SqlError> {
        let Home {
            warehouse,
            district,
            ..
        } = input.home;
        let mut lines = input.lines[..input.count].iter();
        let is_local = lines.all(|line| line.supplier == warehouse);
        let mark = |of: fn(Mark) -> i64| input.mark.map_or(Value::Null, |mark| of(mark).into());
        let row = [
            order.into(),
            district.into(),
            warehouse.into(),
            input.customer.into(),
            (input.count as i64).into(),
            i64::from(is_local).into(),
            mark(|mark| mark.client),
            mark(|mark| mark.sequence),
        ];
        session.execute(&self.order, &row).await?;
        let row = [order.into(), district.into(), warehouse.into()];
        session.execute(&self.new_order, &row).await?;
        Ok(())
    }

    /// Takes the item of one line from stock; false when there is no such item.
    async fn line(
        &self,
        session: &mut Session,
        input: &Input,
        order: i64,
        (number, line): (i64, &Line),
    ) -> Result<bool, SqlError> {
        let Home {
            warehouse,
            district,
            ..
        } = input.home;
        let item = [line.item.into()];
        let price = session.query_first(&self.item, &item, |row| row.int(0));
        let price = match price.await? {
            Some(price) => price,
            None if line.item == NO_ITEM => return Ok(false),
            None => return Err(gone("dbt2_item")),
        };
        let stock = &self.stock[(district - 1) as usize];
        let place = [line.supplier.into(), line.item.into()];
        let stocked = session.query_first(stock, &place, |row| {
            Ok((row.int(0)?, row.text(2)?.into_owned()))
        });
        let (quantity, text) = stocked.await?.ok_or_else(|| gone("dbt2_stock"))?;
        let left = match quantity >= line.quantity + 10 {
            true => quantity - line.quantity,
            false => quantity - line.quantity + 91,
        };
        let taken = [
            left.into(),
            line.quantity.into(),
            i64::from(line.supplier != warehouse).into(),
            line.supplier.into(),
            line.item.into(),
        ];
        session.execute(&self.take, &taken).await?;
        let row = [
            order.into(),
            district.into(),
            warehouse.into(),
            number.into(),
            line.item.into(),
            line.supplier.into(),
            line.quantity.into(),
            (line.quantity * price).into(),
            text.into(),
        ];
        session.execute(&self.line, &row).await?;
        Ok(true)
    }
}

/// Clause that locks the rows of a select; empty where a transaction has the whole database, or fails
/// when another one has changed a row.
pub(super) fn lock(session: &Session) -> &'static str {
    match session.engine() {
        Engine::Sqlite | Engine::DuckDb => "",
        Engine::Postgres | Engine::MySql => " for update",
    }
}
