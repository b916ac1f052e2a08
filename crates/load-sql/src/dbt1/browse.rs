//! The interactions that only look.

use sokudo_sql::{Session, SqlError, Statement, Value};

use super::client::{Input, Interaction};
use super::rows::user_name;
use crate::tables::found;

/// Rows of a list.
const SHOWN: usize = 50;
/// Orders that best sellers are counted in.
const RECENT: usize = 3333;

/// The statements of one session.
pub(super) struct Browse {
    related: Statement,
    greeting: Statement,
    new_products: Statement,
    best_sellers: Statement,
    detail: Statement,
    by_author: Statement,
    by_title: Statement,
    by_subject: Statement,
    known: Statement,
    last_order: Statement,
    lines: Statement,
}

impl Browse {
    pub(super) async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let list = |condition: &str, order: &str| {
            format!(
                "select i_id, i_title, a_fname, a_lname from dbt1_item join dbt1_author on a_id = i_a_id \
                 where {condition} order by {order} limit {SHOWN}"
            )
        };
        let best_sellers = format!(
            "select i_id, i_title, a_fname, a_lname, sum(ol_qty) as sold from dbt1_order_line \
             join dbt1_item on i_id = ol_i_id join dbt1_author on a_id = i_a_id \
             where i_subject = $1 and ol_o_id >= (select coalesce(min(o_id), 0) from \
             (select o_id from dbt1_orders order by o_id desc limit {RECENT}) recent) \
             group by i_id, i_title, a_fname, a_lname order by sold desc, i_id limit {SHOWN}"
        );
        Ok(Self {
            related: session
                .prepare(
                    "select other.i_id, other.i_image from dbt1_item one join dbt1_item other \
                     on other.i_id in (one.i_related1, one.i_related2, one.i_related3, \
                     one.i_related4, one.i_related5) where one.i_id = $1",
                )
                .await?,
            greeting: session
                .prepare("select c_fname, c_lname from dbt1_customer where c_id = $1")
                .await?,
            new_products: session
                .prepare(&list("i_subject = $1", "i_pub_date desc, i_id"))
                .await?,
            best_sellers: session.prepare(&best_sellers).await?,
            detail: session
                .prepare(
                    "select i_title, a_fname, a_lname, i_pub_date, i_publisher, i_subject, i_desc, \
                     i_image, i_srp, i_cost, i_stock, i_isbn, i_page, i_backing \
                     from dbt1_item join dbt1_author on a_id = i_a_id where i_id = $1",
                )
                .await?,
            by_author: session
                .prepare(&list("a_lname like $1", "i_title, i_id"))
                .await?,
            by_title: session
                .prepare(&list("i_title like $1", "i_title, i_id"))
                .await?,
            by_subject: session
                .prepare(&list("i_subject = $1", "i_title, i_id"))
                .await?,
            known: session
                .prepare("select c_id, c_passwd from dbt1_customer where c_uname = $1")
                .await?,
            last_order: session
                .prepare(
                    "select o_id, o_date, o_sub_total, o_discount, o_tax, o_ship, o_total, o_ship_type, \
                     o_status, addr_street1, addr_city, co_name, cx_type from dbt1_orders \
                     join dbt1_address on addr_id = o_addr_id join dbt1_country on co_id = addr_co_id \
                     join dbt1_payment on cx_o_id = o_id where o_c_id = $1 order by o_id desc limit 1",
                )
                .await?,
            lines: session
                .prepare(
                    "select ol_i_id, i_title, ol_qty, ol_cost, ol_comments from dbt1_order_line \
                     join dbt1_item on i_id = ol_i_id where ol_o_id = $1 order by ol_number",
                )
                .await?,
        })
    }

    /// Carries out one of the interactions that only look.
    pub(super) async fn look(&self, session: &mut Session, input: &Input) -> Result<(), SqlError> {
        let item = [Value::Int(input.item)];
        let subject = [Value::from(input.subject)];
        match input.kind {
            Interaction::Home => {
                session
                    .execute(&self.greeting, &[input.customer.into()])
                    .await?;
                of_item(session, &self.related, &item).await?;
            }
            Interaction::NewProducts => {
                session.execute(&self.new_products, &subject).await?;
            }
            Interaction::BestSellers => {
                session.execute(&self.best_sellers, &subject).await?;
            }
            Interaction::SearchRequest => of_item(session, &self.related, &item).await?,
            Interaction::SearchResults => {
                let begins = Value::from(format!("{}%", input.letter));
                match input.search {
                    0 => session.execute(&self.by_author, &[begins]).await?,
                    1 => session.execute(&self.by_title, &[begins]).await?,
                    _ => session.execute(&self.by_subject, &subject).await?,
                };
            }
            Interaction::OrderInquiry => {
                session
                    .execute(&self.known, &[user_name(input.customer).into()])
                    .await?;
            }
            Interaction::OrderDisplay => self.order(session, input.customer).await?,
            _ => of_item(session, &self.detail, &item).await?,
        }
        Ok(())
    }

    /// The last order of a customer, if there is one.
    async fn order(&self, session: &mut Session, customer: i64) -> Result<(), SqlError> {
        session
            .execute(&self.known, &[user_name(customer).into()])
            .await?;
        let order = session
            .query_first(&self.last_order, &[customer.into()], |row| row.int(0))
            .await?;
        if let Some(order) = order {
            session.execute(&self.lines, &[order.into()]).await?;
        }
        Ok(())
    }
}

/// Executes what tells something of an item.
///
/// Errors: the item is missing, too.
async fn of_item(
    session: &mut Session,
    statement: &Statement,
    item: &[Value<'_>],
) -> Result<(), SqlError> {
    found(session, statement, item, "dbt1_item").await
}
