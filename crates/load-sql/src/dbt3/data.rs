//! The rows of `dbt3`, chunk by chunk.
//!
//! What a row holds follows from its table and its number alone: any number of loaders on any hosts make any chunk in
//! any order, and the same scale is the same database everywhere. Amounts are whole cents, shares are percent.
//!
//! ```text
//! key of order i      32 · (i / 8) + i % 8 + 1       8 of each 32 keys are used, those of refreshes come between
//! supplier s of part p of S suppliers                (p + s · (S / 4 + (p − 1) / S)) mod S + 1, s = 0 … 3
//! ```

use sokudo_pace::Random;

use super::words::{
    COMPLAINT, Comments, FORMS, INSTRUCTIONS, KINDS, MATERIALS, MODES, NATIONS, PLANTS, PRIORITIES,
    REGIONS, SEGMENTS, SIZES, TREATMENTS, between, one_of, upto,
};

/// Seed of all tables.
const SEED: u64 = 0x736f_6b75_646f_0003;
/// Rows of one chunk, counted in keys of its table.
const CHUNK: i64 = 10_000;
/// Keys whose rows are made at a time.
const PIECE: i64 = 100;
/// Longest order, in lines.
const MOST_LINES: usize = 7;
/// Days from the first day (1992-01-01) to the last one on which an order is placed (1998-08-02), and to the day by
/// which lines have arrived or not (1995-06-17).
const LAST_ORDER: i64 = 2405;
const TODAY: i64 = 1263;
/// All days: 1992-01-01 to 1998-12-31.
const DAYS: usize = 2557;
/// Of so many suppliers one is complained of, from this number on.
const COMPLAINED: (i64, i64) = (2000, 7);

/// Size of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Suppliers: 10,000 at scale factor 1. A multiple of 100.
    pub suppliers: i64,
}

impl Sizes {
    /// Rows of a table; `None` for lines, of which each order has 1 to 7.
    pub fn rows(self, table: Table) -> Option<i64> {
        Some(match table {
            Table::Region => REGIONS.len() as i64,
            Table::Nation => NATIONS.len() as i64,
            Table::Supplier => self.suppliers,
            Table::Part => 20 * self.suppliers,
            Table::PartSupp => 80 * self.suppliers,
            Table::Customer => 15 * self.suppliers,
            Table::Orders => 150 * self.suppliers,
            Table::LineItem => return None,
        })
    }

    /// The scale factor.
    pub fn factor(self) -> f64 {
        self.suppliers as f64 / 10_000.0
    }

    fn parts(self) -> i64 {
        20 * self.suppliers
    }

    pub(super) fn orders(self) -> i64 {
        150 * self.suppliers
    }

    /// Orders of one refresh: a thousandth.
    pub(super) fn refreshed(self) -> i64 {
        self.orders() / 1000
    }
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Parts of the world.
    Region,
    /// Nations, five of each region.
    Nation,
    /// Part.
    Part,
    /// Supplier.
    Supplier,
    /// Four suppliers of each part, with the quantities that they have.
    PartSupp,
    /// Customer.
    Customer,
    /// Orders of customers.
    Orders,
    /// Their lines.
    LineItem,
}

impl Table {
    /// All tables; that of suppliers, whose rows are the scale, is the last one.
    pub const ALL: [Self; 8] = [
        Self::LineItem,
        Self::Orders,
        Self::PartSupp,
        Self::Part,
        Self::Customer,
        Self::Nation,
        Self::Region,
        Self::Supplier,
    ];

    /// Its name, and its columns in the order in which rows are written.
    #[rustfmt::skip]
    pub fn columns(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Region => ("dbt3_region", &["r_regionkey", "r_name", "r_comment"]),
            Self::Nation => ("dbt3_nation", &["n_nationkey", "n_name", "n_regionkey", "n_comment"]),
            Self::Part => ("dbt3_part", &[
                "p_partkey", "p_name", "p_mfgr", "p_brand", "p_type", "p_size", "p_container",
                "p_retailprice", "p_comment",
            ]),
            Self::Supplier => ("dbt3_supplier", &[
                "s_suppkey", "s_name", "s_address", "s_nationkey", "s_phone", "s_acctbal", "s_comment",
            ]),
            Self::PartSupp => ("dbt3_partsupp", &[
                "ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost", "ps_comment",
            ]),
            Self::Customer => ("dbt3_customer", &[
                "c_custkey", "c_name", "c_address", "c_nationkey", "c_phone", "c_acctbal",
                "c_mktsegment", "c_comment",
            ]),
            Self::Orders => ("dbt3_orders", &[
                "o_orderkey", "o_custkey", "o_orderstatus", "o_totalprice", "o_orderdate",
                "o_orderpriority", "o_clerk", "o_shippriority", "o_comment",
            ]),
            Self::LineItem => ("dbt3_lineitem", &[
                "l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity",
                "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus",
                "l_shipdate", "l_commitdate", "l_receiptdate", "l_shipinstruct", "l_shipmode",
                "l_comment",
            ]),
        }
    }

    /// Keys that its rows are numbered by: orders for lines, parts for what suppliers have of them.
    fn keys(self, sizes: Sizes) -> i64 {
        match self {
            Self::LineItem => sizes.orders(),
            Self::PartSupp => sizes.parts(),
            _ => sizes.rows(self).unwrap_or(0),
        }
    }
}

