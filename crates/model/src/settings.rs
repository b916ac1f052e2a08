//! The settings of a loaded database that are in force, as the series that tell of them and back.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kinds::sql;
use crate::{Batch, Labels, SeriesKey};

/// Prefix of a database server's settings where options of a load can stand, too.
pub const SETTING: &str = "setting.";

/// Settings that are kept; further ones are left out.
const KEPT_MAX: usize = 200;

/// Effect of a setting on acknowledged commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commits {
    /// They outlive a crash.
    Kept,
    /// A crash may lose them, or damage data.
    AtRisk,
}

impl Commits {
    const ALL: [(Self, &'static str); 2] = [(Self::Kept, "kept"), (Self::AtRisk, "at-risk")];
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Database, without secrets.
    pub server: String,
    /// Its name.
    pub name: String,
    /// Its value, as the server writes it.
    pub value: String,
    /// What it does to acknowledged commits; `None` for a setting that does nothing to them.
    pub commits: Option<Commits>,
}

impl Setting {
    /// Labels of its series.
    pub fn labels(&self) -> Labels {
        let word = Commits::ALL
            .iter()
            .find(|(it, _)| Some(*it) == self.commits);
        let commits = word.map(|(_, word)| ("commits", *word));
        let own = [
            ("flow", self.server.as_str()),
            ("name", &self.name),
            ("value", &self.value),
        ];
        let all = own.into_iter().chain(commits);
        all.map(|(label, text)| (label.into(), text.into()))
            .collect()
    }

    /// The setting of a series; `None` for another series.
    pub fn of(key: &SeriesKey) -> Option<Self> {
        let label = |name: &str| key.labels.get(name).map(String::as_str);
        let word = label("commits");
        (key.metric == sql::SETTING.name).then(|| Self {
            server: label("flow").unwrap_or_default().into(),
            name: label("name").unwrap_or_default().into(),
            value: label("value").unwrap_or_default().into(),
            commits: Commits::ALL
                .iter()
                .find_map(|(it, known)| (Some(*known) == word).then_some(*it)),
        })
    }

    /// Place among others: those that put commits at risk first, then the others about commits.
    pub fn rank(&self) -> u8 {
        match self.commits {
            Some(Commits::AtRisk) => 0,
            Some(Commits::Kept) => 1,
            None => 2,
        }
    }

    /// `name=value`.
    pub fn text(&self) -> String {
        format!("{}={}", self.name, self.value)
    }
}

/// Settings of a run so far, by server and name.
#[derive(Debug, Default)]
pub struct Settings(BTreeMap<(String, String), Setting>);

impl Settings {
    /// Takes the settings that a batch tells of; true when there was any.
    pub fn take(&mut self, batch: &Batch) -> bool {
        let series = batch.series.iter();
        let told: Vec<Setting> = series.filter_map(|it| Setting::of(&it.key)).collect();
        let is_any = !told.is_empty();
        told.into_iter().for_each(|setting| self.add(setting));
        is_any
    }

    /// Takes one of them; a later value replaces an earlier one.
    pub fn add(&mut self, setting: Setting) {
        let place = (setting.server.clone(), setting.name.clone());
        if self.0.len() < KEPT_MAX || self.0.contains_key(&place) {
            self.0.insert(place, setting);
        }
    }

    /// All of them, by [`Setting::rank`].
    pub fn all(&self) -> Vec<Setting> {
        let mut all: Vec<Setting> = self.0.values().cloned().collect();
        all.sort_by_key(Setting::rank);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(host: &str, setting: &Setting) -> SeriesKey {
        SeriesKey {
            host: host.into(),
            source: "sql".into(),
            metric: sql::SETTING.into(),
            labels: setting.labels(),
        }
    }

    fn setting(name: &str, value: &str, commits: Option<Commits>) -> Setting {
        Setting {
            server: "postgres://h/db".into(),
            name: name.into(),
            value: value.into(),
            commits,
        }
    }

    #[test]
    fn each_setting_stands_once_and_what_risks_commits_comes_first() {
        let all = [
            setting("fsync", "on", Some(Commits::Kept)),
            setting("shared_buffers", "128MB", None),
            setting("synchronous_commit", "off", Some(Commits::AtRisk)),
        ];
        let mut batch = Batch::default();
        for host in ["hosta", "hostb"] {
            for setting in &all {
                batch.push(&key(host, setting), 1, 1.0);
            }
        }
        let mut settings = Settings::default();
        assert!(settings.take(&batch));
        assert!(!settings.take(&Batch::default()));
        settings.add(setting("shared_buffers", "1GB", None));
        let found = settings.all();
        let found: Vec<String> = found.iter().map(Setting::text).collect();
        let expected = ["synchronous_commit=off", "fsync=on", "shared_buffers=1GB"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_setting_is_what_its_series_says() {
        for commits in [None, Some(Commits::Kept), Some(Commits::AtRisk)] {
            let setting = setting("fsync", "off", commits);
            assert_eq!(Setting::of(&key("hosta", &setting)), Some(setting));
        }
        let other = SeriesKey {
            metric: sql::ERRORS.into(),
            ..key("hosta", &setting("fsync", "off", None))
        };
        assert_eq!(Setting::of(&other), None);
    }
}
