//! Enrolment: admits hosts to a group.
//!
//! See the picture in [`sokudo_wire::join`]. The door is a thread of its own beside the router; each
//! visitor gets a bounded time and a bounded number of bytes.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use ring::signature;
use sokudo_bus::pipe::{Arrival, FrameSource, TlsSource};
use sokudo_model::Text;
use sokudo_net::tls::{self, Identity, PublicKey, Trust, Writer};
use sokudo_wire::join::{Admission, JoinAnswer, JoinRequest, JoinToken, MemberRole, proof_text};
use sokudo_wire::ticket::{Channel, EXPORTER_LABEL};
use sokudo_wire::{
    Answer, Decoder, Key, KeyId, MAX_FRAME_BEFORE_TICKET, PROTOCOL_VERSION, Ticket, Verdict,
    framing,
};

use crate::error::GroupError;
use crate::group::{Group, new_key};
use crate::members::Members;
use crate::membership::{KnownDoor, Membership};
use crate::tokens::{Tokens, now_s};
use crate::visitors::Visitors;

/// Longest time of one enrolment at the door.
const BOUND: Duration = Duration::from_secs(5);
/// Longest time that a host tries one address, where many other hosts may be ahead of it.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest word of a refusal that another host is told, characters.
const MAX_WORD: usize = 1024;
/// Longest message after the ticket.
const MAX_MESSAGE: usize = 64 * 1024;
/// This product's version, as sent in tickets and answers.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// The door of a group. Dropping it closes it.
pub struct Door(Visitors);

/// A visitor of the door.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// From where.
    pub address: SocketAddr,
    /// The member that was admitted, or why the visitor was refused.
    pub outcome: Result<Let, Text>,
}

/// A visitor that was admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Let {
    /// Its name.
    pub name: String,
    /// It was a member already, and renewed its certificate.
    pub renewed: bool,
}

impl Visit {
    /// The visit as a line for the owner of the group.
    pub fn text(&self) -> Text {
        match &self.outcome {
            Ok(Let { name, renewed }) => {
                let key = match renewed {
                    true => "log-member-renewed",
                    false => "log-member-joined",
                };
                let who = format!("{name} ({})", self.address);
                Text::new(key).word("who", who)
            }
            Err(why) => Text::new("log-turned-away")
                .with("who", self.address)
                .text("why", why.clone()),
        }
    }
}

/// Told of every visit. Called from several threads.
pub type Watch = Arc<dyn Fn(&Visit) + Send + Sync>;

struct House {
    group: Group,
    tokens: Tokens,
    members: Members,
    routers: Vec<String>,
    identity: Identity,
}

