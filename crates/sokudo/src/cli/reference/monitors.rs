//! The page of monitors: what each observes, its options, and the metrics that it emits.

use std::fmt::Write as _;

use sokudo_i18n::I18n;
use sokudo_monitors::{COMMON_OPTIONS, REGISTRY};

use super::{head, markdown, meaning, row, say, table};
use crate::cli::observe::options;

const COLUMNS: &[&str] = &["reference-option", "reference-default", "reference-meaning"];

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let mut out = head(said, "monitors");
    let all = say(said, "reference-monitors-all");
    let _ = write!(out, "\n## {all}\n{}", table(said, COLUMNS));
    for (key, _) in COMMON_OPTIONS {
        let help = markdown(&say(said, &meaning::of_option(meaning::ANY, key)));
        out.push_str(&row(&[&format!("`{key}`"), "", &help]));
    }
    for monitor in REGISTRY {
        let info = monitor.info();
        let when = match info.is_standing {
            true => "reference-monitors-standing",
            false => "reference-monitors-asked",
        };
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n{}\n",
            info.name,
            markdown(&say(said, &meaning::of_monitor(info.name))),
            say(said, when)
        );
        if info.may_block {
            let _ = write!(out, "\n{}\n", say(said, "reference-monitors-waits"));
        }
        let options = options(*monitor);
        if !options.is_empty() {
            out.push_str(&table(said, COLUMNS));
        }
        for option in options {
            let key = format!("`{}`", option.key);
            let default = option.default.map(|value| format!("`{value}`"));
            let help = markdown(&say(said, &meaning::of_option(info.name, &option.key)));
            out.push_str(&row(&[&key, &default.unwrap_or_default(), &help]));
        }
        let metrics = info.metrics.iter().map(|metric| format!("`{metric}`"));
        let metrics = metrics.collect::<Vec<_>>().join(", ");
        let _ = write!(out, "\n**{}**: {metrics}\n", say(said, "reference-emits"));
    }
    out
}
