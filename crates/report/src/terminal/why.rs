//! Writes what limited a run, and how that was reached: the lines of `sokudo why`.

use sokudo_analyze::{CONTRADICTIONS, Explanation, Purpose, REGISTRY, Rule, tested};
use sokudo_i18n::Lang;
use sokudo_model::{Evidence, Finding, Record, Text};

use super::{INDENT, Ink, WIDTHS, Writer};
use crate::block::Speaker;
use crate::view::View;

/// Verdict, causes with what speaks for and against each, and what is missing, `width` columns wide; `color`
/// allows escape sequences. Ends with a line feed.
pub fn why(record: &Record, lang: Lang, color: bool, width: usize) -> String {
    let mut writer = writer(lang, color, width);
    let view = View::new(record);
    for sentence in &view.verdict {
        let says = writer.say(&sentence.clone().into());
        writer.paragraph(&says, INDENT, Some(Ink::Bright));
    }
    match sokudo_analyze::explain(record) {
        Some(explained) => writer.explain(&explained),
        None => writer.heading("why-unknown"),
    }
    writer.out
}

/// Every rule with its signs and bounds, what is tried against it, and every contradiction.
pub fn rules(lang: Lang, color: bool, width: usize) -> String {
    let mut writer = writer(lang, color, width);
    for rule in REGISTRY {
        writer.rule(rule);
    }
    writer.heading("why-contradictions");
    for known in CONTRADICTIONS {
        writer.item(&known.signs(), None);
        let about = match known.about {
            [] => Text::new("why-about-all"),
            about => Text::new("why-about").word("rules", about.join(", ")),
        };
        writer.line(&about);
    }
    writer.out
}

fn writer(lang: Lang, color: bool, width: usize) -> Writer {
    Writer {
        speaker: Speaker::new(),
        lang,
        color,
        width: width.clamp(WIDTHS.0, WIDTHS.1),
        out: String::new(),
    }
}

impl Writer {
    fn heading(&mut self, key: &str) {
        let says = self.words(key);
        self.out.push('\n');
        self.paragraph(&says, INDENT, Some(Ink::Accent));
    }

    fn line(&mut self, text: &Text) {
        let says = self.say(&text.clone().into());
        self.paragraph(&says, 2 * INDENT, Some(Ink::Dim));
    }

    fn item(&mut self, text: &Text, source: Option<&str>) {
        let says = self.say(&text.clone().into());
        let says = match source.filter(|source| !source.is_empty()) {
            Some(source) => format!("- {says} [{source}]"),
            None => format!("- {says}"),
        };
        self.paragraph(&says, 2 * INDENT, None);
    }

    fn explain(&mut self, explained: &Explanation<'_>) {
        let causes = &explained.causes;
        let mut named = causes.named.iter();
        match named.next() {
            Some(first) => {
                self.heading("why-limit");
                self.cause(first, explained);
            }
            None => self.heading("why-unknown"),
        }
        let rest = named.as_slice();
        for (key, findings) in [
            ("why-beside", rest),
            ("why-suspected", &causes.suspected),
            ("why-refuted", &causes.refuted),
        ] {
            if findings.is_empty() {
                continue;
            }
            self.heading(key);
            for finding in findings {
                self.cause(finding, explained);
            }
        }
        if !explained.proofs.is_empty() {
            self.heading("why-tested");
            for proof in &explained.proofs {
                self.item(&tested(proof), None);
            }
        }
        if !explained.missing.is_empty() {
            let names = explained.missing.join(", ");
            self.heading("why-missing");
            self.paragraph(&names, 2 * INDENT, None);
        }
    }

    /// A cause with what supports it, what speaks against it, and how it can be put to the test.
    fn cause(&mut self, finding: &Finding, explained: &Explanation<'_>) {
        let says = self.say(&finding.says.clone().into());
        let line = format!("{}: {says}", finding.rule);
        self.paragraph(&line, INDENT, Some(Ink::Bright));
        self.observations(["why-for", "why-for-none"], &finding.evidence);
        self.observations(["why-against", "why-against-none"], &finding.against);
        for suspect in explained.suspects(finding) {
            let says = Text::new("why-test").text("suspect", suspect.says());
            self.line(&says);
        }
    }

    fn observations(&mut self, [some, none]: [&str; 2], rows: &[Evidence]) {
        self.line(&Text::new(if rows.is_empty() { none } else { some }));
        for row in rows {
            let source = self.say(&Text::recorded(&row.source).into());
            self.item(&row.says, Some(&source));
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let purpose = match rule.purpose {
            Purpose::Describes => "why-rule-describes",
            Purpose::Limit(_) => "why-rule-limit",
            Purpose::Loss => "why-rule-loss",
        };
        self.out.push('\n');
        let line = format!("{}: {}", rule.name, self.words(purpose));
        self.paragraph(&line, INDENT, Some(Ink::Bright));
        self.item(&rule.means(), None);
        self.item(&rule.signs(), None);
        for suspect in rule.suspects {
            let says = Text::new("why-test").text("suspect", suspect.says());
            self.item(&says, None);
        }
    }
}
