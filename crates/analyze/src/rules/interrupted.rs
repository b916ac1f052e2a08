//! Nothing got through for a while in the middle of a load.
//!
//! A mean over such a hole describes neither the time before it nor the hole. What is told is when it was, and
//! what else stood still then: the interface of a host, a host's program, or only the way between them.

use std::collections::BTreeMap;

use sokudo_model::kinds::{Family, datagram, http};
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{group, host, own};
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use super::database_lost;
use crate::quantities::{load_time, silence};
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Part of the usual rate up to which nothing gets through.
const QUIET: f64 = 0.02;
/// Things that usually get through in one interval, from which none is a hole.
const USUAL: f64 = 5.0;
/// Intervals that carried something, from which the usual rate is known.
const ENOUGH: usize = 3;
/// Share of the load from which a hole shapes the result.
const SHARE: f64 = 0.05;
/// The same where only the asking end is observed.
const UNOBSERVED_SHARE: f64 = 0.1;
/// Message about a hole whose far end nothing observes.
const UNOBSERVED: &str = "rule-interrupted-unobserved-says";
/// Holes beyond which they are the far end's rhythm, and no interruption.
const FEW: usize = 2;
/// Distance of two readings, in usual ones, from which those between are missing.
const MISSING: f64 = 1.9;
/// Part of the hole for which a thread of the test waits for a CPU, from which that is the reason.
const NO_CPU: f64 = 0.5;
/// Time until a dropped call is made again for the first time, and some for the clocks, seconds.
const RECALL_S: f64 = 1.2;
/// Calls made again apart from a hole from which they explain it.
const DROPPED: f64 = 3.0;
/// Part of the hole in which a host was silent, from which the host stood still.
const MOST: f64 = 0.6;

