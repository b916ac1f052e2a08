//! Properties that every parser of foreign bytes must satisfy for any input.
//!
//! One function per parser of foreign bytes, each asserting that what was accepted means the same
//! when written and read again. The fuzz targets and the property tests call the same functions.

use crate::envelope::Envelope;
use crate::framing::{self, Decoder, MAX_FRAME, MAX_FRAME_BEFORE_TICKET};
use crate::join::JoinToken;
use crate::key::Key;
use crate::label::Labels;
use crate::mark::Mark;
use crate::order::{Between, Checker, Opener};
use crate::piece::{self, Incoming, Outgoing, Piece};
use crate::ticket::{Answer, Ticket};

/// Frames: the portions in which bytes arrive do not matter.
pub fn frames(bytes: &[u8]) {
    for max in [MAX_FRAME_BEFORE_TICKET, MAX_FRAME] {
        let mut whole = Decoder::new(max);
        whole.push(bytes);
        let mut single = Decoder::new(max);
        for byte in bytes {
            single.push(std::slice::from_ref(byte));
        }
        loop {
            let frame = whole.next_frame();
            assert_eq!(frame, single.next_frame());
            let Ok(Some(payload)) = frame else { break };
            assert!(!payload.is_empty() && payload.len() <= max);
            assert!(framing::encode(&payload, max).is_ok());
        }
    }
}

/// Pieces, each behind a byte that says how long it is: no frame is longer than any may be, and nobody
/// can have read what was not sent.
pub fn pieces(bytes: &[u8]) {
    let (mut into, mut out) = (Incoming::default(), Outgoing::default());
    let mut rest = bytes;
    while let Some((length, behind)) = rest.split_first() {
        let (message, after) = behind.split_at(behind.len().min(usize::from(*length)));
        rest = after;
        match Piece::read(message) {
            Ok(Piece::Part { bytes, last }) => {
                if let Ok(Some(frame)) = into.part(bytes, last) {
                    assert!(frame.len() <= MAX_FRAME);
                    out.push(&frame);
                }
            }
            Ok(Piece::Taken(taken)) => {
                assert_eq!(piece::taken(taken), message);
                // Acknowledgements of more than was sent are refused.
                let _ = out.taken(taken);
            }
            Ok(Piece::End) => assert!(message.is_empty()),
            Err(_) => {}
        }
        while out.next_message().is_some() {}
    }
}

/// Envelopes: what is read can be written and read again.
pub fn envelope(bytes: &[u8]) {
    let Ok(envelope) = Envelope::from_payload(bytes) else {
        return;
    };
    let frame = envelope.to_frame().expect("what came in a frame fits one");
    let again = Envelope::from_payload(&frame[4..]).expect("what was written can be read");
    // Compared as text because a NaN is not equal to itself.
    assert_eq!(format!("{again:?}"), format!("{envelope:?}"));
}

/// Marks of a conversation: what is read is written as the same bytes.
pub fn mark(bytes: &[u8]) {
    if let Some(mark) = Mark::from_payload(bytes.to_vec()) {
        let frame = mark.to_frame().expect("what came in a frame fits one");
        assert_eq!(&frame[4..], bytes);
    }
}

/// Orders and answers of a session: nothing but what the other side sealed opens.
pub fn order(bytes: &[u8]) {
    let between = Between {
        group: "lab-1".into(),
        agent: "a".into(),
        session: "s1".into(),
        challenge: [7; 32],
    };
    let mut checker = Checker::new(&between, &[5; 32], [9; 32]);
    assert!(checker.open(bytes).is_err());
    assert!(Opener::new(&between, &[5; 32]).open(bytes).is_err());
}

/// Tickets and answers: nothing but a sealed ticket opens, and an answer stays what it is.
pub fn greeting(bytes: &[u8]) {
    assert!(Ticket::open(bytes, Some(&Key::from_random([1; 32])), &[2; 32]).is_err());
    // A failure is as good as a key id here: only a panic would be wrong.
    let _ = Ticket::key_of(bytes);
    if let Ok(answer) = Answer::from_payload(bytes) {
        assert_eq!(Answer::from_payload(&answer.to_payload()), Ok(answer));
    }
}

/// Keys: what is accepted prints as the same key.
pub fn key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(key) = text.parse::<Key>() {
        assert_eq!(key.to_text().parse(), Ok(key));
    }
}

/// Join tokens and labels: what is accepted prints as the same.
pub fn join(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(token) = text.parse::<JoinToken>() {
        assert_eq!(token.to_string().parse(), Ok(token));
    }
    if let Ok(labels) = text.parse::<Labels>() {
        assert_eq!(labels.to_string().parse(), Ok(labels));
    }
}
