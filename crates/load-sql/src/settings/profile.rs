//! Named settings, from a file.
//!
//! ```toml
//! [tuned]
//! max_wal_size = "8GB"
//! commit_delay = 200
//! ```

use std::collections::BTreeMap;

use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::operator;
use toml::{Table, Value};

/// Profile that changes nothing, unless the file says otherwise.
const DEFAULT: &str = "default";
/// Longest value, characters.
const VALUE_MAX: usize = 1000;

/// Settings under one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Value of each setting.
    pub settings: BTreeMap<String, String>,
}

/// Settings that decide whether an acknowledged commit outlives a crash, and their safe values.
const DURABLE: &[(&str, &[&str])] = &[
    ("data_sync_retry", &["off"]),
    ("fsync", &["on"]),
    ("full_page_writes", &["on"]),
    ("innodb_doublewrite", &["on"]),
    ("innodb_flush_log_at_trx_commit", &["1"]),
    ("synchronous", &["full", "extra"]),
    ("synchronous_commit", &["on", "remote_apply"]),
    ("zero_damaged_pages", &["off"]),
];

impl Profile {
    /// A profile with these settings; `None` stands for a value that no setting has.
    ///
    /// Errors: one of them is not a setting with one value.
    pub fn new(
        name: &str,
        settings: impl Iterator<Item = (String, Option<String>)>,
    ) -> Result<Self, Refusal> {
        let settings = settings.map(|(setting, value)| {
            let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c);
            let is_name = !setting.is_empty() && setting.len() <= 63 && setting.chars().all(part);
            match value.filter(|value| is_name && is_value(value)) {
                Some(value) => Ok((setting, value)),
                None => Err(wrong(
                    Text::new("error-profile-setting")
                        .word("profile", name)
                        .word("setting", &setting),
                )),
            }
        });
        Ok(Self {
            name: name.to_owned(),
            settings: settings.collect::<Result<_, Refusal>>()?,
        })
    }

    /// Its settings with which a crash may lose commits or damage data: `fsync=off`.
    pub fn unsafe_settings(&self) -> Vec<String> {
        let given = self.settings.iter();
        let is_unsafe = |name: &str, value: &str| keeps_commits(name, value) == Some(false);
        given
            .filter(|(name, value)| is_unsafe(name, value))
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }
}

/// Whether an acknowledged commit outlives a crash with this value of a setting; `None` for one that does not decide
/// about it.
pub(crate) fn keeps_commits(name: &str, value: &str) -> Option<bool> {
    let known = DURABLE.iter().find(|(known, _)| *known == name);
    known.map(|(_, safe)| safe.contains(&switched(value).as_str()))
}

/// A truth value as `on` or `off`, in small letters; anything else as it is.
fn switched(value: &str) -> String {
    let small = value.trim().to_ascii_lowercase();
    match small.as_str() {
        "true" | "yes" => "on".into(),
        "false" | "no" | "0" => "off".into(),
        _ => small,
    }
}

/// The profiles of these names, in their order, from the text of a file.
///
/// Errors: it is not TOML, or a profile is not in it, or holds what is not a setting.
pub fn profiles(text: &str, names: &[String]) -> Result<Vec<Profile>, Refusal> {
    let file: Table = text.parse().map_err(|error: toml::de::Error| {
        wrong(Text::new("error-profiles-file").word("why", error.to_string()))
    })?;
    names.iter().map(|name| profile(&file, name)).collect()
}

fn profile(file: &Table, name: &str) -> Result<Profile, Refusal> {
    let settings = match file.get(name) {
        Some(Value::Table(settings)) => settings.clone(),
        None if name == DEFAULT => Table::new(),
        _ => {
            let known: Vec<&str> = file.keys().map(String::as_str).collect();
            return Err(wrong(
                Text::new("error-profile-unknown")
                    .word("profile", name)
                    .word("profiles", known.join(", ")),
            ));
        }
    };
    let settings = settings.into_iter();
    Profile::new(
        name,
        settings.map(|(setting, value)| (setting, written(&value))),
    )
}

/// The text of a value; `None` for one that no setting has.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(true) => Some("on".into()),
        Value::Boolean(false) => Some("off".into()),
        Value::Array(_) | Value::Table(_) | Value::Datetime(_) => None,
    }
}

/// Whether a text can be written as the value of a setting.
fn is_value(text: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && c != '\\';
    text.chars().count() <= VALUE_MAX && text.chars().all(is_plain)
}

/// The settings of all profiles with which a crash may lose commits or damage data, a sentence for each profile that
/// has some. Errors: there are some, and they are not wanted.
pub fn unsafe_ones(profiles: &[Profile], are_wanted: bool) -> Result<Vec<Text>, Refusal> {
    let mut says = Vec::new();
    for profile in profiles {
        let settings = profile.unsafe_settings();
        if !settings.is_empty() {
            says.push(
                Text::new("error-profiles-unsafe")
                    .word("profile", &profile.name)
                    .word("settings", settings.join(", ")),
            );
        }
    }
    match says.first() {
        Some(first) if !are_wanted => Err(operator(
            first.clone(),
            Text::new("error-profiles-unsafe-hint"),
        )),
        _ => Ok(says),
    }
}

fn wrong(says: Text) -> Refusal {
    operator(says, Text::new("error-profiles-hint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[tuned]\nmax_wal_size = \"8GB\"\ncommit_delay = 200\n\
        [unsafe]\nfsync = false\nsynchronous_commit = \"off\"\ninnodb_flush_log_at_trx_commit = 2\n\
        [safe]\nfsync = \"true\"\nsynchronous_commit = \"on\"\ninnodb_flush_log_at_trx_commit = 1\n";

    fn read(names: &[&str]) -> Result<Vec<Profile>, Refusal> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        profiles(FILE, &names)
    }

    #[test]
    fn profiles_come_in_the_order_asked_for_and_default_needs_no_entry() {
        let found = read(&["default", "tuned"]).expect("profiles");
        assert_eq!(found[0].settings.len(), 0);
        let tuned: Vec<_> = found[1].settings.iter().collect();
        assert_eq!(tuned.len(), 2);
        assert_eq!(found[1].settings["commit_delay"], "200");
        assert!(read(&["other"]).is_err());
        let name = [DEFAULT.to_owned()];
        assert!(profiles("[default]\n\"a;b\" = 1\n", &name).is_err());
        assert!(profiles("[default]\na = [1]\n", &name).is_err());
    }

    #[test]
    fn what_a_crash_may_cost_is_named() {
        let found = read(&["unsafe", "safe", "tuned"]).expect("profiles");
        let named = |at: usize| found[at].unsafe_settings().join(" ");
        assert_eq!(
            named(0),
            "fsync=off innodb_flush_log_at_trx_commit=2 synchronous_commit=off"
        );
        assert_eq!((named(1), named(2)), (String::new(), String::new()));
    }
}
