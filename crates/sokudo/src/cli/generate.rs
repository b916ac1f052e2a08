//! `sokudo completions` and `sokudo man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Exit, Failure};
use sokudo_model::Text;

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
    // Not straight to stdout, where the generator would panic when the reader leaves early.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sokudo", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Exit::Fine)
}

/// `sokudo man`.
pub fn man(args: ManArgs) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| {
        Failure::run(Text::new("error-man-unwritable").with("error", error), None)
    };
    match args.dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(failed)?;
            print!("{}", String::from_utf8_lossy(&page));
        }
        Some(dir) => {
            let cannot = |error: std::io::Error| Failure::cannot_write(&dir, &error);
            std::fs::create_dir_all(&dir).map_err(cannot)?;
            clap_mangen::generate_to(Cli::command(), &dir).map_err(cannot)?;
            println!("{}", dir.display());
        }
    }
    Ok(Exit::Fine)
}
