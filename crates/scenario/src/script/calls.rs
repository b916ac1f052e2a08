//! Answers the calls that a script makes through the engine's single host function.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sokudo_i18n::english;
use sokudo_model::manifest::profile;
use sokudo_model::units::ratio;
use sokudo_model::{Nanos, Text};
use sokudo_script::innermost;

use super::{OWN_LINES, seen};
use crate::Mistake;
use crate::console::{find_host, gathered, part};
use crate::execute::{Executor, Failed, NamedSettings, Part, Phase};

/// Most loads of one phase.
const LOADS_MAX: usize = 10_000;
/// Most phases of one script.
const PHASES_MAX: usize = 10_000;
/// Mistakes that a rehearsal keeps; a loop may repeat the same one.
const TOLD_MAX: usize = 10_000;
/// Longest text that is printed or noted, bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Answers a script's calls.
pub(super) struct Calls<E> {
    executor: E,
    seed: u64,
    /// Parameters of `--set`, with whether the script asked for each.
    parameters: BTreeMap<String, (String, bool)>,
    journal: String,
    journal_bytes: usize,
    names: BTreeSet<String>,
    /// The last thing that was not carried out.
    failure: Option<Failed>,
    /// Findings of a rehearsal; `None` when loads are carried out.
    found: Option<Found>,
    /// Labels of phases that are measured in turns with different settings of a server.
    turn: Vec<(String, String)>,
}

/// Findings of a rehearsal.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Mistakes, with whether each is an unknown name.
    pub(super) mistakes: Vec<(Mistake, bool)>,
    /// Line that first read a result of a phase.
    pub(super) consulted: Option<u32>,
}

#[derive(Deserialize)]
struct ToldOfScript {
    what: Told,
    stack: String,
}

/// Message of the prelude in a rehearsal.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    /// The call that was refused last.
    Refused,
    /// A name that nothing has was used.
    Name(String),
    /// A result of a phase was read.
    Consulted,
}

/// Refusal by the prelude itself.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OfPrelude {
    /// A value that is not a host.
    Host { value: String },
    /// A number of pairs that the hosts do not have.
    Pairs {
        wanted: String,
        count: u32,
        most: u32,
    },
    /// The phase of this name has no load.
    Empty { name: String },
    /// Too few profiles to be compared.
    Profiles {},
    /// The value of a parameter that must be a number.
    Number {
        name: String,
        given: String,
        text: String,
    },
}

#[derive(Deserialize)]
struct AskedSettings {
    target: String,
    profiles: Vec<NamedSettings>,
}

/// Settings that are measured next.
#[derive(Deserialize)]
struct AskedTurn {
    name: String,
    /// Their place among those that are held.
    place: usize,
    side: usize,
    round: u32,
    /// Least difference that counts: `5%` or a ratio.
    least: String,
}

#[derive(Deserialize)]
struct AskedPhase {
    name: String,
    loads: Vec<AskedLoad>,
    timeout: Option<String>,
    labels: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct AskedLoad {
    word: String,
    from: String,
    to: Vec<String>,
    options: Vec<String>,
}

impl<E: Executor> Calls<E> {
    pub(super) fn new(
        executor: E,
        seed: u64,
        parameters: Vec<(String, String)>,
        journal_bytes: usize,
    ) -> Self {
        let unasked = |(name, value)| (name, (value, false));
        Self {
            executor,
            seed,
            parameters: parameters.into_iter().map(unasked).collect(),
            journal: String::new(),
            journal_bytes,
            names: BTreeSet::new(),
            failure: None,
            found: None,
            turn: Vec::new(),
        }
    }

    /// The same for a rehearsal, in which the script goes on after mistakes.
    pub(super) fn rehearsing(self) -> Self {
        Self {
            found: Some(Found::default()),
            ..self
        }
    }

    pub(super) fn take_found(&mut self) -> Found {
        self.found.take().unwrap_or_default()
    }

    pub(super) fn into_executor(self) -> E {
        self.executor
    }

    pub(super) fn take_journal(&mut self) -> String {
        std::mem::take(&mut self.journal)
    }

    pub(super) fn take_failure(&mut self) -> Option<Failed> {
        self.failure.take()
    }

    /// Parameters that were set and never asked for.
    pub(super) fn unasked(&self) -> Vec<String> {
        let unasked = self.parameters.iter().filter(|(_, (_, asked))| !asked);
        unasked.map(|(name, _)| name.clone()).collect()
    }

    /// Answers one call: `{"value":…}` or `{"error":{"says":…,"hint":…}}`.
    pub(super) fn answer(&mut self, name: &str, argument: &str) -> String {
        let answer = match self.value_of(name, argument) {
            Ok(value) => json!({ "value": value }),
            Err(failed) => {
                let hint = failed.hint.as_ref().map(english);
                let told = json!({ "error": { "says": english(&failed.says), "hint": hint } });
                self.failure = Some(failed);
                told
            }
        };
        let answer = answer.to_string();
        let line = format!(
            "{{\"call\":{},\"argument\":{argument},\"answer\":{answer}}}\n",
            json!(name)
        );
        if self.journal.len() + line.len() <= self.journal_bytes {
            self.journal.push_str(&line);
        }
        answer
    }

