//! The file of specifications: what goes where, how and when.
//!
//! ```toml
//! [defaults]                          # what every specification has that says nothing else
//! exclude = ["*.tmp"]
//!
//! [keys]                              # of the hosts, where they are not all the same
//! hostb = "sk1-…"
//!
//! [spec.web]
//! source = "/srv/web"
//! target = ["hostb:/srv/web", "hostc:/mirror/web"]
//! schedule = "mirror"
//! delete = true
//! ```
//!
//! Options have the names and values of the command line.

use std::collections::BTreeMap;

use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_model::{Refusal, Text};
use sokudo_workload::Options;
use sokudo_workload::refusal::operator;
use toml::{Table, Value};

use super::preset::Preset;
use super::schedule::Schedule;
use super::side::Side;
use super::words::Words;

/// Specifications of a file at most.
const MOST_SPECS: usize = 1_000;
/// Pairs of hosts of all specifications of a file at most: each has a thread.
const MOST_LEGS: usize = 1_000;
/// Records that are kept of each pair of hosts, where the file says nothing else.
const RECORDS: u32 = 10;
/// Time after which a mirror begins a new record.
const MIRROR: &str = "24h";

/// One pair of hosts of a specification.
#[derive(Debug, Clone, PartialEq)]
pub struct Leg {
    /// The other host, as typed.
    pub host: String,
    /// Everything that is asked of it.
    pub options: ReplicateOptions,
}

/// A specification.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// Each source to each target.
    pub legs: Vec<Leg>,
    /// Times at which it is carried out.
    pub schedule: Schedule,
    /// Records that are kept of each leg.
    pub records: usize,
}

/// Content of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecFile {
    /// In the order of their names.
    pub specs: Vec<Spec>,
    /// Keys of hosts, as typed.
    pub keys: BTreeMap<String, String>,
}

fn wrong(place: &str, why: impl Into<Text>) -> Refusal {
    operator(
        Text::new("error-specs-wrong")
            .word("place", place)
            .text("why", why.into()),
        Text::new("error-specs-wrong-hint"),
    )
}

/// Reads a file; `typed` are options for all specifications, which the file overrides.
pub fn read(text: &str, typed: &Words) -> Result<SpecFile, Refusal> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(&place_of(&error, text), error.message()))?;
    let mut file = SpecFile::default();
    let mut defaults = Table::new();
    let mut specs = Table::new();
    for (name, value) in table {
        match (name.as_str(), value) {
            ("defaults", Value::Table(table)) => defaults = table,
            ("spec", Value::Table(table)) => specs = table,
            ("keys", Value::Table(table)) => {
                for (host, key) in table {
                    let key = text_of(&format!("keys.{host}"), &key)?;
                    file.keys.insert(host, key);
                }
            }
            (other, _) => return Err(wrong(other, Text::new("error-specs-table"))),
        }
    }
    if specs.is_empty() || specs.len() > MOST_SPECS {
        return Err(wrong("spec", Text::new("error-specs-none")));
    }
    for (name, value) in specs {
        let place = format!("spec.{name}");
        let Value::Table(own) = value else {
            return Err(wrong(&place, Text::new("error-specs-table")));
        };
        let mut all = defaults.clone();
        all.extend(own);
        file.specs.push(spec(name, &place, all, typed)?);
        let legs = file.specs.iter().map(|spec| spec.legs.len());
        if legs.sum::<usize>() > MOST_LEGS {
            return Err(wrong(&place, Text::new("error-specs-none")));
        }
    }
    Ok(file)
}

fn place_of(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes()[..at].iter();
    format!("line {}", before.filter(|byte| **byte == b'\n').count() + 1)
}

