//! Trees and paths with known results.

use proptest::prelude::*;

use super::xpath::{Names, XPath, XPathValue};
use super::*;

const BOOKS: &str = r#"<?xml version="1.0"?>
<!-- shelf -->
<shop xmlns:p="urn:price">
  <book id="b1" lang="en"><title>One &amp; two</title><p:price>10</p:price></book>
  <book id="b2"><title>Three</title><p:price>25.5</p:price></book>
  <box><book id="b3" lang="ja"><title>四</title></book></box>
  <?note keep?>
</shop>"#;

fn find_in(document: &Document, path: &str) -> Result<Vec<String>, String> {
    let spaces = ["p", "q"].map(|prefix| (prefix.to_owned(), "urn:price".to_owned()));
    let found = XPath::parse(path)?.find(document, Names::Declared(&spaces))?;
    found.texts(document, false)
}

#[track_caller]
fn check(path: &str, expected: &[&str]) {
    let document = Document::xml(BOOKS).unwrap();
    let found = find_in(&document, path);
    assert_eq!(
        found
            .as_deref()
            .map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>()),
        Ok(expected.to_vec()),
        "{path}"
    );
}

#[test]
fn steps_and_axes_find_what_they_must() {
    check("/shop/book/title", &["One & two", "Three"]);
    check("//book/@id", &["b1", "b2", "b3"]);
    check("//book[@lang]/@id", &["b1", "b3"]);
    check("//title[. = 'Three']/../@id", &["b2"]);
    check("//book[2]/@id", &["b2"]);
    check("(//book)[last()]/@id", &["b3"]);
    check("//box/preceding-sibling::book[1]/@id", &["b2"]);
    check("//book[@id='b1']/following::title", &["Three", "四"]);
    check(
        "//title[text()='四']/preceding::title",
        &["One & two", "Three"],
    );
    check("//title/ancestor::box/book/@id", &["b3"]);
    check("/shop/*[self::box]/descendant::title", &["四"]);
    check("//book[1]/child::node()", &["One & two", "10", "四"]);
    check("//processing-instruction('note')", &["keep"]);
    check("/comment()", &[" shelf "]);
    check(
        "//title | //@lang",
        &["en", "One & two", "Three", "ja", "四"],
    );
    check("/", &["\n  One & two10\n  Three25.5\n  四\n  \n"]);
}

/// The texts that a path finds, joined by blanks; or why it does not.
fn named(path: &str, names: Names<'_>, body: &str) -> Result<String, String> {
    let document = Document::xml(body)?;
    let found = XPath::parse(path)?.find(&document, names)?;
    Ok(found.texts(&document, false)?.join(" "))
}

#[test]
fn names_match_as_the_version_and_the_parser_have_it() {
    const PREFIXED: &str = "<r xmlns:n='urn:n'><a>1</a><n:b n:k='v' xml:lang='en'>2</n:b></r>";
    const DEFAULT: &str = "<r xmlns='urn:d'><a>1</a><x xmlns:m='urn:m'><m:b>2</m:b></x></r>";
    let spaces = [("n".to_owned(), "urn:n".to_owned())];
    let elements = [(String::new(), "urn:d".to_owned())];
    let (declared, default) = (Names::Declared(&spaces), Names::Declared(&elements));
    for (path, names, body, expected) in [
        ("//n:b", Names::Unaware, PREFIXED, ""),
        ("//n:*", Names::Unaware, PREFIXED, ""),
        ("//@n:k", Names::Unaware, PREFIXED, ""),
        ("//b", Names::Unaware, PREFIXED, ""),
        ("//*[name()='n:b']", Names::Unaware, PREFIXED, "2"),
        ("//*[local-name()='b']", Names::Unaware, PREFIXED, "2"),
        (
            "namespace-uri(//*[name()='n:b'])",
            Names::Unaware,
            PREFIXED,
            "",
        ),
        ("//n:b", Names::Aware, PREFIXED, "2"),
        ("//@n:k", Names::Aware, PREFIXED, "v"),
        ("//@xml:lang", Names::Aware, PREFIXED, "en"),
        ("//n:b", declared, PREFIXED, "2"),
        ("//*:b", declared, PREFIXED, "2"),
        ("//a", Names::Unaware, DEFAULT, "1"),
        ("//a", Names::Aware, DEFAULT, ""),
        ("//a", declared, DEFAULT, ""),
        ("//a", default, DEFAULT, "1"),
        ("//*:b", default, DEFAULT, "2"),
    ] {
        let found = named(path, names, body);
        assert_eq!(found.as_deref(), Ok(expected), "{path} {names:?}");
    }
    for (path, names) in [
        // Only the root element declares prefixes.
        ("//m:b", Names::Aware),
        ("//m:b", Names::Unaware),
        ("//m:b", declared),
        ("//*:b", Names::Aware),
        ("ends-with(//a, '1')", Names::Aware),
        ("lower-case(//a)", Names::Unaware),
        ("contains(//*, '1')", declared),
    ] {
        assert!(named(path, names, DEFAULT).is_err(), "{path} {names:?}");
    }
}

