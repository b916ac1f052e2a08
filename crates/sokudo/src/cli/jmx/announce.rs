//! The lines printed before a plan is executed.

use std::path::Path;

use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::Reading;
use sokudo_jmeter::plan::{ConfigKind, Load, Plan, Stage};
use sokudo_load_http::jmx::JmxOptions;
use sokudo_model::harmless;

use crate::cli::screen::tell;

/// Says where a plan chooses among keys when there are none, as no key store was named.
pub(super) fn tell_without_keys(plan: &Plan, lang: Lang) {
    let chooses = |kind: &ConfigKind| matches!(kind, ConfigKind::Keystore { .. });
    let found = plan.configs.iter().find(|config| chooses(&config.kind));
    if let Some(config) = found {
        let place = config.place.to_string();
        let said = I18n::new(lang).message("jmx-run-no-key-store", &[("place", &place)]);
        tell(&said);
    }
}

/// Elements and functions whose text may read properties that no reader of plans can tell.
const SCRIPTS: &[&str] = &[
    "JSR223",
    "BeanShell",
    "__groovy",
    "__javaScript",
    "__jexl",
    "__BeanShell",
];

/// Says which typed properties a plan does not read: most often a name that was mistyped. Properties of
/// the tool itself have names with dots, and scripts may read any.
pub(super) fn tell_unread(typed: &[&str], reading: &Reading, lang: Lang) {
    let is_script = |name: &str| SCRIPTS.iter().any(|script| name.starts_with(script));
    let mut functions = reading.functions.iter();
    let has_scripts = reading.coverage.iter().any(|it| is_script(&it.element))
        || functions.any(|(name, _)| is_script(name));
    if has_scripts || reading.plan.is_none() {
        return;
    }
    let i18n = I18n::new(lang);
    let read: Vec<&str> = reading
        .properties
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    for name in typed.iter().filter(|name| !name.contains('.')) {
        if read.contains(name) {
            continue;
        }
        let said = match read.is_empty() {
            true => i18n.message("jmx-run-unread-none", &[("name", &harmless(name))]),
            false => {
                let read = read.join(", ");
                let values = [("name", &*harmless(name)), ("read", &*harmless(&read))];
                i18n.message("jmx-run-unread", &values)
            }
        };
        tell(&said);
    }
}

/// Says that a folder was named for a dashboard that nothing asks for.
pub(super) fn tell_no_dashboard(folder: &Path, lang: Lang) {
    let folder = folder.display().to_string();
    let values = [("folder", &*harmless(&folder))];
    tell(&I18n::new(lang).message("jmx-run-no-dashboard", &values));
}

/// Says what is going to run, because the number of users is not what plans seem to say.
pub(super) fn announce(plan: &Plan, options: &JmxOptions, generators: u64, lang: Lang) {
    let i18n = I18n::new(lang);
    let main = || {
        plan.groups
            .iter()
            .filter(|group| group.stage == Stage::Main)
    };
    let times = match &options.together {
        Some(together) if together.replicate => generators,
        _ => 1,
    };
    let groups = main().count().to_string();
    let said = match options.open_per_s {
        Some(rate) => i18n.message(
            "jmx-run-announce-open",
            &[
                ("rate", &(rate * times as f64).to_string()),
                ("groups", &groups),
            ],
        ),
        None => {
            let users: u64 = main().filter_map(|group| group.load.users()).sum();
            let users = (users * times).to_string();
            let open = main().any(|group| matches!(group.load, Load::Open { .. }));
            let key = if open {
                "jmx-run-announce-schedule"
            } else {
                "jmx-run-announce"
            };
            i18n.message(key, &[("users", &users), ("groups", &groups)])
        }
    };
    tell(&said);
    if let Some(together) = &options.together {
        let key = match together.replicate {
            true => "jmx-run-announce-replicated",
            false => "jmx-run-announce-divided",
        };
        let said = i18n.message(key, &[("generators", &generators.to_string())]);
        tell(&said);
    }
}
