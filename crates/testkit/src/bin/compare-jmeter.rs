//! `compare-jmeter [-J NAME=VALUE]… PLAN…`: executes plans with sokudo and with JMeter, and tells
//! what differs. Exit code 1: something does; 2: nothing was compared.

use std::path::PathBuf;
use std::process::ExitCode;

use sokudo_testkit::compare::{Compared, compare};

/// Request of the command line.
#[derive(Default)]
struct CommandLine {
    plans: Vec<PathBuf>,
    properties: Vec<(String, String)>,
}

fn main() -> ExitCode {
    let Some(CommandLine { plans, properties }) = arguments() else {
        eprintln!("compare-jmeter [-J NAME=VALUE]... PLAN...");
        return ExitCode::from(2);
    };
    match compare(&plans, &properties) {
        Ok(compared) => told(&compared),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// `None`: the command line is not understood.
fn arguments() -> Option<CommandLine> {
    let mut asked = CommandLine::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let property = match word.strip_prefix("-J") {
            Some("") => words.next()?,
            Some(property) => property.to_owned(),
            None if word.starts_with('-') => return None,
            None => {
                asked.plans.push(word.into());
                continue;
            }
        };
        let (name, value) = property.split_once('=')?;
        asked.properties.push((name.to_owned(), value.to_owned()));
    }
    (!asked.plans.is_empty()).then_some(asked)
}

fn told(compared: &[Compared]) -> ExitCode {
    for of in compared {
        let Compared { requests, rows, .. } = of;
        let equal = if of.differences.is_empty() {
            "equal"
        } else {
            "DIFFERS"
        };
        println!(
            "{}: {equal} ({requests} requests, {rows} rows)",
            of.plan.display()
        );
        for difference in &of.differences {
            println!("  {}", difference.trim_end().replace('\n', "\n  "));
        }
    }
    let differing = compared.iter().filter(|of| !of.differences.is_empty());
    let count = differing.count();
    println!("{count} of {} plans differ", compared.len());
    ExitCode::from(u8::from(count > 0))
}
