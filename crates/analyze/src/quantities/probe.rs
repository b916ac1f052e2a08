//! Probes of one phase: round trips, one-way delays, and where probes were lost.

use sokudo_model::kinds::{Family, probe};
use sokudo_model::metric::Stat;
use sokudo_model::{Text, Unit};

use crate::view::PhaseView;

/// A sender that leaves out more than this share of its probes did not keep its schedule.
const LEFT_OUT: f64 = 0.01;

/// True for a phase of probes that left.
pub fn is_one(view: &PhaseView<'_>) -> bool {
    let family = view.kind().map(|kind| kind.family);
    matches!(family, Some(Family::Probe)) && view.total(probe::SENT_PACKETS).is_some()
}

/// A count of probes, digit for digit.
fn whole(n: f64) -> String {
    format!("{n:.0}")
}

/// Sentence about the round trip, and about each way when the clocks allow it.
pub fn round_trip(view: &PhaseView<'_>, flows: Text) -> Option<Text> {
    let value = |metric, stat| view.stat(metric, stat);
    let text = Text::new("verdict-probe")
        .text("flows", flows)
        .number("p50", value(probe::RTT_SECONDS, Stat::P50)?, Unit::Seconds)
        .number("p99", value(probe::RTT_SECONDS, Stat::P99)?, Unit::Seconds)
        .number("max", value(probe::RTT_SECONDS, Stat::Max)?, Unit::Seconds);
    let ways =
        value(probe::OWD_UP_SECONDS, Stat::P50).zip(value(probe::OWD_DOWN_SECONDS, Stat::P50));
    let ways = match ways {
        Some((up, down)) => Text::new("verdict-probe-ways")
            .number("up", up, Unit::Seconds)
            .number("down", down, Unit::Seconds),
        None => Text::new("verdict-probe-no-ways"),
    };
    Some(text.text("ways", ways))
}

/// Sentence about the losses, by direction where that is known.
pub fn lost(view: &PhaseView<'_>) -> Option<Text> {
    let sent = view.total(probe::SENT_PACKETS).filter(|sent| *sent > 0.0)?;
    let (lost, late) = (
        view.total(probe::LOST_PACKETS)?,
        view.total(probe::LATE_PACKETS).unwrap_or(0.0),
    );
    let up = view.total(probe::LOST_UP_PACKETS);
    let text = match (lost, late, up.zip(view.total(probe::LOST_DOWN_PACKETS))) {
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
pub fn unsent(view: &PhaseView<'_>) -> Option<Text> {
    let (sent, unsent) = (
        view.total(probe::SENT_PACKETS)?,
        view.total(probe::UNSENT_PACKETS)?,
    );
    (unsent > LEFT_OUT * (sent + unsent)).then(|| {
        Text::new("verdict-probe-unsent")
            .word("unsent", whole(unsent))
            .word("all", whole(sent + unsent))
    })
}
