//! Runs the functions of the fuzz targets on arbitrary bytes in every test run.

use proptest::prelude::*;
use sokudo_wire::message::{Ask, Note, Reply};
use sokudo_wire::{Body, Envelope, entry};

/// A few real messages, so that random changes reach deep into the parsers.
fn seeds() -> Vec<Vec<u8>> {
    let batch = sokudo_model::Batch {
        events: vec![sokudo_model::Event {
            t_ns: -5,
            host: "hostb".into(),
            source: "datagram".into(),
            kind: "phase-begin".into(),
            says: sokudo_model::Text::new("a-key").word("host", "速度"),
        }],
        ..Default::default()
    };
    let bodies = [
        Body::Ask(Ask::Describe),
        Body::Ask(Ask::Arm {
            offers: vec![None, Some("{}".into())],
        }),
        Body::Reply(Reply::Clock(-1)),
        Body::Note(Note::Batch(batch)),
    ];
    bodies
        .into_iter()
        .map(|body| Envelope { id: 300, body }.to_frame().unwrap()[4..].to_vec())
        .collect()
}

#[test]
fn real_messages_survive_the_way_there_and_back() {
    seeds().iter().for_each(|bytes| entry::envelope(bytes));
}

/// A chain of nested texts: an unbounded parser overflows its stack on it.
#[test]
fn deep_nesting_is_refused() {
    use sokudo_model::{Arg, Text};
    let problem = |says: Text| {
        let missing = None;
        let body = Body::Note(Note::Problem { says, missing });
        Envelope { id: 0, body }.to_frame().unwrap()[4..].to_vec()
    };
    let shallow = problem(Text::new("a").text("", Text::new("b")));
    assert!(Envelope::from_payload(&shallow).is_ok());

    // Envelope, note and problem; then per level: empty key, one argument, empty name, Arg::Text.
    let head = &problem(Text::new(""))[..3];
    let level = [0u8, 1, 0, 2];
    let nested = postcard::to_stdvec(&Arg::Text(Box::new(Text::new("")))).unwrap();
    assert_eq!(nested[0], level[3]);
    let deep = [head, &level.repeat(1_000_000), &[0, 0, 0]].concat();
    assert!(Envelope::from_payload(&deep).is_err());
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        entry::frames(&bytes);
        entry::pieces(&bytes);
        entry::envelope(&bytes);
        entry::mark(&bytes);
        entry::greeting(&bytes);
        entry::key(&bytes);
    }

    #[test]
    fn changed_messages(
        which in 0usize..4,
        changes in prop::collection::vec((0usize..200, any::<u8>()), 1..6),
        cut in 0usize..200,
    ) {
        let mut bytes = seeds()[which].clone();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(1 + cut % bytes.len());
        entry::envelope(&bytes);
    }

    #[test]
    fn greetings_with_our_beginning(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        entry::greeting(&[b"sokudo>\n", bytes.as_slice()].concat());
        entry::greeting(&[b"sokudo<\n", bytes.as_slice()].concat());
    }

    #[test]
    fn texts_with_our_prefix(body in "[a-z2-7]{50,60}") {
        entry::key(format!("sk1-{body}").as_bytes());
    }
}
