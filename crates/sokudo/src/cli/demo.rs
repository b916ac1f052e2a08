//! `sokudo demo`: a server on this host and a plan to load it with, so that every guide can be followed
//! without anything else.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use sokudo_i18n::I18n;
use sokudo_target::{Preset, Settings};

use super::finish::LangOption;
use super::{Exit, Failure, target};

/// The plan of JMeter that visits the server.
const PLAN: &str = include_str!("../../../../examples/demo.jmx");

/// Connections at once: fewer than the files that systems usually grant.
const MOST_OPEN: u32 = 512;

const EXAMPLES: &str = "\
Examples:
  sokudo demo                                        the server, until Ctrl-C
  sokudo http http://127.0.0.1:9080/stress/demo      in another terminal: load it
  sokudo demo --plan demo.jmx                        with a JMeter plan that visits it
  sokudo jmx run demo.jmx -J users=20 -J seconds=30";

/// Start a web server on this host to try everything with.
///
/// `/` answers at once, and every path below `/stress/` in about ten milliseconds, with a connection to a
/// database and some CPU. It is `sokudo target app` in a calm setting: its queues can be watched and its
/// knobs be turned.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DemoArgs {
    /// Port of the server on 127.0.0.1; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 9080)]
    port: u16,

    /// Write a JMeter plan that visits the server to this file.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    language: LangOption,
}

/// Carries it out.
pub fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    let mut settings = Settings::default();
    Preset::Calm.apply(&mut settings);
    settings.listen.address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    settings.listen.max_open = MOST_OPEN;
    settings.admin.address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let i18n = I18n::new(args.language.lang());
    if let Some(file) = &args.plan {
        std::fs::write(file, PLAN).map_err(|error| Failure::cannot_write(file, &error))?;
    }
    target::serve(settings, &i18n, |target| {
        let at = target.at();
        let port = at.port().to_string();
        let file = args.plan.as_ref().map(|file| file.display().to_string());
        let url = format!("http://{at}");
        let values = [("url", url.as_str()), ("port", &port)];
        println!("{}", i18n.message("demo-begins", &values));
        println!("  sokudo http {url}/stress/demo");
        println!("  sokudo http {url}/stress/demo --rate 100 --slo 'p95<500ms,errors<0.1%'");
        match file {
            Some(file) => {
                println!("  sokudo jmx run {file} -J port={port} -J users=10 -J seconds=10")
            }
            None => println!("  {}", i18n.message("demo-plan", &values)),
        }
        println!("  sokudo target stat --watch");
        println!("{}", i18n.message("demo-ends", &values));
    })
}
