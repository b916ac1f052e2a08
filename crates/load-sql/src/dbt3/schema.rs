//! The eight tables and their indexes.
//!
//! Amounts are whole cents, shares are percent: sums are exact on every engine.

use crate::tables::Table;

pub(super) const TABLES: [Table; 8] = [
    Table {
        name: "dbt3_region",
        columns: "r_regionkey int not null, r_name varchar(25) not null, r_comment varchar(152) not null",
        key: "r_regionkey",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt3_nation",
        columns: "n_nationkey int not null, n_name varchar(25) not null, n_regionkey int not null, \
                  n_comment varchar(152) not null",
        key: "n_nationkey",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt3_part",
        columns: "p_partkey int not null, p_name varchar(55) not null, p_mfgr varchar(25) not null, \
                  p_brand varchar(10) not null, p_type varchar(25) not null, p_size int not null, \
                  p_container varchar(15) not null, p_retailprice int not null, \
                  p_comment varchar(23) not null",
        key: "p_partkey",
        indexes: &[],
        is_narrow: false,
    },
    Table {
        name: "dbt3_supplier",
        columns: "s_suppkey int not null, s_name varchar(25) not null, s_address varchar(40) not null, \
                  s_nationkey int not null, s_phone varchar(15) not null, s_acctbal int not null, \
                  s_comment varchar(101) not null",
        key: "s_suppkey",
        indexes: &[("dbt3_supplier_nation", "s_nationkey")],
        is_narrow: false,
    },
    Table {
        name: "dbt3_partsupp",
        columns: "ps_partkey int not null, ps_suppkey int not null, ps_availqty int not null, \
                  ps_supplycost bigint not null, ps_comment varchar(199) not null",
        key: "ps_partkey, ps_suppkey",
        indexes: &[("dbt3_partsupp_supplier", "ps_suppkey")],
        is_narrow: false,
    },
    Table {
        name: "dbt3_customer",
        columns: "c_custkey int not null, c_name varchar(25) not null, c_address varchar(40) not null, \
                  c_nationkey int not null, c_phone varchar(15) not null, c_acctbal int not null, \
                  c_mktsegment varchar(10) not null, c_comment varchar(117) not null",
        key: "c_custkey",
        indexes: &[("dbt3_customer_nation", "c_nationkey")],
        is_narrow: false,
    },
    Table {
        name: "dbt3_orders",
        columns: "o_orderkey bigint not null, o_custkey int not null, o_orderstatus varchar(1) not null, \
                  o_totalprice bigint not null, o_orderdate {date} not null, \
                  o_orderpriority varchar(15) not null, o_clerk varchar(15) not null, \
                  o_shippriority int not null, o_comment varchar(79) not null",
        key: "o_orderkey",
        indexes: &[
            ("dbt3_orders_customer", "o_custkey"),
            ("dbt3_orders_date", "o_orderdate"),
        ],
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
        indexes: &[
            ("dbt3_lineitem_part", "l_partkey, l_suppkey, l_quantity"),
            ("dbt3_lineitem_shipped", "l_shipdate"),
        ],
        is_narrow: false,
    },
];
