//! What does a phase of probes say?

use sokudo_model::{Text, Unit};

use crate::view::PhaseView;

/// A sender that leaves out more than this share of its probes did not keep its schedule.
const LEFT_OUT: f64 = 0.01;

/// True for a phase of probes that left.
pub fn is_one(view: &PhaseView<'_>) -> bool {
    view.phase.workload == "probe" && total(view, "sent_packets").is_some()
}

/// A count of probes, digit for digit.
fn whole(n: f64) -> String {
    format!("{n:.0}")
}

fn total(view: &PhaseView<'_>, what: &str) -> Option<f64> {
    view.total(&format!("probe.{what}"))
}

/// What came out: the round trip, each way when the clocks allow it, and what was lost where.
pub fn says(view: &PhaseView<'_>, flows: Text) -> Vec<Text> {
    let mut out = Vec::new();
    out.extend(round_trip(view, flows));
    out.extend(lost(view));
    out.extend(unsent(view));
    out
}

fn round_trip(view: &PhaseView<'_>, flows: Text) -> Option<Text> {
    let value = |what: &str| total(view, what);
    let text = Text::new("verdict-probe")
        .text("flows", flows)
        .number("p50", value("rtt_seconds.p50")?, Unit::Seconds)
        .number("p99", value("rtt_seconds.p99")?, Unit::Seconds)
        .number("max", value("rtt_seconds.max")?, Unit::Seconds);
    let ways = value("owd_up_seconds.p50").zip(value("owd_down_seconds.p50"));
    let ways = match ways {
        Some((up, down)) => Text::new("verdict-probe-ways")
            .number("up", up, Unit::Seconds)
            .number("down", down, Unit::Seconds),
        None => Text::new("verdict-probe-no-ways"),
    };
    Some(text.text("ways", ways))
}

fn lost(view: &PhaseView<'_>) -> Option<Text> {
    let sent = total(view, "sent_packets").filter(|sent| *sent > 0.0)?;
    let (lost, late) = (
        total(view, "lost_packets")?,
        total(view, "late_packets").unwrap_or(0.0),
    );
    let up = total(view, "lost_up_packets");
    let text = match (lost, late, up.zip(total(view, "lost_down_packets"))) {
        (0.0, 0.0, _) => Text::new("verdict-probe-none-lost"),
        (_, _, Some((up, down))) => Text::new("verdict-probe-lost")
            .word("up", whole(up))
            .word("down", whole(down))
            .word("late", whole(late)),
        (_, _, None) => Text::new("verdict-probe-lost-somewhere").word("lost", whole(lost)),
    };
    Some(text.word("sent", whole(sent)))
}

/// Probes that the sender could not send in time.
fn unsent(view: &PhaseView<'_>) -> Option<Text> {
    let (sent, unsent) = (total(view, "sent_packets")?, total(view, "unsent_packets")?);
    (unsent > LEFT_OUT * (sent + unsent)).then(|| {
        Text::new("verdict-probe-unsent")
            .word("unsent", whole(unsent))
            .word("all", whole(sent + unsent))
    })
}
