//! Which few numbers matter, and how far can they be trusted?

use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Severity, Summary, Text, Unit};

use crate::block::{Block, Number, Phrase};
use crate::exchange;
use crate::number::count;
use crate::probe;
use crate::stream;
use crate::view::{self, Generator, View};

/// Losses by place: metric, message.
const PLACES: [(&str, &str); 4] = [
    ("datagram.lost_at_sender_packets", "report-lost-sender"),
    ("datagram.lost_on_path_packets", "report-lost-path"),
    ("datagram.lost_at_receiver_host_packets", "report-lost-host"),
    (
        "datagram.lost_at_receiver_socket_packets",
        "report-lost-socket",
    ),
];

/// Loopback interfaces have MTUs from here on, bytes.
const LOOPBACK_MTU: f64 = 65_535.0;

/// The strip of numbers of the record's subject phase.
pub fn blocks(view: &View) -> Vec<Block> {
    let numbers = numbers(view);
    if numbers.is_empty() {
        return Vec::new();
    }
    vec![Block::Numbers(numbers)]
}

/// The five that matter: best or delivered rate, loss, order, cost, health. Also the terminal's.
pub fn numbers(view: &View) -> Vec<Number> {
    let Some(phase) = view.subject() else {
        return Vec::new();
    };
    let summary = view::effective(phase);
    if let Some(source) = exchange::source(phase) {
        let totals = &view.record.manifest.summary;
        let mut out = exchange::numbers(source, &summary, totals);
        out.push(health(view, phase));
        return out;
    }
    if phase.workload == "probe" {
        let mut out = probe::numbers(&summary);
        out.push(health(view, phase));
        return out;
    }
    if let Some(mut out) = stream::numbers(&summary, phase.result.flows.len()) {
        out.push(health(view, phase));
        return out;
    }
    let mut out = Vec::new();
    out.extend(best(view));
    out.extend(delivered(&summary, phase).or_else(|| sent(&summary)));
    out.extend(lost(&summary, phase));
    if out.len() < 3 {
        out.extend(order(&summary));
    }
    out.extend(cost(phase));
    out.push(health(view, phase));
    out
}

fn words(key: &str) -> Phrase {
    Text::new(key).into()
}

/// A number that is neutral and has no detail yet.
fn plain(value: impl Into<Phrase>, label: &str) -> Number {
    Number {
        value: value.into(),
        label: words(label),
        detail: Vec::new(),
        tone: Severity::Info,
    }
}

fn best(view: &View) -> Option<Number> {
    let totals = &view.record.manifest.summary;
    let bytes = totals.get("datagram.best_rate_bytes_per_second")?;
    let mut number = plain(
        human(bytes * 8.0, Unit::BitsPerSecond),
        "report-number-best",
    );
    let rate = totals.get("datagram.best_rate_packets_per_second");
    number.detail.extend(rate.map(|r| datagrams_per_second(*r)));
    let loss = totals.get("datagram.best_rate_loss_ratio");
    number.detail.extend(loss.map(|l| {
        Text::new("report-number-best-loss")
            .number("loss", *l, Unit::Ratio)
            .into()
    }));
    Some(number)
}

fn datagrams_per_second(rate: f64) -> Phrase {
    let rate = human(rate, Unit::PacketsPerSecond);
    Text::new("report-datagrams-per-second")
        .word("rate", rate)
        .into()
}

fn delivered(summary: &Summary, phase: &PhaseRecord) -> Option<Number> {
    let bits = view::delivered_bits(summary)?;
    let mut number = plain(human(bits, Unit::BitsPerSecond), "report-number-delivered");
    let rate = summary.get("datagram.delivered_packets_per_second");
    number.detail.extend(rate.map(|r| datagrams_per_second(*r)));
    let n = phase.result.flows.len();
    if n > 1 {
        number.detail.push(
            Text::new("report-number-flows")
                .word("n", n.to_string())
                .into(),
        );
    }
    Some(number)
}

/// What was sent, where the far end keeps what it received to itself.
fn sent(summary: &Summary) -> Option<Number> {
    let bytes = summary.get("datagram.sent_bytes_per_second")?;
    let mut number = plain(
        human(bytes * 8.0, Unit::BitsPerSecond),
        "report-number-sent",
    );
    let rate = summary.get("datagram.sent_packets_per_second");
    number.detail.extend(rate.map(|r| datagrams_per_second(*r)));
    Some(number)
}

/// How the load was made: datagram size, I/O mode and buffers, each with what it was asked for or
/// chosen by. For the terminal; the page has a table.
pub fn settings(view: &View) -> Vec<Number> {
    let Some(phase) = view.subject() else {
        return Vec::new();
    };
    let summary = view::effective(phase);
    [shape(&summary, phase), buffer(&summary)]
        .into_iter()
        .flatten()
        .collect()
}

