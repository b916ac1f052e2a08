//! The sentences about one phase: what was achieved, what limited it, what to try next.

use sokudo_model::kinds::datagram;
use std::collections::BTreeSet;

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use super::failing::is_failing;
use crate::advice::fit_phase;
use crate::findings::causes::Causes;
use crate::findings::{diagnose, search};
use crate::quantities::exchange::Exchange;
use crate::quantities::files::FileCopy;
use crate::quantities::lacking::lacking;
use crate::quantities::probe;
use crate::quantities::stopped::Stopped;
use crate::quantities::transfer::Transfer;
use crate::quantities::{advice, datagrams};
use crate::rules::is_limit;
use crate::view::{PhaseView, word};

/// Loss below this is next to none: the count tells more than the share.
const NEXT_TO_NONE: f64 = 0.0005;

/// Sentences about one phase: its result, its limit, the next step.
pub fn about(view: &PhaseView<'_>) -> Vec<Text> {
    let all = unfit(view).into_iter();
    all.filter_map(|text| fit_phase(view, text)).collect()
}

fn unfit(view: &PhaseView<'_>) -> Vec<Text> {
    if let Some(exchange) = Exchange::of(*view) {
        return answered(view, &exchange);
    }
    if let Some(transfer) = Transfer::of(*view) {
        return carried(view, &transfer);
    }
    if probe::is_one(view) {
        return probed(view);
    }
    if let Some(copy) = FileCopy::of(*view) {
        let mut out = in_order(view, copy.achieved(flows(view)), copy.failed());
        out.extend(advice::foreseen(view));
        // What changes at the source sets the pace of a mirror.
        match copy.followed() {
            Some(followed) => out.push(followed),
            None => out.extend(limited(view)),
        }
        return out;
    }
    match datagrams::best(view.record) {
        Some(best) => searched(view, best),
        None => measured(view),
    }
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
            let host = word(&own.says, "host").unwrap_or_default();
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
            let ratio = datagram::BEST_RATE_LOSS_RATIO.of(summary);
            Text::new("loss-ratio").number("loss", ratio.unwrap_or_default(), Unit::Ratio)
        }
    }
}

/// Share of lost datagrams, with the counts behind it.
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
    out.extend(stopped(view));
    out.extend(limited(view));
    out
}

/// Result of a phase and its failures; the failures come first where they outweigh the result.
fn in_order(view: &PhaseView<'_>, achieved: Text, failure: Option<Text>) -> Vec<Text> {
    match failure {
        Some(failure) if is_failing(view) => {
            let failure = Text::new("verdict-failing")
                .text("flows", flows(view))
                .text("failure", failure);
            let stopped = stopped(view);
            std::iter::once(failure)
                .chain(stopped)
                .chain([achieved])
                .collect()
        }
        failure => {
            let stopped = stopped(view);
            std::iter::once(achieved)
                .chain(stopped)
                .chain(failure)
                .collect()
        }
    }
}

fn achieved(view: &PhaseView<'_>) -> Option<Text> {
    let packets = view.total(datagram::DELIVERED_PACKETS_PER_SECOND)?;
    let bytes = view.total(datagram::DELIVERED_BYTES_PER_SECOND)?;
    let (sent, missing) = (view.sent()?, view.missing()?);
    if view.received() == Some(0.0) {
        let text = Text::new("verdict-none-arrived").number("sent", sent, Unit::Packets);
        return Some(text.text("flows", flows(view)));
    }
    let text = match view.asked_rate() {
        Some(asked) if is_failing(view) => Text::new("verdict-paced-losing")
            .number("asked", asked, Unit::Packets)
            .number("ratio", missing / sent, Unit::Ratio)
            .number("missing", missing, Unit::Packets)
            .number("sent", sent, Unit::Packets),
        Some(asked) => Text::new("verdict-paced").number("asked", asked, Unit::Packets),
        None => Text::new("verdict-unpaced"),
    };
    let text = text
        .text("flows", flows(view))
        .number("bits", bytes * 8.0, Unit::BitsPerSecond)
        .number("packets", packets, Unit::Packets);
    Some(text.text("loss", loss(sent, missing)))
}

/// Time of a load that carried something for a part of it only.
fn stopped(view: &PhaseView<'_>) -> Option<Text> {
    Stopped::of(view).map(|stopped| stopped.says())
}