fn spec(name: String, place: &str, all: Table, typed: &Words) -> Result<Spec, Refusal> {
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    let mut schedule = Schedule::Once;
    let mut records = RECORDS;
    let mut preset = Words::default();
    let mut own = Words::default();
    for (key, value) in all {
        let at = format!("{place}.{key}");
        match key.as_str() {
            "source" => sources = texts_of(&at, &value)?,
            "target" => targets = texts_of(&at, &value)?,
            "schedule" => {
                let asked = texts_of(&at, &value)?.join(", ").parse::<Schedule>();
                schedule = asked.map_err(|error| wrong(&at, error.text()))?;
            }
            "keep-records" => {
                let asked = value.as_integer().and_then(|n| u32::try_from(n).ok());
                records = asked.ok_or_else(|| wrong(&at, Text::new("error-specs-number")))?;
            }
            "preset" => {
                let asked = <Preset as clap::ValueEnum>::from_str(&text_of(&at, &value)?, false);
                let asked = asked.map_err(|_| wrong(&at, Text::new("error-specs-preset")))?;
                preset = Words::of(asked);
            }
            "pull" | "relay" | "dry-run" | "verify" | "interval" => {
                return Err(wrong(&at, Text::new("error-specs-option")));
            }
            "limit" => own.set(&key, vec![texts_of(&at, &value)?.join(", ")]),
            _ => own.set(&key, texts_of(&at, &value)?),
        }
    }
    if schedule == Schedule::Mirror {
        preset.set("mirror", vec![MIRROR.to_owned()]);
    }
    let mut words = preset;
    words.set_all(typed);
    words.set_all(&own);
    let options = words.read().map_err(|refusal| wrong(place, refusal.says))?;
    let is_mirror = schedule == Schedule::Mirror;
    if options.mirror.is_some() != is_mirror {
        return Err(wrong(place, Text::new("error-specs-mirror")));
    }
    Ok(Spec {
        legs: legs(place, &sources, &targets, &options)?,
        name,
        schedule,
        records: (records as usize).max(1),
    })
}

/// Each source to each target.
fn legs(
    place: &str,
    sources: &[String],
    targets: &[String],
    options: &ReplicateOptions,
) -> Result<Vec<Leg>, Refusal> {
    if sources.is_empty() || targets.is_empty() {
        return Err(wrong(place, Text::new("error-replicate-paths")));
    }
    if sources.len() * targets.len() > MOST_LEGS {
        return Err(wrong(place, Text::new("error-specs-none")));
    }
    let mut legs = Vec::new();
    let mut written = BTreeMap::new();
    for source in sources {
        for target in targets {
            let leg = leg(place, source, target, options)?;
            let host = (!leg.options.pull).then(|| leg.host.clone());
            // Removing what one source does not have removes what the other one has.
            if written
                .insert((host, leg.options.target.clone()), ())
                .is_some()
            {
                return Err(wrong(place, Text::new("error-specs-one-target")));
            }
            legs.push(leg);
        }
    }
    Ok(legs)
}

fn leg(
    place: &str,
    source: &str,
    target: &str,
    options: &ReplicateOptions,
) -> Result<Leg, Refusal> {
    let source = Side::parse(source);
    // A target of many sources has a directory for each.
    let of = source.host.as_deref().unwrap_or("localhost");
    let of: String = of
        .chars()
        .map(|c| if c == '/' || c == ':' { '_' } else { c })
        .collect();
    let target = Side::parse(&target.replace("{host}", &of));
    let (host, pull) = match (&source.host, &target.host) {
        (Some(host), None) => (host.clone(), true),
        (None, Some(host)) => (host.clone(), false),
        _ => return Err(wrong(place, Text::new("error-replicate-sides"))),
    };
    let path = |side: &Side| side.path().map_err(|error| wrong(place, error.to_string()));
    let options = ReplicateOptions {
        source: path(&source)?,
        target: path(&target)?,
        pull,
        ..options.clone()
    };
    options
        .validate()
        .map_err(|refusal| wrong(place, refusal.says))?;
    Ok(Leg { host, options })
}

fn text_of(place: &str, value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        _ => Err(wrong(place, Text::new("error-specs-value"))),
    }
}

