//! The controller's connection to the agents of its group.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sokudo_bus::BusError;
use sokudo_bus::carried::{self, CarriedLink};
use sokudo_model::Text;
use sokudo_net::urgency;
use sokudo_wire::join::MemberRole;
use sokudo_wire::label::Labels;
use sokudo_wire::order::{Between, Challenge, Opener, Signer};
use zenoh::query::{ConsolidationMode, QueryTarget, Reply, ReplyError};
use zenoh::{Session, Wait};

use crate::error::GroupError;
use crate::exchange::Exchange;
use crate::group::{Group, OWN_VALID, Role, hex, random};
use crate::keys::{Keys, last_parts};
use crate::members::Known;
use crate::pipes::{self, Patience, Sender};
use crate::settings;

/// Agents that are looked at in one list at most.
const MAX_AGENTS: usize = 100_000;
/// Sessions that are opened at the same time.
const OPENED_AT_ONCE: usize = 16;
/// Answers to the opening of a session that are looked at.
const MAX_ANSWERS: usize = 16;
/// Longest answer to the opening of a session.
const MAX_OPENED: usize = 4096;
/// Time for which a question that nobody was there to answer is asked again, and the time between two.
const ASKED_AGAIN: Duration = Duration::from_secs(3);
/// See [`ASKED_AGAIN`].
const AGAIN: Duration = Duration::from_millis(50);

/// The request by which a controller opens a session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenSession {
    pub(crate) fleet: String,
    pub(crate) session: String,
    pub(crate) controller: String,
}

/// The agent's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SessionOpened {
    pub(crate) challenge: Challenge,
    /// Its address towards the router, by which the others may reach it.
    pub(crate) address: String,
    /// Identity of the agent's process that answers.
    pub(crate) life: String,
    /// Verifies that this agent itself reported it.
    pub(crate) proof: [u8; 32],
}

impl SessionOpened {
    /// The fields that the proof covers.
    pub(crate) fn said(&self) -> String {
        format!("{} {}", self.life, self.address)
    }
}

/// An agent that is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Its name.
    pub name: String,
    /// The labels that its owner gave it.
    pub labels: Labels,
}

/// A session with an agent.
pub struct Reached {
    /// The way to it.
    pub link: CarriedLink,
    /// Its address, as the agent itself sees it.
    pub address: String,
}

/// The router embedded in the controller.
pub struct Router {
    session: Session,
}

impl Router {
    /// Listens at `listen`, `host:port`, and links with `others` of the group's routers; one that is
    /// not there is tried again.
    ///
    /// Errors: the port is taken, the address is not of this host.
    pub fn open(group: &Group, listen: &str, others: &[String]) -> Result<Self, GroupError> {
        let credentials = group.credentials(Role::Router, "router", OWN_VALID)?;
        let config = settings::router(&group.id, listen, others, &credentials)?;
        Ok(Self {
            session: listening(config, listen)?,
        })
    }
}

impl Drop for Router {
    /// Gives the port back.
    fn drop(&mut self) {
        // A router that cannot be closed in order ends with the process.
        let _ = self.session.close().wait();
    }
}

/// Opens a Zenoh session; `what` says that its purpose was not reached.
pub(crate) fn open(config: zenoh::Config, what: Text) -> Result<Session, GroupError> {
    begin(config).map_err(|error| GroupError::network(what, error))
}

/// The router does not answer.
pub(crate) fn unreachable(router: &str) -> Text {
    Text::new("error-group-unreachable").word("router", router)
}

/// The same of a session that listens at `place`.
pub(crate) fn listening(config: zenoh::Config, place: &str) -> Result<Session, GroupError> {
    begin(config).map_err(|error| GroupError::listen(place, error))
}

/// Opens a Zenoh session with enough threads.
fn begin(config: zenoh::Config) -> zenoh::Result<Session> {
    // Zenoh's threads begin here, and stay.
    let _first = urgency::First::begin();
    zenoh::open(config).wait()
}

/// A controller's connection to its group.
pub struct Fleet<'a> {
    group: &'a Group,
    keys: Keys,
    session: Session,
    exchange: Arc<Exchange>,
    /// Names of the agents that were admitted; `None` where that is not known.
    admitted: Option<BTreeSet<String>>,
}

