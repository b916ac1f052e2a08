//! Order entry on a database (`dbt2`). Its numbers are those of [`sql`], and the ones of this file.

use crate::metric::{Metric, metrics};

use super::{Exchange, Family, Kind, Part, sql};

#[rustfmt::skip]
metrics! {
    NEW_ORDERS_PER_MINUTE = gauge("dbt2.new_orders_per_minute", One, "New-Order transactions per minute of the load, those that were rolled back as planned included").named();
    WAREHOUSES = gauge("dbt2.warehouses", One, "warehouses in the database: each has 10 districts, 30,000 customers and 100,000 items in stock").named();
    PACE_RATIO = gauge("dbt2.pace_ratio", Ratio, "new orders per minute over the most that the terminals could give at their pace; absent without one").named();
    NEW_ORDERS = counter("dbt2.new_orders", One, "New-Order transactions that were carried out, those that were rolled back as planned included").sum();
    PAYMENTS = counter("dbt2.payments", One, "Payment transactions that were carried out").sum();
    ORDER_STATUSES = counter("dbt2.order_statuses", One, "Order-Status transactions that were carried out").sum();
    DELIVERIES = counter("dbt2.deliveries", One, "Delivery transactions that were carried out").sum();
    STOCK_LEVELS = counter("dbt2.stock_levels", One, "Stock-Level transactions that were carried out").sum();
    ROLLED_BACK = counter("dbt2.rolled_back", One, "New-Order transactions that were rolled back as planned: 1 % name an item that does not exist").sum().named();
    SKIPPED_DISTRICTS = counter("dbt2.skipped_districts", One, "districts in which a Delivery found no order to deliver").sum();
    NEW_ORDER_SECONDS = histogram("dbt2.new_order_seconds", Seconds, "latency of New-Order transactions").named();
    PAYMENT_SECONDS = histogram("dbt2.payment_seconds", Seconds, "latency of Payment transactions").named();
    ORDER_STATUS_SECONDS = histogram("dbt2.order_status_seconds", Seconds, "latency of Order-Status transactions").named();
    DELIVERY_SECONDS = histogram("dbt2.delivery_seconds", Seconds, "latency of Delivery transactions").named();
    STOCK_LEVEL_SECONDS = histogram("dbt2.stock_level_seconds", Seconds, "latency of Stock-Level transactions").named();
}

const fn part(count: Metric, latency: Metric) -> Part {
    Part { count, latency }
}

/// Its numbers as an exchange.
pub const EXCHANGE: Exchange = Exchange {
    own: &[NEW_ORDERS_PER_MINUTE, PACE_RATIO],
    parts: &[
        part(NEW_ORDERS, NEW_ORDER_SECONDS),
        part(PAYMENTS, PAYMENT_SECONDS),
        part(ORDER_STATUSES, ORDER_STATUS_SECONDS),
        part(DELIVERIES, DELIVERY_SECONDS),
        part(STOCK_LEVELS, STOCK_LEVEL_SECONDS),
    ],
    ..sql::EXCHANGE
};

/// The numbers of all transactions, then its own.
const ALL: [Metric; sql::METRICS.len() + METRICS.len()] = sql::and(METRICS);

/// The kind.
pub const KIND: Kind = Kind {
    name: "dbt2",
    question: "how many orders per minute does a database take in a mix of business transactions, and do the books agree?",
    family: Family::Exchange(&EXCHANGE),
    metrics: &ALL,
    ..sql::KIND
};