fn texts_of(place: &str, value: &Value) -> Result<Vec<String>, Refusal> {
    match value {
        Value::Array(values) => values.iter().map(|one| text_of(place, one)).collect(),
        one => Ok(vec![text_of(place, one)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [defaults]
        exclude = ["*.tmp"]
        connections = 4

        [keys]
        hostb = "sk1-x"

        [spec.web]
        source = "/srv/web"
        target = ["hostb:/srv/web", "hostc:7005:/mirror/web"]
        schedule = "mirror"
        delete = true
        max-delete = 100
        limit = ["Mon-Fri 09:00-18:00 20Mb/s", "none"]

        [spec.gather]
        source = ["hostb:/var/log", "hostc:7005:/var/log"]
        target = "/backup/{host}"
        schedule = "every 15m"
        preset = "slow"
        connections = 1
        keep-records = 3
    "#;

    #[test]
    fn options_have_the_names_of_the_command_line() {
        let mut typed = Words::default();
        typed.set("durability", vec!["none".into()]);
        typed.set("connections", vec!["9".into()]);
        let file = read(FILE, &typed).unwrap();
        assert_eq!(file.keys["hostb"], "sk1-x");
        let [gather, web] = &file.specs[..] else {
            panic!("{file:?}");
        };
        assert_eq!((web.name.as_str(), web.records), ("web", 10));
        assert_eq!(web.schedule, Schedule::Mirror);
        let hosts: Vec<&str> = web.legs.iter().map(|leg| leg.host.as_str()).collect();
        assert_eq!(hosts, ["hostb", "hostc:7005"]);
        let options = &web.legs[1].options;
        assert_eq!(options.target, "/mirror/web");
        assert_eq!(options.connections, 4);
        assert_eq!(options.durability.to_possible_value(), "none");
        assert!(options.delete && !options.pull && options.mirror.is_some());
        assert_eq!(options.exclude, ["*.tmp"]);
        let limit = options.limit.as_ref().map(ToString::to_string);
        assert_eq!(
            limit.as_deref(),
            Some("Mon-Fri 09:00-18:00 20000000b/s, none")
        );
        let targets: Vec<&str> = gather
            .legs
            .iter()
            .map(|leg| leg.options.target.as_str())
            .collect();
        assert_eq!(targets, ["/backup/hostb", "/backup/hostc_7005"]);
        let options = &gather.legs[0].options;
        assert!(options.pull && options.mirror.is_none());
        assert_eq!((options.connections, gather.records), (1, 3));
        assert_eq!(options.level.to_string(), "3");
    }

    trait Word {
        fn to_possible_value(&self) -> String;
    }

    impl<T: clap::ValueEnum> Word for T {
        fn to_possible_value(&self) -> String {
            let value = clap::ValueEnum::to_possible_value(self);
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        }
    }

    /// Each pair of hosts has a thread, whichever specification it belongs to.
    #[test]
    fn pairs_of_hosts_are_bounded_over_the_whole_file() {
        let of = |name: &str, pairs: usize| {
            let targets: Vec<String> = (0..pairs).map(|n| format!("\"h{n}:/{name}\"")).collect();
            let targets = targets.join(", ");
            format!("[spec.{name}]\nsource = \"/a\"\ntarget = [{targets}]\n")
        };
        let read = |pairs| read(&(of("a", 500) + &of("b", pairs)), &Words::default());
        assert_eq!(read(500).expect("as many as may be").specs.len(), 2);
        assert_eq!(
            read(501).expect_err("one more").says.key,
            "error-specs-wrong"
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let one = |more: &str| format!("[spec.a]\nsource = \"/a\"\ntarget = \"h:/a\"\n{more}\n");
        for (text, place) in [
            ("".to_owned(), "spec"),
            ("[spec.a]\nsource = \"/a\"".to_owned(), "spec.a"),
            ("[spec.a]\nsource = ".to_owned(), "line 2"),
            ("[other]".to_owned(), "other"),
            (one("schedule = \"never\""), "spec.a.schedule"),
            (one("preset = \"moon\""), "spec.a.preset"),
            (one("colour = 1"), "spec.a"),
            (one("connections = 100"), "spec.a"),
            (one("verify = true"), "spec.a.verify"),
            (one("exclude = [[1]]"), "spec.a.exclude"),
            (one("mirror = \"1h\""), "spec.a"),
            (one("max-delete = 3"), "spec.a"),
            (one("keep-records = -1"), "spec.a.keep-records"),
            (
                "[spec.a]\nsource = [\"h:/a\", \"i:/a\"]\ntarget = \"/b\"".to_owned(),
                "spec.a",
            ),
            (
                "[spec.a]\nsource = \"h:/a\"\ntarget = \"i:/b\"".to_owned(),
                "spec.a",
            ),
        ] {
            let refusal = read(&text, &Words::default()).unwrap_err();
            let english = sokudo_i18n::english(&refusal.says);
            assert!(english.contains(&format!("`{place}`")), "{text}: {english}");
        }
    }
}
