//! Settings of JMeter's report, from its properties.

use sokudo_stats::requests::Settings;

use crate::properties::Properties;

/// A property of the report that is not a number above 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("property `{name}` is `{text}`")]
pub struct NotAbove0 {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The settings that properties ask for; JMeter's defaults where they are silent.
pub fn settings_of(properties: &Properties) -> Result<Settings, NotAbove0> {
    let mut settings = Settings::default();
    let number = |name: &str| match (properties.get(name), properties.number(name)) {
        (None, _) => Ok(None),
        (Some(_), Some(number)) if number > 0.0 => Ok(Some(number)),
        (Some(text), _) => Err(NotAbove0 {
            name: name.into(),
            text: text.into(),
        }),
    };
    let threshold = |name: &str| number(&format!("jmeter.reportgenerator.apdex_{name}_threshold"));
    if let Some(ms) = threshold("satisfied")? {
        settings.satisfied_ms = ms as u64;
    }
    if let Some(ms) = threshold("tolerated")? {
        settings.tolerated_ms = ms as u64;
    }
    for (i, percentile) in settings.percentiles.iter_mut().enumerate() {
        if let Some(percent) = number(&format!("aggregate_rpt_pct{}", i + 1))? {
            *percentile = percent.min(100.0);
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::Origin;

    #[test]
    fn properties_win_over_the_defaults() {
        let mut properties = Properties::default();
        let mut set = |name: &str, value: &str| properties.set(name, value, Origin::CommandLine);
        set("jmeter.reportgenerator.apdex_satisfied_threshold", "700");
        set("aggregate_rpt_pct2", "250");
        let settings = settings_of(&properties).expect("settings");
        assert_eq!(settings.satisfied_ms, 700);
        assert_eq!(settings.tolerated_ms, Settings::default().tolerated_ms);
        assert_eq!(settings.percentiles[1], 100.0);
        properties.set("aggregate_rpt_pct1", "0", Origin::CommandLine);
        let error = settings_of(&properties).expect_err("a percentile of 0");
        assert_eq!(error.to_string(), "property `aggregate_rpt_pct1` is `0`");
    }
}
