//! Postprocessors.

use sokudo_model::Text;

use super::paths::{CSS, JMES_PATH, JSON_PATH, PathLanguage, XPATH, XPATH_2, check, path};
use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::plan::{Applies, Extraction, Field, FlowAction, PostKind, Value};

const fn post(
    classes: &'static [&'static str],
    tier: u8,
    read: fn(&mut ElementReader<'_, '_>) -> PostKind,
) -> ElementSpec {
    element(classes, Family::PostProcessor, tier, Role::Post(read))
}

pub(super) const ELEMENTS: &[ElementSpec] = &[
    post(&["RegexExtractor"], 1, regex),
    post(&["JSONPostProcessor"], 2, json),
    post(&["BoundaryExtractor"], 2, boundary),
    post(&["XPathExtractor"], 2, xpath),
    post(&["XPath2Extractor"], 2, xpath2),
    post(&["HtmlExtractor"], 2, css),
    post(&["JMESPathExtractor"], 3, jmes_path),
    post(&["ResultAction"], 2, on_error),
    post(&["DebugPostProcessor"], 3, debug),
];

/// The results that an element examines.
pub(super) fn applies(reader: &mut ElementReader<'_, '_>, prefix: &str) -> Applies {
    let variable = reader.text("Scope.variable");
    match reader.start_text(&format!("{prefix}.scope")).as_str() {
        "all" => Applies::All,
        "children" => Applies::Inner,
        "variable" => Applies::Variable(variable),
        _ => Applies::Main,
    }
}

/// The values of `useHeaders`.
const FIELDS: &[(&str, Field)] = &[
    ("false", Field::Body),
    ("true", Field::ResponseHeaders),
    ("unescaped", Field::BodyUnescaped),
    ("request_headers", Field::RequestHeaders),
    ("URL", Field::Url),
    ("code", Field::Code),
    ("message", Field::Message),
];

/// The settings that all extractors have; the property names differ by their prefix.
fn extraction(reader: &mut ElementReader<'_, '_>, prefix: &str) -> Extraction {
    let name = |field: &str| format!("{prefix}.{field}");
    let variable = reader.text(&name("refname"));
    note(reader, &variable);
    let default = reader.text(&name("default"));
    let empty_counts = reader.start_flag(&name("default_empty_value"), false);
    Extraction {
        variable,
        match_number: reader.integer(&name("match_number"), 0),
        default: (empty_counts || !default.is_empty()).then_some(default),
        applies: applies(reader, "Sample"),
    }
}

/// Records the variable and those that are numbered after it.
fn note(reader: &mut ElementReader<'_, '_>, variable: &Template) {
    reader.compiler.sets(variable);
    if let Some(name) = variable.constant() {
        let numbered = format!("{}_*", name.trim());
        reader.compiler.sets(&Template::text(numbered));
    }
}

fn regex(reader: &mut ElementReader<'_, '_>) -> PostKind {
    PostKind::Regex {
        pattern: reader.text("RegexExtractor.regex"),
        field: reader.choice("RegexExtractor.useHeaders", FIELDS),
        template: reader.text("RegexExtractor.template"),
        extraction: extraction(reader, "RegexExtractor"),
    }
}

fn boundary(reader: &mut ElementReader<'_, '_>) -> PostKind {
    PostKind::Boundary {
        left: reader.text("BoundaryExtractor.lboundary"),
        right: reader.text("BoundaryExtractor.rboundary"),
        field: reader.choice("BoundaryExtractor.useHeaders", FIELDS),
        extraction: extraction(reader, "BoundaryExtractor"),
    }
}

fn json(reader: &mut ElementReader<'_, '_>) -> PostKind {
    let mut counts = Vec::new();
    let mut parts = |name: &str| {
        let place = reader.place_of(name);
        let text = reader.text(name).to_string();
        let compiler = &mut *reader.compiler;
        let part = |part: &str| compiler.template(part.trim(), &place);
        // As Java splits a text: without empty parts at its end, and into one at least.
        let filled = text.trim_end_matches(';');
        counts.push(filled.split(';').count());
        text.split(';').map(part).collect::<Vec<_>>()
    };
    let paths = parts("JSONPostProcessor.jsonPathExprs");
    let variables = parts("JSONPostProcessor.referenceNames");
    let defaults = parts("JSONPostProcessor.defaultValues");
    let matches = parts("JSONPostProcessor.match_numbers");
    let place = reader.place_of("JSONPostProcessor.jsonPathExprs");
    let fits = counts[..3].iter().all(|count| *count == counts[0]);
    if !fits {
        let says = Text::new("jmx-json-counts")
            .word("paths", counts[0].to_string())
            .word("variables", counts[1].to_string())
            .word("defaults", counts[2].to_string());
        let hint = Text::new("jmx-json-counts-hint");
        let problems = &mut reader.compiler.problems;
        problems.warning_with(place.clone(), says, hint);
    }
    let is_empty = |path: &&Template| path.to_string().is_empty();
    for path in paths.iter().filter(|path| !is_empty(path)) {
        check(reader, ("JSONPostProcessor", path, &place), JSON_PATH);
    }
    for variable in &variables {
        note(reader, variable);
    }
    PostKind::Json {
        paths,
        variables,
        defaults,
        matches,
        fits,
        joins: reader.flag("JSONPostProcessor.compute_concat", false),
        applies: applies(reader, "Sample"),
    }
}

