//! Entry points for fuzzing and property tests: one function per parser of foreign bytes.

use sokudo_stats::requests::{self, Tally};

use crate::check::outlook;
use crate::document::Document;
use crate::document::xpath::{Names, XPath};
use crate::expression::{StartWorld, parse};
use crate::files::MemoryFiles;
use crate::json;
use crate::page;
use crate::properties::{self, Properties};
use crate::read;
use crate::run::entry as run;
use crate::settings::Settings;

/// Parses bytes as a plan: it is read or refused, and a refusal states an error.
pub fn plan(bytes: &[u8]) {
    let reading = read(
        "plan.jmx",
        bytes,
        &Settings::default(),
        &MemoryFiles::default(),
    );
    assert!(reading.plan.is_some() || reading.errors > 0);
    if let Some(plan) = &reading.plan {
        outlook(plan, 3, 1.0);
    }
}

/// Parses bytes as a text with expressions: what is parsed can be rendered and displayed.
pub fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(parsed) = parse(&text, &mut 0) else {
        return;
    };
    if let Some(constant) = parsed.template.constant() {
        assert!(constant.len() <= text.len());
    }
    let files = MemoryFiles::default();
    let (settings, properties) = (Settings::default(), Properties::default());
    let mut world = StartWorld::new(properties, &files, 0, 0, settings.time_zone, "plan.jmx");
    // A fault is a valid outcome.
    let _ = parsed.template.render(&mut world, &mut String::new());
    let _ = parsed.template.to_string();
}

/// Parses an XPath in the first line and applies it to the rest, as XML and as HTML.
pub fn xpath(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (path, text) = text.split_once('\n').unwrap_or((&text, ""));
    let path = XPath::parse(path);
    for document in [Document::xml(text), Document::html(text)] {
        if let (Ok(path), Ok(document)) = (&path, document)
            && let Ok(found) = path.find(&document, Names::Declared(&[]))
        {
            // Too much text is a valid outcome.
            let _ = found.texts(&document, true);
        }
    }
}

/// Parses a JSON path in the first line and applies it to the rest.
pub fn json_path(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (path, text) = text.split_once('\n').unwrap_or((&text, "{}"));
    if let (Ok(path), Some(document)) = (json::Path::parse(path), json::read(text)) {
        // A path that leads nowhere is a valid outcome.
        let _ = path.list(&document);
    }
}

/// Parses a JMESPath in the first line and applies it to the rest: what is found can be written.
pub fn jmes_path(bytes: &[u8]) {
    run::jmes_path(bytes);
}

/// Parses a CSS selector in the first line and applies it to the rest.
pub fn css(bytes: &[u8]) {
    run::css(bytes);
}

/// Parses bytes as a page and as a style sheet: their links are bounded and not empty.
pub fn page(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kind in [page::PageKind::Markup, page::PageKind::Style] {
        let found = page::links(kind, &text);
        assert!(found.len() <= page::MOST_LINKS);
        let is_empty = |found: &page::PageLink| match found {
            page::PageLink::Link(link) => link.is_empty(),
            page::PageLink::Base(base) => base.is_empty(),
        };
        assert!(!found.iter().any(is_empty));
    }
}

/// Resolves lines as successive links and redirects.
pub fn link(bytes: &[u8]) {
    run::links(bytes);
}

/// Parses bytes as a data file.
pub fn data_file(bytes: &[u8]) {
    run::data_file(bytes);
}

/// Parses lines as cookies of a server.
pub fn cookies(bytes: &[u8]) {
    run::cookies(bytes);
}

/// Decodes bytes as an encoded body: the first byte selects the encoding.
pub fn body(bytes: &[u8]) {
    run::body(bytes);
}

/// Parses bytes as a property file.
pub fn properties(bytes: &[u8]) {
    properties::parse(bytes);
}

/// Parses bytes as a JTL file: every row is either counted or reported.
pub fn jtl(bytes: &[u8]) {
    let mut tally = Tally::new(requests::Settings::default());
    let outcome = crate::jtl::read(bytes, |row| tally.add(row));
    let all = tally.finish();
    if let Ok(outcome) = outcome {
        // A row counts under one label; transactions count there alone and may share it with
        // samples.
        let labelled: u64 = all.labels.iter().map(|label| label.n).sum();
        assert!(all.total.n <= labelled);
        assert!(labelled + all.far + all.empty_transactions <= outcome.rows);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn a_transaction_and_a_sample_may_have_the_same_name() {
        let transaction = "Number of samples in transaction : 1, number of failing samples : 0";
        super::jtl(
            format!(
                "timeStamp,elapsed,label,responseMessage,success\n\
                 1700000000000,345,Buy,\"{transaction}\",true\n\
                 1700000000000,345,Buy,OK,true\n"
            )
            .as_bytes(),
        );
    }

    proptest! {
        #[test]
        fn no_json_path_panics(
            path in r"[$@.*\[\]()?,:'a-c0-9=<>!&|~/ -]{0,40}",
            document in r#"[\[\]{}":,a-c0-9 ]{0,60}"#,
        ) {
            super::json_path(format!("{path}\n{document}").as_bytes());
        }

        #[test]
        fn no_jmes_path_panics(
            path in r"[@.*\[\]{}()?,:'`&|!<>=a-c0-9 -]{0,40}|(sort_by|map|join|to_string|max_by|slice)\([@&a-c,`0-9\[\]]{0,20}\)",
            document in r#"[\[\]{}":,a-c0-9 ]{0,60}|\{"a":\[\{"b":[0-9]\},\{"c":"[a-c]"\}\],"b":[0-9.]{1,9}\}"#,
        ) {
            super::jmes_path(format!("{path}\n{document}").as_bytes());
        }

        #[test]
        fn no_css_selector_panics(
            selector in r#"[a-c.#*:>+~,()\[\]='"^$| \\0-9n-]{0,30}|[a-c]?:(not|is|has|nth-child|where|host|empty|root)\([a-c0-9n+> ,:()-]{0,12}\)"#,
            page in "(<[/]?(a|b|p|table|form|svg|template)( id=[a-c])?( class='[a-c ]{0,4}')?>|[a-c ]){0,30}",
        ) {
            super::css(format!("{selector}\n{page}").as_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            super::plan(&bytes);
            super::expression(&bytes);
            super::properties(&bytes);
            super::jtl(&bytes);
            super::xpath(&bytes);
            super::data_file(&bytes);
            super::cookies(&bytes);
            super::link(&bytes);
            super::body(&bytes);
            super::page(&bytes);
        }
    }
}
