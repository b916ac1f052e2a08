//! The interactions that write: carts, customers, orders, changes of items.

use std::slice;

use sokudo_sql::{Begin, Session, SqlError, Statement, Value};

use super::client::Input;
use super::rows::{COUNTRIES, Cost, user_name};
use crate::tables::{found, gone};

/// Most pieces of an item in a cart.
const MOST: i64 = 10;
/// Pieces below which an item is ordered again, and how many come then.
const LOW: i64 = 10;
const ORDERED_AGAIN: i64 = 21;

/// The statements of one session.
pub(super) struct Buy {
    cart: Statement,
    new_cart: Statement,
    price: Statement,
    line: Statement,
    new_line: Statement,
    more: Statement,
    lines: Statement,
    sub_total: Statement,
    empty: Statement,
    no_cart: Statement,
    customer: Statement,
    by_name: Statement,
    logged_in: Statement,
    new_customer: Statement,
    new_address: Statement,
    order: Statement,
    order_line: Statement,
    stock: Statement,
    payment: Statement,
    bought_with: Statement,
    change: Statement,
}

impl Buy {
    #[rustfmt::skip]
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let stock = format!(
            "update dbt1_item set i_stock = case when i_stock - $1 < {LOW} \
             then i_stock - $2 + {ORDERED_AGAIN} else i_stock - $3 end where i_id = $4"
        );
        let more = format!(
            "update dbt1_cart_line set scl_qty = case when scl_qty + $1 > {MOST} then {MOST} \
             else scl_qty + $2 end where scl_sc_id = $3 and scl_i_id = $4"
        );
        let mut sql = async |text: &str| session.prepare(text).await;
        Ok(Self {
            cart: sql("select sc_sub_total from dbt1_cart where sc_id = $1").await?,
            new_cart: sql("insert into dbt1_cart (sc_id, sc_sub_total) values ($1, 0)").await?,
            price: sql("select i_cost from dbt1_item where i_id = $1").await?,
            line: sql("select scl_qty from dbt1_cart_line where scl_sc_id = $1 and scl_i_id = $2").await?,
            new_line: sql("insert into dbt1_cart_line (scl_sc_id, scl_i_id, scl_qty, scl_cost) \
                 values ($1, $2, $3, $4)").await?,
            more: sql(&more).await?,
            lines: sql("select scl_i_id, scl_qty, scl_cost from dbt1_cart_line \
                 where scl_sc_id = $1 order by scl_i_id").await?,
            sub_total: sql("update dbt1_cart set sc_sub_total = $1 where sc_id = $2").await?,
            empty: sql("delete from dbt1_cart_line where scl_sc_id = $1").await?,
            no_cart: sql("delete from dbt1_cart where sc_id = $1").await?,
            customer: sql("select c_discount, c_addr_id from dbt1_customer where c_id = $1").await?,
            by_name: sql("select c_id, c_passwd, c_discount, addr_street1, addr_city, co_name \
                 from dbt1_customer join dbt1_address on addr_id = c_addr_id \
                 join dbt1_country on co_id = addr_co_id where c_uname = $1").await?,
            logged_in: sql("update dbt1_customer set c_logins = c_logins + 1 where c_id = $1").await?,
            new_customer: sql("insert into dbt1_customer (c_id, c_uname, c_passwd, c_fname, c_lname, \
                 c_addr_id, c_phone, c_email, c_since, c_logins, c_discount, c_data) values \
                 ($1, $2, 'pw', 'new', 'customer', $3, '0', 'new@example.com', current_date, 1, $4, '')").await?,
            new_address: sql("insert into dbt1_address (addr_id, addr_street1, addr_street2, addr_city, \
                 addr_state, addr_zip, addr_co_id) values ($1, 'street', '', 'city', 'state', '0', $2)").await?,
            order: sql("insert into dbt1_orders (o_id, o_c_id, o_date, o_sub_total, o_discount, o_tax, \
                 o_ship, o_total, o_ship_type, o_addr_id, o_status, client, sequence) values \
                 ($1, $2, current_timestamp, $3, $4, $5, $6, $7, 'POST', $8, 'PENDING', $9, $10)").await?,
            order_line: sql("insert into dbt1_order_line (ol_o_id, ol_number, ol_i_id, ol_qty, ol_cost, \
                 ol_comments) values ($1, $2, $3, $4, $5, '')").await?,
            stock: sql(&stock).await?,
            payment: sql("insert into dbt1_payment (cx_o_id, cx_type, cx_number, cx_name, cx_amount, \
                 cx_date, cx_co_id) values ($1, 'CARD', '0', 'name', $2, current_timestamp, $3)").await?,
            bought_with: sql("select other.ol_i_id, sum(other.ol_qty) as sold from dbt1_order_line one \
                 join dbt1_order_line other on other.ol_o_id = one.ol_o_id \
                 where one.ol_i_id = $1 and other.ol_i_id <> $2 and one.ol_o_id >= \
                 (select coalesce(min(o_id), 0) from \
                 (select o_id from dbt1_orders order by o_id desc limit 10000) recent) \
                 group by other.ol_i_id order by sold desc, other.ol_i_id limit 5").await?,
            change: sql("update dbt1_item set i_related1 = $1, i_related2 = $2, i_related3 = $3, \
                 i_related4 = $4, i_related5 = $5, i_cost = i_srp, i_pub_date = current_date \
                 where i_id = $6").await?,
        })
    }

    /// Shopping Cart: an item more in the cart, which is made when there is none.
    pub(super) async fn cart(&self, session: &mut Session, input: &Input) -> Result<(), SqlError> {
        let cart = Value::Int(input.cart);
        let item = Value::Int(input.item);
        session.begin(Begin::Write).await?;
        let known = session
            .query_first(&self.cart, slice::from_ref(&cart), |row| row.int(0))
            .await?;
        if known.is_none() {
            session
                .execute(&self.new_cart, slice::from_ref(&cart))
                .await?;
        }
        let place = [cart.clone(), item.clone()];
        let in_cart = session
            .query_first(&self.line, &place, |row| row.int(0))
            .await?;
        let quantity = Value::Int(input.quantity);
        match in_cart {
            Some(_) => {
                let more = [quantity.clone(), quantity, cart.clone(), item];
                session.execute(&self.more, &more).await?;
            }
            None => {
                let price = self.price(session, input.item).await?;
                let line = [cart.clone(), item, quantity, price.into()];
                session.execute(&self.new_line, &line).await?;
            }
        }
        let lines = self.lines(session, input.cart).await?;
        let sub_total: i64 = lines.iter().map(|line| line.quantity * line.cost).sum();
        session
            .execute(&self.sub_total, &[sub_total.into(), cart])
            .await?;
        session.commit().await
    }

    /// Buy Request: the visitor says who they are, and sees what the cart costs.
    pub(super) async fn request(
        &self,
        session: &mut Session,
        input: &Input,
    ) -> Result<(), SqlError> {
        session.begin(Begin::Write).await?;
        match input.new_customer {
            Some(number) => {
                let country = number % COUNTRIES + 1;
                session
                    .execute(&self.new_address, &[number.into(), country.into()])
                    .await?;
                let name = user_name(number);
                let customer = [
                    number.into(),
                    name.into(),
                    number.into(),
                    (number % 51).into(),
                ];
                session.execute(&self.new_customer, &customer).await?;
            }
            None => {
                let name = user_name(input.customer);
                session.execute(&self.by_name, &[name.into()]).await?;
                session
                    .execute(&self.logged_in, &[input.customer.into()])
                    .await?;
            }
        }
        self.lines(session, input.cart).await?;
        session.commit().await
    }

    /// Buy Confirm: an order of what is in the cart, or of one item where it is empty; the cart is gone.
    pub(super) async fn confirm(
        &self,
        session: &mut Session,
        input: &Input,
    ) -> Result<(), SqlError> {
        session.begin(Begin::Write).await?;
        let mut lines = self.lines(session, input.cart).await?;
        if lines.is_empty() {
            lines.push(Line {
                item: input.item,
                quantity: input.quantity,
                cost: self.price(session, input.item).await?,
            });
        }
        let who = [input.customer.into()];
        let customer =
            session.query_first(&self.customer, &who, |row| Ok((row.int(0)?, row.int(1)?)));
        // A new customer may have been refused: then that number is not in use.
        let (percent, address) = customer.await?.unwrap_or((0, 1));
        let cost = Cost::of(lines.iter().map(|line| (line.quantity, line.cost)), percent);
        let mark = input
            .mark
            .map_or((0, 0), |mark| (mark.client, mark.sequence));
        let order = [
            input.order,
            input.customer,
            cost.sub_total,
            cost.discount,
            cost.tax,
            cost.ship,
            cost.total(),
            address,
            mark.0,
            mark.1,
        ];
        session.execute(&self.order, &order.map(Value::Int)).await?;
        for (number, line) in (1..).zip(&lines) {
            let row = [input.order, number, line.item, line.quantity, line.cost];
            session
                .execute(&self.order_line, &row.map(Value::Int))
                .await?;
            let taken = [line.quantity, line.quantity, line.quantity, line.item];
            let taken = taken.map(Value::Int);
            found(session, &self.stock, &taken, "dbt1_item").await?;
        }
        let country = input.customer % COUNTRIES + 1;
        let payment = [input.order, cost.total(), country];
        session
            .execute(&self.payment, &payment.map(Value::Int))
            .await?;
        let cart = [Value::Int(input.cart)];
        session.execute(&self.empty, &cart).await?;
        session.execute(&self.no_cart, &cart).await?;
        session.commit().await
    }

    /// Admin Confirm: an item gets another price, and as related items those that were bought with it.
    pub(super) async fn change(
        &self,
        session: &mut Session,
        input: &Input,
    ) -> Result<(), SqlError> {
        session.begin(Begin::Write).await?;
        let mut related = Vec::new();
        let both = [input.item, input.item].map(Value::Int);
        session
            .query(&self.bought_with, &both, |row| {
                related.push(row.int(0)?);
                Ok(())
            })
            .await?;
        // Without enough of them the item stands for itself.
        related.resize(5, input.item);
        related.push(input.item);
        let change: Vec<Value<'_>> = related.into_iter().map(Value::Int).collect();
        found(session, &self.change, &change, "dbt1_item").await?;
        session.commit().await
    }

    async fn price(&self, session: &mut Session, item: i64) -> Result<i64, SqlError> {
        let price = session
            .query_first(&self.price, &[item.into()], |row| row.int(0))
            .await?;
        price.ok_or_else(|| gone("dbt1_item"))
    }

    async fn lines(&self, session: &mut Session, cart: i64) -> Result<Vec<Line>, SqlError> {
        let mut lines = Vec::new();
        session
            .query(&self.lines, &[cart.into()], |row| {
                lines.push(Line {
                    item: row.int(0)?,
                    quantity: row.int(1)?,
                    cost: row.int(2)?,
                });
                Ok(())
            })
            .await?;
        Ok(lines)
    }
}

/// A line of a cart.
struct Line {
    item: i64,
    quantity: i64,
    cost: i64,
}
