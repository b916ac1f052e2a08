//! `sokudo agent`: makes this host a member of a group.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use sokudo_agent::Guard;
use sokudo_agent::audit::Audit;
use sokudo_agent::keep::Keeper;
use sokudo_agent::policy::Policy;
use sokudo_bus::Client;
use sokudo_model::{Text, harmless};
use sokudo_wire::join::MemberRole;
use sokudo_wire::label::{Label, Labels};
use sokudo_zenoh::agent::{self, Refused, Service};
use sokudo_zenoh::{Membership, stay};

use super::super::{Exit, Failure, carry_out_plans_apart, config, stop_flag};
use super::guard::Guarded;
use super::{log, place, read_token};

/// Join a group and carry out the orders of its controller, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo agent --join sj1-…@192.0.2.10:7412     join, and stay
  sokudo agent --join sj1-… --label site=tokyo  be chosen as lab/site=tokyo, too
  sokudo agent lab                              come back later, without the token
  sokudo agent --print-policy                   what would controllers be allowed to do here?

Policy, a TOML file; what is left out is not bounded, but for a phase's length:
  workloads = [\"rr\", \"stream\"]
  reach = [\"hosts\", \"strangers\"]
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

    /// What controllers may have this host do. Default: policy.toml in sokudo's own directory, and
    /// without that file phases of up to 1 h with the other hosts of a run.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Say what the policy allows, and where it is noted who asked for what; do nothing else.
    #[arg(long)]
    print_policy: bool,
}

/// Carries out `sokudo agent`.
pub fn run(args: AgentArgs) -> Result<Exit, Failure> {
    let default = config().join("policy.toml");
    let file = args.policy.as_ref().unwrap_or(&default);
    let policy = Policy::load(file).map_err(|error| {
        let hint = Text::new("error-policy-hint");
        Failure::operator(error.to_string(), hint)
    })?;
    let noted = config().join("audit.jsonl");
    if args.print_policy {
        print_policy(&policy, file, &noted);
        return Ok(Exit::Fine);
    }
    let audit = Audit::open(&noted).map_err(|error| Failure::cannot_write(&noted, &error))?;
    let waiting = config().join("kept");
    let keeper = Keeper::open(&waiting).map_err(|error| Failure::cannot_write(&waiting, &error))?;
    let stop = stop_flag()?;
    carry_out_plans_apart();
    let membership = membership(&args)?;
    let (name, group) = (membership.agent().to_owned(), membership.group().to_owned());
    println!("{name} is an agent of {group}");
    let guard = Arc::new(Guard {
        policy,
        audit,
        keeper: Arc::new(keeper),
    });
    let service = Service {
        factory: sokudo_agent::guarded(&name, Arc::clone(&guard)),
        log: log(),
        refused: refused(guard),
    };
    let begin = |member: &Membership| {
        let serving = agent::serve(member.clone(), service.clone())?;
        let guarded = Guarded::begin(&group, &serving);
        println!("connected");
        Ok((serving, guarded))
    };
    let kept = (config(), log());
    stay(&stop, kept, membership, begin, |(serving, _)| {
        serving.is_idle()
    })?;
    eprintln!("  leaving {group}");
    Ok(Exit::Fine)
}

/// A new one with a token, or that of earlier, with the labels that are given now.
fn membership(args: &AgentArgs) -> Result<Membership, Failure> {
    let labels = Labels::new(args.label.iter().cloned())?;
    let mut token = args.join.as_deref().map(read_token).transpose()?;
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
    if args.join.is_some() || !labels.is_empty() || !args.router.is_empty() {
        membership.save(&config())?;
    }
    Ok(membership)
}

/// An order that was not the controller's stands in the log of who asked for what.
fn refused(guard: Arc<Guard>) -> Refused {
    Arc::new(move |client: &Client, why: &str| {
        eprintln!("  an order was refused: {}", harmless(why));
        let about = serde_json::json!({ "why": why });
        if let Err(error) = guard.audit.note(client, "order refused", about) {
            eprintln!("  which cannot be noted: {error}");
        }
    })
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
