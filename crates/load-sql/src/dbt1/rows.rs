//! The rows of the shop. What a row holds follows from its table and number alone.

use sokudo_pace::Random;
use sokudo_sql::{RowWriter, Session, SqlError, Target, civil};

use super::schema::TABLES;
use crate::db::CONNECT;
use crate::draw::Texts;
use crate::drive::Loaded;
use crate::tables::{close, create, fill, finish};

/// Items on sale, and who wrote them.
pub(super) const ITEMS: i64 = 10_000;
const AUTHORS: i64 = ITEMS / 4;
/// Customers of each unit of the scale, and the orders that they have placed.
pub(super) const CUSTOMERS: i64 = 2880;
const ORDERS: i64 = CUSTOMERS * 9 / 10;
pub(super) const COUNTRIES: i64 = 92;
/// Subjects of items.
pub(super) const SUBJECTS: [&str; 12] = [
    "ART", "COOKING", "GARDENS", "HISTORY", "LAW", "MATHS", "MUSIC", "POETRY", "RAILWAYS", "SPORT",
    "TRAVEL", "WEATHER",
];
/// Seed of all tables.
const SEED: u64 = 0x736f_6b75_646f_0001;
/// Keys of one part.
const CHUNK: i64 = 2000;
/// Time at which the first orders were placed.
const PLACED: &str = "2026-01-01 00:00:00";
/// Tax on what is bought, per ten thousand.
const TAX: i64 = 825;

/// A table that has rows from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Country = 1,
    Author,
    Item,
    Address,
    Orders,
    OrderLine,
    Payment,
    Customer,
}

/// Rows of a table, by their keys.
#[derive(Debug, Clone, Copy)]
struct Part {
    rows: Rows,
    first: i64,
    last: i64,
}

/// Price of an order, cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) sub_total: i64,
    pub(super) discount: i64,
    pub(super) tax: i64,
    pub(super) ship: i64,
}

impl Cost {
    /// Of lines with quantities and prices, for a customer with a discount in percent.
    pub(super) fn of(lines: impl IntoIterator<Item = (i64, i64)>, percent: i64) -> Self {
        let (mut sub_total, mut pieces) = (0, 0);
        for (quantity, cost) in lines {
            sub_total += quantity * cost;
            pieces += quantity;
        }
        let discount = sub_total * percent / 100;
        Self {
            sub_total,
            discount,
            tax: (sub_total - discount) * TAX / 10_000,
            ship: 300 + 100 * pieces,
        }
    }

    pub(super) fn total(self) -> i64 {
        self.sub_total - self.discount + self.tax + self.ship
    }
}

/// Makes the tables anew and fills them.
///
/// Errors: those of the server. Tables that were not filled completely have no customers.
pub(super) async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
    let scale = i64::from(scale);
    let mut session = Session::connect(target, CONNECT).await?;
    create(&mut session, &TABLES).await?;
    let texts = Texts::new();
    let before: Vec<Part> = parts(scale, false);
    let load_part = async |session: &mut Session, part| load(session, part, &texts).await;
    let mut rows = fill(target, |number| before.get(number).copied(), load_part).await?;
    finish(target, &TABLES).await?;
    // Last: the number of customers says how large the database is.
    for part in parts(scale, true) {
        rows += load(&mut session, part, &texts).await?;
    }
    close(&mut session, "dbt1_customer").await?;
    Ok(Loaded { rows })
}

/// The parts of the customers, or of all others.
fn parts(scale: i64, of_customers: bool) -> Vec<Part> {
    let orders = ORDERS * scale;
    let each = [
        (Rows::Country, COUNTRIES),
        (Rows::Author, AUTHORS),
        (Rows::Item, ITEMS),
        (Rows::Address, 2 * CUSTOMERS * scale),
        (Rows::Orders, orders),
        (Rows::OrderLine, orders),
        (Rows::Payment, orders),
        (Rows::Customer, CUSTOMERS * scale),
    ];
    let wanted = each
        .into_iter()
        .filter(|(rows, _)| (*rows == Rows::Customer) == of_customers);
    let parts = wanted.flat_map(|(rows, keys)| {
        (1..=keys).step_by(CHUNK as usize).map(move |first| Part {
            rows,
            first,
            last: (first + CHUNK - 1).min(keys),
        })
    });
    parts.collect()
}

