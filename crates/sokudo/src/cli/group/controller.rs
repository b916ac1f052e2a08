//! `sokudo controller`: the process that the agents of a group connect to.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sokudo_agent::audit::Audit;
use sokudo_bus::direct::LineLog;
use sokudo_controller::host_name;
use sokudo_i18n::{I18n, english};
use sokudo_model::Text;
use sokudo_net::udp;
use sokudo_wire::join::MemberRole;
use sokudo_zenoh::enrol::{Door, Visit, Watch};
use sokudo_zenoh::{Group, Router};

use super::super::{Exit, Failure, config, language, stop_flag, web};
use super::{DEFAULT_GROUP_PORT, TokenArgs, audit, dialling, noted, place};
use crate::cli::screen::{announce, tell_status};

/// Accept the agents of a group, until Ctrl-C.
///
/// Prints the line with which hosts join. Agents dial out to this host: UDP for the router, TCP of
/// the same number for joining.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo group init lab
  sokudo controller lab
  sokudo controller lab --web      with the page of the group on http://127.0.0.1:7480/
  sokudo agent --join TOKEN        on every host
  sokudo group hosts lab
  sokudo rr lab/hostb              hosts of a group are written GROUP/NAME
  sokudo run mesh.js lab/site=tokyo     or chosen by a label")]
pub struct ControllerArgs {
    /// Name of the group.
    name: String,

    /// Address to listen on.
    #[arg(long, value_name = "ADDR:PORT", default_value_t = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), DEFAULT_GROUP_PORT))]
    bind: SocketAddr,

    /// Address by which agents reach this host, when it is another than the system's own.
    #[arg(long, value_name = "ADDR")]
    address: Option<String>,

    #[command(flatten)]
    token: TokenArgs,

    /// Router of this group that the controller's own dials, and hosts dial in its place: a `zenohd` that
    /// was set up by `sokudo group zenohd --alone`. As often as there are such.
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    router: Vec<String>,

    /// Serve the group's page, too: `sokudo web` of the whole group. Beyond 127.0.0.1 the printed
    /// address holds a token.
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true, default_missing_value = web::DEFAULT_PLACE)]
    web: Option<SocketAddr>,
}

/// Carries out `sokudo controller`.
pub fn run(args: ControllerArgs) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let group = Group::load(&config(), &args.name)?;
    let port = args.bind.port();
    if port == 0 {
        return Err(Failure::operator(
            Text::new("error-controller-port-0"),
            Text::new("error-controller-port-0-hint")
                .with("address", args.bind.ip())
                .with("port", DEFAULT_GROUP_PORT),
        ));
    }
    let address = args.address.unwrap_or_else(|| own_address(args.bind.ip()));
    let met = match address.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port).to_string(),
        Err(_) => format!("{address}:{port}"),
    };
    let _router = Router::open(&group, &args.bind.to_string(), &args.router)?;
    let name = group.name.clone();
    let terms = args.token.terms(MemberRole::Agent);
    let token = group.token(&config(), &terms, vec![met.clone()])?;
    let reached = match args.bind.ip().is_unspecified() {
        true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port).to_string(),
        false => args.bind.to_string(),
    };
    group.save_router(&config(), &reached, &met, &args.router)?;
    let watch = watch(audit(&name)?);
    let _door = Door::open(group, &config(), args.bind, vec![met.clone()], watch)?;
    let says = Text::new("status-controller").word("group", &*name);
    announce(&says.word("place", &*met));
    let command = format!("sokudo agent --join {token}{}", dialling(&args.router));
    announce(&Text::new("status-each-host").word("command", command));
    let says = Text::new("status-valid").word("time", args.token.says());
    announce(&says.word("command", format!("sokudo group token {name}")));
    let page = args.web.map(|at| web::of_group(&name, at)).transpose()?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    tell_status(&Text::new("status-stopping"));
    if let Some(page) = page {
        page.close();
    }
    Ok(Exit::Fine)
}

/// Tells who came to the door, and notes it; of many who are turned away, a few and how many more: anybody
/// may knock, and fill no disk by it.
fn watch(audit: Audit) -> Watch {
    let strangers = LineLog::new(None);
    let i18n = I18n::new(language());
    Arc::new(move |visit: &Visit| {
        let (told, more) = match visit.outcome {
            Ok(_) => (true, 0),
            Err(_) => strangers.count_now(),
        };
        if more > 0 {
            let line = Text::new("log-more-away").with("count", more);
            eprintln!("  {}", i18n.text(&line));
            noted(&audit, &json!({ "what": "turned away", "more": more }));
        }
        if !told {
            return;
        }
        eprintln!("  {}", i18n.text(&visit.text()));
        let address = visit.address.to_string();
        let entry = match &visit.outcome {
            Ok(let_in) => {
                let what = match let_in.renewed {
                    true => "renewed",
                    false => "joined",
                };
                json!({ "what": what, "name": let_in.name, "address": address })
            }
            Err(why) => json!({ "what": "turned away", "why": english(why), "address": address }),
        };
        noted(&audit, &entry);
    })
}

/// The address that agents of other hosts see, as far as this host can tell.
pub(super) fn own_address(bound: IpAddr) -> String {
    if !bound.is_unspecified() {
        return bound.to_string();
    }
    // A documentation address (RFC 5737): asking for the way there sends nothing.
    let far = SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), 9);
    let found = udp::local_address_towards(far);
    found.map_or_else(|_| host_name(), |ip| ip.to_string())
}

#[cfg(test)]
mod tests {
    use sokudo_zenoh::enrol::Let;

    use super::*;

    #[test]
    fn a_flood_at_the_door_is_noted_in_few_lines_and_members_always() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("audit.jsonl");
        let watch = watch(Audit::open(&path).expect("a file"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let visit = |outcome| Visit { address, outcome };
        (0..1000).for_each(|_| watch(&visit(Err("no ticket".into()))));
        let name = "hosta".to_owned();
        watch(&visit(Ok(Let {
            name,
            renewed: false,
        })));
        let text = std::fs::read_to_string(&path).expect("text");
        // A busy machine may need more than one window of time.
        assert!(text.lines().count() < 500, "{}", text.lines().count());
        assert!(text.lines().last().is_some_and(|l| l.contains("hosta")));
    }
}
