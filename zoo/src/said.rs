//! Reads what the program said about the limit of a run.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sokudo_testkit::program::Ended;

/// One conclusion.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// Rule that drew it.
    pub rule: String,
    /// Key of its sentence, which tells two sentences of a rule apart.
    pub key: String,
    /// `info`, `caution` or `bad`.
    pub severity: String,
}

/// Conclusions and verdict of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The conclusion about the limit.
    pub limit: Option<Conclusion>,
    /// Rules that are named beside it.
    pub beside: Vec<String>,
    /// All conclusions, strongest first.
    pub conclusions: Vec<Conclusion>,
    /// The verdict.
    pub verdict: Vec<String>,
}

impl Said {
    /// Reads the object on stdout and the conclusions of the record that it names, below `place`.
    /// Errors: the first line of what the program said instead.
    pub fn of(ended: &Ended, place: &Path) -> Result<Self, String> {
        let summary: Value = serde_json::from_str(&ended.stdout).map_err(|_| {
            let mut lines = ended.stderr.lines();
            let error = lines.find(|line| line.starts_with("error: "));
            let first = error.or_else(|| ended.stderr.lines().next());
            first.unwrap_or("nothing was said").to_owned()
        })?;
        let record = place.join(summary["record"].as_str().unwrap_or_default());
        let text = fs::read_to_string(record.join("findings.json")).unwrap_or_default();
        let findings = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self::read(&summary, &findings))
    }

    fn read(summary: &Value, findings: &Value) -> Self {
        let list = findings.as_array().or(findings["findings"].as_array());
        let conclusions: Vec<Conclusion> = list.into_iter().flatten().map(conclusion).collect();
        let of_limit = &summary["limit"];
        let rule = of_limit["cause"].as_str().or(of_limit.as_str());
        let limit = rule.map(|rule| {
            let told = conclusions.iter().find(|one| one.rule == rule);
            told.cloned().unwrap_or_else(|| Conclusion {
                rule: rule.to_owned(),
                key: String::new(),
                severity: "caution".into(),
            })
        });
        Self {
            limit,
            beside: words(&of_limit["beside"]),
            conclusions,
            verdict: words(&summary["verdict"]),
        }
    }

    /// True when the verdict says that the limit is not known.
    pub fn is_undetermined(&self) -> bool {
        let says = |sentence: &String| sentence.to_lowercase().contains("undetermined");
        self.verdict.iter().any(says)
    }
}

/// The texts of a list.
fn words(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten();
    words
        .filter_map(|one| Some(one.as_str()?.to_owned()))
        .collect()
}

fn conclusion(finding: &Value) -> Conclusion {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Conclusion {
        rule: word(&finding["rule"]),
        key: word(&finding["says"]["key"]),
        severity: word(&finding["severity"]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_limit_has_the_key_of_its_sentence() {
        let findings = json!([
            {"rule": "low_mtu", "says": {"key": "a"}, "severity": "info"},
            {"rule": "path_limited", "says": {"key": "b"}, "severity": "caution"},
        ]);
        let summary = json!({"limit": "path_limited", "verdict": ["It is Undetermined."]});
        let said = Said::read(&summary, &findings);
        assert_eq!(said.limit.as_ref().expect("a limit").key, "b");
        assert_eq!(said.conclusions.len(), 2);
        assert!(said.is_undetermined());
        let more = json!({"limit": {"cause": "path_limited", "beside": ["low_mtu"]}});
        let more = Said::read(&more, &findings);
        assert_eq!(
            (more.limit, more.beside),
            (said.limit, vec!["low_mtu".to_owned()])
        );
        let unknown = Said::read(&json!({"limit": {"cause": null}}), &findings);
        assert_eq!(unknown.limit, None);
        let none = Said::read(&json!({"limit": null}), &Value::Null);
        assert_eq!(none, Said::default());
    }
}
