//! Do all hosts of a group get on with each other, in every layer?
//!
//! ```text
//! layer by layer ─► round by round ─► all pairs of the round at once: a phase, or one per direction
//!                                        ├ a pair cannot connect ─► each pair by itself, the dead ones noted
//!                                        └ a pair is too slow    ─► once more, while the others are quiet
//! ```

use std::collections::BTreeSet;

use sokudo_model::pairs::{self, ALONE, EXPECT, ROUND};
use sokudo_model::{Expectation, FlowResult, Labels, PhaseRecord, PhaseResult, Summary, Text};
use sokudo_stats::spread;

use super::datagram::{MODEST_PER_S, SIZE_BYTES};
use super::tournament::{Pair, Tournament};
use super::{Amount, Layer, chosen, flows_of, known};
use crate::error::ControlError;
use crate::run::Run;

/// Most pairs of a phase that meet once more.
const ALONE_MAX: usize = 4;
/// Share of what one connection carries that datagrams are offered at.
const DATAGRAM_SHARE: f64 = 0.5;

/// What a check of a group may take and must find.
#[derive(Debug, Clone)]
pub struct GroupCheck {
    /// Layers by name; all when none is named.
    pub layers: Vec<String>,
    /// What every directed pair must do.
    pub expected: Option<Expectation>,
    /// Longest load of a phase, nanoseconds.
    pub longest_ns: u64,
    /// How long all of it may take, nanoseconds.
    pub within_ns: u64,
}

impl GroupCheck {
    /// Who will meet whom, and how long it takes; nothing has been sent yet.
    ///
    /// Errors: a layer that does not exist, or less than two hosts.
    pub fn plan(&self, hosts: usize) -> Result<Tournament, ControlError> {
        known(&self.layers)?;
        if hosts < 2 {
            return Err(ControlError::Operator {
                says: format!("a group of {hosts} has no pairs of hosts"),
                hint: Some("start `sokudo agent` on two hosts or more".into()),
            });
        }
        let turns = chosen(&self.layers).map(|layer| 1 + usize::from(layer.in_turn));
        Ok(Tournament::new(
            hosts as u32,
            turns.sum(),
            self.longest_ns,
            self.within_ns,
        ))
    }
}

/// A check that goes on.
struct Meeting<'a> {
    run: &'a mut Run,
    check: &'a GroupCheck,
    tournament: &'a Tournament,
    /// Index of the first host that takes part.
    first: u32,
    /// Pairs between which no connection could be made, by host index.
    unconnected: BTreeSet<Pair>,
    /// The least that a connection of a pair carried, bits per second.
    slowest: Option<f64>,
}

/// Lets every host from index `first` on meet every other one, layer by layer, and puts the numbers of
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
        tournament,
        first,
        unconnected: BTreeSet::new(),
        slowest: None,
    };
    let outcome = meeting.all_layers();
    let numbers = numbers(&run.manifest().phases);
    run.manifest_mut().summary.extend(numbers);
    run.group_numbers();
    outcome
}

impl Meeting<'_> {
    fn all_layers(&mut self) -> Result<(), ControlError> {
        for layer in chosen(&self.check.layers) {
            let rounds = self.tournament.rounds.iter().zip(1u32..);
            for (round, number) in rounds {
                let there = self.indices(round);
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
        let name = format!("{}-{turn}", layer.name);
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

    /// One pair of a round that could not be played as a whole.
    fn meet_alone(&mut self, layer: &Layer, turn: &str, pair: Pair) -> Result<(), ControlError> {
        if self.run.interrupted() {
            return Err(ControlError::Interrupted);
        }
        let name = format!("{}-{turn} {}", layer.name, self.name(pair));
        match self.phase(layer, name, &[pair], turn, false) {
            Ok(_) => Ok(()),
            Err(error) if is_final(&error) => Err(error),
            Err(error) => {
                self.unconnected.insert(pair);
                self.dead(layer, turn, pair, &error.to_string())
            }
        }
    }

    /// Pairs that did not keep what is expected meet once more, while all others are quiet: whether
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
            !pairs::is_dead(layer.name, flow)
                && !pairs::broken(expected, layer.name, flow).is_empty()
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
            let name = format!("{}-{turn} {} alone", layer.name, self.name(pair));
            match self.phase(layer, name, &[pair], turn, true) {
                Err(error) if is_final(&error) => return Err(error),
                // That it went wrong alone, too, adds nothing to what is known.
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
        let record = self.run.run_phase(plan)?;
        let carried = record.result.flows.iter();
        let carried = carried.filter_map(|flow| flow.metrics.get("stream.goodput_bits_per_second"));
        let least = carried.copied().chain(self.slowest).reduce(f64::min);
        self.slowest = least;
        Ok(record)
    }

    fn labels(&self, turn: &str) -> Labels {
        let mut labels = Labels::from([(ROUND.to_owned(), turn.to_owned())]);
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

    /// Notes a pair of which nothing came through. That is a result: the run goes on.
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
                &format!("{}-{turn} {}", layer.name, self.name(pair)),
                layer.name,
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

/// What ends the check, rather than telling of a pair.
fn is_final(error: &ControlError) -> bool {
    error.is_operator_error() || matches!(error, ControlError::Interrupted | ControlError::Store(_))
}

/// What the operator should know before anything is sent.
pub fn told(tournament: &Tournament) -> Text {
    let key = match tournament.rounds.len() == tournament.rounds_of_all {
        true => "engine-check-group",
        false => "engine-check-group-some",
    };
    Text::new(key)
        .word("hosts", tournament.hosts.to_string())
        .word("pairs", tournament.pairs().to_string())
        .word("rounds", tournament.rounds.len().to_string())
        .word("all", tournament.rounds_of_all.to_string())
        .word("phases", tournament.phases.to_string())
        .number(
            "load",
            tournament.load_ns as f64 * 1e-9,
            sokudo_model::Unit::Seconds,
        )
        .number(
            "time",
            tournament.takes_ns as f64 * 1e-9,
            sokudo_model::Unit::Seconds,
        )
}

/// The numbers of all pairs together.
fn numbers(phases: &[PhaseRecord]) -> Summary {
    let pairs = pairs::pairs(phases);
    let count = |of: &dyn Fn(&pairs::Pair) -> bool| pairs.iter().filter(|pair| of(pair)).count();
    let values = |name: &str| -> Vec<f64> {
        let each = pairs.iter();
        each.filter_map(|pair| pair.figures.get(name).copied())
            .collect()
    };
    let mut out = Summary::from([
        ("group.pairs".to_owned(), pairs.len() as f64),
        (
            "group.failed_pairs".to_owned(),
            count(&|pair| !pair.holds()) as f64,
        ),
        (
            "group.dead_pairs".to_owned(),
            count(&|pair| !pair.dead.is_empty()) as f64,
        ),
    ]);
    let speeds = values("stream.goodput_bits_per_second");
    let losses = [values("probe.loss_ratio"), values("datagram.loss_ratio")].concat();
    let found = [
        (
            "group.slowest_pair_bits_per_second",
            speeds.iter().copied().reduce(f64::min),
        ),
        (
            "group.median_pair_bits_per_second",
            spread(&speeds).map(|all| all.median),
        ),
        (
            "group.worst_pair_latency_seconds",
            values("rr.latency_seconds.p99")
                .into_iter()
                .reduce(f64::max),
        ),
        (
            "group.worst_pair_loss_ratio",
            losses.into_iter().reduce(f64::max),
        ),
    ];
    let known = found.into_iter();
    out.extend(known.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    out
}
