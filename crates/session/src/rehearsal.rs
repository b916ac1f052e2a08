//! Reads a script for the hosts that it is for, before anything starts.

use std::time::Instant;

use sokudo_model::{FlowResult, PhaseRecord, PhaseResult, Text};
use sokudo_monitors::Files;
use sokudo_scenario::console::rehearse;
use sokudo_scenario::line::{self, Command, Line, Order};
use sokudo_scenario::script::{self, Open, Outside, Rehearsed};
use sokudo_scenario::{
    Executor, Failed, HostInfo, LoadWord, Mistake, NamedSettings, OrderedLoad, Phase,
};

use crate::{settings, words};

/// Mistakes that are told at most.
const MISTAKES_MAX: usize = 100;

/// The lines of a script for these hosts.
///
/// Errors: all mistakes of all lines, in order: what cannot be read, hosts that are not there, options
/// that a load does not have, values that they do not take.
pub fn read(text: &str, hosts: Vec<HostInfo>) -> Result<Vec<Line>, Vec<Mistake>> {
    let (lines, mut mistakes) = line::parse_each(text);
    let mut rehearsal = Rehearsal {
        hosts,
        files: Files::Refused,
    };
    let is_partial = !mistakes.is_empty();
    mistakes.extend(rehearse(&lines, &mut rehearsal, is_partial));
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.truncate(MISTAKES_MAX);
    match mistakes.is_empty() {
        true => Ok(lines),
        false => Err(mistakes),
    }
}

/// Mistakes of a script that can be told without its hosts: what cannot be read, options that a load does
/// not have, values that they do not take.
pub fn mistakes_without_hosts(text: &str) -> Vec<Mistake> {
    let (lines, mut mistakes) = line::parse_each(text);
    mistakes.extend(lines.iter().filter_map(unreadable));
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.truncate(MISTAKES_MAX);
    mistakes
}

/// Mistake in the workload of a line: its word, or its options.
fn unreadable(line: &Line) -> Option<Mistake> {
    let Command::Order { order, .. } = &line.command else {
        return None;
    };
    let order = match order {
        Order::Set(order) => order.as_ref(),
        order => order,
    };
    let Order::Load { word, arguments } = order else {
        return None;
    };
    let arguments: Vec<String> = arguments.iter().map(|word| word.text.clone()).collect();
    let failed = words::read(&word.text, &arguments).err()?;
    let hint = failed.hint.unwrap_or_else(|| Text::words(""));
    let mut mistake = Mistake::at(word.column, failed.says, hint);
    mistake.line = line.number;
    Some(mistake)
}

/// Rehearses a program for these hosts: all mistakes that can be found without carrying anything out,
/// and what could not be rehearsed.
pub fn rehearse_program(
    text: &str,
    hosts: Vec<HostInfo>,
    seed: u64,
    set: Vec<(String, String)>,
    files: Files,
) -> Rehearsed {
    let begun = Instant::now();
    let outside = Outside {
        now_ns: Box::new(move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)),
        stop: Box::new(|| false),
        seed,
        parameters: set,
    };
    script::rehearse(text, Rehearsal { hosts, files }, outside)
}

/// Sentence about what could not be rehearsed.
pub fn left_open(open: Open) -> Text {
    match open {
        Open::Results(line) => Text::new("cli-rehearsed-results").word("line", line.to_string()),
        Open::Long => Text::new("cli-rehearsed-long"),
    }
}

/// Hosts that do nothing: every load counts as carried out.
struct Rehearsal {
    hosts: Vec<HostInfo>,
    files: Files,
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
        words::with_files(self.files)
    }

    fn read(&self, word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed> {
        words::read_with_files(word, arguments, self.files)
    }

    fn carry_out(&mut self, phase: &Phase) -> Result<PhaseRecord, Failed> {
        let name = |number: u32| {
            let host = self.hosts.iter().find(|host| host.number == number);
            host.map_or_else(String::new, |host| host.name.clone())
        };
        let flows = phase.parts.iter().flat_map(|part| &part.flows);
        let flows = flows.map(|(from, to, _)| FlowResult {
            from: name(*from),
            to: name(*to),
            complete: true,
            ..FlowResult::default()
        });
        let result = PhaseResult {
            flows: flows.collect(),
            ..PhaseResult::default()
        };
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
            .map_err(|bad| Failed::new(bad.text(), bad.hint()))
    }

    fn set_knobs(&mut self, _: &[(String, String)]) -> Result<(), Failed> {
        Ok(())
    }

    fn put_knobs_back(&mut self) {}

    fn hold_settings(&mut self, target: &str, profiles: &[NamedSettings]) -> Result<(), Failed> {
        settings::read(target, profiles)?;
        Ok(())
    }

    fn apply_settings(&mut self, _: usize) -> Result<(), Failed> {
        Ok(())
    }

    fn release_settings(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn note(&mut self, _: Text) {}

    fn say(&mut self, _: &Text) {}

    fn missing(&mut self, _: Text) {}
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::english;

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
        let found: Vec<(u32, String)> = mistakes
            .iter()
            .map(|m| (m.line, english(&m.says)))
            .collect();
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

    /// Words, options and values of loads are those of the program.
    #[test]
    fn programs_are_rehearsed_with_the_words_of_loads() {
        let wrong = "phase(\"a\", rr(1, 2, {colour: \"red\"}));\n\
                     phase(\"b\", stream(1, 2, {duration: \"soon\"}));\n\
                     monitor(\"weather:every=1s\");\n\
                     phase(\"c\", http(1, \"ftp://h/\"));";
        let found = rehearse_program(wrong, hosts(4), 1, Vec::new(), Files::Refused).mistakes;
        let lines: Vec<u32> = found.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [1, 2, 3, 4], "{found:#?}");
        for (mistake, part) in found.iter().zip(["colour", "soon", "weather", "ftp"]) {
            assert!(english(&mistake.says).contains(part), "{found:#?}");
        }
    }

    #[test]
    fn the_examples_are_without_mistakes() {
        for source in [
            include_str!("../../../examples/bus-mesh.js"),
            include_str!("../../../examples/datagram-mesh.js"),
            include_str!("../../../examples/pre-production.js"),
            include_str!("../../../examples/sql/settings.js"),
            include_str!("../../../examples/switch.js"),
            include_str!("../../../examples/wireless-echo.js"),
        ] {
            let found = rehearse_program(source, hosts(4), 1, Vec::new(), Files::Refused);
            assert_eq!(found.mistakes, [], "{source}");
            assert_ne!(found.open, Some(Open::Long), "{source}");
        }
    }
}
