//! Sentences about a search for the knee.

use sokudo_model::{PhaseRecord, Record, Text, Unit};
use sokudo_stats::capacity::estimate::Users;
use sokudo_stats::capacity::record::{KneeFound, Rule, knee_of};

/// Distance from Little's law from which runs count as too short.
const OFF_LITTLE: f64 = 0.15;
/// Loss on the way down from which the system counts as one that does not recover at once.
const FORGETS: f64 = 0.1;

/// The search for a knee of a record, and the phase that its few numbers describe.
pub fn of(record: &Record) -> Option<(KneeFound, &PhaseRecord)> {
    let found = knee_of(&record.manifest.phases)?;
    let subject = phase(record, found.phases.get(found.subject())?)?;
    Some((found, subject))
}

/// The phase of the level above the knee: what it ran into limits the system.
pub fn above<'a>(record: &'a Record, found: &KneeFound) -> Option<&'a PhaseRecord> {
    phase(record, found.phases.get(found.above()?)?)
}

fn phase<'a>(record: &'a Record, name: &str) -> Option<&'a PhaseRecord> {
    record
        .manifest
        .phases
        .iter()
        .rfind(|phase| phase.name == name)
}

/// The knee by the rule that was asked for, what the other rules say, and what makes the answer
/// doubtful.
pub fn says(found: &KneeFound) -> Vec<Text> {
    let mut out = vec![answer(found)];
    out.extend(others(found));
    out.extend(doubts(found));
    out
}

fn answer(found: &KneeFound) -> Text {
    let level = &found.levels[found.subject()];
    let key = match (found.answer(), found.rule) {
        (Some(_), Rule::Slo) => "verdict-knee-slo",
        (Some(_), _) => "verdict-knee",
        (None, Rule::Cpu(_)) if found.levels.iter().any(|level| level.cpu_ratio().is_none()) => {
            "verdict-knee-no-cpu"
        }
        (None, Rule::Cpu(percent)) if is_full_at_once(found, percent) => "verdict-knee-cpu-below",
        (None, Rule::Slo) if !level.held() => "verdict-knee-slo-never",
        (None, _) => "verdict-knee-none",
    };
    let text = Text::new(key)
        .word("option", &found.option)
        .word("rule", found.rule.word())
        .number("most", found.all.most_per_second, Unit::PerSecond)
        .number("alone", found.all.alone_s, Unit::Seconds)
        .number(
            "highest",
            found.levels.last().map_or(0.0, |level| level.users),
            Unit::One,
        )
        .number("rate", level.per_second(), Unit::PerSecond)
        .number("response", level.response_s(), Unit::Seconds);
    match found.answer() {
        Some(users) => with_users(text, users),
        None => text,
    }
}

fn is_full_at_once(found: &KneeFound, percent: u8) -> bool {
    let lowest = found.levels.first().and_then(|level| level.cpu_ratio());
    lowest.is_some_and(|cpu| cpu >= f64::from(percent) / 100.0)
}

fn with_users(text: Text, users: Users) -> Text {
    text.number("users", users.users.round(), Unit::One)
        .number("low", users.low.floor(), Unit::One)
        .number("high", users.high.ceil(), Unit::One)
}

/// The answers of the other rules, in one sentence.
fn others(found: &KneeFound) -> Option<Text> {
    let all = &found.all;
    let rules = [
        ("knee-by-bound", all.bounds, found.rule == Rule::Bound),
        ("knee-by-kneedle", all.kneedle, found.rule == Rule::Kneedle),
        ("knee-by-cpu", all.cpu, matches!(found.rule, Rule::Cpu(_))),
    ];
    let others = rules.into_iter().filter(|(.., is_answer)| !is_answer);
    let mut others = others.filter_map(|(key, users, _)| Some(with_users(Text::new(key), users?)));
    let first = others.next()?;
    Some(match others.next() {
        Some(second) => Text::new("verdict-knee-others")
            .text("first", first)
            .text("second", second),
        None => Text::new("verdict-knee-other").text("first", first),
    })
}

/// Reasons to doubt the answer.
fn doubts(found: &KneeFound) -> impl Iterator<Item = Text> {
    let residual = found.residual();
    let off = (found.raises_users() && residual.abs() > OFF_LITTLE)
        .then(|| Text::new("verdict-knee-residual").number("residual", residual, Unit::Ratio));
    let lost = found.all.hysteresis;
    let forgets = (lost > FORGETS)
        .then(|| Text::new("verdict-knee-hysteresis").number("lost", lost, Unit::Ratio));
    off.into_iter().chain(forgets)
}
