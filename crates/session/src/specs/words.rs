//! Options as they are typed, before they are read: by a command line, a preset or a file.

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_model::Refusal;
use sokudo_workload::Options;

use super::preset::Preset;
use crate::typed::not_understood;

/// Options by name with their values; `true` or `false` for those that take none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<(String, Vec<String>)>);

impl Words {
    /// Those of a preset.
    pub fn of(preset: Preset) -> Self {
        let typed = preset.settings().iter();
        Self(
            typed
                .map(|(name, value)| ((*name).to_owned(), vec![(*value).to_owned()]))
                .collect(),
        )
    }

    /// Those that were typed on a command line.
    pub fn typed(matches: &ArgMatches) -> Self {
        let command = ReplicateOptions::augment_args(Command::new(ReplicateOptions::NAME));
        let typed = command.get_arguments().filter_map(|arg| {
            let id = arg.get_id().as_str();
            let source = matches.value_source(id)?;
            if source == clap::parser::ValueSource::DefaultValue {
                return None;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            let values = values.map(|value| value.to_string_lossy().into_owned());
            Some((arg.get_long()?.to_owned(), values.collect()))
        });
        Self(typed.collect())
    }

    /// Gives an option these values, instead of those that it has.
    pub fn set(&mut self, name: &str, values: Vec<String>) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), values));
    }

    /// Takes over all of the other ones.
    pub fn set_all(&mut self, others: &Self) {
        for (name, values) in &others.0 {
            self.set(name, values.clone());
        }
    }

    /// Reads them as the command line is read.
    pub fn read(&self) -> Result<ReplicateOptions, Refusal> {
        let bare = Command::new(ReplicateOptions::NAME).no_binary_name(true);
        let command = ReplicateOptions::augment_args(bare);
        let takes_none = |name: &str| {
            let mut args = command.get_arguments();
            let arg = args.find(|arg| arg.get_long() == Some(name));
            arg.is_some_and(|arg| matches!(arg.get_action(), ArgAction::SetTrue))
        };
        let mut words = Vec::new();
        for (name, values) in &self.0 {
            match (takes_none(name), values.first().map(String::as_str)) {
                (true, Some("true")) => words.push(format!("--{name}")),
                (true, Some("false")) => {}
                _ => words.extend(values.iter().map(|value| format!("--{name}={value}"))),
            }
        }
        let read = command.try_get_matches_from(words);
        let read = read.and_then(|matches| ReplicateOptions::from_arg_matches(&matches));
        read.map_err(|error| not_understood(&error, ReplicateOptions::NAME))
    }
}

/// Options of a command line, and which of them were typed.
#[derive(Debug, Clone)]
pub struct Typed {
    /// As read, defaults filled in.
    pub options: ReplicateOptions,
    /// The typed ones.
    pub words: Words,
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            options: ReplicateOptions::from_arg_matches(matches)?,
            words: Words::typed(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.words.set_all(&Words::typed(matches));
        self.options.update_from_arg_matches(matches)
    }
}

impl Args for Typed {
    fn augment_args(command: Command) -> Command {
        ReplicateOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ReplicateOptions::augment_args_for_update(command)
    }
}

impl Typed {
    /// The options where a preset fills in what was not typed.
    pub fn with(&self, preset: Option<Preset>) -> Result<ReplicateOptions, Refusal> {
        let Some(preset) = preset else {
            return Ok(self.options.clone());
        };
        let mut words = Words::of(preset);
        words.set_all(&self.words);
        words.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Typed {
        let command = Typed::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(words).unwrap();
        Typed::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn what_is_typed_goes_before_the_preset() {
        let typed = typed(&[
            "--connections",
            "2",
            "--delete",
            "--exclude=a",
            "--exclude=b",
        ]);
        let plain = typed.with(None).unwrap();
        assert_eq!(plain, typed.options);
        let wan = typed.with(Some(Preset::Slow)).unwrap();
        // 2 is the default, too: that it was typed is what counts.
        assert_eq!(wan.connections, 2);
        assert_eq!(wan.level.to_string(), "3");
        assert!(wan.delete);
        assert_eq!(wan.exclude, ["a", "b"]);
        let none = self::typed(&[]).with(Some(Preset::Wan)).unwrap();
        assert_eq!(none.connections, 8);
    }

    #[test]
    fn every_setting_of_a_preset_is_an_option() {
        for preset in [Preset::Lan, Preset::Wan, Preset::Slow] {
            Words::of(preset).read().unwrap();
        }
    }
}
