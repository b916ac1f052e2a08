//! `sokudo group`, `controller`, `agent` and `router`: groups of hosts, and the processes that
//! connect them.

pub mod agent;
pub mod collect;
pub mod controller;
pub mod guard;
pub(super) mod hosts;
pub mod router;
mod zenohd;

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use sokudo_agent::audit::Audit;
use sokudo_bus::{BusError, Link};
use sokudo_controller::{Hosts, host_name};
use sokudo_i18n::{I18n, TextError};
use sokudo_model::Text;
use sokudo_model::units::Nanos;
use sokudo_wire::join::{JoinToken, JoinTokenError, MemberRole, is_place};
use sokudo_wire::label::LabelError;
use sokudo_zenoh::agent::Log;
use sokudo_zenoh::members::Members;
use sokudo_zenoh::tokens::Terms;
use sokudo_zenoh::{Chosen, Fleet, Group, GroupError, Membership, Reached, enrol};

use super::screen::announce;
use super::{Exit, Failure, config, language};

/// Environment variable with the line with which a host joins.
const JOIN_VARIABLE: &str = "SOKUDO_JOIN";
/// UDP for a router, TCP of the same number for joining.
const DEFAULT_GROUP_PORT: u16 = 7412;
/// Longest time until an agent answers.
const ANSWER_BOUND: Duration = Duration::from_secs(10);

/// Shortest time for which a token or a certificate is made, nanoseconds.
const LEAST_VALID_NS: u64 = 60_000_000_000;

/// Make groups, let hosts join, and list them.
#[derive(Debug, Args)]
pub struct GroupArgs {
    #[command(subcommand)]
    what: GroupCommand,
}

#[derive(Debug, Subcommand)]
enum GroupCommand {
    /// Make a group: its authority and the keys of those who may command.
    Init {
        /// Name of the group.
        name: String,
    },
    /// Make another line with which hosts join; the controller need not be restarted.
    Token {
        /// Name of the group.
        name: String,
        #[command(flatten)]
        terms: TokenArgs,
        /// For a host that carries the messages of a site: `sokudo router --join`.
        #[arg(long)]
        router: bool,
    },
    /// Free the name of a host that has lost its key or is gone for good: the next one may have it.
    ///
    /// The old host's certificate is good until it ends, 90 days after it joined at most: to shut it
    /// out before, make a new group.
    Remove {
        /// Name of the group.
        name: String,
        /// Name of the host.
        host: String,
    },
    /// List the hosts: number, name, labels, system, cores, network, clock offset with its error.
    Hosts {
        /// Name of the group; `GROUP/site=tokyo` lists those with a label.
        name: String,
        /// One JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Write the file with which a `zenohd` of your own carries this group's messages.
    Zenohd(zenohd::ZenohdArgs),
}

/// How long a token is good for, and how often.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// How long the line lets hosts in: `30min`, `24h`.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = lasting)]
    valid: Nanos,

    /// How many hosts it lets in. Default: any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
}

impl TokenArgs {
    fn terms(&self, role: MemberRole) -> Terms {
        Terms {
            valid: Duration::from_nanos(self.valid.0),
            uses: self.uses,
            role,
        }
    }

    /// `24 h`, `24 h and 3 hosts`.
    fn says(&self) -> String {
        let seconds = self.valid.0 / 1_000_000_000;
        let time = match (seconds % 3600, seconds % 60) {
            (0, _) => format!("{} h", seconds / 3600),
            (_, 0) => format!("{} min", seconds / 60),
            _ => format!("{seconds} s"),
        };
        match self.uses {
            None => time,
            Some(1) => format!("{time} and one host"),
            Some(uses) => format!("{time} and {uses} hosts"),
        }
    }
}

impl From<GroupError> for Failure {
    fn from(error: GroupError) -> Self {
        let (says, hint) = (error.text(), error.hint());
        match error {
            GroupError::Network { .. } | GroupError::Refused { .. } => Failure::run(says, hint),
            _ => Failure::operator(says, hint.unwrap_or_else(|| "".into())),
        }
    }
}

impl From<LabelError> for Failure {
    fn from(error: LabelError) -> Self {
        Failure::operator(error.text(), error.hint())
    }
}

