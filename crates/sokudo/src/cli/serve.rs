//! `sokudo serve`: be the far end of other hosts' tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use sokudo_agent::Guard;
use sokudo_bus::direct::{self, Server, ServerPolicy};
use sokudo_controller::host_name;
use sokudo_i18n::{I18n, TextError};
use sokudo_model::Text;
use sokudo_wire::Key;
use sokudo_workload::contract::PathUse;

use super::key::{self, KeyText};
use super::policy::{self, PolicyArgs};
use super::ports::PortArgs;
use super::screen::{announce, tell_status};
use super::{DEFAULT_PORT, Exit, Failure, carry_out_plans_apart, language, stop_flag};

/// Serve as the far end of other hosts' tests, until Ctrl-C.
///
/// Without a key only this machine is served. With a key the connection is TLS 1.3, the server's
/// identity is pinned, and load begins only after a valid ticket. What callers may ask for is bounded by
/// this host's policy, a file; without one: loads between the hosts of a run, up to 1 h.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo serve                 this machine only
  sokudo serve --new-key       all addresses; prints a key to give to the other side
  SOKUDO_KEY=sk1-… sokudo serve   the same key again
  sokudo serve --print-policy  what may callers have this host do? (`sokudo agent --help` shows a file)")]
pub struct ServeArgs {
    /// Address to listen on: ADDR, ADDR:PORT or :PORT. Default: loopback without a key, all
    /// addresses with one.
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = parse_bind)]
    bind: Option<Bind>,

    /// Make a new key, print it once, and accept only clients that have it.
    #[arg(long, conflicts_with_all = ["key", "open"])]
    new_key: bool,

    /// Accept only clients that have this key.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    /// Accept clients without a key: anyone who reaches the port may send load through this host.
    #[arg(long, conflicts_with = "key")]
    open: bool,

    /// Clients served at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    max_clients: u16,

    /// Let callers replicate from and to this directory of this host. Repeatable.
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,

    /// Let callers replicate from this directory of this host, and not to it. Repeatable.
    #[arg(long, value_name = "DIR")]
    read_path: Vec<PathBuf>,

    /// Let callers replicate to this directory of this host, and not from it. Repeatable.
    #[arg(long, value_name = "DIR")]
    write_path: Vec<PathBuf>,

    #[command(flatten)]
    ports: PortArgs,

    #[command(flatten)]
    policy: PolicyArgs,
}

#[derive(Debug, Clone, Copy)]
struct Bind {
    ip: Option<IpAddr>,
    port: u16,
}

fn parse_bind(text: &str) -> Result<Bind, TextError> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(Bind {
            ip: Some(address.ip()),
            port: address.port(),
        });
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(Bind {
            ip: Some(ip),
            port: DEFAULT_PORT,
        });
    }
    if text == "localhost" {
        return Ok(Bind {
            ip: Some(Ipv4Addr::LOCALHOST.into()),
            port: DEFAULT_PORT,
        });
    }
    match text.strip_prefix(':').map(str::parse) {
        Some(Ok(port)) => Ok(Bind { ip: None, port }),
        _ => Err(TextError::value("error-value-bind", text)),
    }
}

/// Carries it out.
pub fn run(args: ServeArgs) -> Result<Exit, Failure> {
    let Some(mut allowed) = args.policy.read()? else {
        return Ok(Exit::Fine);
    };
    let reads = args.path.iter().chain(&args.read_path);
    let writes = args.path.iter().chain(&args.write_path);
    let used = reads.map(|path| (path, false));
    for (path, writes) in used.chain(writes.map(|path| (path, true))) {
        let path =
            std::path::absolute(path).map_err(|error| Failure::cannot_write(path, &error))?;
        allowed.allow_path(PathUse { path, writes });
    }
    let stop = stop_flag()?;
    args.ports.apply();
    carry_out_plans_apart();
    let key = match args.new_key {
        true => Some(direct::new_key()?),
        false => key::parse(args.key.as_ref())?,
    };
    let bind = args.bind.unwrap_or(Bind {
        ip: None,
        port: DEFAULT_PORT,
    });
    let ip = bind.ip.unwrap_or(match key.is_some() || args.open {
        true => Ipv6Addr::UNSPECIFIED.into(),
        false => Ipv4Addr::LOCALHOST.into(),
    });
    let i18n = I18n::new(language());
    let policy = ServerPolicy {
        key: key.clone(),
        open: args.open,
        max_clients: args.max_clients,
        log: Some(Arc::new(move |line| eprintln!("  {}", i18n.text(line)))),
        ..ServerPolicy::default()
    };
    let guard = Guard::new(allowed, policy::audit()?, None);
    let factory = sokudo_agent::guarded(&host_name(), Arc::new(guard));
    let server = bind_or_v4(
        SocketAddr::new(ip, bind.port),
        bind.ip.is_none(),
        &policy,
        &factory,
    )?;
    announce_server(server.local_addr(), key.as_ref(), args.new_key, args.open);
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    tell_status(&Text::new("status-stopping"));
    server.stop();
    Ok(Exit::Fine)
}

/// A host without IPv6 is served on all IPv4 addresses.
fn bind_or_v4(
    address: SocketAddr,
    may_change: bool,
    policy: &ServerPolicy,
    factory: &sokudo_bus::agent::Factory,
) -> Result<Server, Failure> {
    let first = Server::bind(address, policy.clone(), Arc::clone(factory));
    match first {
        Err(_) if may_change && address.is_ipv6() => {
            let v4 = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port());
            Ok(Server::bind(v4, policy.clone(), Arc::clone(factory))?)
        }
        other => Ok(other?),
    }
}

/// Says where to reach this host, on stdout because scripts wait for it.
fn announce_server(address: SocketAddr, key: Option<&Key>, new: bool, open: bool) {
    announce(&Text::new("status-serving").with("address", address));
    let text = match key {
        Some(key) if new => {
            let key = key.to_text();
            announce(&Text::new("status-key").word("key", &*key));
            let command = format!("SOKUDO_KEY={key} sokudo datagram {}", host_name());
            Text::new("status-other-host").word("command", command)
        }
        Some(key) => Text::new("status-key-only").with("id", key.id()),
        None if open => Text::new("status-open"),
        None => Text::new("status-local"),
    };
    announce(&text);
}
