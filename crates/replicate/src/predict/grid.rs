//! All settings that are worth a prediction, and the choice among them.

use super::{Durability, Inputs, Prediction, Setting, predict};
use crate::codec::LADDER;

/// Connections that are tried.
const CONNECTIONS: [u32; 5] = [1, 2, 4, 8, 16];
/// Sizes of batches that are tried.
const BATCHES: [u64; 3] = [0, 64 << 10, 1 << 20];
/// A setting that takes more of the machine must gain so much.
const WORTH: f64 = 1.02;

/// Settings with their predictions.
pub type Settings = Vec<(Setting, Prediction)>;

/// Every combination of level, connections and batch for a durability and a buffer, with its prediction.
pub fn grid(inputs: &Inputs, durability: Durability, buffer_bytes: Option<u64>) -> Settings {
    let levels = 0..LADDER.len();
    let all = levels.flat_map(|level| CONNECTIONS.map(|connections| (level, connections)));
    let all = all.flat_map(|(level, connections)| BATCHES.map(|batch| (level, connections, batch)));
    let each = all.map(|(level, connections, batch_bytes)| {
        let setting = Setting {
            level: Some(level),
            connections,
            batch_bytes,
            durability,
            buffer_bytes,
            turns_per_file: 0.0,
        };
        (setting, predict(inputs, &setting))
    });
    each.collect()
}

/// The settings from the best one on. Of those that differ by less than [`WORTH`] the one that takes less of the
/// machine comes first: fewer connections, a lower level, larger batches.
pub fn choose(mut settings: Settings) -> Settings {
    settings.sort_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds));
    let Some(best_s) = settings.first().map(|(_, best)| best.seconds) else {
        return settings;
    };
    let cost = |(setting, prediction): &(Setting, Prediction)| {
        let is_near = prediction.seconds <= best_s * WORTH;
        let batches = u64::MAX - setting.batch_bytes;
        (!is_near, setting.level, setting.connections, batches)
    };
    settings.sort_by(|a, b| {
        let (near_a, near_b) = (cost(a), cost(b));
        match near_a.0 || near_b.0 {
            true => near_a
                .0
                .cmp(&near_b.0)
                .then(a.1.seconds.total_cmp(&b.1.seconds)),
            false => near_a.cmp(&near_b),
        }
    });
    settings
}