impl<'a> Fleet<'a> {
    /// Connects to the group's router at `router`, `host:port`.
    ///
    /// Errors: the router does not answer, or is not one of this group.
    pub fn connect(group: &'a Group, router: &str) -> Result<Self, GroupError> {
        let credentials = group.credentials(Role::Controller, "controller", OWN_VALID)?;
        let config = settings::client(&[router.to_owned()], &credentials, false)?;
        let session = open(config, unreachable(router))?;
        let keys = Keys::new(&group.id);
        let exchange = Exchange::open(&session, &keys, hex(&random::<16>()?));
        let refused =
            |error| GroupError::network(Text::new("error-group-unserved-controller"), error);
        Ok(Self {
            exchange: exchange.map_err(refused)?,
            keys,
            group,
            session,
            admitted: None,
        })
    }

    /// The same, that lists only agents that were admitted: any member can show that a host is alive which there
    /// is not, and a run of all hosts would wait for it. An empty list is that of a host which admitted nobody.
    pub fn among(mut self, members: &[Known]) -> Self {
        let agents = members
            .iter()
            .filter(|member| member.role == MemberRole::Agent);
        let names: BTreeSet<String> = agents.map(|agent| agent.name.clone()).collect();
        self.admitted = (!members.is_empty()).then_some(names);
        self
    }

    fn is_admitted(&self, agent: &Present) -> bool {
        let admitted = self.admitted.as_ref();
        admitted.is_none_or(|names| names.contains(&agent.name))
    }

    /// The agents that are connected, in the order of their names as people count: `host2` comes
    /// before `host10`.
    pub fn agents(&self, bound: Duration) -> Result<Vec<Present>, GroupError> {
        let failed = |error| GroupError::network(Text::new("error-group-ask"), error);
        let asked = self.session.liveliness().get(self.keys.alive("*", "*"));
        let replies = asked.timeout(bound).wait().map_err(failed)?;
        let present = |key: &str| {
            let (name, labels) = last_parts(key)?;
            Some(Present {
                name: name.to_owned(),
                labels: labels.parse().ok()?,
            })
        };
        let mut agents: Vec<Present> = replies
            .into_iter()
            .filter_map(|reply| reply.into_result().ok())
            .filter_map(|sample| present(sample.key_expr().as_str()))
            .filter(|agent| self.is_admitted(agent))
            .take(MAX_AGENTS)
            .collect();
        agents.sort_by_cached_key(|agent| (counted(&agent.name), agent.name.clone()));
        agents.dedup_by(|a, b| a.name == b.name);
        Ok(agents)
    }

    /// Opens a session with one agent; `me` is what this controller calls itself.
    ///
    /// Errors: [`BusError::SetUp`] when it does not answer in time, or refuses.
    pub fn link(&self, agent: &str, me: &str, bound: Duration) -> Result<Reached, BusError> {
        let failed = |why: Text| BusError::SetUp {
            host: agent.to_owned(),
            why,
        };
        let fault = |error: zenoh::Error| failed(Text::words(error.to_string()));
        let session = hex(&random::<16>().map_err(|error| failed(error.text()))?);
        let (inbox, source) = pipes::inbox();
        let seat = self.exchange.seat(agent, &session, inbox.clone());
        let seat = seat.map_err(fault)?;
        let opened = self.open_session(agent, &session, me, bound);
        let (between, opened) = opened.map_err(failed)?;
        let pair = self.group.commander_pair();
        let pair = pair.map_err(|error| failed(error.text()))?;
        let secret = self.group.agent_secret(agent);
        let signer = Signer::new(&between, &secret, pair);
        let opener = Box::new(Opener::new(&between, &secret));
        let key = self.keys.down(agent, &session);
        let zenoh = self.session.clone();
        let sender = Sender::new(zenoh, key, Box::new(signer), Patience::Keeps, inbox);
        let sender = sender.map_err(fault)?;
        seat.lives(opened.life, secret);
        // Messages that others send in the agent's name are ignored.
        let source = source.believing(opener, Box::new(|_| {}), &sender, seat);
        let link = carried::link(agent, Box::new(sender), Box::new(source))?;
        Ok(Reached {
            link,
            address: opened.address,
        })
    }

