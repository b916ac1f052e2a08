//! Output of the console: help, lists of hosts and clocks, and results.

use sokudo_model::kinds::{crr, http, probe};
use sokudo_model::{FlowResult, PhaseRecord, Text, Unit, kinds};

use crate::execute::Executor;
use crate::vocabulary::{CONSOLE, HOST};

/// Flows of a phase that are printed one by one; the record holds all of them.
const FLOWS_MAX: usize = 64;

/// Explains all words, or one.
pub(super) fn help(word: Option<&str>, executor: &mut dyn Executor) {
    let mut any = false;
    for entry in CONSOLE.iter().chain(HOST) {
        if word.is_some_and(|word| !entry.is(word)) {
            continue;
        }
        any = true;
        executor.say(&Text::new(entry.help_key()));
        if !entry.also.is_empty() {
            let also = Text::new("console-help-also").word("also", entry.also.join(", "));
            executor.say(&also);
        }
    }
    for load in executor.words() {
        if word.is_some_and(|word| !word.eq_ignore_ascii_case(load.name)) {
            continue;
        }
        any = true;
        let said = Text::new(match load.takes_url {
            true => "console-help-load-url",
            false => "console-help-load",
        });
        let name = format!("{:<14}", load.name);
        let question = Text::new(load.question_key());
        executor.say(&said.word("word", name).text("question", question));
    }
    if let (false, Some(word)) = (any, word) {
        executor.say(&Text::new("console-help-unknown").word("word", word));
    }
}

/// Lists the hosts.
pub(super) fn hosts(executor: &mut dyn Executor) {
    for host in executor.hosts() {
        executor.say(
            &Text::new("console-host")
                .word("number", format!("{:>3}", host.number))
                .word("name", format!("{:<16}", host.name))
                .word("address", format!("{:<16}", host.address))
                .word("os", host.os)
                .word("cores", host.cores.to_string()),
        );
    }
}

/// Lists the clocks.
pub(super) fn clocks(executor: &mut dyn Executor) {
    for host in executor.hosts() {
        let same = host.clock_offset_seconds == 0.0 && host.clock_error_seconds == 0.0;
        let key = match same {
            true => "console-clock-same",
            false => "console-clock",
        };
        executor.say(
            &Text::new(key)
                .word("number", format!("{:>3}", host.number))
                .word("name", format!("{:<16}", host.name))
                .number("offset", host.clock_offset_seconds, Unit::Seconds)
                .number("error", host.clock_error_seconds, Unit::Seconds),
        );
    }
}

/// Prints the result of each flow of a phase.
pub(super) fn flows(record: &PhaseRecord, executor: &mut dyn Executor) {
    let flows = &record.result.flows;
    for flow in flows.iter().take(FLOWS_MAX) {
        executor.say(&of_flow(flow, record));
    }
    if flows.len() > FLOWS_MAX {
        let rest = flows.len() - FLOWS_MAX;
        executor.say(&Text::new("console-flows-more").word("n", rest.to_string()));
    }
}

fn of_flow(flow: &FlowResult, record: &PhaseRecord) -> Text {
    let named = |key: &str| {
        Text::new(key)
            .word("begin", (record.t0_ns / 1_000_000).to_string())
            .word("from", &flow.from)
            .word("to", &flow.to)
    };
    let why = flow.labels.get("error").filter(|why| !why.is_empty());
    let carried = kinds::carried(&flow.metrics).filter(|_| flow.complete);
    let Some(carried) = carried else {
        return match why {
            Some(why) => named("console-flow-dead").word("why", why),
            None if flow.complete => probed(flow, named),
            None => named("console-flow-silent"),
        };
    };
    if let Some(latency) = flow.histograms.get(http::LATENCY_SECONDS.name) {
        let get = |name: &str| flow.metrics.get(name).copied().unwrap_or_default();
        let rate = get(http::REQUESTS_PER_SECOND.name);
        return named("console-flow-answered")
            .number("requests", get(http::REQUESTS.name), Unit::One)
            .number("time", carried.seconds, Unit::Seconds)
            .number("rate", rate, Unit::PerSecond)
            .number("p99", latency.p99, Unit::Seconds);
    }
    if let Some(connect) = flow.histograms.get(crr::CONNECT_SECONDS.name) {
        return named("console-flow-connected").number("time", connect.mean, Unit::Seconds);
    }
    named("console-flow")
        .number("bytes", carried.bytes, Unit::Bytes)
        .number("time", carried.seconds, Unit::Seconds)
        .number("speed", carried.bits_per_second(), Unit::BitsPerSecond)
}

/// A complete flow that carries nothing.
fn probed(flow: &FlowResult, named: impl Fn(&str) -> Text) -> Text {
    let get = |name: &str| flow.metrics.get(name).copied();
    let numbers = get(probe::SENT_PACKETS.name).zip(get(probe::LOSS_RATIO.name));
    let trips = flow.histograms.get(probe::RTT_SECONDS.name);
    match numbers.zip(trips) {
        Some(((sent, loss), trips)) => named("console-flow-probed")
            .number("probes", sent, Unit::One)
            .number("loss", loss, Unit::Ratio)
            .number("p50", trips.p50, Unit::Seconds),
        None => named("console-flow-done"),
    }
}