/// Some rows of a table, by the numbers of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The table.
    pub table: Table,
    first: i64,
    end: i64,
}

impl Chunk {
    /// The same rows, a few keys at a time.
    pub(super) fn pieces(self) -> impl Iterator<Item = Self> {
        (self.first..self.end)
            .step_by(PIECE as usize)
            .map(move |first| Self {
                first,
                end: (first + PIECE).min(self.end),
                ..self
            })
    }
}

/// All chunks of a table.
pub fn chunks(table: Table, sizes: Sizes) -> impl Iterator<Item = Chunk> {
    let keys = table.keys(sizes);
    (0..keys).step_by(CHUNK as usize).map(move |first| Chunk {
        table,
        first,
        end: (first + CHUNK).min(keys),
    })
}

/// Takes the columns of rows, one after the other.
pub trait Columns {
    /// The next column, a whole number.
    fn int(&mut self, value: i64);
    /// The next column, a text or a day.
    fn text(&mut self, value: &str);
    /// Ends the row.
    fn end(&mut self);
}

/// Tells the streams of random numbers apart.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Fixed = 1,
    Part,
    Supplier,
    PartSupp,
    Customer,
    Order,
    Comment,
    Refresh,
}

fn random(stream: Stream, number: i64) -> Random {
    Random::new(SEED, (stream as u64) << 56 | number as u64)
}

/// Makes rows of a database of one size.
pub struct Maker {
    sizes: Sizes,
    comments: Comments,
    /// Every day as text.
    days: Vec<String>,
    /// Buffer for texts.
    text: String,
}

/// One line of an order.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    part: i64,
    supplier: i64,
    quantity: i64,
    price: i64,
    discount: i64,
    tax: i64,
    shipped: i64,
    committed: i64,
    received: i64,
}

/// Values common to the rows of an order and its lines.
struct Order {
    key: i64,
    customer: i64,
    day: i64,
    lines: [Line; MOST_LINES],
    count: usize,
    random: Random,
}

impl Order {
    fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }
}

