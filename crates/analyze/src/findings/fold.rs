//! Findings about a phase that are consequences of another one.
//!
//! A sender that is short of CPU sends late. Told as two findings, the second sends its reader
//! after a rate that is not at fault.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Text};

use super::absorb::{absorb, add_evidence};
use super::holes;
use crate::quantities::ends::End;
use crate::quantities::schedule;
use crate::rule::LIMITING;
use crate::view::machine;
use crate::view::{KEPT_WAITING, PhaseView, word};

/// Rules that say that a host was short of CPU.
const SHORT_OF_CPU: [&str; 2] = ["neighbour_interference", "host_busy"];

/// Folds consequences into their causes: one finding with the evidence of both.
pub fn fold(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    a_quota_is_no_neighbour(findings);
    neighbours_make_it_busy(view, findings);
    own_queue_is_told_once(findings);
    drops_of_a_host_are_told_once(findings);
    a_lost_host_is_told_once(findings);
    holes::tell_once(view, findings);
    a_slow_link_is_told_once(findings);
    failures_follow_their_cause(findings);
    waits_of_neighbours_are_told_once(view, findings);
    stages_use_the_cpu(findings);
    let at = |rule: &str| findings.iter().position(|f| f.rule == rule);
    let cause = SHORT_OF_CPU.into_iter().find_map(at);
    let (Some(cause), Some(consequence)) = (cause, at("generator_limited")) else {
        return;
    };
    let so = match findings[consequence].says.key.as_str() {
        "rule-generator-limited-short-says" => "rule-host-busy-so-short",
        "rule-generator-limited-late-says" => "rule-host-busy-so-late",
        "rule-generator-limited-asks-late-says" => "rule-host-busy-so-asks-late",
        _ => return,
    };
    if !explains(view, &findings[cause], &findings[consequence]) {
        return;
    }
    let consequence = findings.remove(consequence);
    let mut causes = findings.iter_mut();
    let Some(cause) = causes.find(|f| SHORT_OF_CPU.contains(&f.rule.as_str())) else {
        return;
    };
    let so = Text {
        key: so.into(),
        args: consequence.says.args,
    };
    cause.says = Text::new("rule-host-busy-and-says")
        .text("busy", cause.says.clone())
        .text("so", so);
    cause.severity = cause.severity.max(consequence.severity);
    cause.weight = cause.weight.max(consequence.weight);
    add_evidence(cause, consequence.evidence);
}

/// Threads that a bound on CPU time keeps from running look as if others had taken their time.
fn a_quota_is_no_neighbour(findings: &mut Vec<Finding>) {
    absorb(findings, "cpu_quota", |finding| {
        SHORT_OF_CPU.contains(&finding.rule.as_str())
    });
}

/// The stage of a replication in which a thread spends its time is what its CPU is used for.
fn stages_use_the_cpu(findings: &mut Vec<Finding>) {
    let host_of = |finding: &Finding| word(&finding.says, "host").map(str::to_owned);
    let stage = findings.iter().find(|f| f.rule == "replication_stage");
    let Some(host) = stage.and_then(host_of) else {
        return;
    };
    absorb(findings, "replication_stage", |finding| {
        let cpu = ["sender_cpu_limited", "receiver_cpu_limited"];
        cpu.contains(&finding.rule.as_str()) && host_of(finding).as_deref() == Some(&*host)
    });
}

/// Drops that a host makes of its own accord look like loss on the way, and the answers that they delay like those of a
/// server that is slow now and then.
fn drops_of_a_host_are_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 7] = [
        "loss_limited",
        "path_loss",
        "receiver_host_drops",
        "request_path",
        "uneven_service",
        "generator_limited",
        "filter_drops",
    ];
    for cause in ["conntrack_full", "checksum_errors", "filter_drops"] {
        absorb(findings, cause, |finding| {
            CONSEQUENCES.contains(&finding.rule.as_str())
        });
    }
}

/// A host that is lost leaves a hole and connections that stand still behind it; an interface that was down is why
/// it was lost.
fn a_lost_host_is_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 3] = ["error_burst", "interrupted", "stalled_flow"];
    let mut keys = findings.iter().map(|finding| finding.says.key.as_str());
    if keys.any(|key| key == "rule-interrupted-interface-says") {
        absorb(findings, "interrupted", |f| f.rule == "far_end_lost");
    }
    absorb(findings, "far_end_lost", |finding| {
        CONSEQUENCES.contains(&finding.rule.as_str())
    });
}

/// A connection over the link that all slow flows share looks limited by its way, by loss or by a window.
fn a_slow_link_is_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 6] = [
        "application_limited",
        "loss_limited",
        "path_limited",
        "receive_window_limited",
        "send_buffer_limited",
        "stalled_flow",
    ];
    let link = findings.iter().find(|finding| finding.rule == "hot_link");
    let Some(says) = link.map(|link| link.says.clone()) else {
        return;
    };
    let ends = |says: &Text| {
        let end = |name| word(says, name).map(str::to_owned);
        [end("from"), end("to")].into_iter().flatten().collect()
    };
    let slow: Vec<String> = match says.key.as_str() {
        "rule-hot_link-pair" => ends(&says),
        _ => word(&says, "host").map(str::to_owned).into_iter().collect(),
    };
    absorb(findings, "hot_link", |finding| {
        let of: Vec<String> = ends(&finding.says);
        let is_there = slow.iter().all(|host| of.contains(host));
        // The programs of the other flows had time left, which does not limit the slow ones.
        let is_others = finding.rule == "application_limited";
        CONSEQUENCES.contains(&finding.rule.as_str()) && (is_there || is_others)
    });
}

