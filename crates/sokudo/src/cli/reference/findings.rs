//! The page of findings: every rule with what it means, its signs and what to try.

use std::fmt::Write as _;

use sokudo_analyze::{CONTRADICTIONS, Purpose, REGISTRY};
use sokudo_i18n::I18n;
use sokudo_model::Text;

use super::{head, markdown, say};

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let texts = I18n::new(said.lang());
    let text = |text: Text| markdown(&texts.text(&text));
    let mut out = head(said, "findings");
    for rule in REGISTRY {
        let purpose = match rule.purpose {
            Purpose::Describes => "reference-purpose-describes",
            Purpose::Limit(_) => "reference-purpose-limit",
            Purpose::Loss => "reference-purpose-loss",
        };
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n{}\n\n- **{}**: {}\n- **{}**: {}\n",
            rule.name,
            text(rule.means()),
            say(said, purpose),
            say(said, "reference-signs"),
            text(rule.signs()),
            say(said, "reference-try"),
            text(rule.remedy()),
        );
        for suspect in rule.suspects {
            let _ = writeln!(
                out,
                "- **{}**: {}",
                say(said, "reference-test"),
                text(suspect.says())
            );
        }
    }
    let _ = write!(out, "\n## {}\n\n", say(said, "reference-contradictions"));
    for known in CONTRADICTIONS {
        let about: Vec<String> = known.about.iter().map(|rule| format!("`{rule}`")).collect();
        let about = match about.is_empty() {
            true => say(said, "reference-every-finding"),
            false => about.join(", "),
        };
        let _ = writeln!(out, "- {about}: {}", text(known.signs()));
    }
    out
}
