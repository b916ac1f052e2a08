//! `sokudo group`, `controller` and `agent`: which hosts belong together, and how do they meet?

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use sokudo_agent::Guard;
use sokudo_agent::audit::Audit;
use sokudo_agent::policy::Policy;
use sokudo_controller::{Host, Hosts, host_name};
use sokudo_net::udp;
use sokudo_wire::join::{JoinToken, JoinTokenError};
use sokudo_zenoh::agent::{self, Log};
use sokudo_zenoh::enrol::{self, Door};
use sokudo_zenoh::{Fleet, Group, GroupError, Membership, Router};

use super::{Exit, Failure, config, stop_flag};

/// Port of the controller, UDP for the router and TCP for enrolment.
const CONTROLLER_PORT: u16 = 7412;
/// How long an agent may take to answer.
const ANSWER_BOUND: Duration = Duration::from_secs(10);

/// Make groups, and see who is there.
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
    /// Who is there: number, name, system, cores, clock offset with its error.
    Hosts {
        /// Name of the group.
        name: String,
        /// One JSON object per line.
        #[arg(long)]
        json: bool,
    },
}

/// Let the agents of a group meet here, until Ctrl-C.
///
/// Prints the line with which hosts join. Agents dial out to this host: UDP for the router, TCP of
/// the same number for joining.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo group init lab
  sokudo controller lab
  sokudo agent --join TOKEN        on every host
  sokudo group hosts lab
  sokudo rr lab/hostb              hosts of a group are written GROUP/NAME")]
pub struct ControllerArgs {
    /// Name of the group.
    name: String,

    /// Address to listen on.
    #[arg(long, value_name = "ADDR:PORT", default_value_t = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), CONTROLLER_PORT))]
    bind: SocketAddr,

    /// Address by which agents reach this host, when it is another than the system's own.
    #[arg(long, value_name = "ADDR")]
    address: Option<String>,
}

/// Belong to a group, and do what its controller asks, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo agent --join sk1-…@192.0.2.10:7412     join, and stay
  sokudo agent lab                              come back later, without the token
  sokudo agent --print-policy                   what would controllers be allowed to do here?

Policy, a TOML file; what is left out is not bounded, but for a phase's length:
  workloads = [\"rr\", \"stream\"]
  destinations = [\"192.0.2.0/24\"]
  max_duration = \"10min\"
  max_rate = \"1Gb/s\"
  max_flows = 64")]
pub struct AgentArgs {
    /// Group that this host has joined before.
    #[arg(required_unless_present_any = ["join", "print_policy"], conflicts_with = "join")]
    group: Option<String>,

    /// Line that `sokudo controller` printed.
    #[arg(
        long,
        env = "SOKUDO_JOIN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    join: Option<String>,

    /// Name in the group. Default: this host's own.
    #[arg(long)]
    name: Option<String>,

    /// What controllers may have this host do. Default: policy.toml in sokudo's own directory, and
    /// without that file phases of up to 1 h with the other hosts of a run.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Say what the policy allows, and where it is noted who asked for what; do nothing else.
    #[arg(long)]
    print_policy: bool,
}

impl From<GroupError> for Failure {
    fn from(error: GroupError) -> Self {
        let hint = error.hint();
        match error {
            GroupError::Network { .. } | GroupError::Refused { .. } => {
                Failure::run(error.to_string(), hint)
            }
            _ => Failure::operator(error.to_string(), hint.unwrap_or_default()),
        }
    }
}

/// True when this user holds the keys of a group of this name.
pub fn is_known(name: &str) -> bool {
    Group::load(&config(), name).is_ok()
}

/// Carries out `sokudo group`.
pub fn group(args: GroupArgs) -> Result<Exit, Failure> {
    match args.what {
        GroupCommand::Init { name } => {
            Group::found(&name)?.save(&config())?;
            println!("group {name} is made; next: sokudo controller {name}");
            Ok(Exit::Fine)
        }
        GroupCommand::Hosts { name, json } => list(&name, json),
    }
}

/// Carries out `sokudo controller`.
pub fn controller(args: ControllerArgs) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let group = Group::load(&config(), &args.name)?;
    let port = args.bind.port();
    let place = args.address.unwrap_or_else(|| own_address(args.bind.ip()));
    let place = match place.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port).to_string(),
        Err(_) => format!("{place}:{port}"),
    };
    let _router = Router::open(&group, &args.bind.to_string())?;
    let name = group.name.clone();
    let token = JoinToken {
        key: group.enrolment_key()?,
        places: vec![place.clone()],
    };
    let reached = match args.bind.ip().is_unspecified() {
        true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port).to_string(),
        false => args.bind.to_string(),
    };
    group.save_router(&config(), &reached)?;
    let _door = Door::open(group, args.bind, vec![place], log())?;
    println!("controller of {name} on {}", args.bind);
    println!("on each host: sokudo agent --join {token}");
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    eprintln!("  stopping");
    Ok(Exit::Fine)
}

/// The address that agents of other hosts see, as far as this host can tell.
fn own_address(bound: IpAddr) -> String {
    if !bound.is_unspecified() {
        return bound.to_string();
    }
    // A documentation address (RFC 5737): asking for the way there sends nothing.
    let far = SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), 9);
    let found = udp::local_address_towards(far);
    found.map_or_else(|_| host_name(), |ip| ip.to_string())
}

