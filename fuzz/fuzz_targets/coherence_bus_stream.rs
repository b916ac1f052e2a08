//! Any bytes as the beginning of the vendor's bus, and as its frames.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use sokudo_coherence::bus::handshake::{Handshake, Role};
    use sokudo_coherence::bus::protocol::Frames;
    for role in [Role::Acceptor, Role::Connector] {
        if let Ok(taken) = Handshake::new(role, "tmb://h:1", None).take(bytes) {
            assert!(taken <= bytes.len());
        }
    }
    let (mut frames, mut at) = (Frames::default(), 0);
    while let Ok(Some((taken, _))) = frames.next(&bytes[at..]) {
        assert!(taken > 0 && taken <= bytes.len() - at);
        at += taken;
    }
});
