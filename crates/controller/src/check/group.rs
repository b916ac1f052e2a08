//! Checks the paths between all hosts of a group, in every layer.
//!
//! ```text
//! layer by layer ─► round by round ─► all pairs of the round at once: a phase, or one per direction
//!                                        ├ a pair cannot connect ─► each pair by itself, the dead ones noted
//!                                        └ a pair is too slow    ─► once more, while the others are quiet
//! then ─► all hosts at once, each towards every other one: what they share, such as a switch
//! ```

use std::collections::{BTreeSet, VecDeque};

use sokudo_model::kinds::stream;
use sokudo_model::metrics::group;
use sokudo_model::pairs::{self, ALONE, EXPECT, HOSTS, MESH, ROUND};
use sokudo_model::{
    Expectation, FlowResult, Kind, Labels, Metric, PhaseRecord, PhaseResult, Stat, Summary, Text,
    Unit, kinds,
};
use sokudo_stats::spread;

use super::datagram::{MODEST_PER_S, SIZE_BYTES};
use super::tournament::{BESIDE_NS, Budget, Pair, Tournament};
use super::{Amount, Layer, chosen_of_group, flows_of, known_of_group};
use crate::error::ControlError;
use crate::run::Run;

/// Most pairs of a phase that meet once more.
const ALONE_MAX: usize = 4;
/// Share of what one connection carries that datagrams are offered at.
const DATAGRAM_SHARE: f64 = 0.5;
/// Most flows of all hosts at once; in larger groups each host has fewer partners.
const MESH_FLOWS_MAX: usize = 1000;
/// Share by which a forecast may be off before it is corrected.
const FORECAST_OFF: f64 = 0.2;
/// Longest time beside its load that is planned for a phase, nanoseconds.
const BESIDE_MAX_NS: u64 = 30_000_000_000;

/// Limits and expectations of a check of a group.
#[derive(Debug, Clone)]
pub struct GroupCheck {
    /// Layers by name; all when none is named.
    pub layers: Vec<String>,
    /// Bounds that every directed pair must keep.
    pub expected: Option<Expectation>,
    /// Longest load of a phase, nanoseconds.
    pub longest_ns: u64,
    /// Longest time of all of it, nanoseconds.
    pub within_ns: u64,
}

impl GroupCheck {
    /// The plan of the rounds and their duration; nothing has been sent yet.
    ///
    /// Errors: a layer that does not exist, or less than two hosts.
    pub fn plan(&self, hosts: usize) -> Result<Tournament, ControlError> {
        known_of_group(&self.layers)?;
        if hosts < 2 {
            return Err(ControlError::Operator {
                says: Text::new("error-check-no-pairs").with("hosts", hosts),
                hint: Some(Text::new("error-check-no-pairs-hint")),
            });
        }
        Ok(Tournament::new(
            hosts as u32,
            &self.budget(hosts, BESIDE_NS),
        ))
    }

    fn budget(&self, hosts: usize, beside_ns: u64) -> Budget {
        let turns = chosen_of_group(&self.layers).map(|layer| 1 + usize::from(layer.in_turn));
        // Two hosts at once are a round.
        let meshes = chosen_of_group(&self.layers).filter(|layer| layer.mesh && hosts > 2);
        Budget {
            turns: turns.sum(),
            last: meshes.count(),
            longest_ns: self.longest_ns,
            within_ns: self.within_ns,
            beside_ns,
        }
    }
}

/// A running check.
struct Meeting<'a> {
    run: &'a mut Run,
    check: &'a GroupCheck,
    tournament: Tournament,
    /// Time of the first phase beside its load, nanoseconds; `None` before it.
    beside_ns: Option<u64>,
    /// True once the forecast has been compared with it.
    compared: bool,
    /// Index of the first host that takes part.
    first: u32,
    /// Pairs between which no connection could be made, by host index.
    unconnected: BTreeSet<Pair>,
    /// The least that a connection of a pair carried, bits per second.
    slowest: Option<f64>,
}

