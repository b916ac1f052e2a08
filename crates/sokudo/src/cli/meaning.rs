//! Keys of what metrics and monitors mean.
//!
//! The English texts are those of the catalogue, of the monitors and of their options.
//! `locales/*/catalogue.ftl` hold them and their translations under these keys, and a test compares:
//!
//! ```text
//! metric-rr-latency-seconds       the metric `rr.latency_seconds`
//! monitor-process                 the monitor `process`
//! monitor-process--port           its option `port`
//! monitor-any--interval           the option `interval` of every monitor
//! ```

use sokudo_model::Metric;

/// The monitor of an option that every monitor has.
pub const ANY: &str = "any";

/// Meaning of a metric.
pub fn of_metric(metric: &Metric) -> String {
    format!("metric-{}", metric.slug())
}

/// Subject of a monitor.
pub fn of_monitor(name: &str) -> String {
    format!("monitor-{}", name.replace('_', "-"))
}

/// Meaning of an option of a monitor.
pub fn of_option(monitor: &str, key: &str) -> String {
    format!("{}--{}", of_monitor(monitor), key.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sokudo_i18n::{I18n, Lang, keys_of};
    use sokudo_model::metric::catalogue;
    use sokudo_monitors::{COMMON_OPTIONS, REGISTRY};

    use super::*;
    use crate::cli::observe::options;

    /// Every key that `catalogue.ftl` must have, with its English text.
    fn expected() -> BTreeMap<String, String> {
        let metrics = catalogue().map(|metric| (of_metric(metric), metric.help.to_owned()));
        let common = COMMON_OPTIONS.iter();
        let common = common.map(|(key, help)| (of_option(ANY, key), (*help).to_owned()));
        let mut texts: BTreeMap<String, String> = metrics.chain(common).collect();
        for monitor in REGISTRY {
            let info = monitor.info();
            texts.insert(of_monitor(info.name), info.help.to_owned());
            let properties = &monitor.schema()["properties"];
            texts.extend(options(*monitor).into_iter().map(|option| {
                let help = properties[&option.key]["description"].as_str();
                let help = help.unwrap_or_default().replace('\n', " ");
                (of_option(info.name, &option.key), help)
            }));
        }
        texts
    }

    #[test]
    fn every_metric_and_monitor_is_explained_in_both_languages() {
        let expected = expected();
        let english = I18n::reference(Lang::En);
        let stale: String = expected
            .iter()
            .filter(|(key, text)| english.message(key, &[]) != **text)
            .map(|(key, text)| format!("{key} = {text}\n"))
            .collect();
        assert!(
            stale.is_empty(),
            "the catalogue says this now; put it into locales/en/catalogue.ftl, and its \
             translation into locales/ja/catalogue.ftl:\n{stale}"
        );
        let unused: Vec<&str> = keys_of("catalogue")
            .filter(|key| !expected.contains_key(*key))
            .collect();
        assert!(
            unused.is_empty(),
            "no metric or monitor has these: {unused:?}"
        );
    }

    #[test]
    fn the_japanese_texts_leave_nothing_in_english() {
        let japanese = I18n::reference(Lang::Ja);
        let is_japanese = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
        let english: Vec<String> = expected()
            .into_keys()
            .filter(|key| !japanese.has(key) || !japanese.message(key, &[]).contains(is_japanese))
            .collect();
        assert!(english.is_empty(), "not in Japanese: {english:#?}");
    }
}