impl Door {
    /// Opens the door at `listen` for holders of a token kept in `config`; admitted hosts are given
    /// `routers` as the addresses of the router.
    ///
    /// Errors: the port is taken, no thread.
    pub fn open(
        group: Group,
        config: &Path,
        listen: SocketAddr,
        routers: Vec<String>,
        watch: Watch,
    ) -> Result<Self, GroupError> {
        let name = format!("sokudo group {}", group.name);
        let identity = Identity::from_seed(group.door_seed(), &name)
            .map_err(|why| GroupError::Certificate(why.text()))?;
        let house = House {
            tokens: Tokens::of(config, &group.name),
            members: Members::of(config, &group.name),
            group,
            routers,
            identity,
        };
        let receive = move |tcp, address: SocketAddr| {
            let outcome = receive(&house, tcp);
            watch(&Visit { address, outcome });
        };
        Ok(Self(Visitors::open(listen, Arc::new(receive))?))
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// The kind of ticket with which a visitor authenticated itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The token with this public name, good or spent.
    Token(KeyId),
    /// The renewal key, which every member holds.
    Membership,
}

/// One visitor.
fn receive(house: &House, tcp: TcpStream) -> Result<Let, Text> {
    let deadline = Instant::now() + BOUND;
    let session = tls::accept(tcp, &house.identity, deadline).map_err(|why| why.text())?;
    let channel = session.export(EXPORTER_LABEL).map_err(|why| why.text())?;
    let decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    let mut source = TlsSource::new(session.reader, decoder);
    let ticket = frame(&mut source, deadline)?;
    let (verdict, pass) = house.judge(&ticket, &channel);
    let answer = Answer {
        protocol: PROTOCOL_VERSION,
        product: PRODUCT.into(),
        verdict,
    };
    say(&session.writer, &answer.to_payload(), deadline)?;
    if verdict != Verdict::Accepted {
        return Err(verdict.text());
    }
    source.set_max(MAX_MESSAGE);
    let request = frame(&mut source, deadline)?;
    let request: JoinRequest = serde_json::from_slice(&request)
        .map_err(|why| Text::new("log-no-request").with("why", why))?;
    let (answer, done) = match house.admit(pass, &request, &channel) {
        Ok(admission) => {
            let renewed = pass == Pass::Membership;
            let name = request.name;
            let answer = JoinAnswer::Admitted(Box::new(admission));
            (answer, Ok(Let { name, renewed }))
        }
        Err(Refusal { says, hint }) => (
            JoinAnswer::Refused {
                says: says.clone(),
                hint,
            },
            Err(says),
        ),
    };
    let answer = serde_json::to_vec(&answer).map_err(|why| Text::words(why.to_string()))?;
    say(&session.writer, &answer, deadline)?;
    session.writer.close();
    done
}

impl House {
    /// Whether a ticket was made with a token of this group, good or spent, or by a member, and which.
    fn judge(&self, ticket: &[u8], channel: &Channel) -> (Verdict, Pass) {
        let Ok(id) = Ticket::key_of(ticket) else {
            return (Verdict::Garbled, Pass::Token(KeyId::NONE));
        };
        let renewal = self.group.renewal_key();
        let (pass, key) = match id == renewal.id() {
            true => (Pass::Membership, Some(renewal)),
            // If the file cannot be read, all visitors are refused.
            false => (Pass::Token(id), self.tokens.key(id).ok().flatten()),
        };
        let Some(key) = key else {
            return (Verdict::WrongKey, pass);
        };
        match Ticket::open(ticket, Some(&key), channel) {
            Ok(ticket) if ticket.protocol == PROTOCOL_VERSION => (Verdict::Accepted, pass),
            Ok(_) => (Verdict::Version, pass),
            Err(_) => (Verdict::WrongKey, pass),
        }
    }

    /// Lets a host in, once, or gives a member another certificate. The error is what happened and what
    /// to do about it.
    fn admit(
        &self,
        pass: Pass,
        request: &JoinRequest,
        channel: &Channel,
    ) -> Result<Admission, Refusal> {
        // A request that is refused costs no use, and takes no name.
        let admission = self.group.admit(request, self.routers.clone(), now_s())?;
        let JoinRequest {
            name,
            role,
            public_key,
            proof,
        } = request;
        if !proves(public_key, &proof_text(channel, name, *role), proof) {
            return Err(Refusal {
                says: Text::new("error-group-unproven"),
                hint: Text::new("error-hint-same-version"),
            });
        }
        let group = &self.group.name;
        match pass {
            Pass::Token(token) => {
                let spend = || {
                    let spent = self.tokens.spend(token, *role)?;
                    spent.map_err(|why| Refusal {
                        says: why.text(),
                        hint: why.hint(),
                    })
                };
                let entered = self.members.enter(&admission, public_key, spend)?;
                entered.map_err(|taken| Refusal {
                    says: taken.text(),
                    hint: Text::new("error-group-taken-hint")
                        .word("group", group)
                        .word("name", name),
                })?;
            }
            Pass::Membership => {
                let renewed = self.members.renew(&admission, public_key)?;
                renewed.map_err(|why| Refusal {
                    says: why.text(),
                    hint: rejoin(group, *role),
                })?;
            }
        }
        Ok(admission)
    }
}

/// Instructions for a host that cannot renew its certificate and joins again.
pub fn rejoin(group: &str, role: MemberRole) -> Text {
    let text = Text::new(match role {
        MemberRole::Agent => "error-group-rejoin-hint",
        MemberRole::Router => "error-group-rejoin-router-hint",
    });
    text.word("group", group)
}

/// The cause and the hint.
struct Refusal {
    says: Text,
    hint: Text,
}

impl From<GroupError> for Refusal {
    fn from(error: GroupError) -> Self {
        Self {
            says: error.text(),
            hint: error.hint().unwrap_or_else(|| Text::words("")),
        }
    }
}

/// Whether a text was signed with the private half of a key.
fn proves(public_key: &[u8], text: &[u8], proof: &[u8]) -> bool {
    let key = signature::UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_ASN1, public_key);
    key.verify(text, proof).is_ok()
}

