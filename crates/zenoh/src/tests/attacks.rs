//! Tests of attacks by anyone who is not the controller.

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};

use sokudo_i18n::{I18n, Lang};
use sokudo_wire::join::token_key;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use super::*;
use crate::enrol::join_again;
use crate::fleet::{open, unreachable};
use crate::group::{Credentials, OWN_VALID, Role};
use crate::keys::Keys;
use crate::members::Members;
use crate::settings;

/// The text that is searched in the traffic.
const WORD: &str = "connect-to-192.0.2.7";

/// A connection to the router with another member's certificate.
fn connection(lab: &Lab, credentials: &Credentials) -> Session {
    connection_at(&lab.router(), credentials)
}

/// The same to another router.
pub(super) fn connection_at(router: &str, credentials: &Credentials) -> Session {
    let config = settings::client(&[router.to_owned()], credentials, false).unwrap();
    open(config, unreachable("a router")).unwrap()
}

/// Asks an agent for a session, and gets no answer.
pub(super) fn asks_in_vain(lab: &Lab, session: &Session, agent: &str) {
    let keys = Keys::new(&lab.group.id);
    let hello = format!(r#"{{"session":"{}","controller":"b"}}"#, "0".repeat(32));
    let asked = session.get(keys.open(agent)).payload(hello);
    let replies = asked.timeout(Duration::from_secs(2)).wait().unwrap();
    assert_eq!(
        replies.into_iter().filter(|r| r.result().is_ok()).count(),
        0
    );
}

/// All messages under a key.
fn overhear(session: &Session, key: String) -> Receiver<(String, Vec<u8>)> {
    let (heard, hears) = mpsc::channel();
    let heard = Mutex::new(heard);
    session
        .declare_subscriber(key)
        .callback(move |sample| {
            let (key, bytes) = (sample.key_expr().to_string(), sample.payload().to_bytes());
            let _ = heard.lock().unwrap().send((key, bytes.into_owned()));
        })
        .background()
        .wait()
        .unwrap();
    hears
}

fn telling_order() -> Ask {
    Ask::Drain {
        sent: vec![Some(WORD.into())],
    }
}

#[test]
fn who_has_no_token_is_turned_away() {
    let lab = Lab::new();
    let guessed = JoinToken {
        secret: [7; 20],
        ..lab.token.clone()
    };
    let refused = join(&guessed, "a", MemberRole::Agent);
    assert!(matches!(refused, Err(GroupError::Refused { .. })));
    // A door with another group's key is refused before anything is sent.
    let elsewhere = JoinToken {
        door: [7; 32],
        ..lab.token.clone()
    };
    assert!(matches!(
        join(&elsewhere, "a", MemberRole::Agent),
        Err(GroupError::Network { .. })
    ));
    let refused = join(&lab.token, "a/b", MemberRole::Agent);
    assert!(matches!(refused, Err(GroupError::Refused { .. })));
}

#[test]
fn a_spent_token_lets_nobody_in_and_says_why() {
    let lab = Lab::new();
    let says = |token: &JoinToken, role| match join(token, "b", role) {
        Err(GroupError::Refused { says, .. }) => english(&says),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a spent token lets somebody in"),
    };
    let expired = lab.token(&Terms {
        valid: Duration::ZERO,
        ..Terms::default()
    });
    assert_eq!(says(&expired, MemberRole::Agent), "the token has expired");
    let once = lab.token(&Terms {
        uses: Some(1),
        ..Terms::default()
    });
    assert_eq!(
        says(&once, MemberRole::Router),
        "the token is for a host that becomes agent, not router"
    );
    assert!(join(&once, "a", MemberRole::Agent).is_ok());
    assert_eq!(says(&once, MemberRole::Agent), "the token has been used up");
    assert_ne!(once.key().id(), token_key(&lab.token.secret).id());
}

/// Orders for a host must not reach another one that took its name.
#[test]
fn a_name_belongs_to_the_host_that_has_its_key() {
    let lab = Lab::new();
    let first = lab.member("a");
    let Err(GroupError::Refused { says, hint }) = join(&lab.token, "a", MemberRole::Agent) else {
        panic!("somebody takes another host's name");
    };
    assert_eq!(
        english(&says),
        "the group has another agent called `a` already"
    );
    // It travels as a message: the host that is refused reads it in its own language.
    let japanese = I18n::new(Lang::Ja).text(
        &GroupError::Refused {
            says,
            hint: hint.clone(),
        }
        .text(),
    );
    assert!(japanese.contains("別のエージェント"), "{japanese}");
    let hint = english(&hint);
    assert!(hint.contains("sokudo group remove lab a"), "{hint}");
    let again = join_again(&lab.token, &first).expect("it comes in again");
    assert_eq!(again.agent(), "a");
    first.save(lab.config.path()).unwrap();
    let found = |name| {
        Membership::renewed_by(lab.config.path(), &lab.token, name, MemberRole::Agent).is_some()
    };
    assert!(found("a") && !found("b"));
    let members = Members::of(lab.config.path(), "lab");
    assert!(members.remove("a").unwrap());
    assert!(join(&lab.token, "a", MemberRole::Agent).is_ok());
}

#[test]
fn a_foreign_group_is_not_let_in() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    sees(&lab.fleet(), &["a"]);
    let foreign = Group::found("lab").unwrap();
    // Its certificates are signed by another authority.
    assert!(Fleet::connect(&foreign, &lab.router()).is_err());
    // A holder of the right certificate without the commander's key is not obeyed either.
    let mut thief = copy(&lab.group);
    thief.change_commander([9; 32]);
    let fleet = Fleet::connect(&thief, &lab.router()).unwrap();
    let (bus, id) = on_bus(&fleet, "a");
    let asked = bus.ask(id, Ask::Clock, Duration::from_secs(2));
    assert!(matches!(asked, Err(BusError::TimedOut { .. })), "{asked:?}");
}

