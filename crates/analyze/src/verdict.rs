//! What would a person who reads three sentences want to know?
//!
//! What was achieved, what limited it, what to try next. When the numbers cannot be trusted, that
//! comes first.

use sokudo_model::{Finding, PhaseRecord, Record, RunStatus, Severity, Text, Unit};

use crate::phase::PhaseView;
use crate::{checks, findings};

/// Sentences at most.
const MAX_SENTENCES: usize = 3;
/// Loss up to which a rate counts as held when nothing else was said.
const HELD: f64 = 0.001;

/// Rules that name a limit; the others describe.
const LIMITS: [&str; 6] = [
    "generator_limited",
    "host_busy",
    "path_loss",
    "receiver_buffer_overflow",
    "receiver_host_drops",
    "sender_refusal",
];

/// One to three sentences: what was achieved, limited by what, what next.
///
/// Works from the record's own findings and checks when it holds any, else from fresh ones.
pub fn verdict(record: &Record) -> Vec<Text> {
    let drawn;
    let findings = match record.findings.is_empty() {
        true => {
            drawn = findings(record);
            &drawn
        }
        false => &record.findings,
    };
    let mut out = Vec::new();
    out.extend(distrust(record, findings));
    let Some(main) = main_phase(record) else {
        if out.is_empty() {
            out.push(Text::new("verdict-nothing"));
        }
        return out;
    };
    let view = PhaseView::new(record, main);
    out.extend(achieved(record, &view));
    let limit = limit(record, main, findings);
    match limit {
        Some(limit) => {
            out.push(limit.says.clone());
            out.extend(limit.next.clone());
        }
        None => out.extend(no_limit(record, &view)),
    }
    out.truncate(MAX_SENTENCES);
    out
}

/// Why the numbers must be read with care before anything else is said.
fn distrust(record: &Record, findings: &[Finding]) -> Option<Text> {
    let manifest = &record.manifest;
    if matches!(manifest.status, RunStatus::Failed | RunStatus::Partial) {
        let key = match manifest.status {
            RunStatus::Failed => "verdict-failed",
            _ => "verdict-partial",
        };
        return Some(match manifest.problems.first() {
            Some(problem) => Text::new(key).text("problem", problem.says.clone()),
            None => Text::new(format!("{key}-unknown")),
        });
    }
    let broken = checks(record).into_iter().find(|check| !check.passed);
    if let Some(check) = broken {
        return Some(Text::new("verdict-distrust").text("check", check.says));
    }
    let corrupted = findings
        .iter()
        .find(|f| f.rule == "corruption" && f.severity == Severity::Bad)?;
    Some(corrupted.says.clone())
}

/// The phase that the verdict is about: the confirmed best rate, else the plain test between two
/// hosts, else the last one that is no trial of a search and sent something.
fn main_phase(record: &Record) -> Option<&PhaseRecord> {
    let measured = || {
        record.manifest.phases.iter().filter(|phase| {
            let view = PhaseView::new(record, phase);
            view.sent().is_some() && !view.is_probe()
        })
    };
    let named = |name: &str| measured().find(|phase| phase.name == name);
    named("best")
        .or_else(|| named("p2p"))
        .or_else(|| measured().next_back())
        .or_else(|| {
            record
                .manifest
                .phases
                .iter()
                .rfind(|p| PhaseView::new(record, p).sent().is_some())
        })
}

fn achieved(record: &Record, view: &PhaseView<'_>) -> Option<Text> {
    let summary = &record.manifest.summary;
    if let Some(bytes) = summary.get("datagram.best_rate_bytes_per_second") {
        let loss = summary.get("datagram.best_rate_loss_ratio").copied();
        let packets = summary
            .get("datagram.best_rate_packets_per_second")
            .copied();
        let text = Text::new("verdict-best")
            .text("flows", flows(view))
            .number("bits", bytes * 8.0, Unit::BitsPerSecond)
            .number(
                "packets",
                packets.unwrap_or_default(),
                Unit::PacketsPerSecond,
            )
            .number("loss", loss.unwrap_or_default(), Unit::Ratio);
        return packets.and(loss).map(|_| text);
    }
    let packets = view.total("datagram.delivered_packets_per_second")?;
    let bytes = view.total("datagram.delivered_bytes_per_second")?;
    let (sent, missing) = (view.sent()?, view.missing()?);
    let key = match (view.asked_rate(), missing > 0.0) {
        (Some(_), true) => "verdict-paced-loss",
        (Some(_), false) => "verdict-paced-lossless",
        (None, true) => "verdict-unlimited-loss",
        (None, false) => "verdict-unlimited-lossless",
    };
    let mut text = Text::new(key)
        .text("flows", flows(view))
        .number("bits", bytes * 8.0, Unit::BitsPerSecond)
        .number("packets", packets, Unit::PacketsPerSecond)
        .number("sent", sent, Unit::Packets);
    if let Some(asked) = view.asked_rate() {
        text = text.number("asked", asked, Unit::PacketsPerSecond);
    }
    if missing > 0.0 {
        text = text.number("loss", missing / sent, Unit::Ratio);
    }
    Some(text)
}

/// Between whom: one flow by its hosts, many by their number.
fn flows(view: &PhaseView<'_>) -> Text {
    let flows = view.flows();
    match flows {
        [] => Text::new("verdict-whole-run"),
        [first, rest @ ..]
            if rest
                .iter()
                .all(|f| f.from == first.from && f.to == first.to) =>
        {
            Text::new("verdict-one-pair")
                .word("from", &first.from)
                .word("to", &first.to)
        }
        _ => Text::new("verdict-many-flows").number("count", flows.len() as f64, Unit::One),
    }
}

/// The strongest finding that says what limited the phase; for a rate that was searched for, what
/// the trials above it ran into.
fn limit<'a>(record: &Record, main: &PhaseRecord, findings: &'a [Finding]) -> Option<&'a Finding> {
    let is_limit = |f: &&Finding| LIMITS.contains(&f.rule.as_str());
    let about_main = findings
        .iter()
        .filter(is_limit)
        .filter(|f| f.phase == main.name)
        .find(|f| f.severity > Severity::Info || f.rule == "generator_limited");
    let probes = |name: &str| {
        let mut phases = record.manifest.phases.iter();
        phases.any(|p| p.name == name && PhaseView::new(record, p).is_probe())
    };
    let about_probes = || {
        findings
            .iter()
            .filter(is_limit)
            .filter(|f| probes(&f.phase))
            .max_by(|a, b| a.weight.total_cmp(&b.weight))
    };
    about_main.or_else(about_probes)
}

/// What can be said when no rule names a limit.
fn no_limit(record: &Record, view: &PhaseView<'_>) -> Option<Text> {
    let held = view.loss()? <= HELD;
    if held && view.asked_rate().is_some() {
        return Some(Text::new("verdict-not-reached"));
    }
    const TELLTALES: [&str; 4] = [
        "host.nic_receive_drops",
        "host.softnet_drops",
        "host.pressure_ratio",
        "host.cpu_ratio",
    ];
    let unread: Vec<&str> = TELLTALES
        .into_iter()
        .filter(|metric| record.series_of(metric).next().is_none())
        .collect();
    Some(match unread.is_empty() {
        true => Text::new("verdict-undetermined"),
        false => Text::new("verdict-undetermined-lacking").word("names", unread.join(", ")),
    })
}
