//! Puts the cause of a run's limit to the test.
//!
//! ```text
//! record ─► cause ─► its first suspect ─► the command again, with --versus option=value
//!                                              └─► effect and signs ─► confirmed, refuted, undetermined
//! ```

mod knob;

use std::path::Path;

use sokudo_analyze::{Change, Suspect};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::proof::{Outcome, Proof};
use sokudo_model::secrets::HIDDEN;
use sokudo_model::settings::Setting;
use sokudo_model::{Finding, PhaseRecord, Record, Text, Unit, units};
use sokudo_session::TARGET;
use sokudo_stats::versus::{ARM, Effect, WITH, versus_of};

use crate::cli::screen::tell;
use crate::cli::{Failure, parsed, records};

/// Duration of each of the eight runs.
const DURATION: &str = "1s";
/// A buffer grows by this factor, everything else by [`FACTOR`].
const BUFFER_FACTOR: f64 = 8.0;
const FACTOR: f64 = 2.0;
/// The load is taken back to this share of what was carried.
const TIGHTENED: f64 = 0.8;
/// Share within which what is carried follows a tightened option.
const FOLLOWS: f64 = 0.1;
/// A relieved suspect brings at least this much more when it is the cause.
const MORE: f64 = 0.05;

/// Makes the measurement again with and without the change, and keeps in the record what it says.
///
/// Errors: nothing to test, or nothing that could be changed; a crash could lose something, and that is not allowed;
/// the new run fails.
pub fn prove(path: &Path, lang: Lang, allows_risk: bool) -> Result<(), Failure> {
    let record = sokudo_store::load(path)?;
    let explained = sokudo_analyze::explain(&record);
    let cause = explained.as_ref().and_then(|it| Some((it, it.limit()?)));
    let Some((explained, cause)) = cause else {
        return Err(Failure::operator(
            Text::new("error-prove-no-cause"),
            Text::new("error-prove-no-cause-hint"),
        ));
    };
    let phase = explained.phase;
    if let Some(suspect) = knob::suspect(&record, cause) {
        return prove_knob(path, lang, &record, phase, cause, suspect);
    }
    let suspects = explained.suspects(cause).into_iter();
    let changes = suspects.filter_map(|suspect| Some((suspect, value(&record, phase, suspect)?)));
    let changes: Vec<(Suspect, String)> = changes.collect();
    let is_allowed = |change: &&(Suspect, String)| allows_risk || !change.0.is_at_risk;
    let Some((suspect, value)) = changes.iter().find(is_allowed).cloned() else {
        let (says, hint) = match changes.first().map(|(suspect, _)| suspect.change) {
            None => ("error-prove-no-suspect", "error-prove-no-suspect-hint"),
            Some(Change::Setting { .. }) => {
                ("error-prove-unsafe", "error-prove-unsafe-setting-hint")
            }
            Some(_) => ("error-prove-unsafe", "error-prove-unsafe-hint"),
        };
        return Err(Failure::operator(
            Text::new(says).with("rule", &cause.rule),
            Text::new(hint),
        ));
    };
    let says = Text::new("cli-prove")
        .word("rule", &cause.rule)
        .word("option", suspect.versus())
        .word("setting", &value);
    tell(&I18n::new(lang).text(&says));
    let allows = match suspect.change {
        Change::Setting { .. } if suspect.is_at_risk => &["--allow-unsafe"][..],
        _ => &[],
    };
    let tested = again(&record, (&suspect.versus(), &value), allows)?;
    let proof = judge(&tested, phase, cause, suspect, value)?;
    sokudo_store::save_proof(path, proof)?;
    sokudo_session::conclude(path, lang)?;
    Ok(())
}

/// The same for a knob of the target: it is relieved, or tightened where the target refuses that.
fn prove_knob(
    path: &Path,
    lang: Lang,
    record: &Record,
    phase: &PhaseRecord,
    cause: &Finding,
    suspect: knob::Suspect,
) -> Result<(), Failure> {
    let change = suspect.change()?;
    let option = format!("{TARGET}{}", change.knob);
    let value = change.value.to_string();
    let says = Text::new("cli-prove")
        .word("rule", &cause.rule)
        .word("option", &option)
        .word("setting", &value);
    tell(&I18n::new(lang).text(&says));
    let tested = again(record, (&option, &value), &[])?;
    let found = versus_of(&tested.manifest.phases);
    let found = found.ok_or_else(|| Failure::run(Text::new("error-prove-no-runs"), None))?;
    let effect = found.effect();
    let proof = Proof {
        rule: cause.rule.clone(),
        phase: phase.name.clone(),
        option,
        value,
        effect: effect.ratio,
        low: effect.low,
        high: effect.high,
        outcome: match change.is_relief() {
            true => relieved(effect, 0.0),
            false => knob::elastic(effect, change.ratio()),
        },
        run: tested.manifest.id.0.clone(),
    };
    sokudo_store::save_proof(path, proof)?;
    sokudo_session::conclude(path, lang)?;
    Ok(())
}