/// Carries out `sokudo agent`.
pub fn agent(args: AgentArgs) -> Result<Exit, Failure> {
    let file = args.policy.unwrap_or_else(|| config().join("policy.toml"));
    let policy = Policy::load(&file).map_err(|error| {
        let hint = "what a policy looks like: `sokudo agent --help`";
        Failure::operator(error.to_string(), hint)
    })?;
    let noted = config().join("audit.jsonl");
    if args.print_policy {
        print_policy(&policy, &file, &noted);
        return Ok(Exit::Fine);
    }
    let audit = Audit::open(&noted).map_err(|error| Failure::cannot_write(&noted, &error))?;
    let stop = stop_flag()?;
    let membership = match (&args.join, &args.group) {
        (Some(token), _) => {
            let token: JoinToken = token.parse().map_err(|error: JoinTokenError| {
                Failure::operator(error.to_string(), error.hint())
            })?;
            let name = args.name.unwrap_or_else(host_name);
            let membership = enrol::join(&token, &name)?;
            membership.save(&config())?;
            membership
        }
        (None, group) => Membership::load(&config(), group.as_deref().unwrap_or_default())?,
    };
    let (name, group) = (membership.agent().to_owned(), membership.group().to_owned());
    println!("{name} is an agent of {group}");
    let guard = Arc::new(Guard { policy, audit });
    let serving = agent::serve(membership, sokudo_agent::guarded(&name, guard), log())?;
    println!("connected");
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    eprintln!("  leaving {group}");
    drop(serving);
    Ok(Exit::Fine)
}

fn print_policy(policy: &Policy, file: &Path, noted: &Path) {
    match file.exists() {
        true => println!("policy {}", file.display()),
        false => println!("no policy at {}: the default", file.display()),
    }
    for line in policy.explain() {
        println!("  {line}");
    }
    println!("  noted in {}", noted.display());
}

fn log() -> Log {
    Arc::new(|line: &str| eprintln!("  {line}"))
}

/// Adds the agent `name` of `group` to the hosts of a run; `*` adds all of them.
pub fn reach(hosts: &mut Hosts, group: &str, name: &str) -> Result<(), Failure> {
    let group = Group::load(&config(), group)?;
    let fleet = Fleet::connect(&group, &group.router(&config())?)?;
    let names = match name {
        "*" => fleet.agents(ANSWER_BOUND)?,
        name => vec![name.to_owned()],
    };
    if names.is_empty() {
        return Err(Failure::operator(
            format!("no agent of the group {} is connected", group.name),
            "start `sokudo agent` on the hosts",
        ));
    }
    for name in names {
        let reached = fleet.link(&name, &host_name(), ANSWER_BOUND)?;
        hosts.admit(Box::new(reached.link), reached.address)?;
    }
    Ok(())
}

fn list(group: &str, json: bool) -> Result<Exit, Failure> {
    let mut hosts = Hosts::own(sokudo_agent::factory)?;
    let held = Group::load(&config(), group)?;
    let fleet = Fleet::connect(&held, &held.router(&config())?)?;
    let mut silent = Vec::new();
    for name in fleet.agents(ANSWER_BOUND)? {
        let reached = fleet.link(&name, &host_name(), ANSWER_BOUND);
        let admitted = reached.map_err(Failure::from).and_then(|reached| {
            let link = Box::new(reached.link);
            Ok(hosts.admit(link, reached.address)?)
        });
        if admitted.is_err() {
            silent.push(name);
        }
    }
    let agents = || hosts.list().iter().enumerate().skip(1);
    if json {
        for (number, host) in agents() {
            println!("{}", as_json(number, host));
        }
        for name in silent {
            println!("{}", json!({ "name": name, "answers": false }));
        }
        return Ok(Exit::Fine);
    }
    println!("{} hosts of {group} answer\n", hosts.list().len() - 1);
    println!(
        "  {:>3}  {:<20} {:<16} {:<8} {:>5}  clock offset ± error",
        "no.", "name", "address", "system", "cores"
    );
    for (number, host) in agents() {
        let seconds = |ns: f64| sokudo_model::units::human(ns * 1e-9, sokudo_model::Unit::Seconds);
        println!(
            "  {number:>3}  {:<20} {:<16} {:<8} {:>5}  {} ± {}",
            host.name,
            host.address.as_deref().unwrap_or_default(),
            host.description.os,
            host.description.cores,
            seconds(host.clock.offset_ns as f64),
            seconds(host.clock.error_ns as f64),
        );
    }
    for name in silent {
        println!("    –  {name:<20} does not answer");
    }
    Ok(Exit::Fine)
}

fn as_json(number: usize, host: &Host) -> serde_json::Value {
    json!({
        "number": number, "name": host.name, "answers": true, "address": host.address,
        "os": host.description.os, "cores": host.description.cores,
        "version": host.description.version, "workloads": host.description.workloads,
        "clock_offset_seconds": host.clock.offset_ns as f64 * 1e-9,
        "clock_error_seconds": host.clock.error_ns as f64 * 1e-9,
    })
}
