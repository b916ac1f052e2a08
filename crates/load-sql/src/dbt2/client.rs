//! The clients of `dbt2`: which transaction comes next, and how long its user waits before it.

use std::time::Duration;

use sokudo_model::Metric;
use sokudo_model::kinds::dbt2 as numbers;
use sokudo_pace::Random;
use sokudo_sql::{Session, SqlError};

use super::draw::DISTRICTS;
use super::{delivery, new_order, payment, status, stock_level};
use crate::drive::{Attempt, Client, Noted, Parts, Transactions};

/// A kind of transaction; its number is the index of its numbers in [`Parts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionType {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

/// Share of a kind of transaction in the mix, with its keying and think times.
struct Profile {
    kind: TransactionType,
    /// Share of all transactions, percent.
    percent: u64,
    /// Time to type what it needs, seconds.
    keying_s: f64,
    /// Mean time to think about what it said, seconds.
    thinking_s: f64,
}

/// The mix of the specification (TPC-C, clause 5.2), with the keying and mean think times.
const MIX: [Profile; 5] = [
    profile(TransactionType::NewOrder, 45, 18.0, 12.0),
    profile(TransactionType::Payment, 43, 3.0, 12.0),
    profile(TransactionType::OrderStatus, 4, 2.0, 10.0),
    profile(TransactionType::Delivery, 4, 2.0, 5.0),
    profile(TransactionType::StockLevel, 4, 2.0, 5.0),
];
/// Longest think time, in means.
const LONGEST_THOUGHT: f64 = 10.0;

const fn profile(kind: TransactionType, percent: u64, keying_s: f64, thinking_s: f64) -> Profile {
    Profile {
        kind,
        percent,
        keying_s,
        thinking_s,
    }
}

/// Indexes of what is counted beside the kinds.
pub(super) const ROLLED_BACK: usize = 5;
pub(super) const SKIPPED: usize = 6;

/// The numbers by kind of transaction.
#[derive(Debug, Default)]
pub struct Kinds;

impl Parts for Kinds {
    const LATENCIES: &'static [Metric] = &[
        numbers::NEW_ORDER_SECONDS,
        numbers::PAYMENT_SECONDS,
        numbers::ORDER_STATUS_SECONDS,
        numbers::DELIVERY_SECONDS,
        numbers::STOCK_LEVEL_SECONDS,
    ];
    const COUNTS: &'static [Metric] = &[
        numbers::NEW_ORDERS,
        numbers::PAYMENTS,
        numbers::ORDER_STATUSES,
        numbers::DELIVERIES,
        numbers::STOCK_LEVELS,
        numbers::ROLLED_BACK,
        numbers::SKIPPED_DISTRICTS,
    ];
}

/// New orders per minute of one terminal whose transactions take no time at this pace.
pub(super) fn most_per_minute(pace: f64) -> f64 {
    let cycle = |of: &Profile| of.percent as f64 / 100.0 * (of.keying_s + of.thinking_s);
    let cycle_s: f64 = MIX.iter().map(cycle).sum();
    60.0 * MIX[0].percent as f64 / 100.0 / (cycle_s * pace)
}

/// Transactions on a database with so many warehouses.
pub(crate) struct Orders {
    pub(super) warehouses: i64,
    /// Factor of keying and think times; `None` without any.
    pub(super) pace: Option<f64>,
}

/// The terminal that a client sits at.
pub(crate) struct Seat {
    warehouse: i64,
    district: i64,
    last: Option<TransactionType>,
    next: Option<TransactionType>,
}

/// Home warehouse and district of a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    /// Warehouses of the database.
    pub(super) warehouses: i64,
}

impl Home {
    /// Another warehouse with this chance in hundredths; the home one where there is no other.
    pub(super) fn or_remote(self, random: &mut Random, percent: u64) -> i64 {
        if self.warehouses == 1 || random.below(100) >= percent {
            return self.warehouse;
        }
        let other = random.between(1, self.warehouses - 1);
        other + i64::from(other >= self.warehouse)
    }
}

