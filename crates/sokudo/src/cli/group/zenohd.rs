//! `sokudo group zenohd`: configuration for a `zenohd` that carries a group's messages.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use sokudo_i18n::TextError;
use sokudo_model::Text;
use sokudo_model::units::Nanos;
use sokudo_zenoh::Group;
use sokudo_zenoh::foreign::Foreign;

use super::super::{Exit, Failure, config};
use super::{lasting, place};
use crate::cli::screen::announce;

/// Write the file with which a `zenohd` of your own carries this group's messages.
///
/// It has Zenoh's version 1.10, and carries orders that it can neither read nor make. The file holds a
/// key, and is for `zenohd`'s eyes only. Hosts join at the controller as ever, and name the router
/// besides.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo group zenohd lab --output lab.json5     it dials this host's controller
  zenohd -c lab.json5                            on the router
  sokudo agent --join sj1-… --router zen1:7447   on the hosts that dial it

  sokudo group zenohd lab --alone --output lab.json5      it dials nothing:
  sokudo controller lab --router zen1:7447                the controller dials it")]
pub struct ZenohdArgs {
    /// Name of the group.
    name: String,

    /// Where it is to listen, UDP.
    #[arg(long, value_name = "ADDR:PORT", default_value = "0.0.0.0:7447", value_parser = place)]
    listen: String,

    /// Router of the group that it dials, as often as needed. Default: the controller's, where it was
    /// last started.
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    connect: Vec<String>,

    /// Dial no router: other routers dial this one.
    #[arg(long, conflicts_with = "connect")]
    alone: bool,

    /// How long its certificate is good for. Write the file again, and start `zenohd` again, before it
    /// ends.
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = lasting)]
    valid: Nanos,

    /// File to write; `zenohd` wants the ending `.json5`.
    #[arg(long, short, value_name = "FILE.json5", value_parser = json5)]
    output: PathBuf,
}

fn json5(text: &str) -> Result<PathBuf, TextError> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|ending| ending == "json5") {
        true => Ok(path),
        false => Err(TextError(Text::new("error-value-json5"))),
    }
}

/// Carries out `sokudo group zenohd`.
pub(super) fn write(args: &ZenohdArgs) -> Result<Exit, Failure> {
    let group = Group::load(&config(), &args.name)?;
    let routers = match (args.alone, args.connect.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => vec![group.place(&config())?],
        (false, false) => args.connect.clone(),
    };
    let foreign = Foreign {
        listen: args.listen.clone(),
        routers,
        valid: Duration::from_nanos(args.valid.0),
    };
    foreign.write(&group, &args.output)?;
    print_next(args, &args.output);
    Ok(Exit::Fine)
}

fn print_next(args: &ZenohdArgs, output: &Path) {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let port = args.listen.rsplit_once(':').map_or("", |(_, port)| port);
    announce(&Text::new("status-holds-key").with("file", output.display()));
    let next = |key: &str, command: String| announce(&Text::new(key).word("command", command));
    next("status-on-router", format!("zenohd -c {name}"));
    if args.alone {
        let command = format!("sokudo controller {} --router ROUTER:{port}", args.name);
        next("status-here", command);
    }
    let command = format!("sokudo agent --join TOKEN --router ROUTER:{port}");
    next("status-each-host", command);
}
