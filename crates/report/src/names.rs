//! Names of metrics and phases as people read them.

use sokudo_model::{Text, metric};

use crate::block::Phrase;

/// Short name of a metric; the words of its code name where it has none.
pub fn metric(name: &str) -> Phrase {
    match metric::find(name) {
        Some(metric) if metric.is_named => {
            Text::new(format!("report-metric-{}", metric.slug())).into()
        }
        _ => plain_words(name).into(),
    }
}

/// The same as a part of another message.
pub fn metric_text(name: &str) -> Text {
    match metric(name) {
        Phrase::Text(text) => text,
        Phrase::Word(word) | Phrase::Both([word, _]) => {
            Text::new("compare-plain").word("name", word)
        }
    }
}

/// `host.context_switches_per_second` as `host: context switches per second`; a unit of time at the end is left
/// out, because axes and columns carry units.
fn plain_words(name: &str) -> String {
    let name = name.strip_suffix("_seconds").unwrap_or(name);
    name.replacen('.', ": ", 1).replace(['_', '.'], " ")
}

/// Exact meaning of a distribution.
pub fn metric_help(name: &str) -> Phrase {
    let Some(metric) = metric::find(name) else {
        return name.into();
    };
    if metric.is_helped {
        return Text::new(format!("report-help-{}", metric.slug())).into();
    }
    // The catalogue gives the names of the numbers in files.
    let what = metric.help.split_once("; in the summary with");
    what.map_or(metric.help, |(what, _)| what).into()
}

/// Explanation of a well-known phase, by its name; `None` for names that people made up.
pub fn phase_help(name: &str) -> Option<Phrase> {
    const KNOWN: &[&str] = &["best", "both-ways", "mesh", "p2p", "selftest"];
    KNOWN
        .contains(&name)
        .then(|| Text::new(format!("report-phase-{name}")).into())
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};

    use super::*;

    #[test]
    fn every_named_metric_has_its_messages_in_every_language() {
        for lang in Lang::ALL {
            let i18n = I18n::new(lang);
            for metric in metric::catalogue() {
                let (name, help) = (
                    format!("report-metric-{}", metric.slug()),
                    format!("report-help-{}", metric.slug()),
                );
                assert_eq!(i18n.has(&name), metric.is_named, "{lang:?}: {name}");
                assert_eq!(i18n.has(&help), metric.is_helped, "{lang:?}: {help}");
            }
        }
    }
}
