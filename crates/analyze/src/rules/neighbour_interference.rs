//! Other programs or virtual machines took the CPU time that the test needed.
//!
//! Two things must come together: threads of the test were ready to run and had no CPU, or the
//! hypervisor gave their time away; and somebody else used it. Threads that wait because the test
//! itself has more of them than the machine has cores are not neighbours:
//! [`host_busy`](super::host_busy) tells that.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, own, postgres};
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use crate::quantities::ends::End;
use crate::quantities::server;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::machine;
use crate::view::{KEPT_WAITING, PhaseView};

/// Cores' worth of other programs from which they count.
const OTHERS: f64 = 0.2;
/// Part of what the test lacks that others must have used to be the reason.
const EXPLAINS: f64 = 0.5;
/// Share of its time that the hypervisor took, from which it counts.
const STOLEN: f64 = 0.02;
/// Part of its wait for a CPU that the thread got back without the others: it would have run beside what is
/// left of them.
const GAIN: f64 = 1.6;

const CPU: Metric = host::CPU_RATIO;

/// The finding `neighbour_interference`.
pub const RULE: Rule = Rule {
    name: "neighbour_interference",
    purpose: Purpose::Limit(Standing::Residual),
    suspects: &[],
    bounds: &[
        ("waiting", KEPT_WAITING, Unit::Ratio),
        ("others", OTHERS, Unit::One),
        ("stolen", STOLEN, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let ends = [End::Sender, End::Receiver].into_iter();
    let found = ends.filter_map(|end| conclude(view, end));
    found.max_by(|a, b| a.weight.total_cmp(&b.weight))
}

fn conclude(view: &PhaseView<'_>, end: End) -> Option<Finding> {
    let kind = view.kind()?;
    let waiting = end.wait(kind)?;
    let (flow, waited) = view.highest(waiting)?;
    let (host, waited) = (end.host(flow), waited.clamp(0.0, 1.0));
    if waited < KEPT_WAITING {
        return None;
    }
    let steal = stolen(view, host).filter(|(_, share)| *share >= STOLEN);
    let others = others(view, host).filter(|cores| *cores >= OTHERS);
    let lacking = own(view, host, own::WAIT_RATIO).unwrap_or(waited);
    let others = others.filter(|cores| *cores >= lacking * EXPLAINS);
    let key = match (&steal, others) {
        (_, Some(_)) => "rule-neighbour-says",
        (Some(_), None) => "rule-neighbour-steal-says",
        (None, None) => return None,
    };
    let says = Text::new(key)
        .word("host", host)
        .number("share", waited, Unit::Ratio)
        .number("others", others.unwrap_or_default(), Unit::One)
        .number(
            "steal",
            steal.as_ref().map_or(0.0, |(_, s)| *s),
            Unit::Ratio,
        );
    let weight = (waited * GAIN).min(0.95);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    let key = end.wait_key(kind);
    evidence.push(view.evidence(key, waiting, host, waited));
    evidence.extend(other_end(view, end));
    evidence.extend(others.map(|cores| others_evidence(view, host, cores)));
    evidence.extend(steal.map(|(row, _)| row));
    evidence.extend(pressure(view, host));
    finding.next = Some(Text::new("rule-neighbour-next").word("host", host));
    Some(finding)
}

/// The wait of the other end, where that was kept waiting too.
fn other_end(view: &PhaseView<'_>, end: End) -> Option<Evidence> {
    let other = end.other();
    let kind = view.kind()?;
    let waiting = other.wait(kind)?;
    let (flow, waited) = view.highest(waiting)?;
    let key = other.wait_key(kind);
    let row = || view.evidence(key, waiting, other.host(flow), waited.min(1.0));
    (waited >= KEPT_WAITING).then(row)
}

/// CPU time that the hypervisor took from the machine of `host`.
fn stolen(view: &PhaseView<'_>, host: &str) -> Option<(Evidence, f64)> {
    let labels = [("core", "all"), ("state", "steal")];
    let (series, share) = on_machine(view, host, CPU, &labels)?;
    let mut row = view.evidence("evidence-steal", CPU, &series.key.host, share);
    row.labels = series.key.labels.clone();
    Some((row, share))
}

fn pressure(view: &PhaseView<'_>, host: &str) -> Option<Evidence> {
    const PRESSURE: Metric = host::PRESSURE_RATIO;
    let labels = [("resource", "cpu"), ("kind", "some")];
    let (series, share) = on_machine(view, host, PRESSURE, &labels)?;
    let mut row = view.evidence("evidence-pressure", PRESSURE, &series.key.host, share);
    row.labels = series.key.labels.clone();
    Some(row)
}

/// The series of a gauge on the machine of `host`, whichever of its hosts watches it.
fn on_machine<'a>(
    view: &PhaseView<'a>,
    host: &str,
    metric: Metric,
    labels: &[(&str, &str)],
) -> Option<(&'a sokudo_model::Series, f64)> {
    let there = machine::with(view.record, host);
    let found = there.into_iter();
    let found = found.filter_map(|host| view.highest_mean(Some(host), metric, labels));
    found.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Cores' worth of CPU time that programs other than sokudo, and than the server that it loads, used on the machine of `host`.
fn others(view: &PhaseView<'_>, host: &str) -> Option<f64> {
    let cores = machine::cores(view.record, host)?;
    let used: f64 = ["user", "nice", "system"]
        .into_iter()
        .filter_map(|state| {
            let labels = [("core", "all"), ("state", state)];
            Some(on_machine(view, host, CPU, &labels)?.1)
        })
        .sum();
    // The server under test does not count as a neighbour, nor do the processes of a database's sessions.
    let server = server::cores_used(view);
    let sessions = on_machine(view, host, postgres::CPU_CORES, &[]).map(|(_, cores)| cores);
    let server = server.unwrap_or(0.0).max(sessions.unwrap_or(0.0));
    let known = own(view, host, own::CPU_RATIO)? + server;
    Some((used * cores - known).max(0.0))
}

/// Sum over all threads of sokudo on the machine of `host`; `None` when they were not observed.
fn own(view: &PhaseView<'_>, host: &str, metric: Metric) -> Option<f64> {
    let there = machine::with(view.record, host);
    let threads = there
        .into_iter()
        .flat_map(|host| view.series(Some(host), metric, &[]));
    let mut means = threads.filter_map(|series| view.mean(series)).peekable();
    means.peek()?;
    Some(means.sum())
}

fn others_evidence(view: &PhaseView<'_>, host: &str, cores: f64) -> Evidence {
    let mut row = view.evidence("evidence-others-cpu", CPU, host, cores);
    row.says = row.says.number("value", cores, Unit::One);
    row.unit = Some(Unit::One);
    row.source = "/proc/stat, schedstat".into();
    row.metric = None;
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn neighbours_are_told_from_the_tests_own_threads() {
        let waiting = |all, own, own_wait| {
            Scene::of("stream")
                .sender([0.5, 0.45, 0.02])
                .receiver([0.3, 0.02, 0.65])
                .machine("hosta", all, own, own_wait)
        };
        let scene = waiting(1.9, 0.8, 0.47);
        let finding = scene.limited_by("neighbour_interference");
        has_metric(&finding, "stream.sender_wait_ratio");
        let mut rows = finding.evidence.iter();
        assert!(rows.any(|row| row.says.key == "evidence-others-cpu"));
        // One conclusion, not two about the same wait.
        scene.without("host_busy");
        // The sessions of a database that is loaded are no neighbours.
        let mut loaded = waiting(1.9, 0.8, 0.47);
        loaded.series("hosta", "postgres.cpu_cores", |_| 1.05);
        loaded.without("neighbour_interference");
        // Nor are the children of the process that holds the server's port.
        let mut loaded = waiting(1.9, 0.8, 0.47);
        for (metric, cores) in [
            ("process.cpu_ratio", 0.0),
            ("process.children_cpu_ratio", 1.05),
        ] {
            add_series(
                &mut loaded.record,
                "hosta",
                metric,
                &[("by", "port=80")],
                0.0,
                cores,
            );
        }
        loaded.without("neighbour_interference");
        // Other programs used next to nothing: the test disturbs itself.
        let crowded = waiting(2.0, 1.9, 0.47);
        crowded.limited_by("host_busy");
        crowded.without("neighbour_interference");
        // Others used a little, but the test lacks far more.
        waiting(2.0, 1.7, 6.0).without("neighbour_interference");
    }

    #[test]
    fn both_ends_that_neighbours_keep_waiting_are_named() {
        let scene = Scene::of("stream")
            .sender([0.5, 0.45, 0.02])
            .receiver([0.3, 0.2, 0.5])
            .machine("hosta", 1.9, 0.8, 0.65);
        let finding = scene.limited_by("neighbour_interference");
        has_metric(&finding, "stream.sender_wait_ratio");
        has_metric(&finding, "stream.receiver_wait_ratio");
    }

    #[test]
    fn stolen_time_is_a_neighbour_too() {
        let mut scene = Scene::of("rr")
            .sender([0.5, 0.2, 0.0])
            .receiver([0.3, 0.1, 0.0]);
        let steal = [("core", "all"), ("state", "steal")];
        add_series(
            &mut scene.record,
            "hosta",
            "host.cpu_ratio",
            &steal,
            0.0,
            0.2,
        );
        let finding = scene.limited_by("neighbour_interference");
        assert_eq!(finding.says.key, "rule-neighbour-steal-says");
    }

    /// Every workload whose threads are counted: a plan's metrics are those of HTTP requests.
    #[test]
    fn neighbours_are_found_whatever_the_workload() {
        for (workload, source, end) in [
            ("bus", "bus", "sender"),
            ("crr", "crr", "client"),
            ("datagram", "datagram", "sender"),
            ("http", "http", "client"),
            ("jmx", "http", "client"),
            ("probe", "probe", "sender"),
            ("rr", "rr", "client"),
            ("stream", "stream", "sender"),
        ] {
            let mut scene = Scene::of(source)
                .metric(&format!("{end}_cpu_ratio"), 0.5)
                .metric(&format!("{end}_wait_ratio"), 0.45)
                .machine("hosta", 1.9, 0.8, 0.47);
            scene.record.manifest.phases[0].workload = workload.into();
            let finding = one(&scene.record, RULE.name);
            has_metric(&finding, &format!("{source}.{end}_wait_ratio"));
            none(&scene.record, "host_busy");
        }
    }
}
