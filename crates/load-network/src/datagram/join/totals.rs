//! Totals of the flows of a phase.

use sokudo_model::kinds::datagram as numbers;
use sokudo_model::{FlowResult, Summary};
use sokudo_workload::joined::{self, put, ratio};

use super::super::options::DatagramOptions;

/// Totals over the flows of a phase.
pub(super) fn totals(flows: &[FlowResult], options: &DatagramOptions) -> Summary {
    let mut summary = joined::totals(numbers::METRICS, flows);
    let (received, missing) = received_and_missing(flows);
    let expected = received + missing;
    let processed = options.verify.map(|bytes| bytes.0 as f64);
    let success = ratio(received, expected);
    let loss = ratio(missing, expected);
    put(&mut summary, numbers::SUCCESS_RATIO, success);
    put(&mut summary, numbers::LOSS_RATIO, loss);
    put(&mut summary, numbers::PROCESSED_BYTES, processed);
    summary
}

/// Sums over the flows whose receiving end said what it got: the others say nothing about loss.
fn received_and_missing(flows: &[FlowResult]) -> (f64, f64) {
    let both = |flow: &FlowResult| {
        let received = numbers::RECEIVED_PACKETS.of(&flow.metrics)?;
        Some((received, numbers::MISSING_PACKETS.of(&flow.metrics)?))
    };
    let pairs = flows.iter().filter_map(both);
    pairs.fold((0.0, 0.0), |(r, m), (received, missing)| {
        (r + received, m + missing)
    })
}
