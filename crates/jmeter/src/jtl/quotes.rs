//! Quoting of CSV cells, vectorised because rows are many.

/// Chunk length in bytes: a count of matches within a chunk fits into a byte.
const PORTION: usize = 128;

/// Quotes a cell as JMeter does: one with the delimiter, a quote or a line end is enclosed in
/// quotes, and quotes in it are doubled.
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

/// True if the row has this number of delimiters, quotes and line ends together; false for a
/// delimiter that is not ASCII.
pub(super) fn holds_so_many(bytes: &[u8], delimiter: char, expected: usize) -> bool {
    let Ok(delimiter) = u8::try_from(u32::from(delimiter)) else {
        return false;
    };
    // Without branches and on bytes, so that the compiler vectorises it.
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
