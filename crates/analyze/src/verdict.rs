//! What would a person who reads three sentences want to know?
//!
//! What was achieved, what limited it, what to try next. When the numbers cannot be trusted, that
//! comes first.

use std::collections::BTreeSet;

use sokudo_model::{Finding, FlowResult, PhaseRecord, Record, RunStatus, Severity, Text, Unit};
use sokudo_stats::Curve;

use crate::exchange::Exchange;
use crate::phase::PhaseView;
use crate::rules::is_limit;
use crate::transfer::Transfer;
use crate::{checks, diagnose, experiment, findings, layers, pairs, probe, search, sweep};

/// Sentences at most.
const MAX_SENTENCES: usize = 3;
/// The same of a check of a group: which pairs fail, how, what they have in common, what next.
const MAX_OF_PAIRS: usize = 4;
/// Hosts that are named when many are in trouble.
const HOSTS_NAMED: usize = 5;
/// Loss below this is next to none: the count tells more than the share.
const NEXT_TO_NONE: f64 = 0.0005;
/// Findings of less weight are worth a word, but they limit nothing.
const LIMITING: f64 = 0.25;

/// One to three sentences: what was achieved, limited by what, what next.
///
/// What it says about a phase is drawn from that phase alone, so that its numbers belong together.
pub fn verdict(record: &Record) -> Vec<Text> {
    let mut out = Vec::new();
    out.extend(distrust(record));
    let of_pairs = pairs::verdict(record);
    if !of_pairs.is_empty() {
        out.extend(of_pairs);
        out.truncate(MAX_OF_PAIRS);
        return out;
    }
    let of_layers = layers::sentence(record);
    let of_points = experiment::of(record).map(|all| all.sentence());
    let most = MAX_SENTENCES + usize::from(of_layers.is_some()) + usize::from(of_points.is_some());
    let is_layered = of_layers.is_some();
    out.extend(of_layers.into_iter().chain(of_points));
    match (sweep::of(record), main_phase(record)) {
        (Some((curve, _)), _) => out.extend(swept(record, &curve)),
        (None, Some(main)) => {
            // What a layer came to has been said with all the others.
            let said = usize::from(is_layered && main.name == main.workload);
            out.extend(about(&PhaseView::new(record, main)).into_iter().skip(said));
        }
        (None, None) if out.is_empty() => out.push(Text::new("verdict-nothing")),
        (None, None) => {}
    }
    out.truncate(most);
    out
}

/// The strongest conclusion about what limited the phase that the verdict is about; `None` when it
/// is not known.
pub fn limit(record: &Record) -> Option<Finding> {
    let phase = match sweep::of(record) {
        Some((curve, _)) => sweep::above(record, &curve),
        None => main_phase(record),
    };
    limit_of(&PhaseView::new(record, phase?))
}

/// What one phase says: what was achieved, what limited it, what next.
pub(crate) fn about(view: &PhaseView<'_>) -> Vec<Text> {
    if let Some(exchange) = Exchange::of(*view) {
        return answered(view, &exchange);
    }
    if let Some(transfer) = Transfer::of(*view) {
        return carried(view, &transfer);
    }
    if probe::is_one(view) {
        return probed(view);
    }
    match search::best(view.record) {
        Some(best) => searched(view, best),
        None => measured(view),
    }
}

/// Checks of what was demanded, not of the books: that they fail is a result.
const DEMANDS: [&str; 5] = ["bound", "errors", "found", "loss", "pair"];

/// Why the numbers must be read with care before anything else is said.
fn distrust(record: &Record) -> Option<Text> {
    let manifest = &record.manifest;
    if matches!(manifest.status, RunStatus::Failed | RunStatus::Partial) {
        let failed = manifest.status == RunStatus::Failed;
        let Some(problem) = manifest.problems.first() else {
            return Some(Text::new(match failed {
                true => "verdict-failed-unknown",
                false => "verdict-partial-unknown",
            }));
        };
        let hosts = troubled_hosts(record);
        let key = match (failed, hosts.len()) {
            (true, 0 | 1) => "verdict-failed",
            (true, _) => "verdict-failed-hosts",
            (false, 0 | 1) => "verdict-partial",
            (false, _) => "verdict-partial-hosts",
        };
        let mut says = Text::new(key).text("problem", problem.says.clone());
        if hosts.len() > 1 {
            says = says.word("hosts", names(&hosts));
        }
        return Some(says);
    }
    // Too much loss is a result, not a reason to doubt it.
    let mut broken = checks(record).into_iter().filter(|check| !check.passed);
    let broken = broken.find(|check| !DEMANDS.contains(&check.name.as_str()));
    if let Some(check) = broken {
        return Some(Text::new("verdict-distrust").text("check", check.says));
    }
    let mut corrupted = findings(record)
        .into_iter()
        .filter(|f| f.rule == "corruption" && f.severity == Severity::Bad);
    corrupted.next().map(|finding| finding.says)
}