fn jmes_path(reader: &mut ElementReader<'_, '_>) -> PostKind {
    let variable = reader.text("JMESExtractor.referenceName");
    note(reader, &variable);
    PostKind::JmesPath {
        path: path(
            reader,
            ("JMESPathExtractor", "JMESExtractor.jmesPathExpr"),
            JMES_PATH,
        ),
        extraction: Extraction {
            variable,
            match_number: reader.integer("JMESExtractor.matchNumber", 0),
            default: Some(reader.text("JMESExtractor.defaultValue")),
            applies: applies(reader, "Sample"),
        },
    }
}

fn css(reader: &mut ElementReader<'_, '_>) -> PostKind {
    reader.ignore(&["HtmlExtractor.extractor_impl"]);
    PostKind::Css {
        selector: path(reader, ("HtmlExtractor", "HtmlExtractor.expr"), CSS),
        attribute: reader.text("HtmlExtractor.attribute"),
        extraction: extraction(reader, "HtmlExtractor"),
    }
}

fn xpath(reader: &mut ElementReader<'_, '_>) -> PostKind {
    reader.ignore(&["XPathExtractor.quiet", "XPathExtractor.whitespace"]);
    reader.unheeded(
        "XPathExtractor",
        &[
            "XPathExtractor.validate",
            "XPathExtractor.report_errors",
            "XPathExtractor.show_warnings",
            "XPathExtractor.download_dtds",
        ],
    );
    let tolerant = reader.flag("XPathExtractor.tolerant", false);
    let aware = reader.flag("XPathExtractor.namespace", false);
    xpath_of(
        reader,
        ("XPathExtractor", "XPathExtractor", XPATH),
        tolerant,
        aware,
    )
}

fn xpath2(reader: &mut ElementReader<'_, '_>) -> PostKind {
    let no = Value::Fixed(false);
    xpath_of(
        reader,
        ("XPath2Extractor", "XPathExtractor2", XPATH_2),
        no.clone(),
        no,
    )
}

fn xpath_of(
    reader: &mut ElementReader<'_, '_>,
    (element, prefix, language): (&'static str, &str, PathLanguage),
    tolerant: Value<bool>,
    aware: Value<bool>,
) -> PostKind {
    let name = |field: &str| format!("{prefix}.{field}");
    let variable = reader.text(&name("refname"));
    note(reader, &variable);
    let default = reader.text(&name("default"));
    PostKind::XPath {
        path: path(reader, (element, &name("xpathQuery")), language),
        namespaces: reader.text(&name("namespaces")),
        aware,
        tolerant,
        fragment: reader.flag(&name("fragment"), false),
        whole: prefix == "XPathExtractor2",
        extraction: Extraction {
            variable,
            match_number: reader.integer(&name("matchNumber"), -1),
            default: Some(default),
            applies: applies(reader, "Sample"),
        },
    }
}

fn on_error(reader: &mut ElementReader<'_, '_>) -> PostKind {
    const ACTIONS: &[(&str, FlowAction)] = &[
        ("0", FlowAction::Continue),
        ("1", FlowAction::StopUser),
        ("2", FlowAction::StopTest),
        ("3", FlowAction::StopTestNow),
        ("4", FlowAction::NextGroupLoop),
        ("5", FlowAction::NextLoop),
        ("6", FlowAction::BreakLoop),
    ];
    PostKind::OnError(reader.choice("OnError.action", ACTIONS))
}

fn debug(reader: &mut ElementReader<'_, '_>) -> PostKind {
    PostKind::Debug {
        sampler: reader.flag("displaySamplerProperties", true),
        properties: reader.flag("displayJMeterProperties", false),
        variables: reader.flag("displayJMeterVariables", false),
        system: reader.flag("displaySystemProperties", false),
    }
}
