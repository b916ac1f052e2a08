//! Exports single round trips as CSV: begin and end, the two ends, size and rate of each.

use std::io::{self, Write};

use sokudo_model::{FlowResult, PhaseRecord, Record, Series};

use super::{Cell, Format, Table, word};

/// End of the names of metrics that hold single round trips.
const ROUND_TRIP: &str = ".round_trip_seconds";

const HEADS: [&str; 11] = [
    "phase",
    "start_ms",
    "end_ms",
    "from",
    "to",
    "thread",
    "request_bytes",
    "response_bytes",
    "round_trip_ms",
    "one_way_bytes_per_second",
    "one_way_bits_per_second",
];

/// True when the record holds round trips one by one.
pub fn any(record: &Record) -> bool {
    let mut series = record.series.iter();
    series.any(|series| series.key.metric.ends_with(ROUND_TRIP))
}

/// All round trips that were kept, one per line, in the order of their ends within each flow: phase,
/// start and end (milliseconds since the run's start; in an open loop the start is the intended
/// one), from, to, thread, bytes of request and response, time, and the mean of both ways' speeds:
/// all bytes over the time.
pub fn write(record: &Record, format: Format, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table { format, out };
    table.row(HEADS.map(word))?;
    for series in &record.series {
        let Some(source) = series.key.metric.strip_suffix(ROUND_TRIP) else {
            continue;
        };
        for phase in &record.manifest.phases {
            let label = series.key.labels.get("flow").map_or("", String::as_str);
            let mut flows = phase.result.flows.iter();
            if phase.workload == source
                && let Some(flow) = flows.find(|flow| label_of(flow) == label)
            {
                rows(&mut table, series, source, phase, flow)?;
            }
        }
    }
    Ok(())
}

/// Name of a flow in series.
fn label_of(flow: &FlowResult) -> String {
    let pair = format!("{}→{}", flow.from, flow.to);
    match flow.labels.get("thread") {
        Some(thread) => format!("{pair} #{thread}"),
        None => pair,
    }
}

fn rows(
    table: &mut Table<impl Write>,
    series: &Series,
    source: &str,
    phase: &PhaseRecord,
    flow: &FlowResult,
) -> io::Result<()> {
    let thread = flow.labels.get("thread").map_or("1", String::as_str);
    let bytes = |which: &str| {
        flow.metrics
            .get(&format!("{source}.{which}_bytes"))
            .copied()
    };
    let (request, response) = (bytes("request"), bytes("response"));
    let both = request.zip(response).map(|(there, back)| there + back);
    let of_phase = |t_ns: i64| (phase.t0_ns..=phase.t1_ns).contains(&t_ns);
    for (t_ns, seconds) in series.points.iter().filter(|(t_ns, _)| of_phase(*t_ns)) {
        let took_ns = (seconds * 1e9).round() as i64;
        let speed = both.filter(|_| *seconds > 0.0).map(|both| both / seconds);
        table.row([
            Cell::Word(&phase.name),
            Cell::Millis(t_ns - took_ns),
            Cell::Millis(*t_ns),
            Cell::Word(&flow.from),
            Cell::Word(&flow.to),
            Cell::Word(thread),
            Cell::Number(request),
            Cell::Number(response),
            Cell::Millis(took_ns),
            Cell::Number(speed.map(f64::round)),
            Cell::Number(speed.map(|speed| (speed * 8.0).round())),
        ])?;
    }
    Ok(())
}