/// The input of a transaction.
pub(crate) enum Input {
    NewOrder(Box<new_order::Input>),
    Payment(Box<payment::Input>),
    OrderStatus(status::Input),
    Delivery(delivery::Input),
    StockLevel(stock_level::Input),
}

/// The statements of one session.
pub(crate) struct Prepared {
    new_order: new_order::Statements,
    payment: payment::Statements,
    order_status: status::Statements,
    delivery: delivery::Statements,
    stock_level: stock_level::Statements,
}

impl Transactions for Orders {
    type Parts = Kinds;
    type Prepared = Prepared;
    type Seat = Seat;
    type Input = Input;

    /// Terminals go through the districts of the first warehouse, then of the next one. Without pauses the few
    /// clients that there are go through the warehouses first.
    fn seat(&self, number: u64) -> Seat {
        let number = i64::try_from(number).unwrap_or(0);
        let (warehouse, district) = match self.pace {
            Some(_) => (number / DISTRICTS, number),
            None => (number, number / self.warehouses),
        };
        Seat {
            warehouse: warehouse % self.warehouses + 1,
            district: district % DISTRICTS + 1,
            last: None,
            next: None,
        }
    }

    async fn prepare(&self, session: &mut Session) -> Result<Prepared, SqlError> {
        Ok(Prepared {
            new_order: new_order::Statements::prepare(session).await?,
            payment: payment::Statements::prepare(session).await?,
            order_status: status::Statements::prepare(session).await?,
            delivery: delivery::Statements::prepare(session).await?,
            stock_level: stock_level::Statements::prepare(session).await?,
        })
    }

    fn pause(&self, client: &mut Client<Seat>) -> Duration {
        let next = drawn(&mut client.random);
        let last = client.seat.last.replace(next);
        client.seat.next = Some(next);
        match self.pace {
            None => Duration::ZERO,
            Some(pace) => Duration::from_secs_f64(wait_s(last, next, &mut client.random) * pace),
        }
    }

    fn draw(&self, client: &mut Client<Seat>) -> Input {
        let Client {
            random,
            ledger,
            seat,
        } = client;
        let home = Home {
            warehouse: seat.warehouse,
            district: seat.district,
            warehouses: self.warehouses,
        };
        match seat.next.take().unwrap_or_else(|| drawn(random)) {
            TransactionType::NewOrder => {
                Input::NewOrder(Box::new(new_order::draw(random, home, ledger)))
            }
            TransactionType::Payment => {
                Input::Payment(Box::new(payment::draw(random, home, ledger)))
            }
            TransactionType::OrderStatus => Input::OrderStatus(status::draw(random, home)),
            TransactionType::Delivery => Input::Delivery(delivery::draw(random, home)),
            TransactionType::StockLevel => Input::StockLevel(stock_level::draw(random, home)),
        }
    }

    async fn attempt(&self, session: &mut Session, prepared: &Prepared, input: &Input) -> Attempt {
        match input {
            Input::NewOrder(input) => prepared.new_order.carry_out(session, input).await,
            Input::Payment(input) => prepared.payment.carry_out(session, input).await,
            Input::OrderStatus(input) => prepared.order_status.carry_out(session, input).await,
            Input::Delivery(input) => prepared.delivery.carry_out(session, input).await,
            Input::StockLevel(input) => prepared.stock_level.carry_out(session, input).await,
        }
    }

    fn is_marked(&self, input: &Input) -> bool {
        match input {
            Input::NewOrder(input) => input.mark.is_some(),
            Input::Payment(_) => true,
            Input::OrderStatus(_) | Input::Delivery(_) | Input::StockLevel(_) => false,
        }
    }

