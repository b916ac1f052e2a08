//! What must a reader know before believing one-way delays?

use sokudo_model::{PhaseResult, Text, Unit};

use super::names;

/// What is to stand beside the result: how good the clocks were, what is not shown because of them,
/// and who took the times.
pub fn notes(result: &PhaseResult) -> Vec<Text> {
    let mut out = Vec::new();
    let get = |name: &str| result.summary.get(name).copied();
    if get("probe.answered_packets").is_some_and(|n| n > 0.0) {
        let shown = |name: &str, which: &str| get(&format!("{name}.{which}")).is_some();
        let ways = [names::OWD_UP, names::OWD_DOWN];
        let all = ways.iter().all(|name| shown(name, "min"));
        let any = ways.iter().any(|name| shown(name, "max"));
        out.push(match get(names::CLOCK_ERROR) {
            None => Text::new("engine-probe-no-clock"),
            Some(0.0) => Text::new("engine-probe-one-clock"),
            Some(error) => {
                let key = match (all, any) {
                    (true, _) => "engine-probe-clock",
                    (false, true) => "engine-probe-clock-some",
                    (false, false) => "engine-probe-clock-none",
                };
                Text::new(key).number("error", error, Unit::Seconds)
            }
        });
    }
    let by_program = |stamps: &str| {
        let of = |labels: &sokudo_model::Labels| {
            let says = labels.get(stamps);
            says.is_some_and(|says| says != "kernel")
        };
        result.flows.iter().any(|flow| of(&flow.labels))
    };
    if by_program("probe_stamps") || by_program("answer_stamps") {
        out.push(Text::new("engine-probe-program-stamps"));
    }
    out
}
