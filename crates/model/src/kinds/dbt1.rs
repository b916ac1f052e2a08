//! A web shop on a database (`dbt1`). Its numbers are those of [`sql`], and the ones of this file.

use crate::metric::{Metric, metrics};

use super::{Exchange, Family, Kind, Part, sql};

#[rustfmt::skip]
metrics! {
    BT_PER_SECOND = gauge("dbt1.bt_per_second", PerSecond, "interactions per second that succeeded, of all kinds").named();
    CUSTOMERS = gauge("dbt1.customers", One, "customers of the shop before the load").named();
    MIX_OFF_RATIO = gauge("dbt1.mix_off_ratio", Ratio, "largest difference between the share of an interaction and that of its mix");
    HOME_DONE = counter("dbt1.home", One, "Home interactions that were carried out").sum();
    NEW_PRODUCTS_DONE = counter("dbt1.new_products", One, "New Products interactions that were carried out").sum();
    BEST_SELLERS_DONE = counter("dbt1.best_sellers", One, "Best Sellers interactions that were carried out").sum();
    PRODUCT_DETAIL_DONE = counter("dbt1.product_detail", One, "Product Detail interactions that were carried out").sum();
    SEARCH_REQUEST_DONE = counter("dbt1.search_request", One, "Search Request interactions that were carried out").sum();
    SEARCH_RESULTS_DONE = counter("dbt1.search_results", One, "Search Results interactions that were carried out").sum();
    SHOPPING_CART_DONE = counter("dbt1.shopping_cart", One, "Shopping Cart interactions that were carried out").sum();
    CUSTOMER_REGISTRATION_DONE = counter("dbt1.customer_registration", One, "Customer Registration interactions that were carried out").sum();
    BUY_REQUEST_DONE = counter("dbt1.buy_request", One, "Buy Request interactions that were carried out").sum();
    BUY_CONFIRM_DONE = counter("dbt1.buy_confirm", One, "Buy Confirm interactions that were carried out").sum();
    ORDER_INQUIRY_DONE = counter("dbt1.order_inquiry", One, "Order Inquiry interactions that were carried out").sum();
    ORDER_DISPLAY_DONE = counter("dbt1.order_display", One, "Order Display interactions that were carried out").sum();
    ADMIN_REQUEST_DONE = counter("dbt1.admin_request", One, "Admin Request interactions that were carried out").sum();
    ADMIN_CONFIRM_DONE = counter("dbt1.admin_confirm", One, "Admin Confirm interactions that were carried out").sum();
    HOME_SECONDS = histogram("dbt1.home_seconds", Seconds, "latency of Home interactions").named();
    NEW_PRODUCTS_SECONDS = histogram("dbt1.new_products_seconds", Seconds, "latency of New Products interactions").named();
    BEST_SELLERS_SECONDS = histogram("dbt1.best_sellers_seconds", Seconds, "latency of Best Sellers interactions").named();
    PRODUCT_DETAIL_SECONDS = histogram("dbt1.product_detail_seconds", Seconds, "latency of Product Detail interactions").named();
    SEARCH_REQUEST_SECONDS = histogram("dbt1.search_request_seconds", Seconds, "latency of Search Request interactions").named();
    SEARCH_RESULTS_SECONDS = histogram("dbt1.search_results_seconds", Seconds, "latency of Search Results interactions").named();
    SHOPPING_CART_SECONDS = histogram("dbt1.shopping_cart_seconds", Seconds, "latency of Shopping Cart interactions").named();
    CUSTOMER_REGISTRATION_SECONDS = histogram("dbt1.customer_registration_seconds", Seconds, "latency of Customer Registration interactions").named();
    BUY_REQUEST_SECONDS = histogram("dbt1.buy_request_seconds", Seconds, "latency of Buy Request interactions").named();
    BUY_CONFIRM_SECONDS = histogram("dbt1.buy_confirm_seconds", Seconds, "latency of Buy Confirm interactions").named();
    ORDER_INQUIRY_SECONDS = histogram("dbt1.order_inquiry_seconds", Seconds, "latency of Order Inquiry interactions").named();
    ORDER_DISPLAY_SECONDS = histogram("dbt1.order_display_seconds", Seconds, "latency of Order Display interactions").named();
    ADMIN_REQUEST_SECONDS = histogram("dbt1.admin_request_seconds", Seconds, "latency of Admin Request interactions").named();
    ADMIN_CONFIRM_SECONDS = histogram("dbt1.admin_confirm_seconds", Seconds, "latency of Admin Confirm interactions").named();
}

/// Latency of each interaction.
#[rustfmt::skip]
pub const LATENCIES: [Metric; 14] = [
    HOME_SECONDS, NEW_PRODUCTS_SECONDS, BEST_SELLERS_SECONDS,
    PRODUCT_DETAIL_SECONDS, SEARCH_REQUEST_SECONDS, SEARCH_RESULTS_SECONDS,
    SHOPPING_CART_SECONDS, CUSTOMER_REGISTRATION_SECONDS, BUY_REQUEST_SECONDS,
    BUY_CONFIRM_SECONDS, ORDER_INQUIRY_SECONDS, ORDER_DISPLAY_SECONDS,
    ADMIN_REQUEST_SECONDS, ADMIN_CONFIRM_SECONDS,
];

/// Number of interactions of each kind that were carried out, in the same order.
#[rustfmt::skip]
pub const COUNTS: [Metric; 14] = [
    HOME_DONE, NEW_PRODUCTS_DONE, BEST_SELLERS_DONE,
    PRODUCT_DETAIL_DONE, SEARCH_REQUEST_DONE, SEARCH_RESULTS_DONE,
    SHOPPING_CART_DONE, CUSTOMER_REGISTRATION_DONE, BUY_REQUEST_DONE,
    BUY_CONFIRM_DONE, ORDER_INQUIRY_DONE, ORDER_DISPLAY_DONE,
    ADMIN_REQUEST_DONE, ADMIN_CONFIRM_DONE,
];

const PARTS: [Part; LATENCIES.len()] = sql::parts(&COUNTS, &LATENCIES);

/// Its numbers as an exchange.
pub const EXCHANGE: Exchange = Exchange {
    own: &[BT_PER_SECOND],
    parts: &PARTS,
    ..sql::EXCHANGE
};

/// The numbers of all transactions, then its own.
const ALL: [Metric; sql::METRICS.len() + METRICS.len()] = sql::and(METRICS);

/// The kind.
pub const KIND: Kind = Kind {
    name: "dbt1",
    question: "how many interactions per second does a web shop's database carry, and do its orders add up?",
    family: Family::Exchange(&EXCHANGE),
    metrics: &ALL,
    ..sql::KIND
};
