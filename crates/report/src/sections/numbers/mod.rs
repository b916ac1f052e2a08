//! Section: the few numbers that matter, and how far they can be trusted.

use sokudo_analyze::ranges::{Basis, Ranges};
use sokudo_model::kinds;
use sokudo_model::settings::{Commits, Setting};
use sokudo_model::{PhaseRecord, Severity, Text, Unit};

use crate::block::{Block, Number, Phrase};
use crate::budget;
use crate::families::Subject;
use crate::placement;
use crate::sections::{group, rrul};
use crate::view::{self, Generator, Role, View, role};

/// Numbers of loads at the same moment at most; the table of phases has a row for each of them.
const MAX_NUMBERS: usize = 24;

/// The strip of numbers of the record's subject phase.
pub fn blocks(view: &View) -> Vec<Block> {
    let mut numbers = numbers(view);
    if let Some(budget) = view.lone_subject().and_then(budget::number) {
        // Health stays the last.
        numbers.insert(numbers.len().saturating_sub(1), budget);
    }
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut out = vec![Block::Numbers(numbers)];
    out.extend(notes(view).into_iter().map(Block::Paragraph));
    out
}

/// Meaning of the ranges beside the numbers; nothing when there are none. Also the terminal's.
pub fn notes(view: &View) -> Vec<Phrase> {
    if view.ranges.is_empty() || view.lone_subject().is_none() {
        return Vec::new();
    }
    let mut ranges = view.ranges.values();
    let mut keys = vec![
        match ranges.any(|range| range.basis == Basis::Independent) {
            true => "report-number-ranges-independent",
            false => "report-number-ranges",
        },
    ];
    let command = kinds::find(&view.record.manifest.workload);
    let is_single = view
        .subject()
        .is_some_and(|phase| role(phase) == Role::Main);
    if command.is_some() && is_single {
        keys.push("report-number-ranges-repeat");
    }
    keys.into_iter().map(|key| Text::new(key).into()).collect()
}

/// The few that matter of the workload, and health; of several loads at the same moment those of each.
/// Also the terminal's.
pub fn numbers(view: &View) -> Vec<Number> {
    if let Some(found) = sokudo_analyze::rrul::of(view.record) {
        return rrul::numbers(&found);
    }
    match view.subjects() {
        [] => group::numbers(view),
        [phase] => numbers_of(view, phase, &view.ranges),
        loads => loads
            .iter()
            .flat_map(|load| of_load(view, load))
            .take(MAX_NUMBERS)
            .collect(),
    }
}

fn numbers_of(view: &View, phase: &PhaseRecord, ranges: &Ranges) -> Vec<Number> {
    let subject = Subject::new(phase, &view.record.manifest.summary).with_ranges(ranges);
    let mut out = (subject.telling().numbers)(&subject);
    out.push(health(view, phase));
    out
}

/// The numbers of one of several loads, which say whose they are.
fn of_load(view: &View, load: &PhaseRecord) -> Vec<Number> {
    let mut out = numbers_of(view, load, &Ranges::new());
    for number in &mut out {
        if let Phrase::Text(label) = &number.label {
            number.label = Text::new("report-number-of-load")
                .word("load", &load.workload)
                .text("label", label.clone())
                .into();
        }
    }
    out
}

/// Settings of the load, each with the request or the reason for it. For the terminal; the page has
/// a table.
pub fn settings(view: &View) -> Vec<Number> {
    let Some(phase) = view.lone_subject() else {
        return Vec::new();
    };
    let subject = Subject::new(phase, &view.record.manifest.summary);
    let mut settings = (subject.telling().settings)(&subject);
    settings.extend(of_database(&view.settings()));
    settings
}

/// Number of the database's settings that are known, and those that decide about acknowledged commits.
fn of_database(settings: &[Setting]) -> Option<Number> {
    let about = settings.iter().filter(|it| it.commits.is_some());
    let about: Vec<Phrase> = about.map(|it| it.text().into()).collect();
    let more = settings.len() - about.len();
    let is_risk = settings
        .iter()
        .any(|it| it.commits == Some(Commits::AtRisk));
    (!settings.is_empty()).then(|| {
        let mut number = Number::new(settings.len().to_string(), "report-number-settings");
        if is_risk {
            number.tone = Severity::Bad;
            number
                .detail
                .push(Text::new("report-number-settings-at-risk").into());
        }
        number.detail.extend(about);
        let more = (more > 0).then(|| Text::new("report-number-settings-more").with("n", more));
        number.detail.extend(more.map(Phrase::from));
        number
    })
}

/// Whether the generator had room left, and how well the clocks agree.
fn health(view: &View, phase: &PhaseRecord) -> Number {
    let (key, tone) = match view.generator(phase) {
        Generator::Valid => ("report-generator-valid", Severity::Info),
        Generator::Limit => ("report-generator-limit", Severity::Caution),
        Generator::Disturbed => ("report-generator-disturbed", Severity::Caution),
        Generator::Unknown => ("report-generator-unknown", Severity::Caution),
    };
    let mut number = Number::new(Text::new(key), "report-number-generator");
    number.tone = tone;
    let cpu = view::generator_cpu(phase);
    number.detail.extend(cpu.map(|cpu| {
        Text::new("report-number-generator-cpu")
            .number("cpu", cpu, Unit::Ratio)
            .into()
    }));
    number.detail.push(match view.clock_error_s() {
        Some(error) => Text::new("report-number-clock")
            .number("error", error, Unit::Seconds)
            .into(),
        None => Text::new("report-number-one-clock").into(),
    });
    let cores = placement::words(view.record, phase);
    let text = cores.map(|cores| Text::new("report-number-placement").word("cores", cores));
    number.detail.extend(text.map(Phrase::from));
    number
}
