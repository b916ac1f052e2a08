//! Encodes the head of a request, in a first form and in a shorter form for repetitions on the same
//! connection.
//!
//! ```text
//! first  :method GET  :path /a  user-agent x …      written out, and added to the peer's table
//! next   62 63 64 …                                 one byte each
//! ```
//!
//! Both are encoded once. The second is valid as long as every request of the connection has this
//! head and the server keeps the default table size; otherwise the first can be sent again.

use super::hpack::{TABLE_BYTES, put_number, put_string};
use super::table::{ENTRY_BYTES, STATIC};

/// The head of a request as header blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The block that the first request of a connection begins with.
    pub first: Vec<u8>,
    /// The block of all others.
    pub next: Vec<u8>,
}

impl RequestHead {
    /// Renders fields, whose names are in lower case; those that begin with `:` come first.
    pub fn new<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut first, mut next) = (Vec::new(), Vec::new());
        let (mut room, mut added) = (TABLE_BYTES, Vec::new());
        for (name, value) in fields {
            let known = |(own, _): &&(&str, &str)| *own == name;
            let same = STATIC.iter().position(|own| *own == (name, value));
            if let Some(place) = same {
                put_number(&mut first, 0x80, 7, place + 1);
                added.push(Next::Fixed(place + 1));
                continue;
            }
            let number = STATIC
                .iter()
                .position(|own| known(&own))
                .map_or(0, |place| place + 1);
            let bytes = name.len() + value.len() + ENTRY_BYTES;
            let fits = bytes <= room;
            put_literal(&mut first, fits, number, name, value);
            match fits {
                true => {
                    room -= bytes;
                    added.push(Next::Added);
                }
                false => added.push(Next::Literal(number, name, value)),
            }
        }
        // The newest entry of the table has the lowest number.
        let mut left = added
            .iter()
            .filter(|one| matches!(one, Next::Added))
            .count();
        for one in &added {
            match one {
                Next::Fixed(number) => put_number(&mut next, 0x80, 7, *number),
                Next::Added => {
                    left -= 1;
                    put_number(&mut next, 0x80, 7, STATIC.len() + 1 + left);
                }
                Next::Literal(number, name, value) => {
                    put_literal(&mut next, false, *number, name, value);
                }
            }
        }
        Self { first, next }
    }
}

/// Encoding of a field after the first time.
enum Next<'a> {
    /// By a number that every connection knows.
    Fixed(usize),
    /// By the number that the first block gave it.
    Added,
    /// Written out: the table has no room for it.
    Literal(usize, &'a str, &'a str),
}

fn put_literal(out: &mut Vec<u8>, is_added: bool, number: usize, name: &str, value: &str) {
    match is_added {
        true => put_number(out, 0x40, 6, number),
        false => put_number(out, 0, 4, number),
    }
    if number == 0 {
        put_string(out, name.as_bytes());
    }
    put_string(out, value.as_bytes());
}
