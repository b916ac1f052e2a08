//! The nine tables and their indexes.
//!
//! Amounts are whole cents, shares are ten-thousandths: sums are exact on every engine.

use crate::tables::Table;

pub(super) const TABLES: [Table; 9] = [
    Table {
        name: "dbt2_item",
        columns: "i_id int not null, i_im_id int not null, i_name varchar(24) not null, \
                  i_price int not null, i_data varchar(50) not null",
        key: "i_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt2_warehouse",
        columns: "w_id int not null, w_name varchar(10) not null, w_street_1 varchar(20) not null, \
                  w_street_2 varchar(20) not null, w_city varchar(20) not null, w_state char(2) not null, \
                  w_zip char(9) not null, w_tax int not null, w_ytd bigint not null",
        key: "w_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt2_district",
        columns: "d_id int not null, d_w_id int not null, d_name varchar(10) not null, \
                  d_street_1 varchar(20) not null, d_street_2 varchar(20) not null, \
                  d_city varchar(20) not null, d_state char(2) not null, d_zip char(9) not null, \
                  d_tax int not null, d_ytd bigint not null, d_next_o_id int not null",
        key: "d_w_id, d_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt2_customer",
        columns: "c_id int not null, c_d_id int not null, c_w_id int not null, \
                  c_first varchar(16) not null, c_middle char(2) not null, c_last varchar(16) not null, \
                  c_street_1 varchar(20) not null, c_street_2 varchar(20) not null, \
                  c_city varchar(20) not null, c_state char(2) not null, c_zip char(9) not null, \
                  c_phone char(16) not null, c_since {time} not null, c_credit char(2) not null, \
                  c_credit_lim bigint not null, c_discount int not null, c_balance bigint not null, \
                  c_ytd_payment bigint not null, c_payment_cnt int not null, c_delivery_cnt int not null, \
                  c_data varchar(500) not null",
        key: "c_w_id, c_d_id, c_id",
        indexes: &[("dbt2_customer_name", "c_w_id, c_d_id, c_last, c_first")],
        is_narrow: false,
    },
    Table {
        name: "dbt2_history",
        columns: "h_c_id int not null, h_c_d_id int not null, h_c_w_id int not null, \
                  h_d_id int not null, h_w_id int not null, h_date {time} not null, \
                  h_amount int not null, h_data varchar(24) not null, client bigint, sequence bigint",
        key: "",
        indexes: &[],
        is_narrow: false,
    },
    Table {
        name: "dbt2_new_order",
        columns: "no_o_id int not null, no_d_id int not null, no_w_id int not null",
        key: "no_w_id, no_d_id, no_o_id",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt2_orders",
        columns: "o_id int not null, o_d_id int not null, o_w_id int not null, o_c_id int not null, \
                  o_entry_d {time} not null, o_carrier_id int, o_ol_cnt int not null, \
                  o_all_local int not null, client bigint, sequence bigint",
        key: "o_w_id, o_d_id, o_id",
        indexes: &[("dbt2_orders_customer", "o_w_id, o_d_id, o_c_id, o_id")],
        is_narrow: true,
    },
    Table {
        name: "dbt2_order_line",
        columns: "ol_o_id int not null, ol_d_id int not null, ol_w_id int not null, \
                  ol_number int not null, ol_i_id int not null, ol_supply_w_id int not null, \
                  ol_delivery_d {time}, ol_quantity int not null, ol_amount int not null, \
                  ol_dist_info char(24) not null",
        key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
        indexes: &[],
        is_narrow: true,
    },
    Table {
        name: "dbt2_stock",
        columns: "s_i_id int not null, s_w_id int not null, s_quantity int not null, \
                  s_dist_01 char(24) not null, s_dist_02 char(24) not null, s_dist_03 char(24) not null, \
                  s_dist_04 char(24) not null, s_dist_05 char(24) not null, s_dist_06 char(24) not null, \
                  s_dist_07 char(24) not null, s_dist_08 char(24) not null, s_dist_09 char(24) not null, \
                  s_dist_10 char(24) not null, s_ytd int not null, s_order_cnt int not null, \
                  s_remote_cnt int not null, s_data varchar(50) not null",
        key: "s_w_id, s_i_id",
        indexes: &[],
        is_narrow: false,
    },
];