impl Maker {
    /// For a database of this size.
    pub fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            comments: Comments::new(),
            days: (0..DAYS as i64).map(day).collect(),
            text: String::new(),
        }
    }

    /// Writes the rows of a chunk.
    pub fn write(&mut self, chunk: Chunk, row: &mut impl Columns) {
        for number in chunk.first..chunk.end {
            self.write_key(chunk.table, number, row);
        }
    }

    /// Writes the rows of a key's number.
    fn write_key(&mut self, table: Table, number: i64, row: &mut impl Columns) {
        match table {
            Table::Region => self.region(number, row),
            Table::Nation => self.nation(number, row),
            Table::Part => self.part(number + 1, row),
            Table::Supplier => self.supplier(number + 1, row),
            Table::PartSupp => self.part_supp(number + 1, row),
            Table::Customer => self.customer(number + 1, row),
            Table::Orders => self.write_order(&self.order(number), row),
            Table::LineItem => self.write_lines(&self.order(number), row),
        }
    }

    /// Writes the orders of a refresh, or their lines.
    pub(super) fn write_refresh(&mut self, set: i64, table: Table, row: &mut impl Columns) {
        for number in 0..self.sizes.refreshed() {
            let order = self.refresh_order(set, number);
            match table {
                Table::LineItem => self.write_lines(&order, row),
                _ => self.write_order(&order, row),
            }
        }
    }

    /// Lines of all orders.
    pub(super) fn count_lines(&self) -> i64 {
        let orders = 0..self.sizes.orders();
        orders
            .map(|number| lines_of(&mut random(Stream::Order, number)))
            .sum()
    }

    fn region(&self, number: i64, row: &mut impl Columns) {
        let mut random = random(Stream::Fixed, number);
        row.int(number);
        row.text(REGIONS[number as usize]);
        row.text(self.comments.of(&mut random, 31, 115));
        row.end();
    }

    fn nation(&self, number: i64, row: &mut impl Columns) {
        let mut random = random(Stream::Fixed, 100 + number);
        row.int(number);
        row.text(NATIONS[number as usize]);
        row.int(number / 5);
        row.text(self.comments.of(&mut random, 31, 114));
        row.end();
    }

    fn part(&mut self, key: i64, row: &mut impl Columns) {
        let mut random = random(Stream::Part, key);
        row.int(key);
        self.text.clear();
        let mut used = [usize::MAX; 5];
        for at in 0..used.len() {
            while used[at] == usize::MAX || used[..at].contains(&used[at]) {
                used[at] = upto(&mut random, PLANTS.len() as u64) as usize;
            }
            let blank = if at > 0 { " " } else { "" };
            self.text.push_str(blank);
            self.text.push_str(PLANTS[used[at]]);
        }
        row.text(&self.text);
        let (works, line) = (between(&mut random, 1, 5), between(&mut random, 1, 5));
        row.text(self.numbered("WORKS-", works, 1));
        row.text(self.numbered("LINE-", 10 * works + line, 2));
        row.text(self.words(&mut random, &[&KINDS, &TREATMENTS, &MATERIALS]));
        row.int(between(&mut random, 1, 50));
        row.text(self.words(&mut random, &[&SIZES, &FORMS]));
        row.int(price(key));
        row.text(self.comments.of(&mut random, 5, 22));
        row.end();
    }

    fn supplier(&mut self, key: i64, row: &mut impl Columns) {
        let mut random = random(Stream::Supplier, key);
        let nation = between(&mut random, 0, 24);
        row.int(key);
        row.text(self.numbered("SUPPLIER-", key, 9));
        row.text(self.comments.of(&mut random, 10, 40));
        row.int(nation);
        row.text(self.phone(&mut random, nation));
        row.int(between(&mut random, -99_999, 999_999));
        match key % COMPLAINED.0 == COMPLAINED.1 {
            true => row.text(COMPLAINT),
            false => row.text(self.comments.of(&mut random, 25, 100)),
        }
        row.end();
    }

    fn part_supp(&self, part: i64, row: &mut impl Columns) {
        let mut random = random(Stream::PartSupp, part);
        for at in 0..4 {
            row.int(part);
            row.int(supplier_of(part, at, self.sizes.suppliers));
            row.int(between(&mut random, 1, 9999));
            row.int(between(&mut random, 100, 100_000));
            row.text(self.comments.of(&mut random, 49, 198));
            row.end();
        }
    }

    fn customer(&mut self, key: i64, row: &mut impl Columns) {
        let mut random = random(Stream::Customer, key);
        let nation = between(&mut random, 0, 24);
        row.int(key);
        row.text(self.numbered("CUSTOMER-", key, 9));
        row.text(self.comments.of(&mut random, 10, 40));
        row.int(nation);
        row.text(self.phone(&mut random, nation));
        row.int(between(&mut random, -99_999, 999_999));
        row.text(one_of(&mut random, &SEGMENTS));
        row.text(self.comments.of(&mut random, 29, 116));
        row.end();
    }

    fn order(&self, number: i64) -> Order {
        let key = number / 8 * 32 + number % 8 + 1;
        self.order_of(key, random(Stream::Order, number))
    }

    fn refresh_order(&self, set: i64, number: i64) -> Order {
        let number = set * self.sizes.refreshed() + number;
        let key = number / 8 * 32 + number % 8 + 9;
        self.order_of(key, random(Stream::Refresh, number))
    }

    fn order_of(&self, key: i64, mut random: Random) -> Order {
        let count = lines_of(&mut random) as usize;
        // Every third customer has no orders.
        let customer = upto(&mut random, (10 * self.sizes.suppliers) as u64) as i64;
        let day = between(&mut random, 0, LAST_ORDER);
        let mut lines = [Line::default(); MOST_LINES];
        for line in &mut lines[..count] {
            *line = self.line(day, &mut random);
        }
        Order {
            key,
            customer: customer / 2 * 3 + customer % 2 + 1,
            day,
            lines,
            count,
            random,
        }
    }

    fn line(&self, ordered: i64, random: &mut Random) -> Line {
        let part = between(random, 1, self.sizes.parts());
        let quantity = between(random, 1, 50);
        let shipped = ordered + between(random, 1, 121);
        Line {
            part,
            supplier: supplier_of(part, upto(random, 4) as i64, self.sizes.suppliers),
            quantity,
            price: quantity * price(part),
            discount: between(random, 0, 10),
            tax: between(random, 0, 8),
            shipped,
            committed: ordered + between(random, 30, 90),
            received: shipped + between(random, 1, 30),
        }
    }

    fn write_order(&mut self, order: &Order, row: &mut impl Columns) {
        let mut random = order.random.clone();
        let open = order.lines().iter().filter(|line| line.shipped > TODAY);
        let status = match open.count() {
            0 => "F",
            open if open == order.count => "O",
            _ => "P",
        };
        let charged = |line: &Line| line.price * (100 - line.discount) * (100 + line.tax) / 10_000;
        row.int(order.key);
        row.int(order.customer);
        row.text(status);
        row.int(order.lines().iter().map(charged).sum());
        row.text(&self.days[order.day as usize]);
        row.text(one_of(&mut random, &PRIORITIES));
        let clerk = between(&mut random, 1, (self.sizes.suppliers / 10).max(1));
        row.text(self.numbered("CLERK-", clerk, 9));
        row.int(0);
        row.text(self.comments.of(&mut random, 19, 78));
        row.end();
    }

    fn write_lines(&self, order: &Order, row: &mut impl Columns) {
        let mut random = random(Stream::Comment, order.key);
        for (number, line) in (1..).zip(order.lines()) {
            row.int(order.key);
            row.int(line.part);
            row.int(line.supplier);
            row.int(number);
            row.int(line.quantity);
            row.int(line.price);
            row.int(line.discount);
            row.int(line.tax);
            row.text(match line.received <= TODAY {
                true => one_of(&mut random, &["A", "R"]),
                false => "N",
            });
            row.text(if line.shipped > TODAY { "O" } else { "F" });
            for day in [line.shipped, line.committed, line.received] {
                row.text(&self.days[day as usize]);
            }
            row.text(one_of(&mut random, &INSTRUCTIONS));
            row.text(one_of(&mut random, &MODES));
            row.text(self.comments.of(&mut random, 10, 43));
            row.end();
        }
    }

    /// A word and a number with so many digits at least.
    fn numbered(&mut self, word: &str, number: i64, digits: usize) -> &str {
        self.text.clear();
        self.text.push_str(word);
        push_digits(&mut self.text, number, digits);
        &self.text
    }

    /// One word of each list.
    fn words(&mut self, random: &mut Random, lists: &[&[&str]]) -> &str {
        self.text.clear();
        for (at, list) in lists.iter().enumerate() {
            let blank = if at > 0 { " " } else { "" };
            self.text.push_str(blank);
            self.text.push_str(one_of(random, list));
        }
        &self.text
    }

    /// A number whose first two digits tell the nation.
    fn phone(&mut self, random: &mut Random, nation: i64) -> &str {
        self.text.clear();
        push_digits(&mut self.text, 10 + nation, 2);
        for digits in [3, 3, 4] {
            self.text.push('-');
            push_digits(&mut self.text, between(random, 0, 999), digits);
        }
        &self.text
    }
}

