//! `sokudo agent`: makes this host a member of a group.

use std::sync::Arc;

use clap::Args;
use sokudo_agent::Guard;
use sokudo_agent::keep::Keeper;
use sokudo_bus::Client;
use sokudo_i18n::{I18n, english};
use sokudo_model::Text;
use sokudo_wire::join::MemberRole;
use sokudo_wire::label::{Label, Labels};
use sokudo_zenoh::agent::{self, Refused, Service};
use sokudo_zenoh::{Membership, stay};

use super::super::policy::{self, PolicyArgs};
use super::super::ports::PortArgs;
use super::super::{Exit, Failure, carry_out_plans_apart, config, language, stop_flag};
use super::guard::Guarded;
use super::{JOIN_VARIABLE, join_line, log, place, read_token, unnoted};
use crate::cli::screen::{announce, tell_status};

/// Join a group and carry out the orders of its controller, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo agent --join sj1-…@192.0.2.10:7412     join, and stay
  SOKUDO_JOIN=sj1-… sokudo agent                the same, the line unseen in lists of processes
  sokudo agent --join sj1-… --label site=tokyo  be chosen as lab/site=tokyo, too
  sokudo agent lab                              come back later, without the token
  sokudo agent --print-policy                   what would controllers be allowed to do here?

Policy, a TOML file; what is left out is not bounded, but for a phase's length:
  workloads = [\"rr\", \"stream\"]
  reach = [\"hosts\", \"strangers\"]
  destinations = [\"192.0.2.0/24\"]
  max_duration = \"10min\"
  max_rate = \"1Gb/s\"
  max_flows = 64

`sokudo serve` holds to the same file, and notes in the same log.")]
pub struct AgentArgs {
    /// Group that this host has joined before.
    #[arg(required_unless_present_any = ["join", "print_policy"])]
    group: Option<String>,

    /// Line that `sokudo controller` printed. Other users of a host can read command lines: the
    /// environment variable keeps it from them.
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

    /// What this host may be chosen by, as often as needed: `site=tokyo`. Kept until others are given.
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<Label>,

    /// Where this site's `sokudo router` listens, in place of the controller that the line names.
    #[arg(long, value_name = "HOST:PORT", requires = "join", value_parser = place)]
    via: Option<String>,

    /// Router to dial for messages when it is neither the controller's nor a `sokudo router`: a `zenohd`
    /// that was set up by `sokudo group zenohd`. As often as there are routers to choose from; kept
    /// until others are given.
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    router: Vec<String>,

    #[command(flatten)]
    ports: PortArgs,

    #[command(flatten)]
    policy: PolicyArgs,
}

/// Carries out `sokudo agent`.
pub fn run(args: AgentArgs) -> Result<Exit, Failure> {
    let Some(policy) = args.policy.read()? else {
        return Ok(Exit::Fine);
    };
    args.ports.apply();
    let audit = policy::audit()?;
    let waiting = config().join("kept");
    let keeper = Keeper::open(&waiting).map_err(|error| Failure::cannot_write(&waiting, &error))?;
    carry_out_plans_apart();
    let membership = membership(&args)?;
    // Until now there is nothing to put in order: a signal ends the program, whatever it waits for.
    let stop = stop_flag()?;
    let (name, group) = (membership.agent().to_owned(), membership.group().to_owned());
    let says = Text::new("status-agent").word("name", &*name);
    announce(&says.word("group", &*group));
    let guard = Arc::new(Guard::new(policy, audit, Some(keeper)));
    let service = Service {
        factory: sokudo_agent::guarded(&name, Arc::clone(&guard)),
        log: log(),
        refused: refused(guard),
    };
    let served = group.clone();
    let begin = move |member: &Membership| {
        let serving = agent::serve(member.clone(), service.clone())?;
        let guarded = Guarded::begin(&served, &serving);
        announce(&Text::new("status-connected"));
        Ok((serving, guarded))
    };
    let kept = (config(), log());
    stay(&stop, kept, membership, begin, |(serving, _)| {
        serving.is_idle()
    })?;
    tell_status(&Text::new("status-leaving").word("group", group));
    Ok(Exit::Fine)
}

/// A new one with a token, or that of earlier, with the labels that are given now.
fn membership(args: &AgentArgs) -> Result<Membership, Failure> {
    let labels = Labels::new(args.label.iter().cloned())?;
    let join = join_line(args.join.as_deref(), args.group.as_deref())?;
    let mut token = join.map(read_token).transpose()?;
    if let (Some(token), Some(via)) = (&mut token, &args.via) {
        token.places = vec![via.clone()];
    }
    let (name, group) = (args.name.as_deref(), args.group.as_deref());
    let mut membership = super::membership(token.as_ref(), name, group, MemberRole::Agent)?;
    if !labels.is_empty() {
        membership.set_labels(&labels);
    }
    if !args.router.is_empty() {
        membership.set_routers(args.router.clone());
    }
    if join.is_some() || !labels.is_empty() || !args.router.is_empty() {
        membership.save(&config())?;
    }
    Ok(membership)
}

/// An order that was not the controller's stands in the log of who asked for what.
fn refused(guard: Arc<Guard>) -> Refused {
    let i18n = I18n::new(language());
    Arc::new(move |client: &Client, why: &Text| {
        let line = Text::new("log-order-refused").text("why", why.clone());
        eprintln!("  {}", i18n.text(&line));
        let about = serde_json::json!({ "why": english(why) });
        if let Err(error) = guard.audit().note(client, "order refused", about) {
            eprintln!("  {}", i18n.text(&unnoted(&error)));
        }
    })
}