#[test]
fn prefixes_are_namespaces_when_they_are_given() {
    check("//q:price", &["10", "25.5"]);
    check("//p:price", &["10", "25.5"]);
    check("//price", &[]);
    check("//*[local-name()='price']", &["10", "25.5"]);
    check("//q:*", &["10", "25.5"]);
    check("namespace-uri(//p:price)", &["urn:price"]);
    check("name(//p:price)", &["p:price"]);
}

#[test]
fn values_are_computed() {
    check("count(//book)", &["3"]);
    check("sum(//p:price) div 2", &["17.75"]);
    check("7 mod 4 - -1 * 2", &["5"]);
    check("//p:price > 20 and not(//p:price > 30)", &["true"]);
    check("//book[p:price < 20]/@id", &["b1"]);
    check(
        "concat((//book)[1]/@id, '-', string-length('日本'))",
        &["b1-2"],
    );
    check("substring('12345', 2, 3)", &["234"]);
    check("substring('12345', 0 div 0)", &[""]);
    check("substring-before('a=b', '=')", &["a"]);
    check("substring-after('a=b', '=')", &["b"]);
    check("translate('bar', 'abc', 'AB')", &["BAr"]);
    check("normalize-space('  a  b ')", &["a b"]);
    check("upper-case('a')", &["A"]);
    check("//book[matches(@id, 'b[12]')]/@id", &["b1", "b2"]);
    check("//book[position() = last()]/@id", &["b2", "b3"]);
    check("round(2.5) + floor(-1.5)", &["1"]);
    check("number('x')", &["NaN"]);
    check("1 div 0", &["Infinity"]);
    check("string(0.1 + 0.2 = 0.3)", &["false"]);
    check("boolean(//none) or true()", &["true"]);
}

#[test]
fn fragments_come_with_their_tags() {
    let document = Document::xml(BOOKS).unwrap();
    let found = XPath::parse("//book[@id='b2']")
        .unwrap()
        .find(&document, Names::Declared(&[]))
        .unwrap();
    assert_eq!(
        found.texts(&document, true),
        Ok(vec![
            "<book id=\"b2\"><title>Three</title><p:price>25.5</p:price></book>".into()
        ])
    );
}

#[test]
fn html_is_what_browsers_make_of_it() {
    let html = "<p>one<p>two <b id=x>bold<a href='/l?a&b'>link</a><img src=i.png>";
    let document = Document::html(html).unwrap();
    let find = |path: &str| find_in(&document, path).unwrap();
    assert_eq!(find("//p"), ["one", "two boldlink"]);
    assert_eq!(find("/html/body//a/@href"), ["/l?a&b"]);
    assert_eq!(find("//img/@src"), ["i.png"]);
    assert_eq!(find("//b[@id='x']/text()"), ["bold"]);
}

