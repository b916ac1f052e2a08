//! The lines printed before a plan is executed.

use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::plan::{ConfigKind, Load, Plan, Stage};
use sokudo_load_http::jmx::JmxOptions;

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