/// The answer of a measurement of requests and responses.
fn answered(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Vec<Text> {
    let failure = exchange.errors();
    let mut out = match failure {
        Some(failure) if exchange.is_unanswered() => {
            let text = Text::new("verdict-failing").text("flows", flows(view));
            vec![text.text("failure", failure)]
        }
        failure => in_order(view, exchange.achieved(flows(view)), failure),
    };
    match is_failing(view) {
        // What failed is mended before what limits the rest.
        true => out.extend(mended_by(view)),
        false => out.extend(limited(view)),
    }
    out
}

/// The cause of the failures of a phase where a rule names one, and the next step against them.
fn mended_by(view: &PhaseView<'_>) -> Vec<Text> {
    let findings = diagnose(view.record, view.phase).into_iter();
    let grave = findings.filter(|f| f.severity == Severity::Bad);
    let worst = grave.max_by(|a, b| a.weight.total_cmp(&b.weight));
    let Some(worst) = worst else {
        return Vec::new();
    };
    // What merely describes the failures has been said.
    let says = is_limit(&worst.rule).then_some(worst.says);
    says.into_iter().chain(worst.next).collect()
}

/// The answer of a measurement of bytes or messages.
fn carried(view: &PhaseView<'_>, transfer: &Transfer<'_>) -> Vec<Text> {
    let mut out = in_order(view, transfer.achieved(flows(view)), transfer.missing());
    out.extend(limited(view));
    out
}

/// The answer of probes. They are too thin to reach a limit: only what disturbed them is named.
fn probed(view: &PhaseView<'_>) -> Vec<Text> {
    let round_trip = probe::round_trip(view, flows(view));
    let lost = probe::lost(view);
    let mut out = match round_trip {
        Some(round_trip) => in_order(view, round_trip, lost),
        None => lost.into_iter().collect(),
    };
    out.extend(probe::unsent(view));
    out.extend(limit_of(view).map(|limit| limit.says));
    out
}

/// Between whom: one flow by its hosts, many by their number.
fn flows(view: &PhaseView<'_>) -> Text {
    let flows = view.flows();
    if view.kind().is_some_and(|kind| kind.is_plan) {
        return labels(flows);
    }
    // Those of names of requests stand beside those of threads, which they are a part of.
    let flows: Vec<&FlowResult> = flows
        .iter()
        .filter(|flow| !flow.labels.contains_key("kind"))
        .collect();
    match flows.as_slice() {
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

/// Name of the only label of a test plan, or the number of labels.
fn labels(flows: &[FlowResult]) -> Text {
    let own = flows.iter().filter(|f| !f.labels.contains_key("kind"));
    let names: BTreeSet<&str> = own.map(|f| f.to.as_str()).collect();
    match names.first() {
        Some(name) if names.len() == 1 => Text::new("verdict-one-label").word("label", *name),
        _ => Text::new("verdict-many-labels").number("count", names.len() as f64, Unit::One),
    }
}

/// The strongest conclusion about what limited a phase.
pub fn limit_of(view: &PhaseView<'_>) -> Option<Finding> {
    Causes::of(view).first()
}

/// Limit of a phase, with what speaks against it and what limits beside it, and the next step; or what would
/// have had to be known.
fn limited(view: &PhaseView<'_>) -> Vec<Text> {
    let causes = Causes::of(view);
    let suspected = causes.suspected.into_iter().next();
    let mut named = causes.named.into_iter();
    let Some(first) = named.next() else {
        // A trial of a search, and the run that confirms its answer, are not measurements of a limit.
        if view.is_trial() || view.is_confirm() {
            return Vec::new();
        }
        return vec![match suspected {
            Some(one) => Text::new("verdict-suspected").text("says", one.says),
            None => undetermined(&lacking(view)),
        }];
    };
    let objection = first.against.into_iter().next();
    let says = match objection {
        Some(row) => Text::new("verdict-against")
            .text("says", first.says)
            .text("against", row.says),
        None => first.says,
    };
    let says = match named.next() {
        Some(other) => Text::new("verdict-beside")
            .text("says", says)
            .text("other", other.says),
        None => says,
    };
    std::iter::once(says).chain(first.next).collect()
}

/// No rule names a limit: what would have had to be known.
fn undetermined(lacking: &[String]) -> Text {
    match lacking.is_empty() {
        true => Text::new("verdict-undetermined"),
        false => Text::new("verdict-undetermined-lacking").word("names", lacking.join(", ")),
    }
}
