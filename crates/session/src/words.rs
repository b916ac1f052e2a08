//! Workloads that a scenario can name, with the parser of their options.
//!
//! Options are read as the workload's own subcommand reads them.

use clap::{Arg, ArgAction, Command};
use sokudo_load_http::http::HttpOptions;
use sokudo_load_network::bus::BusOptions;
use sokudo_load_network::crr::CrrOptions;
use sokudo_load_network::datagram::DatagramOptions;
use sokudo_load_network::dns::DnsOptions;
use sokudo_load_network::probe::ProbeOptions;
use sokudo_load_network::rr::RrOptions;
use sokudo_load_network::stream::StreamOptions;
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_load_sql::dbt1::Dbt1Options;
use sokudo_load_sql::dbt2::Dbt2Options;
use sokudo_load_sql::dbt3::Dbt3Options;
use sokudo_load_sql::sqlmix::SqlmixOptions;
use sokudo_load_sql::tpcb::TpcbOptions;
use sokudo_model::{Text, kinds};
use sokudo_monitors::Files;
use sokudo_scenario::{Failed, LoadWord, OrderedLoad};
use sokudo_workload::Options;

use crate::loaded::LoadedServer;
use crate::plan;
use crate::typed::not_understood;

/// Name of the argument that takes the peers.
const PEERS: &str = "peers";

/// One word and its parser.
struct Entry {
    name: &'static str,
    takes_url: bool,
    read: fn(&[String]) -> Result<OrderedLoad, Failed>,
    of_hosts: fn(&str, u32) -> Option<String>,
    loads: fn(&str) -> Option<LoadedServer>,
}

/// A load between hosts.
const fn between<O: Options>() -> Entry {
    Entry {
        name: O::NAME,
        takes_url: false,
        read: between_hosts::<O>,
        of_hosts: many::<O>,
        loads: server_of::<O>,
    }
}

/// A load on a server that is named by its address.
const fn server<O: Options>() -> Entry {
    Entry {
        name: O::NAME,
        takes_url: true,
        read: on_a_server::<O>,
        of_hosts: many::<O>,
        loads: server_of::<O>,
    }
}

/// A load on a database that is named by its data source name.
const fn database<O: Options>() -> Entry {
    Entry {
        name: O::NAME,
        takes_url: true,
        read: on_a_database::<O>,
        of_hosts: many::<O>,
        loads: server_of::<O>,
    }
}

/// Every word that loads.
const WORDS: &[Entry] = &[
    between::<BusOptions>(),
    between::<CrrOptions>(),
    between::<DatagramOptions>(),
    database::<Dbt1Options>(),
    database::<Dbt2Options>(),
    database::<Dbt3Options>(),
    server::<DnsOptions>(),
    server::<HttpOptions>(),
    between::<ProbeOptions>(),
    between::<ReplicateOptions>(),
    between::<RrOptions>(),
    database::<SqlmixOptions>(),
    between::<StreamOptions>(),
    database::<TpcbOptions>(),
];

/// Workloads that are not words here, with the key of the message that says what to do instead.
const ELSEWHERE: &[(&str, &str)] = &[
    (kinds::jmx::KIND.name, "error-scenario-word-hint-plan"),
    ("together", "error-scenario-word-hint-together"),
];

/// The words that load.
pub fn words() -> Vec<LoadWord> {
    let word = |entry: &Entry| LoadWord {
        name: entry.name,
        takes_url: entry.takes_url,
    };
    WORDS.iter().map(word).collect()
}

/// The same, and those that name files of this host where that may be.
pub fn with_files(files: Files) -> Vec<LoadWord> {
    let plan = (files == Files::Readable).then_some(plan::WORD);
    words().into_iter().chain(plan).collect()
}

/// Reads a word and what follows it, which may name files of this host where that may be.
pub fn read_with_files(
    word: &str,
    arguments: &[String],
    files: Files,
) -> Result<OrderedLoad, Failed> {
    match (word == plan::WORD.name, files) {
        (true, Files::Readable) => plan::read(arguments),
        (_, Files::Readable | Files::Refused) => read(word, arguments),
    }
}