/// The finding `interrupted`.
pub const RULE: Rule = Rule {
    name: "interrupted",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("quiet", QUIET, Unit::Ratio),
        ("usual", USUAL, Unit::One),
        ("share", SHARE, Unit::Ratio),
        ("unobserved", UNOBSERVED_SHARE, Unit::Ratio),
        ("starved", NO_CPU, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

/// A time in which nothing got through, nanoseconds of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hole {
    begin_ns: i64,
    end_ns: i64,
}

impl Hole {
    fn seconds(self) -> f64 {
        (self.end_ns - self.begin_ns) as f64 / 1e9
    }
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    // A database that went away tells it by itself.
    if view.is_trial() || database_lost::is_one(view) {
        return None;
    }
    of_all_flows(view).or_else(|| of_one_interface(view))
}

/// A hole of the datagrams to or from one of several hosts, whose interface was down: the others went on meanwhile.
fn of_one_interface(view: &PhaseView<'_>) -> Option<Finding> {
    let longest = |flow: &FlowResult| datagram::GAP_MAX_SECONDS.of(&flow.metrics).unwrap_or(0.0);
    let mut down = view.hosts().into_iter().filter_map(|host| {
        let (device, hole) = went_down(view, host)?;
        let flows = view.flows().iter();
        let own = flows.filter(|flow| flow.from == host || flow.to == host);
        let flow = own.max_by(|a, b| longest(a).total_cmp(&longest(b)))?;
        (longest(flow) >= length_s(view) * SHARE).then_some((host, device, hole, flow))
    });
    let (host, device, hole, flow) = down.next()?;
    let since = |t_ns: i64| (t_ns - view.phase.t0_ns) as f64 / 1e9;
    let says = Text::new("rule-interrupted-interface-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .word("host", host)
        .word("device", device)
        .number("begin", since(hole.begin_ns), Unit::Seconds)
        .number("end", since(hole.end_ns), Unit::Seconds);
    let weight = 0.9 + 0.05 * longest(flow) / length_s(view);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let gap = datagram::GAP_MAX_SECONDS;
    let rows = &mut finding.evidence;
    rows.push(view.evidence("evidence-hole", gap, &flow.to, longest(flow)));
    rows.push(interface_row(view, host, device));
    let next = Text::new("rule-interrupted-interface-next").word("host", host);
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

/// The device of a host that readings saw up and then down within the phase, and when it was down.
fn went_down<'a>(view: &PhaseView<'a>, host: &str) -> Option<(&'a str, Hole)> {
    view.series(Some(host), host::NIC_UP, &[])
        .find_map(|series| {
            let device = series.key.labels.get("device")?;
            let inside = |(t, _): &&(i64, f64)| (view.phase.t0_ns..=view.phase.t1_ns).contains(t);
            let mut points = series.points.iter().filter(inside);
            points.find(|(_, up)| *up > 0.5)?;
            let begin_ns = points.find(|(_, up)| *up < 0.5)?.0;
            let back = points.find(|(_, up)| *up > 0.5);
            let end_ns = back.map_or(view.phase.t1_ns, |(t, _)| *t);
            Some((device.as_str(), Hole { begin_ns, end_ns }))
        })
}

fn interface_row(view: &PhaseView<'_>, host: &str, device: &str) -> Evidence {
    let mut row = view.evidence("evidence-interface-down", host::NIC_UP, host, 0.0);
    row.says = row.says.word("device", device);
    row
}

/// A hole that all flows have in common.
fn of_all_flows(view: &PhaseView<'_>) -> Option<Finding> {
    let holes = holes(view)?;
    let longest = holes
        .iter()
        .copied()
        .max_by(|a, b| a.seconds().total_cmp(&b.seconds()))?;
    let share = longest.seconds() / length_s(view);
    // A server that pauses again and again has a rhythm, of which the intervals may show two holes only.
    let pauses = view.total(http::STALLS).unwrap_or(0.0);
    if share < SHARE || holes.len().max(pauses as usize) > FEW {
        return None;
    }
    let flow = view.flows().first()?;
    let reason = reason(view, longest);
    // A copy of files pauses by itself, for a disk or at the end of a batch: a hole is one where something stood still.
    if reason.host.is_none() && is_of_files(view) {
        return None;
    }
    // Nothing gets through while every connection waits to call again, which takes a second.
    if reason.device.is_none() && calls_are_dropped_besides(view, &flow.from, longest) {
        return None;
    }
    // Threads that were ready and had no CPU were not interrupted: other programs took their time.
    if reason.device.is_none() && had_no_cpu(view, longest) {
        return None;
    }
    // A server that nothing observes may have been slow: that is not an interruption.
    if reason.says == UNOBSERVED && share < UNOBSERVED_SHARE {
        return None;
    }
    let since = |t_ns: i64| (t_ns - view.phase.t0_ns) as f64 / 1e9;
    let says = Text::new(reason.says)
        .word("from", &flow.from)
        .word("to", &flow.to)
        .word("host", reason.host.unwrap_or(&flow.to))
        .word("device", reason.device.unwrap_or_default())
        .number("begin", since(longest.begin_ns), Unit::Seconds)
        .number("end", since(longest.end_ns), Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.9 + 0.05 * share, says);
    finding.evidence.push(quiet(view, longest, &flow.to)?);
    finding.evidence.extend(reason.evidence);
    finding.evidence.extend(traffic(view, longest));
    let next = Text::new(reason.next).word("host", reason.host.unwrap_or(&flow.to));
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

fn is_of_files(view: &PhaseView<'_>) -> bool {
    view.kind()
        .is_some_and(|kind| matches!(kind.family, Family::Files(_)))
}

/// True where calls of the asking host were dropped apart from a hole, too. Those that an interruption drops are made
/// again within it, and once more: the distance doubles, so that this is within its length and a second after it.
fn calls_are_dropped_besides(view: &PhaseView<'_>, host: &str, hole: Hole) -> bool {
    let after_ns = hole.end_ns + ((hole.seconds() + RECALL_S) * 1e9) as i64;
    let made = view.series(Some(host), host::TCP_SYN_RETRANSMITS, &[]);
    let besides = made.map(|series| {
        let inside = |(t_ns, _): &&(i64, f64)| (view.phase.t0_ns..=view.phase.t1_ns).contains(t_ns);
        let points = || series.points.iter().filter(inside);
        let grown = |from_ns: i64, to_ns: i64| {
            let mut part = points().filter(|(t_ns, _)| (from_ns..=to_ns).contains(t_ns));
            let first = part.next().map_or(0.0, |(_, calls)| *calls);
            part.next_back().map_or(0.0, |(_, calls)| calls - first)
        };
        grown(i64::MIN, hole.begin_ns) + grown(after_ns, i64::MAX)
    });
    besides.sum::<f64>() >= DROPPED
}

/// True where a thread of the test was ready and had no CPU for most of a hole.
fn had_no_cpu(view: &PhaseView<'_>, hole: Hole) -> bool {
    let hosts = view.hosts().into_iter();
    let mut waits = hosts.flat_map(|host| view.series(Some(host), own::WAIT_RATIO, &[]));
    waits.any(|series| {
        let readings = series.points.windows(2).map(|pair| {
            // A reading is about the time since the one before.
            let ((before, _), (t_ns, share)) = (pair[0], pair[1]);
            let inside_ns = t_ns.min(hole.end_ns) - before.max(hole.begin_ns);
            inside_ns.max(0) as f64 / 1e9 * share.clamp(0.0, 1.0)
        });
        readings.sum::<f64>() >= hole.seconds() * NO_CPU
    })
}

/// Length of the load, seconds.
fn length_s(view: &PhaseView<'_>) -> f64 {
    ((load_time::end_ns(view) - view.phase.t0_ns) as f64 / 1e9).max(1e-9)
}

/// The holes that all flows have in common; `None` where no series tells.
fn holes(view: &PhaseView<'_>) -> Option<Vec<Hole>> {
    let kind = view.kind()?;
    let metric = kind.charts.arrived.or(kind.charts.per_second)?;
    // Of files bytes get through; what a copy counts is whole rounds.
    let done = match kind.family {
        Family::Files(files) => files.wire_bytes,
        _ => kind.done,
    };
    let per_s = view.total(done)? / length_s(view);
    let sums = sums(view, metric);
    let times: Vec<i64> = sums.keys().copied().collect();
    let usual_ns = usual_distance(&times)?;
    if per_s * usual_ns as f64 / 1e9 < USUAL {
        return None;
    }
    let mut carried: Vec<f64> = sums
        .values()
        .copied()
        .filter(|value| *value > 0.0)
        .collect();
    carried.sort_by(f64::total_cmp);
    let middle = *carried.get(carried.len() / 2)?;
    if carried.len() < ENOUGH {
        return None;
    }
    let mut holes: Vec<Hole> = Vec::new();
    let mut add = |begin_ns: i64, end_ns: i64| match holes.last_mut() {
        Some(last) if begin_ns <= last.end_ns => last.end_ns = end_ns,
        _ => holes.push(Hole { begin_ns, end_ns }),
    };
    let mut before = *times.first()?;
    for (t_ns, value) in sums.into_iter().skip(1) {
        let missing = (t_ns - before) as f64 > usual_ns as f64 * MISSING;
        match (value <= middle * QUIET, missing) {
            (true, _) => add(before, t_ns),
            // One late reading stands for the whole time: only its last part carried something.
            (false, true) => add(before, t_ns - usual_ns),
            (false, false) => {}
        }
        before = t_ns;
    }
    if (view.phase.t1_ns - before) as f64 > usual_ns as f64 * MISSING {
        add(before, view.phase.t1_ns);
    }
    // What follows the load is not a part of it: at its end only what is missing of the load is a hole.
    let ends = holes.last().is_some_and(|last| last.end_ns >= before);
    if ends && !stops_early(view, usual_ns) {
        holes.pop();
    }
    // No reading is made of what had queued up and arrives after the planned end.
    let end_ns = load_time::planned_end_ns(view);
    let of_load = holes.into_iter().map(|hole| Hole {
        end_ns: hole.end_ns.min(end_ns),
        ..hole
    });
    Some(of_load.filter(|hole| hole.begin_ns < hole.end_ns).collect())
}

/// True when nothing got through on any flow in the last intervals of the load.
fn stops_early(view: &PhaseView<'_>, usual_ns: i64) -> bool {
    let silent = view.flows().iter().map(|flow| {
        let load_s = group::LOAD_SECONDS.of(&flow.metrics)?;
        Some(load_s - group::LAST_THROUGH_SECONDS.of(&flow.metrics)?)
    });
    let least = silent
        .map(|silent| silent.unwrap_or(0.0))
        .min_by(f64::total_cmp);
    least.is_some_and(|least| least * 1e9 >= usual_ns as f64 * MISSING)
}

/// Volume of all flows together per interval. Readings of several flows in one interval are one.
fn sums(view: &PhaseView<'_>, metric: Metric) -> BTreeMap<i64, f64> {
    let all: Vec<Vec<(i64, f64)>> = view
        .series(None, metric, &[])
        .map(|series| {
            let inside = |(t, v): &&(i64, f64)| {
                view.phase.t0_ns < *t && *t <= view.phase.t1_ns && v.is_finite()
            };
            series.points.iter().filter(inside).copied().collect()
        })
        .filter(|points: &Vec<(i64, f64)>| points.len() > ENOUGH)
        .collect();
    // The flow with the most readings gives the times; of the others the latest reading counts.
    let Some(leading) = all.iter().max_by_key(|points| points.len()) else {
        return BTreeMap::new();
    };
    let at = |points: &[(i64, f64)], from: i64, to: i64| {
        let inside = points.iter().filter(|(t, _)| from < *t && *t <= to);
        inside.map(|(_, value)| *value).fold(0.0, f64::max)
    };
    let mut before = i64::MIN;
    let mut sums = BTreeMap::new();
    for (t_ns, _) in leading {
        let sum = all.iter().map(|points| at(points, before, *t_ns)).sum();
        sums.insert(*t_ns, sum);
        before = *t_ns;
    }
    sums
}

/// Median of the times between two readings.
fn usual_distance(times: &[i64]) -> Option<i64> {
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().filter(|gap| *gap > 0)
}

/// Reason of an interruption, as far as it is known.
struct Reason<'a> {
    says: &'static str,
    next: &'static str,
    host: Option<&'a str>,
    device: Option<&'a str>,
    evidence: Option<Evidence>,
}

fn reason<'a>(view: &PhaseView<'a>, hole: Hole) -> Reason<'a> {
    let down = view.hosts().into_iter().find_map(|host| {
        let mut states = view.series(Some(host), host::NIC_UP, &[]);
        states.find_map(|series| {
            let values = within(&series.points, hole);
            let was_down = values.iter().any(|value| *value < 0.5);
            // A device that is never up carries nothing, with or without a hole.
            let mut before = series.points.iter().filter(|(t, _)| *t <= hole.begin_ns);
            let was_up = before.any(|(_, value)| *value > 0.5);
            let device = series.key.labels.get("device")?;
            (was_up && was_down).then_some((host, device.as_str()))
        })
    });
    if let Some((host, device)) = down {
        return Reason {
            says: "rule-interrupted-interface-says",
            next: "rule-interrupted-interface-next",
            host: Some(host),
            device: Some(device),
            evidence: Some(interface_row(view, host, device)),
        };
    }
    let silent = view.hosts().into_iter().filter_map(|host| {
        let seconds = silence::longest_within(view, host, hole.begin_ns, hole.end_ns)?;
        (seconds >= hole.seconds() * MOST).then_some((host, seconds))
    });
    if let Some((host, seconds)) = silent.max_by(|a, b| a.1.total_cmp(&b.1)) {
        return Reason {
            says: "rule-interrupted-program-says",
            next: "rule-interrupted-program-next",
            host: Some(host),
            device: None,
            evidence: Some(silence::evidence(host, seconds)),
        };
    }
    if view.kind().is_some_and(|kind| kind.ends.far.is_none()) {
        return Reason {
            says: UNOBSERVED,
            next: "rule-interrupted-unobserved-next",
            host: None,
            device: None,
            evidence: None,
        };
    }
    Reason {
        says: "rule-interrupted-says",
        next: "rule-interrupted-next",
        host: None,
        device: None,
        evidence: None,
    }
}