/// Failing requests are what a caller sees of a cause that another rule names.
fn failures_follow_their_cause(findings: &mut [Finding]) {
    const CAUSES: [&str; 12] = [
        "checksum_errors",
        "conntrack_full",
        "dropped_calls",
        "far_end_lost",
        "filter_drops",
        "interrupted",
        "request_path",
        "sender_refusal",
        "server_stalls",
        "stalled_flow",
        "turned_away",
        "unserved_connections",
    ];
    let is_cause = |finding: &Finding| {
        let names = CAUSES.contains(&finding.rule.as_str());
        let has_no_ports = finding.says.key == "rule-generator-limited-ports-says";
        (names || has_no_ports) && finding.weight > LIMITING
    };
    if !findings.iter().any(is_cause) {
        return;
    }
    let failures = findings.iter_mut().filter(|f| f.rule == "request_failures");
    for failure in failures {
        failure.weight = failure.weight.min(LIMITING);
    }
}

/// A load that missed its schedule about as often as its threads had no CPU waited for the CPU, not for answers
/// and not by choice.
fn waits_of_neighbours_are_told_once(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    let at = |rule: &str| findings.iter().any(|finding| finding.rule == rule);
    let Some(cause) = SHORT_OF_CPU.into_iter().find(|rule| at(rule)) else {
        return;
    };
    if schedule::waits_explain(view) {
        // A writer that is to keep a schedule sleeps between its turns.
        const CONSEQUENCES: [&str; 2] = ["rule-window-full-says", "rule-application-writer-says"];
        absorb(findings, cause, |finding| {
            CONSEQUENCES.contains(&finding.says.key.as_str())
        });
    }
}

/// A machine that is busy because of other programs is told once, with who used it.
fn neighbours_make_it_busy(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    let at = |rule: &str| findings.iter().position(|f| f.rule == rule);
    let (Some(cause), Some(busy)) = (at(SHORT_OF_CPU[0]), at(SHORT_OF_CPU[1])) else {
        return;
    };
    let host = |at: usize| word(&findings[at].says, "host");
    let (Some(there), Some(here)) = (host(cause), host(busy)) else {
        return;
    };
    if !machine::with(view.record, there).contains(&here) {
        return;
    }
    let busy = findings.remove(busy);
    if let Some(cause) = findings.iter_mut().find(|f| f.rule == SHORT_OF_CPU[0]) {
        add_evidence(cause, busy.evidence);
    }
}

/// A sender that a queue on its own host holds back looks limited by the path, by loss or by its socket, as one
/// whose kernel refuses what it sends, or as one that cannot keep its rate: told once, with where the queue is.
fn own_queue_is_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 4] = [
        "loss_limited",
        "path_limited",
        "send_buffer_limited",
        "sender_refusal",
    ];
    const HELD_BACK: [&str; 2] = [
        "rule-generator-limited-short-says",
        "rule-generator-limited-late-says",
    ];
    let is_queue = |finding: &Finding| finding.rule == "device_queue";
    let Some(queue) = findings.iter().find(|finding| is_queue(finding)) else {
        return;
    };
    let Some(own) = word(&queue.says, "host").map(str::to_owned) else {
        return;
    };
    let dropped = value_of(queue, host::QDISC_DROPS).unwrap_or(0.0);
    let follows = |finding: &mut Finding| {
        let sender = word(&finding.says, "from").or_else(|| word(&finding.says, "host"));
        let follows = CONSEQUENCES.contains(&finding.rule.as_str())
            || HELD_BACK.contains(&finding.says.key.as_str())
            || vanished_in(dropped, finding);
        follows && sender == Some(own.as_str())
    };
    let consequences: Vec<Finding> = findings.extract_if(.., follows).collect();
    if let Some(queue) = findings.iter_mut().find(|finding| is_queue(finding)) {
        for consequence in consequences {
            queue.severity = queue.severity.max(consequence.severity);
            add_evidence(queue, consequence.evidence);
        }
    }
}

/// True for loss on the path of which a queue that dropped so much explains the greater part.
fn vanished_in(dropped: f64, finding: &Finding) -> bool {
    let lost = value_of(finding, datagram::LOST_ON_PATH_PACKETS);
    finding.rule == "path_loss" && lost.is_some_and(|lost| dropped >= lost / 2.0)
}

fn value_of(finding: &Finding, metric: Metric) -> Option<f64> {
    let mut rows = finding.evidence.iter();
    rows.find(|row| row.metric.as_deref() == Some(metric.name))?
        .value
}

/// True when the sender that falls behind is short of CPU itself, or stands on the machine that is.
fn explains(view: &PhaseView<'_>, cause: &Finding, consequence: &Finding) -> bool {
    let (Some(sender), Some(busy)) = (word(&consequence.says, "host"), word(&cause.says, "host"))
    else {
        return false;
    };
    let waiting = view.kind().and_then(|kind| End::Sender.wait(kind));
    let waited = waiting.and_then(|waiting| view.highest_at_sender(sender, waiting));
    waited.is_some_and(|share| share >= KEPT_WAITING)
        || sender == busy
        || machine::neighbours(view.record, sender).contains(&busy)
}
