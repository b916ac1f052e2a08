//! Reads a script for the hosts that it is for, before anything starts.

use sokudo_model::{PhaseRecord, PhaseResult, Text};
use sokudo_monitors::Files;
use sokudo_scenario::console::rehearse;
use sokudo_scenario::line::{self, Line};
use sokudo_scenario::{Executor, Failed, HostInfo, LoadWord, Mistake, OrderedLoad, Phase};

use crate::words;

/// Mistakes that are told at most.
const MISTAKES_MAX: usize = 100;

/// The lines of a script for these hosts.
///
/// Errors: all mistakes of all lines, in order: what cannot be read, hosts that are not there, options
/// that a load does not have, values that they do not take.
pub fn read(text: &str, hosts: Vec<HostInfo>) -> Result<Vec<Line>, Vec<Mistake>> {
    let (lines, mut mistakes) = line::parse_each(text);
    let mut rehearsal = Rehearsal { hosts };
    let is_partial = !mistakes.is_empty();
    mistakes.extend(rehearse(&lines, &mut rehearsal, is_partial));
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.truncate(MISTAKES_MAX);
    match mistakes.is_empty() {
        true => Ok(lines),
        false => Err(mistakes),
    }
}

/// Hosts that do nothing: every load counts as carried out.
struct Rehearsal {
    hosts: Vec<HostInfo>,
}

impl Executor for Rehearsal {
    /// Clocks count as exact: how well they are known shows when they are compared.
    fn hosts(&self) -> Vec<HostInfo> {
        let exact = |host: &HostInfo| HostInfo {
            clock_error_seconds: 0.0,
            ..host.clone()
        };
        self.hosts.iter().map(exact).collect()
    }

    fn words(&self) -> Vec<LoadWord> {
        words::words()
    }

    fn read(&self, word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed> {
        words::read(word, arguments)
    }

    fn carry_out(&mut self, phase: &Phase) -> Result<PhaseRecord, Failed> {
        let result = PhaseResult::default();
        Ok(PhaseRecord::plain(&phase.name, "", (0, 0), result))
    }

    fn stalls(&mut self, _: &PhaseRecord) -> Vec<Text> {
        Vec::new()
    }

    fn pause(&mut self, _: u64) -> Result<(), Failed> {
        Ok(())
    }

    fn sync_time(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn monitor(&mut self, _: u64) -> Result<(), Failed> {
        Ok(())
    }

    fn observe(&mut self, monitor: &str) -> Result<(), Failed> {
        let spec = sokudo_monitors::parse(monitor, Files::Refused);
        spec.map(drop)
            .map_err(|bad| Failed::new(bad.to_string(), bad.hint()))
    }

    fn note(&mut self, _: Text) {}

    fn say(&mut self, _: &Text) {}

    fn missing(&mut self, _: Text) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(count: u32) -> Vec<HostInfo> {
        let host = |number: u32| HostInfo {
            number,
            name: format!("host{number}"),
            address: format!("192.0.2.{number}"),
            os: "linux".into(),
            cores: 1,
            clock_offset_seconds: 0.0,
            clock_error_seconds: 1.0,
        };
        (1..=count).map(host).collect()
    }

    /// Line and begin of each mistake.
    #[track_caller]
    fn check(text: &str, expected: &[(u32, &str)]) {
        let mistakes = read(text, hosts(4)).err().unwrap_or_default();
        let found: Vec<(u32, &str)> = mistakes.iter().map(|m| (m.line, m.says.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for ((line, says), (wanted, begin)) in found.iter().zip(expected) {
            assert_eq!((line, says.contains(begin)), (wanted, true), "{found:#?}");
        }
    }

    #[test]
    fn a_script_without_mistakes_has_none() {
        check(
            "syncTime 1us\nnode 1 set connectnode 3\nnode 2 set connectnode 4\nall enter\n\
             all sendreceive-n 1MB 10\nwaitallresults 2 60s\nnode 1 rr 3 --size 1KiB\nquit",
            &[],
        );
    }

    #[test]
    fn all_mistakes_of_all_lines_are_found() {
        check(
            "syncTime\n\
             node 9 connectnode 2\n\
             node 1 connectnode 8\n\
             node 1 sendreceive-n 1MB 10\n\
             nonsense\n\
             node 2 set rr 3 --colour red\n\
             all enter\n\
             node 3 stream 4 --duration soon\n\
             monitor weather:every=1s\n\
             waittime x",
            &[
                (2, "there is no host `9`"),
                (3, "there is no host `8`"),
                (5, "nonsense"),
                (6, "--colour"),
                (8, "soon"),
                (9, "weather"),
                (10, "x"),
            ],
        );
    }

    #[test]
    fn a_missing_order_is_a_mistake_where_nothing_else_explains_it() {
        check(
            "node 1 enter\nnode 2 sendreceive-n 1MB 10",
            &[
                (1, "nothing stands in the input field"),
                (2, "is not connected"),
            ],
        );
    }
}
