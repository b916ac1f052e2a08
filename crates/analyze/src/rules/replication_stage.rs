//! The stage of a replication in which most of its threads' time passes.
//!
//! ```text
//! sender    idle: nothing wanted │ file: reading │ pack: compressing │ wire: the connection takes them
//! receiver  wire: waiting for data │ pack: unpacking │ file: creating, writing, renaming, syncing
//! ```
//!
//! While one end works on files or in the compressor, the other one waits for it. Where both wait for the
//! connection, other rules say what holds it back.

use sokudo_model::kinds::replicate as numbers;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::files::FileCopy;
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the threads' time from which a stage is where it goes.
const MOST: f64 = 0.5;
/// Share of a receiver's time in files from which syncing is what takes it: the rest is divided among making,
/// writing and renaming them.
const SYNCING: f64 = 0.4;
/// The same from which it is told beside the rest.
const SYNCING_TOO: f64 = 0.2;
/// Mean size up to which creating and renaming a file costs more than writing it, bytes.
const SMALL_BYTES: f64 = 65_536.0;
/// Ratio up to which compression is of no use.
const POOR: f64 = 1.05;

/// The finding `replication_stage`.
pub const RULE: Rule = Rule {
    name: "replication_stage",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("connections")],
    bounds: &[
        ("most", MOST, Unit::Ratio),
        ("syncing", SYNCING, Unit::Ratio),
        ("beside", SYNCING_TOO, Unit::Ratio),
        ("small", SMALL_BYTES, Unit::Bytes),
        ("poor", POOR, Unit::One),
    ],
    look: Look::Each(look),
};

/// A stage: whose threads, which share of their time, and how it is said.
struct Stage {
    end: End,
    share: Metric,
    says: &'static str,
    next: &'static str,
}

macro_rules! stage {
    ($end:ident, $share:ident, $says:literal, $next:literal) => {
        Stage {
            end: End::$end,
            share: numbers::$share,
            says: $says,
            next: $next,
        }
    };
}

fn look(view: &PhaseView<'_>) -> Vec<Finding> {
    // A mirror waits for changes most of the time.
    let Some(load) = FileCopy::of(*view)
        .filter(|copy| !copy.is_mirror())
        .and_then(|_| Load::of(*view))
    else {
        return Vec::new();
    };
    let flows = view.flows().iter();
    let all = flows.filter_map(|flow| conclude(&load, flow));
    all.max_by(|a, b| a.weight.total_cmp(&b.weight))
        .into_iter()
        .collect()
}

fn conclude(load: &Load<'_>, flow: &FlowResult) -> Option<Finding> {
    let of = |metric: Metric| metric.of(&flow.metrics).unwrap_or_default();
    let stages = [
        reading(load),
        packing(flow),
        stage!(
            Sender,
            SENDER_IDLE_RATIO,
            "rule-replication-stage-walk-says",
            "rule-replication-stage-walk-next"
        ),
        writing(flow),
        stage!(
            Receiver,
            RECEIVER_PACK_RATIO,
            "rule-replication-stage-unpack-says",
            "rule-replication-stage-unpack-next"
        ),
    ];
    // A sender to which nothing is left waits for the walk only where the receiver waits, too: one that has
    // its hands full with files asks for no more.
    let works = of(numbers::RECEIVER_FILE_RATIO) + of(numbers::RECEIVER_PACK_RATIO);
    let is_walk = |stage: &Stage| stage.share == numbers::SENDER_IDLE_RATIO;
    let longest = stages
        .into_iter()
        .filter(|stage| works < MOST || !is_walk(stage))
        .max_by(|a, b| of(a.share).total_cmp(&of(b.share)))?;
    let share = longest.share.of(&flow.metrics)?.min(1.0);
    if share < MOST {
        return None;
    }
    let host = longest.end.host(flow);
    let says = Text::new(longest.says)
        .word("host", host)
        .number("share", share, Unit::Ratio)
        .number("syncs", of(numbers::RECEIVER_SYNC_RATIO), Unit::Ratio)
        .number("files", of(numbers::FILES_PER_SECOND), Unit::PerSecond)
        .number(
            "bytes",
            of(numbers::USER_BYTES_PER_SECOND),
            Unit::BytesPerSecond,
        )
        .number("ratio", of(numbers::COMPRESSION_RATIO), Unit::One);
    let view = load.view;
    let weight = 0.3 + 0.6 * share;
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    for (metric, key, end) in SHARES {
        let told = metric.of(&flow.metrics).filter(|share| *share >= 0.01);
        evidence.extend(told.map(|share| view.evidence(key, metric, end.host(flow), share)));
    }
    let connection = Connection::of(view, flow, End::Sender);
    evidence.extend(connection.busy_evidence());
    finding.next = Some(Text::new(longest.next).word("host", host));
    Some(finding)
}

