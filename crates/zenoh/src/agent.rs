//! The agent's side of a group.
//!
//! It connects to a router, shows that it is alive, and serves every session that a controller opens:
//! draws a challenge, and then obeys what is signed for it and nothing else.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sokudo_bus::agent::{Client, Factory};
use sokudo_bus::carried;
use sokudo_model::Text;
use sokudo_net::udp;
use sokudo_net::urgency;
use sokudo_wire::order::{Between, Challenge, Checker, Sealer, end_proof};
use zenoh::qos::CongestionControl;
use zenoh::query::Query;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use crate::error::GroupError;
use crate::fleet::{self, OpenSession, SessionOpened};
use crate::group::{hex, random};
use crate::keys::Keys;
use crate::membership::Membership;
use crate::pipes::{self, OnRefused, Patience, Sender, Source};
use crate::settings;

/// Sessions served at once.
const MAX_SESSIONS: usize = 8;
/// Rejected orders of one session that are reported.
const MAX_REFUSALS_TOLD: u32 = 8;
/// Longest time for reporting the end of an agent.
const GOODBYE_BOUND: Duration = Duration::from_secs(2);
/// Longest opening of a session.
const MAX_HELLO: usize = 1024;

/// Receives log lines.
pub type Log = Arc<dyn Fn(&Text) + Send + Sync>;

/// Called when an order was rejected, with the client of the session and the reason.
pub type Refused = Arc<dyn Fn(&Client, &Text) + Send + Sync>;

/// Settings with which an agent serves its controllers.
#[derive(Clone)]
pub struct Service {
    /// Makes what serves them.
    pub factory: Factory,
    /// Called when one comes or goes.
    pub log: Log,
    /// Called with rejected orders.
    pub refused: Refused,
}

/// An agent that is connected, or will be. Dropping it leaves the group's sight.
pub struct Serving {
    // Tokens and queryables end with them, in this order.
    _token: zenoh::liveliness::LivelinessToken,
    _door: zenoh::query::Queryable<()>,
    _session: Session,
    house: Arc<House>,
}

impl Serving {
    /// Tells this process from the agent's earlier and later ones; for [`say_gone`].
    pub fn life(&self) -> &str {
        &self.house.life
    }

    /// Whether no controller has a session with it.
    pub fn is_idle(&self) -> bool {
        self.house.inside.load(Ordering::Acquire) == 0
    }
}

struct House {
    membership: Membership,
    keys: Keys,
    session: Session,
    service: Service,
    /// Drawn when the process began.
    life: String,
    inside: AtomicUsize,
}

/// Connects, and serves from now on. Waits without bound for a router that is not there.
///
/// Errors: damaged certificates.
pub fn serve(membership: Membership, service: Service) -> Result<Serving, GroupError> {
    let routers = membership.admission.routers.clone();
    let config = settings::client(&routers, &membership.credentials(), true)?;
    let session = fleet::open(config, fleet::unreachable(&routers.join(", ")))?;
    let failed = |error| GroupError::network(Text::new("error-group-unserved"), error);
    let house = Arc::new(House {
        keys: Keys::new(&membership.admission.group_id),
        session: session.clone(),
        membership,
        service,
        life: hex(&random::<16>()?),
        inside: AtomicUsize::new(0),
    });
    let name = house.membership.agent().to_owned();
    let labels = house.membership.labels().to_string();
    let keys = house.keys.clone();
    let door = session.declare_queryable(keys.open(&name));
    let inside = Arc::clone(&house);
    let door = door
        .callback(move |query| welcome(&inside, query))
        .wait()
        .map_err(failed)?;
    let token = session
        .liveliness()
        .declare_token(keys.alive(&name, &labels));
    Ok(Serving {
        _token: token.wait().map_err(failed)?,
        _door: door,
        _session: session,
        house,
    })
}

/// Informs the controllers of an agent that its process, `life`, has ended; called by a process that
/// outlives it. The network itself would detect the end later, by timeout.
///
/// Errors: no router can be reached.
pub fn say_gone(membership: &Membership, life: &str) -> Result<(), GroupError> {
    let admission = &membership.admission;
    let keys = Keys::new(&admission.group_id);
    let config = settings::client(&admission.routers, &membership.credentials(), false)?;
    let session = fleet::open(config, Text::new("error-group-no-way"))?;
    let failed = |error| GroupError::network(Text::new("error-group-untold"), error);
    let proof = end_proof(&admission.secret, life.as_bytes());
    session
        .put(keys.gone(&admission.agent), proof.to_vec())
        .congestion_control(CongestionControl::Block)
        .express(true)
        .wait()
        .map_err(failed)?;
    // Any answer to this query shows that the message above was carried as well.
    let asked = session.liveliness().get(keys.controller("*"));
    let answers = asked.timeout(GOODBYE_BOUND).wait().map_err(failed)?;
    answers.into_iter().for_each(drop);
    session.close().wait().map_err(failed)
}