fn frame(source: &mut TlsSource, deadline: Instant) -> Result<Vec<u8>, Text> {
    let left = deadline.saturating_duration_since(Instant::now());
    match source.next(left)? {
        Arrival::Frame(frame) => Ok(frame),
        Arrival::Idle => Err(Text::new("log-nothing-said")),
    }
}

fn say(writer: &Writer, payload: &[u8], deadline: Instant) -> Result<(), Text> {
    let frame = framing::encode(payload, MAX_MESSAGE).map_err(|why| why.text())?;
    let left = deadline.saturating_duration_since(Instant::now());
    writer.send(&frame, left).map_err(|why| why.text())
}

/// Asks one of the token's places to be admitted under `name`, with a key of its own. The router is
/// looked for at that place first, because routers listen where their doors are.
///
/// Errors: no answer, the token of another group or a spent one, a name that another host has,
/// another refusal.
pub fn join(token: &JoinToken, name: &str, role: MemberRole) -> Result<Membership, GroupError> {
    join_with(token, name, role, &new_key()?)
}

/// The same for a host that was a member before: with its key, so that the name stays its own.
pub fn join_again(token: &JoinToken, earlier: &Membership) -> Result<Membership, GroupError> {
    join_with(token, earlier.agent(), earlier.role(), &earlier.key()?)
}

/// Asks the door through which a member came in for another certificate. The member that comes of it
/// differs in nothing else.
///
/// Errors: the door does not answer, the group was made anew, the host was removed or its certificate
/// has expired.
pub fn renew(member: &Membership) -> Result<Membership, GroupError> {
    let own = member.key()?;
    let caller = Caller {
        door: &member.door.key,
        ticket: &Key::from_random(member.admission.renewal),
        name: member.agent(),
        role: member.role(),
        own: &own,
        patience: BOUND,
        stranger: "error-group-stranger-member",
        hint: rejoin(member.group(), member.role()),
    };
    let (_, again) = caller.call(&member.door.places)?;
    Ok(member.renewed(again))
}

fn join_with(
    token: &JoinToken,
    name: &str,
    role: MemberRole,
    own: &KeyPair,
) -> Result<Membership, GroupError> {
    let caller = Caller {
        door: &token.door,
        ticket: &token.key(),
        name,
        role,
        own,
        patience: PATIENCE,
        stranger: "error-group-stranger-token",
        hint: Text::new("error-group-stranger-hint"),
    };
    let (place, admission) = caller.call(&token.places)?;
    let door = KnownDoor {
        key: token.door,
        places: first(place, token.places.clone()),
    };
    Ok(Membership::new(through(admission, place), own, door))
}