fn shape(summary: &Summary, phase: &PhaseRecord) -> Option<Number> {
    let size = summary.get("datagram.size_bytes")?;
    let mut number = plain(format!("{} B", count(*size)), "report-number-size");
    let asked = serde_json::from_str::<serde_json::Value>(&phase.options)
        .is_ok_and(|options| !options["size"].is_null());
    let mtu = summary.get("datagram.path_mtu_bytes").copied();
    number.detail.push(match (asked, mtu) {
        (true, _) => words("report-number-size-asked"),
        (false, Some(mtu)) if mtu < LOOPBACK_MTU => Text::new("report-number-size-mtu")
            .word("mtu", count(mtu))
            .into(),
        (false, _) => words("report-number-size-ethernet"),
    });
    let flow = phase.result.flows.first()?;
    if let Some(io) = flow.labels.get("io") {
        let batch = summary
            .get("datagram.mean_send_batch_packets")
            .copied()
            .unwrap_or(1.0);
        let io = match batch >= 1.5 {
            true => format!("{io} ×{}", sokudo_model::units::three_digits(batch)),
            false => io.clone(),
        };
        number
            .detail
            .push(Text::new("report-number-io").word("io", io).into());
    }
    Some(number)
}

fn buffer(summary: &Summary) -> Option<Number> {
    let granted = summary.get("datagram.receive_buffer_granted_bytes")?;
    let mut number = plain(human(*granted, Unit::Bytes), "report-number-buffer");
    if let Some(asked) = summary.get("datagram.receive_buffer_asked_bytes") {
        let text = Text::new("report-number-buffer-asked").number("asked", *asked, Unit::Bytes);
        number.detail.push(text.into());
        if granted < asked {
            number.tone = Severity::Caution;
        }
    }
    Some(number)
}

fn lost(summary: &Summary, phase: &PhaseRecord) -> Option<Number> {
    let loss = view::loss(summary)?;
    let mut number = plain(human(loss, Unit::Ratio), "report-number-lost");
    let missing = summary.get("datagram.missing_packets").copied();
    let sent = summary.get("datagram.sent_packets").copied();
    if let (Some(missing), Some(sent)) = (missing, sent) {
        number.detail.push(
            Text::new("report-number-lost-of")
                .word("missing", count(missing))
                .word("sent", count(sent))
                .into(),
        );
    }
    for (metric, key) in PLACES {
        let n = view::sum(phase, metric).filter(|n| *n > 0.0);
        number
            .detail
            .extend(n.map(|n| Text::new(key).number("n", n, Unit::Packets).into()));
    }
    number.tone = match loss {
        l if l > 0.01 => Severity::Caution,
        _ => Severity::Info,
    };
    Some(number)
}

fn order(summary: &Summary) -> Option<Number> {
    let n = summary.get("datagram.out_of_order_packets")?;
    let mut number = plain(count(*n), "report-number-order");
    let duplicates = summary.get("datagram.duplicate_packets");
    number.detail.extend(duplicates.map(|d| {
        Text::new("report-number-duplicates")
            .word("n", count(*d))
            .into()
    }));
    let jitter = summary.get("datagram.jitter_seconds");
    number.detail.extend(jitter.map(|j| {
        Text::new("report-number-jitter")
            .number("jitter", *j, Unit::Seconds)
            .into()
    }));
    Some(number)
}

/// CPU time per datagram on both sides.
fn cost(phase: &PhaseRecord) -> Option<Number> {
    let sender = view::mean_over_flows(phase, "datagram.sender_cpu_seconds_per_packet");
    let receiver = view::mean_over_flows(phase, "datagram.receiver_cpu_seconds_per_packet");
    let larger = sender.into_iter().chain(receiver).reduce(f64::max)?;
    let mut number = plain(human(larger, Unit::Seconds), "report-number-cost");
    let sides = [
        ("report-number-sender", sender),
        ("report-number-receiver", receiver),
    ];
    number.detail = sides
        .into_iter()
        .filter_map(|(key, value)| {
            Some(Text::new(key).number("value", value?, Unit::Seconds).into())
        })
        .collect();
    Some(number)
}

/// Whether the generator had room left, and how well the clocks agree.
fn health(view: &View, phase: &PhaseRecord) -> Number {
    let (key, tone) = match view.generator(phase) {
        Generator::Valid => ("report-generator-valid", Severity::Info),
        Generator::Limit => ("report-generator-limit", Severity::Caution),
        Generator::Disturbed => ("report-generator-disturbed", Severity::Caution),
        Generator::Unknown => ("report-generator-unknown", Severity::Caution),
    };
    let mut number = plain(words(key), "report-number-generator");
    number.tone = tone;
    let cpu = view::mean_over_flows(phase, view::generator_cpu(phase));
    number.detail.extend(cpu.map(|cpu| {
        Text::new("report-number-generator-cpu")
            .number("cpu", cpu, Unit::Ratio)
            .into()
    }));
    number.detail.push(match view.clock_error_s() {
        Some(error) => Text::new("report-number-clock")
            .number("error", error, Unit::Seconds)
            .into(),
        None => words("report-number-one-clock"),
    });
    number
}
