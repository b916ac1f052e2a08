//! Which numbers and charts tell of datagrams?

use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Severity, Summary, Text, Unit};

use super::{Kind, Subject};
use crate::block::{Number, Phrase};
use crate::number::count;
use crate::view;

/// Best or delivered rate, loss, order, cost.
pub const KIND: Kind = Kind {
    name: "datagram",
    generator_cpu: "datagram.sender_cpu_ratio",
    arrived: Some("datagram.delivered_bits_per_second"),
    sent: Some("datagram.sent_bits_per_second"),
    per_second: None,
    latency: &[],
    numbers,
    line,
    settings,
};

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

fn numbers(subject: &Subject) -> Vec<Number> {
    let Subject { summary, phase, .. } = subject;
    let mut out = Vec::new();
    out.extend(best(subject.totals));
    out.extend(delivered(summary, phase).or_else(|| sent(summary)));
    out.extend(lost(summary, phase));
    if out.len() < 3 {
        out.extend(order(summary));
    }
    out.extend(cost(phase));
    out
}

/// What a phase delivered.
fn line(subject: &Subject) -> Option<Number> {
    let summary = &subject.summary;
    let bits = view::delivered_bits(summary)?;
    let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-number-delivered");
    let loss = view::loss(summary)
        .map(|loss| Text::new("report-terminal-lost").number("loss", loss, Unit::Ratio));
    number.detail.extend(loss.map(Phrase::from));
    number.detail.extend(several(subject.phase));
    Some(number)
}

fn settings(subject: &Subject) -> Vec<Number> {
    let parts = [
        shape(&subject.summary, subject.phase),
        buffer(&subject.summary),
    ];
    parts.into_iter().flatten().collect()
}

fn several(phase: &PhaseRecord) -> Option<Phrase> {
    let n = phase.result.flows.len();
    let text = || Text::new("report-number-flows").word("n", n.to_string());
    (n > 1).then(|| text().into())
}

fn words(key: &str) -> Phrase {
    Text::new(key).into()
}

fn best(totals: &Summary) -> Option<Number> {
    let bytes = totals.get("datagram.best_rate_bytes_per_second")?;
    let mut number = Number::new(
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
    let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-number-delivered");
    let rate = summary.get("datagram.delivered_packets_per_second");
    number.detail.extend(rate.map(|r| datagrams_per_second(*r)));
    number.detail.extend(several(phase));
    Some(number)
}

/// What was sent, where the far end keeps what it received to itself.
fn sent(summary: &Summary) -> Option<Number> {
    let bytes = summary.get("datagram.sent_bytes_per_second")?;
    let mut number = Number::new(
        human(bytes * 8.0, Unit::BitsPerSecond),
        "report-number-sent",
    );
    let rate = summary.get("datagram.sent_packets_per_second");
    number.detail.extend(rate.map(|r| datagrams_per_second(*r)));
    Some(number)
}

fn shape(summary: &Summary, phase: &PhaseRecord) -> Option<Number> {
    let size = summary.get("datagram.size_bytes")?;
    let mut number = Number::new(format!("{} B", count(*size)), "report-number-size");
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
    let mut number = Number::new(human(*granted, Unit::Bytes), "report-number-buffer");
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
    let mut number = Number::new(human(loss, Unit::Ratio), "report-number-lost");
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
    let mut number = Number::new(count(*n), "report-number-order");
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
    let mut number = Number::new(human(larger, Unit::Seconds), "report-number-cost");
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
