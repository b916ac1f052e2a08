//! The datagram layer: the limit of the generator, one way, both ways and all hosts to all hosts, and the
//! highest rate without loss.

use std::time::Duration;

use sokudo_load_network::datagram::options::{LoadRate, SizeRange, Span};
use sokudo_load_network::datagram::{self, DatagramOptions, selftest};
use sokudo_model::metrics;
use sokudo_model::{
    Bounds, FlowPlan, FlowResult, Labels, PhasePlan, PhaseRecord, PhaseResult, Text,
};
use sokudo_workload::Options;
use sokudo_workload::flows::Direction;

use super::{Amount, CheckConfig, Layer};
use crate::error::ControlError;
use crate::phase::SLACK_NS;
use crate::run::Run;
use crate::search::SearchPlan;

/// Datagram size of the check: what a well-known datagram test uses, and what fits Ethernet.
pub(super) const SIZE_BYTES: u32 = 1468;
const SECOND_NS: u64 = 1_000_000_000;
/// Share of the best one-way rate that each side offers when both send at once.
const BOTH_WAYS_SHARE: f64 = 0.4;
/// Share of it that each host offers when all send to all others: they share the same cores.
const MESH_SHARE: f64 = 0.1;
/// Rate that stands for the best one where none was found, datagrams per second.
pub(super) const MODEST_PER_S: f64 = 20_000.0;

/// Lengths of the parts.
struct Lengths {
    selftest: Duration,
    phase_ns: u64,
    probe_ns: u64,
    confirm_ns: u64,
    probes: u32,
}

impl Lengths {
    fn of(config: &CheckConfig) -> Self {
        match config.quick {
            true => Self {
                selftest: Duration::from_millis(300),
                phase_ns: 2 * SECOND_NS,
                probe_ns: SECOND_NS,
                confirm_ns: 3 * SECOND_NS,
                probes: 7,
            },
            false => Self {
                selftest: Duration::from_millis(700),
                phase_ns: 5 * SECOND_NS,
                probe_ns: 3 * SECOND_NS / 2,
                confirm_ns: 5 * SECOND_NS,
                probes: 10,
            },
        }
    }
}

/// Datagrams at a rate, as large as the check's are.
pub fn options(amount: &Amount) -> String {
    at_rate(Some(amount.packets_per_s), amount.duration_ns).to_json()
}

/// Runs the layer inside one machine.
pub fn inside(_layer: &Layer, run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let lengths = Lengths::of(config);
    self_test(run, &lengths)?;
    let searched = search(run, config, &lengths)?;
    let best = searched.unwrap_or(MODEST_PER_S);
    let hosts = run.hosts().list().len() as u32;
    let phases = [
        ("p2p", flows(2, Direction::Up), None),
        (
            "both-ways",
            flows(2, Direction::Both),
            Some(best * BOTH_WAYS_SHARE),
        ),
        (
            "mesh",
            flows(hosts, Direction::Mesh),
            Some(best * MESH_SHARE),
        ),
    ];
    for (name, flows, rate_per_s) in phases {
        if run.interrupted() {
            return Ok(());
        }
        let record = run.run_phase(phase(name, flows, rate_per_s, lengths.phase_ns))?;
        if searched.is_none() {
            // Without a best rate the last phase gives the numbers of this layer.
            run.manifest_mut().summary.extend(record.result.summary);
        }
    }
    Ok(())
}

fn flows(hosts: u32, direction: Direction) -> Vec<FlowPlan> {
    datagram::flows(hosts, 1, direction)
}

/// So many datagrams per second, as many as possible without a rate.
fn at_rate(rate_per_s: Option<f64>, duration_ns: u64) -> DatagramOptions {
    DatagramOptions {
        size: Some(SizeRange {
            min: SIZE_BYTES,
            max: SIZE_BYTES,
        }),
        rate: rate_per_s.map(|rate| LoadRate(sokudo_model::Rate::Events(rate))),
        duration: Some(Span(duration_ns)),
        ..DatagramOptions::default()
    }
}

fn phase(name: &str, flows: Vec<FlowPlan>, rate_per_s: Option<f64>, duration_ns: u64) -> PhasePlan {
    let options = at_rate(rate_per_s, duration_ns);
    PhasePlan {
        name: name.into(),
        workload: datagram::NAME.into(),
        options: options.to_json(),
        flows,
        duration_ns,
        bound_ns: duration_ns + SLACK_NS,
        labels: Labels::new(),
    }
}

/// Measures the send and receive rates of this host, per I/O mode, over its loopback.
fn self_test(run: &mut Run, lengths: &Lengths) -> Result<(), ControlError> {
    run.doing(&Text::new("engine-doing-selftest"));
    let t0_ns = run.elapsed_ns();
    let host = run.hosts().list()[0].name.clone();
    let mut flows = Vec::new();
    for (mode, gro) in selftest::PAIRS {
        if run.interrupted() {
            return Ok(());
        }
        // A mode that the system does not offer is not a result: it is left out.
        let Ok(rate) = selftest::try_mode(mode, gro, SIZE_BYTES as usize, lengths.selftest) else {
            continue;
        };
        let metrics = [
            (
                metrics::selftest::SENT_PACKETS_PER_SECOND.name,
                rate.sent_per_s,
            ),
            (
                metrics::selftest::DELIVERED_PACKETS_PER_SECOND.name,
                rate.delivered_per_s,
            ),
        ];
        flows.push(FlowResult {
            id: flows.len() as u32,
            from: host.clone(),
            to: host.clone(),
            labels: [("mode".to_owned(), rate.name())].into(),
            metrics: metrics.map(|(name, value)| (name.to_owned(), value)).into(),
            complete: true,
            ..FlowResult::default()
        });
    }
    let result = PhaseResult {
        flows,
        ..PhaseResult::default()
    };
    let record = PhaseRecord::plain("selftest", "selftest", (t0_ns, run.elapsed_ns()), result);
    run.add_phase(record)
}

/// Searches the best rate and puts it into the run's summary; returns it in datagrams per second.
fn search(
    run: &mut Run,
    config: &CheckConfig,
    lengths: &Lengths,
) -> Result<Option<f64>, ControlError> {
    let plan = SearchPlan {
        base: phase("search", flows(2, Direction::Up), None, lengths.probe_ns),
        probe_ns: lengths.probe_ns,
        confirm_ns: lengths.confirm_ns,
        bounds: Bounds::loss(config.max_loss),
        max_probes: lengths.probes,
    };
    let found = run.search(&plan)?;
    Ok(found.map(|found| found.best.delivered))
}
