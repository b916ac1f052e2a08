//! The visitors of `dbt1`: which interaction comes next, and what it is about.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sokudo_model::Metric;
use sokudo_model::kinds::dbt1 as numbers;
use sokudo_pace::Random;
use sokudo_sql::{Session, SqlError};

use super::browse::Browse;
use super::buy::Buy;
use super::options::Mix;
use super::rows::{CUSTOMERS, ITEMS, SUBJECTS, letter};
use crate::draw::uneven;
use crate::drive::{Attempt, Client, Mark, Noted, Parts, Transactions};

/// Interactions.
pub(super) const KINDS: usize = 14;

/// An interaction; its number is the index of its numbers in [`Parts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interaction {
    Home,
    NewProducts,
    BestSellers,
    ProductDetail,
    SearchRequest,
    SearchResults,
    ShoppingCart,
    CustomerRegistration,
    BuyRequest,
    BuyConfirm,
    OrderInquiry,
    OrderDisplay,
    AdminRequest,
    AdminConfirm,
}

/// All of them, in the order of their numbers.
const ALL: [Interaction; KINDS] = [
    Interaction::Home,
    Interaction::NewProducts,
    Interaction::BestSellers,
    Interaction::ProductDetail,
    Interaction::SearchRequest,
    Interaction::SearchResults,
    Interaction::ShoppingCart,
    Interaction::CustomerRegistration,
    Interaction::BuyRequest,
    Interaction::BuyConfirm,
    Interaction::OrderInquiry,
    Interaction::OrderDisplay,
    Interaction::AdminRequest,
    Interaction::AdminConfirm,
];

/// Shares of the interactions, per ten thousand (TPC-W, clause 5.2, as steady state).
pub(super) const fn shares(mix: Mix) -> [u64; KINDS] {
    match mix {
        Mix::Browsing => [
            2900, 1100, 1100, 2100, 1200, 1100, 200, 82, 75, 69, 30, 25, 10, 9,
        ],
        Mix::Shopping => [
            1600, 500, 500, 1700, 2000, 1700, 1160, 300, 260, 120, 75, 66, 10, 9,
        ],
        Mix::Ordering => [
            912, 46, 46, 1235, 1453, 1308, 1353, 1286, 1273, 1018, 25, 22, 12, 11,
        ],
    }
}

/// Longest think time, in means.
const LONGEST_THOUGHT: f64 = 10.0;
/// Interactions of a visit: 15 min at 7 s each, at most four times as many.
const VISIT: f64 = 15.0 * 60.0 / 7.0;
const LONGEST_VISIT: f64 = 4.0;

/// The numbers by interaction.
#[derive(Debug, Default)]
pub struct Kinds;

impl Parts for Kinds {
    const LATENCIES: &'static [Metric] = &numbers::LATENCIES;
    const COUNTS: &'static [Metric] = &numbers::COUNTS;
}

/// Visits of a shop with so many customers.
pub(crate) struct Visits {
    pub(super) customers: i64,
    pub(super) mix: Mix,
    pub(super) think: Option<Duration>,
}

/// Visitor of the shop.
pub(crate) struct Seat {
    number: u64,
    customer: i64,
    /// The cart, from the first item until it is bought or left.
    cart: i64,
    /// Interactions that are left of the visit.
    left: u64,
}

/// Subject of an interaction.
pub(crate) struct Input {
    pub(super) kind: Interaction,
    pub(super) customer: i64,
    /// A customer who comes for the first time has this number.
    pub(super) new_customer: Option<i64>,
    pub(super) cart: i64,
    pub(super) item: i64,
    pub(super) quantity: i64,
    pub(super) subject: &'static str,
    /// Field of a search: author, title or subject.
    pub(super) search: u64,
    pub(super) letter: char,
    pub(super) order: i64,
    pub(super) mark: Option<Mark>,
}

/// The statements of one session.
pub(crate) struct Prepared {
    browse: Browse,
    buy: Buy,
}

impl Transactions for Visits {
    type Parts = Kinds;
    type Prepared = Prepared;
    type Seat = Seat;
    type Input = Input;

    fn seat(&self, number: u64) -> Seat {
        Seat {
            number,
            customer: 1,
            cart: 0,
            left: 0,
        }
    }

    async fn prepare(&self, session: &mut Session) -> Result<Prepared, SqlError> {
        Ok(Prepared {
            browse: Browse::prepare(session).await?,
            buy: Buy::prepare(session).await?,
        })
    }

