//! Tests of controller and agent in one process.

mod common;

use std::time::Duration;

use common::{BOUND, Seen, drain, note, number_in};
use sokudo_bus::{Bus, BusError, Link, Member, MemberId, in_proc};
use sokudo_wire::{Ask, Note, Reply};

fn link(seen: &Seen) -> in_proc::InProcLink {
    let seen = seen.clone();
    in_proc::link("hosta", || Ok(()), move |c, n| seen.handler(c, n)).unwrap()
}

fn member(name: &str) -> Member {
    Member {
        name: name.into(),
        address: String::new(),
    }
}

fn bus_of(seen: &Seen, members: u32) -> (Bus, Vec<MemberId>) {
    let bus = Bus::new();
    let ids = (0..members)
        .map(|n| bus.add(member(&format!("host{n}")), Box::new(link(seen))))
        .collect();
    (bus, ids)
}

#[test]
fn notes_arrive_in_order_and_before_the_answer() {
    let seen = Seen::default();
    let (bus, ids) = bus_of(&seen, 1);
    assert_eq!(bus.ask(ids[0], Ask::Unwatch, BOUND), Ok(Reply::Done));
    let numbers: Vec<i64> = bus.notes().try_iter().map(|(_, n)| number_in(&n)).collect();
    assert_eq!(numbers, Vec::from_iter(0..10_000));
}

#[test]
fn answers_stand_in_the_order_of_the_asks() {
    let (bus, ids) = bus_of(&Seen::default(), 3);
    let answers = bus.ask_all(
        vec![
            (ids[2], Ask::Clock),
            (MemberId(9), Ask::Clock),
            (ids[0], Ask::Describe),
        ],
        BOUND,
    );
    assert_eq!(
        answers,
        [
            Ok(Reply::Clock(42)),
            Err(BusError::NoMember(9)),
            Ok(Reply::Offer("hosta".into()))
        ]
    );
    let names: Vec<_> = bus.members().into_iter().map(|(_, m)| m.name).collect();
    assert_eq!(names, ["host0", "host1", "host2"]);
}

#[test]
fn closing_interrupts_a_long_answer_and_drops_the_handler_without_a_loss() {
    let seen = Seen::default();
    let (bus, ids) = bus_of(&seen, 1);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| bus.ask(ids[0], drain(), BOUND));
        seen.draining.reach(1);
        bus.close();
        assert_eq!(seen.alive.now(), 0);
        // The answer may still have been given.
        let answer = asked.join().unwrap();
        assert!(matches!(
            answer,
            Ok(Reply::Result(_)) | Err(BusError::Lost { .. })
        ));
    });
    assert_eq!(bus.notes().try_iter().count(), 0);
    let refused = bus.ask(ids[0], Ask::Clock, BOUND);
    assert!(matches!(refused, Err(BusError::Lost { .. })));
}

#[test]
fn stop_interrupts_a_long_answer() {
    let seen = Seen::default();
    let (bus, ids) = bus_of(&seen, 1);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| bus.ask(ids[0], drain(), BOUND));
        seen.draining.reach(1);
        assert_eq!(bus.ask(ids[0], Ask::Stop, BOUND), Ok(Reply::Done));
        let answer = asked.join().unwrap();
        assert_eq!(answer, Ok(Reply::Result("gone: false".into())));
    });
    assert_eq!(bus.ask(ids[0], Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

#[test]
fn a_handler_that_panics_is_a_loss_told_once() {
    let seen = Seen::default();
    let (bus, ids) = bus_of(&seen, 2);
    let panic = Ask::Arm { offers: Vec::new() };
    for ask in [panic, Ask::Clock] {
        let answer = bus.ask(ids[1], ask, BOUND);
        assert!(matches!(answer, Err(BusError::Lost { .. })), "{answer:?}");
    }
    let (from, lost) = bus.notes().recv_timeout(BOUND).unwrap();
    assert!(from == ids[1] && matches!(lost, Note::Lost { .. }));
    assert_eq!(bus.notes().try_iter().count(), 0);
    assert_eq!(bus.ask(ids[0], Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

#[test]
fn goodbye_is_no_loss() {
    let seen = Seen::default();
    let (bus, ids) = bus_of(&seen, 1);
    assert_eq!(bus.ask(ids[0], Ask::Bye, BOUND), Ok(Reply::Done));
    seen.alive.reach(0);
    assert_eq!(bus.notes().try_iter().count(), 0);
}

#[test]
fn preparation_that_fails_is_told_and_makes_no_agent() {
    let seen = Seen::default();
    let factory = seen.factory();
    let failed = in_proc::link(
        "hostb",
        || Err("no such namespace".into()),
        move |c, n| factory(c, n),
    );
    let says = failed.err().unwrap().to_string();
    assert_eq!(says, "cannot start the agent `hostb`: no such namespace");
    assert_eq!(seen.alive.now(), 0);
}

#[test]
fn notes_pushed_before_joining_a_bus_are_kept() {
    let seen = Seen::default();
    let early = link(&seen);
    assert_eq!(early.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    let pushed = in_proc::link(
        "early",
        || Ok(()),
        move |client, notes| {
            notes.push(note(7)).unwrap();
            seen.handler(client, notes)
        },
    )
    .unwrap();
    assert_eq!(pushed.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    let bus = Bus::new();
    bus.add(member("early"), Box::new(pushed));
    let (_, first) = bus.notes().recv_timeout(BOUND).unwrap();
    assert_eq!(number_in(&first), 7);
}

#[test]
fn every_note_is_delivered_or_counted() {
    const PUSHED: i64 = 200_000;
    let bus = Bus::new();
    let flood = in_proc::link(
        "flood",
        || Ok(()),
        |client, notes| {
            // Nobody reads meanwhile: most of these find no room.
            let taken = (0..PUSHED).filter(|&n| notes.push(note(n)).is_ok()).count();
            assert!((taken as i64) < PUSHED);
            Seen::default().handler(client, notes)
        },
    )
    .unwrap();
    bus.add(member("flood"), Box::new(flood));
    let id = bus.members()[0].0;
    bus.ask(id, Ask::Clock, BOUND).unwrap();
    let (mut delivered, mut told) = (0, 0.0);
    while let Ok((_, note)) = bus.notes().recv_timeout(Duration::ZERO) {
        match note {
            Note::Batch(_) => delivered += 1,
            Note::Problem { says, .. } => {
                let Some(sokudo_model::Arg::Number(count, _)) = says.args.get("count") else {
                    panic!("no count in {says:?}");
                };
                told += count;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(delivered + told as i64, PUSHED);
}
