//! The page of JSON documents: each described document, field by field.

use std::fmt::Write as _;

use sokudo_i18n::I18n;
use sokudo_model::document::Document;

use super::{head, row, say, table};
use crate::cli;

/// Every document that a command prints for programs.
const DOCUMENTS: &[&Document] = &[
    &sokudo_report::SUMMARY,
    &cli::records::RUNS,
    &sokudo_report::compare::COMPARISON,
    &sokudo_store::export::RECORD,
    &cli::metrics::METRICS,
    &cli::observe::MONITORS,
    &cli::doctor::FACILITIES,
    &cli::link::COUNTERS,
    &cli::target::STAGES,
    &cli::target::CHANGES,
    #[cfg(feature = "fleet")]
    &cli::group::hosts::HOSTS,
    &cli::jmx::show::READING,
    &sokudo_report::requests::ROWS,
    &sokudo_report::requests::STATISTICS,
];

const COLUMNS: &[&str] = &[
    "reference-field",
    "reference-type",
    "reference-unit",
    "reference-meaning",
];

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let mut out = head(said, "json");
    for document in DOCUMENTS {
        let command = format!("`{}`", document.command);
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n{}\n{}",
            document.name,
            say(said, &document.about()),
            said.message("reference-printed", &[("command", &command)]),
            table(said, COLUMNS)
        );
        for field in document.fields {
            out.push_str(&row(&[
                &format!("`{}`", field.path),
                field.kind,
                field.unit,
                &say(said, &document.key(field)),
            ]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sokudo_i18n::keys_of;

    use super::*;

    #[test]
    #[cfg(feature = "fleet")]
    fn every_explained_field_is_described() {
        let described: BTreeSet<String> = DOCUMENTS
            .iter()
            .flat_map(|document| {
                let keys = document.fields.iter().map(|field| document.key(field));
                keys.chain([document.about()]).collect::<Vec<_>>()
            })
            .collect();
        let explained = keys_of("reference").filter(|key| key.starts_with("json-"));
        let unused: Vec<&str> = explained.filter(|key| !described.contains(*key)).collect();
        assert!(unused.is_empty(), "no document has these: {unused:#?}");
    }
}