    fn value_of(&mut self, name: &str, argument: &str) -> Result<Value, Failed> {
        let executor = &mut self.executor;
        match name {
            "hosts" => Ok(json!(executor.hosts())),
            // Numbers of the language hold 53 bits; the generator takes 32.
            "seed" => Ok(json!(self.seed as u32)),
            "parameter" => {
                let given = self.parameters.get_mut(&text(argument)?);
                Ok(given.map_or(Value::Null, |(value, asked)| {
                    *asked = true;
                    json!(value)
                }))
            }
            "words" => {
                let words = executor.words();
                Ok(words.into_iter().map(|word| word.name).collect())
            }
            "syncTime" => executor.sync_time().map(|()| Value::Null),
            "sleep" => executor
                .pause(time_ns(&text(argument)?)?)
                .map(|()| Value::Null),
            "monitor" => executor
                .monitor(time_ns(&text(argument)?)?)
                .map(|()| Value::Null),
            "observe" => executor.observe(&text(argument)?).map(|()| Value::Null),
            "knobs" => {
                let pairs: Vec<(String, String)> = understood(argument)?;
                match pairs.is_empty() {
                    true => executor.put_knobs_back(),
                    false => executor.set_knobs(&pairs)?,
                }
                Ok(Value::Null)
            }
            "hold" => {
                let asked: AskedSettings = understood(argument)?;
                executor.hold_settings(&asked.target, &asked.profiles)?;
                Ok(Value::Null)
            }
            "turn" => {
                let asked: AskedTurn = understood(argument)?;
                let labels = labels(&asked)?;
                executor.apply_settings(asked.place)?;
                self.turn = labels;
                Ok(Value::Null)
            }
            "release" => {
                self.turn.clear();
                executor.release_settings().map(|()| Value::Null)
            }
            "say" => {
                let said = text(argument)?;
                executor.say(&Text::new("console-said").word("text", said));
                Ok(Value::Null)
            }
            "note" => {
                let noted = text(argument)?;
                executor.note(Text::new("console-said").word("text", noted));
                Ok(Value::Null)
            }
            "phase" => self.phase(argument),
            "rehearses" => Ok(json!(self.found.is_some())),
            "check" => self.part(&understood(argument)?).map(|_| json!(true)),
            "refuse" => Err(refused(understood(argument)?)),
            "told" => {
                let told: ToldOfScript = understood(argument)?;
                self.told(told);
                Ok(Value::Null)
            }
            _ => Err(Failed::new(
                Text::new("error-scenario-no-call").word("name", name),
                Text::new("error-scenario-types-hint"),
            )),
        }
    }

    fn phase(&mut self, argument: &str) -> Result<Value, Failed> {
        let asked: AskedPhase = understood(argument)?;
        if asked.loads.len() > LOADS_MAX || self.names.len() >= PHASES_MAX {
            return Err(Failed::new(
                Text::new("error-scenario-phases")
                    .with("loads", LOADS_MAX)
                    .with("phases", PHASES_MAX),
                Text::new("error-scenario-phases-hint"),
            ));
        }
        let mut parts = Vec::new();
        for load in &asked.loads {
            parts.push(self.part(load)?);
        }
        let bound_ns = asked.timeout.as_deref().map(time_ns).transpose()?;
        let suffix = profile::suffix(&self.turn.iter().cloned().collect());
        let phase = Phase {
            name: self.unique(&asked.name, &suffix),
            parts: gathered(parts.iter()),
            bound_ns,
            labels: asked.labels.into_iter().chain(self.turn.clone()).collect(),
        };
        let record = self.executor.carry_out(&phase)?;
        for says in self.executor.stalls(&record) {
            self.executor.say(&says);
        }
        Ok(seen::result(&record))
    }

    fn told(&mut self, told: ToldOfScript) {
        let Some(found) = &mut self.found else { return };
        let (line, column) = innermost(&told.stack, OWN_LINES);
        let (mistake, is_name) = match told.what {
            Told::Consulted => {
                found.consulted.get_or_insert(line);
                return;
            }
            Told::Refused => match self.failure.take() {
                Some(failed) => (Mistake::of(column, failed), false),
                None => return,
            },
            Told::Name(name) => {
                let says = Text::new("error-scenario-no-name").word("name", name);
                let hint = Text::new("error-scenario-types-hint");
                (Mistake::at(column, says, hint), true)
            }
        };
        if found.mistakes.len() < TOLD_MAX {
            found.mistakes.push((mistake.on_line(line), is_name));
        }
    }

