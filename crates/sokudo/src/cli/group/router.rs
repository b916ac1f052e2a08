//! `sokudo router`: carries the messages of a site's agents to their controller over one host.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use sokudo_model::Text;
use sokudo_wire::join::MemberRole;
use sokudo_zenoh::site::Site;
use sokudo_zenoh::{Membership, stay};

use super::super::{Exit, Failure, config, stop_flag};
use super::controller::own_address;
use super::{DEFAULT_GROUP_PORT, JOIN_VARIABLE, join_line, log, membership, read_token};
use crate::cli::screen::{announce, tell_status};

/// Carry the messages of a site's agents to their controller, until Ctrl-C.
///
/// Agents of the site dial this host, this host dials the controller. It carries orders and can
/// neither read nor make them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo group token lab --router                    on the controller: prints the next line
  sokudo router --join sj1-…@192.0.2.10:7412         on one host of the site
  sokudo agent --join sj1-… --via 10.0.0.5:7412      on the others
  sokudo router lab                                  come back later, without the token")]
pub struct RouterArgs {
    /// Group that this host has joined before, as a router.
    #[arg(required_unless_present = "join")]
    group: Option<String>,

    /// Line that `sokudo group token GROUP --router` printed. Other users of a host can read command
    /// lines: the environment variable keeps it from them.
    #[arg(
        long,
        env = JOIN_VARIABLE,
        value_name = "TOKEN",
        hide_env_values = true
    )]
    join: Option<String>,

    /// Name in the group. Default: this host's own.
    #[arg(long)]
    name: Option<String>,

    /// Address to listen on: UDP for agents, TCP of the same number for joining.
    #[arg(long, value_name = "ADDR:PORT", default_value_t = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), DEFAULT_GROUP_PORT))]
    bind: SocketAddr,
}

/// Carries out `sokudo router`.
pub fn run(args: RouterArgs) -> Result<Exit, Failure> {
    let join = join_line(args.join.as_deref(), args.group.as_deref())?;
    let token = join.map(read_token).transpose()?;
    let (name, group) = (args.name.as_deref(), args.group.as_deref());
    let membership = membership(token.as_ref(), name, group, MemberRole::Router)?;
    if token.is_some() {
        membership.save(&config())?;
    }
    // Until now there is nothing to put in order: a signal ends the program, whatever it waits for.
    let stop = stop_flag()?;
    let group = membership.group().to_owned();
    let begin = move |member: &Membership| {
        let site = Site::open(member, args.bind, log())?;
        let place = SocketAddr::new(args.bind.ip(), site.address().port());
        let says = Text::new("status-router").word("group", &*group);
        announce(&says.with("place", place));
        let own = own_address(args.bind.ip());
        let command = format!("sokudo agent --join TOKEN --via {own}:{}", place.port());
        announce(&Text::new("status-each-site-host").word("command", command));
        Ok(site)
    };
    stay(&stop, (config(), log()), membership, begin, Site::is_idle)?;
    tell_status(&Text::new("status-stopping"));
    Ok(Exit::Fine)
}
