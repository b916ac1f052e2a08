//! Parameters of the questions, drawn per question, stream and seed.

use sokudo_pace::Random;

use super::data::day;
use super::words::{
    ADJECTIVES, FORMS, KINDS, MATERIALS, MODES, NATIONS, NOUNS, PLANTS, REGIONS, SEGMENTS, SIZES,
    TREATMENTS, between, one_of,
};

/// Days from 1992-01-01 to 1998-12-01.
const DECEMBER: i64 = 2526;
/// Days from 1992-01-01 to 1995-03-01.
const MARCH: i64 = 1155;

/// The parameters of a question, from 1, in a stream, on a database with so many suppliers.
pub(super) fn draw(question: usize, suppliers: i64, seed: u64, stream: u64) -> Vec<String> {
    let mut random = Random::new(seed, stream << 8 | question as u64);
    let random = &mut random;
    let word = |words: &[&str], random: &mut Random| one_of(random, words).to_owned();
    match question {
        1 => vec![day(DECEMBER - between(random, 60, 120))],
        2 => vec![
            between(random, 1, 50).to_string(),
            word(&MATERIALS, random),
            word(&REGIONS, random),
        ],
        3 => vec![word(&SEGMENTS, random), day(MARCH + between(random, 0, 30))],
        4 => months(random, (1993, 1), 58, 3).to_vec(),
        5 => {
            let region = word(&REGIONS, random);
            let [from, until] = year(random);
            vec![region, from, until]
        }
        6 => {
            let [from, until] = year(random);
            let discount = between(random, 2, 9);
            let quantity = between(random, 24, 25);
            let numbers = [discount - 1, discount + 1, quantity];
            let numbers = numbers.iter().map(ToString::to_string);
            [from, until].into_iter().chain(numbers).collect()
        }
        7 => some(&NATIONS, 2, random),
        8 => {
            let nation = between(random, 0, 24) as usize;
            vec![
                NATIONS[nation].into(),
                REGIONS[nation / 5].into(),
                words(random, &[&KINDS, &TREATMENTS, &MATERIALS]),
            ]
        }
        9 => vec![word(&PLANTS, random)],
        10 => months(random, (1993, 2), 24, 3).to_vec(),
        11 => vec![word(&NATIONS, random), suppliers.to_string()],
        12 => {
            let mut drawn = some(&MODES, 2, random);
            drawn.extend(year(random));
            drawn
        }
        13 => vec![word(&ADJECTIVES, random), word(&NOUNS, random)],
        14 => months(random, (1993, 1), 60, 1).to_vec(),
        15 => months(random, (1993, 1), 58, 3).to_vec(),
        16 => {
            let mut drawn = vec![brand(random), words(random, &[&KINDS, &TREATMENTS])];
            let mut sizes: Vec<i64> = Vec::new();
            while sizes.len() < 8 {
                let size = between(random, 1, 50);
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
            drawn.extend(sizes.iter().map(ToString::to_string));
            drawn
        }
        17 => vec![brand(random), words(random, &[&SIZES, &FORMS])],
        18 => vec![between(random, 312, 315).to_string()],
        19 => {
            let mut drawn: Vec<String> = (0..3).map(|_| brand(random)).collect();
            let least = [1, 10, 20].map(|from| between(random, from, from + 9));
            drawn.extend(least.iter().map(ToString::to_string));
            drawn
        }
        20 => {
            let plant = word(&PLANTS, random);
            let [from, until] = year(random);
            vec![plant, from, until, word(&NATIONS, random)]
        }
        21 => vec![word(&NATIONS, random)],
        _ => {
            let codes: Vec<String> = (10..35).map(|code| code.to_string()).collect();
            let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
            some(&codes, 7, random)
        }
    }
}

/// Different words of a list.
fn some(words: &[&str], count: usize, random: &mut Random) -> Vec<String> {
    let mut drawn: Vec<String> = Vec::new();
    while drawn.len() < count.min(words.len()) {
        let word = one_of(random, words);
        if !drawn.iter().any(|other| other == word) {
            drawn.push(word.into());
        }
    }
    drawn
}

/// One word of each list.
fn words(random: &mut Random, lists: &[&[&str]]) -> String {
    let words: Vec<&str> = lists.iter().map(|list| one_of(random, list)).collect();
    words.join(" ")
}

fn brand(random: &mut Random) -> String {
    format!("LINE-{}{}", between(random, 1, 5), between(random, 1, 5))
}

/// The first day of a year from 1993 to 1997, and of the next one.
fn year(random: &mut Random) -> [String; 2] {
    let year = between(random, 1993, 1997);
    [year, year + 1].map(|year| format!("{year}-01-01"))
}

/// The first day of one of so many months from `first` on, and the one so many months later.
fn months(random: &mut Random, first: (i64, i64), among: i64, length: i64) -> [String; 2] {
    let from = first.0 * 12 + first.1 - 1 + between(random, 0, among - 1);
    [from, from + length].map(|month| format!("{}-{:02}-01", month / 12, month % 12 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_asks_the_same_and_another_stream_something_else() {
        for question in 1..=22 {
            let asked = |seed, stream| draw(question, 100, seed, stream);
            assert_eq!(asked(7, 1), asked(7, 1));
            // Some have few values: among several streams one differs.
            let differs = (2..40).any(|stream| asked(7, stream) != asked(7, 1));
            assert!(differs, "question {question}");
        }
    }

    #[test]
    fn days_are_within_the_years_of_the_orders() {
        assert_eq!(day(DECEMBER), "1998-12-01");
        assert_eq!(day(MARCH), "1995-03-01");
        for stream in 0..200 {
            let [from, until] = &draw(15, 100, 7, stream)[..] else {
                panic!("two days");
            };
            assert!(
                from.as_str() >= "1993-01-01" && until.as_str() <= "1998-01-01",
                "{from} {until}"
            );
        }
    }
}
