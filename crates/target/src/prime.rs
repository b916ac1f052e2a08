//! Probable primes of a given size: the work of the stress endpoint.

use num_bigint::BigUint;
use sokudo_pace::Random;

/// Odd primes below 1024; a candidate that one of them divides is not tested further.
const SMALL: [u32; 171] = small_primes();
/// Rounds of Miller and Rabin's test. A random composite of 1024 bits passes two with less than 2^-100
/// (Damgård, Landrock, Pomerance 1993), which is the certainty of common libraries.
const ROUNDS: usize = 2;

/// A random number of exactly `bits` bits that is probably prime; 2 or 3 for 2 bits.
pub(crate) fn probable_prime(bits: u64, random: &mut Random) -> BigUint {
    let bits = bits.max(2);
    loop {
        let candidate = odd_of(bits, random);
        if is_probable_prime(&candidate, random) {
            return candidate;
        }
    }
}

fn odd_of(bits: u64, random: &mut Random) -> BigUint {
    let words = bits.div_ceil(32);
    let digits: Vec<u32> = (0..words).map(|_| random.bits() as u32).collect();
    let mut number = BigUint::from_slice(&digits) & ((BigUint::from(1u8) << bits) - 1u8);
    number.set_bit(bits - 1, true);
    number.set_bit(0, true);
    number
}

fn is_probable_prime(number: &BigUint, random: &mut Random) -> bool {
    for small in SMALL {
        if number % small == BigUint::ZERO {
            return *number == BigUint::from(small);
        }
    }
    let (one, two) = (BigUint::from(1u8), BigUint::from(2u8));
    if *number < BigUint::from(1024u32 * 1024) {
        return true;
    }
    let less = number - &one;
    let twos = less.trailing_zeros().unwrap_or(0);
    let odd = &less >> twos;
    (0..ROUNDS).all(|_| {
        // Below the number, which has more than 20 bits.
        let base = BigUint::from(random.below(1 << 20)) + &two;
        let mut power = base.modpow(&odd, number);
        if power == one || power == less {
            return true;
        }
        (1..twos).any(|_| {
            power = power.modpow(&two, number);
            power == less
        })
    })
}

const fn small_primes() -> [u32; 171] {
    let mut found = [0; 171];
    let mut count = 0;
    let mut number = 3u32;
    while count < found.len() {
        let mut divisor = 3;
        let mut is_prime = true;
        while divisor * divisor <= number {
            if number.is_multiple_of(divisor) {
                is_prime = false;
            }
            divisor += 2;
        }
        if is_prime {
            found[count] = number;
            count += 1;
        }
        number += 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_primes_are_those_below_1024() {
        assert_eq!(SMALL[..4], [3, 5, 7, 11]);
        assert_eq!(SMALL[170], 1021);
    }

    #[test]
    fn primes_are_told_from_composites() {
        let mut random = Random::new(1, 0);
        let mut check = |text: &str, expected: bool| {
            let number: BigUint = text.parse().expect("digits");
            assert_eq!(is_probable_prime(&number, &mut random), expected, "{text}");
        };
        check("1009", true);
        check("1048573", true);
        check("1050625", false);
        check("2147483647", true);
        check("2305843009213693951", true);
        // Products of two large primes.
        check("4611686014132420609", false);
        check("4951760154835678088235319297", false);
        check("170141183460469231731687303715884105727", true);
        check("170141183460469231731687303715884105725", false);
    }

    #[test]
    fn primes_have_the_size_that_was_asked_for() {
        let mut random = Random::new(7, 0);
        for bits in [2, 3, 8, 31, 32, 33, 64, 128] {
            let prime = probable_prime(bits, &mut random);
            assert_eq!(prime.bits(), bits, "{prime}");
        }
    }
}
