//! The rows of each table, part by part.
//!
//! A part is a table's rows of one warehouse. What it holds follows from its table and warehouse alone, so that
//! any number of loaders in any order make the same database.

use sokudo_pace::Random;
use sokudo_sql::{RowWriter, Value};

use super::draw::{CUSTOMERS, DISTRICTS, FIRST_NEW, ITEMS, data, name_of, syllables};
use crate::draw::Texts;

/// Seed of all tables.
const SEED: u64 = 0x736f_6b75_646f_0002;
/// Time at which the first orders were entered.
const ENTERED: &str = "2026-01-01 00:00:00";

/// A table's rows of one warehouse; the items belong to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Items,
    Stock(i64),
    Customers(i64),
    History(i64),
    Orders(i64),
    OrderLines(i64),
    NewOrders(i64),
    Districts(i64),
    Warehouse(i64),
}

/// Tells the streams of random numbers apart.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Items = 1,
    Stock,
    Customers,
    History,
    Orders,
    OrderLines,
    Districts,
    Warehouse,
}

fn random(stream: Stream, warehouse: i64, district: i64) -> Random {
    let number = (stream as u64) << 48 | (warehouse as u64) << 8 | district as u64;
    Random::new(SEED, number)
}

impl Part {
    /// All parts of one warehouse but the warehouse itself, the largest ones first.
    pub(super) fn of(warehouse: i64) -> [Self; 7] {
        [
            Self::OrderLines(warehouse),
            Self::Stock(warehouse),
            Self::Customers(warehouse),
            Self::History(warehouse),
            Self::Orders(warehouse),
            Self::NewOrders(warehouse),
            Self::Districts(warehouse),
        ]
    }

    /// The table, and its columns in the order in which rows are written.
    pub(super) fn table(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Items => (
                "dbt2_item",
                &["i_id", "i_im_id", "i_name", "i_price", "i_data"],
            ),
            Self::Stock(_) => (
                "dbt2_stock",
                &[
                    "s_i_id",
                    "s_w_id",
                    "s_quantity",
                    "s_dist_01",
                    "s_dist_02",
                    "s_dist_03",
                    "s_dist_04",
                    "s_dist_05",
                    "s_dist_06",
                    "s_dist_07",
                    "s_dist_08",
                    "s_dist_09",
                    "s_dist_10",
                    "s_ytd",
                    "s_order_cnt",
                    "s_remote_cnt",
                    "s_data",
                ],
            ),
            Self::Customers(_) => (
                "dbt2_customer",
                &[
                    "c_id",
                    "c_d_id",
                    "c_w_id",
                    "c_first",
                    "c_middle",
                    "c_last",
                    "c_street_1",
                    "c_street_2",
                    "c_city",
                    "c_state",
                    "c_zip",
                    "c_phone",
                    "c_since",
                    "c_credit",
                    "c_credit_lim",
                    "c_discount",
                    "c_balance",
                    "c_ytd_payment",
                    "c_payment_cnt",
                    "c_delivery_cnt",
                    "c_data",
                ],
            ),
            Self::History(_) => (
                "dbt2_history",
                &[
                    "h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount",
                    "h_data",
                ],
            ),
            Self::Orders(_) => (
                "dbt2_orders",
                &[
                    "o_id",
                    "o_d_id",
                    "o_w_id",
                    "o_c_id",
                    "o_entry_d",
                    "o_carrier_id",
                    "o_ol_cnt",
                    "o_all_local",
                ],
            ),
            Self::OrderLines(_) => (
                "dbt2_order_line",
                &[
                    "ol_o_id",
                    "ol_d_id",
                    "ol_w_id",
                    "ol_number",
                    "ol_i_id",
                    "ol_supply_w_id",
                    "ol_delivery_d",
                    "ol_quantity",
                    "ol_amount",
                    "ol_dist_info",
                ],
            ),
            Self::NewOrders(_) => ("dbt2_new_order", &["no_o_id", "no_d_id", "no_w_id"]),
            Self::Districts(_) => (
                "dbt2_district",
                &[
                    "d_id",
                    "d_w_id",
                    "d_name",
                    "d_street_1",
                    "d_street_2",
                    "d_city",
                    "d_state",
                    "d_zip",
                    "d_tax",
                    "d_ytd",
                    "d_next_o_id",
                ],
            ),
            Self::Warehouse(_) => (
                "dbt2_warehouse",
                &[
                    "w_id",
                    "w_name",
                    "w_street_1",
                    "w_street_2",
                    "w_city",
                    "w_state",
                    "w_zip",
                    "w_tax",
                    "w_ytd",
                ],
            ),
        }
    }

    /// Writes its rows, one at a call or some; says whether more follow.
    pub(super) fn rows<'t>(self, texts: &'t Texts) -> Box<dyn FnMut(&mut RowWriter) -> bool + 't> {
        match self {
            Self::Items => Box::new(items(texts)),
            Self::Stock(warehouse) => Box::new(stock(warehouse, texts)),
            Self::Customers(warehouse) => Box::new(by_district(move |row, district| {
                customers(row, (warehouse, district), texts);
            })),
            Self::History(warehouse) => Box::new(by_district(move |row, district| {
                history(row, (warehouse, district), texts);
            })),
            Self::Orders(warehouse) => Box::new(by_district(move |row, district| {
                orders(row, (warehouse, district));
            })),
            Self::OrderLines(warehouse) => Box::new(order_lines(warehouse, texts)),
            Self::NewOrders(warehouse) => Box::new(by_district(move |row, district| {
                for order in FIRST_NEW..=CUSTOMERS {
                    row.int(order).int(district).int(warehouse).end();
                }
            })),
            Self::Districts(warehouse) => Box::new(by_district(move |row, district| {
                districts(row, (warehouse, district), texts);
            })),
            Self::Warehouse(warehouse) => Box::new(move |row| {
                let mut random = random(Stream::Warehouse, warehouse, 0);
                row.int(warehouse).text(texts.of(&mut random, 6, 10));
                address(row, &mut random, texts);
                row.int(random.between(0, 2000)).int(30_000_000).end();
                false
            }),
        }
    }
}