/// Zenoh's thread must not wait: everything happens on one of the session's own.
fn welcome(house: &Arc<House>, query: Query) {
    if house.inside.fetch_add(1, Ordering::AcqRel) >= MAX_SESSIONS {
        house.inside.fetch_sub(1, Ordering::AcqRel);
        let full = Text::new("error-session-full").with("most", MAX_SESSIONS);
        let _ = query.reply_err(said(&full)).wait();
        return;
    }
    let inside = Arc::clone(house);
    let spawned = thread::Builder::new()
        .name("session".into())
        .spawn(move || {
            // Zenoh's thread goes first; what this one starts is load.
            urgency::go_with_the_rest();
            if let Err(why) = session(&inside, query) {
                let line = Text::new("log-controller-away").text("why", why);
                (inside.service.log)(&line);
            }
            inside.inside.fetch_sub(1, Ordering::AcqRel);
        });
    if spawned.is_err() {
        house.inside.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One session, from its opening to its end.
fn session(house: &House, query: Query) -> Result<(), Text> {
    let begun = begin(house, &query);
    let answered = match &begun {
        Ok(begun) => {
            let opened = serde_json::to_vec(&begun.opened).unwrap_or_default();
            query.reply(query.key_expr().clone(), opened).wait()
        }
        Err(why) => query.reply_err(said(why)).wait(),
    };
    // The answer takes effect for the asking side only after the query is dropped.
    drop(query);
    let mut begun = begun?;
    answered.map_err(fault)?;
    let name = begun.client.name.clone();
    (house.service.log)(&Text::new("log-come").word("who", &name));
    let (sender, source) = (&begun.sender, &mut begun.source);
    let why = carried::serve(begun.client, sender, source, &house.service.factory);
    let left = Text::new("log-left").word("who", name).text("why", why);
    (house.service.log)(&left);
    Ok(())
}

/// A reason on its way to the controller, which tells it in its own language.
fn said(why: &Text) -> Vec<u8> {
    serde_json::to_vec(why).unwrap_or_default()
}

fn fault(error: zenoh::Error) -> Text {
    Text::words(error.to_string())
}

/// The Zenoh declarations of a session.
type Declared = (zenoh::pubsub::Subscriber<()>, zenoh::pubsub::Subscriber<()>);

struct Begun {
    client: Client,
    opened: SessionOpened,
    sender: Sender,
    source: Source<Declared>,
}

/// Subscribes to the controller's orders before the controller learns that it may send them.
fn begin(house: &House, query: &Query) -> Result<Begun, Text> {
    let hello = read_hello(query)?;
    let challenge: Challenge = random().map_err(|error| error.text())?;
    let (inbox, source) = pipes::inbox();
    let (arriving, leaving) = (inbox.clone(), inbox.clone());
    let admission = &house.membership.admission;
    let (keys, agent) = (&house.keys, &admission.agent);
    let down = keys.down(agent, &hello.session);
    let down = house
        .session
        .declare_subscriber(down)
        .callback(move |sample| arriving.put(sample.payload().to_bytes().into_owned()))
        .wait()
        .map_err(fault)?;
    let controller = house.session.liveliness();
    let controller = controller
        .declare_subscriber(keys.controller(&hello.fleet))
        .callback(move |sample| {
            if sample.kind() == SampleKind::Delete {
                leaving.end(Text::new("error-session-controller-gone"));
            }
        })
        .wait()
        .map_err(fault)?;
    let client = Client {
        name: hello.controller,
        address: "through the group".into(),
    };
    let key = keys.up(&hello.fleet, agent, &hello.session);
    let secret = &admission.secret;
    let between = Between {
        group: admission.group_id.clone(),
        agent: agent.clone(),
        session: hello.session,
        challenge,
    };
    let address = own_address(&admission.routers);
    let mut opened = SessionOpened {
        challenge,
        address,
        life: house.life.clone(),
        proof: [0; 32],
    };
    opened.proof = between.proof(secret, opened.said().as_bytes());
    let checker = Box::new(Checker::new(&between, secret, admission.commander));
    let sealer = Box::new(Sealer::new(&between, secret));
    let on_refused = on_refused(&house.service, &client);
    let zenoh = house.session.clone();
    let sender = Sender::new(zenoh, key, sealer, Patience::Waits, inbox).map_err(fault)?;
    let source = source.believing(checker, on_refused, &sender, (down, controller));
    Ok(Begun {
        client,
        opened,
        sender,
        source,
    })
}

/// Reports the first rejected orders of a session; the number is bounded because forged orders must not
/// fill a disk.
fn on_refused(service: &Service, client: &Client) -> OnRefused {
    let (refused, client) = (Arc::clone(&service.refused), client.clone());
    let mut left = MAX_REFUSALS_TOLD;
    Box::new(move |why| {
        if left > 0 {
            left -= 1;
            refused(&client, &why.text());
        }
    })
}

/// This host's address towards the first router that can be resolved.
fn own_address(routers: &[String]) -> String {
    let towards = |router: &String| {
        let target = router.to_socket_addrs().ok()?.next()?;
        udp::local_address_towards(target).ok()
    };
    let found = routers.iter().find_map(towards);
    found.map(|ip| ip.to_string()).unwrap_or_default()
}

fn read_hello(query: &Query) -> Result<OpenSession, Text> {
    let unknown = || Text::new("error-session-nobody");
    let payload = query.payload();
    let payload = payload.ok_or_else(|| Text::new("error-session-nothing"))?;
    if payload.len() > MAX_HELLO {
        return Err(Text::new("error-session-much"));
    }
    let hello: OpenSession = serde_json::from_slice(&payload.to_bytes()).map_err(|_| unknown())?;
    let plain = |text: &str| text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let shown = |c: char| !c.is_control();
    match plain(&hello.fleet) && plain(&hello.session) && hello.controller.chars().all(shown) {
        true => Ok(hello),
        false => Err(unknown()),
    }
}