/// Reads a word and what follows it.
pub fn read(word: &str, arguments: &[String]) -> Result<OrderedLoad, Failed> {
    let entry = WORDS.iter().find(|entry| entry.name == word);
    let entry = entry.ok_or_else(|| {
        let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == word);
        let hint = elsewhere.map_or_else(
            || {
                let known: Vec<&str> = WORDS.iter().map(|entry| entry.name).collect();
                Text::new("error-scenario-word-hint").word("words", known.join(", "))
            },
            |(_, instead)| Text::new(*instead),
        );
        Failed::new(Text::new("error-scenario-word").word("word", word), hint)
    })?;
    (entry.read)(arguments)
}

/// Options of several hosts together, from those of each: a load that is divided among its hosts
/// grows with them.
pub fn of_hosts(workload: &str, options: &str, hosts: u32) -> String {
    let entry = WORDS.iter().find(|entry| entry.name == workload);
    let more = entry.filter(|_| hosts > 1);
    let more = more.and_then(|entry| (entry.of_hosts)(options, hosts));
    more.unwrap_or_else(|| options.to_owned())
}

/// See [`Options::of_hosts`]; `None` for options that cannot be read, which the load itself refuses.
fn many<O: Options>(options: &str, hosts: u32) -> Option<String> {
    let each: O = serde_json::from_str(options).ok()?;
    Some(each.of_hosts(hosts).to_json())
}

/// The server outside the run that a load with these options loads; `None` for a load between hosts, and for options
/// that cannot be read, which the load itself refuses.
pub fn loaded_server(workload: &str, options: &str) -> Option<LoadedServer> {
    if workload == plan::WORD.name {
        return Some(LoadedServer::OF_PLAN);
    }
    let entry = WORDS.iter().find(|entry| entry.name == workload)?;
    (entry.loads)(options)
}

/// See [`loaded_server`].
fn server_of<O: Options>(options: &str) -> Option<LoadedServer> {
    let options: O = serde_json::from_str(options).ok()?;
    Some(LoadedServer::of(&options)).filter(|server| *server != LoadedServer::NOBODY)
}

/// Options as typed, read by the workload's own subcommand.
fn typed<O: Options>(command: Command, arguments: &[String]) -> Result<(O, Vec<String>), Failed> {
    let no_word = |error: clap::Error| {
        let refusal = not_understood(&error, O::NAME);
        Failed::from(refusal)
    };
    let mut matches = command.try_get_matches_from(arguments).map_err(no_word)?;
    let peers = matches.try_remove_many::<String>(PEERS).ok().flatten();
    let options = O::from_arg_matches(&matches).map_err(no_word)?;
    options.validate().map_err(Failed::from)?;
    Ok((options, peers.map(Iterator::collect).unwrap_or_default()))
}

fn bare<O: Options>() -> Command {
    let bare = Command::new(O::NAME)
        .no_binary_name(true)
        .disable_help_flag(true);
    O::augment_args(bare)
}

fn between_hosts<O: Options>(arguments: &[String]) -> Result<OrderedLoad, Failed> {
    let peers = Arg::new(PEERS).action(ArgAction::Append).num_args(0..);
    let (options, peers) = typed::<O>(bare::<O>().arg(peers), arguments)?;
    let among = 1 + peers.len().max(1) as u32;
    Ok(asked(&options, peers, among))
}

fn on_a_server<O: Options>(arguments: &[String]) -> Result<OrderedLoad, Failed> {
    let (options, _) = typed::<O>(bare::<O>(), arguments)?;
    // Lines also come from a page: it must not send what this host's files hold.
    if let Some(option) = options.names_file() {
        let name = O::NAME;
        return Err(Failed::new(
            Text::new("error-scenario-no-files")
                .word("option", option)
                .word("workload", name),
            Text::new("error-scenario-no-files-hint")
                .word("option", option)
                .word("workload", name),
        ));
    }
    Ok(asked(&options, Vec::new(), 1))
}

/// The database comes first, without the name of its option.
fn on_a_database<O: Options>(arguments: &[String]) -> Result<OrderedLoad, Failed> {
    let is_named = arguments
        .first()
        .is_some_and(|first| !first.starts_with('-'));
    let option = is_named.then(|| "--target".to_owned());
    let arguments: Vec<String> = option
        .into_iter()
        .chain(arguments.iter().cloned())
        .collect();
    on_a_server::<O>(&arguments)
}

