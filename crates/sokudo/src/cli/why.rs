//! `sokudo why`: what limited a run, how that was reached, and whether it withstands a test.

mod prove;

use clap::Args;
use sokudo_report::{rules, why};

use super::finish::{ShowOptions, summary};
use super::records::resolve;
use super::screen::{escapes, width};
use super::{Exit, Failure};

/// Explain what limited a run: what speaks for each cause, what against it, what is missing.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Run: its name, the beginning or end of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    /// Put the cause to the test: the measurement is made again with and without a change of the option
    /// that is suspected, in turns; the record then says confirmed, or the cause is withdrawn.
    #[arg(long, conflicts_with = "rules")]
    prove: bool,

    /// Let a test change what a crash of the server during it would lose, such as commits that are acknowledged
    /// before they are on the disk.
    #[arg(long, requires = "prove")]
    allow_unsafe: bool,

    /// Print the signs and thresholds of every rule instead.
    #[arg(long, conflicts_with_all = ["run", "json"])]
    rules: bool,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(args: WhyArgs) -> Result<Exit, Failure> {
    let width = width();
    let (lang, color) = (args.show.lang(), escapes(&std::io::stdout()));
    if args.rules {
        print!("{}", rules(lang, color, width));
        return Ok(Exit::Fine);
    }
    let path = resolve(&args.run)?;
    if args.prove {
        prove::prove(&path, lang, args.allow_unsafe)?;
    }
    let record = sokudo_store::load(&path)?;
    match args.show.json {
        true => println!("{:#}", summary(&record, &path)["limit"]),
        false => print!("{}", why(&record, lang, color, width)),
    }
    Ok(Exit::Fine)
}