/// A host that goes to the door of a group.
struct Caller<'a> {
    /// Key of the door; a server with another key is refused.
    door: &'a [u8; 32],
    /// Makes the ticket.
    ticket: &'a Key,
    name: &'a str,
    role: MemberRole,
    /// Its own key.
    own: &'a KeyPair,
    /// Longest time that it tries one address.
    patience: Duration,
    /// Key of the cause that is reported when its ticket is not known.
    stranger: &'static str,
    /// The hint that is given when its ticket is not valid.
    hint: Text,
}

impl Caller<'_> {
    /// Sends the request to the first place that answers; returns which that was.
    fn call<'p>(&self, places: &'p [String]) -> Result<(&'p str, Admission), GroupError> {
        let mut last = None;
        for place in places {
            match self.call_at(place) {
                Err(error @ GroupError::Network { .. }) => last = Some(error),
                done => return done.map(|admission| (place.as_str(), admission)),
            }
        }
        Err(last.unwrap_or_else(|| GroupError::network(Text::new("error-group-no-place"), "")))
    }

    fn call_at(&self, place: &str) -> Result<Admission, GroupError> {
        let what = || Text::new("error-group-join").word("place", place);
        let failed = |why: Text| GroupError::Network { what: what(), why };
        let text = |why: &dyn ToString| GroupError::network(what(), why.to_string());
        let deadline = Instant::now() + self.patience;
        let address = place.to_socket_addrs().map_err(|why| text(&why))?.next();
        let address = address.ok_or_else(|| failed(Text::new("error-bus-no-address")))?;
        let tcp = TcpStream::connect_timeout(&address, BOUND).map_err(|why| text(&why))?;
        let pin = PublicKey::from_raw(self.door);
        let session = tls::connect(tcp, &Trust::Pinned(pin), deadline);
        let session = session.map_err(|why| failed(why.text()))?;
        let channel = session.export(EXPORTER_LABEL);
        let channel = channel.map_err(|why| failed(why.text()))?;
        let ticket = Ticket {
            protocol: PROTOCOL_VERSION,
            product: PRODUCT.into(),
            key: self.ticket.id(),
            name: self.name.to_owned(),
        };
        let sealed = ticket.seal(Some(self.ticket), &channel);
        say(&session.writer, &sealed, deadline).map_err(failed)?;
        let mut source = TlsSource::new(session.reader, Decoder::new(MAX_MESSAGE));
        let answer = frame(&mut source, deadline).map_err(failed)?;
        let answer = Answer::from_payload(&answer).map_err(|why| failed(why.text()))?;
        if answer.verdict != Verdict::Accepted {
            return Err(self.refused(&answer.verdict));
        }
        let proof = self.own.sign(&proof_text(&channel, self.name, self.role));
        let request = JoinRequest {
            name: self.name.to_owned(),
            role: self.role,
            public_key: self.own.der_bytes().to_vec(),
            proof: proof.map_err(|why| text(&why))?,
        };
        let request = serde_json::to_vec(&request).map_err(|why| text(&why))?;
        say(&session.writer, &request, deadline).map_err(failed)?;
        let answer = frame(&mut source, deadline).map_err(failed)?;
        match serde_json::from_slice(&answer).map_err(|why| text(&why))? {
            JoinAnswer::Admitted(admission) => Ok(*admission),
            JoinAnswer::Refused { says, hint } => Err(GroupError::Refused {
                says: says.within(MAX_WORD),
                hint: hint.within(MAX_WORD),
            }),
        }
    }

    fn refused(&self, verdict: &Verdict) -> GroupError {
        GroupError::Refused {
            says: match verdict {
                Verdict::WrongKey => Text::new(self.stranger),
                verdict => verdict.text(),
            },
            hint: self.hint.clone(),
        }
    }
}

/// Messages are looked for at the place that was reached, before all others.
fn through(mut admission: Admission, place: &str) -> Admission {
    admission.routers = first(place, admission.routers);
    admission
}

/// The same places, with this one at their head.
fn first(place: &str, mut places: Vec<String>) -> Vec<String> {
    places.retain(|other| other != place);
    places.insert(0, place.to_owned());
    places
}
