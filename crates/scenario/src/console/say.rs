//! What does the console tell?

use sokudo_model::{FlowResult, PhaseRecord, Text, Unit, load};

use crate::execute::Executor;

/// Flows of a phase that are told one by one; the record holds all of them.
const FLOWS_MAX: usize = 64;

/// Words of the console itself, with the message that explains each.
const WORDS: &[&str] = &[
    "hosts",
    "syncTime",
    "all",
    "node",
    "connect",
    "connectnode",
    "disconnect",
    "sendreceive-n",
    "set",
    "enter",
    "clr",
    "waittime",
    "sleep",
    "waitallresults",
    "help",
    "quit",
];

/// Explains all words, or one.
pub(super) fn help(word: Option<&str>, executor: &mut dyn Executor) {
    let wanted = |name: &str| word.is_none_or(|word| word.eq_ignore_ascii_case(name));
    let loads = executor.words();
    let mut any = false;
    for name in WORDS.iter().filter(|name| wanted(name)) {
        any = true;
        executor.say(&Text::new(format!(
            "console-help-{}",
            name.to_ascii_lowercase()
        )));
    }
    for (name, question) in loads.into_iter().filter(|(name, _)| wanted(name)) {
        any = true;
        let said = Text::new("console-help-load");
        executor.say(&said.word("word", name).word("question", question));
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
        executor.say(
            &Text::new("console-clock")
                .word("number", format!("{:>3}", host.number))
                .word("name", format!("{:<16}", host.name))
                .number("offset", host.clock_offset_seconds, Unit::Seconds)
                .number("error", host.clock_error_seconds, Unit::Seconds),
        );
    }
}

/// Tells what each flow of a phase came to.
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
    let Some(carried) = load::carried(&flow.metrics).filter(|_| flow.complete) else {
        let why = flow.labels.get("error").cloned().unwrap_or_default();
        return match why.is_empty() {
            true => named("console-flow-silent"),
            false => named("console-flow-dead").word("why", why),
        };
    };
    if let Some(connect) = flow.histograms.get("crr.connect_seconds") {
        return named("console-flow-connected").number("time", connect.mean, Unit::Seconds);
    }
    named("console-flow")
        .number("bytes", carried.bytes, Unit::Bytes)
        .number("time", carried.seconds, Unit::Seconds)
        .number("speed", carried.bits_per_second(), Unit::BitsPerSecond)
}