/// An agent's certificate opens a session at the router, and gives no right to command.
#[test]
fn an_agent_cannot_command_another() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    sees(&lab.fleet(), &["a"]);
    asks_in_vain(&lab, &connection(&lab, &lab.member("b").credentials()), "a");
    assert_eq!(names(&lab.fleet()), ["a"]);
}

/// An agent may read orders on the network; those for others are encrypted.
#[test]
fn an_agent_that_listens_reads_nothing() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let spy = connection(&lab, &lab.member("b").credentials());
    let keys = Keys::new(&lab.group.id);
    let orders = overhear(&spy, keys.down("*", "*"));
    let answers = overhear(&spy, keys.up("*", "*", "*"));
    let (bus, id) = on_bus(&fleet, "a");
    for _ in 0..20 {
        assert_eq!(bus.ask(id, telling_order(), BOUND), Ok(Reply::Done));
    }
    let travelled: Vec<_> = orders.try_iter().chain(answers.try_iter()).collect();
    for (key, bytes) in travelled {
        let told = bytes
            .windows(WORD.len())
            .any(|part| part == WORD.as_bytes());
        assert!(!told, "{key} tells what was ordered");
    }
}

/// A holder of a router's certificate carries all messages, and still cannot command.
#[test]
fn a_router_cannot_forge_replay_or_read_orders() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let (told, tells) = mpsc::channel();
    let told = Mutex::new(told);
    let refused: agent::Refused = Arc::new(move |client: &Client, why: &Text| {
        let line = format!("{}: {}", client.name, english(why));
        let _ = told.lock().unwrap().send(line);
    });
    let _a = agent::serve(lab.member("a"), service(&alive, refused)).unwrap();
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let credentials = lab
        .group
        .credentials(Role::Router, "evil", OWN_VALID)
        .unwrap();
    let evil = connection(&lab, &credentials);
    let orders = overhear(&evil, Keys::new(&lab.group.id).down("*", "*"));
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, telling_order(), BOUND), Ok(Reply::Done));
    let (key, order) = orders.recv_timeout(BOUND).unwrap();
    assert!(!order.windows(WORD.len()).any(|p| p == WORD.as_bytes()));
    let send = |bytes: Vec<u8>| {
        let put = evil.put(&key, bytes);
        put.congestion_control(CongestionControl::Block)
            .wait()
            .unwrap();
    };
    let mut altered = order.clone();
    *altered.last_mut().unwrap() ^= 1;
    send(altered);
    let line = tells.recv_timeout(BOUND).unwrap();
    assert_eq!(
        line,
        "controller: a message was forged, altered, or made for another session"
    );
    send(order);
    let line = tells.recv_timeout(BOUND).unwrap();
    assert!(line.contains("message 1 came again"), "{line}");
    send(b"?".to_vec());
    let line = tells.recv_timeout(BOUND).unwrap();
    assert!(line.contains("too short"), "{line}");
    // The session that it tried to disturb continues.
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    alive.reach(1);
}

/// An agent that answers in another one's name is passed over.
#[test]
fn an_agent_cannot_pose_as_another() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let fraud = connection(&lab, &lab.member("b").credentials());
    let keys = Keys::new(&lab.group.id);
    let (asked, was_asked) = mpsc::channel();
    let asked = Mutex::new(asked);
    let opened = serde_json::json!({
        "challenge": vec![0; 32], "address": "192.0.2.66", "life": "", "proof": vec![0; 32],
    });
    let _door = fraud
        .declare_queryable(keys.open("a"))
        .callback(move |query| {
            let _ = asked.lock().unwrap().send(());
            let _ = query
                .reply(query.key_expr().clone(), opened.to_string())
                .wait();
        })
        .wait()
        .unwrap();
    let deadline = Instant::now() + BOUND;
    loop {
        let reached = fleet.link("a", "controller", BOUND).unwrap();
        assert_ne!(reached.address, "192.0.2.66");
        if was_asked.try_recv().is_ok() {
            return;
        }
        assert!(Instant::now() < deadline, "the fraud is never asked");
    }
}

