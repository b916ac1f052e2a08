use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Element, NotXml> {
    parse(&"t.jmx".into(), text.as_bytes())
}

#[track_caller]
fn refused(text: &str, key: &str, line: u32, column: u32) {
    let error = read(text).expect_err(text);
    assert_eq!(error.says.key, key, "{error:?}");
    assert_eq!(
        (error.place.line, error.place.column),
        (line, column),
        "{error:?}"
    );
}

#[test]
fn elements_carry_text_attributes_and_places() {
    let root = read(
        "<?xml version=\"1.0\"?>\n<a x=\"1 &amp; 2\">\n 日本<b/>t&lt;&#x41;<![CDATA[<&]]></a>",
    )
    .unwrap();
    assert_eq!(root.attribute("x"), Some("1 & 2"));
    // What stands behind the first child is not read, as in JMeter.
    assert_eq!(root.text.trim_start(), "日本");
    let whole = read("<a>t&lt;&#x41;&#x0;<![CDATA[<&]]></a>").unwrap();
    assert_eq!(whole.text, "t<A\0<&");
    assert_eq!(root.place.to_string(), "t.jmx:2:1");
    let b = root.child("b").unwrap();
    assert_eq!((b.place.line, b.place.column), (3, 4));
}

#[test]
fn broken_xml_is_told_with_line_and_column() {
    refused("<a>\n  <b></c></a>", "jmx-broken-xml", 2, 6);
    refused("<a>\n<b>", "jmx-not-closed", 2, 4);
    refused("", "jmx-empty", 1, 1);
    refused("<a>\n x=&own;</a>", "jmx-unknown-entity", 2, 4);
    refused("<a x=1/>", "jmx-broken-xml", 1, 1);
    refused("text\n<a/>", "jmx-text-outside", 1, 1);
}

#[test]
fn what_stands_behind_the_root_is_not_read() {
    assert_eq!(read("<a/>\n<b/>text & <").unwrap().tag, "a");
    assert_eq!(read("<a><b/>\n").unwrap().children.len(), 1);
}

#[test]
fn an_entity_bomb_is_refused_before_it_grows() {
    let bomb = "<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;&x;\">]>\n<a>&y;</a>";
    refused(bomb, "jmx-doctype", 1, 1);
}

#[test]
fn depth_has_a_bound() {
    let error = read(&"<a>".repeat(100_000)).unwrap_err();
    assert_eq!(error.says.key, "jmx-too-deep");
}

#[test]
fn attributes_of_one_element_have_a_bound() {
    let wide = |n: usize| -> String {
        let attributes = (0..n).map(|i| format!(" a{i}='x'"));
        format!("<a{}/>", attributes.collect::<String>())
    };
    assert!(read(&wide(4_000)).is_ok());
    let error = read(&wide(300_000)).unwrap_err();
    assert_eq!(error.says.key, "jmx-too-wide");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&"t.jmx".into(), &bytes);
    }

    #[test]
    fn no_markup_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "<a>", "</a>", "<a/>", "<b x='1'>", "</b>", "&amp;", "&x;", "&#0;", "<!--", "-->", "<![CDATA[", "]]>", "<?p?>", "日", "\n", "<!DOCTYPE", ">", "&",
    ]), 0..30)) {
        let _ = read(&parts.concat());
    }
}
