//! The reference page of the elements and functions of JMeter plans that sokudo executes.

use std::fmt::Write as _;

use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::expression::functions::FUNCTIONS;
use sokudo_jmeter::registry::{ElementSpec, Family, REGISTRY, Treatment, compared};

use super::show::treatment_word;

/// Families in the order of the page, with their message.
const FAMILIES: &[(Family, &str)] = &[
    (Family::Plan, "plan"),
    (Family::Group, "group"),
    (Family::Controller, "controller"),
    (Family::Sampler, "sampler"),
    (Family::Timer, "timer"),
    (Family::Config, "config"),
    (Family::PreProcessor, "pre"),
    (Family::PostProcessor, "post"),
    (Family::Assertion, "assertion"),
    (Family::Listener, "listener"),
    (Family::Tool, "tool"),
];

/// The page in Markdown: elements by family, then functions.
pub fn page(lang: Lang) -> String {
    let i18n = I18n::new(lang);
    let say = |key: &str| i18n.message(key, &[]);
    let mut out = format!("# {}\n\n", say("jmx-reference-title"));
    let _ = writeln!(out, "{}\n", say("jmx-reference-elements"));
    for (family, word) in FAMILIES {
        let _ = writeln!(out, "## {}\n", say(&format!("jmx-family-{word}")));
        let columns = ["element", "tier", "treatment"].map(|c| say(&format!("jmx-show-{c}")));
        let (beside, read) = (say("jmx-beside"), say("jmx-reference-properties"));
        let _ = writeln!(
            out,
            "| {} | {beside} | {read} |\n|---|---|---|---|---|",
            columns.join(" | ")
        );
        for spec in REGISTRY
            .iter()
            .flat_map(|f| f.iter())
            .filter(|s| s.family == *family)
        {
            let _ = writeln!(out, "{}", row(spec, &i18n));
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "## {}\n\n{}\n\n{}\n",
        say("jmx-reference-compared"),
        say("jmx-reference-equal"),
        say("jmx-reference-differs")
    );
    let _ = writeln!(
        out,
        "## {}\n\n{}\n",
        say("jmx-show-functions"),
        say("jmx-reference-functions")
    );
    let head = [
        say("jmx-reference-call"),
        say("jmx-show-tier"),
        say("jmx-show-treatment"),
    ];
    let _ = writeln!(out, "| {} |\n|---|---|---|", head.join(" | "));
    for function in FUNCTIONS {
        let treated = say(&format!(
            "jmx-treated-{}",
            treatment_word(Some(Treatment::Runs))
        ));
        let takes = function.takes.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{}{takes}` | {} | {treated} |",
            function.name, function.tier
        );
    }
    out
}

fn row(spec: &ElementSpec, i18n: &I18n) -> String {
    let key = format!("jmx-treated-{}", treatment_word(Some(spec.treatment())));
    let treated = i18n.message(&key, &[]);
    let names: Vec<_> = match spec.gui {
        Some(gui) => vec![format!("`{}` (`{gui}`)", spec.classes[0])],
        None => spec
            .classes
            .iter()
            .map(|class| format!("`{class}`"))
            .collect(),
    };
    let properties = spec.properties();
    let properties: Vec<_> = properties
        .iter()
        .map(|(name, kind)| format!("`{name}` {}", kind.name()))
        .collect();
    format!(
        "| {} | {} | {treated} | {} | {} |",
        names.join(", "),
        spec.tier,
        beside(spec, i18n),
        properties.join(", ")
    )
}

/// Comparison of an element with JMeter; nothing of one that is not executed.
fn beside(spec: &ElementSpec, i18n: &I18n) -> String {
    if spec.treatment() != Treatment::Runs {
        return String::new();
    }
    let Some(known) = compared(spec.name()) else {
        return i18n.message("jmx-beside-nothing", &[]);
    };
    let day = ("day", known.since);
    match known.differs {
        None => i18n.message("jmx-beside-equal", &[day]),
        Some(what) => {
            let what = i18n.message(what, &[]);
            i18n.message("jmx-beside-differs", &[day, ("what", &what)])
        }
    }
}