/// Carries out `sokudo group`.
pub fn group(args: GroupArgs) -> Result<Exit, Failure> {
    match args.what {
        GroupCommand::Init { name } => {
            Group::found(&name)?.save(&config())?;
            let command = format!("sokudo controller {name}");
            let says = Text::new("status-group-made").word("name", name);
            announce(&says.word("command", command));
            Ok(Exit::Fine)
        }
        GroupCommand::Token {
            name,
            terms,
            router,
        } => token(&name, &terms, router),
        GroupCommand::Remove { name, host } => remove(&name, &host),
        GroupCommand::Hosts { name, json } => hosts::list(&name, json),
        GroupCommand::Zenohd(args) => zenohd::write(&args),
    }
}

/// Makes a token for the place where the controller was last started.
fn token(name: &str, terms: &TokenArgs, router: bool) -> Result<Exit, Failure> {
    let group = Group::load(&config(), name)?;
    let places = vec![group.place(&config())?];
    let (role, command) = match router {
        true => (MemberRole::Router, "router"),
        false => (MemberRole::Agent, "agent"),
    };
    let token = group.token(&config(), &terms.terms(role), places)?;
    let others = match role {
        MemberRole::Agent => group.other_routers(&config())?,
        MemberRole::Router => Vec::new(),
    };
    println!("sokudo {command} --join {token}{}", dialling(&others));
    Ok(Exit::Fine)
}

/// What stands behind a join line when routers of others carry the messages.
fn dialling(routers: &[String]) -> String {
    let option = |router: &String| format!(" --router {router}");
    routers.iter().map(option).collect()
}

/// A length of validity; less than the time to copy it to another host is refused.
fn lasting(text: &str) -> Result<Nanos, TextError> {
    let valid: Nanos = text.parse()?;
    match valid.0 < LEAST_VALID_NS {
        true => Err(TextError(Text::new("error-value-valid"))),
        false => Ok(valid),
    }
}

/// `HOST:PORT` on a command line.
fn place(text: &str) -> Result<String, TextError> {
    match is_place(text) {
        true => Ok(text.to_owned()),
        false => Err(TextError(Text::new("error-value-place"))),
    }
}

/// Frees a name.
fn remove(name: &str, host: &str) -> Result<Exit, Failure> {
    let group = Group::load(&config(), name)?;
    if !Members::of(&config(), &group.name).remove(host)? {
        return Err(Failure::operator(
            Text::new("error-group-nobody")
                .with("host", host)
                .with("group", name),
            Text::new("error-group-nobody-hint").with("group", name),
        ));
    }
    noted(&audit(name)?, &json!({ "what": "removed", "name": host }));
    announce(&Text::new("status-name-free").word("name", host));
    Ok(Exit::Fine)
}

/// Log of who came to a group's door and who was removed, beside the group's keys.
fn audit(group: &str) -> Result<Audit, Failure> {
    let path = config().join("groups").join(group).join("audit.jsonl");
    Audit::open(&path).map_err(|error| Failure::cannot_write(&path, &error))
}

/// What cannot be noted is told at least.
fn noted(audit: &Audit, what: &Value) {
    if let Err(error) = audit.append(what.clone()) {
        eprintln!("  {}", I18n::new(language()).text(&unnoted(&error)));
    }
}

/// The line about what the log of a group could not take.
fn unnoted(error: &std::io::Error) -> Text {
    Text::new("log-unnoted").with("error", error)
}

/// The line with which a host is to join. One of the environment is for hosts that have not joined: a
/// group that is named is come back to.
///
/// Errors: both were typed.
fn join_line<'a>(join: Option<&'a str>, group: Option<&str>) -> Result<Option<&'a str>, Failure> {
    match (join, group) {
        (Some(typed), Some(_)) if std::env::var(JOIN_VARIABLE).as_deref() != Ok(typed) => {
            Err(Failure::operator(
                Text::new("error-join-and-group"),
                Text::new("error-join-and-group-hint"),
            ))
        }
        (_, Some(_)) => Ok(None),
        (join, None) => Ok(join),
    }
}

fn read_token(text: &str) -> Result<JoinToken, Failure> {
    text.parse()
        .map_err(|error: JoinTokenError| Failure::operator(error.text(), error.hint()))
}

