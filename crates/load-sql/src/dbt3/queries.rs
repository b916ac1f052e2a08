//! The 22 questions of decision support, in the SQL that PostgreSQL, MariaDB, MySQL and SQLite share.
//!
//! `@` stands for the prefix of the tables, `[1]` for a parameter. What engines write differently is a call:
//! `idiv(a, b)` is a whole quotient, `year_of(d)` the year of a day. Every number of an answer is whole, so that all
//! engines give the same one; where an answer is cut off, the order of its rows is complete.

use sokudo_sql::Engine;

/// Questions.
pub(super) const COUNT: usize = 22;

/// The questions. A charge is a price in cents times a share in percent.
const TEXTS: [&str; COUNT] = [
    // 1: totals of all lines shipped until a day.
    "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), \
     sum(l_extendedprice * (100 - l_discount)), \
     sum(l_extendedprice * (100 - l_discount) * (100 + l_tax)), \
     idiv(sum(l_quantity) * 100, count(*)), idiv(sum(l_extendedprice), count(*)), \
     idiv(sum(l_discount) * 100, count(*)), count(*) \
     from @lineitem where l_shipdate <= '[1]' \
     group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus",
    // 2: who in a region sells a part of some size and material at the region's lowest price.
    "select s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment \
     from @part join @partsupp on ps_partkey = p_partkey join @supplier on s_suppkey = ps_suppkey \
     join @nation on n_nationkey = s_nationkey join @region on r_regionkey = n_regionkey \
     where p_size = [1] and p_type like '%[2]' and r_name = '[3]' and ps_supplycost = \
     (select min(other.ps_supplycost) from @partsupp other \
      join @supplier seller on seller.s_suppkey = other.ps_suppkey \
      join @nation home on home.n_nationkey = seller.s_nationkey \
      join @region around on around.r_regionkey = home.n_regionkey \
      where other.ps_partkey = p_partkey and around.r_name = '[3]') \
     order by s_acctbal desc, n_name, s_name, p_partkey limit 100",
    // 3: the most valuable orders of a segment that were not shipped on a day.
    "select l_orderkey, sum(l_extendedprice * (100 - l_discount)) as revenue, o_orderdate, o_shippriority \
     from @customer join @orders on o_custkey = c_custkey join @lineitem on l_orderkey = o_orderkey \
     where c_mktsegment = '[1]' and o_orderdate < '[2]' and l_shipdate > '[2]' \
     group by l_orderkey, o_orderdate, o_shippriority \
     order by revenue desc, o_orderdate, l_orderkey limit 10",
    // 4: orders of a quarter with a line that came too late, by priority.
    "select o_orderpriority, count(*) from @orders \
     where o_orderdate >= '[1]' and o_orderdate < '[2]' and exists \
     (select 1 from @lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate) \
     group by o_orderpriority order by o_orderpriority",
    // 5: what a region's suppliers sold to customers of their own nation in a year.
    "select n_name, sum(l_extendedprice * (100 - l_discount)) as revenue \
     from @region join @nation on n_regionkey = r_regionkey join @customer on c_nationkey = n_nationkey \
     join @orders on o_custkey = c_custkey join @lineitem on l_orderkey = o_orderkey \
     join @supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey \
     where r_name = '[1]' and o_orderdate >= '[2]' and o_orderdate < '[3]' \
     group by n_name order by revenue desc",
    // 6: what small discounts cost in a year.
    "select sum(l_extendedprice * l_discount) from @lineitem \
     where l_shipdate >= '[1]' and l_shipdate < '[2]' \
     and l_discount between [3] and [4] and l_quantity < [5]",
    // 7: what two nations sold to each other in two years.
    "select seller.n_name, buyer.n_name, year_of(l_shipdate) as shipped_in, \
     sum(l_extendedprice * (100 - l_discount)) \
     from @supplier join @nation seller on seller.n_nationkey = s_nationkey \
     join @lineitem on l_suppkey = s_suppkey join @orders on o_orderkey = l_orderkey \
     join @customer on c_custkey = o_custkey join @nation buyer on buyer.n_nationkey = c_nationkey \
     where ((seller.n_name = '[1]' and buyer.n_name = '[2]') \
      or (seller.n_name = '[2]' and buyer.n_name = '[1]')) \
     and l_shipdate between '1995-01-01' and '1996-12-31' \
     group by seller.n_name, buyer.n_name, year_of(l_shipdate) \
     order by seller.n_name, buyer.n_name, shipped_in",
    // 8: a nation's share of what a region bought of one type of parts, per ten thousand.
    "select year_of(o_orderdate) as ordered_in, idiv( \
     sum(case when seller.n_name = '[1]' then l_extendedprice * (100 - l_discount) else 0 end) * 10000, \
     sum(l_extendedprice * (100 - l_discount))) \
     from @part join @lineitem on l_partkey = p_partkey join @supplier on s_suppkey = l_suppkey \
     join @orders on o_orderkey = l_orderkey join @customer on c_custkey = o_custkey \
     join @nation buyer on buyer.n_nationkey = c_nationkey \
     join @region on r_regionkey = buyer.n_regionkey \
     join @nation seller on seller.n_nationkey = s_nationkey \
     where r_name = '[2]' and p_type = '[3]' and o_orderdate between '1995-01-01' and '1996-12-31' \
     group by year_of(o_orderdate) order by ordered_in",
    // 9: profit with parts of some name, by nation and year.
    "select n_name, year_of(o_orderdate) as ordered_in, \
     sum(l_extendedprice * (100 - l_discount) - 100 * ps_supplycost * l_quantity) \
     from @part join @lineitem on l_partkey = p_partkey \
     join @partsupp on ps_partkey = l_partkey and ps_suppkey = l_suppkey \
     join @supplier on s_suppkey = l_suppkey join @nation on n_nationkey = s_nationkey \
     join @orders on o_orderkey = l_orderkey where p_name like '%[1]%' \
     group by n_name, year_of(o_orderdate) order by n_name, ordered_in desc",
    // 10: customers who returned the most of what they ordered in a quarter.
    "select c_custkey, c_name, sum(l_extendedprice * (100 - l_discount)) as revenue, c_acctbal, \
     n_name, c_address, c_phone, c_comment \
     from @customer join @orders on o_custkey = c_custkey join @lineitem on l_orderkey = o_orderkey \
     join @nation on n_nationkey = c_nationkey \
     where o_orderdate >= '[1]' and o_orderdate < '[2]' and l_returnflag = 'R' \
     group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment \
     order by revenue desc, c_custkey limit 20",
    // 11: parts that make up a notable share of a nation's stock. The share falls with the number of suppliers.
    "select ps_partkey, sum(ps_supplycost * ps_availqty) as worth \
     from @partsupp join @supplier on s_suppkey = ps_suppkey join @nation on n_nationkey = s_nationkey \
     where n_name = '[1]' group by ps_partkey having sum(ps_supplycost * ps_availqty) * [2] > \
     (select sum(other.ps_supplycost * other.ps_availqty) from @partsupp other \
      join @supplier seller on seller.s_suppkey = other.ps_suppkey \
      join @nation home on home.n_nationkey = seller.s_nationkey where home.n_name = '[1]') \
     order by worth desc, ps_partkey",
    // 12: late lines of two ways of shipping in a year, urgent orders and others.
    "select l_shipmode, sum(case when o_orderpriority in ('1-NOW', '2-SOON') then 1 else 0 end), \
     sum(case when o_orderpriority in ('1-NOW', '2-SOON') then 0 else 1 end) \
     from @lineitem join @orders on o_orderkey = l_orderkey \
     where l_shipmode in ('[1]', '[2]') and l_commitdate < l_receiptdate and l_shipdate < l_commitdate \
     and l_receiptdate >= '[3]' and l_receiptdate < '[4]' group by l_shipmode order by l_shipmode",
    // 13: how many customers have so many orders whose comment lacks two words.
    "select placed, count(*) as customers from \
     (select c_custkey, count(o_orderkey) as placed from @customer \
      left join @orders on o_custkey = c_custkey and o_comment not like '%[1]%[2]%' \
      group by c_custkey) each_customer \
     group by placed order by customers desc, placed desc",
    // 14: share of bargains in what was shipped in a month, per ten thousand.
    "select idiv( \
     sum(case when p_type like 'BARGAIN%' then l_extendedprice * (100 - l_discount) else 0 end) * 10000, \
     sum(l_extendedprice * (100 - l_discount))) \
     from @lineitem join @part on p_partkey = l_partkey \
     where l_shipdate >= '[1]' and l_shipdate < '[2]'",
    // 15: the supplier who shipped the most in a quarter.
    "with shipped as (select l_suppkey as supplier, sum(l_extendedprice * (100 - l_discount)) as revenue \
      from @lineitem where l_shipdate >= '[1]' and l_shipdate < '[2]' group by l_suppkey) \
     select s_suppkey, s_name, s_address, s_phone, revenue \
     from @supplier join shipped on supplier = s_suppkey \
     where revenue = (select max(revenue) from shipped) order by s_suppkey",
    // 16: suppliers without complaints per kind of part, leaving one brand and one kind out.
    "select p_brand, p_type, p_size, count(distinct ps_suppkey) as suppliers \
     from @partsupp join @part on p_partkey = ps_partkey \
     where p_brand <> '[1]' and p_type not like '[2]%' \
     and p_size in ([3], [4], [5], [6], [7], [8], [9], [10]) and ps_suppkey not in \
     (select s_suppkey from @supplier where s_comment like '%buyers%grievances%') \
     group by p_brand, p_type, p_size order by suppliers desc, p_brand, p_type, p_size",
    // 17: a year's revenue of small orders of one kind of part.
    "select idiv(sum(l_extendedprice), 7) from @lineitem join @part on p_partkey = l_partkey \
     where p_brand = '[1]' and p_container = '[2]' and l_quantity < \
     (select avg(other.l_quantity) / 5 from @lineitem other where other.l_partkey = p_partkey)",
    // 18: the largest orders.
    "select c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) \
     from @orders join @customer on c_custkey = o_custkey join @lineitem on l_orderkey = o_orderkey \
     where o_orderkey in (select large.l_orderkey from @lineitem large \
      group by large.l_orderkey having sum(large.l_quantity) > [1]) \
     group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice \
     order by o_totalprice desc, o_orderdate, o_orderkey limit 100",
    // 19: revenue of three kinds of parts that were handed over.
    "select sum(l_extendedprice * (100 - l_discount)) \
     from @lineitem join @part on p_partkey = l_partkey \
     where l_shipmode in ('CARGO PLANE', 'LORRY') and l_shipinstruct = 'HAND OVER' and ( \
     (p_brand = '[1]' and p_container in ('TINY BOTTLE', 'TINY CRATE', 'TINY SACK', 'TINY TRAY') \
      and l_quantity between [4] and [4] + 10 and p_size between 1 and 5) \
     or (p_brand = '[2]' and p_container in ('FLAT BOTTLE', 'FLAT CRATE', 'FLAT SACK', 'FLAT TRAY') \
      and l_quantity between [5] and [5] + 10 and p_size between 1 and 10) \
     or (p_brand = '[3]' and p_container in ('BIG BOTTLE', 'BIG CRATE', 'BIG SACK', 'BIG TRAY') \
      and l_quantity between [6] and [6] + 10 and p_size between 1 and 15))",
    // 20: who in a nation has more in stock than half of what was shipped in a year.
    "select s_name, s_address from @supplier join @nation on n_nationkey = s_nationkey \
     where n_name = '[4]' and s_suppkey in (select ps_suppkey from @partsupp \
      where ps_partkey in (select p_partkey from @part where p_name like '[1]%') \
      and 2 * ps_availqty > (select sum(l_quantity) from @lineitem \
       where l_partkey = ps_partkey and l_suppkey = ps_suppkey \
       and l_shipdate >= '[2]' and l_shipdate < '[3]')) order by s_name",
    // 21: suppliers of a nation who alone kept orders of several suppliers waiting.
    "select s_name, count(*) as waiting \
     from @supplier join @nation on n_nationkey = s_nationkey \
     join @lineitem late on late.l_suppkey = s_suppkey join @orders on o_orderkey = late.l_orderkey \
     where n_name = '[1]' and o_orderstatus = 'F' and late.l_receiptdate > late.l_commitdate \
     and exists (select 1 from @lineitem other \
      where other.l_orderkey = late.l_orderkey and other.l_suppkey <> late.l_suppkey) \
     and not exists (select 1 from @lineitem third \
      where third.l_orderkey = late.l_orderkey and third.l_suppkey <> late.l_suppkey \
      and third.l_receiptdate > third.l_commitdate) \
     group by s_name order by waiting desc, s_name limit 100",
    // 22: customers of seven nations with more than average in their account who never ordered.
    "select code, count(*), sum(balance) from \
     (select substr(c_phone, 1, 2) as code, c_acctbal as balance from @customer \
      where substr(c_phone, 1, 2) in ('[1]', '[2]', '[3]', '[4]', '[5]', '[6]', '[7]') \
      and c_acctbal > (select avg(rich.c_acctbal) from @customer rich where rich.c_acctbal > 0 \
       and substr(rich.c_phone, 1, 2) in ('[1]', '[2]', '[3]', '[4]', '[5]', '[6]', '[7]')) \
      and not exists (select 1 from @orders where o_custkey = c_custkey)) idle \
     group by code order by code",
];

