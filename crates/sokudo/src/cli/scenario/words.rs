//! Which workloads can a scenario name, and how are their options read?
//!
//! As their own subcommands read them: one type per workload, one parser.

use clap::{Arg, ArgAction, Command};
use sokudo_scenario::{Failed, Load as Asked};
use sokudo_workloads::bus::BusOptions;
use sokudo_workloads::crr::CrrOptions;
use sokudo_workloads::datagram::DatagramOptions;
use sokudo_workloads::probe::ProbeOptions;
use sokudo_workloads::rr::RrOptions;
use sokudo_workloads::stream::StreamOptions;

use crate::cli::load::Load;
use crate::cli::not_understood;

/// Name of the argument that takes the peers.
const PEERS: &str = "peers";

/// One word and its parser.
struct Entry {
    name: &'static str,
    read: fn(&[String]) -> Result<Asked, Failed>,
}

const fn entry<O: Load>() -> Entry {
    Entry {
        name: O::NAME,
        read: read_as::<O>,
    }
}

/// Every word that loads.
const WORDS: &[Entry] = &[
    entry::<BusOptions>(),
    entry::<CrrOptions>(),
    entry::<DatagramOptions>(),
    entry::<ProbeOptions>(),
    entry::<RrOptions>(),
    entry::<StreamOptions>(),
];

/// The words with the questions that they answer.
pub fn words() -> Vec<(&'static str, &'static str)> {
    let question = |name| sokudo_workloads::find(name).map_or("", |w| w.descriptor().question);
    let each = WORDS.iter();
    each.map(|entry| (entry.name, question(entry.name)))
        .collect()
}

/// Reads a word and what follows it.
pub fn read(word: &str, arguments: &[String]) -> Result<Asked, Failed> {
    let entry = WORDS.iter().find(|entry| entry.name == word);
    let entry = entry.ok_or_else(|| {
        let known: Vec<&str> = WORDS.iter().map(|entry| entry.name).collect();
        Failed::new(
            format!("there is no word `{word}`"),
            format!("words that load: {}", known.join(", ")),
        )
    })?;
    (entry.read)(arguments)
}

fn read_as<O: Load>(arguments: &[String]) -> Result<Asked, Failed> {
    let no_word = |error: clap::Error| {
        let failure = not_understood(&error.render().to_string(), Some(O::NAME.into()));
        Failed {
            says: failure.says().into(),
            hint: failure.hint().map(str::to_owned),
            interrupted: false,
        }
    };
    let peers = Arg::new(PEERS).action(ArgAction::Append).num_args(0..);
    let bare = Command::new(O::NAME)
        .no_binary_name(true)
        .disable_help_flag(true);
    let command = O::augment_args(bare).arg(peers);
    let mut matches = command.try_get_matches_from(arguments).map_err(no_word)?;
    let peers: Vec<String> = matches
        .remove_many::<String>(PEERS)
        .map(Iterator::collect)
        .unwrap_or_default();
    let options = O::from_arg_matches(&matches).map_err(no_word)?;
    options.validate().map_err(|refusal| Failed {
        says: refusal.says,
        hint: refusal.hint,
        interrupted: false,
    })?;
    let flows = options.flows(1 + peers.len().max(1) as u32);
    Ok(Asked {
        workload: O::NAME.into(),
        options: options.to_json(),
        duration_ns: options.duration_ns(),
        peers,
        flows: flows.iter().map(|f| (f.from, f.to, f.stream)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked, Failed> {
        let arguments: Vec<String> = words[1..].iter().map(|w| (*w).to_owned()).collect();
        read(words[0], &arguments)
    }

    #[test]
    fn peers_and_options_stand_in_any_order() {
        let rr = asked(&["rr", "2", "--size", "1MB", "3", "--count=5"]).expect("a load");
        assert_eq!(rr.peers, ["2", "3"]);
        assert_eq!(rr.flows, [(0, 1, 0), (0, 2, 0)]);
        assert_eq!(rr.duration_ns, 0);
        let both = asked(&["stream", "--direction", "both"]).expect("a load");
        assert_eq!((both.peers.len(), both.flows.len()), (0, 2));
    }

    #[test]
    fn what_a_command_refuses_is_refused_here_with_a_hint() {
        for wrong in [
            &["rr", "--colour", "red"][..],
            &["rr", "--count", "0"],
            &["stream", "--transport", "udp"],
            &["nothing"],
        ] {
            let failed = asked(wrong).expect_err("refused");
            assert!(failed.hint.is_some(), "{wrong:?}: {}", failed.says);
        }
    }

    #[test]
    fn every_word_is_a_workload() {
        assert!(WORDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(words().iter().all(|(_, question)| !question.is_empty()));
    }
}
