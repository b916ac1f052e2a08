//! The processes that hold the server's port had no CPU time left.
//!
//! ```text
//! one thread uses a core        single-threaded, or one thread does what others wait for
//! all cores it may use          its affinity, the set of cores of its container
//! all cores of the machine      the work itself; beside it the generator, where both share the machine
//! throttled by its cgroup       a quota, however idle the machine is
//! ```

use std::collections::BTreeSet;

use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, own, process};
use sokudo_model::{Evidence, Finding, Series, Severity, Text, Unit};

use crate::quantities::quota;
use crate::quantities::requests::{ONE, Requests};
use crate::quantities::server::of_port;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;
use crate::view::machine;

/// Share of a core from which a thread has no time left.
const WHOLE_CORE: f64 = 0.85;
/// Cores of all threads together that amount to one.
const ONE_CORE: (f64, f64) = (0.8, 1.2);
/// Cores that they must have used of it.
const LEAST: f64 = 0.5;
/// Share of the cores that a process may use from which none is left for it.
const BOUND: f64 = 0.9;
/// The same where its threads are ready for more: the kernel's work for its packets runs on the same cores, and is
/// not counted as its own.
const BOUND_WAITING: (f64, f64) = (0.6, 1.2);
/// Share of a machine's cores from which none is left.
pub(super) const FULL: f64 = 0.9;
/// Share of the cores that the server must have used itself.
pub(super) const MOST: f64 = 0.35;
/// Share of the time throttled from which the quota shapes the rate.
pub(super) const THROTTLED: f64 = 0.1;
/// Share of a request from which TLS handshakes, or connecting anew, are told as the work.
const MUCH: f64 = 0.3;

/// Statement for each case, and the next step.
const SAYS_QUOTA: (&str, &str) = ("rule-server-cpu-quota-says", "rule-server-cpu-quota-next");
const SAYS_THREAD: (&str, &str) = ("rule-server-cpu-thread-says", "rule-server-cpu-thread-next");
const SAYS_CORES: (&str, &str) = ("rule-server-cpu-cores-says", "rule-server-cpu-cores-next");
const SAYS_SINGLE: (&str, &str) = ("rule-server-cpu-single-says", "rule-server-cpu-single-next");
const SAYS_MACHINE: (&str, &str) = (
    "rule-server-cpu-machine-says",
    "rule-server-cpu-machine-next",
);