/// The first of these hosts, and how many more there are.
fn names(hosts: &[&str]) -> String {
    let first = hosts[..hosts.len().min(HOSTS_NAMED)].join(", ");
    match hosts.len().saturating_sub(HOSTS_NAMED) {
        0 => first,
        more => format!("{first} (+{more})"),
    }
}

/// Hosts with problems, each once, in the order of their first one.
fn troubled_hosts(record: &Record) -> Vec<&str> {
    let mut hosts: Vec<&str> = Vec::new();
    for problem in &record.manifest.problems {
        if !problem.host.is_empty() && !hosts.contains(&problem.host.as_str()) {
            hosts.push(&problem.host);
        }
    }
    hosts
}

/// The phase that the verdict is about: the confirmed best rate, else the plain test between two
/// hosts, else the point of an experiment that carried most, else the last one with datagrams that is
/// no trial of a search, else the last one with anything else.
fn main_phase(record: &Record) -> Option<&PhaseRecord> {
    let phases = || record.manifest.phases.iter();
    let sent = |phase: &&PhaseRecord| PhaseView::new(record, phase).sent().is_some();
    let own = |phase: &&PhaseRecord| !PhaseView::new(record, phase).is_trial();
    let told = |phase: &&PhaseRecord| {
        let view = PhaseView::new(record, phase);
        Exchange::of(view).is_some() || Transfer::of(view).is_some() || probe::is_one(&view)
    };
    search::confirmed(record, "datagram")
        .or_else(|| phases().filter(sent).filter(own).find(|p| p.name == "p2p"))
        .or_else(|| experiment::of(record).map(|all| all.most))
        .or_else(|| phases().filter(sent).rfind(own))
        .or_else(|| phases().filter(told).rfind(own))
        .or_else(|| phases().rfind(sent))
        .or_else(|| phases().rfind(told))
}

/// The answer of a search: the rate that holds, and what happens above it.
fn searched(view: &PhaseView<'_>, (bytes, packets): (f64, f64)) -> Vec<Text> {
    let limit = search::limit(view.record);
    let own = limit_of(view);
    let rate = |key: &str| {
        Text::new(key)
            .text("flows", flows(view))
            .number("bits", bytes * 8.0, Unit::BitsPerSecond)
            .number("packets", packets, Unit::Packets)
            .text("loss", confirmed_loss(view))
    };
    let (says, next) = match (&limit, &own) {
        (Some(limit), _) => {
            let says = rate("verdict-best-above").text("above", limit.above());
            (says, limit.next())
        }
        (None, Some(own)) if own.rule == "generator_limited" => {
            let host = crate::phase::word(&own.says, "host").unwrap_or_default();
            let says = rate("verdict-best-sender").word("host", host);
            (says, own.next.clone())
        }
        (None, _) => (rate("verdict-best"), Some(Text::new("verdict-best-next"))),
    };
    let mut out = vec![says];
    // Whatever disturbed the run that confirms the answer makes the answer doubtful.
    let doubt = own.filter(|own| own.severity > Severity::Info);
    out.extend(doubt.map(|own| Text::new("verdict-disturbed").text("why", own.says)));
    out.extend(next);
    out
}

fn confirmed_loss(view: &PhaseView<'_>) -> Text {
    match (view.sent(), view.missing()) {
        (Some(sent), Some(missing)) if view.is_confirm() => loss(sent, missing),
        _ => {
            let summary = &view.record.manifest.summary;
            let ratio = summary.get("datagram.best_rate_loss_ratio").copied();
            Text::new("loss-ratio").number("loss", ratio.unwrap_or_default(), Unit::Ratio)
        }
    }
}

/// How much was lost, with the counts behind it.
fn loss(sent: f64, missing: f64) -> Text {
    let key = match missing / sent {
        _ if missing <= 0.0 => "loss-none",
        ratio if ratio < NEXT_TO_NONE => "loss-next-to-none",
        _ => "loss-some",
    };
    Text::new(key)
        .number("loss", missing / sent, Unit::Ratio)
        .number("missing", missing.max(0.0), Unit::Packets)
        .number("sent", sent, Unit::Packets)
}

