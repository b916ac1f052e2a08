//! Tests of a group on loopback: admission, authorisation of commands, and detection of lost
//! members.

mod attacks;
mod floods;
mod foreign;
mod frozen;
mod many;
mod renewal;
mod site;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

use sokudo_bus::agent::Factory;
use sokudo_bus::{Bus, BusError, Client, Handler, Member, MemberId, Notes};
use sokudo_i18n::english;
use sokudo_model::{Batch, Event, Text};
use sokudo_wire::join::{JoinToken, MemberRole};
use sokudo_wire::{Ask, Note, Reply};

use crate::agent::{self, Log, Service, Serving};
use crate::enrol::{Door, Visit, join};
use crate::error::GroupError;
use crate::fleet::{Fleet, Router};
use crate::group::Group;
use crate::membership::Membership;
use crate::stay::stay;
use crate::tokens::Terms;

/// Generous: only a failing test waits this long.
const BOUND: Duration = Duration::from_secs(30);
/// UDP of the router, TCP of the door.
const PORT: u16 = 7412;
const NOTES: i64 = 2000;

/// Handlers that exist.
#[derive(Clone, Default)]
struct Alive(Arc<(Mutex<i32>, Condvar)>);

impl Alive {
    fn add(&self, step: i32) {
        *self.0.0.lock().unwrap() += step;
        self.0.1.notify_all();
    }

    fn reach(&self, wanted: i32) {
        let number = self.0.0.lock().unwrap();
        let (number, waited) = self
            .0
            .1
            .wait_timeout_while(number, BOUND, |number| *number != wanted)
            .unwrap();
        assert!(!waited.timed_out(), "{} instead of {wanted}", *number);
    }
}

/// Answers with what it was asked, and pushes numbered notes.
struct Known {
    client: Client,
    notes: Notes,
    alive: Alive,
}

impl Handler for Known {
    fn handle(&mut self, ask: Ask) -> Reply {
        match ask {
            Ask::Describe => Reply::Offer(self.client.name.clone()),
            Ask::Clock => Reply::Clock(42),
            Ask::Unwatch => {
                for number in 0..NOTES {
                    let mut batch = Batch::default();
                    batch.events.push(Event {
                        t_ns: number,
                        host: "a".into(),
                        source: "test".into(),
                        kind: "test".into(),
                        says: Text::new("test"),
                    });
                    self.notes.push(Note::Batch(batch)).unwrap();
                }
                Reply::Done
            }
            _ => Reply::Done,
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.alive.add(-1);
    }
}

fn quiet() -> Log {
    Arc::new(|_: &Text| {})
}

/// A loopback address of this test alone, so that ports need no luck.
fn own_address() -> IpAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    Ipv4Addr::new(127, high.max(1), low, NEXT.fetch_add(1, Ordering::Relaxed)).into()
}

/// A group with its router and its door.
struct Lab {
    group: Group,
    address: IpAddr,
    token: JoinToken,
    config: tempfile::TempDir,
    router: Option<Router>,
    door: Door,
}

impl Lab {
    fn new() -> Self {
        let (group, address) = (Group::found("lab").unwrap(), own_address());
        let config = tempfile::tempdir().unwrap();
        let listen = format!("{address}:{PORT}");
        let router = Router::open(&group, &listen, &[]).unwrap();
        let door = Door::open(
            copy(&group),
            config.path(),
            SocketAddr::new(address, PORT),
            vec![listen],
            Arc::new(|_: &Visit| {}),
        )
        .unwrap();
        let places = vec![door.address().to_string()];
        Self {
            token: group
                .token(config.path(), &Terms::default(), places)
                .unwrap(),
            group,
            address,
            config,
            router: Some(router),
            door,
        }
    }

    /// A token on other terms.
    fn token(&self, terms: &Terms) -> JoinToken {
        let places = self.token.places.clone();
        self.group.token(self.config.path(), terms, places).unwrap()
    }

    fn router(&self) -> String {
        format!("{}:{PORT}", self.address)
    }

    fn agent(&self, name: &str, alive: &Alive) -> Serving {
        serve(self.member(name), alive)
    }

    fn member(&self, name: &str) -> Membership {
        join(&self.token, name, MemberRole::Agent).unwrap()
    }

    fn fleet(&self) -> Fleet<'_> {
        Fleet::connect(&self.group, &self.router()).unwrap()
    }
}

/// The same group in another process.
fn copy(group: &Group) -> Group {
    serde_json::from_str(&serde_json::to_string(group).unwrap()).unwrap()
}

fn serve(membership: Membership, alive: &Alive) -> Serving {
    agent::serve(membership, service(alive, Arc::new(|_, _| {}))).unwrap()
}

fn service(alive: &Alive, refused: agent::Refused) -> Service {
    let alive = alive.clone();
    let factory: Factory = Arc::new(move |client, notes| {
        alive.add(1);
        let alive = alive.clone();
        Box::new(Known {
            client,
            notes,
            alive,
        })
    });
    Service {
        factory,
        log: quiet(),
        refused,
    }
}

