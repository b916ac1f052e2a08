//! Extraction from documents, and assertions on them.

use super::*;

fn page() -> Answered {
    let body = "<html><body><form><input name=token value=t1><input name=id value=7></form>\
                <ul><li>one <b>1</b></li><li>two</li></ul></body></html>";
    ok(body)
}

/// The value of a variable after one response, sent as the path of a second request.
fn extracted(extractor: &str, answer: Answered) -> String {
    let plan = get("/a", extractor) + &get("/${x}", "");
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| answer.clone());
    let path = done.requests[1].split(' ').nth(1).unwrap();
    path.trim_start_matches('/').replace("%20", " ")
}

fn extractor(tag: &str, prefix: &str, properties: &[(&str, &str)]) -> String {
    let each = properties.iter();
    let properties: String = each
        .map(|(name, value)| text(&format!("{prefix}.{name}"), value))
        .collect();
    element(tag, "e", &properties, "")
}

#[test]
fn css_selectors_find_texts_and_attributes() {
    let css = |selector: &str, attribute: &str, number: &str| {
        let properties = [
            ("expr", selector),
            ("attribute", attribute),
            ("refname", "x"),
            ("match_number", number),
            ("default", "none"),
        ];
        extracted(
            &extractor("HtmlExtractor", "HtmlExtractor", &properties),
            page(),
        )
    };
    assert_eq!(css("input[name=token]", "value", "1"), "t1");
    assert_eq!(css("li", "", "1"), "one 1");
    assert_eq!(css("li:nth-child(2)", "", "1"), "two");
    assert_eq!(css("input", "value", "2"), "7");
    assert_eq!(css("table", "", "1"), "none");
    assert_eq!(css("[[${__threadNum}", "", "1"), "none");
}

#[test]
fn xpaths_find_in_xml_and_in_html() {
    let xml = "<r xmlns:p='u'><p:id>7</p:id><p:id>8</p:id></r>";
    let old = |path: &str, tolerant: &str, aware: &str, answer: Answered| {
        let properties = [
            ("xpathQuery", path),
            ("refname", "x"),
            ("matchNumber", "1"),
            ("default", "none"),
            ("tolerant", tolerant),
            ("namespace", aware),
        ];
        extracted(
            &extractor("XPathExtractor", "XPathExtractor", &properties),
            answer,
        )
    };
    assert_eq!(old("//p:id", "false", "true", ok(xml)), "7");
    assert_eq!(old("//p:id", "false", "false", ok(xml)), "none");
    assert_eq!(
        old("//input[@name='id']/@value", "true", "false", page()),
        "7"
    );
    assert_eq!(old("//input", "false", "false", page()), "none");
    let new = [
        ("xpathQuery", "//q:id[2]"),
        ("refname", "x"),
        ("matchNumber", "1"),
        ("namespaces", "q=u"),
    ];
    let new = extractor("XPath2Extractor", "XPathExtractor2", &new);
    assert_eq!(extracted(&new, ok(xml)), "8");
    let undeclared = [
        ("xpathQuery", "//p:id"),
        ("refname", "x"),
        ("default", "none"),
    ];
    let undeclared = extractor("XPath2Extractor", "XPathExtractor2", &undeclared);
    assert_eq!(extracted(&undeclared, ok(xml)), "none");
}

#[test]
fn an_expression_of_variables_that_is_not_supported_is_told() {
    let path = |tag: &str, prefix: &str, property: &str, path: &str| {
        let properties = [(property, path), ("refname", "x"), ("default", "none")];
        let plan = get("/a", &extractor(tag, prefix, &properties));
        let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok("<a>1</a>"));
        done.troubles.join("\n")
    };
    let xpath = path(
        "XPath2Extractor",
        "XPathExtractor2",
        "xpathQuery",
        "string-join(//a, '${__threadNum}')",
    );
    assert!(xpath.contains("string-join"), "{xpath}");
    let css = path(
        "HtmlExtractor",
        "HtmlExtractor",
        "expr",
        "a:eq(${__threadNum})",
    );
    assert!(css.contains("a:eq(1)"), "{css}");
}

