//! The eight tables and their indexes.
//!
//! Amounts are whole cents, shares are percent: sums are exact on every engine.

use crate::tables::Table;

pub(super) const TABLES: [Table; 8] = [
    Table {
        name: "dbt3_region",
        columns: "r_regionkey int not null, r_name varchar(25) not null, r_comment varchar(152) not null",
        key: "r_regionkey",
        is_narrow: true,
    },
    Table {
        name: "dbt3_nation",
        columns: "n_nationkey int not null, n_name varchar(25) not null, n_regionkey int not null, \
                  n_comment varchar(152) not null",
        key: "n_nationkey",
        is_narrow: true,
    },
    Table {
        name: "dbt3_part",
        columns: "p_partkey int not null, p_name varchar(55) not null, p_mfgr varchar(25) not null, \
                  p_brand varchar(10) not null, p_type varchar(25) not null, p_size int not null, \
                  p_container varchar(15) not null, p_retailprice int not null, \
                  p_comment varchar(23) not null",
        key: "p_partkey",
        is_narrow: false,
    },
    Table {
        name: "dbt3_supplier",
        columns: "s_suppkey int not null, s_name varchar(25) not null, s_address varchar(40) not null, \
                  s_nationkey int not null, s_phone varchar(15) not null, s_acctbal int not null, \
                  s_comment varchar(101) not null",
        key: "s_suppkey",
        is_narrow: false,
    },
    Table {
        name: "dbt3_partsupp",
        columns: "ps_partkey int not null, ps_suppkey int not null, ps_availqty int not null, \
                  ps_supplycost bigint not null, ps_comment varchar(199) not null",
        key: "ps_partkey, ps_suppkey",
        is_narrow: false,
    },
    Table {
        name: "dbt3_customer",
        columns: "c_custkey int not null, c_name varchar(25) not null, c_address varchar(40) not null, \
                  c_nationkey int not null, c_phone varchar(15) not null, c_acctbal int not null, \
                  c_mktsegment varchar(10) not null, c_comment varchar(117) not null",
        key: "c_custkey",
        is_narrow: false,
    },
    Table {
        name: "dbt3_orders",
        columns: "o_orderkey bigint not null, o_custkey int not null, o_orderstatus varchar(1) not null, \
                  o_totalprice bigint not null, o_orderdate {date} not null, \
                  o_orderpriority varchar(15) not null, o_clerk varchar(15) not null, \
                  o_shippriority int not null, o_comment varchar(79) not null",
        key: "o_orderkey",
        is_narrow: false,
    },
    Table {
        name: "dbt3_lineitem",
        columns: "l_orderkey bigint not null, l_partkey int not null, l_suppkey int not null, \
                  l_linenumber int not null, l_quantity int not null, l_extendedprice bigint not null, \
                  l_discount int not null, l_tax int not null, l_returnflag varchar(1) not null, \
                  l_linestatus varchar(1) not null, l_shipdate {date} not null, \
                  l_commitdate {date} not null, l_receiptdate {date} not null, \
                  l_shipinstruct varchar(25) not null, l_shipmode varchar(11) not null, \
                  l_comment varchar(44) not null",
        key: "l_orderkey, l_linenumber",
        is_narrow: false,
    },
];

/// Ways from a row to those that name it, and to lines and orders of some time.
pub(super) const INDEXES: [&str; 7] = [
    "create index dbt3_supplier_nation on dbt3_supplier (s_nationkey)",
    "create index dbt3_partsupp_supplier on dbt3_partsupp (ps_suppkey)",
    "create index dbt3_customer_nation on dbt3_customer (c_nationkey)",
    "create index dbt3_orders_customer on dbt3_orders (o_custkey)",
    "create index dbt3_orders_date on dbt3_orders (o_orderdate)",
    "create index dbt3_lineitem_part on dbt3_lineitem (l_partkey, l_suppkey, l_quantity)",
    "create index dbt3_lineitem_shipped on dbt3_lineitem (l_shipdate)",
];