    fn part(&self, load: &AskedLoad) -> Result<Part, Failed> {
        let hosts = self.executor.hosts();
        let number = |name: &str| {
            find_host(name, &hosts).ok_or_else(|| {
                Failed::new(
                    Text::new("error-scenario-no-host").word("host", name),
                    Text::new("error-scenario-hosts-hint").with("n", hosts.len()),
                )
            })
        };
        let from = number(&load.from)?;
        let known = self.executor.words();
        if known
            .iter()
            .any(|word| word.name == load.word && word.takes_url)
        {
            let words: Vec<String> = load.to.iter().chain(&load.options).cloned().collect();
            let read = self.executor.read(&load.word, &words)?;
            return Ok(part(from, &[], &read));
        }
        let mut peers = Vec::new();
        for to in &load.to {
            peers.push(number(to)?);
        }
        if peers.is_empty() || peers.contains(&from) {
            let says = match peers.is_empty() {
                true => Text::new("error-scenario-loads-nobody"),
                false => Text::new("error-scenario-itself"),
            };
            return Err(Failed::new(
                says.with("host", from),
                Text::new("error-scenario-itself-hint"),
            ));
        }
        let mut words = load.options.clone();
        words.extend(peers.iter().map(u32::to_string));
        let read = self.executor.read(&load.word, &words)?;
        Ok(part(from, &peers, &read))
    }

    /// Makes the name of a phase unique; what tells its turn from others stands at the end.
    fn unique(&mut self, name: &str, suffix: &str) -> String {
        let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        let name = if name.is_empty() {
            "phase".into()
        } else {
            name
        };
        let numbered = (2u32..).map(|number| format!("{name} #{number}{suffix}"));
        let unique = std::iter::once(format!("{name}{suffix}"))
            .chain(numbered)
            .find(|name| !self.names.contains(name))
            .unwrap_or(name);
        self.names.insert(unique.clone());
        unique
    }
}

fn refused(what: OfPrelude) -> Failed {
    let (says, hint) = match what {
        OfPrelude::Host { value } => (
            Text::new("error-scenario-host").word("value", value),
            Text::new("error-scenario-host-hint"),
        ),
        OfPrelude::Pairs {
            wanted,
            count,
            most,
        } => (
            Text::new("error-scenario-pairs")
                .word("pairs", wanted)
                .with("hosts", count),
            match most {
                0 => Text::new("error-scenario-pairs-hint-none"),
                _ => Text::new("error-scenario-pairs-hint").with("most", most),
            },
        ),
        OfPrelude::Empty { name } => (
            Text::new("error-scenario-empty-phase").word("name", name),
            Text::new("error-scenario-empty-phase-hint"),
        ),
        OfPrelude::Profiles {} => (
            Text::new("error-profiles-few"),
            Text::new("error-scenario-types-hint"),
        ),
        OfPrelude::Number { name, given, text } => (
            Text::new("error-scenario-set")
                .word("name", name)
                .word("given", given)
                .word("text", text),
            Text::new("error-scenario-set-hint"),
        ),
    };
    Failed::new(says, hint)
}

/// Labels of the phases of a turn.
fn labels(turn: &AskedTurn) -> Result<Vec<(String, String)>, Failed> {
    let least = ratio(&turn.least).ok_or_else(|| {
        Failed::new(
            Text::new("error-value-effect").word("text", &turn.least),
            Text::new("error-scenario-types-hint"),
        )
    })?;
    let name = match turn.side {
        1 => english(&Text::new("compare-profiles-again").word("profile", &turn.name)),
        _ => turn.name.clone(),
    };
    let labels = [
        (profile::NAME, name),
        (profile::SIDE, turn.side.to_string()),
        (profile::ROUND, turn.round.to_string()),
        (profile::LEAST, least.to_string()),
    ];
    let labels = labels.into_iter();
    Ok(labels.map(|(name, value)| (name.into(), value)).collect())
}

fn understood<T: DeserializeOwned>(argument: &str) -> Result<T, Failed> {
    serde_json::from_str(argument).map_err(|error| {
        Failed::new(
            Text::new("error-scenario-phase").with("error", error),
            Text::new("error-scenario-phase-hint"),
        )
    })
}

fn text(argument: &str) -> Result<String, Failed> {
    let text: String = serde_json::from_str(argument).map_err(|_| {
        Failed::new(
            Text::new("error-scenario-text"),
            Text::new("error-scenario-text-hint"),
        )
    })?;
    match text.len() <= TEXT_BYTES_MAX {
        true => Ok(text),
        false => Err(Failed::new(
            Text::new("error-scenario-text-long").with("bytes", text.len()),
            Text::new("error-scenario-text-long-hint").with("most", TEXT_BYTES_MAX),
        )),
    }
}

fn time_ns(text: &str) -> Result<u64, Failed> {
    let time = text.parse::<Nanos>();
    time.map(|time| time.0)
        .map_err(|error| Failed::new(error.text(), Text::new("error-scenario-text-time-hint")))
}
