//! Builds small worlds with a known cause, lets the program measure in them, and judges what it says.
//!
//! ```text
//!   case, seed ─► draw: load, strength ─► world ─► stage: hosts, path, far end, program ─► said
//!                                                                                            │
//!                    page, table  ◄─  matrix: cause × verdict  ◄─  judge: right, wrong, …  ◄─┘
//! ```
//!
//! A case is an entry in a file of [`causes`]; what may be said about it is a [`family`].

mod case;
mod causes;
mod cgroup;
mod draw;
mod family;
mod judge;
mod machine;
mod matrix;
mod options;
mod page;
mod proxy;
mod said;
mod server;
mod shift;
mod stage;
mod world;

use std::process::ExitCode;

use options::{Asked, Options};

fn main() -> ExitCode {
    match options::parse(std::env::args().skip(1)) {
        Ok(Asked::Help) => {
            println!("{}", options::USAGE);
            ExitCode::SUCCESS
        }
        Ok(Asked::List) => {
            causes::list();
            ExitCode::SUCCESS
        }
        Ok(Asked::Serve(words)) => served(&words),
        Ok(Asked::Run(options)) => ran(&options),
        Err(why) => {
            eprintln!("error: {why}\n\n{}", options::USAGE);
            ExitCode::from(2)
        }
    }
}

fn served(words: &[String]) -> ExitCode {
    match server::serve(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Exit code 1: something was named that was not the cause.
fn ran(options: &Options) -> ExitCode {
    let runs = shift::all(options);
    let matrix = matrix::Matrix::of(&runs);
    println!("{}", matrix.text());
    if options.write
        && let Err(why) = page::write(&matrix, &runs, options)
    {
        eprintln!("error: {why}");
        return ExitCode::from(2);
    }
    match matrix.all().wrong {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
