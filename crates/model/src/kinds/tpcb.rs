//! Debit and credit on a database, as pgbench does it (`tpcb`). Its numbers are those of [`sql`], and the
//! ones of this file.

use crate::metric::metrics;

use super::{Kind, Layer, LayerNumber, LayerPart, sql};

#[rustfmt::skip]
metrics! {
    TPS = gauge("tpcb.tps", PerSecond, "transactions per second, connecting not counted: the number that pgbench calls tps").named();
    SCALE = gauge("tpcb.scale", One, "branches in the database: each has 10 tellers and 100,000 accounts").named();
}

/// The kind.
pub const KIND: Kind = Kind {
    name: "tpcb",
    question: "how many transfers per second does a database commit, and does it keep every one of them?",
    layer: Some(Layer {
        key: "layer-tpcb",
        part: LayerPart::Services,
        numbers: &[LayerNumber {
            name: "rate",
            metric: sql::TRANSACTIONS_PER_SECOND,
            stat: None,
        }],
    }),
    options: &[
        "clients", "commit", "find", "max-skew", "pool", "rate", "threads", "variant", "versus",
    ],
    ..sql::KIND
};