#[test]
fn jmes_paths_find_in_json() {
    let jmes = |path: &str, number: &str| {
        let properties = [
            ("jmesPathExpr", path),
            ("referenceName", "x"),
            ("matchNumber", number),
            ("defaultValue", "none"),
        ];
        let json = r#"{"items": [{"id": 7, "n": "a"}, {"id": 8, "n": "b"}]}"#;
        extracted(
            &extractor("JMESPathExtractor", "JMESExtractor", &properties),
            ok(json),
        )
    };
    assert_eq!(jmes("items[].id", "2"), "8");
    assert_eq!(jmes("items[?id==`8`].n | [0]", "1"), "b");
    assert_eq!(jmes("items[0].none", "1"), "none");
    assert_eq!(jmes("items[${__threadNum}", "1"), "none");
}

/// Whether a sample with this assertion succeeded, and the message of the assertion.
fn judged(assertion: &str, answer: Answered) -> (bool, String) {
    let done = Simulation::group(&users(1, 0, 1), &get("/a", assertion)).run(|_| answer.clone());
    (done.rows[0].success, done.rows[0].failure.clone())
}

#[test]
fn documents_are_judged() {
    let xpath = |path: &str| element("XPathAssertion", "a", &text("XPath.xpath", path), "");
    assert!(judged(&xpath("//b[. = 1]"), ok("<a><b>1</b></a>")).0);
    let (success, says) = judged(&xpath("//c"), ok("<a/>"));
    assert_eq!((success, says.as_str()), (false, "No Nodes Matched //c"));
    assert!(!judged(&xpath("//c"), ok("no xml")).0);
    let prefixed = || ok("<n:a xmlns:n='u'/>");
    assert!(!judged(&xpath("//n:a"), prefixed()).0);
    let aware = text("XPath.xpath", "//n:a") + &flag("XPath.namespace", true);
    let aware = element("XPathAssertion", "a", &aware, "");
    assert!(judged(&aware, prefixed()).0);
    let md5 = |sum: &str| {
        element(
            "MD5HexAssertion",
            "a",
            &text("MD5HexAssertion.size", sum),
            "",
        )
    };
    assert!(judged(&md5("5D41402ABC4B2A76B9719D911017C592"), ok("hello")).0);
    let (_, says) = judged(&md5("0"), ok("hello"));
    assert_eq!(
        says,
        "Error asserting MD5 sum : got 5d41402abc4b2a76b9719d911017c592 but should have been 0"
    );
    let jmes = |value: &str| {
        let properties = text("JMES_PATH", "a.b")
            + &flag("JSONVALIDATION", true)
            + &text("EXPECTED_VALUE", value);
        element("JMESPathAssertion", "a", &properties, "")
    };
    assert!(judged(&jmes("1"), ok(r#"{"a": {"b": 1}}"#)).0);
    assert!(!judged(&jmes("2"), ok(r#"{"a": {"b": 1}}"#)).0);
}

#[test]
fn a_body_that_is_not_in_its_encoding_is_a_failed_sample() {
    let look = element(
        "ResponseAssertion",
        "a",
        &text("Assertion.test_field", "Assertion.response_data"),
        "",
    );
    let answer = (
        200,
        "Content-Encoding: gzip\r\n".to_owned(),
        "no gzip".to_owned(),
        10,
    );
    let done = Simulation::group(&users(1, 0, 1), &get("/a", &look)).run(|_| answer.clone());
    let row = &done.rows[0];
    assert_eq!(
        row.code,
        "Non HTTP response code: java.util.zip.ZipException"
    );
    assert_eq!(row.message, "Non HTTP response message: Not in GZIP format");
    assert!(!row.success);
    // No element needs the body: bytes are counted, and the body is not decoded.
    let done = Simulation::group(&users(1, 0, 1), &get("/a", "")).run(|_| answer.clone());
    assert!(done.rows[0].success);
}