/// Checks every pair of hosts from index `first` on, layer by layer, and puts the numbers of
/// the pairs into the run's summary.
///
/// Errors: nothing can be measured any more, or a host refuses what it is asked.
pub fn run(
    run: &mut Run,
    first: u32,
    check: &GroupCheck,
    tournament: &Tournament,
) -> Result<(), ControlError> {
    let mut meeting = Meeting {
        run,
        check,
        tournament: tournament.clone(),
        beside_ns: None,
        compared: false,
        first,
        unconnected: BTreeSet::new(),
        slowest: None,
    };
    let outcome = meeting.all_layers().and_then(|()| meeting.meshes());
    let numbers = numbers(&run.manifest().phases);
    run.manifest_mut().summary.extend(numbers);
    run.group_numbers();
    outcome
}

impl Meeting<'_> {
    fn all_layers(&mut self) -> Result<(), ControlError> {
        for layer in chosen_of_group(&self.check.layers) {
            let mut left: VecDeque<Vec<Pair>> = self.tournament.rounds.clone().into();
            let mut number = 0u32;
            while let Some(round) = left.pop_front() {
                number += 1;
                let there = self.indices(&round);
                let back: Vec<Pair> = there.iter().map(|(one, other)| (*other, *one)).collect();
                let turns = match layer.in_turn {
                    true => vec![(format!("{number}a"), there), (format!("{number}b"), back)],
                    false => vec![(number.to_string(), [there, back].concat())],
                };
                for (turn, pairs) in turns {
                    if self.run.interrupted() {
                        return Ok(());
                    }
                    self.meet(layer, &turn, &pairs)?;
                }
                if self.corrects() {
                    left.retain(|round| self.tournament.rounds.contains(round));
                }
            }
        }
        Ok(())
    }

    /// Corrects plan and forecast by the duration of the first phase when they were off. True when the
    /// plan changed.
    fn corrects(&mut self) -> bool {
        let Some(beside_ns) = self.beside_ns.filter(|_| !self.compared) else {
            return false;
        };
        self.compared = true;
        let hosts = self.tournament.hosts;
        let budget = self.check.budget(hosts as usize, beside_ns);
        let plan = Tournament::new(hosts, &budget);
        let off_ns = plan.takes_ns.abs_diff(self.tournament.takes_ns) as f64;
        let same_load = plan.load_ns == self.tournament.load_ns;
        if same_load && off_ns <= self.tournament.takes_ns as f64 * FORECAST_OFF {
            return false;
        }
        self.tournament = plan;
        let says = Text::new("engine-check-group-corrected").number(
            "beside",
            beside_ns as f64 * 1e-9,
            Unit::Seconds,
        );
        let says = with_plan(says, &self.tournament);
        self.run.says(&says);
        // The plan that it replaces is no longer true.
        let notes = &mut self.run.manifest_mut().notes;
        notes.retain(|note| !PLANS.contains(&note.key.as_str()));
        notes.push(says);
        true
    }

    /// All hosts at once, layer by layer.
    fn meshes(&mut self) -> Result<(), ControlError> {
        if self.tournament.hosts < 3 {
            return Ok(());
        }
        for layer in chosen_of_group(&self.check.layers).filter(|layer| layer.mesh) {
            if self.run.interrupted() {
                return Ok(());
            }
            self.mesh(layer)?;
        }
        Ok(())
    }

    /// Each host towards every other one that it could reach, or as many as there is room for.
    fn mesh(&mut self, layer: &Layer) -> Result<(), ControlError> {
        let hosts = self.tournament.hosts;
        let partners = (MESH_FLOWS_MAX / hosts as usize).clamp(1, hosts as usize - 1) as u32;
        let towards = |one: u32| (1..=partners).map(move |step| (one, (one + step) % hosts));
        let pairs: Vec<Pair> = (0..hosts).flat_map(towards).collect();
        let mut pairs = self.indices(&pairs);
        pairs.retain(|pair| !self.is_hopeless(layer, *pair));
        if pairs.len() < 2 {
            return Ok(());
        }
        let amount = Amount {
            duration_ns: self.tournament.load_ns,
            packets_per_s: (self.packets_per_s() / f64::from(partners)).max(1.0),
        };
        let name = format!("{}-mesh", layer.name());
        let labels = Labels::from([(MESH.to_owned(), "yes".to_owned())]);
        let plan = layer.phase(name, flows_of(&pairs), &amount, labels);
        match self.run.run_phase(plan) {
            Ok(record) => {
                let numbers = of_mesh(&record);
                self.run.manifest_mut().summary.extend(numbers);
            }
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                let says = Text::new("engine-check-mesh-failed").word("layer", layer.name());
                self.run.note_problem(says.word("why", error.to_string()));
            }
        }
        Ok(())
    }

    fn indices(&self, round: &[Pair]) -> Vec<Pair> {
        let index = |number: u32| number + self.first;
        let each = round.iter();
        each.map(|(one, other)| (index(*one), index(*other)))
            .collect()
    }

    /// All pairs at once; when that cannot be, each by itself.
    fn meet(&mut self, layer: &Layer, turn: &str, pairs: &[Pair]) -> Result<(), ControlError> {
        let (known_dead, pairs): (Vec<Pair>, Vec<Pair>) = pairs
            .iter()
            .partition(|pair| self.is_hopeless(layer, **pair));
        for pair in known_dead {
            self.dead(layer, turn, pair, "no connection could be made before")?;
        }
        if pairs.is_empty() {
            return Ok(());
        }
        let name = format!("{}-{turn}", layer.name());
        match self.phase(layer, name, &pairs, turn, false) {
            Ok(record) => self.meet_again(layer, turn, &pairs, &record),
            Err(error) if is_final(&error) => Err(error),
            Err(_) => pairs
                .iter()
                .try_for_each(|pair| self.meet_alone(layer, turn, *pair)),
        }
    }

    /// True when trying would only cost time: a host is lost, or it could not be connected to before.
    fn is_hopeless(&self, layer: &Layer, pair: Pair) -> bool {
        let lost = |index: u32| self.run.is_lost(index as usize);
        let (one, other) = pair;
        lost(one) || lost(other) || (layer.connects && self.unconnected.contains(&pair))
    }

    /// One pair of a round in which not all pairs could be measured at once.
    fn meet_alone(&mut self, layer: &Layer, turn: &str, pair: Pair) -> Result<(), ControlError> {
        if self.run.interrupted() {
            return Err(ControlError::Interrupted);
        }
        let name = format!("{}-{turn} {}", layer.name(), self.name(pair));
        match self.phase(layer, name, &[pair], turn, false) {
            Ok(_) => Ok(()),
            Err(error) if is_final(&error) => Err(error),
            Err(error) => {
                self.unconnected.insert(pair);
                self.dead(layer, turn, pair, &error.to_string())
            }
        }
    }

    /// Measures pairs that missed an expectation once more while all others are quiet. That shows whether
    /// their own path is slow, or one that they share.
    fn meet_again(
        &mut self,
        layer: &Layer,
        turn: &str,
        pairs: &[Pair],
        record: &PhaseRecord,
    ) -> Result<(), ControlError> {
        let Some(expected) = self.check.expected.as_ref().filter(|_| pairs.len() > 1) else {
            return Ok(());
        };
        let broken = |flow: &&FlowResult| {
            !layer.kind.is_dead(flow) && !pairs::broken(expected, layer.kind, flow).is_empty()
        };
        let flows = record.result.flows.iter().filter(broken);
        let slow: Vec<Pair> = flows
            .filter_map(|flow| pairs.get(flow.id as usize).copied())
            .take(ALONE_MAX)
            .collect();
        for pair in slow {
            if self.run.interrupted() {
                return Ok(());
            }
            let name = format!("{}-{turn} {} alone", layer.name(), self.name(pair));
            match self.phase(layer, name, &[pair], turn, true) {
                Err(error) if is_final(&error) => return Err(error),
                // That it failed alone, too, adds nothing to the first failure.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn phase(
        &mut self,
        layer: &Layer,
        name: String,
        pairs: &[Pair],
        turn: &str,
        alone: bool,
    ) -> Result<PhaseRecord, ControlError> {
        let amount = Amount {
            duration_ns: self.tournament.load_ns,
            packets_per_s: self.packets_per_s(),
        };
        let mut labels = self.labels(turn);
        if alone {
            labels.insert(ALONE.into(), "yes".into());
        }
        let plan = layer.phase(name, flows_of(pairs), &amount, labels);
        let begun_ns = self.run.elapsed_ns();
        let record = self.run.run_phase(plan)?;
        let took_ns = self.run.elapsed_ns().abs_diff(begun_ns);
        let beside_ns = took_ns.saturating_sub(amount.duration_ns);
        self.beside_ns.get_or_insert(beside_ns.min(BESIDE_MAX_NS));
        let carried = record.result.flows.iter();
        let carried =
            carried.filter_map(|flow| flow.metrics.get(stream::GOODPUT_BITS_PER_SECOND.name));
        let least = carried.copied().chain(self.slowest).reduce(f64::min);
        self.slowest = least;
        Ok(record)
    }

    fn labels(&self, turn: &str) -> Labels {
        let hosts = self.tournament.hosts.to_string();
        let mut labels = Labels::from([
            (ROUND.to_owned(), turn.to_owned()),
            (HOSTS.to_owned(), hosts),
        ]);
        if let Some(expected) = &self.check.expected {
            labels.insert(EXPECT.into(), expected.to_string());
        }
        labels
    }

    /// Datagrams per second of a pair: modest, and never more than half of what its line, or the
    /// slowest connection so far, carries.
    fn packets_per_s(&self) -> f64 {
        let expected = self.check.expected.as_ref();
        let line = expected.and_then(Expectation::line_bits_per_s);
        let bits = [line, self.slowest].into_iter().flatten().reduce(f64::min);
        let packets = bits.map(|bits| bits * DATAGRAM_SHARE / 8.0 / f64::from(SIZE_BYTES));
        packets.map_or(MODEST_PER_S, |packets| packets.clamp(1.0, MODEST_PER_S))
    }

    /// Notes a pair of which nothing arrived. That is a result: the run goes on.
    fn dead(
        &mut self,
        layer: &Layer,
        turn: &str,
        pair: Pair,
        why: &str,
    ) -> Result<(), ControlError> {
        let now_ns = self.run.elapsed_ns();
        let host = |index: u32| self.run.hosts().list()[index as usize].name.clone();
        let flow = FlowResult {
            from: host(pair.0),
            to: host(pair.1),
            labels: [("error".to_owned(), why.to_owned())].into(),
            ..FlowResult::default()
        };
        let result = PhaseResult {
            flows: vec![flow],
            ..PhaseResult::default()
        };
        let record = PhaseRecord {
            labels: self.labels(turn),
            ..PhaseRecord::plain(
                &format!("{}-{turn} {}", layer.name(), self.name(pair)),
                layer.name(),
                (now_ns, now_ns),
                result,
            )
        };
        self.run.add_phase(record)
    }

    fn name(&self, pair: Pair) -> String {
        let host = |index: u32| &self.run.hosts().list()[index as usize].name;
        format!("{} → {}", host(pair.0), host(pair.1))
    }
}

/// True for an error that ends the check, rather than being a result of one pair.
fn is_final(error: &ControlError) -> bool {
    error.is_operator_error() || matches!(error, ControlError::Interrupted | ControlError::Store(_))
}

/// Notes about the plan of a check: all rounds, and some of them.
const PLANS: [&str; 2] = ["engine-check-group", "engine-check-group-some"];

/// Remarks for the operator before anything is sent.
pub fn told(tournament: &Tournament) -> Text {
    let [all, some] = PLANS;
    let key = match tournament.rounds.len() == tournament.rounds_of_all {
        true => all,
        false => some,
    };
    with_plan(Text::new(key), tournament)
}

fn with_plan(text: Text, tournament: &Tournament) -> Text {
    text.word("hosts", tournament.hosts.to_string())
        .word("pairs", tournament.pairs().to_string())
        .word("rounds", tournament.rounds.len().to_string())
        .word("all", tournament.rounds_of_all.to_string())
        .word("phases", tournament.phases.to_string())
        .number("load", tournament.load_ns as f64 * 1e-9, Unit::Seconds)
        .number("time", tournament.takes_ns as f64 * 1e-9, Unit::Seconds)
}

/// The numbers of all hosts at once.
fn of_mesh(record: &PhaseRecord) -> Summary {
    let flows = &record.result.flows;
    let expects = record.kind().map(|kind| kind.expects);
    let line_rate = expects.and_then(|expects| expects.line_rate);
    let speeds = line_rate.map(|rate| flows.iter().filter_map(move |flow| rate.of(&flow.metrics)));
    let loss = record.kind().and_then(loss_of);
    those_known([
        (
            group::MESH_BITS_PER_SECOND,
            speeds.and_then(|each| each.reduce(|all, one| all + one)),
        ),
        (
            group::MESH_FAIRNESS_RATIO,
            kinds::fairness(flows).filter(|_| line_rate.is_some()),
        ),
        (
            group::MESH_LOSS_RATIO,
            loss.and_then(|loss| loss.of(&record.result.summary)),
        ),
    ])
}

/// Those of the numbers that are known.
fn those_known<const N: usize>(each: [(Metric, Option<f64>); N]) -> Summary {
    let known = each.into_iter();
    known
        .filter_map(|(metric, value)| Some((metric.into(), value?)))
        .collect()
}

/// The share that a workload loses, where a check may expect something of it.
fn loss_of(kind: &Kind) -> Option<Metric> {
    let shares = kind.curve.filter(|_| kind.expects.loss)?.shares;
    let loss = shares.iter().find(|(word, _)| *word == "loss");
    loss.map(|(_, metric)| *metric)
}

/// The numbers of all pairs together.
fn numbers(phases: &[PhaseRecord]) -> Summary {
    let pairs = pairs::pairs(phases);
    let count = |of: &dyn Fn(&pairs::Pair) -> bool| {
        let n = pairs.iter().filter(|pair| of(pair)).count();
        Some(n as f64)
    };
    let values = |name: String| -> Vec<f64> {
        let each = pairs.iter();
        each.filter_map(|pair| pair.figures.get(&name).copied())
            .collect()
    };
    let of_kinds = |name: &dyn Fn(&Kind) -> Option<String>| -> Vec<f64> {
        let names = kinds::KINDS.iter().filter_map(|kind| name(kind));
        names.flat_map(values).collect()
    };
    let speeds = of_kinds(&|kind| Some(kind.expects.line_rate?.into()));
    let losses = of_kinds(&|kind| Some(loss_of(kind)?.into()));
    let late = of_kinds(&|kind| {
        let latency = kind.curve.filter(|_| kind.expects.latency)?.latency?;
        Some(latency.stat(Stat::P99))
    });
    those_known([
        (group::PAIRS, Some(pairs.len() as f64)),
        (group::FAILED_PAIRS, count(&|pair| !pair.holds())),
        (group::DEAD_PAIRS, count(&|pair| !pair.dead.is_empty())),
        (
            group::SLOWEST_PAIR_BITS_PER_SECOND,
            speeds.iter().copied().reduce(f64::min),
        ),
        (
            group::MEDIAN_PAIR_BITS_PER_SECOND,
            spread(&speeds).map(|all| all.median),
        ),
        (
            group::WORST_PAIR_LATENCY_SECONDS,
            late.into_iter().reduce(f64::max),
        ),
        (
            group::WORST_PAIR_LOSS_RATIO,
            losses.into_iter().reduce(f64::max),
        ),
    ])
}
