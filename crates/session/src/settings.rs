//! Settings of a database server that a scenario has changed from phase to phase.

use std::path::PathBuf;

use sokudo_load_sql::settings::{self, HeldSettings, Profile};
use sokudo_load_sql::target_text::TargetText;
use sokudo_model::{Refusal, Text};
use sokudo_scenario::NamedSettings;
use sokudo_workload::refusal::operator;

use crate::Voice;

/// Access to the settings of database servers.
pub struct ServerSettings {
    /// Folder of the notes that put settings back after a crash.
    pub folder: PathBuf,
    /// Whether settings are allowed with which a crash may lose commits.
    pub are_unsafe_allowed: bool,
    /// Told what such settings may cost.
    pub warn: Voice,
    /// Those that are changed now.
    pub held: Option<Held>,
}

/// Settings that are changed now.
pub struct Held {
    server: HeldSettings,
    profiles: Vec<Profile>,
    /// Places of those that were in force already.
    told: Vec<usize>,
}

impl ServerSettings {
    /// Looks at the settings of these profiles, and notes how they are.
    pub(crate) fn hold(&mut self, target: &str, profiles: &[NamedSettings]) -> Result<(), Refusal> {
        let (target, profiles) = read(target, profiles)?;
        for says in settings::unsafe_ones(&profiles, self.are_unsafe_allowed)? {
            (self.warn)(&says);
        }
        // What an earlier call left is put back first: its note would hold the values of this one.
        self.release()?;
        self.held = Some(Held {
            server: HeldSettings::hold(&target.0, &profiles, &self.folder)?,
            profiles,
            told: Vec::new(),
        });
        Ok(())
    }

    /// Applies the profile of this place. Returns what the server then has, the first time.
    pub(crate) fn apply(&mut self, place: usize) -> Result<Option<Text>, Refusal> {
        let Some(held) = &mut self.held else {
            return Ok(None);
        };
        let Some(profile) = held.profiles.get(place) else {
            return Ok(None);
        };
        let applied = held.server.apply(profile)?;
        if held.told.contains(&place) {
            return Ok(None);
        }
        held.told.push(place);
        let says = Text::new("compare-profiles-applied")
            .word("profile", &profile.name)
            .word("settings", settings::listed_words(&applied));
        Ok(Some(says))
    }

    /// Puts all settings back. Returns whether there were any.
    pub(crate) fn release(&mut self) -> Result<bool, Refusal> {
        match self.held.take() {
            Some(held) => held.server.release().map(|()| true),
            None => Ok(false),
        }
    }
}

/// Server and profiles as a scenario names them.
///
/// Errors: no address of a database, or something that is no setting.
pub(crate) fn read(
    target: &str,
    profiles: &[NamedSettings],
) -> Result<(TargetText, Vec<Profile>), Refusal> {
    let server = target.parse::<TargetText>().map_err(|error| {
        let hint = Text::new("error-profiles-load-hint");
        operator(error.text(), hint)
    })?;
    let profiles = profiles.iter().map(|one| {
        let settings = one.settings.iter().cloned();
        Profile::new(&one.name, settings.map(|(name, value)| (name, Some(value))))
    });
    Ok((server, profiles.collect::<Result<_, Refusal>>()?))
}