    fn pause(&self, client: &mut Client<Seat>) -> Duration {
        let Some(mean) = self.think else {
            return Duration::ZERO;
        };
        mean.mul_f64(exponential(&mut client.random).min(LONGEST_THOUGHT))
    }

    fn draw(&self, client: &mut Client<Seat>) -> Input {
        let Client {
            random,
            ledger,
            seat,
        } = client;
        if seat.left == 0 {
            seat.customer = self.customer(random);
            seat.cart = 0;
            seat.left = (VISIT * exponential(random).min(LONGEST_VISIT)) as u64 + 1;
        }
        seat.left -= 1;
        let kind = drawn(random, self.mix);
        let fresh = fresh(seat.number);
        if seat.cart == 0 {
            seat.cart = fresh;
        }
        let cart = seat.cart;
        // One in five who want to buy is not known yet.
        let is_new = kind == Interaction::BuyRequest && random.below(5) == 0;
        if is_new {
            seat.customer = fresh;
        }
        if kind == Interaction::BuyConfirm {
            seat.cart = 0;
        }
        Input {
            kind,
            customer: seat.customer,
            new_customer: is_new.then_some(fresh),
            cart,
            item: uneven(random, 1023, 131, 1, ITEMS),
            quantity: random.between(1, 5),
            subject: SUBJECTS[random.below(SUBJECTS.len() as u64) as usize],
            search: random.below(3),
            letter: letter(random.between(0, 25)),
            order: fresh,
            mark: (kind == Interaction::BuyConfirm).then(|| ledger.next()),
        }
    }

    async fn attempt(&self, session: &mut Session, prepared: &Prepared, input: &Input) -> Attempt {
        let (browse, buy) = (&prepared.browse, &prepared.buy);
        match input.kind {
            Interaction::ShoppingCart => buy.cart(session, input).await?,
            Interaction::BuyRequest => buy.request(session, input).await?,
            Interaction::BuyConfirm => buy.confirm(session, input).await?,
            Interaction::AdminConfirm => buy.change(session, input).await?,
            // A form, which needs no database.
            Interaction::CustomerRegistration => {}
            _ => browse.look(session, input).await?,
        }
        Ok(Noted::default())
    }

    fn is_marked(&self, input: &Input) -> bool {
        input.mark.is_some()
    }

    fn kind(&self, input: &Input) -> Option<usize> {
        Some(input.kind as usize)
    }
}

impl Visits {
    /// A customer: the more there are, the further apart are those who come often.
    fn customer(&self, random: &mut Random) -> i64 {
        let mut a = 1023;
        let mut below = 10_000;
        while self.customers >= below && a < 1 << 40 {
            a = 4 * a + 3;
            below *= 4;
        }
        uneven(random, a, 577, 1, self.customers.max(CUSTOMERS))
    }
}

/// From 0, with mean 1.
fn exponential(random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln()
}

/// An interaction by its share.
fn drawn(random: &mut Random, mix: Mix) -> Interaction {
    let mut left = random.below(10_000);
    for (kind, share) in ALL.into_iter().zip(shares(mix)) {
        if left < share {
            return kind;
        }
        left -= share;
    }
    Interaction::Home
}

/// A number that no other row has: microseconds since 1970, and the visitor's own number.
fn fresh(seat: u64) -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros() as i64);
    micros << 12 | (seat & 0xfff) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixes_are_those_of_the_specification() {
        for mix in [Mix::Browsing, Mix::Shopping, Mix::Ordering] {
            assert_eq!(shares(mix).iter().sum::<u64>(), 10_000);
            let mut random = Random::new(7, 3);
            let mut counts = [0_u64; KINDS];
            for _ in 0..100_000 {
                counts[drawn(&mut random, mix) as usize] += 1;
            }
            for (kind, (count, share)) in ALL.iter().zip(counts.into_iter().zip(shares(mix))) {
                assert!(
                    count.abs_diff(10 * share) < 500,
                    "{mix:?} {kind:?}: {count}"
                );
            }
        }
        for (number, kind) in ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }

    #[test]
    fn customers_are_among_those_of_the_shop() {
        for customers in [2880, 28_800, 500_000] {
            let visits = Visits {
                customers,
                mix: Mix::Shopping,
                think: None,
            };
            let mut random = Random::new(7, 4);
            for _ in 0..1000 {
                assert!((1..=customers).contains(&visits.customer(&mut random)));
            }
        }
    }
}
