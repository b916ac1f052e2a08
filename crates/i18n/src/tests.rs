use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use proptest::prelude::*;
use sokudo_model::Unit;

use super::*;

/// Key → variables of every message in a file; panics on a file that Fluent cannot read.
fn messages(name: &str, source: &str) -> BTreeMap<String, BTreeSet<String>> {
    let resource = fluent_syntax::parser::parse(source)
        .unwrap_or_else(|(_, errors)| panic!("{name}.ftl has mistakes: {errors:?}"));
    let mut out = BTreeMap::new();
    for entry in &resource.body {
        let Entry::Message(message) = entry else {
            continue;
        };
        let mut names = BTreeSet::new();
        let value = message.value.as_ref();
        variables(
            value.unwrap_or_else(|| panic!("{name}.ftl: `{}` has no value", message.id.name)),
            &mut names,
        );
        let before = out.insert(message.id.name.to_string(), names);
        assert!(before.is_none(), "{name}.ftl: `{}` twice", message.id.name);
    }
    out
}

fn variables(pattern: &Pattern<&str>, out: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        match element {
            PatternElement::Placeable {
                expression: Expression::Inline(inline),
            } => inline_variables(inline, out),
            PatternElement::Placeable {
                expression: Expression::Select { selector, variants },
            } => {
                inline_variables(selector, out);
                for variant in variants {
                    variables(&variant.value, out);
                }
            }
            PatternElement::TextElement { .. } => {}
        }
    }
}

fn inline_variables(inline: &InlineExpression<&str>, out: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            out.insert(id.name.to_string());
        }
        InlineExpression::Placeable { expression } => {
            if let Expression::Inline(inner) = expression.as_ref() {
                inline_variables(inner, out);
            }
        }
        _ => {}
    }
}

#[test]
fn both_languages_have_the_same_keys_and_variables_in_each_file() {
    for ((name, english), (other, japanese)) in sources(Lang::En).iter().zip(sources(Lang::Ja)) {
        assert_eq!(name, other);
        let (english, japanese) = (messages(name, english), messages(name, japanese));
        for (key, names) in &english {
            assert_eq!(
                Some(names),
                japanese.get(key),
                "{name}.ftl: variables of `{key}`, English left, Japanese right"
            );
        }
        for key in japanese.keys() {
            assert!(
                english.contains_key(key),
                "{name}.ftl: `{key}` is Japanese only"
            );
        }
    }
}

#[test]
fn a_key_stands_in_one_file_only() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (name, source) in sources(Lang::En) {
        for key in messages(name, source).into_keys() {
            if let Some(before) = seen.insert(key.clone(), name) {
                panic!("`{key}` is in {before}.ftl and in {name}.ftl");
            }
        }
    }
}

#[test]
fn words_of_others_steer_nothing_and_have_an_end() {
    let i18n = I18n::new(Lang::En);
    let word = "\u{1b}]0;x\u{7}\u{202e}".to_owned() + &"a".repeat(10 << 20);
    let text = Text::new("no-such-message\u{1b}[2J").word("host", word.clone());
    for said in [
        i18n.text(&text),
        i18n.message("no-such-message", &[("host", &word)]),
    ] {
        assert!(
            !said.contains(sokudo_model::harmless::steers),
            "{said:.100}"
        );
        assert!(said.chars().count() < MAX_WORD + 100);
    }
}

#[test]
fn numbers_arrive_as_people_write_them() {
    let text = Text::new("no-such-key")
        .number("rate", 75_312_000_000.0, Unit::BitsPerSecond)
        .word("host", "hostb");
    let said = I18n::new(Lang::En).text(&text);
    assert_eq!(said, "[no-such-key host=hostb rate=75.3 Gb/s]");
}

#[test]
fn messages_are_found_in_both_languages() {
    assert_eq!(I18n::new(Lang::En).message("report-why", &[]), "Why");
    assert_eq!(I18n::new(Lang::Ja).message("report-why", &[]), "理由");
}

#[test]
fn values_get_no_invisible_marks() {
    let said = I18n::new(Lang::En).message("report-count-samples", &[("n", "12")]);
    assert_eq!(said, "n = 12");
}

#[test]
fn one_is_not_many() {
    let said = |lang, n| I18n::new(lang).message("report-header-hosts", &[("n", n)]);
    assert_eq!(said(Lang::En, "1"), "1 host");
    assert_eq!(said(Lang::En, "0"), "0 hosts");
    assert_eq!(said(Lang::En, "1.5 k"), "1.5 k hosts");
    assert_eq!(said(Lang::Ja, "1"), said(Lang::Ja, "2").replace('2', "1"));
    let one = Text::new("report-header-hosts").number("n", 1.0, Unit::One);
    assert_eq!(I18n::new(Lang::En).text(&one), "1 host");
}

#[test]
fn a_missing_value_shows_the_key() {
    let said = I18n::new(Lang::Ja).message("report-count-samples", &[]);
    assert_eq!(said, "[report-count-samples]");
}

#[test]
fn nesting_has_an_end() {
    let mut text = Text::new("a");
    for _ in 0..50 {
        text = Text::new("a").text("inner", text);
    }
    let said = I18n::new(Lang::En).text(&text);
    assert_eq!(
        said.matches("inner=").count(),
        MAX_DEPTH as usize + 1,
        "{said}"
    );
}

proptest! {
    #[test]
    fn nothing_panics(key in "\\PC{0,20}", name in "\\PC{0,8}", word in "\\PC{0,20}", value: f64) {
        let text = Text::new(key.clone()).word(&name, word.clone()).number("v", value, Unit::Bytes);
        let i18n = I18n::new(Lang::Ja);
        let _ = i18n.text(&text);
        let _ = i18n.message(&key, &[(&name, &word)]);
    }
}