/// The rows of one district at each call.
fn by_district(mut rows: impl FnMut(&mut RowWriter, i64)) -> impl FnMut(&mut RowWriter) -> bool {
    let mut district = 0;
    move |row| {
        district += 1;
        rows(row, district);
        district < DISTRICTS
    }
}

/// Streets, city, state and postal code.
fn address(row: &mut RowWriter, random: &mut Random, texts: &Texts) {
    for _ in 0..3 {
        row.text(texts.of(random, 10, 20));
    }
    row.text(texts.of(random, 2, 2));
    row.text(padded(random.between(0, 999_999_999), &mut [0; 9]));
}

/// A number with zeros in front of it, as many digits as there is room for.
fn padded(number: i64, room: &mut [u8]) -> &str {
    let mut rest = number.unsigned_abs();
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    std::str::from_utf8(room).unwrap_or_default()
}

fn items(texts: &Texts) -> impl FnMut(&mut RowWriter) -> bool + '_ {
    let mut random = random(Stream::Items, 0, 0);
    let (mut item, mut text) = (0, String::new());
    move |row| {
        item += 1;
        data(texts, &mut random, &mut text);
        row.int(item)
            .int(random.between(1, 10_000))
            .text(texts.of(&mut random, 14, 24))
            .int(random.between(100, 10_000))
            .text(&text)
            .end();
        item < ITEMS
    }
}

fn stock(warehouse: i64, texts: &Texts) -> impl FnMut(&mut RowWriter) -> bool + '_ {
    let mut random = random(Stream::Stock, warehouse, 0);
    let (mut item, mut text) = (0, String::new());
    move |row| {
        item += 1;
        data(texts, &mut random, &mut text);
        row.int(item).int(warehouse).int(random.between(10, 100));
        for _ in 0..DISTRICTS {
            row.text(texts.of(&mut random, 24, 24));
        }
        row.int(0).int(0).int(0).text(&text).end();
        item < ITEMS
    }
}