const SHARES: [(Metric, &str, End); 6] = [
    (
        numbers::SENDER_FILE_RATIO,
        "evidence-replication-reading",
        End::Sender,
    ),
    (
        numbers::SENDER_PACK_RATIO,
        "evidence-replication-packing",
        End::Sender,
    ),
    (
        numbers::SENDER_IDLE_RATIO,
        "evidence-replication-idle",
        End::Sender,
    ),
    (
        numbers::RECEIVER_FILE_RATIO,
        "evidence-replication-writing",
        End::Receiver,
    ),
    (
        numbers::RECEIVER_SYNC_RATIO,
        "evidence-replication-syncing",
        End::Receiver,
    ),
    (
        numbers::RECEIVER_PACK_RATIO,
        "evidence-replication-unpacking",
        End::Receiver,
    ),
];

/// A source that is made costs its generator, not a disk.
fn reading(load: &Load<'_>) -> Stage {
    let source = load.view.option::<String>("source").unwrap_or_default();
    match source.starts_with("dataset:") {
        true => stage!(
            Sender,
            SENDER_FILE_RATIO,
            "rule-replication-stage-make-says",
            "rule-replication-stage-make-next"
        ),
        false => stage!(
            Sender,
            SENDER_FILE_RATIO,
            "rule-replication-stage-read-says",
            "rule-replication-stage-read-next"
        ),
    }
}

fn packing(flow: &FlowResult) -> Stage {
    let ratio = numbers::COMPRESSION_RATIO.of(&flow.metrics);
    match ratio.is_some_and(|ratio| ratio <= POOR) {
        true => stage!(
            Sender,
            SENDER_PACK_RATIO,
            "rule-replication-stage-dense-says",
            "rule-replication-stage-dense-next"
        ),
        false => stage!(
            Sender,
            SENDER_PACK_RATIO,
            "rule-replication-stage-pack-says",
            "rule-replication-stage-pack-next"
        ),
    }
}

