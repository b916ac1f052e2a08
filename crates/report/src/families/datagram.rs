//! The few numbers of datagrams.

use sokudo_model::kinds::datagram;
use sokudo_model::units::human;
use sokudo_model::{Metric, PhaseRecord, Severity, Summary, Text, Unit};

use super::{Subject, Telling};
use crate::block::{Number, Phrase};
use crate::number::count;
use crate::view;

/// Best or delivered rate, loss, order, cost.
pub const TELLING: Telling = Telling {
    numbers,
    line,
    settings,
};

/// Losses by place: metric, message.
const PLACES: [(Metric, &str); 4] = [
    (datagram::LOST_AT_SENDER_PACKETS, "report-lost-sender"),
    (datagram::LOST_ON_PATH_PACKETS, "report-lost-path"),
    (datagram::LOST_AT_RECEIVER_HOST_PACKETS, "report-lost-host"),
    (
        datagram::LOST_AT_RECEIVER_SOCKET_PACKETS,
        "report-lost-socket",
    ),
];

/// Loopback interfaces have MTUs from here on, bytes.
const LOOPBACK_MTU: f64 = 65_535.0;

fn numbers(subject: &Subject) -> Vec<Number> {
    let Subject { summary, phase, .. } = subject;
    let mut out = Vec::new();
    out.extend(best(subject.totals));
    out.extend(delivered(subject).or_else(|| sent(summary)));
    out.extend(lost(summary, phase));
    if out.len() < 3 {
        out.extend(order(summary));
    }
    out.extend(cost(phase));
    out
}

/// Delivery rate of a phase.
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
    let bytes = datagram::BEST_RATE_BYTES_PER_SECOND.of(totals)?;
    let mut number = Number::new(
        human(bytes * 8.0, Unit::BitsPerSecond),
        "report-number-best",
    );
    let rate = datagram::BEST_RATE_PACKETS_PER_SECOND.of(totals);
    number.detail.extend(rate.map(datagrams_per_second));
    let loss = datagram::BEST_RATE_LOSS_RATIO.of(totals);
    number.detail.extend(loss.map(|l| {
        Text::new("report-number-best-loss")
            .number("loss", l, Unit::Ratio)
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

fn delivered(subject: &Subject) -> Option<Number> {
    let bits = view::delivered_bits(&subject.summary)?;
    let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-number-delivered");
    subject.put_range(&mut number, datagram::DELIVERED_BITS_PER_SECOND, None);
    let rate = subject.own(datagram::DELIVERED_PACKETS_PER_SECOND);
    number.detail.extend(rate.map(datagrams_per_second));
    number.detail.extend(several(subject.phase));
    Some(number)
}

/// Number of datagrams sent, for a far end that does not report what it received.
fn sent(summary: &Summary) -> Option<Number> {
    let bytes = datagram::SENT_BYTES_PER_SECOND.of(summary)?;
    let mut number = Number::new(
        human(bytes * 8.0, Unit::BitsPerSecond),
        "report-number-sent",
    );
    let rate = datagram::SENT_PACKETS_PER_SECOND.of(summary);
    number.detail.extend(rate.map(datagrams_per_second));
    Some(number)
}

fn shape(summary: &Summary, phase: &PhaseRecord) -> Option<Number> {
    let size = datagram::SIZE_BYTES.of(summary)?;
    let mut number = Number::new(format!("{} B", count(size)), "report-number-size");
    let asked = serde_json::from_str::<serde_json::Value>(&phase.options)
        .is_ok_and(|options| !options["size"].is_null());
    let mtu = datagram::PATH_MTU_BYTES.of(summary);
    number.detail.push(match (asked, mtu) {
        (true, _) => words("report-number-size-asked"),
        (false, Some(mtu)) if mtu < LOOPBACK_MTU => Text::new("report-number-size-mtu")
            .word("mtu", count(mtu))
            .into(),
        (false, _) => words("report-number-size-ethernet"),
    });
    let flow = phase.result.flows.first()?;
    if let Some(io) = flow.labels.get("io") {
        let batch = datagram::MEAN_SEND_BATCH_PACKETS.of(summary).unwrap_or(1.0);
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
    let granted = datagram::RECEIVE_BUFFER_GRANTED_BYTES.of(summary)?;
    let mut number = Number::new(human(granted, Unit::Bytes), "report-number-buffer");
    if let Some(asked) = datagram::RECEIVE_BUFFER_ASKED_BYTES.of(summary) {
        let text = Text::new("report-number-buffer-asked").number("asked", asked, Unit::Bytes);
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
    let missing = datagram::MISSING_PACKETS.of(summary);
    let sent = datagram::SENT_PACKETS.of(summary);
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
    let n = datagram::OUT_OF_ORDER_PACKETS.of(summary)?;
    let mut number = Number::new(count(n), "report-number-order");
    let duplicates = datagram::DUPLICATE_PACKETS.of(summary);
    number.detail.extend(duplicates.map(|d| {
        Text::new("report-number-duplicates")
            .word("n", count(d))
            .into()
    }));
    let jitter = datagram::JITTER_SECONDS.of(summary);
    number.detail.extend(jitter.map(|j| {
        Text::new("report-number-jitter")
            .number("jitter", j, Unit::Seconds)
            .into()
    }));
    Some(number)
}

/// CPU time per datagram on both sides.
fn cost(phase: &PhaseRecord) -> Option<Number> {
    let sender = view::mean_over_flows(phase, datagram::SENDER_CPU_SECONDS_PER_PACKET);
    let receiver = view::mean_over_flows(phase, datagram::RECEIVER_CPU_SECONDS_PER_PACKET);
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
