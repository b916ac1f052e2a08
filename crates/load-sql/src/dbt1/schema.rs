//! The ten tables of the shop and their indexes. Amounts are whole cents, shares are percent.

use crate::tables::Table;

pub(super) const TABLES: [Table; 10] = [
    Table {
        name: "dbt1_country",
        columns: "co_id int not null, co_name varchar(50) not null, co_currency varchar(18) not null, \
                  co_exchange int not null",
        key: "co_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt1_author",
        columns: "a_id int not null, a_fname varchar(20) not null, a_lname varchar(20) not null, \
                  a_bio varchar(500) not null",
        key: "a_id",
        indexes: &[("dbt1_author_name", "a_lname")],
        is_narrow: false,
    },
    Table {
        name: "dbt1_item",
        columns: "i_id int not null, i_title varchar(60) not null, i_a_id int not null, \
                  i_pub_date {date} not null, i_publisher varchar(60) not null, \
                  i_subject varchar(20) not null, i_desc varchar(500) not null, \
                  i_related1 int not null, i_related2 int not null, i_related3 int not null, \
                  i_related4 int not null, i_related5 int not null, i_image varchar(40) not null, \
                  i_srp int not null, i_cost int not null, i_stock int not null, \
                  i_isbn varchar(13) not null, i_page int not null, i_backing varchar(15) not null",
        key: "i_id",
        indexes: &[
            ("dbt1_item_subject", "i_subject, i_pub_date"),
            ("dbt1_item_title", "i_title"),
            ("dbt1_item_author", "i_a_id"),
        ],
        is_narrow: false,
    },
    Table {
        name: "dbt1_address",
        columns: "addr_id bigint not null, addr_street1 varchar(40) not null, \
                  addr_street2 varchar(40) not null, addr_city varchar(30) not null, \
                  addr_state varchar(20) not null, addr_zip varchar(10) not null, addr_co_id int not null",
        key: "addr_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt1_customer",
        columns: "c_id bigint not null, c_uname varchar(30) not null, c_passwd varchar(20) not null, \
                  c_fname varchar(15) not null, c_lname varchar(15) not null, c_addr_id bigint not null, \
                  c_phone varchar(16) not null, c_email varchar(50) not null, c_since {date} not null, \
                  c_logins int not null, c_discount int not null, c_data varchar(500) not null",
        key: "c_id",
        indexes: &[("dbt1_customer_name", "c_uname")],
        is_narrow: false,
    },
    Table {
        name: "dbt1_orders",
        columns: "o_id bigint not null, o_c_id bigint not null, o_date {time} not null, \
                  o_sub_total bigint not null, o_discount bigint not null, o_tax bigint not null, \
                  o_ship int not null, o_total bigint not null, o_ship_type varchar(10) not null, \
                  o_addr_id bigint not null, o_status varchar(16) not null, client bigint, sequence bigint",
        key: "o_id",
        indexes: &[("dbt1_orders_customer", "o_c_id, o_id")],
        is_narrow: true,
    },
    Table {
        name: "dbt1_order_line",
        columns: "ol_o_id bigint not null, ol_number int not null, ol_i_id int not null, \
                  ol_qty int not null, ol_cost int not null, ol_comments varchar(100) not null",
        key: "ol_o_id, ol_number",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt1_payment",
        columns: "cx_o_id bigint not null, cx_type varchar(10) not null, cx_number varchar(20) not null, \
                  cx_name varchar(30) not null, cx_amount bigint not null, cx_date {time} not null, \
                  cx_co_id int not null",
        key: "cx_o_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt1_cart",
        columns: "sc_id bigint not null, sc_sub_total bigint not null",
        key: "sc_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt1_cart_line",
        columns: "scl_sc_id bigint not null, scl_i_id int not null, scl_qty int not null, \
                  scl_cost int not null",
        key: "scl_sc_id, scl_i_id",
        indexes: &[],
        is_narrow: true,
    },
];