fn writing(flow: &FlowResult) -> Stage {
    let of = |metric: Metric| metric.of(&flow.metrics).unwrap_or_default();
    let (all, syncs) = (
        of(numbers::RECEIVER_FILE_RATIO),
        of(numbers::RECEIVER_SYNC_RATIO),
    );
    let mean_bytes = of(numbers::RECEIVED_BYTES) / of(numbers::FILES_WRITTEN).max(1.0);
    if syncs >= all * SYNCING && syncs > 0.0 {
        stage!(
            Receiver,
            RECEIVER_FILE_RATIO,
            "rule-replication-stage-sync-says",
            "rule-replication-stage-sync-next"
        )
    } else if syncs >= all * SYNCING_TOO && syncs > 0.0 {
        stage!(
            Receiver,
            RECEIVER_FILE_RATIO,
            "rule-replication-stage-sync-part-says",
            "rule-replication-stage-sync-next"
        )
    } else if mean_bytes <= SMALL_BYTES {
        stage!(
            Receiver,
            RECEIVER_FILE_RATIO,
            "rule-replication-stage-create-says",
            "rule-replication-stage-create-next"
        )
    } else {
        stage!(
            Receiver,
            RECEIVER_FILE_RATIO,
            "rule-replication-stage-write-says",
            "rule-replication-stage-write-next"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;

    /// A replication whose threads spend their time so: sender's file, pack, idle and wire, receiver's file,
    /// sync, pack and wire.
    fn copy(sender: [f64; 4], receiver: [f64; 4]) -> Scene {
        let names = ["file", "pack", "idle", "wire"];
        let mut scene = Scene::of("replicate").tcp(Tcp {
            busy: 0.2,
            ..SENDING
        });
        for (name, share) in names.iter().zip(sender) {
            scene = scene.metric(&format!("sender_{name}_ratio"), share);
        }
        for (name, share) in ["file", "sync", "pack", "wire"].iter().zip(receiver) {
            scene = scene.metric(&format!("receiver_{name}_ratio"), share);
        }
        scene
            .metric("received_bytes", 1e9)
            .metric("files_written", 100.0)
            .metric("compression_ratio", 1.0)
            .option(r#"{"source":"/srv/data"}"#)
    }

    #[track_caller]
    fn says(scene: &Scene, stage: &str) {
        let finding = scene.limited_by("replication_stage");
        let key = format!("rule-replication-stage-{stage}-says");
        assert_eq!(finding.says.key, key);
    }

    #[test]
    fn the_stage_that_takes_most_of_the_time_is_named() {
        let waits = [0.05, 0.0, 0.02, 0.9];
        let reading = copy([0.8, 0.0, 0.0, 0.1], waits);
        says(&reading, "read");
        says(&reading.option(r#"{"source":"dataset:1x1GB"}"#), "make");
        let packs = || copy([0.1, 0.8, 0.0, 0.1], waits);
        says(&packs(), "dense");
        says(&packs().metric("compression_ratio", 2.4), "pack");
        says(&copy([0.1, 0.0, 0.8, 0.1], waits), "walk");
        // The receiver asks for no more while it works on files.
        let idle = [0.0, 0.0, 0.99, 0.0];
        says(&copy(idle, [0.81, 0.68, 0.0, 0.01]), "sync");
        says(&copy(idle, [0.57, 0.1, 0.02, 0.02]), "write");
        says(&copy(idle, [0.2, 0.0, 0.0, 0.8]), "walk");
        let held = [0.1, 0.0, 0.0, 0.9];
        says(&copy(held, [0.8, 0.1, 0.0, 0.1]), "write");
        says(&copy(held, [0.8, 0.7, 0.0, 0.1]), "sync");
        says(&copy(held, [0.8, 0.36, 0.0, 0.1]), "sync");
        // As small files on a quick device were seen.
        says(&copy(idle, [0.87, 0.3, 0.01, 0.03]), "sync-part");
        says(&copy(held, [0.1, 0.0, 0.7, 0.1]), "unpack");
        let small = copy(held, [0.8, 0.1, 0.0, 0.1]).metric("files_written", 1e6);
        says(&small, "create");
    }

    #[test]
    fn the_cpu_of_a_stage_is_told_with_the_stage() {
        let creating = copy([0.1, 0.0, 0.0, 0.9], [0.9, 0.1, 0.0, 0.05])
            .metric("files_written", 1e6)
            .metric("receiver_cpu_ratio", 0.97);
        says(&creating, "create");
        creating.without("receiver_cpu_limited");
        // A thread that is busy with what comes from the connection is in no stage.
        let busy = copy([0.1, 0.0, 0.0, 0.9], [0.2, 0.1, 0.1, 0.05]);
        let busy = busy.metric("receiver_cpu_ratio", 0.97);
        busy.limited_by("receiver_cpu_limited");
    }

    #[test]
    fn where_both_ends_wait_for_the_connection_no_stage_is_named() {
        let scene = copy([0.2, 0.1, 0.0, 0.7], [0.2, 0.0, 0.1, 0.7]);
        scene.without("replication_stage");
    }

    #[test]
    fn a_mirror_that_waits_for_changes_is_not_slow() {
        let scene = copy([0.0, 0.0, 0.99, 0.01], [0.0, 0.0, 0.0, 0.99]);
        let mirror = scene.option(r#"{"source":"/srv/data","mirror":"1h"}"#);
        mirror.without("replication_stage");
    }
}