async fn load(session: &mut Session, part: Part, texts: &Texts) -> Result<u64, SqlError> {
    let (table, columns) = part.rows.columns();
    let mut key = part.first;
    let next = |row: &mut RowWriter| {
        part.rows.write(key, row, texts);
        key += 1;
        key <= part.last
    };
    session.load(table, columns, next).await
}

impl Rows {
    #[rustfmt::skip]
    fn columns(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Country => ("dbt1_country", &["co_id", "co_name", "co_currency", "co_exchange"]),
            Self::Author => ("dbt1_author", &["a_id", "a_fname", "a_lname", "a_bio"]),
            Self::Item => ("dbt1_item", &[
                "i_id", "i_title", "i_a_id", "i_pub_date", "i_publisher", "i_subject", "i_desc",
                "i_related1", "i_related2", "i_related3", "i_related4", "i_related5", "i_image",
                "i_srp", "i_cost", "i_stock", "i_isbn", "i_page", "i_backing",
            ]),
            Self::Address => ("dbt1_address", &[
                "addr_id", "addr_street1", "addr_street2", "addr_city", "addr_state", "addr_zip",
                "addr_co_id",
            ]),
            Self::Orders => ("dbt1_orders", &[
                "o_id", "o_c_id", "o_date", "o_sub_total", "o_discount", "o_tax", "o_ship", "o_total",
                "o_ship_type", "o_addr_id", "o_status",
            ]),
            Self::OrderLine => ("dbt1_order_line", &[
                "ol_o_id", "ol_number", "ol_i_id", "ol_qty", "ol_cost", "ol_comments",
            ]),
            Self::Payment => ("dbt1_payment", &[
                "cx_o_id", "cx_type", "cx_number", "cx_name", "cx_amount", "cx_date", "cx_co_id",
            ]),
            Self::Customer => ("dbt1_customer", &[
                "c_id", "c_uname", "c_passwd", "c_fname", "c_lname", "c_addr_id", "c_phone",
                "c_email", "c_since", "c_logins", "c_discount", "c_data",
            ]),
        }
    }

    /// Writes the row of a key, or the lines of an order.
    fn write(self, key: i64, row: &mut RowWriter, texts: &Texts) {
        let mut random = Random::new(SEED, (self as u64) << 48 | key as u64);
        let random = &mut random;
        match self {
            Self::Country => {
                row.int(key).text(&format!("COUNTRY-{key:02}"));
                row.text(texts.of(random, 4, 10))
                    .int(random.between(1, 100_000))
                    .end();
            }
            Self::Author => {
                row.int(key).text(texts.of(random, 3, 20));
                row.text(&author(key))
                    .text(texts.of(random, 125, 500))
                    .end();
            }
            Self::Item => item(key, random, row, texts),
            Self::Address => {
                row.int(key);
                for (least, most) in [(15, 40), (15, 40), (4, 30), (2, 20), (5, 10)] {
                    row.text(texts.of(random, least, most));
                }
                row.int(random.between(1, COUNTRIES)).end();
            }
            Self::Orders => {
                let order = Order::of(key);
                row.int(key).int(order.customer).text(PLACED);
                for amount in [
                    order.cost.sub_total,
                    order.cost.discount,
                    order.cost.tax,
                    order.cost.ship,
                ] {
                    row.int(amount);
                }
                row.int(order.cost.total())
                    .text("POST")
                    .int(2 * order.customer)
                    .text("SHIPPED")
                    .end();
            }
            Self::OrderLine => {
                for (number, (item, quantity, cost)) in (1..).zip(Order::of(key).lines) {
                    row.int(key).int(number).int(item).int(quantity).int(cost);
                    row.text(texts.of(random, 20, 100)).end();
                }
            }
            Self::Payment => {
                let order = Order::of(key);
                row.int(key)
                    .text("CARD")
                    .text(&format!("{:016}", random.below(10_u64.pow(16))));
                row.text(texts.of(random, 14, 30))
                    .int(order.cost.total())
                    .text(PLACED);
                row.int(random.between(1, COUNTRIES)).end();
            }
            Self::Customer => customer(key, random, row, texts),
        }
    }
}

