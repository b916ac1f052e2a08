//! `sokudo completions` and `sokudo man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Exit, Failure};

/// Print shell completions: `sokudo completions bash > /etc/bash_completion.d/sokudo`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to complete for.
    shell: Shell,
}

/// Write man pages, one per subcommand.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory to write into; the main page goes to stdout when it is left out.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// `sokudo completions`.
pub fn completions(args: CompletionsArgs) -> Result<Exit, Failure> {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "sokudo",
        &mut std::io::stdout(),
    );
    Ok(Exit::Fine)
}

/// `sokudo man`.
pub fn man(args: ManArgs) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| {
        Failure::run(format!("the man page cannot be written: {error}"), None)
    };
    match args.dir {
        None => clap_mangen::Man::new(Cli::command())
            .render(&mut std::io::stdout())
            .map_err(failed)?,
        Some(dir) => {
            std::fs::create_dir_all(&dir).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), &dir).map_err(failed)?;
            println!("{}", dir.display());
        }
    }
    Ok(Exit::Fine)
}
