//! The links that JMeter 5.6.3 fetches from the same pages, and robustness against any text.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(kind: PageKind, text: &str, expected: &[&str]) {
    let found = links(kind, text);
    let found: Vec<String> = found
        .into_iter()
        .map(|found| match found {
            PageLink::Link(link) => link,
            PageLink::Base(base) => format!("base {base}"),
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[track_caller]
fn page(text: &str, expected: &[&str]) {
    check(PageKind::Markup, text, expected);
}

#[test]
fn tags_name_what_they_need() {
    page(
        "<IMG SRC='/1'><img src=/2><img/src=\"/3\"><img src = \"/4\"><img src=\"/5\" src=\"/x\">",
        &["/1", "/2", "/3", "/4", "/5"],
    );
    page(
        "<body background=/b style=\"x:url('/s')\"><td background=/t><p/background=/p><a href=/x>",
        &["/b", "/s", "/t", "/p"],
    );
    page(
        "<script src=/1>'<img src=/x>'</script ><iframe src=/2><img src=/x></iframe><frame src=/3>",
        &["/1", "/2", "/3"],
    );
    page(
        "<embed src=/1><bgsound src=/2><input type=IMAGE src=/3><input type=text src=/x>",
        &["/1", "/2", "/3"],
    );
    page(
        "<object codebase=/c/ data=d></object><object data=/e></object>",
        &["/c/", "d", "/e"],
    );
    page(
        "<applet code=a><applet codebase=/c code=b><applet codebase=/c archive=j code=x><applet archive=x>",
        &["a", "/c/b", "/c/j"],
    );
    page(
        "<base href=/b/><img src=1><base href=''><img src=2>",
        &["base /b/", "1", "2"],
    );
    page(
        "<video src=/x poster=/x></video><image src=/x><source src=/x><img srcset=/x>",
        &[],
    );
}

#[test]
fn a_link_is_needed_by_its_relation() {
    page(
        "<link rel=STYLESHEET href=/1><link rel=icon href=/2><link rel='shortcut icon' href=/3><link rel=preload href=/4>",
        &["/1", "/2", "/3", "/4"],
    );
    page(
        "<link rel='icon ' href=/x><link rel=manifest href=/x><link rel='alternate stylesheet' href=/x><link href=/x>",
        &[],
    );
}

#[test]
fn styles_name_quoted_addresses_from_first_to_last_quote() {
    page("<a style=\"b:URL( '/1' )\">", &["/1"]);
    page("<a style=\"b:url(/x)\">", &[]);
    page("<a style=\"b:url('/1');c:url('/2')\">", &["/1');c:url('/2"]);
}

#[test]
fn what_only_looks_like_a_tag_is_none() {
    page(
        "<!-- <img src=/x> --><!--[if IE]><img src=/x><![endif]-->",
        &[],
    );
    page(
        "<![CDATA[<img src=/x>]]><?php <img src=/x> ?><!doctype x><img src=/1>",
        &["/1"],
    );
    page(
        "<textarea><img src=/x></textarea><title><img src=/x></title><xmp><img src=/x></xmp>",
        &[],
    );
    page(
        "<noscript><img src=/x></noscript><style><img src=/x></style><img src=/1>",
        &["/1"],
    );
    page("<plaintext><img src=/1>", &["/1"]);
    page(
        "</img src=/x><img alt='>' src=/1>< img src=/x><img src=/x",
        &["/1"],
    );
}

#[test]
fn addresses_are_read_as_they_are_meant() {
    page(
        "<img src=' /1 '><img src=''><img src=\"/a\nb\">",
        &["/1", "/ab"],
    );
    page(
        "<img src='?a=1&amp;b=2&x;&#65;&#x42;&lt;&ampc'>",
        &["?a=1&b=2&x;AB<&ampc"],
    );
}

#[test]
fn style_sheets_name_their_imports_alone() {
    let css = |text: &str, expected: &[&str]| check(PageKind::Style, text, expected);
    css(
        "\u{feff}@charset \"x\";\n/* c */ @import '/1'; @IMPORT url(\"/2\") screen;@import url( /3 );a{b:url(/x)}@import '/x';",
        &["/1", "/2", "/3"],
    );
    css("@import '/1'; }}} { @import url(/x);", &["/1"]);
    css("@import '/x", &[]);
    css("@import url(", &[]);
    css("@import '/1'", &["/1"]);
}

#[test]
fn kinds_follow_from_the_content_type() {
    assert_eq!(PageKind::of("Text/HTML; charset=x"), Some(PageKind::Markup));
    assert_eq!(PageKind::of("text/css"), Some(PageKind::Style));
    assert_eq!(PageKind::of("text/plain"), None);
    assert_eq!(PageKind::of(""), None);
}

#[test]
fn their_number_and_length_are_bounded() {
    let many = "<img src=a>".repeat(MOST_LINKS + 10);
    assert_eq!(links(PageKind::Markup, &many).len(), MOST_LINKS);
    page(
        &format!("<img src={}>", "a".repeat(MOST_LINK_BYTES + 1)),
        &[],
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "([<>/='\" !-]|script|style|url\\(|@import|&#?x?[0-9a-z]*;|\\PC){0,60}") {
        links(PageKind::Markup, &text);
        links(PageKind::Style, &text);
    }

    #[test]
    fn every_picture_is_found(names in prop::collection::vec("[a-z]{1,8}", 0..20)) {
        let text: String = names.iter().map(|name| format!("<p>x<img alt=y src=\"{name}\">")).collect();
        let expected: Vec<PageLink> = names.into_iter().map(PageLink::Link).collect();
        prop_assert_eq!(links(PageKind::Markup, &text), expected);
    }
}
