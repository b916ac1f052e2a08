//! Writes a script in which pairs of the given hosts exchange data.
//!
//! The script is a starting point for people to change. It consists of console lines, as written by the
//! group tester's button, or of JavaScript.

use std::fmt::Write as _;

use sokudo_model::units::counted;
use sokudo_model::{Bytes, Text};

use crate::execute::{Failed, HostInfo};

/// The exchange of each pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairExchange {
    /// Number of pairs; `None` = as many as there are.
    pub pairs: Option<u32>,
    /// Bytes each way, as typed: `1MB`.
    pub size: String,
    /// Number of exchanges.
    pub times: u64,
    /// Both ways at once.
    pub duplex: bool,
}

/// Numbers of the hosts of each pair: the first half with the second half.
///
/// Errors: fewer hosts than the pairs need.
pub fn pairs(hosts: &[HostInfo], wanted: Option<u32>) -> Result<Vec<(u32, u32)>, Failed> {
    let half = hosts.len() / 2;
    let wanted = wanted.map_or(half.max(1), |wanted| wanted as usize);
    if wanted == 0 || wanted > half {
        return Err(Failed::new(
            Text::new("error-scenario-pairs")
                .with("pairs", wanted)
                .with("hosts", hosts.len()),
            match half {
                0 => Text::new("error-scenario-pairs-hint-none"),
                _ => Text::new("error-scenario-pairs-hint").with("most", half),
            },
        ));
    }
    let number = |index: usize| hosts[index].number;
    Ok((0..wanted)
        .map(|index| (number(index), number(half + index)))
        .collect())
}

impl PairExchange {
    /// Errors: nothing would be exchanged.
    fn check(&self) -> Result<(), Failed> {
        if self.times == 0 {
            return Err(Failed::new(
                Text::new("error-scenario-times-0"),
                Text::new("error-scenario-times-0-hint"),
            ));
        }
        match self.size.parse::<Bytes>() {
            Ok(Bytes(0)) => Err(Failed::new(
                Text::new("error-scenario-size-0"),
                Text::new("error-scenario-size-0-hint"),
            )),
            _ => Ok(()),
        }
    }
}

/// Console lines: each pair connects, all pairs exchange at the same moment.
///
/// Errors: as [`pairs`]; nothing would be exchanged.
pub fn lines(hosts: &[HostInfo], exchange: &PairExchange) -> Result<String, Failed> {
    exchange.check()?;
    let pairs = pairs(hosts, exchange.pairs)?;
    let mut out = listed(hosts, "#");
    out.push_str("\nsyncTime\n\n# who talks with whom\n");
    for (one, other) in &pairs {
        let _ = writeln!(out, "node {one} set connectnode {other}");
    }
    let duplex = if exchange.duplex { " --duplex" } else { "" };
    let (size, times, n) = (&exchange.size, exchange.times, pairs.len());
    let asking: Vec<String> = pairs.iter().map(|(one, _)| one.to_string()).collect();
    let asking = asking.join(",");
    let _ = write!(
        out,
        "all enter\nwaitallresults {n} 30s\n\n# all of them at the same moment\n\
         node {asking} set sendreceive-n {size} {times}{duplex}\nall enter\n\
         waitallresults {n} 10min\n"
    );
    Ok(out)
}

/// The same as JavaScript, with the same errors.
pub fn javascript(hosts: &[HostInfo], exchange: &PairExchange) -> Result<String, Failed> {
    exchange.check()?;
    let pairs = pairs(hosts, exchange.pairs)?;
    let mut out = String::from("/// <reference path=\"sokudo.d.ts\" />\n");
    out.push_str(&listed(hosts, "//"));
    out.push_str("\nconst who = [\n");
    for (one, other) in &pairs {
        let _ = writeln!(out, "  [{one}, {other}],");
    }
    let (size, times, duplex) = (&exchange.size, exchange.times, exchange.duplex);
    let _ = write!(
        out,
        "];\n\nsyncTime();\nphase(\"connect\", who.map(([one, other]) => connect(one, other)));\n\
         const result = phase(\n  \"exchange\",\n  who.map(([one, other]) => \
         sendreceive(one, other, \"{size}\", {times}, {{ duplex: {duplex} }})),\n  \
         {{ timeout: \"10min\" }},\n);\n\
         if (result.dead.length > 0) note(\"no result: \" + result.dead.join(\", \"));\n"
    );
    Ok(out)
}

/// The hosts as remarks.
fn listed(hosts: &[HostInfo], mark: &str) -> String {
    let mut out = String::new();
    for host in hosts {
        let HostInfo {
            number,
            name,
            address,
            os,
            cores,
            ..
        } = host;
        // Names come from other machines: a line end in one would begin a command.
        let clean = |text: &str| text.replace(char::is_control, " ");
        let _ = writeln!(
            out,
            "{mark} {number:>3}  {:<16} {:<16} {}, {}",
            clean(name),
            clean(address),
            clean(os),
            counted(*cores, "core")
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::{Console, Pace};
    use crate::execute::Executor as _;
    use crate::remembering::Remembering;
    use crate::script::{Limits, Outside, run};

    fn exchange(pairs: Option<u32>) -> PairExchange {
        PairExchange {
            pairs,
            size: "1MB".into(),
            times: 1000,
            duplex: true,
        }
    }

    fn lab(count: u32) -> Remembering {
        Remembering {
            count,
            ..Remembering::default()
        }
    }

    fn flows(lab: &Remembering) -> Vec<Vec<(u32, u32, u32)>> {
        let parts =
            |phase: &crate::Phase| phase.parts.iter().flat_map(|p| p.flows.clone()).collect();
        lab.phases.iter().map(parts).collect()
    }

    #[test]
    fn both_scripts_do_the_same() {
        let mut by_lines = lab(6);
        let text = lines(&by_lines.hosts(), &exchange(Some(2))).expect("lines");
        let mut console = Console::new(Pace::Gather);
        for line in crate::line::parse(&text).expect("a script") {
            console.execute(&line, &mut by_lines).expect("carried out");
        }
        let text = javascript(&by_lines.hosts(), &exchange(Some(2))).expect("a scenario");
        let outside = Outside {
            now_ns: Box::new(|| 0),
            stop: Box::new(|| false),
            seed: 1,
            parameters: Vec::new(),
        };
        let ended = run(&text, lab(6), outside, Limits::default());
        ended.outcome.expect("carried out");
        let by_script = ended.executor;
        assert_eq!(flows(&by_lines), flows(&by_script));
        assert_eq!(flows(&by_lines)[1], [(1, 4, 0), (2, 5, 0)]);
        assert_eq!(by_lines.phases[1].parts[0].workload, "rr");
    }

    #[test]
    fn too_many_pairs_are_refused() {
        let hosts = lab(5).hosts();
        assert_eq!(pairs(&hosts, None).expect("pairs"), [(1, 3), (2, 4)]);
        assert!(pairs(&hosts, Some(3)).is_err());
        assert!(pairs(&[], None).is_err());
    }

    #[test]
    fn a_strange_name_begins_no_command() {
        let mut hosts = lab(2).hosts();
        hosts[0].name = "a\nall rr 1".into();
        let text = lines(&hosts, &exchange(None)).expect("lines");
        assert!(!text.lines().any(|line| line.starts_with("all rr")));
    }
}
