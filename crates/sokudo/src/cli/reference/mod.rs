//! `sokudo reference`: the pages of `docs/reference` that are made of the program itself.
//!
//! Commands come from the parser's tree, metrics from the catalogue, findings and monitors from their
//! registries, JSON documents from their descriptions. Sentences are in `locales/*/reference.ftl`, what metrics
//! and monitors mean in `locales/*/catalogue.ftl`.

mod commands;
mod findings;
mod json;
mod metrics;
mod monitors;

use std::path::PathBuf;

use clap::Args;
use sokudo_i18n::{I18n, Lang};

use super::{Exit, Failure, meaning};

/// Write the pages of the reference that are made of the program: DIR/en and DIR/ja.
#[derive(Debug, Args)]
pub struct ReferenceArgs {
    /// Directory to write into.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Carries it out.
pub fn run(args: ReferenceArgs) -> Result<Exit, Failure> {
    for lang in Lang::ALL {
        let dir = args.dir.join(lang.code());
        std::fs::create_dir_all(&dir).map_err(|error| Failure::cannot_write(&dir, &error))?;
        for (name, text) in pages(lang) {
            let file = dir.join(name);
            std::fs::write(&file, text).map_err(|error| Failure::cannot_write(&file, &error))?;
            println!("{}", file.display());
        }
    }
    Ok(Exit::Fine)
}

/// The pages of a language: file name and content.
fn pages(lang: Lang) -> [(&'static str, String); 5] {
    let said = I18n::reference(lang);
    [
        ("commands.md", commands::page(&said)),
        ("metrics.md", metrics::page(&said)),
        ("findings.md", findings::page(&said)),
        ("monitors.md", monitors::page(&said)),
        ("json.md", json::page(&said)),
    ]
}

/// A message without values.
fn say(said: &I18n, key: &str) -> String {
    said.message(key, &[])
}

/// The head of a page: title, who writes it, what it lists.
fn head(said: &I18n, name: &str) -> String {
    let title = say(said, &format!("reference-{name}"));
    let about = say(said, &format!("reference-{name}-about"));
    let written = say(said, "reference-written");
    format!("# {title}\n\n{written}\n\n{about}\n")
}

/// A row of a table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table, whose columns are named by messages.
fn table(said: &I18n, columns: &[&str]) -> String {
    let names: Vec<String> = columns.iter().map(|column| say(said, column)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("\n{}{}", row(&names), row(&vec!["---"; columns.len()]))
}

/// A text as Markdown: outside of code, characters that Markdown would take for its own are escaped.
fn markdown(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        let is_code = i % 2 == 1;
        if i > 0 {
            out.push('`');
        }
        for c in part.chars() {
            match c {
                '<' if !is_code => out.push_str("&lt;"),
                '*' if !is_code => out.extend(['\\', c]),
                c => out.push(c),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "fleet", target_os = "linux"))]
    fn the_committed_pages_are_what_the_program_writes() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let mut stale = Vec::new();
        for lang in Lang::ALL {
            for (name, text) in pages(lang) {
                let file = docs.join(lang.code()).join(name);
                let written = std::fs::read_to_string(&file).unwrap_or_default();
                if written != text {
                    let lines = written.lines().zip(text.lines());
                    let line = lines.take_while(|(a, b)| a == b).count() + 1;
                    stale.push(format!("{}, line {line}", file.display()));
                }
            }
        }
        assert!(
            stale.is_empty(),
            "not what the program says now: {stale:#?}\nrun ./dev docs"
        );
    }

    /// Texts shown for a message that does not exist.
    const MISSING: [&str; 7] = [
        "[reference-",
        "[json-",
        "[help-",
        "[finding-",
        "[report-",
        "[metric-",
        "[monitor-",
    ];

    #[test]
    fn every_sentence_of_the_pages_exists() {
        for lang in Lang::ALL {
            for (name, text) in pages(lang) {
                for begin in MISSING {
                    let missing: Vec<&str> = text.lines().filter(|l| l.contains(begin)).collect();
                    assert!(missing.is_empty(), "{lang} {name}: {missing:#?}");
                }
            }
        }
    }

    #[test]
    fn what_markdown_would_take_for_its_own_is_escaped_outside_of_code() {
        assert_eq!(markdown("a <b> `<c>` *"), "a &lt;b> `<c>` \\*");
    }
}
