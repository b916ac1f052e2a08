//! The phase of one execution of a plan, its time bound, and the lines printed before it begins.

use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::plan::{ConfigKind, Load, Plan, Stage};
use sokudo_load_http::jmx::{self, JmxOptions};
use sokudo_model::{Labels, PhasePlan};

/// Longest run of a plan that nothing but its users ends.
const ENDLESS_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;
/// The same where other hosts execute it: as long as they go on by default.
const ENDLESS_ELSEWHERE_NS: u64 = 3_600 * 1_000_000_000;
/// Time for stages before and after, and for the last samples, beside the plan's own length.
const BESIDE_NS: u64 = 600_000_000_000;

/// The one phase in which these hosts, the first of them this one, execute the plan.
pub(super) fn phase(plan: &Plan, options: &JmxOptions, hosts: u32) -> PhasePlan {
    let duration_ns = length_ms(plan).map(|ms| ms.saturating_mul(1_000_000));
    let endless_ns = match options.together {
        Some(_) => ENDLESS_ELSEWHERE_NS,
        None => ENDLESS_NS,
    };
    PhasePlan {
        name: "measure".into(),
        workload: jmx::NAME.into(),
        options: options.to_json(),
        flows: jmx::flows(hosts),
        duration_ns: duration_ns.unwrap_or(0),
        bound_ns: duration_ns.map_or(endless_ns, |ns| ns.saturating_add(BESIDE_NS)),
        labels: Labels::new(),
    }
}

/// Length of the main groups by the clock; `None` when something else ends one of them.
fn length_ms(plan: &Plan) -> Option<u64> {
    let main = plan
        .groups
        .iter()
        .filter(|group| group.stage == Stage::Main);
    let ends: Option<Vec<u64>> = main.map(|group| group.load.end_ms()).collect();
    let ends = ends?;
    match plan.serialize_groups {
        true => Some(ends.into_iter().fold(0, u64::saturating_add)),
        false => ends.into_iter().max(),
    }
}

/// Says where a plan chooses among keys when there are none, as no key store was named.
pub(super) fn tell_without_keys(plan: &Plan, lang: Lang) {
    let chooses = |kind: &ConfigKind| matches!(kind, ConfigKind::Keystore { .. });
    let found = plan.configs.iter().find(|config| chooses(&config.kind));
    if let Some(config) = found {
        let place = config.place.to_string();
        let said = I18n::new(lang).message("jmx-run-no-key-store", &[("place", &place)]);
        eprintln!("  {said}");
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
    eprintln!("  {said}");
    if let Some(together) = &options.together {
        let key = match together.replicate {
            true => "jmx-run-announce-replicated",
            false => "jmx-run-announce-divided",
        };
        let said = i18n.message(key, &[("generators", &generators.to_string())]);
        eprintln!("  {said}");
    }
}
