//! Assertions.

use sokudo_model::Text;

use super::extractors::applies;
use super::paths::{JMES_PATH, JSON_PATH, XPATH, path};
use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::{AssertionKind, Comparison, Field, SizeField, TextTest};

const fn assertion(
    classes: &'static [&'static str],
    tier: u8,
    read: fn(&mut ElementReader<'_, '_>) -> AssertionKind,
) -> ElementSpec {
    element(classes, Family::Assertion, tier, Role::Assertion(read))
}

pub(super) const ELEMENTS: &[ElementSpec] = &[
    assertion(&["ResponseAssertion"], 1, response),
    assertion(&["DurationAssertion"], 1, duration),
    assertion(&["SizeAssertion"], 2, size),
    assertion(&["JSONPathAssertion"], 2, json),
    assertion(&["JMESPathAssertion"], 3, jmes_path),
    assertion(&["XPathAssertion"], 3, xpath),
    assertion(&["XPath2Assertion"], 3, xpath2),
    assertion(&["XMLAssertion"], 3, |_| AssertionKind::WellFormedXml),
    assertion(&["MD5HexAssertion"], 3, md5),
];

fn response(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    const FIELDS: &[(&str, Field)] = &[
        ("Assertion.response_data", Field::Body),
        ("Assertion.response_headers", Field::ResponseHeaders),
        ("Assertion.request_headers", Field::RequestHeaders),
        ("Assertion.request_data", Field::RequestBody),
        ("Assertion.sample_label", Field::Url),
        ("Assertion.response_code", Field::Code),
        ("Assertion.response_message", Field::Message),
    ];
    const TYPE: &str = "Assertion.test_type";
    const CONTAINS: i64 = 2;
    let bits = reader.start_integer(TYPE).unwrap_or(CONTAINS);
    let has = |bit: i64| bits & bit != 0;
    let test = match () {
        () if has(1) => TextTest::Matches,
        () if has(8) => TextTest::Equals,
        () if has(16) => TextTest::Contains,
        () => TextTest::ContainsPattern,
    };
    if !(0..64).contains(&bits) || (bits & 0b1_1011).count_ones() > 1 {
        let says = Text::new("jmx-unknown-word")
            .word("property", TYPE)
            .word("word", bits.to_string())
            .word("known", "1, 2, 8, 16 (+ 4, + 32)");
        let place = reader.place_of(TYPE);
        reader.compiler.problems.error(place, says);
    }
    // All versions write and read the misspelled name alone.
    let texts = reader.texts("Asserion.test_strings");
    let field = match reader.start_text("Assertion.test_field").is_empty() {
        true => Field::Url,
        false => reader.choice("Assertion.test_field", FIELDS),
    };
    AssertionKind::Response {
        field,
        test,
        negated: has(4),
        any: has(32),
        assume_success: reader.flag("Assertion.assume_success", false),
        texts,
        message: reader.text("Assertion.custom_message"),
        applies: applies(reader, "Assertion"),
    }
}

fn duration(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    AssertionKind::Duration {
        most_ms: reader.integer("DurationAssertion.duration", 0),
        applies: applies(reader, "Assertion"),
    }
}

fn size(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    const FIELDS: &[(&str, SizeField)] = &[
        ("SizeAssertion.response_network_size", SizeField::Response),
        ("SizeAssertion.response_headers", SizeField::Headers),
        ("SizeAssertion.response_data", SizeField::Body),
        ("SizeAssertion.response_code", SizeField::Code),
        ("SizeAssertion.response_message", SizeField::Message),
    ];
    const COMPARISONS: &[(&str, Comparison)] = &[
        ("1", Comparison::Equal),
        ("2", Comparison::NotEqual),
        ("3", Comparison::Greater),
        ("4", Comparison::Less),
        ("5", Comparison::GreaterOrEqual),
        ("6", Comparison::LessOrEqual),
    ];
    AssertionKind::Size {
        field: reader.choice("Assertion.test_field", FIELDS),
        is: reader.choice("SizeAssertion.operator", COMPARISONS),
        bytes: reader.integer("SizeAssertion.size", 0),
        applies: applies(reader, "Assertion"),
    }
}

fn json(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    let compares = reader.start_flag("JSONVALIDATION", false);
    let expected = reader.text("EXPECTED_VALUE");
    AssertionKind::Json {
        path: path(reader, ("JSONPathAssertion", "JSON_PATH"), JSON_PATH),
        expected: compares.then_some(expected),
        is_pattern: reader.flag("ISREGEX", true),
        expects_null: reader.flag("EXPECT_NULL", false),
        negated: reader.flag("INVERT", false),
    }
}

fn jmes_path(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    let compares = reader.start_flag("JSONVALIDATION", false);
    let expected = reader.text("EXPECTED_VALUE");
    AssertionKind::JmesPath {
        path: path(reader, ("JMESPathAssertion", "JMES_PATH"), JMES_PATH),
        expected: compares.then_some(expected),
        is_pattern: reader.flag("ISREGEX", false),
        expects_null: reader.flag("EXPECT_NULL", false),
        negated: reader.flag("INVERT", false),
    }
}

fn xpath(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    reader.ignore(&["XPath.whitespace", "XPath.quiet"]);
    reader.unheeded(
        "XPathAssertion",
        &[
            "XPath.validate",
            "XPath.report_errors",
            "XPath.show_warnings",
            "XPath.download_dtds",
        ],
    );
    AssertionKind::XPath {
        path: path(reader, ("XPathAssertion", "XPath.xpath"), XPATH),
        aware: reader.flag("XPath.namespace", false),
        negated: reader.flag("XPath.negate", false),
        tolerant: reader.flag("XPath.tolerant", false),
        applies: applies(reader, "Assertion"),
    }
}

/// JMeter evaluates the path as XPath 1.0, too, for its type: what is none of it fails there.
fn xpath2(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    AssertionKind::XPath2 {
        path: path(reader, ("XPath2Assertion", "XPath.xpath"), XPATH),
        namespaces: reader.text("XPath.namespaces"),
        negated: reader.flag("XPath.negate", false),
        applies: applies(reader, "Assertion"),
    }
}

fn md5(reader: &mut ElementReader<'_, '_>) -> AssertionKind {
    let sum = reader.text("MD5HexAssertion.size");
    AssertionKind::Md5 { sum }
}
