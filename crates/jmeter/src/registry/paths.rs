//! Paths and selectors of extractors and assertions, checked before the test.
//!
//! What JMeter could evaluate and sokudo cannot would silently give the default value, so a constant
//! path is refused then. One with variables fails when it is evaluated.

use sokudo_model::Text;

use crate::compile::{ElementReader, excerpt};
use crate::document::xpath::XPath;
use crate::expression::Template;
use crate::json;
use crate::problem::FilePosition;
use crate::run::{css_flaw, jmes_flaw};

/// A language of paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathLanguage {
    name: &'static str,
    /// Reason why a path cannot be evaluated; `None`: it can.
    flaw: fn(&str) -> Option<String>,
}

pub(super) const XPATH: PathLanguage = PathLanguage {
    name: "XPath",
    flaw: |path| match XPath::parse(path) {
        Ok(parsed) => parsed
            .later_construct()
            .map(|construct| format!("{construct} is not part of XPath 1.0")),
        Err(why) => Some(why),
    },
};

pub(super) const XPATH_2: PathLanguage = PathLanguage {
    name: "XPath 2",
    flaw: |path| XPath::parse(path).err(),
};

/// A JSON path that is invalid here is so in JMeter; only functions that are missing here are refused.
pub(super) const JSON_PATH: PathLanguage = PathLanguage {
    name: "JSONPath",
    flaw: |path| match json::Path::parse(path) {
        Err(json::PathFault::Unsupported(why)) => Some(why),
        _ => None,
    },
};

pub(super) const JMES_PATH: PathLanguage = PathLanguage {
    name: "JMESPath",
    flaw: jmes_flaw,
};

pub(super) const CSS: PathLanguage = PathLanguage {
    name: "CSS",
    flaw: css_flaw,
};

/// Reads a path; reports a constant one that cannot be evaluated.
pub(super) fn path(
    reader: &mut ElementReader<'_, '_>,
    (element, property): (&'static str, &str),
    language: PathLanguage,
) -> Template {
    let path = reader.text(property);
    let place = reader.place_of(property);
    check(reader, (element, &path, &place), language);
    path
}

/// Reports a constant path that cannot be evaluated. An empty one is left to the element.
pub(super) fn check(
    reader: &mut ElementReader<'_, '_>,
    (element, path, place): (&'static str, &Template, &FilePosition),
    language: PathLanguage,
) {
    let constant = path.constant().map(str::trim);
    let Some(text) = constant.filter(|text| !text.is_empty()) else {
        return;
    };
    if let Some(why) = (language.flaw)(text) {
        let says = Text::new("jmx-refused-path")
            .word("language", language.name)
            .word("element", element)
            .word("path", excerpt(text))
            .word("why", why);
        reader.compiler.unsupported(place, says, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_language_has_and_is_missing_here_is_a_flaw() {
        let flaws = |language: PathLanguage, paths: &[&str]| {
            for path in paths {
                assert!((language.flaw)(path).is_some(), "{}: {path}", language.name);
            }
        };
        let fine = |language: PathLanguage, paths: &[&str]| {
            for path in paths {
                assert_eq!((language.flaw)(path), None, "{}: {path}", language.name);
            }
        };
        let later = [
            "string-join(//a, ',')",
            "for $a in //a return $a/@id",
            "if (//a) then 'x' else 'y'",
            "some $a in //a satisfies $a = 1",
            "replace(//a, 'x', 'y')",
            "tokenize(//a, ',')[1]",
            "distinct-values(//a)",
            "(//a, //b)",
            "1 to 3",
            "//a ! string()",
            "//a => count()",
            "//a[@n eq '1']",
            "//a is //b",
            "//a except //b",
            "//a/string()",
            "xs:integer(//a)",
            "//a castable as xs:integer",
            "//element(a)",
            "let $a := //a return $a",
            "matches(//a, 'x', 'i')",
            "'a' || 'b'",
            "math:pi()",
        ];
        flaws(XPATH_2, &later);
        flaws(XPATH, &later);
        fine(XPATH_2, &["//*:a", "ends-with(//a, 'x')", "fn:count(//a)"]);
        flaws(
            XPATH,
            &["//*:a", "ends-with(//a, 'x')", "fn:count(//a)", "id('x')"],
        );
        flaws(
            XPATH,
            &[
                "//namespace::a",
                "//a[lang('en')]",
                "$x",
                "exslt:node-set(//a)",
            ],
        );
        fine(XPATH, &["//n:a[@b='1'] | //c", "count(//a) > 1"]);
        flaws(
            JSON_PATH,
            &["$.append(1)", "$.a.sum($.b, $.c)", "$.length($..x)"],
        );
        // JMeter fails there, too, when it evaluates them.
        fine(JSON_PATH, &["$.a.length()", "$.a.none()", "$.a["]);
        flaws(
            JMES_PATH,
            &["group_by(a, &b)", "let $x = a in $x", "a[", "join(@.s, a)"],
        );
        fine(JMES_PATH, &["length(a)", "sort_by(a, &b)[0]"]);
        flaws(
            CSS,
            &[
                "a:eq(0)",
                "p:contains(x)",
                "a[href~=x.*]",
                "a[href!=x]",
                "div:lt(2)",
            ],
        );
        flaws(CSS, &["p:matchesOwn(x)", "[^data-]", "p["]);
        fine(
            CSS,
            &[
                "ul > li:nth-child(2)",
                "a[href^=x]",
                "li:has(b)",
                "li:not(.a)",
            ],
        );
    }
}