/// A question, from 1, with its parameters, in the SQL of an engine.
pub(super) fn text(question: usize, parameters: &[String], engine: Engine) -> String {
    let mut text = TEXTS[question - 1].replace('@', "dbt3_");
    for (number, value) in (1..).zip(parameters) {
        text = text.replace(&format!("[{number}]"), value);
    }
    let text = rewritten(&text, "idiv(", &|arguments| match arguments {
        [a, b] => match engine {
            Engine::Postgres => format!("div(({a})::numeric, ({b})::numeric)"),
            Engine::MySql => format!("(({a}) div ({b}))"),
            Engine::Sqlite => format!("(({a}) / ({b}))"),
            Engine::DuckDb => format!("(({a}) // ({b}))"),
        },
        _ => String::new(),
    });
    rewritten(&text, "year_of(", &|arguments| {
        let day = arguments.join(", ");
        match engine {
            Engine::Postgres => format!("extract(year from {day})::int"),
            Engine::MySql | Engine::DuckDb => format!("year({day})"),
            Engine::Sqlite => format!("cast(substr({day}, 1, 4) as integer)"),
        }
    })
}

/// A text whose calls that begin with `call` are written by `write` from their arguments.
fn rewritten(text: &str, call: &str, write: &dyn Fn(&[&str]) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(call) {
        out.push_str(&rest[..at]);
        rest = &rest[at + call.len()..];
        let (arguments, length) = arguments(rest);
        out.push_str(&write(&arguments));
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The arguments up to the closing parenthesis, and the length of all that.
fn arguments(text: &str) -> (Vec<&str>, usize) {
    let (mut depth, mut from, mut found) = (0_u32, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => {
                found.push(text[from..at].trim());
                return (found, at + 1);
            }
            b',' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    (found, text.len())
}

#[cfg(test)]
mod tests {
    use super::super::parameters;
    use super::*;

    #[test]
    fn every_question_is_complete_on_every_engine() {
        for engine in [
            Engine::Postgres,
            Engine::MySql,
            Engine::Sqlite,
            Engine::DuckDb,
        ] {
            for question in 1..=COUNT {
                let drawn = parameters::draw(question, 100, 7, 0);
                let text = text(question, &drawn, engine);
                assert!(!text.contains(['[', ']', '@']), "{question}: {text}");
                assert!(
                    !text.contains("idiv(") && !text.contains("year_of("),
                    "{text}"
                );
                let count = |what: char| text.matches(what).count();
                assert_eq!(count('('), count(')'), "{question}: {text}");
            }
        }
    }

    #[test]
    fn calls_are_written_as_the_engine_has_them() {
        let quotient = rewritten("select idiv(sum(a, b) * 2, (c)), d", "idiv(", &|of| {
            of.join(" | ")
        });
        assert_eq!(quotient, "select sum(a, b) * 2 | (c), d");
    }
}
