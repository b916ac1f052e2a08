//! Which texts of a row need quotes, and how is that seen quickly? Rows are many.

/// Bytes that are looked at before what was found is summed up: a count of them fits into a byte.
const PORTION: usize = 128;

/// As JMeter quotes: a text with the delimiter, a quote or a line end stands in quotes, and a quote
/// in it is doubled.
pub(super) fn quote(text: &str, delimiter: char, out: &mut String) {
    if !text.contains([delimiter, '"', '\r', '\n']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for (index, piece) in text.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(piece);
    }
    out.push('"');
}

/// True when delimiters, quotes and line ends are so many together; never true with a delimiter that
/// is no ASCII.
pub(super) fn holds_so_many(bytes: &[u8], delimiter: char, expected: usize) -> bool {
    let Ok(delimiter) = u8::try_from(u32::from(delimiter)) else {
        return false;
    };
    // Without branches and in bytes: compilers look at many of them at once.
    let is_special = |byte: &u8| {
        let byte = *byte;
        u8::from((byte == delimiter) | (byte == b'"') | (byte == b'\r') | (byte == b'\n'))
    };
    let portions = bytes.chunks(PORTION);
    let counts = portions.map(|portion| portion.iter().map(is_special).sum::<u8>());
    delimiter.is_ascii() && counts.map(usize::from).sum::<usize>() == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_quotes_is_seen_wherever_it_stands() {
        let row = "a,b,".to_owned() + &"x".repeat(300);
        assert!(holds_so_many(row.as_bytes(), ',', 2));
        for special in [',', '"', '\r', '\n'] {
            for at in [0, 5, 127, 128, 129, row.len()] {
                let mut row = row.clone();
                row.insert(at, special);
                assert!(
                    !holds_so_many(row.as_bytes(), ',', 2),
                    "{special:?} at {at}"
                );
            }
        }
        let all = ",".repeat(1_000);
        assert!(holds_so_many(all.as_bytes(), ',', 1_000) && !holds_so_many(b"", '\u{a6}', 0));
    }
}
