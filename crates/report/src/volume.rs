//! Volume and speed of the simultaneous flows of each phase.
//!
//! A run of many hosts loads in phases with a growing number of pairs. Each phase is one point: the
//! volume that its flows carried together, and that volume over the mean time of a flow. This definition
//! of a switch's speed is from T. Yamanoue and T. Toda, who first measured one with many hosts.

use std::collections::{BTreeMap, BTreeSet};

use sokudo_model::kinds::Family;
use sokudo_model::manifest::moments;
use sokudo_model::{FlowResult, PhaseRecord, kinds};

/// One phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Name of the phase.
    pub name: String,
    /// Name of the line through points of its kind: the value of the label `duplex`.
    pub kind: String,
    /// Flows.
    pub flows: usize,
    /// `FROM → TO` of the flows without a result.
    pub dead: Vec<String>,
    /// Payload of the flows with one, bytes.
    pub bytes: f64,
    /// Mean time of a flow, seconds.
    pub seconds: f64,
    /// Volume over that time, bits per second.
    pub bits_per_second: f64,
    /// Jain's fairness index of the flows' speeds.
    pub fairness: Option<f64>,
}

/// The phases of a run of many hosts in which flows carried something; empty for other runs.
pub fn points(is_of_many_hosts: bool, phases: &[PhaseRecord]) -> Vec<Point> {
    match is_of_many_hosts {
        true => moments(phases).flat_map(points_of).collect(),
        false => Vec::new(),
    }
}

/// A point per workload: loads of one workload that differ in their options carry the same thing.
fn points_of(moment: &[PhaseRecord]) -> Vec<Point> {
    let workloads: BTreeSet<&str> = moment.iter().map(|load| load.workload.as_str()).collect();
    let several = workloads.len() > 1;
    let of_one = |workload: &str| {
        let loads = moment.iter().filter(|load| load.workload == workload);
        let first = loads.clone().next()?;
        let flows: Vec<FlowResult> = loads.flat_map(|load| load.result.flows.clone()).collect();
        let name = if several { &first.name } else { first.moment() };
        point(first, name, &flows)
    };
    workloads.into_iter().filter_map(of_one).collect()
}

fn point(phase: &PhaseRecord, name: &str, flows: &[FlowResult]) -> Option<Point> {
    // What only connects carries nothing that could be called a speed.
    let connects = phase.kind().is_some_and(|kind| match kind.family {
        Family::Exchange(exchange) => exchange.connects_each_time,
        Family::Bytes(_)
        | Family::Messages(_)
        | Family::Datagram
        | Family::Probe
        | Family::Files(_) => false,
    });
    let totals = kinds::totals(flows).filter(|_| !connects)?;
    let dead = flows.iter().filter(|flow| !flow.complete);
    Some(Point {
        name: name.into(),
        kind: phase.labels.get("duplex").cloned().unwrap_or_default(),
        flows: flows.len(),
        dead: dead
            .map(|flow| format!("{} → {}", flow.from, flow.to))
            .collect(),
        bytes: totals.bytes,
        seconds: totals.seconds,
        bits_per_second: totals.bits_per_second(),
        fairness: kinds::fairness(flows),
    })
}

/// True when the points have different volumes, so that a curve is meaningful.
pub fn is_curve(points: &[Point]) -> bool {
    let bytes = points.iter().map(|point| point.bytes);
    let (low, high) = bytes.fold((f64::MAX, 0.0_f64), |(low, high), b| {
        (low.min(b), high.max(b))
    });
    points.len() > 1 && high > low * 1.2
}

/// The mean volume and speed of the phases of each kind, by volume: what a line goes through.
pub fn means(points: &[Point]) -> BTreeMap<&str, Vec<(f64, f64)>> {
    let mut sums: BTreeMap<&str, BTreeMap<u64, (f64, f64, f64)>> = BTreeMap::new();
    for point in points {
        // Volumes that differ by less than a per mille are the same plan.
        let near = (point.bytes.max(1.0).ln() * 1000.0).round() as u64;
        let sum = sums
            .entry(&point.kind)
            .or_default()
            .entry(near)
            .or_default();
        *sum = (
            sum.0 + point.bytes,
            sum.1 + point.bits_per_second,
            sum.2 + 1.0,
        );
    }
    let mean = |(bytes, bits, n): &(f64, f64, f64)| (bytes / n, bits / n);
    let each = sums.into_iter();
    each.map(|(kind, sums)| (kind, sums.values().map(mean).collect()))
        .collect()
}
