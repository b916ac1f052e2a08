//! Parses DER.
//!
//! A sequence of values: tag, length, content. Lengths are definite and tags have one byte; key
//! stores hold no other DER.

/// Tags.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const BMP: u8 = 0x1e;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// `[0]` around a value.
pub(super) const WRAPPED: u8 = 0xa0;
/// `[0]` in place of the tag of bytes.
pub(super) const BYTES: u8 = 0x80;

/// The values that are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The values in these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes of the values that are left.
    pub fn left(&self) -> &'a [u8] {
        self.0
    }

    /// Tag and content of the next value. `None`: there is none, or it is cut.
    pub fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // Longer lengths than of four bytes are longer than any store.
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let add = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
                (digits.iter().fold(0, add), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Content of the next value, which has this tag.
    pub fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next()
            .and_then(|(found, content)| (found == tag).then_some(content))
    }

    /// The values within the next one, which has this tag.
    pub fn within(&mut self, tag: u8) -> Option<Der<'a>> {
        self.expect(tag).map(Der)
    }

    /// The next value as a number from 0 to 2^32 - 1.
    pub fn number(&mut self) -> Option<u32> {
        let digits = self.expect(INTEGER)?;
        let digits = match digits {
            [] | [0x80..=0xff, ..] => return None,
            [0, rest @ ..] => rest,
            digits => digits,
        };
        let fits = digits.len() <= 4;
        fits.then(|| {
            digits
                .iter()
                .fold(0, |sum, digit| sum << 8 | u32::from(*digit))
        })
    }
}

/// A value of this tag, its content in parts.
pub(super) fn value(tag: u8, content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    let digits = content.len().to_be_bytes();
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let mut value = vec![tag];
    match content.len() {
        0..=0x7f => value.push(content.len() as u8),
        _ => {
            value.push(0x80 | (digits.len() - zeros) as u8);
            value.extend_from_slice(&digits[zeros..]);
        }
    }
    value.extend_from_slice(&content);
    value
}

/// An object's number as people write it, such as `1.2.840`.
pub(super) fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc = 0_u64;
    for byte in oid {
        arc = arc << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if arcs.is_empty() {
                let first = (arc / 40).min(2);
                arcs.push(first);
                arc -= first * 40;
            }
            arcs.push(std::mem::take(&mut arc));
        }
    }
    let arcs: Vec<String> = arcs.iter().map(u64::to_string).collect();
    arcs.join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_follow_one_another() {
        let mut der = Der::new(b"\x30\x06\x02\x01\x05\x04\x01x\x02\x02\x01\x00\x04\x81\x80");
        let mut inner = der.within(SEQUENCE).expect("a sequence");
        assert_eq!(inner.number(), Some(5));
        assert_eq!(inner.expect(OCTETS), Some(&b"x"[..]));
        assert_eq!(inner.next(), None);
        assert_eq!(der.number(), Some(256));
        assert_eq!(der.next(), None, "it is cut");
        let number = |bytes: &[u8]| Der::new(bytes).number();
        assert_eq!(number(b"\x02\x05\x00\xff\xff\xff\xff"), Some(u32::MAX));
        assert_eq!(number(b"\x02\x05\x01\x00\x00\x00\x00"), None);
        assert_eq!(number(b"\x02\x01\xff"), None, "negative");
        assert_eq!(number(b"\x02\x00"), None);
        assert_eq!(Der::new(b"\x30\x80\x00\x00").next(), None, "indefinite");
    }

    #[test]
    fn objects_have_numbers() {
        assert_eq!(
            dotted(b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d"),
            "1.2.840.113549.1.5.13"
        );
        assert_eq!(
            dotted(b"\x60\x86\x48\x01\x65\x03\x04\x02\x01"),
            "2.16.840.1.101.3.4.2.1"
        );
        assert_eq!(dotted(b""), "");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(content in proptest::collection::vec(any::<u8>(), 0..700)) {
            let written = value(OCTETS, &[&content]);
            prop_assert_eq!(Der::new(&written).next(), Some((OCTETS, &content[..])));
        }

        #[test]
        fn any_bytes_are_walked_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..99)) {
            let mut der = Der::new(&bytes);
            let mut steps = 0;
            while let Some((_, content)) = der.next() {
                steps += 1;
                prop_assert!(content.len() < bytes.len());
                let _ = dotted(content);
            }
            prop_assert!(steps <= bytes.len() / 2);
        }
    }
}
