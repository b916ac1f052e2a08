//! A host of the run was lost while the load ran.
//!
//! Its control connection ended and could not be taken up again, so its program ended, or nothing reaches its host
//! any more. The load between the hosts ended with it: what follows does not describe the path.

use sokudo_model::kinds::Family;
use sokudo_model::metrics::group;
use sokudo_model::{Arg, Evidence, Finding, FlowResult, Labels, Problem, Severity, Text, Unit};

use crate::quantities::load_time;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Part of the planned time until which a host that is lost takes a part of the load with it.
const BEFORE: f64 = 0.98;
/// Message of the problem that a host was lost.
const LOST: &str = "engine-host-lost";
/// Its reason when nothing was heard of the host for a while.
const SILENT: &str = "error-link-silent";

/// The finding `far_end_lost`.
pub const RULE: Rule = Rule {
    name: "far_end_lost",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("before", BEFORE, Unit::Ratio)],
    look: Look::Phase(look),
};

/// A host that was lost in a phase.
struct Lost<'a> {
    problem: &'a Problem,
    /// Its first flow.
    flow: &'a FlowResult,
    /// Planned length of the load, seconds; `None` for one that lasts until its work is done.
    planned_s: Option<f64>,
    /// Its length until the host was lost, seconds.
    after_s: f64,
}

/// True when a host of the phase was lost before the planned end.
pub fn is_one(view: &PhaseView<'_>) -> bool {
    first(view).is_some()
}

fn first<'a>(view: &PhaseView<'a>) -> Option<Lost<'a>> {
    let problems = view.record.manifest.problems.iter();
    let mut lost = problems
        .filter(|problem| problem.says.key == LOST)
        .filter_map(|problem| {
            let mut flows = view.flows().iter();
            let flow = flows.find(|flow| [&flow.from, &flow.to].contains(&&problem.host))?;
            // A copy lasts until its files are there, whatever time it took until it broke off.
            let is_planned = !view
                .kind()
                .is_some_and(|kind| matches!(kind.family, Family::Files(_)));
            let planned_s = load_time::planned_s(view).filter(|_| is_planned);
            let within = 0.0..planned_s.map_or(f64::INFINITY, |planned_s| planned_s * BEFORE);
            let told_s = (problem.t_ns - view.phase.t0_ns) as f64 / 1e9;
            let told = Some(told_s).filter(|told| within.contains(told));
            let after_s = told.or_else(|| silent_since(view, problem, within.end))?;
            Some(Lost {
                problem,
                flow,
                planned_s,
                after_s,
            })
        });
    lost.next()
}

/// When a host fell silent whose silence was only told after the load; `None` when the sample that is missing could
/// be one after `end_s`.
fn silent_since(view: &PhaseView<'_>, problem: &Problem, end_s: f64) -> Option<f64> {
    let silent = |why: &Arg| matches!(why, Arg::Text(why) if why.key == SILENT);
    problem.says.args.get("why").filter(|why| silent(why))?;
    let phase = view.phase.t0_ns..=view.phase.t1_ns;
    let own = view.record.series.iter();
    let own = own.filter(|series| series.key.host == problem.host);
    // Some series have a sample only now and then.
    let mut times: Vec<i64> = own
        .flat_map(|series| &series.points)
        .map(|(t_ns, _)| *t_ns)
        .filter(|t_ns| phase.contains(t_ns))
        .collect();
    times.sort_unstable();
    let between = times.windows(2).map(|pair| pair[1] - pair[0]).max()?;
    let last_ns = times.last()? - view.phase.t0_ns;
    let missed_s = (last_ns + 2 * between) as f64 / 1e9;
    (missed_s < end_s).then_some(last_ns as f64 / 1e9)
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let Lost {
        problem,
        flow,
        planned_s,
        after_s,
    } = first(view)?;
    let host = problem.host.as_str();
    let key = match planned_s {
        Some(_) => "rule-far-end-lost-says",
        None => "rule-far-end-lost-unfinished-says",
    };
    let mut says = Text::new(key)
        .word("host", host)
        .number("after", after_s, Unit::Seconds);
    if let Some(planned_s) = planned_s {
        says = says.number("planned", planned_s, Unit::Seconds);
    }
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.98, says);
    let mut says = Text::new("evidence-host-lost").word("why", "");
    // A word in records of before it was a message.
    if let Some(why) = problem.says.args.get("why") {
        says.args.insert("why".into(), why.clone());
    }
    let row = row(host, says, "control connection", after_s);
    finding.evidence.push(row);
    if let Some(last) = group::LAST_THROUGH_SECONDS.of(&flow.metrics) {
        let metric = group::LAST_THROUGH_SECONDS;
        let row = view.evidence("evidence-last-through", metric, host, last);
        finding.evidence.push(row);
    }
    finding.evidence.extend(last_sample(view, host));
    finding.next = Some(Text::new("rule-far-end-lost-next").word("host", host));
    Some(finding)
}

/// The last sample that anything on the host took in the phase.
fn last_sample(view: &PhaseView<'_>, host: &str) -> Option<Evidence> {
    let phase = view.phase.t0_ns..=view.phase.t1_ns;
    let own = view.record.series.iter().filter(|s| s.key.host == host);
    let times = own.flat_map(|series| &series.points).map(|(t_ns, _)| *t_ns);
    let last_ns = times.filter(|t_ns| phase.contains(t_ns)).max()?;
    let last_s = (last_ns - view.phase.t0_ns) as f64 / 1e9;
    let says = Text::new("evidence-last-sample");
    Some(row(host, says, "times of samples", last_s))
}