/// The answer of a single measurement.
fn measured(view: &PhaseView<'_>) -> Vec<Text> {
    let mut out: Vec<Text> = achieved(view).into_iter().collect();
    match limit_of(view) {
        Some(limit) => {
            out.push(limit.says);
            out.extend(limit.next);
        }
        None => out.extend(no_limit(view)),
    }
    out
}

fn achieved(view: &PhaseView<'_>) -> Option<Text> {
    let packets = view.total("datagram.delivered_packets_per_second")?;
    let bytes = view.total("datagram.delivered_bytes_per_second")?;
    let (sent, missing) = (view.sent()?, view.missing()?);
    let text = match view.asked_rate() {
        Some(asked) => Text::new("verdict-paced").number("asked", asked, Unit::Packets),
        None => Text::new("verdict-unpaced"),
    };
    let text = text
        .text("flows", flows(view))
        .number("bits", bytes * 8.0, Unit::BitsPerSecond)
        .number("packets", packets, Unit::Packets);
    Some(text.text("loss", loss(sent, missing)))
}

/// The answer of a measurement of requests and responses.
fn answered(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Vec<Text> {
    let mut out = vec![exchange.achieved(flows(view))];
    out.extend(exchange.errors());
    match limit_of(view) {
        Some(limit) => {
            out.push(limit.says);
            out.extend(limit.next);
        }
        None => out.push(exchange.next()),
    }
    out
}

/// The answer of a measurement of bytes or messages.
fn carried(view: &PhaseView<'_>, transfer: &Transfer<'_>) -> Vec<Text> {
    let mut out = vec![transfer.achieved(flows(view))];
    out.extend(transfer.missing());
    match limit_of(view) {
        Some(limit) => {
            out.push(limit.says);
            out.extend(limit.next);
        }
        None => out.push(undetermined(&transfer.lacking())),
    }
    out
}

/// The answer of a sweep: the knee, and what the step above it ran into.
fn swept(record: &Record, curve: &Curve) -> Vec<Text> {
    let mut out: Vec<Text> = sweep::says(curve).into_iter().collect();
    let above = sweep::above(record, curve);
    let limit = above.and_then(|phase| limit_of(&PhaseView::new(record, phase)));
    out.extend(limit.map(|limit| limit.says));
    out.push(sweep::next(curve));
    out
}

/// The answer of probes. They are too thin to reach a limit: only what disturbed them is named.
fn probed(view: &PhaseView<'_>) -> Vec<Text> {
    let mut out = probe::says(view, flows(view));
    out.extend(limit_of(view).map(|limit| limit.says));
    out
}

/// Between whom: one flow by its hosts, many by their number.
fn flows(view: &PhaseView<'_>) -> Text {
    let flows = view.flows();
    if view.phase.workload == "jmx" {
        return labels(flows);
    }
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

/// What was asked for: one label of a test plan by its name, many by their number.
fn labels(flows: &[FlowResult]) -> Text {
    let own = flows.iter().filter(|f| !f.labels.contains_key("kind"));
    let names: BTreeSet<&str> = own.map(|f| f.to.as_str()).collect();
    match names.first() {
        Some(name) if names.len() == 1 => Text::new("verdict-one-label").word("label", *name),
        _ => Text::new("verdict-many-labels").number("count", names.len() as f64, Unit::One),
    }
}

/// The strongest conclusion about what limited a phase.
fn limit_of(view: &PhaseView<'_>) -> Option<Finding> {
    let limits = diagnose(view.record, view.phase).into_iter();
    limits
        .filter(|f| is_limit(&f.rule) && (f.weight > LIMITING || view.is_trial()))
        .max_by(|a, b| a.weight.total_cmp(&b.weight))
}

/// What can be said when no rule names a limit.
fn no_limit(view: &PhaseView<'_>) -> Option<Text> {
    let held = view.loss()? <= view.max_loss().unwrap_or(search::HELD);
    if held && view.asked_rate().is_some() {
        return Some(Text::new("verdict-not-reached"));
    }
    const TELLTALES: [&str; 4] = [
        "host.nic_receive_drops",
        "host.softnet_drops",
        "host.pressure_ratio",
        "host.cpu_ratio",
    ];
    let unread = TELLTALES
        .into_iter()
        .filter(|metric| view.record.series_of(metric).next().is_none());
    let unread: Vec<String> = unread.map(String::from).collect();
    Some(undetermined(&unread))
}

/// No rule names a limit: what would have had to be known.
fn undetermined(lacking: &[String]) -> Text {
    match lacking.is_empty() {
        true => Text::new("verdict-undetermined"),
        false => Text::new("verdict-undetermined-lacking").word("names", lacking.join(", ")),
    }
}