/// Packets per second that the interfaces of each host saw in the hole.
fn traffic(view: &PhaseView<'_>, hole: Hole) -> Vec<Evidence> {
    let rows = [
        ("evidence-hole-sent", host::NIC_SEND_PACKETS_PER_SECOND),
        (
            "evidence-hole-received",
            host::NIC_RECEIVE_PACKETS_PER_SECOND,
        ),
    ];
    let hosts = view.hosts().into_iter();
    let each = hosts.flat_map(|host| rows.map(|(key, metric)| (host, key, metric)));
    let known = each.filter_map(|(host, key, metric)| {
        let series = view.series(Some(host), metric, &[]);
        let most = series.flat_map(|series| within(&series.points, hole));
        let least = most.min_by(f64::total_cmp)?;
        Some(view.evidence(key, metric, host, least))
    });
    known.collect()
}

fn within(points: &[(i64, f64)], hole: Hole) -> Vec<f64> {
    let inside = points
        .iter()
        .filter(|(t, _)| hole.begin_ns < *t && *t <= hole.end_ns);
    inside.map(|(_, value)| *value).collect()
}

fn quiet(view: &PhaseView<'_>, hole: Hole, host: &str) -> Option<Evidence> {
    let done = view.kind()?.done;
    let mut row = view.evidence("evidence-hole", done, host, hole.seconds());
    row.says = row.says.number("value", hole.seconds(), Unit::Seconds);
    row.unit = Some(Unit::Seconds);
    row.metric = None;
    Some(row)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// Streams that carry 100 Mb/s but for the time between these moments, seconds of the run.
    fn quiet(from: f64, to: f64) -> Scene {
        let mut scene = between()
            .metric("received_bytes", 1e8)
            .metric("goodput_bits_per_second", 8.5e7);
        scene.series("hostb", "stream.goodput_bits_per_second", |s| {
            if s > from && s <= to { 0.0 } else { 1e8 }
        });
        for host in ["hosta", "hostb"] {
            let rate = "host.nic_receive_packets_per_second";
            scene.series(host, rate, |s| if s > from && s <= to { 0.0 } else { 1e4 });
        }
        scene
    }

    #[test]
    fn a_hole_is_told_by_when_it_was() {
        let finding = of_rule(&quiet(12.0, 13.5).record, "interrupted").remove(0);
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-interrupted-says");
        let second = |name: &str| match finding.says.args[name] {
            Arg::Number(value, _) => value,
            ref other => panic!("{other:?}"),
        };
        assert!((second("begin") - 2.0).abs() < 0.11, "{finding:?}");
        assert!((second("end") - 3.5).abs() < 0.11, "{finding:?}");
        let limit = limit(&quiet(12.0, 13.5).record).expect("it is known");
        assert_eq!(limit.rule, "interrupted");
    }

    #[test]
    fn one_of_several_hosts_is_cut_off() {
        let cut = |down: bool| {
            let mut scene = losing(200.0, &[("lost_on_path_packets", 200.0)]);
            scene.push(("gap_max_seconds", 1.5));
            let mut record = with_flow(&scene);
            let labels = [("device", "eth0")];
            add_series(&mut record, "hostb", "host.nic_up", &labels, 1.0, 1.0);
            let points = &mut record.series.last_mut().expect("it was added").points;
            for (t_ns, up) in points {
                let is_within = (12_000_000_000..13_500_000_000).contains(t_ns);
                *up = if down && is_within { 0.0 } else { 1.0 };
            }
            record
        };
        let record = cut(true);
        let finding = one(&record, "interrupted");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-interrupted-interface-says");
        none(&cut(false), "interrupted");
    }

    #[test]
    fn a_copy_of_files_is_interrupted_where_an_end_stood_still() {
        let copy = || {
            let mut scene = Scene::of("replicate")
                .total("wire_bytes", 1e9)
                .total("rounds", 1.0);
            scene.series("hostb", "replicate.wire_bits_per_second", |s| {
                if s > 12.0 && s <= 13.5 { 0.0 } else { 1e9 }
            });
            scene.series("hostb", "tcp.receive_queue_bytes", |_| 1.0);
            scene
        };
        let stopped = copy().silent("hostb", 12.0, 13.5);
        let finding = of_rule(&stopped.record, "interrupted").remove(0);
        assert_eq!(finding.says.key, "rule-interrupted-program-says");
        // It may have waited for a disk.
        copy().without("interrupted");
    }

    #[test]
    fn a_hole_in_which_threads_had_no_cpu_is_their_neighbours() {
        let waiting = |share: f64| {
            let mut scene = quiet(12.0, 13.5);
            scene.series("hosta", "self.wait_ratio", move |s| {
                if s > 12.0 && s <= 13.5 { share } else { 0.0 }
            });
            scene
        };
        waiting(0.9).without("interrupted");
        let finding = of_rule(&waiting(0.1).record, "interrupted").remove(0);
        assert_eq!(finding.says.key, "rule-interrupted-says");
    }

    #[test]
    fn a_hole_beside_calls_that_are_dropped_all_the_time_is_the_wait_to_call_again() {
        let calling = |made: fn(f64) -> f64| {
            let mut scene = quiet(14.0, 15.2);
            scene.series("hosta", "host.tcp_syn_retransmits", made);
            scene
        };
        calling(|s| s.floor() * 4.0).without("interrupted");
        calling(|s| s.floor().min(14.0)).without("interrupted");
        // Those of the hole alone, and the last of them after it, are what it caused.
        let caused = calling(|s| 4.0 * (s - 14.0).clamp(0.0, 2.0).floor());
        assert!(!of_rule(&caused.record, "interrupted").is_empty());
    }

    #[test]
    fn what_stood_still_meanwhile_is_named() {
        let mut scene = quiet(12.0, 13.5);
        let up = "host.nic_up";
        scene.series(
            "hostb",
            up,
            |s| if s > 12.0 && s < 13.5 { 0.0 } else { 1.0 },
        );
        let device = &mut scene
            .record
            .series
            .last_mut()
            .expect("it was added")
            .key
            .labels;
        device.insert("device".into(), "eth0".into());
        let finding = of_rule(&scene.record, "interrupted").remove(0);
        assert_eq!(finding.says.key, "rule-interrupted-interface-says");
        let mut scene = quiet(12.0, 13.5);
        scene.series("hostb", up, |_| 0.0);
        let unused = scene.record.series.last_mut().expect("it was added");
        unused.key.labels.insert("device".into(), "ifb0".into());
        let finding = of_rule(&scene.record, "interrupted").remove(0);
        assert_eq!(finding.says.key, "rule-interrupted-says");
        let scene = quiet(12.0, 13.5).silent("hostb", 12.0, 13.4);
        let finding = of_rule(&scene.record, "interrupted").remove(0);
        assert_eq!(finding.says.key, "rule-interrupted-program-says");
        assert_eq!(finding.says.args["host"], Arg::Word("hostb".into()));
    }

    #[test]
    fn a_hole_ends_with_the_load() {
        // The load takes 4 s of the 10 s of the phase; nothing got through from 3 s on.
        let mut scene = quiet(13.0, 60.0);
        for (name, seconds) in [("load_seconds", 4.0), ("last_through_seconds", 3.0)] {
            let metrics = &mut scene.flow().metrics;
            metrics.insert(format!("group.{name}"), seconds);
        }
        let finding = of_rule(&scene.record, "interrupted").remove(0);
        let Arg::Number(end, _) = finding.says.args["end"] else {
            panic!("{finding:?}");
        };
        assert!((end - 4.0).abs() < 1e-6, "{end}");
        // What follows a load that was carried to its end is none.
        let name = String::from("group.last_through_seconds");
        scene.flow().metrics.insert(name, 3.99);
        scene.without("interrupted");
    }

    #[test]
    fn pauses_of_a_server_that_come_again_are_no_interruption() {
        let pausing = |stalls: f64| {
            let totals = [("stalls", stalls), ("requests", 5_000.0)];
            let mut record = requests::of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], &totals);
            let mut points: Vec<(i64, f64)> = (1..=40)
                .map(|n| (10 * SECOND + n * SECOND / 4, 500.0))
                .collect();
            points[8..12].iter_mut().for_each(|(_, rate)| *rate = 0.0);
            record.series.push(Series {
                key: SeriesKey {
                    host: "hosta".into(),
                    source: "http".into(),
                    metric: "http.requests_per_second".into(),
                    labels: Labels::new(),
                },
                points,
            });
            record
        };
        let found = findings(&pausing(1.0));
        assert!(
            found.iter().any(|one| one.rule == "interrupted"),
            "{found:?}"
        );
        assert!(requests::is_quiet(&pausing(7.0), "interrupted"));
    }

    #[test]
    fn a_load_without_a_hole_and_one_of_few_things_have_none() {
        quiet(30.0, 31.0).without("interrupted");
        quiet(12.0, 12.1).without("interrupted");
        let mut few = quiet(12.0, 13.5);
        few.flow()
            .metrics
            .insert("stream.received_bytes".into(), 3.0);
        few.without("interrupted");
    }
}