    fn kind(&self, input: &Input) -> Option<usize> {
        Some(match input {
            Input::NewOrder(_) => TransactionType::NewOrder as usize,
            Input::Payment(_) => TransactionType::Payment as usize,
            Input::OrderStatus(_) => TransactionType::OrderStatus as usize,
            Input::Delivery(_) => TransactionType::Delivery as usize,
            Input::StockLevel(_) => TransactionType::StockLevel as usize,
        })
    }
}

/// A kind by the mix.
fn drawn(random: &mut Random) -> TransactionType {
    let mut left = random.below(100);
    for profile in &MIX {
        if left < profile.percent {
            return profile.kind;
        }
        left -= profile.percent;
    }
    TransactionType::NewOrder
}

/// Seconds between a transaction and the next one: thinking about the last, typing the next. The first transaction
/// of a terminal begins at any point of such a wait, so that terminals do not go in step.
fn wait_s(last: Option<TransactionType>, next: TransactionType, random: &mut Random) -> f64 {
    let of = |kind: TransactionType| &MIX[kind as usize];
    let Some(last) = last else {
        let first = of(next);
        return (first.keying_s + first.thinking_s) * random.unit();
    };
    // From 0 to 1, without 0.
    let even = 1.0 - random.unit();
    let means = (-even.ln()).min(LONGEST_THOUGHT);
    of(last).thinking_s * means + of(next).keying_s
}

/// Outcome of a transaction that has nothing to note.
pub(super) fn nothing() -> Noted {
    Noted::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_that_of_the_specification() {
        let mut random = Random::new(7, 3);
        let mut counts = [0_u32; 5];
        for _ in 0..100_000 {
            counts[drawn(&mut random) as usize] += 1;
        }
        for (count, profile) in counts.into_iter().zip(&MIX) {
            let share = f64::from(count) / 1000.0;
            let wanted = profile.percent as f64;
            assert!(
                (share - wanted).abs() < 0.5,
                "{:?}: {share} %",
                profile.kind
            );
        }
        assert_eq!(MIX.iter().map(|profile| profile.percent).sum::<u64>(), 100);
    }

    /// The figure that is known of the specification: 12.86 new orders per minute of a warehouse's ten terminals.
    #[test]
    fn ten_terminals_give_at_most_12_86_new_orders_per_minute() {
        assert!((most_per_minute(1.0) * 10.0 - 12.86).abs() < 0.005);
        let mut random = Random::new(7, 4);
        let (mut seconds, mut orders, mut last) = (0.0, 0, None);
        for _ in 0..200_000 {
            let next = drawn(&mut random);
            seconds += wait_s(last, next, &mut random);
            orders += u32::from(next == TransactionType::NewOrder);
            last = Some(next);
        }
        let per_minute = f64::from(orders) / seconds * 60.0;
        assert!((per_minute - 1.286).abs() < 0.02, "{per_minute}");
    }

    #[test]
    fn terminals_are_spread_over_districts_and_warehouses() {
        let seats = |pace| {
            let orders = Orders {
                warehouses: 2,
                pace,
            };
            let place = |number| {
                let seat = orders.seat(number);
                (seat.warehouse, seat.district)
            };
            (0..20)
                .map(place)
                .collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(seats(Some(1.0)).len(), 20);
        assert_eq!(seats(None).len(), 20);
    }

    #[test]
    fn remote_warehouses_are_others_and_as_frequent_as_asked_for() {
        let mut random = Random::new(7, 5);
        let home = |warehouses| Home {
            warehouse: 2,
            district: 1,
            warehouses,
        };
        let mut remote = 0;
        for _ in 0..10_000 {
            let drawn = home(3).or_remote(&mut random, 15);
            assert!((1..=3).contains(&drawn));
            remote += u32::from(drawn != 2);
            assert_eq!(
                Home {
                    warehouse: 1,
                    ..home(1)
                }
                .or_remote(&mut random, 100),
                1
            );
        }
        assert!((1350..1650).contains(&remote), "{remote}");
    }
}
