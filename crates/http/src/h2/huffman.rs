//! Decodes the Huffman-coded strings of header blocks (RFC 7541 §5.2 and appendix B).
//!
//! The code is canonical: it is fully defined by the code lengths. Codes of up to eight bits, which
//! cover nearly all text, are looked up; longer ones are searched for length by length.

/// Length of each symbol's code in bits; the last is the end of the string, which never stands there.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
/// Longest code.
const LONGEST: usize = 30;
/// The symbol that ends a string.
const END: u16 = 256;

/// The code in the order of its code words.
struct Code {
    /// Symbols by length, then by value.
    symbols: [u16; 257],
    /// Length → where its symbols begin.
    from: [u16; LONGEST + 2],
    /// Length → its first code word.
    first: [u32; LONGEST + 1],
    /// First eight bits → symbol and length; length 0: the code is longer.
    short: [(u8, u8); 256],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut code = Code {
        symbols: [0; 257],
        from: [0; LONGEST + 2],
        first: [0; LONGEST + 1],
        short: [(0, 0); 256],
    };
    let (mut next, mut word, mut length) = (0, 0u32, 1);
    while length <= LONGEST {
        word <<= 1;
        code.from[length] = next as u16;
        code.first[length] = word;
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                code.symbols[next] = symbol as u16;
                if length <= 8 {
                    fill(&mut code.short, word, length, symbol as u8);
                }
                (next, word) = (next + 1, word + 1);
            }
            symbol += 1;
        }
        length += 1;
    }
    code.from[LONGEST + 1] = next as u16;
    code
}

/// Every eight bits that begin with a code word stand for its symbol.
const fn fill(short: &mut [(u8, u8); 256], word: u32, length: usize, symbol: u8) {
    let spare = 8 - length;
    let mut tail = 0;
    while tail < 1 << spare {
        short[((word as usize) << spare) | tail] = (symbol, length as u8);
        tail += 1;
    }
}

/// The string is not packed as it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotPacked;

/// Appends what `packed` stands for to `out`; at most 8/5 of its length.
///
/// Errors: it holds the end symbol, or does not end with less than eight bits of its beginning.
pub(super) fn unpack(packed: &[u8], out: &mut Vec<u8>) -> Result<(), NotPacked> {
    out.reserve(packed.len() * 8 / 5 + 1);
    let mut bytes = packed.iter();
    // The next bits, from the highest on; so many of them are there.
    let (mut bits, mut count) = (0u64, 0usize);
    loop {
        while count <= 56
            && let Some(byte) = bytes.next()
        {
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        let (mut symbol, mut length) = CODE.short[(bits >> 56) as usize];
        if length == 0 {
            match long(bits, count)? {
                Some((found, bits)) => (symbol, length) = (found, bits),
                None => return padding(bits, count),
            }
        }
        if usize::from(length) > count {
            return padding(bits, count);
        }
        out.push(symbol);
        bits <<= length;
        count -= usize::from(length);
    }
}

/// The symbol of a code longer than eight bits, with its length; `None`: its end is not there.
fn long(bits: u64, count: usize) -> Result<Option<(u8, u8)>, NotPacked> {
    for length in 9..=LONGEST.min(count) {
        let word = (bits >> (64 - length)) as u32;
        let many = u32::from(CODE.from[length + 1] - CODE.from[length]);
        let place = word.wrapping_sub(CODE.first[length]);
        if place < many {
            let symbol = CODE.symbols[usize::from(CODE.from[length]) + place as usize];
            return match symbol {
                END => Err(NotPacked),
                symbol => Ok(Some((symbol as u8, length as u8))),
            };
        }
    }
    Ok(None)
}

/// Checks the padding: fewer than eight ones.
fn padding(bits: u64, count: usize) -> Result<(), NotPacked> {
    let ones = count == 0 || bits >> (64 - count) == (1 << count) - 1;
    match count < 8 && ones {
        true => Ok(()),
        false => Err(NotPacked),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes bit by bit.
    fn pack(text: &[u8]) -> Vec<u8> {
        let word = |symbol: u8| {
            let length = usize::from(LENGTHS[usize::from(symbol)]);
            let own = CODE.symbols[usize::from(CODE.from[length])..].iter();
            let place = own.take_while(|other| **other != u16::from(symbol)).count();
            (CODE.first[length] + place as u32, length)
        };
        let bits = text.iter().flat_map(|symbol| {
            let (word, length) = word(*symbol);
            (0..length).rev().map(move |bit| (word >> bit & 1) as u8)
        });
        let bits: Vec<u8> = bits.collect();
        let byte =
            |eight: &[u8]| (0..8).fold(0, |byte, at| byte << 1 | eight.get(at).unwrap_or(&1));
        bits.chunks(8).map(byte).collect()
    }

    #[test]
    fn the_code_is_that_of_the_standard() {
        // RFC 7541 appendix B: the first word of some lengths, and the end.
        assert_eq!(
            (CODE.first[5], CODE.first[8], CODE.first[30]),
            (0, 0xf8, 0x3fff_fffc)
        );
        assert_eq!(pack(b"www.example.com"), hex("f1e3c2e5f23a6ba0ab90f4ff"));
        let mut out = Vec::new();
        unpack(&hex("6402"), &mut out).expect("302 of appendix C.6.1");
        assert_eq!(out, b"302");
    }

    fn hex(text: &str) -> Vec<u8> {
        let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
        (0..text.len()).step_by(2).map(pair).collect()
    }

    #[test]
    fn what_is_not_packed_is_refused() {
        let check = |packed: &[u8]| assert_eq!(unpack(packed, &mut Vec::new()), Err(NotPacked));
        // Padding of a whole byte, of zeros, and the end symbol itself.
        check(&[0xff]);
        check(&[0b0000_0000]);
        check(&[0xff, 0xff, 0xff, 0xff]);
    }

    proptest! {
        #[test]
        fn everything_comes_back(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            prop_assert_eq!(unpack(&pack(&text), &mut out), Ok(()));
            prop_assert_eq!(out, text);
        }

        #[test]
        fn any_bytes(packed in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            if unpack(&packed, &mut out).is_ok() {
                prop_assert_eq!(pack(&out), packed);
            }
        }
    }
}
