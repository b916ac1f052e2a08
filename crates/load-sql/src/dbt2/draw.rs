//! Random values of rows and transactions: sizes, names, texts, uneven numbers.

use std::fmt::Write as _;

use sokudo_pace::Random;

use crate::draw::{Texts, uneven};

/// Items that every warehouse has in stock.
pub(super) const ITEMS: i64 = 100_000;
/// Districts of a warehouse.
pub(super) const DISTRICTS: i64 = 10;
/// Customers of a district, and orders that it begins with.
pub(super) const CUSTOMERS: i64 = 3000;
/// The first order of a district that is not delivered yet.
pub(super) const FIRST_NEW: i64 = 2101;
/// Last names.
const NAMES: i64 = 1000;
/// Parts of a last name, by digit.
const SYLLABLES: [&str; 10] = [
    "KAN", "TOR", "MEL", "VIS", "ROU", "DEN", "SAL", "PIK", "LOM", "GRE",
];
/// Constants of [`uneven`]. Those of last names differ between tables and load by 65 to 119, but not by 96 or 112,
/// so that a load does not ask for the most frequent names alone.
const LAST_NAME_OF_TABLES: i64 = 131;
const LAST_NAME_OF_LOAD: i64 = 208;
const CUSTOMER: i64 = 577;
const ITEM: i64 = 4691;

/// The customer of a transaction.
pub(super) fn customer(random: &mut Random) -> i64 {
    uneven(random, 1023, CUSTOMER, 1, CUSTOMERS)
}

/// The item of an order's line.
pub(super) fn item(random: &mut Random) -> i64 {
    uneven(random, 8191, ITEM, 1, ITEMS)
}

/// Number of the last name that a transaction asks for.
pub(super) fn asked_name(random: &mut Random) -> i64 {
    uneven(random, 255, LAST_NAME_OF_LOAD, 0, NAMES - 1)
}

/// Number of the last name of a district's customer: the first thousand have each name once.
pub(super) fn name_of(customer: i64, random: &mut Random) -> i64 {
    match customer <= NAMES {
        true => customer - 1,
        false => uneven(random, 255, LAST_NAME_OF_TABLES, 0, NAMES - 1),
    }
}

/// A last name: a syllable per digit of its number.
pub(super) fn last_name(number: i64) -> String {
    syllables(number).into_iter().collect()
}

/// The parts of a last name.
pub(super) fn syllables(number: i64) -> [&'static str; 3] {
    let syllable = |digit: i64| SYLLABLES[digit.rem_euclid(10) as usize];
    [number / 100, number / 10, number].map(syllable)
}

/// Ten percent of the texts of items and stock hold the word "ORIGINAL".
pub(super) fn data(texts: &Texts, random: &mut Random, out: &mut String) {
    out.clear();
    let text = texts.of(random, 26, 50);
    if random.below(10) > 0 {
        out.push_str(text);
        return;
    }
    let at = random.below((text.len() - 8) as u64 + 1) as usize;
    // Writing to a string cannot fail.
    let _ = write!(out, "{}ORIGINAL{}", &text[..at], &text[at + 8..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_numbers_stay_within_their_range_and_are_uneven() {
        let mut random = Random::new(7, 1);
        let mut counts = vec![0_u32; CUSTOMERS as usize + 1];
        for _ in 0..100_000 {
            counts[customer(&mut random) as usize] += 1;
            assert!((1..=ITEMS).contains(&item(&mut random)));
            assert!((0..NAMES).contains(&asked_name(&mut random)));
        }
        counts.sort_unstable();
        let tenth: u32 = counts.iter().rev().take(300).sum();
        assert!(
            tenth > 20_000,
            "{tenth} of 100,000 for a tenth of the customers"
        );
    }

    #[test]
    fn names_of_load_and_tables_are_apart_as_the_rule_wants_it() {
        let apart = (LAST_NAME_OF_LOAD - LAST_NAME_OF_TABLES).abs();
        assert!((65..=119).contains(&apart) && apart != 96 && apart != 112);
        let names: std::collections::BTreeSet<String> = (0..NAMES).map(last_name).collect();
        assert_eq!(names.len(), NAMES as usize);
        assert!(names.iter().all(|name| name.len() <= 16));
    }

    #[test]
    fn a_tenth_of_the_texts_is_original() {
        let (texts, mut random, mut out) = (Texts::new(), Random::new(7, 2), String::new());
        let mut original = 0;
        for _ in 0..10_000 {
            data(&texts, &mut random, &mut out);
            assert!((26..=50).contains(&out.len()));
            original += u32::from(out.contains("ORIGINAL"));
        }
        assert!((800..1200).contains(&original), "{original}");
    }
}