    /// A session with each of these agents, or why there is none, and how long that took; several are
    /// opened at a time.
    pub fn link_each(
        &self,
        agents: &[String],
        me: &str,
        bound: Duration,
    ) -> Vec<(Result<Reached, BusError>, Duration)> {
        let open = |agent: &String| {
            let begun = Instant::now();
            (self.link(agent, me, bound), begun.elapsed())
        };
        let share = agents.len().div_ceil(OPENED_AT_ONCE).max(1);
        std::thread::scope(|scope| {
            let threads: Vec<_> = agents
                .chunks(share)
                .map(|chunk| scope.spawn(move || chunk.iter().map(open).collect::<Vec<_>>()))
                .collect();
            let mut all = Vec::with_capacity(agents.len());
            for thread in threads {
                let opened = thread
                    .join()
                    .unwrap_or_else(|why| std::panic::resume_unwind(why));
                all.extend(opened);
            }
            all
        })
    }

    /// Cuts the connection below all links, as a crash would.
    #[cfg(test)]
    pub(crate) fn cut(&self) {
        let _ = self.session.close().wait();
    }

    /// The session as the agent has opened it, and the agent's answer.
    ///
    /// An agent is listed by its presence, and routers pass that on before they pass on that it answers: behind a
    /// router of others, a question may end at once without anyone to answer it. It is asked again for a while.
    fn open_session(
        &self,
        agent: &str,
        session: &str,
        me: &str,
        bound: Duration,
    ) -> Result<(Between, SessionOpened), Text> {
        let hello = OpenSession {
            fleet: self.exchange.fleet.clone(),
            session: session.to_owned(),
            controller: me.to_owned(),
        };
        let hello = serde_json::to_vec(&hello);
        let hello = hello.map_err(|error| Text::words(error.to_string()))?;
        let begun = Instant::now();
        let mut last = None;
        while last.is_none() {
            let asked = self.session.get(self.keys.open(agent));
            let replies = asked
                .payload(hello.clone())
                .target(QueryTarget::All)
                .consolidation(ConsolidationMode::None)
                .timeout(bound.saturating_sub(begun.elapsed()))
                .wait();
            let replies = replies.map_err(|error| Text::words(error.to_string()))?;
            // Others may answer in its name; only one can prove that it is the agent.
            for reply in replies.into_iter().take(MAX_ANSWERS) {
                match self.read_opened(agent, session, reply) {
                    Ok(opened) => return Ok(opened),
                    Err(why) => last = Some(why),
                }
            }
            if last.is_none() {
                if begun.elapsed() >= ASKED_AGAIN.min(bound) {
                    break;
                }
                std::thread::sleep(AGAIN);
            }
        }
        Err(last.unwrap_or_else(|| Text::new("error-session-unanswered")))
    }

    fn read_opened(
        &self,
        agent: &str,
        session: &str,
        reply: Reply,
    ) -> Result<(Between, SessionOpened), Text> {
        let sample = reply.into_result().map_err(|error| refusal(&error))?;
        let bytes = sample.payload().to_bytes();
        if bytes.len() > MAX_OPENED {
            return Err(Text::new("error-session-answer-long"));
        }
        let opened: SessionOpened =
            serde_json::from_slice(&bytes).map_err(|_| Text::new("error-session-answer"))?;
        let between = Between {
            group: self.group.id.clone(),
            agent: agent.to_owned(),
            session: session.to_owned(),
            challenge: opened.challenge,
        };
        let secret = self.group.agent_secret(agent);
        match between.is_proven(&secret, opened.said().as_bytes(), &opened.proof) {
            true => Ok((between, opened)),
            false => Err(Text::new("error-session-somebody-else")),
        }
    }
}

/// Refusal of an agent to open a session, in its own words where it sends no message.
fn refusal(error: &ReplyError) -> Text {
    /// Longest word of it, characters.
    const MOST: usize = 200;
    let bytes = error.payload().to_bytes();
    let text = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Text::words(String::from_utf8_lossy(&bytes)));
    text.within(MOST)
}

/// A name in pieces that sort as people count: runs of digits by their value, the rest by its bytes.
fn counted(name: &str) -> Vec<(usize, Vec<u8>)> {
    let runs = name
        .as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let piece = |run: &[u8]| match run[0].is_ascii_digit() {
        true => {
            let value = run.iter().skip_while(|digit| **digit == b'0');
            let value: Vec<u8> = value.copied().collect();
            (1 + value.len(), value)
        }
        false => (0, run.to_vec()),
    };
    runs.map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = [
            "host10", "host9", "b", "host", "host2b", "host2", "a11c2", "a11c10", "host0",
        ];
        names.sort_by_cached_key(|name| counted(name));
        assert_eq!(
            names,
            [
                "a11c2", "a11c10", "b", "host", "host0", "host2", "host2b", "host9", "host10"
            ]
        );
    }
}
