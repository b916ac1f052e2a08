//! Prediction, trials and choice of the settings of a replication.

use serde::{Deserialize, Serialize};

/// A predicted replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Time that it takes.
    pub seconds: f64,
    /// The same with everything that was measured at its kind end.
    pub low_s: f64,
    /// The same at its unkind end.
    pub high_s: f64,
    /// The stage that sets the pace: `link`, `window`, `sender`, `receiver`, `cpu`, `read`, `write`, `walk`.
    pub stage: String,
    /// Bytes on the connections.
    pub wire_bytes: f64,
    /// CPU time of both ends.
    pub cpu_s: f64,
    /// Content per second.
    pub bytes_per_s: f64,
}

/// Settings with what they are predicted to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Compression: `auto`, `none`, `1` ….
    pub level: String,
    /// Connections for content.
    pub connections: u32,
    /// Bytes of small files in one frame.
    pub batch_bytes: u64,
    /// Time at which content is on the device: `none`, `batch`, `file`.
    pub durability: String,
    /// Of the whole source.
    pub predicted: Predicted,
    /// Trials of it; empty when none was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// True for the settings that a command without options has.
    pub is_default: bool,
}

/// One trial on a part of the source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Bytes of that part.
    pub bytes: f64,
    /// Predicted time.
    pub predicted_s: f64,
    /// Measured time.
    pub measured_s: f64,
}

/// Measurements that were made before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// Files whose content travels.
    pub files: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Share of the bytes that looks compressed.
    pub dense_ratio: f64,
    /// Ratio and speed (bytes per second of one core) of levels 1, 2 and 3 on the rest.
    pub levels: Vec<(f64, f64)>,
    /// Bytes per second that all connections together carried.
    pub way_bytes_per_s: f64,
    /// The same of one connection, when it carries less.
    pub connection_bytes_per_s: Option<f64>,
    /// Round trip.
    pub rtt_s: f64,
    /// Cores that were free at the sender.
    pub sender_cores: f64,
    /// Cores that were free at the receiver.
    pub receiver_cores: f64,
    /// Time to create and rename a file at the target.
    pub create_s: f64,
    /// True when the target was not written to, and its disk is a guess.
    pub disk_is_guess: bool,
}

/// A rule of thumb, and whether it held here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its name: part of the message `advice-rule-<name>`.
    pub name: String,
    /// Whether it held; `None` when this source and this way cannot tell.
    pub holds: Option<bool>,
    /// Seconds as the rule has it, and at best without it.
    pub seconds: (f64, f64),
}

/// A prediction of a replication, or a choice of its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Measurements that it rests on.
    pub basis: Basis,
    /// Settings from the best one on; of a prediction alone, only those of the run.
    pub candidates: Vec<Candidate>,
    /// Place of the chosen one among them; `None` for a prediction alone.
    pub chosen: Option<usize>,
    /// The rules of thumb.
    pub rules: Vec<Rule>,
    /// Settings that were predicted, and tried.
    pub counts: (u32, u32),
}

impl Candidate {
    /// Median time of its trials over the predicted one; `None` without trials.
    pub fn measured_over_predicted(&self) -> Option<f64> {
        let ratios = self.trials.iter();
        median(ratios.map(|trial| trial.measured_s / trial.predicted_s))
    }

    /// Median content per second of its trials.
    pub fn measured_bytes_per_s(&self) -> Option<f64> {
        let rates = self.trials.iter();
        median(rates.map(|trial| trial.bytes / trial.measured_s))
    }
}

impl Advice {
    /// The settings that were chosen, or predicted.
    pub fn subject(&self) -> Option<&Candidate> {
        self.candidates.get(self.chosen.unwrap_or(0))
    }

    /// The settings of a command without options.
    pub fn usual(&self) -> Option<&Candidate> {
        self.candidates
            .iter()
            .find(|candidate| candidate.is_default)
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (
        sorted.get((sorted.len().max(1) - 1) / 2)?,
        sorted.get(sorted.len() / 2)?,
    );
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_finite_values() {
        assert_eq!(median([3.0, 1.0, f64::NAN, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([1.0, 2.0].into_iter()), Some(1.5));
        assert_eq!(median(std::iter::empty()), None);
    }
}