/// The finding `server_cpu_limited`.
pub const RULE: Rule = Rule {
    name: "server_cpu_limited",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("core", WHOLE_CORE, Unit::Ratio),
        ("bound", BOUND, Unit::Ratio),
        ("full", FULL, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
        ("throttled", THROTTLED, Unit::Ratio),
        ("stopped", quota::STOPPED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    let cpu = requests.server_cpu()?;
    // Of a rate that was kept, the server had time for all.
    let kept = |asked: f64| {
        requests
            .exchange
            .rate()
            .is_some_and(|rate| rate >= asked * 0.98)
    };
    if requests.exchange.asked().is_some_and(kept) {
        return None;
    }
    let throttled = of_server(view, process::THROTTLED_RATIO, THROTTLED);
    let thread = of_server(view, process::BUSIEST_THREAD_RATIO, WHOLE_CORE);
    let bound = bound_to(view, &requests);
    let machine = full_machine(view, requests.host(), cpu);
    let ((says, next), weight) = match (&throttled, &machine, &thread) {
        (Some((_, share)), _, _) => (SAYS_QUOTA, 0.6 + 0.35 * share.min(1.0)),
        (None, _, Some((_, share))) => (SAYS_THREAD, 0.85 * share.min(1.0)),
        (None, _, None) if bound.is_some() => (SAYS_CORES, 0.85),
        (None, _, None) if is_one_core(&requests, cpu) => (SAYS_SINGLE, 0.85),
        (None, Some(_), None) => (SAYS_MACHINE, 0.8),
        (None, None, None) => return None,
    };
    let value = |found: &Option<(&Series, f64)>| found.map_or(f64::NAN, |(_, share)| share);
    let says = Text::new(says)
        .word("host", requests.host())
        .number("cores", cpu, Unit::One)
        .number("under", requests.under_way(), Unit::One)
        .number("throttled", value(&throttled), Unit::Ratio)
        .number("thread", value(&thread), Unit::Ratio)
        .number("allowed", value(&bound), Unit::One)
        .text("work", work(&requests));
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(requests.server_cpu_row());
    for (key, found, metric) in [
        (
            "evidence-process-throttled",
            throttled,
            process::THROTTLED_RATIO,
        ),
        (
            "evidence-process-thread",
            thread,
            process::BUSIEST_THREAD_RATIO,
        ),
        ("evidence-process-cores", bound, process::CORES),
    ] {
        evidence.extend(found.map(|(series, share)| {
            let mut row = view.evidence(key, metric, &series.key.host, share);
            row.labels = series.key.labels.clone();
            row
        }));
    }
    evidence.extend(machine);
    evidence.extend(
        requests
            .longest_stage()
            .map(|stage| requests.stage_row(&stage)),
    );
    evidence.extend(requests.own_cpu_row());
    finding.next = Some(Text::new(next).word("host", requests.host()));
    Some(finding)
}

/// The process of the server's port that may use fewer cores than its machine has, and uses all of them: the series
/// of that number, and the number.
fn bound_to<'a>(view: &PhaseView<'a>, requests: &Requests<'a>) -> Option<(&'a Series, f64)> {
    let machine = cores(view, requests.host())?;
    let mean = |metric: Metric, process: &Series| -> f64 {
        let of = |one: &Series| (one.key.host.clone(), one.key.labels.get("pid").cloned());
        let all = of_port(view, metric).into_iter();
        let own = all.filter(|(series, _)| of(series) == of(process));
        own.map(|(_, mean)| mean).sum()
    };
    let processes = of_port(view, process::CORES).into_iter();
    let mut bound = processes.filter(|(_, allowed)| (1.0..machine).contains(allowed));
    bound.find(|(process, allowed)| {
        let used = mean(process::CPU_RATIO, process) / allowed;
        let wanted = used + mean(process::WAIT_RATIO, process) / allowed;
        used >= BOUND || (used >= BOUND_WAITING.0 && wanted >= BOUND_WAITING.1)
    })
}

/// Cores of the machine of `host`: those that are observed, for the programs there may be kept on some of them.
fn cores(view: &PhaseView<'_>, host: &str) -> Option<f64> {
    let each = view.series(Some(host), host::CPU_RATIO, &[("state", "idle")]);
    let each = each.filter_map(|series| series.key.labels.get("core"));
    let observed: BTreeSet<&String> = each.filter(|core| *core != "all").collect();
    match observed.len() {
        0 => machine::cores(view.record, host),
        n => Some(n as f64),
    }
}

/// Threads that together use one core and no more, while requests wait for one another.
fn is_one_core(requests: &Requests<'_>, cpu: f64) -> bool {
    // Where the machine is short of CPU, they want more than they get.
    let wanted = requests.server_wanted().unwrap_or(cpu);
    let is_one = cpu < ONE_CORE.1 && cpu >= LEAST && wanted >= ONE_CORE.0;
    is_one && requests.wait_for_one_another() && requests.worked_on() < Some(ONE)
}

/// Use of the server's time, as far as the requests show it.
fn work(requests: &Requests<'_>) -> Text {
    let share = |name| requests.stage(name).map_or(0.0, |stage| stage.share);
    let key = match (share("tls"), share("connect")) {
        (tls, _) if tls >= MUCH => "server-work-tls",
        (_, connect) if connect >= MUCH => "server-work-connections",
        _ => "server-work-requests",
    };
    Text::new(key).number("share", share("tls").max(share("connect")), Unit::Ratio)
}

/// The process of the server's port with the highest mean of a gauge, when it reaches `least`.
pub(super) fn of_server<'a>(
    view: &PhaseView<'a>,
    metric: Metric,
    least: f64,
) -> Option<(&'a Series, f64)> {
    let means = of_port(view, metric).into_iter();
    let most = means.max_by(|a, b| a.1.total_cmp(&b.1));
    most.filter(|(_, mean)| *mean >= least)
}