/// Last name of an author, by whose begin visitors search.
fn author(key: i64) -> String {
    format!("{}AUTHOR-{key}", letter(key))
}

/// The letter that a name or title begins with.
pub(super) fn letter(number: i64) -> char {
    char::from(b'A' + (number % 26) as u8)
}

/// Name that a customer gives.
pub(super) fn user_name(customer: i64) -> String {
    format!("USER-{customer}")
}

fn item(key: i64, random: &mut Random, row: &mut RowWriter, texts: &Texts) {
    row.int(key).text(&format!(
        "{}{key} {}",
        letter(key / 26),
        texts.of(random, 8, 40)
    ));
    row.int(random.between(1, AUTHORS))
        .text(&day(random.between(0, 9000)));
    row.text(texts.of(random, 14, 60));
    row.text(SUBJECTS[random.below(SUBJECTS.len() as u64) as usize]);
    row.text(texts.of(random, 100, 500));
    for _ in 0..5 {
        row.int(random.between(1, ITEMS));
    }
    row.text(&format!("img/{key}.gif"))
        .int(price(key))
        .int(price(key) * 9 / 10);
    row.int(random.between(10, 30))
        .text(&format!("{:013}", random.below(10_u64.pow(13))));
    row.int(random.between(20, 9999)).text("PAPERBACK").end();
}

fn customer(key: i64, random: &mut Random, row: &mut RowWriter, texts: &Texts) {
    row.int(key)
        .text(&user_name(key))
        .text(&format!("pw-{key}"));
    row.text(texts.of(random, 8, 15))
        .text(texts.of(random, 8, 15))
        .int(2 * key);
    row.text(&format!("{:012}", random.below(10_u64.pow(12))));
    row.text(&format!("user-{key}@example.com"))
        .text(&day(random.between(7000, 9000)));
    row.int(0)
        .int(discount(key))
        .text(texts.of(random, 100, 500))
        .end();
}

/// A day since 2000-01-01 as text.
fn day(number: i64) -> String {
    let (year, month, day) = civil(10_957 + number);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Discount of a customer, percent.
fn discount(customer: i64) -> i64 {
    customer % 51
}

/// Price of an item that nobody has changed yet.
fn price(item: i64) -> i64 {
    100 + item * 7919 % 9900
}

/// Values common to the rows of an order and its lines.
struct Order {
    customer: i64,
    /// Item, quantity, price.
    lines: Vec<(i64, i64, i64)>,
    cost: Cost,
}

impl Order {
    fn of(key: i64) -> Self {
        let mut random = Random::new(SEED, key as u64);
        let customer = (key - 1) / 9 * 10 + (key - 1) % 9 + 1;
        let lines: Vec<(i64, i64, i64)> = (0..random.between(1, 5))
            .map(|_| {
                let item = random.between(1, ITEMS);
                (item, random.between(1, 10), price(item) * 9 / 10)
            })
            .collect();
        let cost = Cost::of(
            lines.iter().map(|line| (line.1, line.2)),
            discount(customer),
        );
        Self {
            customer,
            lines,
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_costs_what_its_lines_cost_less_discount_plus_tax_and_post() {
        let cost = Cost::of([(2, 1000), (1, 500)], 10);
        assert_eq!((cost.sub_total, cost.discount, cost.ship), (2500, 250, 600));
        assert_eq!(cost.tax, 2250 * 825 / 10_000);
        assert_eq!(cost.total(), 2250 + cost.tax + 600);
    }

    #[test]
    fn orders_are_of_customers_who_are_there() {
        for scale in [1, 3] {
            let customers = (1..=ORDERS * scale).map(|key| Order::of(key).customer);
            let all: std::collections::BTreeSet<i64> = customers.collect();
            assert_eq!(all.len() as i64, ORDERS * scale);
            assert!(
                all.iter()
                    .all(|customer| (1..=CUSTOMERS * scale).contains(customer))
            );
        }
    }
}