/// The changed value as it is typed; empty to leave the option out. `None` when the load has no value
/// that could be changed so.
fn value(record: &Record, phase: &PhaseRecord, suspect: Suspect) -> Option<String> {
    let options: serde_json::Value = serde_json::from_str(&phase.options).ok()?;
    let given = || options.get(suspect.option.replace('-', "_"));
    match suspect.change {
        Change::LeaveOut => given().map(|_| String::new()),
        Change::Set(value) => (given()?.as_str() != Some(value)).then(|| value.to_owned()),
        Change::Setting { name, value } => {
            (!is_in_force(record, (name, value))).then(|| value.to_owned())
        }
        Change::Raise => raised(given()?, suspect.option.ends_with("buf")),
        Change::Tighten => {
            given()?;
            let curve = phase.kind()?.curve.as_ref()?;
            let carried = curve.delivered_in(&phase.result)? * TIGHTENED;
            let unit = match curve.delivered.unit {
                Unit::BitsPerSecond => "b/s",
                Unit::BytesPerSecond => "B/s",
                _ => "/s",
            };
            (carried >= 1.0).then(|| format!("{:.0}{unit}", carried.floor()))
        }
    }
}

/// Whether the loaded server had this setting, as far as it was told.
fn is_in_force(record: &Record, (name, value): (&str, &str)) -> bool {
    let mut known = record.series.iter().filter_map(|it| Setting::of(&it.key));
    known.any(|it| it.name == name && it.value == value)
}

fn raised(given: &serde_json::Value, is_buffer: bool) -> Option<String> {
    let factor = if is_buffer { BUFFER_FACTOR } else { FACTOR };
    match given {
        serde_json::Value::Number(number) => Some(format!("{:.0}", number.as_f64()? * factor)),
        serde_json::Value::String(text) => {
            let (number, unit) = units::amount(text)?;
            Some(format!("{:.0}{unit}", number * factor))
        }
        serde_json::Value::Null if is_buffer => Some("4MiB".into()),
        _ => None,
    }
}

/// The command of a record again, with the change in every second run, and with what allows it: its record.
fn again(
    record: &Record,
    (option, value): (&str, &str),
    allows: &[&str],
) -> Result<Record, Failure> {
    let words = &record.manifest.command;
    if words.iter().any(|word| word.contains(HIDDEN)) {
        return Err(Failure::operator(
            Text::new("error-prove-hidden"),
            Text::new("error-prove-hidden-hint"),
        ));
    }
    let mut words = without_bounds(words.get(1..).unwrap_or_default());
    let added = [
        format!("--versus={option}={value}"),
        format!("--duration={DURATION}"),
    ];
    words.extend(added);
    words.extend(allows.iter().map(|&word| word.to_owned()));
    crate::cli::run(parsed(&words)?)?;
    Ok(sokudo_store::load(&records::resolve("latest")?)?)
}

/// A command line without what bounds or shows it in its own way.
fn without_bounds(words: &[String]) -> Vec<String> {
    const WITH_VALUE: [&str; 7] = [
        "-d",
        "--duration",
        "-n",
        "--count",
        "--slo",
        "--repeat",
        "--warmup",
    ];
    let mut out = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or_default();
        match WITH_VALUE.contains(&name) {
            true if word.contains('=') => {}
            true => drop(words.next()),
            false if word == "--json" => {}
            false => out.push(word.clone()),
        }
    }
    out
}

/// Proof of the cause by the runs with and without the change.
fn judge(
    tested: &Record,
    phase: &PhaseRecord,
    cause: &Finding,
    suspect: Suspect,
    value: String,
) -> Result<Proof, Failure> {
    let found = versus_of(&tested.manifest.phases);
    let found = found.ok_or_else(|| Failure::run(Text::new("error-prove-no-runs"), None))?;
    let effect = found.effect();
    let outcome = match suspect.change {
        Change::Raise | Change::LeaveOut | Change::Set(_) | Change::Setting { .. } => {
            relieved(effect, f64::from(suspect.saves_percent) / 100.0)
        }
        Change::Tighten => {
            let signs = signs(tested, &cause.rule);
            let carried = phase.kind().and_then(|kind| kind.curve.as_ref());
            let carried = carried.and_then(|curve| curve.delivered_in(&phase.result));
            let now = sokudo_stats::versus::median(&found.without);
            // The load is tightened relative to what was carried before.
            let wanted = carried.map_or(TIGHTENED, |carried| TIGHTENED * carried / now);
            tightened(effect, wanted, signs)
        }
    };
    Ok(Proof {
        rule: cause.rule.clone(),
        phase: phase.name.clone(),
        option: suspect.versus(),
        value,
        effect: effect.ratio,
        low: effect.low,
        high: effect.high,
        outcome,
        run: tested.manifest.id.0.clone(),
    })
}

