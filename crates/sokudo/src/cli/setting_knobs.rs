//! A setting of a database server that a load changes for a time.

use sokudo_controller::{ControlError, Knobs};
use sokudo_i18n::I18n;
use sokudo_load_sql::settings::{HeldSettings, Profile, listed_words};
use sokudo_load_sql::target_text::TargetText;
use sokudo_model::{Refusal, Text};
use sokudo_session::Versus;
use sokudo_workload::refusal::operator;

use super::profiles::{folder, warn};

/// Settings of a server that are held from each change until it is put back.
pub struct SettingKnobs {
    target: TargetText,
    held: Option<HeldSettings>,
}

impl SettingKnobs {
    /// For one setting of the server of this database. A value with which a crash may lose commits is told in red.
    ///
    /// Errors: it is no setting, or a crash may lose commits with it, and that is not allowed.
    pub fn of(
        database: &str,
        (setting, change): (&str, &Versus),
        are_unsafe_allowed: bool,
        i18n: &I18n,
    ) -> Result<Self, Refusal> {
        let profile = profile(&[(setting.to_owned(), change.value.clone())])?;
        let risks = profile.unsafe_settings();
        if !risks.is_empty() {
            let says = Text::new("error-versus-unsafe").word("settings", risks.join(", "));
            if !are_unsafe_allowed {
                return Err(operator(says, Text::new("error-profiles-unsafe-hint")));
            }
            warn(&says, i18n);
        }
        let target = database.parse::<TargetText>().map_err(|error| {
            let hint = Text::new("error-versus-no-database-hint");
            operator(error.text(), hint)
        })?;
        Ok(Self { target, held: None })
    }
}

/// These settings as a profile, which is named by what asks for it.
fn profile(pairs: &[(String, String)]) -> Result<Profile, Refusal> {
    let pairs = pairs.iter();
    let settings = pairs.map(|(name, value)| (name.clone(), Some(value.clone())));
    Profile::new("--versus", settings)
}

impl Knobs for SettingKnobs {
    fn set(&mut self, pairs: &[(String, String)]) -> Result<Text, ControlError> {
        let profile = profile(pairs).map_err(refused)?;
        let profiles = std::slice::from_ref(&profile);
        let held = HeldSettings::hold(&self.target.0, profiles, &folder()).map_err(refused)?;
        let applied = held.apply(&profile).map_err(refused)?;
        self.held = Some(held);
        Ok(Text::new("engine-settings-set").word("settings", listed_words(&applied)))
    }

    fn put_back(&mut self) -> Result<Text, ControlError> {
        let stood = match self.held.take() {
            Some(held) => {
                // What a server does when a setting is changed, such as a checkpoint, lies before the runs of both kinds.
                let stood = held.apply(&Profile::default()).map_err(refused)?;
                held.release().map_err(refused)?;
                stood
            }
            None => Vec::new(),
        };
        Ok(Text::new("engine-settings-put-back").word("settings", listed_words(&stood)))
    }

    fn not_put_back(&self) -> &'static str {
        "engine-settings-not-put-back"
    }
}

fn refused(refusal: Refusal) -> ControlError {
    ControlError::Operator {
        says: refusal.says,
        hint: refusal.hint,
    }
}