#[test]
fn what_is_no_xml_is_told() {
    for (text, says) in [
        ("", "there is no root element"),
        ("<a>", "not closed"),
        ("<a/><b/>", "more than one root"),
        ("<a/>x", "outside"),
    ] {
        let why = Document::xml(text).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
    let deep = "<a>".repeat(2_000);
    assert!(Document::xml(&deep).unwrap_err().contains("deeper"));
    let wide = |n: usize, name: &str| -> String {
        let attributes = (0..n).map(|i| format!(" {name}{i}='x'"));
        format!("<a{}/>", attributes.collect::<String>())
    };
    assert!(Document::xml(&wide(4_000, "b")).is_ok());
    let why = Document::xml(&wide(300_000, "b")).unwrap_err();
    assert!(why.contains("more than 4096 attributes"), "{why}");
    assert!(Document::xml(&wide(200, "xmlns:b")).is_ok());
    let why = Document::xml(&wide(300, "xmlns:b")).unwrap_err();
    assert!(why.contains("namespaces"), "{why}");
    // Entities of a document are not expanded.
    let bomb = "<!DOCTYPE a [<!ENTITY b \"cccc\"><!ENTITY d \"&b;&b;\">]><a>&d;</a>";
    assert_eq!(Document::xml(bomb).unwrap().text(0), "&d;");
}

#[test]
fn paths_that_are_none_are_told() {
    for path in [
        "",
        "/book[",
        "//",
        "a b",
        "count()",
        "nothing(1)",
        "'open",
        "1.2.3",
        "a::b",
        "@",
        "[1]",
        "$x",
    ] {
        assert!(XPath::parse(path).is_err(), "{path}");
    }
    assert!(XPath::parse(&"(".repeat(1_000)).is_err());
    let document = Document::xml("<a/>").unwrap();
    assert!(
        XPath::parse("count(1)")
            .unwrap()
            .find(&document, Names::Declared(&[]))
            .is_err()
    );
}

#[test]
fn an_evaluation_has_its_bound() {
    let wide = format!("<a>{}</a>", "<b/>".repeat(5_000));
    let document = Document::xml(&wide).unwrap();
    let path = XPath::parse("//b[count(//b) = count(//b[//b])]").unwrap();
    assert!(
        path.find(&document, Names::Declared(&[]))
            .unwrap_err()
            .contains("too many")
    );
}

proptest! {
    #[test]
    fn nothing_panics(
        parts in prop::collection::vec(prop::sample::select(vec![
            "/", "//", "a", "book", "*", "@", "id", "[", "]", "(", ")", "1", ".5", "'x'", "=", "<",
            "and", "or", "div", "mod", "-", "+", "|", "..", ".", "::", "self", "preceding", "count(",
            "text()", "last()", "substring(", ",", "p:", "日",
        ]), 0..12),
        text in "[<>a-b/&; \"=!?-]{0,40}",
    ) {
        let document = Document::xml(BOOKS).unwrap();
        if let Ok(path) = XPath::parse(&parts.concat())
            && let Ok(XPathValue::Nodes(nodes)) = path.find(&document, Names::Declared(&[]))
        {
            prop_assert!(nodes.is_sorted());
        }
        let _ = Document::xml(&text);
        let _ = Document::html(&text);
    }
}

#[test]
fn long_and_deep_paths_are_refused_before_they_run() {
    let document = Document::xml("<a><b>x</b></a>").expect("a document");
    let nested = |open: &str, close: &str| open.repeat(5_000) + "1" + &close.repeat(5_000);
    for path in [
        vec!["1"; 20_000].join("+"),
        vec!["a"; 20_000].join("|"),
        vec!["a"; 10_000].join(" or "),
        nested("(", ")"),
        nested("not(", ")"),
        nested("a[", "]"),
    ] {
        assert!(XPath::parse(&path).is_err(), "{path:.40}");
    }
    for (path, expected) in [
        (vec!["1"; 500].join("+"), "500"),
        ("-".repeat(30_000) + "1", "1"),
        (vec!["."; 10_000].join("/") + "/a/b", "x"),
    ] {
        let found = XPath::parse(&path).and_then(|path| path.find(&document, Names::Declared(&[])));
        let found = found.expect("it is carried out").text(&document);
        assert_eq!(found, expected, "{path:.40}");
    }
}

#[test]
fn texts_count_as_visits_and_are_bounded_together() {
    let nested = "<a>".repeat(900) + &"x".repeat(1 << 20) + &"</a>".repeat(900);
    let document = Document::xml(&nested).expect("a document");
    let find =
        |path: &str| XPath::parse(path).and_then(|path| path.find(&document, Names::Declared(&[])));
    assert!(find("//a[. = //a]").is_err(), "900 × 900 texts of 1 MiB");
    assert!(find("//a[contains(., 'y') or contains(., 'z')]").is_err());
    let all = find("//a").expect("they are found");
    assert!(all.texts(&document, false).is_err());
    assert!(all.texts(&document, true).is_err());
    assert!(find("string-length(//a[800])").is_ok());
}
