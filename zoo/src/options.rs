//! Reads the command line.

use std::path::PathBuf;

use sokudo_testkit::program::sokudo_bin;

/// Usage of the program.
pub const USAGE: &str = "\
sokudo-zoo [CASE…] [--seeds N] [--binary PATH] [--few] [--keep FOLDER] [--write]
sokudo-zoo --list

CASE            run these alone; a beginning of a name stands for all cases with it
--seeds N       runs of each case; two have both strengths (default: 2)
--binary PATH   the program under test (default: `sokudo` beside this one)
--few           the cases that are robust on a busy machine, once each: those of the tests
--keep FOLDER   keep the records of runs that were not judged right
--write         write docs/reference/{en,ja}/zoo.md
--list          print the cases";

/// Request of the command line.
#[derive(Debug)]
pub enum Asked {
    /// The usage.
    Help,
    /// The names of the cases.
    List,
    /// A server of the zoo's own, in this manner.
    Serve(Vec<String>),
    /// Runs.
    Run(Options),
}

/// Options of the runs.
#[derive(Debug)]
pub struct Options {
    /// Beginnings of names; empty means all.
    pub cases: Vec<String>,
    /// Runs of each case.
    pub seeds: u64,
    /// The program under test.
    pub binary: PathBuf,
    /// Only the robust cases.
    pub few: bool,
    /// Folder for the records of runs that were not judged right.
    pub keep: Option<PathBuf>,
    /// Write the page.
    pub write: bool,
}

/// Reads the words after the program's name. Errors: a word that means nothing.
pub fn parse(words: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut words = words.peekable();
    match words.peek().map(String::as_str) {
        Some("help" | "-h" | "--help") => return Ok(Asked::Help),
        Some("--list") => return Ok(Asked::List),
        Some("serve") => return Ok(Asked::Serve(words.skip(1).collect())),
        _ => {}
    }
    let (mut cases, mut seeds, mut binary) = (Vec::new(), 2, None);
    let (mut few, mut keep, mut write) = (false, None, false);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
        match word.as_str() {
            "--seeds" => {
                let text = value()?;
                let number = text.parse().ok().filter(|n| *n > 0);
                seeds = number.ok_or(format!("`{text}` is not a number of runs"))?;
            }
            "--binary" => binary = Some(PathBuf::from(value()?)),
            "--keep" => keep = Some(PathBuf::from(value()?)),
            "--few" => few = true,
            "--write" => write = true,
            option if option.starts_with('-') => return Err(format!("no option `{option}`")),
            _ => cases.push(word),
        }
    }
    let binary = match binary {
        Some(path) => path
            .canonicalize()
            .map_err(|why| format!("no program `{}`: {why}", path.display()))?,
        None => sokudo_bin(),
    };
    Ok(Asked::Run(Options {
        cases,
        seeds,
        binary,
        few,
        keep,
        write,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn cases_and_options_may_be_mixed() {
        let Ok(Asked::Run(options)) = asked("loss --seeds 3 delay --binary /bin/sh") else {
            panic!("it asks for runs");
        };
        assert_eq!(options.cases, ["loss", "delay"]);
        assert_eq!((options.seeds, options.write), (3, false));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for line in [
            "--seed 3",
            "--seeds",
            "--seeds 0 --binary /bin/sh",
            "--binary /no/such",
        ] {
            assert!(asked(line).is_err(), "{line}");
        }
    }
}