fn row(host: &str, says: Text, source: &str, seconds: f64) -> Evidence {
    Evidence {
        says: says
            .word("host", host)
            .number("value", seconds, Unit::Seconds),
        source: source.into(),
        host: Some(host.into()),
        metric: None,
        labels: Labels::new(),
        value: Some(seconds),
        unit: Some(Unit::Seconds),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A stream of 10 s whose receiver was lost so many seconds after its start, and gave no numbers.
    fn lost(after_s: f64) -> Scene {
        let mut scene = Scene::of("stream").metric("sent_bytes", 1e8);
        let end_ns = 10 * SECOND + (after_s * 1e9) as i64;
        let flow = scene.flow();
        flow.complete = false;
        let error = "hostb gave no numbers: the other side closed the connection";
        flow.labels.insert("error".into(), error.into());
        for (name, seconds) in [
            ("group.load_seconds", 10.0),
            ("group.last_through_seconds", after_s.min(10.0) - 0.1),
        ] {
            flow.metrics.insert(name.into(), seconds);
        }
        scene.series("hosta", "host.pressure_ratio", |_| 0.0);
        scene.series("hostb", "host.pressure_ratio", |_| 0.0);
        let mut scene = scene.silent("hostb", 10.0 + after_s, 60.0);
        let manifest = &mut scene.record.manifest;
        manifest.status = RunStatus::Partial;
        manifest.phases[0].status = RunStatus::Partial;
        manifest.phases[0].t1_ns = end_ns;
        manifest.problems.push(Problem {
            t_ns: end_ns,
            host: "hostb".into(),
            phase: "p2p".into(),
            says: Text::new("engine-host-lost")
                .word("host", "hostb")
                .text("why", Text::new("waited-never")),
            missing: None,
        });
        scene
    }

    #[test]
    fn a_partial_run_names_the_host_that_was_lost() {
        let scene = lost(1.5);
        let finding = scene.limited_by("far_end_lost");
        let limit = limit(&scene.record).expect("it is known");
        assert_eq!(limit.rule, "far_end_lost");
        let mut rows = finding.evidence.iter();
        let row = rows.find(|row| row.source == "control connection");
        let why = &row.expect("what the connection saw").says.args["why"];
        assert_eq!(*why, Arg::Text(Box::new(Text::new("waited-never"))));
        let said = verdict(&scene.record);
        let said = keys(&said);
        assert_eq!(said[0], "verdict-partial");
        assert!(said.contains(&"rule-far-end-lost-says"), "{said:?}");
    }

    #[test]
    fn a_copy_that_loses_its_host_was_not_done() {
        let mut scene = lost(1.5);
        scene.record.manifest.phases[0].workload = "replicate".into();
        let finding = one(&scene.record, "far_end_lost");
        assert_eq!(finding.says.key, "rule-far-end-lost-unfinished-says");
    }

    /// Silence is only told when it has lasted for a while, by then often after the load.
    #[test]
    fn a_host_fell_silent_when_its_samples_ended() {
        let silent = |from: f64| {
            let mut scene = lost(26.0).silent("hostb", from, 60.0);
            let why = Text::new("error-link-silent").word("seconds", "15");
            let problem = &mut scene.record.manifest.problems[0];
            problem.says = Text::new("engine-host-lost").text("why", why);
            scene
        };
        let found = findings(&silent(11.5).record);
        let finding = found.iter().find(|one| one.rule == "far_end_lost");
        let finding = finding.expect("the lost host");
        let Arg::Number(after, _) = &finding.says.args["after"] else {
            panic!("{:?}", finding.says);
        };
        assert!((1.4..=1.5).contains(after), "{after}");
        // Its last sample could have been the last one of the load.
        silent(19.75).without("far_end_lost");
        // Another reason has a time of its own.
        lost(26.0)
            .silent("hostb", 11.5, 60.0)
            .without("far_end_lost");
    }

    #[test]
    fn a_host_that_is_lost_at_the_end_took_nothing_with_it() {
        lost(9.9).without("far_end_lost");
        lost(12.0).without("far_end_lost");
    }

    #[test]
    fn hosts_of_other_phases_and_other_problems_are_none() {
        let mut before = lost(1.5);
        before.record.manifest.problems[0].t_ns = 5 * SECOND;
        before.without("far_end_lost");
        let mut elsewhere = lost(1.5);
        elsewhere.record.manifest.problems[0].host = "hostc".into();
        elsewhere.without("far_end_lost");
        let mut other = lost(1.5);
        other.record.manifest.problems[0].says.key = "engine-no-result".into();
        other.without("far_end_lost");
    }

    #[test]
    fn a_stall_before_the_host_was_lost_is_what_the_connection_saw_of_it() {
        let mut scene = lost(3.0);
        scene.series("hosta", "tcp.sent_segments", |s| 100.0 * s.min(11.0));
        scene.series("hosta", "tcp.retransmitted_segments", |_| 0.0);
        scene.series("hosta", "tcp.send_queue_bytes", |s| {
            if s < 11.0 { 0.0 } else { 5e4 }
        });
        let finding = scene.limited_by("far_end_lost");
        has_metric(&finding, "tcp.retransmitted_segments");
        scene.without("stalled_flow");
    }
}
