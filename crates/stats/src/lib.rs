//! How are many numbers turned into few without lying?
//!
//! Mergeable histograms, the spread of a few repeated trials, and the search for the highest rate
//! that a system holds. Nothing here opens a file, reads a clock or starts a thread.

pub mod fairness;
mod histogram;
pub mod search;
pub mod spread;

pub use fairness::fairness;
pub use histogram::{Bucket, Histogram, HistogramError};
pub use search::{Best, Limit, Outcome, Purpose, RateSearch, RateSearchConfig, Step};
pub use spread::{Spread, spread};