/// Opens what listened here a moment ago.
fn again<T>(open: impl Fn() -> Result<T, GroupError>) -> T {
    let deadline = Instant::now() + BOUND;
    loop {
        match open() {
            Ok(opened) => return opened,
            Err(why) => assert!(Instant::now() < deadline, "{why}"),
        }
    }
}

/// Names of the agents that are seen.
fn names(fleet: &Fleet<'_>) -> Vec<String> {
    let agents = fleet.agents(BOUND).unwrap();
    agents.into_iter().map(|agent| agent.name).collect()
}

/// Waits until exactly these agents are seen.
fn sees(fleet: &Fleet<'_>, names: &[&str]) {
    let deadline = Instant::now() + BOUND;
    loop {
        let seen = self::names(fleet);
        if seen == names {
            return;
        }
        assert!(Instant::now() < deadline, "{seen:?} instead of {names:?}");
        std::thread::yield_now();
    }
}

fn on_bus(fleet: &Fleet<'_>, agent: &str) -> (Bus, MemberId) {
    let bus = Bus::new();
    let member = Member {
        name: agent.into(),
        address: String::new(),
    };
    let reached = fleet.link(agent, "controller", BOUND).unwrap();
    assert!(
        reached.address.parse::<IpAddr>().is_ok(),
        "{}",
        reached.address
    );
    let id = bus.add(member, Box::new(reached.link));
    (bus, id)
}

#[test]
fn members_are_listed_asked_and_heard() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let b = lab.agent("b", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a", "b"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(
        bus.ask(id, Ask::Describe, BOUND),
        Ok(Reply::Offer("controller".into()))
    );
    assert_eq!(bus.ask(id, Ask::Unwatch, BOUND), Ok(Reply::Done));
    for number in 0..NOTES {
        let (_, note) = bus.notes().recv_timeout(BOUND).unwrap();
        let Note::Batch(batch) = note else {
            panic!("{note:?} instead of note {number}");
        };
        assert_eq!(batch.events[0].t_ns, number);
    }
    assert_eq!(bus.ask(id, Ask::Bye, BOUND), Ok(Reply::Done));
    alive.reach(0);
    drop(b);
    sees(&fleet, &["a"]);
}

#[test]
fn an_agent_that_leaves_is_missed_at_once() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    drop(a);
    let (_, note) = bus.notes().recv_timeout(BOUND).unwrap();
    assert!(matches!(note, Note::Lost { .. }), "{note:?}");
    assert!(matches!(
        bus.ask(id, Ask::Clock, BOUND),
        Err(BusError::Lost { .. })
    ));
}

#[test]
fn a_controller_that_vanishes_takes_its_load_along() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    alive.reach(1);
    // The link outlives the connection below it: no `Bye` is sent.
    fleet.cut();
    alive.reach(0);
    drop(bus);
}

/// A process that outlives the agent's reports its end long before the network detects it.
#[test]
fn the_end_of_a_process_is_told() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let member = lab.member("a");
    // As its second process reads it from its file.
    let held = serde_json::to_string(&member).unwrap();
    let a = serve(serde_json::from_str(&held).unwrap(), &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    // The end of another life of it, or a proof made by another agent, ends nothing.
    agent::say_gone(&member, "another life").unwrap();
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    agent::say_gone(&member, a.life()).unwrap();
    let (_, note) = bus.notes().recv_timeout(BOUND).unwrap();
    let why = Text::new("error-session-process-ended");
    assert_eq!(note, Note::Lost { why });
}

#[test]
fn labels_are_seen_without_asking() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let mut member = lab.member("a");
    member.set_labels(&"site=tokyo,rack=3".parse().unwrap());
    let _a = serve(member, &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let seen = fleet.agents(BOUND).unwrap();
    assert_eq!(seen[0].labels.to_string(), "rack=3,site=tokyo");
    alive.reach(0);
}

/// Agents reconnect by themselves when the controller returns.
#[test]
fn agents_find_a_controller_that_was_started_again() {
    let (mut lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    sees(&lab.fleet(), &["a"]);
    lab.router = None;
    lab.router = Some(again(|| Router::open(&lab.group, &lab.router(), &[])));
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

/// Who waits for a router that does not come back ends when it is told to.
#[test]
fn a_member_that_reaches_nobody_ends_when_told_to() {
    let (mut lab, alive) = (Lab::new(), Alive::default());
    let member = lab.member("a");
    lab.router = None;
    let stop = Arc::new(AtomicBool::new(false));
    let kept = (lab.config.path().to_owned(), quiet());
    let (begun, begins) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    let stopping = Arc::clone(&stop);
    std::thread::spawn(move || {
        let begin = move |member: &Membership| {
            let _ = begun.send(());
            let service = service(&alive, Arc::new(|_, _| {}));
            agent::serve(member.clone(), service)
        };
        let stayed = stay(&stopping, kept, member, begin, Serving::is_idle);
        let _ = ended.send(stayed.is_ok());
    });
    begins.recv_timeout(BOUND).expect("it begins");
    stop.store(true, Ordering::Relaxed);
    assert_eq!(ends.recv_timeout(BOUND), Ok(true));
}