/// A relieved cause lets more through: more than the share that the change saves by itself.
fn relieved(effect: Effect, saved: f64) -> Outcome {
    match (
        effect.low > 1.0 && effect.ratio > 1.0 + saved + MORE,
        effect.high < 1.0 + MORE,
    ) {
        (true, _) => Outcome::Confirmed,
        (false, true) => Outcome::Refuted,
        (false, false) => Outcome::Undetermined,
    }
}

/// Below the limit what is carried follows the option, and the signs of the cause vanish.
fn tightened(effect: Effect, wanted: f64, (with_signs, runs): (usize, usize)) -> Outcome {
    let follows = (effect.ratio / wanted - 1.0).abs() <= FOLLOWS;
    match (follows, with_signs * 2 > runs, with_signs) {
        (true, _, 0) => Outcome::Confirmed,
        (_, true, _) => Outcome::Refuted,
        _ => Outcome::Undetermined,
    }
}

/// Runs with the change that still show the cause, of how many.
fn signs(tested: &Record, rule: &str) -> (usize, usize) {
    let phases = tested.manifest.phases.iter();
    let with: Vec<&PhaseRecord> = phases
        .filter(|phase| phase.labels.get(ARM).is_some_and(|arm| arm == WITH))
        .collect();
    let shows = |phase: &&&PhaseRecord| {
        let findings = sokudo_analyze::diagnose(tested, phase);
        findings.iter().any(|finding| finding.rule == rule)
    };
    (with.iter().filter(shows).count(), with.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(low: f64, ratio: f64, high: f64) -> Effect {
        Effect { ratio, low, high }
    }

    #[test]
    fn a_relieved_cause_lets_more_through() {
        let told = |low, ratio, high| relieved(effect(low, ratio, high), 0.0);
        assert_eq!(told(1.5, 2.0, 2.5), Outcome::Confirmed);
        assert_eq!(told(0.97, 1.0, 1.02), Outcome::Refuted);
        assert_eq!(told(0.8, 1.1, 1.6), Outcome::Undetermined);
        assert_eq!(told(0.5, 0.6, 0.7), Outcome::Refuted);
    }

    #[test]
    fn what_saved_work_explains_confirms_nothing() {
        let told = |low, ratio, high| relieved(effect(low, ratio, high), 0.4);
        assert_eq!(told(1.5, 2.0, 2.5), Outcome::Confirmed);
        assert_eq!(told(1.2, 1.4, 1.5), Outcome::Undetermined);
        assert_eq!(told(0.97, 1.0, 1.02), Outcome::Refuted);
    }

    #[test]
    fn below_the_limit_the_signs_vanish_and_the_rate_follows() {
        let follows = effect(0.78, 0.8, 0.82);
        assert_eq!(tightened(follows, 0.8, (0, 4)), Outcome::Confirmed);
        assert_eq!(tightened(follows, 0.8, (4, 4)), Outcome::Refuted);
        assert_eq!(tightened(follows, 0.8, (1, 4)), Outcome::Undetermined);
        assert_eq!(
            tightened(effect(0.4, 0.5, 0.6), 0.8, (0, 4)),
            Outcome::Undetermined
        );
    }

    #[test]
    fn the_command_loses_its_own_bounds() {
        let words = "rr hostb -d 5s --count=7 --json --rcvbuf 64KiB --slo p99<1ms";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(without_bounds(&words).join(" "), "rr hostb --rcvbuf 64KiB");
    }

    #[test]
    fn values_are_raised_with_their_unit() {
        let raised = |json: &str, is_buffer| {
            super::raised(&serde_json::from_str(json).expect("JSON"), is_buffer)
        };
        assert_eq!(raised("3", false).as_deref(), Some("6"));
        assert_eq!(raised("\"64KiB\"", true).as_deref(), Some("524288B"));
        assert_eq!(raised("null", true).as_deref(), Some("4MiB"));
        assert_eq!(raised("null", false), None);
    }
}