/// No core of the server's machine was idle, and the server used most of what others than the generator did.
pub(super) fn full_machine(view: &PhaseView<'_>, host: &str, cpu: f64) -> Option<Evidence> {
    let cores = machine::cores(view.record, host)?;
    let idle = ["idle", "iowait"].into_iter().filter_map(|state| {
        let labels = [("core", "all"), ("state", state)];
        Some(view.highest_mean(Some(host), host::CPU_RATIO, &labels)?.1)
    });
    let used = 1.0 - idle.sum::<f64>();
    if quota::stops_sokudo(view) {
        return None;
    }
    let threads = view.series(Some(host), own::CPU_RATIO, &[]);
    let own: f64 = threads.filter_map(|series| view.mean(series)).sum();
    let others = (used * cores - own - cpu).max(0.0);
    (used >= FULL && cpu >= cores * MOST && cpu > others).then(|| {
        let mut row = view.evidence("evidence-machine-full", host::CPU_RATIO, host, used);
        row.says = row
            .says
            .number("cores", cores, Unit::One)
            .number("server", cpu, Unit::One)
            .number("own", own, Unit::One);
        row.source = "/proc/stat, schedstat".into();
        row
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    use crate::tests::*;

    /// A server of the port with this use of CPU, on a machine of two cores that nobody else uses.
    fn server(cpu: f64, gauges: &[(&str, f64)]) -> Record {
        let waiting = [0.0, 0.0, 0.0, 0.0, 0.16, 0.0];
        let mut record = of_stages(waiting, &[("shortest_wait_seconds", 0.01)]);
        record
            .environments
            .insert("hosta".into(), of_two_cores("hosta"));
        let by = [("by", "port=80"), ("pid", "7")];
        let idle = [("core", "all"), ("state", "idle")];
        add_series(
            &mut record,
            "hosta",
            "host.cpu_ratio",
            &idle,
            0.0,
            1.0 - cpu / 2.0,
        );
        add_series(&mut record, "hosta", "process.cpu_ratio", &by, 0.0, cpu);
        for (metric, value) in gauges {
            add_series(&mut record, "hosta", metric, &by, 0.0, *value);
        }
        record
    }

    #[test]
    fn what_keeps_the_server_from_running_is_told() {
        for (record, key) in [
            (
                server(1.0, &[("process.busiest_thread_ratio", 0.97)]),
                "thread",
            ),
            (
                server(0.95, &[("process.busiest_thread_ratio", 0.3)]),
                "single",
            ),
            (
                server(1.95, &[("process.busiest_thread_ratio", 0.5)]),
                "machine",
            ),
            // Bound to one core of two; the kernel's work for it takes a part of that.
            (server(0.97, &[("process.cores", 1.0)]), "cores"),
            (
                server(0.7, &[("process.cores", 1.0), ("process.wait_ratio", 3.0)]),
                "cores",
            ),
            (server(0.3, &[("process.throttled_ratio", 0.6)]), "quota"),
        ] {
            check(
                &record,
                "server_cpu_limited",
                &format!("rule-server-cpu-{key}-says"),
            );
        }
        // Free to use both cores, or with time left on its own.
        for free in [
            server(0.7, &[("process.cores", 2.0), ("process.wait_ratio", 3.0)]),
            server(0.7, &[("process.cores", 1.0), ("process.wait_ratio", 0.1)]),
        ] {
            let found = findings(&free);
            let of_cores = |one: &Finding| one.says.key == "rule-server-cpu-cores-says";
            assert!(!found.iter().any(of_cores), "{found:?}");
        }
        // The same full machine, where a quota stopped the asker.
        let mut stopped = server(1.95, &[("process.busiest_thread_ratio", 0.5)]);
        add_series(
            &mut stopped,
            "hosta",
            "self.throttled_ratio",
            &[],
            0.0,
            0.65,
        );
        assert!(is_quiet(&stopped, "server_cpu_limited"));
        let idle = server(0.05, &[("process.busiest_thread_ratio", 0.05)]);
        assert!(is_quiet(&idle, "server_cpu_limited"));
        check(
            &idle,
            "request_stage",
            "rule-request-stage-serial-idle-says",
        );
    }
}
