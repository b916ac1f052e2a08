//! Notes that a reader needs to judge one-way delays.

use sokudo_model::kinds::probe as numbers;
use sokudo_model::{Metric, PhaseResult, Stat, Text, Unit};

/// Notes beside the result: the precision of the clocks, what is not shown because of it, and the
/// source of the time stamps.
pub fn notes(result: &PhaseResult) -> Vec<Text> {
    let mut out = Vec::new();
    let summary = &result.summary;
    if numbers::ANSWERED_PACKETS
        .of(summary)
        .is_some_and(|n| n > 0.0)
    {
        let shown = |way: &Metric, stat| summary.contains_key(&way.stat(stat));
        let ways = [numbers::OWD_UP_SECONDS, numbers::OWD_DOWN_SECONDS];
        let all = ways.iter().all(|way| shown(way, Stat::Min));
        let any = ways.iter().any(|way| shown(way, Stat::Max));
        out.push(match numbers::CLOCK_ERROR_SECONDS.of(summary) {
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