/// A new membership with a token, not yet kept, or that of earlier.
fn membership(
    token: Option<&JoinToken>,
    name: Option<&str>,
    group: Option<&str>,
    role: MemberRole,
) -> Result<Membership, Failure> {
    let membership = match token {
        Some(token) => {
            let name = name.map_or_else(host_name, str::to_owned);
            match Membership::renewed_by(&config(), token, &name, role) {
                Some(earlier) => enrol::join_again(token, &earlier)?,
                None => enrol::join(token, &name, role)?,
            }
        }
        None => Membership::load(&config(), group.unwrap_or_default(), role)?,
    };
    Ok(membership)
}

fn log() -> Log {
    let i18n = I18n::new(language());
    Arc::new(move |line: &Text| eprintln!("  {}", i18n.text(line)))
}

/// True when this user holds the keys of a group of this name.
pub fn is_known(name: &str) -> bool {
    Group::load(&config(), name).is_ok()
}

/// Adds agents of `group` to the hosts of a run: the one called `name`; with `*` all of them; with
/// `site=tokyo` those that have this label.
///
/// Errors: one of them does not answer.
pub fn reach(hosts: &mut Hosts, group: &str, name: &str) -> Result<(), Failure> {
    let called = call_of(hosts, group, name)?.into_iter();
    let reached: Result<Vec<Reached>, BusError> = called.map(|(_, reached)| reached).collect();
    seat(hosts, reached?)
}

/// The same of those who answer; tells of each of the others.
pub fn reach_some(hosts: &mut Hosts, group: &str, name: &str) -> Result<Vec<Failure>, Failure> {
    let mut reached = Vec::new();
    let mut silent = Vec::new();
    for (name, answer) in call_of(hosts, group, name)? {
        match answer {
            Ok(answer) => reached.push(answer),
            Err(error) => silent.push(Failure::run(
                Text::new("error-group-silent")
                    .word("host", &name)
                    .text("error", error.says()),
                Text::new("error-group-silent-hint").word("host", &name),
            )),
        }
    }
    seat(hosts, reached)?;
    Ok(silent)
}

fn seat(hosts: &mut Hosts, reached: Vec<Reached>) -> Result<(), Failure> {
    let links = reached.into_iter().map(|reached| {
        let link: Box<dyn Link> = Box::new(reached.link);
        (link, reached.address)
    });
    Ok(hosts.admit_all(links.collect())?)
}

/// An agent's name, and what came of calling it.
type Called = (String, Result<Reached, BusError>);

/// Calls the agents that are meant, for as long as the operator waits for them.
///
/// Errors: those of [`call`], and the interruption.
fn call_of(hosts: &Hosts, group: &str, name: &str) -> Result<Vec<Called>, Failure> {
    let (group, name) = (group.to_owned(), name.to_owned());
    hosts.call(move || call(&group, &name))?
}

/// A connection to a group that shows the agents that were admitted here.
fn fleet(group: &Group) -> Result<Fleet<'_>, Failure> {
    let config = config();
    let members = Members::of(&config, &group.name).list()?;
    Ok(Fleet::connect(group, &group.router(&config)?)?.among(&members))
}

/// Calls the agents that are meant.
///
/// Errors: there are none.
fn call(group: &str, name: &str) -> Result<Vec<Called>, Failure> {
    let chosen: Chosen = name.parse()?;
    let group = Group::load(&config(), group)?;
    let fleet = fleet(&group)?;
    let names = chosen.names(&fleet, ANSWER_BOUND)?;
    if names.is_empty() {
        let (says, hint) = match chosen {
            Chosen::Labelled(_) => (
                Text::new("error-group-no-agent-labelled")
                    .word("group", &group.name)
                    .word("labels", name),
                Text::new("error-group-no-agent-labelled-hint"),
            ),
            _ => (
                Text::new("error-group-no-agent").word("group", &group.name),
                Text::new("error-group-no-agent-hint"),
            ),
        };
        return Err(Failure::operator(says, hint));
    }
    let linked = fleet.link_each(&names, &host_name(), ANSWER_BOUND);
    let reached = linked.into_iter().map(|(reached, _)| reached);
    Ok(names.into_iter().zip(reached).collect())
}
