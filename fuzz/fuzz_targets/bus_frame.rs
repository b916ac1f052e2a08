//! Frames of the message bus, in pieces, in both directions.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;
use sokudo_load_network::bus::protocol::{Agreed, BusReader, FrameWay};

fuzz_target!(|bytes: &[u8]| {
    for way in [FrameWay::Forth, FrameWay::Back] {
        let mut reader = BusReader::new(Agreed {
            way,
            min_bytes: 24,
            max_bytes: 4096,
        });
        'pieces: for piece in bytes.chunks(31) {
            let mut rest = piece;
            loop {
                match reader.next(&mut rest, |_| {}) {
                    Ok(Some(header)) => assert!(header.length >= 24 && header.length <= 4096),
                    Ok(None) => break,
                    Err(_) => break 'pieces,
                }
            }
        }
    }
});