fn asked<O: Options>(options: &O, peers: Vec<String>, among: u32) -> OrderedLoad {
    let flows = options.flows(among);
    OrderedLoad {
        workload: O::NAME.into(),
        options: options.to_json(),
        duration_ns: options.duration_ns(),
        peers,
        flows: flows.iter().map(|f| (f.from, f.to, f.stream)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};
    use sokudo_scenario::vocabulary;

    use super::*;

    fn said(words: &[&str]) -> Result<OrderedLoad, Failed> {
        let arguments: Vec<String> = words[1..].iter().map(|w| (*w).to_owned()).collect();
        read(words[0], &arguments)
    }

    #[test]
    fn peers_and_options_stand_in_any_order() {
        let rr = said(&["rr", "2", "--size", "1MB", "3", "--count=5"]).expect("a load");
        assert_eq!(rr.peers, ["2", "3"]);
        assert_eq!(rr.flows, [(0, 1, 0), (0, 2, 0)]);
        assert_eq!(rr.duration_ns, 0);
        let both = said(&["stream", "--direction", "both"]).expect("a load");
        assert_eq!((both.peers.len(), both.flows.len()), (0, 2));
    }

    #[test]
    fn what_a_command_refuses_is_refused_here_with_a_hint() {
        for wrong in [
            &["rr", "--colour", "red"][..],
            &["rr", "--count", "0"],
            &["stream", "--transport", "udp"],
            &["http", "-c", "4"],
            &["http", "http://server/", "-b", "@/etc/hostname"],
            &["jmx", "plan.jmx"],
            &["nothing"],
        ] {
            let failed = said(wrong).expect_err("refused");
            assert!(failed.hint.is_some(), "{wrong:?}: {failed}");
        }
    }

    #[test]
    fn a_server_is_named_by_its_address_and_every_host_gives_the_whole_load() {
        let http = said(&["http", "http://server:8080/x", "-c", "4", "--rate", "10/s"]);
        let http = http.expect("a load");
        assert_eq!(
            (http.flows.as_slice(), http.peers.len()),
            (&[(0, 0, 0)][..], 0)
        );
        let three = of_hosts("http", &http.options, 3);
        let three: HttpOptions = serde_json::from_str(&three).expect("options");
        assert_eq!(three.connections, 12);
        assert_eq!(three.rate, Some("30/s".parse().unwrap()));
        let rr = said(&["rr", "2", "--count=5"]).expect("a load");
        assert_eq!(of_hosts("rr", &rr.options, 3), rr.options);
    }

    /// The next workload becomes a word, or somebody says why not.
    #[test]
    fn every_workload_is_a_word_and_every_word_is_explained() {
        let words: Vec<&str> = WORDS.iter().map(|entry| entry.name).collect();
        let mut all = words.clone();
        all.extend(ELSEWHERE.iter().map(|(name, _)| *name));
        all.sort_unstable();
        let registry = sokudo_workloads::all().map(|workload| workload.descriptor().name);
        let mut registry: Vec<&str> = registry.collect();
        registry.sort_unstable();
        assert_eq!(
            all, registry,
            "a workload is missing among the words of the console"
        );
        let types = sokudo_scenario::script::TYPES;
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");
        for lang in ["en", "ja"] {
            let page =
                std::fs::read_to_string(format!("{docs}/{lang}/console.md")).expect("a page");
            for word in &words {
                assert!(
                    types.contains(&format!("declare function {word}(")),
                    "{word}"
                );
                assert!(page.contains(&format!("`{word}`")), "{lang}: {word}");
            }
            for entry in vocabulary::CONSOLE.iter().chain(vocabulary::HOST) {
                for spelling in std::iter::once(&entry.name).chain(entry.also) {
                    assert!(page.contains(&format!("`{spelling}")), "{lang}: {spelling}");
                }
            }
        }
    }

    #[test]
    fn every_word_is_a_workload_and_asks_its_question_in_every_language() {
        assert!(WORDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for word in words() {
            let workload = sokudo_workloads::find(word.name).expect("a workload");
            let asked = I18n::new(Lang::En).message(&word.question_key(), &[]);
            assert_eq!(asked, workload.descriptor().question, "{}", word.name);
            assert!(I18n::new(Lang::Ja).has(&word.question_key()));
        }
    }
}