/// Writes a number that is not negative, with so many digits at least.
fn push_digits(out: &mut String, mut number: i64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut from = digits.len();
    while number > 0 || digits.len() - from < least {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend(digits[from..].iter().map(|digit| char::from(*digit)));
}

/// Lines of an order: the first that its stream of random numbers decides.
fn lines_of(random: &mut Random) -> i64 {
    between(random, 1, MOST_LINES as i64)
}

/// Price of a part, cents.
fn price(part: i64) -> i64 {
    90_000 + part / 10 % 20_001 + 100 * (part % 1000)
}

/// One of the four suppliers of a part.
fn supplier_of(part: i64, at: i64, suppliers: i64) -> i64 {
    (part + at * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1
}

/// A day, counted from 1992-01-01, as text: `1995-06-17`.
pub(super) fn day(number: i64) -> String {
    let (year, month, day) = sokudo_sql::civil(FIRST_DAY + number);
    format!("{year:04}-{month:02}-{day:02}")
}

/// 1992-01-01, days since 1970.
const FIRST_DAY: i64 = 8035;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Rows as texts.
    #[derive(Default)]
    struct Rows {
        rows: Vec<Vec<String>>,
        row: Vec<String>,
    }

    impl Columns for Rows {
        fn int(&mut self, value: i64) {
            self.row.push(value.to_string());
        }
        fn text(&mut self, value: &str) {
            self.row.push(value.into());
        }
        fn end(&mut self) {
            self.rows.push(std::mem::take(&mut self.row));
        }
    }

    const SIZES: [Sizes; 3] = [
        Sizes { suppliers: 100 },
        Sizes { suppliers: 200 },
        Sizes { suppliers: 500 },
    ];

    fn rows(table: Table, sizes: Sizes) -> Vec<Vec<String>> {
        let (mut maker, mut rows) = (Maker::new(sizes), Rows::default());
        chunks(table, sizes).for_each(|chunk| maker.write(chunk, &mut rows));
        rows.rows
    }

    fn number(row: &[String], column: usize) -> i64 {
        row[column].parse().expect("a number")
    }

    #[test]
    fn tables_have_the_rows_and_columns_of_their_size() {
        for sizes in SIZES {
            for table in Table::ALL {
                let rows = rows(table, sizes);
                let width = table.columns().1.len();
                assert!(rows.iter().all(|row| row.len() == width), "{table:?}");
                let wanted = sizes.rows(table);
                let wanted = wanted.unwrap_or_else(|| Maker::new(sizes).count_lines());
                assert_eq!(rows.len() as i64, wanted, "{table:?}");
                if table == Table::LineItem {
                    let each = rows.len() as f64 / sizes.orders() as f64;
                    assert!((3.9..4.1).contains(&each), "{each}");
                }
            }
        }
    }

    #[test]
    fn keys_are_unique_and_what_they_name_is_there() {
        for sizes in SIZES {
            let pairs: BTreeSet<_> = rows(Table::PartSupp, sizes)
                .iter()
                .map(|row| (number(row, 0), number(row, 1)))
                .collect();
            assert_eq!(pairs.len() as i64, 80 * sizes.suppliers);
            assert!(
                pairs
                    .iter()
                    .all(|(_, supplier)| (1..=sizes.suppliers).contains(supplier))
            );
            let mut customers = BTreeSet::new();
            let mut orders = BTreeMap::new();
            for row in rows(Table::Orders, sizes) {
                assert!((number(&row, 0) - 1) % 32 < 8, "{row:?}");
                customers.insert(number(&row, 1));
                assert!(orders.insert(number(&row, 0), row).is_none());
            }
            assert!(
                customers
                    .iter()
                    .all(|key| key % 3 != 0 && *key <= 15 * sizes.suppliers)
            );
            let mut lines: BTreeMap<i64, i64> = BTreeMap::new();
            for row in rows(Table::LineItem, sizes) {
                let order = &orders[&number(&row, 0)];
                assert!(row[10] > order[4] && row[12] > row[10], "{row:?}");
                assert!(pairs.contains(&(number(&row, 1), number(&row, 2))));
                let charged = number(&row, 5) * (100 - number(&row, 6)) * (100 + number(&row, 7));
                *lines.entry(number(&row, 0)).or_default() += charged / 10_000;
            }
            for (key, total) in lines {
                assert_eq!(number(&orders[&key], 3), total, "order {key}");
            }
        }
    }

    /// Any loader makes any chunk: in another order, and with another maker, the rows are the same.
    #[test]
    fn a_chunk_follows_from_its_number_alone() {
        let sizes = SIZES[2];
        let all: Vec<Chunk> = chunks(Table::Orders, sizes).collect();
        assert!(all.len() > 2);
        let mut backwards = Vec::new();
        for chunk in all.into_iter().rev() {
            let mut some = Rows::default();
            Maker::new(sizes).write(chunk, &mut some);
            some.rows.append(&mut backwards);
            backwards = some.rows;
        }
        assert_eq!(backwards, rows(Table::Orders, sizes));
    }

    #[test]
    fn refreshes_bring_orders_whose_keys_no_other_has() {
        let sizes = SIZES[0];
        let mut maker = Maker::new(sizes);
        let mut keys = BTreeSet::new();
        for set in 0..5 {
            let mut rows = Rows::default();
            maker.write_refresh(set, Table::Orders, &mut rows);
            assert_eq!(rows.rows.len() as i64, sizes.refreshed());
            for row in rows.rows {
                assert!((8..16).contains(&((number(&row, 0) - 1) % 32)));
                assert!(keys.insert(number(&row, 0)), "{row:?}");
            }
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1992-01-01");
        assert_eq!(day(TODAY), "1995-06-17");
        assert_eq!(day(LAST_ORDER), "1998-08-02");
        assert_eq!(day(DAYS as i64 - 1), "1998-12-31");
        // The last line arrives on a day that has a text.
        assert!(LAST_ORDER + 121 + 30 < DAYS as i64);
    }
}
