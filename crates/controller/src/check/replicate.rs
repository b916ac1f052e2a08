//! The replicate layer: how fast trees of files cross between two hosts, disks left out.
//!
//! The files are made while they are sent, and dropped where they arrive: the layer shows the upper bound that
//! hosts and network set.

use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_workload::Options;

use super::Amount;

/// Small and large files, a few seconds of work at most: so much per second that a layer may take.
pub fn options(amount: &Amount) -> String {
    let seconds = (amount.duration_ns / 1_000_000_000).max(1);
    let options = ReplicateOptions {
        source: format!("dataset:{}x10KB,{seconds}x10MB", 1_000 * seconds),
        target: "null".into(),
        ..ReplicateOptions::default()
    };
    options.to_json()
}