/// An agent's certificate is valid for clients only: no member can be led to a router of its making.
#[test]
fn an_agent_cannot_pose_as_the_router() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let place = format!("{}:{PORT}", own_address());
    let credentials = lab.member("b").credentials();
    let config = settings::router(&lab.group.id, &place, &[], &credentials).unwrap();
    let _false_router = open(config, "a false router".into()).unwrap();
    let config = settings::client(&[place], &lab.member("a").credentials(), false).unwrap();
    assert!(open(config, "an agent connects".into()).is_err());
    alive.reach(0);
}

/// Arbitrary bytes on the door and on the router's port do not keep members out.
#[test]
fn garbage_on_every_port_changes_nothing() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let noise: Vec<u8> = (0..60_000u32)
        .map(|n| (n.wrapping_mul(0x9E37) >> 3) as u8)
        .collect();
    let udp = UdpSocket::bind((lab.address, 0)).unwrap();
    for length in [1, 21, 300, 1200, 1472] {
        udp.send_to(&noise[..length], lab.router()).unwrap();
    }
    // More of them than may be inside at a time; some hold the line open.
    let visitors: Vec<TcpStream> = (0..40)
        .map(|number| {
            let mut tcp = TcpStream::connect(lab.door.address()).unwrap();
            // The door may have hung up already.
            let _ = tcp.write_all(&noise[..number * 100]);
            tcp
        })
        .collect();
    drop(visitors);
    let deadline = Instant::now() + BOUND;
    let member = loop {
        match join(&lab.token, "a", MemberRole::Agent) {
            Ok(member) => break member,
            Err(why) => assert!(Instant::now() < deadline, "{why}"),
        }
    };
    let _a = serve(member, &alive);
    sees(&lab.fleet(), &["a"]);
}

/// Payloads that mean nothing to anybody.
fn nonsense() -> Vec<Vec<u8>> {
    let noise = |count: u32| {
        (0..count)
            .map(|n| (n.wrapping_mul(0x9E37) >> 3) as u8)
            .collect()
    };
    vec![
        Vec::new(),
        vec![0],
        noise(60_000),
        noise(8 << 20),
        b"[".repeat(200_000),
        br#"{"session":"0","controller":"\u0000"}"#.to_vec(),
        format!(
            r#"{{"session":"{}","controller":"{}"}}"#,
            "0".repeat(1 << 20),
            "c".repeat(1 << 20)
        )
        .into_bytes(),
    ]
}

/// A member may send what it likes under every key of the group.
#[test]
fn a_member_that_says_nonsense_on_every_key_ends_no_session() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let rogue = connection(&lab, &lab.member("b").credentials());
    let keys = Keys::new(&lab.group.id);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    // What is put under a pattern goes to every session that it fits.
    let meant = [
        keys.open("a"),
        keys.gone("a"),
        keys.controller("0"),
        keys.alive("a", "-"),
        keys.down("a", "*"),
        keys.up("*", "a", "*"),
        keys.all(),
    ];
    for payload in nonsense() {
        for key in &meant {
            let put = rogue.put(key, payload.clone());
            put.congestion_control(CongestionControl::Block)
                .wait()
                .unwrap();
        }
        let asked = rogue.get(keys.open("a")).payload(payload);
        let replies = asked.timeout(Duration::from_secs(2)).wait().unwrap();
        // Read, so that nothing is left over.
        let _ = replies.into_iter().count();
        assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    }
    assert_eq!(bus.ask(id, telling_order(), BOUND), Ok(Reply::Done));
    sees(&fleet, &["a"]);
    alive.reach(1);
}

/// Names of agents that nobody is, and labels that are none.
#[test]
fn tokens_that_name_nobody_hide_no_agent() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let rogue = connection(&lab, &lab.member("b").credentials());
    let keys = Keys::new(&lab.group.id);
    let long = "x".repeat(10_000);
    let odd = [
        ("a", "zz"),
        (long.as_str(), "-"),
        ("c", long.as_str()),
        ("a", long.as_str()),
    ];
    let _tokens: Vec<_> = odd
        .iter()
        .map(|(name, labels)| {
            let token = rogue.liveliness().declare_token(keys.alive(name, labels));
            token.wait().unwrap()
        })
        .collect();
    let fleet = lab.fleet();
    let deadline = Instant::now() + BOUND;
    while !names(&fleet).contains(&"a".to_owned()) {
        assert!(Instant::now() < deadline, "{:?}", names(&fleet));
    }
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

/// Hosts that one member says are alive, and that nobody ever was, are no hosts of the group: a run of all hosts
/// would wait for them.
#[test]
fn hosts_that_were_never_admitted_are_not_listed() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let rogue = connection(&lab, &lab.member("b").credentials());
    let keys = Keys::new(&lab.group.id);
    let _tokens: Vec<_> = (0..200)
        .map(|number| {
            let key = keys.alive(&format!("ghost{number}"), "-");
            rogue.liveliness().declare_token(key).wait().unwrap()
        })
        .collect();
    // They are there for who does not ask.
    let anybody = lab.fleet();
    let deadline = Instant::now() + BOUND;
    while names(&anybody).len() < 200 {
        assert!(Instant::now() < deadline, "{:?}", names(&anybody));
    }
    let members = Members::of(lab.config.path(), "lab").list().unwrap();
    sees(&lab.fleet().among(&members), &["a"]);
}