fn districts(row: &mut RowWriter, (warehouse, district): (i64, i64), texts: &Texts) {
    let mut random = random(Stream::Districts, warehouse, district);
    row.int(district).int(warehouse);
    row.text(texts.of(&mut random, 6, 10));
    address(row, &mut random, texts);
    row.int(random.between(0, 2000))
        .int(3_000_000)
        .int(CUSTOMERS + 1)
        .end();
}

fn customers(row: &mut RowWriter, (warehouse, district): (i64, i64), texts: &Texts) {
    let mut random = random(Stream::Customers, warehouse, district);
    let mut name = String::new();
    for customer in 1..=CUSTOMERS {
        row.int(customer).int(district).int(warehouse);
        row.text(texts.of(&mut random, 8, 16)).text("OE");
        name.clear();
        name.extend(syllables(name_of(customer, &mut random)));
        row.text(&name);
        address(row, &mut random, texts);
        let phone = random.below(10_u64.pow(16)) as i64;
        row.text(padded(phone, &mut [0; 16]));
        let credit = if random.below(10) == 0 { "BC" } else { "GC" };
        row.text(ENTERED)
            .text(credit)
            .int(5_000_000)
            .int(random.between(0, 5000));
        row.int(-1000).int(1000).int(1).int(0);
        row.text(texts.of(&mut random, 300, 500)).end();
    }
}

fn history(row: &mut RowWriter, (warehouse, district): (i64, i64), texts: &Texts) {
    let mut random = random(Stream::History, warehouse, district);
    for customer in 1..=CUSTOMERS {
        for id in [customer, district, warehouse, district, warehouse] {
            row.int(id);
        }
        row.text(ENTERED).int(1000);
        row.text(texts.of(&mut random, 12, 24)).end();
    }
}

/// Customer and number of lines of each order of a district, on which orders and their lines must agree.
fn outline(warehouse: i64, district: i64) -> (Vec<i64>, Vec<i64>, Random) {
    let mut random = random(Stream::Orders, warehouse, district);
    let mut customers: Vec<i64> = (1..=CUSTOMERS).collect();
    for last in (1..customers.len()).rev() {
        let other = random.below(last as u64 + 1) as usize;
        customers.swap(last, other);
    }
    let lines = (0..CUSTOMERS).map(|_| random.between(5, 15)).collect();
    (customers, lines, random)
}

fn orders(row: &mut RowWriter, (warehouse, district): (i64, i64)) {
    let (customers, lines, mut random) = outline(warehouse, district);
    for ((order, customer), lines) in (1..).zip(customers).zip(lines) {
        row.int(order).int(district).int(warehouse).int(customer);
        row.text(ENTERED);
        row.put(match order < FIRST_NEW {
            true => Value::Int(random.between(1, 10)),
            false => Value::Null,
        });
        row.int(lines).int(1).end();
    }
}

/// The lines of one order at each call.
fn order_lines(warehouse: i64, texts: &Texts) -> impl FnMut(&mut RowWriter) -> bool + '_ {
    let (mut district, mut order) = (1, 0);
    let (_, mut lines, _) = outline(warehouse, district);
    let mut random = random(Stream::OrderLines, warehouse, 0);
    move |row| {
        order += 1;
        let is_delivered = order < FIRST_NEW;
        for number in 1..=lines[order as usize - 1] {
            row.int(order).int(district).int(warehouse).int(number);
            row.int(random.between(1, ITEMS)).int(warehouse);
            match is_delivered {
                true => row.text(ENTERED).int(5).int(0),
                false => row.put(Value::Null).int(5).int(random.between(1, 999_999)),
            };
            row.text(texts.of(&mut random, 24, 24)).end();
        }
        if order < CUSTOMERS {
            return true;
        }
        district += 1;
        order = 0;
        if district <= DISTRICTS {
            (_, lines, _) = outline(warehouse, district);
        }
        district <= DISTRICTS
    }
}
